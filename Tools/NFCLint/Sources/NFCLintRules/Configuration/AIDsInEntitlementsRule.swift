// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The list of AIDs is in the entitlements.
    static let aidsInEntitlements = Rule(
        id: "CFG024",
        severity: .error,
        title: "The list of AIDs stands in the entitlements",
        why: """
            It belongs into the Info.plist. In the entitlements it makes signing fail: the profile does not \
            include it.
            """,
        fix: "Move the key to the Info.plist.",
        bad: [
            Example.entitlements(
                """
                <key>com.apple.developer.nfc.readersession.formats</key>
                <array><string>TAG</string></array>
                <key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key>
                <array><string>A0000002471001</string></array>
                """
            )
                + Example.usage
                + Example.tagReader
        ],
        good: [
            Example.tagFormat
                + Example.usageAndIdentifier
                + Example.tagReader
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.identifiers) { list, _ in
                findings.add(
                    list.key,
                    "The list of AIDs stands in the entitlements, so signing fails. It belongs into the Info.plist."
                )
            }
        }
    )
}
