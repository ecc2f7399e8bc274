// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// The minute of a session begins with it, whatever the session before it showed in the end.
@Suite(.timeLimit(.minutes(10))) struct `A session after another one` {
    private final class Looker: NSObject, NFCNDEFReaderSessionDelegate {
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
    }

    @Test(arguments: [nil, "No."]) func `has not reached its limit when the person cancels it, with a tag`(
        end: String?
    ) async throws {
        let failure = try await `What is checked after a run`.failure(.replay("flip@1"), invariants: [.sessionEnds]) {
            field -> Bool in
            let delegate = Looker()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
            session.begin()
            await field.settle()
            if let end { session.invalidate(errorMessage: end) } else { session.invalidate() }
            await field.wait(for: .seconds(70))
            async let two = field.completion("two") { LinkReader(queue: .main, read: { _ in }).begin($0) }
            try await field.cancelSheet()
            _ = try await two
            withExtendedLifetime(delegate) {}
            return true
        }
        #expect(failure == nil, "\(failure?.description ?? "passed")")
    }
}
