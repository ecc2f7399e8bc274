// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A private key for signing, such as the key of a document's issuer.
public struct SigningKey: Sendable, Hashable {
    private let encoded: SecretBytes

    /// Creates a key. An invalid key is only detected when it signs.
    ///
    /// - Parameter encoded: the unencrypted key in DER: PKCS #8 (RFC 5958), or the older format of its algorithm.
    public init(encoded: [UInt8]) {
        self.encoded = SecretBytes(encoded)
    }

    /// Hashes a message and signs the hash.
    ///
    /// An RSA key signs with PKCS #1 1.5 (RFC 8017, 8.2), so the signature of a message is always the same. An elliptic
    /// curve key signs with ECDSA; the signature is in DER and differs each time.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - digest: the hash function.
    /// - Returns: the signature.
    /// - Throws: ``CryptographyError`` with `libraryMissing`, or `refused` when the key is invalid or can't sign.
    public func sign(_ message: [UInt8], _ digest: MessageDigest) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        // The largest RSA key that libcrypto accepts has 16384 bits.
        let capacity = 2048
        var signature = [UInt8](repeating: 0, count: capacity)
        let length = unsafe encoded.withBytes { key in
            let (size, name) = (encoded.count, digest.identifier)
            return unsafe ocn_crypto_sign(key, size, name, message, message.count, &signature, capacity)
        }
        guard length != 0 else {
            throw CryptographyError(.refused, "libcrypto refused to sign: is this a private key in DER?")
        }
        return Array(signature.prefix(length))
    }

    /// Signs a hash with ECDSA; or computes the power of a padded block, as long as the modulus, with RSA (RFC 8017, 5.2.1).
    package func apply(to data: [UInt8], isRSA: Bool) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        var output = [UInt8](repeating: 0, count: 2048)
        let length = unsafe encoded.withBytes { key in
            unsafe ocn_crypto_apply(key, encoded.count, isRSA, data, data.count, &output, output.count)
        }
        guard length != 0 else { throw CryptographyError(.refused, "libcrypto refused to sign a hash or a block.") }
        return Array(output.prefix(length))
    }
}

/// A hash function of FIPS 180-4.
public enum MessageDigest: Sendable, Hashable, CaseIterable {
    /// SHA-1, 20 bytes. ICAO 9303 derives keys with it.
    case sha1
    case sha224
    case sha256
    case sha384
    case sha512

    /// The length of a hash, in bytes.
    public var length: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The hash function's name in C.
    var identifier: ocn_digest {
        switch self {
        case .sha1: ocn_sha1
        case .sha224: ocn_sha224
        case .sha256: ocn_sha256
        case .sha384: ocn_sha384
        case .sha512: ocn_sha512
        }
    }

    /// Hashes data.
    ///
    /// - Returns: ``length`` bytes.
    /// - Throws: ``CryptographyError`` with `libraryMissing` or `refused`.
    public func hash(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        var output = [UInt8](repeating: 0, count: length)
        guard unsafe ocn_crypto_digest(identifier, data, data.count, &output) else {
            throw CryptographyError(.refused, "libcrypto refused to hash.")
        }
        return output
    }

    /// Computes a keyed-hash message authentication code (HMAC, FIPS 198-1), as long as a hash.
    package func hmac(_ message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let size = length > 32 ? 128 : 64
        let short = key.count > size ? try hash(key) : key
        let key = short + [UInt8](repeating: 0, count: size - short.count)
        return try hash(key.map { $0 ^ 0x5C } + hash(key.map { $0 ^ 0x36 } + message))
    }
}
