// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `ISO-DEP` {
    /// RATS with 256 bytes, and an ATS of a card with 256 bytes and FWI 7.
    static let start = ScriptedLink.Step.exchange("e080", "0578807002")

    func card(_ steps: [ScriptedLink.Step], start: ScriptedLink.Step = start, cid: UInt8? = nil) -> ISODEP {
        ISODEP(link: ScriptedLink([start] + steps), cid: cid)
    }

    func remaining(_ card: ISODEP) -> Int? { (card.link as? ScriptedLink)?.remaining }

    @Test func `An ATS is read with its interface and historical bytes`() throws {
        let answer = try AnswerToSelect(bytes("067577810280"))
        #expect(answer.frameSizeIndex == 5)
        #expect(answer.bitRates == 0x77)
        #expect(answer.frameWaitingIndex == 8)
        #expect(answer.startUpGuardIndex == 1)
        #expect(answer.startUpGuardTime == Airtime(carrierPeriods: 8192))
        #expect(answer.supportsCID)
        #expect(answer.historicalBytes == [0x80])
        #expect(ISODEP.BitRate.kbit848.isSupported(by: answer))
        let short = try AnswerToSelect([1])
        #expect(short.frameSizeIndex == 2)
        #expect(short.frameWaitingIndex == 4)
        #expect(try AnswerToSelect(bytes("0200")).historicalBytes.isEmpty)
        #expect(try AnswerToSelect(bytes("0400c1c2")).historicalBytes == [0xC1, 0xC2])
        for wrong in ["", "00", "05", "0578", "02", "0470", "0578807002ff"] {
            #expect(throws: TagError(.badAnswer, "")) { try AnswerToSelect(bytes(wrong)) }
        }
    }

    @Test func `Block numbers toggle with every command`() async throws {
        let card = card([
            .exchange("02 00a4", "02 9000"), .exchange("03 00b0", "03 019000"), .exchange("02 00b1", "02 9000"),
        ])
        #expect(try await card.transmit(bytes("00a4")) == bytes("9000"))
        #expect(try await card.transmit(bytes("00b0")) == bytes("019000"))
        #expect(try await card.transmit(bytes("00b1")) == bytes("9000"))
        #expect(card.parameters.cardFrameSize == 256)
        #expect(card.parameters.frameWaitingTime == Airtime(carrierPeriods: 4096 << 7))
        #expect(remaining(card) == 0)
    }

    @Test func `A long command is chained, and a chained response is acknowledged`() async throws {
        // FSCI 0: 16 bytes a frame, 13 of payload.
        let command = [UInt8](0..<30)
        let card = card(
            [
                .exchange("12" + hex(0..<13), "a2"), .exchange("13" + hex(13..<26), "a3"),
                .exchange("02" + hex(26..<30), "12 aabb"), .exchange("a3", "13 cc"), .exchange("a2", "02 9000"),
                .exchange("03 01", "03 02"),
            ],
            start: .exchange("e080", "0200")
        )
        #expect(try await card.transmit(command) == bytes("aabbcc9000"))
        #expect(try await card.transmit([1]) == [2])
        #expect(remaining(card) == 0)
    }

    @Test func `Blocks have a CID where one was asked for`() async throws {
        let start = ScriptedLink.Step.exchange("e085", "0578807002")
        let card = card(
            [
                .exchange("0a05 00a4", "1a05 01"), .exchange("ab05", "0b05 9000"), .exchange("ba05", "ab05"),
                .exchange("0a05 01", "fa05 01"), .exchange("fa05 01", "0a05 02"), .exchange("ca05", "ca05"),
            ],
            start: start,
            cid: 5
        )
        #expect(try await card.transmit(bytes("00a4")) == bytes("019000"))
        #expect(await card.isPresent())
        #expect(try await card.transmit([1]) == [2])
        try await card.deselect()
        #expect(remaining(card) == 0)
        let none = self.card([], start: .exchange("e085", "0578807000"), cid: 5)
        await #expect(throws: LinkError(.unsupported, "")) { try await none.activate() }
    }

    @Test func `A lost or damaged response is asked for with R(NAK)`() async throws {
        for failure in [LinkError.Code.timeout, .transmission] {
            let card = card([
                .exchange("02 00a4", failure), .exchange("b2", failure), .exchange("b2", "02 9000"),
                .exchange("03 01", "03 02"),
            ])
            #expect(try await card.transmit(bytes("00a4")) == bytes("9000"))
            #expect(try await card.transmit([1]) == [2])
        }
    }

    @Test func `A command that did not arrive is sent again after R(ACK)`() async throws {
        let card = card([
            .exchange("02 00a4", .timeout), .exchange("b2", "a3"), .exchange("02 00a4", "02 9000"),
        ])
        #expect(try await card.transmit(bytes("00a4")) == bytes("9000"))
    }

    @Test func `A lost block of a chained response is asked for with R(ACK)`() async throws {
        let card = card([
            .exchange("02 00a4", "12 01"), .exchange("a3", .timeout), .exchange("a3", "03 9000"),
        ])
        #expect(try await card.transmit(bytes("00a4")) == bytes("019000"))
    }

    @Test func `More time is granted, and counted`() async throws {
        let card = card([
            .exchange("02 00a4", "f2 01"), .exchange("f2 01", "f2 3b"), .exchange("f2 3b", .timeout),
            .exchange("b2", "f2 02"), .exchange("f2 02", "02 9000"),
        ])
        #expect(try await card.transmit(bytes("00a4")) == bytes("9000"))
    }

    @Test func `A card that falls silent is lost, until it is activated again`() async throws {
        let card = card([
            .exchange("02 00a4", .timeout), .exchange("b2", .timeout), .exchange("b2", .timeout), Self.start,
            .exchange("02 00a4", "02 9000"),
        ])
        await #expect(throws: LinkError(.timeout, "")) { try await card.transmit(bytes("00a4")) }
        await #expect(throws: LinkError(.timeout, "")) { try await card.transmit(bytes("00a4")) }
        #expect(await !card.isPresent())
        card.wasActivated()
        #expect(try await card.transmit(bytes("00a4")) == bytes("9000"))
    }

    @Test(arguments: [
        "12", "a2", "0a05 9000", "06 00 9000", "f200", "f23c", "c2", "b2", "", "ff", "03 9000", "40",
    ])
    func `A block that breaks the rules is asked for again, and is an error in the end`(_ block: String) async {
        let answers = [ScriptedLink.Step.exchange("02 00a4", block)]
        let again = [ScriptedLink.Step.exchange("b2", block), .exchange("b2", block)]
        let card = card(block == "12" || block == "a2" ? answers : answers + again)
        await #expect(throws: LinkError(.protocolViolation, "")) { try await card.transmit(bytes("00a4")) }
        #expect(remaining(card) == 0)
    }

    @Test func `The presence check and S(DESELECT) do not disturb the block number`() async throws {
        let card = card([
            .exchange("b2", "a3"), .exchange("02 00a4", "02 9000"), .exchange("b3", .timeout), .exchange("b3", "a2"),
            .exchange("c2", "c2"),
        ])
        try await card.activate()
        #expect(await card.isPresent())
        _ = try await card.transmit(bytes("00a4"))
        #expect(await card.isPresent())
        try await card.deselect()
        #expect(await !card.isPresent())
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await card.transmit([0]) }
    }

    @Test func `PPS chooses a rate that the card has`() async throws {
        let card = card([.exchange("d0 11 0a", "d0")], start: .exchange("e080", "067577810280"))
        try await card.select(bitRate: .kbit424)
        #expect(remaining(card) == 0)
        let slow = self.card([])
        await #expect(throws: LinkError(.unsupported, "")) { try await slow.select(bitRate: .kbit424) }
    }

    @Test func `Every single fault is recovered from, whatever the frame size`() async throws {
        for frameSize in [16, 64, 256] {
            var model = ModelCard(message(100), maximumWrite: 60)
            model.atsBytes = [0x05, UInt8([16: 0x70, 64: 0x75, 256: 0x78][frameSize] ?? 0), 0x80, 0x70, 0x02]
            model.frameSize = frameSize
            model.extensions = 1
            for limit in [256, 32] {
                let whole = ModelField(model, .nfcA, maximumFrameLength: limit)
                #expect(try await Type4Tag(link: ISODEP(link: whole)).readNDEF() == message(100))
                for exchange in 1..<whole.exchanges {
                    for fault: ModelField<ModelCard>.Fault in [
                        .damages(exchange: exchange), .drops(exchange: exchange), .deafens(exchange: exchange),
                    ] {
                        let link = ModelField(model, .nfcA, fault: fault, maximumFrameLength: limit)
                        let tag = Type4Tag(link: ISODEP(link: link))
                        let read = try await tag.readNDEF()
                        #expect(read == message(100), "frame size \(frameSize), limit \(limit), \(fault)")
                        guard frameSize != 256 else { continue }
                        try await tag.writeNDEF(message(70, seed: 3))
                        #expect(link.tag.message() == message(70, seed: 3))
                    }
                }
            }
        }
    }

    @Test func `A card that asks for time or chains without end ends with an error`() async {
        var patient = ModelCard(message(1))
        patient.extensions = .max
        let slow = ModelField(patient, .nfcA)
        await #expect(throws: LinkError(.protocolViolation, "")) { try await ISODEP(link: slow).transmit([0]) }
        #expect(slow.exchanges < 200)

        struct Chain: ModelResponder {
            var number: UInt8 = 1
            mutating func respond(_ frame: Frame) -> ModelAnswer {
                if frame.bytes[0] == 0xE0 { return ModelAnswer(frame: Frame([0x01])) }
                number ^= 1
                return ModelAnswer(frame: Frame([0x12 | number, 0xAA]))
            }
        }
        let endless = ModelField(Chain(), .nfcA)
        await #expect(throws: LinkError(.protocolViolation, "")) { try await ISODEP(link: endless).transmit([0]) }
        #expect(endless.exchanges < 5000)
    }
}
