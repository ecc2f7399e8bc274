// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// The cipher and the curve of PACE: password authenticated connection establishment with generic mapping over an elliptic curve
/// (ICAO 9303-11, 4.4 and 9.5).
package struct PACEParameters: Sendable, Hashable {
    /// The object identifier of the protocol and its cipher, without tag and length.
    package let identifier: [UInt8]
    /// The number of the curve.
    package let curveNumber: UInt8
    /// The cipher of the nonce and of the session.
    package let cipher: EMRTDKeys.Cipher
    private let curve: String

    /// 0.4.0.127.0.7.2.2.4.
    package static let start: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04]
    /// The standardised curves by number (9.5.1), named as in OpenSSL.
    private static let curves: [UInt8: String] = [
        8: "prime192v1", 9: "brainpoolP192r1", 10: "secp224r1", 11: "brainpoolP224r1", 12: "prime256v1",
        13: "brainpoolP256r1", 14: "brainpoolP320r1", 15: "secp384r1", 16: "brainpoolP384r1", 17: "brainpoolP512r1",
        18: "secp521r1",
    ]

    /// Creates parameters; nil when they are no standardised curve, or another mapping. Chip authentication mapping is generic
    /// mapping with an additional proof of the chip.
    package init?(identifier: [UInt8], curve number: UInt8) {
        guard identifier.count == 10, identifier.starts(with: Self.start), [2, 6].contains(identifier[8]),
            let cipher = EMRTDKeys.Cipher(rawValue: identifier[9]), let curve = Self.curves[number]
        else { return nil }
        (self.identifier, curveNumber, self.cipher, self.curve) = (identifier, number, cipher, curve)
    }

    /// The cipher of the nonce, with the key of a password: SHA-1 of the access information, or the digits of the card access
    /// number (9.7.3).
    package func nonceCipher(_ password: [UInt8]) throws(CryptographyError) -> BlockCipher {
        try cipher.block(cipher.derive(password, 3))
    }

    /// Returns `factor` times the generator plus `pointFactor` times `point`, uncompressed.
    fileprivate func point(
        _ factor: [UInt8]? = nil,
        _ point: [UInt8]? = nil,
        times pointFactor: [UInt8] = []
    ) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        var result = [UInt8](repeating: 0, count: 160)
        let length = unsafe ocn_crypto_curve_point(
            curve,
            factor,
            factor?.count ?? 0,
            point,
            point?.count ?? 0,
            pointFactor,
            pointFactor.count,
            &result,
            result.count
        )
        guard length > 0 else {
            throw CryptographyError(.refused, "A public key is not a point of the curve \(curve).")
        }
        return Array(result[..<length])
    }
}

/// One side of PACE: two key agreements, of which the first maps a secret nonce to the generator of the second.
package struct PACEAgreement: Sendable {
    private let parameters: PACEParameters
    private let mappingSecret: SecretBytes
    private let agreementSecret: SecretBytes
    /// The public key of the first agreement, uncompressed.
    package let mappingKey: [UInt8]
    /// The public key of the second agreement; empty before ``mapping(_:with:)``.
    package private(set) var agreementKey: [UInt8] = []

    /// - Parameter random: returns random bytes; called once for each of the two private keys.
    package init(_ parameters: PACEParameters, random: (Int) -> [UInt8]) throws(CryptographyError) {
        self.parameters = parameters
        // More bytes than the largest curve has, so that each private key is as likely as any other.
        let secret = random(80)
        mappingKey = try parameters.point(secret)
        mappingSecret = SecretBytes(secret)
        agreementSecret = SecretBytes(random(80))
    }

    /// Returns the agreement after the nonce was mapped to a generator, with the first public key of the other side.
    package func mapping(_ nonce: [UInt8], with key: [UInt8]) throws(CryptographyError) -> PACEAgreement {
        var result = self
        let generator = try parameters.point(nonce, key, times: mappingSecret.bytes)
        result.agreementKey = try parameters.point(nil, generator, times: agreementSecret.bytes)
        return result
    }

    /// Derives the session keys from the second public key of the other side.
    package func sessionKeys(with key: [UInt8]) throws(CryptographyError) -> EMRTDKeys {
        let shared = try parameters.point(nil, key, times: agreementSecret.bytes)
        // The shared secret is the x-coordinate, after the byte 04.
        return try EMRTDKeys(seed: Array(shared[1...(shared.count / 2)]), parameters.cipher)
    }
}
