// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks that an app's mistakes are reported that have no visible effect, here and on a phone.
@Suite(.timeLimit(.minutes(5))) struct `A mistake that fails nowhere` {
    /// The lines about mistakes in the trace of a field, by their beginnings.
    private static func lines(_ field: TestField, _ start: String) -> Int {
        field.trace.entries.count { if case .note(let text) = $0.event { text.hasPrefix(start) } else { false } }
    }

    private static let app = AppProperties(
        infoPlist: [
            "NFCReaderUsageDescription": "Cards are read.",
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["A0000002471001"],
        ]
    )

    @Test func `A session that has ended is begun again`() async throws {
        try await withField { field in
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            session.begin()
            #expect(Self.lines(field, "begin() was called") == 0)
            session.invalidate()
            for _ in 0..<3 { session.begin() }
            #expect(Self.lines(field, "begin() was called on a session that has ended") == 1)
        }
    }

    @Test func `A session that was refused is begun again`() async throws {
        let app = AppProperties(infoPlist: ["NFCReaderUsageDescription": "Cards are read."], entitlements: [:])
        try await withField(.product("NTAG213"), app: app) { field in
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerErrorSecurityViolation)
            #expect(Self.lines(field, "begin() was called") == 0)
            for _ in 0..<3 { session.begin() }
            #expect(Self.lines(field, "begin() was called on a session that has ended") == 1)
        }
    }

    @Test func `A session waits behind another`() async throws {
        try await withField { field in
            let delegates = [MessageDelegate(), MessageDelegate()]
            let sessions = delegates.map {
                NFCNDEFReaderSession(delegate: $0, queue: nil, invalidateAfterFirstRead: false)
            }
            sessions[0].begin()
            #expect(Self.lines(field, "A session waits") == 0)
            sessions[1].begin()
            #expect(Self.lines(field, "A session waits") == 1)
            // One that begins when the one before it ends is no mistake.
            sessions[1].invalidate()
            sessions[0].invalidate()
            let last = NFCNDEFReaderSession(delegate: delegates[0], queue: nil, invalidateAfterFirstRead: false)
            last.begin()
            #expect(Self.lines(field, "A session waits") == 1)
            last.invalidate()
        }
    }

    @Test func `A delegate is released`() async throws {
        try await withField { field in
            let session = NFCNDEFReaderSession(delegate: MessageDelegate(), queue: nil, invalidateAfterFirstRead: false)
            session.begin()
            try await field.bring("NTAG213")
            await field.settle()
            #expect(Self.lines(field, "The delegate of a session was released") == 1)
            session.invalidate()
            await field.settle()
            #expect(Self.lines(field, "The delegate of a session was released") == 1)
        }
    }

    @Test func `A delegate that is released by the code that ends the session is not a mistake`() async throws {
        try await withField { field in
            var delegate: MessageDelegate? = MessageDelegate()
            let session = NFCNDEFReaderSession(
                delegate: try #require(delegate),
                queue: nil,
                invalidateAfterFirstRead: false
            )
            session.begin()
            await field.settle()
            session.invalidate()
            delegate = nil
            await field.settle()
            #expect(Self.lines(field, "The delegate") == 0)
        }
    }

    @Test func `A card has none of the listed applications`() async throws {
        try await withField("DESFire EV1 4K", app: Self.app) { field in
            var found = try await `A session for tags`.detect()
            guard case .miFare = try #require(found.tags.first) else { throw FoundTags.SessionEnded() }
            #expect(
                Self.lines(field, "A card has none of the applications that the app lists, so it arrives as .miFare")
                    == 1
            )
            found.session.restartPolling()
            _ = await found.events.nextTags()
            #expect(Self.lines(field, "A card has none") == 1)
            found.session.invalidate()
        }
        // An app that lists nothing wants MIFARE cards, other tags take no APDUs, and a card may have one of several
        // applications.
        let unlisted = AppProperties(infoPlist: ["NFCReaderUsageDescription": "Cards are read."])
        let listed = AppProperties(
            infoPlist: [
                "NFCReaderUsageDescription": "Cards are read.",
                "com.apple.developer.nfc.readersession.iso7816.select-identifiers": [
                    "A0000002471001", "D2760000850101",
                ],
            ]
        )
        for (tag, app) in [("DESFire EV1 4K", unlisted), ("NTAG213", Self.app), ("DESFire EV1 4K", listed)] {
            try await withField(.product(tag), app: app) { field in
                let found = try await `A session for tags`.detect()
                #expect(Self.lines(field, "A card has none") == 0)
                found.session.invalidate()
            }
        }
    }

    @Test func `A card has none of the listed applications, and the session looks for PACE alone`() async throws {
        try await withField("DESFire EV1 4K", app: Self.app) { field in
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .pace, delegate: delegate))
            session.begin()
            await field.settle()
            #expect(
                Self.lines(field, "A card has none of the applications that the app lists, so it is not reported") == 1
            )
            session.invalidate()
        }
    }

    @Test func `A card with PACE has none of the listed applications, and is still found`() async throws {
        var document = CardsTests.card(with: [])
        document.answer([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x01, 0x1C], with: [0x90, 0x00])
        document.answer(
            [0x00, 0xB0, 0x00, 0x00, 0x00],
            with: [
                0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02,
                0x01, 0x02, 0x02, 0x01, 0x0D, 0x90, 0x00,
            ]
        )
        for frontEnd in [Type4FrontEnd.randomEMRTD, .nfcB(pupi: [1, 2, 3, 4])] {
            try await withField(.tag(VirtualType4Tag(card: document, frontEnd: frontEnd)), app: Self.app) { field in
                let found = try await `A session for tags`.detect([.iso14443, .pace])
                #expect(found.tags.count == 1 && Self.lines(field, "A card has none") == 0)
                found.session.invalidate()
            }
        }
    }

    @Test func `A Type B card has none of the listed applications`() async throws {
        let card = VirtualType4Tag(card: CardsTests.card(with: []), frontEnd: .nfcB(pupi: [1, 2, 3, 4]))
        try await withField(.tag(card), app: Self.app) { field in
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.begin()
            await field.settle()
            #expect(
                Self.lines(field, "A card has none of the applications that the app lists, so it is not reported") == 1
            )
            session.invalidate()
        }
    }

    @Test func `A Type B card that takes no APDUs is not asked for applications`() async throws {
        let frontEnd = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x80, 0x71])
        let card = VirtualType4Tag(card: CardsTests.card(with: []), frontEnd: frontEnd)
        try await withField(.tag(card), app: Self.app) { field in
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.begin()
            await field.settle()
            #expect(Self.lines(field, "A card has none") == 0)
            session.invalidate()
        }
    }

    @Test func `A tag of an older session is used`() async throws {
        try await withField("NTAG213") { field in
            let found = try await `A session for tags`.detect()
            let old = try #require(found.miFare)
            try await found.session.connect(to: .miFare(old))
            found.session.invalidate()
            let read = Data([0x30, 0x04])
            // No other command runs, so the error is clear enough.
            let ended = await readerError { try await old.sendMiFareCommand(commandPacket: read) }
            #expect(ended?.code == .readerTransceiveErrorSessionInvalidated)
            #expect(Self.lines(field, "A tag of a session that has ended") == 0)
            let next = try await `A session for tags`.detect()
            for _ in 0..<2 {
                let error = await readerError { try await old.sendMiFareCommand(commandPacket: read) }
                #expect(error?.code == .readerTransceiveErrorSessionInvalidated)
            }
            #expect(Self.lines(field, "A tag of a session that has ended") == 1)
            let refused = await readerError { try await next.session.connect(to: .miFare(old)) }
            #expect(refused?.code == .readerErrorInvalidParameter)
            // That was the new session's.
            #expect(Self.lines(field, "A tag of a session that has ended") == 2)
            next.session.invalidate()
        }
    }

    /// A delegate whose methods are the main actor's.
    @MainActor final class MainActorDelegate: NSObject, @MainActor NFCTagReaderSessionDelegate {
        func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
    }

    @MainActor @Test func `A delegate of the main actor is given no queue`() async throws {
        try await withField { @MainActor field in
            let delegate = MainActorDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: nil))
            session.begin()
            await field.settle()
            #expect(Self.lines(field, "The delegate of a session belongs to the main actor") == 1)
            session.invalidate()
            await field.settle()
            #expect(Self.lines(field, "The delegate of a session belongs to the main actor") == 1)
            let other = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: .main))
            other.begin()
            await field.settle()
            other.invalidate()
            await field.settle()
            #expect(Self.lines(field, "The delegate") == 1)
            withExtendedLifetime(delegate) {}
        }
    }

    @Test(.ownThreads) func `A delegate of the main actor without a queue ends the process in strict mode`()
        async throws
    {
        let end = try await #require(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            let app = AppProperties(
                infoPlist: ["NFCReaderUsageDescription": "Cards are read."],
                entitlements: ["com.apple.developer.nfc.readersession.formats": ["TAG"]],
                isStrict: true
            )
            try await withField(app: app) { @MainActor field in
                let delegate = MainActorDelegate()
                let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: nil)
                session?.begin()
                await field.wait(for: .seconds(1))
                withExtendedLifetime(delegate) {}
            }
        }
        let lines = String(decoding: end.standardErrorContent, as: UTF8.self)
        #expect(lines.contains("CoreNFC: The delegate of a session belongs to the main actor"))
        #expect(lines.contains("CoreNFC: the process ends, as it would on iOS."))
    }

    @Test(.ownThreads) func `It is on standard error too, on one line and once`() async throws {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await withField { field in
                let session = NFCNDEFReaderSession(
                    delegate: MessageDelegate(),
                    queue: nil,
                    invalidateAfterFirstRead: true
                )
                session.begin()
                session.invalidate()
                for _ in 0..<3 { session.begin() }
                await field.settle()
            }
        }
        let lines = String(decoding: end.standardErrorContent, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("CoreNFC: begin()") }
        #expect(lines.count == 1)
    }
}

private typealias CardsTests = `Cards in a session for tags`
