// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation

/// A client that reads a link and writes another one, with completion handlers as apps have them.
final class Writer: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the main queue, once it has begun.

    /// What is wrong with a client.
    enum Bug: CaseIterable {
        case none
        /// Does not report when a tag can't be read.
        case silentOnLoss
        /// Calls its completion, and does not end the session.
        case sessionLeftOpen
        /// Ends the session without a word on the sheet.
        case noErrorShown
        /// Says that all is well when the write failed.
        case lies
        /// Calls its completion again when the session has ended.
        case completesTwice
    }

    private let link: String
    private let bug: Bug
    private var session: NFCNDEFReaderSession?
    /// A session holds its delegate weakly: the client holds itself until the session ends.
    private var itself: Writer?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?

    init(_ link: String, bug: Bug = .none) {
        self.link = link
        self.bug = bug
    }

    func start(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
        session.alertMessage = "Hold the card near the phone."
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { [self] error in
            if let error { return fail(error) }
            tag.readNDEF { [self] message, error in
                guard let message else { return bug == .silentOnLoss ? () : fail(error) }
                let old = message.records.first?.wellKnownTypeURIPayload()?.absoluteString ?? ""
                guard let payload = NFCNDEFPayload.wellKnownTypeURIPayload(string: link) else { return fail(nil) }
                tag.writeNDEF(NFCNDEFMessage(records: [payload])) { [self] error in
                    if let error, bug != .lies { return fail(error) }
                    session.alertMessage = "Done."
                    session.invalidate()
                    finish(.success(old))
                }
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        itself = nil
    }

    private func fail(_ error: (any Error)?) {
        let error = error ?? CocoaError(.featureUnsupported)
        switch bug {
        case .sessionLeftOpen: break
        case .noErrorShown: session?.invalidate()
        default: session?.invalidate(errorMessage: "Hold the card still, and try again.")
        }
        finish(.failure(error))
    }

    private func finish(_ result: Result<String, any Error>) {
        completion?(result)
        if bug != .completesTwice { completion = nil }
    }
}
