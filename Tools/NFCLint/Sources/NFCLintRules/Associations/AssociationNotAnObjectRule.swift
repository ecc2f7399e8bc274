// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The association file is not a JSON object.
    static let associationNotAnObject = Rule(
        id: "AASA001",
        severity: .error,
        title: "The association file is no JSON object",
        why: """
            A device that can not read the file opens no link in the app. Often a page of errors is served in \
            its place.
            """,
        fix: "Serve the JSON itself.",
        bad: [
            .file("apple-app-site-association", "<html></html>"),
            .file("apple-app-site-association", "[]"),
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
            LinkChecks.associations("AASA001", unit, &findings)
        }
    )
}
