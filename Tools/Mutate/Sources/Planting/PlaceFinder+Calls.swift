// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// What calls and members become: two arguments exchanged, the other end of a collection.
extension PlaceFinder {
    private static let opposites = [
        "first": "last", "last": "first", "dropFirst": "dropLast", "dropLast": "dropFirst", "prefix": "suffix",
        "suffix": "prefix", "hasPrefix": "hasSuffix", "hasSuffix": "hasPrefix", "lowercased": "uppercased",
        "uppercased": "lowercased", "leadingZeroBitCount": "trailingZeroBitCount", "removeFirst": "removeLast",
        "removeLast": "removeFirst", "popFirst": "popLast", "firstIndex": "lastIndex", "lastIndex": "firstIndex",
        "allSatisfy": "contains", "littleEndian": "bigEndian", "bigEndian": "littleEndian", "insert": "remove",
    ]
    private static let free = ["min": "max", "max": "min"]

    func calls(of node: FunctionCallExprSyntax) {
        if let name = node.calledExpression.as(DeclReferenceExprSyntax.self), let other = Self.free[name.baseName.text]
        {
            let whole = node.trimmedDescription
            let mutated = other + whole.dropFirst(name.baseName.text.count)
            plant(.member, at: node, as: Form.choice(mutated, whole), shown: mutated)
        }
        exchanges(of: node)
    }

    /// Two neighbours of one kind of expression exchange their places; where their types differ, it doesn't compile.
    private func exchanges(of node: FunctionCallExprSyntax) {
        let arguments = Array(node.arguments)
        guard arguments.count > 1, node.trailingClosure == nil else { return }
        for (index, (first, second)) in zip(arguments, arguments.dropFirst()).enumerated() {
            let left = first.expression, right = second.expression
            guard left.isAlike(right), left.trimmedDescription != right.trimmedDescription else { continue }
            var texts = arguments.map { ($0.label.map { "\($0.text): " } ?? "", $0.expression.trimmedDescription) }
            (texts[index].1, texts[index + 1].1) = (texts[index + 1].1, texts[index].1)
            let mutated =
                node.calledExpression.trimmedDescription + "("
                + texts.map { $0.0 + $0.1 }.joined(separator: ", ") + ")"
            plant(.arguments, at: node, as: Form.choice(mutated, node.trimmedDescription), shown: mutated)
        }
    }

    func members(of node: MemberAccessExprSyntax) {
        guard let base = node.base, let other = Self.opposites[node.declName.baseName.text] else { return }
        let whole: ExprSyntax
        if let call = node.parent?.as(FunctionCallExprSyntax.self), call.calledExpression.id == node.id {
            whole = ExprSyntax(call)
        } else {
            whole = ExprSyntax(node)
        }
        let original = whole.trimmedDescription
        let head = base.trimmedDescription
        let tail = original.dropFirst(head.count)
        guard original.hasPrefix(head), let name = tail.range(of: node.declName.baseName.text) else { return }
        let mutated = head + tail[..<name.lowerBound] + other + tail[name.upperBound...]
        plant(.member, at: whole, as: Form.choice(String(mutated), original), shown: String(mutated))
    }
}

extension ExprSyntax {
    /// Whether both are names, both members, or both numbers.
    fileprivate func isAlike(_ other: ExprSyntax) -> Bool {
        let simple: [SyntaxKind] = [.declReferenceExpr, .memberAccessExpr, .integerLiteralExpr]
        return kind == other.kind && simple.contains(kind)
    }
}
