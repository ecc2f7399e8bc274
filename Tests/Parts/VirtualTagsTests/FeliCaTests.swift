// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

private let idm = hex("02 fe 00 11 22 33 44 55")
private let idmText = "02 fe 00 11 22 33 44 55"

/// Sends a FeliCa command with its length byte.
private func send(_ script: LinkScript, _ command: String) async -> String {
    let body = hex(command)
    return await script.send(hexText([UInt8(body.count + 1)] + body))
}

@Suite struct `FeliCa Lite-S` {
    private func makeScript(_ change: (inout FeliCaLiteSContents) -> Void = { _ in }) throws -> (
        LinkScript, VirtualType3Tag
    ) {
        var contents = FeliCaLiteSContents(idm: idm)
        change(&contents)
        let tag = VirtualType3Tag(contents)
        return (try LinkScript(.nfcF, tag), tag)
    }

    private func read(_ script: LinkScript, _ blocks: String, service: String = "0b 00") async -> String {
        let count = hex(blocks).count / 2
        return await send(script, "06 \(idmText) 01 \(service) \(hexText([UInt8(count)])) \(blocks)")
    }

    private func write(_ script: LinkScript, _ block: String, _ data: String) async -> String {
        let answer = await send(script, "08 \(idmText) 01 09 00 01 80 \(block) \(data)")
        #expect(answer.hasPrefix("0c 09 \(idmText)"))
        return String(answer.suffix(5))
    }

    @Test(arguments: [
        ("88 b4", "88 b4"), ("12 fc", "12 fc"), ("ff ff", "88 b4"), ("12 ff", "12 fc"), ("ff b4", "88 b4"),
    ])
    func `Polling finds both system codes, with wildcards`(polled: String, answered: String) async throws {
        let (script, _) = try makeScript()
        let head = "01 \(idmText) 00 f1 00 00 00 01 43 00"
        #expect(await send(script, "00 \(polled) 00 00") == "12 \(head)")
        #expect(await send(script, "00 \(polled) 01 00") == "14 \(head) \(answered)")
        #expect(await send(script, "00 \(polled) 02 00") == "14 \(head) 00 83")
    }

    @Test func `Polling for other systems, or with a length that is wrong, is not answered`() async throws {
        let (script, _) = try makeScript { $0.supportsNDEF = false }
        #expect(await send(script, "00 12 fc 00 00") == "timeout")
        #expect(await send(script, "00 00 03 00 00") == "timeout")
        #expect(await send(script, "00 ff ff 00 02") == "timeout")
        #expect(await script.send("07 00 ff ff 00 00") == "timeout")
        #expect(await send(script, "00 ff ff 00 00").hasPrefix("12 01"))
    }

    @Test func `Up to four blocks are read at a time`() async throws {
        let (script, _) = try makeScript()
        let attributes = "10 04 01 00 0d 00 00 00 00 00 01 00 00 00 00 23"
        #expect(await read(script, "80 00") == "1d 07 \(idmText) 00 00 01 \(attributes)")
        let four = await read(script, "80 00 80 01 80 02 80 03", service: "09 00")
        #expect(four.hasPrefix("4d 07 \(idmText) 00 00 04 \(attributes) 00"))
    }

    @Test func `The system blocks hold what the manual says`() async throws {
        let (script, _) = try makeScript()
        let zero = String(repeating: " 00", count: 8)
        let head = "1d 07 \(idmText) 00 00 01 "
        #expect(await read(script, "80 82") == head + idmText + zero)
        #expect(await read(script, "80 83") == head + "\(idmText) 00 f1 00 00 00 01 43 00")
        #expect(await read(script, "80 85") == head + "88 b4 00 00 00 00 00 00" + zero)
        #expect(await read(script, "80 87") == head + "00 00 00 00 00 00 00 00" + zero)
        #expect(await read(script, "80 88") == head + "ff ff ff 01 07 00 00 00" + zero)
        #expect(await read(script, "80 0e") == head + "ff ff ff ff ff ff ff ff" + zero)
    }

    @Test(arguments: [
        ("06 IDM 02 0b 00 09 00 01 80 00", "ff a1"), ("06 IDM 01 0b 00 00", "ff a2"),
        ("06 IDM 01 0b 00 05 80 00 80 01 80 02 80 03 80 04", "ff a2"), ("06 IDM 01 0f 09 01 80 00", "ff a6"),
        ("06 IDM 01 0b 00 02 80 00 81 01", "02 a3"), ("06 IDM 01 0b 00 01 90 00", "01 a7"),
        ("06 IDM 01 0b 00 01 80 0f", "01 a8"), ("06 IDM 01 0b 00 02 80 00 00 00 01", "02 a8"),
        ("08 IDM 01 0b 00 01 80 01 DATA", "ff a6"), ("08 IDM 01 09 00 02 80 01 80 02 DATA DATA", "ff a2"),
        ("08 IDM 01 09 00 01 80 83 DATA", "01 a5"), ("08 IDM 01 09 00 01 80 90 DATA", "01 a5"),
        ("08 IDM 01 09 00 01 80 20 DATA", "01 a8"), ("08 IDM 01 09 00 02 80 01 80 91 DATA DATA", "02 b2"),
    ])
    func `Refusals and their status flags`(command: String, status: String) async throws {
        let (script, tag) = try makeScript()
        let before = tag.contents
        let data = String(repeating: "55", count: 16)
        let text = command.replacing("IDM", with: idmText).replacing("DATA", with: data)
        let code = command.hasPrefix("06") ? "07" : "09"
        #expect(await send(script, text) == "0c \(code) \(idmText) \(status)")
        #expect(tag.contents == before)
    }

    @Test func `Commands for another IDm, cut ones and those of FeliCa Standard are not answered`() async throws {
        let (script, _) = try makeScript()
        #expect(await send(script, "06 02 fe 00 11 22 33 44 56 01 0b 00 01 80 00") == "timeout")
        for command in ["06 \(idmText) 01 0b 00 02 80 00", "06 \(idmText)", "02 \(idmText) 01 0b 00", "0c \(idmText)"] {
            #expect(await send(script, command) == "timeout", "\(command)")
        }
    }

    @Test func `A write programs a block and counts`() async throws {
        let (script, tag) = try makeScript()
        let data = "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f"
        #expect(await write(script, "01", data) == "00 00")
        #expect(await read(script, "80 01 80 90").hasSuffix("\(data) 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"))
        guard case .liteS(let contents) = tag.contents else {
            Issue.record("The tag is a Lite-S.")
            return
        }
        #expect(Array(contents.userMemory[16..<32]) == hex(data))
        #expect(script.link.statistics.tagWorkTime >= .milliseconds(3))
    }

    @Test func `The memory configuration makes blocks read-only for good, and freezes itself`() async throws {
        let (script, _) = try makeScript()
        let zero = String(repeating: " 00", count: 8)
        #expect(await write(script, "88", "fd ff ff 01 07 00 00 00" + zero) == "00 00")
        #expect(await write(script, "01", "11 11 11 11 11 11 11 11" + zero) == "01 a5")
        #expect(await write(script, "02", "11 11 11 11 11 11 11 11" + zero) == "00 00")
        #expect(await write(script, "88", "ff ff ff 01 07 00 00 00" + zero) == "00 00")
        #expect(await write(script, "01", "11 11 11 11 11 11 11 11" + zero) == "01 a5")
        #expect(await write(script, "88", "ff ff 00 01 07 00 00 00" + zero) == "00 00")
        #expect(await write(script, "88", "ff ff ff 01 07 00 00 00" + zero) == "01 a5")
        #expect(await write(script, "84", "11 11 11 11 11 11 11 11" + zero) == "01 a5")
    }

    @Test func `The register only counts down`() async throws {
        let (script, _) = try makeScript()
        let zero = " 00 00 00 00 00 00 00 00"
        #expect(await write(script, "0e", "fe ff ff ff ff ff ff ff" + zero) == "00 00")
        #expect(await write(script, "0e", "ff ff ff ff 00 00 00 00" + zero) == "01 a5")
        #expect(await write(script, "0e", "00 00 00 00 00 00 00 00" + zero) == "00 00")
    }

    @Test func `A block is never a mixture after a power cut`() async throws {
        for seed in UInt64(0)..<8 {
            let (script, tag) = try makeScript()
            script.field.arm(.tear(duringWrite: 1, leaving: .mixed(seed: seed)))
            #expect(
                await send(script, "08 \(idmText) 01 09 00 01 80 01" + String(repeating: "ff", count: 16)) == "timeout"
            )
            guard case .liteS(let contents) = tag.contents else { continue }
            let block = Set(contents.userMemory[16..<32])
            #expect(block == [0x00] || block == [0xFF])
        }
    }
}

@Suite struct `FeliCa Standard` {
    @Test func `A balance reader's exchanges with a transit card`() async throws {
        let record = hex("16 01 00 02 2b 5a e3 0d 27 11 d2 04 00 00 01 00")
        let script = try LinkScript(
            .nfcF,
            VirtualType3Tag(.transitCard(idm: hex("01 01 0a 10 11 12 13 14"), balance: 1234, history: [record]))
        )
        let idm = "01 01 0a 10 11 12 13 14"
        #expect(await send(script, "00 00 03 01 00").hasSuffix("00 03"))
        #expect(await send(script, "02 \(idm) 03 8b 00 0f 09 cb 10") == "11 03 \(idm) 03 00 00 00 00 ff ff")
        #expect(await send(script, "04 \(idm)") == "0b 05 \(idm) 00")
        #expect(await send(script, "0c \(idm)") == "0d 0d \(idm) 01 00 03")
        #expect(
            await send(script, "06 \(idm) 01 8b 00 01 80 00")
                == "1d 07 \(idm) 00 00 01 00 00 00 00 00 00 00 00 20 00 00 d2 04 00 00 00"
        )
        #expect(await send(script, "06 \(idm) 01 0f 09 01 80 00") == "1d 07 \(idm) 00 00 01 \(hexText(record))")
        #expect(await send(script, "06 \(idm) 01 0f 09 01 80 14") == "0c 07 \(idm) 01 a8")
        #expect(await send(script, "06 \(idm) 01 88 00 01 80 00") == "0c 07 \(idm) 01 a5")
        #expect(
            await send(script, "08 \(idm) 01 8b 00 01 80 00" + String(repeating: "00", count: 16))
                == "0c 09 \(idm) 01 a5"
        )
        #expect(await send(script, "0a \(idm) 00 00") == "0e 0b \(idm) 00 00 fe ff")
        #expect(await send(script, "0a \(idm) 01 00") == "0c 0b \(idm) 48 00")
        #expect(await send(script, "0a \(idm) 07 00") == "0c 0b \(idm) ff ff")
    }

    @Test func `An NDEF system keeps to Nbr and Nbw of its attribute block`() async throws {
        let contents = FeliCaStandardContents(
            idm: idm,
            systems: [FeliCaSystem(ndefBlocks: 300, maximumRead: 2, maximumWrite: 1)]
        )
        let script = try LinkScript(.nfcF, VirtualType3Tag(contents))
        #expect(await send(script, "06 \(idmText) 01 0b 00 02 80 00 00 2c 01").hasPrefix("2d 07 \(idmText) 00 00 02"))
        #expect(await send(script, "06 \(idmText) 01 0b 00 03 80 00 80 01 80 02") == "0c 07 \(idmText) ff a2")
        #expect(await send(script, "06 \(idmText) 01 0b 00 01 00 2d 01") == "0c 07 \(idmText) 01 a8")
        let data = String(repeating: "77", count: 16)
        #expect(await send(script, "08 \(idmText) 01 09 00 01 00 2c 01 \(data)") == "0c 09 \(idmText) 00 00")
        #expect(await send(script, "08 \(idmText) 01 09 00 02 80 01 80 02 \(data) \(data)") == "0c 09 \(idmText) ff a2")
    }

    @Test func `Each system has an IDm of its own`() async throws {
        let contents = FeliCaStandardContents(
            idm: idm,
            systems: [FeliCaSystem(code: 0x0003, files: []), FeliCaSystem(ndefBlocks: 4)]
        )
        let script = try LinkScript(.nfcF, VirtualType3Tag(contents))
        #expect(await send(script, "00 12 fc 00 00").hasPrefix("12 01 12 fe 00 11 22 33 44 55"))
        #expect(await send(script, "06 12 fe 00 11 22 33 44 55 01 0b 00 01 80 00").hasPrefix("1d 07 12 fe"))
        #expect(await send(script, "06 \(idmText) 01 0b 00 01 80 00") == "0c 07 \(idmText) ff a6")
    }

    @Test func `A cyclic file takes a new record in front`() async throws {
        let file = FeliCaFile(serviceCodes: [0x010D], memory: hex("11") + Array(repeating: 0, count: 31))
        let contents = FeliCaStandardContents(idm: idm, systems: [FeliCaSystem(code: 0xFE00, files: [file])])
        let script = try LinkScript(.nfcF, VirtualType3Tag(contents))
        let zero = String(repeating: " 00", count: 15)
        #expect(await send(script, "08 \(idmText) 01 0d 01 01 80 00 22" + zero) == "0c 09 \(idmText) 00 00")
        #expect(await send(script, "06 \(idmText) 01 0d 01 02 80 00 80 01").hasSuffix("02 22\(zero) 11\(zero)"))
        let two = "08 \(idmText) 01 0d 01 02 80 00 80 00 33" + zero + " 44" + zero
        #expect(await send(script, two) == "0c 09 \(idmText) 00 00")
        #expect(await send(script, "06 \(idmText) 01 0d 01 02 80 00 80 01").hasSuffix("02 44\(zero) 33\(zero)"))
        #expect(await send(script, "08 \(idmText) 01 0d 01 01 80 01 55" + zero) == "0c 09 \(idmText) 01 a8")
    }

    @Test func `Two tags answer polling in their slots, one frame after the other`() async throws {
        let other = hex("02 fe 99 88 77 66 55 44")
        let script = try LinkScript(
            .nfcF,
            VirtualType3Tag(FeliCaLiteSContents(idm: idm)),
            VirtualType3Tag(FeliCaStandardContents(idm: other, systems: [FeliCaSystem(ndefBlocks: 4)]))
        )
        #expect(await send(script, "00 12 fc 00 00") == "collision")
        var found: Set<String> = []
        for _ in 0..<8 where found.count < 2 {
            let answer = hex(await send(script, "00 12 fc 00 0f"))
            var rest = answer[...]
            while let length = rest.first, rest.count >= Int(length) {
                found.insert(hexText(rest.dropFirst(2).prefix(8)))
                rest = rest.dropFirst(Int(length))
            }
        }
        #expect(found == [idmText, hexText(other)])
    }

    @Test func `Tags that are polled with one slot collide, however many there are`() async throws {
        let script = try LinkScript(.nfcF)
        for last: UInt8 in 1...5 {
            let contents = FeliCaLiteSContents(idm: Array(idm.dropLast()) + [last])
            script.field.bring(VirtualType3Tag(contents))
            let answer = await send(script, "00 12 fc 00 00")
            #expect(last == 1 ? answer.hasPrefix("12 01") : answer == "collision", "\(last): \(answer)")
        }
    }

    @Test func `A fault's refusal is a memory failure`() async throws {
        let script = try LinkScript(.nfcF, VirtualType3Tag(FeliCaLiteSContents(idm: idm)))
        script.field.arm(FaultPlan([Fault(.refusal(0), at: .write(1)), Fault(.refusal(0), at: .exchange(0))]))
        #expect(await send(script, "06 \(idmText) 01 0b 00 01 80 00") == "0c 07 \(idmText) ff 70")
        let data = String(repeating: "77", count: 16)
        #expect(await send(script, "08 \(idmText) 01 09 00 01 80 01 \(data)") == "0c 09 \(idmText) ff 70")
        #expect(await send(script, "06 \(idmText) 01 0b 00 01 80 01").hasSuffix("00 00 00 00"))
    }

    @Test func `A transit card has its balance, its journeys and its limits`() throws {
        let idm = hex("01 2e 4c e1 9c 5b 12 34")
        let long = [UInt8](repeating: 3, count: 17)
        let card = FeliCaStandardContents.transitCard(idm: idm, balance: 0x1234, history: [[1, 2], long])
        #expect(card.idm == idm && card.pmm == hex("10 0b 4b 42 84 85 d0 ff") && card.systems.count == 1)
        let system = try #require(card.systems.first)
        #expect(system.code == 0x0003 && system.maximumRead == 12 && system.maximumWrite == 8)
        #expect(system.files.map(\.serviceCodes) == [[0x0048, 0x004A], [0x0088, 0x008B], [0x090C, 0x090F]])
        #expect(system.files.map(\.memory.count) == [32, 16, 320])
        #expect(system.files[1].memory == hex("00 00 00 00 00 00 00 00 20 00 00 34 12 00 00 00"))
        let log = system.files[2].memory
        #expect(Array(log[..<32]) == [1, 2] + [UInt8](repeating: 0, count: 14) + long.dropLast())
        #expect(log[32...].allSatisfy { $0 == 0 })
    }
}
