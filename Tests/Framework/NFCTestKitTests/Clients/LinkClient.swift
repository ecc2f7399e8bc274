// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// A client of NDEF sessions, as apps have one for all their scans: it reads a link and writes another, with async calls around
/// completion handlers.
final class LinkClient: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the main queue after the start.

    enum Failure: Error {
        case readOnly, empty
    }

    private let link: String
    private let bug: Bug
    private var session: NFCNDEFReaderSession?
    /// A session holds its delegate weakly: the client holds itself until the session ends.
    private var itself: LinkClient?
    private var continuation: CheckedContinuation<String, any Error>?

    init(_ link: String, bug: Bug = .none) {
        self.link = link
        self.bug = bug
    }

    /// Reads the link of a tag and writes the client's own.
    func scan() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.main.async { self.start(continuation) }
        }
    }

    private func start(_ continuation: CheckedContinuation<String, any Error>) {
        if bug == .keepsStateOnCancel, session != nil { return }
        self.continuation = continuation
        itself = self
        // The main queue is that of other tests too: it is not blocked.
        let queue = bug == .blocksQueue ? DispatchQueue(label: "app.nfc.link") : .main
        session = NFCNDEFReaderSession(delegate: self, queue: queue, invalidateAfterFirstRead: false)
        session?.alertMessage = "Hold the card near the phone."
        session?.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            return session.invalidate(errorMessage: "Hold one card alone near the phone.")
        }
        if bug == .blocksQueue { return readAtOnce(tag, session) }
        session.connect(to: tag) { [self] error in
            if let error { return fail(error) }
            tag.queryNDEFStatus { [self] status, _, error in
                if let error { return fail(error) }
                if status != .readWrite, bug != .ignoresStatus { return fail(Failure.readOnly) }
                exchange(with: tag)
            }
        }
    }

    private func exchange(with tag: any NFCNDEFTag) {
        tag.readNDEF { [self] message, error in
            let record: NFCNDEFPayload?
            if bug == .forcesPayload {
                // swift-format-ignore: NeverForceUnwrap
                record = message!.records[0]
            } else {
                guard let message else { return fail(error ?? Failure.empty) }
                record = message.records.first
            }
            guard let old = record?.wellKnownTypeURIPayload()?.absoluteString,
                let payload = NFCNDEFPayload.wellKnownTypeURIPayload(string: link)
            else { return fail(Failure.empty) }
            tag.writeNDEF(NFCNDEFMessage(records: [payload])) { [self] error in
                if let error { return fail(error) }
                session?.alertMessage = "Done."
                succeed(old)
            }
        }
    }

    /// Waits on the session's queue for what comes on the session's queue.
    private func readAtOnce(_ tag: any NFCNDEFTag, _ session: NFCNDEFReaderSession) {
        let isConnected = DispatchSemaphore(value: 0)
        session.connect(to: tag) { _ in isConnected.signal() }
        isConnected.wait()
        exchange(with: tag)
    }

    private func succeed(_ old: String) {
        if bug == .invalidatesFirst {
            // The delegate hears of the end before the result is handed over.
            session?.invalidate()
            return DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(100)) { self.finish(.success(old)) }
        }
        finish(.success(old))
        session?.invalidate()
        session = nil
    }

    private func fail(_ error: any Error) {
        session?.invalidate(errorMessage: "That did not work. Try again.")
        if bug == .resumesTwice {
            continuation?.resume(throwing: error)
            return
        }
        finish(.failure(error))
        if bug == .keepsStateOnCancel { session = nil }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        if bug != .keepsStateOnCancel { self.session = nil }
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}
