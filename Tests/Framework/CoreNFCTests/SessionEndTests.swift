// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks what an app hears, and what stays, when its session ends.
@Suite(.timeLimit(.minutes(1))) struct `The end of a session` {
    @Test func `A session that is ended again and again calls its delegate once, and is freed`() async throws {
        try await withVirtualField { field in
            weak var gone: NFCNDEFReaderSession?
            let delegate = CountingDelegate()
            do {
                let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
                gone = session
                session.begin()
                for _ in 0..<3 { session.invalidate() }
                try await field.untilIdle()
                session.sessionQueue.sync {}
                session.invalidate(errorMessage: "Too late.")
                session.invalidate()
                session.begin()
                session.sessionQueue.sync {}
                #expect(!session.isReady)
            }
            #expect(delegate.ends.withLock { $0 } == 1)
            // The sheet keeps its content until it has closed.
            field.clock.advance(by: .seconds(3))
            for _ in 0..<1000 where gone != nil { await Task.yield() }
            #expect(gone == nil)
            #expect(!field.sheet.history.contains { $0.message == "Too late." })
        }
    }

    /// Counts the calls about the end of a session.
    private final class CountingDelegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
        let ends = Locked(0)
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            ends.withLock { $0 += 1 }
        }
    }

    @Test func `Without a reader a session ends once too`() async {
        await withoutReader {
            let delegate = CountingDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.alertMessage = "Hold it near."
            #expect(session.alertMessage == "Hold it near.")
            session.begin()
            session.invalidate()
            session.invalidate(errorMessage: "No.")
            session.begin()
            session.sessionQueue.sync {}
            #expect(delegate.ends.withLock { $0 } == 1)
            #expect(!session.isReady)
        }
    }

    @Test func `Without a reader a session that is ended before it begins ends as by the user, once`() async {
        await withoutReader {
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.invalidate()
            session.invalidate(errorMessage: "No.")
            session.begin()
            session.invalidate()
            session.sessionQueue.sync {}
            // The delegate reports a second end by itself.
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.errorCode == 200)
            #expect(await events.next() == nil)
            #expect(!session.isReady)
        }
    }

    @Test func `A session that is ended before it begins ends as by the user, once, and shows nothing`() async throws {
        try await withVirtualField { field in
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.invalidate(errorMessage: "No.")
            session.begin()
            session.invalidate()
            var events = delegate.events.makeAsyncIterator()
            // It has not become active before.
            guard case .invalidated(let error)? = await events.next() else { throw FoundTags.SessionEnded() }
            #expect(error.code == .readerSessionInvalidationErrorUserCanceled)
            session.sessionQueue.sync {}
            #expect(!session.isReady && field.sheet.history.isEmpty)
            try await field.untilIdle()
        }
    }

    /// A reader whose tag another program has.
    private final class BusyReader: DiscoveringDriver {
        let name = "busy"
        let technologies: Set<Technology> = [.nfcA]
        let statistics = LinkStatistics()
        let looks = Locked(0)

        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
            looks.withLock { $0 += 1 }
            throw LinkError(.inUse, "Another program has the tag.")
        }

        func select(_ tag: DiscoveredTag) async throws(LinkError) {}
        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
        func release() async {}
    }

    @Test func `A session whose time is up while another program has the tag says so to the author`() async throws {
        let said = Locked<[String]>([])
        let (clock, reader) = (ManualClock(), BusyReader())
        let environment = NFCEnvironment(reader: .discovering(reader), clock: clock, isOfTest: true) { text in
            said.withLock { $0.append(text) }
        }
        await NFCEnvironment.$scoped.withValue(environment) {
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            while reader.looks.withLock({ $0 }) == 0 || clock.scheduledEventCount < 2 { await Task.yield() }
            #expect(said.withLock { $0 } == [])
            clock.advance(by: .seconds(60))
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorSessionTimeout)
            #expect(said.withLock { $0 } == ["Another program has the tag."])
        }
    }

    @Test func `A tag that was lost has no status, and one that is not formatted has one`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await FoundTags()
            try await found.session.connect(to: found.tag)
            field.tags.arm(.loss(atExchange: 0))
            let error = await readerError { try await found.tag.queryNDEFStatus() }
            #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
            found.session.invalidate()
        }
        try await withVirtualField { field in
            field.tags.bring(TestTag.unformattedNTAG213())
            let found = try await FoundTags()
            try await found.session.connect(to: found.tag)
            let status = try await found.tag.queryNDEFStatus()
            #expect(status.0 == .notSupported && status.1 == 0)
            found.session.invalidate()
        }
    }

    /// Keeps no tag, and knows whether the first one is still there.
    private final class Forgetful: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
        // Sendable because the reference is set on the session's queue before the test reads it.
        private weak var tag: AnyObject?
        let events: AsyncStream<Bool>
        private let continuation: AsyncStream<Bool>.Continuation
        var hasTag: Bool { tag != nil }

        override init() {
            (events, continuation) = AsyncStream.makeStream()
        }

        func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

        func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
            if case .miFare(let tag)? = tags.first { self.tag = tag }
            continuation.yield(hasTag)
        }

        func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
            continuation.finish()
        }
    }

    @Test func `A session has its tags until it ends, and keeps none after that`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = Forgetful()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.next() == true)
            session.sessionQueue.sync {}
            #expect(delegate.hasTag)
            session.invalidate()
            #expect(await events.next() == nil)
            session.sessionQueue.sync {}
            try await waitWhile(delegate.hasTag)
            #expect(!delegate.hasTag)
            withExtendedLifetime(session) {}
        }
    }

    /// A tag of a session that has ended, and that nobody keeps.
    private static func leftTag(_ field: VirtualFieldScope) async throws -> any NFCMiFareTag {
        var found = try await `A session for tags`.detect()
        let tag = try #require(found.miFare)
        #expect(tag.session === found.session)
        found.session.invalidate()
        #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
        try await field.untilIdle()
        // The sheet keeps its content until it has closed.
        field.clock.advance(by: .seconds(3))
        return tag
    }

    @Test func `A tag that an app keeps does not keep its session`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let tag = try await Self.leftTag(field)
            try await waitWhile(tag.session != nil)
            #expect(tag.session == nil && !tag.isAvailable)
            let error = await readerError { try await tag.sendMiFareCommand(commandPacket: Data([0x30, 3])) }
            #expect(error?.code == .readerTransceiveErrorSessionInvalidated)
        }
    }

    @Test func `Two sessions report one after the other, each on its own queue`() async throws {
        try await withVirtualField { field in
            let (one, other) = (MessageDelegate(), MessageDelegate())
            let sessions = [one, other].map {
                NFCNDEFReaderSession(delegate: $0, queue: nil, invalidateAfterFirstRead: false)
            }
            for (index, session) in sessions.enumerated() {
                session.alertMessage = "\(index)"
                session.begin()
            }
            #expect(sessions[0].isReady && !sessions[1].isReady)
            sessions[0].invalidate(errorMessage: "No.")
            var ends = one.events.makeAsyncIterator()
            #expect(await ends.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            var events = other.events.makeAsyncIterator()
            guard case .active? = await events.next() else { throw FoundTags.SessionEnded() }
            #expect(!sessions[0].isReady && sessions[1].isReady)
            sessions[1].invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(
                field.sheet.history.prefix(5).map { "\($0.state) \($0.message)" }
                    == ["ready 0", "failure No.", "dismissed No.", "ready 1", "success 1"]
            )
        }
    }
}
