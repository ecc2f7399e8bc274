// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import VisibleText

/// Standard output, written in large pieces.
///
/// When a write fails, as on a full disk, what is written afterwards is dropped: a command that goes on and on ends when
/// it sees ``isBroken``, and ``CommandProcess/end(_:)`` reports the failure.
struct StandardOutput {
    /// What isn't written yet.
    var buffer: [UInt8] = []

    /// The system's number of the error after which nothing more is written.
    private static let brokenBy = Locked<Int32?>(nil)

    /// The system's number of the error that ended standard output; nil while all is well.
    static var failure: Int32? { brokenBy.withLock { $0 } }

    /// Whether nothing more can be written.
    static var isBroken: Bool { failure != nil }

    /// Writes what is there.
    mutating func flush() {
        if !Self.isBroken, let number = FileDescriptorOutput.write(buffer, to: STDOUT_FILENO) {
            Self.brokenBy.withLock { $0 = $0 ?? number }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Adds a line for people. What nobody sees is escaped, line breaks too: no word of a tag, a file or the caller reaches the
    /// terminal as a command to it.
    mutating func appendLine(_ text: String) {
        buffer += VisibleText.escaped(text).utf8
        buffer.append(0x0A)
    }

    /// Writes what is there when it is much.
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
    /// Writes a line for people. What nobody sees is escaped.
    ///
    /// - Parameters:
    ///   - text: the line.
    ///   - keepsLineBreaks: whether it is several, and their breaks are the program's own.
    static func writeLine(_ text: String, keepsLineBreaks: Bool = false) {
        let text = VisibleText.escaped(text, keepsLineBreaks: keepsLineBreaks) + "\n"
        // Where even this can't be written there is nobody to hear of it.
        _ = FileDescriptorOutput.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

private enum FileDescriptorOutput {
    /// Writes all bytes; waits where the other end takes them later.
    ///
    /// - Returns: the number of the error that stopped it; nil when all is written.
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
