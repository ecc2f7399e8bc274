// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// A call of the delegate of a tag session.
enum TagSessionEvent: Sendable {
    case active
    case tags([NFCTag])
    case invalidated(NFCReaderError)
}

final class TagSessionDelegate: NSObject, NFCTagReaderSessionDelegate, Sendable {
    let events: AsyncStream<TagSessionEvent>
    private let continuation: AsyncStream<TagSessionEvent>.Continuation
    private let onDetect: (@Sendable (NFCTagReaderSession) -> Void)?
    private let watch = EndWatch()

    init(onDetect: (@Sendable (NFCTagReaderSession) -> Void)? = nil) {
        (events, continuation) = AsyncStream.makeStream()
        self.onDetect = onDetect
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        watch.call(session)
        continuation.yield(.active)
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        watch.call(session)
        continuation.yield(.tags(tags))
        onDetect?(session)
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        watch.call(session, isEnd: true)
        guard let error = error as? NFCReaderError else { return }
        continuation.yield(.invalidated(error))
        continuation.finish()
    }
}

extension AsyncStream<TagSessionEvent>.Iterator {
    mutating func nextTags() async -> [NFCTag]? {
        while let event = await next(isolation: nil) {
            if case .tags(let tags) = event { return tags }
        }
        return nil
    }

    mutating func end() async -> NFCReaderError? {
        while let event = await next(isolation: nil) {
            if case .invalidated(let error) = event { return error }
        }
        return nil
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A session for tags` {
    struct Detected {
        var session: NFCTagReaderSession
        var delegate: TagSessionDelegate
        var events: AsyncStream<TagSessionEvent>.Iterator
        var tags: [NFCTag]

        var miFare: (any NFCMiFareTag)? {
            if case .miFare(let tag)? = tags.first { tag } else { nil }
        }
    }

    /// Begins a session, and waits until it has found tags.
    static func detect(_ polling: NFCTagReaderSession.PollingOption = .iso14443) async throws -> Detected {
        let delegate = TagSessionDelegate()
        let session = try #require(NFCTagReaderSession(pollingOption: polling, delegate: delegate))
        session.begin()
        var events = delegate.events.makeAsyncIterator()
        // An error, not a failed requirement: in tests that lose tags on purpose it is not a failure of the test.
        guard let tags = await events.nextTags() else { throw FoundTags.SessionEnded() }
        return Detected(session: session, delegate: delegate, events: events, tags: tags)
    }

    @Test func `An NTAG arrives as a MIFARE Ultralight, and is an NDEF tag too`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            var found = try await Self.detect()
            let tag = try #require(found.miFare)
            #expect(tag.mifareFamily == .ultralight && tag.identifier.count == 7 && tag.historicalBytes == nil)
            #expect(tag.type == .miFare && tag.asNFCMiFareTag() === tag && tag.asNFCISO7816Tag() == nil)
            #expect(tag.session === found.session)
            let ndef: any NFCNDEFTag = tag
            #expect(ndef is any NFCMiFareTag)
            #expect(found.session.connectedTag == nil)
            // A client may wrap the object again.
            try await found.session.connect(to: .miFare(tag))
            #expect(found.session.connectedTag?.isAvailable == true)
            let message = try await tag.readNDEF()
            #expect(message.records.first?.wellKnownTypeURIPayload()?.absoluteString == "https://example.com/a")
            found.session.invalidate()
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(found.session.connectedTag == nil)
        }
    }

    @Test func `Tags of an NDEF session are tags of their technology too`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await FoundTags()
            let (session, tags) = (found.session, found.tags)
            #expect((tags.first as? any NFCMiFareTag)?.mifareFamily == .ultralight)
            session.invalidate()
        }
    }

    @Test func `A technology that was not asked for is not reported`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso15693, delegate: delegate))
            session.begin()
            field.clock.advance(by: .seconds(60))
            var events = delegate.events.makeAsyncIterator()
            guard case .active? = await events.next() else { throw ScriptedTag.OtherKind() }
            guard case .invalidated(let error)? = await events.next() else { throw ScriptedTag.OtherKind() }
            #expect(error.code == .readerSessionInvalidationErrorSessionTimeout)
        }
    }

    @Test func `Options that make no sense make no session`() {
        let delegate = TagSessionDelegate()
        #expect(NFCTagReaderSession(pollingOption: [], delegate: delegate) == nil)
        #expect(NFCTagReaderSession(pollingOption: .init(rawValue: 64), delegate: delegate) == nil)
        // Since iOS 26.4 PACE can be joined with others.
        #expect(NFCTagReaderSession(pollingOption: [.pace, .iso14443], delegate: delegate) != nil)
        #expect(NFCTagReaderSession(pollingOption: .pace, delegate: delegate) != nil)
    }

    @Test func `A command before connecting is 104, and one to a tag of an ended session 103`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await Self.detect()
            let tag = try #require(found.miFare)
            let before = await readerError { try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) }
            #expect(before?.code == .readerTransceiveErrorTagNotConnected)
            found.session.invalidate()
            let after = await readerError { try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) }
            #expect(after?.code == .readerTransceiveErrorSessionInvalidated)
            #expect(!tag.isAvailable)
        }
    }

    @Test func `Two connects at once both end, and the last one counts`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/1", serial: 1))
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/2", serial: 2))
            let found = try await Self.detect()
            #expect(found.tags.count == 2)
            let (session, one, other) = (found.session, found.tags[0], found.tags[1])
            async let first: Void = session.connect(to: one)
            async let second: Void = session.connect(to: other)
            try await first
            try await second
            #expect(session.connectedTag != nil)
            session.invalidate()
        }
    }

    @Test func `A tag of another session, or of a client's own, can't be connected`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await Self.detect()
            let other = try ScriptedTag.miFare()
            let error = await readerError { try await found.session.connect(to: .miFare(other.1)) }
            #expect(error?.code == .readerErrorInvalidParameter)
            found.session.invalidate()
        }
    }

    @Test func `A session may be invalidated from inside a callback, and one whose delegate is gone ends quietly`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = TagSessionDelegate { $0.invalidate(errorMessage: "Not this one.") }
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(field.sheet.history.contains { $0.message == "Not this one." })
            try await field.untilIdle()
            let orphan = try #require(
                NFCTagReaderSession(pollingOption: .iso14443, delegate: TagSessionDelegate(), queue: nil)
            )
            orphan.begin()
            orphan.invalidate()
            try await field.untilIdle()
            #expect(!orphan.isReady && orphan.delegate == nil)
        }
    }

    @Test func `A payment session gives its cards to the same delegate`() async throws {
        try await withVirtualField { field in
            let delegate = TagSessionDelegate()
            let session = NFCPaymentTagReaderSession(delegate: delegate)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            guard case .active? = await events.next() else { throw ScriptedTag.OtherKind() }
            session.invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            try await field.untilIdle()
        }
    }
}
