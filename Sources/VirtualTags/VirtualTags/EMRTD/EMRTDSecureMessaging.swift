// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// The card's side of secure messaging with triple DES (ICAO 9303-11, 9.8).
struct EMRTDSecureMessaging: Sendable {
    /// Why a command was refused. The status is sent without protection, and the session ends.
    struct Refusal: Error {
        var status: CardStatus

        /// A required data object is missing.
        static let missing = Refusal(status: CardStatus(rawValue: 0x6987))
        /// A data object is invalid.
        static let incorrect = Refusal(status: CardStatus(rawValue: 0x6988))
        /// The cryptography failed.
        static let failed = Refusal(status: .executionError)
    }

    private let keys: EMRTDKeys
    /// The send sequence counter. It counts commands and answers.
    private(set) var counter: UInt64

    init(keys: EMRTDKeys, counter: UInt64) {
        self.keys = keys
        self.counter = counter
    }

    /// Checks a protected command, and removes the protection.
    ///
    /// - Parameter command: a command whose data field contains data objects: 87 or 85, 97, and 8E, in this order.
    /// - Returns: the command without protection, of class 00.
    mutating func open(_ command: CardCommand) throws(Refusal) -> CardCommand {
        guard let objects = DataObject.sequence(command.data) else { throw .incorrect }
        guard let code = objects.last, code.tag == 0x8E else { throw .missing }
        // The MAC's object must take exactly 10 bytes. Otherwise it is not certain which bytes the MAC covers.
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
            plain.isExtended = object.value.count == 2
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
        let length = Int(bytes: value)
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

    /// Protects the data and the status of an answer.
    ///
    /// - Parameters:
    ///   - data: the answer's data; may be empty.
    ///   - status: the status. It is sent both in the protected part and after it.
    ///   - instruction: the command's instruction. For an odd one the data are in object 85, otherwise in object 87.
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
        let bytes: [UInt8] = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: counter >> $0) }
        guard let code = try? keys.code(bytes + data) else { throw .failed }
        return code
    }

    /// Returns the maximum number of data bytes in a protected answer.
    ///
    /// - Parameter length: the number of bytes that the reader accepts, without the status.
    static func capacity(_ length: Int) -> Int {
        // Object 99 takes 4 bytes, object 8E takes 10, and the head of object 87 up to 4. Then there is the padding.
        let head = length > 256 ? 5 : 4
        return max(0, (length - 14 - head) / 8 * 8 - 1)
    }
}
