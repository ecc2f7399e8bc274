// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let aidsInEntitlements = Rule(
        id: "CFG024",
        severity: .error,
        title: "The AID list is in the entitlements",
        why: """
            The list belongs in the Info.plist. In the entitlements it makes signing fail, because the provisioning \
            profile does not include it.
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
        good: [Example.tagFormat + Example.usageAndIdentifier + Example.tagReader],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.identifiers) { list, _ in
                findings.add(
                    list.key,
                    "The AID list is in the entitlements, so signing fails. It belongs in the Info.plist."
                )
            }
        }
    )
}
