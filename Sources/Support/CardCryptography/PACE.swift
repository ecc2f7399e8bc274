// SPDX-License-Identifier: Apache-2.0

/// The cipher and the curve of PACE: password authenticated connection establishment with generic mapping over an elliptic curve
/// (ICAO 9303-11, 4.4 and 9.5).
package struct PACEParameters: Sendable, Hashable {
    /// The object identifier of the protocol and its cipher, without tag and length.
    package let identifier: [UInt8]
    package let curveNumber: UInt8
    package let cipher: EMRTDKeys.Cipher
    fileprivate let curve: EllipticCurve

    /// 0.4.0.127.0.7.2.2.4.
    package static let start: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04]
    /// Creates parameters; nil when they are no standardised curve, or another mapping. Chip authentication mapping is generic
    /// mapping with an additional proof of the chip.
    package init?(identifier: [UInt8], curve number: UInt8) {
        guard identifier.count == 10, identifier.starts(with: Self.start), [2, 6].contains(identifier[8]),
            let cipher = EMRTDKeys.Cipher(rawValue: identifier[9]), let curve = EllipticCurve(number: number)
        else { return nil }
        (self.identifier, curveNumber, self.cipher, self.curve) = (identifier, number, cipher, curve)
    }

    /// The cipher of the nonce, with the key of a password: SHA-1 of the access information, or the digits of the card access
    /// number (9.7.3).
    package func nonceCipher(_ password: [UInt8]) throws(CryptographyError) -> BlockCipher {
        try cipher.block(cipher.derive(password, 3))
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
        mappingKey = try parameters.curve.publicKey(of: secret)
        mappingSecret = SecretBytes(secret)
        agreementSecret = SecretBytes(random(80))
    }

    /// Returns the agreement after the nonce was mapped to a generator, with the first public key of the other side.
    package func mapping(_ nonce: [UInt8], with key: [UInt8]) throws(CryptographyError) -> PACEAgreement {
        var result = self
        let generator = try parameters.curve.point(nonce, key, times: mappingSecret.bytes)
        result.agreementKey = try parameters.curve.point(nil, generator, times: agreementSecret.bytes)
        return result
    }

    /// Derives the session keys from the second public key of the other side.
    package func sessionKeys(with key: [UInt8]) throws(CryptographyError) -> EMRTDKeys {
        try EMRTDKeys(
            seed: parameters.curve.sharedSecret(of: agreementSecret.bytes, with: key),
            parameters.cipher
        )
    }
}
