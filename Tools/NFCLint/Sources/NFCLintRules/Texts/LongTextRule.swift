// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let longText = Rule(
        id: "TXT006",
        severity: .warning,
        title: "The text is long",
        why: "The sheet has room for about two lines. Longer text is cut off, or moves the picture away.",
        fix: "Use at most 70 characters.",
        bad: [
            .instruction("Hold your iPhone near the badge that hangs on the wall beside the door to open it."),
            Example.swift(
                """
                class Reader: NSObject {
                    var session: NFCTagReaderSession?
                    func start() { session?.alertMessage = String(localized: "hold") }
                }
                """
            )
                + .file(
                    "Localizable.xcstrings",
                    """
                    {"sourceLanguage": "en", "strings": {"hold": {"localizations": {
                        "en": {"stringUnit": {"value": "Hold your iPhone near the badge."}},
                        "de": {"stringUnit": {"value": "Halten Sie die obere Kante Ihres iPhone ruhig an den Ausweis, der neben der Tür an der Wand des Gebäudes hängt."}}
                    }}}}
                    """
                ),
        ],
        good: [
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.role != .usage {
                let count = text.text.filter { $0 != SheetText.gap }.count
                if count > 70 {
                    findings.add(
                        text.place,
                        "The text has \(count) characters; up to 70 fit well.",
                        severity: count > 100 ? .error : .warning
                    )
                }
                // Many languages need more letters than English.
                for translation in text.translations where translation.text.count > 100 {
                    let text = "The translation has \(translation.text.count) characters; up to 70 fit well."
                    findings.add(translation.place, text)
                }
            }
        }
    )
}
