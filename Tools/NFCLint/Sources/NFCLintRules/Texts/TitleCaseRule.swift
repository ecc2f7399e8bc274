// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let titleCase = Rule(
        id: "TXT004",
        severity: .warning,
        title: "The text is in title case or capitals",
        why: "Sentences on the sheet use sentence case (Human Interface Guidelines).",
        fix: "Capitalise only the first word and names.",
        bad: [
            .instruction("Hold Your Phone Near The Badge."),
            .instruction("HOLD YOUR PHONE NEAR THE BADGE."),
        ],
        good: [
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
            .instruction("Hold your iPhone near the RFID badge."),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.isLatin {
                let letters = text.text.filter(\.isLetter)
                let words = text.words.filter { $0.allSatisfy { $0.isLetter || $0 == "'" || $0 == "’" } }
                let long = words.filter { $0.count > 3 }
                if words.count >= 2, letters.count > 8, letters.allSatisfy(\.isUppercase), !long.isEmpty {
                    findings.add(text.place, "The text is in capitals: \(text.shown)")
                    continue
                }
                // Skip the first word of each sentence, which is capitalized in any case.
                let inner = innerWords(text.text).filter {
                    $0.count > 3 && $0 != $0.uppercased() && !known.contains($0.lowercased())
                }
                let capital = inner.filter { $0.first?.isUppercase == true }
                guard inner.count >= 2, capital.count == inner.count else { continue }
                findings.add(text.place, "The text is in title case: \(text.shown)")
            }
        }
    )
    private static let known: Set<String> = ["iphone", "ipad", "apple", "wallet"]

    private static func innerWords(_ text: String) -> [String] {
        text.split { ".!?:\n".contains($0) }.flatMap { sentence in
            sentence.split { !($0.isLetter || $0 == "'" || $0 == "’") }.dropFirst().map(String.init)
        }
    }
}
