// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Type 5 tags with larger blocks and longer containers, and with blocks that refuse (NFC Forum T5T 1.0, 4.1, 4.3, 6.5).
@Suite struct `Type 5 tags, block by block` {
    typealias Step = ScriptedLink.Step

    private static let uid = "e002240800112233"
    private static let backwards = "3322110008 2402e0"
    private static let blank = String(repeating: "00", count: 4)

    private static func tag(_ steps: [Step]) -> (Type5Tag, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcV)
        return (Type5Tag(target: NFCVTarget(uid: bytes(uid)), link: link, isAlone: true), link)
    }

    private static func tag(in field: ModelField<ModelVicinity>) -> Type5Tag {
        Type5Tag(target: NFCVTarget(uid: bytes(uid)), link: field, isAlone: true)
    }

    /// A tag with blocks of a size, and what is at the start of its memory.
    private static func field(_ start: [UInt8], blockSize: Int, count: Int) -> ModelField<ModelVicinity> {
        let memory = start + [UInt8](repeating: 0, count: blockSize * count - start.count)
        return ModelField(ModelVicinity(uid: uid, memory: memory, blockSize: blockSize), .nfcV)
    }

    @Test(arguments: [("0300fe00", []), ("0301aafe", [0xAA])] as [(String, [UInt8])])
    func `A block that the tag refused to write is read again before it is trusted`(
        stored: String,
        found: [UInt8]
    ) async throws {
        let (tag, link) = Self.tag([
            .exchange("02230003", "00 e1403f01 0300fe00" + Self.blank + Self.blank),
            .exchange("22 21" + Self.backwards + "01 0301aafe", "0112"), .exchange("022001", "00" + stored),
            .exchange("022004", "00" + Self.blank),
        ])
        #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xAA]) } == .updateFailed)
        #expect(try await tag.readNDEF() == found)
        #expect(link.remaining == 0)
    }

    @Test(
        arguments: [
            (.transmission, 3, .updateFailed), (.timeout, 3, .tagLost), (.tagRemoved, 1, .tagLost),
            (.cancelled, 1, .cancelled),
        ] as [(LinkError.Code, Int, TagError.Code)]
    )
    func `A block whose write was not confirmed is read again before it is trusted, also once the tag is back`(
        failure: LinkError.Code,
        attempts: Int,
        code: TagError.Code
    ) async throws {
        let start = Step.exchange("02230003", "00 e1403f01 0300fe00" + Self.blank + Self.blank)
        let write = Step.exchange("22 21" + Self.backwards + "01 0301aafe", failure)
        for (stored, found): (String, [UInt8]) in [("0300fe00", []), ("0301aafe", [0xAA])] {
            let again: [Step] = [
                .exchange("22 20" + Self.backwards + "01", "00" + stored), .exchange("022004", "00" + Self.blank),
            ]
            let (tag, link) = Self.tag([start] + [Step](repeating: write, count: attempts) + again)
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xAA]) } == code)
            tag.wasActivated()
            #expect(try await tag.readNDEF() == found)
            #expect(link.remaining == 0)
        }
    }

    @Test func `The old message is written whole after another one was not, since a block of that may be there`()
        async throws
    {
        let status = Step.exchange("22 2c" + Self.backwards + "0101", "00 0000")
        let other = "02 1122eefe"
        let (tag, link) = Self.tag([
            .exchange("02230003", "00 e1403f01 0305aabb ccddeefe" + Self.blank),
            // Another message, of which the second block is programmed, but never confirmed.
            status, .exchange("22 21" + Self.backwards + "01 0300aabb", "00"),
            .exchange("02 21" + other, .transmission), .exchange("22 21" + Self.backwards + other, .transmission),
            .exchange("22 21" + Self.backwards + other, .transmission),
            // The first one again.
            status, .exchange("22 21" + Self.backwards + "02 ccddeefe", "00"), .exchange("02 21 01 0305aabb", "00"),
        ])
        let old = bytes("aabbccddee")
        #expect(try await tag.readNDEF() == old)
        let new = bytes("aabb1122ee")
        #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF(new) } == .updateFailed)
        try await tag.writeNDEF(old)
        #expect(try await tag.readNDEF() == old)
        #expect(link.remaining == 0)
    }

    @Test func `Both blocks of a container of eight bytes have to be locked, and the first behind it need not`() async {
        // An area of 24 bytes, in blocks 2 to 7.
        func lock(_ answers: [String]) async -> (TagError.Code?, Int) {
            let (tag, link) = Self.tag(
                [
                    .exchange("02230003", "00 e2400001 00000003 0300fe00" + Self.blank),
                    .exchange("22 21" + Self.backwards + "00 e2430001", "00"),
                ] + answers.enumerated().map { .exchange("0222" + hex([UInt8($0.offset)]), $0.element) }
            )
            let code = await errorCode { () throws(TagError) in try await tag.lock() }
            return (code, link.remaining)
        }
        #expect(await lock([String](repeating: "00", count: 8)) == (nil, 0))
        #expect(await lock([String](repeating: "0111", count: 8)) == (nil, 0))
        #expect(await lock(["0112"]) == (.updateFailed, 0))
        #expect(await lock(["00", "0112"]) == (.updateFailed, 0))
        #expect(await lock(["00", "00", "0112"]) == (nil, 0))
        #expect(await lock(["00", "00", "00", "0112"]) == (.updateFailed, 0))
    }

    /// The size of a block, and the blocks of an area that ends at byte 44.
    @Test(arguments: [(4, 0...10), (8, 0...5), (16, 0...2), (32, 0...1)])
    func `A lock closes the blocks of the area and no others`(blockSize: Int, blocks: ClosedRange<Int>) async throws {
        let start = bytes("e1400501") + messageTLV(message(20))
        let field = Self.field(start, blockSize: blockSize, count: 128 / blockSize)
        try await Self.tag(in: field).lock()
        #expect(field.tag.locked == Set(blocks))
        #expect(field.tag.memory.starts(with: bytes("e1430501") + messageTLV(message(20))))
        let reader = Self.tag(in: field)
        #expect(try await reader.detectNDEF().access == .readOnly)
        #expect(try await reader.readNDEF() == message(20))
    }

    /// The size of a block, how many there are, the start of the memory, and the writes.
    @Test(
        arguments: [
            (4, 64, "e1401f01 0300fe00", 2), (8, 250, "e140f901 0300fe00", 1),
            (8, 300, "e24000010000012b 0300fe", 2), (16, 20, "e1402701 0300fe00", 1),
            (16, 257, "e240000100000201 0300fe", 1), (32, 4, "e1400f01 0300fe", 1),
        ]
    )
    func `A blank tag is formatted for the memory that it reports`(
        blockSize: Int,
        count: Int,
        start: String,
        writes: Int
    ) async throws {
        let field = Self.field([], blockSize: blockSize, count: count)
        try await Self.tag(in: field).format()
        #expect(field.writes == writes)
        #expect(field.tag.memory.starts(with: bytes(start)))
        #expect(field.tag.memory.dropFirst(bytes(start).count).allSatisfy { $0 == 0 })
        #expect(try await Self.tag(in: field).readNDEF().isEmpty)
        try await Self.tag(in: field).writeNDEF(message(40))
        #expect(try await Self.tag(in: field).readNDEF() == message(40))
    }

    @Test func `A tag that says it is smaller than its container has no message`() async {
        let (tag, link) = Self.tag([
            .exchange("02230003", "00 e1400001 00000002" + Self.blank + Self.blank),
            .exchange("022b", "00 04" + Self.backwards + "0003"),
        ])
        #expect(await errorCode { () throws(TagError) in _ = try await tag.readNDEF() } == .noMessageTLV)
        #expect(link.remaining == 0)
    }

    @Test func `The state of blocks on both sides of 256 is asked for by two commands`() async throws {
        let low = "00 01" + String(repeating: "00", count: 13) + "01"
        let high = "01 09" + String(repeating: "00", count: 13) + "01"
        let (tag, link) = Self.tag([
            .exchange("022cf00f", "00" + low), .exchange("023c 0001 0f00", "00" + high),
        ])
        #expect(try await tag.readPermanentlyLockedBlocks(in: 240..<272) == [241, 255, 256, 271])
        #expect(link.remaining == 0)
        let (short, rest) = Self.tag([
            .exchange("022cf00f", "00" + low), .exchange("023c 0001 0f00", "00" + low + "00"),
        ])
        #expect(try await short.readPermanentlyLockedBlocks(in: 240..<272) == nil && rest.remaining == 0)
        let (last, end) = Self.tag([.exchange("022cff00", "00 01")])
        #expect(try await last.readPermanentlyLockedBlocks(in: 255..<256) == [255] && end.remaining == 0)
        let (next, other) = Self.tag([.exchange("023c 0001 0000", "00 00")])
        #expect(try await next.readPermanentlyLockedBlocks(in: 256..<257) == [] && other.remaining == 0)
    }
}
