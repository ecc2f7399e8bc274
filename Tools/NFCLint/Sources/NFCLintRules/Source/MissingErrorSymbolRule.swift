// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// This kind of session does not draw the error symbol.
    static let missingErrorSymbol = Rule(
        id: "SRC015",
        severity: .info,
        title: "The error symbol is not drawn in this session",
        why: """
            In a session for messages whose delegate has no didDetect for tags, invalidate(errorMessage:) shows \
            the text without the symbol.
            """,
        fix: "Implement readerSession(_:didDetect:) where the symbol matters.",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                        session.invalidate(errorMessage: "The badge is empty.")
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
                        session.invalidate(errorMessage: "The badge is empty.")
                    }
                }
                """
            )
        ],
        check: { unit, findings in
            for delegate in unit.ownDelegates
            where delegate.kinds == [.ndef] && delegate.tags.isEmpty && !delegate.messages.isEmpty {
                let family = unit.index.family(delegate.type)
                for (number, call) in unit.ownCalls(["invalidate"]) where call.argument("errorMessage") != nil {
                    guard family.contains(unit.index.functions[number].owner ?? "") else { continue }
                    findings.add(
                        unit.place(call.node, number),
                        "The error symbol is not drawn here, since the delegate has no didDetect for tags."
                    )
                }
            }
        }
    )
}
