// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which presenter shows the scanning sheet.
public enum SheetChoice: Sendable, Hashable {
    /// A card on the controlling terminal.
    case terminal
    /// JSON objects, one a line, on a file descriptor.
    case json(fileDescriptor: Int32)
    /// Readable lines on standard error.
    case text
    /// Nothing.
    case none

    /// Reads a choice: `terminal`, `json` (standard error), `json:FD`, `text` or `none`.
    ///
    /// - Parameter name: the choice as `NFC_SHEET` has it.
    /// - Returns: nil when there is no such choice.
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

    /// The choice for this process: what `NFC_SHEET` says, else a card when a person sits at the terminal (standard
    /// input and error both are one, and `TERM` is not `dumb`), else readable lines.
    public static var automatic: SheetChoice {
        if let name = environmentValue("NFC_SHEET"), !name.isEmpty {
            if let choice = SheetChoice(name: name) { return choice }
            OutputDescriptor.standardError.write(
                "NFC_SHEET is \(TerminalText.escaped(name)); use terminal, json, json:FD, text or none.\n"
            )
        }
        return isInteractive ? .terminal : .text
    }

    /// Makes the presenter.
    public func makeSheet() -> any ScanSheet {
        switch self {
        case .terminal: TerminalSheet(usesColor: Self.allowsColor)
        case .json(let fileDescriptor): JSONLinesSheet(fileDescriptor: fileDescriptor)
        case .text: PlainTextSheet()
        case .none: HiddenSheet()
        }
    }

    /// Whether a person sits at a terminal that can draw.
    package static var isInteractive: Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return false }
        return !["", "dumb"].contains(environmentValue("TERM") ?? "")
    }

    /// Whether colour is wanted (no-color.org).
    package static var allowsColor: Bool { (environmentValue("NO_COLOR") ?? "").isEmpty }

    private static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
