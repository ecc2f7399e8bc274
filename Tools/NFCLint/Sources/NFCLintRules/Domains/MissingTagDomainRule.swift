// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// No associated domain matches a tag's link.
    static let missingTagDomain = Rule(
        id: "DOM010",
        severity: .error,
        title: "No associated domain matches the link on a tag",
        why: "An entry must have the host of the link.",
        fix: "Add applinks: with the host of the link.",
        bad: [
            Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
                + Example.usage
                + Example.tagFormatAndDomain
                + Example.messageReader
                + Example.linkScene
        ],
        good: [
            Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
                + Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:example.com</string></array>
                    """
                )
                + Example.messageReader
                + Example.linkScene
        ],
        check: { unit, findings in
            LinkChecks.domains("DOM010", unit, &findings)
        }
    )
}
