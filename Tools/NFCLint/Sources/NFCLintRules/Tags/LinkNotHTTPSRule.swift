// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The link does not use HTTPS.
    static let linkNotHTTPS = Rule(
        id: "TAG007",
        severity: .info,
        title: "The link is not https",
        why: "http links open, but others can read and change what is sent.",
        fix: "Use https.",
        bad: [
            .file("scan.ndef", "d1011155036578616d706c652e6f72672f6d656e75")
        ],
        good: [
            .file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")
        ],
        check: { unit, findings in
            TagChecks.check("TAG007", unit, &findings)
        }
    )
}
