// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Type 5 tags with locked blocks, and locking and formatting them (NFC Forum T5T 1.0, 5.7 and 6).
struct Type5LockTests {
    private static let products: [Type5Product] = [.icodeSLIX, .icodeSLIX2, .st25tv02K]

    /// A product with a message of 20 bytes in the blocks 1 to 6, and locked blocks.
    private static func tag(_ product: Type5Product, locked: Set<Int>) async throws -> VirtualType5Tag {
        let open = VirtualType5Tag(product)
        try await ProductBench(open).reader.writeNDEF(message(20))
        var contents = open.contents
        contents.lockedBlocks = locked
        return VirtualType5Tag(contents)
    }

    // MARK: Locked blocks

    @Test(arguments: products, [1, 3, 6]) func `Type 5 write into a locked block: readOnly before anything is written`(
        product: Type5Product,
        block: Int
    ) async throws {
        let tag = try await Self.tag(product, locked: [block])
        let bench = try await ProductBench(tag)
        #expect(await errorCode { try await bench.reader.writeNDEF(message(20, seed: 0xFF)) } == .readOnly)
        #expect(bench.field.writeCount == 0)
        #expect(try await ProductBench(tag).reader.readNDEF() == message(20))
    }

    @Test(arguments: products)
    func `Type 5 write around locked blocks: one exchange more, and bytes that stay the same don't count`(
        product: Type5Product
    ) async throws {
        let tag = try await Self.tag(product, locked: [0, 7, 8])
        let bench = try await ProductBench(tag)
        _ = try await bench.reader.detectNDEF()
        let before = bench.link.statistics.exchanges
        try await bench.reader.writeNDEF(message(20, seed: 0xFF))
        #expect(bench.link.statistics.exchanges == before + 1 + bench.field.writeCount)
        #expect(try await ProductBench(tag).reader.readNDEF() == message(20, seed: 0xFF))
        let other = try await Self.tag(product, locked: [3])
        var changed = message(20)
        changed[19] ^= 0xFF
        try await ProductBench(other).reader.writeNDEF(changed)
        #expect(try await ProductBench(other).reader.readNDEF() == changed)
    }

    @Test(arguments: products) func `Type 5 lock check: a locked container that grants writing throws unsupported`(
        product: Type5Product
    ) async throws {
        for (locked, code): (Set<Int>, TagError.Code?) in [([0], .unsupported), ([1], nil)] {
            let bench = try await ProductBench(Self.tag(product, locked: locked))
            #expect(await errorCode { try await bench.reader.checkLocking() } == code)
            #expect(bench.field.writeCount == 0)
        }
    }

    /// The security status of blocks 1 and 2 of an M24LR; further bits say that a lock is not for everybody.
    @Test(arguments: [("0000", false), ("0903", false), ("0001", true), ("0109", true)])
    func `Type 5 security status: a block counts as locked when no sector password can open it`(
        status: String,
        isRefused: Bool
    ) async {
        let writes = isRefused ? "" : "; > 2221UID02 ccddfe00 < 00; > 022101 0304aabb < 00"
        await Type5Tests.check(
            uid: "e0022c0800112233",
            """
            write aabbccdd: \(isRefused ? "read-only" : "ok")
            > 02230003 < 00 e1403f01 0300fe00 {8}
            > 222cUID0101 < 00\(status)\(writes)
            """
        )
    }

    // MARK: Locking

    /// A container with an area of 24 bytes, its read-only form, the answers to the locks of block 0, 1 and so on, and the
    /// result. Blocks of the container have to be locked. ST25DV locks its first two blocks alone.
    @Test(arguments: [
        ("e1400301", "0300fe00 {4}", "00 00 00 00 00 00 00", "ok"),
        ("e1400301", "0300fe00 {4}", "0114", "update-failed"), ("e1400301", "0300fe00 {4}", "00 0114", "ok"),
        ("e1400301", "0300fe00 {4}", "00 00 0110", "ok"),
        ("e1400301", "0300fe00 {4}", "00 00 00 0110", "update-failed"),
        ("e2400001", "00000003 0300fe00", "00 00 00 00 00 00 00 00", "ok"),
        ("e2400001", "00000003 0300fe00", "0111 0111 0111 0111 0111 0111 0111 0111", "ok"),
        ("e2400001", "00000003 0300fe00", "0112", "update-failed"),
        ("e2400001", "00000003 0300fe00", "00 0112", "update-failed"),
        ("e2400001", "00000003 0300fe00", "00 00 0112", "ok"),
        ("e2400001", "00000003 0300fe00", "00 00 00 0112", "update-failed"),
    ]) func `Type 5 lock: the container is made read-only and locked first, then the other blocks`(
        container: String,
        rest: String,
        answers: String,
        result: String
    ) async {
        let locks = answers.split(separator: " ").enumerated().map {
            "> 0222" + hex([UInt8($0.offset)]) + " < \($0.element)"
        }
        await Type5Tests.check(
            """
            lock: \(result)
            > 02230003 < 00 \(container) \(rest) {4}
            > 2221UID00 \(container.replacing("40", with: "43")) < 00
            \(locks.joined(separator: "\n"))
            """
        )
    }

    /// The size of a block, and the blocks of an area that ends at byte 44.
    @Test(arguments: [(4, 0...10), (8, 0...5), (16, 0...2), (32, 0...1)])
    func `Type 5 lock: the blocks of the area are locked and no others`(size: Int, blocks: ClosedRange<Int>)
        async throws
    {
        var contents = Type5Contents(blank: .generic(blockCount: 128 / size, blockSize: size))
        contents.memory = contents.memory.placing(bytes("e1400501") + messageTLV(message(20)), at: 0, end: 128)
        let tag = VirtualType5Tag(contents)
        try await ProductBench(tag).reader.lock()
        #expect(tag.contents.lockedBlocks == Set(blocks))
        #expect(tag.contents.memory.starts(with: bytes("e1430501") + messageTLV(message(20))))
    }

    // MARK: A container that was not confirmed

    private static func unconfirmed(_ bytes: String, isFirst: Bool = true) -> String {
        "> \(isFirst ? "0221" : "2221UID")00\(bytes) < silence; 2x > 2221UID00\(bytes) < silence"
    }

    private static let formatting = "> 022b < 00 04UID1b03; > 2221UID01 0300fe00 < 00"

    @Test func `Type 5 format whose container is not confirmed: it is read again before the tag is used`() async {
        let start =
            "format: tag-lost; > 02230003 < 00{16}; \(Self.formatting); \(Self.unconfirmed("e1400d01")); activated\n"
        for rest in [
            "detect: rw 102 0; > 022000 < 00 e1400d01", "detect: no-cc; > 022000 < 00{4}",
            "format: read-only; > 022000 < 00 e1430d01",
            "format: ok; > 022000 < 00{4}; \(Self.formatting); > 022100 e1400d01 < 00; detect: rw 102 0",
        ] { await Type5Tests.check(start + rest) }
    }

    @Test func `Type 5 lock whose container is not confirmed: it is read again, and the lock goes on from either`()
        async
    {
        for (container, access) in [("e1430301", "ro"), ("e1400301", "rw")] {
            let locks = (0..<7).map { "> 0222" + hex([UInt8($0)]) + " < 00" }.joined(separator: "\n")
            await Type5Tests.check(
                """
                lock: tag-lost
                > 02230003 < 00 e1400301 0300fe00 {8}
                \(Self.unconfirmed("e1430301", isFirst: false))
                activated
                detect: \(access) 22 0
                > 2220UID00 < 00 \(container)
                lock: ok
                > 2221UID00 e1430301 < 00
                \(locks)
                detect: ro 22 0
                lock: read-only
                """
            )
        }
    }

    // MARK: Formatting

    @Test func `Type 5 format: the blocks are written from the last to the first`() async {
        await Type5Tests.check(
            """
            detect: rw 22 0
            > 02230003 < 00 e1400301 0300fe00 {8}
            format: ok
            \(Self.formatting)
            > 022100 e1400d01 < 00
            detect: rw 102 0
            """
        )
        // 257 blocks: one more than short addresses reach.
        await Type5Tests.check(
            """
            format: ok
            > 02230003 < 00{16}; > 022b < 0101; > 023b04 < 00 04UID000103
            > 2221UID02 0300fe00 < 00; > 022101 0000007f < 00; > 022100 e2400001 < 00
            """
        )
        await Type5Tests.check("format: unsupported; > 02230003 < 00{16}; > 022b < 0101; > 023b04 < 0101")
    }

    /// The size of a block, how many there are, the start of the memory, and the writes.
    @Test(arguments: [
        (4, 64, "e1401f01 0300fe00", 2), (8, 250, "e140f901 0300fe00", 1), (8, 300, "e24000010000012b 0300fe", 2),
        (16, 20, "e1402701 0300fe00", 1), (16, 257, "e240000100000201 0300fe", 1), (32, 4, "e1400f01 0300fe", 1),
    ]) func `Type 5 format: the container is for the memory that the tag reports`(
        size: Int,
        count: Int,
        start: String,
        writes: Int
    ) async throws {
        var contents = Type5Contents(blank: .generic(blockCount: count, blockSize: size))
        contents.memory = [UInt8](repeating: 0, count: contents.memory.count)
        let tag = VirtualType5Tag(contents)
        let bench = try await ProductBench(tag)
        try await format(bench.reader)
        #expect(bench.field.writeCount == writes)
        #expect(tag.contents.memory.starts(with: bytes(start)))
        #expect(tag.contents.memory.dropFirst(bytes(start).count).allSatisfy { $0 == 0 })
        try await ProductBench(tag).reader.writeNDEF(message(40))
        #expect(try await ProductBench(tag).reader.readNDEF() == message(40))
    }
}
