// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// What a PN532 exchanges with its targets, and its commands about itself (PN532 user manual UM0701-02, 7.2 and 7.3).
struct PN53xExchangeTests {
    private typealias Chip = HostScript<PN53xChip>

    // MARK: InDataExchange (7.3.8)

    @Test func `InDataExchange with a Type 2 tag: READ, WRITE and COMPATIBILITY_WRITE, a NAK is status 13`() async {
        let ff = String(repeating: "FF", count: 10)
        await Chip.run(
            """
            + ntag
            40 01 30 00 -> 27                       # no target was listed
            4A 01 00
            40 -> syntax error; 40 00 30 00 -> 27; 40 02 30 00 -> 27
            40 81 30 00 -> 00 ..16                  # the upper bits are flags
            40 01 A2 05 01020304 -> 00
            40 01 30 05 -> 00 01020304 ..12
            40 01 A0 06 0102030405060708090A0B0C0D0E0F10 -> 00 | A006, 0102030405060708090A0B0C0D0E0F10
            40 01 30 06 -> 00 01020304 ..12
            40 01 60 -> 00 ..8                      # GET_VERSION
            40 01 60 04 \(ff) -> 13 | nothing       # MIFARE Classic authentication; the tag stays awake
            40 01 61 04 \(ff) -> 13 | nothing
            40 01 30 00 -> 00 ..16
            40 01 30 FF -> 13
            40 01 30 00 -> 01                       # the NAK has put the tag to sleep
            4A 01 00
            40 01 A0 01 01010101010101010101010101010101 -> 13 | A001
            4A 01 00
            40 01 A2 00 01020304 -> 13
            4A 01 00
            40 01 60 00000000000000000000 -> 13 | 6000000000000000000000    # eleven bytes are no authentication
            """
        )
    }

    @Test func `InDataExchange with a MIFARE Classic: the chip authenticates, reads, writes and counts`() async {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01]))
        var chip = Chip.chip(["card": card])
        let (key, uid) = ("FFFFFFFFFFFF", "9C0C3701")
        await chip.run(
            """
            + card
            4A 01 00 -> 01 01 0004 08 04 \(uid)
            40 01 30 04 -> 13
            4A 01 00
            40 01 60 04 \(key) 01020304 -> 14         # another UID
            4A 01 00
            40 01 60 04 A0A1A2A3A4A5 \(uid) -> 14
            4A 01 00
            40 01 60 04 \(key) \(uid) -> 00
            40 01 A0 04 64000000 9BFFFFFF 64000000 04FB04FB -> 00
            40 01 C1 04 05000000 -> 00
            40 01 B0 04 -> 00
            40 01 30 04 -> 00 69000000 96FFFFFF 69000000 04FB04FB
            40 01 60 08 \(key) \(uid) -> 00             # nested
            40 01 30 08 -> 00 ..16
            40 01 30 04 -> 13                       # not in this sector
            """
        )
    }

    @Test func `InDataExchange with a Topaz: left-out address, data and UID bytes are added`() async {
        await Chip.run(
            """
            + topaz
            4A 01 04 -> 01 01 0C00 $a $b $c $d
            40 01 00 -> 00 ..122 | 00 0000 $a $b $c $d
            40 01 01 08 -> 00 08 E1 | 01 0800 $a $b $c $d
            40 01 53 10 78 -> 00 10 78 | 53 1078 $a $b $c $d
            40 01 01 10 00 $a $b $c -> 00 10 78
            40 01 01 10 00 $a $b $c $d -> 00 10 78
            40 01 01 08 00 09090909 -> 01 | 01 0800 09090909
            40 01 78 000000000000 -> 00 12 4C $a $b $c $d
            40 01 78 -> 01 | 78
            """
        )
    }

    @Test func `InDataExchange with an ISO-DEP card: an APDU whole or in parts has the same answer`() async {
        await Chip.run(
            """
            + typeA; 4A 01 00
            40 01 00A4040007D276000085010100 -> 00 9000
            40 41 00A4040007D2 -> 00
            40 01 76000085010100 -> 00 9000
            """
        )
    }

    @Test func `InDataExchange with a long answer: parts of 262 bytes, the rest is lost with the next command`() async {
        let bytes = SampleTag.longAnswer(600)
        var chip = Chip.chip(["card": SampleTag.talkative(600)])
        let first = "40 01 01 -> 40 " + bytes[..<262].hex
        await chip.run(
            """
            + card; 4A 01 00
            \(first)
            40 01 -> 40 \(Array(bytes[262..<524]).hex)
            40 01 -> 00 \(Array(bytes[524...]).hex)
            40 01 02 -> 00 \(bytes[..<262].hex)
            """
        )
        // The next command ends it.
        await chip.run(first + "\n40 01 03 -> 00 09")
    }

    // MARK: InCommunicateThru (7.3.9)

    @Test func `InCommunicateThru: the CIU registers switch the checksums and set the bits of the last byte`() async {
        let read = "3004" + CyclicRedundancyCheck.a([0x30, 0x04]).littleEndianBytes.hex
        await Chip.run(
            """
            + ntag; 4A 01 00
            42 -> 05
            42 60 -> 00 ..8
            42 30 FF -> 02                          # four bits have no checksum
            4A 01 00
            42 30 04 -> 00 ..16
            08 6302 00
            42 \(read) -> 00 ..16                   # the host's own checksum
            08 6303 00
            42 \(read) -> 00 ..18                   # and the tag's
            42 30 FF 01 02 -> 00 01
            06 633C -> 04                           # valid bits of the last byte
            42 26 -> 01                             # the tag sleeps, and only hears a frame of seven bits
            08 633D 07
            42 26 -> 00 4400
            06 633C -> 00
            """
        )
        await Chip.run(
            """
            + ntag; 4A 01 00; 08 6303 00 633C F8
            42 A2 14 01020304 -> 00 0A
            06 633C -> FC                           # the other bits of the register stay
            """
        )
    }

    @Test func `InCommunicateThru: CRC, collision and length errors have their status`() async {
        let identify = "78000000000000"
        let checked = identify + CyclicRedundancyCheck.b([UInt8](hex: identify)).littleEndianBytes.hex
        await Chip.run(
            """
            + topaz; 4A 01 04
            42 \(checked) -> 00 ..8
            08 6303 80
            42 \(checked) -> 02                     # CRC_B instead of CRC_A
            -; + classic ntag; 08 633D 07
            42 26 -> 06                             # both answer at once
            """
        )
        // FAST_READ of 65 and 66 pages: an answer and its checksum have 262 bytes at most.
        var chip = Chip.chip(
            ["tag": VirtualType2Tag(.ntag216, uid: SampleTag.ntagUID)],
            in: VirtualField(maximumFrameLength: 1024)
        )
        await chip.run("+ tag\n4A 01 00\n42 3A 04 44 -> 00 ..260\n42 3A 04 45 -> 07")
    }

    @Test func `Type B card that supports a CID: activated with CID 1, which the host's own blocks have to carry`()
        async
    {
        let select = "00A4040007D276000085010100"
        let block = SampleTag.card(.nfcB(pupi: [10, 11, 12, 13], protocolInfo: [0x00, 0x81, 0x71]))
        let plain = SampleTag.card(.nfcB(pupi: [10, 11, 12, 13], protocolInfo: [0x00, 0x81, 0x70]))
        var chip = Chip.chip(["cid": block, "none": plain])
        await chip.run(
            """
            + cid
            4A 01 03 00 -> 01 01 50 0A0B0C0D 00000000 008171 01 01
            42 BA 01 -> 00 AB 01                    # R(NAK), by which libnfc looks for the card
            42 B2 -> 01                             # the same for a card without a CID
            40 01 \(select) -> 00 9000
            42 CA 01 -> 00 CA 01                    # nfcpy ends the chip's ISO-DEP and starts its own
            42 05 00 08 -> 00 50 0A0B0C0D 00000000 008171
            42 1D 0A0B0C0D 00080100 -> 00 00
            42 02 \(select) -> 00 02 9000
            -; + none
            4A 01 03 00 -> 01 01 50 0A0B0C0D 00000000 008170 01 00
            40 01 \(select) -> 00 9000
            42 C2 -> 00 C2
            """
        )
    }

    @Test func `a host that activates a tag itself: InListPassiveTarget still finds it`() async {
        await Chip.run(
            """
            32 05 FF 01 00; + classic; 08 633D 07
            42 26 -> 00 0400
            08 633D 00
            42 93 20 -> 00 01020304 04
            08 6302 80 6303 80
            42 93 70 01020304 04 -> 00 08
            4A 01 00 -> 01 01 0004 08 04 01020304
            """
        )
    }

    // MARK: Settings (7.2 and 7.3.1)

    @Test func `RFConfiguration item 2: the tag's time is 100 us times 2^(n-1), 51.2 ms by default`() async throws {
        let times: [(UInt8?, Int64)] = [
            (nil, 51_200), (1, 100), (2, 200), (5, 1600), (0x0A, 51_200), (0x10, 3_276_800), (0x11, 3_276_800),
            (0xFF, 3_276_800), (0, 3_276_800),
        ]
        for (value, microseconds) in times {
            var chip = Chip.chip()
            await chip.run("+ ntag\n4A 01 00\n-")
            if let value { await chip.run("32 02 00 0B \([value].hex) -> empty") }
            let field = chip.field
            field.startRecording()
            _ = await chip.device.receive([0x40, 1, 0x30, 0])
            let elapsed = field.stopRecording().map(\.elapsed)
            let silence = field.exchange(Frame([0x30, 0]), over: .nfcA, timeout: .microseconds(microseconds))
            #expect(elapsed == [silence.elapsed], "\(value ?? 0)")
        }
    }

    @Test func `commands of a chip without a target: each is answered, and malformed parameters are a syntax error`()
        async
    {
        await Chip.run(
            """
            00 00 010203 -> 00 010203               # Diagnose
            00 01 -> 00; 00 02 -> 00; 00 07 -> 00; 00 06 -> 27
            00 03 -> syntax error; 00 -> syntax error
            02 -> 32 01 06 07                       # GetFirmwareVersion: PN532 1.6
            08 6100 5A 60FF 5A 6400 5A FFFF 5A -> empty
            06 6100 60FF 6400 FFFF -> 5A 00 00 5A   # ReadRegister
            06 -> syntax error; 06 63 -> syntax error
            08 -> syntax error; 08 6302 -> syntax error
            0C -> 3F 07 07                          # ReadGPIO
            0E 01 02 -> empty; 0E 01 -> syntax error
            10 08 -> empty; 10 09 -> syntax error   # SetSerialBaudRate: BR 0 to 8
            10 -> syntax error
            12 14 -> empty; 12 -> syntax error      # SetParameters
            14 01 -> empty; 14 -> syntax error      # SAMConfiguration
            16 01 -> 00; 16 -> syntax error         # PowerDown
            32 -> syntax error; 32 01 -> syntax error; 32 01 01 01 -> syntax error
            32 02 00 0B -> syntax error; 32 05 00 00 -> syntax error
            32 05 00 00 00 -> empty; 32 04 00 -> empty; 32 0A 00 -> empty; 32 0D 00 -> empty
            32 03 -> syntax error; 32 0E 00 -> syntax error
            56 01 -> 01; 46 01 -> 01                # InJumpForDEP: there are no peers
            50 01 -> 27; 4E 01 -> 27
            86 -> 27                                # TgGetData and the like: the chip is no card
            8A -> 00 00; 8E 01 -> 27; 94 01 -> 27
            99 -> syntax error
            reset
            06 6100 -> 00
            """
        )
        var chip = PN53xChip(field: VirtualField())
        #expect(await chip.receive([]) == .syntaxError)
    }

    @Test func `field of the PN53x: switched by RFConfiguration, and switched on by InListPassiveTarget`() async {
        await Chip.run(
            """
            + ntag; 4A 01 00
            32 01 02 -> empty
            40 01 30 00 -> 27
            32 01 03 -> empty
            40 01 30 00 -> 00 ..16                  # the target is known, and is selected again
            32 01 02
            4A 01 00 -> 01 *
            40 01 30 00 -> 00 ..16
            """
        )
    }

    // MARK: The contactless unit (8.6.23), by which nfcpy sends what the firmware has no command for

    /// Sends bytes to a Topaz as nfcpy does: each in its own frame, the first one with 7 bits; no parity check.
    private static func send(_ text: String, to chip: inout PN53xChip) async {
        let bytes = [UInt8](hex: text)
        let frame = bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes
        var writes: [UInt8] = [0x63, 0x39, frame[0], 0x63, 0x3D, 7, 0x63, 0x31, 4, 0x63, 0x3D, 0, 0x63, 0x0D, 0x30]
        for byte in frame.dropFirst() { writes += [0x63, 0x39, byte, 0x63, 0x31, 4, 0x63, 0x31, 7] }
        #expect(await chip.receive([0x08] + writes + [0x63, 0x31, 8]) == .answer([]))
    }

    /// The content of the buffer.
    private static func buffer(of chip: inout PN53xChip) async -> [UInt8] {
        guard case .answer(let level) = await chip.receive([0x06, 0x63, 0x3A]), level[0] > 0 else { return [] }
        let addresses = Array(repeating: [0x63, 0x39] as [UInt8], count: Int(level[0])).joined()
        guard case .answer(let bytes) = await chip.receive([0x06] + addresses) else { return [] }
        return bytes
    }

    @Test func `contactless unit: READ8, WRITE-E8 and WRITE-NE8 reach a Topaz 512, answers have parity bits`() async {
        let tag = VirtualType1Tag(.topaz512)
        let uid = Array(VirtualType1Tag.defaultUID.prefix(4)).hex
        let zeros = "0000000000000000"
        let field = VirtualField()
        field.bring(tag)
        var chip = PN53xChip(field: field)
        #expect(await chip.receive([0x4A, 1, 4]) != .waiting)
        let rows: [(String, String)] = [
            ("02 01" + zeros + uid, "01 E110 3F00 0103 F230"), ("54 20 0102030405060708" + uid, "20 0102030405060708"),
            ("1B 20 8080808080808080" + uid, "20 8182838485868788"),
        ]
        for (request, answer) in rows {
            await Self.send(request, to: &chip)
            // Nine bytes and a checksum, with a bit more for each.
            #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([3]))
            let bits = await Self.buffer(of: &chip).flatMap { (byte: UInt8) -> [UInt8] in (0..<8).map { byte >> $0 & 1 }
            }
            let bytes = [UInt8](hex: answer)
            let wanted = (bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes).flatMap {
                (byte: UInt8) -> [UInt8] in
                (0..<8).map { byte >> $0 & 1 } + [byte.nonzeroBitCount.isMultiple(of: 2) ? 1 : 0]
            }
            #expect(
                Array(bits.prefix(wanted.count)) == wanted && bits.count == (wanted.count + 7) / 8 * 8,
                "\(request)"
            )
        }
        #expect(Array(tag.contents.memory[256..<264]) == Array(0x81...0x88))
        // Firmware commands work as before.
        #expect(await chip.receive([0x40, 1, 0x01, 0x08, 0x00]) == .answer([0, 0x08, 0xE1]))
    }

}
