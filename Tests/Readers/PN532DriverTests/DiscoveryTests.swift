// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver  // lists of targets are internal

/// The commands while tags are looked for, and while one of them is woken again (PN532 user manual, 7.2 and 7.3).
@Suite(.timeLimit(.minutes(5))) struct DiscoveryTests {
    /// The identities that are found, and the commands after the start of the chip and its field.
    private static func discover(
        on kind: ChipLineKind = .serial,
        _ technologies: Set<Technology>,
        systemCodes: [UInt16] = [],
        _ script: String
    ) async throws -> (found: [DiscoveredTag.Identity], log: [String]) {
        let chip = try ScriptedChip(on: kind, script: script)
        defer { chip.end() }
        let tags = try await chip.reader().discover(technologies, systemCodes: systemCodes)
        let log = chip.log()
        #expect(log.starts(with: ScriptedChip.start + ScriptedChip.restart))
        return (tags.map(\.identity), Array(log.dropFirst(7)))
    }

    @Test func `empty field: polled in the order B, F, A and Type 1`() async throws {
        let (found, log) = try await Self.discover(Set(Technology.allCases), systemCodes: [0x12FC, 0x0003], "")
        #expect(found.isEmpty)
        let felica = ["12fc", "0003"].flatMap { ["4a 020100\($0)0100", "4a 020100\($0)0103"] }
        #expect(log == ["4a 010300"] + felica + ["4a 0200", "4a 0104"])
    }

    @Test(arguments: ChipLineKind.allCases)
    func `tag of each type: the target list gives its identity, and no other technology is polled`(kind: ChipLineKind)
        async throws
    {
        let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
        let rows: [(String, DiscoveredTag.Identity, [String])] = [
            (ChipScript.type2, .nfcA(atqa: 0x0044, sak: 0, uid: uid), ["4a 0200"]),
            (ChipScript.card, .nfcA(atqa: 0x0044, sak: 0x20, uid: [1, 2, 3, 4]), ["4a 0200"]),
            (ChipScript.type1, .nfcA(atqa: 0x0C00, sak: nil, uid: [1, 2, 3, 4]), ["4a 0200", "4a 0104"]),
            (
                ChipScript.feliCa, .nfcF(idm: [UInt8](1...8), pmm: [UInt8](9...16), systemCode: 0x12FC),
                ["4a 02010012fc0100"]
            ),
        ]
        for (script, identity, log) in rows {
            let found = try await Self.discover(on: kind, [identity.technology], systemCodes: [0x12FC], script)
            #expect(found.found == [identity] && found.log == log)
        }
    }

    @Test func `NFC-B card: found if it answers WUPB with a valid ATQB after InDeselect`() async throws {
        let short = ChipScript.atqB
        let answers: [(String, Bool)] = [
            (short, true), (short + "80", true), (short + "8001", false), (String(short.dropLast(2)), false),
            ("51" + short.dropFirst(2), false),
        ]
        for (answer, isFound) in answers {
            let (found, log) = try await Self.discover([.nfcB], "\(ChipScript.nfcB)\n42: 00 \(answer)")
            let bytes =
                [UInt8](hexadecimal: answer.utf8, separated: true)
                ?? [UInt8](hexadecimal: answer.utf8.filter { $0 != 0x20 }) ?? []
            #expect(found == (isFound ? [.nfcB(answer: bytes)] : []), "\(answer)")
            // 5 ms are the seventh of the chip's time-outs.
            #expect(log == ["4a 010300", "44 01", "32 02000b07", "42 050008"])
        }
    }

    @Test func `NFC-B card: no tag if it does not answer WUPB; a refused command or a damaged list throws`()
        async throws
    {
        let rows: [(String, LinkError.Code?)] = [
            ("42: 01", nil), ("42:", nil), ("42: error", .unsupported), ("44: error", .unsupported),
            // The list must have the whole answer, and be one.
            ("4a: 01 01 50 01020304 00000000 0081", .transmission),
            ("4a: 01 01 51 01020304 00000000 008171 01 00", .transmission),
            ("4a: 02 01 \(ChipScript.atqB) 01 00", .transmission), ("4a: 01 01 \(ChipScript.atqB)\n42: 01", nil),
        ]
        for (line, expected) in rows {
            try await withReader("\(line)\n\(ChipScript.nfcB)") { _, reader in
                let result = await code { () async throws in
                    #expect(try await reader.discover([.nfcB], systemCodes: []).isEmpty)
                }
                #expect(result == expected, "\(line)")
            }
        }
    }

    private static func polled(_ idm: UInt8, code: String = "") -> String {
        let head = [UInt8(18 + code.utf8.count / 2), 0x01].hexText()
        return head + [UInt8](repeating: idm, count: 8).hexText() + String(repeating: "f1", count: 8) + code
    }

    private static func nfcF(_ idm: UInt8, _ code: UInt16?) -> DiscoveredTag.Identity {
        .nfcF(idm: [UInt8](repeating: idm, count: 8), pmm: [UInt8](repeating: 0xF1, count: 8), systemCode: code)
    }

    @Test func `FeliCa tags: polled with one slot, then with four; a card with several systems is one tag`()
        async throws
    {
        // Two tags collide in one slot of the first system.
        let script = """
            4a 02010012fc0100: 00
            4a 02010012fc0103: 02 01 \(Self.polled(1)) 02 \(Self.polled(2))
            4a 0201000003: 02 01 \(Self.polled(2)) 02 \(Self.polled(3, code: "88b4"))
            4a 020100ffff: 01 01 \(Self.polled(4))
            """
        let (found, log) = try await Self.discover([.nfcF], systemCodes: [0x12FC, 0x0003, 0xFFFF], script)
        #expect(found == [Self.nfcF(1, 0x12FC), Self.nfcF(2, 0x12FC), Self.nfcF(3, 0x88B4), Self.nfcF(4, nil)])
        let polls = ["4a 02010012fc0100", "4a 02010012fc0103", "4a 02010000030100", "4a 020100ffff0100"]
        #expect(log == polls)
        // The IDm of a card's other systems differs in the high bits of its first byte alone.
        let systems = """
            4a 02010012fc: 01 01 12 01 0101010101010101 f1f1f1f1f1f1f1f1
            4a 0201000003: 02 01 12 01 1101010101010101 f1f1f1f1f1f1f1f1 02 12 01 1101010101010102 f1f1f1f1f1f1f1f1
            """
        let (cards, _) = try await Self.discover([.nfcF], systemCodes: [0x12FC, 0x0003], systems)
        let idms = cards.map { if case .nfcF(let idm, _, _) = $0 { idm.hexText() } else { "" } }
        #expect(idms == ["0101010101010101", "1101010101010102"])
    }

    // MARK: Lists

    private static let polledBytes: [UInt8] =
        [18, 1] + [UInt8](repeating: 1, count: 8) + [UInt8](repeating: 0xF1, count: 8)

    @Test func `list of targets: read with more bytes behind it, and refused when cut at any byte`() throws {
        let felica = Self.polledBytes
        let atqB: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x81, 0x71]
        let lists: [([UInt8], @Sendable (TargetList) throws -> Int, Int)] = [
            ([1, 0, 0x44, 0, 4, 1, 2, 3, 4, 2, 0, 0x44, 0x20, 7, 1, 2, 3, 4, 5, 6, 7], { try $0.nfcA().count }, 2),
            ([1, 3, 0x44, 0x20, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], { try $0.nfcA().count }, 1),
            ([1, 0x0C, 0, 1, 2, 3, 4], { try $0.type1() == nil ? 0 : 1 }, 1),
            ([1] + felica + [2, 20] + felica.dropFirst() + [1, 2], { try $0.nfcF(polled: 0x12FC).count }, 2),
            ([1] + atqB, { try $0.hasNFCB() ? 1 : 0 }, 1),
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
        // A FeliCa answer of 19 bytes or with another code, and a UID of 5 bytes.
        for data: [UInt8] in [[1, 19] + felica.dropFirst() + [1], [1, 18, 2] + felica.dropFirst(2)] {
            #expect(throws: LinkError(.transmission, "")) { try TargetList(count: 1, data: data).nfcF(polled: 0x12FC) }
        }
        #expect(throws: LinkError(.transmission, "")) {
            try TargetList(count: 1, data: [1, 0, 0x44, 0, 5, 1, 2, 3, 4, 5]).nfcA()
        }
    }

    @Test func `FeliCa answer without a system code: the tag has the polled code, or nil if that has a wildcard`()
        throws
    {
        for (polled, code) in [(0x12FC, 0x12FC), (0xFFFC, nil), (0x12FF, nil), (0xFFFF, nil)] as [(UInt16, UInt16?)] {
            let found = try TargetList(count: 1, data: [1] + Self.polledBytes).nfcF(polled: polled)
            let (idm, pmm) = (Array(Self.polledBytes[2..<10]), Array(Self.polledBytes[10..<18]))
            #expect(found.map(\.identity) == [.nfcF(idm: idm, pmm: pmm, systemCode: code)], "\(polled)")
        }
    }

    // MARK: Selecting and waking

    @Test func `select of the tag found last: sends nothing; after an exchange, InListPassiveTarget with its UID`()
        async throws
    {
        let woken = "4a 0100: 01 01 0044 00 07 04010203040506"
        try await withTag("\(ChipScript.type2)\n\(woken)\n42: 00 0a") { chip, reader, link in
            try await link.send([0x60])
            let tags = try await reader.discover([.nfcA], systemCodes: [])
            await chip.expects([]) { try? await reader.select(tags[0]) }
            try await tags[0].link.send([0x60])
            await chip.expects(["4a 01008804010203040506"]) { try? await reader.select(tags[0]) }
        }
    }

    /// S(DESELECT) with a checksum that the host checks, then WUPA without one, then with one again.
    private static let asleepAndAwake = [
        "06 63026303", "08 630300", "32 02000b07", "42 c2", "08 630200633d07", "42 52", "08 630280633d00",
    ]

    @Test func `reactivation of an ISO-DEP card: put to sleep, woken, and selected by its UID, level by level`()
        async throws
    {
        let rows: [(uid: String, selects: [String])] = [
            ("08010203", ["42 93700801020308"]), ("04010203050607", ["42 9370880401028f", "42 95700305060707"]),
            ("040102030506070" + "90a0b", ["42 9370880401028f", "42 95708803050688", "42 977007090a0b0f"]),
        ]
        for (uid, selects) in rows {
            let sak = ["0020fc70", "0004da17"]
            let answers = selects.enumerated().map { index, select in
                "\(select.prefix(5)): \(index == selects.count - 1 ? sak[0] : sak[1])"
            }
            let size = [UInt8(uid.utf8.count / 2)].hexText()
            let script = ["4a 0200: 01 01 0044 20 \(size) \(uid)", "42 52: 00 44 03", "42 c2: 01"] + answers
            try await withTag(script.joined(separator: "\n")) { chip, _, link in
                try await chip.expects(Self.asleepAndAwake + selects) { try await link.reactivate() }
            }
        }
    }

    @Test(arguments: ["42 52: 01", "42 52: 00 44", "42 93: 01", "42 93: 00 04", "42 95: 00 08 fc 70"], 1...3)
    func `reactivation of an ISO-DEP card fails: listed by UID, again after a field reset, then tagRemoved`(
        step: String,
        found: Int
    ) async throws {
        let wanted = "4a 01008804010203050607"
        let list = "01 01 0044 20 07 04010203050607"
        let looks = (1...3).map { $0 == found ? list : "00" }.joined(separator: "|")
        let script = """
            \(step)
            4a 0200: \(list)
            4a 0100: \(looks)
            42 52: 00 44 03
            42 93: 00 04 da 17
            42 95: 00 20 fc 70
            42: 01
            """
        try await withTag(script) { chip, _, link in
            let log = await chip.log {
                #expect(
                    await code { try await link.reactivate() }
                        == (found == 3 ? .tagRemoved : nil)
                )
            }
            let tail = found == 1 ? [wanted] : [wanted] + ScriptedChip.restart + [wanted]
            #expect(Array(log.suffix(tail.count)) == tail)
            #expect(!log.dropLast(tail.count).contains { $0.hasPrefix("4a") })
        }
    }

    @Test
    func
        `reactivation without ISO-DEP: lists the UID with cascade tags; a tag with another UID or SAK is not used`()
        async throws
    {
        let uids = [
            ("04", "01020304", "01020304"), ("07", "04010203050607", "8804010203050607"),
            ("0a", "0401020305060709" + "0a0b", "880401028803050607090a0b"),
        ]
        for (size, uid, wanted) in uids {
            try await withTag("4a: 01 01 0044 08 \(size) \(uid)") { chip, _, link in
                try await chip.expects(["4a 0100\(wanted)"]) { try await link.reactivate() }
                try await chip.expects(ScriptedChip.restart + ["4a 0100\(wanted)"]) { try await link.resetField() }
            }
        }
        // Another SAK, and another UID.
        for other in ["01 01 0044 08 04 01020304", "01 01 0044 00 05 0102030405", "01 01 0044 00 04 01020305"] {
            try await withTag("4a 0200: 01 01 0044 00 04 01020304\n4a 0100: \(other)") { chip, _, link in
                let result = await code { try await link.reactivate() }
                #expect(result == (other.contains(" 05 ") ? .transmission : .tagRemoved), "\(other)")
                // A tag that could not be woken is sent nothing, since another one may be selected.
                #expect(await code { try await link.send([0x30, 0]) } == .tagRemoved)
                #expect(!chip.commands.contains(0x42))
            }
        }
    }

    @Test func `reactivation of Type 1 and FeliCa tags: two polls, FeliCa's with one and four slots, then tagRemoved`()
        async throws
    {
        func wake(_ technology: Technology, _ tag: String, _ command: String, listedAt look: Int?, _ polls: [String])
            async throws
        {
            // The first look finds it; it is listed again in one of the following.
            let looks = [tag] + (1...polls.count).map { $0 == look ? tag : "00" }
            try await withTag("\(command): \(looks.joined(separator: "|"))", technology) { chip, _, link in
                let log = await chip.log {
                    let result = await code { try await link.reactivate() }
                    #expect(result == (look == nil ? .tagRemoved : nil))
                }
                #expect(log == Array(polls.prefix(look ?? polls.count)))
            }
        }
        let type1 = "01 01 0c00 01020304"
        for look in [1, 2, nil] { try await wake(.nfcA, type1, "4a 0104", listedAt: look, ["4a 0104", "4a 0104"]) }
        let felica = "01 01 12 01 0102030405060708 090a0b0c0d0e0f10"
        let polls = ["4a 02010012fc0100", "4a 02010012fc0103"]
        for look in [1, 2, 3, 4, nil] { try await wake(.nfcF, felica, "4a 0201", listedAt: look, polls + polls) }
    }

    @Test
    func
        `reactivation of an NFC-B card: by WUPB, then by a new listing, then after a field reset, then tagRemoved`()
        async throws
    {
        let (list, woken) = ("01 01 \(ChipScript.atqB) 01 00", "00 \(ChipScript.atqB)")
        let (gentle, find) = (["42 c2", "42 050008"], ["4a 010300", "44 01", "42 050008"])
        // The lists of the look and of two attempts, and whether the card answers WUPB of the look and of each attempt.
        let rows: [(String, String, [String], LinkError.Code?)] = [
            ("\(list)|00", woken, gentle, nil),
            ("\(list)|\(list)", "\(woken)|01|\(woken)", gentle + find, nil),
            ("\(list)|00|\(list)", "\(woken)|01|\(woken)", gentle + ["4a 010300"] + ScriptedChip.restart + find, nil),
            ("\(list)|00", "\(woken)|01", gentle + ["4a 010300"] + ScriptedChip.restart + ["4a 010300"], .tagRemoved),
            // Another card answers: its PUPI differs in the last byte.
            (
                "\(list)|00", "\(woken)|00 50 01020309 00000000 008171",
                gentle + ["4a 010300"] + ScriptedChip.restart + ["4a 010300"], .tagRemoved
            ),
        ]
        for (lists, wakes, log, expected) in rows {
            try await withTag("4a 0103: \(lists)\n42 05: \(wakes)\n42: 01", .nfcB) { chip, _, link in
                let sent = await chip.log {
                    #expect(await code { try await link.reactivate() } == expected)
                }
                #expect(sent == log)
            }
        }
    }

    // MARK: Which tag is the reader's

    @Test func `tag of an earlier search or of a closed line: tagRemoved until the tag is found again`() async throws {
        try await withReader(ChipScript.type2 + "\n4a 0100: 00 | 01 01 0044 00 07 04010203040506\n42: 00 0a") {
            chip,
            reader in
            func expectGone(_ tag: DiscoveredTag, _ log: [String]) async throws {
                let link = try tag.link
                let sent = await chip.log {
                    #expect(await code { try await reader.select(tag) } == .tagRemoved)
                    #expect(await code { try await link.send([0x60]) } == .tagRemoved)
                    #expect(await code { try await link.reactivate() } == .tagRemoved)
                }
                #expect(sent == log)
            }
            let first = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            // One that was not found when it was woken is worked with when it is woken again.
            #expect(await code { try await first.link.reactivate() } == nil)
            try await first.link.send([0x60])
            let second = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            try await expectGone(first, [])
            await reader.release()
            // The line is opened, and no more.
            try await expectGone(second, ScriptedChip.start)
            let third = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            try await reader.select(third)
            try await third.link.send([0x60])
        }
        // A look that fails leaves none of the tags that were found before.
        try await withTag("4a 0200: 01 01 0044 00 04 01020304 | 03\n42: 00 0a") { _, reader, link in
            let look = await code { _ = try await reader.discover([.nfcA], systemCodes: []) }
            #expect(look == .transmission)
            #expect(await code { try await link.send([0x60]) } == .tagRemoved)
        }
    }
}
