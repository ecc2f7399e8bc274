// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import Synchronization
import TagLink

/// The scanning sheet on a terminal: a centred card below the cursor that is redrawn in place.
///
/// While the app looks for tags or works with a tag, the sheet owns the terminal: it reads the keys, and Esc, q or
/// Ctrl-C cancel. An app that reads keys itself should stop before `begin()`, and continue after the end of the session
/// is reported. By then, the terminal's former settings have been restored. A result remains on the screen, with the
/// cursor below. A sheet without a result is erased.
///
/// The terminal is also restored at `exit`, at a signal that ends the process, and at a crash. If the terminal hangs up
/// and the process continues, the output switches to a ``PlainTextSheet``.
public final class TerminalSheet: ScanSheet {
    private struct Screen {
        let terminal: Terminal
        let settings: termios
        let keys: any DispatchSourceRead
        let sizeCheck: any DispatchSourceTimer
        var size: Terminal.Size
        /// How many lines the card has on the screen.
        var height = 0
    }

    private struct State {
        var screen: Screen?
        var content: SheetContent?
        var decoder = SheetKeyDecoder()
        var cancel: (@Sendable () -> Void)?
        /// Whether the terminal hung up. Its path may belong to another terminal by now, so it is not reopened.
        var isHungUp = false
    }

    private let path: String
    private let usesColor: Bool
    private let fallback = PlainTextSheet()
    private let queue = DispatchQueue(label: "org.opencorenfc.sheet")
    private let state = Locked(State())

    /// Creates a sheet.
    ///
    /// - Parameters:
    ///   - path: the terminal; by default the controlling terminal. If the terminal can't be opened, the sheet becomes
    ///     a ``PlainTextSheet`` on standard error.
    ///   - usesColor: whether symbols are coloured.
    public init(path: String = "/dev/tty", usesColor: Bool = true) {
        self.path = path
        self.usesColor = usesColor
    }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if content.canCancel {
                state.content = content
                state.cancel = cancel
                if state.screen == nil, !takeTerminal(&state) { return fallback.present(content, cancel: cancel) }
                draw(&state)
            } else if state.screen == nil, state.content?.canCancel == true, content.state != .dismissed {
                state.content = content
                fallback.present(content, cancel: cancel)
            } else {
                leave(&state, showing: content)
            }
        }
    }

    /// Lets a closure print while the sheet is shown: erases the card, calls the closure, and draws the card below.
    ///
    /// - Parameter print: writes complete lines.
    public func interrupted(by print: () -> Void) {
        state.withLock { state in
            replaceCard(&state, with: [])
            print()
            draw(&state)
        }
    }

    // MARK: Drawing

    private func draw(_ state: inout State) {
        guard let screen = state.screen, let content = state.content else { return }
        screen.terminal.write("\u{1B}[?25l")
        replaceCard(&state, with: render(content, size: screen.size))
    }

    /// Draws lines in place of the card, and moves the cursor back to the first one. Erases only the card, so that the
    /// app's text below stays.
    private func replaceCard(_ state: inout State, with lines: [String]) {
        guard let screen = state.screen else { return }
        let height = max(lines.count, screen.height)
        let rows = lines + repeatElement("", count: height - lines.count)
        let up = height > 1 ? "\u{1B}[\(height - 1)A" : ""
        screen.terminal.write("\r" + rows.map { "\u{1B}[K" + $0 }.joined(separator: "\r\n") + "\r" + up)
        state.screen?.height = lines.count
    }

    private func render(_ content: SheetContent, size: Terminal.Size) -> [String] {
        let space = String(repeating: " ", count: max(size.columns - SheetCard.maximumWidth, 0) / 2)
        return SheetCard.render(content, width: size.columns, height: size.lines, usesColor: usesColor).map {
            space + $0
        }
    }

    // MARK: The terminal

    private func takeTerminal(_ state: inout State) -> Bool {
        guard !state.isHungUp, let terminal = Terminal.open(path: path) else { return false }
        guard let settings = terminal.enterRawMode() else {
            terminal.close()
            return false
        }
        TerminalRestorer.arm(descriptor: terminal.fileDescriptor, settings: settings)
        let keys = DispatchSource.makeReadSource(fileDescriptor: terminal.fileDescriptor, queue: queue)
        keys.setEventHandler { [weak self] in self?.keysArrived() }
        keys.setCancelHandler { terminal.close() }
        let sizeCheck = DispatchSource.makeTimerSource(queue: queue)
        sizeCheck.schedule(deadline: .now(), repeating: .milliseconds(250))
        sizeCheck.setEventHandler { [weak self] in self?.checkSize() }
        state.decoder = SheetKeyDecoder()
        state.screen = Screen(
            terminal: terminal,
            settings: settings,
            keys: keys,
            sizeCheck: sizeCheck,
            size: terminal.size
        )
        keys.activate()
        sizeCheck.activate()
        return true
    }

    /// Draws the final content and restores the terminal, before the app is informed of the end.
    private func leave(_ state: inout State, showing content: SheetContent) {
        state.content = content
        state.cancel = nil
        guard let screen = state.screen else { return }
        let lines = render(content, size: screen.terminal.size)
        replaceCard(&state, with: lines)
        screen.terminal.write(String(repeating: "\r\n", count: lines.count) + "\u{1B}[?25h")
        release(&state)
    }

    private func release(_ state: inout State) {
        guard let screen = state.screen.take() else { return }
        TerminalRestorer.disarm()
        screen.terminal.leaveRawMode(screen.settings)
        screen.sizeCheck.cancel()
        screen.keys.cancel()
    }

    private func checkSize() {
        state.withLock { state in
            guard let size = state.screen?.terminal.size, size != state.screen?.size else { return }
            state.screen?.size = size
            // The terminal may have moved the card's lines, so all that follows is erased.
            state.screen?.height = 0
            state.screen?.terminal.write("\r\u{1B}[J")
            draw(&state)
        }
    }

    // MARK: Keys

    private func keysArrived() {
        let (cancel, awaitsMore) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
            guard let terminal = state.screen?.terminal else { return (nil, false) }
            let bytes = terminal.readKeys()
            // Reading from a terminal that has hung up never blocks and returns nothing.
            if bytes.isEmpty, terminal.isHungUp {
                release(&state)
                state.isHungUp = true
            }
            var cancels = false
            for byte in bytes where state.decoder.cancels(byte) { cancels = true }
            return (cancels ? state.cancel : nil, state.decoder.awaitsMore)
        }
        if awaitsMore {
            queue.asyncAfter(deadline: .now() + .milliseconds(50)) { [weak self] in self?.keyTimedOut() }
        }
        cancel?()
    }

    private func keyTimedOut() {
        let cancel = state.withLock { state in state.decoder.timeOut() ? state.cancel : nil }
        cancel?()
    }
}

/// Decodes the keys that control the sheet, byte by byte.
///
/// The Escape key sends the byte that also starts the sequence of an arrow key. If no byte follows soon, the user
/// pressed Escape. So the caller waits a moment while ``awaitsMore`` is true, and then calls ``timeOut()``.
package struct SheetKeyDecoder: Sendable {
    private enum State: Sendable {
        case ground
        case escape
        case sequence
        case singleShift
    }

    private var state = State.ground

    package init() {}

    /// Whether the last byte may be the Escape key or the start of another key's sequence.
    package var awaitsMore: Bool { state == .escape }

    /// Handles a byte. Returns true when the user wants to cancel: q, Ctrl-C, or Escape twice.
    package mutating func cancels(_ byte: UInt8) -> Bool {
        switch (state, byte) {
        case (_, 0x03), (.escape, 0x1B):
            state = .ground
            return true
        case (.ground, 0x1B):
            state = .escape
        case (.ground, UInt8(ascii: "q")), (.ground, UInt8(ascii: "Q")):
            return true
        case (.escape, UInt8(ascii: "[")):
            state = .sequence
        case (.escape, UInt8(ascii: "O")):
            state = .singleShift
        case (.sequence, 0x20...0x3F):
            break
        default:
            state = .ground
        }
        return false
    }

    /// Reports that no byte followed in time. Returns true when the last byte was the Escape key.
    package mutating func timeOut() -> Bool {
        defer { state = .ground }
        return state == .escape
    }
}

/// The controlling terminal, opened separately so that standard input and output can be redirected.
struct Terminal: Sendable {
    /// Columns and lines.
    struct Size: Sendable, Equatable {
        var columns: Int
        var lines: Int
    }

    let fileDescriptor: Int32

    /// Opens the controlling terminal. Returns nil when the process has no terminal, or is in the background, where a
    /// change of the terminal's settings would stop the process.
    static func open(path: String = "/dev/tty") -> Terminal? {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        let terminal = Terminal(fileDescriptor: descriptor)
        guard isatty(descriptor) == 1, terminal.isInForeground else {
            terminal.close()
            return nil
        }
        return terminal
    }

    /// Whether typed keys go to this process. Always true for a terminal that does not control the process, such as a
    /// test's.
    private var isInForeground: Bool {
        let group = tcgetpgrp(fileDescriptor)
        return group == -1 || group == getpgrp()
    }

    func close() { _ = Glibc.close(fileDescriptor) }

    /// The current size; 80 by 24 when the terminal does not report a size.
    var size: Size {
        var size = winsize()
        guard unsafe ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, lines: 24)
        }
        return Size(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Makes the terminal pass on each key, including Ctrl-C, without echo. Reads then never block. Returns the
    /// settings to restore.
    func enterRawMode() -> termios? {
        var saved = termios()
        guard unsafe tcgetattr(fileDescriptor, &saved) == 0 else { return nil }
        var raw = saved
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON)
        setControlCharacter(VMIN, to: 0, in: &raw)
        setControlCharacter(VTIME, to: 0, in: &raw)
        guard unsafe tcsetattr(fileDescriptor, TCSANOW, &raw) == 0 else { return nil }
        return saved
    }

    func leaveRawMode(_ saved: termios) {
        var saved = saved
        _ = unsafe tcsetattr(fileDescriptor, TCSANOW, &saved)
    }

    /// Whether the other end of the terminal was closed, so that reads and changes fail.
    var isHungUp: Bool { isatty(fileDescriptor) != 1 }

    /// Returns the keys that were typed since the last call. Call this only in raw mode; otherwise it blocks.
    func readKeys() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe Glibc.read(fileDescriptor, bytes.baseAddress, bytes.count)
        }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    func write(_ text: String) { OutputDescriptor(fileDescriptor).write(text) }

    /// Sets a control character. Swift imports `c_cc` as a tuple, which can't be indexed.
    private func setControlCharacter(_ index: Int32, to value: cc_t, in settings: inout termios) {
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(index)] = value }
    }
}

/// Restores the terminal when the process ends while the sheet is shown: at `exit`, at signals that end the process and
/// that the app does not handle, and at a crash.
enum TerminalRestorer {
    /// The data for the signal handlers. A handler may run between any two instructions, so it takes no lock and
    /// allocates nothing.
    @safe private struct Saved: @unchecked Sendable {
        // Safe because the storage is written only while `descriptor` is -1, and read only while it is not -1. An
        // action is stored before its handler is installed.
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        /// The previous action for each signal, by signal number.
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
        /// Clears the screen from the card's first line, where the cursor is, and shows the cursor.
        let clear: UnsafeMutablePointer<UInt8>
        let clearCount: Int

        init() {
            let bytes = Array("\r\u{1B}[J\u{1B}[?25h".utf8)
            unsafe clear = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
            unsafe clear.initialize(from: bytes, count: bytes.count)
            clearCount = bytes.count
        }
    }

    private static let saved = Saved()
    private static let descriptor = Atomic<Int32>(-1)
    private static let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
    private static let endings = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ,
    ]
    private static let atExit: Void = { _ = atexit { TerminalRestorer.restore() } }()

    /// Activates the restorer, for one terminal at a time.
    static func arm(descriptor: Int32, settings: termios) {
        _ = atExit
        unsafe saved.settings.initialize(to: settings)
        self.descriptor.store(descriptor, ordering: .sequentiallyConsistent)
        for signal in crashes { handle(signal, isCrash: true) }
        for signal in endings { handle(signal, isCrash: false) }
    }

    /// Deactivates the restorer, because the sheet has restored the terminal itself.
    static func disarm() { descriptor.store(-1, ordering: .sequentiallyConsistent) }

    /// Restores the terminal once. Calls only functions that are allowed in a signal handler.
    static func restore() {
        let descriptor = self.descriptor.exchange(-1, ordering: .sequentiallyConsistent)
        guard descriptor >= 0 else { return }
        // Other threads continue until the process ends. Their output is discarded, because it would hide the cursor
        // again.
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        if own >= 0, nowhere >= 0 { dup2(nowhere, descriptor) }
        let terminal = own >= 0 ? own : descriptor
        _ = unsafe tcsetattr(terminal, TCSANOW, saved.settings)
        _ = unsafe write(terminal, saved.clear, saved.clearCount)
    }

    /// Installs the handler for a signal. Except for crashes, the app's own handler is left installed, because the app
    /// may survive the signal.
    private static func handle(_ number: Int32, isCrash: Bool) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            unsafe TerminalRestorer.end(number, code: information?.pointee.si_code ?? 0)
        }
        action.sa_flags = SA_SIGINFO
        var present = sigaction()
        guard unsafe sigaction(number, nil, &present) == 0 else { return }
        let handler = address(present)
        // 0 is SIG_DFL, and 1 is SIG_IGN.
        guard handler == 0 || isCrash && handler != 1 && handler != address(action) else { return }
        unsafe (saved.actions + Int(number)).initialize(to: present)
        _ = unsafe sigaction(number, &action, nil)
    }

    private static func address(_ action: sigaction) -> Int {
        unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    }

    /// Restores the terminal. Then the signal has the same effect as without the sheet: the process ends, or the app's
    /// own handler is called.
    private static func end(_ number: Int32, code: Int32) {
        restore()
        _ = unsafe sigaction(number, saved.actions + Int(number), nil)
        // A faulty instruction runs again and fails again, so that the crash report names the right address.
        let isInstruction = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE
        if code <= 0 || !isInstruction { raise(number) }
    }
}
