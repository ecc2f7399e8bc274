// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let shortLivedDelegate = Rule(
        id: "SRC002",
        severity: .error,
        title: "A session has no delegate, or one that is released too early",
        why: """
            A session keeps only a weak reference to its delegate. If the delegate is nil, or nothing else keeps it, \
            no callback runs.
            """,
        fix: "Keep the delegate in a property for as long as the session runs.",
        bad: [
            .swift(
                """
                func scan() {
                    let session = NFCNDEFReaderSession(delegate: Handler(), queue: nil, invalidateAfterFirstRead: true)
                    session.begin()
                }
                class Handler: NSObject {}
                """
            ),
            .swift(
                """
                class Reader {
                    let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: nil)
                }
                """
            ),
        ],
        good: [.messageReader],
        check: { unit, findings in
            for creation in unit.ownCreations where creation.kind != .payment {
                guard let delegate = creation.delegate?.core else { continue }
                let place = unit.place(delegate, creation.function)
                if delegate.is(NilLiteralExprSyntax.self) {
                    findings.add(place, "The session has no delegate, so no callback runs.")
                } else if let name = delegate.as(FunctionCallExprSyntax.self)?.calledExpression.words,
                    let type = unit.index.types[name],
                    type.kind == "class", !keepsItself(type, unit)
                {
                    findings.add(
                        place,
                        "Nothing keeps the new \(name), and the session's reference is weak, so no callback runs."
                    )
                }
            }
        }
    )
    /// Whether an object may keep itself alive, because its initializer passes `self` to a call.
    private static func keepsItself(_ type: TypeInfo, _ unit: Unit) -> Bool {
        type.functions.contains { number in
            let function = unit.index.functions[number]
            return function.kind == .initializer
                && function.calls.contains { call in
                    call.node.arguments.contains { $0.expression.words == "self" }
                } || function.names.contains("objc_setAssociatedObject")
        }
    }
}
