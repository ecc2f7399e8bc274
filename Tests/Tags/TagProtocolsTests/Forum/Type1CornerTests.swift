// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Type 1 tags that are locked, blank, or not made for NDEF, and the end of the largest memory (NFC Forum T1T 1.2, 6).
@Suite struct `Type 1 tags at their limits` {
    private static func blank(isLarge: Bool) -> ModelTopaz {
        var tag = ModelTopaz([], isLarge: isLarge)
        for address in 8..<24 { tag.memory[address] = 0 }
        return tag
    }

    @Test(arguments: [(false, 7, "00 100e00 0300fe00"), (true, 1, "0000000000000000 330203f002030300")])
    func `A tag that is lost while it is formatted does not begin with E1 yet`(
        isLarge: Bool,
        writes: Int,
        content: String
    ) async {
        let field = ModelField(Self.blank(isLarge: isLarge), .nfcA, fault: .tears(afterWrite: writes))
        let tag = Type1Tag(link: field)
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .tagLost)
        #expect(Array(field.tag.memory[8..<8 + bytes(content).count]) == bytes(content))
    }

    @Test(arguments: [false, true])
    func `A tag that may only be read is not formatted`(isLarge: Bool) async {
        var model = ModelTopaz(message(30), isLarge: isLarge)
        model.memory[11] = 0x0F
        let field = ModelField(model, .nfcA)
        let tag = Type1Tag(link: field)
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .readOnly)
        #expect(field.writes == 0 && field.tag.memory == model.memory)
    }

    @Test(arguments: [(0x12, 0x4D), (0x13, 0x4C), (0x10, 0x48)] as [(UInt8, UInt8)])
    func `Another product is not formatted`(first: UInt8, second: UInt8) async {
        let target = Type1Target(headerROM0: first, headerROM1: second, uid: [1, 2, 3, 4])
        let tag = Type1Tag(target: target, link: ScriptedLink([]))
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .unsupported)
    }

    @Test func `A tag that is not made for NDEF, or may not be read, has no message`() async {
        let whole = ModelTopaz(message(30), isLarge: false)
        let other = ModelField(ModelTopaz(header: "2148", memory: whole.memory), .nfcA)
        let tag = Type1Tag(link: other)
        #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .noCapabilityContainer)
        #expect(other.exchanges == 1)
        var hidden = whole
        hidden.memory[11] = 0xF0
        let secret = Type1Tag(link: ModelField(hidden, .nfcA))
        #expect(await errorCode { () throws(TagError) in _ = try await secret.readNDEF() } == .readProtected)
    }

    /// The byte and the bit of a block's lock, and a message that reaches into the block.
    @Test(
        arguments: [
            (false, 112, 0x04, 10), (false, 113, 0x01, 52), (false, 113, 0x10, 90), (true, 112, 0x10, 30),
            (true, 113, 0x10, 90),
        ] as [(Bool, Int, UInt8, Int)]
    )
    func `A message that reaches into a locked block is refused, and the old one stays`(
        isLarge: Bool,
        byte: Int,
        bit: UInt8,
        length: Int
    ) async throws {
        var model = ModelTopaz(message(5), isLarge: isLarge)
        model.memory[byte] = bit
        let field = ModelField(model, .nfcA)
        let tag = Type1Tag(link: field)
        let new = message(length, seed: 7)
        #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF(new) } == .readOnly)
        #expect(field.writes == 0)
        #expect(try await tag.readNDEF() == message(5))
        guard byte == 113 else { return }
        try await tag.writeNDEF(message(36, seed: 7))
        #expect(try await Type1Tag(link: field).readNDEF() == message(36, seed: 7))
    }

    @Test func `A control TLV reserves nothing in a static memory`() async throws {
        var model = ModelTopaz([], isLarge: false)
        // Four bytes from address 32 on, in pages of 16.
        let data = bytes("0203200404 0314") + message(20)
        model.memory.replaceSubrange(12..<12 + data.count, with: data)
        #expect(try await Type1Tag(link: ModelField(model, .nfcA)).readNDEF() == message(20))
    }

    @Test func `A TLV of another kind that reaches over the lock bytes ends behind them`() async throws {
        var model = ModelTopaz([], isLarge: true)
        // 80 of its 90 bytes are before the lock bytes, which are from 104 to 127.
        let other = [0xFD, 90] + [UInt8](repeating: 0x03, count: 80)
        model.memory.replaceSubrange(22..<104, with: other)
        let rest = [UInt8](repeating: 0x03, count: 10) + [0x03, 20] + message(20) + [0xFE]
        model.memory.replaceSubrange(128..<128 + rest.count, with: rest)
        let field = ModelField(model, .nfcA)
        let tag = Type1Tag(link: field)
        #expect(try await tag.readNDEF() == message(20))
        try await tag.writeNDEF(message(30, seed: 7))
        #expect(try await Type1Tag(link: field).readNDEF() == message(30, seed: 7))
        #expect(Array(field.tag.memory[22..<138]) == Array(model.memory[22..<138]))
    }

    @Test func `The last block of the largest memory can be read`() async throws {
        let uid = "01020304"
        func step(_ request: String, _ answer: String) -> ScriptedLink.Step {
            .init(
                request: Frame(bytes(request), checksum: .crcB),
                result: .success(Frame(bytes(answer), checksum: .crcB))
            )
        }
        let link = ScriptedLink([
            step("000000" + uid, "124c" + uid + String(repeating: "aa", count: 116)),
            step("02ff" + String(repeating: "00", count: 8) + uid, "ff" + "0102030405060708"),
        ])
        let tag = Type1Tag(target: Type1Target(headerROM0: 0x12, headerROM1: 0x4C, uid: [1, 2, 3, 4]), link: link)
        try await tag.fetch(2040..<2048)
        #expect(tag.memory[byte: 2047] == 8 && link.remaining == 0)
    }

    @Test(arguments: [false, true]) func `A lock sets the lock bits, and none of the bytes around them`(
        isLarge: Bool
    ) async throws {
        let field = ModelField(ModelTopaz(message(20), isLarge: isLarge), .nfcA)
        try await Type1Tag(link: field).lock()
        let memory = field.tag.memory
        #expect(memory[11] == 0x0F && Array(memory[112..<114]) == [0xFF, 0xFF] && field.writes == 3)
        // Block D is reserved, and the bytes behind the lock bits can be programmed only once.
        #expect(memory[104..<112].allSatisfy { $0 == 0 })
        #expect(memory[114..<(isLarge ? 122 : 120)].allSatisfy { $0 == 0 })
        if isLarge { #expect(memory[122..<128].allSatisfy { $0 == 0xFF }) }
        #expect(try await Type1Tag(link: field).readNDEF() == message(20))
    }

    @Test func `Lock bits that no memory can have are left out of a lock`() async throws {
        var model = ModelTopaz(message(20), isLarge: true)
        // 48 bits from byte 15375 on.
        model.memory.replaceSubrange(12..<17, with: bytes("0103ff303a"))
        let field = ModelField(model, .nfcA)
        try await Type1Tag(link: field).lock()
        #expect(field.writes == 2 && Array(field.tag.memory[112..<114]) == [0xFF, 0xFF])
        #expect(try await Type1Tag(link: field).detectNDEF().access == .readOnly)
        #expect(field.tag.memory[114..<128].allSatisfy { $0 == 0 })
    }
}
