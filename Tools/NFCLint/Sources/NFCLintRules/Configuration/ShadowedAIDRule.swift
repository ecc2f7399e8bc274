// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A longer AID follows its own prefix in the list.
    static let shadowedAID = Rule(
        id: "CFG023",
        severity: .warning,
        title: "A longer AID stands behind its own beginning",
        why: """
            iOS selects in the order of the list. A card that has the longer application often answers to its \
            beginning too, so the longer one is never selected.
            """,
        fix: "Put the longer AID before the shorter one.",
        bad: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key>
                <array><string>A000000247</string><string>A0000002471001</string></array>
                """
            )
                + Example.tagReader
        ],
        good: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key>
                <array><string>A0000002471001</string><string>A000000247</string></array>
                """
            )
                + Example.tagReader
        ],
        check: { unit, findings in
            unit.forEachInfo(Keys.identifiers) { list, _ in
                let values = list.value.array ?? []
                var hidden: [(value: ConfigValue, by: String)] = []
                for (index, value) in values.enumerated() {
                    let text = value.string?.uppercased() ?? ""
                    guard Hex.bytes(text) != nil else { continue }
                    let earlier = values[..<index].compactMap { $0.string?.uppercased() }
                    guard
                        let prefix = earlier.first(where: {
                            text.count > $0.count && $0.count >= 10 && text.hasPrefix($0)
                        })
                    else { continue }
                    hidden.append((value, prefix))
                }
                guard let first = hidden.first else { return }
                let more = hidden.count == 1 ? "" : " So do \(hidden.count - 1) more."
                let text =
                    "The AID \(first.value.string ?? "") stands behind its beginning \(first.by), which answers first.\(more)"
                findings.add(list.place(first.value), text)
            }
        }
    )
}
