// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A key is unknown, or has the wrong case.
    static let unknownAssociationKey = Rule(
        id: "AASA014",
        severity: .warning,
        title: "A key is unknown, or has the wrong case",
        why: "Keys are case-sensitive. Unknown keys are ignored.",
        fix: "Write the key exactly as documented.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*", "Exclude": true}]}]}}
                """
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
            LinkChecks.associations("AASA014", unit, &findings)
        }
    )
}
