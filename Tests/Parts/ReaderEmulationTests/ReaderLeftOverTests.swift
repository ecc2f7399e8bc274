// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import ReaderEmulation

/// Checks what is left of one host, or of one command, when the next one comes.
@Suite struct `What is left in an emulated reader` {
    private typealias Commands = `An emulated reader's own commands`

    private let field = VirtualField()

    @Test func `A host that comes anew finds the chip as after a reset, and the reader's own settings as they were`()
        async
    {
        var reader = EmulatedReader(.acr122u, field: field)
        #expect(await reader.lookAnew() == .init())
        #expect(await Commands.direct(0x51, 0x5A, to: &reader) == .done([0x90, 0x5A]))
        #expect(await Commands.direct(0x40, 0x0D, [1, 1, 1, 0], to: &reader) == .done([0x90, 0x01]))
        let write: [UInt8] = [0xD4, 0x08, 0x63, 0x05, 0x77]
        #expect(await Commands.direct(0, 0, write, to: &reader) == .done([0xD5, 0x09, 0x90, 0x00]))
        let read: [UInt8] = [0xD4, 0x06, 0x63, 0x05]
        #expect(await Commands.direct(0, 0, read, to: &reader) == .done([0xD5, 0x07, 0x77, 0x90, 0x00]))
        #expect(await reader.lookAnew() == .init())
        #expect(await Commands.direct(0, 0, read, to: &reader) == .done([0xD5, 0x07, 0x00, 0x90, 0x00]))
        #expect(await Commands.direct(0x50, 0, to: &reader) == .done([0x90, 0x5A]))
        #expect(await Commands.direct(0x40, 0x00, [1, 1, 1, 0], to: &reader) == .done([0x90, 0x01]))
    }

    @Test func `A host that comes anew is told of the card that the one before it had, and of its power`() async {
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var reader = EmulatedReader(.acr122u, field: field)
        for _ in 0..<2 {
            #expect(await reader.lookAnew() == .init(hasFound: true))
            #expect(await reader.look() == .init())
            #expect(await reader.setPower(.up) != .noCard)
            #expect(await reader.setPower(.down) == .done([]))
        }
        field.removeAll()
        // It never knew of the card, so that none has left.
        #expect(await reader.lookAnew() == .init())
        #expect(await reader.look() == .init())
        #expect(await reader.setPower(.up) == .noCard)
    }

    @Test func `A command that waits has no answer to repeat, and the next command ends its wait`() async {
        var device = PN532SerialDevice(field: field)
        var sent: [[UInt8]] = []
        await device.receive(hostFrame([0x02])) { _ in }
        await device.receive(hostFrame([0x4A, 1, 0])) { sent.append($0) }
        #expect(sent == [PN532ChipFrame.acknowledge])
        await device.receive([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]) { sent.append($0) }
        #expect(sent.count == 1)
        await device.receive(hostFrame([0x0C])) { sent.append($0) }
        let gpio = PN532ChipFrame.answer(to: 0x0C, [0x3F, 0x07, 0x07])
        #expect(sent.dropFirst() == [PN532ChipFrame.acknowledge, gpio])
        // The tag comes too late for the command that waited.
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        await device.presenceChanged { sent.append($0) }
        #expect(sent.count == 3)
        // What was answered last can be asked for again, more than once.
        for count in 4...5 {
            await device.receive([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]) { sent.append($0) }
            #expect(sent.count == count && sent.last == gpio)
        }
    }

    @Test func `A tag that comes while a command waits is answered once`() async {
        var device = PN532SerialDevice(field: field)
        var sent: [[UInt8]] = []
        await device.receive(hostFrame([0x4A, 1, 0])) { _ in }
        await device.presenceChanged { sent.append($0) }
        #expect(sent.isEmpty)
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        for _ in 0..<2 { await device.presenceChanged { sent.append($0) } }
        let list: [UInt8] = [1, 1, 0x00, 0x44, 0x00, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
        #expect(sent == [PN532ChipFrame.answer(to: 0x4A, list)])
        // A lost answer is repeated.
        await device.receive([0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]) { sent.append($0) }
        #expect(sent.count == 2 && sent[1] == sent[0])
    }
}
