// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let uncheckedCapacity = Rule(
        id: "SRC006",
        severity: .warning,
        title: "A message is written without checking the capacity",
        why: """
            If the message is larger than the tag, writing fails with 402, after the user has held the tag for \
            nothing.
            """,
        fix: "Compare message.length with the capacity that queryNDEFStatus returns.",
        bad: [
            .plainWrite,
            .swift(
                """
                class Reader: NSObject {
                    func write(_ tag: any NFCNDEFTag, _ batch: [Int]) {
                        if batch.size > 3 { return }
                        tag.writeNDEF(message) { _ in }
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
            .swift(
                """
                class Reader: NSObject {
                    func write(_ tag: any NFCNDEFTag) async throws {
                        let (_, bytes) = try await tag.queryNDEFStatus()
                        if need > bytes { return }
                        try await tag.writeNDEF(message)
                    }
                }
                """
            ),
            .checkedWrite,
            .objective(
                """
                - (void)write:(id<NFCNDEFTag>)tag capacity:(NSUInteger)capacity {
                    if (self.message.length > capacity) { return; }
                    [tag writeNDEF:self.message completionHandler:^(NSError *error) { [self.session invalidateSession]; }];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective where !file.comparesCapacity {
                for statement in file.writes {
                    let text = "The message is written without comparing its length with the capacity."
                    findings.add(statement.place, text)
                }
            }
            var seen: Set<Int> = []
            for (number, call) in unit.ownCalls(["writeNDEF"]) where seen.insert(number).inserted {
                guard !unit.index.functions[number].name.hasPrefix("writeNDEF") else { continue }
                let isCompared = unit.connected(number).contains { unit.index.functions[$0].comparesCapacity }
                guard !isCompared, !clearsTag(call) else { continue }
                findings.add(
                    unit.place(call.node, number),
                    "The message is written without comparing its length with the capacity."
                )
            }
        }
    )
    /// Whether the message is empty, so that it fits on every tag.
    private static func clearsTag(_ call: CallInfo) -> Bool {
        let text = call.node.arguments.first?.expression.trimmedDescription ?? ""
        return text.contains("records: []") || text.contains("format: .empty")
    }
}
