// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// The reader's side of MIFARE DESFire against the card's side, which was tested with libfreefare.
struct DESFireSessionTests {
    private static let application: UInt32 = 0xF123

    private static func secret(_ kind: DESFireSecret.Kind, _ first: UInt8 = 0) throws -> DESFireSecret {
        let bytes = (0..<(kind == .tripleDES ? 24 : 16)).map { first == 0 ? 0 : first &+ 2 * $0 }
        return try #require(DESFireSecret(kind, bytes))
    }

    private static func session(_ bench: ProductBench) throws -> DESFireSession {
        DESFireSession(try #require(bench.reader as? Type4Tag).link)
    }

    /// A card with an application of two keys, and what its files hold afterwards.
    private static func prepare(
        _ kind: DESFireSecret.Kind,
        _ files: [UInt8: DESFireFileSettings]
    ) async throws -> VirtualType4Tag {
        let tag = VirtualType4Tag(DESFireContents())
        var session = try session(try await ProductBench(tag))
        try await session.select(0)
        try await session.createApplication(application, settings: 0x0F, keys: 2, kind)
        try await session.select(application)
        for (number, settings) in files { try await session.createFile(number, settings) }
        return tag
    }

    private static func contents(_ tag: VirtualType4Tag) throws -> DESFireContents {
        try #require(tag.card as? DESFireCard).contents
    }

    @Test(arguments: DESFireSecret.Kind.allCases, [DESFireProtection.plain, .maced, .enciphered])
    func `files: what was written is read, in several frames, with each key kind and protection`(
        kind: DESFireSecret.Kind,
        protection: DESFireProtection
    ) async throws {
        func settings(_ kind: DESFireFileSettings.Kind) -> DESFireFileSettings {
            DESFireFileSettings(kind: kind, protection: protection, rights: 0x1110)
        }
        let tag = try await Self.prepare(
            kind,
            [
                1: settings(.standard(size: 1500)), 2: settings(.backup(size: 70)),
                3: settings(.cyclic(size: 33, maximum: 4, count: 0)),
                4: settings(.value(lower: -100, upper: 1000, limitedCredit: false)),
            ]
        )
        var session = try Self.session(try await ProductBench(tag))
        try await session.select(Self.application)
        try await session.authenticate(1, Self.secret(kind))
        let bytes = (0..<1500).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await session.write(Array(bytes[..<1000]), to: 1, at: 0)
        try await session.write(Array(bytes[1000...]), to: 1, at: 1000)
        #expect(try await session.read(1) == bytes)
        try await session.write(Array(bytes[..<61]), to: 2, at: 5)
        #expect(try await session.read(2) == [0, 0, 0, 0, 0] + bytes[..<61] + [0, 0, 0, 0])
        for start in [0, 100] { try await session.write(Array(bytes[start..<start + 33]), to: 3, at: 0) }
        #expect(try await session.read(3) == Array(bytes[..<33]) + Array(bytes[100..<133]))
        try await session.add(70, to: 4)
        try await session.add(-100, to: 4)
        #expect(try await session.read(4) == [0xE2, 0xFF, 0xFF, 0xFF])
        #expect(try await session.files() == [1, 2, 3, 4])
        // Without the key, the card shows the settings and not the data.
        try await session.select(Self.application)
        #expect(try await session.settings(of: 1) == settings(.standard(size: 1500)))
        await #expect(throws: TagError(.keyNeeded, "")) { try await session.read(1) }
        await #expect(throws: TagError(.authenticationFailed, "")) {
            try await session.authenticate(1, Self.secret(kind, 0x40))
        }
        // The lowest bits, which DES ignores, do not make it another key, or a triple one.
        guard kind == .des else { return }
        try await session.authenticate(1, try #require(DESFireSecret(.des, (0..<16).map { $0 / 8 })))
        #expect(try await session.read(1) == bytes)
    }

    @Test(arguments: DESFireSecret.Kind.allCases)
    func `change of a key: after every cut the card has the old key or the new one`(
        kind: DESFireSecret.Kind
    ) async throws {
        let (old, new) = (try Self.secret(kind), try Self.secret(kind, 0x22))
        func change(_ number: UInt8, _ bench: ProductBench) async throws {
            var session = try Self.session(bench)
            try await session.select(Self.application)
            try await session.authenticate(0, old)
            try await session.changeKey(number, from: old, to: new, version: 9, ofCard: false)
            // Another's key leaves the session open.
            if number != 0 { #expect(try await session.keyVersion(1) == Self.version(new, 9)) }
        }
        for number in [UInt8(0), 1] {
            let tag = try await Self.prepare(kind, [:])
            let bench = try await ProductBench(tag)
            let before = bench.link.statistics.exchanges
            try await change(number, bench)
            let exchanges = bench.link.statistics.exchanges - before
            #expect(try Self.contents(tag).applications[0].keys[Int(number)].bytes == new.bytes.bytes)
            for plan in FaultPlan.everyLoss(inExchanges: exchanges) + FaultPlan.everyTear(inWrites: 1) {
                let tag = try await Self.prepare(kind, [:])
                let bench = try await ProductBench(tag)
                bench.field.arm(plan)
                await #expect(throws: TagError(.tagLost, ""), "\(plan)") { try await change(number, bench) }
                let key = try Self.contents(tag).applications[0].keys[Int(number)].bytes
                #expect(key == old.bytes.bytes || key == new.bytes.bytes, "\(plan)")
            }
        }
    }

    private static func version(_ key: DESFireSecret, _ version: UInt8) -> UInt8 {
        key.kind == .aes ? version : key.bytes.bytes.prefix(8).reduce(0) { $0 << 1 | $1 & 1 }
    }

    @Test func `backup file: after every cut it has all of the new bytes or none`() async throws {
        let settings = DESFireFileSettings(kind: .backup(size: 100), protection: .enciphered, rights: 0x0000)
        let new = (1...100).map { UInt8($0) }
        func write(_ bench: ProductBench) async throws {
            var session = try Self.session(bench)
            try await session.select(Self.application)
            try await session.authenticate(0, Self.secret(.aes))
            try await session.write(new, to: 1, at: 0)
        }
        let bench = try await ProductBench(try await Self.prepare(.aes, [1: settings]))
        let before = bench.link.statistics.exchanges
        try await write(bench)
        let plans = FaultPlan.everyLoss(inExchanges: bench.link.statistics.exchanges - before)
        for plan in plans + FaultPlan.everyTear(inWrites: 1) {
            let tag = try await Self.prepare(.aes, [1: settings])
            let bench = try await ProductBench(tag)
            bench.field.arm(plan)
            await #expect(throws: TagError(.tagLost, ""), "\(plan)") { try await write(bench) }
            let held = try Self.contents(tag).applications[0].files[0].data
            #expect(held == new || held == [UInt8](repeating: 0, count: 100), "\(plan)")
        }
    }

    /// A card that answers each command with the same bytes.
    private final class StubbornCard: APDULink {
        let answer: [UInt8]
        let (maximumCommandLength, maximumResponseLength) = (261, 258)
        let statistics = LinkStatistics()

        init(_ answer: [UInt8]) { self.answer = answer }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] { answer }

        func isPresent() async -> Bool { true }
    }

    @Test(
        arguments: [
            [0x91, 0xAF], [1, 2, 3, 0x91, 0xAF], [0x91, 0], [UInt8](repeating: 0, count: 16) + [0x91, 0],
            [UInt8](repeating: 0, count: 16) + [0x91, 0xAF], [9, 0x6D, 0], [0x61, 0x10], [0x90],
        ] as [[UInt8]]
    ) func `hostile card: each command ends with an error or a value`(answer: [UInt8]) async throws {
        var session = DESFireSession(StubbornCard(answer))
        for kind in DESFireSecret.Kind.allCases {
            await #expect(throws: TagError.self) { try await session.authenticate(0, Self.secret(kind)) }
        }
        _ = try? await session.select(1)
        _ = try? await session.read(1)
        _ = try? await session.applications()
        _ = try? await session.keySettings()
        _ = try? await session.freeMemory()
        try? await session.write([1], to: 1, at: 0)
    }

    @Test(
        arguments: [
            (.standard(size: 4), 3), (.value(lower: 0, upper: 9, limitedCredit: false), 2),
            (.linear(size: 4, maximum: 2, count: 2), 7), (.cyclic(size: 4, maximum: 1, count: 2), 8),
        ] as [(DESFireFileSettings.Kind, Int)]
    ) func `hostile card: a content of another length than the settings say is refused`(
        kind: DESFireFileSettings.Kind,
        count: Int
    ) async throws {
        var session = DESFireSession(StubbornCard([UInt8](repeating: 1, count: count) + [0x91, 0x00]))
        let settings = DESFireFileSettings(kind: kind, protection: .plain, rights: 0xEEEE)
        await #expect(throws: TagError(.badAnswer, "")) { try await session.read(1, settings) }
        var many = DESFireSession(StubbornCard([UInt8](repeating: 1, count: 3 * 256) + [0x91, 0x00]))
        await #expect(throws: TagError(.badAnswer, "")) { try await many.applications() }
    }
}
