// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // single blocks are read, written and locked by internal calls

/// Type 5 tags: exact exchanges with and without their UID, over the border of block 255, and refusals (NFC Forum T5T 1.0,
/// 4 to 6; ISO/IEC 15693-3).
struct Type5Tests {
    /// Runs a script in which UID stands for the tag's UID, as it is sent. `sized` makes a tag whose blocks of 4 bytes are
    /// known, without a read.
    static func check(
        uid: String = "e002240800112233",
        isAlone: Bool = true,
        frame: Int = 256,
        isSized: Bool = false,
        _ script: String,
        _ place: SourceLocation = #_sourceLocation
    ) async {
        let link = ScriptedLink(.nfcV, maximumFrameLength: frame)
        let tag = Type5Tag(target: NFCVTarget(uid: bytes(uid)), link: link, isAlone: isAlone)
        if isSized {
            tag.blockSize = 4
            tag.memory = TLVMemory(unitSize: 4, limit: 1 << 18)
        }
        await Script(script.replacing("UID", with: hex(bytes(uid).reversed()))).run(on: link, place) { call in
            func list(_ blocks: [Int]?) -> String { blocks.map { $0.map(String.init).joined(separator: " ") } ?? "nil" }
            switch call.name {
            case "first":
                try await tag.readFirstBlocks()
                return "\(tag.blockSize)"
            case "fetch": try await tag.fetch(call.number(0)..<call.number(1))
            case "address": tag.needsAddress = true
            case "option": return "\(tag.writesWithOption)"
            case "set": try await tag.write(call.bytes(1), to: call.number(0))
            case "lock-block": try await tag.lock(block: call.number(0))
            case "locked": return list(try await tag.readLockedBlocks(of: call.number(0)))
            case "frozen": return list(try await tag.readPermanentlyLockedBlocks(in: call.number(0)..<call.number(1)))
            case "info":
                let info = try await tag.readSystemInfo()
                return info.map { "\($0.blockCount ?? 0) \($0.icReference ?? 0)" } ?? "nil"
            case "signature": return try await tag.readSignature().map { hex($0) } ?? "nil"
            case "counter": return try await tag.readCounter().map { "\($0)" } ?? "nil"
            default: return try await callForumTag(tag, call)
            }
            return "ok"
        }
    }

    /// The first read, of a tag with an empty message in 63 times 8 bytes.
    private static let start = "> 02230003 < 00 e1403f01 0300fe00 {8}"

    // MARK: Addressing

    @Test func `Type 5 tag that is alone: its UID is sent after a failure, and for the first write`() async {
        await Self.check(
            """
            detect: rw 500 0
            > 02230003 < silence; > 2223UID0003 < noise
            > 2223UID0003 < 00 e1403f01 0300fe00 {8}
            write aa: ok
            > 2221UID01 0301aafe < 00 @21ms
            read: aa
            set 1 0300fe00: ok
            > 022101 0300fe00 < 00
            """
        )
        await Self.check(isAlone: false, "detect: rw 500 0; > 2223UID0003 < 00 e1403f01 0300fe00 {8}")
    }

    /// A failure of each attempt, and the error. A tag without READ MULTIPLE keeps silent too.
    @Test func `Type 5 command: sent three times, then tagLost after silence and badAnswer after damage`() async {
        for (failure, code) in [("noise", "bad-answer"), ("collision", "bad-answer")] {
            await Self.check("detect: \(code); > 02230003 < \(failure); 2x > 2223UID0003 < \(failure)")
        }
        let single = "; > 022000 < silence; 2x > 2220UID00 < silence"
        await Self.check("detect: tag-lost; > 02230003 < silence; 2x > 2223UID0003 < silence\(single)")
        for (failure, code) in [
            ("cancelled", "cancelled"), ("unavailable", "reader-unavailable"), ("empty", "bad-answer"),
        ] { await Self.check("detect: \(code); > 02230003 < \(failure)") }
        await Self.check(
            """
            detect: tag-lost
            > 02230003 < removed
            read: tag-lost
            first: tag-lost
            present: no
            activated
            detect: rw 500 0
            \(Self.start)
            """
        )
    }

    @Test func `Type 5 presence: any answer of the tag with its own UID`() async {
        for (answer, count, found) in [
            ("00{4}", 1, "yes"), ("0110", 1, "yes"), ("noise", 3, "yes"), ("silence", 3, "no"), ("removed", 1, "no"),
            ("cancelled", 1, "no"),
        ] { await Self.check("present: \(found); \(count)x > 2220UID00 < \(answer)") }
    }

    // MARK: Reading

    @Test func `Type 5 block size: by the length of the first answer`() async {
        for (length, result) in [
            (16, "4"), (32, "8"), (64, "16"), (128, "32"), (12, "bad-answer"), (20, "bad-answer"), (17, "bad-answer"),
            (256, "bad-answer"), (0, "bad-answer"),
        ] { await Self.check("first: \(result); > 02230003 < 00{\(length)}") }
        // Fujitsu's tags have blocks of eight bytes.
        await Self.check(uid: "e008010800112233", "first: 8; > 02230001 < 00{16}")
    }

    @Test func `Type 5 tag without READ MULTIPLE, or with a refused range: it is read block by block`() async {
        await Self.check(
            """
            read: aabbccddee
            > 02230003 < 0101; > 022000 < 00 e1403f01; > 022001 < 00 0305aabb
            > 022002 < 00 ccddeefe; > 022003 < 00{4}; > 022004 < 00{4}
            """
        )
        await Self.check("read: no-cc; > 02230003 < 0101; > 022000 < 0110")
        let range = "; > 02230403 < 0110; > 022004 < 00{4}; > 022005 < 00{4}; > 022006 < 00{4}; > 022007 < 00{4}"
        await Self.check("first: 4\n\(Self.start)\nfetch 16 32\(range)")
        let long = "> 02230003 < 00 e1403f01 0310aabb {8}; > 02230401 < "
        await Self.check("read: tlv-overrun; \(long)0110; > 022004 < 0110")
        for size in [4, 7, 9, 12] { await Self.check("read: bad-answer; \(long)00{\(size)}") }
    }

    /// Bytes, the longest frame, the reads with their blocks; and the UID where it matters.
    @Test(arguments: [
        ("16 144", 256, "0223041f 32", ""), ("16 148", 256, "0223041f 32, 022024 1", ""),
        ("17 20", 256, "022004 1", ""), ("19 21", 256, "02230401 2", ""), ("16 80", 35, "02230407 8, 02230c07 8", ""),
        ("16 20", 6, "022004 1", ""),
        // M24LR64: no read goes from one sector of 32 blocks into the next.
        ("16 144", 256, "0223041b 28, 02232003 4", "e0022c0800112233"),
        ("1016 1032", 256, "0223fe01 2, 023300010100 2", ""), ("1020 1028", 256, "0220ff 1, 02300001 1", ""),
        ("1028 1160", 256, "023301011f00 32, 02302101 1", ""),
    ]) func `Type 5 read: 32 blocks at most, within the frame, the sector and the border of block 255`(
        range: String,
        frame: Int,
        reads: String,
        uid: String
    ) async {
        let steps = reads.split(separator: ",").map { read in
            let parts = read.split(separator: " ")
            return "> \(parts[0]) < 00{\(4 * (Int(parts[1]) ?? 0))}"
        }
        let script = "first: 4\n\(Self.start)\nfetch \(range)\n\(steps.joined(separator: "\n"))"
        await Self.check(uid: uid.isEmpty ? "e002240800112233" : uid, frame: frame, script)
    }

    // MARK: Containers

    @Test(arguments: [
        ("e1400601 0300fe00", "rw 46 0"), ("e2400601 0300fe00", "rw 46 0"), ("e3400601 0300fe00", "no-cc"),
        ("e1800601 0300fe00", "bad-version"), ("e1000601 0300fe00", "bad-version"),
        ("e1440601 0300fe00", "read-protected"), ("e1400601 fe000000", "no-ndef-tlv"),
        ("e1400601 03ff00ff", "tlv-overrun"), ("e1430601 0300fe00", "ro 46 0"), ("e1410601 0300fe00", "ro 46 0"),
        ("e1400301 0300fe00", "rw 22 0"), ("00000000 00000000", "no-cc"),
    ]) func `Type 5 container: each field is taken or has its error`(memory: String, result: String) async {
        let start = "; > 02230003 < 00 \(memory){8}"
        await Self.check("detect: \(result)\(start)")
        guard result.hasPrefix("ro") else { return }
        await Self.check("write: read-only\(start); lock: read-only; format: read-only; check-lock: read-only")
    }

    @Test func `Type 5 container with a whole power of two: the area ends with the memory that the tag reports`() async
    {
        for (answers, capacity) in [
            ("> 022b < 00 04UID3f03", 250), ("> 022b < 0101; > 023b04 < 00 04UID3f0003", 250),
            ("> 022b < 0101; > 023b04 < 0101", 508),
        ] { await Self.check("detect: rw \(capacity) 0; > 02230003 < 00 e1404001 0300fe00 {8}; \(answers)") }
        await Self.check("read: no-ndef-tlv; > 02230003 < 00 e1400001 00000002 {8}; > 022b < 00 04UID0003")
        // ICODE SLIX has 112 bytes. ICODE SLIX2 has 316, and a counter behind them that is no memory.
        for (uid, container, capacity) in [
            ("e004015000112233", "e1400d01", 102), ("e004015000112233", "e1400e01", 106),
            ("e004015000112233", "e1402001", 106), ("e004010800112233", "e1402701", 308),
            ("e004010800112233", "e1402801", 308), ("e004010800112233", "e1404001", 308),
        ] { await Self.check(uid: uid, "detect: rw \(capacity) 0; > 02230003 < 00 \(container) 0300fe00 {8}") }
    }

    @Test func `Type 5 container of eight bytes: also read from a tag that reads single blocks alone`() async {
        let blocks = ["e2400001", "0000000f", "0300fe00", "{4}", "{4}", "{4}"]
        let reads = blocks.enumerated().map { "> 0220" + hex([UInt8($0.offset)]) + " < 00\($0.element)" }
        await Self.check("detect: rw 118 0; > 02230003 < 0101; \(reads.joined(separator: "\n"))")
    }

    /// The memory's size, whether blocks have long addresses, and the container.
    @Test(arguments: [
        (15, false, "nil"), (16, false, "e1400101"), (112, false, "e1400d01"), (4 + 255 * 8 + 7, false, "e140ff01"),
        (4 + 256 * 8, false, "e1400001000000ff"), (8192, true, "e2400001000003ff"), (64, true, "e240000100000007"),
        (1 << 20, true, "e24000010000ffff"),
    ]) func `Type 5 container for a memory: eight bytes where four can't say the size`(
        size: Int,
        isLong: Bool,
        text: String
    ) {
        let container = Type5CapabilityContainer(forMemoryOf: size, hasLongAddresses: isLong)
        #expect(container.map { hex($0.bytes) } ?? "nil" == text)
    }

    // MARK: Writing

    @Test func `Type 5 write and lock beyond block 255: by the extended commands, and a locked block is as good`() async
    {
        for (block, place, write, lock) in [
            (255, "ff", "21", "22"), (256, "0001", "31", "32"), (0x1234, "3412", "31", "32"),
        ] {
            await Self.check(
                isSized: true,
                """
                address
                set \(block) aabbccdd: ok
                > 22\(write)UID\(place)aabbccdd < 00
                lock-block \(block): ok
                > 02\(lock)\(place) < 00
                lock-block \(block): ok
                > 02\(lock)\(place) < 0111
                lock-block \(block): update-failed
                > 02\(lock)\(place) < 0112
                lock-block \(block): update-failed
                > 02\(lock)\(place) < 0114
                """
            )
        }
    }

    @Test func `Type 5 option flag: tried after error 03, and the answer comes at once or after an EOF`() async {
        let plain = "> 022101aabbccdd < "
        let option = "> 422101aabbccdd < "
        let silent = option + "silence @21ms; > eof < "
        for (steps, result, keeps) in [
            (plain + "00", "ok", "false"), (plain + "0103\n" + silent + "00 @1ms", "ok", "true"),
            (plain + "0103\n" + option + "00", "ok", "true"),
            (plain + "0103\n" + silent + "0112", "update-failed", "true"),
            (plain + "0103\n" + option + "0103", "update-failed", "true"), (plain + "0112", "update-failed", "false"),
        ] { await Self.check(isSized: true, "set 1 aabbccdd: \(result)\n\(steps)\noption: \(keeps)") }
        // Texas Instruments' tags have it from the start.
        let named = "> 6221UID01aabbccdd < "
        let whole = hex([0x00] + Technology.nfcV.checksum([0x00]))
        for (steps, result, keeps) in [
            (silent + "00", "ok", "true"), (option + "0103\n" + plain + "00", "ok", "false"),
            (option + "cancelled", "cancelled", "true"),
            (
                silent + "silence\n" + [named, named].map { $0 + "silence; > eof < silence" }.joined(separator: "\n"),
                "tag-lost", "true"
            ), (option + "noise\n2x " + named + "noise", "update-failed", "true"),
            // An answer after an EOF may have its checksum, and is damaged with another one.
            (silent + "~00", "ok", "true"), (silent + "~" + whole, "ok", "true"),
            (silent + "~00ffff\n" + named + "silence; > eof < ~" + whole, "ok", "true"),
        ] {
            let script = "set 1 aabbccdd: \(result)\n\(steps)\noption: \(keeps)"
            await Self.check(uid: "e007240800112233", isSized: true, script)
        }
        // So have those whose container announces special frames.
        await Self.check(
            "write aa: ok; > 02230003 < 00 e1403f11 0300fe00 {8}; > 6221UID01 0301aafe < silence @21ms; > eof < 00"
        )
    }

    @Test func `Type 5 write that is refused or not confirmed: the block is read again, also after a new activation`()
        async
    {
        for (answer, count, code, uid) in [
            ("0112", 1, "update-failed", "02"), ("noise", 3, "update-failed", "22"), ("silence", 3, "tag-lost", "22"),
            ("removed", 1, "tag-lost", "22"), ("cancelled", 1, "cancelled", "22"),
        ] {
            for (stored, found) in [("0300fe00", "-"), ("0301aafe", "aa")] {
                await Self.check(
                    """
                    write aa: \(code)
                    \(Self.start)
                    \(count)x > 2221UID01 0301aafe < \(answer)
                    activated
                    read: \(found)
                    > \(uid)20\(uid == "22" ? "UID" : "")01 < 00 \(stored)
                    > 022004 < 00{4}
                    """
                )
            }
        }
    }

    @Test func `Type 5 write of the old message after another one failed: a block of that one is written over`() async {
        await Self.check(
            """
            read: aabbccddee
            > 02230003 < 00 e1403f01 0305aabb ccddeefe {4}
            write aabb1122ee: update-failed
            > 222cUID0101 < 00 0000; > 2221UID01 0300aabb < 00; > 022102 1122eefe < noise
            2x > 2221UID02 1122eefe < noise
            write aabbccddee: ok
            > 222cUID0101 < 00 0000; > 2221UID02 ccddeefe < 00; > 022101 0305aabb < 00
            read: aabbccddee
            """
        )
    }

    // MARK: What the tag reports beside its message

    @Test func `Type 5 security status: 32 blocks at a time, and beyond 255 by the extended command`() async {
        await Self.check("locked 32: 0 31; > 022c001f < 00 01{30*02}01")
        await Self.check("locked 33: 5 32; > 022c001f < 00 {5*02}01{26*02}; > 022c2000 < 00 01")
        let many = (0..<8).map { "> 022c" + hex([UInt8(32 * $0), 31]) + " < 00 {32*02}" }.joined(separator: "\n")
        await Self.check("locked 264: 263; \(many); > 023c00010700 < 00 {7*02}01")
        await Self.check("locked 0: -")
        for answer in ["00{31*02}", "00{33*02}", "0101", "unsupported"] {
            await Self.check("locked 32: nil; > 022c001f < \(answer)")
        }
        await Self.check("locked 32: cancelled; > 022c001f < cancelled")
        await Self.check(
            """
            frozen 240 272: 241 255 256 271
            > 022cf00f < 00 0001{13}01; > 023c00010f00 < 00 0109{13}01
            frozen 240 272: nil
            > 022cf00f < 00 0001{13}01; > 023c00010f00 < 00 0109{13}0100
            frozen 255 256: 255
            > 022cff00 < 00 01
            frozen 256 257: -
            > 023c00010000 < 00 00
            """
        )
    }

    @Test func `Type 5 system information: the extended form is asked where the first has no size`() async {
        let none = "> 022b < 00 08UID01\n"
        for (answers, result) in [
            ("> 022b < 00 04UID4f03", "80 0"), (none + "> 023b0f < 00 04UIDff0103", "512 0"),
            ("> 022b < 0101; > 023b0f < 00 04UIDff0103", "512 0"), (none + "> 023b0f < 0101", "0 1"),
            ("> 022b < unsupported; > 023b0f < unsupported", "nil"),
        ] { await Self.check("info: \(result)\n\(answers)") }
    }

    @Test func `Type 5 signature and counter: asked of the ICODE products that have them`() async {
        for (answer, result) in [("00{31}01", "{31}01"), ("00{31}", "nil"), ("00{32}", "nil"), ("0101", "nil")] {
            for uid in ["e004010800112233", "e004011800112233"] {
                await Self.check(uid: uid, "signature: \(result); > 02bd04 < \(answer)")
            }
        }
        await Self.check(uid: "e004015000112233", "signature: nil\ncounter: nil")
        let counter = "counter: 4660; > 02204f < 00 34120001; counter: nil; > 02204f < 00 341200"
        await Self.check(uid: "e004010800112233", counter)
    }

    @Test func `Type 5 products: sizes, sectors and block sizes by the UID`() {
        func target(_ uid: String) -> NFCVTarget { NFCVTarget(uid: bytes(uid + "0000000000")) }
        for (uid, size): (String, Int?) in [
            ("e00401", 112), ("e0040110", 112), ("e0040108", 316), ("e0040118", nil), ("e00402", nil), ("e00201", nil),
        ] {
            #expect(
                Type5ProductFacts.memorySize(NFCVTarget(uid: Array(bytes(uid + "{8}").prefix(8)))) == size,
                "\(uid)"
            )
        }
        for (uid, keeps) in [
            ("e0022c", true), ("e0022f", true), ("e00230", false), ("e00244", true), ("e0024f", true), ("e00258", true),
            ("e0025f", true), ("e00224", false), ("e06700", true), ("e00401", false),
        ] { #expect(Type5ProductFacts.readsWithinSectors(target(uid)) == keeps, "\(uid)") }
    }
}
