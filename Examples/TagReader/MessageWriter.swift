// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation

/// Writes one message to a card, as the delegate of a session that reports tags, not messages.
final class MessageWriter: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    /// How a write ended.
    enum Result: Sendable, Equatable {
        case written
        case failed(String)
        /// The session ended before a card was found.
        case ended(NFCReaderError.Code, alert: String?)
    }

    private let message: NFCNDEFMessage
    private let results: AsyncStream<Result>.Continuation

    private init(message: NFCNDEFMessage, results: AsyncStream<Result>.Continuation) {
        self.message = message
        self.results = results
    }

    /// Writes a message to the next card.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - prompt: the sheet's text.
    ///   - begun: called with the session, which it may end.
    @MainActor
    static func write(
        _ message: NFCNDEFMessage,
        prompt: String,
        begun: (NFCNDEFReaderSession) -> Void
    ) async -> Result {
        let (stream, results) = AsyncStream.makeStream(of: Result.self)
        // The session holds its delegate weakly.
        let writer = MessageWriter(message: message, results: results)
        // The interface offers this only if the machine has a reader. nfclint:disable SRC001
        let session = NFCNDEFReaderSession(delegate: writer, queue: nil, invalidateAfterFirstRead: false)
        session.alertMessage = prompt
        session.begin()
        begun(session)
        var first: Result?
        for await result in stream { first = first ?? result }
        return withExtendedLifetime(writer) {
            first ?? .ended(.readerSessionInvalidationErrorUserCanceled, alert: nil)
        }
    }

    // MARK: NFCNDEFReaderSessionDelegate

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            session.alertMessage = Wording.moreThanOne
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) {
                session.restartPolling()
            }
            return
        }
        session.connect(to: tag) { error in
            if error != nil { return self.fail(session, Wording.cannotConnect) }
            tag.queryNDEFStatus { status, capacity, error in
                if error != nil { return self.fail(session, Wording.unknownStatus) }
                self.write(to: tag, status: status, capacity: capacity, in: session)
            }
        }
    }

    /// The protocol requires this method. It is not called for a delegate that receives tags.
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        if let error = error as? NFCReaderError {
            results.yield(.ended(error.code, alert: Wording.alert(for: error)))
        }
        results.finish()
    }

    // MARK: The card

    private func write(
        to tag: any NFCNDEFTag,
        status: NFCNDEFStatus,
        capacity: Int,
        in session: NFCNDEFReaderSession
    ) {
        // On this platform the compiler knows all cases. nfclint:disable SRC020
        switch status {
        case .notSupported:
            fail(session, Wording.notSupported)
        case .readOnly:
            fail(session, Wording.readOnly)
        case .readWrite where message.length > capacity:
            fail(session, Wording.tooSmall(needs: message.length, capacity: capacity))
        case .readWrite:
            tag.writeNDEF(message) { error in
                if let error { return self.fail(session, Self.text(for: error)) }
                self.results.yield(.written)
                session.alertMessage = Wording.written
                session.invalidate()
            }
        }
    }

    private func fail(_ session: NFCNDEFReaderSession, _ text: String) {
        results.yield(.failed(text))
        session.invalidate(errorMessage: text)
    }

    private static func text(for error: any Error) -> String {
        switch (error as? NFCReaderError)?.code {
        case .readerTransceiveErrorTagConnectionLost: Wording.connectionLost
        case .ndefReaderSessionErrorTagNotWritable: Wording.readOnly
        default: Wording.writeFailed
        }
    }
}
