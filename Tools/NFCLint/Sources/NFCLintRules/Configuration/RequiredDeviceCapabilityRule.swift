// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let requiredDeviceCapability = Rule(
        id: "CFG031",
        severity: .info,
        title: "The app requires devices with NFC",
        why: """
            UIRequiredDeviceCapabilities excludes all other devices. The App Store rejects adding nfc to it once the \
            app is on sale (ITMS-90109).
            """,
        fix: "Remove nfc, and check readingAvailable in code.",
        bad: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>UIRequiredDeviceCapabilities</key>
                <array><string>nfc</string></array>
                """
            )
                + Example.tagReader
        ],
        good: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>UIRequiredDeviceCapabilities</key>
                <array><string>arm64</string></array>
                """
            )
                + Example.tagReader
        ],
        check: { unit, findings in
            let checks =
                unit.mentionsAnywhere(["readingAvailable"])
                || unit.objective.contains { $0.code.methods.contains { $0.mentions("readingAvailable") } }
            for place in unit.target.variants.compactMap(\.requiredNFC) {
                let code = checks ? ", although its code checks readingAvailable" : ""
                findings.add(
                    place,
                    """
                    The app can only be installed on devices with NFC\(code). The App Store rejects adding this once \
                    the app is on sale.
                    """
                )
            }
        }
    )
}
