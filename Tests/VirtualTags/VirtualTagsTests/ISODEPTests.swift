// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// ISO-DEP on the card's side (ISO/IEC 14443-4), over NFC-A and NFC-B.
struct ISODEPTests {
    /// Answers `01` briefly, `02` with 40 bytes, `03` after 1 s, `04` and `07` with waiting time extensions, `05` with
    /// 300 bytes and `06` with another answer each time.
    private static func card() -> ScriptedCard {
        var card = ScriptedCard(otherwise: CardAnswer([0x6A, 0x81]))
        card.answer(hex("01"), with: hex("aa 90 00"))
        card.answer(hex("02"), with: (0..<40).map { UInt8($0) })
        card.answer(hex("03"), with: hex("bb"), workTime: .milliseconds(1000))
        card.answer(hex("04"), with: hex("cc"), waitingTimeExtensions: [2, 3])
        card.answer(hex("05"), with: [UInt8](repeating: 7, count: 300))
        card.answer(hex("06"), with: hex("11"))
        card.answer(hex("06"), with: hex("22"))
        card.answer(hex("07"), with: hex("cc"), waitingTimeExtensions: [0, 2, 60, 59])
        card.answer((0..<40).map { UInt8($0) }, with: hex("dd"))
        return card
    }

    private static func front(_ ats: String) -> Type4FrontEnd { .nfcA(uid: VirtualType4Tag.defaultUID, ats: hex(ats)) }

    /// A card that is activated; the line is its ATS, and after `/` RATS.
    private func make(_ text: String) async throws -> Stage {
        let sides = text.split(separator: "/").map { $0.trimmingSpaces() }
        let ats = sides.first.flatMap { $0.isEmpty ? nil : $0 } ?? "05 72 80 70 02"
        let tag = VirtualType4Tag(card: Self.card(), frontEnd: Self.front(ats))
        let stage = try Stage(.nfcA, [tag], names: ["ATS": ats, "LONG": hexText(UInt8(0)..<40)])
        if sides.last == "asleep" { return stage }
        try await stage.check("wake; \(sides.count > 1 ? sides[1] : "e0 80") -> ATS")
        return stage
    }

    @Test func `ISO-DEP blocks: numbers, chaining, repeats and refusals follow the rules of ISO 14443-4`() async throws
    {
        let half = (hexText(UInt8(0)..<21), hexText(UInt8(21)..<40))
        try await play(
            """
            == I-blocks alternate their numbers
            02 01 -> 02 aa 90 00; 03 01 -> 03 aa 90 00; 02 01 -> 02 aa 90 00
            == A long answer is chained at the reader's frame size: FSD 24 leaves 21 bytes
            tag 05 72 80 70 02 / e0 10
            02 02 -> 12 \(half.0); a2 -> 12 \(half.0); a3 -> 03 \(half.1); a3 -> 03 \(half.1); a2 -> -
            02 01 -> 02 aa 90 00; a3 -> -; a2 -> 02 aa 90 00
            == R(NAK) with the card's block number repeats the last block
            tag 05 72 80 70 02 / e0 10
            02 02 -> 12 \(half.0); b2 -> 12 \(half.0); b2 -> 12 \(half.0); a3 -> 03 \(half.1); b3 -> 03 \(half.1)
            == R(NAK) with the other block number is acknowledged (presence check)
            b2 -> a3; 02 01 -> 02 aa 90 00; b3 -> a2
            == A chained command is acknowledged block by block
            12 \(hexText(UInt8(0)..<25)) -> a2; 03 \(hexText(UInt8(25)..<40)) -> 03 dd
            == A command in the middle of a chained answer begins again, and joins nothing to it
            tag 05 72 80 70 02 / e0 10
            02 02 -> 12 00 01 ..; 03 01 -> 03 aa 90 00; a2 -> -; 02 02 -> 12 00 01 ..; 13 07 -> a3; b3 -> a3; a2 -> -
            12 08 -> a2; 03 09 -> 03 6a 81; 02 01 -> 02 aa 90 00
            == A block as long as the card's frame is heard, and one that is a byte longer is not
            12 00*29 -> a2; 13 00*30 -> -; 13 00*29 -> a3; 02 00 -> 02 6a 81
            ** Damaged and unknown blocks are not heard, and change nothing
            raw 02 01 00 00 -> -; 02 01 -> 02 aa 90 00
            e2 -> -; 42 -> -; 26 01 -> -; 06 -> -; c3 -> -; f2 -> -; a6 -> -; 02 01 -> 02 aa 90 00
            26' -> -; 50 00 -> -; 52' -> -; 02 01 -> 02 aa 90 00
            tag 05 72 80 70 00
            a2 00 -> -; b2 00 -> -; c2 00 -> -; 82 -> -; 92 -> -; d2 -> -; 22 01 -> -; 0a 00 01 01 -> -; 02 01 -> 02 aa 90 00
            == DESELECT halts the card: REQA does not wake it, WUPA does
            02 06 -> 02 11; 03 06 -> 03 22; c2 -> c2; 26' -> -; wake 52; e0 80 -> ATS; 02 06 -> 02 11; 03 06 -> 03 22
            power; wake; e0 80 -> ATS; 02 06 -> 02 11
            == A loss of power ends a chained command
            02 01 -> 02 aa 90 00; 13 07 -> a3; power; wake; e0 80 -> ATS; 02 01 -> 02 aa 90 00
            """,
            on: make
        )
    }

    @Test func `ISO-DEP time: the card asks by S(WTX) for 1 to 59 times its waiting time, and only if needed`()
        async throws
    {
        try await play(
            """
            == As often as its application does, and the reader's power bits do not count (7.3)
            02 04 -> f2 02; f2 03 -> -; f2 02 -> f2 03; b3 -> a2; b2 -> f2 03; f2 03 -> 02 cc; 03 07 -> f2 02
            f2 c3 -> -; f2 c2 -> f2 3b; f2 3b -> 03 cc; f2 3b -> -
            == By itself, where the work takes longer than FWI 7: 1000 ms are 26 times 38.7 ms
            02 03 -> f2 1a; f2 1a -> 02 bb; work -> ?; b2 -> 02 bb; work -> 0
            == A plain block in place of the granted time is a new command
            02 04 -> f2 02; 03 01 -> 03 aa 90 00; f2 02 -> -; 02 01 -> 02 aa 90 00
            == Blocks of another form do not end the wait
            tag 05 72 80 70 00
            02 07 -> f2 02; f2 02 00 -> -; f2 -> -; a2 00 -> -; 0a 00 01 01 -> -; f2 02 -> f2 3b
            """,
            on: make
        )
        // FWI 7: 4096 · 2⁷ carrier periods. A card that needs exactly that asks for no more.
        let waitingTime = Airtime(carrierPeriods: 4096 << 7)
        for (time, answer) in [(waitingTime, "02 dd"), (waitingTime + Airtime(carrierPeriods: 1), "f2 02")] {
            try await working(time, ats: "05 78 80 70 02").check("02 05 -> \(answer)")
        }
        // FWI 4 is 4.8 ms, FWI 5 is 9.7 ms; a value that is missing or reserved is 4.
        let times: [(String, String)] = [
            ("03 28 f0", "f2 02"), ("01", "f2 02"), ("02 08", "f2 02"), ("03 28 50", "02 dd"),
        ]
        for (ats, answer) in times {
            let stage = try await working(.milliseconds(6), ats: ats)
            try await stage.check("02 05 -> \(answer)" + (answer == "02 dd" ? "" : "; f2 02 -> 02 dd"))
        }
    }

    /// A card that answers `05` after a time.
    private func working(_ time: Airtime, ats: String) async throws -> Stage {
        var card = ScriptedCard()
        card.answer(hex("05"), with: hex("dd"), workTime: time)
        let stage = try Stage(.nfcA, [VirtualType4Tag(card: card, frontEnd: Self.front(ats))])
        try await stage.check("wake; e0 80 -> \(ats)")
        return stage
    }

    @Test(arguments: [0, 1, 38, 39, 76, 78, 200, 1000, 2281, 2283, 5000])
    func `ISO-DEP long work: each answer comes within the granted time, all together take the work's time`(
        milliseconds: Int
    ) async throws {
        let stage = try await working(.milliseconds(Int64(milliseconds)), ats: "05 72 80 70 02")
        var (request, multiple, total, count) = ("02 05", 1, 0, 0)
        _ = try await stage.send("time")
        while count < 100 {
            let answer = try await stage.send(request)
            let time = try #require(Int(try await stage.send("time")))
            #expect(time <= 38_664 * multiple + 2000, "\(request)")
            (total, count) = (total + time, count + 1)
            guard answer.hasPrefix("f2") else { break }
            (request, multiple) = (answer, Int(hex(answer)[1]))
            #expect((1...59).contains(multiple))
        }
        #expect(total >= milliseconds * 1000 && total <= (milliseconds + 2 * count) * 1000)
        #expect(count == 1 || milliseconds > 38)
    }

    @Test func `ISO-DEP activation: RATS, CID, frame size and PPS are those that both sides support`() async throws {
        try await play(
            """
            == With a CID only blocks that carry it are heard, and answers carry it too
            tag 05 72 80 70 02 / e0 85
            02 01 -> -; 0a 04 01 -> -; 0a 05 01 -> 0a 05 aa 90 00; ba 05 -> 0a 05 aa 90 00; ca 05 -> ca 05; wake
            e0 80 -> ATS; d3 11 00 -> -; 0a 05 01 -> -; 02 01 -> 02 aa 90 00
            == A CID takes a byte of each block, and its upper bits are the power level
            tag 05 72 80 70 02 / e0 15
            0a 05 02 -> 1a 05 \(hexText(UInt8(0)..<20)); ab 05 -> 0b 05 \(hexText(UInt8(20)..<40))
            0a 05 04 -> fa 05 02; fa 05 02 -> fa 05 03; fa c5 03 -> 0a 05 cc; ba 06 -> -; ba 05 -> 0a 05 cc
            bb 05 -> aa 05
            == A card without CIDs hears plain blocks, whichever CID it was given
            tag 05 72 80 70 00 / e0 85
            02 01 -> 02 aa 90 00; 0b 05 01 -> -; 03 01 -> 03 aa 90 00; c2 -> c2
            == A short ATS supports CIDs, one with TC only where it says so
            tag 01 / e0 83
            0a 03 01 -> 0a 03 aa 90 00
            tag 02 08 / e0 83
            0a 03 01 -> 0a 03 aa 90 00
            tag 04 68 70 00 / e0 83
            0a 03 01 -> -
            ** RATS has one parameter, and a CID below 15; otherwise the card falls back
            tag 05 72 80 70 02 / asleep
            wake; e0 8f -> -; e0 80 -> -; wake; e0 8e -> ATS
            wake; e0 -> -; e0 80 -> -; wake; e0 80 00 -> -; e0 80 -> -; wake; raw e0 80 00 00 -> -; e0 80 -> -; wake
            == PPS is answered once, right after the ATS, with the card's CID
            tag 05 72 91 70 02 / e0 83
            d3 11 05 -> d3; d3 11 05 -> -; 0a 03 01 -> 0a 03 aa 90 00
            """,
            on: make
        )
        // TA of the ATS, PPS, and whether it is answered (5.3.1).
        let rates = """
            31 d0 11 00 y | 31 d0 11 05 y | 31 d0 11 08 y | 31 d0 11 01 y | 31 d0 11 02 n | 31 d0 11 0c n | 31 d0 01 y
            31 d0 01 00 n | 31 d0 11 n | 31 d0 11 00 00 n | 31 d1 11 00 n | 31 d0 n | b1 d0 11 05 y | b1 d0 11 01 n
            b1 d0 11 04 n | b1 d0 11 00 y | 77 d0 11 0f y | 77 d0 11 06 y | 00 d0 11 05 n | 00 d0 11 00 y
            """
        for row in rates.split(whereSeparator: { "|\n".contains($0) }).map({ $0.trimmingSpaces() }) {
            let answer = row.hasSuffix("y") ? "d0" : "-"
            let step = "\(row.dropFirst(3).dropLast(2)) -> \(answer); d0 11 00 -> -; 02 01 -> 02 aa 90 00"
            try await make("05 72 \(row.prefix(2)) 70 02").check(step, "\(row)")
        }
        let sizes: [(Int, Int)] = [
            (0, 16), (1, 24), (2, 32), (3, 40), (4, 48), (5, 64), (6, 96), (7, 128), (8, 256), (9, 256), (15, 256),
        ]
        for (code, size) in sizes {
            try await make("05 72 80 70 02 / e0 \(hexText([UInt8(code << 4)]))").check("02 05 -> #\(size - 2)")
            let stage = try nfcB()
            let attribute = "1d 01 02 03 04 00 \(hexText([UInt8(0x50 | code)])) 01 00 -> 00"
            try await stage.check("05 00 00 -> ?; \(attribute); 02 05 -> #\(size - 2)", "\(code)")
        }
    }

    // MARK: Presentation

    @Test func `Type 4 random UID: first the given one, a new one after a loss of power, the same in every run`() {
        func tag(_ uid: String, changes: Bool) -> VirtualType4Tag {
            let front = Type4FrontEnd.nfcA(uid: hex(uid), atqa: 0x0045, ats: hex("05 78 80 70 02"))
            return VirtualType4Tag(card: Self.card(), frontEnd: front, changesRandomUID: changes)
        }
        func level(_ tag: VirtualType4Tag) -> String? {
            _ = tag.answer(Frame(bits: [0x26], validBitsInLastByte: 7), injectedFault: nil)
            return (tag.answer(Frame([0x93, 0x20], checksum: .none), injectedFault: nil)?.frame?.bytes).map(hexText)
        }
        var numbers = SplitMix64(identifier: hex("08 01 02 03"))
        let number = numbers.next()
        let own: [UInt8] = [0x08] + (0..<3).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        let rows: [(uid: String, changes: Bool, first: String, second: String)] = [
            ("08 01 02 03", true, "08 01 02 03 08", hexText(own + [own.reduce(0, ^)])),
            ("08 01 02 03", false, "08 01 02 03 08", "08 01 02 03 08"),
            ("04 01 02 03", true, "04 01 02 03 04", "04 01 02 03 04"),
            ("04 01 02 03 04 05 06 07 08 09", true, "88 04 01 02 8f", "88 04 01 02 8f"),
        ]
        for (uid, changes, first, second) in rows {
            let tag = tag(uid, changes: changes)
            #expect(level(tag) == first, "\(uid)")
            tag.losePower()
            #expect(level(tag) == second && tag.identifier == hex(uid), "\(uid)")
        }
    }

    // MARK: NFC-B

    /// A tag of NFC-B with the family 21; the line is the protocol information of its ATQB.
    private func nfcB(_ info: String = "", pupi: String = "01 02 03 04") throws -> Stage {
        let info = info.isEmpty ? "00 81 75" : info
        let front = Type4FrontEnd.nfcB(pupi: hex(pupi), applicationData: hex("21 00 00 00"), protocolInfo: hex(info))
        let names = ["ATQB": "50 01 02 03 04 21 00 00 00 \(info)"]
        return try Stage(.nfcB, [VirtualType4Tag(card: Self.card(), frontEnd: front)], names: names)
    }

    @Test func `NFC-B activation: only valid REQB, WUPB, ATTRIB and HLTB of the tag's family are answered`()
        async throws
    {
        try await play(
            """
            == REQB, ATTRIB and blocks, then DESELECT, after which WUPB alone is heard
            05 00 00 -> ATQB; 1d 01 02 03 05 00 08 01 00 -> -; 1d 01 02 03 04 00 08 01 00 -> 00; b2 -> a3
            02 01 -> 02 aa 90 00; 05 00 00 -> -; c2 -> c2; 05 00 00 -> -; 05 00 08 -> ATQB
            == ATTRIB carries a message of the higher layer and a CID
            05 00 00 -> ATQB; 1d 01 02 03 04 00 08 01 03 01 -> 03 aa 90 00; 0a 03 01 -> 0a 03 aa 90 00
            == A loss of power ends the protocol
            05 00 00 -> ATQB; 1d 01 02 03 04 00 08 01 00 -> 00; power; 02 01 -> -; 05 00 00 -> ATQB
            == HLTB halts the tag until WUPB, also where a request is for others
            05 00 00 -> ATQB; 50 01 02 03 04 -> 00; 05 00 00 -> -; 05 30 08 -> -; 05 00 00 -> -; 05 20 08 -> ATQB
            == A request that is not for the tag takes back the one before it
            05 00 00 -> ATQB; 05 00 05 -> -; 1d 01 02 03 04 00 08 01 00 -> -; 05 00 00 -> ATQB; 05 30 00 -> -
            1d 01 02 03 04 00 08 01 00 -> -
            ** Families: those with a part that is 0 are for more tags
            05 21 00 -> ATQB
            05 20 00 -> ATQB
            05 01 00 -> ATQB
            05 22 00 -> -; 05 30 00 -> -; 05 02 00 -> -
            tag 00 81 71
            05 21 00 -> -; 05 00 00 -> ATQB
            tag 00 81 79
            05 21 00 -> -; 05 00 00 -> ATQB
            tag 00 81 7d
            05 21 00 -> -; 05 00 00 -> ATQB
            == A tag without CIDs says so in ATTRIB, and takes none
            tag 00 81 70
            05 00 00 -> ATQB; 1d 01 02 03 04 00 08 01 05 -> 00; 0a 05 01 -> -; 02 01 -> 02 aa 90 00
            ** A frame is as long as the ATQB says
            tag 00 01 75
            05 00 00 -> ATQB; 1d 01 02 03 04 00 08 01 00 -> 00; 12 00*14 -> -; 12 00*13 -> a2
            tag 00 21 75
            05 00 00 -> ATQB; 1d 01 02 03 04 00 08 01 00 -> 00; 12 00*30 -> -; 12 00*29 -> a2
            tag 00 f1 75
            05 00 00 -> ATQB; 1d 01 02 03 04 00 08 01 00 -> 00; 12 00*254 -> -; 12 00*253 -> a2
            """
        ) { try nfcB($0) }
        // Frames that are no request, and those that are neither ATTRIB nor HLTB.
        let requests = """
            05 00 | 05 00 00 00 | 05 00 05 | 05 00 07 | 06 00 00 | 15 | 1d 01 02 03 04 00 08 01 00 | 50 01 02 03 04
            raw 05 00 00 00 00
            """
        for request in requests.split(whereSeparator: { "|\n".contains($0) }) {
            try await nfcB().check("\(request) -> -; 05 00 00 -> ATQB", "\(request)")
        }
        let commands = """
            1d 01 02 03 04 00 08 01 | 1d 01 02 03 04 00 08 01 0f | 1d 01 02 03 05 00 08 01 00 | 50 01 02 03
            1e 01 02 03 04 00 08 01 00 | 50 01 02 03 04 00 | 50 01 02 03 05 | 15
            """
        for command in commands.split(whereSeparator: { "|\n".contains($0) }) {
            let step = "05 00 00 -> ATQB; \(command) -> -; 1d 01 02 03 04 00 08 01 0e -> 0e; 0a 0e 01 -> 0a 0e aa 90 00"
            try await nfcB().check(step, "\(command)")
        }
    }

    @Test func `NFC-B slots: each tag answers once in its own, and two in one collide`() async throws {
        func tag(_ pupi: String) -> VirtualType4Tag {
            VirtualType4Tag(card: Self.card(), frontEnd: .nfcB(pupi: hex(pupi), protocolInfo: hex("00 81 75")))
        }
        let script = try LinkScript(.nfcB, tag("01 02 03 04"), tag("f1 f2 f3 f4"))
        #expect(await script.send("05 00 00") == "collision")
        var found: Set<String> = []
        for _ in 0..<8 {
            var answers = [await script.send("05 00 04")]
            for slot in 1..<16 { answers.append(await script.send(hexText([UInt8(slot << 4 | 5)]))) }
            #expect(answers.filter { $0.hasPrefix("50") || $0 == "collision" }.count <= 2)
            for answer in answers where answer.hasPrefix("50") { found.insert(String(answer.prefix(14))) }
            // A slot is answered once.
            for slot in 1..<16 { #expect(await script.send(hexText([UInt8(slot << 4 | 5)])) == "timeout") }
        }
        #expect(found == ["50 01 02 03 04", "50 f1 f2 f3 f4"])
    }
}
