// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// The proofs that a chip is no copy: chip authentication over an elliptic curve, and active authentication with ECDSA (ICAO
/// 9303-11, 6). Both use ``EMRTDContents/chipKey``.
extension EMRTDCard {
    /// MSE:SET. With KAT it has the reader's public key, which changes the session's keys at once: triple DES. With AT it
    /// chooses the protocol of the next command: AES (6.2.4).
    mutating func beginChipAuthentication(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard let objects = DataObject.sequence(command.data), let first = objects.first else { throw .wrongData }
        switch (command.parameters, first.tag) {
        case (0x41A6, 0x91): nextKeys = try chipKeys(.tripleDES, first.value)
        case (0x41A4, 0x80):
            guard contents.chipKey != nil, let cipher = chipCipher, cipher != .tripleDES,
                first.value == EMRTDContents.chipAuthentication + [cipher.rawValue]
            else { throw .wrongData }
            chosenChipCipher = cipher
        default: throw .wrongParameters
        }
        return CardAnswer(status: .success)
    }

    /// GENERAL AUTHENTICATE with the reader's public key. The next command has the new keys.
    mutating func continueChipAuthentication(
        _ command: CardCommand,
        _ cipher: EMRTDKeys.Cipher?
    ) throws(CardStatus) -> CardAnswer {
        guard let cipher else { throw .conditionsNotSatisfied }
        var rest = command.data[...]
        guard command.parameters == 0, let dynamic = DataObject(takingFrom: &rest), dynamic.tag == 0x7C,
            let key = DataObject.sequence(dynamic.value)?.first, key.tag == 0x80
        else { throw .wrongData }
        nextKeys = try chipKeys(cipher, key.value)
        return CardAnswer([0x7C, 0x00], status: .success)
    }

    /// INTERNAL AUTHENTICATE: signs a challenge of 8 bytes. A signature differs each time (6.1.2).
    func signChallenge(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard command.data.count == 8 else { throw .wrongLength }
        guard let secret = contents.chipKey, contents.files[0x010F] != nil else { throw .unknownInstruction }
        let key = SigningKey(encoded: EMRTDContents.privateKey(secret))
        guard let signature = try? key.sign(command.data, .sha256), var rest = Optional(signature[...]),
            let numbers = DataObject(takingFrom: &rest).flatMap({ DataObject.sequence($0.value) })
        else { throw .executionError }
        // The two numbers with the length of a coordinate (BSI TR-03111, 5.2.1).
        let plain = numbers.flatMap { number in
            let digits = number.value.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
        return CardAnswer(plain, status: .success)
    }

    /// The cipher of data group 14; nil without one.
    private var chipCipher: EMRTDKeys.Cipher? {
        let start = EMRTDContents.chipAuthentication
        let place = contents.files[0x010E]?.firstRange(of: [0x06, UInt8(start.count + 1)] + start)
        return place.flatMap { contents.files[0x010E]?.dropFirst($0.upperBound).first }.flatMap(EMRTDKeys.Cipher.init)
    }

    private func chipKeys(_ cipher: EMRTDKeys.Cipher, _ point: [UInt8]) throws(CardStatus) -> EMRTDKeys {
        guard let secret = contents.chipKey, chipCipher == cipher else { throw .conditionsNotSatisfied }
        // Throws for a key that is no point of the curve.
        guard let shared = try? EMRTDContents.chipCurve?.sharedSecret(of: secret, with: point),
            let keys = try? EMRTDKeys(seed: shared, cipher)
        else { throw .wrongData }
        return keys
    }
}

/// The data groups with the chip's public key (ICAO 9303-11, 9.2).
extension EMRTDContents {
    /// A private key of a chip, for documents that nobody needs to trust: it is public, so its proofs prove nothing.
    public static let testChipKey: [UInt8] = Array(1...32)

    /// brainpoolP256r1.
    static let chipCurve = EllipticCurve(number: 13)
    /// 0.4.0.127.0.7.2.2.3.2, before the number of the cipher.
    static let chipAuthentication: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x03, 0x02]

    private static let algorithm = DER.sequence(
        of: DataObject(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]),
        DataObject(0x06, chipCurve?.identifier ?? [])
    )

    /// A private key in PKCS #8 (RFC 5915, 3; RFC 5958).
    static func privateKey(_ secret: [UInt8]) -> [UInt8] {
        let key = DER.sequence(of: DER.number(1), DataObject(DER.octetString, secret))
        return DER.sequence(of: DER.number(0), algorithm, DataObject(DER.octetString, key.bytes)).bytes
    }

    /// Returns data groups 14 and 15 with the public key of a private one: for chip authentication with a cipher, from 1 for
    /// triple DES to 4 for AES-256, and for active authentication with ECDSA and SHA-256.
    ///
    /// - Throws: ``EMRTDError`` with `cryptography` when the system's libcrypto is missing or refuses the key.
    package static func chipGroups(_ secret: [UInt8], cipher: UInt8 = 2) throws(EMRTDError) -> [Int: [UInt8]] {
        guard let point = try? chipCurve?.publicKey(of: secret) else {
            throw EMRTDError(.cryptography, "The system's libcrypto can't compute the chip's public key.")
        }
        let key = DER.sequence(of: algorithm, DataObject(0x03, [0x00] + point))
        let information = [
            DER.sequence(of: DataObject(0x06, chipAuthentication + [cipher]), DER.number(1)),
            DER.sequence(of: DataObject(0x06, [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x01, 0x02]), key),
            DER.sequence(
                of: DataObject(0x06, [0x67, 0x81, 0x08, 0x01, 0x01, 0x05]),
                DER.number(1),
                DataObject(0x06, [0x04, 0x00, 0x7F, 0x00, 0x07, 0x01, 0x01, 0x04, 0x01, 0x03])
            ),
        ]
        return [
            14: DataObject(0x6E, [DataObject(DER.set, information)]).bytes,
            15: DataObject(0x6F, [key]).bytes,
        ]
    }
}
