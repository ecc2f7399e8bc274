// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import VirtualTags

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
}
