// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

/// FeliCa Lite-S (Sony M694, User's Manual).
struct FeliCaLiteTests {
    private static let idm = "02 fe 00 11 22 33 44 55"

    /// A tag with the card key 10 to 1F. Fields: `mc 6 = …`, `counter = …`, `register = …`, `device = …`, `no ndef`,
    /// `no key`. `IDM` is the card's IDm. Verbs: `read 82 91`, which answers the data or the status; `write 03 …`, which
    /// answers the status; `proved 3 03 …`, which writes with a code and the counter 3; `code 82 91` and `lite 82`, which read
    /// with a code and check it; `user 01` and `count` show the memory.
    private func make(_ text: String) throws -> Stage {
        var contents = FeliCaLiteSContents(idm: hex(Self.idm))
        contents.cardKey = Array(0x10..<0x20)
        for (name, value) in TagLine("lite; " + text, otherwise: "").fields {
            let bytes = hex(value)
            switch name.split(separator: " ").first {
            case "mc": contents.memoryConfiguration[try #require(Int(name.dropFirst(3)))] = bytes[0]
            case "counter": contents.writeCounter = number(value)
            case "register": contents.register = bytes
            case "device": contents.deviceIdentifier = bytes
            default:
                if name == "no ndef" { contents.supportsNDEF = false }
                if name == "no key" { contents.cardKey = Array(repeating: 0, count: 16) }
            }
        }
        let tag = VirtualType3Tag(contents)
        let before = tag.contents
        func held() throws -> FeliCaLiteSContents {
            guard case .liteS(let contents) = tag.contents else { throw LinkError(.unsupported, "no Lite-S") }
            return contents
        }
        let verbs: [String: Stage.Verb] = [
            "user": { hexText(try held().userMemory[Int(hex($0)[0]) * 16..<Int(hex($0)[0]) * 16 + 16]) },
            "count": { _ in hexText([UInt8](bigEndian: Int(try held().writeCounter), count: 3)) },
            "key": { _ in hexText(try held().cardKey) },
            "changed": { _ in tag.contents == before ? "no" : "yes" },
        ]
        let names = ["IDM": Self.idm, "DATA": "55*16"]
        let stage = try Stage(.nfcF, [tag], names: names, verbs: verbs)
        stage.names["DATA"] = String(repeating: "55 ", count: 16)
        let reader = LiteReader(stage: stage)
        stage.verbs["read"] = { try await reader.read($0) }
        stage.verbs["write"] = { try await reader.write($0, counter: nil) }
        stage.verbs["proved"] = { text in
            let words = text.split(separator: " ", maxSplits: 1)
            return try await reader.write(String(words[1]), counter: number(String(words[0])))
        }
        stage.verbs["code"] = { try await reader.readCode($0) }
        stage.verbs["lite"] = { try await reader.readLiteCode($0) }
        return stage
    }

    @Test func `FeliCa Lite-S commands: POLLING finds both systems, blocks are read and written, writes are counted`()
        async throws
    {
        let head = "01 IDM 00 f1 00 00 00 01 43 00"
        try await play(
            """
            == POLLING finds both system codes, with wildcards, and can ask for more
            00 88 b4 00 00 -> 12 \(head); 00 88 b4 01 00 -> 14 \(head) 88 b4; 00 12 fc 01 00 -> 14 \(head) 12 fc
            00 ff ff 01 00 -> 14 \(head) 88 b4; 00 12 ff 01 00 -> 14 \(head) 12 fc; 00 ff b4 01 00 -> 14 \(head) 88 b4
            00 12 fc 02 00 -> 14 \(head) 00 83
            == POLLING for another system, or with a wrong length or slot, is not answered
            tag no ndef
            00 12 fc 00 00 -> -; 00 00 03 00 00 -> -; 00 ff ff 00 02 -> -; frame 07 00 ff ff 00 00 -> -
            00 ff ff 00 00 -> 12 01 ..
            == READ WITHOUT ENCRYPTION: up to four blocks at a time
            06 IDM 01 0b 00 01 80 00 -> 1d 07 IDM 00 00 01 10 04 01 00 0d 00*5 01 00*4 23
            06 IDM 01 09 00 04 80 00 80 01 80 02 80 03 -> 4d 07 IDM 00 00 04 10 04 01 00 0d ..
            == System blocks at delivery
            tag no key
            read 82 -> IDM 00*8; read 83 -> IDM 00 f1 00 00 00 01 43 00; read 85 -> 88 b4 00*14; read 87 -> 00*16
            read 88 -> ff ff ff 01 07 00*11; read 0e -> ff*8 00*8; read a0 -> 00*16
            == System blocks as they are written
            write 82 00*8 11 22 33 44 55 66 77 88 -> 00 00; read 82 -> IDM 11 22 33 44 55 66 77 88
            write 84 DATA -> 00 00; read 84 -> 55*16; write 86 DATA -> 00 00; read 86 -> 55*16; read 87 -> 00*16
            tag device = 55 66 77 88 55 66 77 88 55 66 77 88 55 66 77 88
            read 83 -> 55 66 77 88 55 66 77 88 55 66 77 88 55 66 77 88
            == WRITE WITHOUT ENCRYPTION programs a block and counts
            write 01 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f -> 00 00; count -> 00 00 01
            read 01 90 -> 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 01 00*15
            ** WRITE counts with three bytes, and stops at its end
            tag counter = ff ff fe
            write 01 DATA -> 00 00; read 90 -> ff ff ff 00*13
            tag counter = ff ff ff
            write 01 DATA -> 00 00; read 90 -> ff ff ff 00*13
            == A fault's refusal is a memory failure
            arm write 1 refuse 00 + exchange 0 refuse 00; read 00 -> ff 70; write 01 DATA -> ff 70; read 01 -> 00*16
            == A power cut leaves the old block or the new one, and only the new one is counted
            arm write 1 tear old; 08 IDM 01 09 00 01 80 05 DATA -> -; user 05 -> 00*16; count -> 00 00 00
            tag
            arm write 1 tear new; 08 IDM 01 09 00 01 80 05 DATA -> -; user 05 -> 55*16; count -> 00 00 01
            """,
            on: make
        )
    }

    @Test func `FeliCa Lite-S refusal: the flags name the place and the reason, and nothing changes`() async throws {
        let rows = """
            06 IDM 02 0b 00 09 00 01 80 00 = ff a1 | 06 IDM 00 01 80 00 = ff a1 | 06 IDM 01 0b 00 00 = ff a2
            06 IDM 01 0b 00 05 80 00 80 01 80 02 80 03 80 04 = ff a2 | 06 IDM 01 0f 09 01 80 00 = ff a6
            06 IDM 01 0a 00 01 80 00 = ff a6 | 06 IDM 01 0b 01 01 80 00 = ff a6 | 06 IDM 01 0b 00 02 80 00 81 01 = 02 a3
            06 IDM 01 0b 00 04 80 00 80 00 80 00 82 00 = 08 a3 | 06 IDM 01 0b 00 01 90 00 = 01 a7
            06 IDM 01 0b 00 01 80 0f = 01 a8 | 06 IDM 01 0b 00 02 80 00 00 00 01 = 02 a8 | 06 IDM 01 0b 00 01 80 93 = 01 a8
            06 IDM 01 0b 00 02 80 91 80 91 = 01 b2 | 08 IDM 01 0b 00 01 80 01 DATA = ff a6
            08 IDM 01 09 00 02 80 01 80 02 DATA DATA = ff a2 | 08 IDM 01 09 00 01 80 83 DATA = 01 a5
            08 IDM 01 09 00 01 80 90 DATA = 01 a5 | 08 IDM 01 09 00 01 80 20 DATA = 01 a8
            08 IDM 01 09 00 02 80 01 80 91 DATA DATA = 02 b2 | 08 IDM 01 09 00 01 81 01 DATA = 01 a3
            08 IDM 01 09 00 01 90 01 DATA = 01 a7 | 08 IDM 01 09 00 01 00 01 01 DATA = 01 a8
            08 IDM 01 09 00 01 80 0f DATA = 01 a8 | 08 IDM 02 09 00 09 00 01 80 01 DATA = ff a1
            08 IDM 00 01 80 01 DATA = ff a1 | 08 IDM 01 09 00 00 = ff a2 | 08 IDM 01 09 00 01 80 81 DATA = 01 a5
            08 IDM 01 09 00 03 80 01 80 02 80 03 DATA DATA DATA = ff a2 | 08 IDM 01 09 00 01 80 85 DATA = 01 a5
            08 IDM 01 09 00 01 80 a0 DATA = 01 a5 | 08 IDM 01 09 00 01 80 91 DATA = 01 a5
            """
        for row in rows.split(whereSeparator: { "|\n".contains($0) }) {
            let sides = row.split(separator: "=").map { $0.trimmingSpaces() }
            let code = sides[0].hasPrefix("06") ? "07" : "09"
            let step = "\(sides[0]) -> 0c \(code) IDM \(sides[1]); changed -> no"
            try await make("").check(step, "\(row)")
        }
        let silent = """
            06 02 fe 00 11 22 33 44 56 01 0b 00 01 80 00 | 06 IDM 01 0b 00 02 80 00 | 06 IDM | 02 IDM 01 0b 00 | 0c IDM
            08 IDM 01 09 00 01 80 01 DATA 00 | 08 IDM 01 09 00 01 80 01 | 06 IDM 01 0b 00 01 80 00 00 | 04 IDM
            06 IDM 01 0b 00 01 00 00 | 06 IDM 01 0b | 06 IDM 01 0b 00
            """
        for request in silent.split(whereSeparator: { "|\n".contains($0) }) {
            try await make("").check("\(request) -> -; changed -> no", "\(request)")
        }
    }

    @Test func `FeliCa Lite-S memory configuration: restrictions can't be lifted, and system blocks can be frozen`()
        async throws
    {
        for block in 0...13 {
            let bits = hexText((~(UInt16(1) << block)).littleEndianBytes)
            let numbers = [block, (block + 1) % 14, (block + 13) % 14].map { hexText([UInt8($0)]) }
            let stage = try make("")
            let step = """
                write \(numbers[0]) DATA -> 00 00; write 88 \(bits) ff 01 07 00*11 -> 00 00; write \(numbers[0]) DATA -> 01 a5;
                write \(numbers[1]) 00*16 -> 00 00; write \(numbers[2]) 00*16 -> 00 00
                """
            try await stage.check(step.replacing("\n", with: " "), "\(block)")
        }
        for byte in 6...12 {
            let before = String(repeating: "00 ", count: byte - 5 - 1)
            let restricted = "ff ff ff 01 07 00 \(before)01 00*\(15 - byte)"
            let step =
                "write 88 \(restricted) -> 00 00; write 88 ff ff ff 01 07 00*11 -> 00 00; read 88 -> \(restricted)"
            try await make("").check(step, "\(byte)")
        }
        try await play(
            """
            == Read-only blocks stay so, and the configuration freezes itself
            write 88 fd ff ff 01 07 00*11 -> 00 00; write 01 11*16 -> 01 a5; write 88 ff ff ff 01 07 00*11 -> 00 00
            write 01 11*16 -> 01 a5; write 88 ff ff 00 01 07 00*11 -> 00 00; write 88 ff ff ff 01 07 00*11 -> 01 a5
            write 84 11*16 -> 01 a5
            == The last three bytes stay zero
            write 88 ff ff ff 01 07 00*8 aa bb cc -> 00 00; read 88 -> ff ff ff 01 07 00*11
            == The register's numbers go down by themselves, least significant byte first, and its end is kept
            write 0e fe ff*7 00*8 -> 00 00; write 0e ff*4 00*12 -> 01 a5; write 0e 00 01 00*5 01 00*8 -> 00 00
            write 0e 00 01 00*5 01 00*8 -> 00 00; write 0e 01 01 00*14 -> 01 a5
            write 0e 00*4 01 00 00 01 00*8 -> 01 a5; write 0e ff 00 00 00 ff ff ff 00 00*8 -> 00 00
            write 0e 00 01 00*14 -> 01 a5; write 0e 00*8 11 22 33 44 55 66 77 88 -> 00 00
            write 0e 00*4 01 00*11 -> 01 a5; read 0e -> 00*8 11 22 33 44 55 66 77 88
            == A guarded register is opened by STATE
            tag mc 7 = 40; register = 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
            read 0e -> 01 b1; write 92 01 00*15 -> 00 00; read 0e -> 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
            == STATE is open with 01 alone, and closed by another challenge
            tag mc 6 = 01
            read 00 -> 01 b1; write 92 02 00*15 -> 00 00; read 00 -> 01 b1; write 92 01 00*15 -> 00 00; read 00 -> #16
            read 92 -> 01 ..; write 92 00*16 -> 00 00; read 00 -> 01 b1; read 92 -> 00 ..; write 92 01 00*15 -> 00 00
            read 00 -> #16; write 80 DATA -> 00 00; read 00 -> 01 b1
            """,
            on: make
        )
    }

    @Test func `FeliCa Lite-S MAC: reads give it after a challenge, and writes that want it are refused without it`()
        async throws
    {
        let challenge = "80 81 82 83 84 85 86 87 88 89 8a 8b 8c 8d 8e 8f"
        try await play(
            """
            == A code is refused without a challenge, and forgotten with the power (manual, 4.3)
            read 91 -> 01 b2; read 82 91 -> 02 b2; read 81 -> 00*16; write 80 \(challenge) -> 00 00; read 91 -> 00*16
            lite 82; code 00 82; read 82 81 91 -> 04 b0; power; read 82 91 -> 02 b2; proved 00 03 DATA -> 02 b2
            == STATE with a code authenticates the reader, until the power goes
            tag mc 6 = 02; mc 8 = 04; mc 12 = 01
            read 01 -> 01 b1; write 02 DATA -> 01 b1; write 92 01 00*15 -> 01 a5; write 80 \(challenge) -> 00 00
            proved 01 92 01 00*15 -> 02 b2; proved 00 92 01 00*15 -> 00 00; read 92 90 -> 01 00*15 01 00*15
            read 01 -> #16; write 02 DATA -> 00 00; power; read 01 -> 01 b1
            == A block that wants a code takes it once, with the right counter
            tag mc 10 = 08
            write 03 DATA -> 01 a5; write 80 \(challenge) -> 00 00; proved 00 03 DATA -> 00 00
            proved 00 03 00*16 -> 02 b2; proved 01 03 00*16 -> 00 00; count -> 00 00 02
            == Freezing the system blocks resets the counter, and the key still changes with a code
            tag counter = ff fe 10
            write 88 ff ff 00 01 07 01 00*10 -> 00 00; read 90 -> 00*16; write 87 00*16 -> 01 a5
            write 80 \(challenge) -> 00 00; proved 00 87 00*16 -> 00 00; key -> 00*16
            == Frozen: the key and its version change with a code, where the configuration lets them
            tag mc 2 = 00; mc 5 = 01
            write 82 DATA -> 01 a5; write 84 DATA -> 01 a5; write 86 DATA -> 01 a5; write 87 DATA -> 01 a5
            write 88 DATA -> 01 a5; write 80 \(challenge) -> 00 00; proved 00 86 DATA -> 00 00
            proved 01 82 DATA -> 01 a5; proved 01 84 DATA -> 01 a5; proved 01 88 DATA -> 01 a5
            proved 01 87 DATA -> 00 00; key -> 55*16
            == Frozen: at FFFE00 no code is taken, and blocks that want none are still written
            tag mc 2 = 00; counter = ff fd ff
            write 80 \(challenge) -> 00 00; proved fffdff 03 00*16 -> 00 00; proved fffe00 03 00*16 -> 02 b2
            write 03 DATA -> 00 00; read 90 -> 00 fe ff ..; write 03 DATA -> 00 00; read 90 -> 00 fe ff ..
            """,
            on: make
        )
    }

    @Test func `FeliCa polling: tags in different slots are heard, and those in one collide`() async throws {
        let other = "02 fe 99 88 77 66 55 44"
        let script = try LinkScript(
            .nfcF,
            VirtualType3Tag(FeliCaLiteSContents(idm: hex(Self.idm))),
            VirtualType3Tag(FeliCaStandardContents(idm: hex(other), systems: [FeliCaSystem(ndefBlocks: 4)]))
        )
        #expect(await script.send("06 00 12 fc 00 00") == "collision")
        var found: Set<String> = []
        for _ in 0..<8 where found.count < 2 {
            var rest = hex(await script.send("06 00 12 fc 00 0f"))[...]
            while let length = rest.first, rest.count >= Int(length) {
                found.insert(hexText(rest.dropFirst(2).prefix(8)))
                rest = rest.dropFirst(Int(length))
            }
        }
        #expect(found == [Self.idm, other])
    }
}

/// A reader that knows the card key.
private final class LiteReader {
    unowned let stage: Stage
    private let key: [UInt8] = Array(0x10..<0x20)

    init(stage: Stage) { self.stage = stage }

    private func codes() throws -> FeliCaLiteCodes {
        try FeliCaLiteCodes(cardKey: key, challenge: Array(0x80..<0x90))
    }

    /// Reads blocks: their data, or the status.
    func read(_ blocks: String) async throws -> String {
        let numbers = hex(blocks)
        let list = numbers.map { "80 \(hexText([$0]))" }.joined(separator: " ")
        let answer = hex(try await stage.send("06 IDM 01 0b 00 0\(numbers.count) \(list)"))
        return hexText(answer.dropFirst(answer.count == 12 ? 10 : 13))
    }

    func readCode(_ blocks: String) async throws -> String {
        let answer = hex(try await read(blocks + " 91"))
        let data = Array(answer.dropLast(16))
        let code = try codes().readCode(blocks: hex(blocks) + [0x91], data: data)
        return Array(answer.suffix(16).prefix(8)) == code ? "ok" : "wrong code"
    }

    func readLiteCode(_ block: String) async throws -> String {
        let answer = hex(try await read(block + " 81"))
        let code = try codes().mac(Array(answer.prefix(16))) + [UInt8](repeating: 0, count: 8)
        return Array(answer.suffix(16)) == code ? "ok" : "wrong code"
    }

    /// Writes a block, with a code where there is a counter: the status.
    func write(_ text: String, counter: UInt32?) async throws -> String {
        let (block, data) = (hex(text)[0], Array(hex(text).dropFirst()))
        var list = "01 80 \(hexText([block]))"
        var bytes = data
        if let counter {
            list = "02 80 \(hexText([block])) 80 91"
            bytes += try codes().writeCode(block: block, data: data, counter: counter)
            bytes += counter.littleEndianBytes.prefix(3) + [0, 0, 0, 0, 0]
        }
        return String(try await stage.send("08 IDM 01 09 00 \(list) \(hexText(bytes))").suffix(5))
    }
}
