// SPDX-License-Identifier: Apache-2.0
import CardCryptography
package import TagLink

/// A session with an electronic travel document: PACE or basic access control, and secure messaging (ICAO 9303-11, 4 and
/// 9.8).
package struct EMRTDSession: Sendable {
    private static let applicationName: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
    /// The most bytes of a file that are accepted. A face in a document has some 20 kilobytes.
    private static let maximumFile = 1 << 20
    /// How many bytes are read at once, so that the answer fits a short APDU, also in a data object and whole blocks of AES.
    private static let chunk = 0xDC

    private let card: any APDULink
    private var keys: EMRTDKeys
    /// The send sequence counter, which counts commands and answers.
    private var counter: UInt64

    /// What is printed in a document, and opens it.
    package enum Password: Sendable {
        /// Document number, date of birth and date of expiry, each with its check digit.
        case accessInformation([UInt8])
        /// The digits of the card access number (CAN).
        case accessNumber([UInt8])
    }

    /// Proves that the reader knows what is printed in the document, and selects the application: by PACE if the document
    /// has it, otherwise by basic access control.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the card is no travel document, has no PACE for its access number,
    ///   or without the system's OpenSSL; `authenticationFailed` when the password is wrong, `refused`, `tagLost`,
    ///   `badAnswer`, `readerUnavailable`, `cancelled`.
    package static func begin(
        with card: any APDULink,
        password: Password
    ) async throws(TagError) -> EMRTDSession {
        // PACE happens in the master file, which other applications may have left.
        _ = try await card.send(CommandAPDU(0x00, 0xA4, 0x00, 0x0C, data: [0x3F, 0x00]))
        if let choice = try await paceChoice(card) {
            var session = try await openByPACE(card, choice, password)
            guard try await session.send(CommandAPDU(0x00, 0xA4, 0x04, 0x0C, data: applicationName)).status == .success
            else { throw notADocument }
            return session
        }
        guard try await card.send(.select(application: applicationName)).status == .success else { throw notADocument }
        guard case .accessInformation(let information) = password else {
            let reason = "The document has no known kind of PACE, so an access number does not open it. Try its zone."
            throw TagError(.unsupported, reason)
        }
        return try await openByBasicAccessControl(card, information)
    }

    private static var notADocument: TagError {
        TagError(.unsupported, "This card is not an electronic travel document.")
    }

    /// Basic access control (4.3.1). The application is selected.
    private static func openByBasicAccessControl(
        _ card: any APDULink,
        _ information: [UInt8]
    ) async throws(TagError) -> EMRTDSession {
        let keys = try coded { () throws(CryptographyError) in try EMRTDKeys(accessInformation: information) }
        let challenge = try await card.send(CommandAPDU(0x00, 0x84, 0x00, 0x00, expectedLength: 8))
        guard challenge.status == .success, challenge.data.count == 8 else {
            let reason =
                "The document takes neither basic access control (\(challenge.status)) nor a known kind of PACE."
            throw TagError(.refused, reason)
        }
        let own = (0..<24).map { _ in UInt8.random(in: 0...255) }
        let proof = try coded { () throws(CryptographyError) in
            let encrypted = try keys.encrypt(Array(own[..<8]) + challenge.data + own[8...])
            return encrypted + (try keys.code(encrypted))
        }
        let answer = try await card.send(CommandAPDU(0x00, 0x82, 0x00, 0x00, data: proof, expectedLength: 40))
        let wrongZone = TagError(.authenticationFailed, "The document has another number, or other dates.")
        guard answer.status == .success, answer.data.count == 40 else { throw wrongZone }
        let seed = try coded { () throws(CryptographyError) -> [UInt8]? in
            guard ConstantTime.areEqual(try keys.code(Array(answer.data[..<32])), answer.data[32...]) else {
                return nil
            }
            let parts = try keys.decrypt(Array(answer.data[..<32]))
            guard ConstantTime.areEqual(parts[..<16], challenge.data + own[..<8]) else { return nil }
            return zip(own[8...], parts[16...]).map { $0 ^ $1 }
        }
        guard let seed else { throw wrongZone }
        return EMRTDSession(
            card: card,
            keys: try coded { () throws(CryptographyError) in try EMRTDKeys(seed: seed) },
            counter: UInt64(bytes: challenge.data[4...] + own[4..<8])
        )
    }

    init(card: any APDULink, keys: EMRTDKeys, counter: UInt64) {
        (self.card, self.keys, self.counter) = (card, keys, counter)
    }

    mutating func restart(with keys: EMRTDKeys) { (self.keys, counter) = (keys, 0) }

    /// Reads a file: EF.COM 011E, EF.SOD 011D, or 0101 to 0110 for a data group.
    ///
    /// - Returns: the file's data object; nil when the document does not have the file, or does not show it.
    /// - Throws: ``TagError`` with `refused`, `authenticationFailed` for a wrong MAC, `badAnswer`, `tagLost`,
    ///   `readerUnavailable`, `cancelled`.
    package mutating func read(_ file: UInt16) async throws(TagError) -> [UInt8]? {
        let selection = try await send(CommandAPDU(0x00, 0xA4, 0x02, 0x0C, data: file.bigEndianBytes))
        guard selection.status == .success else { return nil }
        var bytes: [UInt8] = []
        var length: Int?
        // Tag and length take at most five bytes.
        while bytes.count < length ?? 5 {
            let count = min((length ?? 5) - bytes.count, Self.chunk)
            let part = try await send(.readBinary(offset: bytes.count, count: count))
            let isFar = bytes.count > CommandAPDU.maximumShortOffset
            let data = isFar ? CommandAPDU.discretionaryData(part.data) ?? [] : part.data
            guard part.status.isSuccessOrWarning, !data.isEmpty, data.count <= count else {
                throw TagError(.badAnswer, "The document stopped to send a file, with \(part.status).")
            }
            bytes += data
            if length == nil { length = DataObject.length(bytes) }
            guard length ?? 0 <= Self.maximumFile else {
                throw TagError(.badAnswer, "A file of the document claims \(length ?? 0) bytes.")
            }
        }
        guard let length else { throw TagError(.badAnswer, "A file of the document has no valid length.") }
        return Array(bytes.prefix(length))
    }

    /// Sends a command by secure messaging (9.8). More than 256 expected bytes make it an extended one.
    mutating func send(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        let (keys, isOdd) = (keys, command.instruction & 1 == 1)
        var command = command
        command.instructionClass = 0x0C
        let block = keys.cipher.blockLength
        counter &+= 1
        let sent = counter
        let body = try coded { () throws(CryptographyError) in
            var objects: [UInt8] = []
            if !command.data.isEmpty {
                let encrypted = try keys.encrypt(command.data.paddedWithMark(to: block), counter: sent)
                objects += DataObject(isOdd ? 0x85 : 0x87, (isOdd ? [] : [0x01]) + encrypted).bytes
            }
            if let expectedLength = command.expectedLength {
                let length = [UInt8](bigEndian: expectedLength & 0xFFFF, count: expectedLength > 256 ? 2 : 1)
                objects += DataObject(0x97, length).bytes
            }
            let header = Array(command.bytes[..<4]).paddedWithMark(to: block)
            let code = try keys.code(header + objects, counter: sent)
            return objects + DataObject(0x8E, code).bytes
        }
        command.data = body
        command.expectedLength = max(command.expectedLength ?? 0, 256)
        let answer = try await card.send(command)
        // A document that ends the session answers without protection.
        guard let objects = DataObject.sequence(answer.data), let code = objects.last, code.tag == 0x8E else {
            throw TagError(.refused, "The document ended the session with \(answer.status).")
        }
        counter &+= 1
        let received = counter
        let covered = objects.dropLast().flatMap(\.bytes)
        let plain = try coded { () throws(CryptographyError) -> [UInt8]? in
            guard ConstantTime.areEqual(try keys.code(covered, counter: received), code.value) else { return nil }
            guard let object = objects.first(where: { $0.tag == 0x87 || $0.tag == 0x85 }) else { return [] }
            let encrypted = Array(object.value.dropFirst(object.tag == 0x87 ? 1 : 0))
            guard !encrypted.isEmpty, encrypted.count.isMultiple(of: block) else { return nil }
            return try keys.decrypt(encrypted, counter: received).withoutMark
        }
        guard let plain, let status = objects.first(where: { $0.tag == 0x99 })?.value, status.count == 2 else {
            throw TagError(.authenticationFailed, "The MAC of the document's answer is wrong.")
        }
        return ResponseAPDU(data: plain, status: StatusWord(rawValue: UInt16(high: status[0], low: status[1])))
    }
}

/// The signed hashes of a document's data groups (ICAO 9303-10, 4.6.2).
package struct EMRTDSecurityObject: Sendable, Hashable {
    private let digest: MessageDigest
    private let hashes: [Int: [UInt8]]

    /// Checks the signature of EF.SOD.
    ///
    /// - Parameters:
    ///   - file: EF.SOD.
    ///   - issuers: certificates of countries in PEM, one of which must have issued the signer's; nil for any signer.
    /// - Throws: ``TagError`` with `authenticationFailed` when the signature or a certificate is wrong, `badAnswer` for
    ///   another content, `unsupported` without the system's OpenSSL.
    package init(checking file: [UInt8], issuers: [UInt8]? = nil) throws(TagError) {
        var rest = file[...]
        guard let object = DataObject(takingFrom: &rest), object.tag == 0x77 else {
            throw TagError(.badAnswer, "EF.SOD does not begin with its tag.")
        }
        let content: [UInt8]
        do throws(CryptographyError) {
            content = try SignedMessage.content(of: object.value, issuers: issuers)
        } catch {
            throw TagError(error.code == .libraryMissing ? .unsupported : .authenticationFailed, error.reason)
        }
        let parts = DataObject.sequence(content)?.first.flatMap { DataObject.sequence($0.value) } ?? []
        guard parts.count >= 3, let digest = Self.digest(parts[1]), let groups = DataObject.sequence(parts[2].value)
        else { throw TagError(.badAnswer, "EF.SOD has no hashes of data groups.") }
        var hashes: [Int: [UInt8]] = [:]
        for group in groups {
            guard let fields = DataObject.sequence(group.value), fields.count == 2, let number = fields[0].value.last
            else { throw TagError(.badAnswer, "EF.SOD has an invalid hash.") }
            hashes[Int(number)] = fields[1].value
        }
        (self.digest, self.hashes) = (digest, hashes)
    }

    /// The hash function of an algorithm identifier: 1.3.14.3.2.26, or 2.16.840.1.101.3.4.2.x.
    private static func digest(_ algorithm: DataObject) -> MessageDigest? {
        guard let identifier = DataObject.sequence(algorithm.value)?.first?.value else { return nil }
        if identifier == [0x2B, 0x0E, 0x03, 0x02, 0x1A] { return .sha1 }
        guard identifier.starts(with: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]) else { return nil }
        switch identifier.last {
        case 1: return .sha256
        case 2: return .sha384
        case 3: return .sha512
        case 4: return .sha224
        default: return nil
        }
    }

    package var groups: Set<Int> { Set(hashes.keys) }

    /// Whether a data group is as it was signed; nil when its hash is not signed.
    package func isUnchanged(_ group: Int, _ file: [UInt8]) -> Bool? {
        guard let hash = hashes[group], let own = try? digest.hash(file) else { return nil }
        return own == hash
    }
}
