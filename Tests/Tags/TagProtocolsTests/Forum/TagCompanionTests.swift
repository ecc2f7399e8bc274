// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// What tags report beside their message: versions, signatures, counters, locks and whole memories. Whatever a tag or its
/// reader does not have is nil, and only a tag or a reader that is gone is an error.
@Suite struct `What tags report beside their message` {
    typealias Step = ScriptedLink.Step

    /// A result, or the code of the error.
    private static func result<Value>(_ body: () async throws(TagError) -> Value) async -> Result<Value, TagError> {
        do throws(TagError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    // MARK: Type 2

    private static let version = "0004040201000f03"

    /// What a command that not all Type 2 tags have comes to, with what is left of the script.
    private static func ask<Value: Equatable>(
        _ steps: [Step],
        _ body: (Type2Tag) async throws(TagError) -> Value
    ) async -> (Result<Value, TagError>, left: Int) {
        let link = ScriptedLink(steps)
        let tag = makeTag(link)
        let result = await result { () throws(TagError) in try await body(tag) }
        return (result, link.remaining)
    }

    @Test func `A version is asked for once, and is nil where the tag or the reader does not have the command`() async {
        let twice = await Self.ask([.exchange("60", Self.version)]) { tag throws(TagError) in
            [try await tag.versionBytes(), try await tag.versionBytes()]
        }
        #expect(twice == (.success([bytes(Self.version), bytes(Self.version)]), 0))
        let refused = await Self.ask(
            [.exchange("60", nibble: 0)] + Step.reactivation + [.exchange("3c00", String(repeating: "ab", count: 32))]
        ) { tag throws(TagError) in
            [try await tag.versionBytes(), try await tag.versionBytes(), try await tag.readSignature()]
        }
        #expect(refused == (.success([nil, nil, [UInt8](repeating: 0xAB, count: 32)]), 0))
        // Silence is asked twice, and the tag is woken before and after.
        let silent = await Self.ask(
            [.exchange("60", .timeout)] + Step.reactivation + [.exchange("60", .timeout)] + Step.reactivation
        ) { tag throws(TagError) in try await tag.versionBytes() }
        #expect(silent == (.success(nil), 0))
        // A reader that can't send it has sent nothing: the tag is as it was.
        let unsent = await Self.ask([.exchange("60", .unsupported), .exchange("3c00", nibble: 0)]) {
            tag throws(TagError) in [try await tag.versionBytes(), try await tag.readSignature()]
        }
        #expect(unsent == (.success([nil, nil]), 0))
        let cancelled = await Self.ask([.exchange("60", .cancelled)]) { tag throws(TagError) in
            try await tag.versionBytes()
        }
        #expect(cancelled == (.failure(TagError(.cancelled, "")), 0))
    }

    @Test func `A signature has 32 bytes`() async {
        for (step, isOne) in [
            (Step.exchange("3c00", String(repeating: "ab", count: 32)), true),
            (.exchange("3c00", String(repeating: "ab", count: 31)), false), (.exchange("3c00", nibble: 0), false),
            (.exchange("3c00", .unsupported), false),
        ] {
            let found = await Self.ask([step]) { tag throws(TagError) in try await tag.readSignature()?.count }
            #expect(found == (.success(isOne ? 32 : nil), 0))
        }
        let gone = await Self.ask([.exchange("3c00", .tagRemoved)]) { tag throws(TagError) in
            try await tag.readSignature()
        }
        #expect(gone == (.failure(TagError(.tagLost, "")), 0))
    }

    @Test func `A counter has its low byte first, and may have been torn`() async {
        for (tearing, wanted): (Step, [UInt32?]) in [
            (.exchange("3e02", "bd"), [0x030201, 0xBD]), (.exchange("3e02", nibble: 0), [0x030201, nil]),
        ] {
            let found = await Self.ask([.exchange("3902", "010203"), tearing]) { tag throws(TagError) in
                let counter = try await tag.readCounter(2)
                return [counter?.count, counter?.tearing.map { UInt32($0) }]
            }
            #expect(found == (.success(wanted), 0))
        }
        let none = await Self.ask([.exchange("3902", nibble: 0)]) { tag throws(TagError) in
            try await tag.readCounter(2)?.count
        }
        #expect(none == (.success(nil), 0))
    }

    private static func pages(_ numbers: UInt8...) -> String {
        numbers.map { String(repeating: hex([$0]), count: 4) }.joined()
    }

    @Test func `A Type 2 tag's memory is read from page 0, or is nil where a page of it is not there`() async {
        let first = Step.exchange("3000", "04a1b29fc3d4e58072480000e1100600")
        let whole = await Self.ask([first, .exchange("3004", Self.pages(4, 5, 6, 7))]) { tag throws(TagError) in
            try await tag.readPages(8)
        }
        #expect(whole == (.success(bytes("04a1b29fc3d4e58072480000e1100600" + Self.pages(4, 5, 6, 7))), 0))
        // Pages that were read before are not read again.
        let again = await Self.ask([first]) { tag throws(TagError) in
            [try await tag.readPages(4)?.count, try await tag.readPages(3)?.count, try await tag.readPages(1)?.count]
        }
        #expect(again == (.success([16, 12, 4]), 0))
        // At the end of its memory the tag continues with page 0.
        let over = Step.exchange("3004", Self.pages(4, 5) + "04a1b29fc3d4e580")
        let short = await Self.ask([first, over, over, .exchange("3006", nibble: 0)]) { tag throws(TagError) in
            try await tag.readPages(8)
        }
        #expect(short == (.success(nil), 0))
        let refused = await Self.ask([.exchange("3000", nibble: 0)]) { tag throws(TagError) in
            try await tag.readPages(4)
        }
        #expect(refused == (.success(nil), 0))
        let odd = await Self.ask([.exchange("3000", "04a1b2")]) { tag throws(TagError) in try await tag.readPages(4) }
        #expect(odd == (.success(nil), 0))
        let gone = await Self.ask([.exchange("3000", .readerUnavailable)]) { tag throws(TagError) in
            try await tag.readPages(4)
        }
        #expect(gone == (.failure(TagError(.readerUnavailable, "")), 0))
    }

    // MARK: Type 1

    private static func topaz(_ request: String, _ answer: String) -> Step {
        Step(request: Frame(bytes(request), checksum: .crcB), result: .success(Frame(bytes(answer), checksum: .crcB)))
    }

    @Test func `A Type 1 tag's memory is read as far as it goes`() async {
        let all = "0102030405060700" + String(repeating: "aa", count: 112)
        let target = Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
        for (count, isThere) in [(120, true), (119, true), (121, false)] {
            let link = ScriptedLink([Self.topaz("000000 01020304", "1148" + all)])
            let tag = Type1Tag(target: target, link: link)
            let found = await Self.result { () throws(TagError) in try await tag.readBytes(count) }
            #expect(found == .success(isThere ? Array(bytes(all).prefix(count)) : nil))
            #expect(link.remaining == 0 && tag.uid == [1, 2, 3, 4, 5, 6, 7])
        }
        let gone = ScriptedLink([
            Step(
                request: Frame(bytes("000000 01020304"), checksum: .crcB),
                result: .failure(LinkError(.cancelled, "scripted"))
            )
        ])
        let tag = Type1Tag(target: target, link: gone)
        let lost = await Self.result { () throws(TagError) in try await tag.readBytes(120) }
        #expect(lost == .failure(TagError(.cancelled, "")))
    }

    // MARK: Type 3

    private static let idm = "02fe001122334455"
    private static let lite = NFCFTarget(idm: bytes(idm), pmm: bytes("00f1000000014300"), systemCode: 0x12FC)

    private static func check(_ block: String, _ answer: String) -> Step {
        .exchange("1006" + idm + "010b000180" + block, answer)
    }

    @Test func `Registers of a FeliCa Lite-S are read, or are nil where the tag keeps them back`() async {
        let content = "010203" + String(repeating: "00", count: 13)
        let good = "1d07" + Self.idm + "000001" + content
        for (answer, isThere) in [
            (good, true), ("0c07" + Self.idm + "01a8", false), ("0d07" + Self.idm + "000001", false),
        ] {
            let link = ScriptedLink([Self.check("88", answer), Self.check("90", answer)], technology: .nfcF)
            let tag = Type3Tag(target: Self.lite, link: link)
            let configuration = await Self.result { () throws(TagError) in try await tag.readMemoryConfiguration() }
            #expect(configuration == .success(isThere ? bytes(content) : nil))
            let counter = await Self.result { () throws(TagError) in try await tag.readWriteCounter() }
            #expect(counter == .success(isThere ? 0x030201 : nil) && link.remaining == 0)
        }
        let silent = [Step](repeating: .exchange("1006" + Self.idm + "010b00018088", .timeout), count: 3)
        let tag = Type3Tag(target: Self.lite, link: ScriptedLink(silent, technology: .nfcF))
        let gone = await Self.result { () throws(TagError) in try await tag.readMemoryConfiguration() }
        #expect(gone == .failure(TagError(.tagLost, "")))
    }

    // MARK: Type 5

    private static func vicinity(_ steps: [Step], uid: String = "e004010800112233") -> (Type5Tag, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcV)
        return (Type5Tag(target: NFCVTarget(uid: bytes(uid)), link: link, isAlone: true), link)
    }

    private static func locks(_ count: Int, _ locked: Int...) -> String {
        "00" + hex((0..<count).map { locked.contains($0) ? 0x01 : 0x02 })
    }

    @Test func `Locked blocks are asked for 32 at a time, and beyond 255 by the extended command`() async {
        func ask(_ count: Int, _ steps: [Step]) async -> Result<[Int]?, TagError> {
            let (tag, link) = Self.vicinity(steps)
            let found = await Self.result { () throws(TagError) in try await tag.readLockedBlocks(of: count) }
            #expect(link.remaining == 0)
            return found
        }
        #expect(await ask(32, [.exchange("022c001f", Self.locks(32, 0, 31))]) == .success([0, 31]))
        #expect(
            await ask(33, [.exchange("022c001f", Self.locks(32, 5)), .exchange("022c2000", Self.locks(1, 0))])
                == .success([5, 32])
        )
        var many: [Step] = (0..<8).map { .exchange("022c" + hex([UInt8(32 * $0), 31]), Self.locks(32)) }
        many.append(.exchange("023c 0001 0700", Self.locks(8, 7)))
        #expect(await ask(264, many) == .success([263]))
        #expect(await ask(0, []) == .success([]))
        // An answer for another number of blocks says nothing, and neither does none.
        for answer in [Self.locks(31), Self.locks(33), "0101"] {
            #expect(await ask(32, [.exchange("022c001f", answer)]) == .success(nil))
        }
        #expect(await ask(32, [.exchange("022c001f", .unsupported)]) == .success(nil))
        #expect(await ask(32, [.exchange("022c001f", .cancelled)]) == .failure(TagError(.cancelled, "")))
    }

    private static let backwards = "3322110008 0104e0"

    @Test func `System information is asked for in both forms where the first has no size`() async {
        let small = "00 04" + Self.backwards + "4f03"
        let none = "00 08" + Self.backwards + "01"
        let large = "00 04" + Self.backwards + "ff0103"
        for (steps, count): ([Step], Int?) in [
            ([.exchange("022b", small)], 80), ([.exchange("022b", none), .exchange("023b0f", large)], 512),
            ([.exchange("022b", "0101"), .exchange("023b0f", large)], 512),
            ([.exchange("022b", .unsupported), .exchange("023b0f", .unsupported)], nil),
            ([.exchange("022b", none), .exchange("023b0f", "0101")], nil),
        ] {
            let (tag, link) = Self.vicinity(steps)
            let info = await Self.result { () throws(TagError) in try await tag.readSystemInfo() }
            #expect((try? info.get())?.blockCount == count && link.remaining == 0)
        }
        // What the first form has is kept where the second has nothing.
        let (tag, _) = Self.vicinity([.exchange("022b", none), .exchange("023b0f", "0101")])
        let info = await Self.result { () throws(TagError) in try await tag.readSystemInfo() }
        #expect((try? info.get())?.icReference == 1)
    }

    @Test func `A signature and a counter are asked of the products that have them`() async throws {
        let signature = String(repeating: "00", count: 31) + "01"
        for (uid, answer, isOne) in [
            ("e004010800112233", "00" + signature, true), ("e004011800112233", "00" + signature, true),
            ("e004010800112233", "00" + signature.dropLast(2), false),
            ("e004010800112233", "00" + String(repeating: "00", count: 32), false), ("e004010800112233", "0101", false),
        ] {
            let (tag, link) = Self.vicinity([.exchange("02bd04", answer)], uid: uid)
            #expect(try await tag.readSignature() == (isOne ? bytes(signature) : nil) && link.remaining == 0)
        }
        let (slix, _) = Self.vicinity([], uid: "e004015000112233")
        #expect(try await slix.readSignature() == nil)
        #expect(try await slix.readCounter() == nil)
        let (counting, link) = Self.vicinity([.exchange("02204f", "00 34120001"), .exchange("02204f", "00 341200")])
        #expect(try await counting.readCounter() == 0x1234)
        #expect(try await counting.readCounter() == nil && link.remaining == 0)
    }

    // MARK: Names

    @Test func `A product's name is asked for where activation does not tell it`() async throws {
        let link = ScriptedLink([Self.topaz("78 000000 000000", "1148 01020304")])
        let type1 = NFCATarget(atqa: 0x0C00, sak: nil, uid: [])
        #expect(try await TagTarget.nfcA(type1).productName(asking: Type1Tag(link: link)) == "Topaz 96")
        let type2 = NFCATarget(atqa: 0x0044, sak: 0, uid: bytes("04a1b2c3d4e580"))
        let ntag = makeTag(ScriptedLink([.exchange("60", Self.version)]))
        #expect(try await TagTarget.nfcA(type2).productName(asking: ntag) == "NTAG213")
        let classic = NFCATarget(atqa: 0x0004, sak: 0x08, uid: bytes("01020304"))
        #expect(try await TagTarget.nfcA(classic).productName(asking: nil) == "MIFARE Classic 1K")
        #expect(try await TagTarget.nfcA(type2).productName(asking: nil) == nil)
        #expect(try await TagTarget.nfcF(Self.lite).productName(asking: nil) == "FeliCa Lite-S")
        let vicinity = NFCVTarget(uid: bytes("e004015000112233"))
        #expect(try await TagTarget.nfcV(vicinity).productName(asking: nil) == "ICODE SLIX")
        let typeB = try NFCBTarget(bytes("50 11223344 00000000 008171"))
        #expect(try await TagTarget.nfcB(typeB).productName(asking: nil) == nil)
        // A card of ISO-DEP is asked when it is a MIFARE, and another maker's is not.
        let card = NFCATarget(atqa: 0x0344, sak: 0x20, uid: bytes("04a1b2c3d4e580"))
        let hardware = "04010101001805"
        func desfire(_ steps: [ScriptedCard.Step]) -> Type4Tag { Type4Tag(link: ScriptedCard(steps)) }
        let frames: [ScriptedCard.Step] = [
            .command("9060000000", hardware + "91af"), .command("90af000000", hardware + "91af"),
            .command("90af000000", "04010203040506 00000000000000 9100"),
        ]
        #expect(try await TagTarget.nfcA(card).productName(asking: desfire(frames)) == "MIFARE DESFire EV1 4K")
        let plus = bytes("c1052f2f01bcd6")
        #expect(
            try await TagTarget.nfcA(card).productName(asking: desfire(frames), historicalBytes: plus)
                == "MIFARE DESFire EV1 4K"
        )
        #expect(
            try await TagTarget.nfcA(card).productName(asking: desfire([]), historicalBytes: [0x80, 0x31]) == nil
        )
    }
}
