// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The tag has no URI record.
    static let missingURIRecord = Rule(
        id: "TAG001",
        severity: .error,
        title: "The tag has no URI record",
        why: "Background reading uses the first well-known URI record. Without one, nothing happens.",
        fix: "Put a URI record with the universal link on the tag.",
        bad: [
            .file("scan.ndef", "d101085402656e48656c6c6f")
        ],
        good: [
            .file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")
        ],
        check: { unit, findings in
            TagChecks.check("TAG001", unit, &findings)
        }
    )
}
