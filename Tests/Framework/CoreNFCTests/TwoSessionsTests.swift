// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// Checks what an app hears, and what a person sees, where one session follows another.
@Suite(.timeLimit(.minutes(1))) struct `Two sessions of one app` {
    /// Notes the calls of a session in a log that several sessions share.
    private final class Listener: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
        let name: String
        let log: Locked<[String]>
        /// What the app does when the session has ended.
        let onEnd = Locked<(@Sendable () -> Void)?>(nil)

        init(_ name: String, _ log: Locked<[String]>) { (self.name, self.log) = (name, log) }

        private func note(_ event: String) { log.withLock { $0.append("\(name) \(event)") } }

        func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { note("active") }

        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
            note("messages \(messages.count)")
        }

        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            note("ended \((error as? NFCReaderError)?.errorCode ?? 0)")
            onEnd.withLock { $0.take() }?()
        }
    }

    private static func session(
        _ listener: Listener,
        _ queue: DispatchQueue,
        endsAfterFirst: Bool = false
    ) -> NFCNDEFReaderSession {
        let session = NFCNDEFReaderSession(delegate: listener, queue: queue, invalidateAfterFirstRead: endsAfterFirst)
        session.alertMessage = listener.name
        return session
    }

    @Test func `report on one queue in order, and the text of one never comes on the sheet of the other`() async throws
    {
        try await withVirtualField { field in
            let (log, queue) = (Locked<[String]>([]), DispatchQueue(label: "shared"))
            let (a, b) = (Listener("a", log), Listener("b", log))
            let (first, second) = (Self.session(a, queue), Self.session(b, queue))
            first.begin()
            second.begin()
            second.begin()
            #expect(first.isReady && !second.isReady)
            second.alertMessage = "b waits"
            first.alertMessage = "a works"
            first.invalidate(errorMessage: "a failed")
            first.alertMessage = "a is late"
            #expect(first.alertMessage == "a is late")
            try await waitWhile(!log.withLock { $0 }.contains("b active"))
            #expect(!first.isReady && second.isReady)
            first.alertMessage = "a is too late"
            first.invalidate(errorMessage: "a failed again")
            first.begin()
            second.invalidate()
            second.alertMessage = "b is late"
            try await waitWhile(!log.withLock { $0 }.contains("b ended 200"))
            try await field.untilIdle()
            field.clock.advance(by: .seconds(3))
            queue.sync {}
            #expect(log.withLock { $0 } == ["a active", "a ended 200", "b active", "b ended 200"])
            #expect(
                field.sheet.history.map { "\($0.state): \($0.message)" } == [
                    "ready: a", "ready: a works", "failure: a failed", "dismissed: a failed", "ready: b waits",
                    "success: b waits", "dismissed: b waits",
                ]
            )
            withExtendedLifetime((a, b)) {}
        }
    }

    @Test func `follow each other where the app begins the next one as soon as it hears of the end`() async throws {
        try await withVirtualField { field in
            let (log, queue) = (Locked<[String]>([]), DispatchQueue(label: "shared"))
            let (a, b) = (Listener("a", log), Listener("b", log))
            let (first, second) = (Self.session(a, queue), Self.session(b, queue))
            a.onEnd.withLock { hook in
                hook = {
                    first.begin()
                    second.begin()
                }
            }
            first.begin()
            first.invalidate()
            try await waitWhile(!log.withLock { $0 }.contains("b active"))
            second.invalidate()
            try await waitWhile(!log.withLock { $0 }.contains("b ended 200"))
            #expect(log.withLock { $0 } == ["a active", "a ended 200", "b active", "b ended 200"])
            let states: [SheetState] = [.ready, .success, .dismissed, .ready, .success]
            #expect(field.sheet.history.map(\.state) == states)
            try await field.untilIdle()
            withExtendedLifetime((a, b)) {}
        }
    }

    @Test func `have a minute each, and one that waits for its turn loses nothing of it`() async throws {
        try await withVirtualField { field in
            let (log, queue) = (Locked<[String]>([]), DispatchQueue(label: "shared"))
            let (a, b) = (Listener("a", log), Listener("b", log))
            let (first, second) = (Self.session(a, queue), Self.session(b, queue))
            first.begin()
            second.begin()
            // The looks of the reader take a little time too.
            field.clock.advance(by: .seconds(55))
            #expect(first.isReady && !second.isReady)
            field.clock.advance(by: .seconds(5))
            #expect(!first.isReady)
            try await waitWhile(!second.isReady)
            field.clock.advance(by: .seconds(55))
            #expect(second.isReady)
            field.clock.advance(by: .seconds(5))
            try await waitWhile(!log.withLock { $0 }.contains("b ended 201"))
            #expect(log.withLock { $0 } == ["a active", "a ended 201", "b active", "b ended 201"])
            withExtendedLifetime((a, b)) {}
        }
    }

    @Test func `read a tag that lies there once each, and the first one ends with its message`() async throws {
        try await withVirtualField { field in
            for serial: UInt8 in 1...2 {
                field.tags.bring(TestTag.ntag213(uri: "https://example.com/\(serial)", serial: serial))
            }
            let (log, queue) = (Locked<[String]>([]), DispatchQueue(label: "shared"))
            let (a, b) = (Listener("a", log), Listener("b", log))
            let first = Self.session(a, queue, endsAfterFirst: true)
            let second = Self.session(b, queue)
            first.begin()
            second.begin()
            // Nothing of the first session is left: the tags are new to the second one.
            try await waitWhile(!log.withLock { $0 }.contains("b messages 2"))
            second.invalidate()
            try await waitWhile(!log.withLock { $0 }.contains("b ended 200"))
            #expect(
                log.withLock { $0 } == [
                    "a active", "a messages 2", "a ended 204", "b active", "b messages 2", "b ended 200",
                ]
            )
            withExtendedLifetime((a, b)) {}
        }
    }
}

/// Checks the end of a session with the first message where that is not the only thing that happens.
@Suite(.timeLimit(.minutes(1))) struct `A session that ends with its first message` {
    @Test func `does not for a delegate that takes tags`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = TagDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            for _ in 0..<2 {
                let tag = try #require(await events.nextTags()?.first)
                try await session.connect(to: tag)
                #expect(try await tag.readNDEF().records.count == 1)
                #expect(session.isReady)
                session.restartPolling()
            }
            #expect(await events.nextTags()?.count == 1)
            session.invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
        }
    }

    /// Brings another tag with the first message.
    private final class Bringer: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
        private let field: VirtualField

        init(_ field: VirtualField) { self.field = field }

        override func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
            super.readerSession(session, didDetectNDEFs: messages)
            field.bring(TestTag.ntag213(uri: "https://example.com/b", serial: 7))
        }
    }

    @Test func `gets no second message of a tag that comes before the end`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = Bringer(field.tags)
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var links: [String] = []
            var code: Int?
            for await event in delegate.events {
                if case .messages(let messages) = event {
                    links += messages.compactMap { $0.records.first?.wellKnownTypeURIPayload()?.absoluteString }
                }
                if case .invalidated(let error) = event { code = error.errorCode }
            }
            #expect(links == ["https://example.com/a"] && code == 204)
            try await field.untilIdle()
        }
    }
}
