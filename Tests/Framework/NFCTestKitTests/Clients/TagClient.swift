// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// A client of tag sessions. It waits for one tag, runs its commands, and searches again after the tag was lost.
///
/// It can have those bugs of ``Bug`` that concern the lifetime of a session.
class TagClient: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the main queue after the start.

    /// The client's own errors.
    enum Failure: Error {
        case wrongTag, refused, damaged
    }

    let bug: Bug
    private let polling: NFCTagReaderSession.PollingOption
    private var session: NFCTagReaderSession?
    private var itself: TagClient?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?
    private var onEnd: (() -> Void)?

    init(_ polling: NFCTagReaderSession.PollingOption, bug: Bug) {
        self.polling = polling
        self.bug = bug
    }

    /// What is done with a tag; a subclass does it.
    @MainActor func work(with tag: NFCTag) async throws -> String { throw Failure.wrongTag }

    /// Scans, as the test's flow; time passes to the session's limit at once.
    func scan(_ field: TestField) async throws -> String {
        async let result = field.completion("scan") { self.start($0) }
        await field.wait(for: .seconds(70))
        return try await result.get()
    }

    func start(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion = completion
        itself = self
        session = NFCTagReaderSession(pollingOption: polling, delegate: self, queue: .main)
        session?.alertMessage = "Hold the card near the phone."
        if bug == .retainsItself { onEnd = { self.itself = nil } }
        session?.begin()
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let tag = tags.first, tags.count == 1 || bug == .takesFirst else {
            session.alertMessage = "Hold one card alone near the phone."
            return bug == .noRestartAfterSeveral ? () : restart(session)
        }
        Task { @MainActor in await attend(to: tag, session) }
    }

    @MainActor private func attend(to tag: NFCTag, _ session: NFCTagReaderSession) async {
        do {
            try await session.connect(to: tag)
            let text = try await work(with: tag)
            session.alertMessage = "Done."
            session.invalidate()
            finish(.success(text))
        } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
            session.alertMessage = "Hold the card still."
            if bug != .noRestartAfterLoss { restart(session) }
        } catch {
            fail(error, session)
        }
    }

    private func restart(_ session: NFCTagReaderSession) {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
    }

    private func fail(_ error: any Error, _ session: NFCTagReaderSession) {
        switch bug {
        case .neverInvalidates: break
        case .silentEnd: session.invalidate()
        default: session.invalidate(errorMessage: "That did not work. Try again.")
        }
        if bug == .neverCompletes { completion = nil }
        finish(.failure(error))
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        self.session = nil
        onEnd?()
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        completion?(result)
        if bug != .completesTwice { completion = nil }
    }
}
