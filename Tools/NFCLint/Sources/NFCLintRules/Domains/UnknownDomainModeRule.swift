// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An associated domain has an unknown mode.
    static let unknownDomainMode = Rule(
        id: "DOM008",
        severity: .error,
        title: "An associated domain has an unknown mode",
        why: "The modes are developer, managed and developer+managed. Any other mode makes the entry invalid.",
        fix: "Correct the mode, or remove it.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:example.org?mode=debug</string></array>
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
            LinkChecks.domains("DOM008", unit, &findings)
        }
    )
}
