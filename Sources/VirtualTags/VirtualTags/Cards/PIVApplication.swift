// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// Personal identity verification (NIST SP 800-73-4, part 2): data objects, certificates, and signatures with a PIN.
///
/// Its values are the data objects by tag, such as `5fc105`, each as GET DATA answers it; `key 9a` and so on, the algorithm
/// (07 or 11) and the private key in DER; `pin`, 8 bytes; and `tries`, the limit and the remaining number of tries. There
/// is no management key and no PUK: only the image changes objects, and unblocks the PIN.
struct PIVApplication: StoredApplication {
    static let name = "piv"
    static let continuation: UInt8 = 0xC0
    private static let identifier: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x08, 0x00, 0x00, 0x10, 0x00, 0x01, 0x00]

    private static let slots = ["9a", "9c", "9d", "9e"]

    static func invalidKey(in stored: [String: [UInt8]]) -> String? {
        guard stored["pin"]?.count == 8 else { return "pin" }
        guard let tries = stored["tries"], tries.count == 2, tries[0] < 16, tries[1] <= tries[0] else { return "tries" }
        return stored.first { key, value in
            if key == "pin" || key == "tries" { return false }
            guard key.hasPrefix("key ") else {
                return [UInt8](hexadecimal: key.utf8)?.hexText() != key || DataObject.sequence(value)?.count != 1
            }
            return value.count < 2 || ![0x07, 0x11].contains(value[0]) || !slots.contains(String(key.dropFirst(4)))
        }?.key
    }

    let names: [[UInt8]] = [identifier, Array(identifier[..<9]), Array(identifier[..<5])]
    @Hidden var stored: [String: [UInt8]]
    var parts = MessageParts()
    private var isVerified = false
    /// Whether the PIN was verified since the last signature with the key of slot 9C.
    private var isFresh = false

    init(stored: [String: [UInt8]]) { self.stored = stored }

    mutating func select(_ command: CardCommand) -> CardAnswer {
        let objects = [
            DataObject(0x4F, Array(Self.identifier[5...])),
            DataObject(0x79, [DataObject(0x4F, Array(Self.identifier[..<5]))]),
        ]
        return CardAnswer(DataObject(0x61, objects).bytes, status: .success)
    }

    mutating func deselect() { (parts, isVerified, isFresh) = (MessageParts(), false, false) }

    mutating func execute(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        switch (command.ins, command.p1, command.p2) {
        case (0xCB, 0x3F, 0xFF): return try object(command.data)
        case (0x20, 0x00, 0x80): try verify(command.data)
        case (0x20, 0xFF, 0x80) where command.data.isEmpty: (isVerified, isFresh) = (false, false)
        case (0x20, 0x00, _): throw .dataNotFound
        case (0x87, _, _): return try authenticate(command)
        // PUT DATA and GENERATE ASYMMETRIC KEY PAIR need the management key.
        case (0xDB, _, _), (0x47, _, _): throw .securityNotSatisfied
        case (0xCB, _, _), (0x20, _, _): throw .wrongParameters
        default: throw .unknownInstruction
        }
        return []
    }

    private func object(_ data: [UInt8]) throws(CardStatus) -> [UInt8] {
        guard let list = DataObject.sequence(data), list.count == 1, list[0].tag == 0x5C else { throw .wrongData }
        guard let object = stored[list[0].value.hexText()] else { throw .notFound }
        return object
    }

    private mutating func verify(_ pin: [UInt8]) throws(CardStatus) {
        guard let tries = stored["tries"], let expected = stored["pin"] else { throw .executionError }
        if pin.isEmpty, isVerified { return }
        guard tries[1] > 0 else { throw .blocked }
        guard !pin.isEmpty else { throw .wrongPIN(tries[1]) }
        guard pin.count == 8 else { throw .wrongData }
        (isVerified, isFresh) = (false, false)
        guard ConstantTime.areEqual(pin, expected) else {
            stored["tries"] = [tries[0], tries[1] - 1]
            throw .wrongPIN(tries[1] - 1)
        }
        stored["tries"] = [tries[0], tries[0]]
        (isVerified, isFresh) = (true, true)
    }

    /// GENERAL AUTHENTICATE with a challenge: the power of a block of RSA, or the signature of a hash. The key in 9C needs
    /// the PIN before each signature, that in 9E needs none.
    private mutating func authenticate(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        let slot = [command.p2].hexText()
        guard let key = stored["key " + slot], key[0] == command.p1 else { throw .wrongParameters }
        guard slot == "9e" || (slot == "9c" ? isFresh : isVerified) else { throw .securityNotSatisfied }
        guard let template = DataObject.sequence(command.data), template.count == 1, template[0].tag == 0x7C,
            let objects = DataObject.sequence(template[0].value), objects.contains(DataObject(0x82, [UInt8]())),
            let challenge = objects.first(where: { $0.tag == 0x81 })?.value
        else { throw .wrongData }
        if slot == "9c" { isFresh = false }
        guard let answer = try? SigningKey(encoded: Array(key[1...])).apply(to: challenge, isRSA: key[0] == 0x07) else {
            throw .wrongData
        }
        return DataObject(0x7C, [DataObject(0x82, answer)]).bytes
    }

    // MARK: A new card

    /// A card with the keys for tests, a PIN of 123456 and three tries. RSA of 2048 bits is in slots 9C and 9D, ECC P-256 in
    /// 9A and 9E. The holder's number (FASC-N) is that of no agency: 9999.
    static var new: [String: [UInt8]] {
        let capabilities =
            "5333f015" + String(repeating: "00", count: 21) + "f10121f20121f300f40100f50110f600f700fa00fb00fc00fd00fe00"
        let holder = """
            533b3019d4e739da739ced39ce739da1685821084210842184e739c3f3
            34104f70656e436f72654e46432074657374350832313230303130313e00fe00
            """
        let ecc: [UInt8] = [0x11] + bytes(keyDigits)
        let rsa: [UInt8] = [0x07] + EMRTDSigner.test.privateKey
        func certificate(_ encoded: [UInt8]) -> [UInt8] {
            DataObject(0x53, DataObject(0x70, encoded).bytes + [0x71, 0x01, 0x00, 0xFE, 0x00]).bytes
        }
        let (small, large) = (certificate(bytes(certificateDigits)), certificate(EMRTDSigner.test.certificate))
        return [
            "pin": Array("123456".utf8) + [0xFF, 0xFF], "tries": [3, 3],
            "7e": bytes("7e124f0b") + identifier + bytes("5f2f024000"),
            "5fc102": bytes(holder), "5fc107": bytes(capabilities),
            "5fc105": small, "key 9a": ecc, "5fc101": small, "key 9e": ecc,
            "5fc10a": large, "key 9c": rsa, "5fc10b": large, "key 9d": rsa,
        ]
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        [UInt8](hexadecimal: digits.utf8.filter { $0 != 0x0A }) ?? []
    }

    private static let keyDigits =
        "30310201010420a1bdbce05c576e53d6646bfbce3b83f2ad8e5dd4bc68a6c68252fc3cf846431ca00a06082a8648ce3d030107"

    private static let certificateDigits = """
        3082013f3081e7a003020102020101300a06082a8648ce3d040302301f311d301b06035504030c144f70656e436f72654e464320546573
        74205049563020170d3230303130313030303030305a180f32313230303130313030303030305a301f311d301b06035504030c144f7065
        6e436f72654e46432054657374205049563059301306072a8648ce3d020106082a8648ce3d030107034200047f52d4d715f9ce8f6f7cf4
        e5ac39cea7342638398ace60e289f564556a1e9d8df51e75baa74c020d845aff3d895a45f009e8b6c3f60cc63e6b5b9171373c2582a312
        3010300e0603551d0f0101ff040403020388300a06082a8648ce3d040302034700304402200cf9b88f2336f77fad493423c7e3357a5125
        760273e0bbc70de61bb8b9d6c27002205554e57bf12358ac07955251bc9be3d9e8b43fac0ae95241b9a5ce8d42295c8f
        """
}

extension CardStatus {
    /// No tries of the PIN are left.
    fileprivate static let blocked = CardStatus(rawValue: 0x6983)

    /// The PIN is wrong, or is needed, with the number of tries that are left.
    fileprivate static func wrongPIN(_ tries: UInt8) -> CardStatus { CardStatus(rawValue: 0x63C0 | UInt16(tries)) }
}
