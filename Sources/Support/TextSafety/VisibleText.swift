// SPDX-License-Identifier: Apache-2.0

/// Makes text from elsewhere safe to show to a person: on a terminal, in a log, in an error message.
///
/// Use it for all text that comes from a tag, a link, a file or the caller of a program. Use it only for what is shown.
/// Text that is opened, written or sent must stay unchanged.
public enum VisibleText {
    /// Replaces every invisible character by a visible escape, such as `\u{1b}`.
    ///
    /// Such characters control a terminal, change the direction of text, or hide text from the reader. Line feeds,
    /// returns and tabs become `\n`, `\r` and `\t`. Characters that join or style emoji stay next to an emoji. Escaping
    /// the result again does not change it.
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
