// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // the limits of one command and the plan of a write are internal

/// Type 4 tags: exact commands of detection, reading and writing, status words, and limits (NFC Forum T4T 1.2, 5 and 6).
struct Type4Tests {
    @Test(arguments: try Scenario.all(in: "type4.txt"))
    func `Type 4 tag: each call makes exactly the commands of type4.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink(block: part.number("block") ?? 253)
            let tag = Type4Tag(link: link)
            await Script(part.text).run(on: link) { call in
                switch call.name {
                case "binary": return hex(try await tag.readBinary(offset: call.number(0), count: call.number(1)))
                case "file":
                    let version = hex([tag.mappingVersion ?? 0])
                    return tag.capabilityContainer.map { "\(version) \($0.messageFile) \($0.fileSize)" } ?? "nil"
                case "version":
                    guard let found = try await DESFireVersion.read(from: link) else { return "nil" }
                    return "\(hex(found.hardware)) \(hex(found.uid)) \(found.production.count) \(found.bytes.count)"
                default: return try await callForumTag(tag, call)
                }
            }
        }
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
    ]) func `Type 4 container: the limits of each field are accepted, values beyond them have its error`(
        file: String,
        code: String
    ) async {
        let found = await errorCode { _ = try Type4CapabilityContainer(bytes(file)) }
        #expect(found?.description ?? "-" == code)
    }

    /// MLe, MLc, the bytes that go in a block, an offset, and the most bytes of one read and of one write. Beyond 7FFF a read
    /// has 53 81 FB in front of its data, and a write five bytes of offset and two of header.
    @Test(arguments: [
        (255, 255, 253, 0, 251, 248), (255, 255, 253, 0x7FFF - 250, 251, 248), (255, 255, 253, 0x7FFF - 249, 250, 248),
        (255, 255, 253, 0x7FFF - 247, 248, 248), (255, 255, 253, 0x7FFF - 246, 247, 247), (255, 255, 253, 0x7FFF, 1, 1),
        (255, 255, 253, 0x8000, 248, 247), (300, 255, 400, 0, 255, 255), (15, 7, 253, 0, 15, 7),
        (15, 7, 253, 0x8000, 13, 1), (255, 20, 13, 0, 11, 8), (255, 22, 13, 0, 11, 21), (255, 22, 2, 0, 1, 21),
        (255, 22, 2, 0x8000, 1, 15), (255, 3, 9, 0, 7, 3),
    ]) func `Type 4 limits: one command fits MLe, MLc and one block, and never crosses offset 7FFF`(
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

    /// A message, the bytes of the length field, the old length, the most bytes of one command, and the write commands. With
    /// less than a length field in a command its bytes go one by one, the highest last.
    @Test(arguments: [
        ("aabb", 2, 0, 4, "0:0002aabb"), ("", 2, 0, 2, "0:0000"), ("aabb", 2, 0, 3, "0:0000aa 3:bb 0:0002"),
        ("aabbcc", 2, 0, 2, "0:0000 2:aabb 4:cc 0:0003"), ("aabb", 4, 0, 5, "0:00000000aa 5:bb 0:00000002"),
        ("aabb", 2, 0, 1, "2:aa 3:bb 1:02"), ("aa", 2, 0x0203, 1, "1:00 0:00 2:aa 1:01"), ("", 2, 0x0100, 1, "0:00"),
        ("", 2, 0, 1, ""), ("aabb", 4, 1, 3, "3:00 4:aabb 3:02"), ("aa", 2, 0, 0, "2:aa 1:01"),
    ]) func `Type 4 write: one command if all fits, otherwise the length is cleared first and set last`(
        message: String,
        lengthSize: Int,
        old: Int,
        limit: Int,
        commands: String
    ) {
        let plan = Type4WritePlan(bytes(message), lengthSize: lengthSize, oldLength: old) { _ in limit }
        #expect(plan.steps.map { "\($0.offset):" + hex($0.bytes) }.joined(separator: " ") == commands)
    }

    @Test func `Type 4 preparation: ISO-DEP is started once, and again after another activation`() async {
        let link = ScriptedLink()
        let tag = Type4Tag(link: ISODEP(link: link))
        await Script("prepare; > e080 < 0578807002; prepare; activated; prepare; > e080 < 0578807002").run(on: link) {
            try await callForumTag(tag, $0)
        }
    }

    // MARK: Locking

    /// A card, the error of a check and of a lock, and of a write.
    private static let cards: [(String, TagError.Code?, TagError.Code?, @Sendable () -> VirtualType4Tag)] = [
        ("DESFire EV1", .keyNeeded, nil, { VirtualType4Tag(DESFireContents.ndef()) }),
        ("DESFire EV3", .keyNeeded, nil, { VirtualType4Tag(DESFireContents.ndef(generation: .ev3)) }),
        ("NTAG 424 DNA", .keyNeeded, nil, { VirtualType4Tag(NTAG424Contents()) }),
        (
            "DESFire with a container for everybody", nil, nil,
            {
                var contents = DESFireContents.ndef()
                contents.applications[0].files[0].accessRights = 0xEEE0
                return VirtualType4Tag(contents)
            }
        ), ("card without rights", nil, nil, { VirtualType4Tag(card: ApplicationCard([NDEFApplication()])) }),
        (
            "DESFire with a message for its key", .keyNeeded, .keyNeeded,
            {
                var contents = DESFireContents.ndef()
                contents.applications[0].files[1].accessRights = 0xE000
                return VirtualType4Tag(contents)
            }
        ),
    ]

    @Test func `Type 4 lock: a card that wants a key throws the same in checkLocking() and lock(), and stays writable`()
        async throws
    {
        for (name, lock, write, make) in Self.cards {
            let bench = try await ProductBench(make())
            #expect(await errorCode { try await bench.reader.checkLocking() } == lock, "\(name)")
            #expect(bench.field.writeCount == 0, "\(name)")
            #expect(await errorCode { try await bench.reader.writeNDEF([0xD0, 0, 0]) } == write, "\(name)")
            #expect(await errorCode { try await bench.reader.lock() } == lock, "\(name)")
            #expect(try await bench.reader.detectNDEF().access == (lock == nil ? .readOnly : .readWrite), "\(name)")
        }
    }
}
