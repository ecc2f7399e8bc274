// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A URI record has no prefix code, or no URL.
    static let malformedURIRecord = Rule(
        id: "TAG003",
        severity: .error,
        title: "A URI record has no prefix code, or no URL",
        why: """
            The payload's first byte is a code for the URI's prefix. Without it the first letter is lost, and iOS \
            finds no usable data on the tag.
            """,
        fix: "Build the record with wellKnownTypeURIPayload(url:).",
        bad: [
            .file("scan.ndef", "d101135568747470733a2f2f6578616d706c652e6f7267")
        ],
        good: [
            .file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")
        ],
        check: { unit, findings in
            TagChecks.check("TAG003", unit, &findings)
        }
    )
}
