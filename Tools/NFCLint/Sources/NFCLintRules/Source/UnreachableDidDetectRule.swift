// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unreachableDidDetect = Rule(
        id: "SRC027",
        severity: .info,
        title: "didDetectNDEFs never runs because didDetect exists for tags",
        why: "If the delegate implements readerSession(_:didDetect:), didDetectNDEFs receives no messages.",
        fix: "Move the code to didDetect, and leave the body empty.",
        bad: [
            .delegate(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    session.invalidate()
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
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    session.invalidate()
                }
                func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                    fatalError("not called")
                }
                """
            )
        ],
        check: { unit, findings in
            let ignored: Set<String> = ["fatalError", "assertionFailure", "preconditionFailure"]
            for delegate in unit.ownDelegates {
                guard delegate.tags.contains(where: { unit.index.functions[$0].name == "readerSession" }) else {
                    continue
                }
                for number in delegate.messages {
                    let function = unit.index.functions[number]
                    let calls = function.calls.filter { !ignored.contains($0.name) && !Names.isQuiet($0.name) }
                    guard !calls.isEmpty || !function.assignments.isEmpty else { continue }
                    findings.add(
                        unit.place(number),
                        "This never runs, because the delegate implements readerSession(_:didDetect:)."
                    )
                }
            }
        }
    )
}
