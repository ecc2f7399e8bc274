// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import TagProtocols

/// Exact exchanges with cards of NFC-B and NFC-F that answer as they should not, or not at all.
@Suite struct `NFC-B and NFC-F with odd partners` {
    typealias Step = ScriptedLink.Step

    private static func atqb(_ identifier: UInt8) -> String { "50" + hex([identifier, 2, 3, 4]) + "00000000 008171" }
    private static let silent = LinkError.Code.timeout

    // MARK: NFC-B

    private static func cards(
        family: UInt8 = 0,
        waking: Bool = false,
        limit: Int = 16,
        _ steps: [Step]
    ) async -> (found: [UInt8], code: TagError.Code?, left: Int) {
        let link = ScriptedLink(steps, technology: .nfcB)
        do throws(TagError) {
            let found = try await NFCBActivation(link: link).findAll(
                applicationFamily: family,
                waking: waking,
                limit: limit
            )
            return (found.map { $0.identifier[0] }, nil, link.remaining)
        } catch {
            return ([], error.code, link.remaining)
        }
    }

    @Test func `Cards of NFC-B are asked for by their family, awake or asleep`() async {
        #expect(await Self.cards(family: 0x25, [.exchange("052500", Self.atqb(1))]).found == [1])
        #expect(await Self.cards(waking: true, [.exchange("050008", Self.atqb(1))]).found == [1])
        #expect(await Self.cards([.exchange("050000", Self.silent)]).found == [])
        let slots = [
            Step.exchange("052508", .transmission), .exchange("052509", Self.atqb(1)), .exchange("15", Self.atqb(2)),
        ]
        #expect(await Self.cards(family: 0x25, waking: true, slots) == ([1, 2], nil, 0))
    }

    @Test func `More slots are opened while cards collide, and those found before count once`() async {
        var steps = [Step.exchange("050000", .collision), .exchange("050001", "5001"), .exchange("15", Self.atqb(2))]
        steps += [.exchange("050002", Self.atqb(2)), .exchange("15", Self.silent), .exchange("25", Self.atqb(3))]
        steps += [.exchange("35", Self.silent)]
        let (found, code, left) = await Self.cards(steps)
        #expect(found == [2, 3] && code == nil && left == 0)
        let limited = await Self.cards(limit: 1, Array(steps.prefix(3)))
        #expect(limited.found == [2] && limited.left == 0)
    }

    @Test func `Sixteen slots are tried three times`() async {
        var steps: [Step] = []
        for index in 0..<7 {
            let slots = min(4, index)
            for slot in 0..<1 << slots {
                steps.append(.exchange(slot == 0 ? "05000" + String(slots) : hex([UInt8(slot) << 4 | 5]), .collision))
            }
        }
        let (found, code, left) = await Self.cards(steps)
        #expect(found.isEmpty && code == nil && left == 0)
    }

    @Test func `A reader that fails ends the search for cards of NFC-B`() async {
        #expect(await Self.cards([.exchange("050000", .cancelled)]).code == .cancelled)
        #expect(
            await Self.cards([.exchange("050000", .collision), .exchange("050001", .readerUnavailable)]).code
                == .readerUnavailable
        )
    }

    @Test func `ATQB has the card's limits in its protocol information`() throws {
        func target(_ info: String) throws -> NFCBTarget { try NFCBTarget(bytes("50 11223344 a1a2a3a4" + info)) }
        let one = try target("00 01 4f")
        #expect(one.identifier == bytes("11223344") && one.applicationData == bytes("a1a2a3a4"))
        #expect(one.isISODEP && one.supportsCID && one.maximumFrameSize == 16 && !one.hasProprietaryApplicationData)
        #expect(one.frameWaitingTime.carrierPeriods == 4096 << 4)
        let other = try target("00 70 e2 80")
        #expect(
            !other.isISODEP && !other.supportsCID && other.maximumFrameSize == 128
                && other.hasProprietaryApplicationData
        )
        #expect(other.frameWaitingTime.carrierPeriods == 4096 << 14 && other.protocolInfo.count == 4)
        #expect(
            try !target("00 01 44").hasProprietaryApplicationData && !target("00 01 48").hasProprietaryApplicationData
        )
    }

    @Test func `HLTB is answered with 00`() async throws {
        let target = try NFCBTarget(bytes(Self.atqb(1)))
        func halt(_ step: Step) async -> TagError.Code? {
            do throws(TagError) {
                try await NFCBActivation(link: ScriptedLink([step], technology: .nfcB)).halt(target)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await halt(.exchange("50 01020304", "00")) == nil)
        #expect(await halt(.exchange("50 01020304", "01")) == .badAnswer)
        #expect(await halt(.exchange("50 01020304", "0000")) == .badAnswer)
        #expect(await halt(.exchange("50 01020304", .timeout)) == .tagLost)
    }

    // MARK: NFC-F

    private static let idm = "0102030405060708"
    private static let pmm = "00f1000000014300"

    @Test func `Polling has the system, what is asked for and the slots, and waits for all of them`() async throws {
        for (slots, code, request): (UInt8, NFCFPolling.RequestCode, String) in [
            (0, .systemCode, "060012fc0100"), (3, .none, "060012fc0003"),
            (15, .communicationPerformance, "060012fc020f"),
        ] {
            let timeout = Airtime(carrierPeriods: (512 + 256 * (Int64(slots) + 1)) * 64) + .milliseconds(1)
            let link = ScriptedLink(
                [Step.exchange(request, "12 01" + Self.idm + Self.pmm).within(timeout)],
                technology: .nfcF
            )
            let found = try await NFCFPolling(link: link).poll(systemCode: 0x12FC, request: code, timeSlots: slots)
            #expect(
                found.map(\.target.systemCode) == [0x12FC] && found.first?.requestData == nil && link.remaining == 0
            )
        }
    }

    @Test func `A wildcard in either half of a system code is no system, unless the card says which`() async throws {
        for (polled, request, code, wanted): (UInt16, NFCFPolling.RequestCode, String, UInt16?) in [
            (0xFFFF, .systemCode, "", nil), (0x12FF, .systemCode, "", nil), (0xFFFC, .systemCode, "", nil),
            (0x12FC, .systemCode, "", 0x12FC),
            (0xFFFF, .systemCode, "88b4", 0x88B4), (0x12FC, .systemCode, "88b4", 0x88B4),
            (0xFFFF, .communicationPerformance, "0083", nil),
        ] {
            let frame = "0600" + hex([UInt8(polled >> 8), UInt8(polled & 0xFF)]) + hex([request.rawValue]) + "00"
            let answer = (code.isEmpty ? "12" : "14") + "01" + Self.idm + Self.pmm + code
            let link = ScriptedLink([.exchange(frame, answer)], technology: .nfcF)
            let found = try await NFCFPolling(link: link).poll(systemCode: polled, request: request)
            #expect(found.map(\.target.systemCode) == [wanted])
            #expect(found.first?.requestData.map { hex($0) } == (code.isEmpty ? nil : code))
        }
    }

    @Test func `A card that answers in two slots is one card; silence is no card`() async throws {
        let answer = "12 01" + Self.idm + Self.pmm
        func poll(_ step: Step) async throws -> Int {
            try await NFCFPolling(link: ScriptedLink([step], technology: .nfcF)).poll().count
        }
        #expect(try await poll(.exchange("0600ffff0100", answer + answer)) == 1)
        #expect(try await poll(.exchange("0600ffff0100", LinkError.Code.timeout)) == 0)
        await #expect(throws: TagError(.cancelled, "")) { try await poll(.exchange("0600ffff0100", .cancelled)) }
        await #expect(throws: TagError(.badAnswer, "")) {
            try await poll(.exchange("0600ffff0100", "13 01" + Self.idm + Self.pmm + "00"))
        }
    }

    @Test(
        arguments: [
            ([LinkError.Code.transmission], 0, true), ([.transmission, .transmission], 0, true),
            ([.transmission, .timeout], 0, false), ([.transmission, .transmission, .transmission], 0, false),
            // In the only slot cards would collide again.
            ([.collision], 0, false), ([.collision, .collision], 3, true),
            ([.collision, .collision, .collision], 3, false), ([.transmission, .collision], 3, true),
        ] as [([LinkError.Code], UInt8, Bool)]
    )
    func `What can't be read is asked for again a few times`(
        failures: [LinkError.Code],
        firstSlots: UInt8,
        isFound: Bool
    ) async throws {
        var slots = firstSlots
        var steps: [Step] = []
        func request() -> String { "0600ffff01" + hex([slots]) }
        for failure in failures {
            steps.append(.exchange(request(), failure))
            // With the most slots there are, they hardly collide again.
            if slots > 0 { slots = 15 }
        }
        if isFound { steps.append(.exchange(request(), "12 01" + Self.idm + Self.pmm)) }
        let link = ScriptedLink(steps, technology: .nfcF)
        let found = try await NFCFPolling(link: link).poll(timeSlots: firstSlots)
        #expect(found.count == (isFound ? 1 : 0) && link.remaining == 0)
    }

    private static func card(_ steps: Step...) -> (FeliCaCard, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcF)
        let target = NFCFTarget(idm: bytes(idm), pmm: bytes(pmm), systemCode: nil)
        return (FeliCaCard(link: link, target: target), link)
    }

    @Test func `A FeliCa command is sent three times, and waits for its own time and 1 ms`() async throws {
        let request = "0a04" + Self.idm
        let time = Airtime(carrierPeriods: 4096) + .milliseconds(1)
        for code: LinkError.Code in [.timeout, .transmission, .collision] {
            let (card, link) = Self.card(
                Step.exchange(request, code).within(time),
                .exchange(request, code),
                .exchange(request, "0b05" + Self.idm + "02")
            )
            #expect(try await card.requestResponse() == 2 && link.remaining == 0)
            let (lost, rest) = Self.card(.exchange(request, code), .exchange(request, code), .exchange(request, code))
            await #expect(throws: TagError(code == .timeout ? .tagLost : .badAnswer, "")) {
                try await lost.requestResponse()
            }
            #expect(rest.remaining == 0)
        }
        let (gone, rest) = Self.card(.exchange(request, .tagRemoved))
        await #expect(throws: TagError(.tagLost, "")) { try await gone.requestResponse() }
        #expect(rest.remaining == 0)
    }

    @Test func `An answer of FeliCa has its length, code, IDm and what was asked for`() async throws {
        func response(_ answer: String) async -> TagError.Code? {
            let (card, _) = Self.card(.exchange("0a04" + Self.idm, answer))
            do throws(TagError) {
                _ = try await card.requestResponse()
                return nil
            } catch {
                return error.code
            }
        }
        for wrong in [
            "0b04" + Self.idm + "00", "0c05" + Self.idm + "00", "0905" + Self.idm.dropLast(2), "0a05" + Self.idm,
            "0c05" + Self.idm + "0000", "",
        ] {
            #expect(await response(wrong) == .badAnswer, "\(wrong)")
        }
        #expect(await response("0b05" + "ff" + Self.idm.dropFirst(2) + "00") == .tagLost)
        func codes(_ answer: String) async throws -> [UInt16] {
            let (card, _) = Self.card(.exchange("0a0c" + Self.idm, answer))
            return try await card.requestSystemCodes()
        }
        #expect(try await codes("0f0d" + Self.idm + "02 12fc 88b4") == [0x12FC, 0x88B4])
        #expect(try await codes("0b0d" + Self.idm + "00") == [])
        for wrong in ["0d0d" + Self.idm + "0212fc", "0a0d" + Self.idm, "0c0d" + Self.idm + "0112"] {
            await #expect(throws: TagError(.badAnswer, "")) { try await codes(wrong) }
        }
        for wrong in ["0d03" + Self.idm + "02 0100", "0d03" + Self.idm + "02 0000", "0f03" + Self.idm + "01 01000200"] {
            let (card, _) = Self.card(.exchange("0d02" + Self.idm + "010b00", wrong))
            await #expect(throws: TagError(.badAnswer, "")) { try await card.requestService([0x000B]) }
        }
    }

    @Test func `Blocks of a FeliCa card are as many as were asked for, or a status`() async throws {
        let block = String(repeating: "ab", count: 16)
        func read(_ answer: String, blocks: Int = 1) async throws -> Result<[UInt8], FeliCaCard.Status> {
            let elements = (0..<blocks).map { FeliCaCommand.BlockElement(block: UInt16($0)) }
            let list = elements.map { hex($0.bytes) }.joined()
            let request = hex([UInt8(14 + 2 * blocks)]) + "06" + Self.idm + "010b00" + hex([UInt8(blocks)]) + list
            let (card, _) = Self.card(.exchange(request, answer))
            return try await card.read(services: [0x000B], blocks: elements)
        }
        #expect(try await read("1d07" + Self.idm + "000001" + block) == .success(bytes(block)))
        #expect(
            try await read("2d07" + Self.idm + "000002" + block + block, blocks: 2) == .success(bytes(block + block))
        )
        #expect(try await read("0c07" + Self.idm + "01a8") == .failure(.init(flag1: 1, flag2: 0xA8)))
        for wrong in [
            "1d07" + Self.idm + "000002" + block, "0d07" + Self.idm + "000001", "0b07" + Self.idm + "00",
            "2d07" + Self.idm + "000001" + block + block,
        ] {
            await #expect(throws: TagError(.badAnswer, "")) { try await read(wrong) }
        }
        #expect(
            FeliCaCard.Status(flag1: 0xFF, flag2: 0xA6).description == "status flags ff a6"
                && !FeliCaCard.Status(flag1: 1, flag2: 0).isSuccess
        )
        let (card, _) = Self.card(.exchange("2008" + Self.idm + "010900018005" + block, "0c09" + Self.idm + "0000"))
        let status = try await card.write(services: [0x0009], blocks: [.init(block: 5)], data: bytes(block))
        #expect(status.isSuccess)
    }

    @Test(.ownThreads) func `FeliCa commands have their codes, and blocks their two forms`() async {
        let id = bytes(Self.idm)
        #expect(hex(FeliCaCommand.requestServiceV2(idm: id, nodes: [0x1234])) == "0d32" + Self.idm + "013412")
        #expect(hex(FeliCaCommand.requestSpecificationVersion(idm: id)) == "0c3c" + Self.idm + "0000")
        #expect(hex(FeliCaCommand.resetMode(idm: id)) == "0c3e" + Self.idm + "0000")
        #expect(hex(FeliCaCommand.requestSystemCode(idm: id)) == "0a0c" + Self.idm)
        #expect(
            hex(FeliCaCommand.BlockElement(block: 255).bytes) == "80ff"
                && hex(FeliCaCommand.BlockElement(block: 256).bytes) == "000001"
        )
        #expect(hex(FeliCaCommand.BlockElement(block: 1, service: 0x1F, accessMode: 0x0A).bytes) == "af01")
        #expect(FeliCaCommand.make(0, idm: id, [UInt8](repeating: 0, count: 245)).count == 255)
        await #expect(processExitsWith: .failure) {
            _ = FeliCaCommand.make(0, idm: [], [UInt8](repeating: 0, count: 254))
        }
    }

    @Test(.ownThreads) func `A FeliCa target has eight bytes of IDm and eight of PMm`() async {
        await #expect(processExitsWith: .failure) {
            _ = NFCFTarget(idm: [UInt8](repeating: 2, count: 7), pmm: [UInt8](repeating: 0, count: 8), systemCode: nil)
        }
        await #expect(processExitsWith: .failure) {
            _ = NFCFTarget(idm: [UInt8](repeating: 2, count: 8), pmm: [UInt8](repeating: 0, count: 9), systemCode: nil)
        }
    }

    @Test func `The time of each kind of FeliCa command is in a byte of its own of PMm`() {
        let target = NFCFTarget(idm: bytes(Self.idm), pmm: bytes("00f0 01 0a 53 9c ee ff"), systemCode: nil)
        let times: [(NFCFTarget.TimingClass, Int, Int64)] = [
            (.requestService, 3, (2 + 3) * 4096), (.fixed, 0, 3 * 4096), (.authenticate, 1, (4 + 3) * 4096 << 2),
            (.read, 2, (5 + 4 * 2) * 4096 << 4), (.write, 1, (7 + 6) * 4096 << 6), (.other, 1, (8 + 8) * 4096 << 6),
        ]
        for (kind, count, periods) in times {
            #expect(target.maximumResponseTime(kind, count: count).carrierPeriods == periods)
        }
        #expect(target.isLite && target.icCode == 0xF0)
        #expect(!NFCFTarget(idm: bytes(Self.idm), pmm: bytes("00f2000000000000"), systemCode: nil).isLite)
    }
}
