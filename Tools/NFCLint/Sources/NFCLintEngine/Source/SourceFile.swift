// SPDX-License-Identifier: Apache-2.0
import SwiftOperators
import SwiftParser
public import SwiftSyntax

/// A parsed Swift file.
public final class SourceFile: Sendable {
    /// The file's path.
    public let path: String
    /// The syntax tree.
    public let tree: SourceFileSyntax
    /// Whether parts of the file could not be parsed.
    public let hasErrors: Bool
    /// Where the file imports Core NFC; nil if it does not.
    public let coreNFCImport: Place?
    /// Whether the file imports Core NFC.
    public var importsCoreNFC: Bool { coreNFCImport != nil }
    private let lines: LineStarts

    /// The maximum size of a parsed Swift file, in bytes. Normal files are far smaller; large files have deep trees.
    static let largest = 512 << 10

    /// Parses a file. The parser skips extremely nested code.
    init(path: String, bytes: [UInt8]) {
        self.path = path
        let text = String(decoding: bytes, as: UTF8.self)
        let parsed = Self.parse(text)
        hasErrors = parsed.hasError
        // Unknown operators stay unfolded. Very long sequences do too, because the tree would be as deep as the
        // sequence is long.
        let sequences = LongestSequence(viewMode: .sourceAccurate)
        sequences.walk(parsed)
        if sequences.count > 2000 {
            tree = parsed
        } else {
            let folded = OperatorTable.standardOperators.foldAll(parsed) { _ in }
            tree = folded.as(SourceFileSyntax.self) ?? parsed
        }
        let lines = LineStarts(text.utf8)
        self.lines = lines
        let imports = parsed.statements.lazy.flatMap { Self.imports(Syntax($0.item)) }
        coreNFCImport = imports.first { $0.path.first?.name.text == "CoreNFC" }.map {
            Place(path, lines.position(of: $0.positionAfterSkippingLeadingTrivia.utf8Offset))
        }
    }

    /// The imports of a statement, including those within `#if`.
    private static func imports(_ node: Syntax) -> [ImportDeclSyntax] {
        if let node = node.as(ImportDeclSyntax.self) { return [node] }
        guard let node = node.as(IfConfigDeclSyntax.self) else { return [] }
        return node.clauses.flatMap { clause -> [ImportDeclSyntax] in
            guard case .statements(let items)? = clause.elements else { return [] }
            return items.flatMap { imports(Syntax($0.item)) }
        }
    }

    private static func parse(_ text: String) -> SourceFileSyntax {
        var parser = Parser(text, maximumNestingLevel: 128)
        return SourceFileSyntax.parse(from: &parser)
    }

    /// The location of an offset in the text.
    public func place(offset: Int) -> Place { Place(path, lines.position(of: offset)) }

    /// The location of a node, after its leading comments.
    public func place(_ node: some SyntaxProtocol) -> Place {
        place(offset: node.positionAfterSkippingLeadingTrivia.utf8Offset)
    }
}

/// Measures the longest sequence of operators and operands.
private final class LongestSequence: SyntaxVisitor {
    private(set) var count = 0

    override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
        count = max(count, node.elements.count)
        return .visitChildren
    }
}
