// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Checks a card in front of a reader that is odd, or at the end of its rights (ISO/IEC 14443-4, 5 and 7).
@Suite struct `ISO-DEP on the card's side, with an odd reader` {
    private func makeCard() -> ScriptedCard {
        var card = ScriptedCard(otherwise: CardAnswer([0x6A, 0x81]))
        card.answer(hex("01"), with: hex("aa 90 00"))
        card.answer(hex("02"), with: (0..<40).map { UInt8($0) })
        card.answer(hex("04"), with: hex("cc"), waitingTimeExtensions: [0, 2, 60, 59])
        return card
    }

    private func makeScript(
        ats: String = "05 72 80 70 02",
        rats: String = "e0 80",
        _ card: ScriptedCard? = nil
    ) async throws -> LinkScript {
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex(ats))
        let script = try LinkScript(.nfcA, VirtualType4Tag(card: card ?? makeCard(), frontEnd: frontEnd))
        await script.activateA()
        #expect(await script.send(rats) == ats)
        return script
    }

    @Test func `A block as long as the card's frame is heard, and one that is a byte longer is not`() async throws {
        let script = try await makeScript()
        #expect(await script.send("12 " + hexText([UInt8](repeating: 0, count: 29))) == "a2")
        #expect(await script.send("13 " + hexText([UInt8](repeating: 0, count: 30))) == "timeout")
        #expect(await script.send("13 " + hexText([UInt8](repeating: 0, count: 29))) == "a3")
        #expect(await script.send("02 00") == "02 6a 81")
    }

    @Test func `R(ACK) repeats the last block, or calls for the next one, or is not heard when there is none`()
        async throws
    {
        let script = try await makeScript(rats: "e0 10")
        let first = await script.send("02 02")
        #expect(first.hasPrefix("12 00 01"))
        #expect(await script.send("a2") == first)
        let second = await script.send("a3")
        #expect(second == "03 " + hexText((21..<40).map { UInt8($0) }))
        #expect(await script.send("a3") == second)
        #expect(await script.send("a2") == "timeout")
        #expect(await script.send("02 01") == "02 aa 90 00")
        #expect(await script.send("a3") == "timeout")
        #expect(await script.send("a2") == "02 aa 90 00")
    }

    @Test func `A command in the middle of a chained answer begins anew`() async throws {
        let script = try await makeScript(rats: "e0 10")
        #expect(await script.send("02 02").hasPrefix("12 00 01"))
        #expect(await script.send("03 01") == "03 aa 90 00")
        #expect(await script.send("a2") == "timeout")
        #expect(await script.send("02 02").hasPrefix("12 00 01"))
        // The parts of a chained command are joined, and nothing of what came before.
        #expect(await script.send("13 07") == "a3")
        #expect(await script.send("b3") == "a3")
        #expect(await script.send("a2") == "timeout")
        #expect(await script.send("12 08") == "a2")
        #expect(await script.send("03 09") == "03 6a 81")
        #expect(await script.send("02 01") == "02 aa 90 00")
    }

    @Test func `A message that was not answered is no part of the next one`() {
        var listener = ISODEPListener(cardFrameSize: 64, readerFrameSize: 64, cid: 0, supportsCID: true)
        #expect(listener.receive([0x02, 0x01]) == .process([0x01]))
        #expect(listener.receive([0x03, 0x05, 0x06]) == .process([0x05, 0x06]))
    }

    @Test func `A plain block in place of the granted time is a new command`() async throws {
        let script = try await makeScript()
        #expect(await script.send("02 04") == "f2 02")
        #expect(await script.send("03 01") == "03 aa 90 00")
        // The time that the lost command asked for is no more.
        #expect(await script.send("f2 02") == "timeout")
        #expect(await script.send("02 01") == "02 aa 90 00")
    }

    @Test func `A card asks for 1 to 59 times its waiting time, and the reader's power bits do not count`()
        async throws
    {
        let script = try await makeScript()
        #expect(await script.send("02 04") == "f2 02")
        #expect(await script.send("f2 c3") == "timeout")
        #expect(await script.send("f2 c2") == "f2 3b")
        #expect(await script.send("f2 3b") == "02 cc")
        #expect(await script.send("f2 3b") == "timeout")
    }

    @Test func `Asking for more time is no write`() async throws {
        let script = try await makeScript()
        script.field.arm(.tear(afterWrite: 1))
        #expect(await script.send("02 04") == "f2 02")
        #expect(await script.send("f2 02") == "f2 3b")
        #expect(await script.send("f2 3b") == "02 cc")
        #expect(await script.send("03 01") == "03 aa 90 00")
        #expect(script.field.tags.count == 1)
    }

    @Test(arguments: ["a2 00", "b2 00", "c2 00", "f2 02 00", "f2", "82", "92", "d2", "22 01", "0a 00 01 01", ""])
    func `A block of another form is not heard, and changes nothing`(block: String) async throws {
        // This card has no CID.
        let script = try await makeScript(ats: "05 72 80 70 00")
        #expect(await script.send("02 04") == "f2 02")
        #expect(await script.send(block) == "timeout")
        #expect(await script.send("f2 02") == "f2 3b")
    }

    @Test func `A CID takes a byte of each block`() async throws {
        let script = try await makeScript(rats: "e0 15")
        #expect(await script.send("0a 05 02") == "1a 05 " + hexText((0..<20).map { UInt8($0) }))
        #expect(await script.send("ab 05") == "0b 05 " + hexText((20..<40).map { UInt8($0) }))
        #expect(await script.send("0a 05 04") == "fa 05 02")
        #expect(await script.send("fa 05 02") == "fa 05 3b")
        // The upper bits of its byte are the power level.
        #expect(await script.send("fa c5 3b") == "0a 05 cc")
        #expect(await script.send("ba 06") == "timeout")
        #expect(await script.send("ba 05") == "0a 05 cc")
        #expect(await script.send("bb 05") == "aa 05")
    }

    @Test func `A command has 65792 bytes at most, and a longer one is not heard`() async throws {
        let limit = 65_792
        #expect(ISODEPListener.messageLimit == limit)
        for extra in 0...1 {
            let script = try await makeScript(ats: "05 78 80 70 02")
            var left = limit + extra
            var number = 0
            while left > 253 {
                let block = Frame([0x12 | UInt8(number % 2)] + [UInt8](repeating: 1, count: 253))
                #expect(await script.exchange(block) == (number % 2 == 0 ? "a2" : "a3"))
                left -= 253
                number += 1
            }
            let last = Frame([0x02 | UInt8(number % 2)] + [UInt8](repeating: 1, count: left))
            let head = number % 2 == 0 ? "02" : "03"
            #expect(await script.exchange(last) == (extra == 0 ? "\(head) 6a 81" : "timeout"))
            // Then the card is ready for the next one.
            number += 1
            #expect(await script.send("0\(2 + number % 2) 01") == "0\(2 + number % 2) aa 90 00")
        }
    }

    @Test(arguments: [
        ("00", 16), ("10", 24), ("20", 32), ("30", 40), ("40", 48), ("50", 64), ("60", 96), ("70", 128), ("80", 256),
        ("90", 256), ("f0", 256),
    ]) func `The reader's frame size is that of its code`(parameter: String, size: Int) async throws {
        var card = makeCard()
        card.answer(hex("05"), with: [UInt8](repeating: 7, count: 300))
        let script = try await makeScript(rats: "e0 " + parameter, card)
        #expect(hex(await script.send("02 05")).count == size - 2)
    }

    @Test(arguments: [("e0 8f", false), ("e0 8e", true), ("e0", false), ("e0 80 00", false)])
    func `RATS has one parameter, and a CID below 15`(rats: String, isHeard: Bool) async throws {
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 78 80 70 02"))
        let script = try LinkScript(.nfcA, VirtualType4Tag(card: makeCard(), frontEnd: frontEnd))
        await script.activateA()
        #expect(await script.send(rats) == (isHeard ? "05 78 80 70 02" : "timeout"))
        // A card that does not understand falls back.
        if !isHeard { #expect(await script.send("e0 80") == "timeout") }
    }

    // MARK: PPS

    @Test(
        arguments: [
            // The card takes 212 kbit/s to it, and 212 and 424 from it.
            ("31", "d0 11 00", true), ("31", "d0 11 05", true), ("31", "d0 11 08", true), ("31", "d0 11 01", true),
            ("31", "d0 11 02", false), ("31", "d0 11 0c", false), ("31", "d0 01", true), ("31", "d0 01 00", false),
            ("31", "d0 11", false), ("31", "d0 11 00 00", false), ("31", "d1 11 00", false), ("31", "d0", false),
            // This one needs the same rate in both directions.
            ("b1", "d0 11 05", true), ("b1", "d0 11 01", false), ("b1", "d0 11 04", false), ("b1", "d0 11 00", true),
            // All rates.
            ("77", "d0 11 0f", true), ("77", "d0 11 06", true), ("00", "d0 11 05", false), ("00", "d0 11 00", true),
        ]
    ) func `PPS is answered for the rates that the ATS offers`(rates: String, pps: String, isHeard: Bool) async throws {
        let script = try await makeScript(ats: "05 72 \(rates) 70 02")
        // A card without rates of its own says so without the byte; with 00 it says the same.
        #expect(await script.send(pps) == (isHeard ? "d0" : "timeout"))
        #expect(await script.send("d0 11 00") == "timeout")
        #expect(await script.send("02 01") == "02 aa 90 00")
    }

    @Test func `PPS names the card's CID`() async throws {
        let script = try await makeScript(rats: "e0 83")
        #expect(await script.send("d3 11 00") == "d3")
    }

    // MARK: Time

    /// The answers to a command until the card has worked, and how long each took.
    private func work(_ script: LinkScript, _ command: String) async throws -> [(answer: [UInt8], elapsed: Airtime)] {
        var answers: [(answer: [UInt8], elapsed: Airtime)] = []
        var request = hex(command)
        while answers.count < 100 {
            let before = script.link.statistics
            let answer = try await script.link.transceive(Frame(request), timeout: .milliseconds(100_000)).bytes
            let now = script.link.statistics
            answers.append((answer, now.airtime - before.airtime + now.tagWorkTime - before.tagWorkTime))
            guard answer.first == 0xF2 else { break }
            request = answer
        }
        return answers
    }

    @Test(arguments: [0, 1, 38, 39, 76, 78, 200, 1000, 2281, 2283, 5000])
    func `A card that works for long asks for as much time as it needs, and takes no longer`(milliseconds: Int)
        async throws
    {
        var card = makeCard()
        card.answer(hex("05"), with: hex("dd"), workTime: .milliseconds(Int64(milliseconds)))
        // FWI 7: 4096 · 2⁷ carrier periods, 38.66 ms.
        let waitingTime = Airtime(carrierPeriods: 4096 << 7)
        let script = try await makeScript(ats: "05 72 80 70 02", card)
        let answers = try await work(script, "02 05")
        #expect(answers.last?.answer == [0x02, 0xDD])
        let total = answers.reduce(Airtime.zero) { $0 + $1.elapsed }
        let least = Airtime.milliseconds(Int64(milliseconds))
        #expect(total >= least && total <= least + .milliseconds(Int64(2 * answers.count)))
        #expect(answers.count == 1 || milliseconds > 38)
        // Each answer comes within the time that was granted before it.
        var granted = waitingTime
        for answer in answers {
            #expect(answer.elapsed <= granted + .milliseconds(2))
            granted = waitingTime * Int(answer.answer.count == 2 ? max(answer.answer[1], 1) : 1)
        }
        #expect(answers.dropLast().allSatisfy { (1...59).contains($0.answer[1]) })
    }

    @Test(arguments: [("03 28 f0", "f2 02"), ("01", "f2 02"), ("02 08", "f2 02"), ("03 28 50", "02 dd")])
    func `A waiting time that is missing or reserved is that of 4`(ats: String, answer: String) async throws {
        // FWI 4 is 4.8 ms, FWI 5 is 9.7 ms.
        var card = makeCard()
        card.answer(hex("05"), with: hex("dd"), workTime: .milliseconds(6))
        let script = try await makeScript(ats: ats, card)
        #expect(await script.send("02 05") == answer)
        if answer != "02 dd" { #expect(await script.send(answer) == "02 dd") }
    }

    @Test func `The work of a card is over when its power goes`() async throws {
        var card = makeCard()
        card.answer(hex("05"), with: hex("dd"), workTime: .milliseconds(100))
        let script = try await makeScript(card)
        #expect(await script.send("02 05") == "f2 03")
        try await script.field.setCarrier(false)
        try await script.field.setCarrier(true)
        await script.activateA()
        #expect(await script.send("e0 80") == "05 72 80 70 02")
        let before = script.link.statistics.tagWorkTime
        #expect(await script.send("12 00") == "a2")
        #expect(script.link.statistics.tagWorkTime == before)
    }

    @Test func `DESELECT and a loss of power reset the card`() async throws {
        var card = makeCard()
        card.answer(hex("06"), with: hex("11"))
        card.answer(hex("06"), with: hex("22"))
        let script = try await makeScript(card)
        for isDeselected in [true, false, true] {
            #expect(await script.send("02 06") == "02 11")
            #expect(await script.send("03 06") == "03 22")
            if isDeselected {
                #expect(await script.send("c2") == "c2")
            } else {
                try await script.field.setCarrier(false)
                try await script.field.setCarrier(true)
            }
            await script.activateA()
            #expect(await script.send("e0 80") == "05 72 80 70 02")
        }
        #expect(await script.send("02 06") == "02 11")
    }

    /// A card that presents itself in another way from its first loss of power on.
    private struct RestlessCard: SelfPresentingCard {
        let later: CardPresentation
        var hasLostPower = false

        var presentation: CardPresentation { hasLostPower ? later : CardPresentation() }

        mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer { CardAnswer(status: .success) }

        mutating func losePower() { hasLostPower = true }
    }

    private func makeScript(later: CardPresentation) throws -> LinkScript {
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 72 80 70 02"))
        return try LinkScript(.nfcA, VirtualType4Tag(card: RestlessCard(later: later), frontEnd: frontEnd))
    }

    @Test func `What a loss of power changes in a card's activation counts from the next one on`() async throws {
        let script = try makeScript(later: CardPresentation(answerToSelect: hex("05 78 80 70 00")))
        for ats in ["05 72 80 70 02", "05 78 80 70 00"] {
            await script.activateA()
            #expect(await script.send("e0 80") == ats)
            // The card's frame has 32 bytes at first, and then 256.
            let block = Frame([0x12] + [UInt8](repeating: 0, count: 100))
            #expect(await script.exchange(block) == (ats == "05 78 80 70 00" ? "a2" : "timeout"))
            try await script.field.setCarrier(false)
            try await script.field.setCarrier(true)
        }
    }

    @Test func `A card that has got a random UID shows one at its next activation`() async throws {
        let script = try makeScript(later: CardPresentation(usesRandomUID: true))
        await script.activateA()
        #expect(await script.send("e0 80") == "05 72 80 70 02")
        try await script.field.setCarrier(false)
        try await script.field.setCarrier(true)
        _ = await script.exchange(Frame(bits: [0x52], validBitsInLastByte: 7))
        let answer = hex(await script.sendRaw("93 20"))
        #expect(answer.count == 5 && answer.first == 0x08)
    }

    @Test(arguments: [("01", "0a 03 aa 90 00"), ("02 08", "0a 03 aa 90 00"), ("04 68 70 00", "timeout")])
    func `A card has a CID unless its ATS says otherwise`(ats: String, answer: String) async throws {
        let script = try await makeScript(ats: ats, rats: "e0 83")
        #expect(await script.send("0a 03 01") == answer)
    }

    @Test func `A card without CIDs hears plain blocks, whichever CID the reader has given it before the ATS`()
        async throws
    {
        let script = try await makeScript(ats: "05 72 80 70 00", rats: "e0 85")
        #expect(await script.send("02 01") == "02 aa 90 00")
        #expect(await script.send("0b 05 01") == "timeout")
        #expect(await script.send("03 01") == "03 aa 90 00")
        #expect(await script.send("c2") == "c2")
    }

    @Test func `A damaged frame before RATS sends the card back to IDLE`() async throws {
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 78 80 70 02"))
        let script = try LinkScript(.nfcA, VirtualType4Tag(card: makeCard(), frontEnd: frontEnd))
        await script.activateA()
        #expect(await script.sendRaw("e0 80 00 00") == "timeout")
        #expect(await script.send("e0 80") == "timeout")
        await script.activateA()
        #expect(await script.send("e0 80") == "05 78 80 70 02")
    }
}
