// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A format requires a later iOS, or permission from Apple.
    static let formatAvailability = Rule(
        id: "CFG015",
        severity: .warning,
        title: "A format needs a later iOS, or a grant of Apple",
        why: """
            PACE exists from iOS 16 on. VAS is granted by Apple to an account; without the grant the app can not \
            be signed.
            """,
        fix: """
            Raise the least version of iOS for PACE, or check it in code. Ask Apple for VAS before you add it.
            """,
        bad: [
            Example.minimum("15.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string><string>PACE</string></array>
                    """
                )
                + Example.usage
                + Example.tagReader,
            Example.entitlements(
                """
                <key>com.apple.developer.nfc.readersession.formats</key>
                <array><string>TAG</string><string>VAS</string></array>
                """
            )
                + Example.usage
                + Example.tagReader,
        ],
        good: [
            Example.minimum("16.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string><string>PACE</string></array>
                    """
                )
                + Example.usage
                + Example.tagReader
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                for value in formats.value.array ?? [] {
                    if value.string == "PACE", let minimum = variant.minimum, minimum < Version(16) {
                        findings.add(
                            formats.place(value),
                            "PACE exists from iOS 16 on, and the app is for iOS \(minimum) and later."
                        )
                    }
                    if value.string == "VAS" {
                        findings.add(
                            formats.place(value),
                            "VAS has to be granted by Apple; without the grant the app can't be signed."
                        )
                    }
                }
            }
        }
    )
}
