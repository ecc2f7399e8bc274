// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let cardAvailability = Rule(
        id: "CFG042",
        severity: .warning,
        title: "Card emulation can't work on every supported system",
        why: "Card emulation requires iOS 17.4. A default contactless app must list the AID prefixes that it answers.",
        fix: "Raise the minimum iOS version or check it in code, and list the prefixes.",
        bad: [
            Example.minimum("16.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.hce</key>
                    <true/>
                    """
                ),
            Example.minimum("17.4")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.hce</key>
                    <true/>
                    <key>com.apple.developer.nfc.hce.default-contactless-app</key>
                    <true/>
                    """
                ),
        ],
        good: [Example.cardPrefix("A000000247") + Example.minimum("17.4")],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.emulation) { value, variant in
                guard value.value.boolean == true else { return }
                if let minimum = variant.minimum, minimum < Version(17, 4) {
                    findings.add(
                        value.key,
                        "Card emulation requires iOS 17.4, but the app supports iOS \(minimum) and later."
                    )
                }
                if let defaults = variant.entitlement(Keys.defaultApp),
                    variant.entitlement(Keys.emulationPrefixes) == nil
                {
                    findings.add(
                        defaults.key,
                        "The app is a default contactless app, but lists no prefixes that it answers."
                    )
                }
            }
        }
    )
}
