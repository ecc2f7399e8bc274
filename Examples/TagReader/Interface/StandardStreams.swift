// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import VisibleText

/// Standard output without a buffer, so that a program at the other end of a pipe sees each answer at once.
///
/// After the first write that fails, as on a full disk, nothing more is written: whoever goes on and on ends when it sees
/// ``isBroken``, and ``end(_:)`` says why. `FileHandle.write(_:)` would end the process in the middle of its work.
@MainActor
enum StandardOutput {
    /// The system's number of the error after which nothing more is written.
    private static var failure: Int32?

    /// Whether nothing more can be written.
    static var isBroken: Bool { failure != nil }

    /// Prepares the process, before it opens any file: a standard stream that is closed would be the next file that is
    /// opened, such as the saved messages. What stands in for it can't be used.
    static func prepare() {
        for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes lines for people. What nobody sees is escaped: no word of a card or a file reaches the terminal as a command.
    ///
    /// - Parameter text: the lines, whose breaks are the app's own, without the last one.
    static func writeLines(_ text: String) { write(VisibleText.escaped(text, keepsLineBreaks: true) + "\n") }

    /// Writes a text as it is: what the app tells the terminal.
    static func write(_ text: String) {
        guard !isBroken else { return }
        failure = writeAll(text, to: STDOUT_FILENO)
    }

    /// Ends the process.
    ///
    /// - Parameter status: how the app ended. When it could not say what it did, it has failed.
    static func end(_ status: Int32) -> Never {
        guard let failure else { exit(status) }
        StandardError.writeLine("Standard output can't be written: \(unsafe String(cString: strerror(failure))).")
        exit(status == 0 ? 1 : status)
    }
}

/// Standard error.
enum StandardError {
    /// Writes a line for people. What nobody sees is escaped. Where even this can't be written there is nobody to hear of it.
    static func writeLine(_ text: String) { _ = writeAll(VisibleText.escaped(text) + "\n", to: STDERR_FILENO) }
}

/// Writes all of a text; waits where the other end takes it later.
///
/// - Returns: the number of the error that stopped it; nil when all is written.
private func writeAll(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&poller, 1, -1)
        } else if errno != EINTR {
            return errno
        }
    }
    return nil
}
