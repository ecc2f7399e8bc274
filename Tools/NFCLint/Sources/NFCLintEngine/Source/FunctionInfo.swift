// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// A function, an initializer, a computed property, or the value of a stored property, with its calls.
public struct FunctionInfo: Sendable {
    /// The kind of a function.
    public enum Kind: Sendable {
        /// A function.
        case function
        /// An initializer.
        case initializer
        /// The getter, setter or value of a property.
        case property
        /// Statements outside functions.
        case topLevel
    }

    /// The function's name; `init` for an initializer.
    public var name: String
    /// The kind of function.
    public var kind: Kind
    /// The labels of the parameters; `_` for parameters without a label.
    public var labels: [String]
    /// The internal names of the parameters.
    public var parameters: [String]
    /// The types of the parameters.
    public var parameterTypes: [String]
    /// Whether calls may leave out each parameter.
    var defaults: [Bool]
    /// The type that contains the function, directly or in an extension.
    public var owner: String?
    /// The file that contains the function.
    public var file: SourceFile
    /// The declaration's syntax node.
    public var node: Syntax
    /// The statements; nil if the function has no body.
    public var body: Syntax?
    /// The attributes and modifiers, such as `@MainActor`.
    public var marks: [String]
    /// The calls in the function, in order.
    public var calls: [CallInfo] = []
    /// The assignments in the function, in order.
    public var assignments: [AssignmentInfo] = []
    /// The types of local variables, as far as they are declared or created by name.
    var locals: [String: String] = [:]
    /// All names that the function mentions.
    public var names: Set<String> = []

    /// The name with labels, such as `readerSession(_:didDetect:)`.
    public var signature: String { kind == .property ? name : "\(name)(\(labels.map { $0 + ":" }.joined()))" }

    /// The location of the function's name.
    public var place: Place {
        if let function = node.as(FunctionDeclSyntax.self) { return file.place(function.name) }
        return file.place(node)
    }

    /// The statements of the body.
    public var statements: CodeBlockItemListSyntax? {
        body?.as(CodeBlockSyntax.self)?.statements ?? body?.as(CodeBlockItemListSyntax.self)
    }
}

extension FunctionInfo {
    /// Whether the function only observes a stored property, so that it runs when the property is set.
    var isObserver: Bool {
        let block = node.as(VariableDeclSyntax.self)?.bindings.first?.accessorBlock
        guard case .accessors(let accessors)? = block?.accessors else { return false }
        return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }

    /// Whether the function compares the length of a message with the capacity of a tag.
    public var comparesCapacity: Bool {
        guard let body else { return false }
        let finder = CapacityFinder(viewMode: .sourceAccurate)
        finder.walk(body)
        return finder.isCompared
    }
}

/// Finds comparisons with a tag's capacity: a name with that word, or the second value of `queryNDEFStatus`.
private final class CapacityFinder: SyntaxVisitor {
    private var names: Set<String> = []
    private(set) var isCompared = false

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let last = node.arguments.last?.expression
        if node.calledExpression.lastName == "queryNDEFStatus",
            let closure = node.trailingClosure ?? last?.as(ClosureExprSyntax.self)
        {
            switch closure.signature?.parameterClause {
            case .simpleInput(let list): names.formUnion(list.dropFirst().prefix(1).map(\.name.text))
            case .parameterClause(let clause):
                names.formUnion(clause.parameters.dropFirst().prefix(1).map { ($0.secondName ?? $0.firstName).text })
            case nil: break
            }
        }
        return .visitChildren
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        let call = node.initializer?.value.core.as(FunctionCallExprSyntax.self)
        if call?.calledExpression.lastName == "queryNDEFStatus" {
            let second = node.pattern.as(TuplePatternSyntax.self)?.elements.dropFirst().first?.pattern
            if let name = second?.as(IdentifierPatternSyntax.self)?.identifier.text { names.insert(name) }
        }
        return .visitChildren
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard ["<", ">", "<=", ">="].contains(node.operator.trimmedDescription) else { return .visitChildren }
        let sides = [node.leftOperand.core, node.rightOperand.core]
        let isLength =
            sides.contains { $0.lastName == "length" } && !sides.contains { $0.is(IntegerLiteralExprSyntax.self) }
        let words = node.trimmedDescription.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        let isNamed = words.contains { $0.lowercased().contains("capacity") || names.contains($0) }
        isCompared = isCompared || isLength || isNamed
        return .visitChildren
    }
}
