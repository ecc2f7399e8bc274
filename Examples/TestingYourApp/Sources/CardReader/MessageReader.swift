// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// Scans one card at a time.
final class MessageReader: NSObject, NFCNDEFReaderSessionDelegate {
    /// The message of the last card.
    private(set) var message: NFCNDEFMessage?
    private var waiter: CheckedContinuation<[String], any Error>?

    /// Scans one card, and returns its records in words.
    func scan() async throws -> [String] {
        guard NFCNDEFReaderSession.readingAvailable else { throw CardProblem(text: "There is no reader.") }
        message = nil
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: true)
        session.alertMessage = "Hold the card near the reader to see its message."
        return try await withCheckedThrowingContinuation { continuation in
            waiter = continuation
            session.begin()
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        message = messages.first
        session.alertMessage = "The card was read."
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        // A session for one card ends with an error even after it has read the card.
        waiter?.resume(with: message.map { .success($0.records.map(\.summary)) } ?? .failure(error))
        waiter = nil
    }
}

/// Why a card could not be used, for the user.
struct CardProblem: LocalizedError {
    let text: String
    var errorDescription: String? { text }
}
