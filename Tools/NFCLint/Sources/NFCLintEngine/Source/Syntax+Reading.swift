// SPDX-License-Identifier: Apache-2.0
import SwiftParser
public import SwiftSyntax

extension ExprSyntax {
    /// The text of a string literal without interpolation; nil for anything else.
    public var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

    /// The expression without parentheses, `try`, `await`, `!` and `?`.
    public var core: ExprSyntax {
        var node = self
        while true {
            if let inner = node.as(TryExprSyntax.self)?.expression {
                node = inner
            } else if let inner = node.as(AwaitExprSyntax.self)?.expression {
                node = inner
            } else if let inner = node.as(ForceUnwrapExprSyntax.self)?.expression {
                node = inner
            } else if let inner = node.as(OptionalChainingExprSyntax.self)?.expression {
                node = inner
            } else if let tuple = node.as(TupleExprSyntax.self), tuple.elements.count == 1,
                let only = tuple.elements.first, only.label == nil
            {
                node = only.expression
            } else {
                return node
            }
        }
    }

    /// The last name in the expression: `session` in `self.session!`.
    public var lastName: String? {
        let core = core
        if let reference = core.as(DeclReferenceExprSyntax.self) { return reference.baseName.text }
        return core.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }

    /// The expression before the last full stop.
    public var memberBase: ExprSyntax? { core.as(MemberAccessExprSyntax.self)?.base?.core }

    /// The expression's text without surrounding comments and whitespace.
    public var words: String { trimmedDescription }

    /// The names of the expression joined by full stops, without call arguments: `DispatchQueue.main.async`.
    public var dottedName: String {
        var parts: [String] = []
        var node: ExprSyntax? = core
        while let step = node, parts.count < 6 {
            if let member = step.as(MemberAccessExprSyntax.self) {
                parts.append(member.declName.baseName.text)
                node = member.base?.core
            } else if let reference = step.as(DeclReferenceExprSyntax.self) {
                parts.append(reference.baseName.text)
                node = nil
            } else if let call = step.as(FunctionCallExprSyntax.self) {
                node = call.calledExpression.core
            } else if step.is(SuperExprSyntax.self) {
                parts.append("super")
                node = nil
            } else {
                node = nil
            }
        }
        return parts.reversed().joined(separator: ".")
    }
}

extension ClosureExprSyntax {
    /// The name of the function that receives this closure, such as `DispatchQueue.main.async`; empty if there is none.
    public var receiver: String {
        if signature?.attributes.trimmedDescription.contains("@MainActor") == true { return "MainActor.run" }
        var node = parent
        while let step = node,
            step.is(LabeledExprSyntax.self) || step.is(LabeledExprListSyntax.self)
                || step.is(MultipleTrailingClosureElementSyntax.self)
                || step.is(MultipleTrailingClosureElementListSyntax.self)
        {
            node = step.parent
        }
        return node?.as(FunctionCallExprSyntax.self)?.calledExpression.dottedName ?? ""
    }
}

extension SyntaxProtocol {
    /// The nearest enclosing node of a type.
    public func enclosing<Node: SyntaxProtocol>(_ type: Node.Type) -> Node? {
        var node = parent
        while let current = node {
            if let match = current.as(type) { return match }
            node = current.parent
        }
        return nil
    }

    /// The functions that receive the closures around this node, innermost first.
    public var receivers: [String] {
        var result: [String] = []
        var node = parent
        while let current = node {
            if let closure = current.as(ClosureExprSyntax.self) { result.append(closure.receiver) }
            node = current.parent
        }
        return result
    }

    /// Whether the node is inside another node.
    public func isWithin(_ other: some SyntaxProtocol) -> Bool {
        position >= other.position && endPosition <= other.endPosition
    }
}
