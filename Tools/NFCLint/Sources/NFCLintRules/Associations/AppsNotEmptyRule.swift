// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The `apps` array is not empty.
    static let appsNotEmpty = Rule(
        id: "AASA007",
        severity: .warning,
        title: "The apps array is not empty",
        why: "Before iOS 13, apps had to be an empty array. Later versions ignore it.",
        fix: "Leave apps empty, or remove it.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"apps": ["ABCDE12345.org.example.app"], "details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
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
            LinkChecks.associations("AASA007", unit, &findings)
        }
    )
}
