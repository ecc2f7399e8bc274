// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// Writes a message to one card.
final class MessageWriter: NSObject, NFCNDEFReaderSessionDelegate {
    private let message: NFCNDEFMessage
    private var waiter: CheckedContinuation<Void, any Error>?
    /// What happened to the card; nil until then.
    private var result: Result<Void, any Error>?

    init(_ message: NFCNDEFMessage) { self.message = message }

    /// Writes the message, or throws the reason why it was not written.
    func write() async throws {
        guard NFCNDEFReaderSession.readingAvailable else { throw CardProblem(text: "There is no reader.") }
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
        session.alertMessage = "Hold the card near the reader to save the message on it."
        try await withCheckedThrowingContinuation { continuation in
            waiter = continuation
            session.begin()
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            session.alertMessage = "More than one card was found. Please remove all but one."
            DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
            return
        }
        Task {
            do {
                try await write(to: tag, in: session)
                result = .success(())
                session.alertMessage = "The message is saved on the card."
                session.invalidate()
            } catch let problem as CardProblem {
                result = .failure(problem)
                session.invalidate(errorMessage: problem.text)
            } catch {
                result = .failure(error)
                session.invalidate(errorMessage: "The card moved too early. Please hold it still and try again.")
            }
        }
    }

    private func write(to tag: any NFCNDEFTag, in session: NFCNDEFReaderSession) async throws {
        try await session.connect(to: tag)
        let (status, capacity) = try await tag.queryNDEFStatus()
        guard status == .readWrite else {
            throw CardProblem(text: "This card can't be changed. Please use another one.")
        }
        guard message.length <= capacity else {
            throw CardProblem(text: "The message has \(message.length) bytes, but this card has room for \(capacity).")
        }
        try await tag.writeNDEF(message)
    }

    /// Required, but never called: this delegate receives tags instead.
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        waiter?.resume(with: result ?? .failure(error))
        waiter = nil
    }
}
