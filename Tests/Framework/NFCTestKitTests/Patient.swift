// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// A client that writes a link with async calls, and looks for the tag again when it was lost or is not alone.
final class Patient: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.
    private let link: String
    private var completion: (@Sendable (Result<Void, any Error>) -> Void)?
    private var itself: Patient?

    init(_ link: String) { self.link = link }

    static func write(_ link: String, _ field: TestField) async throws {
        let result: Result<Void, any Error> = try await field.completion("write") { Patient(link).start($0) }
        try result.get()
    }

    /// Writes while the field's time passes: the session's limit of 60 seconds is met at once.
    static func writeOrLimit(_ link: String, _ field: TestField) async throws {
        async let end: Void = write(link, field)
        await field.wait(for: .seconds(70))
        try await end
    }

    func start(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
        session.alertMessage = "Hold the card near the phone."
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            session.alertMessage = "Hold one card alone near the phone."
            return again(session)
        }
        session.connect(to: tag) { [self] error in
            if let error { return failed(error, session) }
            tag.queryNDEFStatus { [self] status, _, error in
                if let error { return failed(error, session) }
                guard status == .readWrite, let payload = NFCNDEFPayload.wellKnownTypeURIPayload(string: link) else {
                    return session.invalidate(errorMessage: "This card can't be written.")
                }
                tag.writeNDEF(NFCNDEFMessage(records: [payload])) { [self] error in
                    if let error { return failed(error, session) }
                    session.alertMessage = "Done."
                    session.invalidate()
                    finish(.success(()))
                }
            }
        }
    }

    private func failed(_ error: any Error, _ session: NFCNDEFReaderSession) {
        session.alertMessage = "Hold the card still."
        again(session)
    }

    private func again(_ session: NFCNDEFReaderSession) {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        itself = nil
    }

    private func finish(_ result: Result<Void, any Error>) {
        completion?(result)
        completion = nil
    }
}
