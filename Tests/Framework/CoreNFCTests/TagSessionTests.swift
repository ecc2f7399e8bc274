// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// A session for tags: which tag takes commands, when, and what restarting polling does.
@Suite(.timeLimit(.minutes(1))) struct TagSessionTests {
    private static let read = Data([0x30, 0x00])

    /// The codes with which completion handlers are called, in order.
    private final class Answers: Sendable {
        private let lines = Locked<[String]>([])
        var log: [String] { lines.withLock { $0 } }
        func note(_ name: String, _ error: (any Error)?) { lines.withLock { $0.append("\(name) \(code(of: error))") } }
    }

    /// A session that has found two NTAGs, and is not connected.
    private static func two(
        _ body: (VirtualFieldScope, NFCTagReaderSession, any NFCMiFareTag, any NFCMiFareTag) async throws -> Void
    ) async throws {
        let tags = [1, 2].map { TestTag.ntag213("https://example.com/\($0)", serial: $0) }
        try await withTags(tags[0], tags[1], connects: false) { field, scene in
            try #require(scene.tags.count == 2)
            try await body(field, scene.session, scene.tags[0].miFare, scene.tags[1].miFare)
        }
    }

    @Test func `NTAG: found as a MIFARE Ultralight, which is an NDEF tag too`() async throws {
        try await withTags(TestTag.ntag213(), connects: false) { _, scene in
            let (session, tag) = (scene.session, try scene.miFare)
            #expect(tag.mifareFamily == .ultralight && tag.identifier.count == 7 && tag.session === session)
            // A client may wrap the object again.
            try await session.connect(to: .miFare(tag))
            #expect(session.connectedTag?.isAvailable == true)
            #expect(try await tag.readNDEF().records.count == 1)
            session.invalidate()
            #expect(await scene.delegate.wholeLog() == ["active", "tags 1", "ended 200"])
            #expect(session.connectedTag == nil && !tag.isAvailable)
        }
    }

    @Test
    func `Polling options: tags of other technologies are not reported; without a technology, session init is nil`()
        async throws
    {
        await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let delegate = TagSessionDelegate()
            tagSession(delegate, .iso15693).begin()
            field.clock.advance(by: .seconds(60))
            #expect(await delegate.wholeLog() == ["active", "ended 201"])
        }
        for (option, isSession) in [(0, false), (64, false), (8, true), (9, true)] {
            let options = NFCTagReaderSession.PollingOption(rawValue: option)
            let session = NFCTagReaderSession(pollingOption: options, delegate: TagSessionDelegate())
            #expect((session != nil) == isSession, "\(option)")
        }
    }

    // MARK: Connecting

    @Test func `Commands in a row: each works if its tag is connected at its turn, and fails with 104 otherwise`()
        async throws
    {
        try await Self.two { _, session, one, other in
            let answers = Answers()
            one.sendMiFareCommand(commandPacket: Self.read) { answers.note("early", $1) }
            session.connect(to: .miFare(one)) { answers.note("connect one", $0) }
            one.sendMiFareCommand(commandPacket: Self.read) { answers.note("one", $1) }
            other.sendMiFareCommand(commandPacket: Self.read) { answers.note("not other", $1) }
            session.connect(to: .miFare(other)) { answers.note("connect other", $0) }
            one.readNDEF { answers.note("not one", $1) }
            other.queryNDEFStatus { answers.note("other", $2) }
            _ = try await other.readNDEF()
            #expect(
                answers.log == [
                    "early 104", "connect one 0", "one 0", "not other 104", "connect other 0", "not one 104", "other 0",
                ]
            )
        }
    }

    // MARK: Restarting polling

    @Test func `restartPolling() during a command: that command completes; each waiting one fails once, with 100`()
        async throws
    {
        try await withTags(TestTag.ntag213()) { field, scene in
            let (session, answers, tag) = (scene.session, Answers(), try scene.miFare)
            // Polling restarts while the first command is under way.
            field.tags.arm(.effect(.call { session.restartPolling() }, atExchange: 0))
            tag.sendMiFareCommand(commandPacket: Self.read) { answers.note("under way", $1) }
            tag.sendMiFareCommand(commandPacket: Self.read) { answers.note("waiting", $1) }
            tag.readNDEF { answers.note("read", $1) }
            session.connect(to: .miFare(tag)) { answers.note("connect", $0) }
            let again = try #require(await scene.delegate.nextTags()?.first)
            try await waitWhile(answers.log.count < 4)
            #expect(answers.log == ["under way 0", "waiting 100", "read 100", "connect 100"])
            #expect(!tag.isAvailable && session.connectedTag == nil)
            try await session.connect(to: again)
            #expect(again.isAvailable && !tag.isAvailable)
            #expect(await code { try await tag.sendMiFareCommand(commandPacket: Self.read) } == 100)
        }
    }

    @Test func `restartPolling() twice in a row: the tags are reported once`() async throws {
        await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let delegate = TagSessionDelegate()
            let session = tagSession(delegate)
            session.restartPolling()
            // The reader works on the session's queue, so it does not look before this has ended.
            session.sessionQueue.sync {
                session.begin()
                session.restartPolling()
            }
            for _ in 0..<2 {
                #expect(await delegate.nextTags()?.count == 1)
                session.sessionQueue.sync {
                    session.restartPolling()
                    session.restartPolling()
                }
            }
            #expect(await delegate.nextTags()?.count == 1)
            session.invalidate()
            session.restartPolling()
            #expect(await delegate.wholeLog() == ["active", "tags 1", "tags 1", "tags 1", "ended 200"])
            let states: [SheetState] = [.ready, .scanning, .ready, .scanning, .ready, .scanning, .success]
            #expect(Array(field.sheet.history.map(\.state).prefix(7)) == states)
        }
    }

    // MARK: APDUs without a connection

    @Test func `APDU without a connection: connects an ISO 7816 card; for a MIFARE card it is error 104`() async throws
    {
        try await withTags(TestTag.ndefCard(), app: .app(applications: [AID.ndef]), connects: false) { _, scene in
            let (session, card) = (scene.session, try scene.iso7816)
            #expect(await code { try await card.readNDEF() } == 104)
            #expect(card.isAvailable && session.connectedTag == nil)
            #expect(try await card.send("00a4000c02e103") == "9000")
            #expect(try session.connectedTag?.iso7816 === card && card.isAvailable)
            session.invalidate()
            #expect(await code { try await card.send("00a4000c02e103") } == 103)
        }
        let desfire = VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4))
        try await withTags(desfire, app: .app(), connects: false) { _, scene in
            #expect(await code { try await scene.miFare.sendAPDU("00a4000c02e103") } == 104)
        }
    }

    @Test func `APDU to a card that is not connected: error 104, but connects once the connected card is lost`()
        async throws
    {
        let cards = [TestTag.ndefCard(1), TestTag.ndefCard(2)]
        let select = "00a4000c02e103"
        try await withTags(cards[0], cards[1], app: .app(applications: [AID.ndef]), connects: false) { field, scene in
            let found = try scene.tags.map { try $0.iso7816 }
            for card in found + found {
                try await scene.session.connect(to: .iso7816(card))
                #expect(try await card.send(select) == "9000")
            }
            try await scene.session.connect(to: .iso7816(found[0]))
            #expect(await code { try await found[1].send(select) } == 104)
            #expect(found[0].isAvailable)
            field.tags.remove(try #require(cards.first { Data($0.identifier) == found[0].identifier }))
            #expect(await code { try await found[0].send(select) } == 102)
            #expect(try await found[1].send(select) == "9000")
            #expect(found[1].isAvailable)
        }
    }
}
