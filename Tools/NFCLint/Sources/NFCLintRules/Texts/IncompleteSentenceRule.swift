// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let incompleteSentence = Rule(
        id: "TXT003",
        severity: .warning,
        title: "The text is not a complete sentence",
        why: "A sentence says what to do or what happened. One or two words do not (Human Interface Guidelines).",
        fix: "Write a sentence with a verb, and begin it with a capital letter.",
        bad: [
            .instruction("Scan badge"),
            .instruction("hold your iPhone near the badge"),
            .failure("Error"),
        ],
        good: [
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCTagReaderSession?
                    func fail() { session?.invalidate(errorMessage: "Karta bağlanılamadı.") }
                    func wait() { session?.alertMessage = "Please wait." }
                    func finish() { session?.alertMessage = "vCard created on the badge." }
                }
                """
            ),
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
            .instruction("カードをかざしてください。"),
            .instruction(#"\(message)"#),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.hasWords {
                let words = text.words.filter { !$0.contains(SheetText.gap) }
                guard let first = text.text.first(where: { !$0.isWhitespace }), !words.isEmpty else { continue }
                let hasGap = text.text.contains(SheetText.gap)
                // Names such as iPhone and vCard begin with a small letter.
                let isName = text.words.first?.contains(where: \.isUppercase) == true
                if first.isLetter, first.isLowercase, first.isASCII, !isName {
                    findings.add(text.place, "The text does not begin with a capital letter: \(text.shown)")
                } else if words.count < (isJoining(words) ? 2 : 3), !hasGap, !isWhole(text.text, words) {
                    findings.add(text.place, "The text is not a complete sentence: \(text.shown)")
                } else if words.count <= 4, !hasGap, Verbs.isEnglish(words), !Verbs.has(words) {
                    findings.add(text.place, "The text has no verb: \(text.shown)")
                }
            }
        }
    )

    /// Whether a short text is a sentence nevertheless, such as "Please wait."
    private static func isWhole(_ text: String, _ words: [String]) -> Bool {
        words.count > 1 && Verbs.has(words) && ".!?…".contains(text.last { !$0.isWhitespace } ?? " ")
    }

    /// Whether the words may be in a language that needs fewer words than English, such as Turkish or Russian.
    private static func isJoining(_ words: [String]) -> Bool { words.contains { !$0.allSatisfy(\.isASCII) } }
}
