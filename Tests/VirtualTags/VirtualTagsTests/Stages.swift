// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Synchronization
import TagLink
import TagScripts
import Testing
import VirtualTags

/// The fields of a line `tag …`: its first word or words, then `name = value`.
struct TagLine {
    let name: String
    let fields: [(name: String, value: String)]

    init(_ text: String, otherwise: String) {
        let parts = text.split(separator: ";").map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
        name = parts.first.flatMap { $0.isEmpty ? nil : $0 } ?? otherwise
        fields = parts.dropFirst().map { part in
            let sides = part.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces() }
            return (sides[0], sides.count > 1 ? sides[1] : "")
        }
    }
}

/// The number that big-endian hexadecimal text stands for.
func number(_ text: String) -> UInt32 { hex(text).reduce(0) { $0 << 8 | UInt32($1) } }

/// A Type 2 tag that is selected. Fields: `29 = …` fills page 29, `counter 2 = …`, `flag 0 = …`, `signature = …`,
/// `asleep`. Verbs: `page 04`, `counter 2`, `failures`, and `key …`, which authenticates as a reader does.
func type2(_ text: String) async throws -> Stage {
    let line = TagLine(text, otherwise: "NTAG213")
    var contents = Type2Contents(blank: try #require(Type2Product(named: line.name), "\(line.name)"), uid: Script.uid)
    for (name, value) in line.fields where name != "asleep" {
        let bytes = hex(value)
        switch name.split(separator: " ").first {
        case "counter": contents.counters[try #require(Int(name.suffix(1)))] = number(value)
        case "flag": contents.tearingFlags[try #require(Int(name.suffix(1)))] = bytes[0]
        case "signature": contents.signature = [UInt8](repeating: bytes[0], count: 32)
        default:
            let start = Int(hex(name)[0]) * 4
            contents.memory.replaceSubrange(start..<start + bytes.count, with: bytes)
        }
    }
    let tag = VirtualType2Tag(contents)
    let stage = try Stage(
        .nfcA,
        [tag],
        verbs: [
            "page": { hexText(tag.contents.memory[Int(hex($0)[0]) * 4..<Int(hex($0)[0]) * 4 + 4]) },
            "counter": { hexText(try [UInt8](bigEndian: Int(tag.contents.counters[#require(Int($0))]), count: 3)) },
            "failures": { _ in String(tag.contents.failedAuthentications) },
        ]
    )
    stage.verbs["key"] = { [unowned stage] in try await authenticate(hex($0), on: stage) }
    if !line.fields.contains(where: { $0.name == "asleep" }) { #expect(try await stage.send("wake") == "ok") }
    return stage
}

/// Authenticates to an Ultralight C as a reader does (MF0ICU2, 7.5.5).
private func authenticate(_ key: [UInt8], on stage: Stage) async throws -> String {
    let cipher = try BlockCipher.des(key)
    let challenge = Array(UInt8(1)...8)
    let first = hex(try await stage.send("1a 00"))
    guard first.count == 9, first[0] == 0xAF else { return "no challenge" }
    let zeros = [UInt8](repeating: 0, count: 8)
    let theirs = try cipher.decrypt(Array(first[1...]), .blockChaining(vector: zeros))
    let proof = challenge + theirs.dropFirst() + theirs.prefix(1)
    let sent = try cipher.encrypt(proof, .blockChaining(vector: Array(first[1...])))
    let second = hex(try await stage.send("af " + hexText(sent)))
    guard second.count == 9, second[0] == 0x00 else { return "refused" }
    let answer = try cipher.decrypt(Array(second[1...]), .blockChaining(vector: Array(sent.suffix(8))))
    return answer == Array(challenge.dropFirst() + challenge.prefix(1)) ? "ok" : "wrong answer"
}

/// A tag that answers everything with one answer.
final class Parrot: VirtualTag {
    let technology: Technology
    let identifier: [UInt8]
    private let said: TagAnswer?
    /// How often it lost its power.
    private let losses = Mutex(0)

    init(_ said: TagAnswer?, _ technology: Technology = .nfcA, identifier: [UInt8] = [1]) {
        self.said = said
        self.technology = technology
        self.identifier = identifier
    }

    convenience init(_ bytes: [UInt8], workTime: Airtime = .zero, slot: Int? = nil) {
        self.init(TagAnswer(Frame(bytes), workTime: workTime, slot: slot))
    }

    var powerLosses: Int { losses.withLock { $0 } }

    func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? { said }

    func losePower() { losses.withLock { $0 += 1 } }
}

/// A number that any thread may add to.
final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int = 1) { count.withLock { $0 += number } }
}

/// A Type 5 tag. Fields: `register 4 = …`, `password 0 = …` (of ST), `pass 10 = …` (of ICODE), `counter = …`,
/// `pointer = …`, `condition = …`, `blocks = …` and `size = …` (of a generic tag), and switches. Verbs: `block 03`,
/// `password …`, `mark` and `changed`, and the password under its random number: `give 01 …` (NXP), `present 03 …`
/// (ST), `cover … / …` after any other command.
func type5(_ text: String, otherwise: String = "ICODE SLIX") throws -> Stage {
    let line = TagLine(text, otherwise: otherwise)
    func value(_ name: String) -> Int? { line.fields.first { $0.name == name }.flatMap { Int($0.value) } }
    let generic = Type5Product.generic(
        blockCount: value("blocks") ?? 64,
        blockSize: value("size") ?? 4,
        readLimit: value("limit")
    )
    let named = (Type5Product.all + [generic]).first { $0.name == line.name }
    var contents = Type5Contents(blank: try #require(named, "\(line.name)"))
    for (name, value) in line.fields {
        let bytes = hex(value)
        let number = UInt32(bytes.reversed().reduce(0) { $0 << 8 | Int($1) } & 0xFFFF_FFFF)
        let index = name.last?.hexDigitValue ?? 0
        switch name.split(separator: " ").first {
        case "register": contents.settings.registers[index] = bytes[0]
        case "password": contents.settings.passwords[index] = bytes
        case "pass": contents.passwords[hex(String(name.suffix(2)))[0]] = number
        case "counter": contents.counter = UInt16(number & 0xFFFF)
        case "pointer": contents.protection.pointer = bytes[0]
        case "condition": contents.protection.condition = .init(rawValue: bytes[0])
        case "signature": contents.signature = [UInt8](repeating: bytes[0], count: 32)
        case "surveillance": contents.isSurveillanceSet = value != "off"
        case "accepting": contents.protection.acceptsEveryPassword = true
        case "unsupplied": contents.settings.isSupplied = false
        case "untraceable": contents.settings.isUntraceable = true
        default: break
        }
    }
    return try type5(VirtualType5Tag(contents))
}

/// A stage with a Type 5 tag, and perhaps others beside it.
func type5(_ tag: VirtualType5Tag, beside other: VirtualType5Tag? = nil) throws -> Stage {
    let uid = hexText(tag.identifier.reversed())
    var marked = tag.contents
    let size = tag.contents.product.blockSize
    let stage = try Stage(
        .nfcV,
        [tag] + (other.map { [$0] } ?? []),
        names: ["UID": uid, "OTHER": other.map { hexText($0.identifier.reversed()) } ?? ""],
        verbs: [
            "block": { text in
                let start = Int(hex(text)[0]) * size
                return hexText(tag.contents.memory[start..<start + size])
            },
            "mark": { _ in
                marked = tag.contents
                return "ok"
            },
            "changed": { _ in tag.contents == marked ? "no" : "yes" },
            "put": { tag.putMessage(hex($0)) ? "ok" : "refused" },
            "take": { _ in tag.takeMessage().map(hexText) ?? "none" },
            "password": { text in
                let number = hex(text)[0]
                let nxp = tag.contents.passwords[number]
                if tag.identifier[1] == 0x04, let nxp { return hexText(nxp.littleEndianBytes) }
                return hexText(tag.contents.settings.passwords[Int(number)])
            },
        ]
    )
    func cover(_ command: String, _ password: String) async throws -> String {
        let random = hex(try await stage.send(tag.identifier[1] == 0x04 ? "02 b2 04" : "02 b4 02")).dropFirst()
        let mask = Array(random + random + random + random)
        return try await stage.send(command + " " + hexText(zip(hex(password), mask).map { $0 ^ $1 }))
    }
    stage.verbs["give"] = { try await cover("22 b3 04 UID \($0.prefix(2))", String($0.dropFirst(3))) }
    stage.verbs["present"] = { try await cover("02 b3 02 \($0.prefix(2))", String($0.dropFirst(3))) }
    stage.verbs["cover"] = { text in
        let sides = text.split(separator: "/").map { $0.trimmingSpaces() }
        return try await cover(sides[0], sides[1])
    }
    return stage
}

extension FixedWidthInteger {
    var littleEndianBytes: [UInt8] { (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}

/// Cuts each request at its write, and expects the old or the new state, and the time of one block.
func expectTearing(
    _ requests: String,
    milliseconds: Range<Int>,
    sourceLocation: SourceLocation = #_sourceLocation,
    on make: () async throws -> Stage
) async throws {
    for request in requests.split(separator: "\n").map({ $0.trimmingSpaces() }) {
        for rest in ["old", "new"] {
            let stage = try await make()
            let cut =
                "mark; arm write 1 tear \(rest); work -> ?; \(request) -> -; changed -> \(rest == "new" ? "yes" : "no")"
            try await stage.check(cut, "\(request)", sourceLocation: sourceLocation)
            let time = Int(try await stage.send("work")) ?? 0
            #expect(milliseconds.contains(time / 1000), "\(request): \(time) µs", sourceLocation: sourceLocation)
        }
    }
}
