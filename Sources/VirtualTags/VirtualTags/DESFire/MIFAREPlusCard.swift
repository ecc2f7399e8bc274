// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagProducts

/// The persistent state of a MIFARE Plus EV1 in security level 3.
public struct MIFAREPlusContents: Sendable, Hashable {
    /// All blocks, 16 bytes each: 2048 or 4096 bytes. The last block of a sector has access conditions, but no keys.
    public var memory: [UInt8]
    /// The AES keys that differ from 16 bytes of FF, by number: A and B of each sector from 4000 on, 9000 and 9001.
    public var keys: [UInt16: DESFireKey] = [:]

    /// Creates a new card with a UID of 7 bytes. In every sector, key A does everything, also without encryption.
    package init(blank size: ClassicProduct, uid: [UInt8]) {
        memory = ClassicContents(blank: size, uid: uid).memory
        for sector in 0..<size.sectorCount { memory[ClassicProduct.trailer(ofSector: sector) * 16 + 5] = 0x0F }
    }

    /// The three parts of the answer to GET VERSION, 28 bytes.
    public var version: [UInt8] {
        let size: UInt8 = memory.count > 2048 ? 0x18 : 0x16
        return [4, 2, 1, 0x11, 0, size, 4, 4, 2, 1, 1, 2, size, 4] + memory.prefix(7) + [0, 0, 0, 0, 0, 0, 0]
    }

    /// Returns a key; nil if the card has none of this number.
    package func key(_ number: UInt16) -> DESFireKey? {
        let sectors = ClassicProduct(memorySize: memory.count)?.sectorCount ?? 0
        guard number >> 1 == 0x4800 || (0x2000..<0x2000 + sectors).contains(Int(number >> 1)) else { return nil }
        return keys[number] ?? DESFireKey(.aes, [UInt8](repeating: 0xFF, count: 16))
    }
}

/// A virtual MIFARE Plus EV1 in security level 3 (MF1P(H)x1 data sheet; Proxmark3, `mifare4.c`).
///
/// A reader authenticates with a key of a sector, and then reads and writes the sector's blocks, plain or encrypted, with
/// MACs over a transaction identifier and the number of reads or writes. Only the secure messaging of MIFARE Plus X is
/// modelled, not that of EV1, and neither values, configuration, virtual cards nor other security levels.
public struct MIFAREPlusCard: Card {
    /// The status of a refused command. It ends the authentication.
    private enum Refusal: UInt8, Error { case access = 0x06, code = 0x08, number = 0x09, state = 0x0B, length = 0x0C }

    private struct Session {
        var number: UInt16 = 0
        /// RndB, for which the reader's proof is checked.
        @Hidden var challenge: [UInt8] = []
        /// TI. It stays the same until the next first authentication, and the counters go on.
        var transaction: [UInt8] = []
        var reads: UInt16 = 0, writes: UInt16 = 0
        /// The key, then the session's keys.
        var cipher, authentication: BlockCipher

        /// Encrypts an answer, or decrypts a command. The vectors are zeros until a transaction has begun.
        func transformed(_ data: [UInt8], isAnswer: Bool) throws(Refusal) -> [UInt8] {
            let counters = [reads, writes, reads, writes, reads, writes].flatMap(\.littleEndianBytes)
            let vector = isAnswer ? counters + transaction : transaction + counters
            let mode = BlockCipher.Mode.blockChaining(vector: transaction.isEmpty ? cipher.zeros : vector)
            let result = isAnswer ? try? cipher.encrypt(data, mode) : try? cipher.decrypt(data, mode)
            guard let result else { throw .state }
            return result
        }

        func code(_ code: UInt8, _ counter: UInt16, _ data: some Sequence<UInt8>) -> [UInt8] {
            let input = [code] + counter.littleEndianBytes + transaction + data
            return (try? authentication.cmac(input).everySecond) ?? []
        }
    }

    /// The card's current persistent state.
    public private(set) var contents: MIFAREPlusContents
    /// Answers GET VERSION and everything that is not a command of MIFARE Plus.
    private var others: VersionCard
    private var random: SplitMix64
    private var (waiting, session): (Session?, Session?)

    /// Creates a card.
    public init(_ contents: MIFAREPlusContents) {
        var contents = contents
        // A memory of another length becomes that of the smaller card.
        let size = ClassicProduct.plus2K.memorySize
        if ![size, ClassicProduct.classic4K.memorySize].contains(contents.memory.count) {
            contents.memory = Array((contents.memory + [UInt8](repeating: 0, count: size)).prefix(size))
        }
        self.contents = contents
        others = VersionCard(VersionCardContents(.mifarePlus, version: contents.version))
        random = SplitMix64(identifier: Array(contents.memory.prefix(7)))
    }

    public mutating func losePower() {
        (waiting, session) = (nil, nil)
        others.losePower()
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        let isOwn = [0x30, 0x34, 0x70, 0x74, 0x78, 0xA0].contains(message.first.map { $0 & 0xFC })
        guard isOwn, !others.refusesNative else { return others.process(message, tear: tear) }
        do throws(Refusal) {
            return try execute(message, tear)
        } catch {
            (waiting, session) = (nil, nil)
            return CardAnswer([error.rawValue])
        }
    }

    private mutating func execute(_ message: [UInt8], _ tear: TornWrite?) throws(Refusal) -> CardAnswer {
        let waiting = waiting.take()
        let number = message.count < 3 ? 0 : UInt16(high: message[2], low: message[1])
        switch (message[0], message.count) {
        case (0x70, 4...) where message.count == 4 + Int(message[3]):
            // Bit 0 of PCDcap2 asks for the secure messaging of EV1.
            guard message.count == 4 || message[4] & 0x01 == 0 else { throw .state }
            session = nil
            return CardAnswer(try begin(number, after: nil))
        case (0x76, 3) where session != nil: return CardAnswer(try begin(number, after: session))
        case (0x72, 33): return CardAnswer(try finish(waiting, Array(message[1...])))
        case (0x78, 1):
            session = nil
            return CardAnswer([0x90])
        case (0x30...0x33, 12), (0x34...0x37, 4): return CardAnswer(try read(message, Int(number)))
        case (0xA0...0xA3, 27...) where message.count % 16 == 11: return try write(message, number, tear)
        default: throw message[0] == 0x76 ? .state : .length
        }
    }

    private mutating func begin(_ number: UInt16, after previous: Session?) throws(Refusal) -> [UInt8] {
        guard let key = contents.key(number), let cipher = try? key.cipher() else { throw .number }
        var next = previous ?? Session(cipher: cipher, authentication: cipher)
        (next.number, next.challenge, next.cipher) = (number, random.bytes(16), cipher)
        waiting = next
        return [0x90] + (try next.transformed(next.challenge, isAnswer: true))
    }

    /// Checks the reader's proof, and derives the session's keys from both challenges.
    private mutating func finish(_ waiting: Session?, _ proof: [UInt8]) throws(Refusal) -> [UInt8] {
        guard var next = waiting else { throw .state }
        let (key, card) = (next.cipher, next.challenge)
        let challenges = try next.transformed(proof, isAnswer: false)
        guard ConstantTime.areEqual(challenges[16...], card.rotated) else { throw .access }
        let reader = Array(challenges[..<16])
        func derived(_ start: Int, _ other: Int, _ label: UInt8) throws(Refusal) -> BlockCipher {
            let common = Array(reader[other..<other + 5]).combined(with: card[other..<other + 5])
            let input = reader[start..<start + 5] + card[start..<start + 5] + common + [label]
            guard let derived = try? BlockCipher.aes(key.encrypt(Array(input))) else { throw .state }
            return derived
        }
        // The answer to a first authentication also has TI, and the capabilities of both sides, which are none.
        let transaction = next.transaction.isEmpty ? random.bytes(4) : []
        let answer = transaction + reader.rotated + [UInt8](repeating: 0, count: 3 * transaction.count)
        let sealed = try next.transformed(answer, isAnswer: true)
        next.transaction += transaction
        (next.authentication, next.cipher) = (try derived(7, 0, 0x22), try derived(11, 4, 0x11))
        session = next
        return [0x90] + sealed
    }

    /// Checks that the session's key has a right in one block, or in several blocks of data of its sector. Bits 4 to 7 of
    /// byte 5 of the sector's last block forbid plain data.
    private func check(_ right: ClassicAccess.Right, _ blocks: Range<Int>, isPlain: Bool) throws(Refusal) {
        guard !blocks.isEmpty, blocks.upperBound * 16 <= contents.memory.count else { throw .number }
        let sector = ClassicProduct.sector(of: blocks.lowerBound)
        let trailer = ClassicProduct.trailer(ofSector: sector)
        let rights = Array(contents.memory[trailer * 16 + 5..<trailer * 16 + 9])
        guard let session, Int(session.number >> 1) == 0x2000 + sector, let access = ClassicAccess(rights[1...]),
            blocks.upperBound <= trailer || blocks.count == 1,
            blocks.allSatisfy({ block in
                access.keys(for: right, ofBlock: block).contains(session.number & 1 == 0 ? .a : .b)
                    && !(isPlain && rights[0] >> (4 + ClassicAccess.group(of: block)) & 1 == 1)
            })
        else { throw .access }
    }

    private mutating func read(_ message: [UInt8], _ block: Int) throws(Refusal) -> [UInt8] {
        guard var session else { throw .state }
        let code = session.code(message[0], session.reads, message[1..<4])
        guard message.count == 4 || ConstantTime.areEqual(code, message[4...]) else { throw .code }
        let (isPlain, blocks) = (message[0] & 0x02 != 0, block..<block + Int(message[3]))
        let isTrailer = ClassicProduct.sector(ofTrailer: block) != nil
        try check(isTrailer ? .readAccess : .read, blocks, isPlain: isPlain)
        var data = Array(contents.memory[block * 16..<blocks.upperBound * 16])
        if isTrailer { data = [0, 0, 0, 0, 0] + data[5..<10] + [0, 0, 0, 0, 0, 0] }
        session.reads &+= 1
        if !isPlain { data = try session.transformed(data, isAnswer: true) }
        self.session = session
        return [0x90] + data
            + (message[0] & 0x01 == 0 ? [] : session.code(0x90, session.reads, message[1..<4] + data))
    }

    /// Writes blocks, or one key. A new key counts from the next authentication on.
    private mutating func write(_ bytes: [UInt8], _ number: UInt16, _ tear: TornWrite?) throws(Refusal) -> CardAnswer {
        guard var session else { throw .state }
        var data = Array(bytes[3..<bytes.count - 8])
        let expected = session.code(bytes[0], session.writes, bytes[1..<3] + data)
        guard ConstantTime.areEqual(expected, bytes.suffix(8)) else { throw .code }
        let (isPlain, block) = (bytes[0] & 0x02 != 0, Int(number))
        if !isPlain { data = try session.transformed(data, isAnswer: false) }
        if contents.key(number) != nil {
            guard !isPlain, data.count == 16 else { throw .access }
            if number < 0x9000 {
                let trailer = ClassicProduct.trailer(ofSector: (block - 0x4000) / 2)
                try check(number & 1 == 0 ? .writeKeyA : .writeKeyB, trailer..<trailer + 1, isPlain: false)
            } else if session.number != number, session.number != 0x9000 {
                throw .access
            }
            if tear != .old { contents.keys[number] = DESFireKey(.aes, data) }
        } else {
            let isTrailer = ClassicProduct.sector(ofTrailer: block) != nil
            try check(isTrailer ? .writeAccess : .write, block..<block + data.count / 16, isPlain: isPlain)
            guard block > 0, !isTrailer || ClassicAccess(data[6..<9]) != nil else { throw .access }
            contents.memory.program(data, at: block * 16, tear: tear, unit: 16)
        }
        session.writes &+= 1
        self.session = session
        let code = bytes[0] & 0x01 == 0 ? [] : session.code(0x90, session.writes, [])
        // The data sheet gives no time; this is that of a MIFARE Classic.
        return CardAnswer([0x90] + code, workTime: .milliseconds(5) * (data.count / 16), isWrite: true)
    }
}
