// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Checks a reader's own commands: those of class FF, its escapes and its attributes (PC/SC part 3 and 10; ACR122U API
/// 2.04; ACR1552U reference manual).
@Suite struct `An emulated reader's own commands` {
    private static let escape: UInt32 = 0x4200_0001

    private let field = VirtualField()

    /// A reader with a tag on it that has power.
    private func reader(on tag: any VirtualTag) async -> EmulatedReader {
        field.bring(tag)
        var reader = EmulatedReader(.showing(tag.technology), field: field)
        #expect(await reader.look() == .init(hasFound: true))
        _ = await reader.setPower(.up)
        return reader
    }

    private static func ntag() -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
    }

    // MARK: Class FF

    @Test(
        arguments: [(0, 6, true), (1, 6, true), (2, 6, false), (0xFF, 6, false), (0, 5, false), (1, 7, false)]
            as [(UInt8, Int, Bool)]
    ) func `A key has six bytes, and one of two places`(place: UInt8, count: Int, isTaken: Bool) async {
        var reader = await reader(on: Self.ntag())
        let key = [UInt8](repeating: 0xA5, count: count)
        let reply = await reader.transmit([0xFF, 0x82, 0, place, UInt8(count)] + key)
        #expect(reply == .done(isTaken ? [0x90, 0x00] : [0x63, 0x00]))
    }

    @Test func `A Type 2 tag has pages up to 255, and sixteen bytes where no number is given`() async {
        var reader = await reader(on: Self.ntag())
        #expect(await reader.transmit([0xFF, 0xB0, 1, 4, 16]) == .done([0x6A, 0x82]))
        #expect(await reader.transmit([0xFF, 0xD6, 1, 4, 4, 1, 2, 3, 4]) == .done([0x6A, 0x82]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 0xFF, 16]) == .done([0x63, 0x00]))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 0xFF, 4, 1, 2, 3, 4]) == .done([0x63, 0x00]))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 4]) == .done([0x67, 0x00]))
        for apdu in [[0xFF, 0xB0, 0, 4], [0xFF, 0xB0, 0, 4, 0], [0xFF, 0xB0, 0, 4, 16]] as [[UInt8]] {
            guard case .done(let answer) = await reader.transmit(apdu) else {
                Issue.record("The pages have to be read.")
                continue
            }
            #expect(answer.count == 18 && answer.suffix(2) == [0x90, 0x00])
        }
        #expect(await reader.transmit([0xFF, 0xCA, 1, 0, 0]) == .done([0x6A, 0x81]))
    }

    @Test func `Sixteen bytes for a page go by COMPATIBILITY_WRITE, which a tag may refuse`() async {
        let tag = Self.ntag()
        var reader = await reader(on: tag)
        #expect(await reader.transmit([0xFF, 0xD6, 0, 6, 16] + (1...16)) == .done([0x90, 0x00]))
        #expect(Array(tag.contents.memory[24..<28]) == [1, 2, 3, 4])
        #expect(await reader.transmit([0xFF, 0xD6, 0, 0xF0, 16] + (1...16)) == .done([0x63, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 6, 4]) == .done([1, 2, 3, 4, 0x90, 0x00]))
    }

    @Test func `A command may have lengths of three bytes, with and without Le`() async {
        let tag = Self.ntag()
        var reader = await reader(on: tag)
        for (number, end) in [(1, []), (2, [0, 0])] as [(UInt8, [UInt8])] {
            let data = [UInt8](repeating: number, count: 4)
            #expect(await reader.transmit([0xFF, 0xD6, 0, 6, 0, 0, 4] + data + end) == .done([0x90, 0x00]))
            #expect(Array(tag.contents.memory[24..<28]) == data)
        }
        #expect(await reader.transmit([0xFF, 0xB0, 0, 6, 0, 0, 4]) == .done([2, 2, 2, 2, 0x90, 0x00]))
        for count in [3, 5, 7] {
            let data = [UInt8](repeating: 3, count: count)
            #expect(await reader.transmit([0xFF, 0xD6, 0, 6, 0, 0, 4] + data) == .done([0x67, 0x00]))
        }
        #expect(Array(tag.contents.memory[24..<28]) == [2, 2, 2, 2])
    }

    @Test func `Blocks of a Type 5 tag are read up to the last one, and written one after the other`() async {
        // Of 28 blocks.
        var reader = await reader(on: VirtualType5Tag(.icodeSLIX))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 5, 8] + (1...8)) == .done([0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 8]) == .done([1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 6]) == .done([1, 2, 3, 4, 5, 6, 0x90, 0x00]))
        for end in [[], [0]] as [[UInt8]] {
            #expect(await reader.transmit([0xFF, 0xB0, 0, 6] + end) == .done([5, 6, 7, 8, 0x90, 0x00]))
            #expect(await reader.transmit([0xFF, 0xD6, 0, 6] + end) == .done([0x67, 0x00]))
        }
        #expect(await reader.transmit([0xFF, 0xD6, 0, 5, 6] + (1...6)) == .done([0x67, 0x00]))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 27, 4, 9, 8, 7, 6]) == .done([0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 26, 8]) == .done([0, 0, 0, 0, 9, 8, 7, 6, 0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 27, 8]) == .done([9, 8, 7, 6, 0x62, 0x82]))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 27, 8] + (1...8)) == .done([0x63, 0x00]))
        for block in [[0, 28], [1, 5]] as [[UInt8]] {
            #expect(await reader.transmit([0xFF, 0xB0] + block + [4]) == .done([0x6A, 0x82]))
            #expect(await reader.transmit([0xFF, 0xD6] + block + [4, 1, 2, 3, 4]) == .done([0x6A, 0x82]))
        }
    }

    @Test func `A Type 5 tag has blocks up to 255, also where it has more`() async {
        var reader = await reader(on: VirtualType5Tag(.st25dv64K))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 255, 4, 1, 2, 3, 4]) == .done([0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 255, 4]) == .done([1, 2, 3, 4, 0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 255, 8]) == .done([1, 2, 3, 4, 0x62, 0x82]))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 255, 8] + (5...12)) == .done([0x63, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 255, 4]) == .done([5, 6, 7, 8, 0x90, 0x00]))
    }

    @Test func `The identifier has as many bytes as it has, whatever is expected`() async {
        let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
        var reader = await reader(on: Self.ntag())
        for end in [[], [0], [7]] as [[UInt8]] {
            #expect(await reader.transmit([0xFF, 0xCA, 0, 0] + end) == .done(uid + [0x90, 0x00]))
        }
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 6]) == .done([0x6C, 7]))
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 8]) == .done(uid + [0x62, 0x82]))
        #expect(await reader.transmit([0xFF, 0xCA, 0, 1, 0]) == .done([0x6A, 0x81]))
    }

    @Test func `A card that has left has no identifier and no blocks, also before the host has noticed`() async {
        var reader = await reader(on: Self.ntag())
        field.removeAll()
        #expect(await reader.setPower(.up) == .noCard)
        for apdu in [[0xFF, 0xCA, 0, 0, 0], [0xFF, 0xB0, 0, 4, 16], [0xFF, 0xD6, 0, 4, 4, 1, 2, 3, 4]] as [[UInt8]] {
            #expect(await reader.transmit(apdu) == .done([0x63, 0x00]))
        }
    }

    @Test func `Cards of other types have no blocks`() async {
        for tag in [
            VirtualType1Tag(.topaz96), VirtualType3Tag(FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])),
            VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)])),
        ] as [any VirtualTag] {
            field.removeAll()
            var reader = await reader(on: tag)
            for apdu in [[0xFF, 0xB0, 0, 4, 16], [0xFF, 0xD6, 0, 4, 4, 1, 2, 3, 4]] as [[UInt8]] {
                #expect(await reader.transmit(apdu) == .done([0x6A, 0x81]), "\(tag.technology)")
            }
        }
    }

    @Test func `An answer with fewer bytes than a page is no page, and a block has at least one`() async {
        var pages = await reader(on: Self.ntag())
        field.arm(.effect(.tooShort(by: 1), atExchange: 0))
        #expect(await pages.transmit([0xFF, 0xB0, 0, 4, 4]) == .done([0x63, 0x00]))
        field.removeAll()
        var blocks = await reader(on: VirtualType5Tag(.icodeSLIX))
        #expect(await blocks.transmit([0xFF, 0xD6, 0, 5, 4, 9, 8, 7, 6]) == .done([0x90, 0x00]))
        // The flags alone, and the flags with a byte.
        for (missing, answer) in [(4, [0x6A, 0x82]), (3, [9, 0x90, 0x00])] as [(Int, [UInt8])] {
            field.arm(.effect(.tooShort(by: missing), atExchange: 0))
            #expect(await blocks.transmit([0xFF, 0xB0, 0, 5, 1]) == .done(answer))
        }
        field.arm(.effect(.tooShort(by: 4), atExchange: 0))
        #expect(await blocks.transmit([0xFF, 0xD6, 0, 5, 4, 1, 2, 3, 4]) == .done([0x6A, 0x82]))
    }

    @Test func `A block that the tag refuses to read or to write is not there, or not written`() async {
        var reader = await reader(on: VirtualType5Tag(.icodeSLIX))
        field.arm(.effect(.refusal(0x12), atExchange: 0))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 4]) == .done([0x6A, 0x82]))
        // The block is read before it is written.
        field.arm(.effect(.refusal(0x12), atExchange: 1))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 5, 4, 1, 2, 3, 4]) == .done([0x63, 0x00]))
    }

    @Test func `A tag has 20 milliseconds for a page or a block, and 25 to write a block`() async {
        let cases: [(tag: any VirtualTag, apdu: [UInt8], exchange: Int, milliseconds: Int64)] = [
            (Self.ntag(), [0xFF, 0xB0, 0, 4, 16], 0, 20),
            (VirtualType5Tag(.icodeSLIX), [0xFF, 0xB0, 0, 4, 4], 0, 20),
            (VirtualType5Tag(.icodeSLIX), [0xFF, 0xD6, 0, 4, 4, 1, 2, 3, 4], 1, 25),
        ]
        for (tag, apdu, exchange, milliseconds) in cases {
            field.removeAll()
            var reader = await reader(on: tag)
            field.arm(.effect(.deaf, atExchange: exchange))
            field.startRecording()
            _ = await reader.transmit(apdu)
            let silent = field.stopRecording()[exchange]
            field.arm(FaultPlan())
            field.removeAll()
            let time = Airtime.milliseconds(milliseconds)
            #expect(silent.elapsed == field.exchange(silent.request, over: silent.technology, timeout: time).elapsed)
        }
    }

    // MARK: Escapes

    /// Sends one of the ACR122U's commands FF 00.
    static func direct(
        _ p1: UInt8,
        _ p2: UInt8,
        _ data: [UInt8] = [],
        to reader: inout EmulatedReader
    ) async -> EmulatedReader.Reply {
        await reader.control(escape, [0xFF, 0x00, p1, p2, UInt8(data.count)] + data)
    }

    @Test func `The ACR122U's lights go on and off one by one, and its other settings are kept`() async {
        var reader = EmulatedReader(.acr122u, field: field)
        // Green at first; bits 3 and 2 say which light is set, bits 1 and 0 how.
        for (setting, light) in [
            (0x05, 0x03), (0x04, 0x02), (0x07, 0x03), (0x0B, 0x03), (0x09, 0x01), (0x0F, 0x03), (0x00, 0x03), (0x0C, 0),
        ] as [(UInt8, UInt8)] {
            #expect(await Self.direct(0x40, setting, [1, 1, 1, 0], to: &reader) == .done([0x90, light]), "\(setting)")
        }
        #expect(await Self.direct(0x40, 0x0F, [1, 1, 1], to: &reader) == .done([0x63, 0x00]))
        #expect(await Self.direct(0x50, 0, to: &reader) == .done([0x90, 0xFF]))
        #expect(await Self.direct(0x51, 0x5A, to: &reader) == .done([0x90, 0x5A]))
        #expect(await Self.direct(0x50, 0, to: &reader) == .done([0x90, 0x5A]))
        for p1 in [0x41, 0x52] as [UInt8] {
            #expect(await Self.direct(p1, 0xFF, to: &reader) == .done([0x90, 0x00]))
        }
        #expect(await Self.direct(0x53, 0, to: &reader) == .done([0x63, 0x00]))
        #expect(await reader.control(Self.escape, [0xFF, 0xCA, 0, 0, 0]) == .failed)
    }

    @Test func `A reader does not wait like its chip: there is no target, or no answer`() async {
        var reader = EmulatedReader(.acr122u, field: field)
        #expect(await Self.direct(0, 0, [0xD4, 0x4A, 1, 0], to: &reader) == .done([0xD5, 0x4B, 0, 0x90, 0x00]))
        #expect(await Self.direct(0, 0, [0xD4, 0x60, 0xFF, 1, 0], to: &reader) == .done([0xD5, 0x61, 0, 0x90, 0x00]))
        let identity: [UInt8] = [0x05, 0x04, 0x00, 1, 2, 3, 0x20] + [UInt8](repeating: 0, count: 30)
        #expect(await Self.direct(0, 0, [0xD4, 0x8C] + identity, to: &reader) == .done([0x63, 0x01]))
        for data in [[0xD4], [0xD5, 0x02], []] as [[UInt8]] {
            #expect(await Self.direct(0, 0, data, to: &reader) == .done([0x63, 0x00]))
        }
    }

    @Test func `A reader's firmware is known by its escape, by either of two codes`() async {
        let windows: UInt32 = 0x4200_0DAC
        var old = EmulatedReader(.acr122u, field: field)
        var new = EmulatedReader(.acr1552u, field: field)
        let firmware = Array("ACR1552U-M1 FW 1.00".utf8)
        for code in [Self.escape, windows] {
            #expect(await old.control(code, [0xFF, 0x00, 0x48, 0x00, 0x00]) == .done(Array("ACR122U215".utf8)))
            #expect(await old.control(code, [0xE0, 0x00, 0x00, 0x18, 0x00]) == .failed)
            #expect(
                await new.control(code, [0xE0, 0x00, 0x00, 0x18, 0x00])
                    == .done([0xE1, 0x00, 0x00, 0x00, UInt8(firmware.count)] + firmware)
            )
            #expect(await new.control(code, [0xE0, 0x00, 0x00, 0x19, 0x00]) == .failed)
            #expect(await new.control(code, [0xFF, 0x00, 0x48, 0x00, 0x00]) == .failed)
            // A transparent session needs no card.
            #expect(
                await new.control(code, [0xFF, 0xC2, 0, 0, 2, 0x80, 0])
                    == .done([0xC0, 3, 0, 0x90, 0x00, 0x80, 3, 1, 0, 0, 0x90, 0x00])
            )
        }
    }

    @Test(
        arguments: [
            (ReaderProfile.acr122u, "ACR122U215", [0x00, 0x22]), (.acr1552u, "ACR1552U-M1 FW 1.00", [0x03, 0x23]),
        ] as [(ReaderProfile, String, [UInt8])]
    ) func `A reader's firmware, longest APDU, vendor and product are properties`(
        profile: ReaderProfile,
        firmware: String,
        product: [UInt8]
    ) async {
        var reader = EmulatedReader(profile, field: field)
        let name = Array(firmware.utf8)
        let numbers: [UInt8] = [0x0A, 4, 0x00, 0x00, 0x01, 0x00, 0x0B, 2, 0x2F, 0x07, 0x0C, 2]
        #expect(await reader.control(0x4233_0012, []) == .done([0x08, UInt8(name.count)] + name + numbers + product))
    }

    @Test func `A reader's maker, name and version are attributes`() {
        let reader = EmulatedReader(.acr122u, field: field)
        #expect(reader.attribute(0x0001_0100) == .done(Array("ACS\0".utf8)))
        #expect(reader.attribute(0x0001_0101) == .done(Array("ACS ACR122U PICC Interface\0".utf8)))
        #expect(reader.attribute(0x0001_0102) == .done([0, 0, 0, 2, 0, 0, 0, 0]))
        #expect(reader.attribute(0x0001_0103) == .unsupported)
    }
}
