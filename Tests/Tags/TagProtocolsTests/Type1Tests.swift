// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // single blocks and bytes are read and written by internal calls

/// Type 1 tags: exact exchanges, refusals, containers, locks and formats (NFC Forum T1T 1.2).
struct Type1Tests {
    private static let small = Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
    private static let large = Type1Target(headerROM0: 0x12, headerROM1: 0x4C, uid: [1, 2, 3, 4])

    private static func check(_ target: Type1Target?, _ script: String, _ place: SourceLocation = #_sourceLocation)
        async
    {
        let link = ScriptedLink()
        let tag = Type1Tag(target: target, link: link)
        await Script(script, checksum: .crcB).run(on: link, place) { call in
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

    // MARK: Exchanges

    @Test func `Type 1 RID: sent up to three times, its answer has six bytes`() async {
        await Self.check(
            nil,
            """
            prepare
            > 78{6} < silence; > 78{6} < noise; > 78{6} < 1148 01020304
            prepare
            present: yes
            > 78{6} < 1148 01020304
            """
        )
        for (answer, count, code) in [
            ("silence", 3, "tag-lost"), ("noise", 3, "bad-answer"), ("cancelled", 1, "cancelled"),
            ("1148 010203", 1, "bad-answer"), ("1148 0102030405", 1, "bad-answer"), ("empty", 1, "bad-answer"),
        ] { await Self.check(nil, "prepare: \(code); \(count)x > 78{6} < \(answer)") }
        await Self.check(nil, "detect: no-cc; > 78{6} < 2148 01020304")
    }

    @Test func `Type 1 presence: a tag with another header or UID is another tag`() async {
        for (answer, found) in [("124c 01020304", "yes"), ("124c 01020305", "no"), ("1148 01020304", "no")] {
            await Self.check(Self.large, "present: \(found); > 78{6} < \(answer)")
        }
    }

    @Test func `Type 1 tag that is lost: nothing is sent until it is activated again`() async {
        await Self.check(
            nil,
            """
            prepare: tag-lost
            3x > 78{6} < silence
            prepare: tag-lost
            present: no
            activated
            prepare: ok
            > 78{6} < 124c 01020304
            """
        )
    }

    @Test func `Type 1 read: single blocks, or the whole segment where six or more of it are needed`() async {
        let blocks = (32..<37).map { "> 02" + hex([UInt8($0)]) + "{8}01020304 < " + hex([UInt8($0)]) + "{8*aa}" }
        await Self.check(
            Self.large,
            """
            fetch 256 296
            > 000000 01020304 < 124c 01020304 {116*cc}
            \(blocks.joined(separator: "\n"))
            byte 295: aa
            byte 296: unknown
            fetch 2040 2048
            > 02ff{8}01020304 < ff 0102030405060708
            byte 2047: 08
            fetch 2040 2049: tlv-overrun
            """
        )
        await Self.check(
            Self.large,
            """
            fetch 256 304
            > 000000 01020304 < 124c 01020304 {116*cc}
            > 1020{8}01020304 < 20 {128*bb}
            byte 383: bb
            byte 384: unknown
            fetch 300 310
            """
        )
    }

    @Test func `Type 1 read: an answer for another tag, address or length throws badAnswer`() async {
        let rall = "> 000000 01020304 < 124c 01020304 {116*aa}"
        for (range, answers, code) in [
            ("0 8", "> 000000 01020304 < 124c 01020305 {116*aa}", "bad-answer"),
            ("0 8", "> 000000 01020304 < 114c 01020304 {116*aa}", "bad-answer"),
            ("0 8", "> 000000 01020304 < 124c 01020304 {115*aa}", "bad-answer"),
            ("256 264", rall + "; > 0220{8}01020304 < 20 {8}", "ok"),
            ("256 264", rall + "; > 0220{8}01020304 < 21 {8}", "bad-answer"),
            ("256 264", rall + "; > 0220{8}01020304 < 20 {9}", "bad-answer"),
            ("256 384", rall + "; > 1020{8}01020304 < 30 {128}", "bad-answer"),
            ("256 384", rall + "; > 1020{8}01020304 < 20 {127}", "bad-answer"),
        ] { await Self.check(Self.large, "fetch \(range): \(code)\n\(answers)") }
        await Self.check(
            Self.small,
            "fetch 112 128: tlv-overrun; > 000000 01020304 < 1148 01020304 {116}; bytes 120: 120; bytes 119: 119"
        )
        await Self.check(
            Self.small,
            "bytes 121: nil; > 000000 01020304 < 1148 01020304 {116}"
        )
        await Self.check(Self.small, "bytes 120: cancelled; > 000000 01020304 < cancelled")
    }

    @Test func `Type 1 write: done when the answer has the written bytes, or their ones without erasing`() async {
        for (target, command, call, data) in [
            (Self.small, "53", "erase", "a5"), (Self.small, "1a", "program", "a5"),
            (Self.large, "54", "erase", "{8*a5}"), (Self.large, "1b", "program", "{8*a5}"),
        ] {
            let more = call == "erase" ? "update-failed" : "ok"
            for (answer, code) in [
                ("08" + data, "ok"), ("09" + data, "update-failed"), ("08" + data + "00", "update-failed"),
                ("08" + data.replacing("a5", with: "a4"), "update-failed"),
                ("08" + data.replacing("a5", with: "ff"), more),
            ] {
                await Self.check(target, "\(call) 8 \(data): \(code); > \(command)08\(data)01020304 < \(answer) @10ms")
            }
        }
        await Self.check(
            Self.small,
            """
            erase 8 a5: ok
            2x > 5308a501020304 < silence; > 5308a501020304 < 08a5
            erase 8 a5: update-failed
            > 5308a501020304 < 09a5
            byte 8: unknown
            erase 8 a5: tag-lost
            3x > 5308a501020304 < silence
            erase 8 a5: tag-lost
            """
        )
    }

    /// A byte whose write was not confirmed holds the old content or the new one, and only the tag knows which.
    @Test func `Type 1 write that is not confirmed: the byte is read again, also after a new activation`() async {
        for (answer, count, code) in [
            ("0d0000", 1, "update-failed"), ("noise", 3, "update-failed"), ("silence", 3, "tag-lost"),
            ("removed", 1, "tag-lost"),
        ] {
            for (area, found) in [("0300aabb", "-"), ("0302aabb", "aabb")] {
                await Self.check(
                    Self.small,
                    """
                    read: aabb
                    > 000000 01020304 < 1148 01020304{4} e1100e00 0302aabb {104}
                    write cc: \(code)
                    \(count)x > 530d00 01020304 < \(answer)
                    activated
                    read: \(found)
                    > 000000 01020304 < 1148 01020304{4} e1100e00 \(area) {104}
                    """
                )
            }
        }
    }

    // MARK: Containers

    /// A capability container and an empty message, and what detection finds.
    @Test(arguments: [
        ("e1100e00 0300fe00", "rw 90 0"), ("e11f0e00 0300fe00", "rw 90 0"), ("e1100e0f 0300fe00", "ro 90 0"),
        ("e1100000 0300fe00", "no-ndef-tlv"), ("e1100200 0300fe00", "rw 10 0"), ("e1100e10 0300fe00", "read-protected"),
        ("e1200e00 0300fe00", "bad-version"), ("e1000e00 0300fe00", "bad-version"), ("e2100e00 0300fe00", "no-cc"),
        ("e1100e00 036bfe00", "tlv-overrun"), ("e1100e00 fe00fe00", "no-ndef-tlv"),
    ]) func `Type 1 container: each field is taken or has its error`(area: String, result: String) async {
        let rall = "; > 000000 01020304 < 1148 01020304{4}\(area){104}"
        await Self.check(Self.small, "detect: \(result)\(rall)")
        guard result.hasPrefix("ro") else { return }
        await Self.check(Self.small, "write 01: read-only\(rall); lock: read-only; format: read-only")
    }

    @Test(arguments: ["{91*07}", "{130*07}", "{300*07}"])
    func `Type 1 container of a small tag that promises a large memory: nothing is written beyond the memory`(
        message: String
    ) async {
        await Self.check(
            Self.small,
            "write \(message): tlv-overrun; > 000000 01020304 < 1148 01020304{4} e110ff00 0300fe00 {104}"
        )
    }

    @Test func `Type 1 control TLV: it reserves bytes in a dynamic memory alone`() async throws {
        let tag = try Self.topaz("Topaz 96", [], [(12, bytes("0203200404 0314") + message(20))])
        #expect(try await ProductBench(tag).reader.readNDEF() == message(20))
    }

    @Test func `Type 1 TLV over the lock bytes: it ends behind them, and stays when the message is written`()
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

    @Test func `Type 1 lock: a control TLV for bits beyond any memory is left out`() async throws {
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
        for (first, second): (UInt8, UInt8) in [(0x12, 0x4D), (0x13, 0x4C), (0x10, 0x48)] {
            await Self.check(
                Type1Target(headerROM0: first, headerROM1: second, uid: [1, 2, 3, 4]),
                "format: unsupported"
            )
        }
    }
}
