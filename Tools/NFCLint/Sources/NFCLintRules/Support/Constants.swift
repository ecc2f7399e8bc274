// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// Finds the constant bytes that an expression may have. Follows names and parameters.
struct Constants {
    /// The bytes, the place that chooses them, and the function that contains it.
    typealias Value = (bytes: [UInt8], place: Place?, number: Int)

    private let unit: Unit

    init(_ unit: Unit) { self.unit = unit }

    /// The values of an expression in a function.
    func values(_ node: ExprSyntax, _ number: Int, _ place: Place?, depth: Int = 0) -> [Value] {
        guard depth < 5 else { return [] }
        if let bytes = Self.bytes(node) { return [(bytes, place, number)] }
        if let text = node.core.literalText { return Hex.bytes(text).map { [($0, place, number)] } ?? [] }
        if let value = Self.constant(node) ?? Self.onlyArgument(node) {
            return values(value, number, place, depth: depth + 1)
        }
        let name = node.core.as(DeclReferenceExprSyntax.self)?.baseName.text
        guard let position = unit.index.functions[number].parameters.firstIndex(where: { $0 == name }) else {
            return []
        }
        return unit.index.arguments(position, of: number).prefix(20).flatMap { passed in
            values(passed.value, passed.caller, unit.place(passed.value, passed.caller), depth: depth + 1)
        }
    }

    /// The value of an integer literal.
    static func number(_ node: ExprSyntax) -> Int? {
        let text = node.core.words.replacing("_", with: "")
        return text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }

    /// The argument of a call with one argument, such as `Data(bytes)`.
    private static func onlyArgument(_ node: ExprSyntax) -> ExprSyntax? {
        let call = node.core.as(FunctionCallExprSyntax.self)
        guard ["Data", "Array"].contains(call?.calledExpression.words), call?.arguments.count == 1 else { return nil }
        return call?.arguments.first?.expression
    }

    /// The value of a named constant; nil for anything else, or if the name is not unique in the file.
    private static func constant(_ node: ExprSyntax) -> ExprSyntax? {
        let core = node.core
        let name: String
        if let reference = core.as(DeclReferenceExprSyntax.self) {
            name = reference.baseName.text
        } else if let member = core.as(MemberAccessExprSyntax.self),
            member.base?.is(DeclReferenceExprSyntax.self) == true
        {
            name = member.declName.baseName.text
        } else {
            return nil
        }
        let named = Finder.all(PatternBindingSyntax.self, in: core.root).filter {
            $0.pattern.trimmedDescription == name
        }
        // A local name hides the same name outside the function.
        let own = core.is(MemberAccessExprSyntax.self) ? nil : core.enclosing(FunctionDeclSyntax.self)
        let near = named.filter { $0.enclosing(FunctionDeclSyntax.self)?.id == own?.id }
        let outside = named.filter { $0.enclosing(FunctionDeclSyntax.self) == nil }
        let meant = near.isEmpty ? outside : near
        guard meant.count == 1, let binding = meant.first, let value = binding.initializer?.value,
            binding.enclosing(VariableDeclSyntax.self)?.bindingSpecifier.tokenKind == .keyword(.let)
        else { return nil }
        return value
    }

    /// The bytes of an array literal in an expression.
    private static func bytes(_ node: ExprSyntax) -> [UInt8]? {
        guard let array = Finder.all(ArrayExprSyntax.self, in: node).first else { return nil }
        let values = array.elements.map { number($0.expression).flatMap { UInt8(exactly: $0) } }
        return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    }
}
