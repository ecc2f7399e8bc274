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
