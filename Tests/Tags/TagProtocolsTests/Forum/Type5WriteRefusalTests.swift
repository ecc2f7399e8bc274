// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A locked block in the middle of a message would stop the write when the old message is gone, so it is asked for before.
@Suite struct `A Type 5 tag with locked blocks` {
    private static let products: [Type5Product] = [.icodeSLIX, .icodeSLIX2, .st25tv02K]

    /// A product with a message of 20 bytes in the blocks 1 to 6, and locked blocks.
    private static func tag(_ product: Type5Product, locked: Set<Int>) async throws -> VirtualType5Tag {
        let open = VirtualType5Tag(product)
        try await ProductBench(open).reader.writeNDEF(message(20))
        var contents = open.contents
        contents.lockedBlocks = locked
        return VirtualType5Tag(contents)
    }

    @Test(arguments: products, [1, 3, 6])
    func `refuses a message that reaches one, and keeps the old message`(product: Type5Product, block: Int) async throws
    {
        let tag = try await Self.tag(product, locked: [block])
        let bench = try await ProductBench(tag)
        let error = await #expect(throws: TagError.self) { try await bench.reader.writeNDEF(message(20, seed: 0xFF)) }
        #expect(error?.code == .readOnly && error?.reason.hasPrefix("Block \(block) of the tag is locked") == true)
        #expect(bench.field.writeCount == 0)
        #expect(try await ProductBench(tag).reader.readNDEF() == message(20))
    }

    @Test(arguments: products) func `can't be made read-only where its container is one of them`(
        product: Type5Product
    ) async throws {
        let tag = try await Self.tag(product, locked: [0])
        let bench = try await ProductBench(tag)
        await #expect(throws: TagError(.unsupported, "")) { try await bench.reader.checkLocking() }
        #expect(bench.field.writeCount == 0)
        try await ProductBench(Self.tag(product, locked: [1])).reader.checkLocking()
        let open = try await Self.tag(product, locked: [])
        try await ProductBench(open).reader.lock()
        await #expect(throws: TagError(.readOnly, "")) { try await ProductBench(open).reader.checkLocking() }
    }

    @Test(arguments: products) func `takes a message that reaches none, for one more exchange`(
        product: Type5Product
    ) async throws {
        let tag = try await Self.tag(product, locked: [0, 7, 8])
        let bench = try await ProductBench(tag)
        _ = try await bench.reader.detectNDEF()
        let before = bench.link.statistics.exchanges
        try await bench.reader.writeNDEF(message(20, seed: 0xFF))
        #expect(bench.link.statistics.exchanges == before + 1 + bench.field.writeCount)
        #expect(try await ProductBench(tag).reader.readNDEF() == message(20, seed: 0xFF))
    }

    @Test(arguments: products) func `takes a message whose bytes in one stay the same`(
        product: Type5Product
    ) async throws {
        let tag = try await Self.tag(product, locked: [3])
        let bench = try await ProductBench(tag)
        var changed = try await bench.reader.readNDEF()
        changed[19] ^= 0xFF
        try await bench.reader.writeNDEF(changed)
        #expect(try await ProductBench(tag).reader.readNDEF() == changed)
    }

    /// The security status of blocks 1 and 2, and the block that is named.
    @Test(arguments: [("0000", nil), ("0903", nil), ("0001", 2), ("0109", 1)] as [(String, Int?)])
    func `takes a message where further bits say that a lock is not for everybody`(
        status: String,
        block: Int?
    ) async throws {
        let uid = "3322110008 2c02e0"
        let writes: [ScriptedLink.Step] = [
            .exchange("2221" + uid + "02 ccddfe00", "00"), .exchange("0221 01 0304aabb", "00"),
        ]
        let link = ScriptedLink(
            [
                .exchange("02230003", "00 e1403f01 0300fe00 00000000 00000000"),
                .exchange("222c" + uid + "0101", "00" + status),
            ] + (block == nil ? writes : []),
            technology: .nfcV
        )
        let tag = Type5Tag(target: NFCVTarget(uid: bytes("e0022c0800112233")), link: link, isAlone: true)
        do throws(TagError) {
            try await tag.writeNDEF(bytes("aabbccdd"))
            #expect(block == nil)
        } catch {
            #expect(error.code == .readOnly && error.reason.hasPrefix("Block \(block ?? 0) of the tag is locked"))
        }
        #expect(link.remaining == 0)
    }
}
