// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let uncheckedStatus = Rule(
        id: "SRC005",
        severity: .warning,
        title: "A tag is written without checking its status",
        why: """
            A tag can be read-only, or not support NDEF at all. queryNDEFStatus reports this before anything is \
            written.
            """,
        fix: "Call queryNDEFStatus, and write only if the status is readWrite.",
        bad: [
            .plainWrite,
            // A tag that is not "not supported" can be read-only.
            .swift(
                """
                func write(_ message: NFCNDEFMessage, to tag: any NFCNDEFTag) async throws {
                    let (status, _) = try await tag.queryNDEFStatus()
                    guard status != .notSupported else { return }
                    try await tag.writeNDEF(message)
                }
                """
            ),
            // The status is queried in another branch.
            .swift(
                """
                func scan(_ tag: any NFCNDEFTag, _ message: NFCNDEFMessage?) {
                    if let message {
                        tag.writeNDEF(message) { _ in }
                    } else {
                        tag.queryNDEFStatus { status, _, _ in show(status == .readWrite) }
                    }
                }
                """
            ),
            .objective(
                """
                - (void)write:(id<NFCNDEFTag>)tag {
                    [tag writeNDEF:self.message completionHandler:^(NSError *error) { [self.session invalidateSession]; }];
                }
                """
            ),
        ],
        good: [
            .checkedWrite,
            .swift(
                """
                func write(_ message: NFCNDEFMessage, to tag: any NFCNDEFTag) async {
                    let status: NFCNDEFStatus
                    do { (status, _) = try await tag.queryNDEFStatus() } catch { return }
                    if status == .readWrite { try? await tag.writeNDEF(message) }
                }
                """
            ),
            .objective(
                """
                - (void)write:(id<NFCNDEFTag>)tag {
                    [tag queryNDEFStatusWithCompletionHandler:^(NFCNDEFStatus status, NSUInteger capacity, NSError *error) {
                        if (status != NFCNDEFStatusReadWrite) { return; }
                        [tag writeNDEF:self.message completionHandler:^(NSError *error) { [self.session invalidateSession]; }];
                    }];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective where !file.asksForStatus {
                for statement in file.writes {
                    findings.add(statement.place, "writeNDEF is called without queryNDEFStatus before it.")
                }
            }
            let isAnywhere = unit.mentionsAnywhere(["queryNDEFStatus"])
            var seen: Set<Int> = []
            for (number, call) in unit.ownCalls(["writeNDEF", "writeLock"]) where seen.insert(number).inserted {
                guard !unit.index.functions[number].name.hasPrefix("writeNDEF") else { continue }
                let connected = unit.connected(number)
                let place = unit.place(call.node, number)
                let compares: Set<String> = ["readWrite", "readOnly"]
                let asks =
                    isAsked(before: call, in: unit.index.functions[number])
                    || unit.mentions(connected.subtracting([number]), ["queryNDEFStatus"])
                if !asks, isAnywhere {
                    let text = """
                        \(call.name) is called here, and queryNDEFStatus elsewhere. Unconfirmed: queryNDEFStatus may \
                        not be called first.
                        """
                    findings.add(place, text, severity: .info, isProven: false)
                } else if !asks {
                    findings.add(place, "\(call.name) is called without queryNDEFStatus before it.")
                } else if !unit.mentions(connected, compares) {
                    findings.add(
                        place,
                        "\(call.name) is called, but the tag's status is not compared with readWrite."
                    )
                }
            }
        }
    )

    /// Whether a function queries the status before a call, or is called when the status is known.
    private static func isAsked(before call: CallInfo, in function: FunctionInfo) -> Bool {
        let queries = function.calls.filter { $0.name == "queryNDEFStatus" }
        // Without a call, the function is passed on.
        guard !queries.isEmpty else { return function.names.contains("queryNDEFStatus") }
        return queries.contains { query in
            if call.node.isWithin(query.node) { return true }
            var list = query.node.enclosing(CodeBlockItemListSyntax.self)
            // The statements after `do` and after an awaited closure run when it is done.
            while let block = list?.parent,
                block.parent?.is(DoStmtSyntax.self) == true
                    || block.is(ClosureExprSyntax.self) && block.enclosing(AwaitExprSyntax.self) != nil
            {
                list = block.enclosing(CodeBlockItemListSyntax.self)
            }
            return query.node.position < call.node.position && list.map { call.node.isWithin($0) } == true
        }
    }
}
