// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver

/// Checks what goes over the serial line while tags are looked for: the commands of the PN532 user manual (7.2 and 7.3).
@Suite(.timeLimit(.minutes(5)))
struct ExactDiscoveryTests {
    private static func tags(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16] = [],
        _ responder: @escaping ScriptedChip.PartialResponder
    ) async throws -> (tags: [DiscoveredTag], log: [String]) {
        let chip = try ScriptedChip(responder)
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tags = try await reader.discover(technologies, systemCodes: systemCodes)
        let log = chip.log()
        #expect(log.prefix(7) == ScriptedChip.start[...] + ScriptedChip.restart)
        return (tags, Array(log.dropFirst(7)))
    }

    @Test("An empty field is looked through in the order B, F, A and Type 1; NFC-V is not there to be asked for")
    func empty() async throws {
        let (tags, log) = try await Self.tags(Set(Technology.allCases), systemCodes: [0x12FC, 0x0003]) { _, _ in nil }
        #expect(tags.isEmpty)
        #expect(
            log == [
                "4a 010300", "4a 02010012fc0100", "4a 02010012fc0103", "4a 0201000003" + "0100",
                "4a 0201000003" + "0103",
                "4a 0200", "4a 0104",
            ]
        )
        #expect(try PN532Reader("/dev/ttyS0").technologies == [.nfcA, .nfcB, .nfcF])
    }

    @Test("A PN532 that has no more to say than needed is a PN532, one with less is none")
    func firmware() async throws {
        for (answer, isOne): ([UInt8], Bool) in [
            ([0x32, 1, 4, 0], true), ([0x32, 1, 4, 7, 9], true), ([0x32, 1, 4], false), ([0x31, 1, 4, 7], false),
            ([], false),
        ] {
            let chip = try ScriptedChip { code, _ in code == 0x02 ? .answer(answer) : nil }
            defer { chip.end() }
            let reader = try PN532Reader(chip.path, limits: .patient)
            #expect(!reader.wasThere)
            do throws(LinkError) {
                try await reader.prepare()
                #expect(isOne && reader.wasThere && reader.name == "PN532 v1.4 (\(chip.path))")
            } catch {
                #expect(!isOne && error.code == .readerUnavailable, "\(answer)")
            }
        }
    }

    @Test("A setting that the chip refuses makes the reader unusable for what it refuses, not absent")
    func refused() async throws {
        let chip = try ScriptedChip { code, _ in code == 0x12 ? .syntaxError : nil }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        await #expect(throws: LinkError(.unsupported, "")) { try await reader.prepare() }
    }

    // MARK: NFC-B

    private static let listB: [UInt8] = [1, 1, 0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x81, 0x71, 1, 0]

    @Test("A card of NFC-B that the chip selected is put to sleep and woken, so that the host selects it")
    func nfcB() async throws {
        let short: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0x81, 0x71]
        for (answer, isFound): ([UInt8], Bool) in [
            (short, true), (short + [0x80], true), (short + [0x80, 1], false), (Array(short.dropLast()), false),
            ([0x51] + short.dropFirst(), false),
        ] {
            let (tags, log) = try await Self.tags([.nfcB]) { code, _ in
                code == 0x4A ? .answer(Self.listB) : code == 0x42 ? .answer([0] + answer) : nil
            }
            #expect(tags.map(\.identity) == (isFound ? [.nfcB(answer: answer)] : []))
            // 5 ms are the seventh of the chip's time-outs.
            #expect(log == ["4a 010300", "44 01", "32 02000b07", "42 050008"])
        }
    }

    @Test("A card of NFC-B that left between two steps is no card; what the chip can't do is an error")
    func lostNFCB() async throws {
        func find(_ reply: @escaping @Sendable (UInt8) -> ScriptedChip.Reply?) async throws -> [DiscoveredTag] {
            try await Self.tags([.nfcB]) { code, _ in reply(code) ?? (code == 0x4A ? .answer(Self.listB) : nil) }.tags
        }
        #expect(try await find { $0 == 0x42 ? .answer([0x01]) : nil }.isEmpty)
        #expect(try await find { $0 == 0x42 ? .answer([]) : nil }.isEmpty)
        await #expect(throws: LinkError(.unsupported, "")) { try await find { $0 == 0x42 ? .syntaxError : nil } }
        await #expect(throws: LinkError(.unsupported, "")) { try await find { $0 == 0x44 ? .syntaxError : nil } }
        // The list must have the whole answer, and be one.
        for list: [UInt8] in [
            Array(Self.listB.prefix(13)), [1, 1, 0x51] + Self.listB.dropFirst(3), [2] + Self.listB.dropFirst(),
        ] {
            await #expect(throws: LinkError(.transmission, "")) { try await find { $0 == 0x4A ? .answer(list) : nil } }
        }
        #expect(
            try await find { $0 == 0x4A ? .answer(Array(Self.listB.prefix(14))) : $0 == 0x42 ? .answer([1]) : nil }
                .isEmpty
        )
    }

    // MARK: NFC-F

    private static func polled(_ idm: UInt8, code: [UInt8] = []) -> [UInt8] {
        [UInt8(18 + code.count), 0x01] + [UInt8](repeating: idm, count: 8) + [UInt8](repeating: 0xF1, count: 8) + code
    }

    private static func nfcF(_ idm: UInt8, _ code: UInt16?) -> DiscoveredTag.Identity {
        .nfcF(idm: [UInt8](repeating: idm, count: 8), pmm: [UInt8](repeating: 0xF1, count: 8), systemCode: code)
    }

    @Test("FeliCa tags are polled for with one slot, then with four, and one that has several systems is one tag")
    func nfcF() async throws {
        let (tags, log) = try await Self.tags([.nfcF], systemCodes: [0x12FC, 0x0003, 0xFFFF]) { code, data in
            guard code == 0x4A, data.count == 7 else { return nil }
            switch (data[3], data[6]) {
            // Two collide in one slot.
            case (0x12, 0): return .answer([0])
            case (0x12, _): return .answer([2, 1] + Self.polled(1) + [2] + Self.polled(2))
            case (0x00, _): return .answer([2, 1] + Self.polled(2) + [2] + Self.polled(3, code: [0x88, 0xB4]))
            default: return .answer([1, 1] + Self.polled(4))
            }
        }
        #expect(
            tags.map(\.identity) == [
                Self.nfcF(1, 0x12FC), Self.nfcF(2, 0x12FC), Self.nfcF(3, 0x88B4), Self.nfcF(4, nil),
            ]
        )
        #expect(
            log == ["4a 02010012fc0100", "4a 02010012fc0103", "4a 0201000003" + "0100", "4a 020100ffff" + "0100"]
        )
    }

    @Test(
        "A card is one tag by the IDm of its first system, and another one whose IDm differs elsewhere is another tag"
    )
    func systemsOfOneCard() async throws {
        @Sendable func answer(_ first: UInt8, _ last: UInt8) -> [UInt8] {
            var answer = Self.polled(1)
            (answer[2], answer[9]) = (first, last)
            return answer
        }
        let (tags, _) = try await Self.tags([.nfcF], systemCodes: [0x12FC, 0x0003]) { code, data in
            guard code == 0x4A, data.count == 7 else { return nil }
            if data[3] == 0x12 { return .answer([1, 1] + answer(0x01, 1)) }
            return .answer([2, 1] + answer(0x11, 1) + [2] + answer(0x11, 2))
        }
        let idms = tags.map { tag -> [UInt8] in
            guard case .nfcF(let idm, _, _) = tag.identity else { return [] }
            return [idm[0], idm[7]]
        }
        #expect(idms == [[0x01, 1], [0x11, 2]])
    }

    @Test("A system code with a wildcard names no system, in either half")
    func wildcards() throws {
        let list = TargetList(count: 1, data: [1] + Self.polled(1))
        for (polled, code): (UInt16, UInt16?) in [(0xFFFF, nil), (0x12FF, nil), (0xFF12, nil), (0x12FC, 0x12FC)] {
            let found = try list.nfcF(polled: polled)
            #expect(found.map(\.identity) == [Self.nfcF(1, code)])
            #expect(found.first?.target == .nfcF(idm: [UInt8](repeating: 1, count: 8), systemCode: polled))
        }
    }

    @Test("A list that is cut anywhere is refused, and one with more behind it is read")
    func cutLists() throws {
        let lists: [([UInt8], @Sendable (TargetList) throws -> Int, Int)] = [
            ([1, 0, 0x44, 0, 4, 1, 2, 3, 4, 2, 0, 0x44, 0x20, 7, 1, 2, 3, 4, 5, 6, 7], { try $0.nfcA().count }, 2),
            ([1, 3, 0x44, 0x20, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], { try $0.nfcA().count }, 1),
            ([1, 0x0C, 0, 1, 2, 3, 4], { try $0.type1() == nil ? 0 : 1 }, 1),
            ([1] + Self.polled(1) + [2] + Self.polled(2, code: [1, 2]), { try $0.nfcF(polled: 0x12FC).count }, 2),
            ([1] + Array(Self.listB[2..<14]), { try $0.hasNFCB() ? 1 : 0 }, 1),
        ]
        for (data, read, count) in lists {
            #expect(try read(TargetList(count: count, data: data)) == count)
            #expect(try read(TargetList(count: count, data: data + [9, 9])) == count)
            #expect(try read(TargetList(count: 0, data: [])) == 0)
            for length in data.indices {
                #expect(throws: LinkError(.transmission, ""), "\(data.prefix(length))") {
                    try read(TargetList(count: count, data: Array(data.prefix(length))))
                }
            }
        }
        #expect(throws: LinkError(.transmission, "")) {
            try TargetList(count: 1, data: [1, 19] + Self.polled(1, code: [1]).dropFirst()).nfcF(polled: 0x12FC)
        }
        #expect(throws: LinkError(.transmission, "")) {
            try TargetList(count: 1, data: [1, 18, 2] + Self.polled(1).dropFirst(2)).nfcF(polled: 0x12FC)
        }
        #expect(throws: LinkError(.transmission, "")) {
            try TargetList(count: 1, data: [1, 0, 0x44, 0, 5, 1, 2, 3, 4, 5]).nfcA()
        }
    }

    // MARK: What is ready

    @Test("The tag that was found last and alone is worked with at once, any other is woken first")
    func ready() async throws {
        let tag: [UInt8] = [1, 1, 0, 0x44, 0, 7, 4, 1, 2, 3, 4, 5, 6]
        let answer = [0] + Array(Self.listB[2..<14])
        for (list, technologies, woken): ([UInt8], Set<Technology>, [Bool]) in [
            (tag, [.nfcA, .nfcB], [true, false]), ([0], [.nfcA, .nfcB], [true]), ([0], [.nfcB], [false]),
            ([2, 1, 0, 0x44, 0, 4, 1, 2, 3, 4, 2, 0, 0x44, 0, 4, 5, 6, 7, 8], [.nfcA], [true, true]),
        ] {
            for index in woken.indices {
                let chip = try ScriptedChip { code, data in
                    switch (code, data.dropFirst().first) {
                    case (0x4A, 0x00): .answer(list)
                    case (0x4A, 0x03): .answer(Self.listB)
                    case (0x42, _): .answer(answer)
                    default: nil
                    }
                }
                defer { chip.end() }
                let reader = try PN532Reader(chip.path, limits: .patient)
                let tags = try await reader.discover(technologies, systemCodes: [])
                try #require(tags.count == woken.count)
                let before = chip.commands.count
                try? await reader.select(tags[index])
                #expect((chip.commands.count > before) == woken[index], "\(list) \(technologies) \(index)")
            }
        }
    }
}
