// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// Several tags are answered with a text alone.
    static let src030 = Rule(
        id: "SRC030",
        severity: .error,
        title: "Several tags are answered with a text alone",
        why: """
            After tags were found, polling stops. Without restartPolling() the sheet asks for one tag and never \
            reads it.
            """,
        fix: "Call restartPolling(), after half a second, or invalidate the session.",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        if tags.count > 1 {
                            session.alertMessage = "Hold one badge only."
                            return
                        }
                        session.invalidate()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        if tags.count > 1 {
                            session.alertMessage = "Hold one badge only."
                            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500), execute: {})
                            return
                        }
                        session.invalidate()
                    }
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
                        if tags.count > 1 {
                            session.alertMessage = "Hold one badge only."
                            session.restartPolling()
                            return
                        }
                        session.invalidate()
                    }
                }
                """
            )
        ],
        check: { unit, findings in
            for (number, end) in HangingPaths(unit).ends where end.setsText && end.isForSeveral {
                findings.add(
                    unit.place(end.node, number),
                    "With several tags the text is changed, and polling is not restarted: nothing is read any more."
                )
            }
        }
    )
}
