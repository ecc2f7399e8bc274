// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A delegate that hands tags to a task.

final class TaskReader: NSObject, NFCTagReaderSessionDelegate {
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        nonisolated(unsafe) let tags = tags
        nonisolated(unsafe) let session = session
        Task {
            guard let first = tags.first, case .miFare(let tag) = first else { return }
            try await session.connect(to: first)
            let answer = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 4]))
            session.alertMessage = "\(answer.count) bytes"
            session.invalidate()
        }
    }
}

final class MessageTaskReader: NSObject, NFCNDEFReaderSessionDelegate {
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let first = tags.first else { return }
        nonisolated(unsafe) let tag = first
        nonisolated(unsafe) let session = session
        Task {
            try await session.connect(to: tag)
            let message = try await tag.readNDEF()
            session.alertMessage = "\(message.records.count) records"
        }
    }
}
