// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// Chip authentication over an elliptic curve, and active authentication: the chip proves that it has a private key, which a copy of
/// its data lacks (ICAO 9303-11, 6). The proof is worth as much as the signature over the data group with the public key.
extension EMRTDSession {
    /// Asks the chip for its proof by the key in data group 14. The session goes on with new keys.
    ///
    /// - Parameter group: data group 14 as it was read.
    /// - Returns: false when the group has no key that is known.
    /// - Throws: ``TagError`` with `authenticationFailed` when the chip does not have the private key, `refused`, `tagLost`,
    ///   `readerUnavailable`, `cancelled`.
    package mutating func authenticateChip(_ group: [UInt8]) async throws(TagError) -> Bool {
        guard let key = ChipKey(group) else { return false }
        let secret = (0..<80).map { _ in UInt8.random(in: 0...255) }
        let (own, keys) = try coded(.badAnswer) { () throws(CryptographyError) in
            let shared = try key.curve.sharedSecret(of: secret, with: key.point)
            return (try key.curve.publicKey(of: secret), try EMRTDKeys(seed: shared, key.cipher))
        }
        let number = key.number.map { DataObject(0x84, $0).bytes } ?? []
        var answer: ResponseAPDU
        if key.cipher == .tripleDES {
            answer = try await send(CommandAPDU(0x00, 0x22, 0x41, 0xA6, data: DataObject(0x91, own).bytes + number))
        } else {
            answer = try await send(
                CommandAPDU(0x00, 0x22, 0x41, 0xA4, data: DataObject(0x80, key.identifier).bytes + number)
            )
            if answer.status == .success {
                let data = DataObject(0x7C, [DataObject(0x80, own)]).bytes
                answer = try await send(CommandAPDU(0x00, 0x86, 0x00, 0x00, data: data, expectedLength: 256))
            }
        }
        guard answer.status == .success else {
            throw TagError(.refused, "The document refuses chip authentication, with \(answer.status).")
        }
        restart(with: keys)
        // The proof is that the chip understands a command with the new keys, and answers with them.
        do throws(TagError) {
            _ = try await send(CommandAPDU(0x00, 0xA4, 0x02, 0x0C, data: [0x01, 0x1E]))
        } catch {
            guard [.refused, .authenticationFailed].contains(error.code) else { throw error }
            throw TagError(.authenticationFailed, "The chip does not have the key of data group 14: it is a copy.")
        }
        return true
    }

    /// Asks the chip to sign a random challenge with the key in data group 15.
    ///
    /// - Parameters:
    ///   - group: data group 15 as it was read.
    ///   - information: data group 14, which names the hash of an elliptic curve's signature.
    /// - Returns: false when the group has no key that is known.
    /// - Throws: as ``authenticateChip(_:)``.
    package mutating func authenticateActively(
        _ group: [UInt8],
        information: [UInt8]?
    ) async throws(TagError) -> Bool {
        guard let key = ActiveKey(group, information: information) else { return false }
        let challenge = (0..<8).map { _ in UInt8.random(in: 0...255) }
        // A signature of a long key does not fit into a short answer with its protection.
        let answer = try await send(
            CommandAPDU(0x00, 0x88, 0, 0, data: challenge, expectedLength: key.isLong ? 0x1_0000 : 256)
        )
        guard answer.status == .success else {
            throw TagError(.refused, "The document refuses active authentication, with \(answer.status).")
        }
        let isRight = try coded { () throws(CryptographyError) in try key.verifies(answer.data, of: challenge) }
        guard isRight else {
            throw TagError(.authenticationFailed, "The chip does not have the key of data group 15: it is a copy.")
        }
        return true
    }
}

/// A chip's public key for active authentication, from data group 15 (ICAO 9303-11, 6.1).
package struct ActiveKey: Sendable {
    private let key: VerifyingKey
    private let isRSA: Bool
    /// The hash functions of a signature over an elliptic curve: the one that data group 14 names, or all.
    private let digests: [MessageDigest]
    /// Whether a signature does not fit into a short answer.
    let isLong: Bool

    /// 1.2.840.113549.1.1.1.
    private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]

    /// - Parameters:
    ///   - group: data group 15.
    ///   - information: data group 14, if there is one.
    package init?(_ group: [UInt8], information: [UInt8]?) {
        guard let key = DataObject.file(group, 0x6F)?.first, let fields = DataObject.sequence(key.value),
            let kind = DataObject.sequence(fields.first?.value ?? [])?.first?.value,
            [Self.rsa, ChipKey.ellipticCurveKey].contains(kind)
        else { return nil }
        self.key = VerifyingKey(encoded: key.bytes)
        isRSA = kind == Self.rsa
        isLong = key.value.count > 200
        // 0.4.0.127.0.7.1.1.4.1.x (BSI TR-03111), in an information 2.23.136.1.1.5.
        let ordered: [MessageDigest] = [.sha1, .sha224, .sha256, .sha384, .sha512]
        let named = ChipKey.information(information ?? [])
            .filter { $0[0].value == [0x67, 0x81, 0x08, 0x01, 0x01, 0x05] && $0.count == 3 }
            .compactMap { $0[2].value.last }
            .filter { (1...5).contains($0) }
        digests = named.isEmpty ? ordered : named.map { ordered[Int($0) - 1] }
    }

    /// Returns whether a signature is that of a challenge.
    package func verifies(_ signature: [UInt8], of challenge: [UInt8]) throws(CryptographyError) -> Bool {
        if isRSA {
            guard let content = try key.recovered(signature) else { return false }
            return try Self.isProof(content, of: challenge)
        }
        for digest in digests {
            if try key.verifies(signature, of: digest.hash(challenge)) { return true }
        }
        return false
    }

    /// Whether the content of a signature is for a challenge: 6A, random bytes, the hash of these and the challenge, and a
    /// trailer that names the hash function (ISO/IEC 9796-2, scheme 1).
    private static func isProof(_ content: [UInt8], of challenge: [UInt8]) throws(CryptographyError) -> Bool {
        let named: [UInt8: MessageDigest] = [
            0x33: .sha1, 0x34: .sha256, 0x35: .sha512, 0x36: .sha384, 0x38: .sha224,
        ]
        guard content.count > 2, content[0] == 0x6A else { return false }
        let isShort = content.last == 0xBC
        let digest = isShort ? .sha1 : content.last == 0xCC ? named[content[content.count - 2]] : nil
        let end = content.count - (isShort ? 1 : 2)
        guard let digest, end > 1 + digest.length else { return false }
        let hash = try digest.hash(content[1..<end - digest.length] + challenge)
        return ConstantTime.areEqual(hash, content[end - digest.length..<end])
    }
}

/// A chip's public key for chip authentication, from data group 14 (ICAO 9303-11, 9.2.5 and 9.2.6).
struct ChipKey: Sendable {
    var curve: EllipticCurve
    var point: [UInt8]
    var cipher: EMRTDKeys.Cipher
    /// The object identifier of the protocol with its cipher.
    var identifier: [UInt8]
    /// The number of the key, if the chip has several.
    var number: [UInt8]?

    /// 1.2.840.10045.2.1.
    static let ellipticCurveKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// 0.4.0.127.0.7.2.2, the start of what follows.
    private static let start: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02]

    /// The information in data group 14, each as its fields.
    static func information(_ group: [UInt8]) -> [[DataObject]] {
        DataObject.file(group, 0x6E)?.first.flatMap { DataObject.sequence($0.value) }?
            .compactMap { DataObject.sequence($0.value) }.filter { $0.count >= 2 } ?? []
    }

    /// Finds the key of the longest cipher; nil when there is none over a known curve.
    init?(_ group: [UInt8]) {
        let all = Self.information(group)
        let keys = all.filter { $0[0].value == Self.start + [0x01, 0x02] }
        let protocols = all.filter { $0[0].value.starts(with: Self.start + [0x03, 0x02]) && $0[0].value.count == 10 }
        let found = keys.compactMap { fields -> ChipKey? in
            let number = fields.count > 2 ? fields[2].value : nil
            let mine = protocols.filter { $0.count < 3 || number == nil || $0[2].value == number }
            let best = mine.compactMap { $0[0].value.last.flatMap(EMRTDKeys.Cipher.init) }
                .max { $0.rawValue < $1.rawValue }
            // Without the information, the cipher is triple DES.
            guard let (curve, point) = Self.point(fields[1]), let cipher = mine.isEmpty ? .tripleDES : best else {
                return nil
            }
            return ChipKey(
                curve: curve,
                point: point,
                cipher: cipher,
                identifier: Self.start + [0x03, 0x02, cipher.rawValue],
                number: number
            )
        }
        guard let key = found.max(by: { $0.cipher.rawValue < $1.cipher.rawValue }) else { return nil }
        self = key
    }

    /// The curve and the point of a SubjectPublicKeyInfo (RFC 5480, 2). The curve is named, or its parameters are written out.
    private static func point(_ key: DataObject) -> (EllipticCurve, [UInt8])? {
        guard let fields = DataObject.sequence(key.value), fields.count == 2, fields[1].tag == 0x03,
            let algorithm = DataObject.sequence(fields[0].value), algorithm.count == 2,
            algorithm[0].value == ellipticCurveKey
        else { return nil }
        let curve: EllipticCurve?
        if algorithm[1].tag == 0x06 {
            curve = EllipticCurve(identifier: algorithm[1].value)
        } else {
            // The version, the field, the coefficients, the generator, its order and the cofactor (SEC 1, C.2).
            let parameters = DataObject.sequence(algorithm[1].value) ?? []
            curve = parameters.count > 3 ? EllipticCurve(generator: parameters[3].value) : nil
        }
        // The first byte of a bit string is the number of bits left out.
        return curve.map { ($0, Array(fields[1].value.dropFirst())) }
    }

    private init(curve: EllipticCurve, point: [UInt8], cipher: EMRTDKeys.Cipher, identifier: [UInt8], number: [UInt8]?)
    {
        (self.curve, self.point, self.cipher, self.identifier, self.number) = (curve, point, cipher, identifier, number)
    }
}

extension DataObject {
    /// The objects in a file that is one object with a tag; nil for another file.
    fileprivate static func file(_ bytes: [UInt8], _ tag: UInt16) -> [DataObject]? {
        var rest = bytes[...]
        guard let object = DataObject(takingFrom: &rest), object.tag == tag else { return nil }
        return sequence(object.value)
    }
}
