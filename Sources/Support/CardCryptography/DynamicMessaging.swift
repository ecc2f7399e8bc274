// SPDX-License-Identifier: Apache-2.0

/// The codes of Secure Dynamic Messaging: what an NTAG 424 DNA inserts into its message at each read, in AES or LRP mode
/// (NT4H2421Gx data sheet, 9.3; NXP AN12196, 3.4).
///
/// The session keys depend on the UID and the read counter, so each read has its own. All functions throw
/// ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
public struct DynamicMessagingCodes: Sendable, Hashable {
    private let keys: SessionKeys
    private let start: [UInt8]

    /// Derives the session keys.
    ///
    /// - Parameters:
    ///   - fileReadKey: SDMFileReadKey, 16 bytes.
    ///   - identity: the UID and the counter, as far as the tag inserts them.
    ///   - usesLRP: whether the tag is in LRP mode.
    public init(fileReadKey: [UInt8], identity: PICCData, usesLRP: Bool = false) throws(CryptographyError) {
        let context = identity.bytes + [UInt8](repeating: 0, count: max(0, 10 - identity.bytes.count))
        keys = try SessionKeys(fileReadKey, context, usesLRP: usesLRP, labels: (aes: [0xC3, 0x3C], lrp: [0x1E, 0xE1]))
        let counter = PICCData(uid: nil, counter: identity.counter ?? 0).bytes
        start = counter + [UInt8](repeating: 0, count: usesLRP ? 3 : 13)
    }

    /// Returns SDMMAC, 8 bytes, of the part of the file from SDMMACInputOffset to the MAC. It is often empty.
    public func mac(_ input: [UInt8]) throws(CryptographyError) -> [UInt8] { try keys.cmac(input).everySecond }

    /// Returns the code in the SUN message of NTAG 223 DNA and 224 DNA, 8 bytes (NXP AN12998).
    package static func sunCode(uid: [UInt8], counter: UInt32, key: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let data = uid + [16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) }
        return try BlockCipher.aes(key).cmac(data).everySecond
    }

    /// Encrypts SDMENCFileData, whole blocks of 16 bytes.
    public func encrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] { try keys.encrypt(data, from: start) }

    /// Decrypts SDMENCFileData, whole blocks of 16 bytes.
    public func decrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] { try keys.decrypt(data, from: start) }
}

/// The UID and the read counter that a tag inserts into its message. Each of them can be switched off.
public struct PICCData: Sendable, Hashable {
    /// The UID, 7 bytes; nil if it is not inserted.
    public var uid: [UInt8]?
    /// SDMReadCtr, 24 bits; nil if it is not inserted.
    public var counter: UInt32?

    /// Creates an identity; each argument is the property of that name.
    public init(uid: [UInt8]?, counter: UInt32?) {
        self.uid = uid
        self.counter = counter
    }

    /// Decrypts PICCENCData: a tag byte, the UID, the counter with its low byte first, and random bytes.
    ///
    /// - Parameters:
    ///   - encrypted: 16 bytes; in LRP mode 24, of which the first 8 are PICCRand, the counter of the encryption.
    ///   - key: SDMMetaReadKey, 16 bytes.
    /// - Returns: nil if the decrypted bytes are not PICC data, for example because the tag has another key.
    public init?(encrypted: [UInt8], key: [UInt8]) throws(CryptographyError) {
        guard [16, 24].contains(encrypted.count) else { return nil }
        let plain =
            encrypted.count == 16
            ? try BlockCipher.aes(key).decrypt(encrypted)
            : try LeakageResilientCipher(key).decrypt(Array(encrypted[8...]), counter: Array(encrypted[..<8]))
        let (hasUID, hasCounter) = (plain[0] & 0x80 != 0, plain[0] & 0x40 != 0)
        guard plain[0] & 0x3F == (hasUID ? 7 : 0), hasUID || hasCounter else { return nil }
        let start = hasUID ? 8 : 1
        uid = hasUID ? Array(plain[1..<8]) : nil
        counter = hasCounter ? plain[start..<start + 3].reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil
    }

    /// The UID and the counter, low byte first, as in the keys' derivation and in PICCENCData.
    public var bytes: [UInt8] {
        (uid ?? []) + (counter.map { count in (0..<3).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } } ?? [])
    }
}
