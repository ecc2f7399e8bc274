// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// The start of ISO-DEP: RATS and ATTRIB, and their parameters (ISO/IEC 14443-4, 5; 14443-3, 7.10).
@Suite struct `ISO-DEP, its opening` {
    private static let waiting = ISODEPParameters.frameWaitingTime(index: 7)
    private static let usual = waiting + ISODEPParameters.waitingTolerance
    private static let start = ScriptedLink.Step.exchange("e080", "0578807002")

    @Test func `RATS is sent twice before a card is given up, and an error of the reader at once`() async throws {
        let activation = Airtime(carrierPeriods: 71680)
        for code: LinkError.Code in [.timeout, .transmission, .collision] {
            let link = ScriptedLink([.exchange("e080", code).within(activation), Self.start.within(activation)])
            try await ISODEP(link: link).activate()
            #expect(link.remaining == 0)
            let lost = ScriptedLink([.exchange("e080", code), .exchange("e080", code)])
            let card = ISODEP(link: lost)
            for _ in 0..<2 { await #expect(throws: LinkError(code, "")) { try await card.activate() } }
            #expect(await !card.isPresent() && lost.remaining == 0)
        }
        let gone = ScriptedLink([.exchange("e080", .tagRemoved)])
        await #expect(throws: LinkError(.tagRemoved, "")) { try await ISODEP(link: gone).activate() }
        let odd = ScriptedLink([.exchange("e080", "05")])
        await #expect(throws: LinkError(.protocolViolation, "")) { try await ISODEP(link: odd).activate() }
    }

    @Test(arguments: [
        (256, "e080", 256), (255, "e070", 128), (128, "e070", 128), (100, "e060", 96), (64, "e050", 64),
        (48, "e040", 48), (40, "e030", 40), (32, "e020", 32), (24, "e010", 24), (16, "e000", 16), (10, "e000", 16),
    ])
    func `RATS says how long frames the reader takes`(_ limit: Int, _ rats: String, _ size: Int) async throws {
        let link = ScriptedLink([.exchange(rats, "0578807002")], maximumFrameLength: limit)
        let card = ISODEP(link: link)
        try await card.activate()
        try await card.activate()
        #expect(card.parameters.readerFrameSize == size && card.singleBlockResponseLength == size - 3)
        // Frames to the card are no longer than the link takes either.
        #expect(card.parameters.cardFrameSize == max(16, min(256, limit)))
    }

    @Test func `Frame sizes and waiting times are those of the standard's tables`() {
        #expect(
            (0...15).map { ISODEPParameters.frameSize(index: $0) } == [16, 24, 32, 40, 48, 64, 96, 128]
                + [Int](repeating: 256, count: 8)
        )
        for index: UInt8 in 0...14 {
            #expect(ISODEPParameters.frameWaitingTime(index: index).carrierPeriods == 4096 << Int64(index))
        }
        #expect(ISODEPParameters.frameWaitingTime(index: 15).carrierPeriods == 4096 << 4)
        let parameters = ISODEPParameters(cardFrameSize: 3, readerFrameSize: 3, cid: 1)
        #expect(parameters.cardFrameSize == 16 && parameters.commandPayload == 12 && parameters.responsePayload == 12)
        #expect(ISODEPParameters().commandPayload == 29 && ISODEPParameters().responsePayload == 253)
        #expect(
            ISODEPParameters(frameWaitingTime: .milliseconds(900)).presenceWaitingTime == .milliseconds(20)
                + ISODEPParameters.waitingTolerance
        )
        #expect(
            ISODEPParameters(frameWaitingTime: .milliseconds(2)).presenceWaitingTime == .milliseconds(2)
                + ISODEPParameters.waitingTolerance
        )
    }

    @Test func `An ATS has its interface bytes in any combination`() throws {
        for present in 0..<8 {
            let flags = UInt8(present << 4)
            let bytes: [UInt8] = [0x93, 0xA4, 0x02].enumerated().filter { present & 1 << $0.offset != 0 }.map(
                \.element
            )
            let answer = try AnswerToSelect([UInt8(3 + bytes.count), flags | 5] + bytes + [0x77])
            #expect(answer.frameSizeIndex == 5 && answer.historicalBytes == [0x77])
            #expect(answer.bitRates == (present & 1 == 0 ? 0 : 0x93))
            #expect(answer.frameWaitingIndex == (present & 2 == 0 ? 4 : 0xA))
            #expect(answer.startUpGuardIndex == (present & 2 == 0 ? 0 : 4) && answer.supportsCID)
            #expect(answer.bytes.count == 3 + bytes.count)
        }
        #expect(try AnswerToSelect([3, 0x20, 0x7F]).startUpGuardIndex == 0)
        #expect(try AnswerToSelect([3, 0x20, 0x70]).startUpGuardTime == .zero)
        #expect(try AnswerToSelect([3, 0x20, 0x7E]).startUpGuardTime == ISODEPParameters.frameWaitingTime(index: 14))
        #expect(try !AnswerToSelect([3, 0x40, 0x01]).supportsCID)
        let rates = try AnswerToSelect([3, 0x10, 0x35])
        #expect(ISODEP.BitRate.allCases.map { $0.isSupported(by: rates) } == [true, true, false, false])
        let slow = try AnswerToSelect([3, 0x10, 0x00])
        #expect(ISODEP.BitRate.allCases.map { $0.isSupported(by: slow) } == [true, false, false, false])
    }

    // MARK: NFC-B

    private static func typeB(_ protocolInfo: String = "008171") throws -> NFCBTarget {
        try NFCBTarget(bytes("50 11223344 00000000" + protocolInfo))
    }

    @Test func `ATTRIB has the reader's frame size and the card's identifier, and waits the card's time`() async throws
    {
        for (limit, request) in [(256, "1d 11223344 00 08 01 00"), (64, "1d 11223344 00 05 01 00")] {
            let link = ScriptedLink(
                [.exchange(request, "00").within(Self.usual)],
                technology: .nfcB,
                maximumFrameLength: limit
            )
            let card = ISODEP(link: link, opening: .attribute(try Self.typeB()))
            try await card.activate()
            #expect(card.parameters.cardFrameSize == limit && card.parameters.frameWaitingTime == Self.waiting)
        }
        let answered = ScriptedLink(
            [.exchange("1d 11223344 00 08 01 03", .timeout), .exchange("1d 11223344 00 08 01 03", "f3 01")],
            technology: .nfcB
        )
        try await ISODEP(link: answered, opening: .attribute(try Self.typeB()), cid: 3).activate()
        #expect(answered.remaining == 0)
        for (cid, answer): (UInt8?, String) in [(nil, "01"), (3, "02"), (3, "00"), (nil, "")] {
            let request = "1d 11223344 00 08 01 0" + String(cid ?? 0)
            let link = ScriptedLink([.exchange(request, answer)], technology: .nfcB)
            let card = ISODEP(link: link, opening: .attribute(try Self.typeB()), cid: cid)
            await #expect(throws: LinkError(.protocolViolation, "")) { try await card.activate() }
        }
    }

    @Test func `A card of NFC-B without ISO-DEP, or without CIDs where one is asked for, gets no ATTRIB`() async throws
    {
        for (info, cid): (String, UInt8?) in [("008071", nil), ("008170", 1)] {
            let card = ISODEP(
                link: ScriptedLink([], technology: .nfcB),
                opening: .attribute(try Self.typeB(info)),
                cid: cid
            )
            await #expect(throws: LinkError(.unsupported, "")) { try await card.activate() }
        }
    }
}
