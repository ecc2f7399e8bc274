// SPDX-License-Identifier: Apache-2.0

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
