// SPDX-License-Identifier: Apache-2.0
package import CardCryptography

/// The protection of MIFARE DESFire EV1, after AUTHENTICATE ISO (1A) and AUTHENTICATE AES (AA): codes by CMAC and
/// enciphering with a CRC of 32 bits, each of which begins with the last block of the one before
/// (MF3ICD81 data sheet, 9.2; as libfreefare has it).
package struct ChainedMessaging: SecureMessaging {
    private let cipher: BlockCipher
    private var vector: [UInt8]

    /// Begins a session with its key.
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
            // The reader has worked out a code too, though it did not send it.
            _ = try code([command] + data)
            return data
        }
        guard data.count == header + protectedLength(length, mode) else { throw .lengthError }
        if mode == .maced {
            let octets = Array(data.dropLast(8))
            guard ConstantTime.areEqual(try code([command] + octets), data.suffix(8)) else { throw .integrityError }
            return octets
        }
        let plain = try decipher(Array(data[header...]))
        let octets = Array(data[..<header]) + plain[..<length]
        guard ([command] + octets).desfireCRC32 == Array(plain[length..<(length + 4)]) else { throw .integrityError }
        return octets
    }

    private mutating func openMarked(
        _ command: UInt8,
        _ data: [UInt8],
        _ header: Int
    ) throws(DESFireStatus) -> [UInt8] {
        let body = Array(data.dropFirst(header))
        guard !body.isEmpty, body.count.isMultiple(of: cipher.blockLength) else { throw .lengthError }
        guard let plain = try decipher(body).withoutMark, plain.count >= 4 else { throw .integrityError }
        let octets = Array(data.prefix(header)) + plain.dropLast(4)
        guard ([command] + octets).desfireCRC32 == Array(plain.suffix(4)) else { throw .integrityError }
        return octets
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
        return try DESFireKey(kind, sent: sent, replacing: old) { octets in
            octets.desfireCRC32 == Array(plain[(size + 4)..<(size + 8)])
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

    /// The code of a message, which the next one begins with.
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
