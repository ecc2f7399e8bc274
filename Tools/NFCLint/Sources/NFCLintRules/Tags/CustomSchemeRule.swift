// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A tag's link has a custom scheme.
    static let customScheme = Rule(
        id: "TAG004",
        severity: .error,
        title: "The tag has a custom scheme",
        why: "Background reading does not support custom schemes.",
        fix: "Use a universal link.",
        bad: [
            .file("scan.ndef", "d1010d55006d796170703a2f2f6d656e75")
        ],
        good: [
            .file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")
        ],
        check: { unit, findings in
            TagChecks.check("TAG004", unit, &findings)
        }
    )
}
