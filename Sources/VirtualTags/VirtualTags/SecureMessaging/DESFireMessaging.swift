// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// The secure messaging of MIFARE DESFire up to EV1.
///
/// The first DESFire, after AUTHENTICATE (0A), uses 4-byte MACs over only the data, or triple DES with a 16-bit CRC;
/// the card uses the cipher only to encrypt (MF3ICD40). EV1, after AUTHENTICATE ISO (1A) or AES (AA), uses CMACs, and
/// encryption with a 32-bit CRC; the last block of a message is the initialisation vector of the next message (MF3ICD81
/// data sheet, 9.2). Both follow libfreefare.
package struct DESFireMessaging: SecureMessaging {
    private let cipher: BlockCipher
    private let isLegacy: Bool
    /// The initialisation vector of the next message; always zeros for the first DESFire.
    private var vector: [UInt8]

    package init(cipher: BlockCipher, isLegacy: Bool = false) {
        self.cipher = cipher
        self.isLegacy = isLegacy
        vector = Array(repeating: 0, count: cipher.blockLength)
    }

    private var codeLength: Int { isLegacy ? 4 : 8 }
    private var checksumLength: Int { isLegacy ? 2 : 4 }

    private func wholeBlocks(_ length: Int) -> Int {
        (length + cipher.blockLength - 1) / cipher.blockLength * cipher.blockLength
    }

    package func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int {
        switch mode {
        case .plain: length
        case .maced: length + codeLength
        case .enciphered: wholeBlocks(length + checksumLength)
        }
    }

    package mutating func open(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> [UInt8] {
        switch protection {
        case .markedCommand(let header):
            let body = Array(data.dropFirst(header))
            guard !body.isEmpty, body.count.isMultiple(of: cipher.blockLength) else { throw .lengthError }
            guard let plain = try decipher(body).withoutMark, plain.count >= checksumLength else {
                throw .integrityError
            }
            return try checked(command, Array(data.prefix(header)), plain, length: plain.count - checksumLength)
        case .command(.maced, let header, let length):
            guard data.count == header + protectedLength(length, .maced) else { throw .lengthError }
            let bytes = Array(data.dropLast(codeLength))
            let covered = isLegacy ? Array(bytes[header...]) : [command] + bytes
            guard ConstantTime.areEqual(try code(covered), data.suffix(codeLength)) else { throw .integrityError }
            return bytes
        case .command(.enciphered, let header, let length):
            guard data.count == header + protectedLength(length, .enciphered) else { throw .lengthError }
            return try checked(command, Array(data[..<header]), try decipher(Array(data[header...])), length: length)
        case .standard, .command, .answer:
            // An EV1 reader computes a MAC here too, which it does not send but which becomes the next vector.
            if !isLegacy { _ = try code([command] + data) }
            return data
        }
    }

    /// Checks the checksum after the deciphered data, and returns the header and the data.
    private func checked(
        _ command: UInt8,
        _ header: [UInt8],
        _ plain: [UInt8],
        length: Int
    ) throws(DESFireStatus) -> [UInt8] {
        let bytes = Array(plain[..<length])
        let covered = isLegacy ? bytes : [command] + header + bytes
        guard checksum(covered) == Array(plain[length..<(length + checksumLength)]) else { throw .integrityError }
        return header + bytes
    }

    package mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey {
        let size = kind.length + (kind == .aes ? 1 : 0)
        let end = size + checksumLength
        guard cryptogram.count == wholeBlocks(old == nil ? end : end + checksumLength) else { throw .lengthError }
        let plain = try decipher(cryptogram)
        let sent = Array(plain[..<size])
        guard checksum(isLegacy ? sent : [0xC4, number] + sent) == Array(plain[size..<end]) else {
            throw .integrityError
        }
        return try DESFireKey(kind, sent: sent, replacing: old) { bytes in
            checksum(bytes) == Array(plain[end..<(end + checksumLength)])
        }
    }

    package mutating func seal(
        _ data: [UInt8],
        _ protection: Protection,
        status: UInt8
    ) throws(DESFireStatus) -> [UInt8] {
        guard case .answer(.enciphered, let isOpenEnded) = protection else {
            if !isLegacy { return data + (try code(data + [status])) }
            if case .answer(.maced, _) = protection { return data + (try code(data)) }
            return data
        }
        let block = cipher.blockLength
        let checked = data + checksum(isLegacy ? data : data + [status])
        let padded = isOpenEnded ? checked.paddedWithMark(to: block) : checked.padded(to: block)
        guard let enciphered = try? cipher.encrypt(padded, .blockChaining(vector: vector)) else {
            throw .integrityError
        }
        if !isLegacy { vector = Array(enciphered.suffix(block)) }
        return enciphered
    }

    /// Returns the MAC of a message. On EV1, it becomes the initialisation vector of the next message.
    private mutating func code(_ message: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        if isLegacy {
            guard let chained = try? cipher.encrypt(message.padded(to: 8), .blockChaining(vector: vector)) else {
                throw .integrityError
            }
            return Array(chained.suffix(8).prefix(4))
        }
        guard let code = try? cipher.cmac(message, vector: vector) else { throw .integrityError }
        vector = code
        return Array(code.prefix(8))
    }

    /// Recovers data from a reader. With the first DESFire, readers XOR each block with the previous one, then decrypt.
    private mutating func decipher(_ data: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        if isLegacy {
            guard let blocks = try? cipher.encrypt(data) else { throw .integrityError }
            return blocks.combined(with: vector + data)
        }
        guard let plain = try? cipher.decrypt(data, .blockChaining(vector: vector)) else { throw .integrityError }
        vector = Array(data.suffix(cipher.blockLength))
        return plain
    }

    private func checksum(_ data: [UInt8]) -> [UInt8] {
        isLegacy ? CyclicRedundancyCheck.a(data).littleEndianBytes : data.desfireCRC32
    }
}
