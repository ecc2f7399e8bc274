// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// Checks that an app gets what its tag holds, also when it has changed that with commands of the tag's technology.
@Suite(.timeLimit(.minutes(1))) struct `A message after commands of the app's own` {
    private typealias Cards = `Cards in a session for tags`

    /// The link of the first record, without the byte for its beginning.
    private static func link(_ tag: any NFCNDEFTag) async throws -> String? {
        try await tag.readNDEF().records.first.map { String(decoding: $0.payload.dropFirst(), as: UTF8.self) }
    }

    @Test func `is read again from an NTAG, and so are its status and its length`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            func write(_ page: UInt8, _ bytes: [UInt8]) async throws {
                let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, page] + bytes))
                #expect(answer == Data([0x0A]))
            }
            try await found.session.connect(to: .miFare(tag))
            #expect(try await Self.link(tag) == "https://example.com/a")
            // The first letters of the link are in page 7.
            try await write(7, Array("HTTP".utf8))
            #expect(try await Self.link(tag) == "HTTPs://example.com/a")
            // A message without bytes, as it comes from the factory.
            try await write(5, [0x34, 0x03, 0x00, 0xFE])
            let empty = await readerError { try await tag.readNDEF() }
            #expect(empty?.code == .ndefReaderSessionErrorZeroLengthMessage)
            #expect(try await tag.queryNDEFStatus() == (.readWrite, 137))
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b"))
            #expect(try await Self.link(tag) == "example.com/b")
            // The capability container allows no more writing.
            try await write(3, [0xE1, 0x10, 0x12, 0x0F])
            #expect(try await tag.queryNDEFStatus().0 == .readOnly)
            let locked = await readerError { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/c")) }
            #expect(locked?.code == .ndefReaderSessionErrorTagNotWritable)
            #expect(try await Self.link(tag) == "example.com/b")
            found.session.invalidate()
        }
    }

    @Test func `is read again from an ICODE`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualType5Tag(.icodeSLIX))
            let found = try await `A session for tags`.detect(.iso15693)
            guard case .iso15693(let tag)? = found.tags.first else { throw ScriptedTag.OtherKind() }
            try await found.session.connect(to: .iso15693(tag))
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a"))
            #expect(try await Self.link(tag) == "example.com/a")
            let block = try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: 1)
            #expect(block.first == 0x03)
            try await tag.writeSingleBlock(
                requestFlags: .highDataRate,
                blockNumber: 1,
                dataBlock: Data([0x03, 0x00, 0xFE, 0x00])
            )
            let empty = await readerError { try await tag.readNDEF() }
            #expect(empty?.code == .ndefReaderSessionErrorZeroLengthMessage)
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b"))
            #expect(try await Self.link(tag) == "example.com/b")
            found.session.invalidate()
        }
    }

    @Test func `is read again from a FeliCa card`() async throws {
        let contents = FeliCaStandardContents(
            idm: [0x01, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34],
            systems: [FeliCaSystem(ndefBlocks: 64)]
        )
        let (card, app) = (VirtualType3Tag(contents), Cards.app(systems: ["12FC"]))
        try await Cards.withTags([card], app, polling: .iso18092) { _, session, tags in
            guard case .feliCa(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            try await session.connect(to: .feliCa(tag))
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a"))
            #expect(try await Self.link(tag) == "example.com/a")
            let (readFlag, _, blocks) = try await tag.readWithoutEncryption(
                serviceCodeList: [Data([0x0B, 0x00])],
                blockList: [Data([0x80, 0x01])]
            )
            var block = [UInt8](try #require(blocks.first))
            // The record's header has three bytes, its type one, and the beginning of the link another one.
            #expect(readFlag == 0 && block[5] == UInt8(ascii: "e"))
            block[5] = UInt8(ascii: "E")
            let (writeFlag, _) = try await tag.writeWithoutEncryption(
                serviceCodeList: [Data([0x09, 0x00])],
                blockList: [Data([0x80, 0x01])],
                blockData: [Data(block)]
            )
            #expect(writeFlag == 0)
            #expect(try await Self.link(tag) == "Example.com/a")
        }
    }

    @Test func `is read from its file and written to it, also when the app has selected another one`() async throws {
        let card = VirtualType4Tag(
            card: ApplicationCard([NDEFApplication()]),
            frontEnd: .nfcA(uid: [0x04, 1, 1, 1, 1, 1, 1], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        )
        try await Cards.withTags([card], Cards.app(applications: ["D2760000850101"])) { _, session, tags in
            guard case .iso7816(let tag) = try #require(tags.first) else { throw Cards.Unexpected() }
            func send(_ bytes: [UInt8]) async throws -> NFCISO7816ResponseAPDU {
                let apdu = try #require(NFCISO7816APDU(data: Data(bytes)))
                return try await tag.sendCommand(apdu: apdu)
            }
            let container: [UInt8] = [0, 0xA4, 0, 0x0C, 2, 0xE1, 0x03]
            try await session.connect(to: .iso7816(tag))
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a"))
            #expect(try await Self.link(tag) == "example.com/a")
            // The capability container is the current file now.
            #expect(try await send(container).statusWord1 == 0x90)
            let before = try await send([0, 0xB0, 0, 0, 15]).payload
            #expect(before?.count == 15)
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b"))
            #expect(try await Self.link(tag) == "example.com/b")
            #expect(try await send(container).statusWord1 == 0x90)
            #expect(try await send([0, 0xB0, 0, 0, 15]).payload == before)
            // The length in the file of the message.
            #expect(try await send([0, 0xA4, 0, 0x0C, 2, 0xE1, 0x04]).statusWord1 == 0x90)
            #expect(try await send([0, 0xD6, 0, 0, 2, 0, 0]).statusWord1 == 0x90)
            let empty = await readerError { try await tag.readNDEF() }
            #expect(empty?.code == .ndefReaderSessionErrorZeroLengthMessage)
        }
    }
}
