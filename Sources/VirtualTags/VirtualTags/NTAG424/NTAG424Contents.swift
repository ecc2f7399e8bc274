// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import NDEF
import TagLink

/// The persistent state of an NTAG 424 DNA (NT4H2421Gx data sheet, 8.2).
public struct NTAG424Contents: Sendable, Hashable {
    /// A file of the tag. All files are standard data files.
    public struct File: Sendable, Hashable {
        /// The number in native commands: 1, 2 or 3.
        public var number: UInt8
        /// The ISO/IEC 7816-4 identifier.
        public var isoIdentifier: UInt16
        /// The protection of this file's data in messages.
        public var communication: CommunicationSettings
        /// The keys that may read, write, do both, or change the rights.
        public var accessRights: FileAccessRights
        /// The file's content.
        public var data: [UInt8]
        /// The data that the tag inserts when the file is read; nil for none. Only the NDEF file can have insertions.
        public var dynamicMessaging: SecureDynamicMessaging?

        /// FileOption: the protection, and bit 6 for secure dynamic messaging.
        var option: UInt8 { communication.rawValue | (dynamicMessaging == nil ? 0x00 : 0x40) }

        /// The settings in the format of CHANGE FILE SETTINGS: FileOption, access rights, secure dynamic messaging.
        package var settings: [UInt8] {
            [option] + accessRights.rawValue.littleEndianBytes + (dynamicMessaging?.bytes ?? [])
        }

        /// Changes the settings, in the format of CHANGE FILE SETTINGS.
        ///
        /// - Returns: false when the file does not support these settings. The file is then unchanged.
        package mutating func change(_ settings: [UInt8], usesLRP: Bool = false) -> Bool {
            guard settings.count >= 3, settings[0] & 0xBC == 0 else { return false }
            var messaging: SecureDynamicMessaging?
            if settings[0] & 0x40 != 0 {
                guard number == 2, let wanted = SecureDynamicMessaging(Array(settings[3...])),
                    wanted.fits(data.count, usesLRP: usesLRP)
                else { return false }
                messaging = wanted
            } else if settings.count > 3 {
                return false
            }
            communication = CommunicationSettings(rawValue: settings[0] & 0x03)
            accessRights = FileAccessRights(rawValue: UInt16(settings.littleEndian(at: 1, count: 2)))
            dynamicMessaging = messaging
            return true
        }

        /// Returns whether a tag accepts these settings from a reader (NT4H2421Gx data sheet, table 71). The keys must
        /// exist, and the options that a setting requires must be switched on.
        func hasPossibleSettings(readCounter: UInt32) -> Bool {
            let hasKeys = FileAccessRights.Right.allCases.allSatisfy { right in
                if case .key(let number) = accessRights.holder(of: right) { number < 5 } else { true }
            }
            guard hasKeys, let messaging = dynamicMessaging else { return hasKeys }
            let (uid, counter) = (messaging.mirrorsUID, messaging.mirrorsCounter)
            let isReading = messaging.fileReadKey != 0x0F
            return (messaging.metaReadKey == 0x0F ? !uid : uid || counter)
                && (messaging.counterKey == 0x0F || counter) && (messaging.options & 0x10 == 0 || isReading)
                && messaging.counterLimit.map { counter && $0 > readCounter } ?? true
        }
    }

    /// The UID, 7 bytes.
    public var uid: [UInt8]
    /// The answer to GET VERSION: 7 bytes for hardware, 7 for software, and 14 for production, including the UID.
    public var version: [UInt8]
    /// The capability container (E103), the NDEF file (E104) and the proprietary file (E105).
    public var files: [File]
    /// The five AES keys. On a new tag, they are zero.
    public var keys: [DESFireKey] = Array(repeating: .zero(.aes), count: 5)
    /// Whether the tag is in LRP mode, which nothing can switch off again.
    public var usesLRP = false
    /// SDMReadCtr: how many times the NDEF file was read with inserted data.
    public var readCounter: UInt32 = 0
    /// The answer to READ SIGNATURE, 56 bytes; zeros by default.
    public var signature: [UInt8]

    /// Creates a new tag with an empty NDEF file.
    public init(uid: [UInt8] = [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]) {
        self.uid = uid
        version = [0x04, 0x04, 0x02, 0x30, 0x00, 0x11, 0x05, 0x04, 0x04, 0x02, 0x01, 0x02, 0x11, 0x05]
        version += uid + [0xCF, 0x39, 0xD4, 0x49, 0x80, 0x34, 0x20]
        signature = Array(repeating: 0, count: 56)
        var container: [UInt8] = [0x00, 0x17, 0x20, 0x01, 0x00, 0x00, 0xFF]
        container += [0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00, 0x05, 0x06, 0xE1, 0x05, 0x00, 0x80, 0x82, 0x83]
        container += Array(repeating: 0, count: 9)
        files = [
            File(number: 1, isoIdentifier: 0xE103, communication: .plain, accessRights: 0xE000, data: container),
            File(
                number: 2,
                isoIdentifier: 0xE104,
                communication: .plain,
                accessRights: 0xEEE0,
                data: Array(repeating: 0, count: 256)
            ),
            File(
                number: 3,
                isoIdentifier: 0xE105,
                communication: .enciphered,
                accessRights: 0x2330,
                data: [0x00, 0x7E] + Array(repeating: 0, count: 126)
            ),
        ]
    }

    /// The NDEF file, with its length field.
    public var ndefFile: [UInt8] {
        get { files[1].data }
        set { files[1].data = newValue }
    }
}

extension NTAG424Contents {
    /// Writes a link that changes at each read, and configures the NDEF file for it.
    ///
    /// Names in braces are placeholders for data that the tag inserts: `{picc}` for the encrypted UID and counter,
    /// `{uid}` and `{counter}` (or `{ctr}`) for plain text, and `{cmac}` for the MAC that authenticates them. `{enc:16}`
    /// are 16 bytes of `data`, encrypted; the MAC then covers the link from here on. A number is a multiple of 16, and
    /// zeros follow shorter data. `metaReadKey` is the number of the key for `{picc}`, and `fileReadKey` that for
    /// `{cmac}` and `{enc}`.
    ///
    /// ```swift
    /// var contents = NTAG424Contents()
    /// contents.setLink("https://example.com/t?e={picc}&c={cmac}")
    /// ```
    ///
    /// - Returns: false when the link is too long for the file, has an unknown or repeated name, or mixes `{picc}` with
    ///   `{uid}` and `{counter}`; or when `{enc}` comes without the UID, the counter, and a `{cmac}` after it, or is
    ///   shorter than the data. The contents are then unchanged.
    @discardableResult
    public mutating func setLink(
        _ link: String,
        data: String = "",
        metaReadKey: UInt8 = 2,
        fileReadKey: UInt8 = 1
    ) -> Bool {
        var places: [String: Int] = [:]
        var encryptedLength = 0
        var text = ""
        for (index, part) in link.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0 else {
                text += part
                continue
            }
            guard let end = part.firstIndex(of: "}") else { return false }
            var name = String(part[..<end])
            var content = ""
            if name.hasPrefix("enc:") {
                guard let count = Int(name.dropFirst(4)), (1...128).contains(count), count.isMultiple(of: 16),
                    data.utf8.count <= count
                else { return false }
                (name, content, encryptedLength) = ("enc", data, 2 * count)
            } else if name == "ctr" {
                name = "counter"
            }
            let lengths = ["picc": usesLRP ? 48 : 32, "uid": 14, "counter": 6, "cmac": 16]
            let known = name == "enc" && encryptedLength > 0 ? encryptedLength : lengths[name]
            guard let length = known, places[name] == nil else { return false }
            places[name] = text.utf8.count
            text += content + String(repeating: "0", count: length - content.utf8.count)
            text += part[part.index(after: end)...]
        }
        guard let record = try? URIRecord(text).makeRecord(identifier: []),
            let message = try? NDEFMessage([record]).encoded(), message.count <= ndefFile.count - 2
        else { return false }
        // The text is the end of the message. Its prefix is only a code, so positions are counted from the end.
        let start = 2 + message.count - text.utf8.count
        func offset(_ name: String) -> Int? { places[name].map { $0 + start } }

        var messaging = SecureDynamicMessaging(piccDataOffset: 0, macOffset: 0)
        messaging.piccDataOffset = offset("picc")
        messaging.uidOffset = offset("uid")
        messaging.counterOffset = offset("counter")
        messaging.macOffset = offset("cmac")
        messaging.macInputOffset = offset("enc") ?? messaging.macOffset
        messaging.encryptedPart = offset("enc").map {
            SecureDynamicMessaging.EncryptedPart(offset: $0, length: encryptedLength)
        }
        let isPlain = messaging.uidOffset != nil || messaging.counterOffset != nil
        guard !(isPlain && messaging.piccDataOffset != nil), !places.isEmpty else { return false }
        messaging.metaReadKey = isPlain ? 0x0E : messaging.piccDataOffset == nil ? 0x0F : metaReadKey
        messaging.fileReadKey = messaging.macOffset == nil ? 0x0F : fileReadKey
        if messaging.piccDataOffset == nil {
            messaging.options =
                0x01 | (messaging.uidOffset == nil ? 0 : 0x80) | (messaging.counterOffset == nil ? 0 : 0x40)
        }
        if messaging.encryptedPart != nil {
            guard messaging.macOffset != nil else { return false }
            messaging.options |= 0x10
        }
        guard messaging.fits(ndefFile.count, usesLRP: usesLRP) else { return false }
        let length = UInt16(message.count).bigEndianBytes
        let rest = [UInt8](repeating: 0, count: ndefFile.count - 2 - message.count)
        ndefFile = length + message + rest
        files[1].dynamicMessaging = messaging
        readCounter = 0
        return true
    }
}

/// The data that an NTAG 424 DNA inserts into its NDEF file at each read (NT4H2421Gx data sheet, 9.3 and 10.7.1).
///
/// The data are written as hexadecimal digits, which replace bytes of the file.
public struct SecureDynamicMessaging: Sendable, Hashable {
    /// An encrypted part of the file. Its first half is the plain text; the ciphertext's digits fill the whole part.
    public struct EncryptedPart: Sendable, Hashable {
        /// The offset of the part in the file.
        public var offset: Int
        /// The length of the part, a multiple of 32.
        public var length: Int

        /// Creates a part.
        public init(offset: Int, length: Int) {
            self.offset = offset
            self.length = length
        }
    }

    /// SDMOptions: bit 7 the UID, 6 the read counter, 5 its limit, 4 an encrypted part of the file, 0 ASCII encoding.
    public var options: UInt8
    /// SDMMetaRead: the key, 0 to 4, for encrypting UID and counter; E for plain text, F for neither.
    public var metaReadKey: UInt8
    /// SDMFileRead: the key, 0 to 4, of the MAC; F for none.
    public var fileReadKey: UInt8
    /// SDMCtrRet: the key, 0 to 4, that a reader needs for reading the counter; E for everybody, F for nobody.
    public var counterKey: UInt8
    /// The offset of the UID, 14 digits.
    public var uidOffset: Int?
    /// The offset of the counter, 6 digits; FFFFFF for none.
    public var counterOffset: Int?
    /// The offset of the encrypted UID and counter, 32 digits, or 48 in LRP mode.
    public var piccDataOffset: Int?
    /// The offset of the data that the MAC covers, which end before the MAC.
    public var macInputOffset: Int?
    /// The encrypted part of the file.
    public var encryptedPart: EncryptedPart?
    /// The offset of the MAC, 16 digits.
    public var macOffset: Int?
    /// The maximum number of times that the file can be read.
    public var counterLimit: UInt32?

    /// Creates settings with the encrypted UID and counter, and a MAC that covers the file from `macInputOffset` on.
    public init(
        piccDataOffset: Int,
        macOffset: Int,
        macInputOffset: Int? = nil,
        metaReadKey: UInt8 = 2,
        fileReadKey: UInt8 = 1
    ) {
        options = 0xC1
        self.metaReadKey = metaReadKey
        self.fileReadKey = fileReadKey
        counterKey = 0x0F
        self.piccDataOffset = piccDataOffset
        self.macInputOffset = macInputOffset ?? macOffset
        self.macOffset = macOffset
    }

    /// Parses settings in the format of CHANGE FILE SETTINGS: SDMOptions, SDMAccessRights, and the fields that these
    /// require. Nil if the length is wrong, or the product does not support the settings.
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
        macInputOffset = take(fileReadKey < 5)
        let hasPart = fileReadKey < 5 && options & 0x10 != 0
        let partOffset = take(hasPart)
        let partLength = take(hasPart)
        if let partOffset, let partLength { encryptedPart = EncryptedPart(offset: partOffset, length: partLength) }
        macOffset = take(fileReadKey < 5)
        counterLimit = take(options & 0x20 != 0).map { UInt32($0) }
        guard rest.isEmpty, !isShort else { return nil }
    }

    /// Whether the tag inserts its UID.
    public var mirrorsUID: Bool { options & 0x80 != 0 }
    /// Whether the tag inserts its read counter.
    public var mirrorsCounter: Bool { options & 0x40 != 0 }

    /// The settings in the format of GET FILE SETTINGS and CHANGE FILE SETTINGS.
    public var bytes: [UInt8] {
        let numbers = [
            uidOffset, counterOffset, piccDataOffset, macInputOffset, encryptedPart?.offset, encryptedPart?.length,
            macOffset, counterLimit.map { Int($0) },
        ]
        let rights = [0xF0 | counterKey, metaReadKey << 4 | fileReadKey]
        return [options] + rights + numbers.compactMap { $0 }.flatMap { [UInt8](littleEndian: $0, count: 3) }
    }

    /// Returns whether all insertions fit in a file of this size without overlaps (9.3.3, 9.3.5 and 9.3.7).
    func fits(_ size: Int, usesLRP: Bool) -> Bool {
        let counter = counterOffset == 0xFF_FFFF ? nil : counterOffset
        let part = encryptedPart
        var places: [Range<Int>] = []
        for (offset, length) in [
            (uidOffset, 14), (counter, 6), (piccDataOffset, usesLRP ? 48 : 32), (part?.offset, part?.length ?? 0),
            (macOffset, 16),
        ] {
            guard let offset else { continue }
            places.append(offset..<(offset + length))
        }
        guard places.allSatisfy({ $0.upperBound <= size }) else { return false }
        for (index, place) in places.enumerated() {
            guard places[..<index].allSatisfy({ !$0.overlaps(place) }) else { return false }
        }
        guard let macInputOffset, let macOffset else { return true }
        guard macInputOffset <= macOffset else { return false }
        guard let part else { return true }
        return mirrorsUID && mirrorsCounter && part.length > 0 && part.length.isMultiple(of: 32)
            && part.offset >= macInputOffset && part.offset + part.length <= macOffset
    }
}

extension SecureDynamicMessaging {
    /// Returns the NDEF file as a reader without a key sees it; its length does not change (NT4H2421Gx data sheet,
    /// 9.3.3 to 9.3.9). The counter includes this reading. `padding` are random bytes: at most 15 follow the encrypted
    /// UID and counter, and in LRP mode the last 8 are PICCRand.
    ///
    /// - Throws: `CryptographyError` when the system's OpenSSL is missing.
    package func mirrored(
        _ file: [UInt8],
        uid: [UInt8],
        counter: UInt32,
        keys: [DESFireKey],
        padding: [UInt8],
        usesLRP: Bool = false
    ) throws(CryptographyError) -> [UInt8] {
        var result = file
        let count = [UInt8](littleEndian: Int(counter), count: 3)
        let identity = PICCData(uid: mirrorsUID ? uid : nil, counter: mirrorsCounter ? counter : nil)
        result.show(uid, at: uidOffset)
        result.show(count.reversed(), at: counterOffset)
        if let piccDataOffset, Int(metaReadKey) < keys.count {
            let tag = (options & 0xC0) | (mirrorsUID ? UInt8(uid.count) : 0)
            let plain = Array(([tag] + identity.bytes + padding).prefix(16)).padded(to: 16)
            let (key, random) = (keys[Int(metaReadKey)].bytes, Array(padding.suffix(8)))
            let encrypted =
                usesLRP
                ? random + (try LeakageResilientCipher(key).encrypt(plain, counter: random))
                : try BlockCipher.aes(key).encrypt(plain)
            result.show(encrypted, at: piccDataOffset)
        }
        guard Int(fileReadKey) < keys.count else { return result }
        let key = keys[Int(fileReadKey)].bytes
        let codes = try DynamicMessagingCodes(fileReadKey: key, identity: identity, usesLRP: usesLRP)
        if let part = encryptedPart, part.offset + part.length / 2 <= file.count {
            let text = Array(file[part.offset..<(part.offset + part.length / 2)])
            result.show(try codes.encrypt(text), at: part.offset)
        }
        if let macInputOffset, let macOffset, macInputOffset <= macOffset, macOffset <= result.count {
            result.show(try codes.mac(Array(result[macInputOffset..<macOffset])), at: macOffset)
        }
        return result
    }
}

extension [UInt8] {
    /// Writes bytes as capital hexadecimal digits at an offset; does nothing if they do not fit.
    fileprivate mutating func show(_ bytes: [UInt8], at offset: Int?) {
        guard let offset, offset + bytes.count * 2 <= count else { return }
        replaceSubrange(offset..<(offset + bytes.count * 2), with: bytes.hexadecimalDigits)
    }
}
