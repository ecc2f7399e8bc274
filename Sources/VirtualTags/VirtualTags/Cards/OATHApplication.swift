// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// One-time passwords as hardware keys have them (Yubico's OATH protocol, with HOTP of RFC 4226 and TOTP of RFC 6238).
///
/// Its values are `id`, 8 bytes; `code`, if a password protects the accounts: the algorithm and the key that is derived
/// from the password; and `account NAME` for each account: the data of PUT after the name. A card that lies on a reader
/// counts as touched, so only CALCULATE ALL leaves out accounts that require a touch.
struct OATHApplication: StoredApplication {
    static let name = "oath"
    static let continuation: UInt8 = 0xA5
    private static let prefix = "account "

    static var new: [String: [UInt8]] { ["id": random()] }

    static func invalidKey(in stored: [String: [UInt8]]) -> String? {
        guard stored["id"]?.count == 8 else { return "id" }
        return stored.first { key, value in
            switch key {
            case "id": false
            case "code": digest(value) == nil
            default: !key.utf8.starts(with: prefix.utf8) || !(9...72).contains(key.utf8.count) || Account(value) == nil
            }
        }?.key
    }

    let names: [[UInt8]] = [[0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x01]]
    @Hidden var stored: [String: [UInt8]]
    var parts = MessageParts()
    private var challenge: [UInt8] = []
    private var isValidated = false

    init(stored: [String: [UInt8]]) { self.stored = stored }

    mutating func select(_ command: CardCommand) -> CardAnswer {
        var objects = [DataObject(0x79, [0x05, 0x01, 0x00]), DataObject(0x71, stored["id"] ?? [])]
        if let code = stored["code"] {
            challenge = Self.random()
            objects += [DataObject(0x74, challenge), DataObject(0x7B, [code[0]])]
        }
        return CardAnswer(objects.flatMap(\.bytes), status: .success)
    }

    mutating func deselect() { (parts, challenge, isValidated) = (MessageParts(), [], false) }

    mutating func execute(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        let isOpen = isValidated || stored["code"] == nil || command.ins == 0xA3 || command.ins == 0x04
        guard isOpen else { throw .securityNotSatisfied }
        let data = command.data
        switch (command.ins, command.p1, command.p2) {
        case (0x01, 0, 0): try put(data)
        case (0x02, 0, 0):
            guard try stored.removeValue(forKey: Self.key(data)) != nil else { throw .noSuchObject }
        case (0x03, 0, 0): try setCode(data)
        case (0x04, 0xDE, 0xAD): (stored, isValidated) = (Self.new, false)
        case (0xA1, 0, 0): return accounts.flatMap { DataObject(0x72, [$0.account.key[0]] + $0.name).bytes }
        case (0xA2, 0, 0...1): return try calculate(data, isTruncated: command.p2 == 1)
        case (0xA3, 0, 0): return try validate(data)
        case (0xA4, 0, 0...1): return try calculateAll(data, isTruncated: command.p2 == 1)
        case (0x01...0x04, _, _), (0xA1...0xA4, _, _): throw .wrongParameters
        default: throw .unknownInstruction
        }
        return []
    }

    // MARK: Accounts

    private struct Account {
        /// The type and algorithm, the number of digits, and the secret.
        @Hidden var key: [UInt8]
        var needsTouch = false
        /// The moving factor; nil for TOTP.
        var counter: UInt32?

        /// Parses the data of PUT after the name; nil if they are not valid.
        init?(_ bytes: [UInt8]) {
            var rest = bytes[...]
            guard let object = DataObject(takingFrom: &rest), object.tag == 0x73, (3...66).contains(object.value.count),
                OATHApplication.digest(object.value) != nil, (6...8).contains(object.value[1])
            else { return nil }
            key = object.value
            if key[0] & 0xF0 == 0x10 { counter = 0 }
            // A property has no length. The card has no accounts whose challenge may only increase (01).
            if rest.first == 0x78, let property = rest.dropFirst().first, property & ~0x02 == 0 {
                needsTouch = property != 0
                rest = rest.dropFirst(2)
            }
            guard !rest.isEmpty else { return }
            guard counter != nil, let factor = DataObject(takingFrom: &rest), factor.tag == 0x7A,
                factor.value.count == 4, rest.isEmpty
            else { return nil }
            counter = UInt32(bytes: factor.value)
        }

        var bytes: [UInt8] {
            let factor = counter.map { DataObject(0x7A, [UInt8](bigEndian: Int($0), count: 4)).bytes } ?? []
            return DataObject(0x73, key).bytes + (needsTouch ? [0x78, 0x02] : []) + factor
        }

        /// The answer's object: the number of digits and the code, whole or truncated (RFC 4226, 5.3).
        func code(_ challenge: [UInt8], isTruncated: Bool) throws(CardStatus) -> [UInt8] {
            let code = try OATHApplication.code(challenge, key, from: 2)
            guard isTruncated else { return DataObject(0x75, [key[1]] + code).bytes }
            let start = Int(code[code.count - 1] & 0x0F)
            return DataObject(0x76, [key[1], code[start] & 0x7F] + code[start + 1..<start + 4]).bytes
        }
    }

    private var accounts: [(name: [UInt8], account: Account)] {
        stored.sorted { $0.key < $1.key }.compactMap { key, value in
            // Not by characters: a name may begin with a mark that joins the space before it.
            guard key.utf8.starts(with: Self.prefix.utf8), let account = Account(value) else { return nil }
            return (Array(key.utf8.dropFirst(Self.prefix.utf8.count)), account)
        }
    }

    private mutating func put(_ data: [UInt8]) throws(CardStatus) {
        let key = try Self.key(data)
        guard let account = Account(Array(data[(DataObject.length(data) ?? 0)...])) else { throw .wrongData }
        // The same name in another form of Unicode is the same account.
        let isNew = stored.removeValue(forKey: key) == nil
        guard !isNew || accounts.count < 64 else { throw .noRoom }
        stored[key] = account.bytes
    }

    private mutating func calculate(_ data: [UInt8], isTruncated: Bool) throws(CardStatus) -> [UInt8] {
        let key = try Self.key(data)
        let challenge = try Self.value(0x74, in: data)
        guard var account = stored[key].flatMap({ Account($0) }) else { throw .noSuchObject }
        guard let counter = account.counter else { return try account.code(challenge, isTruncated: isTruncated) }
        account.counter = counter &+ 1
        stored[key] = account.bytes
        return try account.code([UInt8](bigEndian: Int(counter), count: 8), isTruncated: isTruncated)
    }

    private func calculateAll(_ data: [UInt8], isTruncated: Bool) throws(CardStatus) -> [UInt8] {
        let challenge = try Self.value(0x74, in: data)
        var answer: [UInt8] = []
        for (name, account) in accounts {
            let tag: UInt16? = account.counter != nil ? 0x77 : account.needsTouch ? 0x7C : nil
            answer += DataObject(0x71, name).bytes
            let code = try tag == nil ? account.code(challenge, isTruncated: isTruncated) : []
            answer += tag.map { DataObject($0, [account.key[1]]).bytes } ?? code
        }
        return answer
    }

    // MARK: The password

    private mutating func setCode(_ data: [UInt8]) throws(CardStatus) {
        let code = try Self.value(0x73, in: data)
        guard !code.isEmpty else {
            stored["code"] = nil
            return
        }
        try Self.check(data, against: Self.code(Self.value(0x74, in: data), code))
        (stored["code"], isValidated) = (code, true)
    }

    /// Checks the reader's answer to the challenge of SELECT, and answers that of the reader.
    private mutating func validate(_ data: [UInt8]) throws(CardStatus) -> [UInt8] {
        guard let code = stored["code"], !challenge.isEmpty else { throw .noSuchObject }
        try Self.check(data, against: Self.code(challenge, code))
        isValidated = true
        return DataObject(0x75, try Self.code(Self.value(0x74, in: data), code)).bytes
    }

    private static func check(_ data: [UInt8], against expected: [UInt8]) throws(CardStatus) {
        guard ConstantTime.areEqual(expected, try value(0x75, in: data)) else { throw .wrongData }
    }

    // MARK: Fields

    /// The hash function in the low half of a key's first byte; nil if the key is not valid.
    private static func digest(_ key: [UInt8]) -> MessageDigest? {
        guard key.count > 1, [0x10, 0x20].contains(key[0] & 0xF0) else { return nil }
        return [1: .sha1, 2: .sha256, 3: .sha512][key[0] & 0x0F]
    }

    /// The code of a challenge, with the secret that begins in a key.
    private static func code(_ challenge: [UInt8], _ key: [UInt8], from start: Int = 1) throws(CardStatus) -> [UInt8] {
        guard let digest = digest(key) else { throw .wrongData }
        do { return try digest.hmac(challenge, key: Array(key[start...])) } catch { throw .executionError }
    }

    private static func value(_ tag: UInt16, in data: [UInt8]) throws(CardStatus) -> [UInt8] {
        var rest = data[...]
        while let object = DataObject(takingFrom: &rest) { if object.tag == tag { return object.value } }
        throw .wrongData
    }

    /// The name of an account's value, from the name at the start of a command.
    private static func key(_ data: [UInt8]) throws(CardStatus) -> String {
        let name = try value(0x71, in: data)
        guard data[0] == 0x71, (1...64).contains(name.count), let text = String(validating: name, as: UTF8.self) else {
            throw .wrongData
        }
        return prefix + text
    }

    private static func random() -> [UInt8] { (0..<8).map { _ in UInt8.random(in: 0...255) } }
}

extension CardStatus {
    /// The account does not exist, or no password is set.
    fileprivate static let noSuchObject = CardStatus(rawValue: 0x6984)
}
