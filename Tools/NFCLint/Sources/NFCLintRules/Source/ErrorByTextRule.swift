// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let errorByText = Rule(
        id: "SRC029",
        severity: .warning,
        title: "An error is recognised by its text",
        why: "localizedDescription depends on the phone's language and the iOS version.",
        fix: "Compare the code of the NFCReaderError.",
        bad: [
            .swift(
                """
                func isCancel(_ error: any Error) -> Bool { error.localizedDescription == "Session invalidated by user" }
                """
            ),
            .objective(
                """
                - (BOOL)isCancel:(NSError *)error {
                    return [error.localizedDescription isEqualToString:@"Session invalidated by user"];
                }
                """
            ),
        ],
        good: [
            .swift(
                "func isCancel(_ error: any Error) -> Bool { (error as? NFCReaderError)?.code == .readerSessionInvalidationErrorUserCanceled }"
            ),
            .objective(
                """
                - (BOOL)isCancel:(NSError *)error { return error.code == NFCReaderSessionInvalidationErrorUserCanceled; }
                """
            ),
        ],
        check: { unit, findings in
            for statement in unit.objective.flatMap(\.comparedSentences) {
                findings.add(
                    statement.place,
                    "The code recognises the error by its text, which depends on the language."
                )
            }
            for (number, function) in unit.ownFunctions where function.names.contains("localizedDescription") {
                for node in Finder.all(InfixOperatorExprSyntax.self, in: function.body) {
                    guard ["==", "!="].contains(node.operator.trimmedDescription) else { continue }
                    let sides = [node.leftOperand, node.rightOperand]
                    guard sides.contains(where: { $0.lastName == "localizedDescription" }),
                        sides.contains(where: { $0.literalText != nil })
                    else { continue }
                    findings.add(
                        unit.place(node, number),
                        "The code recognises the error by its text, which depends on the language."
                    )
                }
                for call in function.calls where ["contains", "hasPrefix", "hasSuffix"].contains(call.name) {
                    guard isDescription(call.base ?? "", function),
                        call.node.arguments.first?.expression.literalText != nil
                    else { continue }
                    findings.add(
                        unit.place(call.node, number),
                        "The code recognises the error by its text, which depends on the language."
                    )
                }
            }
        }
    )

    /// Whether a name stands for an error's text, directly or as a variable.
    private static func isDescription(_ name: String, _ function: FunctionInfo) -> Bool {
        if name.hasSuffix("localizedDescription") { return true }
        return Finder.all(PatternBindingSyntax.self, in: function.body).contains { binding in
            let value = binding.initializer?.value.dottedName ?? ""
            let isChanged = [".lowercased", ".uppercased"].contains { value.hasSuffix("localizedDescription" + $0) }
            return binding.pattern.trimmedDescription == name && (isChanged || value.hasSuffix("localizedDescription"))
        }
    }
}
