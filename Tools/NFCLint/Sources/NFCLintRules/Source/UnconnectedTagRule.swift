// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
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
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func write(_ message: NFCNDEFMessage, to tag: any NFCNDEFTag) async throws {
                        guard try await status(tag) == .readWrite else { return }
                        try await session?.connect(to: tag)
                        try await tag.writeNDEF(message)
                    }
                    func status(_ tag: any NFCNDEFTag) async throws -> NFCNDEFStatus { try await tag.queryNDEFStatus().0 }
                }
                """
            ),
            .detecting("tags[0].readNDEF { message, _ in session.invalidate() }"),
            .detecting(
                """
                session.connect(to: tags[0]) { error in
                    if error != nil { session.restartPolling() }
                }
                tags[0].readNDEF { message, _ in session.invalidate() }
                """
            ),
        ],
        good: [
            .detecting(
                """
                session.connect(to: tags[0]) { _ in
                    tags[0].readNDEF { message, _ in session.invalidate() }
                }
                """
            )
        ],
        check: { unit, findings in
            for (number, _) in unit.ownFunctions {
                guard let call = premature(number, unit) else { continue }
                findings.add(unit.place(call.node, number), "\(call.name) is called before the tag is connected.")
            }
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
                    // `connect` may be called through a reference to the method.
                    let own = unit.index.types[delegate.type]?.functions ?? []
                    guard !unit.mentions(own, ["connect"]) else { continue }
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

    /// The call before `connect` in the same statements that sends a command to the same tag, directly or in a helper.
    private static func premature(_ number: Int, _ unit: Unit) -> CallInfo? {
        let function = unit.index.functions[number]
        let tag = { (call: CallInfo, name: String) in
            call.base == name || call.node.arguments.contains { $0.expression.core.words == name }
        }
        let reaches = { (call: CallInfo, names: Set<String>) in
            let targets = unit.index.targets(of: call, in: function)
            return names.contains(call.name) || targets.contains { unit.calls([$0], names) }
        }
        let isConnected = unit.calls(unit.index.allCallers(number).filter { $0 != number }, ["connect"])
        for name in function.parameters where !isConnected {
            let calls = function.calls.filter { $0.context.isEmpty && tag($0, name) }
            guard let connect = calls.first(where: { reaches($0, ["connect"]) }),
                let first = calls.first(where: { reaches($0, Names.commands) }),
                first.node.endPosition <= connect.node.position,
                let list = first.node.enclosing(CodeBlockItemListSyntax.self),
                list.id == connect.node.enclosing(CodeBlockItemListSyntax.self)?.id
            else { continue }
            return first
        }
        return nil
    }

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
