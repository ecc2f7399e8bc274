// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A session begins while another one runs.
    static let src007 = Rule(
        id: "SRC007",
        severity: .warning,
        title: "A session begins while another one runs",
        why: """
            There is one session at a time in the whole system. A second one waits or ends with 203 while the \
            sheet of the first is there.
            """,
        fix: "Invalidate the first session, and begin the next one some seconds after didInvalidateWithError.",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        guard NFCNDEFReaderSession.readingAvailable else { return }
                        session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                        session?.alertMessage = "Hold your iPhone near the badge."
                        session?.begin()
                    }
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        scan()
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
                    func scan() {
                        guard NFCNDEFReaderSession.readingAvailable else { return }
                        session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                        session?.alertMessage = "Hold your iPhone near the badge."
                        session?.begin()
                    }
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        session.invalidate()
                    }
                }
                """
            )
        ],
        check: { unit, findings in
            for delegate in unit.ownDelegates {
                for number in delegate.tags + delegate.messages {
                    let function = unit.index.functions[number]
                    guard !unit.calls([number], ["invalidate"]) else { continue }
                    for call in function.calls {
                        let targets = call.name == "begin" ? [] : unit.index.targets(of: call, in: function)
                        let isDirect = unit.sessions.begins.contains {
                            $0.function == number && $0.call.node.id == call.node.id
                        }
                        let begins = targets.contains { target in
                            unit.sessions.begins.contains { $0.function == target }
                                && !unit.calls([target], ["invalidate"])
                        }
                        guard isDirect || begins else { continue }
                        findings.add(
                            unit.place(call.node, number),
                            "A session begins in a callback of another one, which is not invalidated."
                        )
                        break
                    }
                }
                for number in delegate.invalidation {
                    let function = unit.index.functions[number]
                    for call in function.calls
                    where !call.context.contains(where: {
                        $0.contains("asyncAfter") || $0.contains("Timer") || $0.hasPrefix("Task")
                    }) {
                        let isDirect = unit.sessions.begins.contains {
                            $0.function == number && $0.call.node.id == call.node.id
                        }
                        let begins = unit.index.targets(of: call, in: function).contains { target in
                            unit.sessions.begins.contains { $0.function == target }
                        }
                        guard isDirect || begins else { continue }
                        let text =
                            "A session begins while the sheet of the last one is still leaving, which can end with 203."
                        findings.add(unit.place(call.node, number), "\(text) Not proven.", isProven: false)
                        break
                    }
                }
            }
        }
    )
}
