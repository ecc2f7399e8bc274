// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A key is unknown, or has the wrong case.
    static let unknownAssociationKey = Rule(
        id: "AASA014",
        severity: .warning,
        title: "An unknown key, or one in another case",
        why: "Keys are compared exactly. Others are ignored.",
        fix: "Write the key as it is documented.",
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
