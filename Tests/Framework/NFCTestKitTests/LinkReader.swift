// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// A client that reads the link of a tag, with completion handlers as apps have them.
final class LinkReader: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.

    private let queue: DispatchQueue?
    private let read: @Sendable (LinkReader) -> Void
    private var session: NFCNDEFReaderSession?
    private var tag: (any NFCNDEFTag)?
    private var itself: LinkReader?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?
    /// The fields that the delegate's methods and completion handlers ran in.
    private(set) var fields: [TestField?] = []

    /// - Parameters:
    ///   - queue: the session's queue.
    ///   - read: called when a tag was found, in the delegate's method; it calls ``readLink()``, or has it called.
    init(queue: DispatchQueue? = nil, read: @escaping @Sendable (LinkReader) -> Void = { $0.readLink() }) {
        self.queue = queue
        self.read = read
    }

    func begin(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: queue, invalidateAfterFirstRead: false)
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        fields.append(TestField.current)
        tag = tags.first
        read(self)
    }

    /// Reads the link, and ends the session.
    func readLink() {
        guard let session, let tag else { return }
        session.connect(to: tag) { [self] error in
            fields.append(TestField.current)
            if let error { return finish(.failure(error)) }
            tag.readNDEF { [self] message, error in
                fields.append(TestField.current)
                guard let link = message?.records.first?.wellKnownTypeURIPayload()?.absoluteString else {
                    return finish(.failure(error ?? CocoaError(.formatting)))
                }
                finish(.success(link))
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        self.session = nil
        tag = nil
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        guard let completion else { return }
        self.completion = nil
        switch result {
        case .success: session?.invalidate()
        case .failure: session?.invalidate(errorMessage: "Hold the card still, and try again.")
        }
        completion(result)
    }
}
