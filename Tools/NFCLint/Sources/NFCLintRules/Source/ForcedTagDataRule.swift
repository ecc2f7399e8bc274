// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let forcedTagData = Rule(
        id: "SRC038",
        severity: .warning,
        title: "The app crashes on an unexpected tag",
        why: """
            Anyone can write a tag: a payload may not be text, and a record may not be a link. A text that a person \
            typed may not be a link either.
            """,
        fix: "Use guard let, and end the session with an error message.",
        bad: [
            function("let text = message?.records[0].wellKnownTypeTextPayload().0!"),
            function("let text = String(data: record.payload, encoding: .utf8)!"),
            function("open(record.wellKnownTypeURIPayload()!)"),
            function("show(record.wellKnownTypeTextPayload().0!)"),
            function("let record = NFCNDEFPayload.wellKnownTypeURIPayload(string: field.text)!"),
        ],
        good: [
            function("guard let text = String(data: record.payload, encoding: .utf8) else { return }"),
            function("let record = NFCNDEFPayload.wellKnownTypeURIPayload(string: \"https://example.com\")!"),
            function("let link = NFCNDEFPayload.wellKnownTypeURIPayload(url: URL(string: \"https://a.example\")!)!"),
        ],
        check: { unit, findings in
            for (number, function) in unit.ownFunctions {
                for node in Finder.all(ForceUnwrapExprSyntax.self, in: function.body) {
                    guard let text = crash(node.expression.core) else { continue }
                    findings.add(unit.place(node, number), text)
                }
            }
        }
    )

    /// What makes a forced unwrapping of an expression crash; nil if it does not depend on a tag or on an input.
    private static func crash(_ value: ExprSyntax) -> String? {
        // The text of a text record is the first value of a pair.
        let value = value.lastName == "0" ? value.memberBase ?? value : value
        guard let call = value.as(FunctionCallExprSyntax.self) else { return nil }
        switch call.calledExpression.dottedName {
        case "String", "String.init":
            guard call.arguments.first?.expression.lastName == "payload", call.arguments.last?.label?.text == "encoding"
            else { return nil }
            return "The app crashes if the payload is not text in this encoding."
        case "NFCNDEFPayload.wellKnownTypeURIPayload":
            let value = call.arguments.first?.expression
            guard let value, Finder.all(StringLiteralExprSyntax.self, in: value).isEmpty else { return nil }
            return "The app crashes if the value is not a valid link."
        case let name where name.hasSuffix("wellKnownTypeURIPayload") && call.arguments.isEmpty:
            return "The app crashes if the record is not a link."
        case let name where name.hasSuffix("wellKnownTypeTextPayload") && call.arguments.isEmpty:
            return "The app crashes if the record is not a text."
        default: return nil
        }
    }

    private static func function(_ statement: String) -> Example {
        .swift("func read(_ record: NFCNDEFPayload) {\n    \(statement)\n}")
    }
}
