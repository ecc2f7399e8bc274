// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Locking and formatting, what is remembered of a card, and DESFire's own commands.
extension `Type 4 tags, command by command` {
    // MARK: Locking and what is selected

    @Test(
        arguments: [
            ("6982", .keyNeeded), ("6a84", .updateFailed), ("9000", nil),
        ] as [(String, TagError.Code?)]
    )
    func `A lock writes the write access alone, and selects the container again`(
        _ status: String,
        _ code: TagError.Code?
    )
        async throws
    {
        let before =
            Self.container() + [Self.messageFile, .command("00b0000016", "0000" + Self.zeros(20) + "9000")]
        let card = ScriptedCard(before + [Self.containerFile, .command("00d6000e01ff", status)])
        let tag = Type4Tag(link: card)
        _ = try await tag.detectNDEF()
        #expect(await errorCode { () throws(TagError) in try await tag.lock() } == code)
        #expect(card.left == 0)
        guard code == nil else { return }
        #expect(try await tag.detectNDEF().access == .readOnly)
        #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .readOnly)
        let gone = ScriptedCard(before + [.command("00a4000c02e103", "6a82")])
        let other = Type4Tag(link: gone)
        _ = try await other.detectNDEF()
        #expect(await errorCode { () throws(TagError) in try await other.lock() } == .updateFailed)
    }

    @Test func `After a lock that failed the container is read again before it is trusted`() async throws {
        for access in ["00", "ff"] {
            let card = ScriptedCard(
                Self.container() + [
                    .command("00d6000e01ff", "6a84"),
                    .command("00b000000f", "000f20 00fb 00f6 0406 e104 0800 00" + access + "9000"), Self.messageFile,
                    .command("00b0000016", "0000" + Self.zeros(20) + "9000"),
                ]
            )
            let tag = Type4Tag(link: card)
            #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .updateFailed)
            #expect(try await tag.detectNDEF().access == (access == "00" ? .readWrite : .readOnly))
            #expect(card.left == 0)
        }
    }

    @Test func `After a file that is not there none counts as selected`() async throws {
        let card = ScriptedCard(
            Self.container() + [
                .command("00a4000c02e104", "6a82"), Self.containerFile, .command("00d6000e01ff", "9000"),
            ]
        )
        let tag = Type4Tag(link: card)
        #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .noMessageTLV)
        try await tag.lock()
        #expect(card.left == 0)
    }

    @Test func `Write access of mapping 3 is two bytes further`() async throws {
        let card = ScriptedCard([
            Self.application, Self.containerFile, .command("00b000000f", "001130 00fb 00f6 0608 e104 00010000 9000"),
            .command("00b0000f02", "0000 9000"), .command("00d6001001ff", "9000"),
        ])
        try await Type4Tag(link: card).lock()
        #expect(card.left == 0)
    }

    @Test(
        arguments: [
            // Type, communication, rights: read, write; both, change.
            ("0000 ee ee 9100", nil), ("0000 00 0e 9100", nil), ("0000 e0 00 9100", nil),
            ("0000 0e e0 9100", .keyNeeded),
            ("0000 00 00 9100", .keyNeeded), ("0000 00 9100", nil), ("0000 00 00 91ae", nil), ("6d00", nil),
        ] as [(String, TagError.Code?)]
    )
    func `A card is asked whether everybody may write its container`(_ answer: String, _ code: TagError.Code?)
        async throws
    {
        let card = ScriptedCard([
            Self.application, .command("90f50000010100", answer), Self.application, Self.containerFile,
            .command("00b000000f", "000f20 00fb 00f6 0406 e104 0800 00ff 9000"),
        ])
        let tag = Type4Tag(link: card)
        #expect(await errorCode { () throws(TagError) in try await tag.checkLocking() } == code)
        // What is selected is not taken for granted.
        #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .readOnly)
        #expect(card.left == 0)
    }

    @Test func `What was read stays known when the card is activated again, and nothing when it is forgotten`()
        async throws
    {
        let read = [Self.messageFile, Step.command("00b0000016", "0016" + Self.zeros(20) + "9000")]
        let rest = Step.command("00b0001602", "aabb 9000")
        let card = ScriptedCard(
            Self.container() + read + [Self.application, Self.messageFile, rest] + Self.container() + read
        )
        let tag = Type4Tag(link: card)
        #expect(tag.mappingVersion == nil && tag.messageFile == nil)
        _ = try await tag.detectNDEF()
        #expect(tag.mappingVersion == 0x20 && tag.messageFile?.identifier == 0xE104 && tag.messageFile?.size == 0x800)
        tag.wasActivated()
        #expect(try await tag.readNDEF().suffix(2) == [0xAA, 0xBB])
        tag.forgetMemory()
        #expect(tag.mappingVersion == nil)
        _ = try await tag.detectNDEF()
        #expect(card.left == 0)
    }

    @Test func `ISO-DEP is started once, and again when the card is activated again`() async throws {
        let start = ScriptedLink.Step.exchange("e080", "0578807002")
        let link = ScriptedLink([start, start])
        let tag = Type4Tag(link: ISODEP(link: link))
        for _ in 0..<2 {
            try await tag.prepare()
            #expect(link.remaining == 1)
        }
        tag.wasActivated()
        try await tag.prepare()
        #expect(link.remaining == 0)
    }

    @Test func `A card that is lost is asked nothing until it is activated again`() async throws {
        let card = ScriptedCard([
            .command("00a4040007d276000085010100", .timeout), .command("00a4040007d276000085010100", .cancelled),
            .command("00a4040007d276000085010100", "6a82"), .command("00a4040007d276000085010000", "6a82"),
        ])
        let tag = Type4Tag(link: card)
        for _ in 0..<2 {
            #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .tagLost)
        }
        #expect(await !tag.isPresent() && card.left == 3)
        tag.wasActivated()
        #expect(await tag.isPresent())
        #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .cancelled)
        #expect(await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() } == .noCapabilityContainer)
        #expect(card.left == 0)
    }

    // MARK: DESFire

    private static let hardware = "04010101001805"

    /// The three frames of GetVersion.
    private static func version(_ hardware: String = hardware) -> [Step] {
        [
            .command("9060000000", hardware + "91af"), .command("90af000000", hardware + "91af"),
            .command("90af000000", "04010203040506 00000000000000 9100"),
        ]
    }

    @Test func `GetVersion has three frames, and fewer or more are no version`() async throws {
        let whole = ScriptedCard(Self.version())
        let found = try await DESFireVersion.read(from: whole)
        #expect(found?.hardware == bytes(Self.hardware) && found?.uid == bytes("04010203040506"))
        #expect(found?.production.count == 7 && found?.bytes.count == 28)
        let more = Self.version().prefix(2) + [.command("90af000000", "04010203040506 00000000000000 91af")]
        #expect(try await DESFireVersion.read(from: ScriptedCard(Array(more))) == nil)
        for status in ["911c", "6d00", "9000"] {
            #expect(try await DESFireVersion.read(from: ScriptedCard([.command("9060000000", status)])) == nil)
        }
        let short = Self.version().prefix(1) + [.command("90af000000", "010203 9100")]
        #expect(try await DESFireVersion.read(from: ScriptedCard(Array(short))) == nil)
        #expect(DESFireVersion([UInt8](repeating: 1, count: 20)) == nil)
        #expect(DESFireVersion([UInt8](repeating: 1, count: 21))?.production == [])
    }

    @Test func `A blank DESFire gets a file as large as it has room for, and takes what is there already`() async throws
    {
        // 2K, 4K, 8K, and one that is smaller than any.
        for (size, bytes) in [("16", "0008"), ("18", "0010"), ("1a", "001e"), ("10", "0001")] {
            let card = ScriptedCard(
                [
                    .command("00a4040007d276000085010100", "6a82"), .command("00a4040007d276000085010000", "6a82"),
                ] + Self.version("0401010100" + size + "05") + [
                    .command("905a000003 000000 00", "9100"),
                    .command("90ca00000e 010000 0f21 10e1 d2760000850101 00", "91de"),
                    .command("905a000003 010000 00", "9100"),
                    .command("90cd000009 01 03e1 00 eeee 0f0000 00", "91de"),
                    .command("90cd000009 02 04e1 00 eeee" + bytes + "00 00", "91de"), Self.application,
                    Self.containerFile,
                    .command(
                        "00d600000f 000f20003b00340406e104" + bytes.suffix(2) + bytes.prefix(2) + "0000",
                        "9000"
                    ),
                ]
            )
            let tag = Type4Tag(link: card)
            #expect(await errorCode { () throws(TagError) in try await tag.format() } == nil, "\(size)")
            #expect(card.left == 0)
        }
    }

    @Test func `A card that is no DESFire EV1, or refuses, is not formatted`() async throws {
        let none: [Step] = [
            .command("00a4040007d276000085010100", "6a82"), .command("00a4040007d276000085010000", "6a82"),
        ]
        func format(_ steps: [Step]) async -> TagError.Code? {
            let card = ScriptedCard(steps)
            let code = await errorCode { () throws(TagError) in try await Type4Tag(link: card).format() }
            #expect(card.left == 0)
            return code
        }
        // MIFARE Plus, and the first DESFire.
        #expect(await format(none + Self.version("04020111001805")) == .unsupported)
        #expect(await format(none + Self.version("04010100001805")) == .unsupported)
        let select = Step.command("905a000003 000000 00", "9100")
        let create = Step.command("90ca00000e 010000 0f21 10e1 d2760000850101 00", "9100")
        let inside = Step.command("905a000003 010000 00", "9100")
        #expect(await format(none + Self.version() + [.command("905a000003 000000 00", "91de")]) == .updateFailed)
        #expect(
            await format(none + Self.version() + [select, create, .command("905a000003 010000 00", "91de")])
                == .updateFailed
        )
        let files: [Step] = [
            .command("90cd000009 01 03e1 00 eeee 0f0000 00", "9100"),
            .command("90cd000009 02 04e1 00 eeee 001000 00", "9100"),
        ]
        #expect(
            await format(
                none + Self.version() + [select, create, inside] + files
                    + [Self.application, .command("00a4000c02e103", "6a82")]
            ) == .updateFailed
        )
        // Other errors are not repaired.
        #expect(await format([.command("00a4040007d276000085010100", .timeout)]) == .tagLost)
        #expect(
            await format([Self.application, Self.containerFile, .command("00b000000f", "6982")]) == .refused
        )
    }
}
