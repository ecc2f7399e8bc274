// SPDX-License-Identifier: Apache-2.0
import CardCryptography

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

        /// The upper two bits of the byte with an application's number of keys (MF3ICD81 data sheet, 9.4.1).
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
    /// The key. A DES key's version is in the lowest bits of its first 8 bytes, which the cipher ignores.
    public var bytes: [UInt8] { secret.bytes }
    private let secret: SecretBytes
    /// The key's version.
    public let version: UInt8

    /// Creates a key of the kind's length, or of 8 bytes for single DES; nil for another length. A DES key has its
    /// version in its bytes.
    public init?(_ kind: Kind, _ bytes: [UInt8], version: UInt8 = 0) {
        let bytes = kind == .des && bytes.count == 8 ? bytes + bytes : bytes
        guard bytes.count == kind.length else { return nil }
        self.kind = kind
        secret = SecretBytes(bytes)
        self.version = kind == .aes ? version : bytes[..<8].reduce(0) { $0 << 1 | $1 & 1 }
    }

    /// Returns the key of zeros of a new card. A DES key's version is stored in its bytes.
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

    /// Whether triple DES with this key is single DES, ignoring the version.
    var isSingleDES: Bool {
        kind == .des
            && zip(bytes[..<8], bytes[8...]).allSatisfy { (first: UInt8, second: UInt8) in
                first & 0xFE == second & 0xFE
            }
    }
}
