// SPDX-License-Identifier: Apache-2.0

/// A text that users read on the scanning sheet or before scanning.
public struct SheetText: Sendable {
    /// The purpose of a text.
    public enum Role: Sendable {
        /// Says what to do, before the session begins.
        case instruction
        /// Reports progress or success.
        case progress
        /// Reports an error.
        case error
        /// Explains why the app scans (from the Info.plist).
        case usage
    }

    /// The placeholder for values that are inserted at run time.
    public static let gap: Character = "\u{FFFC}"

    /// The text, with ``gap`` for inserted values.
    public var text: String
    /// The purpose of the text.
    public var role: Role
    /// The location of the text.
    public var place: Place
    /// Whether an entire error value is inserted.
    public var hasRawError = false
    /// The text in the app's other languages.
    public var translations: [StringTable.Text] = []

    /// Creates a text.
    public init(text: String, role: Role, place: Place, hasRawError: Bool = false) {
        self.text = text
        self.role = role
        self.place = place
        self.hasRawError = hasRawError
    }

    /// The words without punctuation. Not meaningful for Chinese, Japanese and Thai.
    public var words: [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "'" || $0 == "’" || $0 == "-" || $0 == Self.gap) }.map(
            String.init
        )
    }

    /// Whether the language separates words with spaces.
    public var hasWords: Bool { !text.unicodeScalars.contains(where: Self.isJoined) }

    /// Whether the text is probably English, judging by its characters.
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
