// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The usage description is too vague.
    static let vagueUsageDescription = Rule(
        id: "CFG003",
        severity: .warning,
        title: "The usage description is too short",
        why: "One or two words do not say why the app scans, and App Review requires a reason.",
        fix: "Write a sentence that says what the app scans and why.",
        bad: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>NFC</string>
                """
            )
                + Example.tagReader,
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Scan tags</string>
                """
            )
                + Example.tagReader,
        ],
        good: [
            Example.usage
                + Example.tagReader,
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>ドアを開けるためにバッジを読み取ります。</string>
                """
            )
                + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachInfo(Keys.usage) { usage, _ in
                guard let text = usage.value.string, !text.contains("$(") else { return }
                let sheet = SheetText(text: text, role: .usage, place: usage.key)
                let count = sheet.words.count
                guard sheet.hasWords, (1...2).contains(count) else { return }
                findings.add(
                    usage.key,
                    "NFCReaderUsageDescription has only \(count == 1 ? "one word" : "two words"): \"\(text)\"."
                )
            }
        }
    )
}
