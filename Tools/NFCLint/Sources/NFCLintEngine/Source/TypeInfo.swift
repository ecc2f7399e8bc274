// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// A stored property, or a constant outside of types.
public struct PropertyInfo: Sendable {
    /// Its name.
    public var name: String
    /// Its type as written; nil when it is inferred.
    public var type: String?
    /// Its value; nil for none.
    public var value: ExprSyntax?
    /// Its attributes and modifiers.
    public var marks: [String]
    /// Whether it is a `let`.
    public var isConstant: Bool
    /// Its file.
    public var file: SourceFile
    /// Its declaration.
    public var node: VariableDeclSyntax

    /// Whether it holds a reader session.
    public var isSession: Bool {
        let text = type ?? value?.core.as(FunctionCallExprSyntax.self)?.calledExpression.words ?? ""
        return text.contains("NFC") && text.contains("Session") && !text.contains("Delegate")
            && !text.contains("->") && !text.contains("[")
    }

    /// Whether it can be nil.
    public var isOptional: Bool { type.map { $0.hasSuffix("?") || $0.hasSuffix("!") } ?? false }
}

/// A type with what its extensions add.
public struct TypeInfo: Sendable {
    /// Its name, without the types around it.
    public var name: String
    /// `class`, `struct`, `enum`, `actor`, `protocol`; empty when only extensions were seen.
    public var kind: String
    /// What it inherits and conforms to.
    public var inherited: [String]
    /// Its attributes and modifiers.
    public var marks: [String]
    /// Its stored properties.
    public var properties: [PropertyInfo]
    /// Its cases with their raw values.
    public var cases: [(name: String, value: ExprSyntax?)]
    /// The numbers of its functions in the index.
    public var functions: [Int]
    /// Where it is declared; nil when only extensions were seen.
    public var declaration: (file: SourceFile, node: Syntax)?
}
