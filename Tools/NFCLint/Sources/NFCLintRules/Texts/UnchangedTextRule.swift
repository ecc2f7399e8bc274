// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unchangedText = Rule(
        id: "TXT008",
        severity: .warning,
        title: "The session scans several tags without changing its text",
        why: "If a session continues, people notice a successful scan only when the text changes.",
        fix: "Set alertMessage after each scan.",
        bad: [
            .delegate(
                """
                func scan() {
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    session?.alertMessage = "Hold your iPhone near a badge."
                    session?.begin()
                }
                func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                    show(messages)
                }
                """
            )
        ],
        good: [
            .delegate(
                """
                func scan() {
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    session?.alertMessage = "Hold your iPhone near a badge."
                    session?.begin()
                }
                func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                    session.alertMessage = "Hold your iPhone near the next badge."
                }
                """
            ),
            .delegate(
                """
                func scan() {
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    session?.alertMessage = "Hold your iPhone near a badge."
                    session?.begin()
                }
                func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                    session.invalidate()
                }
                """
            ),
        ],
        check: { unit, findings in
            for delegate in unit.ownDelegates where delegate.tags.isEmpty && !delegate.messages.isEmpty {
                let creations = unit.creations(for: delegate).filter { $0.kind == .ndef }
                guard creations.contains(where: { $0.call.argument("invalidateAfterFirstRead")?.words == "false" })
                else { continue }
                for number in delegate.messages {
                    let reached = unit.index.reach(number)
                    let ends = unit.calls(reached, ["invalidate"])
                    let changes = reached.contains { function in
                        unit.index.functions[function].assignments.contains { $0.name == "alertMessage" }
                    }
                    guard !ends, !changes, unit.index.functions[number].statements?.isEmpty == false else { continue }
                    findings.add(
                        unit.place(number),
                        "The session continues after a message, but its text never changes."
                    )
                }
            }
        }
    )
}
