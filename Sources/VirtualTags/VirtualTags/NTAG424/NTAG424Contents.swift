// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagLink

/// The persistent state of an NTAG 424 DNA (NT4H2421Gx data sheet, 8.2).
public struct NTAG424Contents: Sendable, Hashable {
    /// A file. All files are standard data files.
    public struct File: Sendable, Hashable {
        /// The number in native commands: 1, 2 or 3.
        public var number: UInt8
        /// The ISO/IEC 7816-4 identifier.
        public var isoIdentifier: UInt16
        /// The protection of data in messages.
        public var communication: CommunicationSettings
        /// The keys that may read, write, do both, and change the rights.
        public var accessRights: FileAccessRights
        /// The bytes.
        public var data: [UInt8]
        /// What the tag inserts when the file is read; nil for nothing. Only the NDEF file can have this.
        public var dynamicMessaging: SecureDynamicMessaging?

        /// FileOption: the protection, and bit 6 for secure dynamic messaging.
        var option: UInt8 { communication.rawValue | (dynamicMessaging == nil ? 0x00 : 0x40) }

        /// The settings as CHANGE FILE SETTINGS has them: FileOption, access rights, secure dynamic messaging.
        package var settings: [UInt8] {
            [option] + accessRights.rawValue.littleEndianBytes + (dynamicMessaging?.bytes ?? [])
        }

        /// Changes the settings, in the format of CHANGE FILE SETTINGS.
        ///
        /// - Returns: false when the file does not support these settings. Then it is unchanged.
        package mutating func change(_ settings: [UInt8]) -> Bool {
            guard settings.count >= 3, settings[0] & 0xBC == 0 else { return false }
            var messaging: SecureDynamicMessaging?
            if settings[0] & 0x40 != 0 {
                guard number == 2, let wanted = SecureDynamicMessaging(Array(settings[3...])), wanted.fits(data.count)
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

        /// Returns whether a tag takes these settings from a reader (NT4H2421Gx data sheet, table 71): their keys exist,
        /// and what they need is switched on.
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
    /// The three parts of GET VERSION: hardware 7 bytes, software 7, production 14 with the UID.
    public var version: [UInt8]
    /// The capability container (E103), the NDEF file (E104) and the proprietary file (E105).
    public var files: [File]
    /// The five AES keys; zero on a new tag.
    public var keys: [DESFireKey] = Array(repeating: .zero(.aes), count: 5)
    /// SDMReadCtr: how often the NDEF file was read with inserted data.
    public var readCounter: UInt32 = 0
    /// The answer to READ SIGNATURE, 56 bytes; zeros unless it was given.
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
    /// Names in braces are places for the data that the tag inserts: `{picc}` the encrypted UID and counter, or `{uid}`
    /// and `{counter}` as plain text, and `{cmac}` the MAC that authenticates them. `metaReadKey` is the number of the
    /// key for `{picc}`, and `fileReadKey` for `{cmac}`.
    ///
    /// ```swift
    /// var contents = NTAG424Contents()
    /// contents.setLink("https://example.com/t?e={picc}&c={cmac}")
    /// ```
    ///
    /// - Returns: false when the link is too long for the file, has an unknown or repeated name, or mixes `{picc}` with
    ///   `{uid}` and `{counter}`. Then nothing has changed.
    @discardableResult
    public mutating func setLink(_ link: String, metaReadKey: UInt8 = 2, fileReadKey: UInt8 = 1) -> Bool {
        var places: [String: Int] = [:]
        var text = ""
        for (index, part) in link.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0 else {
                text += part
                continue
            }
            guard let end = part.firstIndex(of: "}") else { return false }
            let name = String(part[..<end])
            guard let length = Self.placeLengths[name], places[name] == nil else { return false }
            places[name] = text.utf8.count
            text += String(repeating: "0", count: length)
            text += part[part.index(after: end)...]
        }
        guard let record = try? URIRecord(text).makeRecord(identifier: []),
            let message = try? NDEFMessage([record]).encoded(), message.count <= ndefFile.count - 2
        else { return false }
        // The text ends at the end of the message. The prefix is only a code.
        let start = 2 + message.count - text.utf8.count
        func offset(_ name: String) -> Int? { places[name].map { $0 + start } }

        var messaging = SecureDynamicMessaging(piccDataOffset: 0, codeOffset: 0)
        messaging.piccDataOffset = offset("picc")
        messaging.uidOffset = offset("uid")
        messaging.counterOffset = offset("counter")
        messaging.codeOffset = offset("cmac")
        messaging.codeInputOffset = messaging.codeOffset
        let isPlain = messaging.uidOffset != nil || messaging.counterOffset != nil
        guard !(isPlain && messaging.piccDataOffset != nil), !places.isEmpty else { return false }
        messaging.metaReadKey = isPlain ? 0x0E : messaging.piccDataOffset == nil ? 0x0F : metaReadKey
        messaging.fileReadKey = messaging.codeOffset == nil ? 0x0F : fileReadKey
        if messaging.piccDataOffset == nil {
            messaging.options =
                0x01 | (messaging.uidOffset == nil ? 0 : 0x80) | (messaging.counterOffset == nil ? 0 : 0x40)
        }
        guard messaging.fits(ndefFile.count) else { return false }
        let length = UInt16(message.count).bigEndianBytes
        let rest = [UInt8](repeating: 0, count: ndefFile.count - 2 - message.count)
        ndefFile = length + message + rest
        files[1].dynamicMessaging = messaging
        readCounter = 0
        return true
    }

    private static let placeLengths = ["picc": 32, "uid": 14, "counter": 6, "cmac": 16]
}
