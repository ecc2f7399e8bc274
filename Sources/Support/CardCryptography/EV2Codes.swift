// SPDX-License-Identifier: Apache-2.0

/// The session keys, MACs and encryption of secure messaging after AUTHENTICATE EV2 FIRST, for the card and the reader,
/// in AES mode (NT4H2421Gx data sheet, 9.1) and in LRP mode (9.2).
///
/// Every MAC covers a transaction identifier and a command counter. All functions throw ``CryptographyError`` with
/// `wrongLength`, `libraryMissing` or `refused`.
package struct EV2Codes: Sendable, Hashable {
    /// TI, 4 bytes.
    package var transaction: [UInt8]

    private let keys: SessionKeys
    /// EncCtr, the number of blocks that were encrypted and decrypted in LRP mode.
    private var blockCount: UInt32 = 0

    /// Uses two keys of AES mode, 16 bytes each.
    package init(encryptionKey: [UInt8], codeKey: [UInt8], transaction: [UInt8]) throws(CryptographyError) {
        self.transaction = transaction
        keys = .aes(code: try .aes(codeKey), encryption: try .aes(encryptionKey))
    }

    /// Derives the keys from a key and both challenges, each 16 bytes long.
    package init(
        key: [UInt8],
        readerChallenge: [UInt8],
        cardChallenge: [UInt8],
        transaction: [UInt8] = [],
        usesLRP: Bool
    ) throws(CryptographyError) {
        self.transaction = transaction
        var context = Array(readerChallenge[..<2])
        context += zip(readerChallenge[2..<8], cardChallenge[..<6]).map { $0 ^ $1 }
        context += cardChallenge[6...] + readerChallenge[8...]
        keys = try SessionKeys(key, context, usesLRP: usesLRP, labels: (aes: [0xA5, 0x5A], lrp: [0x96, 0x69]))
    }

    /// Returns the MAC of a command, or of an answer with its status: every second byte of a CMAC (9.1.3).
    package func mac(_ code: UInt8, _ counter: UInt16, _ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try keys.cmac([code] + Self.bytes(counter) + transaction + data).everySecond
    }

    /// Returns the whole CMAC of challenges. With it, both sides prove in LRP mode that they know the key (9.2.5).
    package func proof(_ challenges: [UInt8]) throws(CryptographyError) -> [UInt8] { try keys.cmac(challenges) }

    /// Encrypts the data of a command or an answer, in whole blocks.
    package mutating func encrypt(
        _ data: [UInt8],
        _ counter: UInt16,
        isAnswer: Bool
    ) throws(CryptographyError) -> [UInt8] {
        try keys.encrypt(data, from: start(data.count, counter, isAnswer: isAnswer))
    }

    /// Decrypts the data of a command or an answer, in whole blocks.
    package mutating func decrypt(
        _ data: [UInt8],
        _ counter: UInt16,
        isAnswer: Bool
    ) throws(CryptographyError) -> [UInt8] {
        try keys.decrypt(data, from: start(data.count, counter, isAnswer: isAnswer))
    }

    /// Returns what the initialisation vector of a command, label A55A, or of an answer, label 5AA5, is made from
    /// (9.1.4); in LRP mode, the counter of blocks (9.2.4).
    private mutating func start(_ count: Int, _ counter: UInt16, isAnswer: Bool) -> [UInt8] {
        if case .lrp = keys {
            defer { blockCount &+= UInt32(count / 16) }
            return (0..<4).map { UInt8(truncatingIfNeeded: blockCount >> (24 - 8 * $0)) }
        }
        let label: [UInt8] = isAnswer ? [0x5A, 0xA5] : [0xA5, 0x5A]
        return label + transaction + Self.bytes(counter) + [UInt8](repeating: 0, count: 8)
    }

    private static func bytes(_ counter: UInt16) -> [UInt8] { [UInt8(counter & 0xFF), UInt8(counter >> 8)] }
}

/// The keys of a session or of one dynamic message: one for MACs and one for encryption.
enum SessionKeys: Sendable, Hashable {
    case aes(code: BlockCipher, encryption: BlockCipher)
    case lrp(code: LeakageResilientCipher, encryption: LeakageResilientCipher)

    /// Derives the keys from a key, 16 bytes, and a context that is different for each session (9.1.7, 9.2.7 and 9.3.9).
    /// In AES mode, the label of the encryption is turned round for MACs.
    init(
        _ key: [UInt8],
        _ context: [UInt8],
        usesLRP: Bool,
        labels: (aes: [UInt8], lrp: [UInt8])
    ) throws(CryptographyError) {
        let input = [0x00, 0x01, 0x00, 0x80] + context
        guard usesLRP else {
            let cipher = try BlockCipher.aes(key)
            self = .aes(
                code: try .aes(cipher.cmac(labels.aes.reversed() + input)),
                encryption: try .aes(cipher.cmac(labels.aes + input))
            )
            return
        }
        let master = try LeakageResilientCipher(key).cmac(input + labels.lrp)
        self = .lrp(code: try .init(master), encryption: try .init(master, updatedKey: 1))
    }

    func cmac(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        switch self {
        case .aes(let code, _): try code.cmac(message)
        case .lrp(let code, _): try code.cmac(message)
        }
    }

    /// Encrypts whole blocks. In AES mode, the encrypted `start` is the initialisation vector; in LRP mode, it is the
    /// first counter.
    func encrypt(_ data: [UInt8], from start: [UInt8]) throws(CryptographyError) -> [UInt8] {
        switch self {
        case .aes(_, let cipher): try cipher.encrypt(data, .blockChaining(vector: try cipher.encrypt(start)))
        case .lrp(_, let cipher): try cipher.encrypt(data, counter: start)
        }
    }

    func decrypt(_ data: [UInt8], from start: [UInt8]) throws(CryptographyError) -> [UInt8] {
        switch self {
        case .aes(_, let cipher): try cipher.decrypt(data, .blockChaining(vector: try cipher.encrypt(start)))
        case .lrp(_, let cipher): try cipher.decrypt(data, counter: start)
        }
    }
}

extension [UInt8] {
    /// Every second byte, starting with the second. NTAG 424 DNA shortens its MACs like this.
    package var everySecond: [UInt8] { stride(from: 1, to: count, by: 2).map { self[$0] } }

    /// The CRC-32 of MIFARE DESFire, low byte first. It equals the CRC-32 of IEEE 802.3 without the final inversion.
    package var desfireCRC32: [UInt8] {
        var crc = UInt32.max
        for byte in self {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 != 0 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: crc >> (8 * $0)) }
    }
}
