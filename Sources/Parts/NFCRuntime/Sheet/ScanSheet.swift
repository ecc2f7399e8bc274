// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import TagLink
import VisibleText

/// A presenter of the scanning sheet, such as a terminal, a log, a desktop, a browser or a test.
public protocol ScanSheet: AnyObject, Sendable {
    /// Draws the sheet again, or removes it when the state is ``SheetState/dismissed``.
    ///
    /// Calls come one at a time and in order, on any thread.
    ///
    /// - Parameters:
    ///   - content: what to show.
    ///   - cancel: the action of the sheet's Cancel button. It may be called from any thread and at any time. It does
    ///     nothing when the session has ended.
    func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void)
}

/// A sheet that is not visible.
public final class HiddenSheet: ScanSheet {
    /// Creates a sheet.
    public init() {}

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {}
}

/// The state of the scanning sheet.
public enum SheetState: String, Sendable, Hashable {
    /// The sheet waits for a tag.
    case ready
    /// A tag was found, and the app is working with it.
    case scanning
    /// The work succeeded. The sheet shows a check mark and leaves.
    case success
    /// The work failed. The sheet shows the app's message and leaves.
    case failure
    /// The sheet is not visible any more.
    case dismissed
}

/// Everything that a presenter needs to draw the scanning sheet.
public struct SheetContent: Sendable, Hashable {
    /// The state of the sheet.
    public var state: SheetState
    /// The title: "Ready to Scan" while the sheet waits.
    public var title: String
    /// The app's text: its alert message, or its error message in ``SheetState/failure``.
    public var message: String
    /// Whether the error symbol is drawn. A session that reads messages by itself shows its error message without one.
    public var showsErrorSymbol: Bool

    /// Creates a content.
    public init(state: SheetState, title: String, message: String, showsErrorSymbol: Bool) {
        self.state = state
        self.title = title
        self.message = message
        self.showsErrorSymbol = showsErrorSymbol
    }

    /// Whether the user can cancel now.
    public var canCancel: Bool { state == .ready || state == .scanning }
}

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
