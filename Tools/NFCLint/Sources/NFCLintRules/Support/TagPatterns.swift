// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// The patterns that match a technology of `NFCTag`, such as `.iso7816(let card)`.
extension FunctionInfo {
    /// The technologies that patterns match, with the names that they bind.
    var tagPatterns: [(technology: String, name: TokenSyntax)] {
        let technologies: Set<String> = ["miFare", "iso7816", "iso15693", "feliCa"]
        return Finder.all(FunctionCallExprSyntax.self, in: body).compactMap { call in
            guard let technology = call.calledExpression.lastName, technologies.contains(technology),
                let pattern = call.arguments.first?.expression.as(PatternExprSyntax.self)?.pattern
            else { return nil }
            let inner = pattern.as(ValueBindingPatternSyntax.self)?.pattern ?? pattern
            return inner.as(IdentifierPatternSyntax.self).map { (technology, $0.identifier) }
        }
    }

    /// The calls of methods of the tag that a pattern binds, and those that take it as an argument.
    func calls(using name: TokenSyntax) -> [CallInfo] {
        let scope = scope(of: name)
        return calls.filter { call in
            guard call.node.isWithin(scope), !Self.isPattern(call.node) else { return false }
            return call.base?.split(separator: ".").first.map(String.init) == name.text
                || call.node.arguments.contains { $0.expression.core.words == name.text }
        }
    }

    /// The statements that can use a name from a pattern.
    private func scope(of name: TokenSyntax) -> Syntax {
        if let conditions = name.enclosing(ConditionElementListSyntax.self) {
            return conditions.parent?.as(IfExprSyntax.self).map { Syntax($0.body) } ?? node
        }
        return name.enclosing(SwitchCaseSyntax.self).map(Syntax.init) ?? node
    }

    /// Whether a node that was parsed as a call is a pattern, such as `.iso7816(tag)`.
    private static func isPattern(_ node: FunctionCallExprSyntax) -> Bool {
        node.parent?.is(ExpressionPatternSyntax.self) == true
            || node.arguments.contains { $0.expression.is(PatternExprSyntax.self) }
    }
}
