// SPDX-License-Identifier: Apache-2.0
import VisibleText

/// Makes text of tags and files harmless to show.
public enum DisplayText {
    /// Which end of a text that is too long is kept.
    public enum End: Sendable {
        /// Its beginning.
        case head
        /// Its end: of a host, whose last labels say who has it.
        case tail
        /// Both ends, with the ellipsis in the middle: of a number, which may differ at either.
        case both
    }

    /// Text without control characters, line breaks, marks that change the direction of text, characters that nobody
    /// sees, and more than two marks on a letter; and no longer than it may be.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - limit: the most Unicode scalars; what is cut off shows as an ellipsis.
    ///   - keeping: which end is kept.
    public static func plain(_ text: String, limit: Int, keeping: End = .head) -> String {
        var scalars: [Unicode.Scalar] = []
        var marks = 0
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark:
                marks += 1
                if marks <= 2, !scalar.isInvisible { scalars.append(scalar) }
            case .spaceSeparator:
                marks = 0
                scalars.append(" ")
            default:
                marks = 0
                scalars.append(scalar.isInvisible ? "\u{FFFD}" : scalar)
            }
            if keeping == .head, scalars.count > limit { break }
        }
        guard scalars.count > limit else { return string(scalars[...]) }
        let kept = max(limit - 1, 0)
        return switch keeping {
        case .head: string(scalars.prefix(kept)) + "…"
        case .tail: "…" + string(scalars.suffix(kept))
        case .both: string(scalars.prefix(kept - kept / 2)) + "…" + string(scalars.suffix(kept / 2))
        }
    }

    /// Text as the markup of notifications has it (Desktop Notifications Specification 1.2).
    public static func escapingMarkup(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}
