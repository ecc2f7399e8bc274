// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// The protection of messages after an authentication: the session keys, and the state between messages.
package protocol SecureMessaging: Sendable {
    /// Returns the length of data when they are protected.
    func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int

    /// Removes the protection from a command.
    ///
    /// - Returns: the unprotected data of the command.
    /// - Throws: `integrityError` or `lengthError`.
    mutating func open(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> [UInt8]

    /// Removes the protection from the data of CHANGE KEY. They have their own checksums.
    ///
    /// - Parameters:
    ///   - number: the key's number in the command.
    ///   - cryptogram: the bytes after the number.
    ///   - kind: the kind of the new key.
    ///   - old: the key that is replaced. nil when the session uses this key: then the reader has proved that it knows
    ///     it.
    mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey

    /// Protects the data of an answer.
    ///
    /// - Parameter status: the status of the answer, which is protected too.
    mutating func seal(
        _ data: [UInt8],
        _ protection: Protection,
        status: UInt8
    ) throws(DESFireStatus) -> [UInt8]
}

extension DESFireKey {
    /// Creates a new key from the data of CHANGE KEY: the key's bytes, combined with those of the replaced key if it is
    /// another one, and the version of an AES key.
    ///
    /// - Parameters:
    ///   - kind: the kind of the key.
    ///   - sent: the data. Bytes after the version are ignored.
    ///   - old: the key that is replaced; nil when it is the session's own.
    ///   - isChecked: returns whether the checksum of the new key's bytes is right. A right checksum proves that the
    ///     reader knows the replaced key.
    init(
        _ kind: Kind,
        sent: [UInt8],
        replacing old: DESFireKey?,
        isChecked: ([UInt8]) -> Bool
    ) throws(DESFireStatus) {
        var bytes = Array(sent.prefix(kind.length))
        if let old {
            bytes = bytes.combined(with: old.bytes)
            guard isChecked(bytes) else { throw .integrityError }
        }
        let version = kind == .aes ? sent.dropFirst(kind.length).first ?? 0 : 0
        guard let key = DESFireKey(kind, bytes, version: version) else { throw .integrityError }
        self = key
    }
}

/// Uses a cipher. If this fails, or the system's library is missing, throws an integrity error.
func ciphered<Result>(_ body: () throws(CryptographyError) -> Result) throws(DESFireStatus) -> Result {
    do throws(CryptographyError) {
        return try body()
    } catch {
        throw .integrityError
    }
}

extension [UInt8] {
    /// The bytes, with zeros up to whole blocks.
    func padded(to block: Int) -> [UInt8] {
        self + [UInt8](repeating: 0, count: (block - count % block) % block)
    }

    /// The bytes, then 80 and zeros up to whole blocks (ISO/IEC 9797-1, padding method 2).
    func paddedWithMark(to block: Int) -> [UInt8] {
        (self + [0x80]).padded(to: block)
    }

    /// The bytes without the mark 80 and the zeros after it; nil when there is no mark.
    var withoutMark: [UInt8]? {
        guard let end = lastIndex(where: { $0 != 0 }), self[end] == 0x80 else { return nil }
        return Array(self[..<end])
    }

    /// Combines each byte with the other's by exclusive or.
    func combined(with other: some Sequence<UInt8>) -> [UInt8] {
        zip(self, other).map { $0 ^ $1 }
    }

    /// The CRC-32 of MIFARE DESFire, low byte first. It is that of IEEE 802.3 without the final inversion.
    var desfireCRC32: [UInt8] {
        var crc = UInt32.max
        for byte in self {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 != 0 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return [UInt8](littleEndian: Int(crc), count: 4)
    }
}
