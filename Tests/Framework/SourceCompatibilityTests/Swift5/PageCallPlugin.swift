// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A plugin that lets a web page scan: it begins the session, and only then stores the page's call. It answers the call
// when the session has become active, and sends the messages as events.

public class PageCallPlugin: NSObject, NFCNDEFReaderSessionDelegate {
    private var pendingCall: ((String) -> Void)?
    private var pendingSession: NFCNDEFReaderSession?
    var onEvent: ((String) -> Void)?

    func startScanning(_ call: @escaping (String) -> Void) {
        guard NFCNDEFReaderSession.readingAvailable else { return call("unavailable") }
        let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        session.alertMessage = "Hold your phone near the poster."
        session.begin()
        pendingSession = session
        pendingCall = call
    }

    func stopScanning() {
        pendingSession?.invalidate()
        pendingSession = nil
    }

    public func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {
        guard session === pendingSession else { return }
        pendingCall?("scanning")
        pendingCall = nil
    }

    public func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        for record in messages.flatMap({ $0.records }) {
            onEvent?(record.wellKnownTypeURIPayload()?.absoluteString ?? "another record")
        }
    }

    public func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: Error) {
        pendingCall?(error.localizedDescription)
        pendingCall = nil
        onEvent?("ended")
    }
}
