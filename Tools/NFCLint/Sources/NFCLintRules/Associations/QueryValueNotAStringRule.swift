// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A query value is not a string.
    static let queryValueNotAString = Rule(
        id: "AASA008",
        severity: .error,
        title: "A query value is not a string",
        why: "One such value invalidates the whole query dictionary, so the rule matches links that it should not.",
        fix: "Write each value as a string.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*", "?": {"table": 5}}]}]}}
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
            LinkChecks.associations("AASA008", unit, &findings)
        }
    )
}
