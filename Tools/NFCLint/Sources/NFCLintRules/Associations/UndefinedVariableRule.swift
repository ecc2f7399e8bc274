// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A variable is undefined or malformed.
    static let undefinedVariable = Rule(
        id: "AASA009",
        severity: .error,
        title: "A variable is not defined or not well formed",
        why: "A pattern with such a variable matches nothing.",
        fix: "Define it in substitutionVariables.",
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
