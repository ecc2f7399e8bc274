// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An associated domain contains more than a domain name.
    static let domainWithMore = Rule(
        id: "DOM004",
        severity: .error,
        title: "An associated domain contains more than a domain",
        why: "A scheme, path, port, space or user name makes the entry invalid.",
        fix: "Write only the domain.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:https://example.org/</string></array>
                    """
                )
                + Example.messageReader,
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:example.org/menu</string></array>
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
            LinkChecks.domains("DOM004", unit, &findings)
        }
    )
}
