// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// A call in a function.
public struct CallInfo: Sendable {
    /// The last name of the called function, such as `begin`.
    public var name: String
    /// The source text before the last full stop; nil if there is none.
    public var base: String?
    /// The syntax node of the call.
    public var node: FunctionCallExprSyntax
    /// The calls whose closures contain this call, outermost first, such as `DispatchQueue.main.async`.
    public var context: [String]

    /// The first argument with a label; nil for the first without a label.
    public func argument(_ label: String?) -> ExprSyntax? {
        node.arguments.first { $0.label?.text == label }?.expression
    }

    /// The labels of the arguments; `_` for arguments without a label.
    public var labels: [String] { node.arguments.map { $0.label?.text ?? "_" } }
}

/// An assignment in a function.
public struct AssignmentInfo: Sendable {
    /// The expression on the left side.
    public var target: ExprSyntax
    /// The assigned value.
    public var value: ExprSyntax
    /// The calls whose closures contain this assignment. See ``CallInfo/context``.
    public var context: [String]

    /// The last name of the assigned property, such as `alertMessage`.
    public var name: String? { target.lastName }
    /// Whether the value is nil.
    public var isNil: Bool { value.is(NilLiteralExprSyntax.self) }
}
