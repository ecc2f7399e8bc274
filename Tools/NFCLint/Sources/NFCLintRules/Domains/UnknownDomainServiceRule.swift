// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An associated domain has no service, or an unknown service.
    static let unknownDomainService = Rule(
        id: "DOM003",
        severity: .error,
        title: "An associated domain has no service, or an unknown one",
        why: "An entry is a service, a colon and a domain. Entries with another service have no effect.",
        fix: "Write applinks: before the domain.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>example.org</string><string>applinks:example.org</string></array>
                    """
                )
                + Example.messageReader,
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applink:example.org</string></array>
                    """
                )
                + Example.messageReader,
        ],
        good: [
            Example.usage
                + Example.tagFormatAndDomain
                + Example.messageReader
                + Example.linkScene
        ],
        check: { unit, findings in
            LinkChecks.domains("DOM003", unit, &findings)
        }
    )
}
