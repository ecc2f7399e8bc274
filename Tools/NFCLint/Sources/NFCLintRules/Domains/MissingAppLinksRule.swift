// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// No associated domain uses the service `applinks`.
    static let missingAppLinks = Rule(
        id: "DOM002",
        severity: .error,
        title: "No associated domain has the service applinks",
        why: "With other services, a link does not open the app.",
        fix: "Add an entry applinks: with the domain of the link.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>webcredentials:example.org</string></array>
                    """
                )
                + Example.messageReader
                + Example.linkScene
        ],
        good: [
            Example.usage
                + Example.tagFormatAndDomain
                + Example.messageReader
                + Example.linkScene
        ],
        check: { unit, findings in
            LinkChecks.domains("DOM002", unit, &findings)
        }
    )
}
