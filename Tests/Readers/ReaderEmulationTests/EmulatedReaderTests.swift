// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import ReaderEmulation  // data objects and commands are internal

/// What an emulated reader answers to pcscd and its programs (PC/SC 2.01 part 3; ACR122U API 2.04; ACR1552U manual).
struct EmulatedReaderTests {
    private typealias Reader = HostScript<EmulatedReader>

    // MARK: ATR (PC/SC part 3, 3.1.3.2)

    @Test func `ATR of a storage card: ACR122U has its own numbers of standard and card name, ACR1552U those of PC/SC`()
        async
    {
        func atr(_ standard: String, _ name: String) -> String {
            let bytes = [UInt8](hex: "8F8001804F0CA000000306" + standard + name + "00000000")
            return "3B" + bytes.hex + [bytes.reduce(0, ^)].hex
        }
        var contents = Type2Contents(blank: .ntag213, uid: SampleTag.ntagUID)
        contents.sak = 0x10
        func classic(_ product: ClassicProduct) -> ClassicTag {
            ClassicTag(ClassicContents(blank: product, uid: [0x9C, 0x0C, 0x37, 0x01]))
        }
        let rows: [(ReaderProfile, any VirtualTag, String, String)] = [
            (.acr122u, SampleTag.ntag(), "03", "0003"), (.acr122u, VirtualType1Tag(.topaz96), "03", "F004"),
            (.acr122u, SampleTag.felica(), "03", "F011"), (.acr122u, classic(.classic1K), "03", "0001"),
            (.acr122u, classic(.classic4K), "03", "0002"), (.acr122u, classic(.mini), "03", "0026"),
            (.acr122u, VirtualType2Tag(contents), "03", "FF10"), (.acr1552u, classic(.classic1K), "03", "0001"),
            (.acr1552u, VirtualType1Tag(.topaz96), "02", "0030"), (.acr1552u, SampleTag.felica(), "11", "003B"),
            (.acr1552u, SampleTag.plainB([1, 2, 3, 4]), "07", "0000"),
            (.acr1552u, VirtualType5Tag(.icodeSLIX), "0B", "0014"),
            (.acr1552u, VirtualType5Tag(.icodeSLIX, uid: [0xE0, 0x07, 1, 2, 3, 4, 5, 6]), "0B", "0012"),
            (.acr1552u, VirtualType5Tag(.st25tv512), "0B", "0000"),
        ]
        for (profile, tag, standard, name) in rows {
            var reader = Reader.reader(profile, ["tag": tag])
            await reader.run("+ tag\nlook -> found\nup -> " + atr(standard, name), "\(standard) \(name)")
        }
    }

    @Test func `ATR of an ISO-DEP card: up to fifteen historical bytes, or the application data of Type B`() async {
        let rows: [(Type4FrontEnd?, String)] = [
            (nil, "3B 80 80 01 01"), (.nfcA(uid: [1, 2, 3, 4], ats: [6, 0x75, 0x77, 0x81, 2, 0x80]), "3B81800180 80"),
            (
                .nfcA(uid: [1, 2, 3, 4], ats: [0x15, 0x75, 0x77, 0x81, 2] + (1...16)),
                "3B8F8001 \((1...15).map { $0 }.hex) .."
            ),
            (.nfcB(pupi: [1, 2, 3, 4], applicationData: [5, 6, 7, 8]), "3B888001 05060708 008171 00 F5"),
        ]
        for (frontEnd, atr) in rows {
            var reader = Reader.reader(.acr122u, ["card": SampleTag.card(frontEnd)])
            await reader.run("+ card\nlook -> found\nup -> \(atr)\nreset -> \(atr)", atr)
        }
    }

    // MARK: Class FF (PC/SC part 3, 3.2)

    @Test func `GET DATA: UID and ATS; a shorter expected length is refused with 6C, a longer one warned of with 6282`()
        async
    {
        await Reader.run(
            .acr122u,
            """
            + typeA
            FFCA0000 00 -> no card                  # pcscd was not told of it yet
            look -> found
            up
            FFCA0000 -> ..7 9000; FFCA0000 00 -> ..7 9000; FFCA0000 07 -> ..7 9000
            FFCA0000 06 -> 6C07; FFCA0000 08 -> ..7 6282
            FFCA0100 00 -> 0578807002 9000
            FFCA0200 00 -> 6A81; FFCA0001 00 -> 6A81
            -; + ntag
            look -> lost found
            up
            FFCA0000 00 -> 04A1B2C3D4E580 9000
            FFCA0100 00 -> 6A81                     # no ATS
            """
        )
    }

    @Test
    func
        `Type 2 storage commands: READ and UPDATE BINARY, LOAD KEYS, and the status word of each wrong length or page`()
        async
    {
        let sixteen = "0102030405060708090A0B0C0D0E0F10"
        var reader = Reader.reader(.acr122u)
        await reader.run(
            """
            + ntag; look; up
            FFD60005 04 01020304 -> 9000
            FFB00005 04 -> 01020304 9000
            FFB00005 -> 01020304 ..12 9000; FFB00005 00 -> 01020304 ..12 9000
            FFB00005 10 -> 01020304 ..12 9000; FFB00005 11 -> 6C10
            FFB000C8 10 -> 6300                     # no such page
            FFB00104 10 -> 6A82                     # pages end at 255
            FFD60104 04 01020304 -> 6A82
            FFD600FF 04 01020304 -> 6300
            FFD60005 02 0102 -> 6700; FFD60004 -> 6700
            FFD60006 10 \(sixteen) -> 9000 | A006, \(sixteen)
            FFB00006 04 -> 01020304 9000
            FFD600F0 10 \(sixteen) -> 6300
            FFD60006 000004 05060708 -> 9000        # extended lengths
            FFD60006 000004 05060708 0000 -> 9000
            FFB00006 000004 -> 05060708 9000
            FFD60006 000004 010203 -> 6700; FFD60006 000004 0102030405 -> 6700
            FF820000 06 A5A5A5A5A5A5 -> 9000        # six bytes for one of two places
            FF820001 06 A5A5A5A5A5A5 -> 9000
            FF820002 06 A5A5A5A5A5A5 -> 6300; FF820000 05 A5A5A5A5A5 -> 6300; FF820001 07 A5A5A5A5A5A5A5 -> 6300
            FF860000 05 0100046000 -> 6300          # this is no MIFARE Classic
            00A40400 -> 6D00                        # a storage card has no commands of other classes
            00B00000 FF -> 6D00
            """
        )
        reader.field.arm(.effect(.tooShort(by: 1), atExchange: 0))
        await reader.run("FFB00004 04 -> 6300")
    }

    @Test func `MIFARE Classic storage commands: a loaded key opens its sector until another is opened`() async {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01]))
        var reader = Reader.reader(.acr122u, ["card": card])
        let (block, zeros) = ("64000000 9BFFFFFF 64000000 04FB04FB", String(repeating: "00", count: 16))
        await reader.run(
            """
            + card
            look; up
            FFB00004 10 -> 6300; FF860000 05 0100046000 -> 6300
            FF820000 06 FFFFFFFFFFFF -> 9000; FF820001 06 A0A1A2A3A4A5 -> 9000
            FF860000 05 0100046001 -> 6300; FFB00004 10 -> 6300
            FF860000 05 0100046000 -> 9000; FFB00004 10 -> \(zeros) 9000; FFD60004 10 \(block) -> 9000
            FFB00004 10 -> \(block) 9000; FFB00004 04 -> 6C10
            look                                    # a check of its presence leaves the sector open
            FFD70004 05 0100000005 -> 9000; FFB00004 10 -> 69000000 96FFFFFF 69000000 04FB04FB 9000
            FFD70004 05 0200000009 -> 9000; FFB00004 10 -> 60000000 9FFFFFFF 60000000 04FB04FB 9000
            FFD60004 04 01020304 -> 6700; FFD70004 05 0300000001 -> 6300; FFB00008 10 -> 6300
            """
        )
    }

    @Test
    func
        `Type 5 storage commands: READ and UPDATE BINARY to the last block, 255 at most; errors have status words`()
        async
    {
        var reader = Reader.reader(.acr1552u)
        await reader.run(
            """
            + slix                                  # 28 blocks
            look; up
            FFD60005 08 0102030405060708 -> 9000
            FFB00005 08 -> 0102030405060708 9000; FFB00005 06 -> 010203040506 9000
            FFB00006 -> 05060708 9000; FFB00006 00 -> 05060708 9000
            FFD60006 -> 6700; FFD60006 00 -> 6700
            FFD60005 06 010203040506 -> 6700        # not a multiple of the block size
            FFD6001B 04 09080706 -> 9000
            FFB0001A 08 -> 00000000 09080706 9000
            FFB0001B 08 -> 09080706 6282
            FFD6001B 08 0102030405060708 -> 6300
            FFB0001C 04 -> 6A82; FFB00105 04 -> 6A82; FFD6001C 04 01020304 -> 6A82; FFD60105 04 01020304 -> 6A82
            """
        )
        // The tag's errors.
        reader.field.arm(.effect(.refusal(0x12), atExchange: 0))
        await reader.run("FFB00005 04 -> 6A82")
        reader.field.arm(.effect(.refusal(0x12), atExchange: 1))
        await reader.run("FFD60005 04 01020304 -> 6300")
        var large = Reader.reader(.acr1552u, ["64K": VirtualType5Tag(.st25dv64K)])
        await large.run("+ 64K; look; up\nFFD600FF 04 01020304 -> 9000\nFFB000FF 08 -> 01020304 6282")
    }

    @Test func `block commands to cards without storage commands: 6A81`() async {
        for tag in ["topaz", "felica", "typeA"] {
            await Reader.run(
                .acr122u,
                "+ \(tag)\nlook\nup\nFFB00004 10 -> 6A81\nFFD60004 04 01020304 -> 6A81\nFF990000 -> 6A81"
            )
        }
    }

    @Test func `card that left before the reader noticed: commands fail, and powering it fails`() async {
        await Reader.run(
            .acr122u,
            """
            + ntag; look; -
            up -> no card
            FFCA0000 00 -> 6300; FFB00004 10 -> 6300; FFD60004 04 01020304 -> 6300
            00A40400 -> no card
            look -> lost
            """
        )
    }

    @Test func `ISO-DEP card: APDUs pass, a reset forgets the selection; an empty answer and an absent card fail`()
        async
    {
        var card = ScriptedCard()
        card.answer([0x00, 0x01, 0x02, 0x03], with: [])
        card.answer([0x00, 0x01, 0x02, 0x04], with: [0x90, 0x00])
        var reader = Reader.reader(.acr122u, ["scripted": VirtualType4Tag(card: card)])
        await reader.run(
            """
            + typeA; look; up
            00A4040007D276000085010100 -> 9000
            00A4000C02E103 -> 9000
            reset
            00A4000C02E103 -> 6A82
            -; + scripted
            look -> lost found
            up
            00010203 -> failed
            00010204 -> 9000
            -
            00010204 -> failed
            """
        )
    }

    @Test func `class FF command: data and expected length, short or extended (ISO/IEC 7816-4, 5.2)`() throws {
        for (body, data, expectedLength) in [
            ("", "", nil), ("05", "", 5), ("00", "", 0), ("020708", "0708", nil), ("02070809", "0708", 9),
            ("000102", "", 0x0102), ("0000020708", "0708", nil), ("00000207080000", "0708", 0), ("000000", "", 0),
        ] as [(String, String, Int?)] {
            let command = try #require(ReaderCommand([UInt8](hex: "FFCA0102" + body)))
            #expect(command.instruction == 0xCA && command.p1 == 1 && command.p2 == 2)
            #expect(command.data == [UInt8](hex: data) && command.expectedLength == expectedLength, "\(body)")
        }
        // Another class, or a length that does not fit.
        for apdu in [
            "", "FFCA00", "00CA0000", "FFD600040201", "FFD600040201020304", "FFD60004 00000201",
            "FFD60004 0000020102030405", "FFD60004 000002010203",
        ] { #expect(ReaderCommand([UInt8](hex: apdu)) == nil, "\(apdu)") }
    }

    // MARK: Escapes, properties and attributes

    @Test func `ACR122U: firmware, lights, polling parameter and PN532 commands`() async {
        let identity = "0504 00 010203 20" + String(repeating: "00", count: 30)
        await Reader.run(
            .acr122u,
            """
            escape FF00480000 -> 41435231323255323135                   # ACR122U215
            control 42000DAC FF00480000 -> 41435231323255323135         # the code of Windows
            escape E000001800 -> failed
            escape FFCA000000 -> failed
            escape FF00400504 01010100 -> 9003      # green at first; bits 3 and 2 choose lights, 1 and 0 set them
            escape FF00400404 01010100 -> 9002; escape FF00400704 01010100 -> 9003
            escape FF00400904 01010100 -> 9001
            escape FF00400F04 01010100 -> 9003; escape FF00400C04 01010100 -> 9000
            escape FF00400F03 010101 -> 6300
            escape FF00500000 -> 90FF; escape FF00515A00 -> 905A; escape FF00500000 -> 905A
            escape FF0041FF00 -> 9000; escape FF0052FF00 -> 9000; escape FF00530000 -> 6300
            escape FF000000 02 D402 -> D50332010607 9000
            escape FF000000 02 D499 -> 637F         # the chip's syntax error
            escape FF000000 04 D44A0100 -> D54B00 9000      # a reader does not wait for a tag
            escape FF000000 05 D460FF0100 -> D56100 9000
            escape FF000000 27 D48C \(identity) -> 6301
            escape FF000000 01 D4 -> 6300; escape FF000000 02 D502 -> 6300
            control 42000D48 -> 1204 42330012 1304 42000001
            control 42330012 -> 080A 41435231323255323135 0A04 00000100 0B02 2F07 0C02 0022
            control 1234 -> unsupported
            attribute 10100 -> 41435300             # ACS
            attribute 10101 -> 4143532041435231323255205049434320496E7465726661636500
            attribute 10102 -> 00000002 00000000
            attribute 10103 -> unsupported
            """
        )
    }

    @Test func `ACR1552U: answers firmware, properties and sessions without a card, and fails the ACR122U's commands`()
        async
    {
        let firmware = "41435231353532552D4D3120465720312E3030"
        await Reader.run(
            .acr1552u,
            """
            escape E000001800 -> E100000013 \(firmware)     # ACR1552U-M1 FW 1.00
            control 42000DAC E000001800 -> E100000013 \(firmware)
            escape E000001900 -> failed
            escape FF00480000 -> failed
            control 42330012 -> 0813 \(firmware) 0A04 00000100 0B02 2F07 0C02 0323
            escape FFC20000 02 8000 -> C003009000 8003010000 9000   # a transparent session needs no card
            """
        )
    }

    @Test
    func
        `ACR122U: the card that the reader found is the chip's first target, and the host's first target is the card`()
        async
    {
        await Reader.run(
            .acr122u,
            """
            + ntag; look; up
            pn532 40 01 30 04 -> D54100 ..16 9000
            pn532 40 41 30 -> D54100 9000
            reset
            pn532 40 01 30 04 -> D54100 ..16 9000   # no part of a command is left
            down -> empty
            pn532 42 30 04 -> D54327 9000           # without power there is no field
            -; + typeA
            look -> lost found
            up
            pn532 40 01 00A4040007D276000085010100 -> D54100 9000 9000
            -; + ntag ntag81
            look -> lost found
            up
            FFCA0000 00 -> 04A1B2C3D4E5 $a 9000
            FFB00000 10 -> ..7 $a ..8 9000          # the blocks are those of the card with this UID
            pn532 06 6302 6303 -> D507 8080 9000
            pn532 4A 02 00 -> D54B 02 01 ..4 04A1B2C3D4E5 $b 02 * 
            FFCA0000 00 -> 04A1B2C3D4E5 $b 9000     # the host's first target
            """
        )
    }

    @Test func `a new host: the chip is reset, the reader's settings stay, and its card is reported again`() async {
        await Reader.run(
            .acr122u,
            """
            anew -> same
            escape FF00515A00 -> 905A
            escape FF00400D04 01010100 -> 9001
            escape FF000000 05 D408630577 -> D509 9000
            escape FF000000 04 D4066305 -> D507 77 9000
            anew -> same
            escape FF000000 04 D4066305 -> D507 00 9000
            escape FF00500000 -> 905A
            escape FF00400004 01010100 -> 9001
            + ntag
            anew -> found; look -> same; up -> 3B *; down -> empty
            anew -> found; up -> 3B *
            -
            anew -> same; look -> same; up -> no card       # the new host never knew of that card
            """
        )
    }

    // MARK: Presence and power

    @Test func `card that stays: found once, whether powered or not, until it leaves`() async {
        let tags: [any VirtualTag] = [
            SampleTag.nfcA([4, 1, 2, 3, 4, 5, 6]), SampleTag.nfcA([8, 1, 2, 3]), SampleTag.nfcB([1, 2, 3, 4]),
            SampleTag.felica(), SampleTag.vicinity(4), SampleTag.ntag(), VirtualType1Tag(.topaz96),
        ]
        for tag in tags {
            var reader = Reader.reader(.acr1552u, ["tag": tag])
            await reader.run("+ tag\nlook -> found\nup -> 3B *\nreset -> 3B *\nlook -> same", "\(tag.identifier)")
            for _ in 0..<2 {
                await reader.run("up -> 3B *\ndown -> empty\nlook -> same", "\(tag.identifier)")
                // The look has left the power off: nothing is sent without a field.
                let sent = reader.field.exchange(Frame([0x00]), over: tag.technology, timeout: .milliseconds(1))
                #expect(sent.elapsed == .zero)
            }
            await reader.run("-\nlook -> lost\nlook -> same\n+ tag\nlook -> found", "\(tag.identifier)")
        }
    }

    @Test
    func
        `card swapped for another: can't be powered, and the next look reports both, unless their UIDs are random`()
        async
    {
        func topaz(_ last: UInt8) -> VirtualType1Tag { VirtualType1Tag(.topaz96, uid: [1, 2, 3, last, 5, 6, 7]) }
        func nfcA(_ uid: UInt8...) -> any VirtualTag { SampleTag.nfcA(uid) }
        func nfcB(_ pupi: UInt8...) -> any VirtualTag { SampleTag.nfcB(pupi) }
        // A UID of four bytes that begins with 08 is random, and so is any PUPI: with its power gone, the card may be
        // the same one (ISO/IEC 14443-3, 6.5.4 and 7.9.2).
        let rows: [(any VirtualTag, any VirtualTag, mayBeSame: Bool)] = [
            (nfcA(4, 1, 2, 3, 4, 5, 6), nfcA(4, 1, 2, 3, 4, 5, 7), false), (nfcA(4, 1, 2, 3), nfcA(8, 1, 2, 3), false),
            (nfcA(8, 1, 2, 3), nfcA(4, 1, 2, 3, 4, 5, 7), false), (nfcA(8, 1, 2, 3), nfcA(8, 3, 2, 1), true),
            (SampleTag.felica(6), SampleTag.felica(7), false), (topaz(4), topaz(5), false),
            (SampleTag.vicinity(4), SampleTag.vicinity(5), false), (nfcA(8, 1, 2, 3), nfcB(8, 1, 2, 3), false),
            (nfcB(8, 1, 2, 3), nfcA(8, 3, 2, 1), false), (nfcB(1, 2, 3, 4), nfcB(1, 2, 3, 5), true),
        ]
        for (one, other, mayBeSame) in rows {
            let same = mayBeSame ? "3B *" : "no card"
            for (before, request, answer, later) in [
                ("", "up", same, mayBeSame ? "same" : "lost found"), ("", "look", "lost found", "same"),
                ("down -> empty", "look", mayBeSame ? "same" : "lost found", "same"),
            ] {
                var reader = Reader.reader(.acr1552u, ["one": one, "other": other])
                await reader.run(
                    """
                    + one
                    look -> found
                    look -> same
                    \(before)
                    -; + other
                    \(request) -> \(answer)
                    look -> \(later)
                    up -> 3B *
                    """,
                    "\(one.identifier) \(other.identifier)"
                )
            }
        }
    }

    // MARK: Reports

    @Test func `exchange reports: each PC/SC call with its answer or failure, each frame with its technology`()
        async throws
    {
        let calls = Locked<[String]>([])
        let field = VirtualField()
        field.bring(SampleTag.ntag())
        @Sendable func report(_ exchange: Exchange) {
            let end = exchange.response.map { "\($0.count)" } ?? exchange.failure ?? ""
            calls.withLock { $0.append("\(exchange.layer) \(exchange.name): \(end)") }
        }
        var reader = EmulatedReader(.acr122u, field: field, onExchange: { report($0) })
        for request in ["FFCA000000", "look", "up", "reset", "down", "control 1234"] {
            _ = await reader.answer(to: request)
        }
        let traced = TracedField(field, onExchange: { report($0) })
        try await traced.setCarrier(true)
        let request = Frame(bits: [0x26], validBitsInLastByte: 7)
        _ = try await traced.link(for: .nfcA)?.transceive(request, timeout: .milliseconds(1))
        for technology in [Technology.nfcB, .nfcF, .nfcV] {
            _ = try? await traced.link(for: technology)?.transceive(Frame([0x99]), timeout: .milliseconds(1))
        }
        #expect(
            calls.withLock { $0 } == [
                "pcsc transmit: no card", "pcsc power up: 20", "pcsc reset: 20", "pcsc power down: 0",
                "pcsc control 1234: unsupported", "air nfc-a: 2", "air nfc-b: timeout", "air nfc-f: timeout",
                "air nfc-v: timeout",
            ]
        )
    }
}
