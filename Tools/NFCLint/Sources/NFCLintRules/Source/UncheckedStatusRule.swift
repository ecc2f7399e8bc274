// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A tag is written without checking its status.
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
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        let tag = tags[0]
                        session.connect(to: tag) { _ in
                            tag.writeNDEF(self.message) { _ in session.invalidate() }
                        }
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
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        let tag = tags[0]
                        session.connect(to: tag) { _ in
                            tag.queryNDEFStatus { status, capacity, _ in
                                guard status == .readWrite, self.message.length <= capacity else { return session.invalidate() }
                                tag.writeNDEF(self.message) { _ in session.invalidate() }
                            }
                        }
                    }
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
                let compares: Set<String> = ["readWrite", "readOnly", "notSupported"]
                if !unit.mentions(connected, ["queryNDEFStatus"]) {
                    if isAnywhere {
                        let text = """
                            \(call.name) is called here, and queryNDEFStatus elsewhere. Unconfirmed: queryNDEFStatus \
                            may not be called first.
                            """
                        findings.add(place, text, severity: .info, isProven: false)
                    } else {
                        findings.add(place, "\(call.name) is called without queryNDEFStatus before it.")
                    }
                } else if !unit.mentions(connected, compares) {
                    findings.add(
                        place,
                        "\(call.name) is called, but the tag's status is not compared with readWrite."
                    )
                }
            }
        }
    )
}
