// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// The data that an NTAG 424 DNA inserts into its NDEF file when the file is read (NT4H2421Gx data sheet, 9.3 and
/// 10.7.1).
///
/// The data are written as hexadecimal digits, and replace the bytes at their place in the file.
public struct SecureDynamicMessaging: Sendable, Hashable {
    /// A part of the file that is encrypted. The first half of its place is the plain text; the whole place gets the
    /// digits.
    public struct EncryptedPart: Sendable, Hashable {
        /// The start of the place in the file.
        public var offset: Int
        /// The length of the place, a multiple of 32.
        public var length: Int

        /// Creates a part.
        public init(offset: Int, length: Int) {
            self.offset = offset
            self.length = length
        }
    }

    /// SDMOptions: bit 7 the UID, bit 6 the read counter, bit 5 a limit of the counter, bit 4 an encrypted part of the
    /// file, bit 0 digits.
    public var options: UInt8
    /// SDMMetaRead: the key, 0 to 4, for encrypting UID and counter; E for plain text, F for neither.
    public var metaReadKey: UInt8
    /// SDMFileRead: the key, 0 to 4, of the MAC; F for none.
    public var fileReadKey: UInt8
    /// SDMCtrRet: the key, 0 to 4, with which a reader can read the counter; E everybody, F nobody.
    public var counterKey: UInt8
    /// The place of the UID, 14 digits.
    public var uidOffset: Int?
    /// The place of the counter, 6 digits; FFFFFF for none.
    public var counterOffset: Int?
    /// The place of the encrypted UID and counter, 32 digits.
    public var piccDataOffset: Int?
    /// The start of the part of the file that the MAC covers. It ends before the MAC.
    public var codeInputOffset: Int?
    /// A part of the file that is encrypted.
    public var encryptedPart: EncryptedPart?
    /// The place of the MAC, 16 digits.
    public var codeOffset: Int?
    /// The maximum number of readings of the file.
    public var counterLimit: UInt32?

    /// Creates settings with the encrypted UID and counter, and a MAC; without `codeInputOffset` it covers no part of
    /// the file.
    public init(
        piccDataOffset: Int,
        codeOffset: Int,
        codeInputOffset: Int? = nil,
        metaReadKey: UInt8 = 2,
        fileReadKey: UInt8 = 1
    ) {
        options = 0xC1
        self.metaReadKey = metaReadKey
        self.fileReadKey = fileReadKey
        counterKey = 0x0F
        self.piccDataOffset = piccDataOffset
        self.codeInputOffset = codeInputOffset ?? codeOffset
        self.codeOffset = codeOffset
    }

    /// Parses settings in the format of CHANGE FILE SETTINGS: SDMOptions, SDMAccessRights, and the fields that these
    /// require. Nil when the length is wrong, or the product does not support the settings.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 3 else { return nil }
        options = bytes[0]
        counterKey = bytes[1] & 0x0F
        metaReadKey = bytes[2] >> 4
        fileReadKey = bytes[2] & 0x0F
        guard options & 0x0F == 0x01, bytes[1] >> 4 == 0x0F,
            metaReadKey < 5 || metaReadKey >= 0x0E, fileReadKey < 5 || fileReadKey == 0x0F,
            counterKey < 5 || counterKey >= 0x0E
        else { return nil }
        var rest = bytes.dropFirst(3)
        var isShort = false
        func take(_ isPresent: Bool) -> Int? {
            guard isPresent else { return nil }
            guard rest.count >= 3 else {
                isShort = true
                return nil
            }
            defer { rest = rest.dropFirst(3) }
            return Array(rest.prefix(3)).littleEndian(at: 0, count: 3)
        }
        uidOffset = take(metaReadKey == 0x0E && mirrorsUID)
        counterOffset = take(metaReadKey == 0x0E && mirrorsCounter)
        piccDataOffset = take(metaReadKey < 5)
        codeInputOffset = take(fileReadKey < 5)
        let hasPart = fileReadKey < 5 && options & 0x10 != 0
        let partOffset = take(hasPart)
        let partLength = take(hasPart)
        if let partOffset, let partLength { encryptedPart = EncryptedPart(offset: partOffset, length: partLength) }
        codeOffset = take(fileReadKey < 5)
        counterLimit = take(options & 0x20 != 0).map { UInt32($0) }
        guard rest.isEmpty, !isShort else { return nil }
    }

    /// Whether the UID is inserted.
    public var mirrorsUID: Bool { options & 0x80 != 0 }
    /// Whether the counter is inserted.
    public var mirrorsCounter: Bool { options & 0x40 != 0 }

    /// The settings in the format of GET FILE SETTINGS and CHANGE FILE SETTINGS.
    public var bytes: [UInt8] {
        let numbers = [
            uidOffset, counterOffset, piccDataOffset, codeInputOffset, encryptedPart?.offset, encryptedPart?.length,
            codeOffset, counterLimit.map { Int($0) },
        ]
        let rights = [0xF0 | counterKey, metaReadKey << 4 | fileReadKey]
        return [options] + rights + numbers.compactMap { $0 }.flatMap { [UInt8](littleEndian: $0, count: 3) }
    }

    /// Returns whether everything has its place in a file of this size, without overlaps (9.3.3, 9.3.5 and 9.3.7).
    func fits(_ size: Int) -> Bool {
        let counter = counterOffset == 0xFF_FFFF ? nil : counterOffset
        let part = encryptedPart
        var places: [Range<Int>] = []
        for (offset, length) in [
            (uidOffset, 14), (counter, 6), (piccDataOffset, 32), (part?.offset, part?.length ?? 0), (codeOffset, 16),
        ] {
            guard let offset else { continue }
            places.append(offset..<(offset + length))
        }
        guard places.allSatisfy({ $0.upperBound <= size }) else { return false }
        for (index, place) in places.enumerated() {
            guard places[..<index].allSatisfy({ !$0.overlaps(place) }) else { return false }
        }
        guard let codeInputOffset, let codeOffset else { return true }
        guard codeInputOffset <= codeOffset else { return false }
        guard let part else { return true }
        return mirrorsUID && mirrorsCounter && part.length > 0 && part.length.isMultiple(of: 32)
            && part.offset >= codeInputOffset && part.offset + part.length <= codeOffset
    }
}

extension SecureDynamicMessaging {
    /// Returns the NDEF file as a reader without a key sees it, by the same number of bytes (NT4H2421Gx data sheet,
    /// 9.3.3 to 9.3.9). The counter includes this reading. The padding is random: 15 bytes at most, after the encrypted
    /// UID and counter.
    ///
    /// - Throws: `CryptographyError` when the system's library is missing.
    package func mirrored(
        _ file: [UInt8],
        uid: [UInt8],
        counter: UInt32,
        keys: [DESFireKey],
        padding: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        var result = file
        let count = [UInt8](littleEndian: Int(counter), count: 3)
        let identity = (mirrorsUID ? uid : []) + (mirrorsCounter ? count : [])
        result.show(uid, at: uidOffset)
        result.show(count.reversed(), at: counterOffset)
        if let piccDataOffset, Int(metaReadKey) < keys.count {
            let tag = (options & 0xC0) | (mirrorsUID ? UInt8(uid.count) : 0)
            let plain = Array(([tag] + identity + padding).prefix(16)).padded(to: 16)
            result.show(try BlockCipher.aes(keys[Int(metaReadKey)].bytes).encrypt(plain), at: piccDataOffset)
        }
        guard Int(fileReadKey) < keys.count else { return result }
        let key = try BlockCipher.aes(keys[Int(fileReadKey)].bytes)
        if let part = encryptedPart, part.offset + part.length / 2 <= file.count {
            let cipher = try BlockCipher.aes(try key.cmac(Self.vector([0xC3, 0x3C], identity)))
            let vector = try cipher.encrypt(count.padded(to: 16))
            let text = Array(file[part.offset..<(part.offset + part.length / 2)])
            result.show(try cipher.encrypt(text, .blockChaining(vector: vector)), at: part.offset)
        }
        if let codeInputOffset, let codeOffset, codeInputOffset <= codeOffset, codeOffset <= result.count {
            let cipher = try BlockCipher.aes(try key.cmac(Self.vector([0x3C, 0xC3], identity)))
            result.show(try cipher.cmac(Array(result[codeInputOffset..<codeOffset])).everySecond, at: codeOffset)
        }
        return result
    }

    private static func vector(_ label: [UInt8], _ identity: [UInt8]) -> [UInt8] {
        (label + [0x00, 0x01, 0x00, 0x80] + identity).padded(to: 16)
    }
}

extension [UInt8] {
    /// Writes bytes as capital hexadecimal digits at a place; does nothing if they do not fit there.
    fileprivate mutating func show(_ bytes: [UInt8], at offset: Int?) {
        guard let offset, offset + bytes.count * 2 <= count else { return }
        replaceSubrange(offset..<(offset + bytes.count * 2), with: bytes.hexadecimalDigits)
    }
}
