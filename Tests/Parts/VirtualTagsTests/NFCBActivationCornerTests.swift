// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Checks a tag of NFC-B in front of an odd reader (ISO/IEC 14443-3, 7).
@Suite struct `Activation of NFC-B tags by an odd reader` {
    private static let atqb = "50 01 02 03 04 21 00 00 00 00 81 75"

    private func makeScript(info: String = "00 81 75") throws -> LinkScript {
        var card = ScriptedCard([(hex("01"), hex("90 00"))])
        card.answer(hex("02"), with: [UInt8](repeating: 7, count: 300))
        return try LinkScript(
            .nfcB,
            VirtualType4Tag(
                card: card,
                frontEnd: .nfcB(pupi: hex("01 02 03 04"), applicationData: hex("21 00 00 00"), protocolInfo: hex(info))
            )
        )
    }

    @Test(arguments: [
        "05 00", "05 00 00 00", "05 00 05", "05 00 07", "06 00 00", "15", "1d 01 02 03 04 00 08 01 00",
        "50 01 02 03 04",
    ]) func `What is no request is not answered`(frame: String) async throws {
        let script = try makeScript()
        #expect(await script.send(frame) == "timeout")
        #expect(await script.send("05 00 00") == Self.atqb)
    }

    @Test(arguments: [
        "1d 01 02 03 04 00 08 01", "1d 01 02 03 04 00 08 01 0f", "1d 01 02 03 05 00 08 01 00",
        "1e 01 02 03 04 00 08 01 00",
        "50 01 02 03", "50 01 02 03 04 00", "50 01 02 03 05", "15",
    ]) func `What is no ATTRIB or HLTB leaves the tag as it is`(frame: String) async throws {
        let script = try makeScript()
        #expect(await script.send("05 00 00") == Self.atqb)
        #expect(await script.send(frame) == "timeout")
        #expect(await script.send("1d 01 02 03 04 00 08 01 0e") == "0e")
        #expect(await script.send("0a 0e 01") == "0a 0e 90 00")
    }

    @Test func `A request that is not for the tag takes back the one before it`() async throws {
        let script = try makeScript()
        for request in ["05 00 05", "05 30 00"] {
            #expect(await script.send("05 00 00") == Self.atqb)
            #expect(await script.send(request) == "timeout")
            #expect(await script.send("1d 01 02 03 04 00 08 01 00") == "timeout")
        }
        // A tag that is halted stays so.
        #expect(await script.send("05 00 00") == Self.atqb)
        #expect(await script.send("50 01 02 03 04") == "00")
        #expect(await script.send("05 30 08") == "timeout")
        #expect(await script.send("05 00 00") == "timeout")
        #expect(await script.send("05 20 08") == Self.atqb)
    }

    @Test(arguments: [("00 81 75", true), ("00 81 71", false), ("00 81 79", false), ("00 81 7d", false)])
    func `A family is known of tags whose application data has it`(info: String, isKnown: Bool) async throws {
        let script = try makeScript(info: info)
        #expect(await script.send("05 21 00").hasPrefix("50") == isKnown)
        #expect(await script.send("05 00 00").hasPrefix("50"))
    }

    @Test func `A slot is answered once, and only in its turn`() async throws {
        let script = try makeScript()
        for _ in 0..<8 {
            var slots: [Int] = []
            if await script.send("05 00 04").hasPrefix("50") { slots.append(1) }
            for round in 0..<2 {
                for slot in 1..<16 where await script.send(hexText([UInt8(slot << 4 | 5)])).hasPrefix("50") {
                    slots.append(slot + 1 + 100 * round)
                }
            }
            #expect(slots.count == 1 && slots.allSatisfy { (1...16).contains($0) })
        }
    }

    @Test(
        arguments: [0: 16, 1: 24, 2: 32, 3: 40, 4: 48, 5: 64, 6: 96, 7: 128, 8: 256, 9: 256, 15: 256].sorted { $0 < $1 }
    )
    func `ATTRIB names the reader's frame size, whatever its bit rates`(code: Int, size: Int) async throws {
        let script = try makeScript()
        _ = await script.send("05 00 00")
        #expect(await script.send("1d 01 02 03 04 00 \(hexText([0x50 | UInt8(code)])) 01 00") == "00")
        #expect(hex(await script.send("02 02")).count == size - 2)
    }

    @Test func `A tag whose ATQB has no CID says so to a reader that gives it one, and hears plain blocks`()
        async throws
    {
        let script = try makeScript(info: "00 81 70")
        _ = await script.send("05 00 00")
        #expect(await script.send("1d 01 02 03 04 00 08 01 05") == "00")
        #expect(await script.send("0a 05 01") == "timeout")
        #expect(await script.send("02 01") == "02 90 00")
    }

    @Test func `A tag whose ATQB has no CID takes none`() async throws {
        let script = try makeScript(info: "00 81 70")
        _ = await script.send("05 00 00")
        #expect(await script.send("1d 01 02 03 04 00 08 01 00") == "00")
        #expect(await script.send("0a 00 01") == "timeout")
        #expect(await script.send("02 01") == "02 90 00")
    }

    @Test(arguments: [("00 01 75", 16), ("00 21 75", 32), ("00 81 75", 256), ("00 f1 75", 256)])
    func `A frame is as long as the ATQB says`(info: String, size: Int) async throws {
        let script = try makeScript(info: info)
        _ = await script.send("05 00 00")
        _ = await script.send("1d 01 02 03 04 00 08 01 00")
        #expect(await script.exchange(Frame([0x12] + [UInt8](repeating: 0, count: size - 2))) == "timeout")
        #expect(await script.exchange(Frame([0x12] + [UInt8](repeating: 0, count: size - 3))) == "a2")
    }
}
