// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// The secure messaging of the first MIFARE DESFire, after AUTHENTICATE (0A).
///
/// It uses 4-byte MACs that cover only the data, or triple DES with a 16-bit CRC. The card uses the cipher only to
/// encrypt (MF3ICD40; like libfreefare).
package struct LegacyMessaging: SecureMessaging {
    private let cipher: BlockCipher
    private static let zero = [UInt8](repeating: 0, count: 8)

    /// Starts a session with its key.
    package init(cipher: BlockCipher) {
        self.cipher = cipher
    }

    package func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int {
        switch mode {
        case .plain: length
        case .maced: length + 4
        case .enciphered: (length + 2 + 7) / 8 * 8
        }
    }

    package mutating func open(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> [UInt8] {
        if case .markedCommand(let header) = protection { return try openMarked(data, header) }
        guard case .command(let mode, let header, let length) = protection, mode != .plain else { return data }
        guard data.count == header + protectedLength(length, mode) else { throw .lengthError }
        let head = Array(data[..<header])
        let body = Array(data[header...])
        if mode == .maced {
            let bytes = Array(body.dropLast(4))
            guard ConstantTime.areEqual(try code(bytes), body.suffix(4)) else { throw .integrityError }
            return head + bytes
        }
        let plain = try decipher(body)
        let bytes = Array(plain[..<length])
        guard Self.checksum(bytes) == Array(plain[length..<(length + 2)]) else { throw .integrityError }
        return head + bytes
    }

    private func openMarked(_ data: [UInt8], _ header: Int) throws(DESFireStatus) -> [UInt8] {
        let body = Array(data.dropFirst(header))
        guard !body.isEmpty, body.count.isMultiple(of: 8) else { throw .lengthError }
        guard let plain = try decipher(body).withoutMark,
            plain.count >= 2
        else { throw .integrityError }
        let bytes = Array(plain.dropLast(2))
        guard Self.checksum(bytes) == Array(plain.suffix(2)) else { throw .integrityError }
        return Array(data.prefix(header)) + bytes
    }

    package mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey {
        let size = kind.length + (kind == .aes ? 1 : 0)
        guard cryptogram.count == (size + (old == nil ? 2 : 4) + 7) / 8 * 8 else { throw .lengthError }
        let plain = try decipher(cryptogram)
        let sent = Array(plain[..<size])
        guard Self.checksum(sent) == Array(plain[size..<(size + 2)]) else { throw .integrityError }
        return try DESFireKey(kind, sent: sent, replacing: old) { bytes in
            Self.checksum(bytes) == Array(plain[(size + 2)..<(size + 4)])
        }
    }

    package mutating func seal(
        _ data: [UInt8],
        _ protection: Protection,
        status: UInt8
    ) throws(DESFireStatus) -> [UInt8] {
        guard case .answer(let mode, let isOpenEnded) = protection else { return data }
        switch mode {
        case .plain: return data
        case .maced: return data + (try code(data))
        case .enciphered:
            let checked = data + Self.checksum(data)
            let padded = isOpenEnded ? checked.paddedWithMark(to: 8) : checked.padded(to: 8)
            return try ciphered { () throws(CryptographyError) in
                try cipher.encrypt(padded, .blockChaining(vector: Self.zero))
            }
        }
    }

    private func code(_ data: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        let chained = try ciphered { () throws(CryptographyError) in
            try cipher.encrypt(data.padded(to: 8), .blockChaining(vector: Self.zero))
        }
        return Array(chained.suffix(8).prefix(4))
    }

    /// Recovers data from a reader. The reader combines each block with the previous block that it sent, and then
    /// decrypts.
    private func decipher(_ data: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        let blocks = try ciphered { () throws(CryptographyError) in try cipher.encrypt(data) }
        return blocks.combined(with: Self.zero + data)
    }

    private static func checksum(_ data: [UInt8]) -> [UInt8] {
        CyclicRedundancyCheck.a(data).littleEndianBytes
    }
}
