// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// A FeliCa card that answers only who looks for cards with NDEF.
private final class NDEFOnlyCard: VirtualTag {
    let technology = Technology.nfcF
    let identifier: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6]

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        let bytes = request.bytes
        guard bytes.count == 6, bytes[1] == 0x00, bytes[2] == 0x12, bytes[3] == 0xFC else { return nil }
        let system: [UInt8] = bytes[4] == 1 ? [0x12, 0xFC] : []
        let rest: [UInt8] = [0x01] + identifier + [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00] + system
        return TagAnswer(Frame([UInt8(rest.count + 1)] + rest))
    }

    func losePower() {}
}

/// Checks which card an emulated reader finds where it is not the only one, or in another state.
@Suite struct `An emulated reader that looks for a card` {
    private let field = VirtualField()

    @Test func `finds a FeliCa card that answers to the system of NDEF alone`() async {
        let card = NDEFOnlyCard()
        field.bring(card)
        var reader = EmulatedReader(.acr122u, field: field)
        #expect(await reader.look() == .init(hasFound: true))
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(card.identifier + [0x90, 0x00]))
        #expect(await reader.look() == .init())
    }

    @Test func `sends the commands of one of two Type B cards to the one whose identifier it tells`() async {
        for pupi in [[2, 3, 4, 5], [6, 7, 8, 9]] as [[UInt8]] {
            var card = ScriptedCard()
            card.answer([0x00, 0x01, 0x02, 0x03], with: pupi + [0x90, 0x00])
            field.bring(VirtualType4Tag(card: card, frontEnd: .nfcB(pupi: pupi)))
        }
        var reader = EmulatedReader(.acr122u, field: field)
        #expect(await reader.look() == .init(hasFound: true))
        #expect(await reader.setPower(.up) != .noCard)
        let identifier = await reader.transmit([0xFF, 0xCA, 0, 0, 0])
        #expect(identifier != .noCard)
        #expect(await reader.transmit([0x00, 0x01, 0x02, 0x03]) == identifier)
    }

    @Test func `finds a card that its host has selected by itself`() async {
        field.bring(NFCATag(NFCAContents(uid: [1, 2, 3, 4], atqa: 0x0004, sak: 0x08)))
        var chip = PN53xChip(field: field)
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        // REQA of seven bits, the anticollision without a checksum, and the selection with one.
        _ = await chip.receive([0x08, 0x63, 0x3D, 0x07])
        #expect(await chip.receive([0x42, 0x26]) == .answer([0, 0x04, 0x00]))
        _ = await chip.receive([0x08, 0x63, 0x3D, 0x00])
        #expect(await chip.receive([0x42, 0x93, 0x20]) == .answer([0, 1, 2, 3, 4, 0x04]))
        _ = await chip.receive([0x08, 0x63, 0x02, 0x80, 0x63, 0x03, 0x80])
        #expect(await chip.receive([0x42, 0x93, 0x70, 1, 2, 3, 4, 0x04]) == .answer([0, 0x08]))
        #expect(await chip.receive([0x4A, 1, 0]) == .answer([1, 1, 0x00, 0x04, 0x08, 4, 1, 2, 3, 4]))
    }
}
