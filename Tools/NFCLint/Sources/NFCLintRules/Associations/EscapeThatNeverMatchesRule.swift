// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A pattern contains an escape that never matches.
    static let escapeThatNeverMatches = Rule(
        id: "AASA013",
        severity: .warning,
        title: "Escapes that never match",
        why: "With percentEncoded true the pattern has to be encoded, with false it must not be.",
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
