// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A connection that asks a tag whether it is available: before it connects, before each command, and then twice a second
// until the tag has left. It looks for the next tag when this one is not available.

class AvailabilityWatcher: NSObject, NFCTagReaderSessionDelegate {
    private var session: NFCTagReaderSession?
    private let report: (String) -> Void

    init(report: @escaping (String) -> Void) {
        self.report = report
    }

    func start() {
        session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
        session?.begin()
    }

    func stop() {
        session?.invalidate()
        session = nil
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
        report("ended")
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard case .miFare(let tag)? = tags.first, tag.isAvailable else {
            report("not available")
            return session.restartPolling()
        }
        session.connect(to: .miFare(tag)) { [self] error in
            guard error == nil, session.connectedTag?.isAvailable == true, tag.isAvailable else {
                report("not connected")
                return session.restartPolling()
            }
            tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04])) { [self] data, error in
                report(error == nil && data.count == 16 ? "read" : "not read")
                watch(tag)
            }
        }
    }

    private func watch(_ tag: NFCMiFareTag) {
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { [self] in
            if tag.isAvailable { return watch(tag) }
            report("gone")
            session?.restartPolling()
        }
    }
}
