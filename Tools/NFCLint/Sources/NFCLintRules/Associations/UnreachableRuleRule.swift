// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A rule is never reached.
    static let unreachableRule = Rule(
        id: "AASA011",
        severity: .warning,
        title: "A rule is never reached",
        why: "The first rule that matches applies. An earlier rule matches every link that this one would match.",
        fix: "Put the more specific rule first.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "*"}, {"/": "/menu/*"}]}]}}
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
            LinkChecks.associations("AASA011", unit, &findings)
        }
    )
}
