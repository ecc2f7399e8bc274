// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// How data are protected on their way between card and reader.
package enum CommunicationMode: Sendable {
    case plain
    /// With a message authentication code.
    case maced
    /// Enciphered, and protected against changes.
    case enciphered

    /// The mode that the lower two bits of a file's settings say.
    init(_ settings: UInt8) {
        switch settings & 0x03 {
        case 0x01: self = .maced
        case 0x03: self = .enciphered
        default: self = .plain
        }
    }
}

/// What of a command and its answer is protected.
package enum Protection: Sendable {
    /// What commands have that carry no secrets: as much as the session protects by itself.
    case standard
    /// Data in the command are protected, behind a header of some octets. `length` is that of the data by themselves,
    /// where the header tells it.
    case command(CommunicationMode, header: Int, length: Int)
    /// Data in the command are enciphered, behind a header of some octets. Nothing tells their length, so a mark follows
    /// their checksum.
    case markedCommand(header: Int)
    /// Data in the answer are protected. `isOpenEnded` says that the reader did not name a length, so that the end has
    /// to be marked.
    case answer(CommunicationMode, isOpenEnded: Bool = false)
}

/// What protects messages after an authentication: the session keys, and what goes on from message to message.
package protocol SecureMessaging: Sendable {
    /// How many octets data have on their way.
    func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int

    /// Takes the protection off a command.
    ///
    /// - Returns: the data that the command has without a session.
    /// - Throws: `integrityError` or `lengthError`.
    mutating func open(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> [UInt8]

    /// Takes the protection off the data of CHANGE KEY, which have checksums of their own.
    ///
    /// - Parameters:
    ///   - number: the key's number as the command has it.
    ///   - cryptogram: what follows the number.
    ///   - kind: what the new key is for.
    ///   - old: the key that is replaced; nil when it is the session's own, whose owner need not prove that it is known.
    mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey

    /// Protects the data of an answer.
    ///
    /// - Parameter status: the status that the answer ends with, which is protected too.
    mutating func seal(
        _ data: [UInt8],
        _ protection: Protection,
        status: UInt8
    ) throws(DESFireStatus) -> [UInt8]
}

extension DESFireKey {
    /// Takes a new key from what CHANGE KEY sends: its octets, combined with those of another key that it replaces, and
    /// the version of an AES key.
    ///
    /// - Parameters:
    ///   - kind: what the key is for.
    ///   - sent: the octets; what follows the version is left alone.
    ///   - old: the key that is replaced; nil when it is the session's own.
    ///   - isChecked: whether the checksum over the new octets is right, by which the replaced key shows to be known.
    init(
        _ kind: Kind,
        sent: [UInt8],
        replacing old: DESFireKey?,
        isChecked: ([UInt8]) -> Bool
    ) throws(DESFireStatus) {
        var octets = Array(sent.prefix(kind.length))
        if let old {
            octets = octets.combined(with: old.octets)
            guard isChecked(octets) else { throw .integrityError }
        }
        let version = kind == .aes ? sent.dropFirst(kind.length).first ?? 0 : 0
        guard let key = DESFireKey(kind, octets, version: version) else { throw .integrityError }
        self = key
    }
}

/// Does something with a cipher; without the system's library, or with what it refuses, the card says integrity error.
func ciphered<Result>(_ body: () throws(CryptographyError) -> Result) throws(DESFireStatus) -> Result {
    do throws(CryptographyError) {
        return try body()
    } catch {
        throw .integrityError
    }
}

extension [UInt8] {
    /// The octets and zeros up to whole blocks.
    func padded(to block: Int) -> [UInt8] {
        self + [UInt8](repeating: 0, count: (block - count % block) % block)
    }

    /// The octets, 80 and zeros up to whole blocks (ISO/IEC 9797-1, padding method 2).
    func paddedWithMark(to block: Int) -> [UInt8] {
        (self + [0x80]).padded(to: block)
    }

    /// The octets without a mark 80 and the zeros behind it; nil when there is none.
    var withoutMark: [UInt8]? {
        guard let end = lastIndex(where: { $0 != 0 }), self[end] == 0x80 else { return nil }
        return Array(self[..<end])
    }

    /// Each octet combined with the other's by exclusive or.
    func combined(with other: some Sequence<UInt8>) -> [UInt8] {
        zip(self, other).map { $0 ^ $1 }
    }

    /// The CRC-32 of MIFARE DESFire, least significant octet first: that of IEEE 802.3 without its last inversion.
    var desfireCRC32: [UInt8] {
        var crc = UInt32.max
        for octet in self {
            crc ^= UInt32(octet)
            for _ in 0..<8 { crc = crc & 1 != 0 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return [UInt8](littleEndian: Int(crc), count: 4)
    }
}
