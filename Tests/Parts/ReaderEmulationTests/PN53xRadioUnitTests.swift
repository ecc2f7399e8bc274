// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

@Suite struct `A PN532's contactless unit in the hands of a host` {
    private let tag = VirtualType1Tag(.topaz512)
    private static let uid = Array(VirtualType1Tag.defaultUID.prefix(4))

    /// A chip that has listed the Topaz.
    private func listed() async -> PN53xChip {
        let field = VirtualField()
        field.bring(tag)
        var chip = PN53xChip(field: field)
        #expect(await chip.receive([0x4A, 1, 4]) == .answer([1, 1, 0x0C, 0x00] + Self.uid))
        return chip
    }

    /// Sends bytes as nfcpy does: each in its own frame, the first one with 7 bits, and without parity in the answer.
    private func send(_ bytes: [UInt8], through chip: inout PN53xChip) async {
        let frame = bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes
        var writes: [[UInt8]] = [
            [0x63, 0x39, frame[0]], [0x63, 0x3D, 0x07], [0x63, 0x31, 0x04], [0x63, 0x3D, 0x00], [0x63, 0x0D, 0x30],
        ]
        for byte in frame.dropFirst() {
            writes += [[0x63, 0x39, byte], [0x63, 0x31, 0x04], [0x63, 0x31, 0x07]]
        }
        writes.append([0x63, 0x31, 0x08])
        #expect(await chip.receive([0x08] + writes.joined()) == .answer([]))
        #expect(await chip.receive([0x08, 0x63, 0x0D, 0x20]) == .answer([]))
    }

    /// The raw content of the buffer.
    private func received(from chip: inout PN53xChip) async -> [UInt8] {
        guard case .answer(let level) = await chip.receive([0x06, 0x63, 0x3A]), level[0] > 0 else { return [] }
        let addresses = Array(repeating: [0x63, 0x39] as [UInt8], count: Int(level[0])).joined()
        guard case .answer(let bytes) = await chip.receive([0x06] + addresses) else { return [] }
        return bytes
    }

    /// An answer with its parity bits checked and taken away, and its checksum too.
    private func answer(from chip: inout PN53xChip) async throws -> [UInt8] {
        let bits = await received(from: &chip).flatMap { (byte: UInt8) in (0..<8).map { byte >> $0 & 1 } }
        let groups = stride(from: 0, through: bits.count - 9, by: 9).map { Array(bits[$0..<($0 + 9)]) }
        for group in groups { #expect(group.reduce(0, +) % 2 == 1) }
        let bytes = groups.map { group in (0..<8).reduce(UInt8(0)) { $0 | group[$1] << $1 } }
        let checksum = CyclicRedundancyCheck.b(bytes.dropLast(2))
        try #require(Array(bytes.suffix(2)) == checksum.littleEndianBytes)
        return bytes.dropLast(2)
    }

    @Test func `READ8, WRITE-E8 and WRITE-NE8 reach a Topaz 512`() async throws {
        var chip = await listed()
        await send([0x02, 0x01] + [UInt8](repeating: 0, count: 8) + Self.uid, through: &chip)
        // Nine bytes and a checksum, with a bit more for each.
        #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([3]))
        #expect(try await answer(from: &chip) == [0x01, 0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30])
        await send([0x54, 0x20] + (1...8) + Self.uid, through: &chip)
        #expect(try await answer(from: &chip) == [0x20] + (1...8))
        await send([0x1B, 0x20] + [UInt8](repeating: 0x80, count: 8) + Self.uid, through: &chip)
        #expect(try await answer(from: &chip) == [0x20] + (0x81...0x88))
        #expect(tag.contents.memory[256..<264] == [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88])
        // Firmware commands work as before.
        #expect(await chip.receive([0x40, 1, 0x01, 0x08, 0x00]) == .answer([0, 0x08, 0xE1]))
    }

    @Test func `A tag that does not answer leaves the buffer empty`() async {
        var chip = await listed()
        await send([0x54, 0x0D] + (1...8) + Self.uid, through: &chip)
        #expect(await received(from: &chip).isEmpty)
        await send([0x02, 0x01] + [UInt8](repeating: 0, count: 8) + [9, 9, 9, 9], through: &chip)
        #expect(await received(from: &chip).isEmpty)
    }

    @Test func `An answer that is longer than the buffer is cut`() async {
        var chip = await listed()
        await send([0x10, 0x00] + [UInt8](repeating: 0, count: 8) + Self.uid, through: &chip)
        #expect(await received(from: &chip).count == 64)
    }

    @Test func `An answer without parity bits that is longer than the buffer is cut at its end`() async {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var chip = PN53xChip(field: field)
        _ = await chip.receive([0x4A, 1, 0])
        // FAST_READ of the first 20 pages.
        let pushes = ([0x3A, 0x00, 0x13] as [UInt8]).flatMap { (byte: UInt8) -> [UInt8] in [0x63, 0x39, byte] }
        #expect(await chip.receive([0x08] + pushes + [0x63, 0x31, 0x04, 0x63, 0x31, 0x08]) == .answer([]))
        let bytes = await received(from: &chip)
        #expect(bytes.count == 64 && bytes.prefix(3) == [0x04, 0xA1, 0xB2])
    }

    @Test func `The buffer holds 64 bytes, can be emptied, and an empty one reads 0`() async {
        var chip = PN53xChip(field: VirtualField())
        for byte in UInt8(0)..<70 { _ = await chip.receive([0x08, 0x63, 0x39, byte]) }
        #expect(await chip.receive([0x06, 0x63, 0x3A, 0x63, 0x39, 0x63, 0x39]) == .answer([64, 0, 1]))
        _ = await chip.receive([0x08, 0x63, 0x3A, 0x80])
        #expect(await chip.receive([0x06, 0x63, 0x3A, 0x63, 0x39]) == .answer([0, 0]))
    }

    @Test func `The unit keeps 64 frames until it waits for an answer, and sends none of them without a field`() async {
        let requests = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { exchange in requests.withLock { $0.append(exchange.request.bytes) } })
        var chip = PN53xChip(field: field)
        let frames = (UInt8(0)..<70).flatMap { (byte: UInt8) -> [UInt8] in [0x63, 0x39, byte, 0x63, 0x31, 0x04] }
        let writes: [UInt8] = [0x08] + frames + [0x63, 0x31, 0x08]
        #expect(await chip.receive(writes) == .answer([]))
        #expect(requests.withLock { $0 } == [Array(UInt8(0)..<64)])
        #expect(await chip.receive([0x32, 1, 0]) == .answer([]))
        #expect(await chip.receive(writes) == .answer([]))
        #expect(requests.withLock { $0.count } == 1)
        #expect(await chip.receive([0x32, 1, 1]) == .answer([]))
        #expect(await chip.receive(writes) == .answer([]))
        #expect(requests.withLock { $0.count } == 2)
    }

    @Test func `The command to be idle ends the wait for an answer, and what was sent before it counts no more`() async
    {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var chip = PN53xChip(field: field)
        let (transmit, receive, idle): ([UInt8], [UInt8], [UInt8]) = (
            [0x63, 0x31, 0x04], [0x63, 0x31, 0x08], [0x63, 0x31, 0x00]
        )
        let request: [UInt8] = [0x63, 0x3A, 0x80, 0x63, 0x39, 0x26, 0x63, 0x3D, 0x07]
        #expect(await chip.receive([0x08] + request + transmit + idle + receive) == .answer([]))
        #expect(await received(from: &chip).isEmpty)
        // A frame that was given up is no part of the next command: that would be one to a Type 1 tag.
        #expect(await chip.receive([0x08] + request + transmit + idle) == .answer([]))
        #expect(await chip.receive([0x08] + request + transmit + receive) == .answer([]))
        #expect(await received(from: &chip) == [0x44, 0x00])
    }

    @Test func `Four bits are the unit's command, and only three commands have an effect`() async {
        let request: [UInt8] = [0x63, 0x3A, 0x80, 0x63, 0x39, 0x26, 0x63, 0x3D, 0x07]
        let cases: [(commands: [UInt8], isAnswered: Bool)] = [
            ([0x34, 0x28], true), ([0x04, 0x07, 0x08], true), ([0x04, 0x01, 0x08], true), ([0x05, 0x08], false),
            ([0x06, 0x08], false), ([0x04, 0x09], false), ([0x04, 0x0C], false), ([0x04, 0x30, 0x08], false),
        ]
        for (commands, isAnswered) in cases {
            let field = VirtualField()
            field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
            var chip = PN53xChip(field: field)
            let writes = commands.flatMap { (command: UInt8) -> [UInt8] in [0x63, 0x31, command] }
            #expect(await chip.receive([0x08] + request + writes) == .answer([]))
            let bytes = await received(from: &chip)
            #expect((bytes == [0x44, 0x00]) == isAnswered, "\(commands)")
        }
    }

    @Test func `Several frames are not sent where each of them would have a checksum`() async {
        let requests = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { exchange in requests.withLock { $0.append(exchange.request.bytes) } })
        var chip = PN53xChip(field: field)
        let frames: [UInt8] = [0x63, 0x39, 1, 0x63, 0x31, 0x04, 0x63, 0x39, 2, 0x63, 0x31, 0x04, 0x63, 0x31, 0x08]
        for (mode, isSent) in [(0x80, false), (0x00, true)] as [(UInt8, Bool)] {
            #expect(await chip.receive([0x08, 0x63, 0x02, mode] + frames) == .answer([]))
            #expect(requests.withLock { $0 } == (isSent ? [[1, 2]] : []))
        }
    }

    @Test func `A short frame goes out with its bits, and the answer says how many bits came`() async {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var chip = PN53xChip(field: field)
        for (value, bits) in [(0x26, 7), (0x26, 8)] as [(UInt8, UInt8)] {
            let writes: [UInt8] = [
                0x63, 0x3A, 0x80, 0x63, 0x39, value, 0x63, 0x3D, bits & 7, 0x63, 0x31, 0x04, 0x63, 0x31, 0x08,
            ]
            #expect(await chip.receive([0x08] + writes) == .answer([]))
            #expect(await received(from: &chip) == (bits == 7 ? [0x44, 0x00] : []))
        }
        #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([0]))
    }

    @Test func `An answer of four bits has no parity, whether the host wants it or not`() async {
        for manual in [0x00, 0x10] as [UInt8] {
            let field = VirtualField()
            field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
            var chip = PN53xChip(field: field)
            _ = await chip.receive([0x4A, 1, 0])
            let bytes = [0xA2, 0x14, 1, 2, 3, 4] as [UInt8]
            let pushes = bytes.flatMap { (byte: UInt8) -> [UInt8] in [0x63, 0x39, byte] }
            let writes: [UInt8] =
                [0x63, 0x0D, manual, 0x63, 0x03, 0x00] + pushes + [0x63, 0x31, 0x04, 0x63, 0x31, 0x08]
            #expect(await chip.receive([0x08] + writes) == .answer([]))
            #expect(await chip.receive([0x06, 0x63, 0x3C]) == .answer([4]))
            #expect(await received(from: &chip) == [0x0A])
        }
    }
}
