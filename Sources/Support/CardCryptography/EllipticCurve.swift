// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A standardised elliptic curve of travel documents (ICAO 9303-11, 9.5.1). Points are uncompressed: 04, x, y.
package struct EllipticCurve: Sendable, Hashable {
    /// The curve's object identifier, without tag and length.
    package let identifier: [UInt8]
    private let name: String

    private static let all: [UInt8: EllipticCurve] = {
        let prime: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01]
        let certicom: [UInt8] = [0x2B, 0x81, 0x04, 0x00]
        let brainpool: [UInt8] = [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01]
        return [
            8: EllipticCurve(identifier: prime + [0x01], name: "prime192v1"),
            9: EllipticCurve(identifier: brainpool + [0x03], name: "brainpoolP192r1"),
            10: EllipticCurve(identifier: certicom + [0x21], name: "secp224r1"),
            11: EllipticCurve(identifier: brainpool + [0x05], name: "brainpoolP224r1"),
            12: EllipticCurve(identifier: prime + [0x07], name: "prime256v1"),
            13: EllipticCurve(identifier: brainpool + [0x07], name: "brainpoolP256r1"),
            14: EllipticCurve(identifier: brainpool + [0x09], name: "brainpoolP320r1"),
            15: EllipticCurve(identifier: certicom + [0x22], name: "secp384r1"),
            16: EllipticCurve(identifier: brainpool + [0x0B], name: "brainpoolP384r1"),
            17: EllipticCurve(identifier: brainpool + [0x0D], name: "brainpoolP512r1"),
            18: EllipticCurve(identifier: certicom + [0x23], name: "secp521r1"),
        ]
    }()

    private init(identifier: [UInt8], name: String) { (self.identifier, self.name) = (identifier, name) }

    /// Finds a curve by its number in PACE; nil for another number.
    package init?(number: UInt8) {
        guard let curve = Self.all[number] else { return nil }
        self = curve
    }

    /// Finds a curve by its object identifier; nil for another curve.
    package init?(identifier: [UInt8]) {
        guard let curve = Self.all.values.first(where: { $0.identifier == identifier }) else { return nil }
        self = curve
    }

    /// Finds the curve whose parameters are written out, by its generator; nil for another curve.
    package init?(generator: [UInt8]) {
        let curve = Self.all.values.first { curve in
            guard let point = try? curve.publicKey(of: [1]) else { return false }
            // A compressed point is 02 or 03, and x.
            return point == generator
                || generator.count == 1 + point.count / 2 && point[1...].starts(with: generator[1...])
        }
        guard let curve else { return nil }
        self = curve
    }

    package func publicKey(of secret: [UInt8]) throws(CryptographyError) -> [UInt8] { try point(secret) }

    /// Returns the secret that two sides share: the x-coordinate of the product of one's private key with the other's
    /// public key. Throws `refused` for a key that is no point of the curve.
    package func sharedSecret(of secret: [UInt8], with key: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let shared = try point(nil, key, times: secret)
        return Array(shared[1...(shared.count / 2)])
    }

    /// Returns `factor` times the generator plus `pointFactor` times `point`.
    func point(
        _ factor: [UInt8]? = nil,
        _ point: [UInt8]? = nil,
        times pointFactor: [UInt8] = []
    ) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        var result = [UInt8](repeating: 0, count: 160)
        let length = unsafe ocn_crypto_curve_point(
            name,
            factor,
            factor?.count ?? 0,
            point,
            point?.count ?? 0,
            pointFactor,
            pointFactor.count,
            &result,
            result.count
        )
        guard length > 0 else { throw CryptographyError(.refused, "A public key is not a point of the curve \(name).") }
        return Array(result[..<length])
    }
}
