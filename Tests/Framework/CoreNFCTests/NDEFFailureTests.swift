// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

/// Checks what an app is told, and what a tag holds, when its message can't be read, written or locked.
@Suite(.timeLimit(.minutes(1))) struct `A message that can't be read or written` {
    private typealias Cards = `Cards in a session for tags`

    /// A message of so many bytes.
    private static func message(_ count: Int) -> NFCNDEFMessage {
        // A header of three bytes, and the type.
        NFCNDEFMessage(records: [
            NFCNDEFPayload(
                format: .media,
                type: Data("a/b".utf8),
                identifier: Data(),
                payload: Data(count: count - 6)
            )
        ])
    }

    /// Connects a session to a tag.
    private static func withTag(
        _ tag: any VirtualTag,
        _ body: (VirtualFieldScope, any NFCNDEFTag) async throws -> Void
    ) async throws {
        try await withVirtualField { field in
            field.tags.bring(tag)
            let found = try await FoundTags()
            try await found.session.connect(to: found.tag)
            try await body(field, found.tag)
            #expect(found.tag.isAvailable && found.session.isReady)
            found.session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }

    /// The code of the error with which a step fails; 0 when it succeeds.
    private static func code(_ step: () async throws -> Void) async -> Int? {
        do {
            try await step()
            return 0
        } catch {
            return (error as? NFCReaderError)?.errorCode
        }
    }

    @Test func `is said not to be formatted where the tag is not, and a damaged one is not`() async throws {
        try await Self.withTag(TestTag.unformattedNTAG213()) { _, tag in
            let error = try #require(await readerError { try await tag.readNDEF() })
            #expect(error.errorCode == 102 && error.localizedDescription == "Tag Not NDEF formatted")
            #expect((error as NSError).localizedFailureReason?.hasSuffix(".") == true)
        }
        try await Self.withTag(TestTag.ntag213(message: [0xD1, 1, 200, 0x55])) { _, tag in
            let error = try #require(await readerError { try await tag.readNDEF() })
            #expect(error.errorCode == 102 && error.localizedDescription == "Tag response error / no response")
            #expect((error as NSError).localizedFailureReason?.hasSuffix(".") == true)
            // The tag can be written all the same.
            #expect(try await tag.queryNDEFStatus() == (.readWrite, 137))
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a"))
            #expect(try await tag.readNDEF().records.count == 1)
        }
    }

    @Test(arguments: [(137, 0), (138, 402), (250, 402)])
    func `is as long as the status says at most, and of a longer one nothing is written`(count: Int, code: Int)
        async throws
    {
        let ntag = TestTag.ntag213(uri: "https://example.com/a")
        let before = ntag.contents.memory
        try await Self.withTag(ntag) { _, tag in
            let message = Self.message(count)
            #expect(message.length == count)
            let status = try await tag.queryNDEFStatus()
            #expect(status == (.readWrite, 137))
            #expect(await Self.code { try await tag.writeNDEF(message) } == code)
            #expect((ntag.contents.memory == before) == (code != 0))
            #expect(try await tag.readNDEF().length == (code == 0 ? count : 26))
        }
    }

    @Test func `is not written without records, and the old one stays`() async throws {
        let ntag = TestTag.ntag213(uri: "https://example.com/a")
        let before = ntag.contents.memory
        try await Self.withTag(ntag) { _, tag in
            #expect(await Self.code { try await tag.writeNDEF(NFCNDEFMessage(records: [])) } == 3)
            #expect(ntag.contents.memory == before)
        }
    }

    @Test func `is not written or locked where the tag refuses it, which leaves it as it was`() async throws {
        let ntag = TestTag.ntag213(uri: "https://example.com/a")
        let before = ntag.contents.memory
        try await Self.withTag(ntag) { field, tag in
            field.tags.arm(FaultPlan([Fault(.refusal(0), at: .write(1))]))
            #expect(await Self.code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b")) } == 401)
            #expect(ntag.contents.memory == before)
            field.tags.arm(FaultPlan([Fault(.refusal(0), at: .write(1))]))
            #expect(await Self.code { try await tag.writeLock() } == 401)
            #expect(ntag.contents.memory == before)
            field.tags.arm(FaultPlan())
            let status = try await tag.queryNDEFStatus()
            #expect(status == (.readWrite, 137))
            #expect(try await tag.readNDEF().records.first?.payload.last == UInt8(ascii: "a"))
        }
    }

    @Test(arguments: `Tags of every technology`.cases)
    func `is locked once, whatever the kind of tag, and is neither written nor locked after that`(
        _ test: `Tags of every technology`.Case
    ) async throws {
        try await Self.withTag(test.make()) { _, tag in
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a"))
            try await tag.writeLock()
            for _ in 0..<2 {
                #expect(await Self.code { try await tag.writeLock() } == 400)
                #expect(
                    await Self.code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b")) } == 400
                )
                #expect(try await tag.queryNDEFStatus().0 == .readOnly)
                #expect(try await tag.readNDEF().records.first?.payload.last == UInt8(ascii: "a"))
            }
        }
    }

    // MARK: Keys

    /// A card whose files are written only with a key.
    private struct KeyedCard: Card {
        private var base = ApplicationCard([NDEFApplication()])

        mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
            // UPDATE BINARY.
            if message.dropFirst().first == 0xD6 { return CardAnswer(status: .securityNotSatisfied) }
            return base.process(message, tear: tear)
        }

        mutating func losePower() { base.losePower() }
    }

    @Test func `is not written or locked without the key of its card`() async throws {
        try await Self.withTag(VirtualType4Tag(card: KeyedCard())) { _, tag in
            let access = try await tag.queryNDEFStatus().0
            #expect(access == .readWrite)
            #expect(await Self.code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/a")) } == 401)
            #expect(await Self.code { try await tag.writeLock() } == 401)
            #expect(try await tag.queryNDEFStatus().0 == .readWrite)
            #expect(await Self.code { _ = try await tag.readNDEF() } == 403)
        }
    }

    @Test func `is not written or locked without the password of its tag, and is with it`() async throws {
        var contents = TestTag.ntag213(uri: "https://example.com/a").contents
        // AUTH0: everything from page 4 on needs the password to be written, which is the factory's.
        contents.memory[0x29 * 4 + 3] = 4
        let ntag = VirtualType2Tag(contents)
        try await withVirtualField { field in
            field.tags.bring(ntag)
            let found = try await `A session for tags`.detect()
            let tag = try #require(found.miFare)
            try await found.session.connect(to: .miFare(tag))
            #expect(await Self.code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b")) } == 400)
            #expect(await Self.code { try await tag.writeLock() } == 401)
            #expect(ntag.contents.memory == contents.memory)
            #expect(try await tag.readNDEF().records.first?.payload.last == UInt8(ascii: "a"))
            let password = Data([0x1B, 0xFF, 0xFF, 0xFF, 0xFF])
            #expect(try await tag.sendMiFareCommand(commandPacket: password) == Data([0, 0]))
            try await tag.writeNDEF(TestTag.message(uri: "https://example.com/b"))
            #expect(try await tag.readNDEF().records.first?.payload.last == UInt8(ascii: "b"))
            found.session.invalidate()
            withExtendedLifetime(found.delegate) {}
        }
    }
}
