// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A variable is undefined or malformed.
    static let undefinedVariable = Rule(
        id: "AASA009",
        severity: .error,
        title: "A variable is undefined or malformed",
        why: "A pattern with an undefined or malformed variable matches nothing.",
        fix: "Define the variable in substitutionVariables.",
        bad: [
            .file(
                "apple-app-site-association",
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/$(food)"}]}]}}
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
            LinkChecks.associations("AASA009", unit, &findings)
        }
    )
}
