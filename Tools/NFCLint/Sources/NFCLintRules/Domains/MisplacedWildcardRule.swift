// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A wildcard is in an invalid position.
    static let misplacedWildcard = Rule(
        id: "DOM005",
        severity: .error,
        title: "A wildcard is in the wrong place",
        why: "A wildcard must be \"*.\" at the beginning; appclips entries can't have one.",
        fix: "Write *. before the domain, or write the full domain.",
        bad: [
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:www.*.example.org</string></array>
                    """
                )
                + Example.messageReader,
            Example.usage
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>appclips:*.example.org</string></array>
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
            LinkChecks.domains("DOM005", unit, &findings)
        }
    )
}
