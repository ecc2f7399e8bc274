// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// A client of NDEF sessions, as apps have one for all their scans: it reads a link and writes its own, with completion
/// handlers, or with an async call around them.
final class LinkClient: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the session's queue after the start.

    enum Failure: Error {
        case readOnly, empty, busy
    }

    private let link: String
    private let bug: Bug
    private let isPatient: Bool
    private var session: NFCNDEFReaderSession?
    /// A session holds its delegate weakly: the client holds itself until the session ends.
    private var itself: LinkClient?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?

    /// - Parameters:
    ///   - link: what is written.
    ///   - bug: what is wrong with the client.
    ///   - isPatient: whether it only writes, and looks for the tag again when that fails.
    init(_ link: String = newLink, bug: Bug = .none, isPatient: Bool = false) {
        self.link = link
        self.bug = bug
        self.isPatient = isPatient
    }

    /// Reads a link and writes another, as the flow of a test. Time passes as it likes.
    @Sendable static func run(_ field: TestField, _ link: String = newLink, bug: Bug = .none) async throws -> String {
        try await field.completion("write") { LinkClient(link, bug: bug).start($0) }.get()
    }

    /// The same while the field's time passes: the session's limit of 60 seconds is met at once.
    @Sendable static func runToLimit(_ field: TestField) async throws -> String {
        async let result = run(field)
        await field.wait(for: .seconds(70))
        return try await result
    }

    /// Writes with patience, until the session's limit.
    @Sendable static func persist(_ field: TestField, _ link: String = newLink) async throws {
        async let result = field.completion("write") { LinkClient(link, isPatient: true).start($0) }
        await field.wait(for: .seconds(70))
        _ = try await result.get()
    }

    /// Scans with an async call.
    func scan() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.main.async { self.start { continuation.resume(with: $0) } }
        }
    }

    func start(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        if bug == .keepsStateOnCancel, session != nil { return }
        if self.completion != nil, bug != .replacesCompletion { return completion(.failure(Failure.busy)) }
        self.completion = completion
        itself = self
        // The main queue is that of other tests too: it is not blocked.
        let queue = bug == .blocksQueue ? DispatchQueue(label: "app.nfc.link") : .main
        let session = NFCNDEFReaderSession(delegate: self, queue: queue, invalidateAfterFirstRead: false)
        session.alertMessage = "Hold the card near the phone."
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            let text = "Hold one card alone near the phone."
            return isPatient ? retry(session, text) : session.invalidate(errorMessage: text)
        }
        if bug == .blocksQueue { return readAtOnce(tag, session) }
        session.connect(to: tag) { [self] error in
            if let error { return fail(error) }
            tag.queryNDEFStatus { [self] status, _, error in
                if let error { return fail(error) }
                if status != .readWrite, bug != .ignoresStatus { return fail(Failure.readOnly) }
                if isPatient { write(tag, over: "") } else { exchange(with: tag) }
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
            guard let old = record?.wellKnownTypeURIPayload()?.absoluteString else { return fail(Failure.empty) }
            write(tag, over: old)
        }
    }

    private func write(_ tag: any NFCNDEFTag, over old: String) {
        guard let payload = NFCNDEFPayload.wellKnownTypeURIPayload(string: link) else { return fail(Failure.empty) }
        if bug == .saysDoneFirst { session?.alertMessage = "Done." }
        tag.writeNDEF(NFCNDEFMessage(records: [payload])) { [self] error in
            if let error, bug != .ignoresWriteError { return fail(error) }
            session?.alertMessage = "Done."
            succeed(old)
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
        if isPatient, let session, !(error is Failure) { return retry(session, "Hold the card still.") }
        switch bug {
        case .neverInvalidates: break
        case .silentEnd: session?.invalidate()
        default: session?.invalidate(errorMessage: "That did not work. Try again.")
        }
        if bug == .resumesTwice {
            completion?(.failure(error))
            return
        }
        finish(.failure(error))
        if bug == .keepsStateOnCancel { session = nil }
    }

    private func retry(_ session: NFCNDEFReaderSession, _ text: String) {
        session.alertMessage = text
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        if bug == .alertsAtEnd { TestField.current?.showedError("\((error as NSError).code)") }
        finish(.failure(error))
        if bug != .keepsStateOnCancel { self.session = nil }
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        completion?(result)
        if bug != .completesTwice { completion = nil }
    }
}

/// A client that polls again at once whenever it has found a tag.
final class EagerClient: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because it is used on the main queue alone after the start.
    private let completion: @Sendable (any Error) -> Void
    private var session: NFCNDEFReaderSession?
    private var itself: EagerClient?

    private init(_ completion: @escaping @Sendable (any Error) -> Void) { self.completion = completion }

    /// Scans until the session ends, and returns the error of its end.
    @Sendable static func scan(_ field: TestField) async -> any Error {
        do {
            return try await field.completion("scan") { done in
                let client = EagerClient(done)
                client.itself = client
                client.session = .begun(client)
            }
        } catch {
            return error
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) { session.restartPolling() }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        completion(error)
        self.session = nil
        itself = nil
    }
}
