// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// The declarations and calls in a Swift file.
struct FileFacts: Sendable {
    var file: SourceFile
    var imports: Set<String> = []
    var types: [TypeInfo] = []
    var functions: [FunctionInfo] = []
    var globals: [PropertyInfo] = []

    init(_ file: SourceFile) {
        self.file = file
        let builder = FactsBuilder(file)
        builder.walk(file.tree)
        imports = builder.imports
        types = builder.types
        functions = builder.functions
        globals = builder.globals
    }
}

/// Walks a tree once, and records its declarations and calls. Calls in nested functions and closures count for the
/// enclosing function.
private final class FactsBuilder: SyntaxVisitor {
    private let file: SourceFile
    var imports: Set<String> = []
    var types: [TypeInfo] = []
    var functions: [FunctionInfo] = []
    var globals: [PropertyInfo] = []
    private var owners: [String] = []
    private var current: FunctionInfo?
    private var depth = 0
    private var context: [String] = []

    init(_ file: SourceFile) {
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    // MARK: Types

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        if let name = node.path.first?.name.text { imports.insert(name) }
        return .skipChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.text, "class", node.inheritanceClause, marks(node.attributes, node.modifiers), Syntax(node))
    }
    override func visitPost(_ node: ClassDeclSyntax) { owners.removeLast() }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.text, "struct", node.inheritanceClause, marks(node.attributes, node.modifiers), Syntax(node))
    }
    override func visitPost(_ node: StructDeclSyntax) { owners.removeLast() }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.text, "enum", node.inheritanceClause, marks(node.attributes, node.modifiers), Syntax(node))
    }
    override func visitPost(_ node: EnumDeclSyntax) { owners.removeLast() }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.text, "actor", node.inheritanceClause, marks(node.attributes, node.modifiers), Syntax(node))
    }
    override func visitPost(_ node: ActorDeclSyntax) { owners.removeLast() }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.text, "protocol", node.inheritanceClause, [], Syntax(node))
    }
    override func visitPost(_ node: ProtocolDeclSyntax) { owners.removeLast() }
    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        let name = node.extendedType.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
        return begin(name, "", node.inheritanceClause, marks(node.attributes, node.modifiers), Syntax(node))
    }
    override func visitPost(_ node: ExtensionDeclSyntax) { owners.removeLast() }

    private func begin(
        _ name: String,
        _ kind: String,
        _ inheritance: InheritanceClauseSyntax?,
        _ marks: [String],
        _ node: Syntax
    ) -> SyntaxVisitorContinueKind {
        owners.append(name)
        types.append(
            TypeInfo(
                name: name,
                kind: kind,
                inherited: inheritance?.inheritedTypes.map { Self.plain($0.type) } ?? [],
                marks: kind.isEmpty ? [] : marks,
                properties: [],
                cases: [],
                functions: [],
                declaration: kind.isEmpty ? nil : (file, node)
            )
        )
        return .visitChildren
    }

    /// A type's name without module and attributes such as `@preconcurrency`.
    private static func plain(_ type: TypeSyntax) -> String {
        let text = type.as(AttributedTypeSyntax.self)?.baseType.trimmedDescription ?? type.trimmedDescription
        return text.split(separator: ".").last.map(String.init) ?? text
    }

    private func marks(_ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax) -> [String] {
        attributes.map(\.trimmedDescription) + modifiers.map(\.trimmedDescription)
    }

    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind {
        if let owner = owners.last, let index = types.lastIndex(where: { $0.name == owner }) {
            types[index].cases.append((node.name.text, node.rawValue?.value))
        }
        return .visitChildren
    }

    // MARK: Functions

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        let parameters = node.signature.parameterClause.parameters
        open(
            node.name.text,
            .function,
            parameters,
            node,
            node.body.map(Syntax.init),
            marks(node.attributes, node.modifiers)
        )
        return .visitChildren
    }
    override func visitPost(_ node: FunctionDeclSyntax) { close() }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        let parameters = node.signature.parameterClause.parameters
        open("init", .initializer, parameters, node, node.body.map(Syntax.init), marks(node.attributes, node.modifiers))
        return .visitChildren
    }
    override func visitPost(_ node: InitializerDeclSyntax) { close() }
    override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        open("deinit", .function, nil, node, node.body.map(Syntax.init), [])
        return .visitChildren
    }
    override func visitPost(_ node: DeinitializerDeclSyntax) { close() }

    private func open(
        _ name: String,
        _ kind: FunctionInfo.Kind,
        _ parameters: FunctionParameterListSyntax?,
        _ node: some SyntaxProtocol,
        _ body: Syntax?,
        _ marks: [String]
    ) {
        depth += 1
        guard depth == 1 else { return }
        current = FunctionInfo(
            name: name,
            kind: kind,
            labels: parameters?.map(\.firstName.text) ?? [],
            parameters: parameters?.map { ($0.secondName ?? $0.firstName).text } ?? [],
            parameterTypes: parameters?.map(\.type.trimmedDescription) ?? [],
            defaults: parameters?.map { $0.defaultValue != nil || $0.ellipsis != nil } ?? [],
            owner: owners.last,
            file: file,
            node: Syntax(node),
            body: body,
            marks: marks
        )
    }

    private func close() {
        depth -= 1
        guard depth == 0, let done = current else { return }
        functions.append(done)
        if let owner = done.owner, let index = types.lastIndex(where: { $0.name == owner }) {
            types[index].functions.append(functions.count - 1)
        }
        current = nil
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard depth == 0 else {
            for binding in node.bindings {
                let declared = binding.typeAnnotation.map { ModuleIndex.plain($0.type.trimmedDescription) }
                let type = declared ?? binding.initializer.flatMap { ModuleIndex.created($0.value) }
                if let type { current?.locals[binding.pattern.trimmedDescription] = type }
            }
            return .visitChildren
        }
        let isConstant = node.bindingSpecifier.text == "let"
        for binding in node.bindings {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { continue }
            let property = PropertyInfo(
                name: name,
                type: binding.typeAnnotation?.type.trimmedDescription,
                value: binding.initializer?.value,
                marks: marks(node.attributes, node.modifiers),
                isConstant: isConstant,
                file: file,
                node: node
            )
            if binding.accessorBlock == nil || binding.initializer != nil {
                if let owner = owners.last, let index = types.lastIndex(where: { $0.name == owner }) {
                    types[index].properties.append(property)
                } else if owners.isEmpty {
                    globals.append(property)
                }
            }
        }
        let name = node.bindings.first?.pattern.trimmedDescription ?? ""
        let body = node.bindings.first.flatMap { $0.accessorBlock.map(Syntax.init) ?? $0.initializer.map(Syntax.init) }
        open(name, .property, nil, node, body, marks(node.attributes, node.modifiers))
        opened.insert(node.id)
        return .visitChildren
    }
    private var opened: Set<SyntaxIdentifier> = []
    override func visitPost(_ node: VariableDeclSyntax) { if opened.remove(node.id) != nil { close() } }

    override func visit(_ node: SourceFileSyntax) -> SyntaxVisitorContinueKind { .visitChildren }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard depth == 0, owners.isEmpty, node.item.as(DeclSyntax.self) == nil else { return .visitChildren }
        open("top level", .topLevel, nil, node, nil, [])
        opened.insert(node.id)
        return .visitChildren
    }
    override func visitPost(_ node: CodeBlockItemSyntax) { if opened.remove(node.id) != nil { close() } }

    // MARK: Statements

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        context.append(node.receiver)
        return .visitChildren
    }
    override func visitPost(_ node: ClosureExprSyntax) { context.removeLast() }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let callee = node.calledExpression.core
        guard current != nil else { return .visitChildren }
        if let member = callee.as(MemberAccessExprSyntax.self) {
            let base = member.base?.dottedName
            add(CallInfo(name: member.declName.baseName.text, base: base ?? "", node: node, context: context))
        } else if let reference = callee.as(DeclReferenceExprSyntax.self) {
            add(CallInfo(name: reference.baseName.text, base: nil, node: node, context: context))
        }
        return .visitChildren
    }

    private func add(_ call: CallInfo) { current?.calls.append(call) }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.is(AssignmentExprSyntax.self) {
            let info = AssignmentInfo(target: node.leftOperand, value: node.rightOperand, context: context)
            current?.assignments.append(info)
        }
        return .visitChildren
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        current?.names.insert(node.baseName.text)
        return .visitChildren
    }
}
