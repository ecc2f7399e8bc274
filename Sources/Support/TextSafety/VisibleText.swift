// SPDX-License-Identifier: Apache-2.0

/// Makes text from elsewhere safe to show to a person: on a terminal, in a log, in an error message.
///
/// Use it for all text that comes from a tag, a link, a file or the caller of a program, and only to show that text.
/// Text that is opened, written or sent must stay unchanged.
public enum VisibleText {
    /// Replaces every invisible character by a visible escape, such as `\u{1b}`.
    ///
    /// Such characters control a terminal, change the direction of text, or hide text from the reader. Line feeds,
    /// returns and tabs become `\n`, `\r` and `\t`. Characters that join or style emoji are kept next to an emoji.
    /// Escaping the result again does not change it.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - keepsLineBreaks: leaves line feeds unchanged. Only for text whose line breaks come from the program itself.
    /// - Returns: the text without invisible characters.
    public static func escaped(_ text: String, keepsLineBreaks: Bool = false) -> String {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: \.isInvisible) else { return text }
        var result = ""
        var last: Unicode.Scalar?
        for index in scalars.indices {
            let scalar = scalars[index]
            defer { last = scalar }
            let next = scalars[scalars.index(after: index)...].first
            switch scalar {
            case "\n" where keepsLineBreaks: result.append("\n")
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.isInvisible && !scalar.isPartOfEmoji(after: last, before: next):
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether the character is invisible, or its appearance is unknown. These are control characters, direction marks
    /// and other format characters, line separators, private use and unassigned characters, and characters that Unicode
    /// ignores by default.
    package var isInvisible: Bool {
        switch value {
        case 0x20..<0x7F: false
        case 0..<0xA0: true
        default:
            switch properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
            default: properties.isDefaultIgnorableCodePoint
            }
        }
    }

    /// Returns whether an invisible character only joins two emoji, or only selects the style of the emoji before it.
    func isPartOfEmoji(after last: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let last else { return false }
        switch value {
        case 0xFE0E, 0xFE0F: return last.isPictograph || (last.properties.isEmoji && next == "\u{20E3}")
        case 0x200D: return (last.isPictograph || last == "\u{FE0F}") && next?.isPictograph == true
        default: return false
        }
    }

    /// Whether the character is an emoji. Digits that can become an emoji don't count.
    private var isPictograph: Bool { !isASCII && properties.isEmoji }
}
