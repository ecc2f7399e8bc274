// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A pattern contains an escape that never matches.
    static let escapeThatNeverMatches = Rule(
        id: "AASA013",
        severity: .warning,
        title: "Percent escapes in a pattern never match",
        why: "If percentEncoded is true, the pattern must be percent-encoded; if it is false, the pattern must not be.",
        fix: "Encode the pattern, or set percentEncoded to false.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menü/*"}]}]}}
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
            LinkChecks.associations("AASA013", unit, &findings)
        }
    )
}
