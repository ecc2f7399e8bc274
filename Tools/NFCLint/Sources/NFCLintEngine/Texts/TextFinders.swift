// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// Finds the returned expressions, with the switch cases that contain them.
final class ReturnFinder: SyntaxVisitor {
    var values: [(value: ExprSyntax, cases: [String])] = []
    private var cases: [[String]] = []

    override func visit(_ node: SwitchCaseSyntax) -> SyntaxVisitorContinueKind {
        let label = node.label.trimmedDescription
        let names = label.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        cases.append(names.filter { $0 != "case" && $0 != "let" })
        return .visitChildren
    }
    override func visitPost(_ node: SwitchCaseSyntax) { cases.removeLast() }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let value = node.expression { values.append((value, cases.last ?? [])) }
        return .skipChildren
    }
    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        // A single expression in a body or case is an implicit return.
        if case .expr(let value) = node.item, node.parent?.as(CodeBlockItemListSyntax.self)?.count == 1,
            !value.is(SwitchExprSyntax.self), !value.is(IfExprSyntax.self)
        {
            values.append((value, cases.last ?? []))
        }
        return .visitChildren
    }
}

/// Finds the values with which a local variable is declared.
final class BindingFinder: SyntaxVisitor {
    private let name: String
    var values: [ExprSyntax] = []
    var isDeclared = false

    init(_ name: String) {
        self.name = name
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        if node.pattern.as(IdentifierPatternSyntax.self)?.identifier.text == name {
            isDeclared = true
            if let value = node.initializer?.value { values.append(value) }
        }
        return .visitChildren
    }

    override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
        // In `if let text = text`, the value is the outer variable, so ignore it.
        if node.pattern.as(IdentifierPatternSyntax.self)?.identifier.text == name,
            let value = node.initializer?.value, value.words != name
        {
            isDeclared = true
            values.append(value)
        }
        return .visitChildren
    }
}
