// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
package import TagLink

/// An AES key of an NTAG 424 DNA with its version. No message shows the key.
package struct NTAG424Key: Sendable, Hashable {
    /// The key, 16 bytes.
    package let bytes: SecretBytes
    /// The version that the tag stores with the key, and reports to everybody.
    package let version: UInt8

    /// Creates a key; each argument is the property of that name.
    package init(_ bytes: SecretBytes, version: UInt8) {
        self.bytes = bytes
        self.version = version
    }

    /// The key of a new tag: zeros, version 0.
    package static let factory = NTAG424Key(SecretBytes([UInt8](repeating: 0, count: 16)), version: 0)
}

/// A session with an NTAG 424 DNA after an authentication with one of its keys, in AES or LRP mode (NT4H2421Gx data sheet,
/// 9 and 10).
///
/// The session ends when the tag refuses a command, loses power, or key 0 changes.
package struct NTAG424Session: Sendable {
    /// The protection of a command and its answer.
    package enum Protection: Sendable {
        case plain
        /// Both have a MAC.
        case maced
        /// The command's data are encrypted, and both have a MAC.
        case enciphered
    }

    /// Whether the tag is in LRP mode.
    package let usesLRP: Bool
    private let card: any APDULink
    private var codes: EV2Codes
    private var counter: UInt16 = 0

    /// Authenticates with a key: AUTHENTICATE LRP FIRST (10.4.3). A tag in AES mode answers it as AUTHENTICATE EV2 FIRST,
    /// with another length (table 19). The tag's application must be selected.
    ///
    /// - Parameters:
    ///   - number: the key's number, 0 to 4.
    ///   - challenge: 16 bytes, random by default.
    /// - Throws: ``TagError`` with `authenticationFailed` when the tag has another key, `refused`, for example after too
    ///   many wrong keys, `unsupported` without the system's OpenSSL, `tagLost`, `badAnswer`, `readerUnavailable`,
    ///   `cancelled`.
    package static func begin(
        with card: any APDULink,
        key number: UInt8,
        _ key: SecretBytes,
        challenge: [UInt8]? = nil
    ) async throws(TagError) -> NTAG424Session {
        let challenge = challenge ?? (0..<16).map { _ in UInt8.random(in: 0...255) }
        let chain = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: 16))
        let cipher = try coded { () throws(CryptographyError) in try BlockCipher.aes(key.bytes) }
        // PCDCap2.1: bit 1 asks for LRP.
        let first = try await card.send(native(0x71, [number, 0x01, 0x02]))
        let usesLRP = first.data.count == 17 && first.data[0] == 0x01
        guard first.status.rawValue == 0x91AF, usesLRP || first.data.count == 16 else {
            throw refusal(0x71, first.status)
        }
        var (codes, cardChallenge, proof) = try coded { () throws(CryptographyError) in
            let cardChallenge = usesLRP ? Array(first.data[1...]) : try cipher.decrypt(first.data, chain)
            let codes = try EV2Codes(
                key: key.bytes,
                readerChallenge: challenge,
                cardChallenge: cardChallenge,
                usesLRP: usesLRP
            )
            let proof =
                usesLRP
                ? challenge + (try codes.proof(challenge + cardChallenge))
                : try cipher.encrypt(challenge + cardChallenge.rotated, chain)
            return (codes, cardChallenge, proof)
        }
        let second = try await card.send(native(0xAF, proof))
        let wrongKey = TagError(.authenticationFailed, "The tag has another key \(number).")
        guard second.status.rawValue != 0x91AE else { throw wrongKey }
        guard second.status.rawValue == 0x9100, second.data.count == 32 else { throw refusal(0x71, second.status) }
        let (start, end) = (Array(second.data[..<16]), Array(second.data[16...]))
        // The answer has TI first, and the capabilities of the tag and of this reader last.
        let (answer, isProved) = try coded { () throws(CryptographyError) in
            guard usesLRP else {
                let answer = try cipher.decrypt(start + end, chain)
                return (answer, ConstantTime.areEqual(answer[4..<20], challenge.rotated))
            }
            let answer = try codes.decrypt(start, 0, isAnswer: true)
            return (answer, ConstantTime.areEqual(end, try codes.proof(cardChallenge + challenge + start)))
        }
        guard isProved, answer.suffix(6) == [0x02, 0, 0, 0, 0, 0] else { throw wrongKey }
        codes.transaction = Array(answer[..<4])
        return NTAG424Session(usesLRP: usesLRP, card: card, codes: codes)
    }

    /// Sends a command, and checks the MAC of its answer.
    ///
    /// - Parameters:
    ///   - header: the parameters, which are never encrypted.
    ///   - endsSession: whether the answer has no MAC, because the command ends the session.
    /// - Returns: the answer's data.
    /// - Throws: ``TagError`` with `refused`, `authenticationFailed` for a wrong MAC, `unsupported`, `tagLost`,
    ///   `badAnswer`, `readerUnavailable`, `cancelled`.
    package mutating func send(
        _ command: UInt8,
        _ header: [UInt8],
        _ data: [UInt8] = [],
        _ protection: Protection = .maced,
        endsSession: Bool = false
    ) async throws(TagError) -> [UInt8] {
        let sent = try coded { () throws(CryptographyError) in
            var body = header + data
            if protection == .enciphered {
                let end = [0x80] + [UInt8](repeating: 0, count: 15 - data.count % 16)
                body = header + (try codes.encrypt(data + end, counter, isAnswer: false))
            }
            return protection == .plain ? body : body + (try codes.mac(command, counter, body))
        }
        let answer = try await card.send(Self.native(command, sent))
        guard answer.status.rawValue == 0x9100 else { throw Self.refusal(command, answer.status) }
        counter &+= 1
        guard protection != .plain, !endsSession else { return answer.data }
        let result = Array(answer.data.dropLast(8))
        let code = try coded { () throws(CryptographyError) in try codes.mac(0x00, counter, result) }
        guard ConstantTime.areEqual(answer.data.suffix(8), code) else {
            throw TagError(.authenticationFailed, "The MAC of the tag's answer is wrong.")
        }
        return result
    }

    /// Changes a key: CHANGE KEY (10.6.1), in a session of key 0. For key 0, the session then ends.
    package mutating func changeKey(
        _ number: UInt8,
        from old: SecretBytes,
        to new: NTAG424Key
    ) async throws(TagError) {
        let bytes = new.bytes.bytes
        let data =
            number == 0
            ? bytes + [new.version]
            : zip(bytes, old.bytes).map { $0 ^ $1 } + [new.version] + bytes.desfireCRC32
        _ = try await send(0xC4, [number], data, .enciphered, endsSession: number == 0)
    }

    /// Switches the tag to LRP mode, for good: SET CONFIGURATION (10.5.1), in a session of key 0, which then ends.
    fileprivate mutating func enableLRP() async throws(TagError) {
        _ = try await send(0x5C, [0x05], [0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0], .enciphered, endsSession: true)
    }

    static func native(_ command: UInt8, _ data: [UInt8]) -> CommandAPDU {
        CommandAPDU(0x90, command, 0x00, 0x00, data: data, expectedLength: 256)
    }

    static func refusal(_ command: UInt8, _ status: StatusWord) -> TagError {
        let name = command.hexText(digits: 2)
        switch status.rawValue {
        case 0x919D, 0x91AE:
            return TagError(.keyNeeded, "The tag refused command \(name): its key is not allowed to do this.")
        case 0x91AD:
            return TagError(
                .refused,
                "The tag refuses keys for some time, because too many were wrong. Try again later."
            )
        default: return TagError(.refused, "The tag refused command \(name) with \(status).")
        }
    }
}

// MARK: Configuration

/// What an NTAG 424 DNA is to contain: its message, the settings of the message's file, and keys; and whether it is to be
/// in LRP mode. What is nil, missing or false stays as it is.
package struct NTAG424Configuration: Sendable {
    /// The whole NDEF file.
    package var file: [UInt8]?
    /// The settings of the NDEF file, in the format of CHANGE FILE SETTINGS.
    package var settings: [UInt8]?
    /// The new keys by their numbers.
    package var keys: [UInt8: NTAG424Key]
    /// Whether to switch the tag to LRP mode, for good.
    package var usesLRP: Bool

    /// Creates a configuration; each argument is the property of that name.
    package init(
        file: [UInt8]? = nil,
        settings: [UInt8]? = nil,
        keys: [UInt8: NTAG424Key] = [:],
        usesLRP: Bool = false
    ) {
        self.file = file
        self.settings = settings
        self.keys = keys
        self.usesLRP = usesLRP
    }
}

/// What an NTAG 424 DNA contains, and the session of key 0 that read it.
package struct NTAG424State: Sendable {
    /// The NDEF file, without inserted data; nil if it needs another key.
    package fileprivate(set) var file: [UInt8]?
    /// The settings of the NDEF file, in the format of CHANGE FILE SETTINGS.
    package fileprivate(set) var settings: [UInt8] = []
    /// The keys that were found, by their numbers.
    package fileprivate(set) var keys: [UInt8: NTAG424Key] = [:]
    /// Whether the tag is in LRP mode.
    package var usesLRP: Bool { session.usesLRP }
    fileprivate var session: NTAG424Session

    /// Whether the tag already has a configuration.
    fileprivate func has(_ wanted: NTAG424Configuration) -> Bool {
        (wanted.file == nil || wanted.file == file) && (wanted.settings == nil || wanted.settings == settings)
            && wanted.keys.allSatisfy { keys[$0] == $1 } && (usesLRP || !wanted.usesLRP)
    }

    /// Whether a right of the settings, a digit of four bits, is free or of key 0.
    fileprivate func allows(_ right: UInt8) -> Bool { [0x00, 0x0E].contains(right & 0x0F) }
}

extension Type4Tag {
    private static let messageFile: UInt8 = 2

    /// Selects the application of an NTAG 424 DNA, and reads the versions of its keys, which needs no key (10.6.2).
    ///
    /// - Throws: ``TagError`` with `unsupported` for another product, `refused`, `tagLost`, `badAnswer`,
    ///   `readerUnavailable`, `cancelled`.
    package func ntag424KeyVersions() async throws(TagError) -> [UInt8] {
        defer { selectionWasChanged() }
        guard try await link.send(.select(application: Self.applicationName)).status == .success,
            let version = try await DESFireVersion.read(from: link),
            version.productName?.hasPrefix("NTAG 424 DNA") == true
        else { throw TagError(.unsupported, "This tag is not an NTAG 424 DNA.") }
        var versions: [UInt8] = []
        for number in UInt8(0)..<5 {
            let answer = try await link.send(NTAG424Session.native(0x64, [number]))
            guard answer.status.rawValue == 0x9100, let version = answer.data.first else {
                throw NTAG424Session.refusal(0x64, answer.status)
            }
            versions.append(version)
        }
        return versions
    }

    /// Reads an NTAG 424 DNA with its keys.
    ///
    /// - Parameter candidates: the possible keys by their numbers; key 0 is required. Those with the version that the tag
    ///   reports are tried first, because the tag counts wrong ones.
    /// - Throws: the errors of ``ntag424KeyVersions()`` and of ``NTAG424Session``; `authenticationFailed` when no
    ///   candidate of a number is right.
    package func ntag424State(_ candidates: [UInt8: [NTAG424Key]]) async throws(TagError) -> NTAG424State {
        let versions = try await ntag424KeyVersions()
        var keys: [UInt8: NTAG424Key] = [:]
        var session: NTAG424Session?
        // Key 0 is last, so that its session remains.
        for number in candidates.keys.sorted(by: >) where Int(number) < versions.count {
            let version = versions[Int(number)]
            let possible = candidates[number] ?? []
            for key in possible.filter({ $0.version == version }) + possible.filter({ $0.version != version }) {
                do throws(TagError) {
                    session = try await NTAG424Session.begin(with: link, key: number, key.bytes)
                    keys[number] = NTAG424Key(key.bytes, version: version)
                    break
                } catch {
                    guard error.code == .authenticationFailed else { throw error }
                }
            }
            guard keys[number] != nil else {
                throw TagError(
                    .authenticationFailed,
                    "Key \(number) of the tag is none of the given keys. Nothing was changed."
                )
            }
        }
        guard let session, keys[0] != nil else { throw TagError(.keyNeeded, "Key 0 of the tag is needed.") }
        var state = NTAG424State(keys: keys, session: session)
        // The answer has the type of the file, FileOption, the rights, 3 bytes of size, and the dynamic messaging.
        let settings = try await state.session.send(0xF5, [Self.messageFile])
        guard settings.count >= 7 else { throw TagError(.badAnswer, "The settings of the file are incomplete.") }
        state.settings = Array(settings[1..<4] + settings[7...])
        let size = Int(settings[4]) | Int(settings[5]) << 8
        guard state.settings[0] & 0x01 == 0, state.allows(settings[3] >> 4) || state.allows(settings[2] >> 4) else {
            return state
        }
        var file: [UInt8] = []
        while file.count < size {
            let count = min(128, size - file.count)
            file += try await state.session.send(0xAD, Self.range(file.count, count), [], .plain)
        }
        state.file = file
        return state
    }

    /// Gives an NTAG 424 DNA a configuration, and checks that it has it. Only what differs is written.
    ///
    /// If the tag is lost, it has a valid message: the old, none, or the new one, unless a byte of the length was half
    /// programmed. The same call, with both old and new keys as candidates, completes the configuration.
    ///
    /// - Throws: the errors of ``ntag424State(_:)``; `unsupported` when the settings need another key than key 0,
    ///   `updateFailed` when the tag accepted everything, but has other contents.
    package func configure(_ wanted: NTAG424Configuration, candidates: [UInt8: [NTAG424Key]]) async throws(TagError) {
        var state = try await ntag424State(candidates)
        guard !state.has(wanted) else { return }
        // This stops dynamic messages and ends the session, so it comes first, unless the settings can't be changed.
        if wanted.usesLRP, !state.usesLRP {
            if wanted.settings != nil || wanted.file != nil { try state.checkSettingsCanChange() }
            try await state.session.enableLRP()
            state = try await ntag424State(candidates)
        }
        // Keys first, so that a link is never changed before its keys are.
        for (number, key) in wanted.keys.sorted(by: { $0.key < $1.key }) where number != 0 && state.keys[number] != key
        {
            guard let old = state.keys[number] else { throw TagError(.keyNeeded, "The old key \(number) is needed.") }
            try await state.session.changeKey(number, from: old.bytes, to: key)
        }
        if let file = wanted.file, state.file != file {
            // The tag inserts data in the places of its old message, so this must stop first.
            if state.settings[0] != 0 || !state.allows(state.settings[2]) && !state.allows(state.settings[1] >> 4) {
                try await state.change(settings: [0x00, 0x00, 0xE0])
            }
            try await state.write([0x00, 0x00], at: 0)
            for start in stride(from: 2, to: file.count, by: 128) {
                try await state.write(Array(file[start..<min(start + 128, file.count)]), at: start)
            }
            try await state.write(Array(file[..<2]), at: 0)
        }
        if let settings = wanted.settings, state.settings != settings { try await state.change(settings: settings) }
        if let key = wanted.keys[0], let old = state.keys[0], old != key {
            try await state.session.changeKey(0, from: old.bytes, to: key)
        }
        forgetMemory()
        let keys = wanted.keys.mapValues { [$0] }.merging(candidates) { new, _ in new }
        guard try await ntag424State(keys).has(wanted) else {
            throw TagError(.updateFailed, "The tag accepted the changes, but has other contents.")
        }
    }

    fileprivate static func range(_ offset: Int, _ count: Int) -> [UInt8] {
        [messageFile] + [UInt8](littleEndian: offset, count: 3) + [UInt8](littleEndian: count, count: 3)
    }
}

extension NTAG424State {
    fileprivate mutating func write(_ bytes: [UInt8], at offset: Int) async throws(TagError) {
        _ = try await session.send(0x8D, Type4Tag.range(offset, bytes.count), bytes, .plain)
    }

    fileprivate func checkSettingsCanChange() throws(TagError) {
        guard !allows(settings[1]) else { return }
        let reason = "Key \(settings[1] & 0x0F) changes the settings of this tag's message, or nobody can (F)."
        throw TagError(.unsupported, reason)
    }

    /// CHANGE FILE SETTINGS of the NDEF file (10.7.1).
    fileprivate mutating func change(settings: [UInt8]) async throws(TagError) {
        try checkSettingsCanChange()
        let isFree = self.settings[1] & 0x0F == 0x0E
        _ = try await session.send(0x5F, [0x02], settings, isFree ? .plain : .enciphered)
        self.settings = settings
    }
}
