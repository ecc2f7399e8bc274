// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// Closures and tasks that capture sessions, tags and messages. In Swift 6 mode such code imports the framework with
// @preconcurrency.

class CapturingReader: NSObject, NFCNDEFReaderSessionDelegate {
    var session: NFCNDEFReaderSession?
    var message: NFCNDEFMessage?

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: Error) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        DispatchQueue.main.async { session.alertMessage = "\(messages.count)" }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            DispatchQueue.global().asyncAfter(
                deadline: .now() + .milliseconds(500),
                execute: {
                    session.restartPolling()
                }
            )
            return
        }
        session.connect(to: tag) { error in
            guard error == nil else { return session.invalidate(errorMessage: "Unable to connect to tag.") }
            tag.queryNDEFStatus { status, capacity, _ in
                guard status == .readWrite else { return session.invalidate() }
                tag.readNDEF { message, _ in
                    session.alertMessage = "\(message?.length ?? 0) of \(capacity)"
                    session.invalidate()
                }
            }
        }
    }
}

class CapturingCardReader: NSObject, NFCTagReaderSessionDelegate {
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let first = tags.first, case let .iso7816(card) = first else { return session.restartPolling() }
        session.connect(to: first) { error in
            guard let apdu = NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 8])), error == nil else { return }
            card.sendCommand(apdu: apdu) { (result: Result<NFCISO7816ResponseAPDU, Error>) in
                guard case .success(let answer) = result else { return session.invalidate() }
                DispatchQueue.main.async { session.alertMessage = "\(answer.payload?.count ?? 0)" }
            }
        }
        let retry = DispatchWorkItem { [weak session] in session?.restartPolling() }
        DispatchQueue.main.asyncAfter(deadline: .now() + 1, execute: retry)
    }
}

// Tasks that read the tags which a delegate was given.

class AwaitingReader: NSObject, NFCNDEFReaderSessionDelegate {
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: Error) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        Task { try await tag.readNDEF() }
        Task {
            try await session.connect(to: tag)
            let (status, capacity) = try await tag.queryNDEFStatus()
            if status == .readWrite { session.alertMessage = "\(capacity) bytes" }
            let message = try await tag.readNDEF()
            await MainActor.run { session.alertMessage = "\(message.records.count) records" }
        }
    }
}
