// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// The protection of messages after an authentication: the session keys, and the state between messages.
package protocol SecureMessaging: Sendable {
    /// Returns the length of the data after protection.
    func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int

    /// Removes the protection from a command's data.
    ///
    /// - Throws: `integrityError` or `lengthError`.
    mutating func open(_ command: UInt8, _ data: [UInt8], _ protection: Protection) throws(DESFireStatus) -> [UInt8]

    /// Removes the protection from the data of CHANGE KEY after the key's number. The data have their own checksums.
    /// `old` is nil when the session uses the replaced key, because the reader has then proved that it knows that key.
    mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey

    /// Protects the data of an answer. The protection covers the status too.
    mutating func seal(_ data: [UInt8], _ protection: Protection, status: UInt8) throws(DESFireStatus) -> [UInt8]
}

extension DESFireKey {
    /// Creates a new key from the data of CHANGE KEY: the key's bytes and, for AES, its version. If the session uses
    /// another key than the replaced one, the bytes are XORed with the replaced key. A right checksum then proves that
    /// the reader knows the replaced key.
    init(_ kind: Kind, sent: [UInt8], replacing old: DESFireKey?, isChecked: ([UInt8]) -> Bool) throws(DESFireStatus) {
        var bytes = Array(sent.prefix(kind.length))
        if let old {
            bytes = bytes.combined(with: old.bytes)
            guard isChecked(bytes) else { throw .integrityError }
        }
        let version = kind == .aes ? sent.dropFirst(kind.length).first ?? 0 : 0
        guard let key = DESFireKey(kind, bytes, version: version) else { throw .integrityError }
        self = key
    }
}

extension [UInt8] {
    func combined(with other: some Sequence<UInt8>) -> [UInt8] { zip(self, other).map { $0 ^ $1 } }
}

/// The part of a command and its answer that is protected.
package enum Protection: Sendable {
    /// No protected data: only the protection that the session adds to every message.
    case standard
    /// The command's data are protected, after a header of `header` bytes. `length` is the length of the unprotected
    /// data, if the header contains it.
    case command(CommunicationMode, header: Int, length: Int)
    /// The command's data are encrypted after a header. The length is not sent, so a mark follows the checksum.
    case markedCommand(header: Int)
    /// The answer's data are protected. If their length is open-ended, the end must be marked.
    case answer(CommunicationMode, isOpenEnded: Bool = false)
}

/// The protection of data between card and reader.
public enum CommunicationMode: Sendable, Hashable {
    case plain
    /// Plain data with a MAC.
    case maced
    /// Encrypted data with a checksum or MAC.
    case enciphered
}

/// The communication settings of a file on a DESFire or NTAG 424 card. Two bits of this byte are the mode.
public struct CommunicationSettings: RawRepresentable, Sendable, Hashable {
    /// Data are sent without protection.
    public static let plain = CommunicationSettings(rawValue: 0x00)
    /// Data are sent with a MAC.
    public static let maced = CommunicationSettings(rawValue: 0x01)
    /// Data are sent encrypted.
    public static let enciphered = CommunicationSettings(rawValue: 0x03)

    /// The byte, as the card reports it. Bits that are not part of the mode are kept.
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The mode in the lower two bits.
    public var mode: CommunicationMode {
        switch rawValue & 0x03 {
        case 0x01: .maced
        case 0x03: .enciphered
        default: .plain
        }
    }
}

/// The status byte of MIFARE DESFire's native commands (MF3ICD81 data sheet, 9.3).
package struct DESFireStatus: RawRepresentable, Sendable, Hashable, Error {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let success = DESFireStatus(rawValue: 0x00)
    /// READ SIGNATURE was successful. No other command returns this status (NXP AN12196; AN12343, table 44).
    package static let signature = DESFireStatus(rawValue: 0x90)
    /// A native command without an APDU, after an ISO/IEC 7816-4 command of the same activation.
    package static let wrongFraming = DESFireStatus(rawValue: 0x0B)
    package static let outOfMemory = DESFireStatus(rawValue: 0x0E)
    /// There are no changes to commit or to abort.
    package static let noChanges = DESFireStatus(rawValue: 0x0C)
    /// The format of READ SIGNATURE is wrong. Only NTAG 424 DNA returns this status, and only for this command.
    package static let formatError = DESFireStatus(rawValue: 0x0C)
    package static let illegalCommand = DESFireStatus(rawValue: 0x1C)
    /// A MAC, a checksum or the padding is wrong.
    package static let integrityError = DESFireStatus(rawValue: 0x1E)
    package static let noSuchKey = DESFireStatus(rawValue: 0x40)
    package static let lengthError = DESFireStatus(rawValue: 0x7E)
    /// The file's kind or the settings do not allow the command.
    package static let permissionDenied = DESFireStatus(rawValue: 0x9D)
    package static let parameterError = DESFireStatus(rawValue: 0x9E)
    package static let applicationNotFound = DESFireStatus(rawValue: 0xA0)
    /// The required authentication is missing, or it failed.
    package static let authenticationError = DESFireStatus(rawValue: 0xAE)
    package static let additionalFrame = DESFireStatus(rawValue: 0xAF)
    /// The range ends beyond the file.
    package static let boundaryError = DESFireStatus(rawValue: 0xBE)
    /// The previous command was not completed: the reader has not sent or requested all its frames.
    package static let commandAborted = DESFireStatus(rawValue: 0xCA)
    /// The card already has the maximum number of applications.
    package static let countError = DESFireStatus(rawValue: 0xCE)
    package static let duplicate = DESFireStatus(rawValue: 0xDE)
    package static let fileNotFound = DESFireStatus(rawValue: 0xF0)
}

/// A key of a MIFARE DESFire or an NTAG 424 DNA.
public struct DESFireKey: Sendable, Hashable {
    /// The cipher of a key.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// DES, or triple DES with two keys: 16 bytes. If both halves are equal, it is single DES.
        case des
        /// Triple DES with three keys: 24 bytes.
        case tripleDES
        /// AES-128: 16 bytes.
        case aes

        /// The length of a key in bytes.
        public var length: Int { self == .tripleDES ? 24 : 16 }

        /// The upper two bits of the byte that gives an application's number of keys (MF3ICD81 data sheet, 9.4.1).
        var code: UInt8 {
            switch self {
            case .des: 0x00
            case .tripleDES: 0x40
            case .aes: 0x80
            }
        }

        /// Finds the kind for the upper two bits of a byte; nil for the unused combination.
        package init?(code: UInt8) {
            guard let kind = Self.allCases.first(where: { $0.code == code & 0xC0 }) else { return nil }
            self = kind
        }
    }

    /// The cipher of the key.
    public let kind: Kind
    /// The key. The lowest bits of a DES key's first 8 bytes, which the cipher ignores, store its version.
    public var bytes: [UInt8] { secret.bytes }
    private let secret: SecretBytes
    /// The key's version.
    public let version: UInt8

    /// Creates a key of the kind's length, or of 8 bytes for single DES; nil for another length. The bytes of a DES key
    /// contain its version.
    public init?(_ kind: Kind, _ bytes: [UInt8], version: UInt8 = 0) {
        let bytes = kind == .des && bytes.count == 8 ? bytes + bytes : bytes
        guard bytes.count == kind.length else { return nil }
        self.kind = kind
        secret = SecretBytes(bytes)
        self.version = kind == .aes ? version : bytes[..<8].reduce(0) { $0 << 1 | $1 & 1 }
    }

    /// Returns a key of zeros, as on a new card. The bytes of a DES key store its version.
    public static func zero(_ kind: Kind, version: UInt8 = 0) -> DESFireKey {
        var bytes = [UInt8](repeating: 0, count: kind.length)
        if kind != .aes {
            for index in bytes.indices where index < 16 { bytes[index] = version >> (7 - index % 8) & 1 }
        }
        return DESFireKey(kind: kind, bytes: bytes, version: version)
    }

    private init(kind: Kind, bytes: [UInt8], version: UInt8) {
        self.kind = kind
        secret = SecretBytes(bytes)
        self.version = version
    }

    func cipher() throws(CryptographyError) -> BlockCipher {
        kind == .aes ? try .aes(bytes) : try .des(bytes)
    }

    /// Whether triple DES with this key equals single DES, ignoring the version.
    var isSingleDES: Bool {
        kind == .des
            && zip(bytes[..<8], bytes[8...]).allSatisfy { (first: UInt8, second: UInt8) in
                first & 0xFE == second & 0xFE
            }
    }
}
