// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

@Suite struct `A PN532 over a virtual field` {
    private let field = VirtualField()

    private func chip(_ tags: any VirtualTag...) -> PN53xChip {
        for tag in tags { field.bring(tag) }
        return PN53xChip(field: field)
    }

    private static func ntag(_ last: UInt8 = 0x80) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last])
    }

    @Test func `A Type 2 tag is listed, read and written`() async {
        let tag = Self.ntag()
        var chip = chip(tag)
        #expect(
            await chip.receive([0x4A, 0x01, 0x00])
                == .answer([1, 1, 0x00, 0x44, 0x00, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        )
        #expect(await chip.receive([0x40, 0x01, 0xA2, 0x05, 1, 2, 3, 4]) == .answer([0]))
        guard case .answer(let answer) = await chip.receive([0x40, 0x01, 0x30, 0x05]) else {
            Issue.record("READ has to be answered.")
            return
        }
        #expect(answer.prefix(5) == [0, 1, 2, 3, 4])
        #expect(answer.count == 17)
        #expect(Array(tag.contents.memory[20..<24]) == [1, 2, 3, 4])
    }

    @Test func `COMPATIBILITY_WRITE goes in two frames`() async {
        let tag = Self.ntag()
        var chip = chip(tag)
        _ = await chip.receive([0x4A, 0x01, 0x00])
        #expect(await chip.receive([0x40, 0x01, 0xA0, 0x06] + (1...16)) == .answer([0]))
        #expect(Array(tag.contents.memory[24..<28]) == [1, 2, 3, 4])
    }

    @Test func `A NAK is an answer of the wrong form, or of a wrong checksum`() async {
        var chip = chip(Self.ntag())
        _ = await chip.receive([0x4A, 0x01, 0x00])
        #expect(await chip.receive([0x40, 0x01, 0x30, 0xFF]) == .answer([0x13]))
        _ = await chip.receive([0x4A, 0x01, 0x00])
        #expect(await chip.receive([0x42, 0x30, 0xFF]) == .answer([0x02]))
    }

    @Test func `A host that takes care of checksums sees them`() async {
        var chip = chip(Self.ntag())
        _ = await chip.receive([0x4A, 0x01, 0x00])
        _ = await chip.receive([0x08, 0x63, 0x03, 0x00])
        guard case .answer(let answer) = await chip.receive([0x42, 0x30, 0x04]) else {
            Issue.record("READ has to be answered.")
            return
        }
        #expect(answer.count == 1 + 18)
        let crc = CyclicRedundancyCheck.a(answer[1..<17])
        #expect(Array(answer.suffix(2)) == [UInt8(crc & 0xFF), UInt8(crc >> 8)])
    }

    @Test func `Two tags are listed and talked to in turn`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81))
        guard case .answer(let list) = await chip.receive([0x4A, 0x02, 0x00]) else {
            Issue.record("Two tags have to be listed.")
            return
        }
        #expect(list.first == 2)
        for number in [1, 2, 1] as [UInt8] {
            guard case .answer(let answer) = await chip.receive([0x40, number, 0x30, 0x00]) else { continue }
            let offset = number == 1 ? 12 : 24
            #expect(answer.first == 0)
            // Bytes 4 to 7 of the memory are the last four of the UID.
            #expect(Array(answer[5..<9]).last == list[offset])
        }
    }

    @Test func `An ISO-DEP card is opened with RATS where the host wants that`() async {
        let card = VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]))
        var chip = chip(card)
        guard case .answer(let list) = await chip.receive([0x4A, 0x01, 0x00]) else { return }
        #expect(list.suffix(5) == [0x05, 0x78, 0x80, 0x70, 0x02])
        let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]
        #expect(await chip.receive([0x40, 0x01] + select) == .answer([0, 0x90, 0x00]))
        // In two pieces.
        #expect(await chip.receive([0x40, 0x41] + select.prefix(6)) == .answer([0]))
        #expect(await chip.receive([0x40, 0x01] + select.dropFirst(6)) == .answer([0, 0x90, 0x00]))
        // And without RATS, for a host that does ISO-DEP itself.
        _ = await chip.receive([0x12, 0x04])
        guard case .answer(let bare) = await chip.receive([0x4A, 0x01, 0x00]) else { return }
        #expect(bare.suffix(1) == [card.identifier[6]])
        #expect(await chip.receive([0x42, 0xE0, 0x80]) == .answer([0, 0x05, 0x78, 0x80, 0x70, 0x02]))
    }

    @Test func `The chip waits for a tag, and gives up when the command says so`() async {
        var chip = chip()
        #expect(await chip.receive([0x4A, 0x01, 0x00]) == .waiting)
        _ = await chip.receive([0x32, 0x05, 0x00, 0x01, 0x02])
        #expect(await chip.receive([0x4A, 0x01, 0x00]) == .answer([0]))
    }

    @Test func `Without a target, and without a field, nothing is exchanged`() async {
        var chip = chip(Self.ntag())
        #expect(await chip.receive([0x40, 0x01, 0x30, 0x00]) == .answer([0x27]))
        _ = await chip.receive([0x4A, 0x01, 0x00])
        _ = await chip.receive([0x32, 0x01, 0x00])
        #expect(await chip.receive([0x40, 0x01, 0x30, 0x00]) == .answer([0x27]))
        #expect(await chip.receive([0x42, 0x30, 0x00]) == .answer([0x27]))
    }

    @Test func `No command of a few bytes harms the chip`() async {
        var chip = chip(Self.ntag())
        for code in UInt8.min...UInt8.max {
            for length in 0...4 {
                for filler in [0x00, 0x01, 0xFF] as [UInt8] {
                    _ = await chip.receive([code] + [UInt8](repeating: filler, count: length))
                }
            }
        }
        await chip.reset()
        guard case .answer(let list) = await chip.receive([0x4A, 0x01, 0x00]) else {
            Issue.record("The chip has to go on after nonsense.")
            return
        }
        #expect(list.first == 1)
    }

    @Test func `A serial line acknowledges, answers, repeats and goes on waiting`() async {
        var device = PN532SerialDevice(field: field)
        var sent: [[UInt8]] = []
        await device.receive(hostFrame([0x02])) { sent.append($0) }
        let version = PN532ChipFrame.answer(to: 0x02, [0x32, 0x01, 0x06, 0x07])
        #expect(sent == [PN532ChipFrame.acknowledge, version])
        sent = []
        await device.receive([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]) { sent.append($0) }
        #expect(sent == [version])
        sent = []
        await device.receive(hostFrame([0x99])) { sent.append($0) }
        #expect(sent == [PN532ChipFrame.acknowledge, PN532ChipFrame.syntaxError])
        sent = []
        await device.receive(hostFrame([0x4A, 0x01, 0x00])) { sent.append($0) }
        #expect(sent == [PN532ChipFrame.acknowledge])
        field.bring(Self.ntag())
        await device.presenceChanged { sent.append($0) }
        #expect(sent.count == 2)
        #expect(sent.last?.dropFirst(5).prefix(3) == [0xD5, 0x4B, 0x01])
        // It is answered once.
        await device.presenceChanged { sent.append($0) }
        #expect(sent.count == 2)
        // A host that has given up hears nothing more.
        field.removeAll()
        await device.receive(hostFrame([0x4A, 0x01, 0x00]) + PN532ChipFrame.acknowledge) { sent.append($0) }
        sent = []
        field.bring(Self.ntag())
        await device.presenceChanged { sent.append($0) }
        #expect(sent.isEmpty)
    }

    @Test func `A line that waits has no answer to repeat, and waits for its last command alone`() async {
        var device = PN532SerialDevice(field: field)
        var sent: [[UInt8]] = []
        await device.receive(hostFrame([0x02])) { sent.append($0) }
        await device.receive(hostFrame([0x4A, 0x01, 0x00])) { sent.append($0) }
        sent = []
        await device.receive([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]) { sent.append($0) }
        #expect(sent.isEmpty)
        await device.receive(hostFrame([0x0C])) { sent.append($0) }
        #expect(sent == [PN532ChipFrame.acknowledge, PN532ChipFrame.answer(to: 0x0C, [0x3F, 0x07, 0x07])])
        sent = []
        field.bring(Self.ntag())
        await device.presenceChanged { sent.append($0) }
        #expect(sent.isEmpty)
    }

    @Test func `A command that waits is reported once, and then with its answer`() async {
        let told = Locked<[String]>([])
        var device = PN532SerialDevice(
            field: field,
            onExchange: { exchange in
                let end = exchange.response.map { "\($0.count)" } ?? exchange.failure ?? ""
                told.withLock { $0.append("\(exchange.name): \(end)") }
            }
        )
        await device.receive(hostFrame([0x4A, 0x01, 0x00])) { _ in }
        for _ in 0..<2 { await device.presenceChanged { _ in } }
        field.bring(Self.ntag())
        await device.presenceChanged { _ in }
        await device.receive(hostFrame([0x99])) { _ in }
        #expect(
            told.withLock { $0 } == [
                "InListPassiveTarget: waiting", "InListPassiveTarget: 13", "unknown: syntax error",
            ]
        )
    }
}
