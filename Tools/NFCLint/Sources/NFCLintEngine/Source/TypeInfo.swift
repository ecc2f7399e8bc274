// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// A stored property, or a constant outside types.
public struct PropertyInfo: Sendable {
    /// The property's name.
    public var name: String
    /// The declared type; nil if it is inferred.
    public var type: String?
    /// The initial value; nil if there is none.
    public var value: ExprSyntax?
    /// The attributes and modifiers.
    public var marks: [String]
    /// Whether the property is a `let`.
    public var isConstant: Bool
    /// The file that contains the property.
    public var file: SourceFile
    /// The declaration's syntax node.
    public var node: VariableDeclSyntax

    /// Whether the property stores a reader session.
    public var isSession: Bool {
        let text = type ?? value?.core.as(FunctionCallExprSyntax.self)?.calledExpression.words ?? ""
        return text.contains("NFC") && text.contains("Session") && !text.contains("Delegate")
            && !text.contains("->") && !text.contains("[")
    }

    /// Whether the property can be nil.
    public var isOptional: Bool { type.map { $0.hasSuffix("?") || $0.hasSuffix("!") } ?? false }
}

/// A type with its extensions.
public struct TypeInfo: Sendable {
    /// The type's name, without enclosing types.
    public var name: String
    /// `class`, `struct`, `enum`, `actor` or `protocol`; empty if only extensions were found.
    public var kind: String
    /// The superclass and the protocols.
    public var inherited: [String]
    /// The attributes and modifiers.
    public var marks: [String]
    /// The stored properties.
    public var properties: [PropertyInfo]
    /// The enum cases with their raw values.
    public var cases: [(name: String, value: ExprSyntax?)]
    /// The indexes of the functions in the ``ModuleIndex``.
    public var functions: [Int]
    /// The declaration; nil if only extensions were found.
    public var declaration: (file: SourceFile, node: Syntax)?
}
