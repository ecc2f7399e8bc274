// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

/// A reader of MIFARE Plus in security level 3, which shares nothing with the card but AES.
private final class PlusReader {
    private let card: ([UInt8]) throws -> [UInt8]
    /// RndA of every authentication: 00 to 0F.
    private let challenge = Array(UInt8(0)..<16)
    private var (encryption, authentication, transaction) = ([UInt8](), [UInt8](), [UInt8]())
    private var (reads, writes) = (0, 0)

    init(_ card: @escaping ([UInt8]) throws -> [UInt8]) { self.card = card }

    convenience init(_ tag: VirtualType4Tag) { self.init { tag.process($0) } }

    private func send(_ bytes: [UInt8], _ count: Int) throws -> [UInt8] {
        let answer = try card(bytes)
        guard answer.first == 0x90 else { throw Status(code: answer.first ?? 0) }
        try #require(answer.count == 1 + count)
        return Array(answer.dropFirst())
    }

    struct Status: Error, Equatable { var code: UInt8 }

    private func low(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8)] }

    private var counters: [UInt8] {
        Array([low(reads), low(writes), low(reads), low(writes), low(reads), low(writes)].joined())
    }

    func authenticate(_ number: Int, _ key: [UInt8], isFollowing: Bool = false) throws {
        let cipher = try BlockCipher.aes(key)
        let zeros = [UInt8](repeating: 0, count: 16)
        let vectors = isFollowing ? (transaction + counters, counters + transaction) : (zeros, zeros)
        let first = try send((isFollowing ? [0x76] : [0x70]) + low(number) + (isFollowing ? [] : [0]), 16)
        let theirs = try cipher.decrypt(first, .blockChaining(vector: vectors.1))
        let proof = try cipher.encrypt(challenge + theirs[1...] + theirs[..<1], .blockChaining(vector: vectors.0))
        let second = try cipher.decrypt(send([0x72] + proof, isFollowing ? 16 : 32), .blockChaining(vector: vectors.1))
        let own = challenge[1...] + challenge[..<1]
        if isFollowing {
            try #require(second == Array(own))
        } else {
            try #require(second[4..<20] == own && second[20...].allSatisfy { $0 == 0 })
            (transaction, reads, writes) = (Array(second[..<4]), 0, 0)
        }
        var input = [UInt8]()
        for index in 11..<16 { input.append(challenge[index]) }
        for index in 11..<16 { input.append(theirs[index]) }
        for index in 4..<9 { input.append(challenge[index] ^ theirs[index]) }
        encryption = try cipher.encrypt(input + [0x11])
        input = []
        for index in 7..<12 { input.append(challenge[index]) }
        for index in 7..<12 { input.append(theirs[index]) }
        for index in 0..<5 { input.append(challenge[index] ^ theirs[index]) }
        authentication = try cipher.encrypt(input + [0x22])
    }

    private func code(_ code: UInt8, _ counter: Int, _ data: [UInt8]) throws -> [UInt8] {
        let whole = try BlockCipher.aes(authentication).cmac([code] + low(counter) + transaction + data)
        return [1, 3, 5, 7, 9, 11, 13, 15].map { whole[$0] }
    }

    /// Reads blocks with a command from 30 to 37.
    func read(_ command: UInt8, _ block: Int, count: Int = 1) throws -> [UInt8] {
        let body = low(block) + [UInt8(count)]
        let mac = command < 0x34 ? try code(command, reads, body) : []
        let hasCode = command % 2 == 1
        let answer = try send([command] + body + mac, 16 * count + (hasCode ? 8 : 0))
        reads += 1
        let data = Array(answer[..<(16 * count)])
        if hasCode { try #require(try code(0x90, reads, body + data) == Array(answer.suffix(8))) }
        guard [0x30, 0x31, 0x34, 0x35].contains(command) else { return data }
        return try BlockCipher.aes(encryption).decrypt(data, .blockChaining(vector: counters + transaction))
    }

    /// Writes blocks or a key with a command from A0 to A3. A difference in the MAC can be given.
    func write(_ command: UInt8, _ block: Int, _ data: [UInt8], flips: UInt8 = 0) throws {
        var body = low(block)
        let vector = transaction + counters
        body += command < 0xA2 ? try BlockCipher.aes(encryption).encrypt(data, .blockChaining(vector: vector)) : data
        var mac = try code(command, writes, body)
        mac[7] ^= flips
        let answer = try send([command] + body + mac, command % 2 == 1 ? 8 : 0)
        writes += 1
        if command % 2 == 1 { try #require(try code(0x90, writes, []) == answer) }
    }
}

/// MIFARE Plus EV1 in security level 3.
struct MIFAREPlusTests {
    private static let factoryKey = [UInt8](repeating: 0xFF, count: 16)

    private static func tag(_ product: String = "MIFARE Plus EV1 2K SL3", _ changes: [(Int, [UInt8])] = []) throws
        -> VirtualType4Tag
    {
        guard case .type4(var contents) = try #require(TagProduct(named: product)).blank(uid: Script.uid),
            case .mifarePlus(var card) = contents.kind
        else { throw PlusReader.Status(code: 0) }
        for (place, bytes) in changes { card.memory.replaceSubrange(place..<place + bytes.count, with: bytes) }
        contents.kind = .mifarePlus(card)
        return VirtualType4Tag(contents)
    }

    private static func status(_ work: () throws -> Void) -> UInt8? {
        do { try work() } catch { return (error as? PlusReader.Status)?.code }
        return nil
    }

    /// The exchanges of a MIFARE Plus with the key A0A1A2A3A4A5A6A7A0A1A2A3A4A5A6A7 (Proxmark3, `traces/hf_mfp_mad_sl3.trace`
    /// and `hf_mfp_read_sc0_sl3.trace`).
    @Test(arguments: [
        """
        70004000 90f1af605d441d5c1fd3019f3a3da9f177
        72b6ad00edefef0774decdbf256124e5183ccb6822f955c5cff7927c2415200ee4 \
        90f795c53cd91f3f3eb43af7b7dbb2ae6882f4ce8efc2e148114c6c555fa41e875
        330000014424daaebd09e0c1 9004505d1ab7688008440002011100022071eec9660954ed84
        33010001308bb361486c3672 903000563d563c563c563c563c563c000063a3aeb03bb3a816
        33020001e9069480623eb844 90000000000000000000000000000000005664c2c36f10875e
        33030001137930395b6668c3 9000000000000f0f078fc1000000000000f43401d487da5d76
        """,
        """
        70004000 90538a666c8751aefe5fadfc7eeb12c3e1
        72b6ad00edefef0774decdbf256124e518e1bc30164191393eafb531e18e880f84 \
        906616a9b094aafba889e480f78b2a53358151a80b12b963eb3549271ffe754ebc
        330000012bfacde398a04cd5 9004505d1ab76880084400020111000220365c09b811a8d749
        33010001d9fe3b1d38d4c3d1 903000563d563c563c563c563c563c0000e2dd057bdfea345e
        33020001fcd5c4a4c9c667a2 9000000000000000000000000000000000ae8f77fc7fc4a96c
        330300011a9cadb3bbb1a989 9000000000000f0f078fc1000000000000c2ca7ab86ada6cda
        """,
    ]) func `MIFARE Plus: the reader of these tests sends and takes the bytes of a real card's traces`(trace: String)
        throws
    {
        var rows = trace.split(separator: "\n").map { $0.split(separator: " ").map { hex(String($0)) } }[...]
        let reader = PlusReader { command in
            let row = rows.removeFirst()
            #expect(hexText(command) == hexText(row[0]))
            return row[1]
        }
        try reader.authenticate(0x4000, Array(UInt8(0xA0)...0xA7) + Array(0xA0...0xA7))
        let blocks = try (0..<4).map { hexText(try reader.read(0x33, $0)) }
        #expect(blocks[0].hasPrefix("04 50 5d 1a b7 68 80"))
        #expect(blocks[3] == "00 00 00 00 00 0f 0f 07 8f c1 00 00 00 00 00 00" && rows.isEmpty)
    }

    @Test(arguments: ["MIFARE Plus EV1 2K SL3", "MIFARE Plus EV1 4K SL3"])
    func `MIFARE Plus: every mode writes and reads what the reader expects, over several authentications`(
        product: String
    ) throws {
        let tag = try Self.tag(product)
        let reader = PlusReader(tag)
        let last =
            product.contains("4K") ? (number: 0x404E, block: 240, count: 15) : (number: 0x403E, block: 124, count: 3)
        try reader.authenticate(0x4002, Self.factoryKey)
        for (index, command) in (UInt8(0xA0)...0xA3).enumerated() {
            let data = Array(repeating: UInt8(0x11 * (index + 1)), count: 48)
            try reader.write(command, 4, data)
            for mode in UInt8(0x30)...0x37 { #expect(try reader.read(mode, 4, count: 3) == data, "\(command) \(mode)") }
        }
        try reader.authenticate(last.number, Self.factoryKey, isFollowing: true)
        let data = (0..<16 * last.count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try reader.write(0xA1, last.block, data)
        #expect(try reader.read(0x31, last.block, count: last.count) == data)
        // A first authentication begins a transaction with new counters.
        try reader.authenticate(0x4002, Self.factoryKey)
        #expect(try reader.read(0x33, 6) == [UInt8](repeating: 0x44, count: 16))
        // The last block shows its conditions alone.
        #expect(hexText(try reader.read(0x31, 7)) == "00 00 00 00 00 0f ff 07 80 69 00 00 00 00 00 00")
        #expect(tag.process([0x78]) == [0x90])
        #expect(Self.status { _ = try reader.read(0x33, 4) } == 0x0B)
    }

    @Test func `MIFARE Plus: refuses what keys, conditions and MACs don't allow, and ends the authentication`() throws {
        // Sector 1: both keys read block 4, key B writes it, nobody reads block 5 plain; key B changes conditions and keys.
        let conditions: [UInt8] = [0x3C, 0x37, 0x8C]
        let tag = try Self.tag(
            "MIFARE Plus EV1 2K SL3",
            [(7 * 16 + 5, [0x2D] + conditions), (11 * 16 + 6, [0xFF, 0xFF, 0xFF])]
        )
        let reader = PlusReader(tag)
        let block = [UInt8](repeating: 0x55, count: 16)
        func check(_ key: Int, _ expected: UInt8?, _ work: () throws -> Void) throws {
            try reader.authenticate(key, Self.factoryKey)
            #expect(Self.status(work) == expected)
            guard expected != nil else { return }
            #expect(Self.status { _ = try reader.read(0x37, 4) } == 0x0B)
        }
        try check(0x4002, nil) { _ = try reader.read(0x33, 4) }
        try check(0x4002, 0x06) { try reader.write(0xA1, 4, block) }
        try check(0x4003, nil) { try reader.write(0xA1, 4, block) }
        try check(0x4003, 0x06) { try reader.write(0xA1, 6, block) }
        try check(0x4003, 0x08) { try reader.write(0xA1, 4, block, flips: 1) }
        try check(0x4002, 0x06) { _ = try reader.read(0x33, 5) }
        try check(0x4002, 0x06) { _ = try reader.read(0x33, 4, count: 2) }
        try check(0x4002, nil) { _ = try reader.read(0x31, 4, count: 3) }
        try check(0x4002, 0x06) { _ = try reader.read(0x31, 4, count: 4) }
        try check(0x4002, 0x09) { _ = try reader.read(0x31, 4, count: 0) }
        try check(0x4002, 0x09) { _ = try reader.read(0x31, 128) }
        try check(0x4002, 0x06) { _ = try reader.read(0x31, 8) }
        try check(0x4004, 0x06) { _ = try reader.read(0x31, 8) }
        try check(0x4000, 0x06) { try reader.write(0xA1, 0, block) }
        // Conditions that contradict their inverse would lock the sector for good.
        try check(0x4003, 0x06) { try reader.write(0xA1, 7, block) }
        try check(0x4003, nil) {
            try reader.write(0xA1, 7, [0, 0, 0, 0, 0, 0x0F] + conditions + [0x69, 0, 0, 0, 0, 0, 0])
        }
        try check(0x4002, nil) { _ = try reader.read(0x33, 5) }
        try check(0x9000, 0x06) { _ = try reader.read(0x33, 4) }
        #expect(Self.status { try reader.authenticate(0x4002, block) } == 0x06)
        #expect(Self.status { try reader.authenticate(0x4040, block) } == 0x09)
        #expect(Self.status { try reader.authenticate(0x4002, block, isFollowing: true) } == 0x0B)
        for message in ["70 02 40", "70 02 40 01", "72 00", "30 04 00", "a0 04 00 00"] {
            #expect(tag.process(hex(message)) == [0x0C], "\(message)")
        }
        #expect(tag.process(hex("72" + String(repeating: "00", count: 32))) == [0x0B])
        #expect(tag.process(hex("70 02 40 01 01")) == [0x0B])
        // Everything else is what a card answers of which only the version is known.
        #expect(hexText(tag.process([0x60])) == "af 04 02 01 11 00 16 04")
        #expect(tag.process(hex("00 a4 04 00")) == [0x6A, 0x82] && tag.process(hex("70 02 40 00")) == [0x0B])
    }

    @Test func `MIFARE Plus: new keys count from the next authentication on, and are not printed`() throws {
        let tag = try Self.tag()
        let reader = PlusReader(tag)
        let blank = try #require(TagContents(of: tag))
        let key = Array(UInt8(1)...16)
        try reader.authenticate(0x4004, Self.factoryKey)
        #expect(Self.status { try reader.write(0xA3, 0x4004, key) } == 0x06)
        try reader.authenticate(0x4004, Self.factoryKey)
        try reader.write(0xA1, 0x4004, key)
        try reader.write(0xA0, 0x4005, key)
        #expect(try reader.read(0x31, 8) == [UInt8](repeating: 0, count: 16))
        #expect(Self.status { try reader.write(0xA1, 0x4006, key) } == 0x06)
        #expect(Self.status { try reader.authenticate(0x4004, Self.factoryKey) } == 0x06)
        for number in [0x4004, 0x4005] { try reader.authenticate(number, key) }
        try reader.authenticate(0x9000, Self.factoryKey)
        try reader.write(0xA1, 0x9001, key)
        try reader.authenticate(0x9001, key)
        #expect(Self.status { try reader.write(0xA1, 0x9000, key) } == 0x06)
        let contents = try #require(TagContents(of: tag))
        #expect(contents.product == "MIFARE Plus EV1 2K" && contents.holdsSecrets && !blank.holdsSecrets)
        #expect(!String(reflecting: contents).contains("15, 16"))
    }

    @Test func `MIFARE Plus: a power cut leaves a block and a key as they were, or new`() throws {
        let (data, zeros) = ([UInt8](repeating: 0x77, count: 16), [UInt8](repeating: 0, count: 16))
        for (tear, isNew) in [(TornWrite.old, false), (.new, true)] {
            let tag = try Self.tag()
            var card = try #require(tag.card as? MIFAREPlusCard)
            var cut: TornWrite?
            let reader = PlusReader { card.process($0, tear: cut).bytes }
            try reader.authenticate(0x4002, Self.factoryKey)
            cut = tear
            try reader.write(0xA1, 4, data)
            try reader.write(0xA1, 0x4002, data)
            card.losePower()
            try reader.authenticate(0x4002, isNew ? data : Self.factoryKey)
            #expect(try reader.read(0x33, 4) == (isNew ? data : zeros))
        }
    }
}
