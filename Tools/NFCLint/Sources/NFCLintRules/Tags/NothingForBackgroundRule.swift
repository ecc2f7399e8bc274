// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The tag has no record that iPhones read in the background.
    static let nothingForBackground = Rule(
        id: "TAG005",
        severity: .warning,
        title: "The tag has no record that iPhones read in the background",
        why: "iPhones ignore smart posters, Wi-Fi, contacts and text in the background.",
        fix: "Add a URI record with a universal link.",
        bad: [
            .file("scan.ndef", "d101085402656e48656c6c6f")
        ],
        good: [
            .file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")
        ],
        check: { unit, findings in
            TagChecks.check("TAG005", unit, &findings)
        }
    )
}
