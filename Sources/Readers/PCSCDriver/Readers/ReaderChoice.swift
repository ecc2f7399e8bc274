// SPDX-License-Identifier: Apache-2.0

/// How to choose one of the system's readers.
public enum ReaderChoice: Sendable, Hashable {
    /// The first reader that is contactless, as far as known; none when no reader is.
    case firstContactless
    /// The first contactless reader, or else the first reader.
    case first
    /// The reader with this name; or the first one whose name begins with it, or contains it, ignoring case.
    case named(String)

    /// Chooses a reader.
    ///
    /// - Parameter states: the connected readers, in the service's order.
    /// - Returns: the reader's name; nil when no reader matches.
    package func pick(from states: [SmartCardReaderState]) -> String? {
        let names = states.map(\.reader)
        switch self {
        case .firstContactless:
            return states.first { Self.isContactless($0) }?.reader
        case .first:
            return ReaderChoice.firstContactless.pick(from: states)
                ?? names.first { !Self.words(in: $0).contains("SAM") } ?? names.first
        case .named(let wanted):
            let wanted = wanted.uppercased()
            return names.first { $0.uppercased() == wanted }
                ?? names.first { $0.uppercased().hasPrefix(wanted) }
                ?? names.first { $0.uppercased().contains(wanted) }
        }
    }

    /// Whether a reader is contactless, judged by the card in it; or without a card, by the reader's name.
    ///
    /// The service has no better information. The name only determines which reader to try; the driver asks the reader
    /// for its capabilities.
    package static func isContactless(_ state: SmartCardReaderState) -> Bool {
        if let answer = AnswerToReset(state.answerToReset) { return answer.isContactless }
        let words = words(in: state.reader)
        if words.contains(where: Self.contactWords.contains) { return false }
        return words.contains { word in
            Self.contactlessWords.contains(word) || Self.contactlessProducts.contains { word.hasPrefix($0) }
        }
    }

    /// Whether a reader has a PN53x inside, judged by its name. That chip does not find ISO/IEC 15693 tags (PN532 user
    /// manual, 7.3.5, InListPassiveTarget).
    static func hasPN53x(_ name: String) -> Bool {
        words(in: name).contains { word in pn53xProducts.contains { word.hasPrefix($0) } }
    }

    private static let pn53xProducts = ["ACR122", "PN53", "SCL3711", "TOUCHATAG"]

    /// Words for contact slots, in readers with both kinds of slots.
    private static let contactWords: Set<String> = ["SAM", "ICC", "CONTACT"]
    private static let contactlessWords: Set<String> = [
        "CL", "CONTACTLESS", "FELICA", "NFC", "PASORI", "PCD", "PICC", "RF", "RFID", "TOUCHATAG",
    ]
    private static let contactlessProducts = [
        "ACR122", "ACR125", "ACR128", "ACR155", "ARYGON", "PN53", "SCL3711", "RC-S", "5022", "5023", "5027", "5422",
        "5427", "3700", "3720", "4701",
    ]

    private static func words(in name: String) -> [String] {
        name.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init)
    }
}
