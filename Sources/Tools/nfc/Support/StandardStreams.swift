// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import VisibleText

/// Standard output, written in large pieces.
///
/// After a write fails, for example on a full disk, further output is dropped. A command in a long loop ends when it sees
/// ``isBroken``, and ``CommandProcess/end(_:)`` reports the failure.
struct StandardOutput {
    /// The bytes that are not written yet.
    var buffer: [UInt8] = []

    /// The errno of the first failed write.
    private static let brokenBy = Locked<Int32?>(nil)

    /// The errno of the write that failed; nil when none has.
    static var failure: Int32? { brokenBy.withLock { $0 } }

    /// Whether nothing more can be written.
    static var isBroken: Bool { failure != nil }

    /// Writes the buffer.
    mutating func flush() {
        if !Self.isBroken, let number = FileDescriptorOutput.write(buffer, to: STDOUT_FILENO) {
            Self.brokenBy.withLock { $0 = $0 ?? number }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Adds a line for people. Invisible characters and line breaks are escaped, so that text from a tag, a file or the
    /// caller can't send commands to the terminal.
    mutating func appendLine(_ text: String) {
        buffer += VisibleText.escaped(text).utf8
        buffer.append(0x0A)
    }

    /// Writes the buffer if it is large.
    mutating func flushIfLarge() {
        if buffer.count >= 1 << 16 { flush() }
    }

    /// Writes a text at once.
    static func write(_ text: String) {
        var output = StandardOutput()
        output.buffer = Array(text.utf8)
        output.flush()
    }
}

/// Standard error.
enum StandardError {
    /// Writes a line for people. Invisible characters are escaped.
    ///
    /// - Parameters:
    ///   - text: the line.
    ///   - keepsLineBreaks: whether line breaks are kept, because the program itself made them.
    static func writeLine(_ text: String, keepsLineBreaks: Bool = false) {
        let text = VisibleText.escaped(text, keepsLineBreaks: keepsLineBreaks) + "\n"
        // If standard error can't be written either, there is nowhere to report it.
        _ = FileDescriptorOutput.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

private enum FileDescriptorOutput {
    /// Writes all bytes; waits when the other end is slow.
    ///
    /// - Returns: the errno of the failure; nil when all is written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        unsafe bytes.withUnsafeBytes { memory in
            var offset = 0
            while offset < memory.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
                let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    offset += count
                } else if errno == EAGAIN {
                    var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&poller, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}
