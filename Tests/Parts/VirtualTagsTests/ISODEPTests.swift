// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `ISO-DEP on the card's side` {
    /// A card with one short command, one long answer and one slow answer, with frames of 32 bytes.
    private func makeTag(fsci: UInt8 = 2) -> VirtualType4Tag {
        var card = ScriptedCard()
        card.answer(hex("01"), with: hex("aa 90 00"))
        card.answer(hex("02"), with: (0..<40).map { UInt8($0) })
        card.answer(hex("03"), with: hex("bb"), workTime: .milliseconds(1000))
        card.answer(hex("04"), with: hex("cc"), waitingTimeExtensions: [2, 3])
        card.answer((0..<40).map { UInt8($0) }, with: hex("dd"))
        return VirtualType4Tag(
            card: card,
            frontEnd: .nfcA(uid: VirtualType4Tag.defaultUID, ats: [0x05, 0x70 | fsci, 0x80, 0x70, 0x02])
        )
    }

    private func makeScript(rats: String = "e0 80") async throws -> LinkScript {
        let script = try LinkScript(.nfcA, makeTag())
        await script.activateA()
        #expect(await script.send(rats) == "05 72 80 70 02")
        return script
    }

    @Test func `Messages go in I-blocks whose numbers alternate`() async throws {
        let script = try await makeScript()
        #expect(await script.send("02 01") == "02 aa 90 00")
        #expect(await script.send("03 01") == "03 aa 90 00")
        #expect(await script.send("02 01") == "02 aa 90 00")
    }

    @Test func `A long answer is chained at the reader's frame size`() async throws {
        let script = try await makeScript(rats: "e0 10")
        // FSD 24: 21 bytes of information a block.
        #expect(await script.send("02 02") == "12 " + hexText((0..<21).map { UInt8($0) }))
        #expect(await script.send("a3") == "03 " + hexText((21..<40).map { UInt8($0) }))
    }

    @Test func `R(NAK) repeats the last block, with the block number of the card`() async throws {
        let script = try await makeScript(rats: "e0 10")
        let first = await script.send("02 02")
        #expect(await script.send("b2") == first)
        #expect(await script.send("b2") == first)
        let second = await script.send("a3")
        #expect(await script.send("b3") == second)
    }

    @Test func `R(NAK) with the other block number is acknowledged, as a presence check wants it`() async throws {
        let script = try await makeScript()
        #expect(await script.send("b2") == "a3")
        #expect(await script.send("02 01") == "02 aa 90 00")
        #expect(await script.send("b3") == "a2")
    }

    @Test func `A chained command is acknowledged block by block`() async throws {
        let script = try await makeScript()
        #expect(await script.send("12 " + hexText((0..<25).map { UInt8($0) })) == "a2")
        #expect(await script.send("03 " + hexText((25..<40).map { UInt8($0) })) == "03 dd")
    }

    @Test func `Blocks longer than the card's frame size are not heard`() async throws {
        let script = try await makeScript()
        #expect(await script.send("12 " + hexText((0..<30).map { UInt8($0) })) == "timeout")
        #expect(await script.send("02 01") == "02 aa 90 00")
    }

    @Test func `A card asks for more time as often as its application does`() async throws {
        let script = try await makeScript()
        #expect(await script.send("02 04") == "f2 02")
        #expect(await script.send("f2 03") == "timeout")
        #expect(await script.send("f2 02") == "f2 03")
        #expect(await script.send("b3") == "a2")
        #expect(await script.send("b2") == "f2 03")
        #expect(await script.send("f2 03") == "02 cc")
    }

    @Test func `Work beyond the frame waiting time asks for more time by itself`() async throws {
        let script = try await makeScript()
        // FWI 7 is 38.7 ms; 1000 ms need 26 of it.
        #expect(await script.send("02 03", timeout: .milliseconds(40)) == "f2 1a")
        #expect(await script.send("f2 1a", timeout: .milliseconds(1010)) == "02 bb")
        // The work is done once.
        let time = script.link.statistics.tagWorkTime
        #expect(await script.send("b2") == "02 bb")
        #expect(script.link.statistics.tagWorkTime == time)
    }

    @Test func `Damaged and unknown blocks are not answered, and change nothing`() async throws {
        let script = try await makeScript()
        #expect(await script.sendRaw("02 01 00 00") == "timeout")
        for block in ["e2", "42", "26 01", "06", "c3", "f2", "a6"] {
            #expect(await script.send(block) == "timeout", "\(block)")
        }
        #expect(await script.send("02 01") == "02 aa 90 00")
    }

    @Test func `With a CID only blocks that carry it are heard, and answers carry it too`() async throws {
        let script = try await makeScript(rats: "e0 85")
        #expect(await script.send("02 01") == "timeout")
        #expect(await script.send("0a 04 01") == "timeout")
        #expect(await script.send("0a 05 01") == "0a 05 aa 90 00")
        #expect(await script.send("ba 05") == "0a 05 aa 90 00")
        #expect(await script.send("ca 05") == "ca 05")
    }

    @Test func `PPS is answered once, right after the ATS, for rates that it offers`() async throws {
        let script = try LinkScript(
            .nfcA,
            VirtualType4Tag(
                card: ScriptedCard([(hex("01"), hex("90 00"))]),
                frontEnd: .nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 78 91 70 02"))
            )
        )
        await script.activateA()
        _ = await script.send("e0 80")
        #expect(await script.send("d0 11 05") == "d0")
        #expect(await script.send("d0 11 05") == "timeout")
        #expect(await script.send("02 01") == "02 90 00")
        #expect(await script.send("c2") == "c2")
        await script.activateA()
        _ = await script.send("e0 80")
        #expect(await script.send("d0 11 0a") == "timeout")
        #expect(await script.send("02 01") == "02 90 00")
    }

    @Test func `DESELECT halts the card: REQA does not wake it, WUPA does`() async throws {
        let script = try await makeScript()
        #expect(await script.send("c2") == "c2")
        #expect(await script.exchange(Frame(bits: [0x26], validBitsInLastByte: 7)) == "timeout")
        await script.activateA()
        #expect(await script.send("e0 80") == "05 72 80 70 02")
    }

    @Test func `In the block protocol REQA and HLTA mean nothing`() async throws {
        let script = try await makeScript()
        #expect(await script.exchange(Frame(bits: [0x52], validBitsInLastByte: 7)) == "timeout")
        #expect(await script.send("50 00") == "timeout")
        #expect(await script.send("02 01") == "02 aa 90 00")
    }
}
