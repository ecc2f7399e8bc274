// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(5))) struct `The queue of a session` {
    static let key = DispatchSpecificKey<String>()

    /// A delegate that checks where it is called.
    final class QueueDelegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
        let calls = Locked<[String?]>([])
        let done: AsyncStream<Void>
        private let finish: AsyncStream<Void>.Continuation

        override init() {
            (done, finish) = AsyncStream.makeStream()
        }

        func note() { calls.withLock { $0.append(DispatchQueue.getSpecific(key: key)) } }

        func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { note() }

        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) { note() }

        func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
            note()
            guard let tag = tags.first else { return }
            session.connect(to: tag) { [self] _ in
                note()
                tag.queryNDEFStatus { [self] _, _, _ in
                    note()
                    tag.readNDEF { [self] _, _ in
                        note()
                        session.invalidate()
                    }
                }
            }
        }

        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            note()
            finish.finish()
        }
    }

    @Test(arguments: [true, false])
    func `Every call is made on the queue that was given, or on one of the session's own`(isGiven: Bool) async throws {
        await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = QueueDelegate()
            let queue = isGiven ? DispatchQueue(label: "given") : nil
            let session = NFCNDEFReaderSession(delegate: delegate, queue: queue, invalidateAfterFirstRead: false)
            if let queue { #expect(session.sessionQueue === queue) }
            session.sessionQueue.setSpecific(key: Self.key, value: "session")
            session.begin()
            for await _ in delegate.done {}
            #expect(delegate.calls.withLock { $0 } == [String?](repeating: "session", count: 6))
        }
    }

    @Test func `A delegate is held weakly, and a session without one still ends`() async throws {
        try await withVirtualField { field in
            weak var gone: MessageDelegate?
            let session: NFCNDEFReaderSession
            do {
                let delegate = MessageDelegate()
                gone = delegate
                session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
                session.begin()
            }
            #expect(session.isReady)
            field.clock.advance(by: .seconds(60))
            try await field.untilIdle()
            session.sessionQueue.sync {}
            #expect(!session.isReady)
            #expect(gone == nil)
            #expect(session.delegate == nil)
        }
    }
}
