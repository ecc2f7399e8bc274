// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import TagProtocols  // blocks, frame sizes and waiting times are internal

/// ISO-DEP: blocks, chains, waiting times and errors, and its opening by RATS, PPS and ATTRIB (ISO/IEC 14443-4, 5 and 7).
struct ISODEPTests {
    /// FWI 7.
    private static let waiting = ISODEPParameters.frameWaitingTime(index: 7)
    private static let activation = Airtime(carrierPeriods: 71680)

    /// The timeouts: of any block, of blocks after S(WTX) with a multiplier, of PPS and S(DESELECT), and of a presence check.
    private static let times: [String: Airtime] = {
        let tolerance = ISODEPParameters.waitingTolerance
        var times = [
            "usual": waiting + tolerance, "rats": activation,
            "longest": ISODEPParameters.frameWaitingTime(index: 14) + tolerance,
            "short": Airtime(carrierPeriods: 65536) + tolerance,
            "presence": ISODEPParameters(frameWaitingTime: waiting).presenceWaitingTime,
        ]
        for multiplier in 1...59 { times["x\(multiplier)"] = waiting * multiplier + tolerance }
        return times
    }()

    /// Runs a script. START stands for RATS and an ATS of a card with frames of 256 bytes and FWI 7, SMALL for one of a card
    /// with frames of 16 bytes, 13 of them payload.
    private static func check(
        cid: UInt8? = nil,
        typeB: String? = nil,
        frame: Int = 256,
        _ script: String,
        _ place: SourceLocation = #_sourceLocation
    ) async {
        let link = ScriptedLink(typeB == nil ? .nfcA : .nfcB, maximumFrameLength: frame)
        var opening = ISODEP.Opening.requestAnswerToSelect
        if let typeB, let target = try? NFCBTarget(bytes("50 11223344 00000000" + typeB)) {
            opening = .attribute(target)
        }
        let card = ISODEP(link: link, opening: opening, cid: cid)
        let text = script.replacing("START", with: "> e080 < 0578807002").replacing(
            "SMALL",
            with: "> e080 < 0570807002"
        )
        await Script(text, times: times).run(on: link, place) { call in
            switch call.name {
            case "transmit": return hex(try await card.transmit(call.bytes()))
            case "activate": try await card.activate()
            case "activated": card.wasActivated()
            case "present": return await card.isPresent() ? "yes" : "no"
            case "deselect": try await card.deselect()
            case "pps": try await card.select(bitRate: ISODEP.BitRate.allCases[call.number(0)])
            case "sizes":
                let parameters = card.parameters
                return "\(parameters.readerFrameSize) \(parameters.cardFrameSize) \(card.singleBlockResponseLength)"
            default: return "no such call"
            }
            return "ok"
        }
    }

    // MARK: Blocks and chains

    @Test func `ISO-DEP: block numbers alternate, also around a presence check and a chain`() async {
        await Self.check(
            """
            transmit 00a4: 9000
            START
            > 02 00a4 < 02 9000 @usual
            present: yes
            > b3 < a2 @presence
            transmit 00b0: 019000
            > 03 00b0 < 03 019000
            transmit 00b1: aabbcc9000
            > 02 00b1 < 12 aabb; > a3 < 13 cc; > a2 < 02 9000
            transmit 01: 02
            > 03 01 < 03 02
            """
        )
        await Self.check(
            """
            transmit 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d: 9000
            SMALL
            > 12 000102030405060708090a0b0c < a2
            > 13 0d0e0f10111213141516171819 < a3
            > 02 1a1b1c1d < 02 9000
            """
        )
    }

    @Test func `ISO-DEP with a CID: it is in every block`() async {
        await Self.check(
            cid: 5,
            """
            transmit 00a4: 019000
            > e085 < 0578807002; > 0a05 00a4 < 1a05 01; > ab05 < 0b05 9000
            present: yes
            > ba05 < ab05
            transmit 01: 02
            > 0a05 01 < fa05 01; > fa05 01 < 0a05 02
            deselect
            > ca05 < ca05
            """
        )
        await Self.check(cid: 5, "activate: unsupported; > e085 < 0578807000")
    }

    @Test func `ISO-DEP: a lost or damaged block is asked for or sent again, up to three times for each block`() async {
        for fault in ["silence", "noise", "collision"] {
            await Self.check(
                "transmit 00a4: 9000; START; > 02 00a4 < \(fault); > b2 < \(fault); > b2 < 02 9000; transmit 01: 02; > 03 01 < 03 02"
            )
        }
        // A command that did not arrive.
        await Self.check("transmit 00a4: 9000; START; > 02 00a4 < silence; > b2 < a3; > 02 00a4 < 02 9000")
        await Self.check(
            """
            transmit 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d: 01029000
            SMALL
            > 12 000102030405060708090a0b0c < silence
            > b2 < noise; > b2 < a2
            > 13 0d0e0f10111213141516171819 < silence
            > b3 < a2
            > 13 0d0e0f10111213141516171819 < a3
            > 02 1a1b1c1d < silence; > b2 < silence; > b2 < 12 01
            > a3 < silence; > a3 < noise; > a3 < 13 02
            > a2 < silence; > a2 < 02 9000
            """
        )
        await Self.check("transmit 00a4: protocolViolation; START; 3x > 02 00a4 < a3")
    }

    @Test func `ISO-DEP: a block out of place is not taken for the answer`() async {
        // An I-block in the middle of a chained command, an acknowledgement of one that answers, and a block that comes twice.
        await Self.check(
            """
            transmit 000102030405060708090a0b0c0d0e0f: 9000
            SMALL
            > 12 000102030405060708090a0b0c < 02 9000
            > b2 < a2; > 03 0d0e0f < 03 9000
            """
        )
        await Self.check("transmit 00a4: 019000; START; > 02 00a4 < 12 01; > a3 < a3; > a3 < a2; > a3 < 03 9000")
        await Self.check("transmit 00a4: protocolViolation; START; > 02 00a4 < 12 01; 3x > a3 < a3")
        await Self.check("transmit 00a4: 019000; START; > 02 00a4 < 12 01; > a3 < 12 01; > a3 < 03 9000")
        await Self.check("transmit 00a4: 9000; START; > 02 00a4 < 02/4; > b2 < 02 9000")
    }

    /// Blocks that break the rules; a wrong R(ACK) and an empty chain are not asked for again.
    @Test(arguments: [
        "0a05 9000", "06 00 9000", "f200", "f23c", "c2", "b2", "empty", "ff", "03 9000", "40", "12", "a2",
    ]) func `ISO-DEP: a block that breaks the rules is asked for again, and is a protocol violation in the end`(
        block: String
    ) async {
        let again = block == "12" || block == "a2" ? "" : "; 2x > b2 < \(block)"
        await Self.check("transmit 00a4: protocolViolation; START; > 02 00a4 < \(block)\(again)")
    }

    @Test func `ISO-DEP: a failure that a repetition can't mend ends the command and the card`() async {
        for (failure, code) in [
            ("removed", "tagRemoved"), ("cancelled", "cancelled"), ("unavailable", "readerUnavailable"),
            ("unsupported", "unsupported"), ("violation", "protocolViolation"),
        ] {
            let exchanges = "START; > 02 00a4 < \(failure)"
            await Self.check("transmit 00a4: \(code)\n\(exchanges)\ntransmit 00a4: \(code)\npresent: no")
        }
        await Self.check(
            """
            transmit 00a4: timeout
            START
            > 02 00a4 < silence; 2x > b2 < silence
            transmit 00a4: timeout
            present: no
            activated
            transmit 00a4: 9000
            START
            > 02 00a4 < 02 9000
            """
        )
    }

    // MARK: Waiting times

    @Test func `ISO-DEP S(WTX): the time holds for the next block alone, whatever that is`() async {
        await Self.check(
            """
            transmit 00a4: 9000
            START
            > 02 00a4 < f2 05 @usual; > f2 05 < 02 9000 @x5
            transmit 00b0: 9000
            > 03 00b0 < 03 9000 @usual
            transmit 00b1: aa9000
            > 02 00b1 < f2 02 @usual; > f2 02 < 12 aa @x2; > a3 < f2 03 @usual
            > f2 03 < 03 9000 @x3
            transmit 00b2: 9000
            > 02 00b2 < f2 05; > f2 05 < silence @x5; > b2 < a3 @x5
            > 02 00b2 < 02 9000 @usual
            """
        )
        await Self.check(
            """
            transmit 000102030405060708090a0b0c0d: 9000
            SMALL
            > 12 000102030405060708090a0b0c < f2 04 @usual
            > f2 04 < a2 @x4; > 03 0d < f2 01 @usual; > f2 01 < 03 9000 @x1
            """
        )
        // A card that falls silent has its time again, and its faults count from S(WTX) on.
        await Self.check("transmit 00a4: 9000; START; > 02 00a4 < f2 05; > f2 05 < silence @x5; > b2 < 02 9000 @x5")
        await Self.check(
            """
            transmit 00a4: 9000
            START
            > 02 00a4 < silence; > b2 < silence; > b2 < f2 01
            > f2 01 < silence; > b2 < noise; > b2 < 02 9000
            """
        )
        // The power level is no part of the multiplier, and the answer has none.
        await Self.check("transmit 00a4: 9000; START; > 02 00a4 < f2 c2; > f2 02 < f2 7b @x2; > f2 3b < 02 9000 @x59")
    }

    @Test(arguments: [("e0", "02"), ("c0", "3b"), ("d0", "03"), ("e0", "01")])
    func `ISO-DEP S(WTX): no card gets more than the longest frame waiting time`(waiting: String, multiplier: String)
        async
    {
        await Self.check(
            "transmit 00a4: 9000; > e080 < 057880\(waiting)02; > 02 00a4 < f2\(multiplier); > f2\(multiplier) < 02 9000 @longest"
        )
    }

    @Test func `ISO-DEP S(WTX): 128 times in each command, and no more`() async {
        let waits = "START; > 02 00a4 < f2 01; 127x > f2 01 < f2 01\n"
        await Self.check(
            "transmit 00a4: 9000; \(waits)> f2 01 < 02 9000; transmit 00b0: 9000; > 03 00b0 < f2 01; 127x > f2 01 < f2 01; > f2 01 < 03 9000"
        )
        await Self.check("transmit 00a4: protocolViolation; \(waits)> f2 01 < f2 01")
    }

    /// A command, and the longest answer to it: 4096 bytes, or 65538 with extended length.
    @Test(arguments: [("00b0000000", 4096), ("00b00000000000", 65538)])
    func `ISO-DEP: a chained answer is as long as its command allows`(command: String, limit: Int) {
        // A short command after an extended one has the limit of a short one.
        for before in ["", "00b00000000000"] {
            var machine = ISODEPStateMachine(ISODEPParameters(readerFrameSize: 256))
            var number: UInt8 = 0
            if !before.isEmpty {
                _ = machine.begin(bytes(before))
                #expect(machine.receive(Frame([0x02, 0x90, 0x00])) == .finish([0x90, 0x00]))
                number = 1
            }
            var action = machine.begin(bytes(command))
            for _ in 0..<limit / 2 {
                action = machine.receive(Frame([0x12 | number, 1, 2]))
                number ^= 1
            }
            guard case .send([0xA2 | number], _) = action else {
                Issue.record("\(action)")
                continue
            }
            var longer = machine
            #expect(machine.receive(Frame([0x02 | number])) == .finish((0..<limit).map { UInt8($0 % 2 + 1) }))
            guard case .fail(let error) = longer.receive(Frame([0x02 | number, 1])) else {
                Issue.record("more than \(limit)")
                continue
            }
            #expect(error.code == .protocolViolation)
        }
    }

    @Test(.ownThreads) func `ISO-DEP: a command has 65544 bytes at most, and a CID is at most 14`() async {
        let card = ISODEP(link: ScriptedLink())
        #expect(card.maximumCommandLength == 65544 && card.maximumResponseLength == 65538)
        await #expect(throws: LinkError(.frameTooLong, "")) {
            try await card.transmit([UInt8](repeating: 0, count: 65545))
        }
        await #expect(processExitsWith: .failure) { _ = ISODEP(link: ScriptedLink(), cid: 15) }
    }

    @Test func `ISO-DEP block: it is decoded with its own CID alone, and encoded again`() {
        let blocks: [(String, UInt8?, ISODEPBlock)] = [
            ("02aa", nil, .information(number: 0, isChained: false, payload: [0xAA])),
            ("13", nil, .information(number: 1, isChained: true, payload: [])), ("a2", nil, .acknowledge(number: 0)),
            ("b3", nil, .negativeAcknowledge(number: 1)), ("f23b", nil, .waitingTimeExtension(multiplier: 59)),
            ("c2", nil, .deselect), ("0a01aa", 1, .information(number: 0, isChained: false, payload: [0xAA])),
            ("aac1", 1, .acknowledge(number: 0)),
            ("02aa", 0, .information(number: 0, isChained: false, payload: [0xAA])),
        ]
        for (text, cid, block) in blocks {
            #expect(ISODEPBlock(bytes(text), cid: cid) == block, "\(text)")
            for cid: UInt8? in [nil, 0, 14] { #expect(ISODEPBlock(block.bytes(cid: cid), cid: cid) == block) }
        }
        for text in [
            "", "a200", "b200", "c200", "c3", "f2", "f20101", "f301", "0600", "1600", "42", "82", "e2", "22", "00",
            "0a00",
        ] { #expect(ISODEPBlock(bytes(text), cid: nil) == nil, "\(text)") }
        for text in ["0a", "0a02", "02", "a2"] { #expect(ISODEPBlock(bytes(text), cid: 1) == nil, "\(text)") }
    }

    // MARK: Presence and end

    @Test func `ISO-DEP presence: any answer to R(NAK) in one of three attempts`() async {
        for (answers, found) in [
            ("> b2 < a3 @presence", "yes"), ("> b2 < silence @presence; > b2 < a2", "yes"),
            ("> b2 < noise; > b2 < ff; > b2 < 02 9000", "yes"), ("2x > b2 < silence; > b2 < noise", "no"),
            ("> b2 < removed", "no"), ("> b2 < collision", "no"), ("> b2 < unavailable", "no"),
        ] { await Self.check("present: yes\nSTART\npresent: \(found)\n\(answers)") }
        let long = ISODEPParameters(frameWaitingTime: .milliseconds(900)).presenceWaitingTime
        #expect(long == .milliseconds(20) + ISODEPParameters.waitingTolerance)
    }

    @Test func `ISO-DEP S(DESELECT): sent three times at most, and the card sleeps after its answer`() async {
        for (answers, code) in [
            ("> c2 < c2 @short", "ok"), ("> c2 < silence; > c2 < noise; > c2 < c2", "ok"),
            ("> c2 < a2; > c2 < c2", "ok"), ("> c2 < a2; > c2 < b2; > c2 < 02", "protocolViolation"),
            ("> c2 < a2; > c2 < silence; > c2 < noise", "transmission"), ("> c2 < removed", "tagRemoved"),
        ] {
            let after = code == "ok" ? "; present: no; transmit 00: readerUnavailable" : ""
            await Self.check("activate\nSTART\ndeselect: \(code)\n\(answers)\(after)")
        }
        await Self.check("deselect: ok")
    }

    // MARK: Opening

    @Test func `ISO-DEP RATS: sent twice, and a failure of the reader ends it at once`() async {
        for (failure, code) in [("silence", "timeout"), ("noise", "transmission"), ("collision", "collision")] {
            await Self.check("activate; > e080 < \(failure) @rats; > e080 < 0578807002 @rats; activate")
            await Self.check("activate: \(code); 2x > e080 < \(failure); activate: \(code); present: no")
        }
        await Self.check("activate: tagRemoved; > e080 < removed")
        for ats in [
            "empty", "00", "05", "0578", "02", "0470", "0578807002ff", "0678807002", "0478807002", "ff78807002",
        ] { await Self.check("activate: protocolViolation; > e080 < \(ats)") }
    }

    @Test(arguments: [
        (256, "e080", 256), (255, "e070", 128), (128, "e070", 128), (100, "e060", 96), (64, "e050", 64),
        (48, "e040", 48), (40, "e030", 40), (32, "e020", 32), (24, "e010", 24), (16, "e000", 16), (10, "e000", 16),
    ]) func `ISO-DEP RATS: it announces the longest frame that the reader takes`(limit: Int, rats: String, size: Int)
        async
    {
        let sizes = "\(size) \(max(16, limit)) \(size - 3)"
        await Self.check(frame: limit, "activate; > \(rats) < 0578807002; activate; sizes: \(sizes)")
    }

    @Test func `ISO-DEP frame sizes and waiting times: the tables of the standard`() {
        let sizes = [16, 24, 32, 40, 48, 64, 96, 128] + [Int](repeating: 256, count: 8)
        #expect((0...15).map { ISODEPParameters.frameSize(index: $0) } == sizes)
        for index: UInt8 in 0...15 {
            // FWI 15 is reserved and stands for 4.
            let periods = 4096 << Int64(index == 15 ? 4 : index)
            #expect(ISODEPParameters.frameWaitingTime(index: index).carrierPeriods == periods)
        }
        let least = ISODEPParameters(cardFrameSize: 3, readerFrameSize: 3, cid: 1)
        #expect(least.cardFrameSize == 16 && least.commandPayload == 12 && least.responsePayload == 12)
        #expect(ISODEPParameters().commandPayload == 29 && ISODEPParameters().responsePayload == 253)
    }

    @Test func `ISO-DEP ATS: its interface bytes in any combination`() throws {
        for present in 0..<8 {
            let interface = [0x93, 0xA4, 0x02].enumerated().filter { present & 1 << $0.offset != 0 }.map {
                UInt8($0.element)
            }
            let head = [UInt8(3 + interface.count), UInt8(present << 4) | 5]
            let answer = try AnswerToSelect(head + interface + [0x77])
            #expect(answer.frameSizeIndex == 5 && answer.historicalBytes == [0x77])
            #expect(answer.bitRates == (present & 1 == 0 ? 0 : 0x93))
            #expect(answer.frameWaitingIndex == (present & 2 == 0 ? 4 : 0xA))
            #expect(answer.startUpGuardIndex == (present & 2 == 0 ? 0 : 4) && answer.supportsCID)
        }
        let shortest = try AnswerToSelect([1])
        #expect(shortest.frameSizeIndex == 2 && shortest.frameWaitingIndex == 4)
        // SFGI 15 is reserved and stands for 0.
        for (interface, index): (UInt8, UInt8?) in [(0x7F, nil), (0x70, nil), (0x7E, 14), (0x71, 1)] {
            let time = index.map { ISODEPParameters.frameWaitingTime(index: $0) } ?? .zero
            #expect(try AnswerToSelect([3, 0x20, interface]).startUpGuardTime == time)
        }
        #expect(try !AnswerToSelect([3, 0x40, 0x01]).supportsCID)
        for (rates, supported) in [(0x35, [true, true, false, false]), (0x00, [true, false, false, false])] {
            let answer = try AnswerToSelect([3, 0x10, UInt8(rates)])
            #expect(ISODEP.BitRate.allCases.map { $0.isSupported(by: answer) } == supported)
        }
    }

    @Test func `ISO-DEP PPS: a rate that the card has, and another answer loses the card`() async {
        for (rate, byte) in [(0, "00"), (1, "05"), (2, "0a"), (3, "0f")] {
            await Self.check(cid: 3, "pps \(rate); > e083 < 067577810280; > d3 11\(byte) < d3 @short")
        }
        for answer in ["d1", "d000", "empty"] {
            let lost = "> e080 < 067577810280; > d0 11 05 < \(answer); transmit 00: protocolViolation"
            await Self.check("pps 1: protocolViolation\n\(lost)")
        }
        await Self.check("pps 2: unsupported\nSTART")
        await Self.check(typeB: "008171", "pps 0: unsupported; > 1d 11223344 00 08 01 00 < 00")
    }

    @Test func `ISO-DEP ATTRIB: it has the frame size and the CID, and its answer the CID`() async {
        await Self.check(
            typeB: "008171",
            "activate; > 1d 11223344 00 08 01 00 < 00 @usual; sizes: 256 256 253; transmit 00a4: 9000; > 02 00a4 < 02 9000"
        )
        await Self.check(typeB: "008171", frame: 64, "activate; > 1d 11223344 00 05 01 00 < 00; sizes: 64 64 61")
        await Self.check(
            cid: 3,
            typeB: "008171",
            "activate; > 1d 11223344 00 08 01 03 < silence; > 1d 11223344 00 08 01 03 < f3 01"
        )
        for (cid, answer): (UInt8?, String) in [(nil, "01"), (3, "02"), (3, "00"), (nil, "empty")] {
            await Self.check(
                cid: cid,
                typeB: "008171",
                "activate: protocolViolation; > 1d 11223344 00 08 01 0\(cid ?? 0) < \(answer)"
            )
        }
        // Without ISO-DEP, or without CIDs where one is asked for.
        await Self.check(typeB: "008071", "activate: unsupported")
        await Self.check(cid: 1, typeB: "008170", "activate: unsupported")
    }

    // MARK: While a command is under way

    /// A scripted link on which something else happens before the first frame with a byte is answered.
    private final class BusyLink: FrameLink {
        let technology = Technology.nfcA
        let maximumFrameLength = 256
        let script: ScriptedLink
        private let firstByte: UInt8
        private let interruption = Locked<(@Sendable () async -> Void)?>(nil)

        init(_ exchanges: String, at firstByte: UInt8 = 0x02) {
            script = ScriptedLink(exchanges: exchanges)
            self.firstByte = firstByte
        }

        var statistics: LinkStatistics { script.statistics }

        func interrupt(with action: @escaping @Sendable () async -> Void) { interruption.withLock { $0 = action } }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            if frame.bytes.first == firstByte {
                let action = interruption.withLock { held in
                    defer { held = nil }
                    return held
                }
                await action?()
            }
            return try await script.transceive(frame, timeout: timeout)
        }
    }

    @Test func `ISO-DEP: another call during a command is refused, and a card that is busy is present`() async throws {
        let link = BusyLink("> e080 < 0578807002; > 02 00a4 < 02 9000; > 03 00b0 < 03 9000")
        let card = ISODEP(link: link)
        let found = Locked<[String]>([])
        link.interrupt {
            let isPresent = await card.isPresent()
            for isEnd in [false, true] {
                do throws(LinkError) {
                    if isEnd { try await card.deselect() } else { _ = try await card.transmit([0x00, 0xCA]) }
                } catch { found.withLock { $0.append(error.code.description) } }
            }
            found.withLock { $0.append("\(isPresent)") }
        }
        #expect(try await card.transmit([0x00, 0xA4]) == [0x90, 0x00])
        #expect(found.withLock { $0 } == ["readerUnavailable", "readerUnavailable", "true"])
        // The refusals are no faults of the card.
        #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
        #expect(link.script.remaining == 0)
    }

    /// The first byte of the frame during which the card is activated again, the exchanges until then, and after it.
    @Test(arguments: [
        ("02", "> e080 < 0578807002; > 02 00a4 < 02 9000"), ("e0", "> e080 < 0578807002"), ("e0", "> e080 < violation"),
        ("d0", "> e080 < 067577810280; > d0 11 05 < d1"), ("d0", "> e080 < 067577810280; > d0 11 05 < silence"),
    ]) func `ISO-DEP: what an earlier command, RATS or PPS brings is not taken for the card activated since`(
        first: String,
        exchanges: String
    ) async throws {
        let link = BusyLink(exchanges + "; > e080 < 067577810280; > 02 00b0 < 02 9000", at: bytes(first)[0])
        let card = ISODEP(link: link)
        link.interrupt { card.wasActivated() }
        await #expect(throws: LinkError.self) {
            switch first {
            case "02": _ = try await card.transmit([0x00, 0xA4])
            case "e0": try await card.activate()
            default: try await card.select(bitRate: .kbit212)
            }
        }
        if first == "e0" { #expect(card.answerToSelect == nil) }
        if first == "02" { card.wasActivated() }
        #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
        #expect(card.answerToSelect?.frameSizeIndex == 5 && link.script.remaining == 0)
    }
}
