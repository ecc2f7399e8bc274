// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Checks what a PN532 forgets when its host goes on to something else, and what it keeps.
@Suite struct `What is left in a PN532` {
    private let field = VirtualField()

    private static func ntag(_ last: UInt8 = 0x80) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last])
    }

    private static func ntagData(_ last: UInt8) -> [UInt8] {
        [0x00, 0x44, 0x00, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last]
    }

    private func chip(_ tags: any VirtualTag...) -> PN53xChip {
        for tag in tags { field.bring(tag) }
        return PN53xChip(field: field)
    }

    // MARK: Parts

    @Test(arguments: [[0x44, 1], [0x44, 0], [0x4A, 1, 0]] as [[UInt8]])
    func `A command of which a part has come is forgotten when its tag is let go or looked for`(
        ending: [UInt8]
    ) async {
        var chip = chip(Self.ntag())
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await chip.receive([0x40, 0x41, 0x30]) == .answer([0]))
        _ = await chip.receive(ending)
        guard case .answer(let pages) = await chip.receive([0x40, 1, 0x30, 4]) else {
            Issue.record("READ has to be answered.")
            return
        }
        #expect(pages.count == 17 && pages.first == 0)
    }

    @Test(arguments: [[0x44, 1], [0x4A, 1, 0]] as [[UInt8]])
    func `The rest of a long answer is forgotten when its tag is let go or looked for`(ending: [UInt8]) async {
        var card = ScriptedCard()
        let answer = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        card.answer([1], with: answer)
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: [5, 0x78, 0x80, 0x70, 2])
        var chip = chip(VirtualType4Tag(card: card, frontEnd: frontEnd))
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await chip.receive([0x40, 1, 1]) == .answer([0x40] + answer[..<262]))
        _ = await chip.receive(ending)
        #expect(await chip.receive([0x40, 1]) != .answer([0x40] + answer[262..<524]))
    }

    @Test func `A command of which a part has come is forgotten without a field`() async {
        var chip = chip(Self.ntag())
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await chip.receive([0x40, 0x41, 0x30]) == .answer([0]))
        #expect(await chip.receive([0x32, 1, 0]) == .answer([]))
        #expect(await chip.receive([0x40, 1, 4]) == .answer([0x27]))
        #expect(await chip.receive([0x32, 1, 1]) == .answer([]))
        guard case .answer(let pages) = await chip.receive([0x40, 1, 0x30, 4]) else {
            Issue.record("READ has to be answered.")
            return
        }
        #expect(pages.count == 17 && pages.first == 0)
    }

    @Test func `The parts of a command are of one tag`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81))
        _ = await chip.receive([0x4A, 2, 0])
        // In either order: to the other tag, and after the other tag was selected.
        for (first, second) in [(1, 2), (2, 1), (1, 2)] as [(UInt8, UInt8)] {
            #expect(await chip.receive([0x40, 0x40 | first, 0x30]) == .answer([0]))
            guard case .answer(let pages) = await chip.receive([0x40, second, 0x30, 4]) else {
                Issue.record("READ has to be answered.")
                continue
            }
            #expect(pages.count == 17 && pages.first == 0)
        }
        #expect(await chip.receive([0x40, 0x41, 0x30]) == .answer([0]))
        #expect(await chip.receive([0x54, 2]) == .answer([0]))
        guard case .answer(let pages) = await chip.receive([0x40, 2, 0x30, 4]) else {
            Issue.record("READ has to be answered.")
            return
        }
        #expect(pages.count == 17 && pages.first == 0)
    }

    // MARK: Targets

    @Test func `A tag is listed by its UID, whichever others are near`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81), Self.ntag(0x82))
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        for last in [0x80, 0x81] as [UInt8] {
            let wanted: [UInt8] = [0x4A, 1, 0, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last]
            #expect(await chip.receive(wanted) == .answer([1, 1] + Self.ntagData(last)))
        }
    }

    @Test func `A card that only says that it speaks ISO-DEP is listed where the chip does not begin with it`() async {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        contents.sak = 0x20
        var chip = chip(VirtualType2Tag(contents))
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        #expect(await chip.receive([0x4A, 1, 0]) == .answer([0]))
        _ = await chip.receive([0x12, 0x04])
        let listed: [UInt8] = [1, 1, 0x00, 0x44, 0x20, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
        #expect(await chip.receive([0x4A, 1, 0]) == .answer(listed))
    }

    @Test func `The presence of the first tag that is still known is what a host hears of`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81))
        _ = await chip.receive([0x4A, 2, 0])
        #expect(await chip.receive([0x52, 1]) == .answer([0]))
        #expect(await chip.receive([0x00, 0x06]) == .answer([0]))
        #expect(await chip.receive([0x52, 2]) == .answer([0]))
        #expect(await chip.receive([0x00, 0x06]) == .answer([0x27]))
    }

    // MARK: Registers

    @Test func `The bits of an answer leave the rest of their register as it is`() async {
        var chip = chip(Self.ntag())
        _ = await chip.receive([0x4A, 1, 0])
        _ = await chip.receive([0x08, 0x63, 0x03, 0x00, 0x63, 0x3C, 0xF8])
        #expect(await chip.receive([0x42, 0xA2, 0x14, 1, 2, 3, 4]) == .answer([0, 0x0A]))
        #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([0xFC]))
    }

    @Test func `The buffer is emptied by one bit alone`() async {
        var chip = chip()
        for byte in UInt8(1)...3 { _ = await chip.receive([0x08, 0x63, 0x39, byte]) }
        _ = await chip.receive([0x08, 0x63, 0x3A, 0x7F])
        #expect(await chip.receive([0x06, 0x63, 0x3A, 0x63, 0x39]) == .answer([3, 1]))
    }

    // MARK: Power

    @Test func `A line without power waits for nothing, and knows no tag`() async {
        var device = PN532SerialDevice(field: field)
        var sent: [[UInt8]] = []
        await device.receive(hostFrame([0x4A, 1, 0])) { _ in }
        await device.powerOff()
        field.bring(Self.ntag())
        await device.presenceChanged { sent.append($0) }
        #expect(sent.isEmpty)
        await device.receive(hostFrame([0x4A, 1, 0])) { _ in }
        await device.powerOff()
        await device.receive(hostFrame([0x04])) { sent.append($0) }
        #expect(sent == [PN532ChipFrame.acknowledge, PN532ChipFrame.answer(to: 0x04, [0, 0, 0, 0])])
    }

    @Test func `A line without power has no answer to repeat, and no part of a frame`() async {
        var device = PN532SerialDevice(field: field)
        var sent: [[UInt8]] = []
        await device.receive(hostFrame([0x02])) { _ in }
        // The start of a frame of 200 bytes.
        await device.receive([0x00, 0x00, 0xFF, 200, 56, 0xD4]) { _ in }
        await device.powerOff()
        await device.receive([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]) { sent.append($0) }
        #expect(sent.isEmpty)
        await device.receive(hostFrame([0x0C])) { sent.append($0) }
        #expect(sent == [PN532ChipFrame.acknowledge, PN532ChipFrame.answer(to: 0x0C, [0x3F, 0x07, 0x07])])
    }
}
