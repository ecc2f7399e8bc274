// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Keys and size of the terminal on standard input.
///
/// Reads keys only while ``nextKey()`` runs, with the terminal set up for that long: a scanning sheet may own the
/// terminal in between.
enum Keyboard {
    enum Key: Sendable, Equatable {
        case up, down, enter, escape, interrupt
        case character(Character)
        /// The terminal has another size, or the person wants the screen drawn anew.
        case resized
        /// Nobody types any more.
        case closed
    }

    struct Size: Sendable, Equatable {
        var columns: Int
        var lines: Int
    }

    static var size: Size {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, lines: 24)
        }
        return Size(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Waits for a key, without blocking the caller's thread.
    static func nextKey() async -> Key {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: waitForKey()) }
        }
    }

    private static func waitForKey() -> Key {
        var saved = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return .closed }
        var raw = saved
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        defer { _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved) }
        let size = size
        while true {
            if let byte = readByte(within: 250) {
                if let key = key(for: byte) { return key }
            } else if isClosed {
                return .closed
            } else if size != self.size {
                return .resized
            }
        }
    }

    private static func key(for byte: UInt8) -> Key? {
        switch byte {
        case 0x0D, 0x0A: return .enter
        case 0x03: return .interrupt
        case 0x04: return .closed
        // Ctrl-L draws the screen anew.
        case 0x0C: return .resized
        case 0x1B:
            // An arrow key follows at once; the Escape key is followed by nothing.
            guard let second = readByte(within: 50) else { return .escape }
            guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return .escape }
            while let byte = readByte(within: 50) {
                switch byte {
                case UInt8(ascii: "A"): return .up
                case UInt8(ascii: "B"): return .down
                case 0x40...0x7E: return nil
                default: break
                }
            }
            return nil
        case 0x20...0x7E: return .character(Character(Unicode.Scalar(byte)))
        default: return nil
        }
    }

    private static func readByte(within milliseconds: Int32) -> UInt8? {
        var poller = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&poller, 1, milliseconds) > 0, poller.revents & Int16(POLLIN) != 0 else { return nil }
        var byte: UInt8 = 0
        return unsafe read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
    }

    private static var isClosed: Bool {
        var poller = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, 0) > 0 && poller.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
