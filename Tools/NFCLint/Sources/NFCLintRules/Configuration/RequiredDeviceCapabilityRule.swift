// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The app requires devices with NFC.
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
            unit.forEachInfo(Keys.capabilities) { list, _ in
                if let value = list.value.array?.first(where: { $0.string == "nfc" }) {
                    findings.add(
                        list.place(value),
                        """
                        The app can only be installed on devices with NFC. The App Store rejects adding this once the \
                        app is on sale.
                        """
                    )
                } else if list.value["nfc"]?.boolean == true
                    || list.value.string?.split(separator: " ").contains("nfc") == true
                {
                    findings.add(
                        list.key,
                        """
                        The app can only be installed on devices with NFC. The App Store rejects adding this once the \
                        app is on sale.
                        """
                    )
                }
            }
        }
    )
}
