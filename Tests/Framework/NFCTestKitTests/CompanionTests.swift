// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NFCTestKit
import TagLink
import TagTrace
import Testing
import VirtualCards
import VirtualTags

/// The tag that an exploration brings near beside the test's own.
@Suite(.timeLimit(.minutes(10))) struct `A second tag` {
    /// The second tag, in the run in which it comes at the first exchange.
    private static func companion(of tag: TagSpec) async throws -> TagContents? {
        let found = Locked<TagContents?>(nil)
        let invariant = Invariant("tags are kept") { run in
            if run.replay != nil, run.tags.count == 2 { found.withLock { $0 = run.tags[1].before } }
            return nil
        }
        try await explore(.replay("second@1"), near: tag, invariants: [invariant]) { field in
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
        }
        return found.withLock { $0 }
    }

    @Test(
        arguments: [
            // The lowest bit that is clear behind the manufacturer's byte: the reader finds a 1 first.
            ("NTAG215", [4, 0x00, 2, 3, 4, 5, 6], "040102030405 06"),
            ("NTAG215", [4, 0x01, 2, 3, 4, 5, 6], "040302030405 06"),
            ("NTAG215", [4, 0xFF, 0x7F, 3, 4, 5, 6], "04ffff030405 06"),
            ("NTAG213", [4, 0xFE, 0, 0, 0, 0, 0], "04ff00000000 00"),
            // The lowest bit that is set in the last byte, or the one above where no slot has a lower one.
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x13], "e0040110010203 12"),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x10], "e0040110010203 00"),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x20], "e0040110010203 30"),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 0x18], "e0040110010203 10"),
            ("FeliCa Lite-S", [2, 0xFE, 1, 2, 3, 4, 5, 6], "02fe0102030405 04"),
            ("generic Type 4B", [1, 2, 3, 4], "010203 00"),
        ] as [(String, [UInt8], String)]
    )
    func `It has the same product, and a UID that is found first`(name: String, uid: [UInt8], other: String)
        async throws
    {
        let tag = TagSpec.product(name, holding: .uri("https://example.com/a"), uid: uid)
        let contents = try #require(await Self.companion(of: tag))
        #expect(name.hasPrefix(contents.product))
        #expect(contents.uid.map { String(format: "%02x", $0) }.joined() == other.filter { $0 != " " })
        let product = try #require(TagProduct(named: name))
        #expect(contents.makeTag().technology == product.blank(uid: uid).makeTag().technology)
    }

    @Test(
        arguments: [
            (.text("Card 1"), .text("Card 12")), (.text("Karte", language: "de"), .text("Karte2", language: "de")),
            (.uri("https://example.com/a"), .uri("https://example.com/a2")),
            // A record whose content nobody knows stays as it is, and so does what has no room for another letter.
            (TagMessage(octets: [0xD2, 3, 2] + Array("a/b".utf8) + [1, 2]), nil),
            (.uri("https://" + String(repeating: "x", count: 132)), nil), (.empty, nil),
        ] as [(TagMessage, TagMessage?)]
    )
    func `It holds the same records, and one more letter in the first`(message: TagMessage, other: TagMessage?)
        async throws
    {
        let contents = try #require(await Self.companion(of: .product("NTAG213", holding: message)))
        let held = try await withField(.contents(contents)) { field in try await field.tags[0].message() }
        #expect(held == other ?? message)
    }

    @Test func `Beside a FeliCa card of no product it is a FeliCa tag`() async throws {
        let card = VirtualType3Tag(.transitCard(idm: [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34], balance: 500))
        let contents = try #require(await Self.companion(of: .tag(card)))
        #expect(contents.product == "FeliCa Lite-S")
    }

    @Test func `Beside a card of no product it has a UID that no tag of the flow has`() async throws {
        let card = VirtualType3Tag(.transitCard(idm: [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34], balance: 500))
        let names = Locked<[String]>([])
        let invariant = Invariant("tags are kept") { run in
            if run.replay != nil { names.withLock { $0 = run.tags.map(\.name) } }
            return nil
        }
        try await explore(.replay("second@1"), near: .tag(card), seed: 3, invariants: [invariant]) { field in
            for _ in 0..<2 { _ = try await field.make("FeliCa Lite-S") }
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
        }
        let made = names.withLock { $0 }
        #expect(made.count == 4 && Set(made).count == 4, "\(made)")
    }

    @Test func `It leaves after a second`() async throws {
        let lines = Lines()
        let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/a"))
        try await explore(.replay("second@1"), near: tag, invariants: [lines.invariant]) { field in
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
        }
        let notes = try #require(lines.traces.last).entries.compactMap { entry -> (String, Duration)? in
            guard case .note(let text) = entry.event, let time = entry.time, text.contains("second tag") else {
                return nil
            }
            return (text, time)
        }
        try #require(notes.count == 2)
        #expect(notes[1].0 == "the second tag is taken away" && notes[1].1 == notes[0].1 + .seconds(1))
    }

    @Test func `Beside several tags it is like the first, and each tag has the UID that it has in a field`()
        async throws
    {
        let tags: [TagSpec] = [.product("NTAG215", holding: .text("a")), "ICODE SLIX", "ICODE SLIX"]
        let runs = Locked<[[String]]>([])
        let invariant = Invariant("tags are kept") { run in
            runs.withLock { $0.append(run.tags.map(\.name)) }
            return nil
        }
        let names = try await withField(tags[0], tags[1], tags[2], seed: 3) { $0.tags.map(\.description) }
        #expect(Set(names).count == 3)
        try await explore(.replay("second@1"), near: tags[0], tags[1], tags[2], seed: 3, invariants: [invariant]) {
            field in
            // A tag of the flow is the same one beside a second tag.
            _ = try await field.make("ICODE SLIX")
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
        }
        let made = runs.withLock { $0 }
        try #require(made.map(\.count) == [4, 5])
        #expect(made[0].prefix(3) == names[...] && Set(made[0]).count == 4)
        #expect(made[1].prefix(3) == names[...] && made[1][3].hasPrefix("NTAG215 ") && made[1][4] == made[0][3])
    }

    @Test(arguments: [true, false]) func `A tag that the flow brings after it is held to what the flow writes to it`(
        isAlwaysWritten: Bool
    ) async throws {
        let runs = Locked(0)
        let failure = try await `What is checked after a run`.failure(.replay("second@1")) { field -> Bool in
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            try await Patient.writeOrLimit("https://example.com/one", field)
            try await field.swap(for: .product("NTAG213", holding: .uri("https://example.com/own")))
            if isFirst || isAlwaysWritten { try await Patient.writeOrLimit("https://example.com/two", field) }
            return true
        }
        if isAlwaysWritten {
            #expect(failure == nil, "\(failure?.description ?? "passed")")
        } else {
            #expect(failure?.invariant == Invariant.noMessageLost.name && failure?.replay == "second@1")
            #expect(
                failure?.finding.hasSuffix("holds URI https://example.com/own, and the flow ended as if all were well")
                    == true,
                "\(failure?.description ?? "passed")"
            )
        }
    }

    @Test func `It is gone after its second, also when it slips away meanwhile`() async throws {
        let counts = Locked<[Int]>([])
        let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/a"))
        try await explore(.replay("second@1+slip@2"), near: tag, invariants: []) { field in
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
            let count = field.virtual?.tags.count ?? 0
            counts.withLock { $0.append(count) }
        }
        #expect(counts.withLock { $0 } == [1, 1])
    }

    @Test func `It comes back with the other one when both slip away for less than its second`() async throws {
        let counts = Locked<[Int]>([])
        let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/a"))
        try await explore(.replay("second@1+slip@2:100ms"), near: tag, invariants: []) { field in
            async let link = field.completion("read") { LinkReader(queue: .main).begin($0) }
            await field.wait(for: .milliseconds(500))
            let during = field.virtual?.tags.count ?? 0
            await field.wait(for: .seconds(70))
            _ = try? await link.get()
            let after = field.virtual?.tags.count ?? 0
            counts.withLock { $0 += [during, after] }
        }
        #expect(counts.withLock { $0 } == [1, 1, 2, 1])
    }

    @Test func `A card with a random UID has another one beside it that is found first`() async throws {
        for seed in UInt64(1)...12 {
            let names = Locked<[String]>([])
            let invariant = Invariant("tags are kept") { run in
                if run.replay != nil { names.withLock { $0 = run.tags.map(\.name) } }
                return nil
            }
            let (card, app) = (AppletReader.card, AppletReader.app)
            try await explore(.replay("second@1"), near: card, app: app, seed: seed, invariants: [invariant]) { field in
                _ = try? await AppletReader().scan(field)
            }
            let uids = names.withLock { $0 }.compactMap { $0.split(separator: " ").last }.compactMap {
                UInt32($0, radix: 16)
            }
            try #require(uids.count == 2)
            // The first byte is sent first, with its lowest bit first: the first bit that differs is 1 in the second UID.
            let (first, second) = (uids[0].byteSwapped, uids[1].byteSwapped)
            #expect(first != second && second >> UInt32((first ^ second).trailingZeroBitCount) & 1 == 1, "\(seed)")
        }
    }
}
