// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Exact commands of a Type 4 tag's reader: status words, lengths at their ends, and cards that answer otherwise than
/// most (NFC Forum T4T 1.2, 5 and 6).
@Suite struct `Type 4 tags, command by command` {
    typealias Step = ScriptedCard.Step

    static let application = Step.command("00a4040007d276000085010100", "9000")
    static let containerFile = Step.command("00a4000c02e103", "9000")
    static let messageFile = Step.command("00a4000c02e104", "9000")

    /// The steps up to a container with an MLe, an MLc and a file's size.
    static func container(
        read: String = "00fb",
        write: String = "00f6",
        size: String = "0800",
        access: String = "0000"
    ) -> [Step] {
        [
            application, containerFile,
            .command("00b000000f", "000f20" + read + write + "0406e104" + size + access + "9000"),
        ]
    }

    static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

    /// What detection comes to, and how much of the script it leaves.
    static func detect(_ steps: [Step]) async -> (NDEFDetection?, TagError.Code?, left: Int) {
        let card = ScriptedCard(steps)
        var found: NDEFDetection?
        let code = await errorCode { () throws(TagError) in found = try await Type4Tag(link: card).detectNDEF() }
        return (found, code, card.left)
    }

    // MARK: Detection

    @Test func `The application of mapping 1 is asked for where the later one is not there, and then without 0C`()
        async throws
    {
        let old: [Step] = [
            .command("00a4040007d276000085010100", "6a82"), .command("00a4040007d276000085010000", "9000"),
            .command("00a4000002e103", "9000"),
            .command("00b000000f", "000f10 003b 0034 0406 e104 0080 00 00 9000"), .command("00a4000002e104", "9000"),
            .command("00b0000016", "0003 d00000" + Self.zeros(17) + "9000"),
        ]
        let (found, _, left) = await Self.detect(old)
        #expect(found == NDEFDetection(access: .readWrite, capacity: 126, messageLength: 3) && left == 0)
        let none = Array(old.prefix(1)) + [.command("00a4040007d276000085010000", "6a82")]
        #expect(await Self.detect(none) == (nil, .noCapabilityContainer, 0))
    }

    @Test func `A warning to SELECT is a success, and 6A86 has a file selected with P2 00`() async throws {
        let steps: [Step] = [
            .command("00a4040007d276000085010100", "6283"), .command("00a4000c02e103", "6a86"),
            .command("00a4000002e103", "6300"),
            .command("00b000000f", "000f20 003b 0034 0406 e104 0080 00 00 9000"), .command("00a4000002e104", "9000"),
            .command("00b0000016", "0000" + Self.zeros(20) + "9000"),
        ]
        let (found, code, left) = await Self.detect(steps)
        #expect(found?.messageLength == 0 && code == nil && left == 0)
        // With P2 00 there is nothing left to try.
        let twice = Array(steps.prefix(2)) + [.command("00a4000002e103", "6a86")]
        #expect(await Self.detect(twice) == (nil, .noCapabilityContainer, 0))
        #expect(
            await Self.detect([Self.application, .command("00a4000c02e103", "6a82")])
                == (nil, .noCapabilityContainer, 0)
        )
        #expect(
            await Self.detect(Self.container() + [.command("00a4000c02e104", "6a82")]) == (nil, .noMessageTLV, 0)
        )
    }

    @Test func `A container of mapping 3 has its last two bytes read too, unless it is shorter than it says`()
        async throws
    {
        let start: [Step] = [
            Self.application, Self.containerFile,
            .command("00b000000f", "001130 00fb 00f6 0608 e104 00010000 9000"),
        ]
        let whole =
            start + [
                .command("00b0000f02", "00ff 9000"), Self.messageFile,
                .command("00b0000018", "00000005 0102030405" + Self.zeros(15) + "9000"),
            ]
        let (found, code, left) = await Self.detect(whole)
        #expect(found == NDEFDetection(access: .readOnly, capacity: 65532, messageLength: 5))
        #expect(code == nil && left == 0)
        // The file ends where the shorter container would: its control TLV is no whole one.
        #expect(await Self.detect(start + [.command("00b0000f02", "6b00")]) == (nil, .refused, 0))
        #expect(await Self.detect(start + [.command("00b0000f02", "00 6282")]) == (nil, .noMessageTLV, 0))
        let short: [Step] = [
            Self.application, Self.containerFile, .command("00b000000f", "000e20 00fb 00f6 0608 e104 00 6282"),
        ]
        #expect(await Self.detect(short) == (nil, .noCapabilityContainer, 0))
    }

    @Test(
        arguments: [
            ("000f20000f00010406e10400020000", nil), ("000e20000f00010406e10400020000", .noCapabilityContainer),
            ("000f20000e00010406e10400020000", .noCapabilityContainer),
            ("000f20000f00000406e10400020000", .noCapabilityContainer),
            ("000f20000f00010406e10400010000", .noMessageTLV),
            ("000f00000f00010406e10400020000", .badVersion), ("000f3f000f00010406e10400020000", nil),
            ("000f40000f00010406e10400020000", .badVersion), ("000f20000f00010506e10400020000", .noMessageTLV),
            ("000f20000f00010407e10400020000", .noMessageTLV), ("000f20000f00010406000000020000", .noMessageTLV),
            ("000f20000f00010406e10200020000", .noMessageTLV), ("000f20000f00010406e10300020000", .noMessageTLV),
            ("000f20000f000104063f0000020000", .noMessageTLV), ("000f20000f000104063fff00020000", .noMessageTLV),
            ("000f20000f00010406ffff00020000", .noMessageTLV), ("000f20000f00010406e10100020000", nil),
            ("000f20000f00010608e10400020000", .noMessageTLV), ("001130000f00010608e104000000040000", nil),
            ("001130000f00010608e104000000030000", .noMessageTLV), ("000f", .noCapabilityContainer),
        ] as [(String, TagError.Code?)]
    )
    func `A container is taken when its numbers are within the standard's`(_ file: String, _ code: TagError.Code?) {
        do throws(TagError) {
            _ = try Type4CapabilityContainer(bytes(file))
            #expect(code == nil)
        } catch {
            #expect(error.code == code)
        }
    }

    @Test func `The message's length is checked against the file, and is asked for where reading is free alone`()
        async throws
    {
        func detect(_ answer: String, size: String = "0800", access: String = "0000") async -> TagError.Code? {
            let steps = Self.container(size: size, access: access) + [Self.messageFile, .command("00b0000016", answer)]
            return await Self.detect(steps).1
        }
        let rest = Self.zeros(20) + "9000"
        #expect(await detect("07fe" + rest) == nil)
        #expect(await detect("07ff" + rest) == .lengthOverrun)
        #expect(await detect("00 6282") == .lengthOverrun)
        #expect(await detect("0000 6282") == nil)
        #expect(await detect("6982") == .refused)
        #expect(await detect("0000" + Self.zeros(21) + "9000") == .badAnswer)
        // 80 requires a key, and FF forbids access.
        #expect(await Self.detect(Self.container(access: "8000")) == (nil, .readProtected, 0))
        let (found, _, _) = await Self.detect(
            Self.container(access: "0080") + [Self.messageFile, .command("00b0000016", "0000" + rest)]
        )
        #expect(found?.access == .readOnly)
        // A file that is shorter than the first read is not read beyond its end.
        let (small, _, _) = await Self.detect(
            Self.container(size: "0005") + [Self.messageFile, .command("00b0000005", "0003 d00000 9000")]
        )
        #expect(small?.capacity == 3)
    }

    @Test func `A message of more than a megabyte is not read, but may be written over`() async throws {
        func script(_ length: String) -> [Step] {
            [
                Self.application, Self.containerFile,
                .command("00b000000f", "001130 00fb 00f6 0608 e104 00200000 9000"), .command("00b0000f02", "0000 9000"),
                Self.messageFile, .command("00b0000018", length + Self.zeros(20) + "9000"),
            ]
        }
        #expect(await Self.detect(script("00100000")).0?.messageLength == 1 << 20)
        #expect(await Self.detect(script("00100001")) == (nil, .unsupported, 0))
        #expect(await Self.detect(script("001ffffd")) == (nil, .lengthOverrun, 0))
        for length in ["00100001", "001ffffd"] {
            let card = ScriptedCard(script(length) + [.command("00d6000005 00000001 aa", "9000")])
            let tag = Type4Tag(link: card)
            try await tag.writeNDEF([0xAA])
            #expect(try await tag.readNDEF() == [0xAA] && card.left == 0)
            let long = Type4Tag(link: ScriptedCard(script(length)))
            #expect(
                await errorCode { () throws(TagError) in
                    try await long.writeNDEF([UInt8](repeating: 0, count: 1 << 20 + 1))
                } == .messageTooLong
            )
        }
    }

    // MARK: Reading

    @Test func `What detection read is not read again, and each piece is MLe, a block, or what is left`() async throws {
        let data = (0..<60).map { UInt8($0) }
        for (mle, block, pieces) in [("00fb", 253, [40]), ("001e", 253, [30, 10]), ("00fb", 27, [25, 15])] {
            var position = 20
            var steps =
                Self.container(read: mle)
                + [Self.messageFile, .command("00b0000016", "003c" + hex(data[..<20]) + "9000")]
            for piece in pieces {
                let offset = hex([UInt8(0), UInt8(2 + position), UInt8(piece)])
                steps.append(.command("00b0" + offset, hex(data[position..<position + piece]) + "9000"))
                position += piece
            }
            let card = ScriptedCard(steps, block: block)
            let tag = Type4Tag(link: card)
            #expect(try await tag.readNDEF() == data && card.left == 0, "\(mle) \(block)")
            #expect(try await tag.readNDEF() == data)
        }
    }

    @Test func `Up to eight answers of a message may be shorter than asked for, and none empty`() async throws {
        func read(short count: Int, last: String = "9000") async -> TagError.Code? {
            let length = 20 + 2 * count
            var steps =
                Self.container()
                + [Self.messageFile, .command("00b0000016", "00" + hex([UInt8(length)]) + Self.zeros(20) + "9000")]
            for index in 0..<count {
                let offset = 22 + index
                steps.append(
                    .command("00b000" + hex([UInt8(offset), UInt8(length - 20 - index)]), "aa" + "9000")
                )
            }
            if count <= 8 {
                let rest = Self.zeros(length - 20 - count)
                let offset = hex([UInt8(22 + count), UInt8(length - 20 - count)])
                steps.append(.command("00b000" + offset, rest + last))
            }
            return await errorCode { () throws(TagError) in
                _ = try await Type4Tag(link: ScriptedCard(steps)).readNDEF()
            }
        }
        #expect(await read(short: 1) == nil)
        #expect(await read(short: 8) == nil)
        #expect(await read(short: 9) == .badAnswer)
        let empty =
            Self.container() + [
                Self.messageFile, .command("00b0000016", "0016" + Self.zeros(20) + "9000"),
                .command("00b0001602", "6282"),
            ]
        #expect(
            await errorCode { () throws(TagError) in _ = try await Type4Tag(link: ScriptedCard(empty)).readNDEF() }
                == .badAnswer
        )
    }

    @Test func `One command asks for no more than goes in a block, and ends where the commands change`() {
        var container = Type4CapabilityContainer.known(read: 255, write: 255)
        let tag = Type4Tag(link: ScriptedCard([]))
        #expect(tag.readLimit(container, offset: 0) == 251)
        #expect(tag.readLimit(container, offset: 0x7FFF - 250) == 251)
        #expect(tag.readLimit(container, offset: 0x7FFF - 249) == 250 && tag.readLimit(container, offset: 0x7FFF) == 1)
        // 53 81 FB in front of the data.
        #expect(tag.readLimit(container, offset: 0x8000) == 248)
        #expect(tag.writeLimit(container, offset: 0) == 248)
        #expect(tag.writeLimit(container, offset: 0x7FFF - 247) == 248)
        #expect(tag.writeLimit(container, offset: 0x7FFF - 246) == 247)
        #expect(tag.writeLimit(container, offset: 0x7FFF) == 1)
        #expect(tag.writeLimit(container, offset: 0x8000) == 255 - 5 - 3)
        container.maximumRead = 300
        let wide = Type4Tag(link: ScriptedCard([], block: 400))
        #expect(wide.readLimit(container, offset: 0) == 255)
        container.maximumRead = 15
        container.maximumWrite = 7
        #expect(tag.readLimit(container, offset: 0x8000) == 13 && tag.writeLimit(container, offset: 0) == 7)
        // There is only room for the offset, five bytes, and the object's header, two bytes.
        #expect(tag.writeLimit(container, offset: 0x8000) == 1)
        let narrow = Type4Tag(link: ScriptedCard([], block: 13))
        container.maximumWrite = 20
        container.maximumRead = 255
        #expect(narrow.readLimit(container, offset: 0) == 11 && narrow.writeLimit(container, offset: 0) == 8)
        container.maximumWrite = 22
        #expect(narrow.writeLimit(container, offset: 0) == 21)
        let tiny = Type4Tag(link: ScriptedCard([], block: 2))
        #expect(tiny.readLimit(container, offset: 0) == 1 && tiny.readLimit(container, offset: 0x8000) == 1)
        container.maximumWrite = 3
        #expect(Type4Tag(link: ScriptedCard([], block: 9)).writeLimit(container, offset: 0) == 3)
    }

    @Test func `The last offset of a file is FFFFFF, and its data is in an object`() async throws {
        let card = ScriptedCard([
            .command("00b1 0000 05 5403ffffff 03", "5301aa 9000"),
            .command("00b1 0000 05 5403008000 04", "5302aabb 9000"),
            .command("00b0 7fff 01", "cc 9000"), .command("00b1 0000 05 5403008000 03", "aabb 9000"),
            .command("00b1 0000 05 5403008000 03", "5302aabb 9000"),
        ])
        let tag = Type4Tag(link: card)
        #expect(try await tag.readBinary(offset: 0xFF_FFFF, count: 1) == [0xAA])
        #expect(
            await errorCode { () throws(TagError) in _ = try await tag.readBinary(offset: 1 << 24, count: 1) }
                == .unsupported
        )
        #expect(try await tag.readBinary(offset: 0x8000, count: 2) == [0xAA, 0xBB])
        #expect(try await tag.readBinary(offset: 0x7FFF, count: 1) == [0xCC])
        for _ in 0..<2 {
            #expect(
                await errorCode { () throws(TagError) in _ = try await tag.readBinary(offset: 0x8000, count: 1) }
                    == .badAnswer
            )
        }
        #expect(card.left == 0)
    }

    // MARK: Writing

    @Test(
        arguments: [
            ("6982", .keyNeeded), ("6a84", .updateFailed), ("6300", .updateFailed), ("9000", nil),
            ("90", .updateFailed),
        ] as [(String, TagError.Code?)]
    )
    func `A write is done with 9000 alone`(_ status: String, _ code: TagError.Code?) async throws {
        let steps =
            Self.container() + [
                Self.messageFile, .command("00b0000016", "0000" + Self.zeros(20) + "9000"),
                .command("00d6000003 0001aa", status),
            ]
        let tag = Type4Tag(link: ScriptedCard(steps))
        #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xAA]) } == code)
    }

    @Test func `A write that fails leaves nothing known of the message, and one that succeeds all of it`() async throws
    {
        let begin =
            Self.container() + [Self.messageFile, .command("00b0000016", "0001 bb" + Self.zeros(19) + "9000")]
        let failed = ScriptedCard(
            begin + [
                .command("00d6000003 0001aa", "6a84"), .command("00b0000016", "0001 cc" + Self.zeros(19) + "9000"),
            ]
        )
        let tag = Type4Tag(link: failed)
        #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xAA]) } == .updateFailed)
        #expect(try await tag.readNDEF() == [0xCC] && failed.left == 0)
        let done = ScriptedCard(begin + [.command("00d6000003 0001aa", "9000")])
        let other = Type4Tag(link: done)
        try await other.writeNDEF([0xAA])
        #expect(try await other.detectNDEF().messageLength == 1)
        #expect(try await other.readNDEF() == [0xAA] && done.left == 0)
    }

    @Test func `A tag that may not be written, or is too small, is not written`() async throws {
        for (access, size, message, code) in [
            ("00ff", "0800", 1, TagError.Code.readOnly), ("0080", "0800", 1, .readOnly),
            ("0000", "0016", 21, .messageTooLong),
        ] {
            let card = ScriptedCard(
                Self.container(size: size, access: access)
                    + [Self.messageFile, .command("00b0000016", "0000" + Self.zeros(20) + "9000")]
            )
            let tag = Type4Tag(link: card)
            let new = [UInt8](repeating: 1, count: message)
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF(new) } == code)
            #expect(card.left == 0)
        }
    }
}

extension Type4CapabilityContainer {
    /// A container of mapping 3 for a file of 16 MB.
    fileprivate static func known(read: Int, write: Int) -> Type4CapabilityContainer {
        let sizes = [read, write].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let file = [0x00, 0x11, 0x30] + sizes + bytes("0608e10400ffffff0000")
        guard let container = try? Type4CapabilityContainer(file) else { preconditionFailure("it is well formed") }
        return container
    }
}
