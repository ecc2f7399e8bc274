// SPDX-License-Identifier: Apache-2.0
package import CardCryptography

/// The secure messaging of MIFARE DESFire EV1, after AUTHENTICATE ISO (1A) and AUTHENTICATE AES (AA).
///
/// It uses CMACs, and encryption with a 32-bit CRC. The last block of a message is the initialisation vector of the
/// next one (MF3ICD81 data sheet, 9.2; like libfreefare).
package struct ChainedMessaging: SecureMessaging {
    private let cipher: BlockCipher
    private var vector: [UInt8]

    /// Starts a session with its key.
    package init(cipher: BlockCipher) {
        self.cipher = cipher
        vector = Array(repeating: 0, count: cipher.blockLength)
    }

    package func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int {
        switch mode {
        case .plain: length
        case .maced: length + 8
        case .enciphered: (length + 4 + cipher.blockLength - 1) / cipher.blockLength * cipher.blockLength
        }
    }

    package mutating func open(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> [UInt8] {
        if case .markedCommand(let header) = protection { return try openMarked(command, data, header) }
        guard case .command(let mode, let header, let length) = protection, mode != .plain else {
            // The reader has calculated a MAC here too, although it did not send it.
            _ = try code([command] + data)
            return data
        }
        guard data.count == header + protectedLength(length, mode) else { throw .lengthError }
        if mode == .maced {
            let bytes = Array(data.dropLast(8))
            guard ConstantTime.areEqual(try code([command] + bytes), data.suffix(8)) else { throw .integrityError }
            return bytes
        }
        let plain = try decipher(Array(data[header...]))
        let bytes = Array(data[..<header]) + plain[..<length]
        guard ([command] + bytes).desfireCRC32 == Array(plain[length..<(length + 4)]) else { throw .integrityError }
        return bytes
    }

    private mutating func openMarked(
        _ command: UInt8,
        _ data: [UInt8],
        _ header: Int
    ) throws(DESFireStatus) -> [UInt8] {
        let body = Array(data.dropFirst(header))
        guard !body.isEmpty, body.count.isMultiple(of: cipher.blockLength) else { throw .lengthError }
        guard let plain = try decipher(body).withoutMark, plain.count >= 4 else { throw .integrityError }
        let bytes = Array(data.prefix(header)) + plain.dropLast(4)
        guard ([command] + bytes).desfireCRC32 == Array(plain.suffix(4)) else { throw .integrityError }
        return bytes
    }

    package mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey {
        let size = kind.length + (kind == .aes ? 1 : 0)
        let block = cipher.blockLength
        guard cryptogram.count == (size + (old == nil ? 4 : 8) + block - 1) / block * block else { throw .lengthError }
        let plain = try decipher(cryptogram)
        let sent = Array(plain[..<size])
        guard ([0xC4, number] + sent).desfireCRC32 == Array(plain[size..<(size + 4)]) else { throw .integrityError }
        return try DESFireKey(kind, sent: sent, replacing: old) { bytes in
            bytes.desfireCRC32 == Array(plain[(size + 4)..<(size + 8)])
        }
    }

    package mutating func seal(
        _ data: [UInt8],
        _ protection: Protection,
        status: UInt8
    ) throws(DESFireStatus) -> [UInt8] {
        guard case .answer(.enciphered, let isOpenEnded) = protection else { return data + (try code(data + [status])) }
        let checked = data + (data + [status]).desfireCRC32
        let block = cipher.blockLength
        let padded = isOpenEnded ? checked.paddedWithMark(to: block) : checked.padded(to: block)
        let cipher = cipher
        let start = vector
        let enciphered = try ciphered { () throws(CryptographyError) in
            try cipher.encrypt(padded, .blockChaining(vector: start))
        }
        vector = Array(enciphered.suffix(block))
        return enciphered
    }

    /// Returns the MAC of a message. It is also the initialisation vector of the next message.
    private mutating func code(_ message: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        let cipher = cipher
        let start = vector
        vector = try ciphered { () throws(CryptographyError) in try cipher.cmac(message, vector: start) }
        return Array(vector.prefix(8))
    }

    private mutating func decipher(_ data: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        let cipher = cipher
        let start = vector
        let plain = try ciphered { () throws(CryptographyError) in
            try cipher.decrypt(data, .blockChaining(vector: start))
        }
        vector = Array(data.suffix(cipher.blockLength))
        return plain
    }
}
