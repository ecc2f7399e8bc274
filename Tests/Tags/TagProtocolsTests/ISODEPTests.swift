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

    @Test(arguments: try Scenario.all(in: "iso-dep.txt"))
    func `ISO-DEP card: each call makes exactly the exchanges of iso-dep.txt`(scenario: Scenario) async throws {
        for part in scenario.cases {
            let typeB = part.options["type-b"]
            let link = ScriptedLink(typeB == nil ? .nfcA : .nfcB, maximumFrameLength: part.number("frame") ?? 256)
            var opening = ISODEP.Opening.requestAnswerToSelect
            if let typeB { opening = .attribute(try NFCBTarget(bytes("50 11223344 00000000" + typeB))) }
            let card = ISODEP(link: link, opening: opening, cid: part.number("cid").map { UInt8($0) })
            await Script(part.text, times: Self.times).run(on: link) { try await Self.call(card, $0) }
        }
    }

    private static func call(_ card: ISODEP, _ call: Script.Call) async throws -> String {
        switch call.name {
        case "transmit": return hex(try await card.transmit(call.bytes()))
        case "activate": try await card.activate()
        case "activated": card.wasActivated()
        case "present": return await card.isPresent() ? "yes" : "no"
        case "deselect": try await card.deselect()
        case "sizes":
            let parameters = card.parameters
            return "\(parameters.readerFrameSize) \(parameters.cardFrameSize) \(card.singleBlockResponseLength)"
        default: return "no such call"
        }
        return "ok"
    }

    /// A command, and the longest answer to it: 4096 bytes, or 65538 with extended length.
    @Test(arguments: [("00b0000000", 4096), ("00b00000000000", 65538)])
    func `ISO-DEP: a chained answer has at most 4096 bytes, or 65538 after an extended APDU; a longer one throws`(
        command: String,
        limit: Int
    ) {
        // A short command after an extended one has the limit of a short one.
        for before in ["", "00b00000000000"] {
            var machine = ISODEPStateMachine(ISODEPParameters(readerFrameSize: 256))
            var number: UInt8 = 0
            if !before.isEmpty {
                _ = machine.begin(bytes(before))
                #expect(machine.receive(Frame([0x02, 0x90, 0x00])) == .finish([0x90, 0x00]))
                number = 1
            }
            _ = machine.begin(bytes(command))
            for _ in 0..<limit / 2 {
                let block: [UInt8] = [0x12 | number, 7, 7]
                guard case .send = machine.receive(Frame(block)) else { return #expect(Bool(false), "\(command)") }
                number ^= 1
            }
            var longer = machine
            let last: [UInt8] = [0x02 | number]
            #expect(machine.receive(Frame(last)) == .finish([UInt8](repeating: 7, count: limit)))
            guard case .fail(let error) = longer.receive(Frame(last + [7])) else { return #expect(Bool(false)) }
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

    @Test func `ISO-DEP block: decoded only with the exchange's CID, and the same after encoding`() {
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
        let long = ISODEPParameters(frameWaitingTime: .milliseconds(900)).presenceWaitingTime
        #expect(long == .milliseconds(20) + ISODEPParameters.waitingTolerance)
    }

    @Test func `ISO-DEP ATS: any combination of TA, TB and TC is read, and missing ones have their defaults`() throws {
        for present in 0..<8 {
            let interface = [0x93, 0xA4, 0x02].enumerated().filter { present & 1 << $0.offset != 0 }.map {
                UInt8($0.element)
            }
            let head = [UInt8(3 + interface.count), UInt8(present << 4) | 5]
            let answer = try AnswerToSelect(head + interface + [0x77])
            #expect(answer.frameSizeIndex == 5 && answer.historicalBytes == [0x77])
            #expect(answer.frameWaitingIndex == (present & 2 == 0 ? 4 : 0xA))
            #expect(answer.supportsCID)
        }
        let shortest = try AnswerToSelect([1])
        #expect(shortest.frameSizeIndex == 2 && shortest.frameWaitingIndex == 4)
        #expect(try !AnswerToSelect([3, 0x40, 0x01]).supportsCID)
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

    @Test func `ISO-DEP: a call during a command is readerUnavailable, and the busy card counts as present`()
        async throws
    {
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
    ]) func `ISO-DEP: an answer that comes after another activation is not taken for the new card`(
        first: String,
        exchanges: String
    ) async throws {
        let link = BusyLink(exchanges + "; > e080 < 067577810280; > 02 00b0 < 02 9000", at: bytes(first)[0])
        let card = ISODEP(link: link)
        link.interrupt { card.wasActivated() }
        await #expect(throws: LinkError.self) {
            if first == "02" { _ = try await card.transmit([0x00, 0xA4]) } else { try await card.activate() }
        }
        if first == "e0" { #expect(card.answerToSelect == nil) }
        if first == "02" { card.wasActivated() }
        #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
        #expect(card.answerToSelect?.frameSizeIndex == 5 && link.script.remaining == 0)
    }
}
