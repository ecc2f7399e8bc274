// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// Another URI precedes the universal link.
    static let linkNotFirst = Rule(
        id: "TAG002",
        severity: .error,
        title: "Another URI record comes before the universal link",
        why: "Only the first URI record is used.",
        fix: "Put the universal link first.",
        bad: [
            .file("scan.ndef", "91010d55052b313535353132333435363751011155046578616d706c652e6f72672f6d656e75")
        ],
        good: [
            .file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")
        ],
        check: { unit, findings in
            TagChecks.check("TAG002", unit, &findings)
        }
    )
}
