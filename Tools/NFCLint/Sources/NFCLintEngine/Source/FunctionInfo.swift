// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// A function, initializer, computed property or stored property's value, with its calls.
public struct FunctionInfo: Sendable {
    /// What it is.
    public enum Kind: Sendable {
        /// A function.
        case function
        /// An initializer.
        case initializer
        /// The code of a property.
        case property
        /// Statements outside of functions.
        case topLevel
    }

    /// Its name; `init` for an initializer.
    public var name: String
    /// What it is.
    public var kind: Kind
    /// The labels of its parameters, an underscore for none.
    public var labels: [String]
    /// The names of its parameters within.
    public var parameters: [String]
    /// The types of its parameters.
    public var parameterTypes: [String]
    /// The type that contains it, also by an extension.
    public var owner: String?
    /// Its file.
    public var file: SourceFile
    /// Its declaration.
    public var node: Syntax
    /// Its statements; nil without a body.
    public var body: Syntax?
    /// Its attributes and modifiers, such as `@MainActor`.
    public var marks: [String]
    /// The calls in it, in order.
    public var calls: [CallInfo] = []
    /// The assignments in it, in order.
    public var assignments: [AssignmentInfo] = []
    /// All names that it mentions.
    public var names: Set<String> = []

    /// Its name with labels, such as `readerSession(_:didDetect:)`.
    public var signature: String { kind == .property ? name : "\(name)(\(labels.map { $0 + ":" }.joined()))" }

    /// The place of its name.
    public var place: Place {
        if let function = node.as(FunctionDeclSyntax.self) { return file.place(function.name) }
        return file.place(node)
    }

    /// The statements of its body.
    public var statements: CodeBlockItemListSyntax? {
        body?.as(CodeBlockSyntax.self)?.statements ?? body?.as(CodeBlockItemListSyntax.self)
    }
}
