// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation

/// Scans cards for messages, as the delegate of one session after the other.
final class Scanner: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    /// What happens in a scan.
    enum Event: Sendable {
        case messages([NFCNDEFMessage])
        /// The last event.
        case ended(NFCReaderError)
    }

    private let events: AsyncStream<Event>.Continuation
    private let readsMany: Bool

    private init(events: AsyncStream<Event>.Continuation, readsMany: Bool) {
        self.events = events
        self.readsMany = readsMany
    }

    /// Scans until the first message, or until `handle` has had enough.
    ///
    /// - Parameters:
    ///   - prompt: what the sheet says.
    ///   - readsMany: goes on after the first message.
    ///   - begun: is given the session, which it may end.
    ///   - handle: is given the messages as they are found; returns false to end the session.
    /// - Returns: why the session ended.
    static func scan(
        prompt: String,
        readsMany: Bool,
        begun: (NFCNDEFReaderSession) -> Void,
        handle: ([NFCNDEFMessage]) async -> Bool
    ) async -> NFCReaderError {
        let (stream, events) = AsyncStream.makeStream(of: Event.self)
        // The session holds its delegate weakly.
        let scanner = Scanner(events: events, readsMany: readsMany)
        let session = NFCNDEFReaderSession(delegate: scanner, queue: nil, invalidateAfterFirstRead: !readsMany)
        session.alertMessage = prompt
        session.begin()
        begun(session)
        var end = NFCReaderError(.readerSessionInvalidationErrorUserCanceled)
        for await event in stream {
            switch event {
            case .messages(let messages):
                if await !handle(messages) {
                    session.alertMessage = Wording.found
                    session.invalidate()
                }
            case .ended(let error): end = error
            }
        }
        return withExtendedLifetime(scanner) { end }
    }

    // MARK: NFCNDEFReaderSessionDelegate

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        session.alertMessage = readsMany ? Wording.scanNext : Wording.found
        events.yield(.messages(messages))
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        // The framework reports nothing else.
        if let error = error as? NFCReaderError { events.yield(.ended(error)) }
        events.finish()
    }
}
