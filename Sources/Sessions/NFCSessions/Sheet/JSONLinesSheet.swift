// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TextSafety

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

    /// Returns the line for a content.
    package static func line(for content: SheetContent) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("state", content.state.rawValue)
        writer.member("title", content.title)
        writer.member("message", content.message)
        writer.member("shows_error_symbol", content.showsErrorSymbol)
        writer.endObject()
        return String(decoding: writer.text, as: UTF8.self)
    }
}
