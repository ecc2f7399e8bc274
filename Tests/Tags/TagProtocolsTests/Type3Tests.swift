// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // single blocks are written by an internal call

/// Type 3 tags: exact exchanges, the attribute block, locks and formats (NFC Forum T3T 1.0, 5 and 6).
struct Type3Tests {
    private static let idm = "02fe001122334455"
    /// A FeliCa Standard card; F1 in its place is a Lite-S.
    private static let pmm = "0020000000014300"
    private static let lite = "00f1000000014300"

    /// Runs a script in which IDM and PMM stand for those of the tag.
    private static func check(
        pmm: String = pmm,
        system: UInt16? = 0x12FC,
        frame: Int = 256,
        selectsItself: Bool = false,
        _ script: String,
        _ place: SourceLocation = #_sourceLocation
    ) async {
        let link = ScriptedLink(.nfcF, maximumFrameLength: frame)
        let target = NFCFTarget(idm: bytes(idm), pmm: bytes(pmm), systemCode: system)
        let tag = Type3Tag(target: target, link: selectsItself ? SelfSelectingLink(link) : link)
        let text = script.replacing("IDM", with: idm).replacing("PMM", with: pmm)
        let own = (target.maximumResponseTime(.fixed, count: 0) + .milliseconds(1))
        await Script(text, times: ["own": own]).run(on: link, place) { call in
            switch call.name {
            case "update": try await tag.update(call.number(0), call.bytes(1))
            case "registers":
                let configuration = try await tag.readMemoryConfiguration().map { hex($0.prefix(3)) } ?? "nil"
                return configuration + " " + (try await tag.readWriteCounter().map { "\($0)" } ?? "nil")
            case "idm": return hex(tag.target.idm)
            default: return try await callForumTag(tag, call)
            }
            return "ok"
        }
    }

    /// The bytes of an attribute block with its checksum.
    private static func attributes(
        version: UInt8 = 0x10,
        read: UInt8 = 4,
        write: UInt8 = 2,
        blocks: Int = 13,
        unused: [UInt8] = [0, 0, 0, 0],
        flag: UInt8 = 0,
        access: UInt8 = 1,
        length: Int = 0
    ) -> String {
        var bytes = [version, read, write, UInt8(blocks >> 8), UInt8(blocks & 0xFF)] + unused + [flag, access]
        bytes += [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        let sum = bytes.reduce(0) { $0 + Int($1) }
        return hex(bytes + [UInt8(sum >> 8), UInt8(sum & 0xFF)])
    }

    private static func list(_ blocks: Range<Int>) -> String {
        hex([UInt8(blocks.count)] + blocks.flatMap { [0x80, UInt8($0)] })
    }

    /// CHECK of blocks, with their content or a status.
    private static func read(_ blocks: Range<Int>, _ data: String) -> String {
        let answer = data.count == 4 && !data.hasPrefix("{") ? data : "0000" + hex([UInt8(blocks.count)]) + data
        return "> +06 IDM 010b00 \(list(blocks)) < +07 IDM \(answer)"
    }

    /// UPDATE of blocks.
    private static func write(_ blocks: Range<Int>, _ data: String, status: String = "0000") -> String {
        "> +08 IDM 010900 \(list(blocks)) \(data) < +09 IDM \(status)"
    }

    private static let missing = "> 060012fc0000 < silence; > 060012fc0003 < silence; > 060012fc000f < silence"

    // MARK: Detection

    @Test func `Type 3 detection by another system: 12FC is polled in more and more slots until the tag answers`() async
    {
        let own = "01 12fe001122334455 PMM"
        for polls in [
            "> 060012fc0000 < +\(own)", "> 060012fc0000 < silence; > 060012fc0003 < +\(own)",
            """
            > 060012fc0000 < +01 02fe001122334466 PMM
            > 060012fc0003 < collision
            > 060012fc000f < 12 01 02fe001122334466 PMM 12 \(own)
            """,
        ] {
            await Self.check(
                system: 0x88B4,
                """
                detect: rw 208 0
                \(polls)
                > +06 12fe001122334455 010b00018000 < +07 12fe001122334455 000001 \(Self.attributes())
                idm: 12fe001122334455
                read: -
                """
            )
        }
        await Self.check(system: nil, "detect: no-cc\n\(Self.missing)")
        await Self.check(system: 0x88B4, "detect: tag-lost; > 060012fc0000 < removed; detect: tag-lost")
    }

    @Test func `Type 3 attribute block: each field at its ends is taken or has its error`() async {
        for (content, result) in [
            (Self.attributes(), "rw 208 0"), (Self.attributes(version: 0x1F), "rw 208 0"),
            (Self.attributes(version: 0x20), "bad-version"), (Self.attributes(version: 0x00), "bad-version"),
            (Self.attributes(read: 0), "no-cc"), (Self.attributes(read: 1), "rw 208 0"),
            (Self.attributes(write: 0), "ro 208 0"), (Self.attributes(write: 1), "rw 208 0"),
            (Self.attributes(access: 0), "ro 208 0"), (Self.attributes(access: 2), "ro 208 0"),
            (Self.attributes(length: 208), "rw 208 208"), (Self.attributes(length: 209), "tlv-overrun"),
            (Self.attributes(blocks: 0x1000, length: 0x1_0000), "rw 65536 65536"),
            (Self.attributes(blocks: 0x0FFF, length: 0x1_0000), "tlv-overrun"),
            (Self.attributes(flag: 0x0F), "rw 208 0"), (Self.attributes(flag: 0x0F, length: 1), "write-in-progress"),
            ("{16}", "no-cc"), (String(Self.attributes().dropLast(2)) + "ff", "bad-checksum"),
            ("ff" + Self.attributes().dropFirst(2), "bad-checksum"), ("01a8", "no-cc"),
        ] {
            let readOnly = result.hasPrefix("ro") ? "; write 01: read-only; lock: read-only" : ""
            await Self.check("detect: \(result); \(Self.read(0..<1, content))\(readOnly)")
        }
        await Self.check("write {17*01}: message-too-long; \(Self.read(0..<1, Self.attributes(blocks: 1)))")
    }

    // MARK: Reading

    @Test func `Type 3 read: Nbr blocks at a time, as many as the frame holds, 15 at most`() async {
        for (length, nbr, frame, pieces): (Int, UInt8, Int, [Range<Int>]) in [
            (1, 4, 256, [1..<2]), (16, 4, 256, [1..<2]), (17, 4, 256, [1..<3]), (64, 4, 256, [1..<5]),
            (65, 4, 256, [1..<5, 5..<6]), (80, 13, 64, [1..<4, 4..<6]), (48, 13, 62, [1..<3, 3..<4]),
            (48, 13, 63, [1..<4]), (32, 13, 20, [1..<2, 2..<3]), (256, 255, 300, [1..<16, 16..<17]),
            (208, 13, 256, [1..<14]),
        ] {
            let reads = pieces.map { blocks in
                Self.read(blocks, blocks.map { "{16*" + hex([UInt8($0)]) + "}" }.joined())
            }
            let stored: [UInt8] = (0..<length).map { UInt8(1 + $0 / 16) }
            let start = Self.read(0..<1, Self.attributes(read: nbr, blocks: 20, length: length))
            await Self.check(
                frame: frame,
                "read: \(hex(stored)); \(start); \(reads.joined(separator: "\n")); read: \(hex(stored))"
            )
        }
    }

    @Test func `Type 3 read: a refusal throws refused and leaves the tag, a wrong answer throws badAnswer`() async {
        let start = "read: RESULT; \(Self.read(0..<1, Self.attributes(length: 3)))\n"
        let refused = start.replacing("RESULT", with: "refused") + Self.read(1..<2, "01b1")
        await Self.check("\(refused); read: 070707; \(Self.read(1..<2, "{16*07}"))")
        for answer in ["000001", "000002{16}", "0000", "000001{15}", "000001{17}", ""] {
            let check = "> +06 IDM 010b00018001 < +07 IDM \(answer)"
            await Self.check(start.replacing("RESULT", with: "bad-answer") + check)
        }
    }

    // MARK: Writing

    @Test func `Type 3 write: WriteFlag is on with length 0 while the data are written, Nbw blocks at a time`() async {
        await Self.check(
            """
            write {33*05}: ok
            \(Self.read(0..<1, Self.attributes(length: 9)))
            \(Self.write(0..<1, Self.attributes(flag: 0x0F)))
            \(Self.write(1..<3, "{32*05}"))
            \(Self.write(3..<4, "05{15}"))
            \(Self.write(0..<1, Self.attributes(length: 33)))
            read: {33*05}
            detect: rw 208 33
            write: ok
            \(Self.write(0..<1, Self.attributes(length: 0)))
            read: -
            """
        )
    }

    /// What a write before left, and whether it can be locked: it can always be written over.
    @Test func `Type 3 write over what is left of another one: it succeeds; a lock is refused, and ends an empty one`()
        async
    {
        for (left, code) in [
            (Self.attributes(flag: 0x0F, length: 9), "write-in-progress"),
            (Self.attributes(length: 209), "tlv-overrun"),
        ] {
            await Self.check(
                """
                lock: \(code)
                \(Self.read(0..<1, left))
                read: \(code)
                write {16*05}: ok
                \(Self.write(0..<1, Self.attributes(flag: 0x0F)))
                \(Self.write(1..<2, "{16*05}"))
                \(Self.write(0..<1, Self.attributes(length: 16)))
                """
            )
        }
        let ended = Self.write(0..<1, Self.attributes(access: 0))
        await Self.check("lock: ok; \(Self.read(0..<1, Self.attributes(flag: 0x0F))); \(ended)")
        // Other bytes of the attribute block stay.
        func other(flag: UInt8 = 0, length: Int) -> String {
            Self.attributes(version: 0x1F, unused: [1, 2, 3, 4], flag: flag, length: length)
        }
        await Self.check(
            """
            write {16*05}: ok
            \(Self.read(0..<1, other(length: 9)))
            \(Self.write(0..<1, other(flag: 0x0F, length: 0)))
            \(Self.write(1..<2, "{16*05}"))
            \(Self.write(0..<1, other(length: 16)))
            """
        )
    }

    @Test func `Type 3 write that is refused, damaged or lost: the message is read again`() async {
        let first = Self.attributes(flag: 0x0F)
        for (steps, code) in [
            (Self.write(0..<1, first, status: "01a8"), "update-failed"),
            ("> +08 IDM 010900 018000 \(first) < 0a09 IDM", "update-failed"),
            (Self.write(0..<1, first) + "\n" + Self.write(1..<2, "{16*05}", status: "ff70"), "update-failed"),
            ("3x > +08 IDM 010900 018000 \(first) < noise", "update-failed"),
            ("3x > +08 IDM 010900 018000 \(first) < silence", "tag-lost"),
        ] {
            await Self.check(
                """
                read: 070707
                \(Self.read(0..<1, Self.attributes(length: 3)))
                \(Self.read(1..<2, "{16*07}"))
                write {16*05}: \(code)
                \(steps)
                activated
                read: 0808
                \(Self.read(0..<1, Self.attributes(length: 2)))
                \(Self.read(1..<2, "{16*08}"))
                """
            )
        }
        await Self.check(
            """
            update 0 {16}: tag-lost
            3x > +08 IDM 010900 018000 {16} < silence
            write 01: tag-lost
            detect: tag-lost
            present: no
            activated
            update 0 {16}: ok
            \(Self.write(0..<1, "{16}"))
            """
        )
    }

    @Test func `Type 3 write: 13 blocks at most, 12 where their numbers have two bytes, 3 in frames of 70 bytes`()
        async throws
    {
        func writes(blocks: Int, size: Int, frame: Int) async throws -> Int {
            let attributes = bytes(Self.attributes(write: 20, blocks: blocks))
            let system = FeliCaSystem(ndef: attributes + [UInt8](repeating: 0, count: blocks * 16))
            let tag = VirtualType3Tag(FeliCaStandardContents(idm: bytes(Self.idm), systems: [system]))
            let bench = try await ProductBench(tag, in: VirtualField(maximumFrameLength: frame))
            try await bench.reader.writeNDEF(message(size))
            #expect(try await ProductBench(tag).reader.readNDEF() == message(size))
            return bench.field.writeCount
        }
        // 19 updates of blocks 1 to 247, 12 and 11 blocks, and the attribute block twice.
        #expect(try await writes(blocks: 290, size: 270 * 16, frame: 256) == 19 + 2 + 2)
        #expect(try await writes(blocks: 30, size: 7 * 16, frame: 70) == 3 + 2)
    }

    // MARK: Locking and formatting

    @Test func `Type 3 lock: the attribute block, and on a Lite-S the memory configuration too`() async {
        await Self.check(
            "lock: ok; \(Self.read(0..<1, Self.attributes())); \(Self.write(0..<1, Self.attributes(access: 0))); format: unsupported"
        )
        await Self.check(
            pmm: Self.lite,
            """
            read: 070707
            \(Self.read(0..<1, Self.attributes(length: 3)))
            \(Self.read(1..<2, "{16*07}"))
            lock: ok
            > +06 IDM 010b00018088 < +07 IDM 000001 ffffff01 0102030405060708090a0b0c
            \(Self.write(0..<1, Self.attributes(access: 0, length: 3)))
            > +08 IDM 010900018088 00c00001 0102030405060708090a0b0c < +09 IDM 0000
            read: 070707
            detect: ro 208 3
            """
        )
    }

    /// The memory configuration's first bytes, and what a format writes: the attribute block, and SYS_OP if it is off.
    @Test(arguments: [
        ("ffffff00", true, "ok"), ("ffffff01", false, "ok"), ("ffff0001", false, "ok"),
        ("ffff0000", false, "read-only"),
    ]) func `Type 3 format of a Lite: the attribute block, and the NDEF system where the system blocks are open`(
        configuration: String,
        setsSystem: Bool,
        result: String
    ) async {
        var script = "format: \(result); > +06 IDM 010b00018088 < +07 IDM 000001 \(configuration){12}\n"
        if result == "ok" { script += Self.write(0..<1, Self.attributes(read: 4, write: 1, blocks: 13)) }
        if setsSystem { script += "; > +08 IDM 010900018088 ffffff01{12} < +09 IDM 0000" }
        await Self.check(pmm: "00f0000000014300", system: 0x88B4, script)
    }

    @Test func `Type 3 registers of a Lite-S: nil where the tag keeps them back`() async {
        for (answer, result) in [("000001 010203{13}", "010203 197121"), ("01a8", "nil nil"), ("000001", "nil nil")] {
            let reads = ["88", "90"].map { "> +06 IDM 010b000180\($0) < +07 IDM \(answer)" }
            await Self.check(pmm: Self.lite, "registers: \(result); \(reads.joined(separator: "\n"))")
        }
        await Self.check(pmm: Self.lite, "registers: tag-lost; 3x > +06 IDM 010b00018088 < silence")
    }

    // MARK: Presence

    @Test func `Type 3 presence: a mode or a polling answer with the tag's own IDm`() async {
        let mode = "> +04 IDM < ANSWER @own\n"
        let polled = "> 060012fc0000 < +01 IDM PMM"
        for (script, found) in [
            ("> +04 IDM < +05 IDM 00 @own", "yes"), (mode.replacing("ANSWER", with: "silence") + polled, "yes"),
            (mode.replacing("ANSWER", with: "+05 IDM") + polled, "yes"),
            (mode.replacing("ANSWER", with: "+07 IDM 00") + polled, "yes"),
            (mode.replacing("ANSWER", with: "+05 ffffffffffffffff 00") + polled, "yes"),
            (mode.replacing("ANSWER", with: "silence") + Self.missing, "no"),
            (
                mode.replacing("ANSWER", with: "silence")
                    + Self.missing.replacing("0000 < silence", with: "0000 < +01 02fe001122334400 PMM"), "no"
            ),
        ] { await Self.check("present: \(found)\n\(script)") }
        // A Lite-S has no mode, and where its system is not known it is polled for any.
        await Self.check(pmm: Self.lite, system: nil, "present: yes; > 0600ffff0000 < +01 IDM PMM")
        // A card that takes long for its mode is waited for no longer than 20 ms.
        await Self.check(pmm: "002000ff00014300", "present: yes; > +04 IDM < +05 IDM 00 @21ms")
        await Self.check(pmm: "0020004000014300", "present: yes; > +04 IDM < +05 IDM 00 @own")
    }

    @Test func `Type 3 presence with a reader that selects by itself: a Lite is selected, others after their mode`()
        async
    {
        for (answer, found) in [("00", "yes"), ("silence", "no"), ("removed", "no"), ("noise", "no")] {
            for ic in ["f0", "f1"] {
                let pmm = "00\(ic)000000014300"
                await Self.check(pmm: pmm, selectsItself: true, "present: \(found); > 00/1 < \(answer)")
            }
            for mode in ["silence", "noise", "+05 IDM", "+07 IDM 00", "+05 03fe001122334455 00"] {
                await Self.check(selectsItself: true, "present: \(found); > +04 IDM < \(mode); > 00/1 < \(answer)")
            }
        }
        await Self.check(selectsItself: true, "present: yes; > +04 IDM < +05 IDM 00")
    }
}
