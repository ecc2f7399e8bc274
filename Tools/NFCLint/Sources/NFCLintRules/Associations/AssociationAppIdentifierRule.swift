// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An app identifier is invalid, or the app's identifier is missing.
    static let associationAppIdentifier = Rule(
        id: "AASA005",
        severity: .error,
        title: "An app identifier is invalid, or the app is missing",
        why: "An app identifier is the team's prefix, a full stop and the bundle ID.",
        fix: "Copy the identifier from the entitlements of the signed app.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["org"], "components": [{"/": "/menu/*"}]}]}}
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
            LinkChecks.associations("AASA005", unit, &findings)
        }
    )
}
