// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The path contains a query, a fragment or a URL.
    static let queryInPath = Rule(
        id: "AASA012",
        severity: .warning,
        title: "The path contains a query, a fragment or a URL",
        why: "The key / matches only the path, so this rule never matches.",
        fix: "Move the query to the key ?, and the fragment to the key #.",
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
