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
