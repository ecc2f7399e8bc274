// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A tag is used before it is connected.
    static let unconnectedTag = Rule(
        id: "SRC011",
        severity: .warning,
        title: "A tag is used before it is connected",
        why: """
            Commands to a tag that is not connected fail with code 104. Phones accept only APDUs for an ISO 7816 tag \
            without a connection.
            """,
        fix: "Call connect(to:) first, and continue if it reports no error.",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        tags[0].readNDEF { message, _ in session.invalidate() }
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        session.connect(to: tags[0]) { error in
                            if error != nil { session.restartPolling() }
                        }
                        tags[0].readNDEF { message, _ in session.invalidate() }
                    }
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        session.connect(to: tags[0]) { _ in
                            tags[0].readNDEF { message, _ in session.invalidate() }
                        }
                    }
                }
                """
            )
        ],
        check: { unit, findings in
            for delegate in unit.ownDelegates {
                for number in delegate.tags {
                    let reached = unit.index.reach(number)
                    guard !unit.calls(reached, ["connect"]) else {
                        for function in reached {
                            guard let call = early(unit.index.functions[function]) else { continue }
                            findings.add(
                                unit.place(call, function),
                                "This code does not wait for the connection. Move it into the closure of connect(to:)."
                            )
                        }
                        continue
                    }
                    let command = reached.lazy.compactMap { function -> (Int, CallInfo)? in
                        unit.index.functions[function].calls.first { Names.commands.contains($0.name) }.map {
                            (function, $0)
                        }
                    }.first
                    guard let (function, call) = command else { continue }
                    findings.add(
                        unit.place(call.node, function),
                        "\(call.name) is called, but the tag is not connected."
                    )
                }
            }
        }
    )

    /// The first command after a call of `connect`, but outside its completion handler.
    private static func early(_ function: FunctionInfo) -> FunctionCallExprSyntax? {
        for connect in function.calls where connect.name == "connect" && connect.base?.contains("ession") == true {
            let hasClosure =
                connect.node.trailingClosure != nil
                || connect.node.arguments.contains { $0.expression.is(ClosureExprSyntax.self) }
            guard hasClosure, let item = connect.node.enclosing(CodeBlockItemSyntax.self),
                item.item.as(ExprSyntax.self)?.core.id == connect.node.id, let list = item.parent
            else { continue }
            let later = function.calls.first { call in
                Names.commands.contains(call.name) && call.node.position >= connect.node.endPosition
                    && call.context.count == connect.context.count
                    && call.node.enclosing(CodeBlockItemSyntax.self)?.parent?.id == list.id
            }
            if let later { return later.node }
        }
        return nil
    }
}
