// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A public key, for signatures of ECDSA (SEC 1 2.0, 4.1.4), or of RSA with message recovery.
package struct VerifyingKey: Sendable, Hashable {
    /// SubjectPublicKeyInfo (RFC 5480, 2).
    private let encoded: [UInt8]
    /// The length of a coordinate; nil for that of a signature.
    private let size: Int?

    /// Creates a key from its SubjectPublicKeyInfo in DER, which may be of any curve.
    package init(encoded: [UInt8]) { (self.encoded, size) = (encoded, nil) }

    /// Creates a key of secp128r1, secp192r1 or secp224r1, by the length of the point. An invalid point is only
    /// detected by ``verifies(_:of:)``, which then returns false.
    ///
    /// - Parameter point: the uncompressed point: 04, x, y.
    package init(point: [UInt8]) {
        size = point.count / 2
        let ellipticCurveKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        // The curve's object identifier (SEC 2 2.0, A.2; X9.62).
        let curve: [UInt8] =
            switch point.count {
            case 33: [0x2B, 0x81, 0x04, 0x00, 0x1C]
            case 49: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01]
            default: [0x2B, 0x81, 0x04, 0x00, 0x21]
            }
        let algorithm = Self.object(0x06, ellipticCurveKey) + Self.object(0x06, curve)
        encoded = Self.object(0x30, Self.object(0x30, algorithm) + Self.object(0x03, [0x00] + point))
    }

    /// Returns whether a signature is that of a hash.
    ///
    /// - Parameters:
    ///   - signature: r and s, each with the length of a coordinate; another length is never valid.
    ///   - hash: the hash, or the message itself if the signer did not hash it.
    /// - Throws: ``CryptographyError`` with `libraryMissing`.
    package func verifies(_ signature: [UInt8], of hash: [UInt8]) throws(CryptographyError) -> Bool {
        try LibCrypto.open()
        let size = size ?? signature.count / 2
        guard signature.count == 2 * size, (1...66).contains(size) else { return false }
        let numbers = Self.number(signature.prefix(size)) + Self.number(signature.suffix(size))
        let sequence = Self.object(0x30, numbers)
        return unsafe ocn_crypto_verify(encoded, encoded.count, hash, hash.count, sequence, sequence.count)
    }

    /// Returns what an RSA signature of ISO/IEC 9796-2 holds, as long as the key's modulus; nil for another key.
    package func recovered(_ signature: [UInt8]) throws(CryptographyError) -> [UInt8]? {
        try LibCrypto.open()
        var content = [UInt8](repeating: 0, count: 2048)
        let length = unsafe ocn_crypto_recover(
            encoded,
            encoded.count,
            signature,
            signature.count,
            &content,
            content.count
        )
        return length > 0 ? Array(content[..<length]) : nil
    }

    /// An unsigned integer in DER: without leading zeros, but with one if its first bit is set (X.690, 8.3).
    private static func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let digits = bytes.drop { $0 == 0 }
        return object(0x02, digits.first.map { $0 < 0x80 } ?? false ? Array(digits) : [0] + digits)
    }

    /// An object of at most 255 bytes in DER.
    private static func object(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [tag] + (contents.count < 0x80 ? [] : [0x81]) + [UInt8(contents.count)] + contents
    }
}
