// SPDX-License-Identifier: Apache-2.0

/// The session keys of a travel document: one for encryption, one for authentication (ICAO 9303-11, 9.7 and 9.8).
package struct EMRTDKeys: Sendable, Hashable {
    package enum Cipher: UInt8, Sendable, Hashable {
        case tripleDES = 1
        case aes128, aes192, aes256

        package var blockLength: Int { self == .tripleDES ? 8 : 16 }

        /// Derives a key from a shared secret or a password (9.7.1). Its number is 1 for encryption, 2 for authentication, 3
        /// for a password.
        func derive(_ secret: [UInt8], _ number: UInt8) throws(CryptographyError) -> [UInt8] {
            let input = secret + [0, 0, 0, number]
            switch self {
            case .aes128: return Array(try MessageDigest.sha1.hash(input).prefix(16))
            case .aes192: return Array(try MessageDigest.sha256.hash(input).prefix(24))
            case .aes256: return try MessageDigest.sha256.hash(input)
            case .tripleDES:
                return try MessageDigest.sha1.hash(input).prefix(16).map { byte in
                    // DES ignores the lowest bit, and requires an odd number of ones.
                    byte.nonzeroBitCount.isMultiple(of: 2) ? byte ^ 1 : byte
                }
            }
        }

        func block(_ key: [UInt8]) throws(CryptographyError) -> BlockCipher {
            self == .tripleDES ? try .des(key) : try .aes(key)
        }
    }

    package let cipher: Cipher
    private let encryption: SecretBytes
    private let authentication: SecretBytes

    /// Derives the keys of basic access control (4.3.2).
    ///
    /// - Parameter accessInformation: document number, date of birth and date of expiry, each with its check digit.
    package init(accessInformation: [UInt8]) throws(CryptographyError) {
        try self.init(seed: Array(try MessageDigest.sha1.hash(accessInformation).prefix(16)))
    }

    package init(seed: [UInt8], _ cipher: Cipher = .tripleDES) throws(CryptographyError) {
        self.cipher = cipher
        encryption = SecretBytes(try cipher.derive(seed, 1))
        authentication = SecretBytes(try cipher.derive(seed, 2))
    }

    private func mode(_ counter: UInt64?) throws(CryptographyError) -> BlockCipher.Mode {
        // With AES, the vector is the encrypted counter (9.8.6.1).
        guard let counter, cipher != .tripleDES else {
            return .blockChaining(vector: [UInt8](repeating: 0, count: cipher.blockLength))
        }
        return .blockChaining(vector: try cipher.block(encryption.bytes).encrypt(bytes(counter)))
    }

    /// The send sequence counter, one block long.
    private func bytes(_ counter: UInt64) -> [UInt8] {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * UInt64($0))) }
        return [UInt8](repeating: 0, count: cipher.blockLength - 8) + bytes
    }

    /// Encrypts whole blocks in CBC.
    ///
    /// - Parameter counter: the send sequence counter of a message; nil in basic access control itself.
    package func encrypt(_ data: [UInt8], counter: UInt64? = nil) throws(CryptographyError) -> [UInt8] {
        try cipher.block(encryption.bytes).encrypt(data, mode(counter))
    }

    package func decrypt(_ data: [UInt8], counter: UInt64? = nil) throws(CryptographyError) -> [UInt8] {
        try cipher.block(encryption.bytes).decrypt(data, mode(counter))
    }

    /// Returns the MAC, 8 bytes, of the counter and the data, padded with a mark.
    package func code(_ data: [UInt8], counter: UInt64? = nil) throws(CryptographyError) -> [UInt8] {
        try mac(((counter.map { bytes($0) } ?? []) + data).paddedWithMark(to: cipher.blockLength))
    }

    /// Returns the authentication token of PACE, 8 bytes: the MAC of a public key's data object 7F49 (4.4.3.4). CMAC pads by
    /// itself.
    package func token(_ object: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try mac(cipher == .tripleDES ? object.paddedWithMark(to: 8) : object)
    }

    private func mac(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard cipher != .tripleDES else { return try BlockCipher.retailMAC(data, key: authentication.bytes) }
        return Array(try BlockCipher.aes(authentication.bytes).cmac(data).prefix(8))
    }
}

extension [UInt8] {
    /// The bytes, then zeros up to whole blocks.
    package func padded(to block: Int) -> [UInt8] {
        self + [UInt8](repeating: 0, count: (block - count % block) % block)
    }

    /// The bytes, then 80 and zeros up to whole blocks (ISO/IEC 9797-1, padding method 2).
    package func paddedWithMark(to block: Int) -> [UInt8] { (self + [0x80]).padded(to: block) }

    /// The bytes without the mark 80 and the zeros after it; nil without a mark.
    package var withoutMark: [UInt8]? {
        guard let end = lastIndex(where: { $0 != 0 }), self[end] == 0x80 else { return nil }
        return Array(self[..<end])
    }
}
