// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The association file is not a JSON object.
    static let associationNotAnObject = Rule(
        id: "AASA001",
        severity: .error,
        title: "The association file is not a JSON object",
        why: """
            If a device can't read the file, no link opens the app. Often a server sends an error page instead of the \
            file.
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
