// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let missingCardEntitlement = Rule(
        id: "CFG040",
        severity: .error,
        title: "Card emulation keys are present without their entitlement",
        why: """
            The com.apple.developer.nfc.hce.* keys need com.apple.developer.nfc.hce. Without it, CardSession \
            terminates the app.
            """,
        fix: "Request com.apple.developer.nfc.hce from Apple, and set it to true.",
        bad: [
            Example.entitlements(
                """
                <key>com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes</key>
                <array><string>A000000247</string></array>
                """
            ) + Example.minimum("17.4")
        ],
        good: [Example.cardPrefix("A000000247") + Example.minimum("17.4")],
        check: { unit, findings in
            for variant in unit.target.variants where variant.entitlement(Keys.emulation)?.value.boolean != true {
                for entry in variant.entitlements?.root.entries ?? [] where entry.key.hasPrefix(Keys.emulation + ".") {
                    let place = variant.entitlements?.place(entry.position)
                    findings.add(place, "\(entry.key) has no effect without \(Keys.emulation).")
                }
            }
        }
    )
}
