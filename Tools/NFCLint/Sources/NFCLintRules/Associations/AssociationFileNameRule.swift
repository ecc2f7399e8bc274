// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The association file has the wrong name or folder.
    static let associationFileName = Rule(
        id: "AASA017",
        severity: .error,
        title: "The association file has the wrong name or folder",
        why: """
            The file must be named apple-app-site-association, without .json, and be served over HTTPS from \
            /.well-known, without redirects.
            """,
        fix: "Rename the file.",
        bad: [
            .file(
                "apple-app-site-association.json",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
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
            LinkChecks.associations("AASA017", unit, &findings)
        }
    )
}
