// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether the character is invisible, or its appearance is unknown: control characters, direction marks and other
    /// format characters, line separators, private use and unassigned characters, and those that Unicode ignores by
    /// default.
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

    /// Returns whether an invisible character only joins two emoji, or chooses the style of the one before it.
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
