// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// The configuration of an NTAG 424 DNA: every cut of it leaves a tag that can be read, and the same call completes it.
struct NTAG424Tests {
    private static func key(_ first: UInt8, version: UInt8 = 1) -> NTAG424Key {
        NTAG424Key(SecretBytes((0..<16).map { first &+ $0 }), version: version)
    }

    /// A tag with a link, and what configures it like that.
    private static func linked(_ link: String, _ keys: [UInt8: NTAG424Key]) throws -> (
        NTAG424Contents, NTAG424Configuration
    ) {
        var contents = NTAG424Contents()
        let isSet = contents.setLink(link)
        try #require(isSet)
        contents.files[1].accessRights = FileAccessRights(rawValue: 0xE000)
        for (number, key) in keys {
            contents.keys[Int(number)] = try #require(DESFireKey(.aes, key.bytes.bytes, version: key.version))
        }
        let file = contents.files[1]
        return (contents, NTAG424Configuration(file: file.data, settings: file.settings, keys: keys))
    }

    /// A change from one state of a tag to another.
    struct Change: Sendable, CustomStringConvertible {
        let description: String
        let old: NTAG424Contents
        let new: NTAG424Contents
        let wanted: NTAG424Configuration
        let candidates: [UInt8: [NTAG424Key]]
    }

    private static let changes: [Change] = {
        let keys: [UInt8: NTAG424Key] = [0: key(0x10), 1: key(0x20), 2: key(0x30)]
        let others: [UInt8: NTAG424Key] = [0: key(0x10), 1: key(0x40, version: 7), 2: key(0x30)]
        let blank = NTAG424Contents()
        let factory = NTAG424Configuration(
            file: blank.ndefFile,
            settings: blank.files[1].settings,
            keys: keys.mapValues { _ in .factory }
        )
        guard let (first, setup) = try? linked("https://example.com/t?e={picc}&c={cmac}", keys),
            let (second, other) = try? linked("https://e.com/?d={enc:16}&x={uid}{ctr}&c={cmac}", others)
        else { return [] }
        let both = keys.mapValues { [$0, .factory] }
        return [
            Change(description: "setup", old: blank, new: first, wanted: setup, candidates: both),
            Change(description: "reset", old: first, new: blank, wanted: factory, candidates: both),
            Change(
                description: "another link",
                old: first,
                new: second,
                wanted: other,
                candidates: keys.merging(others) { $1 }.mapValues { [$0] }.merging([
                    1: [key(0x40, version: 7), key(0x20)]
                ]) { $1 }
            ),
        ]
    }()

    private func contents(_ tag: VirtualType4Tag) throws -> NTAG424Contents {
        try #require(tag.card as? NTAG424Card).contents
    }

    private func configure(_ bench: ProductBench, _ change: Change) async throws {
        try await #require(bench.reader as? Type4Tag).configure(change.wanted, candidates: change.candidates)
    }

    @Test(arguments: changes)
    func `NTAG 424 configuration: after every loss and power cut the tag can be read, and the same call completes it`(
        change: Change
    ) async throws {
        let tag = VirtualType4Tag(change.old)
        let bench = try await ProductBench(tag)
        let before = bench.link.statistics.exchanges
        try await configure(bench, change)
        #expect(try contents(tag).files == change.new.files && contents(tag).keys == change.new.keys)
        let (exchanges, writes) = (bench.link.statistics.exchanges - before, bench.field.writeCount)
        try #require(exchanges > 20 && writes > 5)
        let mixed = FaultPlan.everyTear(inWrites: writes, leaving: [.mixed(seed: 1), .mixed(seed: 0x5DEE_CE66)])
            .dropFirst(writes + 1)
        for plan in FaultPlan.everyLoss(inExchanges: exchanges) + FaultPlan.everyTear(inWrites: writes) + mixed {
            let tag = VirtualType4Tag(change.old)
            let bench = try await ProductBench(tag)
            bench.field.arm(plan)
            await #expect(throws: TagError(.tagLost, ""), "\(plan)") { try await configure(bench, change) }
            // Only half a length byte can be more than the file has.
            let reader = try await ProductBench(VirtualType4Tag(contents(tag))).reader
            do throws(TagError) {
                _ = try await reader.readNDEF()
            } catch {
                #expect(
                    error.code == .lengthOverrun && mixed.contains { $0.description == plan.description },
                    "\(plan)"
                )
            }
            try await configure(ProductBench(tag), change)
            let done = try contents(tag)
            #expect(done.files == change.new.files && done.keys == change.new.keys, "\(plan)")
        }
    }

    @Test func `NTAG 424 configuration: with the wrong key nothing changes, and again nothing is written`() async throws
    {
        let change = Self.changes[1]
        let tag = VirtualType4Tag(change.old)
        for number in [UInt8(0), 1, 2] {
            let bench = try await ProductBench(tag)
            var candidates = change.candidates
            candidates[number] = [Self.key(0x77)]
            await #expect(throws: TagError(.authenticationFailed, "")) {
                try await #require(bench.reader as? Type4Tag).configure(change.wanted, candidates: candidates)
            }
            #expect(bench.field.writeCount == 0)
            #expect(try contents(tag) == change.old)
        }
        try await configure(ProductBench(tag), change)
        let again = try await ProductBench(tag)
        try await configure(again, change)
        #expect(again.field.writeCount == 0)
    }
}
