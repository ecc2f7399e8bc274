// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let mainActorDelegate = Rule(
        id: "SRC033",
        severity: .error,
        title: "A delegate on the main actor is called on another queue",
        why: """
            If queue is nil, callbacks run on the session's own queue. On iOS 26, the app crashes if the delegate is \
            isolated to the main actor.
            """,
        fix: "Pass .main as the queue, or make the callbacks nonisolated.",
        bad: [
            .swift(
                """
                @MainActor
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                    }
                }
                """
            )
        ],
        good: [
            .swift(
                """
                @MainActor
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: true) }
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                    }
                }
                """
            ),
            .swift(
                """
                @MainActor
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    nonisolated func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                    }
                }
                """
            ),
        ],
        check: { unit, findings in
            for delegate in unit.ownDelegates
            where unit.index.types[delegate.type]?.marks.contains("@MainActor") == true {
                let isBound = delegate.callbacks.contains { !unit.index.functions[$0].marks.contains("nonisolated") }
                guard isBound else { continue }
                for creation in unit.creations(for: delegate) where creation.hasOwnQueue && creation.kind != .payment {
                    guard creation.delegate?.words == "self" else { continue }
                    let text =
                        "\(delegate.type) is isolated to the main actor, but its callbacks run on the session's queue."
                    findings.add(unit.place(creation.call.node, creation.function), text)
                }
            }
        }
    )
}
