// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Checks what a PN532 exchanges with a tag, and its other commands (PN532 user manual, 7.2 and 7.3).
@Suite struct `A PN532 that exchanges data` {
    private let field = VirtualField()

    private func listed(_ tag: any VirtualTag, _ modulation: [UInt8] = [0]) async -> PN53xChip {
        field.bring(tag)
        var chip = PN53xChip(field: field)
        _ = await chip.receive([0x4A, 1] + modulation)
        return chip
    }

    private static func ntag() -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
    }

    private static func bytes(_ outcome: PN53xChip.Outcome) -> [UInt8] {
        if case .answer(let bytes) = outcome { bytes } else { [] }
    }

    @Test func `A long answer comes in parts of 262 bytes, and ends with the next command`() async {
        var card = ScriptedCard()
        let answer = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        card.answer([1], with: answer)
        card.answer([2], with: Array(answer.prefix(262)))
        card.answer([3], with: [9])
        var chip = await listed(
            VirtualType4Tag(
                card: card,
                frontEnd: .nfcA(uid: VirtualType4Tag.defaultUID, ats: [5, 0x78, 0x80, 0x70, 2])
            )
        )
        #expect(await chip.receive([0x40, 1, 1]) == .answer([0x40] + answer[..<262]))
        #expect(await chip.receive([0x40, 1]) == .answer([0x40] + answer[262..<524]))
        #expect(await chip.receive([0x40, 1]) == .answer([0] + answer[524...]))
        #expect(await chip.receive([0x40, 1, 2]) == .answer([0] + answer[..<262]))
        #expect(await chip.receive([0x40, 1, 1]) == .answer([0x40] + answer[..<262]))
        #expect(await chip.receive([0x40, 1, 3]) == .answer([0, 9]))
        // Nothing is left of the long one.
        #expect(await chip.receive([0x40, 1, 3]) == .answer([0, 9]))
    }

    @Test func `A command in parts has 65544 bytes at most, and begins anew after an error`() async {
        var chip = await listed(Self.ntag())
        let part = [UInt8](repeating: 0, count: 65544)
        #expect(await chip.receive([0x40, 0x41] + part) == .answer([0]))
        #expect(await chip.receive([0x40, 0x41, 0]) == .answer([0x07]))
        #expect(Self.bytes(await chip.receive([0x40, 1, 0x30, 0])).count == 17)
        #expect(await chip.receive([0x40, 0x41] + part + [0]) == .answer([0x07]))
        #expect(await chip.receive([0x40, 0x41, 0x30]) == .answer([0]))
        #expect(Self.bytes(await chip.receive([0x40, 1, 4])).count == 17)
    }

    @Test func `A command without bytes ends the parts before it, whatever was left of an answer`() async {
        var card = ScriptedCard()
        let answer = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        card.answer([1], with: answer)
        card.answer([3], with: [9])
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: [5, 0x78, 0x80, 0x70, 2])
        var chip = await listed(VirtualType4Tag(card: card, frontEnd: frontEnd))
        #expect(await chip.receive([0x40, 1, 1]) == .answer([0x40] + answer[..<262]))
        #expect(await chip.receive([0x40, 0x41, 3]) == .answer([0]))
        #expect(await chip.receive([0x40, 1]) == .answer([0, 9]))
    }

    @Test(arguments: [[0x40, 0, 0x30, 0], [0x40, 2, 0x30, 0], [0x40, 0x0F, 0x30, 0]] as [[UInt8]])
    func `A target that was not listed is out of context`(command: [UInt8]) async {
        var chip = await listed(Self.ntag())
        #expect(await chip.receive(command) == .answer([0x27]))
        #expect(await chip.receive([0x40]) == .syntaxError)
        // The upper bits of the number are flags.
        #expect(Self.bytes(await chip.receive([0x40, 0x81, 0x30, 0])).count == 17)
    }

    @Test func `Commands of MIFARE cards end in the error that hosts know`() async {
        var chip = await listed(Self.ntag())
        #expect(Self.bytes(await chip.receive([0x40, 1, 0x60])).count == 9)
        // The chip knows that such a tag can't be authenticated, so that it stays awake.
        for code in [0x60, 0x61] as [UInt8] {
            #expect(await chip.receive([0x40, 1, code, 4] + [UInt8](repeating: 0xFF, count: 10)) == .answer([0x13]))
            #expect(Self.bytes(await chip.receive([0x40, 1, 0x30, 0])).count == 17)
        }
        for command in [[0xA0, 1] + [UInt8](repeating: 1, count: 16), [0xA2, 0, 1, 2, 3, 4]] as [[UInt8]] {
            #expect(await chip.receive([0x40, 1] + command) == .answer([0x13]))
            _ = await chip.receive([0x4A, 1, 0])
        }
        // Eleven bytes are no authentication, so the tag itself refuses them.
        #expect(await chip.receive([0x40, 1, 0x60] + [UInt8](repeating: 0, count: 10)) == .answer([0x13]))
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x01]))
    }

    @Test func `Commands to a Topaz may leave out the bytes that every command has`() async {
        let tag = VirtualType1Tag(.topaz512)
        var chip = await listed(tag, [4])
        let uid = Array(VirtualType1Tag.defaultUID.prefix(4))
        #expect(await chip.receive([0x40, 1, 0x01, 0x08]) == .answer([0, 0x08, 0xE1]))
        #expect(await chip.receive([0x40, 1, 0x53, 0x10, 0x78]) == .answer([0, 0x10, 0x78]))
        #expect(await chip.receive([0x40, 1, 0x01, 0x10, 0] + uid) == .answer([0, 0x10, 0x78]))
        #expect(await chip.receive([0x40, 1, 0x01, 0x10, 0] + uid.dropLast()) == .answer([0, 0x10, 0x78]))
        #expect(Self.bytes(await chip.receive([0x40, 1, 0x00])).count == 123)
        #expect(await chip.receive([0x40, 1, 0x78, 0, 0, 0, 0, 0, 0]) == .answer([0, 0x12, 0x4C] + uid))
        #expect(await chip.receive([0x40, 1, 0x78]) == .answer([0x01]))
        #expect(await chip.receive([0x40, 1, 0x01, 0x08, 0, 9, 9, 9, 9]) == .answer([0x01]))
    }

    @Test func `A host's own frames are sent with the checksums that it asks for`() async {
        var chip = await listed(Self.ntag())
        #expect(await chip.receive([0x42]) == .answer([0x05]))
        #expect(Self.bytes(await chip.receive([0x42, 0x60])).count == 9)
        // Its own checksum, and the answer's taken away.
        _ = await chip.receive([0x08, 0x63, 0x02, 0x00])
        let read: [UInt8] = [0x30, 0x04]
        let checked = read + CyclicRedundancyCheck.a(read).littleEndianBytes
        #expect(Self.bytes(await chip.receive([0x42] + checked)).count == 17)
        _ = await chip.receive([0x08, 0x63, 0x03, 0x00])
        #expect(Self.bytes(await chip.receive([0x42] + checked)).count == 19)
        // A NAK has four bits.
        #expect(await chip.receive([0x42, 0x30, 0xFF, 1, 2]) == .answer([0, 0x01]))
        #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([4]))
        // The tag sleeps: it hears a frame of seven bits alone.
        #expect(await chip.receive([0x42, 0x26]) == .answer([0x01]))
        _ = await chip.receive([0x08, 0x63, 0x3D, 0x07])
        #expect(await chip.receive([0x42, 0x26]) == .answer([0, 0x44, 0x00]))
        #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([0]))
    }

    @Test func `An answer with another technology's checksum is one with a wrong checksum`() async {
        // A Topaz has that of NFC-B.
        var chip = await listed(VirtualType1Tag(.topaz512), [4])
        let identify: [UInt8] = [0x78, 0, 0, 0, 0, 0, 0]
        let checked = identify + CyclicRedundancyCheck.b(identify).littleEndianBytes
        #expect(Self.bytes(await chip.receive([0x42] + checked)).count == 1 + 8)
        _ = await chip.receive([0x08, 0x63, 0x03, 0x80])
        #expect(await chip.receive([0x42] + checked) == .answer([0x02]))
    }

    @Test func `Tags that answer at once collide`() async {
        field.bring(NFCATag(NFCAContents(uid: [1, 2, 3, 4], atqa: 0x0004, sak: 0x08)))
        field.bring(Self.ntag())
        var chip = PN53xChip(field: field)
        _ = await chip.receive([0x08, 0x63, 0x3D, 0x07])
        #expect(await chip.receive([0x42, 0x26]) == .answer([0x06]))
    }

    @Test func `A host's own frame has an answer of 262 bytes at most, and of the field's limit`() async {
        for (limit, last) in [(1024, 0x44), (256, 0x42)] as [(Int, UInt8)] {
            let field = VirtualField(maximumFrameLength: limit)
            field.bring(VirtualType2Tag(.ntag216, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
            var chip = PN53xChip(field: field)
            _ = await chip.receive([0x4A, 1, 0])
            // FAST_READ.
            #expect(Self.bytes(await chip.receive([0x42, 0x3A, 4, last])).count == 1 + 4 * (Int(last) - 3))
            #expect(await chip.receive([0x42, 0x3A, 4, last + 1]) == .answer([0x07]))
            guard limit > 262 else { continue }
            // With its checksum it has 262.
            _ = await chip.receive([0x08, 0x63, 0x03, 0x00])
            #expect(Self.bytes(await chip.receive([0x42, 0x3A, 4, last])).count == 1 + 262)
        }
    }

    // MARK: Times

    @Test(
        arguments: [
            (1, 100), (2, 200), (5, 1600), (0x0A, 51_200), (0x10, 3_276_800), (0x11, 3_276_800), (0xFF, 3_276_800),
            (0, 3_276_800),
        ] as [(UInt8, Int64)]
    ) func `A tag has the time that the host gives it`(value: UInt8, microseconds: Int64) async throws {
        var chip = await listed(Self.ntag())
        field.removeAll()
        #expect(await chip.receive([0x32, 0x02, 0x00, 0x0B, value]) == .answer([]))
        let link = try #require(field.link(for: .nfcA))
        let before = link.statistics.airtime
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x01]))
        let elapsed = (link.statistics.airtime - before).microseconds
        #expect((microseconds...microseconds + 1000).contains(elapsed), "\(elapsed)")
    }

    // MARK: Other commands

    @Test(
        arguments: [
            ([0x00, 0x00, 1, 2, 3], [0x00, 1, 2, 3]), ([0x00, 0x01], [0]), ([0x00, 0x02], [0]), ([0x00, 0x07], [0]),
            ([0x00, 0x06], [0x27]), ([0x00, 0x03], nil), ([0x00], nil), ([0x02], [0x32, 0x01, 0x06, 0x07]),
            ([0x0C], [0x3F, 0x07, 0x07]), ([0x0E, 1, 2], []), ([0x0E, 1], nil), ([0x10, 8], []), ([0x10, 9], nil),
            ([0x10], nil), ([0x12, 0x14], []), ([0x12], nil), ([0x14, 1], []), ([0x14], nil), ([0x16, 1], [0]),
            ([0x16], nil), ([0x32], nil), ([0x32, 0x01], nil), ([0x32, 0x01, 1, 1], nil), ([0x32, 0x02, 0, 0x0B], nil),
            ([0x32, 0x05, 0, 0], nil), ([0x32, 0x05, 0, 0, 0], []), ([0x32, 0x03], nil), ([0x32, 0x04, 0], []),
            ([0x32, 0x0A, 0], []), ([0x32, 0x0D, 0], []), ([0x32, 0x0E, 0], nil), ([0x56, 1], [0x01]),
            ([0x46, 1], [0x01]), ([0x50, 1], [0x27]), ([0x4E, 1], [0x27]), ([0x06], nil), ([0x06, 0x63], nil),
            ([0x08], nil), ([0x08, 0x63, 0x02], nil), ([0x06, 0x60, 0x00], [0]), ([0x99], nil), ([], nil),
            ([0x86], [0x27]), ([0x8A], [0, 0]), ([0x8E, 1], [0x27]), ([0x94, 1], [0x27]),
        ] as [([UInt8], [UInt8]?)]
    ) func `A chip without a tag answers each command`(command: [UInt8], answer: [UInt8]?) async {
        var chip = PN53xChip(field: field)
        #expect(await chip.receive(command) == (answer.map { .answer($0) } ?? .syntaxError))
    }

    @Test func `Registers keep what is written to them, and other addresses nothing`() async {
        var chip = PN53xChip(field: field)
        for (high, low, isKept) in [
            (0x61, 0x00, true), (0x60, 0xFF, false), (0x63, 0xFF, true), (0x64, 0x00, false), (0xFF, 0x80, true),
            (0xFF, 0x7F, false), (0xFF, 0xFF, true),
        ] as [(UInt8, UInt8, Bool)] {
            #expect(await chip.receive([0x08, high, low, 0x5A]) == .answer([]))
            #expect(await chip.receive([0x06, high, low]) == .answer([isKept ? 0x5A : 0]))
        }
        #expect(await chip.receive([0x08, 0x63, 0x05, 1, 0x63, 0x06, 2]) == .answer([]))
        #expect(await chip.receive([0x06, 0x63, 0x05, 0x63, 0x06]) == .answer([1, 2]))
        await chip.reset()
        #expect(await chip.receive([0x06, 0x63, 0x05]) == .answer([0]))
    }

    @Test func `The field goes off and on, and a tag is another one's then`() async {
        var chip = await listed(Self.ntag())
        #expect(await chip.receive([0x32, 0x01, 0x02]) == .answer([]))
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x27]))
        #expect(await chip.receive([0x32, 0x01, 0x03]) == .answer([]))
        // The target is known, and is selected again.
        #expect(Self.bytes(await chip.receive([0x40, 1, 0x30, 0])).count == 17)
        #expect(await chip.receive([0x16, 0xFF]) == .answer([0]))
        // A search for tags switches it on by itself.
        #expect(await chip.receive([0x32, 0x01, 0x02]) == .answer([]))
        #expect(Self.bytes(await chip.receive([0x4A, 1, 0])).first == 1)
        #expect(Self.bytes(await chip.receive([0x40, 1, 0x30, 0])).count == 17)
    }

    @Test(
        arguments: [
            ([4], 0x00, 0x00), ([0], 0x80, 0x80), ([1, 0, 0xFF, 0xFF, 0, 0], 0x92, 0x92), ([3, 0], 0x83, 0x83),
        ]
            as [([UInt8], UInt8, UInt8)]
    ) func `A listed tag sets the framing of its technology`(modulation: [UInt8], sent: UInt8, received: UInt8) async {
        field.bring(Self.ntag())
        field.bring(VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])))
        let frontEnd = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x81, 0x71])
        field.bring(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd))
        if modulation == [4] {
            field.removeAll()
            field.bring(VirtualType1Tag(.topaz512))
        }
        var chip = PN53xChip(field: field)
        _ = await chip.receive([0x08, 0x63, 0x3D, 7, 0x63, 0x3C, 7, 0x63, 0x02, 0x11, 0x63, 0x03, 0x11])
        _ = await chip.receive([0x4A, 1] + modulation)
        #expect(
            await chip.receive([0x06, 0x63, 0x02, 0x63, 0x03, 0x63, 0x3D, 0x63, 0x3C])
                == .answer([sent, received, 0, 0])
        )
    }
}
