// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TextSafety

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

    /// Returns the line for a content; nil when there is nothing to report.
    package static func line(for content: SheetContent) -> String? {
        let message = VisibleText.escaped(content.message)
        let title = VisibleText.escaped(content.title)
        switch content.state {
        case .ready: return "[\(title)] " + (message.isEmpty ? "(no message)" : message)
        case .scanning: return "[Scanning] " + (message.isEmpty ? "(no message)" : message)
        case .success: return message.isEmpty ? "[Done]" : "[Done] " + message
        case .failure: return "[Failed] " + message
        case .dismissed: return nil
        }
    }
}
