// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import Synchronization
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks what a delegate that gets messages, and no tags, can rely on.
@Suite(.timeLimit(.minutes(5))) struct `A session that reads messages` {
    @Test func `Restarting polling has no effect for a delegate that is given messages`() async throws {
        try await withField(.product("NTAG213", holding: .uri("https://example.com/1"))) { field in
            let delegate = RestartingDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            session.restartPolling()
            for _ in 0..<10 {
                await field.wait(for: .milliseconds(200))
                session.restartPolling()
            }
            try await field.takeAway()
            try await field.bring(field.tags[0])
            await field.settle()
            session.invalidate()
            var events = delegate.events.makeAsyncIterator()
            var count = 0
            while await events.nextMessages() != nil { count += 1 }
            // Once for each time that it came.
            #expect(count == 2, "\(field.trace)")
        }
    }

    @Test func `A tag without a message, and one with a damaged one, are no first message`() async throws {
        let empty = TestTag.ntag213(message: [])
        let damaged = TestTag.ntag213(message: [0xD1, 1, 200, 0x55], serial: 1)
        try await withField(.tag(empty), .tag(damaged)) { field in
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            await field.settle()
            #expect(session.isReady)
            try await field.bring(.product("NTAG213", holding: .uri("https://example.com/a")))
            var events = delegate.events.makeAsyncIterator()
            let messages = await events.nextMessages()
            #expect(
                messages?.map { $0.records.first?.wellKnownTypeURIPayload()?.absoluteString }
                    == ["https://example.com/a"]
            )
            #expect(await events.end()?.code == .readerSessionInvalidationErrorFirstNDEFTagRead)
        }
    }

    @Test(arguments: [(1, 2), (2, 1)] as [(UInt8, UInt8)])
    func `A damaged message takes nothing from that of a tag beside it`(damaged: UInt8, good: UInt8) async throws {
        let tags = [
            TestTag.ntag213(message: [0xD1, 1, 200, 0x55], serial: damaged),
            TestTag.ntag213(uri: "https://example.com/a", serial: good),
        ]
        try await withField(.tag(tags[0]), .tag(tags[1])) { field in
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            let messages = await events.nextMessages()
            #expect(
                messages?.map { $0.records.first?.wellKnownTypeURIPayload()?.absoluteString }
                    == ["https://example.com/a"]
            )
            #expect(await events.end()?.code == .readerSessionInvalidationErrorFirstNDEFTagRead)
        }
    }

    @Test func `The sheet has no error symbol for a delegate that gets messages, and has one for other delegates`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextMessages()?.count == 1)
            session.invalidate(errorMessage: "Wrong.")
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            let found = try await FoundTags()
            found.session.invalidate(errorMessage: "Wrong.")
            let failures = field.sheet.history.filter { $0.state == .failure }
            #expect(failures.map(\.message) == ["Wrong.", "Wrong."])
            #expect(failures.map(\.showsErrorSymbol) == [false, true])
        }
    }

    @Test(arguments: TextPlace.allCases)
    func `The sheet shows the text that the app sets because of the first message`(place: TextPlace) async throws {
        for _ in 0..<20 {
            try await withVirtualField { field in
                field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
                let delegate = TextDelegate(place)
                let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
                session.begin()
                var events = delegate.events.makeAsyncIterator()
                #expect(await events.end()?.code == .readerSessionInvalidationErrorFirstNDEFTagRead)
                let result = try #require(field.sheet.history.last { $0.state == .success })
                #expect(result.message == "Read.")
            }
        }
    }

    @Test(.ownThreads) func `A session with one message ends where nobody serves the main queue`() async throws {
        await #expect(processExitsWith: .success) {
            // The main thread waits, as that of a command-line tool.
            let end = Locked<NFCReaderError.Code?>(nil)
            DispatchQueue.main.async {
                while end.withLock({ $0 }) == nil { usleep(1000) }
                exit(end.withLock { $0 } == .readerSessionInvalidationErrorFirstNDEFTagRead ? 0 : 1)
            }
            Task.detached {
                try await withVirtualField { field in
                    field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
                    let delegate = MessageDelegate()
                    let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
                    session.begin()
                    var events = delegate.events.makeAsyncIterator()
                    _ = await events.nextMessages()
                    // As time would pass.
                    while !field.environment.arbiter.isIdle {
                        field.clock.advance(by: .milliseconds(100))
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    let code = await events.end()?.code
                    end.withLock { $0 = code }
                }
            }
            try await Task.sleep(for: .seconds(60))
        }
    }
}

/// Restarts polling whenever it hears of something.
private final class RestartingDelegate: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    override func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {
        session.restartPolling()
        super.readerSessionDidBecomeActive(session)
    }

    override func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        super.readerSession(session, didDetectNDEFs: messages)
        session.restartPolling()
    }
}

/// Where an app sets the sheet's text.
enum TextPlace: CaseIterable, Sendable {
    case callback, sessionQueue, mainQueue, mainActor
}

/// Sets the sheet's text when it gets a message.
private final class TextDelegate: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    private let place: TextPlace

    init(_ place: TextPlace) {
        self.place = place
    }

    override func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        super.readerSession(session, didDetectNDEFs: messages)
        let carried = Carried(session: session)
        switch place {
        case .callback: carried.setText()
        case .sessionQueue: session.sessionQueue.async { carried.setText() }
        case .mainQueue: DispatchQueue.main.async { carried.setText() }
        case .mainActor: Task { @MainActor in carried.setText() }
        }
    }

    /// Sendable because a session's text may be set on any thread.
    private struct Carried: @unchecked Sendable {
        let session: NFCNDEFReaderSession
        func setText() { session.alertMessage = "Read." }
    }
}
