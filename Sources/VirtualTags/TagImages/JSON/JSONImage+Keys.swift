// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The keys and file settings of cards.
///
/// `keys` is an object: `"0"` to `"13"` are the keys of the application, and `"master"` is the key of a DESFire card
/// itself. A key is written as `aes:`, `des:` or `3k3des:` and its bytes. An AES key with another version than 00 has a
/// colon and its version at the end. Missing keys are zero, like on a new card.
///
/// `key_settings` of a DESFire are those of the NDEF application: the settings, and the number of keys with their kind.
/// `file_settings` of an NTAG 424 DNA is an object. For each file's identifier it has the data of CHANGE FILE SETTINGS:
/// FileOption, access rights, and the settings of secure dynamic messaging.
extension JSONImage {
    private static let kindNames: [(DESFireKey.Kind, String)] = [(.aes, "aes"), (.des, "des"), (.tripleDES, "3k3des")]

    private static func malformed(_ reason: String, _ key: String, _ fields: JSONFields) -> TagImageError {
        TagImageError(.malformed, reason, line: fields.line(key))
    }

    // MARK: Keys

    private static func key(_ text: String) -> DESFireKey? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let kind = kindNames.first(where: { $0.1 == parts[0] })?.0,
            let bytes = [UInt8](hexadecimal: parts[1].utf8)
        else { return nil }
        guard parts.count == 3 else { return DESFireKey(kind, bytes) }
        guard let version = [UInt8](hexadecimal: parts[2].utf8), version.count == 1, kind == .aes else { return nil }
        return DESFireKey(kind, bytes, version: version[0])
    }

    private static func text(_ key: DESFireKey) -> String {
        let name = kindNames.first { $0.0 == key.kind }?.1 ?? ""
        let version = key.kind == .aes && key.version != 0 ? ":\([key.version].hexText())" : ""
        return "\(name):\(key.bytes.hexText())\(version)"
    }

    /// Returns the keys by name.
    static func keys(_ fields: JSONFields) throws(TagImageError) -> [(name: String, key: DESFireKey)] {
        guard fields.hasValue("keys") else { return [] }
        var keys: [(name: String, key: DESFireKey)] = []
        for (name, text) in try fields.strings("keys") {
            guard let key = key(text) else {
                throw malformed("Key \"\(name)\" is not such as \"aes:\" and 32 digits.", "keys", fields)
            }
            keys.append((name, key))
        }
        return keys
    }

    static func member(_ keys: [(name: String, key: DESFireKey)]) -> [(String, String)] {
        let texts = keys.map { "\"\($0.name)\": \"\(text($0.key))\"" }
        return texts.isEmpty ? [] : [("keys", "{\(texts.joined(separator: ", "))}")]
    }

    /// Returns the keys that are not zero, with their numbers.
    static func changed(_ keys: [DESFireKey]) -> [(name: String, key: DESFireKey)] {
        keys.enumerated().filter { $0.element != .zero($0.element.kind) }.map { (String($0.offset), $0.element) }
    }

    // MARK: MIFARE DESFire

    static func readKeys(of contents: inout DESFireContents, _ fields: JSONFields) throws(TagImageError) {
        guard var application = contents.applications.first else { return }
        if fields.hasValue("key_settings") {
            let settings = try fields.bytes("key_settings", count: 2)
            guard (1...14).contains(settings[1] & 0x0F), let kind = DESFireKey.Kind(code: settings[1]) else {
                throw malformed("\"key_settings\" does not say 1 to 14 keys of a kind.", "key_settings", fields)
            }
            application.keySettings = settings[0]
            application.keyCount = settings[1]
            application.keys = Array(repeating: .zero(kind), count: Int(settings[1] & 0x0F))
        }
        for (name, key) in try keys(fields) {
            if name == "master" {
                contents.masterKey = key
                continue
            }
            try set(name, key, of: &application, fields)
        }
        contents.applications[0] = application
    }

    /// Reads the keys of one of several applications.
    static func readKeys(of application: inout DESFireApplication, _ fields: JSONFields) throws(TagImageError) {
        for (name, key) in try keys(fields) { try set(name, key, of: &application, fields) }
    }

    private static func set(
        _ name: String,
        _ key: DESFireKey,
        of application: inout DESFireApplication,
        _ fields: JSONFields
    ) throws(TagImageError) {
        guard let number = UInt8(name), number < application.keyCount & 0x0F, key.kind == application.keyKind
        else { throw malformed("The application has no such key as \"\(name)\".", "keys", fields) }
        application.setKey(number, key)
    }

    static func keyMembers(of contents: DESFireContents) -> [(String, String)] {
        var keys: [(name: String, key: DESFireKey)] = []
        if contents.masterKey != .zero(.des) { keys.append(("master", contents.masterKey)) }
        var settings: [(String, String)] = []
        if let application = contents.applications.first(where: { $0.isoIdentifier == 0xE110 }) {
            keys += changed(application.keys)
            let now = [application.keySettings, application.keyCount]
            if now != [0x0F, 0x21] { settings.append(("key_settings", quoted(now))) }
        }
        return settings + member(keys)
    }

    // MARK: NTAG 424 DNA

    static func readKeys(of contents: inout NTAG424Contents, _ fields: JSONFields) throws(TagImageError) {
        for (name, key) in try keys(fields) {
            guard let number = Int(name), contents.keys.indices.contains(number), key.kind == .aes else {
                throw malformed("There are AES keys \"0\" to \"4\", and not \"\(name)\".", "keys", fields)
            }
            contents.keys[number] = key
        }
        guard fields.hasValue("file_settings") else { return }
        for (name, text) in try fields.strings("file_settings") {
            let identifier = [UInt8](hexadecimal: name.utf8) ?? []
            guard let settings = [UInt8](hexadecimal: text.utf8), identifier.count == 2,
                let index = contents.files.firstIndex(where: {
                    $0.isoIdentifier == UInt16(high: identifier[0], low: identifier[1])
                }), contents.files[index].change(settings)
            else {
                throw malformed(
                    "The settings of file \"\(name)\" are not ones that it can have.",
                    "file_settings",
                    fields
                )
            }
        }
    }

    static func keyMembers(of contents: NTAG424Contents) -> [(String, String)] {
        let blank = NTAG424Contents(uid: contents.uid)
        let texts = zip(contents.files, blank.files).filter { $0.settings != $1.settings }.map { file, _ in
            let name = file.isoIdentifier.bigEndianBytes
            return "\(quoted(name)): \(quoted(file.settings))"
        }
        let settings = texts.isEmpty ? [] : [("file_settings", "{\(texts.joined(separator: ", "))}")]
        return member(changed(contents.keys)) + settings
    }
}
