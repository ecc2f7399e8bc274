// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// Checks which of several tags takes an app's commands, and what becomes of commands when polling restarts.
@Suite(.timeLimit(.minutes(1))) struct `A connection to a tag` {
    private typealias Cards = `Cards in a session for tags`

    private static let read = Data([0x30, 0x00])

    /// Keeps the codes with which commands are answered, in order; 0 for success.
    private final class Answers: Sendable {
        private let lines = Locked<[String]>([])
        var log: [String] { lines.withLock { $0 } }

        func note(_ name: String, _ error: (any Error)?) {
            let code = (error as? NFCReaderError)?.errorCode ?? 0
            lines.withLock { $0.append("\(name) \(code)") }
        }
    }

    /// A session that has found two tags.
    private static func two(
        _ body: (NFCTagReaderSession, any NFCMiFareTag, any NFCMiFareTag) async throws -> Void
    ) async throws {
        try await withVirtualField { field in
            for serial: UInt8 in 1...2 {
                field.tags.bring(TestTag.ntag213(uri: "https://example.com/\(serial)", serial: serial))
            }
            let found = try await `A session for tags`.detect()
            guard found.tags.count == 2, case .miFare(let one) = found.tags[0], case .miFare(let other) = found.tags[1]
            else { throw ScriptedTag.OtherKind() }
            try await body(found.session, one, other)
            found.session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }

    @Test func `is with the tag that was connected last, and the one before it takes no commands`() async throws {
        try await Self.two { session, one, other in
            try await session.connect(to: .miFare(one))
            for (tag, last) in [(other, one), (one, other), (other, one)] {
                try await session.connect(to: .miFare(tag))
                guard case .miFare(let connected)? = session.connectedTag else { throw ScriptedTag.OtherKind() }
                #expect(connected === tag && tag.isAvailable && !last.isAvailable)
                let command = await readerError { try await last.sendMiFareCommand(commandPacket: Self.read) }
                #expect(command?.code == .readerTransceiveErrorTagNotConnected)
                let procedure = await readerError { try await last.readNDEF() }
                #expect(procedure?.code == .readerTransceiveErrorTagNotConnected)
                // Pages 0 and 1 hold the UID.
                let answer = try await tag.sendMiFareCommand(commandPacket: Self.read)
                #expect(answer[7] == tag.identifier[6])
                let message = try await tag.readNDEF()
                #expect(message.records.first?.payload.last == UInt8(ascii: "0") + tag.identifier[6])
            }
        }
    }

    @Test func `is with the tag of its moment for each of the commands that were given at once`() async throws {
        try await Self.two { session, one, other in
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

    @Test func `is shown by the tag of each kind, and by its session`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6]))
            field.tags.bring(VirtualType3Tag(.transitCard(idm: [1, 2, 3, 4, 5, 6, 7, 8], balance: 1)))
            field.tags.bring(VirtualType5Tag(.icodeSLIX))
            field.tags.bring(VirtualType4Tag(card: Cards.card(with: [])))
            let found = try await `A session for tags`.detect([.iso14443, .iso15693, .iso18092])
            let (session, tags) = (found.session, found.tags)
            #expect(tags.count == 4 && tags.allSatisfy { !$0.isAvailable } && session.connectedTag == nil)
            for index in tags.indices {
                try await session.connect(to: tags[index])
                #expect(tags.map(\.isAvailable) == tags.indices.map { $0 == index })
                #expect(session.connectedTag.map { "\($0)" } == "\(tags[index])")
            }
            session.restartPolling()
            #expect(tags.allSatisfy { !$0.isAvailable } && session.connectedTag == nil)
            session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }

    @Test func `ends when polling restarts, for the commands that wait too, and each of them is answered once`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            var found = try await `A session for tags`.detect()
            let (session, answers) = (found.session, Answers())
            let tag = try #require(found.miFare)
            try await session.connect(to: .miFare(tag))
            // Polling restarts while the first command is under way.
            field.tags.arm(.effect(.call { session.restartPolling() }, atExchange: 0))
            tag.sendMiFareCommand(commandPacket: Self.read) { answers.note("under way", $1) }
            tag.sendMiFareCommand(commandPacket: Self.read) { answers.note("waiting", $1) }
            tag.readNDEF { answers.note("read", $1) }
            session.connect(to: .miFare(tag)) { answers.note("connect", $0) }
            let again = try #require(await found.events.nextTags()?.first)
            try await waitWhile(answers.log.count < 4)
            #expect(answers.log == ["under way 0", "waiting 100", "read 100", "connect 100"])
            #expect(!tag.isAvailable && session.connectedTag == nil)
            try await session.connect(to: again)
            #expect(again.isAvailable && !tag.isAvailable)
            let old = await readerError { try await tag.sendMiFareCommand(commandPacket: Self.read) }
            #expect(old?.code == .readerTransceiveErrorTagConnectionLost)
            session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }

    @Test func `is none after a restart, and the tags come once for it, also when polling restarts twice`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let delegate = TagSessionDelegate()
            let session = try #require(NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate))
            session.restartPolling()
            // The reader works on the session's queue, so it does not look before this has ended.
            session.sessionQueue.sync {
                session.begin()
                session.restartPolling()
            }
            var events = delegate.events.makeAsyncIterator()
            guard case .active? = await events.next(isolation: nil) else { throw ScriptedTag.OtherKind() }
            for _ in 0..<2 {
                #expect(await events.nextTags()?.count == 1)
                session.sessionQueue.sync {
                    session.restartPolling()
                    session.restartPolling()
                }
            }
            #expect(await events.nextTags()?.count == 1)
            session.invalidate()
            session.restartPolling()
            guard case .invalidated(let error)? = await events.next(isolation: nil) else {
                throw ScriptedTag.OtherKind()
            }
            #expect(error.code == .readerSessionInvalidationErrorUserCanceled)
            let states: [SheetState] = [.ready, .scanning, .ready, .scanning, .ready, .scanning, .success]
            #expect(field.sheet.history.map(\.state) == states)
        }
    }
}
