// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A variable has no effect, or hides another variable.
    static let variableWithoutEffect = Rule(
        id: "AASA010",
        severity: .warning,
        title: "A variable has no effect, or hides another",
        why: "It is not used, has no values, or has the name of one that every file has.",
        fix: "Take it out, or give it another name.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"substitutionVariables": {"food": ["soup"]}, "details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
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
            LinkChecks.associations("AASA010", unit, &findings)
        }
    )
}
