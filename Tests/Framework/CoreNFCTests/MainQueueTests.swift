// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import Glibc
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// Checks how long a session that has read its one message waits for the main queue, on which the app may still set
/// the sheet's text.
///
/// Each test has a process of its own, because a process has one main queue, and what is known of it stays.
@Suite(.timeLimit(.minutes(5))) struct `The end of a session with one message` {
    /// Something that keeps the main queue busy until it is ended.
    private struct BusyMainQueue {
        private let isBusy = Locked(true)

        init() {
            DispatchQueue.main.async { [isBusy] in
                while isBusy.withLock({ $0 }) { usleep(1000) }
            }
        }

        /// Waits until all is done that the queue had to do.
        func end() async {
            isBusy.withLock { $0 = false }
            await settles(.main)
        }
    }

    /// Waits until all is done that a queue has to do, and what that puts on the queue.
    private static func settles(_ queue: DispatchQueue) async {
        for _ in 0..<2 { await withCheckedContinuation { done in queue.async { done.resume() } } }
    }

    /// A session that has given its delegate the message of a tag.
    ///
    /// - Parameters:
    ///   - text: what the delegate sets as the sheet's text, on the main queue; nil for none.
    ///   - body: gets the session after what its queue had to do.
    private static func read(
        setting text: String? = nil,
        _ body: (VirtualFieldScope, NFCNDEFReaderSession) async throws -> Void
    ) async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = PatientDelegate(text)
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextMessages()?.count == 1)
            await settles(session.sessionQueue)
            try await body(field, session)
            #expect(await events.end()?.code == .readerSessionInvalidationErrorFirstNDEFTagRead)
            #expect(field.sheet.history.last { $0.state == .success }?.message == text ?? "")
            withExtendedLifetime(delegate) {}
        }
    }

    @Test(.ownThreads, arguments: [true, false])
    func `comes after a second of a busy main queue, and the next session waits for that queue again`(
        wasServed: Bool
    ) async {
        await #expect(processExitsWith: .success) { [wasServed = wasServed as Bool] in
            // A session that does not end would be waited for.
            alarm(240)
            if wasServed { try await Self.read { _, _ in } }
            let busy = BusyMainQueue()
            for _ in 0..<(wasServed ? 2 : 1) {
                try await Self.read { field, session in
                    field.clock.advance(by: .milliseconds(999))
                    #expect(session.isReady)
                    field.clock.advance(by: .milliseconds(1))
                    #expect(!session.isReady)
                }
            }
            await busy.end()
            for _ in 0..<2 { try await Self.read(setting: "Done.") { _, _ in } }
        }
    }

    @Test(.ownThreads) func `comes at once where the main queue has not been served before`() async {
        await #expect(processExitsWith: .success) {
            alarm(240)
            let busy = BusyMainQueue()
            try await Self.read { field, _ in field.clock.advance(by: .seconds(1)) }
            try await Self.read { _, session in #expect(!session.isReady) }
            await busy.end()
        }
    }
}

/// Sets the sheet's text on the main queue, when all is done that the session's queue had to do meanwhile.
private final class PatientDelegate: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    private let text: String?

    init(_ text: String?) { self.text = text }

    override func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        super.readerSession(session, didDetectNDEFs: messages)
        guard let text else { return }
        let carried = Carried(session: session)
        DispatchQueue.main.async {
            // The first of the two is done after this callback, and the second one after what came of it.
            for _ in 0..<2 { carried.session.sessionQueue.sync {} }
            carried.session.alertMessage = text
        }
    }

    /// Sendable because a session's text may be set on any thread.
    private struct Carried: @unchecked Sendable {
        let session: NFCNDEFReaderSession
    }
}
