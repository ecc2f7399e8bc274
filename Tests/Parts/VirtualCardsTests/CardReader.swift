// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import VirtualCards
import VirtualTags

/// A reader that knows keys: the other side of a DESFire's or an NTAG 424 DNA's secure messaging, written for the tests
/// from the reader's point of view.
struct CardReader {
    enum Mode { case plain, maced, enciphered }
    enum Session {
        case none
        case legacy(BlockCipher)
        case chained(BlockCipher, vector: [UInt8])
        case ev2(encryption: BlockCipher, code: BlockCipher, transaction: [UInt8], counter: Int)
    }
    struct Answer: Equatable {
        var status: UInt8
        var data: [UInt8] = []
        /// Whether the code or checksum of the answer was right.
        var isProved = true
    }

    var card: any Card
    var isWrapped = false
    /// The most bytes of data in a frame of a command.
    var frameLimit = 59
    var session = Session.none

    // MARK: Frames

    mutating func send(_ command: UInt8, _ data: [UInt8] = []) -> Answer {
        if isWrapped {
            let body = data.isEmpty ? [] : [UInt8(data.count)] + data
            let answer = card.process([0x90, command, 0, 0] + body + [0], tear: nil).bytes
            return Answer(status: answer.last ?? 0xFF, data: Array(answer.dropLast(2)))
        }
        let answer = card.process([command] + data, tear: nil).bytes
        return Answer(status: answer.first ?? 0xFF, data: Array(answer.dropFirst()))
    }

    /// Sends a command in frames, and puts the answer's together.
    mutating func transmit(_ command: UInt8, _ data: [UInt8]) -> Answer {
        var rest = data
        var answer = send(command, Array(rest.prefix(frameLimit)))
        rest = Array(rest.dropFirst(frameLimit))
        while !rest.isEmpty, answer.status == 0xAF {
            answer = send(0xAF, Array(rest.prefix(frameLimit)))
            rest = Array(rest.dropFirst(frameLimit))
        }
        while answer.status == 0xAF, rest.isEmpty {
            let next = send(0xAF)
            answer = Answer(status: next.status, data: answer.data + next.data)
        }
        return answer
    }

    // MARK: Authentication

    /// Authenticates, and begins a session.
    mutating func authenticate(
        _ command: UInt8,
        _ number: UInt8,
        _ key: DESFireKey,
        challenge: [UInt8] = Array(0x61..<0x71)
    ) throws -> UInt8 {
        let cipher: BlockCipher = key.kind == .aes ? try .aes(key.bytes) : try .des(key.bytes)
        let zero = [UInt8](repeating: 0, count: cipher.blockLength)
        let first = send(command, command == 0x71 ? [number, 0] : [number])
        guard first.status == 0xAF else { return first.status }
        let size = first.data.count
        let mine = Array(challenge.prefix(size))
        let theirs = try cipher.decrypt(first.data, .blockChaining(vector: zero))
        let proof = mine + theirs.dropFirst() + theirs.prefix(1)
        let sent: [UInt8]
        switch command {
        case 0x0A:
            // In the legacy protocol the reader deciphers what it sends, each block combined with the previous one.
            var blocks: [UInt8] = []
            for start in stride(from: 0, to: proof.count, by: 8) {
                let block = zip(proof[start..<(start + 8)], start == 0 ? zero : Array(blocks.suffix(8))).map { $0 ^ $1 }
                blocks += try cipher.decrypt(block)
            }
            sent = blocks
        case 0x71, 0x77: sent = try cipher.encrypt(proof, .blockChaining(vector: zero))
        default: sent = try cipher.encrypt(proof, .blockChaining(vector: Array(first.data.suffix(zero.count))))
        }
        let second = send(0xAF, sent)
        guard second.status == 0x00 else { return second.status }
        let vector = [0x1A, 0xAA].contains(command) ? Array(sent.suffix(zero.count)) : zero
        let answer = try cipher.decrypt(second.data, .blockChaining(vector: vector))
        let proved = command == 0x71 ? Array(answer[4..<20]) : answer
        guard proved == Array(mine.dropFirst() + mine.prefix(1)) else { return 0xEE }
        try begin(command, key, cipher, mine, theirs, answer)
        return 0x00
    }

    private mutating func begin(
        _ command: UInt8,
        _ key: DESFireKey,
        _ cipher: BlockCipher,
        _ mine: [UInt8],
        _ theirs: [UInt8],
        _ answer: [UInt8]
    ) throws {
        func part(_ range: Range<Int>) -> [UInt8] { Array(mine[range] + theirs[range]) }
        switch command {
        case 0x71, 0x77:
            let middle = zip(mine[2..<8], theirs[0..<6]).map { $0 ^ $1 }
            let context = [0x00, 0x01, 0x00, 0x80] + mine[0..<2] + middle + theirs[6..<16] + mine[8..<16]
            var transaction = Array(answer.prefix(4))
            var counter = 0
            if command == 0x77, case .ev2(_, _, let old, let count) = session { (transaction, counter) = (old, count) }
            session = .ev2(
                encryption: try .aes(try cipher.cmac([0xA5, 0x5A] + context)),
                code: try .aes(try cipher.cmac([0x5A, 0xA5] + context)),
                transaction: transaction,
                counter: counter
            )
        case 0xAA:
            let bytes = part(0..<4) + part(12..<16)
            session = .chained(try .aes(bytes), vector: Array(repeating: 0, count: 16))
        default:
            let isSingle = key.kind == .des && key.bytes[..<8] == key.bytes[8...]
            let bytes =
                key.kind == .tripleDES
                ? part(0..<4) + part(6..<10) + part(12..<16) : isSingle ? part(0..<4) : part(0..<4) + part(4..<8)
            let cipher = try BlockCipher.des(bytes)
            session = command == 0x0A ? .legacy(cipher) : .chained(cipher, vector: Array(repeating: 0, count: 8))
        }
    }
}

/// The CRC-32 of DESFire, least significant byte first, bit by bit as IEEE 802.3 has it.
func crc32(_ bytes: [UInt8]) -> [UInt8] {
    var register: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
        for bit in 0..<8 {
            let mixed = (register ^ UInt32(byte >> UInt8(bit))) & 1
            register = register >> 1 ^ (mixed == 1 ? 0xEDB8_8320 : 0)
        }
    }
    return (0..<4).map { UInt8(truncatingIfNeeded: register >> (8 * $0)) }
}
