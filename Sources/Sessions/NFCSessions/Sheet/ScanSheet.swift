// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TextSafety

/// Shows the scanning sheet, for example on a terminal, in a log, on a desktop, in a browser, or in a test.
public protocol ScanSheet: AnyObject, Sendable {
    /// Draws the sheet again, or removes it when the state is ``SheetState/dismissed``.
    ///
    /// The calls are made one at a time and in order, on any thread.
    ///
    /// - Parameters:
    ///   - content: what the sheet shows.
    ///   - cancel: the action of the sheet's Cancel button. May be called from any thread and at any time. Does nothing
    ///     when the session has ended.
    func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void)
}

/// Everything that a presenter needs to draw the scanning sheet.
public struct SheetContent: Sendable, Hashable {
    /// The state of the sheet.
    public var state: SheetState
    /// The title: "Ready to Scan" while the sheet waits.
    public var title: String
    /// The app's text: its alert message, or its error message in ``SheetState/failure``.
    public var message: String
    /// Whether the error symbol is drawn. A session that reads messages by itself shows an error without the symbol.
    public var showsErrorSymbol: Bool

    /// Creates the content of a sheet.
    public init(state: SheetState, title: String, message: String, showsErrorSymbol: Bool) {
        self.state = state
        self.title = title
        self.message = message
        self.showsErrorSymbol = showsErrorSymbol
    }

    /// Whether the user can cancel now.
    public var canCancel: Bool { state == .ready || state == .scanning }
}

/// The state of the scanning sheet.
public enum SheetState: String, Sendable, Hashable {
    /// The sheet waits for a tag.
    case ready
    /// A tag was found, and the app is working with it.
    case scanning
    /// The work succeeded. The sheet shows a check mark for a moment.
    case success
    /// The work failed. The sheet shows the app's message for a moment.
    case failure
    /// The sheet is not visible any more.
    case dismissed
}

/// The state machine of the scanning sheet: ready, scanning, success or failure, dismissed.
///
/// Send each event to ``handle(_:)``, and draw the content that it returns.
package struct SheetStateMachine: Sendable {
    package enum Event: Sendable {
        case present(message: String)
        case messageChanged(String)
        case tagFound
        case pollingRestarted
        case succeeded
        /// The session ended with the app's error message.
        case failed(message: String, showsErrorSymbol: Bool)
        /// The sheet is dismissed without a result: the user cancelled, or a time limit was reached.
        case leave
        case resultShown
    }

    /// The last drawn content; nil before the sheet was presented.
    package private(set) var content: SheetContent?

    package init() {}

    package var isVisible: Bool { content.map { $0.state != .dismissed } ?? false }

    /// Handles an event. Returns the content to draw; nil when nothing changes.
    package mutating func handle(_ event: Event) -> SheetContent? {
        guard let next = next(after: event), next != content else { return nil }
        content = next
        return next
    }

    private func next(after event: Event) -> SheetContent? {
        guard let content else {
            guard case .present(let message) = event else { return nil }
            return SheetContent(state: .ready, title: Self.readyTitle, message: message, showsErrorSymbol: false)
        }
        var next = content
        switch (content.state, event) {
        case (.ready, .messageChanged(let message)), (.scanning, .messageChanged(let message)):
            next.message = message
        case (.ready, .tagFound):
            next.state = .scanning
        case (.scanning, .pollingRestarted):
            next.state = .ready
        case (.ready, .succeeded), (.scanning, .succeeded):
            next.state = .success
            next.title = ""
        case (.ready, .failed(let message, let symbol)), (.scanning, .failed(let message, let symbol)):
            next.state = .failure
            next.title = ""
            next.message = message
            next.showsErrorSymbol = symbol
        case (.ready, .leave), (.scanning, .leave), (.success, .resultShown), (.failure, .resultShown):
            next.state = .dismissed
        default:
            return nil
        }
        return next
    }

    private static let readyTitle = "Ready to Scan"
}

/// The way to show the scanning sheet.
public enum SheetChoice: Sendable, Hashable {
    /// A card on the controlling terminal.
    case terminal
    /// JSON objects, one per line, on a file descriptor.
    case json(fileDescriptor: Int32)
    /// Readable lines on standard error.
    case text
    /// No sheet.
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

    /// Whether the user has made a choice with `NFC_SHEET`.
    package static var isNamed: Bool { !(EnvironmentVariable.value("NFC_SHEET") ?? "").isEmpty }

    /// The choice for this process: the value of `NFC_SHEET` if it is set, a card on an interactive terminal (standard
    /// input and error are terminals, and `TERM` is not `dumb`), or else readable lines.
    public static var automatic: SheetChoice {
        if let name = EnvironmentVariable.value("NFC_SHEET"), !name.isEmpty {
            if let choice = SheetChoice(name: name) { return choice }
            OutputDescriptor.standardError.write(
                "NFC_SHEET is \(VisibleText.escaped(name)); use terminal, json, json:FD, text or none.\n"
            )
        }
        return isInteractive ? .terminal : .text
    }

    /// Creates the chosen sheet.
    public func makeSheet() -> any ScanSheet {
        switch self {
        case .terminal: TerminalSheet(usesColor: Self.allowsColor)
        case .json(let fileDescriptor): JSONLinesSheet(fileDescriptor: fileDescriptor)
        case .text: PlainTextSheet()
        case .none: HiddenSheet()
        }
    }

    /// Whether standard input and error are terminals that can draw a card.
    package static var isInteractive: Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return false }
        return !["", "dumb"].contains(EnvironmentVariable.value("TERM") ?? "")
    }

    /// Whether colour is allowed (no-color.org).
    package static var allowsColor: Bool { (EnvironmentVariable.value("NO_COLOR") ?? "").isEmpty }
}

/// A scanning sheet for logs: writes one readable line for each change.
public final class PlainTextSheet: ScanSheet {
    private let output: OutputDescriptor

    /// Creates a sheet.
    ///
    /// - Parameter fileDescriptor: the file to write the lines to; it is not closed. By default standard error.
    public init(fileDescriptor: Int32 = 2) { output = OutputDescriptor(fileDescriptor) }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        guard let line = Self.line(for: content) else { return }
        output.write(line + "\n")
    }

    /// Returns the line for a content; nil for a dismissed sheet.
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

/// A scanning sheet for programs: writes one JSON object on a line for each change.
///
/// The object has `state` (a ``SheetState``), `title`, `message` and `shows_error_symbol`.
public final class JSONLinesSheet: ScanSheet {
    private let output: OutputDescriptor

    /// Creates a sheet.
    ///
    /// - Parameter fileDescriptor: the file to write the lines to; it is not closed. By default standard error.
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
