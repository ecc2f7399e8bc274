// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A key pressed in the terminal.
enum Key: Sendable, Equatable {
    case up, down, pageUp, pageDown, enter, escape
    case character(Character)
    /// Ctrl-C.
    case interrupt
    /// Ctrl-Z.
    case suspend
    /// Standard input has ended.
    case closed
}

/// The full-screen terminal, used between ``enter()`` and ``leave()``. Afterwards the terminal is restored, even if a
/// signal ends the process.
@MainActor
enum Terminal {
    /// The terminal settings before ``enter()``.
    nonisolated(unsafe) private static var cooked = termios()  // Safe: set before the signal handlers that read it.
    private static var keys: [Key] = []

    /// Shows an empty screen, and switches to reading single keys without echo, including Ctrl-C. Returns false if
    /// there is no terminal.
    static func enter() -> Bool {
        guard unsafe tcgetattr(STDIN_FILENO, &cooked) == 0 else { return false }
        for number in [SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] {
            signal(number) { @Sendable number in
                Terminal.leave()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        begin()
        return true
    }

    private static func begin() {
        var raw = unsafe cooked
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        // Switch to the alternate screen, and turn line wrapping off.
        put("\u{1B}[?1049h\u{1B}[?7l", to: .standardOutput)
    }

    /// Restores the terminal. A signal handler also calls this function, so it must not allocate memory.
    nonisolated static func leave() {
        let end: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        _ = unsafe Glibc.write(STDOUT_FILENO, end.utf8Start, end.utf8CodeUnitCount)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &cooked)
    }

    /// Stops the process until the user brings it back to the foreground.
    static func suspend() {
        leave()
        raise(SIGSTOP)
        begin()
    }

    static var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    // MARK: Keys

    /// Waits for a key without blocking the caller's thread. Returns nil on timeout. Reads input only during the call,
    /// because between calls a scanning sheet may own the terminal.
    static func nextKey(within milliseconds: Int32) async -> Key? {
        if keys.isEmpty {
            keys = await onAnotherThread {
                guard isReady(within: milliseconds) else { return [] }
                var bytes = [UInt8](repeating: 0, count: 64)
                let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
                return count > 0 ? parse(bytes.prefix(count)) : [.closed]
            }
        }
        return keys.isEmpty ? nil : keys.removeFirst()
    }

    /// Waits until a key is available, without reading it.
    static func wait(_ milliseconds: Int32) async {
        _ = await onAnotherThread { isReady(within: milliseconds) }
    }

    private static func onAnotherThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: work()) }
        }
    }

    nonisolated private static func isReady(within milliseconds: Int32) -> Bool {
        var poller = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, milliseconds) > 0
    }

    /// Parses the bytes of one read into keys. All bytes of an escape sequence arrive together (ECMA-48).
    nonisolated private static func parse(_ bytes: ArraySlice<UInt8>) -> [Key] {
        var keys: [Key] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1B where rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O"):
                let sequence = rest.dropFirst().prefix { (0x20...0x3F).contains($0) }
                rest = rest.dropFirst(1 + sequence.count)
                switch (rest.popFirst().map { Character(Unicode.Scalar($0)) }, sequence.first) {
                case ("A", _): keys.append(.up)
                case ("B", _): keys.append(.down)
                case ("~", UInt8(ascii: "5")): keys.append(.pageUp)
                case ("~", UInt8(ascii: "6")): keys.append(.pageDown)
                default: break
                }
            case 0x1B: keys.append(.escape)
            case 0x0A, 0x0D: keys.append(.enter)
            case 0x03: keys.append(.interrupt)
            case 0x04: keys.append(.closed)
            case 0x1A: keys.append(.suspend)
            case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
            default: break
            }
        }
        return keys
    }
}
