// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Glibc
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks what a phone around the reader learns of an app's sessions, and what it withholds from them.
@Suite(.timeLimit(.minutes(1))) struct `A phone around the reader` {
    private typealias Configuration = NFCTagReaderSession.Configuration

    /// A phone that notes what it learns.
    private final class Phone: SessionHost {
        private let needs: Locked<SessionNeeds>
        private let notes = Locked<[String]>([])
        private let sessions = Locked<Set<Int>>([])
        /// What happens when it learns of a restart.
        let onRestart = Locked<(@Sendable () -> Void)?>(nil)

        init(_ withheld: SessionNeeds = []) { needs = Locked(withheld) }

        var withheld: SessionNeeds { needs.withLock { $0 } }

        /// Withholds something else from now on.
        func withhold(_ withheld: SessionNeeds) { needs.withLock { $0 = withheld } }

        /// What was noted since the last time.
        func log() -> [String] {
            notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }

        /// How many notes there are.
        var noteCount: Int { notes.withLock { $0.count } }

        /// How many sessions were noted.
        var sessionCount: Int { sessions.withLock { $0.count } }

        func note(_ event: SessionEvent, of session: Int) {
            let text =
                switch event {
                case .began(let kind): "begins \(kind)"
                case .restarted: "restarts"
                case .callback(let name, let detail): detail.isEmpty ? name : "\(name) \(detail)"
                case .ended(let reason): "ends \(reason)"
                }
            notes.withLock { $0.append(text) }
            sessions.withLock { _ = $0.insert(session) }
            if event == .restarted { onRestart.withLock { $0 }?() }
        }
    }

    private static func environment(
        _ phone: Phone,
        _ tags: [any VirtualTag] = [],
        sheet: RecordingSheet = RecordingSheet()
    ) -> NFCEnvironment {
        let field = VirtualField()
        for tag in tags { field.bring(tag) }
        return NFCEnvironment(reader: .field(field), clock: ManualClock(), sheet: sheet, host: phone, place: nil)
    }

    private static let canceled = "200: Session invalidated by user"

    @Test func `learns of each call of a session for tags, just before it`() async throws {
        let phone = Phone()
        let tags: [any VirtualTag] = [VirtualType2Tag(.ntag213), VirtualType5Tag(.icodeSLIX)]
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone, tags)) {
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: [.iso14443, .iso15693], delegate: delegate))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextTags()?.count == 2)
            #expect(
                phone.log() == [
                    "begins NFCTagReaderSession", "tagReaderSessionDidBecomeActive(_:)",
                    "tagReaderSession(_:didDetect:) 2 tags",
                ]
            )
            session.restartPolling(configuration: Configuration(pollingOption: .iso15693))
            #expect(await events.nextTags()?.count == 1)
            session.restartPolling()
            #expect(await events.nextTags()?.count == 2)
            #expect(
                phone.log() == [
                    "restarts", "tagReaderSession(_:didDetect:) 1 tag", "restarts",
                    "tagReaderSession(_:didDetect:) 2 tags",
                ]
            )
            session.invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(
                phone.log() == [
                    "ends \(Self.canceled)", "tagReaderSession(_:didInvalidateWithError:) \(Self.canceled)",
                ]
            )
            #expect(phone.sessionCount == 1)
        }
    }

    @Test func `learns of the calls of sessions for NDEF, by what their delegates get`() async throws {
        let phone = Phone()
        let tags = [1, 2].map { TestTag.ntag213(uri: "https://example.com/a", serial: $0) }
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone, tags)) {
            var found = try await FoundTags()
            // The app hears of its tags before the phone has noted that.
            try await waitWhile(phone.noteCount < 3)
            found.session.restartPolling()
            #expect(await found.events.nextTags()?.count == 2)
            found.session.invalidate()
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(
                phone.log() == [
                    "begins NFCNDEFReaderSession", "readerSessionDidBecomeActive(_:)",
                    "readerSession(_:didDetect:) 2 tags", "restarts", "readerSession(_:didDetect:) 2 tags",
                    "ends \(Self.canceled)", "readerSession(_:didInvalidateWithError:) \(Self.canceled)",
                ]
            )
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextMessages()?.count == 2)
            // It has no effect for this delegate.
            session.restartPolling()
            session.invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(
                phone.log() == [
                    "begins NFCNDEFReaderSession", "readerSessionDidBecomeActive(_:)",
                    "readerSession(_:didDetectNDEFs:) 2 messages",
                    "ends \(Self.canceled)", "readerSession(_:didInvalidateWithError:) \(Self.canceled)",
                ]
            )
            #expect(phone.sessionCount == 2)
        }
    }

    @Test func `learns once that a session begins, although it is begun again while it waits and while it is active`()
        async throws
    {
        let phone = Phone()
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone)) {
            let delegates = [MessageDelegate(), MessageDelegate()]
            let sessions = delegates.map {
                NFCNDEFReaderSession(delegate: $0, queue: nil, invalidateAfterFirstRead: false)
            }
            var log: [String] = []
            for _ in 0..<2 {
                for session in sessions { session.begin() }
            }
            for (session, delegate) in zip(sessions, delegates) {
                var events = delegate.events.makeAsyncIterator()
                guard case .active? = await events.next(isolation: nil) else { throw FoundTags.SessionEnded() }
                session.begin()
                session.invalidate()
                #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
                log += phone.log()
                session.begin()
            }
            log += phone.log()
            let becameActive = "readerSessionDidBecomeActive(_:)"
            #expect(log.count { $0 == "begins NFCNDEFReaderSession" } == 2 && log.count { $0 == becameActive } == 2)
            #expect(log.count == 8 && phone.sessionCount == 2)
        }
    }

    /// An app that ends its session with the first tag or message, and keeps how much the phone has learnt at each call.
    private final class Listener: NSObject, NFCTagReaderSessionDelegate, NFCNDEFReaderSessionDelegate, Sendable {
        let counts = Locked<[Int]>([])
        let ended: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation
        private let phone: Phone

        init(_ phone: Phone) {
            self.phone = phone
            (ended, end) = AsyncStream.makeStream()
            super.init()
        }

        private func listen() {
            let count = phone.noteCount
            counts.withLock { $0.append(count) }
        }

        private func find(in session: NFCReaderSession) {
            listen()
            session.invalidate()
        }

        private func hearOfEnd() {
            listen()
            end.finish()
        }

        func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { listen() }
        func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) { find(in: session) }
        func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) { hearOfEnd() }
        func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { listen() }
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
            find(in: session)
        }
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { hearOfEnd() }
    }

    @Test(arguments: [(false, false, [2, 3, 5]), (true, false, [2, 3, 5]), (false, true, [3])])
    func `learns of each call before the app does`(isForTags: Bool, isRefused: Bool, counts: [Int]) async {
        let phone = Phone(isRefused ? .entitlement : [])
        let tags = [TestTag.ntag213(uri: "https://example.com/a")]
        await NFCEnvironment.$scoped.withValue(Self.environment(phone, tags)) {
            let listener = Listener(phone)
            let session: NFCReaderSession =
                isForTags
                ? NFCTagReaderSession(configuration: Configuration(pollingOption: .iso14443), delegate: listener)
                : NFCNDEFReaderSession(delegate: listener, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            for await _ in listener.ended {}
            #expect(listener.counts.withLock { $0 } == counts)
        }
    }

    /// A tag that the phone looks at.
    ///
    /// Sendable because a tag may be used on any thread.
    private struct Shown: @unchecked Sendable {
        let tag: any NFCNDEFTag
    }

    /// Whether a tag is connected when the phone learns of a restart; nil when it learns of none.
    private static func isConnected(_ shown: Shown, _ phone: Phone, at restart: () -> Void) -> Bool? {
        let seen = Locked<Bool?>(nil)
        phone.onRestart.withLock { hook in
            hook = {
                let isAvailable = shown.tag.isAvailable
                seen.withLock { $0 = isAvailable }
            }
        }
        restart()
        phone.onRestart.withLock { $0 = nil }
        return seen.withLock { $0 }
    }

    @Test func `learns of a restart while the app still has its tags`() async throws {
        let phone = Phone()
        let link = "https://example.com/a"
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone, [TestTag.ntag213(uri: link)])) {
            let found = try await FoundTags()
            try await found.session.connect(to: found.tag)
            let session = found.session
            #expect(Self.isConnected(Shown(tag: found.tag), phone) { session.restartPolling() } == true)
            session.invalidate()
        }
        for configuration in [nil, Configuration(pollingOption: .iso14443)] {
            try await NFCEnvironment.$scoped.withValue(Self.environment(phone, [TestTag.ntag213(uri: link)])) {
                let found = try await `A session for tags`.detect()
                let (tag, session) = (try #require(found.miFare), found.session)
                try await session.connect(to: .miFare(tag))
                let isConnected = Self.isConnected(Shown(tag: tag), phone) {
                    if let configuration {
                        session.restartPolling(configuration: configuration)
                    } else {
                        session.restartPolling()
                    }
                }
                #expect(isConnected == true)
                session.invalidate()
                withExtendedLifetime(found.delegate) {}
            }
        }
    }

    @Test func `learns of one tag and of one message as one`() async throws {
        let phone = Phone()
        let tags = [TestTag.ntag213(uri: "https://example.com/a")]
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone, tags)) {
            var found = try await FoundTags()
            found.session.invalidate()
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            #expect(phone.log().contains("readerSession(_:didDetect:) 1 tag"))
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.nextMessages()?.count == 1)
            #expect(phone.log().contains("readerSession(_:didDetectNDEFs:) 1 message"))
            session.invalidate()
            _ = await events.end()
        }
    }

    @Test func `withholds an entitlement from the app's own file`() async throws {
        let file = AppConfiguration.PropertyFile(
            path: "App/App.entitlements",
            values: ["com.apple.developer.nfc.readersession.formats": ["TAG"]]
        )
        let app = AppConfiguration(entitlements: file)
        try await NFCEnvironment.$scoped.withValue(Self.environment(Phone(.entitlement))) {
            try await AppConfiguration.$scoped.withValue(app) {
                let delegate = MessageDelegate()
                let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
                session.begin()
                var events = delegate.events.makeAsyncIterator()
                let error = try #require(await events.end())
                #expect(error.code == .readerErrorSecurityViolation)
                #expect((error as NSError).localizedFailureReason?.contains("App/App.entitlements") == true)
            }
        }
    }

    @Test func `takes nothing from a session that waits for its turn, although it is begun again`() async throws {
        let phone = Phone()
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone)) {
            let delegates = [MessageDelegate(), MessageDelegate()]
            let sessions = delegates.map {
                NFCNDEFReaderSession(delegate: $0, queue: nil, invalidateAfterFirstRead: false)
            }
            for session in sessions { session.begin() }
            phone.withhold(.entitlement)
            sessions[1].begin()
            sessions[0].invalidate()
            var events = delegates[1].events.makeAsyncIterator()
            guard case .active? = await events.next(isolation: nil) else { throw FoundTags.SessionEnded() }
            sessions[1].invalidate()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            withExtendedLifetime(delegates) {}
        }
    }

    @Test func `learns of no restart of a session that has not begun, or has ended`() async throws {
        let phone = Phone()
        try await NFCEnvironment.$scoped.withValue(Self.environment(phone)) {
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.restartPolling()
            let other = MessageDelegate()
            NFCNDEFReaderSession(delegate: other, queue: nil, invalidateAfterFirstRead: false).restartPolling()
            session.invalidate()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            session.restartPolling()
            #expect(
                phone.log() == [
                    "ends \(Self.canceled)", "tagReaderSession(_:didInvalidateWithError:) \(Self.canceled)",
                ]
            )
            withExtendedLifetime(delegate) {}
        }
    }

    @Test(
        arguments: [
            (.radio, 6, "NFC radio is disabled"), (.freeReader, 203, "System resource unavailable"),
            ([.radio, .freeReader], 6, "NFC radio is disabled"), (.entitlement, 2, "Missing required entitlement"),
            ([.radio, .entitlement], 2, "Missing required entitlement"),
        ] as [(SessionNeeds, Int, String)]
    ) func `ends a session that lacks something before its sheet is shown`(
        withheld: SessionNeeds,
        code: Int,
        text: String
    ) async {
        let (phone, sheet) = (Phone(withheld), RecordingSheet())
        await NFCEnvironment.$scoped.withValue(Self.environment(phone, sheet: sheet)) {
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.errorCode == code)
            #expect(!session.isReady && sheet.history.isEmpty)
            let reason = "\(code): \(text)"
            #expect(
                phone.log() == [
                    "begins NFCNDEFReaderSession", "ends \(reason)",
                    "readerSession(_:didInvalidateWithError:) \(reason)",
                ]
            )
        }
    }

    @Test(.ownThreads) func `ends an app whose usage text it withholds`() async throws {
        let end = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            NFCEnvironment.$scoped.withValue(Self.environment(Phone(.usageText))) {
                NFCNDEFReaderSession(delegate: MessageDelegate(), queue: nil, invalidateAfterFirstRead: true).begin()
            }
        }
        let lines = String(decoding: end.standardErrorContent, as: UTF8.self)
        #expect(lines.contains("NFCReaderUsageDescription is missing in the app's Info.plist."))
    }
}
