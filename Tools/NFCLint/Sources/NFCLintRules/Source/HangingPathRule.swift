// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A path through a callback leaves the session open without progress.
    static let hangingPath = Rule(
        id: "SRC012",
        severity: .warning,
        title: "A code path in the callback leaves the session hanging",
        why: """
            Polling stops when a tag is found. If a code path does nothing, the sheet stays on the screen until it \
            times out after 60 seconds.
            """,
        fix: "End each code path with invalidate(), invalidate(errorMessage:) or restartPolling().",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        session.connect(to: tags[0]) { error in
                            if let error {
                                print(error)
                                return
                            }
                            session.invalidate()
                        }
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        Task {
                            do {
                                try await session.connect(to: tags[0])
                                session.invalidate()
                            } catch {
                                print(error)
                            }
                        }
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
                        guard let tag = tags.first else { return }
                        session.connect(to: tag) { error in
                            if error != nil {
                                session.invalidate(errorMessage: "The badge was not read.")
                                return
                            }
                            session.invalidate()
                        }
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    var subscription: AnyCancellable?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        Log.reader("found")
                        let badge = tags.first!
                        subscription = session.connectPublisher(badge).sink { [weak self] _ in self?.open(badge) }
                    }
                }
                """
            ),
        ],
        check: { unit, findings in
            for (number, end) in HangingPaths(unit).ends where !(end.setsText && end.isForSeveral) {
                let text =
                    """
                    This code path neither invalidates the session nor restarts polling, so the sheet stays. \
                    Unconfirmed.
                    """
                findings.add(unit.place(end.node, number), text, isProven: false)
            }
        }
    )
}
