// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // single blocks and bytes are read and written by internal calls

/// Type 1 tags: exact exchanges, refusals, containers, locks and formats (NFC Forum T1T 1.2).
struct Type1Tests {
    @Test(arguments: try Scenario.all(in: "type1.txt"))
    func `Type 1 tag: each call makes exactly the commands of type1.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink()
            let target = part.options["header"].map { bytes($0) }.map {
                Type1Target(headerROM0: $0[0], headerROM1: $0[1], uid: [1, 2, 3, 4])
            }
            let tag = Type1Tag(target: target, link: link)
            await Script(part.text, checksum: .crcB).run(on: link) { try await Self.call(tag, $0) }
        }
    }

    private static func call(_ tag: Type1Tag, _ call: Script.Call) async throws -> String {
        switch call.name {
        case "fetch": try await tag.fetch(call.number(0)..<call.number(1))
        case "byte": return tag.memory[byte: call.number(0)].map { hex([$0]) } ?? "unknown"
        case "bytes": return try await tag.readBytes(call.number(0)).map { "\($0.count)" } ?? "nil"
        case "erase", "program":
            try await tag.write(call.bytes(1), to: call.number(0), isErasing: call.name == "erase")
        default: return try await callForumTag(tag, call)
        }
        return "ok"
    }

    /// A Topaz with a message, and other bytes in places of its memory.
    private static func topaz(_ name: String, _ message: [UInt8], _ changes: [(Int, [UInt8])] = []) throws
        -> VirtualType1Tag
    {
        let tag = try #require(try ProductModel.named(name).make(message) as? VirtualType1Tag)
        var contents = tag.contents
        for (place, bytes) in changes { contents.memory.replaceSubrange(place..<place + bytes.count, with: bytes) }
        return VirtualType1Tag(contents)
    }

    @Test func `Type 1 control TLV: reserves no bytes on a tag with static memory`() async throws {
        let tag = try Self.topaz("Topaz 96", [], [(12, bytes("0203200404 0314") + message(20))])
        #expect(try await ProductBench(tag).reader.readNDEF() == message(20))
    }

    @Test func `Type 1 TLV across the lock bytes: continues behind them, and is kept when the message is written`()
        async throws
    {
        // 80 of its 90 bytes are before the lock bytes, which are from 104 to 127.
        let rest = [UInt8](repeating: 0x03, count: 10) + messageTLV(message(20))
        let tag = try Self.topaz("Topaz 512", [], [(22, [0xFD, 90] + [UInt8](repeating: 3, count: 80)), (128, rest)])
        let before = tag.contents.memory
        let bench = try await ProductBench(tag)
        #expect(try await bench.reader.readNDEF() == message(20))
        try await bench.reader.writeNDEF(message(30, seed: 7))
        #expect(try await ProductBench(tag).reader.readNDEF() == message(30, seed: 7))
        #expect(tag.contents.memory[22..<138] == before[22..<138])
    }

    // MARK: Locks and formats

    /// The lock byte and bit of a block, and the length of a message that reaches into the block.
    @Test(
        arguments: [
            ("Topaz 96", 112, 0x04, 10), ("Topaz 96", 113, 0x01, 52), ("Topaz 96", 113, 0x10, 90),
            ("Topaz 512", 112, 0x10, 30), ("Topaz 512", 113, 0x10, 90),
        ] as [(String, Int, UInt8, Int)]
    ) func `Type 1 write into a locked block: readOnly, and the old message stays`(
        name: String,
        byte: Int,
        bit: UInt8,
        length: Int
    ) async throws {
        let tag = try Self.topaz(name, message(5), [(byte, [bit])])
        let bench = try await ProductBench(tag)
        #expect(await errorCode { try await bench.reader.writeNDEF(message(length, seed: 7)) } == .readOnly)
        #expect(bench.field.writeCount == 0)
        #expect(try await bench.reader.readNDEF() == message(5))
        guard byte == 113 else { return }
        try await bench.reader.writeNDEF(message(36, seed: 7))
        #expect(try await ProductBench(tag).reader.readNDEF() == message(36, seed: 7))
    }

    @Test(arguments: [("Topaz 96", 3), ("Topaz 512", 3)])
    func `Type 1 lock: the access byte and the lock bits are set, and nothing around them`(name: String, writes: Int)
        async throws
    {
        let tag = try Self.topaz(name, message(20))
        let before = tag.contents.memory
        let bench = try await ProductBench(tag)
        try await bench.reader.lock()
        let memory = tag.contents.memory
        #expect(
            memory[11] == 0x0F && memory[112..<114] == [0xFF, 0xFF]
                && bench.field.writeCount == (name == "Topaz 96" ? 3 : writes)
        )
        #expect(memory[104..<112] == before[104..<112] && memory[114..<120] == before[114..<120])
        if name == "Topaz 512" { #expect(hex(memory[120..<128]) == "0000ffffffffffff") }
    }

    @Test func `Type 1 lock: a lock control TLV for bits beyond the memory is ignored`() async throws {
        // 48 bits from byte 15375 on.
        let tag = try Self.topaz("Topaz 512", message(20), [(12, bytes("0103ff303a"))])
        let bench = try await ProductBench(tag)
        try await bench.reader.lock()
        #expect(bench.field.writeCount == 2 && tag.contents.memory[112..<114] == [0xFF, 0xFF])
        #expect(try await ProductBench(tag).reader.detectNDEF().access == .readOnly)
    }

    @Test func `Type 1 format: Topaz 96 and 512 get their container and TLVs, other products are refused`() async throws
    {
        for (name, content) in [("Topaz 96", "e1100e00 0300fe00"), ("Topaz 512", "e1103f00 0103f230330203f0020303 00")]
        {
            let tag = try Self.topaz(name, [], [(8, [UInt8](repeating: 0, count: 16))])
            let bench = try await ProductBench(tag)
            try await format(bench.reader)
            #expect(tag.contents.memory[8...].starts(with: bytes(content)), "\(name)")
        }
    }
}
