// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts
import Testing
import VirtualTags

@testable import TagProtocols  // replacing all data is an internal call

/// MIFARE Classic: the virtual card, and the reader's procedures with it (MF1S50yyX data sheet; NXP AN1305).
struct MIFAREClassicTests {
    private static let new: [UInt8] = [255, 255, 255, 255, 255, 255]
    private static let keyA: [UInt8] = [1, 2, 3, 4, 5, 6]
    private static let keyB: [UInt8] = [11, 12, 13, 14, 15, 16]

    private static func field(_ contents: ClassicContents) -> (field: VirtualField, card: ClassicTag) {
        let (field, card) = (VirtualField(), ClassicTag(contents))
        field.bring(card)
        return (field, card)
    }

    private static func blank(_ product: ClassicProduct = .classic1K) -> ClassicContents {
        ClassicContents(blank: product, uid: [0x9C, 0x0C, 0x37, 0x01])
    }

    /// A card whose sector 1 has the keys and a value of 100 in block 4.
    private static func card(_ conditions: [UInt8]) -> ClassicContents {
        var contents = blank()
        let trailer = keyA + ClassicAccess(conditions: conditions).bytes + [0x69] + keyB
        contents.memory.replaceSubrange(7 * 16..<8 * 16, with: trailer)
        contents.memory.replaceSubrange(4 * 16..<5 * 16, with: ClassicValue(100, address: 4).bytes)
        return contents
    }

    private static func activate(_ field: VirtualField, keys: [[UInt8]] = []) async throws -> MIFAREClassic {
        field.switchCarrier(false)
        field.switchCarrier(true)
        let link = try #require(field.link(for: .nfcA))
        let target = try #require(try await NFCAActivation(link: link).activateAll().last)
        return MIFAREClassic(target: target, link: link, keys: keys)
    }

    // MARK: Rights

    /// Sends commands to sector 1 after an authentication, and returns whether the card executed all of them.
    private static func accepts(
        _ conditions: [UInt8],
        _ isB: Bool,
        _ commands: [[UInt8]]
    ) async throws -> (isDone: Bool, memory: [UInt8], last: [UInt8]) {
        let (field, card) = field(card(conditions))
        let reader = try await activate(field)
        let session = ClassicCommands()
        let authentication = [isB ? 0x61 : 0x60, 0x04] + (isB ? keyB : keyA) + reader.target.uid
        var last: [UInt8] = []
        for command in [authentication] + commands {
            let answer = try await session.execute(command, over: reader.link)
            last = answer.bytes
            if let nibble = answer.nibble, nibble != 0xA { return (false, card.contents.memory, last) }
        }
        return (true, card.contents.memory, last)
    }

    /// The keys for read, write, increment, and decrement, by C1 C2 C3 (MF1S50yyX data sheet, table 8).
    @Test(
        arguments: [
            (0b000, "AB AB AB AB"), (0b010, "AB - - -"), (0b100, "AB B - -"), (0b110, "AB B B AB"),
            (0b001, "AB - - AB"),
            (0b011, "B B - -"), (0b101, "B - - -"), (0b111, "- - - -"),
        ] as [(UInt8, String)]
    )
    func `MIFARE Classic data: each key does what the access conditions grant it`(bits: UInt8, granted: String)
        async throws
    {
        let transfer: [UInt8] = [0xB0, 0x04]
        let commands: [[[UInt8]]] = [
            [[0x30, 0x04]], [[0xA0, 0x04] + Array(1...16)], [[0xC1, 0x04, 5, 0, 0, 0], transfer],
            [[0xC0, 0x04, 5, 0, 0, 0], transfer], [[0xC2, 0x04, 0, 0, 0, 0], transfer],
        ]
        let rights = granted.split(separator: " ") + granted.split(separator: " ").suffix(1)
        for (commands, keys) in zip(commands, rights) {
            for isB in [false, true] {
                let result = try await Self.accepts([bits, 0, 0, 3], isB, commands)
                #expect(result.isDone == keys.contains(isB ? "B" : "A"), "\(commands[0][0]) \(isB)")
                guard result.isDone else { continue }
                let value = ClassicValue(Array(result.memory[64..<80]))
                switch commands[0][0] {
                case 0x30: #expect(result.last == ClassicValue(100, address: 4).bytes)
                case 0xA0: #expect(Array(result.memory[64..<80]) == Array(1...16))
                default: #expect(value?.amount == [0xC0: 95, 0xC1: 105][commands[0][0]] ?? 100)
                }
            }
        }
        // Only a block that has a value can be counted, and only then be transferred.
        for command: [UInt8] in [[0xC1, 0x05], [0xB0, 0x04]] {
            #expect(try await !Self.accepts([0, 0, 0, 3], false, [command]).isDone)
        }
        // A key B that can be read is none.
        #expect(try await !Self.accepts([0, 0, 0, 1], true, [[0x30, 0x04]]).isDone)
    }

    /// The keys that write key A, read and write the access bits, read and write key B (data sheet, table 7).
    @Test(
        arguments: [
            (0b000, "A A - A A"), (0b010, "- A - A -"), (0b100, "B AB - - B"), (0b110, "- AB - - -"),
            (0b001, "A A A A A"),
            (0b011, "B AB B - B"), (0b101, "- AB B - -"), (0b111, "- AB - - -"),
        ] as [(UInt8, String)]
    )
    func `MIFARE Classic keys: each key changes and reads what the access conditions grant it`(
        bits: UInt8,
        granted: String
    ) async throws {
        let rights = granted.split(separator: " ")
        for isB in [false, true] {
            func may(_ right: Int) -> Bool { rights[right].contains(isB ? "B" : "A") }
            let isKey = !(isB && rights[3] != "-")
            let read = try await Self.accepts([0, 0, 0, bits], isB, [[0x30, 0x07]])
            #expect(read.isDone == (isKey && may(1)))
            let trailer = ClassicAccess(conditions: [0, 0, 0, bits]).bytes + [0x69]
            let shown = [UInt8](repeating: 0, count: 6) + trailer + (may(3) ? Self.keyB : [0, 0, 0, 0, 0, 0])
            if read.isDone { #expect(read.last == shown) }
            let written =
                [UInt8](repeating: 9, count: 6) + ClassicAccess(conditions: [0, 0, 0, 3]).bytes + [7] + Array(21...26)
            let result = try await Self.accepts([0, 0, 0, bits], isB, [[0xA0, 0x07] + written])
            #expect(result.isDone == (isKey && [0, 2, 4].contains(where: may)))
            guard result.isDone else { continue }
            let old = Self.keyA + trailer + Self.keyB
            let parts = [(0, 0..<6), (2, 6..<10), (4, 10..<16)].flatMap { (may($0) ? written : old)[$1] }
            #expect(Array(result.memory[112..<128]) == parts)
        }
    }

    // MARK: NDEF

    @Test(arguments: [ClassicProduct.mini, .classic1K, .classic4K], [4, 7])
    func `MIFARE Classic NDEF: a new card is formatted, written up to its capacity, read and locked`(
        product: ClassicProduct,
        uidLength: Int
    ) async throws {
        let uid = Array([0x04, 0x0C, 0x37, 0x01, 5, 6, 7].prefix(uidLength)) as [UInt8]
        let (field, card) = Self.field(ClassicContents(blank: product, uid: uid))
        #expect(await errorCode { _ = try await Self.activate(field).detectNDEF() } == .noCapabilityContainer)
        try await Self.activate(field).format()
        // The directory as other programs write it.
        if product == .classic1K {
            #expect(card.contents.memory[16..<24] == [0x14, 0x01, 0x03, 0xE1, 0x03, 0xE1, 0x03, 0xE1])
            #expect(card.contents.memory[54..<58] == [0x78, 0x77, 0x88, 0xC1])
            #expect(card.contents.memory[118..<122] == [0x7F, 0x07, 0x88, 0x40])
        }
        let blocks = (1..<product.sectorCount).filter { $0 != 16 }.reduce(0) { $0 + ($1 < 32 ? 3 : 15) }
        let capacity = blocks * 16 - (blocks * 16 > 256 ? 4 : 2)
        #expect(try await Self.activate(field).detectNDEF().capacity == capacity)
        for count in [20, 0, 300, capacity] where count <= capacity {
            let text = message(count)
            try await Self.activate(field).writeNDEF(text)
            #expect(try await Self.activate(field).readNDEF() == text)
        }
        #expect(await errorCode { try await Self.activate(field).writeNDEF(message(capacity + 1)) } == .messageTooLong)
        let writes = field.writeCount
        try await Self.activate(field).format()
        #expect(field.writeCount == writes, "A formatted card is not written again.")
        try await Self.activate(field).lock()
        #expect(try await Self.activate(field).detectNDEF().access == .readOnly)
        #expect(await errorCode { try await Self.activate(field).writeNDEF(message(1)) } == .readOnly)
        #expect(await errorCode { try await Self.activate(field).lock() } == .readOnly)
        #expect(try await Self.activate(field).readNDEF() == message(capacity))
    }

    @Test func `MIFARE Classic keys: own keys are needed to read, and those of other sectors are tried first`()
        async throws
    {
        let (field, _) = Self.field(Self.card([0, 0, 0, 3]))
        let stranger = try await Self.activate(field)
        #expect(try await stranger.read(4) == nil)
        #expect(try await stranger.read(8) == [UInt8](repeating: 0, count: 16))
        #expect(await errorCode { try await stranger.write(message(16), to: 5) } == .keyNeeded)
        let owner = try await Self.activate(field, keys: [Self.keyB])
        #expect(try await owner.key(.init(1, isB: true)) == Self.keyB)
        #expect(try await owner.key(.init(1, isB: false)) == nil)
        try await owner.write(message(16), to: 5)
        #expect(try await owner.read(5) == message(16))
        #expect(await errorCode { try await owner.write(message(16), to: 0) } == .readOnly)
        // Key A is not known, so it can't be kept.
        #expect(await errorCode { _ = try await owner.trailer(ofSector: 1, access: .readOnly) } == .keyNeeded)
        let trailer = try await owner.trailer(ofSector: 1, keyA: Self.new, access: .writeWithB, keyB: Self.keyA)
        try await owner.writeTrailer(trailer, ofSector: 1)
        #expect(try await Self.activate(field).read(5) == message(16))
        var wrong = trailer
        wrong[6] ^= 1
        #expect(await errorCode { try await owner.writeTrailer(wrong, ofSector: 1) } == .unsupported)
    }

    // MARK: Losses

    private static let message1 = message(100)

    private static func formatted() async throws -> ClassicContents {
        let (field, card) = field(blank())
        try await activate(field).format()
        try await activate(field).writeNDEF(message1)
        return card.contents
    }

    /// The changes that a reader makes, each with what a card has after it.
    private static let changes: [(name: String, work: @Sendable (MIFAREClassic) async throws -> Void)] = [
        ("format", { try await $0.format() }), ("write", { try await $0.writeNDEF(message(200)) }),
        ("lock", { try await $0.lock() }), ("wipe", { _ = try await $0.replaceData(with: .empty) }),
        (
            "keys",
            {
                let trailer = try await $0.trailer(ofSector: 1, keyA: keyA, access: .writeWithB, keyB: keyB)
                try await $0.writeTrailer(trailer, ofSector: 1)
            }
        ),
    ]

    @Test(arguments: changes.indices)
    func
        `MIFARE Classic loss: after a cut at any write, the message is old, none or new, and the same call completes it`(
            index: Int
        ) async throws
    {
        let (name, work) = Self.changes[index]
        let start = try await name == "format" ? Self.blank() : Self.formatted()
        let (field, card) = Self.field(start)
        try await work(Self.activate(field, keys: [Self.keyA, Self.keyB]))
        let (end, writes) = (card.contents, field.writeCount)
        #expect(writes > 0 && end != start)
        for cut in 0...writes {
            let (field, card) = Self.field(start)
            field.arm(.tear(afterWrite: cut))
            let reader = try await Self.activate(field, keys: [Self.keyA, Self.keyB])
            let failed = await errorCode { try await work(reader) }
            #expect(failed == .tagLost)
            field.arm(FaultPlan())
            field.bring(card)
            let read = try? await Self.activate(field, keys: [Self.keyA]).readNDEF()
            #expect([nil, [], Self.message1, message(200)].contains(read), "\(name) \(cut)")
            try? await work(Self.activate(field, keys: [Self.keyA, Self.keyB]))
            #expect(card.contents.memory == end.memory, "\(name) \(cut)")
        }
    }

    @Test func `MIFARE Classic value: a loss at any write leaves the old or the new value`() async throws {
        for (amount, cut) in [(Int32(5), 0), (5, 1), (-7, 0), (-7, 1), (-7, 2)] {
            let (field, card) = Self.field(Self.card([6, 0, 0, 3]))
            field.arm(.tear(afterWrite: cut))
            let reader = try await Self.activate(field, keys: [Self.keyA, Self.keyB])
            let code = await errorCode { try await reader.add(amount, to: 4) }
            #expect(code == (cut < 2 ? .tagLost : nil))
            let value = ClassicValue(Array(card.contents.memory[64..<80]))
            #expect(value?.amount == (cut == 0 ? 100 : 100 + amount))
        }
    }

    @Test(arguments: [2, 4])
    func `MIFARE Classic noise: an exchange of a change of trailers lost (sampled if long), the same call completes it`(
        index: Int
    ) async throws {
        let (name, work) = Self.changes[index]
        let start = try await Self.formatted()
        let (counted, card) = Self.field(start)
        let link = try #require(counted.link(for: .nfcA))
        try await work(Self.activate(counted, keys: [Self.keyA, Self.keyB]))
        // Locking repeats the same exchanges in 16 sectors, so every seventh loses each of them somewhere.
        let exchanges = Array(stride(from: 4, to: Int(link.statistics.exchanges), by: name == "lock" ? 7 : 1))
        var unharmed = 0
        for exchange in exchanges {
            for effect in [Fault.Effect.mute, .bitError] {
                let (field, other) = Self.field(start)
                field.arm(.effect(effect, atExchange: exchange))
                let reader = try await Self.activate(field, keys: [Self.keyA, Self.keyB])
                if await errorCode({ try await work(reader) }) == nil {
                    unharmed += 1
                    #expect(other.contents == card.contents, "\(name) \(effect) \(exchange)")
                }
                field.arm(FaultPlan())
                try? await work(Self.activate(field, keys: [Self.keyA, Self.keyB]))
                #expect(other.contents == card.contents, "\(name) \(effect) \(exchange)")
            }
        }
        #expect(unharmed > exchanges.count)
    }

    @Test func `MIFARE Classic noise: with any exchange damaged or lost, the message is read`() async throws {
        let contents = try await Self.formatted()
        let (counted, _) = Self.field(contents)
        let link = try #require(counted.link(for: .nfcA))
        #expect(try await Self.activate(counted).readNDEF() == Self.message1)
        let first = 4
        for exchange in first..<Int(link.statistics.exchanges) {
            for effect in [Fault.Effect.mute, .deaf, .tooLong(by: 1)] {
                let (field, _) = Self.field(contents)
                field.arm(.effect(effect, atExchange: exchange))
                // An authentication that gets no answer looks like one with a wrong key.
                let read = try? await Self.activate(field).readNDEF()
                #expect(read == nil || read == Self.message1, "\(effect) \(exchange)")
            }
        }
    }
}
