// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import TagLink
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(5))) struct `An NDEF reader session` {
    @Test func `Messages go to a delegate without tags, and the session ends with the first when asked to`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.alertMessage = "Hold your iPhone near the poster."
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            guard case .active = await events.next() else { throw Unexpected() }
            guard case .messages(let messages) = await events.next() else { throw Unexpected() }
            #expect(
                messages.map { $0.records.first?.wellKnownTypeURIPayload()?.absoluteString } == [
                    "https://example.com/a"
                ]
            )
            guard case .invalidated(let error) = await events.next() else { throw Unexpected() }
            #expect(error.code == .readerSessionInvalidationErrorFirstNDEFTagRead)
            #expect(field.sheet.history.map(\.state) == [.ready, .scanning, .success])
            #expect(field.sheet.history.first?.message == "Hold your iPhone near the poster.")
        }
    }

    @Test func `Each tag is reported once for each time that it comes near`() async throws {
        try await withField { field in
            let first = try await field.make(.product("NTAG213", holding: .uri("https://example.com/1")))
            let second = try await field.make(.product("NTAG213", holding: .uri("https://example.com/2")))
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            var seen: [String] = []
            for tag in [first, second, first] {
                try await field.bring(tag)
                let messages = try #require(await events.nextMessages())
                #expect(messages.count == 1)
                seen += messages.compactMap { $0.records.first?.wellKnownTypeURIPayload()?.absoluteString }
                try await field.takeAway(tag)
            }
            #expect(seen == ["https://example.com/1", "https://example.com/2", "https://example.com/1"])
            session.invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
        }
    }

    @Test func `A tag that lies beside one that comes is not reported again`() async throws {
        try await withVirtualField { field in
            let delegate = ArrivalDelegate(field.tags)
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/0", serial: 100))
            var events = delegate.events.makeAsyncIterator()
            var seen: [String] = []
            while seen.count < 5 {
                let messages = try #require(await events.nextMessages())
                seen += messages.compactMap { $0.records.first?.wellKnownTypeURIPayload()?.absoluteString }
            }
            #expect(seen == (0..<5).map { "https://example.com/\($0)" })
            session.invalidate()
        }
    }

    @Test func `A delegate that takes tags is never given messages`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = TagDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            guard case .active = await events.next() else { throw Unexpected() }
            guard case .tags(let tags) = await events.next() else { throw Unexpected() }
            #expect(tags.count == 1)
            session.invalidate()
            guard case .invalidated = await events.next() else { throw Unexpected() }
            #expect(await events.next() == nil)
        }
    }

    @Test func `Two tags at once arrive in one array, and either can be connected and read`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/1", serial: 1))
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/2", serial: 2))
            let (session, tags) = try await detected()
            #expect(tags.count == 2)
            var seen: Set<String> = []
            for tag in tags + tags {
                try await session.connect(to: tag)
                let message = try await tag.readNDEF()
                seen.formUnion(message.records.compactMap { $0.wellKnownTypeURIPayload()?.absoluteString })
            }
            #expect(seen == ["https://example.com/1", "https://example.com/2"])
            session.invalidate()
        }
    }

    @Test func `A message can be written, read back, and locked permanently`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let (session, tags) = try await detected()
            let tag = try #require(tags.first)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus() == (.readWrite, 137))
            let payload = try #require(
                NFCNDEFPayload.wellKnownTypeTextPayload(string: "Grüße", locale: Locale(identifier: "de_DE"))
            )
            let message = NFCNDEFMessage(records: [payload])
            try await tag.writeNDEF(message)
            let read = try await tag.readNDEF()
            #expect(read.records.count == 1)
            #expect(read.records[0].wellKnownTypeTextPayload().0 == "Grüße")
            #expect(read.length == message.length)
            try await tag.writeLock()
            #expect(try await tag.queryNDEFStatus().0 == .readOnly)
            #expect(await code { try await tag.writeNDEF(message) } == .ndefReaderSessionErrorTagNotWritable)
            session.invalidate()
        }
    }

    @Test func `Each failure has the phone's code`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(message: []))
            let (session, tags) = try await detected()
            let tag = try #require(tags.first)
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorTagNotConnected)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus() == (.readWrite, 137))
            #expect(await code { try await tag.readNDEF() } == .ndefReaderSessionErrorZeroLengthMessage)
            let long = NFCNDEFMessage(records: [
                NFCNDEFPayload(format: .media, type: Data("a/b".utf8), identifier: Data(), payload: Data(count: 200))
            ])
            #expect(await code { try await tag.writeNDEF(long) } == .ndefReaderSessionErrorTagSizeTooSmall)
            let bad = NFCNDEFMessage(records: [
                NFCNDEFPayload(format: .unchanged, type: Data(), identifier: Data(), payload: Data())
            ])
            #expect(await code { try await tag.writeNDEF(bad) } == .readerErrorInvalidParameter)
            session.invalidate()
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorSessionInvalidated)
            #expect(await code { try await session.connect(to: tag) } == .readerTransceiveErrorSessionInvalidated)
        }
    }

    @Test func `A message is written as it was when it was given`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let (session, tags) = try await detected()
            let tag = try #require(tags.first)
            try await session.connect(to: tag)
            let message = TestTag.message(uri: "https://example.com/b")
            let error: (any Error)? = await withCheckedContinuation { done in
                tag.writeNDEF(message) { done.resume(returning: $0) }
                message.records = []
            }
            #expect(error == nil)
            let read = try await tag.readNDEF()
            #expect(read.records.first?.wellKnownTypeURIPayload()?.absoluteString == "https://example.com/b")
            session.invalidate()
        }
    }

    @Test func `A tag without a capability container is not supported`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.unformattedNTAG213())
            let (session, tags) = try await detected()
            let tag = try #require(tags.first)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus() == (.notSupported, 0))
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorTagResponseError)
            #expect(
                await code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com")) }
                    == .ndefReaderSessionErrorTagNotWritable
            )
            #expect(await code { try await tag.writeLock() } == .ndefReaderSessionErrorTagNotWritable)
            session.invalidate()
        }
    }

    @Test func `A tag that shows its memory only for its password is not supported either`() async throws {
        try await withVirtualField { field in
            var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
            // AUTH0 and PROT: everything from the capability container on.
            contents.memory[41 * 4 + 3] = 3
            contents.memory[42 * 4] = 0x80
            field.tags.bring(VirtualType2Tag(contents))
            let (session, tags) = try await detected()
            let tag = try #require(tags.first)
            try await session.connect(to: tag)
            #expect(try await tag.queryNDEFStatus() == (.notSupported, 0))
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorTagResponseError)
            #expect(
                await code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com")) }
                    == .ndefReaderSessionErrorTagNotWritable
            )
            session.invalidate()
        }
    }

    @Test func `A tag that has left is lost, and is found again when polling is restarted`() async throws {
        try await withField(.product("NTAG213", holding: .uri("https://example.com/a"))) { field in
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            try await field.takeAway()
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorTagConnectionLost)
            #expect(!tag.isAvailable)
            session.restartPolling()
            try await field.bring(field.tags[0])
            let again = try #require(await found.events.nextTags()?.first)
            try await session.connect(to: again)
            #expect(try await again.readNDEF().records.count == 1)
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorTagConnectionLost)
            session.invalidate()
        }
    }

    @Test func `A session ends after sixty seconds, and a connection after twenty`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            field.clock.advance(by: .seconds(19))
            #expect(tag.isAvailable)
            field.clock.advance(by: .seconds(1))
            #expect(!tag.isAvailable)
            #expect(await code { try await tag.readNDEF() } == .readerTransceiveErrorTagConnectionLost)
            #expect(session.isReady)
            field.clock.advance(by: .seconds(40))
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorSessionTimeout)
            #expect(!session.isReady)
        }
    }

    @Test func `The Cancel button ends the session as the user`() async throws {
        try await withVirtualField { field in
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            guard case .active = await events.next() else { throw Unexpected() }
            #expect(field.sheet.cancel())
            let error = try #require(await events.end())
            #expect(error.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(error.localizedDescription == "Session invalidated by user")
            #expect(field.sheet.content?.state == .dismissed)
        }
    }

    @Test func `Sessions take turns, first come first served`() async throws {
        try await withVirtualField { field in
            let delegates = [MessageDelegate(), MessageDelegate(), MessageDelegate()]
            let sessions = delegates.map {
                NFCNDEFReaderSession(delegate: $0, queue: nil, invalidateAfterFirstRead: false)
            }
            for session in sessions { session.begin() }
            for (session, delegate) in zip(sessions, delegates) {
                var events = delegate.events.makeAsyncIterator()
                guard case .active = await events.next() else { throw Unexpected() }
                #expect(sessions.filter(\.isReady).count == 1)
                #expect(session.isReady)
                session.invalidate()
                #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            }
        }
    }

    @Test func `With the switch on, a session is busy while the last one's sheet leaves`() async throws {
        try await withVirtualField(busyPolicy: .refuseWhileSheetLeaves) { field in
            let first = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: first, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            session.invalidate()
            var events = first.events.makeAsyncIterator()
            _ = await events.end()
            try await field.untilIdle()
            for (seconds, code) in [
                (0.0, NFCReaderError.readerSessionInvalidationErrorSystemIsBusy),
                (2.5, .readerSessionInvalidationErrorUserCanceled),
            ] {
                field.clock.advance(by: .seconds(seconds))
                let delegate = MessageDelegate()
                let next = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
                next.begin()
                next.invalidate()
                var events = delegate.events.makeAsyncIterator()
                #expect(await events.end()?.code == code)
            }
        }
    }

    @Test func `A dead session stays dead`() async throws {
        await withVirtualField { field in
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            session.invalidate(errorMessage: "Try again.")
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            session.begin()
            session.invalidate()
            #expect(!session.isReady)
            #expect(await events.next() == nil)
            #expect(field.sheet.history.contains { $0.state == .failure && $0.message == "Try again." })
        }
    }

    @Test func `Without a reader a session ends at once and says what to do`() async throws {
        try await withoutReader(reason: "Plug in a reader.") {
            #expect(!NFCNDEFReaderSession.readingAvailable)
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            let error = try #require(await events.end())
            #expect(error.code == .readerErrorUnsupportedFeature)
            #expect((error as NSError).localizedFailureReason == "Plug in a reader.")
        }
    }

    // MARK: Helpers

    struct Unexpected: Error {}

    /// The code of the error with which a command fails; nil when it succeeds.
    func code(_ command: () async throws -> some Any) async -> NFCReaderError.Code? {
        do {
            _ = try await command()
            return nil
        } catch {
            return (error as? NFCReaderError)?.code
        }
    }

    /// A session that has detected what is in the field. The delegate lives as long as the session is used.
    func detected() async throws -> (NFCNDEFReaderSession, [any NFCNDEFTag]) {
        let found = try await FoundTags()
        return (found.session, found.tags)
    }
}

/// Brings another tag for each message, while the session is not looking.
private final class ArrivalDelegate: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    private let field: VirtualField
    private let count = Locked(0)

    init(_ field: VirtualField) {
        self.field = field
    }

    override func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if number < 5 {
            field.bring(TestTag.ntag213(uri: "https://example.com/\(number)", serial: UInt8(100 - number)))
        }
        super.readerSession(session, didDetectNDEFs: messages)
    }
}
