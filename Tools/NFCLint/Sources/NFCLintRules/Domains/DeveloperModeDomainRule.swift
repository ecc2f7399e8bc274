// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An associated domain uses developer mode.
    static let developerModeDomain = Rule(
        id: "DOM007",
        severity: .warning,
        title: "An associated domain is in developer mode",
        why: "Users' devices ignore entries with ?mode=developer.",
        fix: "Remove ?mode=developer from release builds.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:example.org?mode=developer</string></array>
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
            LinkChecks.domains("DOM007", unit, &findings)
        }
    )
}
