// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation

/// Scans cards for messages. It is the delegate of a new session for each scan.
final class Scanner: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    /// The sheet's text after a message, and whether the scan continues.
    enum Answer: Sendable {
        /// The scan continues, unless it is for one message.
        case continues(String)
        case done(String)
        /// The scan ends, and the sheet shows that it has failed.
        case failed(String)
    }

    typealias Handler = @MainActor ([NFCNDEFMessage]) -> Answer

    private let handle: Handler
    private let ends: AsyncStream<NFCReaderError>.Continuation

    private init(handle: @escaping Handler, ends: AsyncStream<NFCReaderError>.Continuation) {
        self.handle = handle
        self.ends = ends
    }

    /// Scans until the first message, or until `handle` ends the scan.
    ///
    /// - Parameters:
    ///   - prompt: the sheet's text.
    ///   - readsMany: whether to continue after the first message.
    ///   - begun: called with the session, which it may end.
    ///   - handle: called with the messages as they are found. The sheet shows its answer.
    /// - Returns: why the session ended.
    @MainActor
    static func scan(
        prompt: String,
        readsMany: Bool,
        begun: (NFCNDEFReaderSession) -> Void,
        handle: @escaping Handler
    ) async -> NFCReaderError {
        let (stream, ends) = AsyncStream.makeStream(of: NFCReaderError.self)
        // The session holds its delegate weakly.
        let scanner = Scanner(handle: handle, ends: ends)
        // The interface offers this only if the machine has a reader. nfclint:disable SRC001
        let session = NFCNDEFReaderSession(delegate: scanner, queue: nil, invalidateAfterFirstRead: !readsMany)
        session.alertMessage = prompt
        session.begin()
        begun(session)
        var end = NFCReaderError(.readerSessionInvalidationErrorUserCanceled)
        for await error in stream { end = error }
        return withExtendedLifetime(scanner) { end }
    }

    // MARK: NFCNDEFReaderSessionDelegate

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        nonisolated(unsafe) let found = messages  // The session has passed them on, and does not use them any more.
        // This is the session's own queue, for which the main thread never waits.
        switch DispatchQueue.main.sync(execute: { MainActor.assumeIsolated { handle(unsafe found) } }) {
        case .continues(let text): session.alertMessage = text
        case .done(let text):
            session.alertMessage = text
            session.invalidate()
        // The text is clear without the symbol. nfclint:disable SRC015
        case .failed(let text): session.invalidate(errorMessage: text)
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        // The framework reports nothing else.
        if let error = error as? NFCReaderError { ends.yield(error) }
        ends.finish()
    }
}
