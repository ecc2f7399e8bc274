// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let formatsInInfoPlist = Rule(
        id: "CFG016",
        severity: .error,
        title: "The formats are in the Info.plist",
        why: "The formats are an entitlement; in the Info.plist they have no effect.",
        fix: "Move the key to the entitlements.",
        bad: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>com.apple.developer.nfc.readersession.formats</key>
                <array><string>TAG</string></array>
                """
            )
                + Example.tagReader
        ],
        good: [Example.usage + Example.tagReader + Example.tagFormat],
        check: { unit, findings in
            unit.forEachInfo(Keys.formats) { formats, _ in
                findings.add(
                    formats.key,
                    "The formats are in the Info.plist, where they have no effect. They are an entitlement."
                )
            }
        }
    )
}
