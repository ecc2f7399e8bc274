// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// What literals become.
extension PlaceFinder {
    func literals(of node: IntegerLiteralExprSyntax, text: String, at place: Syntax) {
        guard let mutated = Self.neighbour(of: text) else { return }
        plant(.literal, at: place, as: Form.choice(mutated, place.trimmedDescription), shown: mutated)
    }

    /// A number beside a decimal one, or a mask that differs in one bit, that fits into the same type.
    static func neighbour(of text: String) -> String? {
        let digits = text.filter { $0 != "_" }
        if digits.hasPrefix("0x"), let value = UInt64(digits.dropFirst(2), radix: 16) {
            // The lowest bit of a mask that is set; of 0, the lowest.
            let flipped = value ^ (value == 0 ? 1 : value & (~value &+ 1))
            let plain = String(flipped, radix: 16, uppercase: true)
            let padding = String(repeating: "0", count: max(0, digits.count - 2 - plain.count))
            return "0x" + padding + plain
        }
        if digits.hasPrefix("0b"), let value = UInt64(digits.dropFirst(2), radix: 2) {
            return "0b" + String(value ^ (value == 0 ? 1 : value & (~value &+ 1)), radix: 2)
        }
        guard let value = Int(digits) else { return nil }
        // 255 and the like may be the greatest of their type.
        return String(value > 1 && (value & (value + 1) == 0 || value % 2 == 0) ? value - 1 : value + 1)
    }

    func literals(of node: BooleanLiteralExprSyntax) {
        let isTrue = node.literal.tokenKind == .keyword(.true)
        // Behind a loop without an end nothing has to return.
        if node.parent?.is(ConditionElementSyntax.self) == true { return }
        let mutated = isTrue ? "false" : "true"
        plant(.literal, at: node, as: Form.choice(mutated, isTrue ? "true" : "false"), shown: mutated)
    }

    func elements(of node: ArrayExprSyntax) {
        let elements = node.elements.map(\.expression)
        guard (2...6).contains(elements.count), elements.allSatisfy({ $0.is(MemberAccessExprSyntax.self) }) else {
            return
        }
        let mutated = "[" + elements.dropLast().map(\.trimmedDescription).joined(separator: ", ") + "]"
        plant(.element, at: node, as: Form.choice(mutated, node.trimmedDescription), shown: mutated)
    }
}
