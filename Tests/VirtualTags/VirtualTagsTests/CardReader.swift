// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
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

    /// The card, which the test may look at and change.
    let box: CardBox
    var isWrapped = false
    /// The most bytes of data in a frame of a command.
    var frameLimit = 59
    var session = Session.none

    // MARK: Frames

    mutating func send(_ command: UInt8, _ data: [UInt8] = []) -> Answer {
        if isWrapped {
            let body = data.isEmpty ? [] : [UInt8(data.count)] + data
            let answer = box.process([0x90, command, 0, 0] + body + [0])
            return Answer(status: answer.last ?? 0xFF, data: Array(answer.dropLast(2)))
        }
        let answer = box.process([command] + data)
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
            // A card that waits for data sends none.
            if next.status == 0xAF, next.data.isEmpty { return next }
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

extension CardReader {
    /// Sends a command as its session wants it.
    ///
    /// - Parameters:
    ///   - command: the command's code.
    ///   - header: what of its data is never enciphered.
    ///   - data: what is protected as `mode` says.
    ///   - answers: how the answer is protected.
    mutating func command(
        _ command: UInt8,
        _ header: [UInt8] = [],
        _ data: [UInt8] = [],
        mode: Mode = .plain,
        answers: Mode = .plain
    ) throws -> Answer {
        switch session {
        case .none: return transmit(command, header + data)
        case .legacy(let cipher):
            let sent = header + (try Self.legacy(data, cipher, mode))
            return try Self.opened(transmit(command, sent), cipher, answers)
        case .chained(let cipher, var vector):
            let sent = try Self.chained(command, header, data, cipher, &vector, mode)
            var answer = transmit(command, sent)
            answer = try Self.opened(answer, cipher, &vector, answers)
            session = .chained(cipher, vector: vector)
            return answer
        case .ev2: return try ev2(command, header, data, mode, answers)
        }
    }

    // MARK: Legacy

    static func crc16(_ data: [UInt8]) -> [UInt8] {
        let crc = CyclicRedundancyCheck.a(data)
        return [UInt8(crc & 0xFF), UInt8(crc >> 8)]
    }

    /// What a legacy reader sends of data: enciphered by the decipher operation, from zero.
    static func deciphered(_ plain: [UInt8], _ cipher: BlockCipher) throws -> [UInt8] {
        let padded = plain + [UInt8](repeating: 0, count: (8 - plain.count % 8) % 8)
        var previous = [UInt8](repeating: 0, count: 8)
        var sent: [UInt8] = []
        for start in stride(from: 0, to: padded.count, by: 8) {
            previous = try cipher.decrypt(zip(padded[start..<(start + 8)], previous).map { $0 ^ $1 })
            sent += previous
        }
        return sent
    }

    private static func legacyCode(_ data: [UInt8], _ cipher: BlockCipher) throws -> [UInt8] {
        let padded = data + [UInt8](repeating: 0, count: (8 - data.count % 8) % 8)
        return Array(try cipher.encrypt(padded, .blockChaining(vector: [0, 0, 0, 0, 0, 0, 0, 0])).suffix(8).prefix(4))
    }

    private static func legacy(_ data: [UInt8], _ cipher: BlockCipher, _ mode: Mode) throws -> [UInt8] {
        switch mode {
        case .plain: data
        case .maced: data + (try legacyCode(data, cipher))
        case .enciphered: try deciphered(data + crc16(data), cipher)
        }
    }

    private static func opened(_ answer: Answer, _ cipher: BlockCipher, _ mode: Mode) throws -> Answer {
        guard answer.status == 0, !answer.data.isEmpty, mode != .plain else { return answer }
        if mode == .maced {
            let data = Array(answer.data.dropLast(4))
            return Answer(status: 0, data: data, isProved: try legacyCode(data, cipher) == Array(answer.data.suffix(4)))
        }
        let plain = try cipher.decrypt(answer.data, .blockChaining(vector: [0, 0, 0, 0, 0, 0, 0, 0]))
        return stripped(plain, checksum: 2) { Self.crc16($0) }
    }

    // MARK: EV1

    private static func chained(
        _ command: UInt8,
        _ header: [UInt8],
        _ data: [UInt8],
        _ cipher: BlockCipher,
        _ vector: inout [UInt8],
        _ mode: Mode
    ) throws -> [UInt8] {
        guard mode == .enciphered else {
            vector = try cipher.cmac([command] + header + data, vector: vector)
            return header + data + (mode == .maced ? vector.prefix(8) : [])
        }
        return header + (try enciphered(data + crc32([command] + header + data), cipher, &vector))
    }

    /// Enciphers in an EV1 session, with zeros at the end.
    static func enciphered(_ plain: [UInt8], _ cipher: BlockCipher, _ vector: inout [UInt8]) throws -> [UInt8] {
        let size = cipher.blockLength
        let padded = plain + [UInt8](repeating: 0, count: (size - plain.count % size) % size)
        let sent = try cipher.encrypt(padded, .blockChaining(vector: vector))
        vector = Array(sent.suffix(size))
        return sent
    }

    private static func opened(
        _ answer: Answer,
        _ cipher: BlockCipher,
        _ vector: inout [UInt8],
        _ mode: Mode
    ) throws -> Answer {
        guard answer.status == 0, !answer.data.isEmpty else { return answer }
        guard mode == .enciphered else {
            let data = Array(answer.data.dropLast(8))
            vector = try cipher.cmac(data + [0], vector: vector)
            return Answer(status: 0, data: data, isProved: Array(vector.prefix(8)) == Array(answer.data.suffix(8)))
        }
        let plain = try cipher.decrypt(answer.data, .blockChaining(vector: vector))
        vector = Array(answer.data.suffix(cipher.blockLength))
        return stripped(plain, checksum: 4) { crc32($0 + [0]) }
    }

    /// The data before a checksum and its padding, at any position.
    private static func stripped(_ plain: [UInt8], checksum: Int, _ sum: ([UInt8]) -> [UInt8]) -> Answer {
        // Take the first match: data with their checksum and zeros also have a checksum of zero.
        for end in max(0, plain.count - checksum - 16)...(plain.count - checksum) {
            let rest = Array(plain[(end + checksum)...])
            guard rest.dropFirst().allSatisfy({ $0 == 0 }), rest.isEmpty || [0, 0x80].contains(rest[0]) else {
                continue
            }
            if sum(Array(plain[..<end])) == Array(plain[end..<(end + checksum)]) {
                return Answer(status: 0, data: Array(plain[..<end]))
            }
        }
        return Answer(status: 0, data: plain, isProved: false)
    }

    // MARK: EV2

    private mutating func ev2(
        _ command: UInt8,
        _ header: [UInt8],
        _ data: [UInt8],
        _ mode: Mode,
        _ answers: Mode
    ) throws -> Answer {
        guard case .ev2(let encryption, let code, let transaction, let counter) = session else {
            return Answer(status: 0xFF)
        }
        func count(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
        func vector(_ label: [UInt8], _ value: Int) throws -> BlockCipher.Mode {
            let block = label + transaction + count(value) + [0, 0, 0, 0, 0, 0, 0, 0]
            return .blockChaining(vector: try encryption.encrypt(block))
        }
        func short(_ message: [UInt8]) throws -> [UInt8] {
            let whole = try code.cmac(message)
            return (0..<8).map { whole[2 * $0 + 1] }
        }
        var body = data
        if mode == .enciphered, !data.isEmpty {
            body.append(0x80)
            while body.count % 16 != 0 { body.append(0) }
            body = try encryption.encrypt(body, vector([0xA5, 0x5A], counter))
        }
        body = header + body
        let isProtected = mode != .plain || answers != .plain
        if isProtected { body += try short([command] + count(counter) + transaction + body) }
        let answer = transmit(command, body)
        session = .ev2(encryption: encryption, code: code, transaction: transaction, counter: counter + 1)
        guard isProtected, answer.data.count >= 8 else { return answer }
        var plain = Array(answer.data.dropLast(8))
        let expected = try short([answer.status] + count(counter + 1) + transaction + plain)
        let isProved = expected == Array(answer.data.suffix(8))
        if answers == .enciphered, !plain.isEmpty {
            plain = try encryption.decrypt(plain, vector([0x5A, 0xA5], counter + 1))
            let end = plain.lastIndex(of: 0x80) ?? plain.count
            plain = Array(plain[..<end])
        }
        return Answer(status: answer.status, data: plain, isProved: isProved)
    }

    // MARK: Keys and marks

    /// CHANGE KEY, with the checksums that each session wants.
    mutating func changeKey(
        _ number: UInt8,
        from old: DESFireKey,
        to new: DESFireKey,
        isOwn: Bool
    ) throws -> Answer {
        let version = new.kind == .aes ? [new.version] : []
        let key = isOwn ? new.bytes : zip(new.bytes, old.bytes).map { $0 ^ $1 }
        switch session {
        case .none: return transmit(0xC4, [number])
        case .legacy(let cipher):
            let sums = Self.crc16(key + version) + (isOwn ? [] : Self.crc16(new.bytes))
            return transmit(0xC4, [number] + (try Self.deciphered(key + version + sums, cipher)))
        case .chained(let cipher, var vector):
            let sums = crc32([0xC4, number] + key + version) + (isOwn ? [] : crc32(new.bytes))
            var answer = transmit(0xC4, [number] + (try Self.enciphered(key + version + sums, cipher, &vector)))
            if answer.status == 0, !answer.data.isEmpty {
                vector = try cipher.cmac([0], vector: vector)
                answer = Answer(status: 0, isProved: Array(vector.prefix(8)) == answer.data)
            }
            session = .chained(cipher, vector: vector)
            return answer
        case .ev2:
            let sum = isOwn ? [] : crc32(new.bytes)
            return try command(0xC4, [number], key + version + sum, mode: .enciphered)
        }
    }

    /// Sends a command whose enciphered data have a mark after their checksum.
    mutating func markedCommand(_ command: UInt8, _ header: [UInt8], _ data: [UInt8]) throws -> Answer {
        switch session {
        case .none: return transmit(command, header + data)
        case .legacy(let cipher):
            let sent = try Self.deciphered(data + Self.crc16(data) + [0x80], cipher)
            return transmit(command, header + sent)
        case .chained(let cipher, var vector):
            let sum = crc32([command] + header + data)
            let sent = try Self.enciphered(data + sum + [0x80], cipher, &vector)
            let answer = transmit(command, header + sent)
            guard answer.status == 0 else { return answer }
            vector = try cipher.cmac([0], vector: vector)
            session = .chained(cipher, vector: vector)
            return Answer(status: 0, isProved: Array(vector.prefix(8)) == answer.data)
        case .ev2: return try self.command(command, header, data, mode: .enciphered, answers: .maced)
        }
    }
}

extension CardReader {
    private final class Holder {
        var reader: CardReader
        init(_ reader: CardReader) { self.reader = reader }
    }

    /// A stage with this reader in front of its card. A line without a verb is a command as it is.
    ///
    /// - `auth aa 0` authenticates with the key of that number, `auth aa 0 new` with another one; answers the status.
    /// - `pe 51` sends a command of the session and answers the status and the data, and `unproved` where its code is
    ///   wrong. The letters say how the command and its answer are protected: plain, maced, enciphered. Only what
    ///   follows a `/` is enciphered.
    /// - `change 2 new` changes a key, `change 2 new own` the one that is proved; `ats …` is SET CONFIGURATION with a mark.
    /// - `forget` ends the reader's side of the session.
    func stage(keys: [String: DESFireKey] = [:], verbs: [String: Stage.Verb] = [:]) -> Stage {
        let holder = Holder(self)
        func text(_ answer: Answer) -> String {
            hexText([answer.status] + answer.data) + (answer.isProved ? "" : " unproved")
        }
        func key(_ name: String, _ command: UInt8) -> DESFireKey {
            keys[name] ?? .zero(command == 0x0A || command == 0x1A ? .des : .aes)
        }
        var own: [String: Stage.Verb] = [
            "auth": { line in
                let words = line.split(separator: " ").map(String.init)
                let (command, number) = (hex(words[0])[0], try #require(UInt8(words[1])))
                return hexText([try holder.reader.authenticate(command, number, key(words.last ?? "", command))])
            },
            "change": { line in
                let words = line.split(separator: " ").map(String.init)
                let (old, new) = (key(words[0], 0xAA), try #require(keys[words[1]]))
                let number =
                    words[0].hasPrefix("0x") ? hex(words[0].replacing("0x", with: ""))[0] : UInt8(words[0]) ?? 0
                return text(try holder.reader.changeKey(number, from: old, to: new, isOwn: words.count > 2))
            },
            "ats": { text(try holder.reader.markedCommand(0x5C, [0x02], hex($0))) },
            "forget": { _ in
                holder.reader.session = .none
                return "ok"
            },
        ]
        let modes: [(String, Mode)] = [("p", .plain), ("m", .maced), ("e", .enciphered)]
        for (one, mode) in modes {
            for (other, answers) in modes {
                own[one + other] = { line in
                    let sides = line.split(separator: "/", omittingEmptySubsequences: false).map { hex(String($0)) }
                    let header = Array(sides[0].dropFirst())
                    let data = sides.count > 1 ? sides[1] : []
                    return text(try holder.reader.command(sides[0][0], header, data, mode: mode, answers: answers))
                }
            }
        }
        return Stage(box, verbs: own.merging(verbs) { $1 })
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
