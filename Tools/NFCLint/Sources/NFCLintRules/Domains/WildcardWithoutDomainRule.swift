// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A wildcard does not include the domain itself.
    static let wildcardWithoutDomain = Rule(
        id: "DOM006",
        severity: .info,
        title: "A wildcard does not include the domain itself",
        why: "applinks:*.example.org matches only subdomains. A link to example.org does not open the app.",
        fix: "If links to the domain itself should open the app, add an entry for it.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:*.example.org</string></array>
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
            LinkChecks.domains("DOM006", unit, &findings)
        }
    )
}
