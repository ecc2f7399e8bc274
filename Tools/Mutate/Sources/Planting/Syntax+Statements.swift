// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

extension SyntaxProtocol {
    /// The statement that consists of this node alone, under `try` and `await` where they are.
    var ownStatement: Syntax? {
        var current = parent
        while let here = current {
            if let item = here.as(CodeBlockItemSyntax.self) { return Syntax(item.item) }
            guard here.is(TryExprSyntax.self) || here.is(AwaitExprSyntax.self) || here.is(UnsafeExprSyntax.self) else {
                return nil
            }
            current = here.parent
        }
        return nil
    }
}

extension ExprSyntax {
    /// The call that an expression is, under `try`, `await`, `unsafe`, `_ =` and optional chains.
    var call: FunctionCallExprSyntax? {
        if let call = self.as(FunctionCallExprSyntax.self) { return call }
        if let inner = self.as(TryExprSyntax.self) { return inner.expression.call }
        if let inner = self.as(AwaitExprSyntax.self) { return inner.expression.call }
        if let inner = self.as(UnsafeExprSyntax.self) { return inner.expression.call }
        if let infix = self.as(InfixOperatorExprSyntax.self), infix.leftOperand.is(DiscardAssignmentExprSyntax.self) {
            return infix.rightOperand.call
        }
        return nil
    }

    /// The name that a call ends with: `signal` of `self.condition.signal`.
    var lastName: String {
        if let member = self.as(MemberAccessExprSyntax.self) { return member.declName.baseName.text }
        return trimmedDescription
    }
}

extension ReturnStmtSyntax {
    /// The type of what the function or property around returns; nil in a closure, where it is inferred.
    var resultType: TypeSyntax? {
        var current = parent
        while let here = current {
            if here.is(ClosureExprSyntax.self) || here.is(InitializerDeclSyntax.self) { return nil }
            if let function = here.as(FunctionDeclSyntax.self) { return function.signature.returnClause?.type }
            if let item = here.as(SubscriptDeclSyntax.self) { return item.returnClause.type }
            if let binding = here.as(PatternBindingSyntax.self) { return binding.typeAnnotation?.type }
            current = here.parent
        }
        return nil
    }
}
