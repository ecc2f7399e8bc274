// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// What is around a place.
struct Surroundings {
    /// The innermost statement, or the member of a type.
    var statement: Syntax
    /// The innermost member or function.
    var declaration: Syntax
    /// How much the place is worth as a test of the tests.
    var weight = 1.0

    init(of node: some SyntaxProtocol) {
        var statement: Syntax?
        var declaration: Syntax?
        var current: Syntax? = Syntax(node)
        var top = Syntax(node)
        while let here = current {
            top = here
            if statement == nil, here.is(CodeBlockItemSyntax.self) || here.is(MemberBlockItemSyntax.self) {
                statement = here
            }
            if declaration == nil, here.is(MemberBlockItemSyntax.self) || here.is(FunctionDeclSyntax.self) {
                declaration = here
            }
            weight *= Self.factor(of: here)
            current = here.parent
        }
        self.statement = statement ?? top
        self.declaration = declaration ?? statement ?? top
        weight = min(max(weight, 0.02), 6)
    }

    /// Corners count for more, since tests that walk the straight way do not come there; entries of tables for little.
    private static func factor(of node: Syntax) -> Double {
        if node.is(CatchClauseSyntax.self) || node.is(GuardStmtSyntax.self) { return 2.5 }
        if let branch = node.as(SwitchCaseSyntax.self) {
            return branch.label.is(SwitchDefaultLabelSyntax.self) ? 2 : 1.2
        }
        if let branch = node.as(IfExprSyntax.self) {
            let last = branch.body.statements.last?.item
            return last?.is(ThrowStmtSyntax.self) == true || last?.is(ReturnStmtSyntax.self) == true ? 2 : 1.2
        }
        if let list = node.as(ArrayElementListSyntax.self) { return list.count > 6 ? 0.05 : 1 }
        if let list = node.as(DictionaryElementListSyntax.self) { return list.count > 3 ? 0.05 : 1 }
        return 1
    }
}
