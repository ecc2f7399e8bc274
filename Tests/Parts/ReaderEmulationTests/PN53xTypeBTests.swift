// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

@Suite struct `A PN532 and Type B cards` {
    private static let select: [UInt8] = [
        0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00,
    ]
    private static let pupi: [UInt8] = [0x0A, 0x0B, 0x0C, 0x0D]

    /// A chip with a card in its field whose ATQB ends with these protocol options.
    private func chip(options: UInt8) -> PN53xChip {
        let field = VirtualField()
        let frontEnd = Type4FrontEnd.nfcB(pupi: Self.pupi, protocolInfo: [0x00, 0x81, options])
        field.bring(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd))
        return PN53xChip(field: field)
    }

    private static func list(_ options: UInt8, cid: UInt8) -> PN53xChip.Outcome {
        .answer([1, 1, 0x50] + pupi + [0, 0, 0, 0, 0x00, 0x81, options, 1, cid])
    }

    @Test func `A card that takes a CID is given 1, which a host's own blocks have to carry`() async {
        var chip = chip(options: 0x71)
        #expect(await chip.receive([0x4A, 1, 3, 0]) == Self.list(0x71, cid: 1))
        // R(NAK), by which libnfc looks for the card, and the same for a card without a CID.
        #expect(await chip.receive([0x42, 0xBA, 0x01]) == .answer([0, 0xAB, 0x01]))
        #expect(await chip.receive([0x42, 0xB2]) == .answer([0x01]))
        #expect(await chip.receive([0x40, 1] + Self.select) == .answer([0, 0x90, 0x00]))
    }

    @Test func `A host ends the chip's ISO-DEP and begins its own, as nfcpy does`() async {
        var chip = chip(options: 0x71)
        _ = await chip.receive([0x4A, 1, 3, 0])
        #expect(await chip.receive([0x42, 0xCA, 0x01]) == .answer([0, 0xCA, 0x01]))
        let answer: [UInt8] = [0x50] + Self.pupi + [0, 0, 0, 0, 0x00, 0x81, 0x71]
        #expect(await chip.receive([0x42, 0x05, 0x00, 0x08]) == .answer([0] + answer))
        #expect(await chip.receive([0x42, 0x1D] + Self.pupi + [0x00, 0x08, 0x01, 0x00]) == .answer([0, 0x00]))
        #expect(await chip.receive([0x42, 0x02] + Self.select) == .answer([0, 0x02, 0x90, 0x00]))
    }

    @Test func `A card that takes no CID gets none`() async {
        var chip = chip(options: 0x70)
        #expect(await chip.receive([0x4A, 1, 3, 0]) == Self.list(0x70, cid: 0))
        #expect(await chip.receive([0x40, 1] + Self.select) == .answer([0, 0x90, 0x00]))
        #expect(await chip.receive([0x42, 0xC2]) == .answer([0, 0xC2]))
    }

    @Test func `Of two cards the last one is active at once, and each answers its own commands`() async {
        let field = VirtualField()
        let pupis: [[UInt8]] = [[2, 3, 4, 5], [6, 7, 8, 9]]
        for pupi in pupis {
            var card = ScriptedCard()
            card.answer([1], with: pupi)
            field.bring(VirtualType4Tag(card: card, frontEnd: .nfcB(pupi: pupi)))
        }
        var chip = PN53xChip(field: field)
        guard case .answer(let list) = await chip.receive([0x4A, 2, 3, 0]), list.count == 31 else {
            Issue.record("Both cards have to be listed.")
            return
        }
        // The number, 50, and then the PUPI of each.
        let listed = [list[3..<7], list[18..<22]].map { Array($0) }
        #expect(Set(listed) == Set(pupis))
        // Both have the same CID: if the first one were active too, they would answer at once.
        for number in [2, 1, 2] as [UInt8] {
            #expect(await chip.receive([0x40, number, 1]) == .answer([0] + listed[Int(number) - 1]), "\(number)")
        }
    }
}
