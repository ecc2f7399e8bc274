// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardCryptography
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

struct NTAG424KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Show the versions of a tag's keys, or change a key.",
        discussion: """
            Without --number it shows the versions of the five keys, which needs no key.
            With --number it changes that key, and asks first. Key 0 is needed for this,
            and the old key. If the tag leaves in between, it has the old key or the new
            one; the same command completes the change.

            Key 0 changes keys and settings. Keep it: nothing can replace it. In a link
            by nfc ntag424 setup, key 1 is that of the code, and key 2 that of the
            encrypted UID and counter.

            Examples:
              nfc ntag424 keys
              nfc ntag424 keys tag.json --number 1 --old-key-file old.txt \\
                --new-key-file new.txt --master-key-file master.txt

            \(TagChangeOptions.exit)
            """
    )

    @Option(help: "The number of the key to change, 0 to 4.")
    var number: UInt8?

    @Option(help: ArgumentHelp("The new key. Default: NFC_NTAG424_NEW_KEY.", valueName: "hex"))
    var newKey: String?

    @Option(help: ArgumentHelp("A file with the new key.", valueName: "file"))
    var newKeyFile: String?

    @Option(help: ArgumentHelp("The version of the new key, 0 to 255.", valueName: "n"))
    var keyVersion: UInt8 = 1

    @Option(help: ArgumentHelp("The old key. Default: NFC_NTAG424_OLD_KEY, or the factory key.", valueName: "hex"))
    var oldKey: String?

    @Option(help: ArgumentHelp("A file with the old key.", valueName: "file"))
    var oldKeyFile: String?

    @OptionGroup var masterKey: MasterKeyOptions

    @OptionGroup var options: TagChangeOptions

    func validate() throws {
        if let number {
            guard number < 5 else { throw ValidationError("--number must be 0 to 4.") }
        } else if newKey ?? newKeyFile ?? options.out != nil {
            throw ValidationError("Give the number of the key to change: --number N.")
        }
    }

    func run() async throws {
        guard let number else { return try await showVersions() }
        let new = NTAG424Key(
            try KeySource(option: "new-key", variable: "NFC_NTAG424_NEW_KEY").requiredKey(
                hex: newKey,
                file: newKeyFile,
                isNew: true
            ),
            version: keyVersion
        )
        let old = try KeySource(option: "old-key", variable: "NFC_NTAG424_OLD_KEY").key(hex: oldKey, file: oldKeyFile)
        // The version of an old key is unknown, so it only orders the candidates.
        func known(_ key: SecretBytes?) -> NTAG424Key { key.map { NTAG424Key($0, version: 1) } ?? .factory }
        var candidates: [UInt8: [NTAG424Key]] = [0: [known(try masterKey.key())]]
        if number == 0 { candidates[0]?.append(new) }
        if number == 0, old != nil { candidates[0]?.append(known(old)) }
        if number != 0 { candidates[number] = [known(old), new] }
        try await options.configure(
            candidates,
            prompt: "Hold the tag near the reader.",
            done: "The key is changed."
        ) { _ in NTAG424Configuration(keys: [number: new]) }
    }

    private func showVersions() async throws {
        let (versions, reader) = try await options.read { tag throws(TagError) in
            try await tag.ntag424.ntag424KeyVersions()
        }
        printResult(
            json: options.json,
            ["ok": true, "reader": reader, "versions": versions.map(Int.init)],
            versions.enumerated().map { "Key \($0): version \($1)" }
        )
    }
}

struct NTAG424ResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Give a tag back the factory's empty message, settings and keys.",
        discussion: """
            It undoes nfc ntag424 setup, and asks first: the link, the settings of its
            file, and keys 0, 1 and 2. Give the keys that the tag has. If the tag leaves
            in between, the same command completes the reset. Keys 3 and 4, the other
            files and the LRP mode stay as they are.

            Examples:
              nfc ntag424 reset --key-file key.txt --master-key-file master.txt
              nfc ntag424 reset tag.json --key-file key.txt --yes

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var keyOptions: LinkKeyOptions

    @OptionGroup var masterKey: MasterKeyOptions

    @OptionGroup var options: TagChangeOptions

    func run() async throws {
        let keys = try keyOptions.keys()
        let contents = NTAG424Contents()
        let given: [UInt8: SecretBytes?] = [0: try masterKey.key(), 1: keys.fileRead, 2: keys.metaRead]
        let wanted = NTAG424Configuration(
            file: contents.ndefFile,
            settings: contents.files[1].settings,
            keys: given.mapValues { _ in .factory }
        )
        try await options.configure(
            given.mapValues { key in [.factory] + (key.map { [NTAG424Key($0, version: 1)] } ?? []) },
            prompt: "Hold the tag to reset near the reader.",
            done: "The tag is as from the factory."
        ) { _ in wanted }
    }
}
