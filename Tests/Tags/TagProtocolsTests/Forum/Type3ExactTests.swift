// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Exact exchanges with Type 3 tags: polling, the attribute block, and how many blocks go in a command
/// (NFC Forum T3T 1.0, 5 and 6).
@Suite struct `Type 3 tags, command by command` {
    typealias Step = ScriptedLink.Step

    private static let idm = "02fe001122334455"
    /// A FeliCa Standard card; F1 in its place is a Lite-S.
    private static let pmm = "0020000000014300"

    private static func tag(
        _ steps: [Step],
        pmm: String = pmm,
        system: UInt16? = 0x12FC,
        maximumFrameLength: Int = 256
    ) -> (Type3Tag, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcF, maximumFrameLength: maximumFrameLength)
        let target = NFCFTarget(idm: bytes(idm), pmm: bytes(pmm), systemCode: system)
        return (Type3Tag(target: target, link: link), link)
    }

    private static func attributes(
        version: UInt8 = 0x10,
        read: UInt8 = 4,
        write: UInt8 = 2,
        blocks: Int = 13,
        unused: [UInt8] = [0, 0, 0, 0],
        flag: UInt8 = 0,
        access: UInt8 = 1,
        length: Int = 0
    ) -> String {
        var bytes = [version, read, write, UInt8(blocks >> 8), UInt8(blocks & 0xFF)] + unused + [flag, access]
        bytes += [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        let sum = bytes.reduce(0) { $0 + Int($1) }
        return hex(bytes + [UInt8(sum >> 8), UInt8(sum & 0xFF)])
    }

    private static func list(_ blocks: Range<Int>) -> String {
        hex([UInt8(blocks.count)] + blocks.flatMap { [0x80, UInt8($0)] })
    }

    private static func check(_ blocks: Range<Int>, _ data: String) -> Step {
        let request = "06" + idm + "010b00" + list(blocks)
        let answer = "07" + idm + "0000" + hex([UInt8(blocks.count)]) + data
        return .exchange(framed(request), framed(answer))
    }

    private static func update(_ blocks: Range<Int>, _ data: String, status: String = "0000") -> Step {
        .exchange(framed("08" + idm + "010900" + list(blocks) + data), framed("09" + idm + status))
    }

    /// The same bytes behind their count.
    private static func framed(_ text: String) -> String { hex([UInt8(bytes(text).count + 1)]) + text }

    private static func block(_ value: UInt8) -> String { hex([UInt8](repeating: value, count: 16)) }

    // MARK: Detection

    @Test func `A tag that was found by another system is polled for 12FC, in more slots until it is heard`()
        async throws
    {
        let other = "01 02fe001122334466" + Self.pmm
        let own = "01 12fe001122334455" + Self.pmm
        let found = Self.framed(own)
        let check = "10 06 12fe001122334455 010b00018000"
        let answer = "1d07 12fe001122334455 000001" + Self.attributes(length: 0)
        for polls: [Step] in [
            [.exchange("060012fc0000", found)],
            [.exchange("060012fc0000", .timeout), .exchange("060012fc0003", found)],
            [
                .exchange("060012fc0000", Self.framed(other)), .exchange("060012fc0003", .collision),
                .exchange("060012fc000f", Self.framed(other) + found),
            ],
        ] {
            let (tag, link) = Self.tag(polls + [.exchange(check, answer)], system: 0x88B4)
            #expect(try await tag.detectNDEF().capacity == 208)
            #expect(tag.target.idm == bytes("12fe001122334455") && tag.target.systemCode == 0x12FC)
            #expect(try await tag.readNDEF().isEmpty && link.remaining == 0)
        }
        let silent = ["00", "03", "0f"].map { Step.exchange("060012fc00" + $0, .timeout) }
        let (none, link) = Self.tag(silent, system: nil)
        #expect(await errorCode { () throws(TagError) in _ = try await none.detectNDEF() } == .noCapabilityContainer)
        #expect(link.remaining == 0)
    }

    @Test func `The attribute block is taken when its numbers and its checksum hold`() async {
        for (content, code): (String, TagError.Code?) in [
            (Self.attributes(), nil), (Self.attributes(version: 0x1F), nil),
            (Self.attributes(version: 0x20), .badVersion),
            (Self.attributes(version: 0x00, read: 1), .badVersion), (Self.attributes(read: 0), .noCapabilityContainer),
            (Self.attributes(read: 1), nil), (Self.attributes(length: 208), nil),
            (Self.attributes(length: 209), .lengthOverrun), (Self.attributes(blocks: 0x1000, length: 0x1_0000), nil),
            (Self.attributes(blocks: 0x0FFF, length: 0x1_0000), .lengthOverrun),
            (Self.attributes(flag: 0x0F), nil), (Self.attributes(flag: 0x0F, length: 1), .writeInProgress),
            (Self.block(0), .noCapabilityContainer),
            (String(Self.attributes().dropLast(2)) + "ff", .badChecksum),
            ("ff" + String(Self.attributes().dropFirst(2)), .badChecksum),
        ] {
            let (tag, link) = Self.tag([Self.check(0..<1, content)])
            #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == code, "\(content)")
            #expect(link.remaining == 0)
        }
        let (refusing, _) = Self.tag([
            .exchange(Self.framed("06" + Self.idm + "010b00018000"), Self.framed("07" + Self.idm + "01a8"))
        ])
        #expect(
            await errorCode { () throws(TagError) in _ = try await refusing.detectNDEF() } == .noCapabilityContainer
        )
    }

    @Test func `A tag may be written when RWFlag is 1 and Nbw is not 0`() async throws {
        for (write, access, isWritable): (UInt8, UInt8, Bool) in [
            (1, 1, true), (0, 1, false), (1, 0, false), (1, 2, false),
        ] {
            let (tag, link) = Self.tag([Self.check(0..<1, Self.attributes(write: write, access: access))])
            #expect(try await tag.detectNDEF().access == (isWritable ? .readWrite : .readOnly))
            guard !isWritable else { continue }
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([1]) } == .readOnly)
            #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .readOnly)
            #expect(link.remaining == 0)
        }
        let (full, link) = Self.tag([Self.check(0..<1, Self.attributes(blocks: 1))])
        #expect(
            await errorCode { () throws(TagError) in try await full.writeNDEF([UInt8](repeating: 1, count: 17)) }
                == .messageTooLong
        )
        #expect(link.remaining == 0)
    }

    // MARK: Reading

    @Test func `A message is read Nbr blocks at a time, and no more than the frame holds`() async throws {
        for (length, nbr, frame, pieces): (Int, UInt8, Int, [Range<Int>]) in [
            (1, 4, 256, [1..<2]), (16, 4, 256, [1..<2]), (17, 4, 256, [1..<3]), (64, 4, 256, [1..<5]),
            (65, 4, 256, [1..<5, 5..<6]), (80, 13, 64, [1..<4, 4..<6]), (48, 13, 62, [1..<3, 3..<4]),
            (48, 13, 63, [1..<4]), (32, 13, 20, [1..<2, 2..<3]),
            // An answer has a byte of length: 15 blocks are the most.
            (256, 16, 300, [1..<16, 16..<17]), (208, 13, 256, [1..<14]),
        ] {
            let reads = pieces.map { blocks in Self.check(blocks, blocks.map { Self.block(UInt8($0)) }.joined()) }
            let start = Self.check(0..<1, Self.attributes(read: nbr, blocks: 20, length: length))
            let (tag, link) = Self.tag([start] + reads, maximumFrameLength: frame)
            let found = try await tag.readNDEF()
            let stored: [UInt8] = (0..<length).map { UInt8(1 + $0 / 16) }
            #expect(found == stored, "\(length)")
            #expect(try await tag.readNDEF() == found && link.remaining == 0)
        }
    }

    @Test func `Blocks that are kept back are a refusal, and the tag is still there`() async throws {
        let refusal = Step.exchange(
            Self.framed("06" + Self.idm + "010b00018001"),
            Self.framed("07" + Self.idm + "01b1")
        )
        let (tag, link) = Self.tag([
            Self.check(0..<1, Self.attributes(length: 3)), refusal, Self.check(1..<2, Self.block(7)),
        ])
        #expect(await errorCode { () throws(TagError) in _ = try await tag.readNDEF() } == .refused)
        #expect(try await tag.readNDEF() == [7, 7, 7] && link.remaining == 0)
    }

    // MARK: Writing

    @Test func `WriteF is on with a length of 0 while the data are written, Nbw blocks at a time`() async throws {
        let message = [UInt8](repeating: 5, count: 33)
        let last = hex([5] + [UInt8](repeating: 0, count: 15))
        let (tag, link) = Self.tag([
            Self.check(0..<1, Self.attributes(length: 9)), Self.update(0..<1, Self.attributes(flag: 0x0F)),
            Self.update(1..<3, Self.block(5) + Self.block(5)), Self.update(3..<4, last),
            Self.update(0..<1, Self.attributes(length: 33)),
            // To empty it takes the attribute block alone.
            Self.update(0..<1, Self.attributes(length: 0)),
        ])
        try await tag.writeNDEF(message)
        #expect(try await tag.readNDEF() == message)
        #expect(try await tag.detectNDEF().messageLength == 33)
        try await tag.writeNDEF([])
        #expect(try await tag.readNDEF().isEmpty && link.remaining == 0)
        // What another write left unfinished can be written over, and not be locked.
        let (torn, rest) = Self.tag([
            Self.check(0..<1, Self.attributes(flag: 0x0F, length: 9)),
            Self.update(0..<1, Self.attributes(flag: 0x0F)), Self.update(1..<2, Self.block(5)),
            Self.update(0..<1, Self.attributes(length: 16)),
        ])
        #expect(await errorCode { () throws(TagError) in try await torn.lock() } == .writeInProgress)
        try await torn.writeNDEF([UInt8](repeating: 5, count: 16))
        #expect(rest.remaining == 0)
    }

    @Test func `A write that is refused, damaged or lost leaves nothing known of the tag`() async throws {
        let begin = [Self.check(0..<1, Self.attributes(length: 3)), Self.check(1..<2, Self.block(7))]
        let again = [Self.check(0..<1, Self.attributes(length: 2)), Self.check(1..<2, Self.block(8))]
        let first = Self.attributes(flag: 0x0F)
        let odd = Step.exchange(Self.framed("08" + Self.idm + "010900018000" + first), "0a09" + Self.idm)
        for (steps, code): ([Step], TagError.Code) in [
            ([Self.update(0..<1, first, status: "01a8")], .updateFailed), ([odd], .updateFailed),
            ([Self.update(0..<1, first), Self.update(1..<2, Self.block(5), status: "ff70")], .updateFailed),
        ] {
            let (tag, link) = Self.tag(begin + steps + again)
            #expect(try await tag.readNDEF() == [7, 7, 7])
            let new = [UInt8](repeating: 5, count: 16)
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF(new) } == code)
            #expect(try await tag.readNDEF() == [8, 8] && link.remaining == 0)
        }
        let request = Self.framed("08" + Self.idm + "010900018000" + first)
        let silent = [Step](repeating: .exchange(request, .timeout), count: 3)
        let (lost, link) = Self.tag(
            [Self.check(0..<1, Self.attributes(length: 3))] + silent + [
                Self.update(0..<1, Self.attributes())
            ]
        )
        #expect(await errorCode { () throws(TagError) in try await lost.writeNDEF([1]) } == .tagLost)
        #expect(await errorCode { () throws(TagError) in try await lost.writeNDEF([1]) } == .tagLost)
        #expect(await errorCode { () throws(TagError) in _ = try await lost.detectNDEF() } == .tagLost)
        #expect(await !lost.isPresent())
        #expect(link.remaining == 1)
        lost.wasActivated()
        try await lost.update(0, bytes(Self.attributes()))
        #expect(link.remaining == 0)
    }

    @Test func `One update is of thirteen blocks at most, and of fewer where their numbers are long`() async throws {
        // Blocks from 256 on have a byte more in the list: 255 bytes hold twelve of them.
        let field = ModelField(ModelFeliCa([], blockCount: 290, writeLimit: 20), .nfcF)
        let target = NFCFTarget(idm: field.tag.idm, pmm: field.tag.pmm, systemCode: 0x12FC)
        let tag = Type3Tag(target: target, link: field)
        try await tag.writeNDEF(message(270 * 16))
        #expect(field.tag.message == message(270 * 16))
        // 19 updates of blocks 1 to 247, 12 and 11 blocks, and the attribute block twice.
        #expect(field.writes == 19 + 2 + 2)
        let narrow = ModelField(ModelFeliCa([], blockCount: 30, writeLimit: 20), .nfcF, maximumFrameLength: 70)
        try await Type3Tag(target: target, link: narrow).writeNDEF(message(7 * 16))
        // 70 bytes less 2 of checksum and 14 hold three blocks.
        #expect(narrow.writes == 3 + 2)
    }

    // MARK: Locking, and whether it is near

    @Test func `A Lite-S is locked by its memory configuration, which keeps two of its bits`() async throws {
        let lite = "00f1000000014300"
        let configuration = "ffffff01 0102030405060708090a0b0c"
        let locked = "00c00001 0102030405060708090a0b0c"
        func register(_ code: String, _ service: String, _ data: String) -> String {
            Self.framed(code + Self.idm + service + "018088" + data)
        }
        let (tag, link) = Self.tag(
            [
                Self.check(0..<1, Self.attributes(length: 3)), Self.check(1..<2, Self.block(7)),
                .exchange(register("06", "010b00", ""), Self.framed("07" + Self.idm + "000001" + configuration)),
                Self.update(0..<1, Self.attributes(access: 0, length: 3)),
                .exchange(register("08", "010900", locked), Self.framed("09" + Self.idm + "0000")),
            ],
            pmm: lite
        )
        #expect(try await tag.readNDEF() == [7, 7, 7])
        try await tag.lock()
        #expect(try await tag.readNDEF() == [7, 7, 7])
        #expect(try await tag.detectNDEF().access == .readOnly && link.remaining == 0)
        let (other, rest) = Self.tag([
            Self.check(0..<1, Self.attributes()), Self.update(0..<1, Self.attributes(access: 0)),
        ])
        try await other.lock()
        #expect(rest.remaining == 0)
        #expect(await errorCode { () throws(TagError) in try await other.format() } == .unsupported)
    }

    @Test func `A Lite-S is formatted where its system blocks are open, or it has the NDEF system`() async throws {
        func format(_ configuration: String, _ steps: [Step]) async -> (TagError.Code?, Int) {
            let read = Step.exchange(
                Self.framed("06" + Self.idm + "010b00018088"),
                Self.framed("07" + Self.idm + "000001" + configuration + String(repeating: "00", count: 12))
            )
            let (tag, link) = Self.tag([read] + steps, pmm: "00f0000000014300", system: 0x88B4)
            let code = await errorCode { () throws(TagError) in try await tag.format() }
            return (code, link.remaining)
        }
        let attributes = Self.update(0..<1, Self.attributes(read: 4, write: 1, blocks: 13))
        let system = Step.exchange(
            Self.framed("08" + Self.idm + "010900018088ffffff01" + String(repeating: "00", count: 12)),
            Self.framed("09" + Self.idm + "0000")
        )
        #expect(await format("ffffff00", [attributes, system]) == (nil, 0))
        #expect(await format("ffffff01", [attributes]) == (nil, 0))
        #expect(await format("ffff0001", [attributes]) == (nil, 0))
        #expect(await format("ffff0000", []) == (.readOnly, 0))
    }

    @Test func `A card is near when its mode or its polling comes from its own IDm`() async {
        let mode = Self.framed("05" + Self.idm + "00")
        let polled = Self.framed("01" + Self.idm + Self.pmm)
        let polls = ["00", "03", "0f"].map { Step.exchange("060012fc00" + $0, .timeout) }
        let request = "0a04" + Self.idm
        for (steps, isThere): ([Step], Bool) in [
            ([.exchange(request, mode)], true),
            ([.exchange(request, .timeout), .exchange("060012fc0000", polled)], true),
            ([.exchange(request, Self.framed("05" + Self.idm)), .exchange("060012fc0000", polled)], true),
            ([.exchange(request, Self.framed("07" + Self.idm + "00")), .exchange("060012fc0000", polled)], true),
            ([.exchange(request, Self.framed("05 ffffffffffffffff 00")), .exchange("060012fc0000", polled)], true),
            ([.exchange(request, .timeout)] + polls, false),
            (
                [
                    .exchange(request, .timeout),
                    .exchange("060012fc0000", Self.framed("01 02fe001122334400" + Self.pmm)),
                ]
                    + polls.dropFirst(),
                false
            ),
        ] {
            let (tag, link) = Self.tag(steps)
            #expect(await tag.isPresent() == isThere)
            #expect(link.remaining == 0)
        }
        // A Lite-S has no mode, and where its system is not known it is polled for any.
        let (lite, link) = Self.tag(
            [.exchange("0600ffff0000", Self.framed("01" + Self.idm + Self.pmm))],
            pmm: "00f1000000014300",
            system: nil
        )
        #expect(await lite.isPresent() && link.remaining == 0)
    }

    @Test func `Locking ends a write that was cut off before its length`() async throws {
        let (tag, link) = Self.tag([
            Self.check(0..<1, Self.attributes(flag: 0x0F)), Self.update(0..<1, Self.attributes(access: 0)),
        ])
        try await tag.lock()
        #expect(link.remaining == 0)
    }

    @Test func `What a write does not mean to change in the attribute block stays`() async throws {
        func attributes(flag: UInt8 = 0, length: Int = 0) -> String {
            Self.attributes(version: 0x1F, unused: [1, 2, 3, 4], flag: flag, length: length)
        }
        let (tag, link) = Self.tag([
            Self.check(0..<1, attributes(length: 9)), Self.update(0..<1, attributes(flag: 0x0F)),
            Self.update(1..<2, Self.block(5)), Self.update(0..<1, attributes(length: 16)),
        ])
        try await tag.writeNDEF([UInt8](repeating: 5, count: 16))
        #expect(link.remaining == 0)
    }

    @Test func `A length beyond the tag's room can be written over, and not be locked`() async throws {
        let (tag, link) = Self.tag([
            Self.check(0..<1, Self.attributes(length: 209)), Self.update(0..<1, Self.attributes(flag: 0x0F)),
            Self.update(1..<2, Self.block(5)), Self.update(0..<1, Self.attributes(length: 16)),
        ])
        #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .lengthOverrun)
        #expect(await errorCode { () throws(TagError) in _ = try await tag.readNDEF() } == .lengthOverrun)
        try await tag.writeNDEF([UInt8](repeating: 5, count: 16))
        #expect(try await tag.detectNDEF().messageLength == 16 && link.remaining == 0)
    }

    @Test func `A tag that leaves while it is polled for 12FC is asked nothing more`() async {
        let (tag, link) = Self.tag([.exchange("060012fc0000", .tagRemoved)], system: 0x88B4)
        for _ in 0..<2 {
            #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .tagLost)
        }
        #expect(link.remaining == 0)
    }
}
