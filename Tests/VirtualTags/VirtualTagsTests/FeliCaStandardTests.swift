// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// FeliCa Standard (Sony M617, User's Manual).
struct FeliCaStandardTests {
    private static let idm = "02 fe 00 11 22 33 44 55"

    private static let files = [
        FeliCaFile(serviceCodes: [0x0009, 0x000B], memory: [UInt8](repeating: 1, count: 160)),
        FeliCaFile(serviceCodes: [0x0049], memory: [UInt8](repeating: 2, count: 32), keyVersion: 0x0102),
        FeliCaFile(serviceCodes: [0x008D, 0x008F], memory: [UInt8](repeating: 3, count: 33)),
        FeliCaFile(serviceCodes: [0x00C8], memory: [UInt8](repeating: 4, count: 16)),
    ]

    /// A stage with systems; the names `IDM`, `DATA` and `block 0 1`: the memory of a file's block.
    private func stage(_ systems: [FeliCaSystem], idm: String = idm) throws -> Stage {
        try stage(FeliCaStandardContents(idm: hex(idm), systems: systems))
    }

    private func stage(_ contents: FeliCaStandardContents) throws -> Stage {
        let tag = VirtualType3Tag(contents)
        let before = tag.contents
        let data = String(repeating: "55 ", count: 16)
        let names = ["IDM": hexText(contents.idm), "REST": hexText(contents.idm.dropFirst()), "DATA": data]
        return try Stage(
            .nfcF,
            [tag],
            names: names,
            verbs: [
                "block": { text in
                    guard case .standard(let contents) = tag.contents else { return "Lite" }
                    let place = text.split(separator: " ").compactMap { Int($0) }
                    return hexText(contents.systems[0].files[place[0]].memory[place[1] * 16..<place[1] * 16 + 16])
                },
                "changed": { _ in tag.contents == before ? "no" : "yes" },
            ]
        )
    }

    private func make(_ change: (inout FeliCaSystem) -> Void = { _ in }) throws -> Stage {
        var system = FeliCaSystem(code: 0xFE00, files: Self.files)
        change(&system)
        return try stage([system])
    }

    @Test func `FeliCa Standard blocks: several services are read and written in one command`() async throws {
        try await play(
            """
            == READ WITHOUT ENCRYPTION from three files, of which one was filled up to whole blocks
            06 IDM 03 0b 00 49 00 8f 00 04 80 00 81 01 82 02 80 09 -> 4d 07 IDM 00 00 04 01*16 02*16 03 00*15 01*16
            == WRITE WITHOUT ENCRYPTION to two files takes the time of three blocks
            08 IDM 02 09 00 49 00 03 80 09 81 01 80 00 DATA 66*32 -> 0c 09 IDM 00 00; work -> 6000; block 0 0 -> 66*16
            block 0 1 -> 01*16; block 0 8 -> 01*16; block 0 9 -> 55*16; block 1 0 -> 02*16; block 1 1 -> 66*16
            == As many blocks and services as there may be
            06 IDM 01 0b 00 0f 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 80 01 -> #253
            06 IDM 10 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 0b 00 01 8f 09 -> #29
            ** A refusal has the flags of its place, and changes nothing
            06 IDM 00 01 80 00 -> 0c 07 IDM ff a1; changed -> no
            06 IDM 11 00*34 01 80 00 -> 0c 07 IDM ff a1; changed -> no
            06 IDM 01 0b 00 00 -> 0c 07 IDM ff a2; changed -> no
            06 IDM 01 0b 00 10 80*32 -> 0c 07 IDM ff a2; changed -> no
            06 IDM 02 0b 00 ff 0f 01 80 00 -> 0c 07 IDM ff a6; changed -> no
            06 IDM 01 0b 00 02 80 00 81 00 -> 0c 07 IDM 02 a3; changed -> no
            06 IDM 01 0b 00 02 80 00 90 00 -> 0c 07 IDM 02 a7; changed -> no
            06 IDM 01 0b 00 01 80 0a -> 0c 07 IDM 01 a8; changed -> no
            06 IDM 01 c8 00 01 80 00 -> 0c 07 IDM 01 a5; changed -> no
            08 IDM 01 0b 00 01 80 00 DATA -> 0c 09 IDM 01 a5; changed -> no
            08 IDM 01 8f 00 01 80 00 DATA -> 0c 09 IDM 01 a5; changed -> no
            08 IDM 01 8d 00 01 80 01 DATA -> 0c 09 IDM 01 a8; changed -> no
            06 IDM 01 0b 00 09 80 00 80 00 80 00 80 00 80 00 80 00 80 00 80 00 80 0a -> 0c 07 IDM 01 a8
            06 IDM 01 0b 00 08 80 00 80 00 80 00 80 00 80 00 80 00 80 00 80 0a -> 0c 07 IDM 80 a8
            ** A command of another length is not answered
            02 IDM 00 -> -
            02 IDM 02 0b 00 -> -
            02 IDM 01 0b 00 00 -> -
            04 IDM 00 -> -
            0c IDM 00 -> -
            0a IDM 00 -> -
            10 IDM -> -
            """
        ) { _ in try make() }
        let thirteen = String(repeating: " 80 01", count: 13) + " 55*208"
        try await make().check("08 IDM 01 09 00 0d\(thirteen) -> 0c 09 IDM 00 00")
    }

    @Test func `FeliCa Standard cyclic file: a new record is in front, and the oldest is lost`() async throws {
        let file = FeliCaFile(serviceCodes: [0x010D], memory: hex("11") + Array(repeating: 0, count: 31))
        try await play(
            """
            == A new record is in front
            08 IDM 01 0d 01 01 80 00 22*16 -> 0c 09 IDM 00 00; 06 IDM 01 0d 01 02 80 00 80 01 -> .. 02 22*16 11 00*15
            08 IDM 01 0d 01 02 80 00 80 00 33*16 44*16 -> 0c 09 IDM 00 00
            06 IDM 01 0d 01 02 80 00 80 01 -> .. 02 44*16 33*16; 08 IDM 01 0d 01 01 80 01 55*16 -> 0c 09 IDM 01 a8
            """
        ) { _ in try stage([FeliCaSystem(code: 0xFE00, files: [file])]) }
    }

    @Test func `FeliCa Standard systems: each has its IDm, limits, nodes and key versions`() async throws {
        try await play(
            """
            == An NDEF system keeps to Nbr and Nbw of its attribute block (NFC Forum T3T, 6.1)
            06 IDM 01 0b 00 02 80 00 00 2c 01 -> 2d 07 IDM 00 00 02 ..; 06 IDM 01 0b 00 01 00 2d 01 -> 0c 07 IDM 01 a8
            06 IDM 01 0b 00 03 80 00 80 01 80 02 -> 0c 07 IDM ff a2
            08 IDM 01 09 00 01 00 2c 01 DATA -> 0c 09 IDM 00 00
            08 IDM 01 09 00 02 80 01 80 02 DATA DATA -> 0c 09 IDM ff a2
            """
        ) { _ in try stage([FeliCaSystem(ndefBlocks: 300, maximumRead: 2, maximumWrite: 1)]) }
        try await play(
            """
            == The number of a system is in the first half byte of its IDm, and goes round after F
            00 00 03 00 00 -> 12 01 f2 REST ..; 00 fe 00 00 00 -> 12 01 02 REST ..
            06 02 REST 01 49 00 01 80 00 -> 1d 07 02 REST 00 00 01 02 ..
            06 f2 REST 01 49 00 01 80 00 -> 0c 07 f2 REST ff a6; 0c f2 REST -> 0f 0d f2 REST 02 00 03 fe 00
            06 12 REST 01 49 00 01 80 00 -> -
            """
        ) { _ in
            let systems = [
                FeliCaSystem(code: 0x0003, files: [Self.files[0]]), FeliCaSystem(code: 0xFE00, files: [Self.files[1]]),
            ]
            return try stage(systems, idm: "f2 fe 00 11 22 33 44 55")
        }
        try await play(
            """
            == REQUEST SERVICE: key versions of up to 32 nodes
            02 IDM 07 09 00 0b 00 49 00 00 00 ff ff 00 10 01 10 -> 19 03 IDM 07 0d 0c 00 00 02 01 00 00 0b 0a 00 00 ff ff
            02 IDM 20 00*64 -> 4b 03 IDM 20 00*64; 02 IDM 21 00*66 -> -
            == SEARCH SERVICE CODE: nodes in the order of their codes, areas with their ends
            0a IDM 00 00 -> .. 00 00 fe ff; 0a IDM 01 00 -> .. 09 00; 0a IDM 02 00 -> .. 0b 00
            0a IDM 03 00 -> .. 40 00 8f 00; 0a IDM 04 00 -> .. 49 00; 0a IDM 05 00 -> .. 8d 00
            0a IDM 06 00 -> .. 8f 00; 0a IDM 07 00 -> .. c8 00; 0a IDM 08 00 -> .. 00 10 00 10
            0a IDM 09 00 -> .. 00 20 ff 2f; 0a IDM 0a 00 -> .. 00 30 00 30; 0a IDM 0b 00 -> .. ff ff
            0a IDM 00 01 -> .. ff ff
            """
        ) { _ in
            try make {
                $0.keyVersion = 0x0A0B
                $0.nodeKeyVersions = [0x0009: 0x0C0D]
                $0.areas = [
                    FeliCaArea(code: 0x0040, firstService: 2, lastService: 4), FeliCaArea(code: 0x2000, end: 0x2FFF),
                    FeliCaArea(code: 0x3000, firstService: 1, lastService: 0), FeliCaArea(code: 0x1000),
                ]
            }
        }
        let limits: [([UInt8], Int, Int)] = [
            ([], 15, 13), ([0x10], 15, 13), ([0x10, 4], 4, 13), ([0x10, 4, 1], 4, 1), ([0x10, 0, 0], 15, 13),
        ]
        for (memory, read, write) in limits {
            let system = FeliCaSystem(ndef: memory)
            #expect(system.maximumRead == read && system.maximumWrite == write, "\(memory)")
        }
    }

    @Test func `FeliCa Standard power cut: all blocks of a write are new, or none`() async throws {
        let write = "08 IDM 02 09 00 49 00 02 80 00 81 00 DATA DATA -> -"
        for (rest, left) in [
            ("old", "block 0 0 -> 01*16; block 1 0 -> 02*16"), ("new", "block 0 0 -> 55*16; block 1 0 -> 55*16"),
        ] {
            try await make().check("arm write 1 tear \(rest); \(write); \(left)")
        }
    }

    @Test func `Transit card: balance and the 20 newest journeys are in the services of a Suica card`() async throws {
        let journey = "16 01 00 02 2b 5a e3 0d 27 11 d2 04 00 00 01 00"
        try await play(
            """
            == A balance reader's exchanges
            00 00 03 01 00 -> .. 00 03; 02 IDM 03 8b 00 0f 09 cb 10 -> 11 03 IDM 03 00 00 00 00 ff ff
            04 IDM -> 0b 05 IDM 00; 0c IDM -> 0d 0d IDM 01 00 03
            06 IDM 01 8b 00 01 80 00 -> 1d 07 IDM 00 00 01 00*8 20 00 00 d2 04 00 00 00
            06 IDM 01 0f 09 01 80 00 -> 1d 07 IDM 00 00 01 \(journey); 06 IDM 01 0f 09 01 80 14 -> 0c 07 IDM 01 a8
            06 IDM 01 88 00 01 80 00 -> 0c 07 IDM 01 a5; 08 IDM 01 8b 00 01 80 00 DATA -> 0c 09 IDM 01 a5
            0a IDM 00 00 -> 0e 0b IDM 00 00 fe ff; 0a IDM 01 00 -> 0c 0b IDM 48 00; 0a IDM 07 00 -> 0c 0b IDM ff ff
            """
        ) { _ in
            try stage(.transitCard(idm: hex("01 01 0a 10 11 12 13 14"), balance: 1234, history: [hex(journey)]))
        }
        // Each journey is a block, and the twenty newest are kept.
        for length in [0, 15, 16, 17] {
            let history = [[UInt8](repeating: 0xAB, count: length), [0xCD]] + (2..<25).map { [UInt8($0)] }
            let card = FeliCaStandardContents.transitCard(idm: hex(Self.idm), balance: 0x1234, history: history)
            #expect(card.pmm == hex("10 0b 4b 42 84 85 d0 ff") && card.systems.map(\.code) == [0x0003])
            #expect(card.systems[0].maximumRead == 12 && card.systems[0].maximumWrite == 8)
            let files = card.systems[0].files
            #expect(files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x0088, 0x008B], [0x090C, 0x090F]])
            #expect(files[0].memory == [UInt8](repeating: 0, count: 32) && files[1].memory.count == 16)
            let blocks = history.prefix(20).flatMap { ($0 + [UInt8](repeating: 0, count: 16)).prefix(16) }
            #expect(files[2].memory == blocks, "\(length)")
        }
    }
}
