// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

private let idm = "02 fe 00 11 22 33 44 55"
private let zero = String(repeating: " 00", count: 8)
private let data = String(repeating: " 55", count: 16)

/// Sends a FeliCa command with its length byte. `IDM` and `DATA` stand for the card's IDm and 16 bytes.
private func send(_ script: LinkScript, _ command: String) async -> String {
    let body = hex(command.replacing("IDM", with: idm).replacing("DATA", with: data))
    return await script.send(hexText([UInt8(body.count + 1)] + body))
}

/// Checks FeliCa Lite-S at the ends of its blocks and counters.
@Suite struct `FeliCa Lite-S at its limits` {
    private func makeScript(_ change: (inout FeliCaLiteSContents) -> Void = { _ in }) throws -> LinkScript {
        var contents = FeliCaLiteSContents(idm: hex(idm))
        change(&contents)
        return try LinkScript(.nfcF, VirtualType3Tag(contents))
    }

    private func write(_ script: LinkScript, _ block: String, _ bytes: String) async -> String {
        String(await send(script, "08 IDM 01 09 00 01 80 \(block) \(bytes)").suffix(5))
    }

    private func read(_ script: LinkScript, _ block: String) async -> String {
        let answer = hex(await send(script, "06 IDM 01 0b 00 01 80 \(block)"))
        return hexText(answer.dropFirst(answer.count == 12 ? 10 : 13))
    }

    @Test(arguments: [
        ("08 IDM 01 09 00 01 81 01 DATA", "01 a3"), ("08 IDM 01 09 00 01 90 01 DATA", "01 a7"),
        ("08 IDM 01 09 00 01 00 01 01 DATA", "01 a8"), ("08 IDM 01 09 00 01 80 0f DATA", "01 a8"),
        ("08 IDM 02 09 00 09 00 01 80 01 DATA", "ff a1"), ("08 IDM 00 01 80 01 DATA", "ff a1"),
        ("08 IDM 01 09 00 00", "ff a2"), ("08 IDM 01 09 00 03 80 01 80 02 80 03 DATA DATA DATA", "ff a2"),
        ("06 IDM 00 01 80 00", "ff a1"), ("06 IDM 01 0a 00 01 80 00", "ff a6"), ("06 IDM 01 0b 01 01 80 00", "ff a6"),
        ("06 IDM 01 0b 00 04 80 00 80 00 80 00 82 00", "08 a3"), ("06 IDM 01 0b 00 01 80 93", "01 a8"),
        ("08 IDM 01 09 00 01 80 81 DATA", "01 a5"), ("08 IDM 01 09 00 01 80 85 DATA", "01 a5"),
        ("08 IDM 01 09 00 01 80 a0 DATA", "01 a5"), ("08 IDM 01 09 00 01 80 91 DATA", "01 a5"),
        ("06 IDM 01 0b 00 02 80 91 80 91", "01 b2"),
    ]) func `Each refusal has the flags of its place`(command: String, status: String) async throws {
        let code = command.hasPrefix("06") ? "07" : "09"
        #expect(await send(try makeScript(), command) == "0c \(code) \(idm) \(status)")
    }

    @Test(arguments: [
        "08 IDM 01 09 00 01 80 01 DATA 00", "08 IDM 01 09 00 01 80 01", "06 IDM 01 0b 00 01 80 00 00",
        "06 IDM 01 0b 00 01 00 00", "06 IDM 01 0b", "06 IDM 01 0b 00", "04 IDM",
    ]) func `A command of another length is not answered`(command: String) async throws {
        #expect(await send(try makeScript(), command) == "timeout")
    }

    @Test func `The last block of user memory is 0D, and each has a bit that makes it read-only`() async throws {
        for block in 0...13 {
            let script = try makeScript()
            let number = hexText([UInt8(block)])
            #expect(await write(script, number, data) == "00 00")
            let bits = hexText([block < 8 ? ~(1 << block) : 0xFF, block < 8 ? 0xFF : ~(1 << (block - 8))])
            #expect(await write(script, "88", "\(bits) ff 01 07 00 00 00" + zero) == "00 00")
            #expect(await write(script, number, data) == "01 a5")
            for other in [(block + 1) % 14, (block + 13) % 14] {
                #expect(await write(script, hexText([UInt8(other)]), data) == "00 00")
            }
        }
    }

    @Test func `The counters of the register go down by themselves, least significant byte first`() async throws {
        let script = try makeScript()
        for (bytes, status) in [
            ("00 01 00 00 00 00 00 01", "00 00"), ("00 01 00 00 00 00 00 01", "00 00"),
            ("01 01 00 00 00 00 00 00", "01 a5"), ("00 00 00 00 01 00 00 01", "01 a5"),
            ("ff 00 00 00 ff ff ff 00", "00 00"), ("00 01 00 00 00 00 00 00", "01 a5"),
            ("00 00 00 00 00 00 00 00", "00 00"), ("00 00 00 00 01 00 00 00", "01 a5"),
        ] {
            #expect(await write(script, "0e", bytes + " 11 22 33 44 55 66 77 88") == status, "\(bytes)")
        }
        // What is not a counter is kept as it is written.
        #expect(await read(script, "0e") == "00 00 00 00 00 00 00 00 11 22 33 44 55 66 77 88")
    }

    @Test func `The identifier keeps its first half, and takes the second`() async throws {
        let script = try makeScript()
        #expect(await write(script, "82", "00 00 00 00 00 00 00 00 11 22 33 44 55 66 77 88") == "00 00")
        #expect(await read(script, "82") == "\(idm) 11 22 33 44 55 66 77 88")
        #expect(await write(script, "84", data) == "00 00")
        #expect(await read(script, "84") == hexText(hex(data)))
        #expect(await read(script, "a0") == hexText([UInt8](repeating: 0, count: 16)))
        #expect(await read(try makeScript { $0.deviceIdentifier = hex(data) }, "83") == hexText(hex(data)))
        #expect(await write(script, "86", data) == "00 00")
        #expect(await read(script, "86") == hexText(hex(data)))
    }

    @Test(arguments: [(0xFE, 0xFF), (0xFFFF, 0x1_0000), (0xFF_FFFE, 0xFF_FFFF), (0xFF_FFFF, 0xFF_FFFF)])
    func `The counter of writes has three bytes, and stops at its end`(before: Int, after: Int) async throws {
        let script = try makeScript { $0.writeCounter = UInt32(before) }
        #expect(await write(script, "01", data) == "00 00")
        let bytes = hexText([UInt8(after & 0xFF), UInt8(after >> 8 & 0xFF), UInt8(after >> 16)])
        #expect(await read(script, "90") == bytes + String(repeating: " 00", count: 13))
    }

    @Test func `A code over nothing is zero, and one without a challenge is refused`() async throws {
        let script = try makeScript()
        #expect(await read(script, "81") == hexText([UInt8](repeating: 0, count: 16)))
        #expect(await read(script, "91") == "01 b2")
        #expect(await write(script, "80", data) == "00 00")
        #expect(await read(script, "91") == hexText([UInt8](repeating: 0, count: 16)))
    }

    @Test func `STATE is open with 01 alone, and closed by another challenge`() async throws {
        let script = try makeScript { $0.memoryConfiguration[6] = 0x01 }
        #expect(await read(script, "00") == "01 b1")
        for (value, isOpen) in [("02", false), ("01", true), ("00", false), ("01", true)] {
            #expect(await write(script, "92", value + " 00 00 00 00 00 00 00" + zero) == "00 00")
            #expect((await read(script, "00") == "01 b1") == !isOpen)
            #expect(await read(script, "92").hasPrefix(isOpen ? "01" : "00"))
        }
        #expect(await write(script, "80", data) == "00 00")
        #expect(await read(script, "00") == "01 b1")
    }

    @Test(arguments: 6...12) func `What was restricted stays so while the system blocks are open`(byte: Int)
        async throws
    {
        let script = try makeScript()
        let open = hex(await read(script, "88"))
        var restricted = open
        restricted[byte] = 0x01
        #expect(await write(script, "88", hexText(restricted)) == "00 00")
        #expect(await write(script, "88", hexText(open)) == "00 00")
        #expect(hex(await read(script, "88")) == restricted)
        if byte == 6 { #expect(await read(script, "00") == "01 b1") }
    }

    @Test func `The register is guarded like any other block, and a proof opens it`() async throws {
        let script = try makeScript {
            $0.memoryConfiguration[7] = 0x40
            $0.register = (1...16).map { UInt8($0) }
        }
        #expect(await read(script, "0e") == "01 b1")
        #expect(await write(script, "92", "01" + String(repeating: " 00", count: 15)) == "00 00")
        #expect(await read(script, "0e") == hexText((1...16).map { UInt8($0) }))
    }

    @Test func `A time slot of polling has 16384 carrier periods`() throws {
        let tag = VirtualType3Tag(FeliCaLiteSContents(idm: hex(idm)))
        var slots: Set<Int> = []
        for _ in 0..<64 {
            let answer = try #require(tag.answer(Frame(hex("06 00 ff ff 00 0f")), disturbance: nil))
            let slot = try #require(answer.slot)
            #expect(answer.workTime == Airtime(carrierPeriods: 16384 * Int64(slot)))
            slots.insert(slot)
        }
        #expect(slots.count > 4 && slots.isSubset(of: Set(0..<16)))
    }
}

/// Checks FeliCa Standard with several services, systems and areas.
@Suite struct `FeliCa Standard with several services` {
    private static let files = [
        FeliCaFile(serviceCodes: [0x0009, 0x000B], memory: [UInt8](repeating: 1, count: 160)),
        FeliCaFile(serviceCodes: [0x0049], memory: [UInt8](repeating: 2, count: 32), keyVersion: 0x0102),
        FeliCaFile(serviceCodes: [0x008D, 0x008F], memory: [UInt8](repeating: 3, count: 33)),
        FeliCaFile(serviceCodes: [0x00C8], memory: [UInt8](repeating: 4, count: 16)),
    ]

    private func makeScript(
        _ change: (inout FeliCaSystem) -> Void = { _ in }
    ) throws -> (LinkScript, VirtualType3Tag) {
        var system = FeliCaSystem(code: 0xFE00, files: Self.files)
        change(&system)
        let tag = VirtualType3Tag(FeliCaStandardContents(idm: hex(idm), systems: [system]))
        return (try LinkScript(.nfcF, tag), tag)
    }

    private func memory(_ tag: VirtualType3Tag) -> [[UInt8]] {
        guard case .standard(let contents) = tag.contents else { return [] }
        return contents.systems[0].files.map(\.memory)
    }

    @Test func `Blocks of several services are read and written in one command`() async throws {
        let (script, tag) = try makeScript()
        let answer = hex(await send(script, "06 IDM 03 0b 00 49 00 8f 00 04 80 00 81 01 82 02 80 09"))
        #expect(Array(answer.dropFirst(10).prefix(3)) == [0, 0, 4])
        // A file whose memory is no whole number of blocks is filled up.
        let blocks = stride(from: 13, to: answer.count, by: 16).map { Array(answer[$0..<$0 + 16]) }
        #expect(blocks.map { $0[0] } == [1, 2, 3, 1] && blocks[2][1...].allSatisfy { $0 == 0 })
        let written = "08 IDM 02 09 00 49 00 03 80 09 81 01 80 00" + data + String(repeating: "66", count: 32)
        #expect(await send(script, written) == "0c 09 \(idm) 00 00")
        let memory = memory(tag)
        #expect(memory[0][..<16].allSatisfy { $0 == 0x66 } && memory[0][16..<144].allSatisfy { $0 == 1 })
        #expect(memory[0][144...].allSatisfy { $0 == 0x55 })
        #expect(memory[1][..<16].allSatisfy { $0 == 2 } && memory[1][16...].allSatisfy { $0 == 0x66 })
        #expect(script.link.statistics.tagWorkTime == .milliseconds(6))
    }

    @Test(arguments: [
        ("06 IDM 00 01 80 00", "ff a1"), ("06 IDM 11" + String(repeating: "0b00", count: 17) + "01 80 00", "ff a1"),
        ("06 IDM 01 0b 00 00", "ff a2"), ("06 IDM 01 0b 00 10" + String(repeating: "8000", count: 16), "ff a2"),
        ("06 IDM 02 0b 00 ff 0f 01 80 00", "ff a6"), ("06 IDM 01 0b 00 02 80 00 81 00", "02 a3"),
        ("06 IDM 01 0b 00 02 80 00 90 00", "02 a7"), ("06 IDM 01 0b 00 01 80 0a", "01 a8"),
        ("06 IDM 01 c8 00 01 80 00", "01 a5"), ("08 IDM 01 0b 00 01 80 00 DATA", "01 a5"),
        ("08 IDM 01 8f 00 01 80 00 DATA", "01 a5"), ("08 IDM 01 8d 00 01 80 01 DATA", "01 a8"),
        ("06 IDM 01 0b 00 09" + String(repeating: "8000", count: 8) + "80 0a", "01 a8"),
        ("06 IDM 01 0b 00 08" + String(repeating: "8000", count: 7) + "80 0a", "80 a8"),
    ]) func `Each refusal has the flags of its place`(command: String, status: String) async throws {
        let (script, tag) = try makeScript()
        let before = memory(tag)
        let code = command.hasPrefix("06") ? "07" : "09"
        #expect(await send(script, command) == "0c \(code) \(idm) \(status)")
        #expect(memory(tag) == before)
    }

    @Test func `Of two files with one service the first counts`() async throws {
        let (script, tag) = try makeScript {
            let memory = [UInt8](repeating: 5, count: 64)
            $0.files.append(FeliCaFile(serviceCodes: [0x0049], memory: memory, keyVersion: 9))
        }
        let head = "1d 07 \(idm) 00 00 01"
        #expect(await send(script, "06 IDM 01 49 00 01 80 00") == head + String(repeating: " 02", count: 16))
        #expect(await send(script, "06 IDM 01 49 00 01 80 02") == "0c 07 \(idm) 01 a8")
        #expect(await send(script, "02 IDM 01 49 00") == "0d 03 \(idm) 01 02 01")
        #expect(await send(script, "08 IDM 01 49 00 01 80 01 DATA") == "0c 09 \(idm) 00 00")
        let memory = memory(tag)
        #expect(memory[1][16] == 0x55 && memory[4].allSatisfy { $0 == 5 })
    }

    @Test(
        arguments: [
            ([], 15, 13), ([0x10], 15, 13), ([0x10, 4], 4, 13), ([0x10, 4, 1], 4, 1), ([0x10, 0, 0], 15, 13),
        ] as [([UInt8], Int, Int)]
    )
    func `An NDEF system reads and writes as many blocks as its memory says`(memory: [UInt8], read: Int, write: Int) {
        let system = FeliCaSystem(ndef: memory)
        #expect(system.maximumRead == read && system.maximumWrite == write)
    }

    @Test func `As many blocks and services as there may be`() async throws {
        let (script, _) = try makeScript()
        let fifteen = await send(script, "06 IDM 01 0b 00 0f" + String(repeating: "8001", count: 15))
        #expect(hex(fifteen).count == 13 + 15 * 16)
        let services = await send(script, "06 IDM 10" + String(repeating: "0b00", count: 16) + "01 8f 09")
        #expect(hex(services).count == 13 + 16)
        let thirteen =
            "08 IDM 01 09 00 0d" + String(repeating: "8001", count: 13) + String(repeating: "DATA", count: 13)
        #expect(await send(script, thirteen) == "0c 09 \(idm) 00 00")
    }

    @Test func `An answer that no frame holds is not given`() async throws {
        let (script, _) = try makeScript { $0.maximumRead = 255 }
        let most = await send(script, "06 IDM 01 0b 00 0f" + String(repeating: "8001", count: 15))
        #expect(hex(most).count == 253)
        #expect(await send(script, "06 IDM 01 0b 00 10" + String(repeating: "8001", count: 16)) == "timeout")
    }

    @Test(arguments: [
        "02 IDM 00", "02 IDM 02 0b 00", "02 IDM 01 0b 00 00", "04 IDM 00", "0c IDM 00", "0a IDM 00", "10 IDM",
    ])
    func `A command of another length is not answered`(command: String) async throws {
        #expect(await send(try makeScript().0, command) == "timeout")
    }

    @Test func `Up to 32 nodes are asked for their key versions`() async throws {
        let (script, _) = try makeScript {
            $0.keyVersion = 0x0A0B
            $0.nodeKeyVersions = [0x0009: 0x0C0D]
            $0.areas = [FeliCaArea(code: 0x1000)]
        }
        let nodes = "02 IDM 07 09 00 0b 00 49 00 00 00 ff ff 00 10 01 10"
        #expect(
            await send(script, nodes)
                == "19 03 \(idm) 07 0d 0c 00 00 02 01 00 00 0b 0a 00 00 ff ff"
        )
        let most = await send(script, "02 IDM 20" + String(repeating: "4900", count: 32))
        #expect(hex(most) == [75, 3] + hex(idm) + [32] + [[UInt8]](repeating: [2, 1], count: 32).flatMap(\.self))
        #expect(await send(script, "02 IDM 21" + String(repeating: "4900", count: 33)) == "timeout")
    }

    @Test func `Areas and services are listed in the order of their codes, with the areas' ends`() async throws {
        let (script, _) = try makeScript {
            $0.areas = [
                FeliCaArea(code: 0x0040, firstService: 2, lastService: 4), FeliCaArea(code: 0x2000, end: 0x2FFF),
                FeliCaArea(code: 0x3000, firstService: 1, lastService: 0),
            ]
        }
        var nodes: [String] = []
        for index in 0..<16 {
            let answer = String(await send(script, "0a IDM \(hexText([UInt8(index)])) 00").dropFirst(30))
            nodes.append(answer)
            if answer == "ff ff" { break }
        }
        #expect(
            nodes == [
                "00 00 fe ff", "09 00", "0b 00", "40 00 8f 00", "49 00", "8d 00", "8f 00", "c8 00", "00 20 ff 2f",
                "00 30 00 30", "ff ff",
            ]
        )
        #expect(await send(script, "0a IDM 00 01").hasSuffix("ff ff"))
    }

    @Test func `A power cut leaves all blocks of a write, or none`() async throws {
        var outcomes: Set<[UInt8]> = []
        for tear in [TornWrite.old, .new] + (0..<8).map({ .mixed(seed: $0) }) {
            let (script, tag) = try makeScript()
            script.field.arm(.tear(duringWrite: 1, leaving: tear))
            #expect(await send(script, "08 IDM 02 09 00 49 00 02 80 00 81 00 DATA DATA") == "timeout")
            let memory = memory(tag)
            #expect([[1, 2], [0x55, 0x55]].contains([memory[0][0], memory[1][0]]))
            if tear == .old { #expect(memory[0][0] == 1) }
            if tear == .new { #expect(memory[0][0] == 0x55) }
            outcomes.insert([memory[0][0]])
        }
        #expect(outcomes.count == 2)
    }

    @Test func `The number of a system in the IDm goes round after F`() async throws {
        let contents = FeliCaStandardContents(
            idm: hex("f2 fe 00 11 22 33 44 55"),
            systems: [
                FeliCaSystem(code: 0x0003, files: [Self.files[0]]), FeliCaSystem(code: 0xFE00, files: [Self.files[1]]),
            ]
        )
        let script = try LinkScript(.nfcF, VirtualType3Tag(contents))
        let rest = "fe 00 11 22 33 44 55"
        #expect(await send(script, "00 00 03 00 00").hasPrefix("12 01 f2 \(rest)"))
        #expect(await send(script, "00 fe 00 00 00").hasPrefix("12 01 02 \(rest)"))
        #expect(await send(script, "06 02 \(rest) 01 49 00 01 80 00").hasPrefix("1d 07 02 \(rest) 00 00 01 02"))
        #expect(await send(script, "06 f2 \(rest) 01 49 00 01 80 00") == "0c 07 f2 \(rest) ff a6")
        #expect(await send(script, "0c f2 \(rest)") == "0f 0d f2 \(rest) 02 00 03 fe 00")
        #expect(await send(script, "06 12 \(rest) 01 49 00 01 80 00") == "timeout")
    }
}

/// Checks what a transit card is made with.
@Suite struct `The contents of a transit card` {
    private func log(_ history: [[UInt8]]) -> [UInt8] {
        let card = FeliCaStandardContents.transitCard(idm: hex(idm), balance: 0x1234, history: history)
        return card.systems[0].files[2].memory
    }

    @Test func `are a free area, the balance and twenty journeys, each in whole blocks`() {
        let card = FeliCaStandardContents.transitCard(idm: hex(idm), balance: 0x1234)
        #expect(card.systems.map(\.code) == [0x0003])
        let files = card.systems[0].files
        #expect(files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x0088, 0x008B], [0x090C, 0x090F]])
        #expect(files.map(\.memory.count) == [32, 16, 320])
        #expect(files[0].memory.allSatisfy { $0 == 0 } && files[2].memory.allSatisfy { $0 == 0 })
        #expect(files[1].memory == hex("00 00 00 00 00 00 00 00 20 00 00 34 12 00 00 00"))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 40]) func `have a block for a journey of any length`(length: Int) {
        let journey = [UInt8](repeating: 0xAB, count: length)
        let block = (journey + [UInt8](repeating: 0, count: 16)).prefix(16)
        let log = log([journey, [0xCD]])
        #expect(log.count == 320 && log.prefix(16) == block && log[16] == 0xCD && log[17] == 0)
    }

    @Test func `have the twenty newest journeys`() {
        let log = log((0..<25).map { [UInt8](repeating: UInt8($0), count: 16) })
        #expect(log == (0..<20).flatMap { [UInt8](repeating: UInt8($0), count: 16) })
    }
}
