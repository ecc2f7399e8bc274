// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // pages of the second sector are read by an internal call

/// A tag with the UID 04A1B2C3D4E580 that is ACTIVE in the field of a link.
func makeTag(_ link: any FrameLink, uid: String = "04a1b2c3d4e580") -> Type2Tag {
    Type2Tag(target: NFCATarget(atqa: 0x0044, sak: 0, uid: bytes(uid)), link: link)
}

/// The three exchanges that wake and select the tag with the UID 04A1B2C3D4E580.
let wake = """
    > 52/7 < 4400; > 9370 8804a1b29f < 04; > 9570 c3d4e58072 < 00
    """

/// Type 2 tags: exact exchanges of reading, writing and sectors, and the tag's state (NFC Forum T2T 1.2, 5).
struct Type2Tests {
    static func check(_ script: String, uid: String = "04a1b2c3d4e580", _ place: SourceLocation = #_sourceLocation)
        async
    {
        let link = ScriptedLink()
        let tag = makeTag(link, uid: uid)
        await Script(script).run(on: link, place) { call in
            switch call.name {
            case "fetch": try await tag.fetch(call.number(0)..<call.number(1))
            case "fast": tag.fastRead = call.arguments[0] == "usable" ? .usable : .unusable
            case "version": return try await tag.versionBytes().map { hex($0) } ?? "nil"
            case "signature": return try await tag.readSignature().map { hex($0.prefix(2)) + " \($0.count)" } ?? "nil"
            case "counter":
                let found = try await tag.readCounter(UInt8(call.number(0)))
                return found.map { "\($0.count) \($0.tearing.map { hex([$0]) } ?? "nil")" } ?? "nil"
            case "pages": return try await tag.readPages(call.number(0)).map { hex($0.suffix(8)) } ?? "nil"
            case "product": return try await tag.identifyProduct() ?? "nil"
            default: return try await callForumTag(tag, call)
            }
            return "ok"
        }
    }

    private static let container = "e1100600 0300fe00 {8}"
    private static let sector = "> c2ff < ack; > 01000000 < silence; > 3000 < {16}"

    // MARK: Reading

    @Test func `Type 2 timeouts: 5 ms for a read, 20 ms for a write, 1 ms for the silence after a sector number`() async
    {
        await Self.check(
            """
            write aa: ok
            > 3002 < 72480000 e1100600 0300fe00 {4} @5ms
            > a204 0301aafe < ack @20ms
            fetch 256 260
            > c2ff < ack @5ms; > 01000000 < silence @1ms; > 3000 < {16} @5ms
            """
        )
    }

    @Test func `Type 2 read: it begins with the first missing page, or ends with the data area`() async {
        await Self.check(
            """
            read: 0102030405060708090a0b0c0d0e0f101112
            > 3003 < e1100600 03120102 03040506 0708090a
            > 3007 < 0b0c0d0e 0f101112 fe000000 {4}
            """
        )
        await Self.check(
            """
            read: 0102030405060708090a0b0c0d0e
            > 3003 < e1100200 030e0102 03040506 0708090a
            > 3004 < 030e0102 03040506 0708090a 0b0c0d0e
            """
        )
    }

    @Test func `Type 2 FAST_READ: a refusal, silence or a wrong length is made good with READ, once for all`() async {
        for (answer, silent) in [
            ("nak", ""), ("0102", ""), ("{11}", ""), ("{13}", ""),
            ("silence", "\(wake)\n> 3a0709 < silence\n\(wake)\n> 3a0709 < silence\n\(wake)\n"),
        ] {
            await Self.check(
                """
                read: 0102030405060708090a0b0c0d0e0f1011121314
                > 3003 < e1103e00 03140102 03040506 0708090a
                > 3a0709 < \(answer)
                \(silent)\(wake)
                > 3007 < 0b0c0d0e 0f101112 1314fe00 {4}
                forget
                read: 0102030405060708090a0b0c0d0e0f1011121314
                > 3003 < e1103e00 03140102 03040506 0708090a
                > 3007 < 0b0c0d0e 0f101112 1314fe00 {4}
                """
            )
        }
    }

    @Test(arguments: [(64, 15), (128, 31), (256, 60)])
    func `Type 2 FAST_READ: as many pages as the reader's frames hold, 60 at most`(limit: Int, pages: Int) async throws
    {
        let tag = try ProductModel.named("NTAG216").make(message(868))
        let bench = try await ProductBench(tag, in: VirtualField(maximumFrameLength: limit))
        let before = bench.link.statistics.exchanges
        #expect(try await bench.reader.readNDEF() == message(868))
        #expect(bench.link.statistics.exchanges - before == 1 + (215 + pages - 1) / pages)
    }

    // MARK: Faults

    @Test func `Type 2 command: a NAK for a damaged command wakes the tag and sends it again, three times in all`()
        async
    {
        await Self.check(
            """
            detect: rw 46 0
            > 3003 < nak 1
            \(wake)
            > 3003 < nak 1
            \(wake)
            > 3003 < \(Self.container)
            """
        )
        await Self.check("detect: refused; > 3003 < nak 1; \(wake); > 3003 < nak 1; \(wake); > 3003 < nak 1")
        // A damaged answer leaves the tag awake.
        await Self.check("detect: rw 46 0; > 3003 < noise; > 3003 < collision; > 3003 < \(Self.container)")
    }

    /// An answer to the first READ, and the error.
    @Test(arguments: [
        ("nak 0", "read-protected"), ("nak 4", "read-protected"), ("ack", "bad-answer"), ("0102/3", "bad-answer"),
        ("010203", "bad-answer"), ("empty", "bad-answer"), ("{15}", "bad-answer"), ("{17}", "bad-answer"),
        ("cancelled", "cancelled"), ("unavailable", "reader-unavailable"), ("removed", "tag-lost"),
        ("unsupported", "unsupported"),
    ]) func `Type 2 READ: each refusal, wrong answer and failure has its code`(answer: String, code: String) async {
        await Self.check("detect: \(code); > 3003 < \(answer)")
    }

    @Test func `Type 2 tag that ignores READ but wakes: badAnswer, since it is near`() async {
        let silent = "> 3003 < silence; \(wake)\n"
        await Self.check("read: bad-answer; \(silent)\(silent)> 3003 < silence; \(wake)")
    }

    @Test func `Type 2 command that was cut off: the tag is woken before the next one`() async {
        for (failure, code) in [("cancelled", "cancelled"), ("unavailable", "reader-unavailable")] {
            await Self.check(
                "detect: \(code); > 3003 < \(failure); detect: rw 46 0; \(wake); > 3003 < \(Self.container)"
            )
        }
    }

    @Test(arguments: [
        ("e1106d00", "rw 868 0"), ("e11f6d00", "rw 868 0"), ("e1106d08", "ro 868 0"), ("e1106d0f", "ro 868 0"),
        ("e1206d00", "bad-version"), ("e1006d00", "bad-version"), ("00000000", "no-cc"), ("e1106df0", "read-protected"),
        ("e1106d10", "read-protected"), ("e1100000", "no-ndef-tlv"), ("e1100100", "rw 6 0"),
    ]) func `Type 2 container: each field is taken or has its error`(container: String, result: String) async {
        await Self.check("detect: \(result); > 3003 < \(container) 0300fe00 {8}")
    }

    @Test func `Type 2 container that promises more than the tag has: lengthOverrun, soon`() async throws {
        for product in Type2Product.all where product.userPages.upperBound < 256 {
            var contents = Type2Contents(blank: product, uid: bytes("04a1b2c3d4e580"))
            contents.memory.replaceSubrange(12..<20, with: bytes("e110ff00 03ff0700"))
            let bench = try await ProductBench(VirtualType2Tag(contents))
            #expect(await errorCode { _ = try await bench.reader.readNDEF() } == .lengthOverrun, "\(product)")
        }
    }

    // MARK: State

    @Test func `Type 2 tag activated again: its sector is selected again, and what was read stays known`() async {
        await Self.check("fetch 256 260\n\(Self.sector)\nactivated\nforget\nfetch 256 260\n\(Self.sector)")
        await Self.check(
            """
            detect: rw 46 0
            > 3003 < \(Self.container)
            activated
            detect: rw 46 0
            forget
            detect: ro 46 1
            > 3003 < e110060f 0301aafe {8}
            read: aa
            """
        )
        await Self.check("detect: read-protected; > 3003 < nak; activated; detect: rw 46 0; > 3003 < \(Self.container)")
        await Self.check(
            """
            detect: tag-lost
            > 3003 < removed
            detect: tag-lost
            present: no
            activated
            detect: rw 46 0
            > 3003 < \(Self.container)
            """
        )
    }

    @Test func `Type 2 presence: READ or FAST_READ of page 3 in the selected sector, and a refusal is presence`() async
    {
        await Self.check("fetch 256 260; \(Self.sector); present: yes; > 3003 < {16}; fetch 272 276; > 3010 < {16}")
        await Self.check(
            """
            present: yes
            > 3003 < nak
            \(wake)
            detect: rw 46 0
            > 3003 < \(Self.container)
            fast usable
            present: yes
            > 3a0303 < e1100600
            present: yes
            > 3a0303 < e1
            present: no
            \(wake)
            > 3a0303 < removed
            present: no
            """
        )
        await Self.check("present: no; > 3003 < nak; > 52/7 < removed")
    }

    @Test func `Type 2 SECTOR SELECT: repeated after damage or noise, and lengthOverrun where the sector is missing`()
        async
    {
        for fault in ["nak 1", "noise"] {
            await Self.check("fetch 256 260; > c2ff < ack; > 01000000 < \(fault); \(wake); \(Self.sector)")
        }
        for (fault, code) in [("noise", "bad-answer"), ("nak 1", "tlv-overrun")] {
            let attempt = "> c2ff < ack; > 01000000 < \(fault)\n"
            await Self.check("fetch 256 260: \(code)\n\(attempt)\(wake)\n\(attempt)\(wake)\n\(attempt)")
        }
        await Self.check("fetch 256 260: tlv-overrun; > c2ff < ack; > 01000000 < nak")
        await Self.check("fetch 256 260: tlv-overrun; > c2ff < nak")
        await Self.check("fetch 256 260: cancelled; > c2ff < ack; > 01000000 < cancelled")
        // A tag that went to sleep in the second sector wakes in the first.
        await Self.check(
            """
            fetch 256 260
            \(Self.sector)
            fetch 272 276: refused
            > 3010 < nak
            \(wake)
            > 60 < nak
            detect: rw 46 0
            \(wake)
            > 3003 < \(Self.container)
            """
        )
    }

    // MARK: Writing

    @Test func `Type 2 write: the length is emptied first and set last`() async {
        await Self.check(
            """
            write 11223344556677: ok
            > 3002 < 72480000 e1100600 0304aabb ccddfe00; > 300d < {12} 04a1b29f
            > a204 0300aabb < ack; > a205 33445566 < ack; > a206 77fe0000 < ack
            > a204 03071122 < ack
            read: 11223344556677
            """
        )
    }

    @Test func `Type 2 write that is refused or not confirmed: the page is read again before it is trusted`() async {
        for (answer, count, code) in [
            ("nak 5", 1, "update-failed"), ("noise", 3, "update-failed"), ("removed", 1, "tag-lost"),
            ("cancelled", 1, "cancelled"), ("010203", 1, "update-failed"),
        ] {
            for (stored, found) in [("0300fe00", "-"), ("0301aafe", "aa")] {
                await Self.check(
                    """
                    write aa: \(code)
                    > 3002 < 72480000 e1100600 0300fe00 {4}
                    \(count)x > a204 0301aafe < \(answer)
                    activated
                    read: \(found)
                    > 3004 < \(stored) {12}
                    """
                )
            }
        }
        for (access, found) in [("00", "rw"), ("0f", "ro")] {
            // There is no page 16: the answer continues with page 0.
            await Self.check(
                """
                lock: update-failed
                > 3002 < 72480000 e1100600 0300fe00 {4}
                > 300d < {12} 04a1b29f; > a203 e110060f < nak
                detect: \(found) 46 1
                \(wake)
                > 3003 < e11006\(access) 0301aafe {8}
                read: aa
                """
            )
        }
    }

    @Test func `Type 2 write around a control TLV: the reserved bytes inside the message are kept`() async throws {
        // Two lock bytes at 60 hexadecimal.
        var contents = Type2Contents(blank: .ntag216, uid: bytes("04a1b2c3d4e580"))
        contents.memory = contents.memory.placing(bytes("0103601044") + messageTLV([]), at: 16, end: 888)
        contents.memory.replaceSubrange(0x60..<0x62, with: [0x5A, 0xA5])
        let tag = VirtualType2Tag(contents)
        let reader = try await ProductBench(tag).reader
        #expect(try await reader.detectNDEF().capacity == 861)
        try await reader.writeNDEF(message(861))
        #expect(tag.contents.memory[0x60..<0x62] == [0x5A, 0xA5])
        #expect(try await ProductBench(tag).reader.readNDEF() == message(861))
    }

    // MARK: What the tag reports beside its message

    @Test func `Type 2 GET_VERSION: asked once, nil where the tag or the reader does not have it`() async {
        await Self.check("version: 0004040201000f03; > 60 < 0004040201000f03; version: 0004040201000f03")
        await Self.check("version: nil; > 60 < nak; version: nil; signature: abab 32; \(wake); > 3c00 < {32*ab}")
        await Self.check("version: nil; > 60 < silence; \(wake); > 60 < silence; \(wake)")
        // A reader that can't send it has sent nothing: the tag is as it was.
        await Self.check("version: nil; > 60 < unsupported; signature: nil; > 3c00 < nak")
        await Self.check("version: cancelled; > 60 < cancelled")
    }

    @Test func `Type 2 signature, counters and pages: nil where the tag does not have them`() async {
        for (answer, result) in [
            ("{32*ab}", "abab 32"), ("{31*ab}", "nil"), ("nak", "nil"), ("unsupported", "nil"), ("removed", "tag-lost"),
        ] { await Self.check("signature: \(result); > 3c00 < \(answer)") }
        await Self.check("counter 2: 197121 bd; > 3902 < 010203; > 3e02 < bd")
        await Self.check("counter 2: 197121 nil; > 3902 < 010203; > 3e02 < nak")
        await Self.check("counter 2: nil; > 3902 < nak")
        await Self.check(
            """
            pages 8: 0606060607070707
            > 3000 < 04a1b29fc3d4e58072480000e1100600
            > 3004 < {4*04}{4*05}{4*06}{4*07}
            pages 4: 72480000e1100600
            pages 2: 04a1b29fc3d4e580
            """
        )
        // At the end of its memory the tag continues with page 0.
        await Self.check(
            """
            pages 8: nil
            > 3000 < 04a1b29fc3d4e58072480000e1100600
            2x > 3004 < {4*04}{4*05}04a1b29fc3d4e580
            > 3006 < nak
            """
        )
        for (answer, result) in [("nak", "nil"), ("04a1b2", "nil"), ("unavailable", "reader-unavailable")] {
            await Self.check("pages 4: \(result); > 3000 < \(answer)")
        }
    }
}
