// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

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
