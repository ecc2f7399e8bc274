// SPDX-License-Identifier: Apache-2.0

/// The session keys, MACs and encryption of secure messaging after AUTHENTICATE EV2 FIRST, for the card and the reader
/// (NT4H2421Gx data sheet, 9.1).
///
/// It uses AES. Every MAC covers a transaction identifier and a command counter. All functions throw
/// ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
package struct EV2Codes: Sendable, Hashable {
    package let encryptionKey: SecretBytes
    /// The key for MACs.
    package let codeKey: SecretBytes
    /// TI, 4 bytes.
    package let transaction: [UInt8]

    private let encryption: BlockCipher
    private let authentication: BlockCipher

    /// Uses two keys of 16 bytes.
    package init(
        encryptionKey: [UInt8],
        codeKey: [UInt8],
        transaction: [UInt8]
    ) throws(CryptographyError) {
        self.encryptionKey = SecretBytes(encryptionKey)
        self.codeKey = SecretBytes(codeKey)
        self.transaction = transaction
        encryption = try .aes(encryptionKey)
        authentication = try .aes(codeKey)
    }

    /// Derives the keys from both challenges, each 16 bytes long.
    package init(
        key: BlockCipher,
        readerChallenge: [UInt8],
        cardChallenge: [UInt8],
        transaction: [UInt8]
    ) throws(CryptographyError) {
        var context = Array(readerChallenge[..<2])
        context += zip(readerChallenge[2..<8], cardChallenge[..<6]).map { $0 ^ $1 }
        context += cardChallenge[6...] + readerChallenge[8...]
        try self.init(
            encryptionKey: try key.cmac([0xA5, 0x5A, 0x00, 0x01, 0x00, 0x80] + context),
            codeKey: try key.cmac([0x5A, 0xA5, 0x00, 0x01, 0x00, 0x80] + context),
            transaction: transaction
        )
    }

    /// Returns the MAC of a command, or of an answer with its status: every second byte of a CMAC (9.1.3).
    package func mac(_ code: UInt8, _ counter: UInt16, _ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try authentication.cmac([code] + Self.bytes(counter) + transaction + data).everySecond
    }

    /// Encrypts the data of a command or an answer, in whole blocks.
    package func encrypt(_ data: [UInt8], _ counter: UInt16, isAnswer: Bool) throws(CryptographyError) -> [UInt8] {
        try encryption.encrypt(data, .blockChaining(vector: try vector(counter, isAnswer: isAnswer)))
    }

    /// Decrypts the data of a command or an answer, in whole blocks.
    package func decrypt(_ data: [UInt8], _ counter: UInt16, isAnswer: Bool) throws(CryptographyError) -> [UInt8] {
        try encryption.decrypt(data, .blockChaining(vector: try vector(counter, isAnswer: isAnswer)))
    }

    /// Returns the initialisation vector of a command, label A55A, or of an answer, label 5AA5 (9.1.4).
    private func vector(_ counter: UInt16, isAnswer: Bool) throws(CryptographyError) -> [UInt8] {
        let label: [UInt8] = isAnswer ? [0x5A, 0xA5] : [0xA5, 0x5A]
        return try encryption.encrypt(label + transaction + Self.bytes(counter) + [UInt8](repeating: 0, count: 8))
    }

    private static func bytes(_ counter: UInt16) -> [UInt8] { [UInt8(counter & 0xFF), UInt8(counter >> 8)] }
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
