// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// What statements become: left out, in another order, an exit too early.
extension PlaceFinder {
    /// Calls whose loss can't be noticed, or that the compiler needs.
    private static let kept: Set = [
        "fatalError", "preconditionFailure", "assert", "assertionFailure", "withExtendedLifetime", "super.init",
        "self.init",
        "exit",
    ]
    /// Parts of names that stand for locks, waits and notice to others.
    private static let synchronizing = [
        "lock", "notify", "signal", "resume", "cancel", "wake", "wait", "async", "yield", "finish", "post", "leave",
        "enter",
    ]

    func statements(of node: CodeBlockItemSyntax) {
        switch node.item {
        case .expr(let expression):
            if let call = expression.call {
                guard isDroppable(call), !isResult(node) else { break }
                let text = node.item.trimmedDescription
                let name = call.calledExpression.lastName.lowercased()
                let kind: Place.Kind =
                    Self.synchronizing.contains { name.hasSuffix($0) || name.hasPrefix($0) }
                    ? .synchronization : .statement
                plant(kind, at: node.item, as: Form.dropped(text), shown: "")
                order(of: node)
            } else if let infix = expression.as(InfixOperatorExprSyntax.self), isAssignment(infix),
                !isInitialization(infix)
            {
                plant(.statement, at: node.item, as: Form.dropped(node.item.trimmedDescription), shown: "")
            }
        case .stmt(let statement):
            exits(statement, of: node)
        default: break
        }
    }

    private func isDroppable(_ call: FunctionCallExprSyntax) -> Bool {
        !Self.kept.contains(call.calledExpression.trimmedDescription)
            // Nobody notices how memory was asked for.
            && call.calledExpression.lastName != "reserveCapacity"
    }

    private func isAssignment(_ node: InfixOperatorExprSyntax) -> Bool {
        if node.operator.is(AssignmentExprSyntax.self) { return !node.leftOperand.is(DiscardAssignmentExprSyntax.self) }
        guard let text = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
        return text.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!=="].contains(text)
    }

    /// Whether an assignment gives a property its first value, which the compiler insists on.
    private func isInitialization(_ node: InfixOperatorExprSyntax) -> Bool {
        var current = node.parent
        while let here = current {
            if here.is(InitializerDeclSyntax.self) { return true }
            if here.is(FunctionDeclSyntax.self) || here.is(ClosureExprSyntax.self) || here.is(AccessorDeclSyntax.self) {
                return false
            }
            current = here.parent
        }
        return false
    }

    /// Whether a lone expression is what its function, or the switch around it, returns.
    private func isResult(_ node: CodeBlockItemSyntax) -> Bool {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let owner = list.parent else {
            return false
        }
        if owner.is(AccessorBlockSyntax.self) { return true }
        guard let outer = owner.parent else { return false }
        if let function = outer.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
        if let accessor = outer.as(AccessorDeclSyntax.self) {
            return accessor.accessorSpecifier.tokenKind == .keyword(.get)
        }
        return false
    }

    /// `throw`, `return` without a value, `continue` and `break`, where what follows still compiles.
    private func exits(_ statement: StmtSyntax, of node: CodeBlockItemSyntax) {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self) else { return }
        let owner = list.parent?.parent
        // A guard must leave.
        if owner?.is(GuardStmtSyntax.self) == true { return }
        switch statement.kind {
        case .throwStmt:
            if owner?.is(FunctionDeclSyntax.self) == true || list.parent?.is(SwitchCaseSyntax.self) == true { return }
        case .continueStmt: break
        case .returnStmt:
            if statement.as(ReturnStmtSyntax.self)?.expression != nil { return }
        case .breakStmt:
            if list.count == 1, list.parent?.is(SwitchCaseSyntax.self) == true { return }
        default: return
        }
        plant(.exit, at: node.item, as: Form.dropped(statement.trimmedDescription), shown: "")
    }

    /// Two calls that follow one another, the other way round.
    private func order(of node: CodeBlockItemSyntax) {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self),
            let index = list.firstIndex(where: { $0.id == node.id }), list.index(after: index) < list.endIndex
        else { return }
        let next = list[list.index(after: index)]
        guard case .expr(let expression) = next.item, let call = expression.call, isDroppable(call) else { return }
        let first = node.item.trimmedDescription, second = next.item.trimmedDescription
        guard first != second else { return }
        plant(
            .order,
            from: node.item,
            to: next.item,
            as: Form.statement("\(second); \(first)", "\(first); \(second)"),
            shown: "\(second); \(first)"
        )
    }

    /// A function without a result that returns before its end.
    func earlyReturns(of node: FunctionDeclSyntax) {
        guard node.signature.returnClause == nil, let statements = node.body?.statements, statements.count > 1 else {
            return
        }
        for statement in statements.dropFirst() {
            if statement.item.is(DeclSyntax.self) || statement.item.is(ReturnStmtSyntax.self) { continue }
            insert(.exit, before: statement.item, Form.added("return"), shown: "return")
        }
    }

    /// A result that is nothing, or the opposite.
    func results(of node: ReturnStmtSyntax) {
        guard let expression = node.expression, let type = node.resultType else { return }
        let text = expression.trimmedDescription
        if type.is(OptionalTypeSyntax.self), !expression.is(NilLiteralExprSyntax.self) {
            insert(.result, before: node, Form.added("return nil"), shown: "return nil")
        } else if type.is(ArrayTypeSyntax.self), text != "[]" {
            insert(.result, before: node, Form.added("return []"), shown: "return []")
        } else if type.trimmedDescription == "Bool", !expression.is(BooleanLiteralExprSyntax.self) {
            plant(.result, at: expression, as: Form.negated(text), shown: "!(\(text))")
        }
    }
}
