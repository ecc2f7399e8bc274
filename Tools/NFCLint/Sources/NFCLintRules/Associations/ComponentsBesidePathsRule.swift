// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An entry has both components and paths.
    static let componentsBesidePaths = Rule(
        id: "AASA006",
        severity: .warning,
        title: "An entry has both components and paths",
        why: "Since iOS 13, paths is ignored if components is present.",
        fix: "Keep only components.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}], "paths": ["/menu/*"]}]}}
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
            LinkChecks.associations("AASA006", unit, &findings)
        }
    )
}
