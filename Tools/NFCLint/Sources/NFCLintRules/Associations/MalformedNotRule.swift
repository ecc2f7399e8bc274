// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A NOT pattern is malformed.
    static let malformedNot = Rule(
        id: "AASA015",
        severity: .warning,
        title: "NOT is written incorrectly",
        why: "In paths, NOT and one space exclude a path. In components, NOT is read as part of the path.",
        fix: "Use \"exclude\": true.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appID": "ABCDE12345.org.example.app", "paths": ["NOT  /menu"]}]}}
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
            LinkChecks.associations("AASA015", unit, &findings)
        }
    )
}
