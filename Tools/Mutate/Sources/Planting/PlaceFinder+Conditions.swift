// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// What conditions become: negated, and branches that are never, or always, taken.
extension PlaceFinder {
    func conditions(of node: ConditionElementSyntax) {
        guard case .expression(let expression) = node.condition, !expression.is(BooleanLiteralExprSyntax.self) else {
            return
        }
        let text = expression.trimmedDescription
        plant(.condition, at: expression, as: Form.negated(text), shown: "!(\(text))")
        if node.parent?.parent?.is(GuardStmtSyntax.self) == true {
            plant(.branch, at: expression, as: Form.held(text), shown: "true")
        } else if node.parent?.parent?.is(IfExprSyntax.self) == true {
            plant(.branch, at: expression, as: Form.failed(text), shown: "false")
        }
    }

    func conditions(of node: TernaryExprSyntax) {
        let text = node.condition.trimmedDescription
        plant(.condition, at: node.condition, as: Form.negated(text), shown: "!(\(text))")
    }
}
