// SPDX-License-Identifier: Apache-2.0

/// A pair of triple DES keys (ICAO 9303-11, 9.7.1): one for encryption, one for authentication.
package struct EMRTDKeys: Sendable, Hashable {
    private let encryption: SecretBytes
    private let authentication: SecretBytes

    /// Derives the keys of basic access control (ICAO 9303-11, 4.3.2 and 9.7.2).
    ///
    /// - Parameter accessInformation: document number, date of birth and date of expiry, each with its check digit.
    package init(accessInformation: [UInt8]) throws(CryptographyError) {
        try self.init(seed: Array(try MessageDigest.sha1.hash(accessInformation).prefix(16)))
    }

    package init(seed: [UInt8]) throws(CryptographyError) {
        encryption = SecretBytes(try Self.derive(seed, 1))
        authentication = SecretBytes(try Self.derive(seed, 2))
    }

    private static func derive(_ seed: [UInt8], _ counter: UInt8) throws(CryptographyError) -> [UInt8] {
        try MessageDigest.sha1.hash(seed + [0, 0, 0, counter]).prefix(16).map { byte in
            // DES ignores the lowest bit, and requires an odd number of ones.
            byte.nonzeroBitCount.isMultiple(of: 2) ? byte ^ 1 : byte
        }
    }

    private static let zero = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: 8))

    /// Encrypts whole blocks (CBC with a zero initialisation vector).
    package func encrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption.bytes).encrypt(data, Self.zero)
    }

    package func decrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption.bytes).decrypt(data, Self.zero)
    }

    /// Pads the data and returns its MAC.
    package func code(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.retailMAC(data.paddedWithMark(to: 8), key: authentication.bytes)
    }
}

extension [UInt8] {
    /// The bytes, then zeros up to whole blocks.
    package func padded(to block: Int) -> [UInt8] {
        self + [UInt8](repeating: 0, count: (block - count % block) % block)
    }

    /// The bytes, then 80 and zeros up to whole blocks (ISO/IEC 9797-1, padding method 2).
    /// The bytes, then zeros up to whole blocks.
    package func paddedWithMark(to block: Int) -> [UInt8] { (self + [0x80]).padded(to: block) }

    /// The bytes without the mark 80 and the zeros after it; nil without a mark.
    package var withoutMark: [UInt8]? {
        guard let end = lastIndex(where: { $0 != 0 }), self[end] == 0x80 else { return nil }
        return Array(self[..<end])
    }
}
