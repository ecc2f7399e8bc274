// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The app requires devices with NFC.
    static let requiredDeviceCapability = Rule(
        id: "CFG031",
        severity: .info,
        title: "The app asks for devices with NFC",
        why: """
            UIRequiredDeviceCapabilities keeps the app from all other devices, and adding it to an app that is \
            on sale is refused (ITMS-90109).
            """,
        fix: "Take nfc out, and check readingAvailable in code.",
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
                        "The app is for devices with NFC alone. Adding this to an app on sale is refused."
                    )
                } else if list.value["nfc"]?.boolean == true
                    || list.value.string?.split(separator: " ").contains("nfc") == true
                {
                    findings.add(
                        list.key,
                        "The app is for devices with NFC alone. Adding this to an app on sale is refused."
                    )
                }
            }
        }
    )
}
