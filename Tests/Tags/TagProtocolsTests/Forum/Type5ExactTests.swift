// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Exact exchanges with Type 5 tags: with and without their UID, over the border of block 255, with options, and with
/// answers that are late, damaged or refusals (NFC Forum T5T 1.0, 5; ISO/IEC 15693-3).
@Suite struct `Type 5 tags, command by command` {
    typealias Step = ScriptedLink.Step

    private static let uid = "e002240800112233"
    private static let backwards = "3322110008 2402e0"
    private static let blank = String(repeating: "00", count: 4)

    private static func tag(
        _ steps: [Step],
        uid: String = uid,
        isAlone: Bool = true,
        maximumFrameLength: Int = 256
    ) -> (Type5Tag, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcV, maximumFrameLength: maximumFrameLength)
        return (Type5Tag(target: NFCVTarget(uid: bytes(uid)), link: link, isAlone: isAlone), link)
    }

    /// The first read, of a tag with an empty message in 63 times 8 bytes.
    private static let start = Step.exchange("02230003", "00 e1403f01 0300fe00" + blank + blank)
    private static let eof = Frame([], checksum: .none)

    private static func eof(_ answer: String) -> Step {
        Step(request: eof, result: .success(Frame(bytes(answer))))
    }

    // MARK: Whom a command is for

    @Test func `A tag that is alone is called by its UID after a failure alone, and before a write`() async throws {
        let (tag, link) = Self.tag([
            .exchange("02230003", .timeout), .exchange("22 23" + Self.backwards + "0003", .transmission),
            .exchange("22 23" + Self.backwards + "0003", "00 e1403f01 0300fe00" + Self.blank + Self.blank),
            Step.exchange("22 21" + Self.backwards + "01 0301aafe", "00").within(.milliseconds(21)),
            // One that answered is called without it again.
            .exchange("02 21 01 0300fe00", "00"),
        ])
        #expect(try await tag.detectNDEF().messageLength == 0)
        try await tag.writeNDEF([0xAA])
        #expect(try await tag.readNDEF() == [0xAA])
        try await tag.write(bytes("0300fe00"), to: 1)
        #expect(link.remaining == 0)
        let (other, crowded) = Self.tag(
            [.exchange("22 23" + Self.backwards + "0003", "00 e1403f01 0300fe00" + Self.blank + Self.blank)],
            isAlone: false
        )
        #expect(try await other.detectNDEF().capacity == 63 * 8 - 4 && crowded.remaining == 0)
    }

    @Test func `A command is sent three times; silence in the end is a tag that is gone, damage is an error`() async {
        let addressed = "22 23" + Self.backwards + "0003"
        let single = "22 20" + Self.backwards + "00"
        func fail(_ code: LinkError.Code, then other: [Step]) async -> TagError.Code? {
            let first = [Step.exchange("02230003", code), .exchange(addressed, code), .exchange(addressed, code)]
            let (tag, link) = Self.tag(first + other)
            let result = await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() }
            #expect(link.remaining == 0)
            return result
        }
        // A tag without READ MULTIPLE keeps silent too.
        let silent = [Step.exchange("02 20 00", .timeout), .exchange(single, .timeout), .exchange(single, .timeout)]
        #expect(await fail(.timeout, then: silent) == .tagLost)
        #expect(await fail(.transmission, then: []) == .badAnswer)
        #expect(await fail(.collision, then: []) == .badAnswer)
        for (code, wanted): (LinkError.Code, TagError.Code) in [
            (.cancelled, .cancelled), (.tagRemoved, .tagLost), (.readerUnavailable, .readerUnavailable),
        ] {
            let (tag, link) = Self.tag([.exchange("02230003", code)])
            #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == wanted)
            #expect(link.remaining == 0)
            guard code == .tagRemoved else { continue }
            #expect(await errorCode { () throws(TagError) in _ = try await tag.readNDEF() } == .tagLost)
            #expect(await !tag.isPresent())
        }
        // An answer without flags breaks the rules, and nothing is gained by asking again.
        let (odd, link) = Self.tag([.exchange("02230003", "")])
        #expect(await errorCode { () throws(TagError) in _ = try await odd.detectNDEF() } == .badAnswer)
        #expect(link.remaining == 0)
    }

    @Test func `A tag is near when it answers to its own UID, whatever it says`() async {
        let request = "22 20" + Self.backwards + "00"
        for (steps, isThere): ([Step], Bool) in [
            ([.exchange(request, "00" + Self.blank)], true), ([.exchange(request, "0110")], true),
            ([Step](repeating: .exchange(request, .transmission), count: 3), true),
            ([Step](repeating: .exchange(request, .timeout), count: 3), false),
            ([.exchange(request, .tagRemoved)], false),
            ([.exchange(request, .cancelled)], false),
        ] {
            let (tag, link) = Self.tag(steps)
            #expect(await tag.isPresent() == isThere)
            #expect(link.remaining == 0)
        }
    }

    // MARK: Reading

    @Test(arguments: [(16, 4), (32, 8), (64, 16), (128, 32), (12, 0), (20, 0), (17, 0), (256, 0), (0, 0)])
    func `The first answer tells the size of a block`(_ count: Int, _ size: Int) async {
        let (tag, _) = Self.tag([.exchange("02230003", "00" + String(repeating: "00", count: count))])
        let code = await errorCode { () throws(TagError) in try await tag.readFirstBlocks() }
        #expect(code == (size == 0 ? .badAnswer : nil) && tag.blockSize == size)
    }

    @Test func `Tags of Fujitsu's are asked for two blocks first, since theirs have eight bytes`() async {
        let (tag, link) = Self.tag(
            [.exchange("02230001", "00" + String(repeating: "00", count: 16))],
            uid: "e008010800112233"
        )
        #expect(await errorCode { () throws(TagError) in try await tag.readFirstBlocks() } == nil)
        #expect(tag.blockSize == 8 && link.remaining == 0)
    }

    @Test func `A tag without READ MULTIPLE is read block by block`() async throws {
        let (tag, link) = Self.tag([
            .exchange("02230003", "0101"), .exchange("022000", "00 e1403f01"), .exchange("022001", "00 0305aabb"),
            .exchange("022002", "00 ccddeefe"), .exchange("022003", "00" + Self.blank),
            .exchange("022004", "00" + Self.blank),
        ])
        #expect(try await tag.readNDEF() == bytes("aabbccddee") && link.remaining == 0)
        let (refusing, _) = Self.tag([.exchange("02230003", "0101"), .exchange("022000", "0110")])
        #expect(
            await errorCode { () throws(TagError) in _ = try await refusing.readNDEF() } == .noCapabilityContainer
        )
        // Where one block alone is refused, it is behind the memory's end.
        let (short, _) = Self.tag([
            .exchange("02230003", "00 e1403f01 0310aabb" + Self.blank + Self.blank), .exchange("02230401", "0110"),
            .exchange("022004", "0110"),
        ])
        #expect(await errorCode { () throws(TagError) in _ = try await short.readNDEF() } == .lengthOverrun)
        let (odd, _) = Self.tag([
            .exchange("02230003", "00 e1403f01 0310aabb" + Self.blank + Self.blank),
            .exchange("02230401", "00" + Self.blank),
        ])
        #expect(await errorCode { () throws(TagError) in _ = try await odd.readNDEF() } == .badAnswer)
    }

    /// A tag whose first blocks have been read.
    private static func begun(_ steps: [Step], uid: String = uid, maximumFrameLength: Int = 256) async throws -> (
        Type5Tag, ScriptedLink
    ) {
        let (tag, link) = Self.tag([start] + steps, uid: uid, maximumFrameLength: maximumFrameLength)
        try await tag.readFirstBlocks()
        return (tag, link)
    }

    private static func blocks(_ count: Int) -> String { "00" + String(repeating: "00", count: 4 * count) }

    @Test func `One read is of 32 blocks at most, and keeps to the frame, the sector and the border of block 255`()
        async throws
    {
        for (range, uid, limit, steps): (Range<Int>, String, Int, [(String, Int)]) in [
            (16..<144, Self.uid, 256, [("0223041f", 32)]),
            (16..<148, Self.uid, 256, [("0223041f", 32), ("022024", 1)]),
            (17..<20, Self.uid, 256, [("022004", 1)]), (19..<21, Self.uid, 256, [("02230401", 2)]),
            (16..<80, Self.uid, 35, [("02230407", 8), ("02230c07", 8)]), (16..<20, Self.uid, 6, [("022004", 1)]),
            // M24LR64: no read goes from one sector of 32 blocks into the next.
            (16..<144, "e0022c0800112233", 256, [("0223041b", 28), ("02232003", 4)]),
            (1016..<1032, Self.uid, 256, [("0223fe01", 2), ("0233 0001 0100", 2)]),
            (1020..<1028, Self.uid, 256, [("0220ff", 1), ("0230 0001", 1)]),
            (1028..<1160, Self.uid, 256, [("0233 0101 1f00", 32), ("0230 2101", 1)]),
        ] {
            let (tag, link) = try await Self.begun(
                steps.map { .exchange($0.0, Self.blocks($0.1)) },
                uid: uid,
                maximumFrameLength: limit
            )
            #expect(await errorCode { () throws(TagError) in try await tag.fetch(range) } == nil)
            #expect(link.remaining == 0, "\(range)")
        }
    }

    @Test func `A range that is refused is read block by block from then on`() async throws {
        let (tag, link) = try await Self.begun([
            .exchange("02230403", "0110"), .exchange("022004", Self.blocks(1)), .exchange("022005", Self.blocks(1)),
            .exchange("022006", Self.blocks(1)), .exchange("022007", Self.blocks(1)),
        ])
        try await tag.fetch(16..<32)
        #expect(link.remaining == 0 && !tag.readsMultiple)
    }

    @Test func `A container that gives a power of two is held to the size that the tag reports`() async throws {
        let container = "00 e1404001 0300fe00" + Self.blank + Self.blank
        for (answers, capacity): ([Step], Int) in [
            ([.exchange("022b", "00 04" + Self.backwards + "3f03")], 256 - 6),
            ([.exchange("022b", "0101"), .exchange("023b04", "00 04" + Self.backwards + "3f0003")], 256 - 6),
            ([.exchange("022b", "0101"), .exchange("023b04", "0101")], 512 - 4),
        ] {
            let (tag, link) = Self.tag([.exchange("02230003", container)] + answers)
            #expect(try await tag.detectNDEF().capacity == capacity && link.remaining == 0)
        }
    }

    @Test(
        arguments: [
            ("e1400601 0300fe00", nil), ("e2400601 0300fe00", nil), ("e3400601 0300fe00", .noCapabilityContainer),
            ("e1800601 0300fe00", .badVersion), ("e1000601 0300fe00", .badVersion),
            ("e1440601 0300fe00", .readProtected),
            ("e1400601 fe000000", .noMessageTLV), ("e1400601 03ff00ff", .lengthOverrun), ("e1430601 0300fe00", nil),
        ] as [(String, TagError.Code?)]
    )
    func `A container is checked before anything else`(_ container: String, _ code: TagError.Code?) async throws {
        let (tag, link) = Self.tag([.exchange("02230003", "00" + container + Self.blank + Self.blank)])
        #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == code)
        #expect(link.remaining == 0)
        guard code == nil else { return }
        let access = try await tag.detectNDEF().access
        #expect(access == (container.hasPrefix("e143") ? .readOnly : .readWrite))
        guard access == .readOnly else { return }
        #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([]) } == .readOnly)
        #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .readOnly)
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .readOnly)
    }

    @Test func `A container for a memory has eight bytes where four can't say its size`() throws {
        func container(_ size: Int, _ isLong: Bool = false) -> String? {
            Type5CapabilityContainer(forMemoryOf: size, hasLongAddresses: isLong).map { hex($0.bytes) }
        }
        #expect(container(15) == nil && container(16) == "e1400101" && container(112) == "e1400d01")
        #expect(container(4 + 255 * 8 + 7) == "e140ff01" && container(4 + 256 * 8) == "e1400001000000ff")
        #expect(container(8192, true) == "e2400001000003ff" && container(64, true) == "e240000100000007")
        #expect(container(1 << 20, true) == "e24000010000ffff")
        let long = try Type5CapabilityContainer(bytes("e240001100000102"))
        #expect(long.area == 8..<8 + 0x102 * 8 && long.hasLongAddresses && long.usesSpecialFrame)
        let short = try Type5CapabilityContainer(bytes("e1410a01ffffffff"))
        #expect(short.area == 4..<84 && !short.hasLongAddresses && !short.usesSpecialFrame && !short.isWritable)
        #expect(short.isReadable && hex(short.readOnly.bytes) == "e1430a01")
        for wrong in ["e24000", "e240000100000", "e2400001000000"] {
            #expect(throws: TagError(.noCapabilityContainer, "")) { try Type5CapabilityContainer(bytes(wrong)) }
        }
    }

    // MARK: Writing

    private static func write(_ block: String, flags: String = "22") -> String {
        flags + (block.count > 2 ? "31" : "21") + backwards + block + "aabbccdd"
    }

    @Test func `A block beyond 255 is written and locked by extended commands`() async throws {
        for (block, place, lock) in [(255, "ff", "22"), (256, "0001", "32"), (0x1234, "3412", "32")] {
            let (tag, link) = Self.tag([
                .exchange(Self.write(place), "00"), .exchange("02" + lock + place, "00"),
                .exchange("02" + lock + place, "0111"), .exchange("02" + lock + place, "0112"),
                .exchange("02" + lock + place, "0114"),
            ])
            tag.blockSize = 4
            tag.memory = TLVMemory(unitSize: 4, limit: 1 << 18)
            tag.needsAddress = true
            try await tag.write(bytes("aabbccdd"), to: block)
            #expect(tag.memory.unit(block) == bytes("aabbccdd"))
            // One that is locked already is as good.
            for code in [nil, nil, TagError.Code.updateFailed, .updateFailed] {
                #expect(await errorCode { () throws(TagError) in try await tag.lock(block: block) } == code)
            }
            #expect(link.remaining == 0)
        }
    }

    @Test func `The option flag is tried where the tag wants it, and its answer comes after an EOF`() async throws {
        let option = Self.write("01", flags: "42").replacing("3322110008 2402e0", with: "")
        let plain = Self.write("01", flags: "02").replacing("3322110008 2402e0", with: "")
        let silent = Step.exchange(option, .timeout).within(.milliseconds(21))
        func write(_ steps: [Step], uid: String = Self.uid) async -> (TagError.Code?, Bool, Int) {
            let (tag, link) = Self.tag(steps, uid: uid)
            tag.blockSize = 4
            tag.memory = TLVMemory(unitSize: 4, limit: 64)
            let code = await errorCode { () throws(TagError) in try await tag.write(bytes("aabbccdd"), to: 1) }
            return (code, tag.writesWithOption, link.remaining)
        }
        #expect(await write([.exchange(plain, "00")]) == (nil, false, 0))
        #expect(
            await write([.exchange(plain, "0103"), silent, Self.eof("00").within(.milliseconds(1))]) == (nil, true, 0)
        )
        // Some answer at once all the same.
        #expect(await write([.exchange(plain, "0103"), .exchange(option, "00")]) == (nil, true, 0))
        #expect(await write([.exchange(plain, "0103"), silent, Self.eof("0112")]) == (.updateFailed, true, 0))
        // Neither way.
        #expect(await write([.exchange(plain, "0103"), .exchange(option, "0103")]) == (.updateFailed, true, 0))
        #expect(await write([.exchange(plain, "0112")]) == (.updateFailed, false, 0))
        // Texas Instruments' tags have it from the start.
        let texas = "e007240800112233"
        #expect(await write([silent, Self.eof("00")], uid: texas) == (nil, true, 0))
        #expect(await write([.exchange(option, "0103"), .exchange(plain, "00")], uid: texas) == (nil, false, 0))
        #expect(await write([.exchange(option, .cancelled)], uid: texas) == (.cancelled, true, 0))
        let named = option.replacing("4221", with: "6221" + "3322110008 2407e0")
        let lost = [silent, Step(request: Self.eof, result: .failure(LinkError(.timeout, "scripted")))]
        let again = [Step.exchange(named, .timeout), lost[1], .exchange(named, .timeout), lost[1]]
        #expect(await write(lost + again, uid: texas) == (.tagLost, true, 0))
        // Damage is not made good by an EOF.
        let damaged =
            [Step.exchange(option, .transmission)] + [Step](repeating: .exchange(named, .transmission), count: 2)
        #expect(await write(damaged, uid: texas) == (.updateFailed, true, 0))
    }

    @Test func `An answer after an EOF is taken with its checksum or without it, and is damaged with another one`()
        async throws
    {
        func eof(_ answer: [UInt8]) -> Step {
            Step(request: Self.eof, result: .success(Frame(answer, checksum: .none)))
        }
        let option = Step.exchange("42210100000000", .timeout)
        let named = Step.exchange("6221" + "3322110008 2407e0" + "0100000000", .timeout)
        let whole = [0x00] + Technology.nfcV.checksum([0x00])
        let damaged = eof([0x00, 0xFF, 0xFF])
        for steps in [[option, eof([0x00])], [option, eof(whole)], [option, damaged, named, eof(whole)]] {
            let (tag, link) = Self.tag(steps, uid: "e007240800112233")
            tag.blockSize = 4
            tag.memory = TLVMemory(unitSize: 4, limit: 64)
            try await tag.write([0, 0, 0, 0], to: 1)
            #expect(link.remaining == 0)
        }
    }

    @Test func `A lock ends where a tag can lock no more than its first blocks`() async throws {
        let container = "00 e1400301 0300fe00" + Self.blank + Self.blank
        func lock(_ answers: [String]) async -> (TagError.Code?, Int) {
            let (tag, link) = Self.tag(
                [.exchange("02230003", container), .exchange("22 21" + Self.backwards + "00 e1430301", "00")]
                    + answers.enumerated().map { .exchange("0222" + hex([UInt8($0.offset)]), $0.element) }
            )
            let code = await errorCode { () throws(TagError) in try await tag.lock() }
            return (code, link.remaining)
        }
        #expect(await lock([String](repeating: "00", count: 7)) == (nil, 0))
        // ST25DV locks blocks 0 and 1 alone; 0 has to be locked.
        #expect(await lock(["0114"]) == (.updateFailed, 0))
        #expect(await lock(["00", "0114"]) == (nil, 0))
        #expect(await lock(["00", "00", "0110"]) == (nil, 0))
        #expect(await lock(["00", "00", "00", "0110"]) == (.updateFailed, 0))
    }

    @Test func `A blank tag is formatted from its second block to its first`() async throws {
        let blank = Self.blocks(4)
        let (tag, link) = Self.tag([
            .exchange("02230003", blank), .exchange("022b", "00 04" + Self.backwards + "1b03"),
            .exchange("22 21" + Self.backwards + "01 0300fe00", "00"), .exchange("02 21 00 e1400d01", "00"),
        ])
        try await tag.format()
        #expect(link.remaining == 0)
        let (large, other) = Self.tag([
            .exchange("02230003", blank), .exchange("022b", "0101"),
            .exchange("023b04", "00 04" + Self.backwards + "000103"),
            .exchange("22 21" + Self.backwards + "02 0300fe00", "00"), .exchange("02 21 01 0000007f", "00"),
            .exchange("02 21 00 e2400001", "00"),
        ])
        // 257 blocks: one more than short addresses reach.
        #expect(await errorCode { () throws(TagError) in try await large.format() } == nil)
        #expect(other.remaining == 0)
        let (unknown, _) = Self.tag([
            .exchange("02230003", blank), .exchange("022b", "0101"), .exchange("023b04", "0101"),
        ])
        #expect(await errorCode { () throws(TagError) in try await unknown.format() } == .unsupported)
    }

    @Test func `Sizes, sectors and blocks of products follow from their UID`() {
        func target(_ uid: String) -> NFCVTarget { NFCVTarget(uid: bytes(uid)) }
        for (uid, size): (String, Int?) in [
            ("e004010000000000", 112), ("e004011000000000", 112), ("e004010800000000", 316), ("e004011800000000", nil),
            ("e004020000000000", nil), ("e002010000000000", nil),
        ] { #expect(Type5ProductFacts.memorySize(target(uid)) == size) }
        for (uid, keeps) in [
            ("e0022c0000000000", true), ("e0022f0000000000", true), ("e002300000000000", false),
            ("e002440000000000", true), ("e0024f0000000000", true), ("e002580000000000", true),
            ("e0025f0000000000", true), ("e002240000000000", false), ("e067000000000000", true),
            ("e004010000000000", false),
        ] { #expect(Type5ProductFacts.readsWithinSectors(target(uid)) == keeps, "\(uid)") }
        #expect(Type5ProductFacts.assumedBlockSize(target("e008010000000000")) == 8)
        #expect(Type5ProductFacts.assumedBlockSize(target("e004010000000000")) == 4)
    }

    @Test func `A tag that is gone stays so until it was activated again`() async throws {
        let (tag, link) = Self.tag([.exchange("02230003", .tagRemoved), Self.start])
        for _ in 0..<2 {
            let code = await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() }
            #expect(code == .tagLost)
            #expect(link.remaining == 1)
        }
        let code = await errorCode { () throws(TagError) in try await tag.readFirstBlocks() }
        #expect(code == .tagLost && link.remaining == 1)
        #expect(await !tag.isPresent())
        tag.wasActivated()
        #expect(try await tag.detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
    }
}
