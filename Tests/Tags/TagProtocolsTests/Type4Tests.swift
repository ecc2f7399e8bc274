// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualCards
import VirtualTags

@testable import TagProtocols  // the limits of one command and the plan of a write are internal

/// Type 4 tags: exact commands of detection, reading and writing, status words, and limits (NFC Forum T4T 1.2, 5 and 6).
struct Type4Tests {
    /// Runs a script in which some words stand for exchanges: APP selects the application, CC the container, FILE the NDEF
    /// file, and READ-CC reads a container with MLe FB, MLc F6 and a file of 0x800 bytes that everybody may read and write.
    static func check(_ script: String, block: Int = 253, _ place: SourceLocation = #_sourceLocation) async {
        let link = ScriptedLink(block: block)
        let tag = Type4Tag(link: link)
        let text = script.replacing("READ-CC", with: "> 00b000000f < 000f20 00fb 00f6 0406 e104 0800 0000 9000")
            .replacing("APP", with: "> 00a4040007d276000085010100 < 9000").replacing(
                "CC",
                with: "> 00a4000c02e103 < 9000"
            ).replacing("FILE", with: "> 00a4000c02e104 < 9000")
        await Script(text).run(on: link, place) { call in
            switch call.name {
            case "binary": return hex(try await tag.readBinary(offset: call.number(0), count: call.number(1)))
            case "file":
                return tag.messageFile.map { "\(hex([tag.mappingVersion ?? 0])) \($0.identifier) \($0.size)" } ?? "nil"
            default: return try await callForumTag(tag, call)
            }
        }
    }

    /// The exchanges up to a container with other bytes.
    private static func container(_ bytes: String) -> String { "APP; CC; > 00b000000f < \(bytes) 9000" }
    static let start = "APP\nCC\nREAD-CC"
    private static let noApplication = "> 00a4040007d276000085010100 < 6a82"

    // MARK: Detection

    @Test func `Type 4 detection: mapping 1 after 6A82 to the later name, and its files with P2 00`() async {
        await Self.check(
            """
            detect: rw 126 3
            \(Self.noApplication)
            > 00a4040007d276000085010000 < 9000
            > 00a4000002e103 < 9000
            > 00b000000f < 000f10 003b 0034 0406 e104 0080 00 00 9000
            > 00a4000002e104 < 9000
            > 00b0000016 < 0003 d00000 {17} 9000
            file: 10 57604 128
            """
        )
        await Self.check("detect: no-cc; \(Self.noApplication); > 00a4040007d276000085010000 < 6a82")
    }

    @Test func `Type 4 SELECT: a warning is a success, 6A86 tries P2 00, and a missing file has its code`() async {
        await Self.check(
            """
            detect: rw 126 0
            > 00a4040007d276000085010100 < 6283
            > 00a4000c02e103 < 6a86; > 00a4000002e103 < 6300
            > 00b000000f < 000f20 003b 0034 0406 e104 0080 00 00 9000
            > 00a4000002e104 < 9000; > 00b0000016 < 0000 {20} 9000
            """
        )
        await Self.check("detect: no-cc; APP; > 00a4000c02e103 < 6a86; > 00a4000002e103 < 6a86")
        await Self.check("detect: no-cc; APP; > 00a4000c02e103 < 6a82")
        // After a file that is missing none counts as selected.
        await Self.check(
            "detect: no-ndef-tlv; \(Self.start); > 00a4000c02e104 < 6a82; lock: ok; CC; > 00d6000e01ff < 9000"
        )
    }

    @Test func `Type 4 container of mapping 3: its last two bytes are read too`() async {
        let start = "APP; CC; > 00b000000f < 001130 00fb 00f6 0608 e104 00010000 9000\n"
        await Self.check(
            "detect: ro 65532 5; \(start)> 00b0000f02 < 00ff 9000; FILE; > 00b0000018 < 00000005 0102030405{15} 9000"
        )
        await Self.check("lock: ok; \(start)> 00b0000f02 < 0000 9000; > 00d6001001ff < 9000")
        // The file ends where the shorter container would: its control TLV is incomplete.
        await Self.check("detect: refused; \(start)> 00b0000f02 < 6b00")
        await Self.check("detect: no-ndef-tlv; \(start)> 00b0000f02 < 00 6282")
        await Self.check("detect: no-cc; APP; CC; > 00b000000f < 000e20 00fb 00f6 0608 e104 00 6282")
    }

    /// A container, and the error; - without one.
    @Test(arguments: [
        ("000f20000f00010406e10400020000", "-"), ("000e20000f00010406e10400020000", "no-cc"),
        ("000f20000e00010406e10400020000", "no-cc"), ("000f20000f00000406e10400020000", "no-cc"),
        ("000f20000f00010406e10400010000", "no-ndef-tlv"), ("000f00000f00010406e10400020000", "bad-version"),
        ("000f3f000f00010406e10400020000", "-"), ("000f40000f00010406e10400020000", "bad-version"),
        ("000f20000f00010506e10400020000", "no-ndef-tlv"), ("000f20000f00010407e10400020000", "no-ndef-tlv"),
        ("000f20000f00010406000000020000", "no-ndef-tlv"), ("000f20000f00010406e10200020000", "no-ndef-tlv"),
        ("000f20000f00010406e10300020000", "no-ndef-tlv"), ("000f20000f000104063f0000020000", "no-ndef-tlv"),
        ("000f20000f000104063fff00020000", "no-ndef-tlv"), ("000f20000f00010406ffff00020000", "no-ndef-tlv"),
        ("000f20000f00010406e10100020000", "-"), ("000f20000f00010608e10400020000", "no-ndef-tlv"),
        ("001130000f00010608e104000000040000", "-"), ("001130000f00010608e104000000030000", "no-ndef-tlv"),
        ("000f", "no-cc"),
    ]) func `Type 4 container: each field at its ends is taken or has its error`(file: String, code: String) async {
        let found = await errorCode { _ = try Type4CapabilityContainer(bytes(file)) }
        #expect(found?.description ?? "-" == code)
    }

    /// The end of a container, the first read of the file and its answer, and what detection finds.
    @Test(arguments: [
        ("0800 0000", "16", "07fe {20} 9000", "rw 2046 2046"), ("0800 0000", "16", "07ff {20} 9000", "tlv-overrun"),
        ("0800 0000", "16", "00 6282", "tlv-overrun"), ("0800 0000", "16", "0000 6282", "rw 2046 0"),
        ("0800 0000", "16", "6982", "refused"), ("0800 0000", "16", "0000 {21} 9000", "bad-answer"),
        ("0800 8000", "", "", "read-protected"), ("0800 0080", "16", "0000 {20} 9000", "ro 2046 0"),
        ("0800 00ff", "16", "0000 {20} 9000", "ro 2046 0"), ("0005 0000", "05", "0003 d00000 9000", "rw 3 3"),
    ]) func `Type 4 NLEN and access: at their ends they are taken or have their error`(
        end: String,
        count: String,
        answer: String,
        result: String
    ) async {
        let read = count.isEmpty ? "" : "; FILE; > 00b00000\(count) < \(answer)"
        let refused = result.hasPrefix("ro") ? "; write 01: read-only; lock: read-only" : ""
        await Self.check("detect: \(result); \(Self.container("000f20 00fb 00f6 0406 e104 " + end))\(read)\(refused)")
    }

    @Test func `Type 4 message of more than a megabyte: it is not read, and may be written over`() async {
        func start(_ length: String) -> String {
            "APP; CC; > 00b000000f < 001130 00fb 00f6 0608 e104 00200000 9000; > 00b0000f02 < 0000 9000; FILE\n"
                + "> 00b0000018 < \(length) {20} 9000"
        }
        await Self.check("detect: rw 2097148 1048576\n" + start("00100000"))
        for (length, code) in [("00100001", "unsupported"), ("001ffffd", "tlv-overrun")] {
            await Self.check("detect: \(code)\n" + start(length))
            await Self.check("write aa: ok; \(start(length)); > 00d6000005 00000001 aa < 9000; read: aa")
            await Self.check("write {1048577*00}: message-too-long\n" + start(length))
        }
    }

    // MARK: Reading

    @Test func `Type 4 read: what came with NLEN is not read again, and each piece is MLe, a block, or the rest`() async
    {
        let data = (0..<60).map { UInt8($0) }
        for (mle, block, pieces) in [("00fb", 253, [40]), ("001e", 253, [30, 10]), ("00fb", 27, [25, 15])] {
            var position = 20
            var script = "read: \(hex(data))\n" + Self.container("000f20 \(mle) 00f6 0406 e104 0800 0000")
            script += "; FILE; > 00b0000016 < 003c \(hex(data[..<20])) 9000"
            for piece in pieces {
                let offset = hex([UInt8(0), UInt8(2 + position), UInt8(piece)])
                script += "; > 00b0\(offset) < \(hex(data[position..<position + piece])) 9000"
                position += piece
            }
            await Self.check(script + "; read: \(hex(data))", block: block)
        }
    }

    @Test func `Type 4 read: up to eight short answers are continued, a ninth and an empty one throw badAnswer`() async
    {
        for (count, code) in [(1, "ok"), (8, "ok"), (9, "bad-answer")] {
            let length = 20 + 2 * count
            var script = "FILE; > 00b0000016 < 00" + hex([UInt8(length)]) + "{20} 9000\n"
            for index in 0..<count {
                script += "> 00b000" + hex([UInt8(22 + index), UInt8(length - 20 - index)]) + " < aa 9000\n"
            }
            if code == "ok" { script += "> 00b000" + hex([UInt8(22 + count), UInt8(count)]) + " < {\(count)} 9000" }
            let result = code == "ok" ? "{20}{\(count)*aa}{\(count)}" : code
            await Self.check("read: \(result); \(Self.start); \(script)")
        }
        await Self.check("read: bad-answer; \(Self.start); FILE; > 00b0000016 < 0016 {20} 9000; > 00b0001602 < 6282")
    }

    @Test func `Type 4 read beyond 7FFF: the offset and the data are in objects`() async {
        await Self.check(
            """
            binary 16777215 1: aa
            > 00b1 0000 05 5403ffffff 03 < 5301aa 9000
            binary 16777216 1: unsupported
            binary 32768 2: aabb
            > 00b1 0000 05 5403008000 04 < 5302aabb 9000
            binary 32767 1: cc
            > 00b0 7fff 01 < cc 9000
            binary 32768 1: bad-answer
            > 00b1 0000 05 5403008000 03 < aabb 9000
            binary 32768 1: bad-answer
            > 00b1 0000 05 5403008000 03 < 5302aabb 9000
            """
        )
    }

    /// MLe, MLc, the bytes that go in a block, an offset, and the most bytes of one read and of one write. Beyond 7FFF a read
    /// has 53 81 FB in front of its data, and a write five bytes of offset and two of header.
    @Test(arguments: [
        (255, 255, 253, 0, 251, 248), (255, 255, 253, 0x7FFF - 250, 251, 248), (255, 255, 253, 0x7FFF - 249, 250, 248),
        (255, 255, 253, 0x7FFF - 247, 248, 248), (255, 255, 253, 0x7FFF - 246, 247, 247), (255, 255, 253, 0x7FFF, 1, 1),
        (255, 255, 253, 0x8000, 248, 247), (300, 255, 400, 0, 255, 255), (15, 7, 253, 0, 15, 7),
        (15, 7, 253, 0x8000, 13, 1), (255, 20, 13, 0, 11, 8), (255, 22, 13, 0, 11, 21), (255, 22, 2, 0, 1, 21),
        (255, 22, 2, 0x8000, 1, 15), (255, 3, 9, 0, 7, 3),
    ]) func `Type 4 limits: one command fits MLe, MLc and one block, and ends where the commands change`(
        mle: Int,
        mlc: Int,
        block: Int,
        offset: Int,
        read: Int,
        write: Int
    ) throws {
        let sizes = [mle, mlc].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let container = try Type4CapabilityContainer([0x00, 0x11, 0x30] + sizes + bytes("0608e10400ffffff0000"))
        let tag = Type4Tag(link: ScriptedLink(block: block))
        #expect(tag.readLimit(container, offset: offset) == read)
        #expect(tag.writeLimit(container, offset: offset) == write)
    }

    @Test func `Type 4 files beyond 32 KB: they are written and read by offset objects`() async throws {
        let application = NDEFApplication(mapping: .version3, size: 60000, maximumRead: 255, maximumWrite: 255)
        let front = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: bytes("0578807002"))
        let tag = VirtualType4Tag(card: ApplicationCard([application]), frontEnd: front)
        let reader = try await ProductBench(tag).reader
        #expect(try await reader.detectNDEF().capacity == 59996)
        try await reader.writeNDEF(message(50000, seed: 5))
        tag.losePower()
        #expect(try await ProductBench(tag).reader.readNDEF() == message(50000, seed: 5))
    }

    // MARK: Writing

    /// A message, the bytes of the length field, the old length, the most bytes of one command, and the write commands. With
    /// less than a length field in a command its bytes go one by one, the highest last.
    @Test(arguments: [
        ("aabb", 2, 0, 4, "0:0002aabb"), ("", 2, 0, 2, "0:0000"), ("aabb", 2, 0, 3, "0:0000aa 3:bb 0:0002"),
        ("aabbcc", 2, 0, 2, "0:0000 2:aabb 4:cc 0:0003"), ("aabb", 4, 0, 5, "0:00000000aa 5:bb 0:00000002"),
        ("aabb", 2, 0, 1, "2:aa 3:bb 1:02"), ("aa", 2, 0x0203, 1, "1:00 0:00 2:aa 1:01"), ("", 2, 0x0100, 1, "0:00"),
        ("", 2, 0, 1, ""), ("aabb", 4, 1, 3, "3:00 4:aabb 3:02"), ("aa", 2, 0, 0, "2:aa 1:01"),
    ]) func `Type 4 write: one command, or the length last`(
        message: String,
        lengthSize: Int,
        old: Int,
        limit: Int,
        commands: String
    ) {
        let plan = Type4WritePlan(bytes(message), lengthSize: lengthSize, oldLength: old) { _ in limit }
        #expect(plan.steps.map { "\($0.offset):" + hex($0.bytes) }.joined(separator: " ") == commands)
    }

    @Test(arguments: [
        ("9000", "ok"), ("6982", "key-needed"), ("6a84", "update-failed"), ("6300", "update-failed"),
        ("90", "update-failed"),
    ]) func `Type 4 write: done with 9000 alone, and after another status word the message is read again`(
        status: String,
        result: String
    ) async {
        let again = result == "ok" ? "read: aa" : "read: cc; > 00b0000016 < 0001 cc{19} 9000"
        await Self.check(
            "write aa: \(result); \(Self.start); FILE; > 00b0000016 < 0001 bb{19} 9000; > 00d6000003 0001aa < \(status); \(again)"
        )
    }

    @Test func `Type 4 write of a message that is too long: nothing is written`() async {
        let container = Self.container("000f20 00fb 00f6 0406 e104 0016 0000")
        await Self.check("write {21*01}: message-too-long; \(container); FILE; > 00b0000016 < 0000 {20} 9000")
    }

    // MARK: State

    @Test func `Type 4 card activated again: what was read stays known, and nothing after it is forgotten`() async {
        let read = "FILE; > 00b0000016 < 0016 {20} 9000"
        await Self.check(
            """
            file: nil
            detect: rw 2046 22
            \(Self.start)
            \(read)
            file: 20 57604 2048
            activated
            read: {20}aabb
            APP
            FILE
            > 00b0001602 < aabb 9000
            forget
            file: nil
            detect: rw 2046 22
            \(Self.start)
            \(read)
            """
        )
    }

    @Test func `Type 4 card that is lost: nothing is sent until it is activated again`() async {
        await Self.check(
            """
            detect: tag-lost
            > 00a4040007d276000085010100 < silence
            detect: tag-lost
            present: no
            activated
            present: yes
            detect: cancelled
            > 00a4040007d276000085010100 < cancelled
            detect: no-cc
            \(Self.noApplication)
            > 00a4040007d276000085010000 < 6a82
            """
        )
    }

    @Test func `Type 4 preparation: ISO-DEP is started once, and again after another activation`() async {
        let link = ScriptedLink()
        let tag = Type4Tag(link: ISODEP(link: link))
        await Script("prepare; > e080 < 0578807002; prepare; activated; prepare; > e080 < 0578807002").run(on: link) {
            try await callForumTag(tag, $0)
        }
    }
}
