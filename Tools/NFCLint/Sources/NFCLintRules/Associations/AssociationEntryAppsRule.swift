// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An entry names no app, or has both `appID` and `appIDs`.
    static let associationEntryApps = Rule(
        id: "AASA004",
        severity: .error,
        title: "An entry names no app, or one app twice",
        why: "An entry without appIDs applies to no app. If appIDs is present, appID is ignored.",
        fix: "List the apps in appIDs.",
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
