// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// What operators become.
extension PlaceFinder {
    private static let comparisons = ["<": "<=", "<=": "<", ">": ">=", ">=": ">"]
    private static let equalities = ["==": "!=", "!=": "==", "===": "!==", "!==": "==="]
    private static let logic = ["&&": "||", "||": "&&"]
    private static let arithmetic = [
        "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&+": "&-", "&-": "&+", "&*": "&+",
    ]
    private static let bits = ["<<": ">>", ">>": "<<", "&<<": "&>>", "&>>": "&<<", "&": "|", "|": "&", "^": "|"]
    private static let assignments: [String: (Place.Kind, String)] = [
        "+=": (.arithmetic, "-="), "-=": (.arithmetic, "+="), "&+=": (.arithmetic, "&-="), "*=": (.arithmetic, "+="),
        "|=": (.bits, "&="), "&=": (.bits, "|="), "^=": (.bits, "|="), "<<=": (.bits, ">>="), ">>=": (.bits, "<<="),
    ]

    func operators(of node: InfixOperatorExprSyntax) {
        guard let token = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return }
        let text = token.text, whole = node.trimmedDescription
        let left = node.leftOperand.trimmedDescription, right = node.rightOperand.trimmedDescription
        func replace(_ kind: Place.Kind, by other: String) {
            let mutated = "\(left) \(other) \(right)"
            plant(kind, at: node, as: Form.choice(mutated, whole), shown: mutated)
        }
        if let other = Self.comparisons[text] {
            // An order for sorting, which is the same for what is not equal.
            if left.hasPrefix("$0"), right.hasPrefix("$1") { return }
            replace(.comparison, by: other)
        } else if let other = Self.equalities[text] {
            // A whole condition is negated in its own right.
            if node.parent?.is(ConditionElementSyntax.self) == true { return }
            plant(.comparison, at: node, as: Form.negated(whole), shown: "\(left) \(other) \(right)")
        } else if let other = Self.logic[text] {
            // In parentheses, where the other operator binds its operands differently.
            let mutated = "\(node.leftOperand.grouped) \(other) \(node.rightOperand.grouped)"
            plant(.logic, at: node, as: Form.choice("(\(mutated))", "(\(whole))"), shown: mutated)
        } else if let other = Self.arithmetic[text] {
            if isJoined(node.outermostSum) { return }
            replace(.arithmetic, by: other)
        } else if let other = Self.bits[text] {
            replace(.bits, by: other)
        } else if text == "??" {
            plant(.fallback, at: node, as: Form.choice(right, whole), shown: right)
        } else if text == "..<" || text == "..." {
            let mutated = "\(left)\(text)(\(right)) - 1"
            plant(
                .range,
                at: node.rightOperand,
                as: Form.lessened(right),
                shown: mutated
            )
        } else if let (kind, other) = Self.assignments[text], let statement = node.ownStatement {
            if isJoined(node.rightOperand) { return }
            let mutated = statement.trimmedDescription.replacingOperator(text, by: other, after: left)
            plant(kind, at: statement, as: Form.statement(mutated, statement.trimmedDescription), shown: mutated)
        }
    }

    /// Whether an operand is text or a list, which `+` joins.
    private func isJoined(_ node: ExprSyntax) -> Bool {
        if node.is(StringLiteralExprSyntax.self) || node.is(ArrayExprSyntax.self) { return true }
        guard let infix = node.as(InfixOperatorExprSyntax.self) else { return false }
        return isJoined(infix.leftOperand) || isJoined(infix.rightOperand)
    }

    func prefixes(of node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        let operand = node.expression
        switch node.operator.text {
        case "!":
            if node.parent?.is(ConditionElementSyntax.self) == true { return .visitChildren }
            plant(.condition, at: node, as: Form.negated(node.trimmedDescription), shown: operand.trimmedDescription)
            return .visitChildren
        case "-":
            guard let number = operand.as(IntegerLiteralExprSyntax.self) else { return .visitChildren }
            literals(of: number, text: "-" + number.literal.text, at: Syntax(node))
            return .skipChildren
        case "~":
            plant(
                .bits,
                at: node,
                as: Form.choice(operand.trimmedDescription, node.trimmedDescription),
                shown: operand.trimmedDescription
            )
            return .visitChildren
        default: return .visitChildren
        }
    }
}

extension InfixOperatorExprSyntax {
    /// The longest chain of `+` that this is a part of.
    fileprivate var outermostSum: ExprSyntax {
        var sum = self
        while let outer = sum.parent?.as(InfixOperatorExprSyntax.self),
            outer.operator.as(BinaryOperatorExprSyntax.self)?.operator.text == "+"
        {
            sum = outer
        }
        return ExprSyntax(sum)
    }
}

extension ExprSyntax {
    /// The text of an operand, in parentheses where it has operators of its own.
    fileprivate var grouped: String {
        self.is(InfixOperatorExprSyntax.self) || self.is(TernaryExprSyntax.self)
            ? "(\(trimmedDescription))" : trimmedDescription
    }
}

extension String {
    /// The statement with the operator behind its left side replaced.
    fileprivate func replacingOperator(_ text: String, by other: String, after left: String) -> String {
        let whole = self[...]
        guard let side = whole.range(of: left), let place = whole[side.upperBound...].range(of: text) else {
            return self
        }
        return String(whole[..<place.lowerBound]) + other + whole[place.upperBound...]
    }
}
