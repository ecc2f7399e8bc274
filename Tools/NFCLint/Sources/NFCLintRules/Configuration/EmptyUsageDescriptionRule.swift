// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let emptyUsageDescription = Rule(
        id: "CFG002",
        severity: .error,
        title: "The usage description says nothing",
        why: """
            An empty NFCReaderUsageDescription is a security violation (code 2), and App Review rejects a \
            placeholder.
            """,
        fix: "Write a sentence that says what the app scans and why.",
        bad: [
            Example.usageDescription("") + Example.tagReader,
            Example.usageDescription("Lorem ipsum dolor") + Example.tagReader,
            Example.usageDescription("NFCReaderUsageDescription") + Example.tagReader,
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <true/>
                """
            )
                + Example.tagReader,
            .usageDescription("YOUR_PRIVACY_DESCRIPTION"),
            .usageDescription("[reason]"),
            Example.usage + .file("en.lproj/InfoPlist.strings", "NFCReaderUsageDescription = \"Lorem ipsum\";"),
        ],
        good: [
            .usageDescription("Las tarjetas abren todo el edificio."),
            Example.usage + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachInfo(Keys.usage) { usage, _ in
                guard let text = usage.value.string else {
                    findings.add(usage.key, "NFCReaderUsageDescription is \(usage.value.kind), but must be a string.")
                    return
                }
                report(text, usage.key, &findings)
            }
            // Translations replace the text.
            for path in unit.target.files where path.hasSuffix("InfoPlist.strings") {
                guard let bytes = unit.files.bytes(path), let root = try? ConfigFile.propertyList(bytes),
                    let usage = ConfigFile(path: path, root: root).located(Keys.usage), let text = usage.value.string
                else { continue }
                report(text, usage.key, &findings)
            }
        }
    )

    private static func report(_ text: String, _ place: Place, _ findings: inout Findings) {
        if text.allSatisfy(\.isWhitespace) {
            findings.add(place, "NFCReaderUsageDescription is empty, so sessions end with code 2.")
        } else if isPlaceholder(text) {
            findings.add(place, "NFCReaderUsageDescription is a placeholder: \"\(text)\".")
        }
    }

    /// Whether a usage description is not written yet.
    static func isPlaceholder(_ text: String) -> Bool {
        let words = text.lowercased()
        return placeholders.contains(where: words.contains) || ["description", "string"].contains(words) || isName(text)
    }

    /// Whether a text is a template's placeholder, or a note that the text is not written yet.
    private static func isName(_ text: String) -> Bool {
        // Lower case "todo" is a Spanish word.
        let words = text.split { !$0.isLetter }
        if words.contains(where: { $0.lowercased() == "todo" && $0.allSatisfy(\.isUppercase) }) { return true }
        if let first = text.first, let last = text.last, ["[]", "<>", "{}"].contains("\(first)\(last)") { return true }
        return text.contains("_") && text.allSatisfy { $0 == "_" || $0.isNumber || $0.isUppercase }
    }

    private static let placeholders = [
        "todo:", "fixme", "lorem", "nfcreaderusagedescription", "your description", "usage description",
        "description here",
        "placeholder", "xxx", "[object",
    ]
}
