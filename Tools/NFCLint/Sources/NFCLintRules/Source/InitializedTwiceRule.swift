// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let initializedTwice = Rule(
        id: "SRC039",
        severity: .warning,
        title: "A session is initialized twice",
        why: "new already sends init, so initWith… runs on an object that is initialized, which is undefined.",
        fix: "Send alloc in place of new.",
        bad: [
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession new] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                """
            )
        ],
        good: [
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                """
            )
        ],
        check: { unit, findings in
            for file in unit.objective {
                let twice = file.creations.filter { creation in
                    creation.statement.code.filter { !$0.isWhitespace }.contains("[\(creation.kind)new]init")
                }
                let more = twice.count > 1 ? " So are \(twice.count - 1) more in this file." : ""
                findings.add(twice.first?.statement.place, "new already initializes the session.\(more)")
            }
        }
    )
}
