// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import ReaderEmulation

/// Checks which card is still the same when its power comes back, and what is reported of a reader's calls.
@Suite struct `An emulated reader that gives a card its power` {
    private let field = VirtualField()

    private static func card(_ frontEnd: Type4FrontEnd) -> VirtualType4Tag {
        VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd)
    }

    private static func nfcA(_ uid: [UInt8]) -> VirtualType4Tag {
        card(.nfcA(uid: uid, ats: [0x05, 0x78, 0x80, 0x70, 0x02]))
    }

    private static func nfcB(_ pupi: [UInt8]) -> VirtualType4Tag { card(.nfcB(pupi: pupi)) }

    private static func felica(_ last: UInt8) -> VirtualType3Tag {
        VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, last]))
    }

    private static func vicinity(_ last: UInt8) -> VirtualType5Tag {
        VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, last]))
    }

    @Test func `The same card is the same, and so is one whose random UID has changed`() async {
        for tag in [
            Self.nfcA([4, 1, 2, 3, 4, 5, 6]), Self.nfcA([8, 1, 2, 3]), Self.nfcB([1, 2, 3, 4]), Self.felica(6),
            Self.vicinity(4),
        ] as [any VirtualTag] {
            field.removeAll()
            field.bring(tag)
            var reader = EmulatedReader(.acr1552u, field: field)
            #expect(await reader.look() == .init(hasFound: true))
            for power in [EmulatedReader.Power.up, .reset] {
                guard case .done(let atr) = await reader.setPower(power) else {
                    Issue.record("\(tag) is the same.")
                    continue
                }
                #expect(!atr.isEmpty)
            }
            #expect(await reader.look() == .init())
        }
    }

    @Test func `A look finds a card whose power is off, and leaves it off`() async {
        for tag in [
            Self.nfcA([4, 1, 2, 3, 4, 5, 6]), Self.nfcA([8, 1, 2, 3]), Self.nfcB([1, 2, 3, 4]), Self.felica(6),
            Self.vicinity(4), VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]),
            VirtualType1Tag(.topaz96),
        ] as [any VirtualTag] {
            field.removeAll()
            field.bring(tag)
            var reader = EmulatedReader(.acr1552u, field: field)
            #expect(await reader.look() == .init(hasFound: true))
            for _ in 0..<2 {
                #expect(await reader.setPower(.up) != .noCard)
                #expect(await reader.setPower(.down) == .done([]))
                #expect(await reader.look() == .init(), "\(tag.technology) \(tag.identifier)")
                // Nothing is sent without a field.
                let sent = field.exchange(Frame([0x00]), over: tag.technology, timeout: .milliseconds(1))
                #expect(sent.elapsed == .zero)
            }
            field.removeAll()
            #expect(await reader.look() == .init(hasLost: true))
            field.bring(tag)
            #expect(await reader.look() == .init(hasFound: true))
        }
    }

    @Test func `Another card in the place of one without power is noticed by a look`() async {
        field.bring(Self.nfcB([4, 1, 2, 3]))
        var reader = EmulatedReader(.acr1552u, field: field)
        #expect(await reader.look() == .init(hasFound: true))
        #expect(await reader.setPower(.down) == .done([]))
        field.removeAll()
        field.bring(Self.vicinity(4))
        #expect(await reader.look() == .init(hasLost: true, hasFound: true))
        #expect(await reader.setPower(.up) != .noCard)
    }

    @Test func `Another card in its place is none, and is found then`() async {
        let pairs: [(any VirtualTag, any VirtualTag)] = [
            (Self.nfcA([4, 1, 2, 3, 4, 5, 6]), Self.nfcA([4, 1, 2, 3, 4, 5, 7])),
            (Self.nfcA([8, 1, 2, 3]), Self.nfcA([4, 1, 2, 3, 4, 5, 7])),
            (Self.nfcA([4, 1, 2, 3, 4, 5, 7]), Self.nfcA([8, 1, 2, 3])),
            (Self.nfcA([4, 1, 2, 3]), Self.nfcA([8, 1, 2, 3])),
            (Self.felica(6), Self.felica(7)), (Self.vicinity(4), Self.vicinity(5)),
            (Self.nfcA([4, 1, 2, 3, 4, 5, 6]), Self.nfcB([1, 2, 3, 4])),
            // Their identifiers are as long, but they are of another kind.
            (Self.nfcA([4, 1, 2, 3]), Self.nfcB([4, 1, 2, 3])), (Self.nfcA([8, 1, 2, 3]), Self.nfcB([1, 2, 3, 4])),
            (Self.nfcB([8, 1, 2, 3]), Self.nfcA([8, 3, 2, 1])), (Self.nfcB([4, 1, 2, 3]), Self.nfcA([4, 1, 2, 3])),
        ]
        for (one, other) in pairs {
            field.removeAll()
            field.bring(one)
            var reader = EmulatedReader(.acr1552u, field: field)
            #expect(await reader.look() == .init(hasFound: true))
            field.removeAll()
            field.bring(other)
            #expect(await reader.setPower(.up) == .noCard)
            #expect(await reader.look() == .init(hasLost: true, hasFound: true))
            #expect(await reader.setPower(.up) != .noCard)
        }
    }

    @Test func `Another card in its place is noticed by a look, also when the first was not seen to leave`() async {
        let quiet: [UInt8] = [0x00, 0x80, 0x71]
        let pairs: [(any VirtualTag, any VirtualTag)] = [
            (Self.nfcB([1, 2, 3, 4]), Self.nfcB([1, 2, 3, 5])), (Self.felica(6), Self.felica(7)),
            (Self.vicinity(4), Self.vicinity(5)),
            (
                Self.card(.nfcB(pupi: [1, 2, 3, 4], protocolInfo: quiet)),
                Self.card(.nfcB(pupi: [1, 2, 3, 5], protocolInfo: quiet))
            ),
            (
                VirtualType1Tag(.topaz96, uid: [1, 2, 3, 4, 5, 6, 7]),
                VirtualType1Tag(.topaz96, uid: [1, 2, 3, 5, 5, 6, 7])
            ),
        ]
        for (one, other) in pairs {
            field.removeAll()
            field.bring(one)
            var reader = EmulatedReader(.acr1552u, field: field)
            #expect(await reader.look() == .init(hasFound: true))
            #expect(await reader.look() == .init())
            field.removeAll()
            field.bring(other)
            #expect(await reader.look() == .init(hasLost: true, hasFound: true))
            #expect(await reader.look() == .init())
        }
    }

    @Test func `A card that was taken away before its power came answers nothing, also before a look`() async {
        for tag in [Self.nfcA([4, 1, 2, 3, 4, 5, 6]), Self.vicinity(4)] as [any VirtualTag] {
            field.removeAll()
            field.bring(tag)
            var reader = EmulatedReader(.acr1552u, field: field)
            #expect(await reader.look() == .init(hasFound: true))
            field.removeAll()
            #expect(await reader.setPower(.up) == .noCard)
            #expect(await reader.transmit([0x00, 0xA4, 0x04, 0x00]) == .noCard)
            #expect(await reader.look() == .init(hasLost: true))
        }
    }

    /// Sends a command to the PN532 in an ACR122U.
    private static func send(_ command: [UInt8], to reader: inout EmulatedReader) async -> [UInt8] {
        let reply = await reader.transmit([0xFF, 0, 0, 0, UInt8(command.count + 1), 0xD4] + command)
        guard case .done(let bytes) = reply else { return [] }
        return bytes
    }

    @Test func `Without power there is no field, and with it nothing is left of a command in parts`() async {
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var reader = EmulatedReader(.acr122u, field: field)
        #expect(await reader.look() == .init(hasFound: true))
        for power in [EmulatedReader.Power.up, .reset] {
            #expect(await reader.setPower(power) != .noCard)
            // D5 41, the status, sixteen bytes and 90 00.
            #expect(await Self.send([0x40, 1, 0x30, 4], to: &reader).count == 21)
            #expect(await Self.send([0x40, 0x41, 0x30], to: &reader) == [0xD5, 0x41, 0x00, 0x90, 0x00])
        }
        #expect(await reader.setPower(.down) == .done([]))
        #expect(await Self.send([0x42, 0x30, 4], to: &reader) == [0xD5, 0x43, 0x27, 0x90, 0x00])
    }

    @Test func `Each call is reported by its name, with its answer or its failure`() async {
        let calls = Locked<[String]>([])
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var reader = EmulatedReader(.acr122u, field: field) { exchange in
            let end = exchange.response.map { "\($0.count)" } ?? exchange.failure ?? ""
            calls.withLock { $0.append("\(exchange.name): \(end)") }
        }
        _ = await reader.transmit([0xFF, 0xCA, 0, 0, 0])
        _ = await reader.setPower(.up)
        _ = await reader.look()
        for power in [EmulatedReader.Power.up, .reset, .down] { _ = await reader.setPower(power) }
        _ = await reader.setPower(.up)
        _ = await reader.transmit([0xFF, 0xCA, 0, 0, 0])
        _ = await reader.control(0x4200_0D48, [])
        _ = await reader.control(0x1234, [])
        #expect(
            calls.withLock { $0 } == [
                "transmit: no card", "power up: no card", "power up: 20", "reset: 20", "power down: 0", "power up: 20",
                "transmit: 9", "control 42000d48: 12", "control 1234: unsupported",
            ]
        )
    }

    // MARK: Data objects

    @Test(arguments: [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x1234, 0xFFFF])
    func `A data object's length has one byte, two or three`(count: Int) throws {
        for tag in [0x97, 0x5F51] as [UInt16] {
            let object = TransparentDataObject(tag: tag, value: (0..<count).map { UInt8(truncatingIfNeeded: $0) })
            let bytes = object.bytes
            #expect(bytes.count == (tag > 0xFF ? 2 : 1) + (count < 0x80 ? 1 : count < 0x100 ? 2 : 3) + count)
            let found = try #require(TransparentDataObject.all(in: bytes + [0x80, 0]))
            #expect(found.map(\.tag) == [tag, 0x80] && found[0].value == object.value)
            if count > 0 { #expect(TransparentDataObject.all(in: bytes.dropLast() + []) == nil) }
        }
    }

    @Test func `A data object FF has a name of one byte`() throws {
        let found = try #require(TransparentDataObject.all(in: [0xFF, 2, 1, 2, 0x1F, 0x10, 0]))
        #expect(found.map(\.tag) == [0xFF, 0x1F10] && found[0].value == [1, 2])
        #expect(TransparentDataObject(tag: 0xFF, value: [1]).bytes == [0xFF, 1, 1])
    }

    // MARK: Commands

    @Test(
        arguments: [
            ([], [], nil), ([5], [], 5), ([0], [], 0), ([2, 7, 8], [7, 8], nil), ([2, 7, 8, 9], [7, 8], 9),
            ([1, 7], [7], nil), ([0, 9], [], 9), ([0, 1, 2], [], 0x0102), ([0, 0, 2, 7, 8], [7, 8], nil),
            ([0, 0, 2, 7, 8, 0, 0], [7, 8], 0), ([0, 0, 0], [], 0),
        ] as [([UInt8], [UInt8], Int?)]
    ) func `A command has its data and the expected length, in either form`(
        body: [UInt8],
        data: [UInt8],
        expectedLength: Int?
    ) throws {
        let command = try #require(ReaderCommand([0xFF, 0xCA, 1, 2] + body))
        #expect(command.instruction == 0xCA && command.p1 == 1 && command.p2 == 2)
        #expect(command.data == data && command.expectedLength == expectedLength)
    }

    @Test(
        arguments: [
            [], [0xFF], [0xFF, 0xCA, 0], [0x00, 0xCA, 0, 0], [0xFE, 0xFF, 0, 0], [0xFF, 0xD6, 0, 4, 2, 1],
            [0xFF, 0xD6, 0, 4, 2, 1, 2, 3, 4], [0xFF, 0xD6, 0, 4, 0, 0, 2, 1], [0xFF, 0xD6, 0, 4, 0, 0, 2, 1, 2, 3],
            [0xFF, 0xD6, 0, 4, 0, 0, 2, 1, 2, 3, 4, 5],
        ] as [[UInt8]]
    ) func `A command of another class, or with another number of bytes than it says, is none`(apdu: [UInt8]) {
        #expect(ReaderCommand(apdu) == nil)
    }

    @Test func `A card without power that may have another PUPI by now is looked for by that alone`() async {
        for isPowered in [true, false] {
            field.removeAll()
            field.bring(Self.nfcB([1, 2, 3, 4]))
            var reader = EmulatedReader(.acr1552u, field: field)
            #expect(await reader.look() == .init(hasFound: true))
            field.removeAll()
            field.bring(Self.nfcB([5, 6, 7, 8]))
            // It may be the same card with another PUPI, and is from now on.
            if isPowered { #expect(await reader.setPower(.up) != .noCard) }
            #expect(await reader.setPower(.down) == .done([]))
            if !isPowered { #expect(await reader.look() == .init()) }
            field.startRecording()
            #expect(await reader.look() == .init())
            #expect(field.stopRecording().allSatisfy { $0.technology == .nfcB })
        }
    }
}
