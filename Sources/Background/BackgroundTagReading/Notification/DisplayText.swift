// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Makes text from tags and files safe to show.
public enum DisplayText {
    /// The part of a text that is kept when it is too long.
    public enum End: Sendable {
        case head
        /// The end: for a host, whose last labels identify its owner.
        case tail
        /// Both ends, with the ellipsis in the middle: for a number, which may differ at either end.
        case both
    }

    /// Returns text without control characters, line breaks, direction marks and other invisible characters, with at
    /// most two combining marks on a letter, and shortened to a limit in Unicode scalars. An ellipsis replaces the part
    /// that is cut off.
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

    /// Returns text escaped for the markup of notifications (Desktop Notifications Specification 1.2).
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
