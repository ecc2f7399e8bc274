// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unnamedObject = Rule(
        id: "TXT007",
        severity: .info,
        title: "The instruction does not name the object",
        why: "People look for the object to hold near the phone: a card, a poster, a toy.",
        fix: "Name it.",
        bad: [
            .instruction("Hold your iPhone near the sticker."),
            .instruction("Hold your iPhone near the [object name]."),
            .instruction("Hold your iPhone near the item."),
        ],
        good: [
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
            .instruction("Hold your iPhone near the item to learn more about it."),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.role == .instruction && text.isLatin {
                let lower = text.text.lowercased()
                if lower.contains("[object") || lower.contains("object name") || lower.contains("<object") {
                    findings.add(text.place, "The object's name was not filled in: \(text.shown)")
                    continue
                }
                // TXT001 says the same of a text with a technical term.
                guard Rule.technicalTerms(text, unit).isEmpty else { continue }
                guard !unit.options.objects.contains(where: { lower.contains($0.lowercased()) }) else { continue }
                let words = text.words.map { $0.lowercased() }
                let near: Set<String> = [
                    "near", "to", "against", "over", "at", "scan", "next", "toward", "towards", "close",
                ]
                let object = words.indices.first { near.contains(words[$0]) && names(words, behind: $0) != nil }
                guard let object, let name = names(words, behind: object), vague.contains(name.word) else { continue }
                // A word in the middle is followed by a clause that describes the object.
                guard name.index == words.count - 1 else { continue }
                findings.add(text.place, "The instruction does not name the object: \(text.shown)")
            }
        }
    )
    private static let vague: Set<String> = [
        "it", "something", "item", "items", "object", "thing", "chip", "sticker",
    ]
    private static let fillers: Set<String> = [
        "the", "a", "an", "your", "this", "that", "nfc", "ndef", "rfid", "to", "of", "any", "another", "compatible",
        "valid",
    ]

    /// The first significant word after a preposition, and its index.
    private static func names(_ words: [String], behind index: Int) -> (word: String, index: Int)? {
        for next in words.indices where next > index {
            if fillers.contains(words[next]) { continue }
            return (words[next], next)
        }
        return nil
    }
}
