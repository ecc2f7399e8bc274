// SPDX-License-Identifier: Apache-2.0
import CardCryptography

/// A pair of triple DES keys (ICAO 9303-11, 9.7.1): one for encryption, one for authentication.
struct EMRTDKeys: Sendable, Hashable {
    private let encryption: SecretBytes
    private let authentication: SecretBytes

    /// Derives the keys of basic access control from the printed zone (ICAO 9303-11, 4.3.2 and 9.7.2).
    init(_ zone: MachineReadableZone) throws(CryptographyError) {
        try self.init(seed: Array(try MessageDigest.sha1.hash(zone.accessInformation).prefix(16)))
    }

    /// Derives both keys from a seed of 16 bytes.
    init(seed: [UInt8]) throws(CryptographyError) {
        encryption = SecretBytes(try Self.derive(seed, 1))
        authentication = SecretBytes(try Self.derive(seed, 2))
    }

    private static func derive(_ seed: [UInt8], _ counter: UInt8) throws(CryptographyError) -> [UInt8] {
        try MessageDigest.sha1.hash(seed + [0, 0, 0, counter]).prefix(16).map { byte in
            // DES ignores the lowest bit, and requires an odd number of ones.
            byte.nonzeroBitCount.isMultiple(of: 2) ? byte ^ 1 : byte
        }
    }

    /// Encrypts whole blocks (CBC with a zero initialisation vector).
    func encrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption.bytes).encrypt(data, .blockChaining(vector: Array(repeating: 0, count: 8)))
    }

    /// Decrypts whole blocks (CBC with a zero initialisation vector).
    func decrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption.bytes).decrypt(data, .blockChaining(vector: Array(repeating: 0, count: 8)))
    }

    /// Returns the MAC of some bytes. They are padded first.
    func code(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.retailMAC(Self.padded(data), key: authentication.bytes)
    }

    /// Pads to whole blocks of 8 bytes (ISO/IEC 9797-1, padding method 2).
    static func padded(_ data: [UInt8]) -> [UInt8] {
        data.paddedWithMark(to: 8)
    }

    /// Removes the padding; returns nil when there is none.
    static func unpadded(_ data: [UInt8]) -> [UInt8]? {
        guard let mark = data.lastIndex(where: { $0 != 0 }), data[mark] == 0x80, data.count - mark <= 8 else {
            return nil
        }
        return Array(data[..<mark])
    }
}
