// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A part of the association file is missing or has the wrong type.
    static let associationPartMissing = Rule(
        id: "AASA003",
        severity: .error,
        title: "A part of the association file is missing or has the wrong type",
        why: "Devices ignore the parts that they can't read, so those links don't open the app.",
        fix: "Add applinks with details, an array of objects.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"webcredentials": {"apps": []}}
                """
            ),
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": "none"}}
                """
            ),
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
            LinkChecks.associations("AASA003", unit, &findings)
        }
    )
}
