// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The whole terminal, which the app uses from ``enter()`` to ``leave()``. Afterwards the terminal is as before, even when
/// a signal ends the process or it crashes.
///
/// Meanwhile standard error goes to a pipe, because its text would appear in the middle of the screen. The reader of the
/// pipe shows the text.
enum FullScreen {
    /// The data of the signal handlers. They may interrupt any code, so they take no lock and allocate no
    /// memory.
    @safe private struct Saved: @unchecked Sendable {
        // Safe because the storage is written before `isEntered` is set, and only read while it is.
        let cooked = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        let raw = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        /// The earlier action of each signal.
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    }

    private static let saved = Saved()
    private static let isEntered = Atomic<Bool>(false)
    private static let isDue = Atomic<Bool>(false)
    /// The descriptor that writes to the terminal.
    private static let outlet = Atomic<Int32>(STDOUT_FILENO)
    /// The original standard error, and the read end of the pipe; -1 when standard error is not a terminal.
    private static let standardError = Atomic<Int32>(-1)
    private static let notes = Atomic<Int32>(-1)

    /// Shows an empty screen, and switches to single keys without echo, including Ctrl-C.
    ///
    /// - Returns: the descriptor from which standard error can be read without blocking; -1 when standard error is not the
    ///   terminal. Nil when there is no terminal.
    static func enter() -> Int32? {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        unsafe saved.cooked.initialize(to: settings)
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON)
        unsafe saved.raw.initialize(to: settings)
        if isatty(STDERR_FILENO) == 1 { takeStandardError() }
        isEntered.store(true, ordering: .sequentiallyConsistent)
        for number: Int32 in 1...64 { handle(number) }
        take()
        return notes.load(ordering: .sequentiallyConsistent)
    }

    /// Restores the terminal.
    static func leave() {
        giveBack()
        showNotes()
    }

    /// Stops the process until the person brings it to the foreground again, as Ctrl-Z usually does.
    static func suspend() {
        kill(0, SIGTSTP)
    }

    /// Whether the process was stopped since the last call, so that the screen must be drawn again.
    static var wasInterrupted: Bool { isDue.exchange(false, ordering: .sequentiallyConsistent) }

    // MARK: Signal handlers

    private static func take() {
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, saved.raw)
        write("\u{1B}[?1049h")
    }

    private static func giveBack() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        write("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, saved.cooked)
        let standardError = standardError.exchange(-1, ordering: .sequentiallyConsistent)
        guard standardError >= 0 else { return }
        dup2(standardError, STDERR_FILENO)
    }

    /// Prints what the pipe contains, such as the report of a crash.
    private static func showNotes() {
        let notes = notes.load(ordering: .sequentiallyConsistent)
        guard notes >= 0 else { return }
        while true {
            let count = unsafe read(notes, saved.buffer.baseAddress, saved.buffer.count)
            guard count > 0 else { return }
            _ = unsafe Glibc.write(STDERR_FILENO, saved.buffer.baseAddress, count)
        }
    }

    private static func write(_ text: StaticString) {
        let outlet = outlet.load(ordering: .sequentiallyConsistent)
        _ = unsafe Glibc.write(outlet, text.utf8Start, text.utf8CodeUnitCount)
    }

    // MARK: Setting up

    private static func takeStandardError() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        standardError.store(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), ordering: .sequentiallyConsistent)
        notes.store(ends[0], ordering: .sequentiallyConsistent)
        dup2(ends[1], STDERR_FILENO)
        close(ends[1])
    }

    /// Handles a signal that would end or stop the process. Existing handlers stay, except those for crashes.
    private static func handle(_ number: Int32) {
        switch number {
        case SIGKILL, SIGSTOP, SIGCHLD, SIGURG, SIGWINCH, SIGTTIN, SIGTTOU: return
        default: break
        }
        var present = sigaction()
        // Swift's runtime may print a backtrace; it does so after this handler. SIG_DFL is the null pointer, and 1 is
        // SIG_IGN.
        guard unsafe sigaction(number, nil, &present) == 0,
            case let handler = unsafe unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self),
            handler == 0 || (handler != 1 && crashes.contains(number))
        else { return }
        unsafe (saved.actions + Int(number)).initialize(to: present)
        var action = sigaction()
        action.sa_flags = SA_RESTART
        switch number {
        case SIGTSTP: unsafe action.__sigaction_handler.sa_handler = { _ in FullScreen.stop() }
        case SIGCONT: unsafe action.__sigaction_handler.sa_handler = { _ in FullScreen.goOn() }
        default:
            unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
                unsafe FullScreen.end(number, code: information?.pointee.si_code ?? 0)
            }
            action.sa_flags |= SA_SIGINFO
        }
        _ = unsafe sigaction(number, &action, nil)
    }

    private static let crashes: Set<Int32> = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT]

    private static func end(_ number: Int32, code: Int32) {
        if isEntered.load(ordering: .sequentiallyConsistent) { silence() }
        giveBack()
        showNotes()
        // End with the original action. A failed instruction runs and fails again, so the reported place is right.
        _ = unsafe sigaction(number, saved.actions + Int(number), nil)
        let isInstruction = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE
        if code <= 0 || !isInstruction { raise(number) }
    }

    /// Stops all other output to the terminal. Other threads run until the process ends, and would hide the cursor again: the
    /// app's, and those of the scanning sheet, which also has the terminal open.
    private static func silence() {
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        let own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 256)
        guard nowhere >= 0, own >= 0 else { return }
        outlet.store(own, ordering: .sequentiallyConsistent)
        dup2(nowhere, STDOUT_FILENO)
        let kept = standardError.load(ordering: .sequentiallyConsistent)
        var settings = termios()
        for other in 3..<Int32(256) where other != kept && (unsafe tcgetattr(other, &settings)) == 0 {
            dup2(nowhere, other)
        }
    }

    private static func stop() {
        guard isEntered.load(ordering: .sequentiallyConsistent) else {
            raise(SIGSTOP)
            return
        }
        write("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, saved.cooked)
        raise(SIGSTOP)
    }

    private static func goOn() {
        guard isEntered.load(ordering: .sequentiallyConsistent) else { return }
        take()
        isDue.store(true, ordering: .sequentiallyConsistent)
    }
}
