// SPDX-License-Identifier: Apache-2.0

/// A text that people read on the scanning sheet, or before it.
public struct SheetText: Sendable {
    /// What it is for.
    public enum Role: Sendable {
        /// What to do, before the session begins.
        case instruction
        /// What happens, or that it is done.
        case progress
        /// What went wrong.
        case error
        /// Why the app scans, from the Info.plist.
        case usage
    }

    /// The placeholder for values that are inserted at run time.
    public static let gap: Character = "\u{FFFC}"

    /// The text, with ``gap`` for inserted values.
    public var text: String
    /// What it is for.
    public var role: Role
    /// Where it stands.
    public var place: Place
    /// Whether a whole error is put in.
    public var hasRawError = false

    /// A text.
    public init(text: String, role: Role, place: Place, hasRawError: Bool = false) {
        self.text = text
        self.role = role
        self.place = place
        self.hasRawError = hasRawError
    }

    /// The words, without punctuation; Chinese, Japanese and Thai have none.
    public var words: [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "'" || $0 == "’" || $0 == "-" || $0 == Self.gap) }.map(
            String.init
        )
    }

    /// Whether its language has blanks between words.
    public var hasWords: Bool { !text.unicodeScalars.contains(where: Self.isJoined) }

    /// Whether it is probably in English, judged by its letters.
    public var isLatin: Bool {
        text.unicodeScalars.allSatisfy {
            $0.value < 0x250 || (0x2000..<0x2C00).contains($0.value) || $0.value == 0xFFFC || $0.value >= 0x1F000
                || $0.value == 0xFE0F
        }
    }

    private static func isJoined(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3000...0x30FF, 0x3400...0x9FFF, 0xAC00...0xD7AF,
            0xFF00...0xFFEF:
            true
        default: false
        }
    }
}
