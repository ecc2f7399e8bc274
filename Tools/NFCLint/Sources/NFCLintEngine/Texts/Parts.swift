// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// Finds the tuples and objects that a variable may contain, and the values of their labels.
struct Parts {
    private let index: ModuleIndex

    init(_ index: ModuleIndex) { self.index = index }

    /// An expression, and the index of the function that contains it.
    typealias Value = (value: ExprSyntax, function: Int)

    /// The values of a label: for `texts.failure`, those of `failure` in `texts = (success: "…", failure: "…")`.
    func parts(_ label: String, of base: ExprSyntax, in number: Int) -> [Value] {
        values(of: base, in: number, depth: 0).compactMap { found in
            let node = found.value.core
            let arguments = node.as(FunctionCallExprSyntax.self)?.arguments ?? node.as(TupleExprSyntax.self)?.elements
            let argument = arguments?.first { $0.label?.text == label }
            return argument.map { ($0.expression, found.function) }
        }
    }

    /// The calls and tuples that a name may refer to.
    private func values(of node: ExprSyntax, in number: Int, depth: Int) -> [Value] {
        let node = node.core
        guard depth < 5, !node.is(TupleExprSyntax.self), !node.is(FunctionCallExprSyntax.self) else {
            return [(node, number)]
        }
        let function = index.functions[number]
        if let member = node.as(MemberAccessExprSyntax.self), let base = member.base?.core {
            let name = member.declName.baseName.text
            let type = ["self", "Self"].contains(base.words) ? function.owner : base.lastName
            return properties(name, of: type, number, depth)
        }
        guard let name = node.as(DeclReferenceExprSyntax.self)?.baseName.text else { return [] }
        if let position = function.parameters.firstIndex(of: name) {
            return defaults(position, function).flatMap { values(of: $0, in: number, depth: depth + 1) }
        }
        return properties(name, of: function.owner, number, depth)
    }

    /// The initial value of a property, and the values assigned to it.
    private func properties(_ name: String, of type: String?, _ number: Int, _ depth: Int) -> [Value] {
        let family = index.family(type)
        var result: [Value] = []
        for property in family.compactMap({ index.types[$0] }).flatMap(\.properties) where property.name == name {
            guard let value = property.value else { continue }
            let home = index.number(Syntax(property.node).id) ?? number
            result += values(of: value, in: home, depth: depth + 1)
        }
        for (other, function) in index.functions.enumerated() where family.contains(function.owner ?? "") {
            for assignment in function.assignments where assignment.name == name {
                guard (assignment.target.memberBase?.words ?? "self") == "self" else { continue }
                result += values(of: assignment.value, in: other, depth: depth + 1)
            }
        }
        return result
    }

    /// The default value of a parameter.
    private func defaults(_ position: Int, _ function: FunctionInfo) -> [ExprSyntax] {
        let clause =
            function.node.as(FunctionDeclSyntax.self)?.signature.parameterClause
            ?? function.node.as(InitializerDeclSyntax.self)?.signature.parameterClause
        guard let parameters = clause?.parameters, position < parameters.count else { return [] }
        return [Array(parameters)[position].defaultValue?.value].compactMap { $0 }
    }
}
