// SPDX-License-Identifier: Apache-2.0
import SwiftParser
public import SwiftSyntax

extension ExprSyntax {
    /// The text of a string literal without interpolation; nil for anything else.
    public var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

    /// Without parentheses, `try`, `await`, `!` and `?` around it.
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

    /// The name of a variable or member at its end: `session` in `self.session!`.
    public var lastName: String? {
        let core = core
        if let reference = core.as(DeclReferenceExprSyntax.self) { return reference.baseName.text }
        return core.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }

    /// The expression before the last full stop.
    public var memberBase: ExprSyntax? { core.as(MemberAccessExprSyntax.self)?.base?.core }

    /// The text without comments and blanks around it.
    public var words: String { trimmedDescription }
}

extension SyntaxProtocol {
    /// The nearest node of a type around this one.
    public func enclosing<Node: SyntaxProtocol>(_ type: Node.Type) -> Node? {
        var node = parent
        while let current = node {
            if let match = current.as(type) { return match }
            node = current.parent
        }
        return nil
    }

    /// Whether this stands within another node.
    public func isWithin(_ other: some SyntaxProtocol) -> Bool {
        position >= other.position && endPosition <= other.endPosition
    }
}
