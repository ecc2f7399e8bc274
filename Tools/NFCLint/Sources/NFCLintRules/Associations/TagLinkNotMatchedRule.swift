// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A tag's link does not open the app.
    static let tagLinkNotMatched = Rule(
        id: "AASA016",
        severity: .error,
        title: "The link on a tag does not open the app",
        why: "No rule of the association file matches the link, or a rule excludes it.",
        fix: "Add a rule that matches the link.",
        bad: [
            Example.file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
                """
            ) + Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
        ],
        good: [
            Example.file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/nfc"}]}]}}
                """
            ) + Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
        ],
        check: { unit, findings in
            LinkChecks.associations("AASA016", unit, &findings)
        }
    )
}
