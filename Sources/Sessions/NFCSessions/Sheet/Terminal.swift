// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import Synchronization

/// The controlling terminal. It is opened separately, so that standard input and output may be something else.
struct Terminal: Sendable {
    /// Columns and lines.
    struct Size: Sendable, Equatable {
        var columns: Int
        var lines: Int
    }

    let fileDescriptor: Int32

    /// Opens the controlling terminal. Returns nil when there is none, or when the process is in the background, where
    /// changing the terminal would stop it.
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

    /// Whether typed keys are for this process. That is always so for a terminal that does not control the process,
    /// such as a test's.
    private var isInForeground: Bool {
        let group = tcgetpgrp(fileDescriptor)
        return group == -1 || group == getpgrp()
    }

    func close() { _ = Glibc.close(fileDescriptor) }

    /// The current size; 80 by 24 when the terminal does not know it.
    var size: Size {
        var size = winsize()
        guard unsafe ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, lines: 24)
        }
        return Size(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Makes the terminal pass each key, including Ctrl-C, without echo. Reads then never block. Returns the settings
    /// to restore.
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

    /// Restores settings.
    func leaveRawMode(_ saved: termios) {
        var saved = saved
        _ = unsafe tcsetattr(fileDescriptor, TCSANOW, &saved)
    }

    /// Whether nobody is at the other end any more. Then nothing can be read or set.
    var isHungUp: Bool { isatty(fileDescriptor) != 1 }

    /// Returns the keys that were typed since the last call. Use it only in raw mode; otherwise it blocks.
    func readKeys() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe Glibc.read(fileDescriptor, bytes.baseAddress, bytes.count)
        }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    func write(_ text: String) { OutputDescriptor(fileDescriptor).write(text) }

    /// Sets a control character. This needs a function because `c_cc` is a tuple in Swift.
    private func setControlCharacter(_ index: Int32, to value: cc_t, in settings: inout termios) {
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(index)] = value }
    }
}

/// Restores the terminal when the process ends while the sheet is shown: at `exit`, at signals that end the process and
/// that the app does not handle, and at a crash.
enum TerminalRestorer {
    /// The data of the handlers. A handler may run between any two instructions, so it takes no lock and allocates
    /// nothing.
    @safe private struct Saved: @unchecked Sendable {
        // Safe because the storage is only written while `descriptor` is -1, and only read while it is not. An action
        // is stored before its signal is handled.
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        /// The earlier action of each signal, by number.
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
        /// Clears everything from the card's first line, where the cursor is, and shows the cursor.
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

    /// Restores the terminal, once. Calls only functions that a signal handler may call.
    static func restore() {
        let descriptor = self.descriptor.exchange(-1, ordering: .sequentiallyConsistent)
        guard descriptor >= 0 else { return }
        // Other threads continue until the process ends. Their drawing is discarded, because it would hide the cursor
        // again.
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        if own >= 0, nowhere >= 0 { dup2(nowhere, descriptor) }
        let terminal = own >= 0 ? own : descriptor
        _ = unsafe tcsetattr(terminal, TCSANOW, saved.settings)
        _ = unsafe write(terminal, saved.clear, saved.clearCount)
    }

    /// Installs the handler for a signal. If the app has its own handler for a signal that is not a crash, that one
    /// stays, because it may not end the app.
    private static func handle(_ number: Int32, isCrash: Bool) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            unsafe TerminalRestorer.end(number, code: information?.pointee.si_code ?? 0)
        }
        action.sa_flags = SA_SIGINFO
        var present = sigaction()
        guard unsafe sigaction(number, nil, &present) == 0 else { return }
        let handler = address(present)
        // SIG_DFL is the null pointer, and 1 is SIG_IGN.
        guard handler == 0 || isCrash && handler != 1 && handler != address(action) else { return }
        unsafe (saved.actions + Int(number)).initialize(to: present)
        _ = unsafe sigaction(number, &action, nil)
    }

    private static func address(_ action: sigaction) -> Int {
        unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    }

    /// Restores the terminal. Then the process ends as it would have without the sheet, or the app's own handler is
    /// called.
    private static func end(_ number: Int32, code: Int32) {
        restore()
        _ = unsafe sigaction(number, saved.actions + Int(number), nil)
        // A failed instruction runs again and fails again, so that the crash is reported at the right place.
        let isInstruction = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE
        if code <= 0 || !isInstruction { raise(number) }
    }
}
