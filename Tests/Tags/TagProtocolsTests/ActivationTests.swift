// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// Finding tags of NFC-B (ISO/IEC 14443-3, 7), NFC-F (JIS X 6319-4) and NFC-V (ISO/IEC 15693-3): exact exchanges.
struct ActivationTests {
    // MARK: NFC-B

    /// `cards FAMILY LIMIT` and `wake-cards` list the first bytes of the cards' identifiers.
    private static func checkB(_ script: String, _ place: SourceLocation = #_sourceLocation) async {
        let link = ScriptedLink(.nfcB)
        let activation = NFCBActivation(link: link)
        await Script(script).run(on: link, place) { call in
            guard call.name != "halt" else {
                try await activation.halt(NFCBTarget(bytes(Self.atqb(1))))
                return "ok"
            }
            let found = try await activation.findAll(
                applicationFamily: call.bytes(0)[0],
                waking: call.name == "wake-cards",
                limit: call.arguments.count > 1 ? call.number(1) : 16
            )
            return found.map { "\($0.identifier[0])" }.joined(separator: " ")
        }
    }

    private static func atqb(_ identifier: UInt8) -> String { "50" + hex([identifier, 2, 3, 4]) + "00000000 008171" }

    @Test func `NFC-B: cards are asked for by their family, awake or asleep, in more slots while they collide`() async {
        await Self.checkB("cards 25: 1; > 052500 < \(Self.atqb(1))")
        await Self.checkB("wake-cards 00: 1; > 050008 < \(Self.atqb(1))")
        await Self.checkB("cards 00: -; > 050000 < silence")
        await Self.checkB("wake-cards 25: 1 2; > 052508 < noise; > 052509 < \(Self.atqb(1)); > 15 < \(Self.atqb(2))")
        let start = "> 050000 < collision; > 050001 < 5001; > 15 < \(Self.atqb(2))\n"
        await Self.checkB(
            "cards 00: 2 3; \(start)> 050002 < \(Self.atqb(2)); > 15 < silence; > 25 < \(Self.atqb(3)); > 35 < silence"
        )
        await Self.checkB("cards 00 1: 2\n\(start)")
        // Sixteen slots are tried three times.
        let all = (0..<7).flatMap { round -> [String] in
            let slots = min(4, round)
            return (0..<1 << slots).map { slot in
                "> " + (slot == 0 ? "05000\(slots)" : hex([UInt8(slot) << 4 | 5])) + " < collision"
            }
        }
        await Self.checkB("cards 00: -\n\(all.joined(separator: "\n"))")
        await Self.checkB("cards 00: cancelled; > 050000 < cancelled")
        await Self.checkB("cards 00: reader-unavailable; > 050000 < collision; > 050001 < unavailable")
    }

    @Test func `NFC-B HLTB: the answer is 00`() async {
        for (answer, result) in [("00", "ok"), ("01", "bad-answer"), ("0000", "bad-answer"), ("silence", "tag-lost")] {
            await Self.checkB("halt: \(result); > 50 01020304 < \(answer)")
        }
    }

    @Test func `NFC-B ATQB: its protocol information has the card's limits`() throws {
        func text(_ info: String) throws -> String {
            let target = try NFCBTarget(bytes("50 11223344 a1a2a3a4" + info))
            #expect(target.identifier == bytes("11223344") && target.applicationData == bytes("a1a2a3a4"))
            let time = target.frameWaitingTime.carrierPeriods / 4096
            return
                "\(target.isISODEP) \(target.supportsCID) \(target.hasProprietaryApplicationData) \(target.maximumFrameSize) \(time)"
        }
        #expect(try text("00 01 4f") == "true true false 16 16")
        #expect(try text("00 70 e2 80") == "false false true 128 16384")
        #expect(try text("00 81 71") == "true true true 256 128")
        for info in ["00 01 44", "00 01 48"] { #expect(try text(info).contains("false 16 16")) }
    }

    // MARK: NFC-F

    private static let card = "01 0102030405060708 00f1000000014300"

    /// `poll SYSTEM REQUEST SLOTS` lists the cards: the end of the IDm, the system and the requested data.
    private static func checkF(_ script: String, slots: Int64 = 0, _ place: SourceLocation = #_sourceLocation) async {
        let link = ScriptedLink(.nfcF)
        let time = Airtime(carrierPeriods: (512 + 256 * (slots + 1)) * 64) + .milliseconds(1)
        await Script(script.replacing("CARD", with: card), times: ["slots": time]).run(on: link, place) { call in
            let found = try await NFCFPolling(link: link).poll(
                systemCode: UInt16(call.arguments[0], radix: 16) ?? 0,
                request: .init(rawValue: UInt8(call.number(1))) ?? .none,
                timeSlots: UInt8(call.number(2))
            )
            return found.map {
                hex($0.target.idm.suffix(1)) + ":" + ($0.target.systemCode.map { String($0, radix: 16) } ?? "nil") + ":"
                    + ($0.requestData.map { hex($0) } ?? "nil")
            }.joined(separator: " ")
        }
    }

    @Test func `NFC-F polling: the system, the request and the slots are sent, and all slots are waited for`() async {
        for (call, slots, request) in [
            ("poll 12fc 1 0", 0, "060012fc0100"), ("poll 12fc 0 3", 3, "060012fc0003"),
            ("poll 12fc 2 15", 15, "060012fc020f"),
        ] { await Self.checkF("\(call): 08:12fc:nil; > \(request) < +CARD @slots", slots: Int64(slots)) }
        // A wildcard in either half of a system code is no system, unless the card names one.
        for (polled, request, data, system) in [
            ("ffff", 1, "", "nil"), ("12ff", 1, "", "nil"), ("fffc", 1, "", "nil"), ("12fc", 1, "", "12fc"),
            ("ffff", 1, "88b4", "88b4"), ("12fc", 1, "88b4", "88b4"), ("ffff", 2, "0083", "nil"),
        ] {
            let result = "08:\(system):\(data.isEmpty ? "nil" : data)"
            await Self.checkF("poll \(polled) \(request) 0: \(result); > 0600\(polled)0\(request)00 < +CARD \(data)")
        }
    }

    @Test func `NFC-F polling: one card in two slots is one card, silence is none, another form is badAnswer`() async {
        let other = "12 01 02fe0011223344aa 00f1000000014300"
        for (answer, result) in [
            ("14 CARD 88b4 \(other)", "08:88b4:88b4 aa:nil:nil"), ("12 CARD 12 CARD", "08:nil:nil"), ("silence", "-"),
            ("cancelled", "cancelled"), ("13 CARD 00", "bad-answer"), ("1401", "bad-answer"), ("13", "bad-answer"),
            ("00", "bad-answer"), ("12 02 0102030405060708 00f1000000014300", "bad-answer"),
            ("12 CARD 05", "bad-answer"),
        ] { await Self.checkF("poll ffff 1 3: \(result); > 0600ffff0103 < \(answer)") }
    }

    /// The failures, the slots of the first request, and whether a further request finds the card.
    @Test(arguments: [
        ("noise", 0, true), ("noise noise", 0, true), ("noise silence", 0, false), ("noise noise noise", 0, false),
        // In the only slot cards would collide again.
        ("collision", 0, false), ("collision collision", 3, true), ("collision collision collision", 3, false),
        ("noise collision", 3, true),
    ]) func `NFC-F polling: an answer that can't be read is asked for again, in the most slots`(
        failures: String,
        slots: Int,
        isFound: Bool
    ) async {
        var requests = failures.split(separator: " ").enumerated().map {
            "> 0600ffff01" + hex([UInt8($0.offset > 0 && slots > 0 ? 15 : slots)]) + " < \($0.element)"
        }
        if isFound { requests.append("> 0600ffff01" + hex([UInt8(slots > 0 ? 15 : 0)]) + " < +CARD") }
        await Self.checkF("poll ffff 1 \(slots): \(isFound ? "08:nil:nil" : "-")\n\(requests.joined(separator: "\n"))")
    }

    // MARK: NFC-V

    /// `tags FAMILY LIMIT` lists the last byte of the UID and the DSFID; `-` is no family. UID stands for one that ends in 33.
    private static func checkV(_ script: String, _ place: SourceLocation = #_sourceLocation) async {
        let link = ScriptedLink(.nfcV)
        await Script(script.replacing("UID", with: "33221100082402e0")).run(on: link, place) { call in
            let found = try await NFCVInventory(link: link).findAll(
                applicationFamily: call.bytes(0).first,
                limit: call.arguments.count > 1 ? call.number(1) : 16
            )
            return found.map { hex([$0.uid[7], $0.dsfid]) }.joined(separator: " ")
        }
    }

    private static func empty(_ count: Int) -> String { "\(count)x > eof < silence\n" }

    @Test func `NFC-V inventory: one slot for a tag alone, with its family if one is asked for`() async throws {
        await Self.checkV("tags -: 3305; > 260100 < 00 05UID")
        await Self.checkV("tags 07: 3305; > 36010700 < 00 05UID")
        await Self.checkV("tags -: -; > 260100 < silence")
        let link = ScriptedLink(.nfcV, exchanges: "> 260100 < 00 05 33221100082402e0")
        #expect(try await NFCVInventory(link: link).findAll() == [NFCVTarget(uid: bytes("e002240800112233"), dsfid: 5)])
        #expect(abs(link.statistics.airtime.microseconds - 6180) < 5)
    }

    @Test func `NFC-V inventory: tags that collide are separated by slots and longer masks`() async {
        await Self.checkV("tags 07: 3305; > 36010700 < collision; > 16010700 < 00 05UID; \(Self.empty(15))")
        // Two UIDs that end in 33 and 43, and one in 35 whose answer in a slot has its checksum.
        let third = bytes("0000 3522110008 2402e0")
        let checked = hex(third + Technology.nfcV.checksum(third))
        await Self.checkV(
            """
            tags -: 3500 3300 4300
            > 260100 < collision; > 060100 < silence
            \(Self.empty(2))> eof < collision
            > eof < silence
            > eof < ~\(checked)
            \(Self.empty(10))> 06010403 < silence
            \(Self.empty(2))> eof < ~0000UID
            > eof < ~0000 4322110008 2402e0
            \(Self.empty(11))
            """
        )
        // The later bits of a mask are in the upper half of its bytes.
        await Self.checkV(
            """
            tags -: 3300
            > 260100 < collision; > 060100 < silence
            \(Self.empty(2))> eof < noise
            \(Self.empty(12))> 06010403 < silence
            \(Self.empty(4))> eof < noise
            \(Self.empty(10))> 06010853 < collision
            \(Self.empty(15))> 06010c5300 < 00 00UID
            \(Self.empty(15))
            """
        )
        await Self.checkV("tags - 1: 3300; > 260100 < collision; > 060100 < 00 00UID")
        // One tag in two slots is one.
        await Self.checkV(
            "tags -: 3305 3405; > 260100 < collision; > 060100 < 00 05UID; > eof < 00 05UID; > eof < 00 05 3422110008 2402e0; \(Self.empty(13))"
        )
        // Tags that always collide, down to the end of a UID.
        let link = EndlessLink(.nfcV, failure: .collision) { _, _ in nil }
        #expect(await errorCode { _ = try await NFCVInventory(link: link).findAll() } == .badAnswer)
    }

    @Test func `NFC-V inventory: a damaged answer is asked for three times, then the slots are opened`() async {
        for damage in ["noise", "00 05UID00", "01 0f", "empty"] {
            await Self.checkV("tags -: 3305; 2x > 260100 < \(damage); > 260100 < 00 05UID")
            await Self.checkV("tags -: 3305; 3x > 260100 < \(damage); > 060100 < 00 05UID; \(Self.empty(15))")
        }
        await Self.checkV("tags -: cancelled; > 260100 < cancelled")
        await Self.checkV("tags -: reader-unavailable; > 260100 < collision; > 060100 < silence; > eof < unavailable")
    }
}
