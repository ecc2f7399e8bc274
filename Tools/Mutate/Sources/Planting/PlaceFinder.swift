// SPDX-License-Identifier: Apache-2.0
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Finds the places of a source file where a bug can be planted.
public struct SourcePlaces: Sendable {
    /// The places in the order of the file.
    public var places: [Place] = []
    /// The lines, counted from 1, of comments that skip a place and give no reason.
    public var skipsWithoutReason: [Int] = []
    /// The number of places that a comment with a reason skips.
    public var skipped = 0

    /// - Parameter source: the text of a Swift file. Code that doesn't parse has no places.
    public init(source: String) {
        let parsed = Parser.parse(source: source)
        let folded = OperatorTable.standardOperators.foldAll(parsed) { _ in }
        let finder = PlaceFinder(lines: SourceLocationConverter(fileName: "", tree: parsed))
        finder.walk(folded)
        let skips = Skips(source: source)
        skipsWithoutReason = skips.withoutReason
        places = finder.places.filter { !skips.lines.contains($0.line) }
            .sorted { ($0.start, $0.end, $0.after) < ($1.start, $1.end, $1.after) }
        skipped = finder.places.count - places.count
    }
}

/// Walks a folded tree and collects places. Each family of bugs has its own file.
final class PlaceFinder: SyntaxVisitor {
    private(set) var places: [Place] = []
    private let lines: SourceLocationConverter

    init(lines: SourceLocationConverter) {
        self.lines = lines
        super.init(viewMode: .sourceAccurate)
    }

    /// Records a place at a node that is replaced.
    ///
    /// - Parameters:
    ///   - replacement: source with `Place.number` for the number of the mutant.
    ///   - after: the mutated source to show, in place of the node's.
    func plant(_ kind: Place.Kind, at node: some SyntaxProtocol, as replacement: String, shown after: String) {
        plant(kind, from: node, to: node, as: replacement, shown: after)
    }

    /// Records a place that reaches from the start of one node to the end of another.
    func plant(
        _ kind: Place.Kind,
        from first: some SyntaxProtocol,
        to last: some SyntaxProtocol,
        as replacement: String,
        shown after: String
    ) {
        let start = first.positionAfterSkippingLeadingTrivia, end = last.endPositionBeforeTrailingTrivia
        let before =
            first.id == last.id ? first.trimmedDescription : first.trimmedDescription + "; " + last.trimmedDescription
        let surroundings = Surroundings(of: first)
        places.append(
            Place(
                kind: kind,
                line: lines.location(for: start).line,
                start: start.utf8Offset,
                end: end.utf8Offset,
                replacement: replacement,
                before: before.onOneLine,
                after: after.onOneLine,
                statementStart: surroundings.statement.positionAfterSkippingLeadingTrivia.utf8Offset,
                declarationStart: surroundings.declaration.position.utf8Offset,
                declarationEnd: surroundings.declaration.endPosition.utf8Offset,
                weight: surroundings.weight
            )
        )
    }

    /// Records a statement that is inserted before another one.
    func insert(_ kind: Place.Kind, before node: some SyntaxProtocol, _ inserted: String, shown after: String) {
        plant(kind, at: node, as: inserted + "; ", shown: after + "; " + node.trimmedDescription.onOneLine)
        places[places.count - 1].end = places[places.count - 1].start
    }

    // MARK: Excluded code

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    // The default argument of a public function can't use private code.
    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    // Texts for people, and their interpolations, are skipped.
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
        if let elements = node.elements { walk(elements) }
        return .skipChildren
    }

    // MARK: Declarations

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.attributes.areInlinable || node.name.text == "hash" { return .skipChildren }
        earlyReturns(of: node)
        return .visitChildren
    }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        node.attributes.areInlinable ? .skipChildren : .visitChildren
    }

    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
        node.attributes.areInlinable ? .skipChildren : .visitChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.attributes.areInlinable { return .skipChildren }
        let names = node.bindings.map(\.pattern.trimmedDescription)
        return names.contains("debugDescription") || names.contains("customMirror") ? .skipChildren : .visitChildren
    }

    // MARK: Families of bugs

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        operators(of: node)
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        prefixes(of: node)
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        literals(of: node, text: node.literal.text, at: Syntax(node))
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        literals(of: node)
        return .skipChildren
    }

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        conditions(of: node)
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        conditions(of: node)
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        statements(of: node)
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        calls(of: node)
        return .visitChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        members(of: node)
        return .visitChildren
    }

    override func visit(_ node: ArrayExprSyntax) -> SyntaxVisitorContinueKind {
        elements(of: node)
        return .visitChildren
    }

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        results(of: node)
        return .visitChildren
    }
}

extension AttributeListSyntax {
    /// Whether a body is copied into other modules, where the switch can't be seen.
    var areInlinable: Bool {
        contains { element in
            guard case .attribute(let attribute) = element else { return false }
            return [
                "inlinable", "_transparent", "_alwaysEmitIntoClient", "backDeployed", "_silgen_name", "_cdecl",
            ].contains(attribute.attributeName.trimmedDescription)
        }
    }
}

extension String {
    /// The text with each run of white space as one space.
    var onOneLine: String {
        split { $0 == "\n" || $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
