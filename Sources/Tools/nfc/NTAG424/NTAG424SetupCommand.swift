// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardCryptography
import NDEF
import NFCSessions
import TagImages
import TagLink
import TagProtocols
import VirtualTags

struct NTAG424SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Write a link that changes at each read, its settings and its keys.",
        discussion: """
            It shows the plan, and asks first. If the tag leaves in between, it can be
            read; the same command completes the plan.

            The link has placeholders for what the tag inserts:
              {picc}   the encrypted UID and counter, 32 digits, 48 in LRP mode (key 2)
              {uid}    the UID, 14 digits; instead of {picc}
              {ctr}    the counter of readings, 6 digits; instead of {picc}
              {cmac}   the code that proves them, 16 digits (key 1)
              {enc:N}  N bytes of --data, encrypted, 2 N digits (key 1). N is a multiple
                       of 16. It needs UID and counter, and {cmac} after it.

            --key is written as keys 1 and 2, or 1 alone if --meta-key is given for 2.
            Key 0 changes keys and settings. With --master-key it is changed to that;
            keep it, because nothing can replace it. Changed keys have version 1. If
            the tag has other keys, change them with nfc ntag424 keys first.

            Everybody can then read the message, and key 0 is needed to write it.

            With --lrp the tag's keys work in LRP mode, which reveals less to somebody who
            measures the chip. This can't be undone, not by nfc ntag424 reset either. A
            server finds out from the length of {picc}.

            Examples:
              nfc ntag424 setup --url 'https://example.com/t?e={picc}&c={cmac}' \\
                --key-file key.txt --master-key-file master.txt
              nfc ntag424 setup tag.json --url 'https://example.com/?u={uid}&n={ctr}&c={cmac}' \\
                --key-file key.txt --yes

            \(TagChangeOptions.exit)
            """
    )

    @Option(help: ArgumentHelp("The link, with placeholders.", valueName: "link"))
    var url: String

    @Option(help: ArgumentHelp("The text for {enc:N}. Zeros follow it.", valueName: "text"))
    var data: String?

    @Flag(help: "Switch the tag to LRP mode, which can't be undone.")
    var lrp = false

    @OptionGroup var keyOptions: LinkKeyOptions

    @OptionGroup var masterKey: MasterKeyOptions

    @OptionGroup var options: TagChangeOptions

    mutating func validate() throws {
        guard MessageOptions.isURI(url) else {
            throw ValidationError("--url is not a link. A link begins like https://.")
        }
        guard data == nil || url.contains("{enc:") else { throw ValidationError("--data needs {enc:N} in the link.") }
        guard Self.contents(url, data, usesLRP: lrp) != nil else { throw ValidationError(Self.impossibleLink) }
    }

    private static let impossibleLink =
        "The tag can't insert data into this link: a placeholder is unknown, repeated or missing, or the link is too "
        + "long. See: nfc ntag424 setup --help"

    /// The message and the settings of a tag with this link; nil if it can't have it.
    private static func contents(_ url: String, _ data: String?, usesLRP: Bool) -> NTAG424Contents? {
        var contents = NTAG424Contents()
        contents.usesLRP = usesLRP
        guard contents.setLink(url, data: data ?? "") else { return nil }
        // Free to read; key 0 writes and changes the settings.
        contents.files[1].accessRights = FileAccessRights(rawValue: 0xE000)
        return contents
    }

    func run() async throws {
        var new: [UInt8: NTAG424Key] = [:]
        var candidates: [UInt8: [NTAG424Key]] = [0: [.factory]]
        let messaging = Self.contents(url, data, usesLRP: lrp)?.files[1].dynamicMessaging
        if messaging?.macOffset != nil || messaging?.piccDataOffset != nil {
            let keys = try keyOptions.keys(areNew: true)
            if messaging?.macOffset != nil { new[1] = NTAG424Key(keys.fileRead, version: 1) }
            if messaging?.piccDataOffset != nil { new[2] = NTAG424Key(keys.metaRead, version: 1) }
        }
        var notes: [String] = []
        if let master = try masterKey.key() {
            new[0] = NTAG424Key(master, version: 1)
        } else {
            notes = ["Key 0 is not changed. If it is the factory key, everybody can change the tag; see --master-key"]
        }
        for (number, key) in new { candidates[number] = [key, .factory] }
        let (url, data, lrp, keys) = (url, data, lrp, new)
        try await options.configure(
            candidates,
            prompt: "Hold the tag to set up near the reader.",
            done: "The tag is set up.",
            notes: notes
        ) { usesLRP throws(TagError) in
            guard let contents = Self.contents(url, data, usesLRP: usesLRP || lrp) else {
                throw TagError(.messageTooLong, Self.impossibleLink)
            }
            let (file, settings) = (contents.ndefFile, contents.files[1].settings)
            return NTAG424Configuration(file: file, settings: settings, keys: keys, usesLRP: lrp)
        }
    }
}

/// Key 0, which changes keys and settings.
struct MasterKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Key 0, which changes keys and settings. Default: NFC_NTAG424_MASTER_KEY, or the factory key.",
            valueName: "hex"
        )
    )
    var masterKey: String?

    @Option(help: ArgumentHelp("A file with key 0.", valueName: "file"))
    var masterKeyFile: String?

    func key() throws -> SecretBytes? {
        try KeySource(option: "master-key", variable: "NFC_NTAG424_MASTER_KEY").key(hex: masterKey, file: masterKeyFile)
    }
}

extension ActivatedTag {
    /// The tag, prepared for the commands of an NTAG 424 DNA.
    var ntag424: Type4Tag {
        get async throws(TagError) {
            guard let card = try ndef as? Type4Tag else {
                throw TagError(.unsupported, "This tag is not an NTAG 424 DNA.")
            }
            try await card.prepare()
            return card
        }
    }
}

extension TagChangeOptions {
    /// Shows what a configuration changes, asks, and writes it. `wanted` is called with whether the tag is in LRP mode.
    func configure(
        _ candidates: [UInt8: [NTAG424Key]],
        prompt: String,
        done: String,
        notes: [String] = [],
        _ wanted: @escaping @Sendable (_ usesLRP: Bool) throws(TagError) -> NTAG424Configuration
    ) async throws {
        try await carryOut(prompt, done: done) { tag, performs throws(TagError) in
            let card = try await tag.ntag424
            var plan = await TagChangePlan(tag)
            let state = try await card.ntag424State(candidates)
            let wanted = try wanted(state.usesLRP)
            plan.add(state, wanted)
            plan.notes += notes
            if performs, !plan.changes.isEmpty { try await card.configure(wanted, candidates: candidates) }
            return plan
        }
    }
}

extension TagChangePlan {
    /// Adds what a configuration changes on an NTAG 424 DNA. Keys are not shown.
    fileprivate mutating func add(_ state: NTAG424State, _ wanted: NTAG424Configuration) {
        func add(_ part: String, _ old: String?, _ new: String?) {
            if old != new { changes.append(TagDifference(part, old, new)) }
        }
        if let file = wanted.file {
            add("file 2, link", state.file.map(Self.link) ?? "unknown", Self.link(file))
            // Other contents can have the same link.
            if state.file != file, changes.isEmpty {
                add("file 2, data", state.file?.hexText() ?? "unknown", file.hexText())
            }
        }
        if let settings = wanted.settings {
            let (old, new) = (Self.settings(state.settings), Self.settings(settings))
            for (first, second) in zip(old, new) { add("file 2, \(first.name)", first.value, second.value) }
        }
        for (number, key) in wanted.keys.sorted(by: { $0.key < $1.key }) {
            guard let old = state.keys[number], old != key else { continue }
            let isSame = old.bytes == key.bytes
            func text(_ key: NTAG424Key, _ name: String) -> String {
                let isFactory = key.bytes == NTAG424Key.factory.bytes
                return "\(isFactory ? "factory key" : name), version \(key.version)"
            }
            add("key \(number)", text(old, isSame ? "given key" : "old key"), text(key, "given key"))
        }
        if wanted.usesLRP, !state.usesLRP {
            add("secure messaging", "AES mode", "LRP mode")
            notes.append("LRP mode can't be switched off again, not by nfc ntag424 reset either")
        }
        if state.settings[0] & 0x40 != 0, changes.contains(where: { $0.part.hasPrefix("file 2, link") }) {
            notes.append("The counter of readings starts again at 0")
        }
    }

    /// The link in an NDEF file, or its bytes.
    private static func link(_ file: [UInt8]) -> String? {
        let length = file.count < 2 ? 0 : Int(file[0]) << 8 | Int(file[1])
        guard length > 0, length + 2 <= file.count else { return nil }
        let message = Array(file[2..<length + 2])
        guard let record = try? NDEFMessage(decoding: message).records.first, let link = try? URIRecord(record) else {
            return message.hexText()
        }
        return link.uri
    }

    /// The settings of the NDEF file, in words.
    private static func settings(_ bytes: [UInt8]) -> [(name: String, value: String?)] {
        func holder(_ right: UInt8) -> String {
            switch right & 0x0F {
            case 0x0E: "free"
            case 0x0F: "never"
            case let number: "key \(number)"
            }
        }
        let messaging = bytes[0] & 0x40 != 0 ? SecureDynamicMessaging(Array(bytes[3...])) : nil
        func place(_ offset: Int?) -> String? { offset.map { "at \($0)" } }
        return [
            ("protection", bytes[0] & 0x03 == 0x03 ? "encrypted" : bytes[0] & 0x01 == 0x01 ? "MAC" : "plain"),
            ("read", holder(bytes[2] >> 4)), ("write", holder(bytes[2])), ("read and write", holder(bytes[1] >> 4)),
            ("change settings", holder(bytes[1])), ("dynamic message", bytes[0] & 0x40 != 0 ? "on" : "off"),
            ("UID", place(messaging?.uidOffset)), ("counter", place(messaging?.counterOffset)),
            ("encrypted UID and counter", place(messaging?.piccDataOffset)),
            ("encrypted data", messaging?.encryptedPart.map { "at \($0.offset), \($0.length) digits" }),
            ("code", place(messaging?.macOffset)), ("code covers", messaging?.macInputOffset.map { "from \($0)" }),
            (
                "key of encrypted UID and counter",
                messaging?.piccDataOffset.flatMap { _ in messaging.map { holder($0.metaReadKey) } }
            ),
            ("key of the code", messaging?.macOffset.flatMap { _ in messaging.map { holder($0.fileReadKey) } }),
            ("counter can be read", messaging.map { holder($0.counterKey) }),
            ("limit of readings", messaging?.counterLimit.map { "\($0)" }),
        ]
    }
}
