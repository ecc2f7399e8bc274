// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let invalidAID = Rule(
        id: "CFG020",
        severity: .error,
        title: "An AID in the list is invalid",
        why: """
            An AID is 5 to 16 bytes in hex (ISO 7816-4). An invalid AID never selects an application, so its tags are \
            not found.
            """,
        fix: "Write each AID as 10 to 32 hex digits, without spaces.",
        bad: [
            Example.identifiers("A0 00 00 02 47 10 01") + Example.tagReader,
            Example.identifiers("A0000002") + Example.tagReader,
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key>
                <string>A0000002471001</string>
                """
            )
                + Example.tagReader,
        ],
        good: [Example.usageAndIdentifier + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.identifiers) { list, _ in
                guard let values = list.value.array else {
                    findings.add(list.key, "The AID list is \(list.value.kind), but must be an array of strings.")
                    return
                }
                for value in values {
                    guard let text = value.string else {
                        findings.add(list.place(value), "An AID is \(value.kind), but must be a string.")
                        continue
                    }
                    guard !text.contains("$") else { continue }
                    if let bytes = Hex.bytes(text) {
                        guard !(5...16).contains(bytes.count) else { continue }
                        findings.add(
                            list.place(value),
                            "The AID \"\(text)\" has \(bytes.count) bytes, but an AID has 5 to 16."
                        )
                    } else {
                        findings.add(list.place(value), "The AID \"\(text)\" is not pairs of hex digits.")
                    }
                }
            }
        }
    )
}
