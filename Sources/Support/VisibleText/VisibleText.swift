// SPDX-License-Identifier: Apache-2.0

/// Text of others, made fit to show to a person: on a terminal, in a log, in an error message.
///
/// Use it for everything that a tag, a link, a file, or the caller of a program wrote. It is for what is shown only: what is
/// opened, written or sent stays as it is.
public enum VisibleText {
    /// Replaces every character that nobody sees by a visible escape, such as `\u{1b}`.
    ///
    /// These are the characters that drive a terminal, that change the direction of text, and that hide text from the
    /// reader. Line feeds, returns and tabs become `\n`, `\r` and `\t`. What joins or styles emoji stays where an emoji has
    /// it. Escaped text stays the same when it is escaped again.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - keepsLineBreaks: leaves line feeds as they are. Only for text whose lines are the program's own.
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
