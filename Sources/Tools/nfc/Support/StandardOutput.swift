// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import TextSafety

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

    /// Adds the text of a writer as a line, and clears it. Writes the buffer if it is large.
    mutating func appendLine(_ writer: inout JSONWriter) {
        writer.newLine()
        buffer += writer.text
        writer.text.removeAll(keepingCapacity: true)
        flushIfLarge()
    }

    /// Writes the buffer if it is large.
    mutating func flushIfLarge() {
        if buffer.count >= 1 << 16 { flush() }
    }

    /// Writes a text at once.
    static func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes bytes at once.
    static func write(_ bytes: [UInt8]) {
        var output = StandardOutput()
        output.buffer = bytes
        output.flush()
    }
}
