// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import VirtualTags

/// Secure messaging with triple DES, as the card sees it (ICAO 9303-11, 9.8).
struct EMRTDSecureMessaging: Sendable {
    /// Why a command is not understood: a status that goes out without protection, and the end of the session.
    struct Refusal: Error {
        var status: CardStatus

        /// A data object that has to be there is missing.
        static let missing = Refusal(status: CardStatus(rawValue: 0x6987))
        /// A data object is wrong.
        static let incorrect = Refusal(status: CardStatus(rawValue: 0x6988))
        /// There is nothing to compute with.
        static let failed = Refusal(status: .executionError)
    }

    private let keys: EMRTDKeys
    /// The send sequence counter. It counts commands and answers.
    private(set) var counter: UInt64

    init(keys: EMRTDKeys, counter: UInt64) {
        self.keys = keys
        self.counter = counter
    }

    /// Checks a protected command, and takes the protection off.
    ///
    /// - Parameter command: a command whose data field holds data objects: 87 or 85, 97, and 8E in this order.
    /// - Returns: the command as it would be without protection, of class 00.
    mutating func open(_ command: CardCommand) throws(Refusal) -> CardCommand {
        guard let objects = DataObject.sequence(command.data) else { throw .incorrect }
        guard let code = objects.last, code.tag == 0x8E else { throw .missing }
        // The code's object has to be written in 10 octets, so that it is known which octets it covers.
        guard command.data.suffix(10).starts(with: [0x8E, 0x08]) else { throw .incorrect }
        var rest = objects.dropLast()[...]
        var plain = command
        plain.cla = 0x00
        plain.data = []
        plain.expectedLength = nil
        var enciphered: DataObject?
        if let object = rest.first, object.tag == (command.ins & 1 == 0 ? 0x87 : 0x85) {
            enciphered = object
            rest = rest.dropFirst()
        }
        if let object = rest.first, object.tag == 0x97 {
            plain.expectedLength = try Self.expectedLength(object.value)
            rest = rest.dropFirst()
        }
        guard rest.isEmpty else { throw .incorrect }

        counter &+= 1
        let header = EMRTDKeys.padded([command.cla, command.ins, command.p1, command.p2])
        guard ConstantTime.areEqual(try self.code(header + command.data.dropLast(10)), code.value) else {
            throw .incorrect
        }
        if let enciphered { plain.data = try decipher(enciphered) }
        return plain
    }

    private static func expectedLength(_ value: [UInt8]) throws(Refusal) -> Int {
        guard (1...2).contains(value.count) else { throw .incorrect }
        let length = Int(octets: value)
        return length == 0 ? 1 << (8 * value.count) : length
    }

    private func decipher(_ object: DataObject) throws(Refusal) -> [UInt8] {
        var value = object.value[...]
        if object.tag == 0x87, value.popFirst() != 0x01 { throw .incorrect }
        guard !value.isEmpty, value.count.isMultiple(of: 8) else { throw .incorrect }
        guard let padded = try? keys.decrypt(Array(value)) else { throw .failed }
        guard let data = EMRTDKeys.unpadded(padded) else { throw .incorrect }
        return data
    }

    /// Protects an answer: data and status.
    ///
    /// - Parameters:
    ///   - data: the answer's data, if any.
    ///   - status: the status, which is sent inside and outside.
    ///   - instruction: the instruction that is answered: the data of an odd one go into object 85, not 87.
    mutating func seal(_ data: [UInt8], _ status: CardStatus, to instruction: UInt8) throws(Refusal) -> [UInt8] {
        counter &+= 1
        var objects: [UInt8] = []
        if !data.isEmpty {
            guard let enciphered = try? keys.encrypt(EMRTDKeys.padded(data)) else { throw .failed }
            let isEven = instruction & 1 == 0
            objects += DataObject(isEven ? 0x87 : 0x85, (isEven ? [0x01] : []) + enciphered).bytes
        }
        objects += DataObject(0x99, status.bytes).bytes
        return objects + DataObject(0x8E, try code(objects)).bytes + status.bytes
    }

    private func code(_ data: [UInt8]) throws(Refusal) -> [UInt8] {
        let octets: [UInt8] = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: counter >> $0) }
        guard let code = try? keys.code(octets + data) else { throw .failed }
        return code
    }

    /// How many octets of data fit into a protected answer.
    ///
    /// - Parameter length: how many octets the reader takes, status not counted.
    static func capacity(_ length: Int) -> Int {
        // Object 99 with 4 octets, 8E with 10, the head of object 87 with up to 4, and the padding.
        let head = length > 256 ? 5 : 4
        return max(0, (length - 14 - head) / 8 * 8 - 1)
    }
}

/// A pair of keys of triple DES (ICAO 9303-11, 9.7.1): one that enciphers, one that authenticates.
struct EMRTDKeys: Sendable, Hashable {
    private let encryption: SecretBytes
    private let authentication: SecretBytes

    /// The keys of basic access control, from what is printed in the document (ICAO 9303-11, 4.3.2 and 9.7.2).
    init(_ zone: MachineReadableZone) throws(CryptographyError) {
        try self.init(seed: Array(try MessageDigest.sha1.hash(zone.accessInformation).prefix(16)))
    }

    /// Derives both keys from a seed of 16 octets.
    init(seed: [UInt8]) throws(CryptographyError) {
        encryption = SecretBytes(try Self.derive(seed, 1))
        authentication = SecretBytes(try Self.derive(seed, 2))
    }

    private static func derive(_ seed: [UInt8], _ counter: UInt8) throws(CryptographyError) -> [UInt8] {
        try MessageDigest.sha1.hash(seed + [0, 0, 0, counter]).prefix(16).map { octet in
            // DES leaves out the lowest bit, and asks that the number of ones is odd.
            octet.nonzeroBitCount.isMultiple(of: 2) ? octet ^ 1 : octet
        }
    }

    /// Enciphers whole blocks, chained from zero.
    func encrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption.bytes).encrypt(data, .blockChaining(vector: Array(repeating: 0, count: 8)))
    }

    /// Deciphers whole blocks, chained from zero.
    func decrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption.bytes).decrypt(data, .blockChaining(vector: Array(repeating: 0, count: 8)))
    }

    /// The message authentication code of octets, which are padded first.
    func code(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.retailMAC(Self.padded(data), key: authentication.bytes)
    }

    /// Pads to whole blocks of 8 octets (ISO/IEC 9797-1, padding method 2).
    static func padded(_ data: [UInt8]) -> [UInt8] {
        data.paddedWithMark(to: 8)
    }

    /// Takes the padding away, or gives nil where there is none.
    static func unpadded(_ data: [UInt8]) -> [UInt8]? {
        guard let mark = data.lastIndex(where: { $0 != 0 }), data[mark] == 0x80, data.count - mark <= 8 else {
            return nil
        }
        return Array(data[..<mark])
    }
}
