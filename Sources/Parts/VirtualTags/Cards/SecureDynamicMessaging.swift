// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// How an NTAG 424 DNA puts its identity into its NDEF file as the file is read (NT4H2421Gx data sheet, 9.3 and 10.7.1).
///
/// All that is put in is written in hexadecimal digits, over what the file holds in that place.
public struct SecureDynamicMessaging: Sendable, Hashable {
    /// The octets of a part of the file that is enciphered: the first half of the place is the text, and the whole
    /// holds the digits.
    public struct EncryptedPart: Sendable, Hashable {
        /// Where the place begins in the file.
        public var offset: Int
        /// How long the place is: a multiple of 32.
        public var length: Int

        /// Creates a part.
        public init(offset: Int, length: Int) {
            self.offset = offset
            self.length = length
        }
    }

    /// SDMOptions: bit 7 the UID, bit 6 the read counter, bit 5 a limit of the counter, bit 4 an enciphered part of the
    /// file, bit 0 digits.
    public var options: UInt8
    /// SDMMetaRead: the key, 0 to 4, that UID and counter are enciphered with; E to show them, F to leave them out.
    public var metaReadKey: UInt8
    /// SDMFileRead: the key, 0 to 4, of the message authentication code; F for none.
    public var fileReadKey: UInt8
    /// SDMCtrRet: the key, 0 to 4, that lets a reader ask for the counter; E everybody, F nobody.
    public var counterKey: UInt8
    /// Where the UID is shown, in 14 digits.
    public var uidOffset: Int?
    /// Where the counter is shown, in 6 digits; FFFFFF nowhere.
    public var counterOffset: Int?
    /// Where the enciphered UID and counter go, in 32 digits.
    public var piccDataOffset: Int?
    /// Where the part of the file begins that the code is for; it ends before the code.
    public var codeInputOffset: Int?
    /// A part of the file that is enciphered.
    public var encryptedPart: EncryptedPart?
    /// Where the code goes, in 16 digits.
    public var codeOffset: Int?
    /// How often the file may be read.
    public var counterLimit: UInt32?

    /// Creates settings that put the enciphered UID and counter, and a code, into the file.
    ///
    /// - Parameters:
    ///   - piccDataOffset: where UID and counter go.
    ///   - codeOffset: where the code goes.
    ///   - codeInputOffset: where the part of the file begins that the code is for; nil for no part at all.
    ///   - metaReadKey: the key of UID and counter.
    ///   - fileReadKey: the key of the code.
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

    /// Reads settings as CHANGE FILE SETTINGS has them: SDMOptions, SDMAccessRights, and what these two ask for.
    ///
    /// - Returns: nil when octets are missing or too many, or say what the product does not have.
    public init?(_ octets: [UInt8]) {
        guard octets.count >= 3 else { return nil }
        options = octets[0]
        counterKey = octets[1] & 0x0F
        metaReadKey = octets[2] >> 4
        fileReadKey = octets[2] & 0x0F
        guard options & 0x0F == 0x01, octets[1] >> 4 == 0x0F,
            metaReadKey < 5 || metaReadKey >= 0x0E, fileReadKey < 5 || fileReadKey == 0x0F,
            counterKey < 5 || counterKey >= 0x0E
        else { return nil }
        var rest = octets.dropFirst(3)
        var isShort = false
        func take(_ isThere: Bool) -> Int? {
            guard isThere else { return nil }
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

    /// Whether the UID is part of what is put into the file.
    public var mirrorsUID: Bool { options & 0x80 != 0 }
    /// Whether the counter is part of what is put into the file.
    public var mirrorsCounter: Bool { options & 0x40 != 0 }

    /// The settings as GET FILE SETTINGS and CHANGE FILE SETTINGS have them.
    public var octets: [UInt8] {
        let numbers = [
            uidOffset, counterOffset, piccDataOffset, codeInputOffset, encryptedPart?.offset, encryptedPart?.length,
            codeOffset, counterLimit.map { Int($0) },
        ]
        let rights = [0xF0 | counterKey, metaReadKey << 4 | fileReadKey]
        return [options] + rights + numbers.compactMap { $0 }.flatMap { [UInt8](littleEndian: $0, count: 3) }
    }

    /// Whether everything has its place in a file, and nothing overlaps (9.3.3, 9.3.5 and 9.3.7).
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
    /// The NDEF file as a reader without a key sees it (NT4H2421Gx data sheet, 9.3.3 to 9.3.9).
    ///
    /// - Parameters:
    ///   - file: the file as it was written.
    ///   - uid: the tag's UID.
    ///   - counter: how often the file was read, this time included.
    ///   - keys: the tag's five keys.
    ///   - padding: the random octets that fill up the enciphered UID and counter, 15 at most.
    /// - Returns: as many octets.
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
            result.show(try BlockCipher.aes(keys[Int(metaReadKey)].octets).encrypt(plain), at: piccDataOffset)
        }
        guard Int(fileReadKey) < keys.count else { return result }
        let key = try BlockCipher.aes(keys[Int(fileReadKey)].octets)
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

    /// What a session key is worked out from.
    private static func vector(_ label: [UInt8], _ identity: [UInt8]) -> [UInt8] {
        (label + [0x00, 0x01, 0x00, 0x80] + identity).padded(to: 16)
    }
}

extension [UInt8] {
    /// Writes octets in capital hexadecimal digits over what is in a place; nothing where the place does not fit.
    fileprivate mutating func show(_ octets: [UInt8], at offset: Int?) {
        guard let offset, offset + octets.count * 2 <= count else { return }
        for (index, octet) in octets.enumerated() {
            self[offset + 2 * index] = Self.digit(octet >> 4)
            self[offset + 2 * index + 1] = Self.digit(octet & 0x0F)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x37 + value
    }
}
