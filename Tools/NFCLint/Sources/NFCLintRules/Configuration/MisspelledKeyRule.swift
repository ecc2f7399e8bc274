// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let misspelledKey = Rule(
        id: "CFG030",
        severity: .error,
        title: "A key has spaces around it, or the wrong case",
        why: "Keys are case-sensitive, so iOS does not find this one.",
        fix: "Write the key exactly as documented.",
        bad: [
            Example.plist(
                """
                <key> NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                """
            )
                + Example.tagReader,
            Example.entitlements(
                """
                <key>com.apple.developer.nfc.readersession.Formats</key>
                <array><string>TAG</string></array>
                """
            )
                + Example.usage
                + Example.tagReader,
        ],
        good: [Example.usage + Example.tagFormat + Example.tagReader],
        check: { unit, findings in
            for variant in unit.target.variants {
                for file in [variant.info, variant.entitlements].compactMap({ $0 }) {
                    for entry in file.root.entries ?? [] {
                        let meant = entry.key.trimmingBlanks.lowercased()
                        guard let key = Keys.all.first(where: { $0.lowercased() == meant }), key != entry.key else {
                            continue
                        }
                        let what =
                            key == entry.key.trimmingBlanks ? "has spaces around it" : "has the wrong case"
                        findings.add(
                            file.place(entry.position),
                            "The key \"\(entry.key)\" \(what), so iOS does not find \(key).",
                            edits: file.root.entry(key) == nil ? unit.renaming(entry, to: key, in: file.path) : []
                        )
                    }
                }
            }
        }
    )
}
