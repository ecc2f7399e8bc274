// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Synchronization

/// An app that lets the session read messages.
final class MessageProbe: NSObject, Probe, NFCNDEFReaderSessionDelegate, Sendable {
    private let session = Mutex<NFCNDEFReaderSession?>(nil)

    func begin() {
        let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        self.session.withLock { $0 = session }
        session.begin()
    }

    func invalidate() { session.withLock { $0 }?.invalidate() }

    func restart() { session.withLock { $0 }?.restartPolling() }

    func perform(_ command: String, _ argument: String) async {}

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { SessionProbe.say("active") }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        for message in messages { SessionProbe.say("message \(message.summary)") }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        SessionProbe.say("ended \(SessionProbe.number(error))")
    }
}
