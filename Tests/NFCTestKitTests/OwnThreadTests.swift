// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// A client that ends its session from a thread of its own, a moment after something failed.
private final class ThreadedReader: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.
    private var session: NFCNDEFReaderSession?
    private var completion: (@Sendable (Bool) -> Void)?
    private var hasRead = false

    func begin(_ completion: @escaping @Sendable (Bool) -> Void) {
        self.completion = completion
        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        session?.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { [self] error in
            if error != nil { return fail() }
            tag.readNDEF { [self] _, error in
                if error != nil { return fail() }
                hasRead = true
                session.invalidate()
            }
        }
    }

    private func fail() {
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: 0.1)
            session?.invalidate(errorMessage: "Hold the card still, and try again.")
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        completion?(hasRead)
        completion = nil
        self.session = nil
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A thread that a run begins` {
    @Test func `Is waited for while it sleeps`() async throws {
        let report = try await explore(.losses, near: PlantedBug.link) { field in
            let reader = ThreadedReader()
            let hasRead = try await field.completion { reader.begin($0) }
            if !hasRead { throw CancellationError() }
        }
        #expect(report.runs > 5)
    }
}
