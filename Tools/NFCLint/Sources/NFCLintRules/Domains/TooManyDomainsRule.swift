// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The app has too many associated domains, or repeats a domain.
    static let tooManyDomains = Rule(
        id: "DOM009",
        severity: .warning,
        title: "There are too many associated domains, or repeated ones",
        why: "Systems read only the first 20 to 30 entries. A repeated entry has no effect.",
        fix: "Remove repeated and unused entries.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:example.org</string><string>applinks:example.org</string></array>
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
            LinkChecks.domains("DOM009", unit, &findings)
        }
    )
}
