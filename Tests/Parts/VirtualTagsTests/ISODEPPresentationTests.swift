// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Checks what a Type 4 tag shows of itself before its first command.
@Suite struct `The identifier of a Type 4 tag` {
    /// A card that wants random UIDs.
    private struct ShyCard: SelfPresentingCard {
        var presentation: CardPresentation { CardPresentation(usesRandomUID: true) }

        mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer { CardAnswer(status: .success) }

        mutating func losePower() {}
    }

    /// ATQA and the bytes of the first cascade level, as the tag itself answers them.
    private func shown(_ tag: VirtualType4Tag) throws -> (atqa: [UInt8], level: [UInt8]) {
        let atqa = try #require(tag.answer(Frame(bits: [0x26], validBitsInLastByte: 7), disturbance: nil)?.frame)
        let level = try #require(tag.answer(Frame([0x93, 0x20], checksum: .none), disturbance: nil)?.frame)
        return (atqa.bytes, level.bytes)
    }

    private func makeTag(_ uid: [UInt8], changes: Bool) -> VirtualType4Tag {
        VirtualType4Tag(
            card: ScriptedCard(otherwise: CardAnswer(status: .success)),
            frontEnd: .nfcA(uid: uid, atqa: 0x0045, ats: hex("05 78 80 70 02")),
            changesRandomUID: changes
        )
    }

    @Test func `A random UID is the given one at first, and another one whenever the power comes`() throws {
        let uid = hex("08 01 02 03")
        let tag = makeTag(uid, changes: true)
        #expect(try shown(tag).level == uid + [0x08])
        var numbers = SplitMix64(identifier: uid)
        for _ in 0..<3 {
            tag.losePower()
            let (atqa, level) = try shown(tag)
            // The bits of ATQA for the length of the UID are those of four bytes.
            #expect(atqa == [0x05, 0x00])
            let number = numbers.next()
            let own: [UInt8] = [0x08] + (0..<3).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            #expect(level == own + [own.reduce(0, ^)])
            #expect(tag.identifier == uid)
        }
    }

    @Test(arguments: [("08 01 02 03", false), ("04 01 02 03", true)])
    func `Another UID, or one that is to stay, stays`(uid: String, changes: Bool) throws {
        let tag = makeTag(hex(uid), changes: changes)
        for _ in 0..<2 {
            #expect(try shown(tag).level.prefix(4) == hex(uid)[...])
            tag.losePower()
        }
    }

    @Test func `A card that wants random UIDs has one from the beginning`() throws {
        let tag = VirtualType4Tag(card: ShyCard())
        let first = try shown(tag)
        #expect(first.level.count == 5 && first.level[0] == 0x08 && first.level.reduce(0, ^) == 0)
        tag.losePower()
        let second = try shown(tag)
        #expect(second.level[0] == 0x08 && second.level != first.level)
    }

    @Test func `A UID may have ten bytes`() throws {
        let tag = makeTag(hex("04 01 02 03 04 05 06 07 08 09"), changes: true)
        #expect(try shown(tag).level == hex("88 04 01 02 8f"))
    }
}

@Suite struct `Power of NFC-B tags` {
    private let atqb = "50 01 02 03 04 00 00 00 00 00 81 75"

    private func makeScript() async throws -> (LinkScript, VirtualType4Tag) {
        let tag = VirtualType4Tag(
            card: ScriptedCard([(hex("01"), hex("90 00"))]),
            frontEnd: .nfcB(pupi: hex("01 02 03 04"), protocolInfo: hex("00 81 75"))
        )
        let script = try LinkScript(.nfcB, tag)
        #expect(await script.send("05 00 00") == atqb)
        #expect(await script.send("1d 01 02 03 04 00 08 01 00") == "00")
        return (script, tag)
    }

    @Test func `Without it a tag leaves its protocol, and hears requests again`() async throws {
        let (script, tag) = try await makeScript()
        #expect(await script.send("02 01") == "02 90 00")
        tag.losePower()
        #expect(await script.send("02 01") == "timeout")
        #expect(await script.send("05 00 00") == atqb)
    }

    @Test func `A presence check leaves a tag in its protocol`() async throws {
        let (script, _) = try await makeScript()
        #expect(await script.send("b2") == "a3")
        #expect(await script.send("02 01") == "02 90 00")
    }
}

@Suite struct `A card that needs exactly its waiting time` {
    @Test func `It asks for no more`() async throws {
        // FWI 7: 4096 · 2⁷ carrier periods.
        let waitingTime = Airtime(carrierPeriods: 4096 << 7)
        for (time, answer) in [
            (waitingTime, "02 dd"), (waitingTime + Airtime(carrierPeriods: 1), "f2 02"),
        ] {
            var card = ScriptedCard()
            card.answer(hex("05"), with: hex("dd"), workTime: time)
            let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 78 80 70 02"))
            let script = try LinkScript(.nfcA, VirtualType4Tag(card: card, frontEnd: frontEnd))
            await script.activateA()
            #expect(await script.send("e0 80") == "05 78 80 70 02")
            #expect(await script.send("02 05") == answer)
        }
    }
}
