// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A variable has no effect, or hides another variable.
    static let variableWithoutEffect = Rule(
        id: "AASA010",
        severity: .warning,
        title: "A variable has no effect, or hides a predefined one",
        why: "The variable is unused, has no values, or has the name of a predefined variable.",
        fix: "Remove the variable, or rename it.",
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
