// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Activation of NFC-B tags` {
    private func makeTag(_ pupi: String = "01 02 03 04", data: String = "00 00 00 00") -> VirtualType4Tag {
        VirtualType4Tag(
            card: ScriptedCard([(hex("01"), hex("90 00"))]),
            frontEnd: .nfcB(pupi: hex(pupi), applicationData: hex(data), protocolInfo: hex("00 81 75"))
        )
    }

    @Test func `REQB, ATTRIB and blocks, then DESELECT`() async throws {
        let script = try LinkScript(.nfcB, makeTag())
        #expect(await script.send("05 00 00") == "50 01 02 03 04 00 00 00 00 00 81 75")
        #expect(await script.send("1d 01 02 03 05 00 08 01 00") == "timeout")
        #expect(await script.send("1d 01 02 03 04 00 08 01 00") == "00")
        #expect(await script.send("02 01") == "02 90 00")
        #expect(await script.send("05 00 00") == "timeout")
        #expect(await script.send("c2") == "c2")
        #expect(await script.send("05 00 00") == "timeout")
        #expect(await script.send("05 00 08") == "50 01 02 03 04 00 00 00 00 00 81 75")
    }

    @Test func `ATTRIB carries a message of the higher layer and a CID`() async throws {
        let script = try LinkScript(.nfcB, makeTag())
        _ = await script.send("05 00 00")
        #expect(await script.send("1d 01 02 03 04 00 08 01 03 01") == "03 90 00")
        #expect(await script.send("0a 03 01") == "0a 03 90 00")
    }

    @Test func `HLTB halts a tag until WUPB`() async throws {
        let script = try LinkScript(.nfcB, makeTag())
        _ = await script.send("05 00 00")
        #expect(await script.send("50 01 02 03 04") == "00")
        #expect(await script.send("05 00 00") == "timeout")
        #expect(await script.send("05 00 08").hasPrefix("50"))
    }

    @Test func `A request for a family is answered by tags of that family`() async throws {
        let script = try LinkScript(.nfcB, makeTag(data: "21 00 00 00"))
        for (family, isMeant) in [
            ("21", true), ("20", true), ("01", true), ("22", false), ("30", false), ("02", false),
        ] {
            #expect(await script.send("05 \(family) 00").hasPrefix("50") == isMeant, "\(family)")
        }
    }

    @Test func `Two tags collide in one slot and part in sixteen`() async throws {
        let script = try LinkScript(.nfcB, makeTag(), makeTag("f1 f2 f3 f4"))
        #expect(await script.send("05 00 00") == "collision")
        var found: Set<String> = []
        for _ in 0..<4 where found.count < 2 {
            var answers = [await script.send("05 00 04")]
            for slot in 1..<16 {
                answers.append(await script.send(hexText([UInt8(slot << 4 | 5)])))
            }
            for answer in answers where answer.hasPrefix("50") { found.insert(String(answer.prefix(14))) }
        }
        #expect(found == ["50 01 02 03 04", "50 f1 f2 f3 f4"])
    }

    @Test func `Frames with a wrong checksum are not heard`() async throws {
        let script = try LinkScript(.nfcB, makeTag())
        #expect(await script.sendRaw("05 00 00 00 00") == "timeout")
    }
}
