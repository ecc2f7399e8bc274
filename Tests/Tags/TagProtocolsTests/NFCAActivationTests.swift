// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `NFC-A activation` {
    static let uid = bytes("04a1b2c3d4e580")

    static func collision(_ bitIndex: Int, _ bits: String) -> LinkError {
        LinkError(.collision, "scripted", collision: .init(bitIndex: bitIndex, bits: bytes(bits)))
    }

    @Test func `A tag with 7 bytes of UID takes five exchanges and 4.42 ms`() async throws {
        let link = ScriptedLink([
            .raw("26", bits: 7, "4400"),
            .raw("9320", "8804a1b29f"),
            .exchange("9370 8804a1b29f", "04"),
            .raw("9520", "c3d4e58072"),
            .exchange("9570 c3d4e58072", "00"),
        ])
        let targets = try await NFCAActivation(link: link).activateAll()
        #expect(targets == [NFCATarget(atqa: 0x0044, sak: 0, uid: Self.uid)])
        #expect(targets.first?.isType2 == true)
        #expect(link.statistics.exchanges == 5)
        #expect(abs(link.statistics.airtime.microseconds - 4420) < 10)
    }

    @Test func `A tag with 4 bytes of UID takes three exchanges`() async throws {
        let link = ScriptedLink([
            .raw("26", bits: 7, "0400"),
            .raw("9320", "0102030404"),
            .exchange("9370 0102030404", "20"),
        ])
        let targets = try await NFCAActivation(link: link).activateAll()
        #expect(targets == [NFCATarget(atqa: 0x0004, sak: 0x20, uid: [1, 2, 3, 4])])
        #expect(targets.first?.isISODEP == true)
        #expect(targets.first?.isType2 == false)
    }

    /// Two cascade levels of a UID, after which a third follows.
    private static let twoLevels: [ScriptedLink.Step] = [
        .raw("26", bits: 7, "8400"),
        .raw("9320", "8801020388"),
        .exchange("9370 8801020388", "04"),
        .raw("9520", "880405068f"),
        .exchange("9570 880405068f", "04"),
    ]

    @Test func `A tag with 10 bytes of UID goes through three cascade levels`() async throws {
        let link = ScriptedLink(
            Self.twoLevels + [
                .raw("9720", "0708090a0c"),
                .exchange("9770 0708090a0c", "00"),
            ]
        )
        let targets = try await NFCAActivation(link: link).activateAll()
        #expect(targets.map(\.uid) == [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])
    }

    @Test func `An empty field takes one exchange`() async throws {
        let link = ScriptedLink([.raw("26", bits: 7, LinkError(.timeout, "nobody"))])
        #expect(try await NFCAActivation(link: link).activateAll().isEmpty)
        #expect(link.statistics.exchanges == 1)
    }

    @Test func `A Type 1 tag is recognised and reported alone`() async throws {
        let link = ScriptedLink([.raw("26", bits: 7, "000c")])
        let targets = try await NFCAActivation(link: link).activateAll()
        #expect(targets == [NFCATarget(atqa: 0x0C00, sak: nil, uid: [])])
        #expect(targets.first?.isType1 == true)
        #expect(targets.first?.isType2 == false)
    }

    @Test func `Two tags are separated by the bit on which they collide`() async throws {
        // UIDs 01020304 and 01020704: byte 2 is 03 = 11000000 and 07 = 11100000 in order of arrival: bit 18.
        let link = ScriptedLink([
            .raw("26", bits: 7, "0400"),
            .raw("9320", Self.collision(18, "010203")),
            // 19 bits are known: 2 bytes and 3 bits, 010207 with the last bit a 1; 21 bits are left.
            .raw("9343 010207", bits: 3, "800000", responseBits: 5),
            .exchange("9370 0102070400", "00"),
            .exchange("5000", .timeout),
            .raw("26", bits: 7, "0400"),
            .raw("9320", "0102030404"),
            .exchange("9370 0102030404", "00"),
        ])
        let targets = try await NFCAActivation(link: link).activateAll()
        #expect(targets.map(\.uid) == [[1, 2, 7, 4], [1, 2, 3, 4]])
        #expect(link.remaining == 0)
    }

    @Test func `Tags that always collide end with an error`() async throws {
        var steps: [ScriptedLink.Step] = [.raw("26", bits: 7, "0400")]
        var known: [UInt8] = []
        for round in 0..<33 {
            let bits = round % 8
            let request = "93" + hex([UInt8(2 + round / 8) << 4 | UInt8(bits)] + known)
            steps.append(.raw(request, bits: bits == 0 ? 8 : bits, Self.collision(0, "")))
            if bits == 0 { known.append(0) }
            known[round / 8] |= 1 << bits
        }
        let link = ScriptedLink(steps)
        await #expect(throws: TagError(.badAnswer, "")) { try await NFCAActivation(link: link).activateAll() }
        #expect(link.remaining == 0)
    }

    @Test func `A cascade bit at the third level is an error`() async throws {
        let link = ScriptedLink(
            Self.twoLevels + [
                .raw("9720", "880405068f"),
                .exchange("9770 880405068f", "04"),
            ]
        )
        await #expect(throws: TagError(.badAnswer, "")) { try await NFCAActivation(link: link).activateAll() }
    }

    @Test func `A wrong check byte is asked for again, and is an error in the end`() async throws {
        let wrong = ScriptedLink.Step.raw("9320", "0102030405")
        let link = ScriptedLink([.raw("26", bits: 7, "0400"), wrong, wrong, wrong])
        await #expect(throws: TagError(.badAnswer, "")) { try await NFCAActivation(link: link).activateAll() }
    }

    @Test func `Reactivation selects by the whole UID, and asks twice where the tag was active`() async throws {
        let target = NFCATarget(atqa: 0x0044, sak: 0, uid: Self.uid)
        let link = ScriptedLink([.raw("52", bits: 7, LinkError(.timeout, "active"))] + ScriptedLink.Step.reactivation)
        try await NFCAActivation(link: link).reactivate(target)
        #expect(link.remaining == 0)
    }

    @Test func `Reactivation does not take another tag for the one it knows`() async throws {
        let target = NFCATarget(atqa: 0x0044, sak: 0, uid: Self.uid)
        let other: [ScriptedLink.Step] = [
            .raw("52", bits: 7, "4400"),
            .exchange("9370 8804a1b29f", .timeout),
        ]
        let link = ScriptedLink(other + other + other)
        await #expect(throws: TagError(.tagLost, "")) { try await NFCAActivation(link: link).reactivate(target) }
    }

    @Test(arguments: [
        (UInt8(0x08), "MIFARE Classic"), (0x18, "MIFARE Classic"), (0x40, "NFC-DEP"),
    ])
    func `A tag without procedures is named`(_ sak: UInt8, _ name: String) {
        let target = NFCATarget(atqa: 0x0004, sak: sak, uid: [1, 2, 3, 4])
        #expect(makeForumTag(for: target, link: ScriptedLink([])) == nil)
        #expect(target.kindName.contains(name))
    }

    @Test func `Tags of Types 1, 2 and 4 get their procedures`() {
        let link = ScriptedLink([])
        #expect(makeForumTag(for: NFCATarget(atqa: 0x0C00, sak: nil, uid: []), link: link)?.type == .type1)
        #expect(makeForumTag(for: NFCATarget(atqa: 0x0044, sak: 0, uid: Self.uid), link: link)?.type == .type2)
        #expect(makeForumTag(for: NFCATarget(atqa: 0x0344, sak: 0x20, uid: Self.uid), link: link)?.type == .type4)
    }
}
