// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import TagProtocols

/// Exact exchanges with cards that follow the standard, and with cards that do not (ISO/IEC 14443-4, 7).
@Suite struct `ISO-DEP, block by block` {
    /// FWI 7, and the reader's extra waiting time.
    private static let waiting = ISODEPParameters.frameWaitingTime(index: 7)
    private static let usual = waiting + ISODEPParameters.waitingTolerance
    /// An ATS of a card with frames of 16 bytes, 13 of them payload, and FWI 7.
    private static let small = ScriptedLink.Step.exchange("e080", "0570807002")
    private static let start = ScriptedLink.Step.exchange("e080", "0578807002")

    private static func run(
        command: [UInt8] = [0x00, 0xA4],
        start: ScriptedLink.Step = start,
        _ steps: ScriptedLink.Step...
    ) async -> (Result<[UInt8], LinkError>, left: Int) {
        let link = ScriptedLink([start] + steps)
        do throws(LinkError) {
            return (.success(try await ISODEP(link: link).transmit(command)), link.remaining)
        } catch {
            return (.failure(error), link.remaining)
        }
    }

    private static func extended(_ multiplier: Int) -> Airtime {
        waiting * multiplier + ISODEPParameters.waitingTolerance
    }

    // MARK: Time

    @Test func `More time holds for the next block alone, whatever that is`() async throws {
        let card = ISODEP(
            link: ScriptedLink([
                Self.start, .exchange("02 00a4", "f2 05").within(Self.usual),
                .exchange("f2 05", "02 9000").within(Self.extended(5)),
                .exchange("03 00b0", "03 9000").within(Self.usual),
                .exchange("02 00b1", "f2 02").within(Self.usual), .exchange("f2 02", "12 aa").within(Self.extended(2)),
                .exchange("a3", "f2 03").within(Self.usual), .exchange("f2 03", "03 9000").within(Self.extended(3)),
                .exchange("02 00b2", "02 9000").within(Self.usual),
            ])
        )
        #expect(try await card.transmit([0x00, 0xA4]) == [0x90, 0x00])
        #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
        #expect(try await card.transmit([0x00, 0xB1]) == [0xAA, 0x90, 0x00])
        #expect(try await card.transmit([0x00, 0xB2]) == [0x90, 0x00])
        #expect((card.link as? ScriptedLink)?.remaining == 0)
    }

    @Test func `More time ends with an acknowledgement of the block before, too`() async throws {
        let (result, left) = await Self.run(
            .exchange("02 00a4", "f2 05"),
            .exchange("f2 05", .timeout).within(Self.extended(5)),
            .exchange("b2", "a3").within(Self.extended(5)),
            .exchange("02 00a4", "02 9000").within(Self.usual)
        )
        #expect(try result.get() == [0x90, 0x00] && left == 0)
    }

    @Test func `More time in the middle of a chained command ends with the block's acknowledgement`() async throws {
        let command = [UInt8](0..<20)
        let (result, left) = await Self.run(
            command: command,
            start: Self.small,
            .exchange("12" + hex(0..<13), "f2 04").within(Self.usual),
            .exchange("f2 04", "a2").within(Self.extended(4)),
            .exchange("03" + hex(13..<20), "f2 01").within(Self.usual),
            .exchange("f2 01", "03 9000").within(Self.extended(1))
        )
        #expect(result == .success([0x90, 0x00]) && left == 0)
    }

    @Test func `A card that falls silent after it got more time has that time again`() async throws {
        let (result, left) = await Self.run(
            .exchange("02 00a4", "f2 05"),
            .exchange("f2 05", .timeout).within(Self.extended(5)),
            .exchange("b2", "02 9000").within(Self.extended(5))
        )
        #expect(result == .success([0x90, 0x00]) && left == 0)
    }

    @Test func `The power level in S(WTX) is no part of the multiplier, and the answer has none`() async throws {
        let (result, left) = await Self.run(
            .exchange("02 00a4", "f2 c2"),
            .exchange("f2 02", "f2 7b").within(Self.extended(2)),
            .exchange("f2 3b", "02 9000").within(Self.extended(59))
        )
        #expect(result == .success([0x90, 0x00]) && left == 0)
    }

    @Test func `No card gets more than the longest time there is`() async throws {
        let longest = ISODEPParameters.frameWaitingTime(index: 14) + ISODEPParameters.waitingTolerance
        for (waiting, multiplier) in [("e0", "02"), ("c0", "3b"), ("d0", "03"), ("e0", "01")] {
            let (result, left) = await Self.run(
                start: .exchange("e080", "0578 80" + waiting + "02"),
                .exchange("02 00a4", "f2" + multiplier),
                .exchange("f2" + multiplier, "02 9000").within(longest)
            )
            #expect(result == .success([0x90, 0x00]) && left == 0)
        }
    }

    @Test func `A card may ask for more time 128 times in a command, and again in the next`() async throws {
        let parameters = ISODEPParameters()
        func machine(_ extensions: Int, _ machine: inout ISODEPStateMachine) -> ISODEPStateMachine.Action {
            var action = machine.begin([0])
            for _ in 0..<extensions { action = machine.receive(Frame([0xF2, 0x01])) }
            return action
        }
        var card = ISODEPStateMachine(parameters)
        for number: UInt8 in [0, 1] {
            let action = machine(128, &card)
            #expect(
                action == .send([0xF2, 0x01], timeout: parameters.frameWaitingTime + ISODEPParameters.waitingTolerance)
            )
            #expect(card.receive(Frame([0x02 | number, 9])) == .finish([9]))
        }
        guard case .fail(let error) = machine(129, &card) else {
            Issue.record("goes on")
            return
        }
        #expect(error.code == .protocolViolation && error.reason.contains("129 times"))
    }

    // MARK: Chains

    @Test func `An I-block in the middle of a chained command is not its answer`() async throws {
        let command = [UInt8](0..<20)
        let (result, left) = await Self.run(
            command: command,
            start: Self.small,
            .exchange("12" + hex(0..<13), "02 9000"),
            .exchange("b2", "a2"),
            .exchange("03" + hex(13..<20), "03 9000")
        )
        #expect(result == .success([0x90, 0x00]) && left == 0)
    }

    @Test
    func `A lost block of a chained command is sent again, and the count of faults restarts with each`()
        async throws
    {
        let command = [UInt8](0..<30)
        let (result, left) = await Self.run(
            command: command,
            start: Self.small,
            .exchange("12" + hex(0..<13), .timeout),
            .exchange("b2", .transmission),
            .exchange("b2", "a2"),
            .exchange("13" + hex(13..<26), .timeout),
            .exchange("b3", "a2"),
            .exchange("13" + hex(13..<26), "a3"),
            .exchange("02" + hex(26..<30), .timeout),
            .exchange("b2", .timeout),
            .exchange("b2", "12 01"),
            .exchange("a3", .timeout),
            .exchange("a3", .transmission),
            .exchange("a3", "13 02"),
            .exchange("a2", .timeout),
            .exchange("a2", "02 9000")
        )
        #expect(result == .success([1, 2, 0x90, 0x00]) && left == 0)
    }

    @Test func `A block that the card does not take is sent three times`() async throws {
        let (result, left) = await Self.run(
            .exchange("02 00a4", "a3"),
            .exchange("02 00a4", "a3"),
            .exchange("02 00a4", "a3")
        )
        #expect(result == .failure(LinkError(.protocolViolation, "")) && left == 0)
    }

    @Test func `A card that acknowledges while it answers is asked for its block again`() async throws {
        let (result, left) = await Self.run(
            .exchange("02 00a4", "12 01"),
            .exchange("a3", "a3"),
            .exchange("a3", "a2"),
            .exchange("a3", "03 9000")
        )
        #expect(result == .success([1, 0x90, 0x00]) && left == 0)
        let (lost, rest) = await Self.run(
            .exchange("02 00a4", "12 01"),
            .exchange("a3", "a3"),
            .exchange("a3", "a3"),
            .exchange("a3", "a3")
        )
        #expect(lost == .failure(LinkError(.protocolViolation, "")) && rest == 0)
    }

    @Test func `A block of the answer that comes twice is asked for again, and is not taken twice`() async throws {
        let (result, left) = await Self.run(
            .exchange("02 00a4", "12 01"),
            .exchange("a3", "12 01"),
            .exchange("a3", "03 9000")
        )
        #expect(result == .success([1, 0x90, 0x00]) && left == 0)
    }

    @Test func `An answer of bits, with a node's address or of another kind is no block`() async throws {
        let bits = ScriptedLink.Step(
            request: Frame([0x02, 0x00, 0xA4]),
            result: .success(Frame(bits: [0x02], validBitsInLastByte: 4))
        )
        let (result, left) = await Self.run(bits, .exchange("b2", "02 9000"))
        #expect(result == .success([0x90, 0x00]) && left == 0)
    }

    @Test func `An error that a repetition can't mend ends the command at once`() async throws {
        for code: LinkError.Code in [
            .tagRemoved, .cancelled, .readerUnavailable, .unsupported, .frameTooLong, .protocolViolation,
        ] {
            let link = ScriptedLink([Self.start, .exchange("02 00a4", code)])
            let card = ISODEP(link: link)
            await #expect(throws: LinkError(code, "")) { try await card.transmit([0x00, 0xA4]) }
            await #expect(throws: LinkError(code, "")) { try await card.transmit([0x00, 0xA4]) }
            #expect(link.remaining == 0)
        }
        let (collided, _) = await Self.run(.exchange("02 00a4", .collision), .exchange("b2", "02 9000"))
        #expect(collided == .success([0x90, 0x00]))
    }

    @Test func `An answer is as long as its command may have it`() {
        func longest(_ command: [UInt8], _ limit: Int) {
            var machine = ISODEPStateMachine(ISODEPParameters(readerFrameSize: 256))
            var action = machine.begin(command)
            var number: UInt8 = 0
            for _ in 0..<limit / 2 {
                action = machine.receive(Frame([0x12 | number, 1, 2]))
                number ^= 1
            }
            guard case .send([0xA2 | number], _) = action else {
                Issue.record("\(action)")
                return
            }
            var last = machine
            #expect(machine.receive(Frame([0x02 | number])) == .finish((0..<limit).map { UInt8($0 % 2 + 1) }))
            guard case .fail(let error) = last.receive(Frame([0x02 | number, 1])) else {
                Issue.record("more than \(limit)")
                return
            }
            #expect(error.code == .protocolViolation && error.reason.contains("\(limit)"))
        }
        longest([0x00, 0xB0, 0, 0, 0], 4096)
        longest([0x00, 0xB0, 0, 0, 0, 0, 0], 65538)
    }

    @Test func `A short command after an extended one has the answer of a short one`() {
        var card = ISODEPStateMachine(ISODEPParameters(readerFrameSize: 256))
        _ = card.begin([0x00, 0xB0, 0, 0, 0, 0, 0])
        #expect(card.receive(Frame([0x02, 0x90, 0x00])) == .finish([0x90, 0x00]))
        _ = card.begin([0x00, 0xB0, 0, 0, 0])
        for index in 0..<2048 { _ = card.receive(Frame([index % 2 == 0 ? 0x13 : 0x12, 1, 2])) }
        guard case .fail = card.receive(Frame([0x03, 1])) else {
            Issue.record("more than 4096")
            return
        }
    }

    // MARK: Presence and end

    @Test func `A card is there when it answers R(NAK) with any block in one of three attempts`() async {
        let presence = ISODEPParameters(frameWaitingTime: Self.waiting).presenceWaitingTime
        for answers: [(LinkError.Code?, String)] in [
            [(nil, "a3")], [(.timeout, ""), (nil, "a2")], [(.transmission, ""), (nil, "ff"), (nil, "02 9000")],
        ] {
            let steps = answers.map { code, answer in
                (code.map { ScriptedLink.Step.exchange("b2", $0) } ?? .exchange("b2", answer)).within(presence)
            }
            let link = ScriptedLink([Self.start] + steps)
            let card = ISODEP(link: link)
            // The first look is the activation itself.
            #expect(await card.isPresent())
            #expect(await card.isPresent() && link.remaining == 0)
        }
        for codes: [LinkError.Code] in [
            [.timeout, .timeout, .transmission], [.tagRemoved], [.collision], [.readerUnavailable],
        ] {
            let link = ScriptedLink([Self.start] + codes.map { .exchange("b2", $0) })
            let card = ISODEP(link: link)
            _ = await card.isPresent()
            #expect(await !card.isPresent() && link.remaining == 0)
        }
    }

    @Test func `S(DESELECT) is sent three times at most, and its answer is S(DESELECT)`() async throws {
        let span = Airtime(carrierPeriods: 65536) + ISODEPParameters.waitingTolerance
        func deselect(_ steps: ScriptedLink.Step...) async throws -> LinkError.Code? {
            let link = ScriptedLink([Self.start] + steps.map { $0.within(span) })
            let card = ISODEP(link: link)
            try await card.activate()
            do throws(LinkError) {
                try await card.deselect()
            } catch {
                #expect(link.remaining == 0)
                return error.code
            }
            #expect(link.remaining == 0)
            // The card is asleep: nothing goes to it until it is activated again.
            await #expect(throws: LinkError(.readerUnavailable, "")) { try await card.transmit([0]) }
            return nil
        }
        #expect(try await deselect(.exchange("c2", "c2")) == nil)
        #expect(
            try await deselect(.exchange("c2", .timeout), .exchange("c2", .transmission), .exchange("c2", "c2")) == nil
        )
        #expect(try await deselect(.exchange("c2", "a2"), .exchange("c2", "c2")) == nil)
        #expect(
            try await deselect(.exchange("c2", "a2"), .exchange("c2", "b2"), .exchange("c2", "02"))
                == .protocolViolation
        )
        #expect(
            try await deselect(.exchange("c2", "a2"), .exchange("c2", .timeout), .exchange("c2", .transmission))
                == .transmission
        )
        #expect(try await deselect(.exchange("c2", .tagRemoved)) == .tagRemoved)
        let idle = ScriptedLink([])
        try await ISODEP(link: idle).deselect()
    }

    @Test func `PPS is answered by its first byte, else the card is lost`() async throws {
        for (rate, byte) in [(ISODEP.BitRate.kbit106, "00"), (.kbit212, "05"), (.kbit424, "0a"), (.kbit848, "0f")] {
            let timeout = Airtime(carrierPeriods: 65536) + ISODEPParameters.waitingTolerance
            let link = ScriptedLink([
                .exchange("e083", "067577810280"), ScriptedLink.Step.exchange("d3 11" + byte, "d3").within(timeout),
            ])
            try await ISODEP(link: link, cid: 3).select(bitRate: rate)
            #expect(link.remaining == 0)
        }
        for answer in ["d1", "d000", ""] {
            let card = ISODEP(link: ScriptedLink([.exchange("e080", "067577810280"), .exchange("d0 11 05", answer)]))
            await #expect(throws: LinkError(.protocolViolation, "")) { try await card.select(bitRate: .kbit212) }
            await #expect(throws: LinkError(.protocolViolation, "")) { try await card.transmit([0]) }
        }
        let typeB = ISODEP(
            link: ScriptedLink([.exchange("1d 11223344 00 08 01 00", "00")], technology: .nfcB),
            opening: .attribute(try NFCBTarget(bytes("50 11223344 00000000 008171")))
        )
        await #expect(throws: LinkError(.unsupported, "")) { try await typeB.select(bitRate: .kbit106) }
    }

    @Test(.ownThreads) func `A command has 65544 bytes at most, and one goes at a time`() async throws {
        let card = ISODEP(link: ScriptedLink([]))
        #expect(card.maximumCommandLength == 65544 && card.maximumResponseLength == 65538)
        await #expect(throws: LinkError(.frameTooLong, "")) {
            try await card.transmit([UInt8](repeating: 0, count: 65545))
        }
        await #expect(processExitsWith: .failure) { _ = ISODEP(link: ScriptedLink([]), cid: 15) }
    }

    // MARK: Blocks

    @Test func `A block is read with the CID it has, and none other`() {
        func block(_ text: String, _ cid: UInt8? = nil) -> ISODEPBlock? { ISODEPBlock(bytes(text), cid: cid) }
        #expect(block("02 aa") == .information(number: 0, isChained: false, payload: [0xAA]))
        #expect(block("13") == .information(number: 1, isChained: true, payload: []))
        #expect(block("a2") == .acknowledge(number: 0) && block("b3") == .negativeAcknowledge(number: 1))
        #expect(block("f2 3b") == .waitingTimeExtension(multiplier: 59) && block("c2") == .deselect)
        for (text, cid) in [
            ("", nil), ("a2 00", nil), ("b2 00", nil), ("c2 00", nil), ("c3", nil), ("f2", nil), ("f2 0101", nil),
            ("f3 01", nil),
            ("06 00", nil), ("16 00", nil), ("42", nil), ("82", nil), ("e2", nil), ("22", nil), ("00", nil),
            ("0a 00", nil),
            ("0a", 1), ("0a 02", 1), ("02", 1), ("a2", 1),
        ] as [(String, UInt8?)] { #expect(block(text, cid) == nil, "\(text)") }
        #expect(block("0a 01 aa", 1) == .information(number: 0, isChained: false, payload: [0xAA]))
        // The upper half of the byte is a power level; a card with CID 0 may leave it out.
        #expect(block("aa c1", 1) == .acknowledge(number: 0))
        #expect(block("02 aa", 0) == .information(number: 0, isChained: false, payload: [0xAA]))
        #expect(block("0a 00 aa", 0) == block("02 aa", 0))
        for original: ISODEPBlock in [
            .information(number: 1, isChained: true, payload: [1, 2]), .acknowledge(number: 1),
            .negativeAcknowledge(number: 0),
            .waitingTimeExtension(multiplier: 7), .deselect,
        ] {
            for cid: UInt8? in [nil, 0, 14] { #expect(ISODEPBlock(original.bytes(cid: cid), cid: cid) == original) }
        }
    }
}
