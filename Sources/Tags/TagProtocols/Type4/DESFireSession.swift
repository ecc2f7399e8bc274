// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
package import TagLink

package struct DESFireSecret: Sendable, Hashable {
    /// The cipher of a key. The raw value is the upper two bits of an application's number of keys.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// DES, or triple DES with two keys.
        case des = 0x00
        case tripleDES = 0x40
        case aes = 0x80
    }

    package let kind: Kind
    package let bytes: SecretBytes

    /// Creates a key; nil unless it has 16 bytes, 24 for triple DES with three keys, or 8 for single DES.
    package init?(_ kind: Kind, _ bytes: [UInt8]) {
        let bytes = kind == .des && bytes.count == 8 ? bytes + bytes : bytes
        guard bytes.count == (kind == .tripleDES ? 24 : 16) else { return nil }
        (self.kind, self.bytes) = (kind, SecretBytes(bytes))
    }

    /// Whether both halves are equal but for the lowest bits, which DES ignores.
    fileprivate var isSingleDES: Bool {
        kind == .des && zip(bytes.bytes.prefix(8), bytes.bytes.suffix(8)).allSatisfy { $0 & 0xFE == $1 & 0xFE }
    }

    fileprivate func cipher() throws(CryptographyError) -> BlockCipher {
        kind == .aes ? try .aes(bytes.bytes) : try .des(bytes.bytes)
    }
}

/// How the data of a file are protected on their way.
package enum DESFireProtection: UInt8, Sendable, Hashable {
    case plain = 0
    case maced = 1
    case enciphered = 3
}

/// The commands of a MIFARE DESFire EV1 or later in APDUs of class 90, with the secure messaging of EV1: AUTHENTICATE ISO
/// for DES, and AES (MF3ICD81 data sheet, 9).
///
/// An authentication ends when another application is selected, the card refuses a command, loses power, or the own key
/// changes.
package struct DESFireSession: Sendable {
    /// The most data bytes of a command's frame.
    private static let frameLength = 54

    private struct Messaging: Sendable {
        let key: UInt8
        let cipher: BlockCipher
        var vector: [UInt8]

        /// A MAC, which becomes the next vector.
        mutating func code(_ message: [UInt8]) throws(CryptographyError) -> ArraySlice<UInt8> {
            vector = try cipher.cmac(message, vector: vector)
            return vector.prefix(8)
        }

        mutating func encrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
            let length = cipher.blockLength
            let encrypted = try cipher.encrypt(data.padded(to: length), .blockChaining(vector: vector))
            vector = Array(encrypted.suffix(length))
            return encrypted
        }

        mutating func decrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
            let plain = try cipher.decrypt(data, .blockChaining(vector: vector))
            vector = Array(data.suffix(cipher.blockLength))
            return plain
        }
    }

    private let card: any APDULink
    private var messaging: Messaging?

    /// The number of the key that was proved; nil for none.
    package var provedKey: UInt8? { messaging?.key }

    package init(_ card: any APDULink) { self.card = card }

    /// Selects an application, or the card itself with 0. Ends an authentication.
    package mutating func select(_ application: UInt32) async throws(TagError) {
        messaging = nil
        _ = try await send(0x5A, [UInt8](littleEndian: Int(application), count: 3))
    }

    /// Proves that the reader has a key of the selected application, or of the card itself.
    ///
    /// - Throws: ``TagError`` with `authenticationFailed` when the card has another key or key kind, `unsupported`
    ///   without the system's OpenSSL, and the errors of ``send(_:_:_:command:answer:length:)``.
    package mutating func authenticate(_ number: UInt8, _ key: DESFireSecret) async throws(TagError) {
        messaging = nil
        let cipher = try coded { () throws(CryptographyError) in try key.cipher() }
        let length = key.kind == .des ? 8 : 16
        let first = try await exchange(key.kind == .aes ? 0xAA : 0x1A, [number])
        let wrongKey = TagError(.authenticationFailed, "The card has another key \(number), or one of another kind.")
        guard first.status == 0x91AF, first.data.count == length else {
            // AE: a key of another kind.
            throw first.status == 0x91AE ? wrongKey : Self.refusal(0xAA, first.status)
        }
        let challenge = (0..<length).map { _ in UInt8.random(in: 0...255) }
        let proof = try coded { () throws(CryptographyError) in
            try ReaderProof(cipher: cipher, challenge: challenge, answering: first.data)
        }
        let second = try await exchange(0xAF, proof.sent)
        guard second.status == 0x9100, second.data.count == length else { throw wrongKey }
        let session = try coded { () throws(CryptographyError) -> BlockCipher? in
            guard try proof.isConfirmed(by: second.data) else { return nil }
            let cardChallenge = proof.cardChallenge
            func part(_ start: Int) -> [UInt8] {
                Array(challenge[start..<start + 4] + cardChallenge[start..<start + 4])
            }
            return switch key.kind {
            case .aes: try .aes(part(0) + part(12))
            case .tripleDES: try .des(part(0) + part(6) + part(12))
            case .des: try .des(key.isSingleDES ? part(0) + part(0) : part(0) + part(4))
            }
        }
        guard let session else { throw wrongKey }
        let vector = [UInt8](repeating: 0, count: session.blockLength)
        messaging = Messaging(key: number, cipher: session, vector: vector)
    }

    /// Sends a command, and checks the MAC or checksum of its answer after an authentication.
    ///
    /// - Parameters:
    ///   - header: the parameters, which are never encrypted.
    ///   - data: the data, which the command's protection covers.
    ///   - length: the length of the answer's data; needed for an enciphered answer.
    /// - Throws: ``TagError`` with `keyNeeded` when the card wants a key first, `unsupported` for what it says why, `refused`,
    ///   `authenticationFailed` for a wrong MAC, `tagLost`, `badAnswer`, `readerUnavailable`, `cancelled`.
    package mutating func send(
        _ command: UInt8,
        _ header: [UInt8] = [],
        _ data: [UInt8] = [],
        command protection: DESFireProtection = .plain,
        answer: DESFireProtection = .plain,
        length: Int = 0
    ) async throws(TagError) -> [UInt8] {
        guard var messaging else { return try await accepted(command, header + data) }
        self.messaging = nil
        let sent = try coded { () throws(CryptographyError) in
            if protection == .enciphered {
                return header + (try messaging.encrypt(data + ([command] + header + data).desfireCRC32))
            }
            let code = try messaging.code([command] + header + data)
            return header + data + (protection == .maced ? code : [])
        }
        let received = try await accepted(command, sent)
        let result = try coded { () throws(CryptographyError) -> [UInt8]? in
            guard answer == .enciphered else {
                let data = Array(received.dropLast(8))
                return ConstantTime.areEqual(received.suffix(8), try messaging.code(data + [0x00])) ? data : nil
            }
            guard received.count >= length + 4, received.count.isMultiple(of: messaging.cipher.blockLength) else {
                return nil
            }
            let plain = try messaging.decrypt(received)
            let data = Array(plain[..<length])
            return ConstantTime.areEqual(plain[length..<length + 4], (data + [0x00]).desfireCRC32) ? data : nil
        }
        guard let result else {
            throw TagError(.authenticationFailed, "The MAC or checksum of the card's answer is wrong.")
        }
        self.messaging = messaging
        return result
    }

    /// CHANGE KEY: changes a key in a session of the application's key that may change it (9.5.6).
    ///
    /// - Parameters:
    ///   - old: the old key; only needed when it is not the proved one.
    ///   - version: the version of an AES key. A DES key has it in its own bytes.
    package mutating func changeKey(
        _ number: UInt8,
        from old: DESFireSecret?,
        to new: DESFireSecret,
        version: UInt8,
        ofCard isOfCard: Bool
    ) async throws(TagError) {
        guard var messaging else { throw TagError(.keyNeeded, "The key that changes keys is needed.") }
        let isOwn = number == messaging.key
        // Only the card's own key may change its kind.
        let parameter = isOfCard ? number | new.kind.rawValue : number
        var sent = new.bytes.bytes
        if !isOwn, let old { sent = zip(sent, old.bytes.bytes).map { $0 ^ $1 } }
        if new.kind == .aes { sent.append(version) }
        sent += ([0xC4, parameter] + sent).desfireCRC32
        if !isOwn { sent += new.bytes.bytes.desfireCRC32 }
        self.messaging = nil
        let encrypted = try coded { () throws(CryptographyError) in try messaging.encrypt(sent) }
        let answer = try await accepted(0xC4, [parameter] + encrypted)
        if isOwn { return }
        let isRight = try coded { () throws(CryptographyError) in
            ConstantTime.areEqual(answer, try messaging.code([0x00]))
        }
        guard isRight else { throw TagError(.authenticationFailed, "The MAC of the card's answer is wrong.") }
        self.messaging = messaging
    }

    /// Sends a command in as many frames as it takes, and returns the data of all frames of its answer.
    private func accepted(_ command: UInt8, _ data: [UInt8]) async throws(TagError) -> [UInt8] {
        let answer = try await exchange(command, data)
        guard answer.status == 0x9100 else { throw Self.refusal(command, answer.status) }
        return answer.data
    }

    private func exchange(
        _ command: UInt8,
        _ data: [UInt8]
    ) async throws(TagError) -> (status: UInt16, data: [UInt8]) {
        var instruction = command
        var rest = data[...]
        var received: [UInt8] = []
        // An answer has at most 16 MB; a card that always continues is not trusted.
        for _ in 0..<4096 {
            let part = Array(rest.prefix(Self.frameLength))
            rest = rest.dropFirst(part.count)
            let answer = try await card.send(
                CommandAPDU(0x90, instruction, 0x00, 0x00, data: part, expectedLength: 256)
            )
            received += answer.data
            // An authentication has two commands, of which the first answer is 91AF.
            let continues = answer.status.rawValue == 0x91AF && ![0x0A, 0x1A, 0xAA].contains(command)
            guard continues, !rest.isEmpty || command != 0xAF else { return (answer.status.rawValue, received) }
            instruction = 0xAF
        }
        throw TagError(.badAnswer, "The card never ends its answer.")
    }

    private static func refusal(_ command: UInt8, _ status: UInt16) -> TagError {
        let meaning: [UInt16: String] = [
            0x91AE: "a key is needed", 0x919D: "its settings do not allow it", 0x91A0: "there is no such application",
            0x91F0: "there is no such file", 0x91DE: "it exists already", 0x910E: "the memory is full",
            0x9140: "there is no such key", 0x91BE: "this is outside of the file", 0x917E: "the length is wrong",
            0x919E: "a value is wrong", 0x91CE: "there are too many", 0x911C: "the card does not know the command",
        ]
        let reason = meaning[status].map { ": \($0)" } ?? ""
        return TagError(
            status == 0x91AE ? .keyNeeded : reason.isEmpty ? .refused : .unsupported,
            "The card refused DESFire command \(command.hexText(digits: 2)) with "
                + "\(status.hexText(digits: 4))\(reason) (MF3ICD81 data sheet, 8.3)."
        )
    }
}

// MARK: Contents

/// The settings of a DESFire file (9.6.3).
package struct DESFireFileSettings: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case standard(size: Int)
        case backup(size: Int)
        case value(lower: Int32, upper: Int32, limitedCredit: Bool)
        case linear(size: Int, maximum: Int, count: Int)
        case cyclic(size: Int, maximum: Int, count: Int)
    }

    package var kind: Kind
    package var protection: DESFireProtection
    /// Four bits each for reading, writing, both, and changing the settings: the number of a key, E for everybody, F for
    /// nobody.
    package var rights: UInt16

    package init(kind: Kind, protection: DESFireProtection, rights: UInt16) {
        (self.kind, self.protection, self.rights) = (kind, protection, rights)
    }

    /// Reads the answer of GET FILE SETTINGS; nil when it is not one.
    init?(_ answer: [UInt8]) {
        guard answer.count >= 7 else { return nil }
        func number(_ index: Int, _ count: Int = 3) -> Int { answer.littleEndian(at: index, count: count) }
        func value(_ index: Int) -> Int32 { Int32(truncatingIfNeeded: number(index, 4)) }
        switch (answer[0], answer.count) {
        case (0, _): kind = .standard(size: number(4))
        case (1, _): kind = .backup(size: number(4))
        case (2, 17...): kind = .value(lower: value(4), upper: value(8), limitedCredit: answer[16] & 0x01 != 0)
        case (3, 13...): kind = .linear(size: number(4), maximum: number(7), count: number(10))
        case (4, 13...): kind = .cyclic(size: number(4), maximum: number(7), count: number(10))
        default: return nil
        }
        protection = DESFireProtection(rawValue: answer[1] & 0x03) ?? .plain
        rights = UInt16(number(2, 2))
    }

    /// How many bytes the file can hold.
    package var byteCount: Int {
        switch kind {
        case .standard(let size), .backup(let size): size
        case .value: 4
        case .linear(let size, let maximum, _), .cyclic(let size, let maximum, _): size * maximum
        }
    }

    /// The protection of data for a reader that has proved this key: that of the file if a right belongs to the key, and
    /// none if everybody has the right.
    ///
    /// - Parameter shifts: the position of each right that allows the command.
    func protection(for key: UInt8?, _ shifts: Int...) -> DESFireProtection {
        guard let key else { return .plain }
        return shifts.contains { UInt8(rights >> $0 & 0x0F) == key } ? protection : .plain
    }
}

extension DESFireSession {
    /// The AIDs of all applications: at most 28, on later cards more. The card itself must be selected.
    package mutating func applications() async throws(TagError) -> [UInt32] {
        let answer = try await send(0x6A)
        // The memory of the largest card has room for fewer.
        guard answer.count < 3 * 256 else { throw TagError(.badAnswer, "The card claims more than 255 applications.") }
        return stride(from: 0, to: answer.count / 3 * 3, by: 3).map {
            UInt32(answer.littleEndian(at: $0, count: 3))
        }
    }

    /// The number of free bytes.
    package mutating func freeMemory() async throws(TagError) -> Int {
        let answer = try await send(0x6E)
        guard answer.count == 3 else { throw TagError(.badAnswer, "The size of the free memory is incomplete.") }
        return answer.littleEndian(at: 0, count: 3)
    }

    /// The settings of the selected application's or the card's keys, and their kind and number.
    package mutating func keySettings() async throws(TagError) -> (
        settings: UInt8, kind: DESFireSecret.Kind, count: Int
    ) {
        let answer = try await send(0x45)
        guard answer.count >= 2, let kind = DESFireSecret.Kind(rawValue: answer[1] & 0xC0) else {
            throw TagError(.badAnswer, "The settings of the keys are incomplete.")
        }
        return (answer[0], kind, Int(answer[1] & 0x0F))
    }

    package mutating func keyVersion(_ number: UInt8) async throws(TagError) -> UInt8 {
        guard let version = try await send(0x64, [number]).first else {
            throw TagError(.badAnswer, "The version of the key is missing.")
        }
        return version
    }

    /// The numbers of the selected application's files.
    package mutating func files() async throws(TagError) -> [UInt8] {
        Set(try await send(0x6F)).filter { $0 < 32 }.sorted()
    }

    package mutating func settings(of file: UInt8) async throws(TagError) -> DESFireFileSettings {
        guard let settings = DESFireFileSettings(try await send(0xF5, [file])) else {
            throw TagError(.unsupported, "File \(file) is of a kind that is not known.")
        }
        return settings
    }

    /// Reads a whole file: its bytes, its records from the oldest to the newest, or its value as 4 bytes, low byte first.
    ///
    /// - Parameter settings: the file's settings if they are known.
    package mutating func read(
        _ file: UInt8,
        _ settings: DESFireFileSettings? = nil
    ) async throws(TagError) -> [UInt8] {
        let settings = if let settings { settings } else { try await self.settings(of: file) }
        let protection = settings.protection(for: provedKey, 12, 4)
        let number = [UInt8](littleEndian: 0, count: 3)
        switch settings.kind {
        case .standard(let size), .backup(let size):
            var bytes: [UInt8] = []
            // In parts, so that a card that is lost has sent something, and an answer fits a reader's buffer.
            while bytes.count < size {
                let count = min(size - bytes.count, 1024)
                let range =
                    [file] + [UInt8](littleEndian: bytes.count, count: 3) + [UInt8](littleEndian: count, count: 3)
                let part = try await send(0xBD, range, answer: protection, length: count)
                guard part.count == count else { throw TagError(.badAnswer, "The card sent less than it has.") }
                bytes += part
            }
            return bytes
        case .value:
            let value = try await send(0x6C, [file], answer: settings.protection(for: provedKey, 12, 8, 4), length: 4)
            guard value.count == 4 else { throw TagError(.badAnswer, "A value has 4 bytes, not \(value.count).") }
            return value
        case .linear(let size, let maximum, let count), .cyclic(let size, let maximum, let count):
            guard count > 0 else { return [] }
            let range = [file] + number + [UInt8](littleEndian: count, count: 3)
            let records = try await send(0xBB, range, answer: protection, length: size * count)
            guard count <= maximum, records.count == size * count else {
                throw TagError(.badAnswer, "The card sent another number of records than it has.")
            }
            return records
        }
    }

    /// Writes bytes of a data file, or adds a record. A backup file and a record are committed in the end, so that the
    /// card has all of it or nothing.
    package mutating func write(_ bytes: [UInt8], to file: UInt8, at offset: Int) async throws(TagError) {
        let settings = try await settings(of: file)
        let protection = settings.protection(for: provedKey, 8, 4)
        let command: UInt8
        switch settings.kind {
        case .standard, .backup: command = 0x3D
        case .linear, .cyclic: command = 0x3B
        case .value: throw TagError(.unsupported, "File \(file) is a value, which has no bytes.")
        }
        let range = [file] + [UInt8](littleEndian: offset, count: 3) + [UInt8](littleEndian: bytes.count, count: 3)
        _ = try await send(command, range, bytes, command: protection)
        if case .standard = settings.kind { return }
        _ = try await send(0xC7)
    }

    /// Adds to a value, or subtracts from it, within its limits.
    package mutating func add(_ amount: Int32, to file: UInt8) async throws(TagError) {
        let settings = try await settings(of: file)
        let isCredit = amount >= 0
        let protection =
            isCredit ? settings.protection(for: provedKey, 4) : settings.protection(for: provedKey, 12, 8, 4)
        let bytes = [UInt8](littleEndian: Int(amount.magnitude), count: 4)
        _ = try await send(isCredit ? 0x0C : 0xDC, [file], bytes, command: protection)
        _ = try await send(0xC7)
    }

    /// Creates an application with keys of zeros, all of one kind.
    package mutating func createApplication(
        _ application: UInt32,
        settings: UInt8,
        keys: Int,
        _ kind: DESFireSecret.Kind
    ) async throws(TagError) {
        let identifier = [UInt8](littleEndian: Int(application), count: 3)
        _ = try await send(0xCA, identifier + [settings, UInt8(keys) | kind.rawValue])
    }

    /// Creates a file in the selected application.
    package mutating func createFile(_ number: UInt8, _ settings: DESFireFileSettings) async throws(TagError) {
        let head = [number, settings.protection.rawValue] + [UInt8](littleEndian: Int(settings.rights), count: 2)
        func bytes(_ numbers: Int..., count: Int = 3) -> [UInt8] {
            numbers.flatMap { [UInt8](littleEndian: $0, count: count) }
        }
        let (command, data): (UInt8, [UInt8]) =
            switch settings.kind {
            case .standard(let size): (0xCD, bytes(size))
            case .backup(let size): (0xCB, bytes(size))
            case .value(let lower, let upper, let limited):
                (0xCC, bytes(Int(lower), Int(upper), max(0, Int(lower)), count: 4) + [limited ? 1 : 0])
            case .linear(let size, let maximum, _): (0xC1, bytes(size, maximum))
            case .cyclic(let size, let maximum, _): (0xC0, bytes(size, maximum))
            }
        _ = try await send(command, head + data)
    }

    package mutating func deleteApplication(_ application: UInt32) async throws(TagError) {
        _ = try await send(0xDA, [UInt8](littleEndian: Int(application), count: 3))
    }

    package mutating func deleteFile(_ number: UInt8) async throws(TagError) { _ = try await send(0xDF, [number]) }

    /// FORMAT PICC: deletes all applications. The card keeps its own key.
    package mutating func format() async throws(TagError) { _ = try await send(0xFC) }
}
