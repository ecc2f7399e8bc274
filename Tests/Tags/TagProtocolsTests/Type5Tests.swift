// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // single blocks are read, written and locked by internal calls

/// Type 5 tags: exact exchanges with and without their UID, over the border of block 255, and refusals (NFC Forum T5T 1.0,
/// 4 to 6; ISO/IEC 15693-3).
struct Type5Tests {
    @Test(arguments: try Scenario.all(in: "type5.txt"))
    func `Type 5 tag: each call makes exactly the requests of type5.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let uid = bytes(part.options["uid"] ?? "e002240800112233")
            let link = ScriptedLink(.nfcV, maximumFrameLength: part.number("frame") ?? 256)
            let isAlone = part.options["in-crowd"] == nil
            let tag = Type5Tag(target: NFCVTarget(uid: uid), link: link, isAlone: isAlone)
            if part.options["sized"] != nil {
                tag.blockSize = 4
                tag.memory = TagMemory(unitSize: 4, limit: 1 << 16)
            }
            let text = part.text.replacing("UID", with: hex(uid.reversed()))
            await Script(text).run(on: link) { try await Self.call(tag, $0) }
        }
    }

    private static func call(_ tag: Type5Tag, _ call: Script.Call) async throws -> String {
        func list(_ blocks: [Int]?) -> String { blocks.map { $0.map(String.init).joined(separator: " ") } ?? "nil" }
        switch call.name {
        case "first":
            try await tag.readFirstBlocks()
            return "\(tag.blockSize)"
        case "fetch": try await tag.fetch(call.number(0)..<call.number(1))
        case "address": tag.needsAddress = true
        case "option": return "\(tag.writesWithOption)"
        case "set": try await tag.write(call.bytes(1), to: call.number(0))
        case "lock-block": try await tag.lock(block: call.number(0))
        case "locked": return list(try await tag.readLockedBlocks(of: call.number(0)))
        case "frozen": return list(try await tag.readPermanentlyLockedBlocks(in: call.number(0)..<call.number(1)))
        case "info":
            let info = try await tag.readSystemInfo()
            return info.map { "\($0.blockCount ?? 0) \($0.icReference ?? 0)" } ?? "nil"
        case "signature": return try await tag.readSignature().map { hex($0) } ?? "nil"
        case "counter": return try await tag.readCounter().map { "\($0)" } ?? "nil"
        default: return try await callForumTag(tag, call)
        }
        return "ok"
    }

    /// The memory's size, whether blocks have long addresses, and the container.
    @Test(arguments: [
        (15, false, "nil"), (16, false, "e1400101"), (112, false, "e1400d01"), (4 + 255 * 8 + 7, false, "e140ff01"),
        (4 + 256 * 8, false, "e1400001000000ff"), (8192, true, "e2400001000003ff"), (64, true, "e240000100000007"),
        (1 << 20, true, "e24000010000ffff"),
    ]) func `Type 5 container for a memory: eight bytes where four can't say the size`(
        size: Int,
        isLong: Bool,
        text: String
    ) {
        let container = Type5CapabilityContainer(forMemoryOf: size, hasLongAddresses: isLong)
        #expect(container.map { hex($0.bytes) } ?? "nil" == text)
    }

    @Test func `UID of a Type 5 tag: gives ICODE's memory size, and whether a read may cross a sector of 32 blocks`() {
        func target(_ uid: String) -> NFCVTarget { NFCVTarget(uid: bytes(uid + "0000000000")) }
        for (uid, size): (String, Int?) in [
            ("e00401", 112), ("e0040110", 112), ("e0040108", 316), ("e0040118", nil), ("e00402", nil), ("e00201", nil),
        ] {
            #expect(
                NFCVTarget(uid: Array(bytes(uid + "{8}").prefix(8))).family?.memorySize == size,
                "\(uid)"
            )
        }
        for (uid, keeps) in [
            ("e0022c", true), ("e0022f", true), ("e00230", false), ("e00244", true), ("e0024f", true), ("e00258", true),
            ("e0025f", true), ("e00224", false), ("e06700", true), ("e00401", false),
        ] { #expect((target(uid).family?.readsWithinSectors ?? false) == keeps, "\(uid)") }
    }

    // MARK: Locked blocks, locks and formats

    private static let products: [Type5Product] = [.icodeSLIX, .icodeSLIX2, .st25tv02K]

    /// A product with a message of 20 bytes in the blocks 1 to 6, and locked blocks.
    private static func tag(_ product: Type5Product, locked: Set<Int>) async throws -> VirtualType5Tag {
        let open = VirtualType5Tag(product)
        try await ProductBench(open).reader.writeNDEF(message(20))
        var contents = open.contents
        contents.lockedBlocks = locked
        return VirtualType5Tag(contents)
    }

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
    func `Type 5 write around locked blocks: one exchange besides the writes; locked bytes may stay as they are`(
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
