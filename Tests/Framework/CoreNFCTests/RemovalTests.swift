// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualCards
import VirtualTags

/// Checks that a tag that leaves the field is noticed, also when it is sent no command.
@Suite(.timeLimit(.minutes(5))) struct `A tag that leaves the field` {
    /// A kind of tag, and the request that checks its presence.
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var make: @Sendable () -> any VirtualTag
        /// The first bytes of the question.
        var question: [UInt8]
        var testDescription: String { name }
    }

    private static let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34]

    static let kinds = [
        Kind(name: "Topaz 512", make: { VirtualType1Tag(.topaz512) }, question: [0x78]),
        Kind(name: "Ultralight", make: { VirtualType2Tag(.ultralight) }, question: [0x30, 0x03]),
        Kind(name: "NTAG216", make: { VirtualType2Tag(.ntag216) }, question: [0x3A, 0x03, 0x03]),
        Kind(name: "FeliCa Lite-S", make: { VirtualType3Tag(FeliCaLiteSContents(idm: idm)) }, question: [0x06, 0x00]),
        Kind(
            name: "FeliCa Standard",
            make: { VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(ndefBlocks: 8)])) },
            question: [0x0A, 0x04]
        ),
        // DESFire gives its applications 77 ms a block.
        Kind(name: "DESFire", make: { VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4)) }, question: [0xB2]),
        Kind(
            name: "Type 4B",
            make: { VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3, 4])) },
            question: [0xB2]
        ),
        Kind(name: "ICODE SLIX2", make: { VirtualType5Tag(.icodeSLIX2) }, question: [0x22, 0x20]),
    ]

    /// The loop of Apple's sample. Sendable because a tag and a session may be used by any task.
    private struct Loop: @unchecked Sendable {
        let tag: any NFCNDEFTag
        let session: NFCNDEFReaderSession

        /// Connects to the tag again and again, until it is not available any more.
        ///
        /// - Returns: when it ended, and the error with which connecting failed then.
        func run(in field: TestField) async throws -> (end: Duration, code: NFCReaderError.Code?) {
            var code: NFCReaderError.Code?
            while true {
                do {
                    try await session.connect(to: tag)
                } catch {
                    code = (error as? NFCReaderError)?.code
                }
                guard code == nil, tag.isAvailable else { return (field.now, code) }
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    @Test(arguments: kinds) func `is noticed within 600 ms by a loop that connects to it again`(_ kind: Kind)
        async throws
    {
        for moment in [0, 130, 260, 390, 490] {
            try await withField(.tag(kind.make())) { field in
                var found = try await FoundTags()
                let (session, tag) = (found.session, found.tag)
                try await session.connect(to: tag)
                let loop = Loop(tag: tag, session: session)
                async let ending = loop.run(in: field)
                await field.wait(for: .milliseconds(2000 + moment))
                #expect(tag.isAvailable)
                try await field.takeAway()
                let left = field.now
                let (end, code) = try await ending
                #expect(end - left <= .milliseconds(600), "It took \(end - left), from \(moment) ms on.")
                #expect(code == .readerTransceiveErrorTagConnectionLost)
                #expect(!tag.isAvailable)
                session.restartPolling()
                try await field.bring(field.tags[0])
                #expect(await found.events.nextTags()?.count == 1)
                session.invalidate()
            }
        }
    }

    @Test(arguments: kinds) func `is asked by one exchange, which changes nothing`(_ kind: Kind) async throws {
        try await withField(.tag(kind.make())) { field in
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            let before = field.exchanges.count
            try await session.connect(to: tag)
            // A card that an NDEF session has found is opened by its first command.
            _ = try await tag.queryNDEFStatus()
            let opened = field.exchanges.count
            #expect(opened > before)
            for _ in 0..<3 { try await session.connect(to: tag) }
            let questions = field.exchanges.dropFirst(opened)
            #expect(questions.count == 3)
            for question in questions {
                // The number of an ISO-DEP block alternates.
                let bytes = question.request.bytes.enumerated().map { $0 == 0 && $1 == 0xB3 ? 0xB2 : $1 }
                #expect(bytes.starts(with: kind.question), "It was \(bytes).")
            }
            // The tag keeps its state.
            _ = try await tag.readNDEF(orNothing: ())
            #expect(tag.isAvailable)
            session.invalidate()
        }
    }

    @Test(arguments: kinds) func `can't be connected`(_ kind: Kind) async throws {
        try await withField(.tag(kind.make())) { field in
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            #expect(!tag.isAvailable)
            try await field.takeAway()
            let exchanges = field.exchanges.count
            let error = await readerError { try await session.connect(to: tag) }
            #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
            #expect(!tag.isAvailable)
            #expect(field.exchanges.count == exchanges)
            session.invalidate()
        }
    }

    @Test(arguments: kinds) func `is not available any more, though nobody asks`(_ kind: Kind) async throws {
        try await withField(.tag(kind.make())) { field in
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            #expect(tag.isAvailable)
            let exchanges = field.exchanges.count
            try await field.takeAway()
            #expect(!tag.isAvailable)
            #expect(field.exchanges.count == exchanges)
            session.invalidate()
        }
    }

    @Test(arguments: kinds) func `is another one when it is back`(_ kind: Kind) async throws {
        try await withField(.tag(kind.make())) { field in
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            try await field.takeAway()
            try await field.bring(field.tags[0])
            #expect(!tag.isAvailable)
            let error = await readerError { try await session.connect(to: tag) }
            #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
            session.restartPolling()
            let again = try #require(await found.events.nextTags()?.first)
            try await session.connect(to: again)
            #expect(again.isAvailable && !tag.isAvailable)
            session.invalidate()
        }
    }

    @Test func `A tag is available while it is the connected one`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/1", serial: 1))
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/2", serial: 2))
            let found = try await `A session for tags`.detect()
            let (session, one, other) = (found.session, found.tags[0], found.tags[1])
            #expect(!one.isAvailable && !other.isAvailable && session.connectedTag == nil)
            try await session.connect(to: one)
            #expect(one.isAvailable && !other.isAvailable)
            try await session.connect(to: other)
            #expect(!one.isAvailable && other.isAvailable && session.connectedTag?.isAvailable == true)
            // The reader has let go of the one when the other turns out to have left.
            field.tags.remove(field.tags.tags[0])
            let error = await readerError { try await session.connect(to: one) }
            #expect(error?.code == .readerTransceiveErrorTagConnectionLost)
            #expect(!one.isAvailable && other.isAvailable)
            session.restartPolling()
            #expect(!other.isAvailable && session.connectedTag == nil)
            session.invalidate()
        }
    }

    @Test func `Connecting to the connected tag again does not restart its 20 seconds`() async throws {
        try await withField("NTAG213") { field in
            let found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            try await session.connect(to: tag)
            let start = field.now
            let (end, code) = try await Loop(tag: tag, session: session).run(in: field)
            #expect(end - start >= .seconds(20) && end - start <= .milliseconds(20_600), "It took \(end - start).")
            #expect(code == .readerTransceiveErrorTagConnectionLost)
            #expect(session.isReady)
            session.invalidate()
        }
    }

    @Test func `Each tag has 20 seconds of its own, from when it is connected after another one`() async throws {
        let tags = [1, 2].map { TestTag.ntag213(uri: "https://example.com/a", serial: $0) }
        try await withField(.tag(tags[0]), .tag(tags[1])) { field in
            let found = try await FoundTags()
            try #require(found.tags.count == 2)
            let (session, one, other) = (found.session, found.tags[0], found.tags[1])
            for tag in [one, other, one] {
                try await session.connect(to: tag)
                await field.wait(for: .seconds(15))
                #expect(tag.isAvailable)
            }
            await field.wait(for: .milliseconds(5500))
            #expect(!one.isAvailable && !other.isAvailable)
            session.invalidate()
        }
    }

    @Test func `A password that was given counts on after connecting again`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // AUTH0 in page 29h, PROT in page 2Ah, password FFFFFFFF in page 2Bh.
        contents.memory.replaceSubrange(0x29 * 4..<0x2B * 4, with: [0, 0, 0, 0x04, 0x80, 0, 0, 0])
        try await withField(.contents(.type2(contents))) { field in
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            try await found.session.connect(to: .miFare(tag))
            let packet = Data([0x1B, 0xFF, 0xFF, 0xFF, 0xFF])
            #expect(try await tag.sendMiFareCommand(commandPacket: packet).count == 2)
            try await found.session.connect(to: .miFare(tag))
            #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04])).count == 16)
            found.session.invalidate()
        }
    }

    @Test func `A tag that refused a command is near, and takes commands when it is connected again`() async throws {
        try await withField("NTAG213") { field in
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            try await found.session.connect(to: .miFare(tag))
            #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0xF0])) == Data([0x00]))
            try await found.session.connect(to: .miFare(tag))
            #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04])).count == 16)
            found.session.invalidate()
        }
    }

    @Test func `A tag that refuses to be read is near, and takes commands when it is connected again`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // AUTH0 00 and PROT: no page is read without the password.
        contents.memory.replaceSubrange(0x29 * 4..<0x2B * 4, with: [0, 0, 0, 0x00, 0x80, 0, 0, 0])
        try await withField(.contents(.type2(contents))) { field in
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            for _ in 0..<3 { try await found.session.connect(to: .miFare(tag)) }
            #expect(try await tag.sendMiFareCommand(commandPacket: Data([0x60])).count == 8)
            found.session.invalidate()
        }
    }
}

extension NFCNDEFTag {
    /// Reads the message; a tag without one is as good.
    fileprivate func readNDEF(orNothing: Void) async throws -> NFCNDEFMessage? {
        do {
            return try await readNDEF()
        } catch NFCReaderError.ndefReaderSessionErrorZeroLengthMessage {
            return nil
        }
    }
}
