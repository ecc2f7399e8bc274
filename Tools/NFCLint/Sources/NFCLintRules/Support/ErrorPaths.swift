// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// Follows an error from a callback to closures that the object stores, and to unknown code.
struct ErrorPaths {
    private let unit: Unit

    init(_ unit: Unit) { self.unit = unit }

    /// How an expression mentions an error.
    enum Mention {
        /// The error itself or its code, so that the receiver can recognize a cancelled scan.
        case whole
        /// Only the error's text.
        case sentence
    }

    /// How the arguments mention a name; nil if they don't.
    static func mention(of name: String, in node: some SyntaxProtocol) -> Mention? {
        let references = Finder.all(DeclReferenceExprSyntax.self, in: Syntax(node)).filter { $0.baseName.text == name }
        guard !references.isEmpty else { return nil }
        return references.allSatisfy(isSentence) ? .sentence : .whole
    }

    /// Whether a reference to an error is converted to text.
    private static func isSentence(_ node: DeclReferenceExprSyntax) -> Bool {
        if node.enclosing(ExpressionSegmentSyntax.self) != nil { return true }
        var step: Syntax? = Syntax(node)
        while let current = step, !current.is(LabeledExprSyntax.self), !current.is(CodeBlockItemSyntax.self) {
            if let member = current.as(MemberAccessExprSyntax.self) {
                let name = member.declName.baseName.text
                if ["localizedDescription", "localizedFailureReason", "description"].contains(name) { return true }
                if ["code", "errorCode"].contains(name) { return false }
            }
            step = current.parent
        }
        let call = node.enclosing(FunctionCallExprSyntax.self)
        return call?.calledExpression.words == "String" && call?.arguments.first?.label?.text == "describing"
    }

    /// The closures assigned to a property in a family of types, with the functions that contain them; nil if the name
    /// is not a property with a closure.
    func closures(named name: String, in family: Set<String>) -> [(closure: ClosureExprSyntax, function: Int)]? {
        let properties = family.compactMap { unit.index.types[$0] }.flatMap(\.properties).filter { $0.name == name }
        guard properties.contains(where: { Self.isClosure($0.type) }) else { return nil }
        var result: [(ClosureExprSyntax, Int)] = []
        for (number, function) in unit.index.functions.enumerated() {
            for assignment in function.assignments where assignment.name == name {
                let isOwn = family.contains(function.owner ?? "")
                if let closure = assignment.value.as(ClosureExprSyntax.self) {
                    result.append((closure, number))
                } else if isOwn, let position = function.parameters.firstIndex(of: assignment.value.core.words) {
                    result += passed(position, to: number)
                }
            }
        }
        return result
    }

    /// Whether a declared type is a closure type.
    private static func isClosure(_ type: String?) -> Bool {
        guard let type else { return false }
        return type.contains("->")
            || ["Completion", "Handler", "Closure", "Callback", "Block"].contains { type.contains($0) }
    }

    /// The closures that callers pass for a parameter.
    private func passed(_ position: Int, to number: Int) -> [(ClosureExprSyntax, Int)] {
        let function = unit.index.functions[number]
        let label = function.labels[position]
        return unit.index.callers(number).prefix(20).flatMap { caller in
            unit.index.functions[caller].calls.compactMap { call -> (ClosureExprSyntax, Int)? in
                let means = unit.index.targets(of: call, in: unit.index.functions[caller]).contains(number)
                guard means else { return nil }
                if let closure = call.argument(label)?.as(ClosureExprSyntax.self) { return (closure, caller) }
                let more = call.node.additionalTrailingClosures.first { $0.label.text == label }
                if let more { return (more.closure, caller) }
                guard position == function.labels.count - 1 - call.node.additionalTrailingClosures.count else {
                    return nil
                }
                return call.node.trailingClosure.map { ($0, caller) }
            }
        }
    }
}
