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
    private static func linked(_ link: String, _ keys: [UInt8: NTAG424Key], usesLRP: Bool = false) throws -> (
        NTAG424Contents, NTAG424Configuration
    ) {
        var contents = NTAG424Contents()
        contents.usesLRP = usesLRP
        let isSet = contents.setLink(link)
        try #require(isSet)
        contents.files[1].accessRights = FileAccessRights(rawValue: 0xE000)
        for (number, key) in keys {
            contents.keys[Int(number)] = try #require(DESFireKey(.aes, key.bytes.bytes, version: key.version))
        }
        let file = contents.files[1]
        let wanted = NTAG424Configuration(file: file.data, settings: file.settings, keys: keys, usesLRP: usesLRP)
        return (contents, wanted)
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
        var blankLRP = blank
        blankLRP.usesLRP = true
        guard let (first, setup) = try? linked("https://example.com/t?e={picc}&c={cmac}", keys),
            let (third, lrp) = try? linked("https://example.com/t?e={picc}&c={cmac}", keys, usesLRP: true),
            let (second, other) = try? linked("https://e.com/?d={enc:16}&x={uid}{ctr}&c={cmac}", others)
        else { return [] }
        let both = keys.mapValues { [$0, .factory] }
        let all = others.mapValues { [$0] }.merging(both) { $0 + $1 }
        return [
            Change(description: "setup", old: blank, new: first, wanted: setup, candidates: both),
            Change(description: "switch to LRP mode", old: second, new: third, wanted: lrp, candidates: all),
            Change(description: "reset in LRP mode", old: third, new: blankLRP, wanted: factory, candidates: both),
            Change(description: "reset", old: first, new: blank, wanted: factory, candidates: both),
            Change(description: "another link", old: first, new: second, wanted: other, candidates: all),
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
        func isDone(_ tag: VirtualType4Tag) throws -> Bool {
            let done = try contents(tag)
            return (done.files, done.keys, done.usesLRP) == (change.new.files, change.new.keys, change.new.usesLRP)
        }
        #expect(try isDone(tag))
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
            #expect(try isDone(tag), "\(plan)")
        }
    }

    @Test func `NTAG 424 configuration: with the wrong key nothing changes, and again nothing is written`() async throws
    {
        let change = try #require(Self.changes.last { $0.description == "reset" })
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

    @Test func `switch to LRP mode of a tag whose settings nobody can change: refused, and nothing changes`()
        async throws
    {
        var old = NTAG424Contents()
        old.files[1].accessRights = 0xEEEF
        let tag = VirtualType4Tag(old)
        let wanted = NTAG424Configuration(settings: [0x00, 0x00, 0xE0], usesLRP: true)
        let reader = try await #require(ProductBench(tag).reader as? Type4Tag)
        await #expect(throws: TagError(.unsupported, "")) {
            try await reader.configure(wanted, candidates: [0: [.factory]])
        }
        #expect(try contents(tag) == old)
    }

    private static let zeros = SecretBytes([UInt8](repeating: 0, count: 16))

    @Test func `LRP session: sends what AN12321, 4, and a real tag's session have, and finds a wrong proof`()
        async throws
    {
        let exchanges = """
            > 9071000003030102 00 < 0156109a31977c855319cd4618c9d2aed2 91af
            > 90af00002074d7df6a2cec0b72b412de0d2b1117e6189b59dcedc31a3d3f38ef8d4810b3b400 < \
            f4fc209d9d60623588b299fa5d6b2d710125f8547d9fb8d572c90d2c2a14e235 9100
            """
        let challenge = bytes("74d7df6a2cec0b72b412de0d2b1117e6")
        let link = ScriptedLink(exchanges: exchanges)
        let session = try await NTAG424Session.begin(with: link, key: 3, Self.zeros, challenge: challenge)
        #expect(session.usesLRP && link.remaining == 0)
        let changed = ScriptedLink(exchanges: exchanges.replacing("e235 9100", with: "e234 9100"))
        await #expect(throws: TagError(.authenticationFailed, "")) {
            try await NTAG424Session.begin(with: changed, key: 3, Self.zeros, challenge: challenge)
        }
        // WRITE DATA of nfc-ev2-crypto (test_lrp_cmd.py), with challenges that give its session vector.
        let (mine, theirs) = (bytes("08a600000000000023855751d644ed51"), bytes("953c60bc3d34e53766689732e2a203ff"))
        let key = Self.zeros.bytes
        let codes = try EV2Codes(key: key, readerChallenge: mine, cardChallenge: theirs, usesLRP: true)
        let proof = mine + (try codes.proof(mine + theirs))
        let zero = DESFireKey.zero(.aes)
        let card = CardAuthentication(
            .ev2First,
            number: 0,
            key: zero,
            challenge: theirs,
            capabilities: [2],
            usesLRP: true
        )
        let answer = try card.finish(proof, transaction: bytes("204f2276")).answer
        let tag = ScriptedLink(
            exchanges: """
                > 9071000003000102 00 < 01\(hex(theirs)) 91af
                > 90af000020\(hex(proof))00 < \(hex(answer)) 9100
                > 908d00001f03000000030000eaf0fad0430ecdc947a822e12ec8d5f3bb75f218b405fdbc00 < d5b8d8f8cd67f23c 9100
                """
        )
        var writer = try await NTAG424Session.begin(with: tag, key: 0, Self.zeros, challenge: mine)
        _ = try await writer.send(0x8D, [0x03, 0, 0, 0, 0x03, 0, 0], [1, 2, 3], .enciphered)
        #expect(tag.remaining == 0)
    }
}
