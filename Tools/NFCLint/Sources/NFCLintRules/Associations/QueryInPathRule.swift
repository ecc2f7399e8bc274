// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The path contains a query, a fragment or a URL.
    static let queryInPath = Rule(
        id: "AASA012",
        severity: .warning,
        title: "A query, a fragment or a URL stands in the path",
        why: "The key / is for the path alone, so the rule never matches.",
        fix: "Use the keys ? and #.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu?table=1"}]}]}}
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
            LinkChecks.associations("AASA012", unit, &findings)
        }
    )
}
