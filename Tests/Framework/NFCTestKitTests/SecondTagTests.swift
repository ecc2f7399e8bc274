// SPDX-License-Identifier: Apache-2.0
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// The tag that an exploration brings near beside the test's own.
@Suite(.timeLimit(.minutes(10))) struct SecondTagTests {
    /// The second tag, in the run in which it comes at the first exchange.
    private static func companion(of tag: TagSpec) async throws -> TagContents? {
        let found = Box<TagContents?>()
        let invariant = Invariant("tags are kept") { run in
            if run.replay != nil, run.tags.count == 2 { found.set(run.tags[1].before) }
            return nil
        }
        try await explore(.replay("second@1"), near: tag, invariants: [invariant]) { await LinkReader.runToLimit($0) }
        return found.value ?? nil
    }

    @Test(
        arguments: [
            // The lowest bit that is clear behind the manufacturer's byte: the reader finds a 1 first.
            ("NTAG215", [4, 0x00, 2, 3, 4, 5, 6], "04010203040506"),
            ("NTAG215", [4, 0x01, 2, 3, 4, 5, 6], "04030203040506"),
            ("NTAG215", [4, 0xFF, 0x7F, 3, 4, 5, 6], "04ffff03040506"),
            ("NTAG213", [4, 0xFE, 0, 0, 0, 0, 0], "04ff0000000000"),
            // The lowest bit that is set in the last byte, or the one above where no slot has a lower one.
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x13], "e004011001020312"),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x10], "e004011001020300"),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x20], "e004011001020330"),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x18], "e004011001020310"),
            ("FeliCa Lite-S", [2, 0xFE, 1, 2, 3, 4, 5, 6], "02fe010203040504"),
            ("generic Type 4B", [1, 2, 3, 4], "01020300"),
        ] as [(String, [UInt8], String)]
    ) func `second tag: same product as the first tag, and a UID that anticollision finds before the first`(
        name: String,
        uid: [UInt8],
        other: String
    )
        async throws
    {
        let contents = try #require(await Self.companion(of: .product(name, holding: .uri(oldLink), uid: uid)))
        #expect(name.hasPrefix(contents.product) && contents.uid.hexText() == other)
    }

    /// The memory without the identifier at its start.
    private static func memory(of contents: TagContents?) -> [UInt8] {
        switch contents {
        case .type2(let contents): Array(contents.memory.dropFirst(12))
        case .type3(.standard(let contents)): contents.systems.flatMap(\.files).flatMap(\.memory)
        case .type5(let contents): contents.memory
        case .classic(let contents): Array(contents.memory.dropFirst(16))
        default: []
        }
    }

    @Test(
        arguments: [
            .feliCa(system: 0x0003, services: [0x090F: Array(1...32)]),
            .product("ICODE SLIX2").writing([1, 2, 3, 4], atBlock: 8), .product("NTAG215").writing([9], atBlock: 20),
            .product("MIFARE Classic 1K").writing([5, 6], atBlock: 4),
        ] as [TagSpec]
    ) func `second tag: has the first tag's memory, so that an app accepts it`(tag: TagSpec) async throws {
        let memory = Self.memory(of: try await withField(tag) { field in try field.tags[0].contents() })
        #expect(try await Self.memory(of: Self.companion(of: tag)) == memory && !memory.isEmpty)
    }

    @Test(
        arguments: [
            (.text("Card 1"), .text("Card 12")), (.text("visits;5;v0;"), .text("visits;52;v02;")),
            (.text("Karte", language: "de"), .text("Karte2", language: "de")),
            (.uri("https://example.com/a"), .uri("https://example.com/a2")),
            // A record of an unknown type stays as it is, and so does what has no room for another letter.
            (TagMessage(bytes: [0xD2, 3, 2] + Array("a/b".utf8) + [1, 2]), nil),
            (.uri("https://" + String(repeating: "x", count: 132)), nil), (.empty, nil),
        ] as [(TagMessage, TagMessage?)]
    ) func `second tag: has the first tag's message with a 2 after each number, or at the end of its text or link`(
        message: TagMessage,
        other: TagMessage?
    ) async throws {
        let contents = try #require(await Self.companion(of: .product("NTAG213", holding: message)))
        let held = try await withField(.contents(contents)) { field in try await field.tags[0].message() }
        #expect(held == other ?? message)
    }
}
