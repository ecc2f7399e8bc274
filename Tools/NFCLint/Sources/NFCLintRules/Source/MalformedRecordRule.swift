// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let malformedRecord = Rule(
        id: "SRC024",
        severity: .error,
        title: "A well-known record is built incorrectly",
        why: """
            A text record's payload begins with a status byte and a language, and a URI record's with a prefix code. \
            Without them, other readers cut off the first letters or show nothing.
            """,
        fix: "Use wellKnownTypeTextPayload(string:locale:) or wellKnownTypeURIPayload(url:).",
        bad: [
            .swift(
                """
                func record(_ text: String) -> NFCNDEFPayload {
                    NFCNDEFPayload(format: .nfcWellKnown, type: "T".data(using: .utf8)!, identifier: Data(), payload: "Hello".data(using: .utf8)!)
                }
                """
            ),
            .swift(
                """
                func record(_ text: String) -> NFCNDEFPayload {
                    NFCNDEFPayload(format: .nfcWellKnown, type: Data(), identifier: Data(), payload: Data("Hello".utf8))
                }
                """
            ),
            .swift(
                #"""
                func record(_ text: String) -> NFCNDEFPayload {
                    NFCNDEFPayload(format: .nfcWellKnown, type: Data("T".utf8), identifier: Data(), payload: Data("\u{02}\(text)".utf8))
                }
                """#
            ),
            .swift(
                #"""
                class Writer {
                    var kind = "T"
                    var text = ""
                    func record() -> NFCNDEFPayload {
                        NFCNDEFPayload.init(format: .nfcWellKnown, type: Data("\(self.kind)".utf8), identifier: Data(), payload: Data("\(self.text)".utf8))
                    }
                }
                """#
            ),
        ],
        good: [
            .swift(
                #"""
                func record(_ text: String) -> NFCNDEFPayload {
                    NFCNDEFPayload(format: .nfcWellKnown, type: Data("T".utf8), identifier: Data(), payload: Data("\u{02}en\(text)".utf8))
                }
                """#
            ),
            .swift(
                """
                func record(_ text: String) -> NFCNDEFPayload {
                    NFCNDEFPayload(format: .nfcWellKnown, type: "T".data(using: .utf8)!, identifier: Data(), payload: Data([2]) + Data("enHello".utf8))
                }
                """
            ),
            .swift(
                """
                func record(_ text: String) -> NFCNDEFPayload? {
                    .wellKnownTypeTextPayload(string: text, locale: .current)
                }
                """
            ),
        ],
        check: { unit, findings in
            for (number, call) in unit.ownCalls(["NFCNDEFPayload", "init"]) {
                guard call.name == "init" ? ["NFCNDEFPayload", ""].contains(call.base) : call.base == nil else {
                    continue
                }
                guard call.argument("format")?.lastName == "nfcWellKnown", let type = call.argument("type") else {
                    continue
                }
                let place = unit.place(call.node, number)
                if isEmpty(type) {
                    findings.add(
                        place,
                        "A well-known record is built with an empty type, so no reader can interpret it."
                    )
                    continue
                }
                guard let letter = literal(type) ?? initialText(type, unit.index.functions[number], unit),
                    letter == "T" || letter == "U", let payload = call.argument("payload")
                else { continue }
                guard let source = text(payload, unit.index.functions[number], 0) else { continue }
                let what =
                    letter == "T"
                    ? "a text record has no status byte and no language" : "a URI record has no prefix code"
                switch source {
                case .literal(let text, let gaps):
                    guard let first = text.unicodeScalars.first else { continue }
                    if first.value >= 0x24 {
                        findings.add(place, "The payload of \(what).")
                    } else if letter == "T", lacksLanguage(text, gaps) {
                        findings.add(place, "The payload of a text record announces a language, but none follows.")
                    }
                case .variable:
                    let message = "The payload of \(what), unless the text includes them. Unconfirmed."
                    findings.add(place, message, severity: .warning, isProven: false)
                }
            }
        }
    )
    private enum Source {
        /// The beginning of a literal, and the values inserted after it.
        case literal(String, gaps: [String])
        case variable
    }

    /// Whether a status byte is followed by fewer characters than it announces: `"\u{02}\(text)"`.
    private static func lacksLanguage(_ text: String, _ gaps: [String]) -> Bool {
        guard let status = text.unicodeScalars.first?.value, (1...0x23).contains(status) else { return false }
        guard text.unicodeScalars.count <= status else { return false }
        // Two inserted values may be a language and a text.
        let isLanguage = gaps.contains { gap in
            ["lang", "locale", "code"].contains { gap.lowercased().contains($0) }
        }
        return gaps.count < 2 && !isLanguage
    }

    /// A part of a literal with an initial `\u{…}` escape decoded; nil if it contains other escapes.
    private static func unescaped(_ text: String) -> String? {
        guard text.hasPrefix("\\u{"), let end = text.firstIndex(of: "}") else {
            return text.hasPrefix("\\") ? nil : text
        }
        guard let value = UInt32(text[text.index(text.startIndex, offsetBy: 3)..<end], radix: 16),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        return String(Character(scalar)) + text[text.index(after: end)...]
    }

    private static func isEmpty(_ node: ExprSyntax) -> Bool {
        let text = node.words
        return text == "Data()" || text == "Data([])" || literal(node) == "" || text == "Data.init()"
            || text == ".init()"
    }

    /// The literal that an expression converts to bytes: `"T".data(using: .utf8)!` or `Data("T".utf8)`.
    private static func literal(_ node: ExprSyntax) -> String? {
        guard let inner = textExpression(node) else { return nil }
        return inner.literalText
    }

    /// The initial text of the property that is converted to bytes: `"\(kind)".data(using: .utf8)!`, where kind is "T".
    private static func initialText(_ node: ExprSyntax, _ function: FunctionInfo, _ unit: Unit) -> String? {
        guard let inner = textExpression(node), let name = (onlyContent(inner) ?? inner).lastName else { return nil }
        let types = unit.index.family(function.owner).compactMap { unit.index.types[$0] }
        return types.flatMap(\.properties).first { $0.name == name }?.value?.literalText
    }

    /// The only content of a literal: `text` in `"\(text)"`.
    private static func onlyContent(_ node: ExprSyntax) -> ExprSyntax? {
        guard let segments = node.as(StringLiteralExprSyntax.self)?.segments else { return nil }
        let gaps = segments.compactMap { $0.as(ExpressionSegmentSyntax.self) }
        let isPlain = segments.allSatisfy { $0.as(StringSegmentSyntax.self)?.content.text.isEmpty ?? true }
        return isPlain && gaps.count == 1 ? gaps[0].expressions.first?.expression : nil
    }

    /// The expression that is converted to bytes; nil for other expressions.
    private static func textExpression(_ node: ExprSyntax) -> ExprSyntax? {
        let node = node.core
        if let infix = node.as(InfixOperatorExprSyntax.self), infix.operator.trimmedDescription == "??" {
            return textExpression(infix.leftOperand)
        }
        guard let call = node.as(FunctionCallExprSyntax.self) else { return nil }
        if call.calledExpression.lastName == "data", let base = call.calledExpression.memberBase,
            call.arguments.first?.label?.text == "using"
        {
            return base
        }
        guard call.calledExpression.words == "Data", let first = call.arguments.first, first.label == nil else {
            return nil
        }
        return first.expression.core.as(MemberAccessExprSyntax.self).flatMap {
            $0.declName.baseName.text == "utf8" ? $0.base?.core : nil
        }
    }

    /// The source of a payload's bytes, if they consist only of a text.
    private static func text(_ node: ExprSyntax, _ function: FunctionInfo, _ depth: Int) -> Source? {
        guard depth < 3 else { return nil }
        if let inner = textExpression(node) {
            guard let string = inner.as(StringLiteralExprSyntax.self) else {
                return inner.is(DeclReferenceExprSyntax.self) || inner.is(MemberAccessExprSyntax.self) ? .variable : nil
            }
            if let text = inner.literalText { return .literal(text, gaps: []) }
            if onlyContent(inner) != nil { return .variable }
            // For a literal with inserted values, use its beginning.
            guard case .stringSegment(let part)? = string.segments.first, !part.content.text.isEmpty,
                let text = unescaped(part.content.text)
            else {
                return nil
            }
            let gaps = string.segments.compactMap {
                $0.as(ExpressionSegmentSyntax.self)?.expressions.trimmedDescription
            }
            return .literal(text, gaps: gaps)
        }
        guard let name = node.core.as(DeclReferenceExprSyntax.self)?.baseName.text else { return nil }
        let bindings = Finder.all(PatternBindingSyntax.self, in: function.body).filter {
            $0.pattern.trimmedDescription == name
        }
        // If the value is a variable, its first bytes may be added later.
        let isConstant = bindings.first?.enclosing(VariableDeclSyntax.self)?.bindingSpecifier.text == "let"
        if bindings.count == 1, isConstant, let value = bindings[0].initializer?.value {
            return text(value, function, depth + 1)
        }
        let conditions = Finder.all(OptionalBindingConditionSyntax.self, in: function.body).filter {
            $0.pattern.trimmedDescription == name
        }
        if conditions.count == 1, let value = conditions[0].initializer?.value {
            return text(value, function, depth + 1)
        }
        return nil
    }
}
