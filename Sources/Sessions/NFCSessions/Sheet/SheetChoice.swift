// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TextSafety

/// Which presenter shows the scanning sheet.
public enum SheetChoice: Sendable, Hashable {
    /// A card on the controlling terminal.
    case terminal
    /// JSON objects, one per line, on a file descriptor.
    case json(fileDescriptor: Int32)
    /// Readable lines on standard error.
    case text
    /// Nothing.
    case none

    /// Parses a choice: `terminal`, `json` (standard error), `json:FD`, `text` or `none`.
    ///
    /// - Parameter name: the value of `NFC_SHEET`.
    /// - Returns: nil for an unknown choice.
    public init?(name: String) {
        switch name {
        case "terminal": self = .terminal
        case "json": self = .json(fileDescriptor: STDERR_FILENO)
        case "text": self = .text
        case "none": self = .none
        default:
            guard name.hasPrefix("json:"), let descriptor = Int32(name.dropFirst(5)), descriptor >= 0 else {
                return nil
            }
            self = .json(fileDescriptor: descriptor)
        }
    }

    /// Whether the person has chosen a presenter, in `NFC_SHEET`.
    package static var isNamed: Bool { !(EnvironmentVariable.value("NFC_SHEET") ?? "").isEmpty }

    /// The choice for this process: the value of `NFC_SHEET`; else a card when a person uses the terminal (standard
    /// input and error are terminals, and `TERM` is not `dumb`); else readable lines.
    public static var automatic: SheetChoice {
        if let name = EnvironmentVariable.value("NFC_SHEET"), !name.isEmpty {
            if let choice = SheetChoice(name: name) { return choice }
            OutputDescriptor.standardError.write(
                "NFC_SHEET is \(VisibleText.escaped(name)); use terminal, json, json:FD, text or none.\n"
            )
        }
        return isInteractive ? .terminal : .text
    }

    /// Creates the presenter.
    public func makeSheet() -> any ScanSheet {
        switch self {
        case .terminal: TerminalSheet(usesColor: Self.allowsColor)
        case .json(let fileDescriptor): JSONLinesSheet(fileDescriptor: fileDescriptor)
        case .text: PlainTextSheet()
        case .none: HiddenSheet()
        }
    }

    /// Whether a person uses a terminal that can draw.
    package static var isInteractive: Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return false }
        return !["", "dumb"].contains(EnvironmentVariable.value("TERM") ?? "")
    }

    /// Whether colour is allowed (no-color.org).
    package static var allowsColor: Bool { (EnvironmentVariable.value("NO_COLOR") ?? "").isEmpty }
}

/// A scanning sheet for logs: each change is one readable line.
public final class PlainTextSheet: ScanSheet {
    private let output: OutputDescriptor

    /// Creates a sheet.
    ///
    /// - Parameter fileDescriptor: where the lines are written; it stays open. Standard error unless given.
    public init(fileDescriptor: Int32 = 2) { output = OutputDescriptor(fileDescriptor) }

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

/// A scanning sheet for programs: each change is one JSON object on a line.
///
/// The object has `state` (a ``SheetState``), `title`, `message` and `shows_error_symbol`.
public final class JSONLinesSheet: ScanSheet {
    private let output: OutputDescriptor

    /// Creates a sheet.
    ///
    /// - Parameter fileDescriptor: where the lines are written; it stays open. Standard error unless given.
    public init(fileDescriptor: Int32 = 2) { output = OutputDescriptor(fileDescriptor) }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        output.write(Self.line(for: content) + "\n")
    }

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

/// A sheet that is not visible.
public final class HiddenSheet: ScanSheet {
    /// Creates a sheet.
    public init() {}

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {}
}
