// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// A call in a function.
public struct CallInfo: Sendable {
    /// The last name of the called function, such as `begin`.
    public var name: String
    /// The source text before the last full stop; nil for none.
    public var base: String?
    /// The call.
    public var node: FunctionCallExprSyntax
    /// The calls whose closures contain this call, from the outermost, such as `DispatchQueue.main.async`.
    public var context: [String]

    /// An argument by its label; nil for an unlabelled one.
    public func argument(_ label: String?) -> ExprSyntax? {
        node.arguments.first { $0.label?.text == label }?.expression
    }

    /// The labels of the arguments, an underscore for none.
    public var labels: [String] { node.arguments.map { $0.label?.text ?? "_" } }
}

/// An assignment in a function.
public struct AssignmentInfo: Sendable {
    /// What is assigned to.
    public var target: ExprSyntax
    /// The value.
    public var value: ExprSyntax
    /// See ``CallInfo/context``.
    public var context: [String]

    /// The last name of the assigned property, such as `alertMessage`.
    public var name: String? { target.lastName }
    /// Whether the value is nil.
    public var isNil: Bool { value.is(NilLiteralExprSyntax.self) }
}
