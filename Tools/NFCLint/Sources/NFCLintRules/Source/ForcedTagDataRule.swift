// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A value that depends on a tag or on what a person typed is unwrapped by force.
    static let forcedTagData = Rule(
        id: "SRC038",
        severity: .warning,
        title: "The app crashes on an unexpected tag",
        why: """
            Anyone can write a tag: a payload may not be text, a record may not be a link, and a tag may be of another \
            technology. A text that a person typed may not be a link either.
            """,
        fix: "Use guard let or as?, and end the session with an error message.",
        bad: [
            function("let text = String(data: record.payload, encoding: .utf8)!"),
            function("open(record.wellKnownTypeURIPayload()!)"),
            function("show(record.wellKnownTypeTextPayload().0!)"),
            function("let badge = tags.first! as! NFCISO15693Tag"),
            function("let record = NFCNDEFPayload.wellKnownTypeURIPayload(string: field.text)!"),
        ],
        good: [
            function("guard let text = String(data: record.payload, encoding: .utf8) else { return }"),
            function("if let badge = tags[0] as? NFCISO15693Tag { open(badge) }"),
            function("if tag.type == .iso15693 { open(tag as! NFCISO15693Tag) }"),
            function("let record = NFCNDEFPayload.wellKnownTypeURIPayload(string: \"https://example.com\")!"),
            function("let link = NFCNDEFPayload.wellKnownTypeURIPayload(url: URL(string: \"https://a.example\")!)!"),
        ],
        check: { unit, findings in
            for (number, function) in unit.ownFunctions {
                for node in Finder.all(ForceUnwrapExprSyntax.self, in: function.body) {
                    guard let text = crash(node.expression.core) else { continue }
                    findings.add(unit.place(node, number), text)
                }
                for node in Finder.all(AsExprSyntax.self, in: function.body)
                where node.questionOrExclamationMark?.text == "!" && !isTypeChecked(node) {
                    guard let name = node.type.trimmedDescription.split(separator: " ").last, tagTypes.contains(name)
                    else { continue }
                    findings.add(unit.place(node, number), "as! \(name) crashes the app if the tag has another type.")
                }
            }
        }
    )

    private static let tagTypes: Set<Substring> = [
        "NFCISO15693Tag", "NFCISO7816Tag", "NFCMiFareTag", "NFCFeliCaTag", "NFCNDEFTag",
    ]

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
        case let name where name.hasSuffix(".wellKnownTypeURIPayload") && call.arguments.isEmpty:
            return "The app crashes if the record is not a link."
        case let name where name.hasSuffix(".wellKnownTypeTextPayload") && call.arguments.isEmpty:
            return "The app crashes if the record is not a text."
        default: return nil
        }
    }

    /// Whether a cast is in a branch that depends on the tag's type.
    private static func isTypeChecked(_ node: AsExprSyntax) -> Bool {
        var step = node.parent
        while let current = step {
            let condition =
                current.as(IfExprSyntax.self)?.conditions.trimmedDescription
                ?? current.as(SwitchCaseSyntax.self)?.label.trimmedDescription
                ?? current.as(TernaryExprSyntax.self)?.condition.trimmedDescription ?? ""
            let marks = [".type", " is ", "iso", "mifare", "felica"]
            if marks.contains(where: { condition.lowercased().contains($0) }) { return true }
            step = current.parent
        }
        return false
    }

    private static func function(_ statement: String) -> Example {
        .swift("func read(_ record: NFCNDEFPayload, _ tags: [any NFCTag], _ tag: any NFCTag) {\n    \(statement)\n}")
    }
}
