// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TagLink

/// The controlling terminal, opened anew, so that neither standard input nor output has to be one.
struct Terminal: Sendable {
    /// Columns and lines.
    struct Size: Sendable, Equatable {
        var columns: Int
        var lines: Int
    }

    let fileDescriptor: Int32

    /// Opens the controlling terminal.
    ///
    /// - Returns: nil when there is none, or when the process is in its background, where changing it would stop us.
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

    /// Whether keys that are typed now are meant for this process. A terminal that does not control the process, such
    /// as a test's, always is.
    private var isInForeground: Bool {
        let group = tcgetpgrp(fileDescriptor)
        return group == -1 || group == getpgrp()
    }

    func close() {
        _ = Glibc.close(fileDescriptor)
    }

    /// The size as it is now; 80 by 24 when the terminal does not know.
    var size: Size {
        var size = winsize()
        guard unsafe ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, lines: 24)
        }
        return Size(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Lets keys through one by one, unechoed, Ctrl-C among them; reads then never wait.
    ///
    /// - Returns: the settings to restore.
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

    /// The keys that were typed since the last call. Only in raw mode: otherwise it would wait.
    func readKeys() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe Glibc.read(fileDescriptor, bytes.baseAddress, bytes.count)
        }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    func write(_ text: String) {
        OutputDescriptor(fileDescriptor).write(text)
    }

    /// `c_cc` is a tuple in Swift.
    private func setControlCharacter(_ index: Int32, to value: cc_t, in settings: inout termios) {
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(index)] = value }
    }
}

/// Gives the terminal back when the process ends while the sheet is up: at `exit` and at the signals that end a
/// process and that the app does not handle itself.
enum TerminalRestorer {
    /// What the handler works with. It may run between any two instructions, so it takes no lock and allocates nothing.
    @safe private struct Saved: @unchecked Sendable {
        // Safe because the storage is written while `descriptor` is -1, and read only when it is not.
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        /// Clears from the card's first line on, where the cursor stands, and shows the cursor.
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
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let atExit: Void = { _ = atexit { TerminalRestorer.restore() } }()

    /// Arms the restorer. One terminal at a time.
    static func arm(descriptor: Int32, settings: termios) {
        _ = atExit
        unsafe saved.settings.initialize(to: settings)
        self.descriptor.store(descriptor, ordering: .sequentiallyConsistent)
        for signal in signals { handle(signal) }
    }

    /// Disarms the restorer: the sheet has given the terminal back by itself.
    static func disarm() {
        descriptor.store(-1, ordering: .sequentiallyConsistent)
    }

    /// Gives the terminal back, once. Calls only what a signal handler may call.
    static func restore() {
        let descriptor = self.descriptor.exchange(-1, ordering: .sequentiallyConsistent)
        guard descriptor >= 0 else { return }
        _ = unsafe tcsetattr(descriptor, TCSANOW, saved.settings)
        _ = unsafe write(descriptor, saved.clear, saved.clearCount)
    }

    /// Takes over a signal whose default is to end the process; an app's own handler stays.
    private static func handle(_ signal: Int32) {
        var present = sigaction()
        guard unsafe sigaction(signal, nil, &present) == 0 else { return }
        // SIG_DFL is the null pointer.
        guard unsafe present.__sigaction_handler.sa_handler == nil else { return }
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { signal in
            TerminalRestorer.restore()
            // The default is back already, by SA_RESETHAND: end as the sender expects.
            raise(signal)
        }
        action.sa_flags = CInt(bitPattern: UInt32(SA_RESETHAND) | UInt32(SA_NODEFER))
        _ = unsafe sigaction(signal, &action, nil)
    }
}
