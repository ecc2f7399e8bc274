// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let missingErrorSymbol = Rule(
        id: "SRC015",
        severity: .info,
        title: "The sheet does not show the error symbol",
        why: """
            If the delegate of an NDEF session does not implement didDetect for tags, invalidate(errorMessage:) shows \
            the text without the error symbol.
            """,
        fix: "If the symbol matters, implement readerSession(_:didDetect:).",
        bad: [
            .delegate(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                    session.invalidate(errorMessage: "The badge is empty.")
                }
                """
            )
        ],
        good: [
            .detecting(
                """
                session.invalidate(errorMessage: "The badge is empty.")
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
                        """
                        The sheet does not show the error symbol, because the delegate does not implement didDetect \
                        for tags.
                        """
                    )
                }
            }
        }
    )
}
