// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unknownFormat = Rule(
        id: "CFG014",
        severity: .error,
        title: "The formats contain an invalid value",
        why: "Formats are case-sensitive strings. An invalid value has no effect, or is rejected.",
        fix: "Use an array of strings: TAG, PACE or VAS, each once.",
        bad: [
            Example.formats("tag") + Example.usage + Example.tagReader,
            Example.formats("TAG", "RFID") + Example.usage + Example.tagReader,
            Example.formats() + Example.usage + Example.tagReader,
            Example.entitlements(
                """
                <key>com.apple.developer.nfc.readersession.formats</key>
                <string>TAG</string>
                """
            )
                + Example.usage
                + Example.tagReader,
            Example.formats("TAG", "TAG") + Example.usage + Example.tagReader,
        ],
        good: [
            Example.tagFormat + Example.usage + Example.tagReader,
            Example.formats("TAG", "PACE") + Example.usage + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, _ in
                guard let values = formats.value.array else {
                    // A build setting may insert the list.
                    if formats.value.string?.contains("$") == true { return }
                    findings.add(
                        formats.key,
                        "The formats are \(formats.value.kind), but must be an array of strings."
                    )
                    return
                }
                if values.isEmpty {
                    findings.add(formats.key, "The formats are an empty array, so sessions end with code 2.")
                }
                var seen: Set<String> = []
                for value in values {
                    guard let text = value.string else {
                        findings.add(formats.place(value), "A format is \(value.kind), but must be a string.")
                        continue
                    }
                    guard !text.contains("$") else { continue }
                    if !["TAG", "NDEF", "PACE", "VAS"].contains(text) {
                        let meant = text.trimmingBlanks.uppercased()
                        let isMeant = ["TAG", "NDEF", "PACE", "VAS"].contains(meant)
                        let hint = isMeant ? " Is \(meant) meant?" : ""
                        findings.add(formats.place(value), "The format \"\(text)\" is unknown.\(hint)")
                    } else if !seen.insert(text).inserted {
                        findings.add(formats.place(value), "The format \(text) is listed twice.")
                    }
                }
            }
        }
    )
}
