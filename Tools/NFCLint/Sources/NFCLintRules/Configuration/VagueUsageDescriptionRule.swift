// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let vagueUsageDescription = Rule(
        id: "CFG003",
        severity: .warning,
        title: "The usage description does not say why the app scans",
        why: "App Review requires a reason. That the app uses NFC or scans tags is none.",
        fix: "Write a sentence that says what the app scans and why.",
        bad: [
            Example.usageDescription("NFC") + Example.tagReader,
            Example.usageDescription("Scan tags") + Example.tagReader,
            Example.usageDescription("This app needs access to NFC to read and write tags.") + Example.tagReader,
        ],
        good: [
            Example.usage + Example.tagReader,
            Example.usageDescription("ドアを開けるためにバッジを読み取ります。") + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachInfo(Keys.usage) { usage, _ in
                guard let text = usage.value.string, !text.contains("$(") else { return }
                let sheet = SheetText(text: text, role: .usage, place: usage.key)
                guard sheet.hasWords, !isPlaceholder(text) else { return }
                let words = sheet.words.map { $0.lowercased().filter { $0.isLetter } }
                if (1...2).contains(words.count) {
                    let count = words.count == 1 ? "one word" : "two words"
                    findings.add(usage.key, "NFCReaderUsageDescription has only \(count): \"\(text)\".")
                } else if !words.isEmpty, words.allSatisfy(general.contains) {
                    // Apple's sample has such a text, so this is only a note.
                    findings.add(
                        usage.key,
                        "NFCReaderUsageDescription gives no reason: \"\(text)\".",
                        severity: .info
                    )
                }
            }
        }
    )

    /// Words that are true of every app that scans.
    private static let general = Set(
        """
        a access allow allows an and any app application are be by can communication core data device devices enable \
        enabled feature features field for from function functionality functions have i in information into ios iphone \
        is it its message messages ndef near nearby need needed needs nfc nfcs of on or order our permission phone \
        please read reader reading reads require required requires rfid scan scanned scanning scans sensor some \
        support tag tags test testing that the this to usage use used user uses using want wants we will with work \
        would write writing you your
        """.split(separator: " ").map(String.init)
    )
}
