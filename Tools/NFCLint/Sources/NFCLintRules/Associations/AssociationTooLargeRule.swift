// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The association file has more than 128 KB.
    static let associationTooLarge = Rule(
        id: "AASA002",
        severity: .error,
        title: "The association file is larger than 128 KB",
        why: "Devices reject larger files.",
        fix: "Replace long lists with wildcards.",
        bad: [
            Example.file(
                "apple-app-site-association",
                "{\"applinks\": \"" + String(repeating: "a", count: 140_000) + "\"}"
            )
        ],
        good: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
                """
            )
        ],
        check: { unit, findings in
            LinkChecks.associations("AASA002", unit, &findings)
        }
    )
}
