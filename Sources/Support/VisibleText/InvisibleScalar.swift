// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether nobody sees the character, or nobody can know what it looks like: controls, marks of direction and other
    /// formats, separators of lines, what Unicode says to ignore where it is not supported, and what it has not assigned.
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

    /// Whether an invisible character only joins two emoji, or says how the one before it is drawn.
    func isPartOfEmoji(after last: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let last else { return false }
        switch value {
        case 0xFE0E, 0xFE0F: return last.isPictograph || (last.properties.isEmoji && next == "\u{20E3}")
        case 0x200D: return (last.isPictograph || last == "\u{FE0F}") && next?.isPictograph == true
        default: return false
        }
    }

    /// Whether the character is an emoji, and not a digit that can be made one.
    private var isPictograph: Bool { !isASCII && properties.isEmoji }
}
