// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An entry names no app, or has both `appID` and `appIDs`.
    static let associationEntryApps = Rule(
        id: "AASA004",
        severity: .error,
        title: "An entry names no app, or names it twice",
        why: "An entry without appIDs is for no app. Beside appIDs an appID is ignored.",
        fix: "Name the apps in appIDs.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"components": [{"/": "/menu/*"}]}]}}
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
            LinkChecks.associations("AASA004", unit, &findings)
        }
    )
}
