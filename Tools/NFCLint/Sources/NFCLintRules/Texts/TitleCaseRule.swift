// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The text is in title case or in capitals.
    static let titleCase = Rule(
        id: "TXT004",
        severity: .warning,
        title: "The text is in title case or capitals",
        why: "Sentences on the sheet use sentence case (Human Interface Guidelines).",
        fix: "Capitalise only the first word and names.",
        bad: [
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "Hold Your Phone Near The Badge."
                        session?.begin()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "HOLD YOUR PHONE NEAR THE BADGE."
                        session?.begin()
                    }
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "Hold your iPhone near the badge to open the door."
                        session?.begin()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func fail(_ error: any Error) { session?.invalidate(errorMessage: "The badge was not read. Hold it still, and try again.") }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "Hold your iPhone near the RFID badge."
                        session?.begin()
                    }
                }
                """
            ),
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
