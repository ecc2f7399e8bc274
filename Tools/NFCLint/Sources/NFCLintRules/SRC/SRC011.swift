// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A tag is used before it is connected.
    static let src011 = Rule(
        id: "SRC011",
        severity: .warning,
        title: "A tag is used before it is connected",
        why: """
            Commands to a tag that is not connected fail with code 104. Only APDUs to an ISO 7816 tag are \
            accepted by phones without it.
            """,
        fix: "Call connect(to:) first, and go on when it has no error.",
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
            )
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
                    guard !unit.calls(reached, ["connect"]) else { continue }
                    let command = reached.lazy.compactMap { function -> (Int, CallInfo)? in
                        unit.index.functions[function].calls.first { Names.commands.contains($0.name) }.map {
                            (function, $0)
                        }
                    }.first
                    guard let (function, call) = command else { continue }
                    findings.add(
                        unit.place(call.node, function),
                        "\(call.name) is called, and the tag was not connected."
                    )
                }
            }
        }
    )
}
