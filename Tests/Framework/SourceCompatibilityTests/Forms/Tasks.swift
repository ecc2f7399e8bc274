// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

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
