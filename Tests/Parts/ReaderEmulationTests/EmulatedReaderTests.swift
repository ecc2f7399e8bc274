// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

@Suite struct `A PC/SC reader over a virtual field` {
    private let field = VirtualField()

    /// A reader with a tag on it that has power.
    private func reader(
        _ tag: any VirtualTag,
        _ profile: ReaderProfile? = nil
    ) async -> (EmulatedReader, atr: [UInt8]) {
        field.bring(tag)
        var reader = EmulatedReader(profile ?? .showing(tag.technology), field: field)
        #expect(await reader.look() == .init(hasFound: true))
        guard case .done(let atr) = await reader.setPower(.up) else {
            Issue.record("The card has to have an ATR.")
            return (reader, [])
        }
        return (reader, atr)
    }

    private static func ntag() -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
    }

    private static func type4(_ frontEnd: Type4FrontEnd? = nil) -> VirtualType4Tag {
        VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd)
    }

    /// SELECT of the NDEF application.
    private static let select: [UInt8] = [
        0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00,
    ]

    private static func storageATR(_ standard: UInt8, _ name: UInt16) -> [UInt8] {
        let bytes: [UInt8] =
            [0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard]
            + [UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0]
        return [0x3B] + bytes + [bytes.reduce(0, ^)]
    }

    // MARK: ATR

    @Test func `Storage cards have the ATR of their standard and name`() async {
        #expect(await reader(Self.ntag()).atr == Self.storageATR(0x03, 0x0003))
        field.removeAll()
        #expect(await reader(VirtualType1Tag(.topaz96)).atr == Self.storageATR(0x03, 0xF004))
        field.removeAll()
        let felica = FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])
        #expect(await reader(VirtualType3Tag(felica)).atr == Self.storageATR(0x03, 0xF011))
        field.removeAll()
        #expect(await reader(VirtualType5Tag(.icodeSLIX)).atr == Self.storageATR(0x0B, 0x0014))
        for (product, name) in [(ClassicProduct.classic1K, 0x0001), (.classic4K, 0x0002), (.mini, 0x0026)]
            as [(ClassicProduct, UInt16)]
        {
            field.removeAll()
            let card = ClassicTag(ClassicContents(blank: product, uid: [0x9C, 0x0C, 0x37, 0x01]))
            #expect(await reader(card).atr == Self.storageATR(0x03, name), "\(product)")
        }
        // A card without a name of its own has FF and its SEL_RES.
        field.removeAll()
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        contents.sak = 0x10
        #expect(await reader(VirtualType2Tag(contents)).atr == Self.storageATR(0x03, 0xFF10))
    }

    @Test func `A reader that has no numbers of its own has those of the standard`() async {
        let tags: [(any VirtualTag, UInt8, UInt16)] = [
            (ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01])), 0x03, 0x0001),
            (VirtualType1Tag(.topaz96), 0x02, 0x0030),
            (VirtualType3Tag(FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])), 0x11, 0x003B),
            (Self.type4(.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x80, 0x71])), 0x07, 0x0000),
            (VirtualType5Tag(.icodeSLIX, uid: [0xE0, 0x07, 1, 2, 3, 4, 5, 6]), 0x0B, 0x0012),
            (VirtualType5Tag(.st25tv512), 0x0B, 0x0000),
        ]
        for (tag, standard, name) in tags {
            field.removeAll()
            #expect(await reader(tag, .acr1552u).atr == Self.storageATR(standard, name), "\(standard) \(name)")
        }
    }

    @Test func `ISO-DEP cards have the ATR of their historical bytes`() async {
        #expect(await reader(Self.type4()).atr == [0x3B, 0x80, 0x80, 0x01, 0x01])
        field.removeAll()
        let historical = Type4FrontEnd.nfcA(uid: [1, 2, 3, 4], ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80])
        #expect(await reader(Self.type4(historical)).atr == [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80])
        field.removeAll()
        let typeB = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], applicationData: [5, 6, 7, 8])
        let atr = await reader(Self.type4(typeB)).atr
        #expect(atr.prefix(12) == [0x3B, 0x88, 0x80, 0x01, 5, 6, 7, 8, 0x00, 0x81, 0x71, 0x00])
        #expect(atr.dropFirst().reduce(0, ^) == 0)
        field.removeAll()
        // An ATR has room for fifteen.
        let many = Type4FrontEnd.nfcA(uid: [1, 2, 3, 4], ats: [0x15, 0x75, 0x77, 0x81, 0x02] + (1...16))
        let full = await reader(Self.type4(many)).atr
        #expect(Array(full.dropLast()) == [0x3B, 0x8F, 0x80, 0x01] + (1...15))
    }

    // MARK: Commands of class FF

    @Test func `GET DATA gives the UID and the ATS`() async {
        var (reader, _) = await reader(Self.type4())
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(VirtualType4Tag.defaultUID + [0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 4]) == .done([0x6C, 7]))
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 9]) == .done(VirtualType4Tag.defaultUID + [0x62, 0x82]))
        #expect(await reader.transmit([0xFF, 0xCA, 1, 0, 0]) == .done([5, 0x78, 0x80, 0x70, 2, 0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xCA, 2, 0, 0]) == .done([0x6A, 0x81]))
    }

    @Test func `Blocks of a Type 2 tag are read and written, and a refusal does not lose the tag`() async {
        let tag = Self.ntag()
        var (reader, _) = await reader(tag)
        #expect(await reader.transmit([0xFF, 0xD6, 0, 5, 4, 1, 2, 3, 4]) == .done([0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 4]) == .done([1, 2, 3, 4, 0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 200, 16]) == .done([0x63, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 4]) == .done([1, 2, 3, 4, 0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 32]) == .done([0x6C, 16]))
        #expect(await reader.transmit([0xFF, 0xD6, 0, 5, 2, 1, 2]) == .done([0x67, 0x00]))
        // MIFARE Classic's commands: keys are taken, and authentication fails.
        #expect(await reader.transmit([0xFF, 0x82, 0, 0, 6, 1, 2, 3, 4, 5, 6]) == .done([0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0x86, 0, 0, 5, 1, 0, 4, 0x60, 0]) == .done([0x63, 0x00]))
        #expect(await reader.transmit([0x00, 0xA4, 0x04, 0x00]) == .done([0x6D, 0x00]))
        #expect(Array(tag.contents.memory[20..<24]) == [1, 2, 3, 4])
    }

    @Test func `APDUs reach a card that speaks ISO-DEP`() async {
        var (reader, _) = await reader(Self.type4())
        #expect(await reader.transmit(Self.select) == .done([0x90, 0x00]))
        // After a reset, nothing is selected.
        #expect(await reader.transmit([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]) == .done([0x90, 0x00]))
        _ = await reader.setPower(.reset)
        #expect(await reader.transmit([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]) != .done([0x90, 0x00]))
    }

    // MARK: Escapes

    @Test func `The ACR122U reports its firmware and takes commands of the PN532`() async {
        var (reader, _) = await reader(Self.ntag())
        let escape: UInt32 = 0x4200_0001
        #expect(await reader.control(escape, [0xFF, 0x00, 0x48, 0x00, 0x00]) == .done(Array("ACR122U215".utf8)))
        #expect(
            await reader.control(escape, [0xFF, 0, 0, 0, 2, 0xD4, 0x02])
                == .done([0xD5, 0x03, 0x32, 0x01, 0x06, 0x07, 0x90, 0x00])
        )
        #expect(await reader.control(escape, [0xFF, 0, 0, 0, 2, 0xD4, 0x99]) == .done([0x63, 0x7F]))
        // The card that the reader has found is the chip's first target.
        guard case .done(let answer) = await reader.transmit([0xFF, 0, 0, 0, 5, 0xD4, 0x40, 0x01, 0x30, 0x04]) else {
            Issue.record("InDataExchange has to be answered.")
            return
        }
        #expect(answer.prefix(3) == [0xD5, 0x41, 0x00])
        #expect(answer.suffix(2) == [0x90, 0x00])
        #expect(await reader.transmit([0xFF, 0, 0x40, 0x05, 4, 1, 1, 1, 0]) == .done([0x90, 0x03]))
        #expect(await reader.control(0x4200_0D48, []) == .done([0x12, 4, 0x42, 0x33, 0, 0x12, 0x13, 4, 0x42, 0, 0, 1]))
        #expect(await reader.control(0x1234, []) == .unsupported)
    }

    @Test func `A host that uses the PN532 itself goes on in the ISO-DEP that the reader has begun`() async {
        var (reader, _) = await reader(Self.type4(), .acr122u)
        // A card in ISO-DEP can't be selected again, so it has to be the chip's selected target.
        let command = [0xD4, 0x40, 0x01] + Self.select
        #expect(
            await reader.transmit([0xFF, 0, 0, 0, UInt8(command.count)] + command)
                == .done([0xD5, 0x41, 0x00, 0x90, 0x00, 0x90, 0x00])
        )
    }

    @Test func `A Type 5 tag is read by blocks and in a transparent session`() async {
        let tag = VirtualType5Tag(.icodeSLIX)
        var (reader, _) = await reader(tag)
        #expect(await reader.transmit([0xFF, 0xD6, 0, 5, 4, 1, 2, 3, 4]) == .done([0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xB0, 0, 5, 4]) == .done([1, 2, 3, 4, 0x90, 0x00]))
        let done: [UInt8] = [0xC0, 3, 0, 0x90, 0x00]
        #expect(await reader.transmit([0xFF, 0xC2, 0, 0, 2, 0x81, 0]) == .done(done + [0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xC2, 0, 2, 4, 0x8F, 2, 2, 0]) == .done(done + [0x90, 0x00]))
        #expect(
            await reader.transmit([0xFF, 0xC2, 0, 1, 5, 0x95, 3, 0x02, 0x20, 0x05])
                == .done(done + [0x92, 1, 0, 0x96, 2, 0, 0, 0x97, 5, 0, 1, 2, 3, 4, 0x90, 0x00])
        )
        // Nobody answers a request of another tag: the first data object failed.
        #expect(
            await reader.transmit([0xFF, 0xC2, 0, 1, 4, 0x95, 2, 0x99, 0x99])
                == .done([0xC0, 3, 1, 0x64, 0x01, 0x90, 0x00])
        )
        #expect(await reader.transmit([0xFF, 0xC2, 0, 0, 2, 0x82, 0]) == .done(done + [0x90, 0x00]))
        #expect(await reader.transmit([0xFF, 0xC2, 0, 1, 3, 0x95, 0x7F, 1]) == .done([0xC0, 3, 0, 0x67, 0, 0x90, 0]))
    }

    @Test func `No short command harms the reader`() async {
        for tag in [Self.ntag(), Self.type4(), VirtualType5Tag(.icodeSLIX)] as [any VirtualTag] {
            field.removeAll()
            var (reader, _) = await reader(tag)
            for instruction in UInt8.min...UInt8.max {
                for body in [[], [0], [1], [2, 0xD4], [0, 0xFF, 0xFF], [1, 0], [3, 0xD4, 0x42, 0]] as [[UInt8]] {
                    _ = await reader.transmit([0xFF, instruction, 0, 0] + body)
                    _ = await reader.control(0x4200_0001, [0xFF, instruction, 0, 0] + body)
                }
            }
            guard case .done = await reader.setPower(.up) else {
                Issue.record("The card has to come back after nonsense.")
                return
            }
            #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(tag.identifier + [0x90, 0x00]))
        }
    }

    // MARK: Presence

    @Test func `Cards come, go and take each other's place`() async {
        let first = Self.ntag()
        var (reader, _) = await reader(first)
        #expect(await reader.look() == .init())
        field.removeAll()
        #expect(await reader.look() == .init(hasLost: true))
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .noCard)
        #expect(await reader.setPower(.up) == .noCard)
        #expect(await reader.look() == .init())
        field.bring(first)
        #expect(await reader.look() == .init(hasFound: true))
        field.removeAll()
        field.bring(Self.type4())
        #expect(await reader.look() == .init(hasLost: true, hasFound: true))
    }

    @Test func `A host that lists tags with the PN532 itself goes on with the first of them`() async {
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x81]))
        var (reader, _) = await reader(Self.ntag())
        // The framing of NFC-A, with its checksum.
        #expect(
            await reader.transmit([0xFF, 0, 0, 0, 6, 0xD4, 0x06, 0x63, 0x02, 0x63, 0x03])
                == .done([0xD5, 0x07, 0x80, 0x80, 0x90, 0x00])
        )
        let list: [UInt8] = [0xFF, 0, 0, 0, 4, 0xD4, 0x4A, 2, 0]
        guard case .done(let found) = await reader.transmit(list), found.count == 29 else {
            Issue.record("Both tags have to be listed.")
            return
        }
        // D5 4B and how many they are; then the number, four bytes and the UID of the first.
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(Array(found[8..<15]) + [0x90, 0x00]))
    }

    @Test func `A card without ISO-DEP knows no commands of other classes, whatever they end with`() async {
        var (reader, _) = await reader(Self.ntag())
        #expect(await reader.transmit([0x00, 0xB0, 0x00, 0x00, 0xFF]) == .done([0x6D, 0x00]))
    }

    @Test func `A command to a card that is gone, or that it answers with nothing, has failed`() async {
        let calls = Locked<[String]>([])
        var card = ScriptedCard()
        card.answer([0x00, 0x01, 0x02, 0x03], with: [])
        card.answer([0x00, 0x01, 0x02, 0x04], with: [0x90, 0x00])
        field.bring(VirtualType4Tag(card: card))
        var reader = EmulatedReader(.acr122u, field: field) { exchange in
            calls.withLock { $0.append("\(exchange.name): \(exchange.failure ?? "none")") }
        }
        #expect(await reader.look() == .init(hasFound: true))
        _ = await reader.setPower(.up)
        #expect(await reader.transmit([0x00, 0x01, 0x02, 0x03]) == .failed)
        #expect(await reader.transmit([0x00, 0x01, 0x02, 0x04]) == .done([0x90, 0x00]))
        field.removeAll()
        #expect(await reader.transmit([0x00, 0x01, 0x02, 0x04]) == .failed)
        #expect(
            calls.withLock { $0 } == ["power up: none", "transmit: failed", "transmit: none", "transmit: failed"]
        )
    }

    @Test func `The card whose identifier is read is the one that is read, though another is near`() async {
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x81]))
        var (reader, _) = await reader(Self.ntag())
        guard case .done(let uid) = await reader.transmit([0xFF, 0xCA, 0, 0, 0]), uid.count == 9,
            case .done(let pages) = await reader.transmit([0xFF, 0xB0, 0, 0, 16]), pages.count == 18
        else {
            Issue.record("The card has to be read.")
            return
        }
        #expect(pages[7] == uid[6])
    }

    @Test func `A traced field reports each frame with its answer, or why there is none`() async throws {
        field.bring(Self.ntag())
        let exchanges = Locked<[Exchange]>([])
        let traced = TracedField(field) { exchange in exchanges.withLock { $0.append(exchange) } }
        let link = try #require(traced.link(for: .nfcA))
        let request = Frame(bits: [0x26], validBitsInLastByte: 7)
        #expect(try await link.transceive(request, timeout: .milliseconds(1)).bytes == [0x44, 0x00])
        let error = await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x99]), timeout: .milliseconds(1))
        }
        #expect(error?.code == .timeout)
        let seen = exchanges.withLock { $0 }
        #expect(seen.map(\.request) == [[0x26], [0x99]] && seen.map(\.response) == [[0x44, 0x00], nil])
        #expect(seen.map(\.failure) == [nil, "timeout"] && seen.allSatisfy { $0.frames != nil })
        #expect(seen.allSatisfy { $0.layer == .air && $0.name == "nfc-a" })
        for (technology, name) in [(Technology.nfcB, "nfc-b"), (.nfcF, "nfc-f"), (.nfcV, "nfc-v")] {
            _ = try? await traced.link(for: technology)?.transceive(Frame([0x99]), timeout: .milliseconds(1))
            #expect(exchanges.withLock { $0.last?.name } == name)
        }
        let narrow = TracedField(VirtualField(technologies: [.nfcA])) { _ in }
        #expect(narrow.link(for: .nfcV) == nil && narrow.link(for: .nfcA) != nil)
    }
}
