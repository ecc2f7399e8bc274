// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A scanning sheet for logs: each change is one readable line.
public final class PlainTextSheet: ScanSheet {
    private let output: OutputDescriptor

    /// Creates a sheet.
    ///
    /// - Parameter fileDescriptor: where the lines are written; it stays open. Standard error unless given.
    public init(fileDescriptor: Int32 = 2) {
        output = OutputDescriptor(fileDescriptor)
    }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        guard let line = Self.line(for: content) else { return }
        output.write(line + "\n")
    }

    /// The line for a content; nil when there is nothing to tell.
    package static func line(for content: SheetContent) -> String? {
        let message = TerminalText.escaped(content.message)
        let title = TerminalText.escaped(content.title)
        switch content.state {
        case .ready: return "[\(title)] " + (message.isEmpty ? "(no message)" : message)
        case .scanning: return "[Scanning] " + (message.isEmpty ? "(no message)" : message)
        case .success: return message.isEmpty ? "[Done]" : "[Done] " + message
        case .failure: return "[Failed] " + message
        case .dismissed: return nil
        }
    }
}

/// A scanning sheet for programs: each change is one JSON object on a line.
///
/// The object has `state` (a ``SheetState``), `title`, `message` and `shows_error_symbol`.
public final class JSONLinesSheet: ScanSheet {
    private let output: OutputDescriptor

    /// Creates a sheet.
    ///
    /// - Parameter fileDescriptor: where the lines are written; it stays open. Standard error unless given.
    public init(fileDescriptor: Int32 = 2) {
        output = OutputDescriptor(fileDescriptor)
    }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        output.write(Self.line(for: content) + "\n")
    }

    /// The line for a content.
    package static func line(for content: SheetContent) -> String {
        "{\"state\":" + JSONText.quoted(content.state.rawValue)
            + ",\"title\":" + JSONText.quoted(content.title)
            + ",\"message\":" + JSONText.quoted(content.message)
            + ",\"shows_error_symbol\":\(content.showsErrorSymbol)}"
    }
}

/// What it takes to write a line of JSON (RFC 8259) by hand.
package enum JSONText {
    /// A string with its quotes.
    package static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where needsEscape(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Controls, and the two separators that end a line for some readers.
    private static func needsEscape(_ value: UInt32) -> Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029
    }
}

/// A file descriptor that text is written to, whole.
package struct OutputDescriptor: Sendable {
    package let fileDescriptor: Int32

    package init(_ fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
    }

    package static let standardError = OutputDescriptor(STDERR_FILENO)
    package static let standardOutput = OutputDescriptor(STDOUT_FILENO)

    /// Writes all of a text. What can't be written, because nobody reads any more, is dropped.
    package func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while unsafe !rest.isEmpty {
                let count = unsafe Glibc.write(fileDescriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    waitUntilWritable()
                } else if errno != EINTR {
                    return
                }
            }
        }
    }

    private func waitUntilWritable() {
        var poller = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&poller, 1, 1000)
    }
}
