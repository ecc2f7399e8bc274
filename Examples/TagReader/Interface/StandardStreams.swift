// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TextSafety

/// Standard output without a buffer, so that a program at the other end of a pipe sees each result at once.
///
/// After a write fails, for example on a full disk, nothing more is written. Long loops end when they see ``isBroken``, and
/// ``end(_:)`` reports the reason. `FileHandle.write(_:)` would end the process in the middle of its work.
@MainActor
enum StandardOutput {
    /// The errno of the first failed write.
    private static var failure: Int32?

    /// Whether nothing more can be written.
    static var isBroken: Bool { failure != nil }

    /// Prepares the process before it opens any file. The next opened file, such as that of the messages, would get the number
    /// of a closed standard stream. This fills the gap with a file that can't be used.
    static func prepare() {
        for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes lines for people. Invisible characters are escaped, so that text of a card or file can't control the terminal.
    ///
    /// - Parameter text: the lines, with the app's own line breaks, but without the last one.
    static func writeLines(_ text: String) { write(VisibleText.escaped(text, keepsLineBreaks: true) + "\n") }

    /// Writes a text without escaping, such as the app's terminal commands.
    static func write(_ text: String) {
        guard !isBroken else { return }
        failure = writeAll(text, to: STDOUT_FILENO)
    }

    /// Ends the process.
    ///
    /// - Parameter status: the exit status. It becomes a failure if the output could not be written.
    static func end(_ status: Int32) -> Never {
        guard let failure else { exit(status) }
        StandardError.writeLine("Standard output can't be written: \(unsafe String(cString: strerror(failure))).")
        exit(status == 0 ? 1 : status)
    }
}

/// Standard error.
enum StandardError {
    /// Writes a line for people. Invisible characters are escaped. A failure is ignored: there is nowhere to report it.
    static func writeLine(_ text: String) { _ = writeAll(VisibleText.escaped(text) + "\n", to: STDERR_FILENO) }
}

/// Writes all of a text; waits when the other end is slow.
///
/// - Returns: the errno of the failure; nil when all is written.
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
