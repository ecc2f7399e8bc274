// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardCryptography
import Foundation
import Glibc
import LinuxSupport

/// `nfc ntag424`: links that an NTAG 424 DNA changes and authenticates at each read.
struct NTAG424Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ntag424",
        abstract: "Set up NTAG 424 DNA tags, and verify that their links are genuine.",
        discussion: """
            An NTAG 424 DNA inserts its UID, a counter of readings and a code (CMAC)
            into its link at each read: Secure Dynamic Messaging. A server that knows
            the keys checks that the tag is genuine, and that the link is new.

            A key has 16 bytes, as 32 hex digits. Other users of the machine can see
            the options of a command, so give it in a file (--key-file) or in a
            variable (NFC_NTAG424_KEY). Without either, the command asks for it on a
            terminal.

            Examples:
              nfc ntag424 setup --url 'https://example.com/t?e={picc}&c={cmac}' \\
                --key-file key.txt --master-key-file master.txt
              nfc ntag424 verify --key-file key.txt --last seen.json \\
                'https://example.com/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086'
            """,
        subcommands: [
            NTAG424VerifyCommand.self, NTAG424SetupCommand.self, NTAG424KeysCommand.self, NTAG424ResetCommand.self,
        ]
    )
}

/// The keys of the link: by default one, for the code, the encrypted data and the encrypted UID and counter.
struct LinkKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The key of the code and of encrypted data. Default: NFC_NTAG424_KEY.", valueName: "hex")
    )
    var key: String?

    @Option(help: ArgumentHelp("A file with this key.", valueName: "file"))
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "The key of the encrypted UID and counter. Default: NFC_NTAG424_META_KEY, or the same key.",
            valueName: "hex"
        )
    )
    var metaKey: String?

    @Option(help: ArgumentHelp("A file with that key.", valueName: "file"))
    var metaKeyFile: String?

    /// Returns SDMFileReadKey and SDMMetaReadKey.
    func keys(areNew: Bool = false) throws -> (fileRead: SecretBytes, metaRead: SecretBytes) {
        let source = KeySource(option: "key", variable: "NFC_NTAG424_KEY")
        let key = try source.requiredKey(hex: key, file: keyFile, isNew: areNew)
        let meta = KeySource(option: "meta-key", variable: "NFC_NTAG424_META_KEY")
        return (key, try meta.key(hex: metaKey, file: metaKeyFile) ?? key)
    }
}

/// Where an AES key comes from: an option, a file, a variable, or a prompt. No message shows it.
struct KeySource {
    /// The name of the option. That of the file's option ends in `-file`.
    let option: String
    let variable: String

    /// Returns the key; nil if it is not given.
    func key(hex: String?, file: String?) throws -> SecretBytes? {
        if hex != nil, file != nil {
            throw CommandFailure(.usage, "usage", "Give --\(option) or --\(option)-file, not both.")
        }
        if let hex { return try parse(hex, "--\(option)") }
        if let file {
            let bytes: [UInt8]
            do throws(StorageError) {
                bytes = try InputFile.named(file, limit: 1024).readToEnd()
            } catch {
                throw CommandFailure("unreadable-file", error.reason)
            }
            return try parse(String(decoding: bytes, as: UTF8.self), file)
        }
        return try ProcessInfo.processInfo.environment[variable].map { try parse($0, variable) }
    }

    /// Returns the key, or asks for it on a terminal, twice for a new one.
    func requiredKey(hex: String?, file: String?, isNew: Bool = false) throws -> SecretBytes {
        if let key = try key(hex: hex, file: file) { return key }
        guard isatty(STDIN_FILENO) == 1 else {
            let message = "Give the key: --\(option)-file FILE, the variable \(variable), or --\(option) HEX."
            throw CommandFailure(.usage, "usage", message)
        }
        return try parse(try Secret.hiddenLine("Key, 32 hex digits, not shown:", repeats: isNew), "The key")
    }

    private func parse(_ text: String, _ name: String) throws -> SecretBytes {
        // As in the files of other commands, the digits may follow hex:.
        let digits = (text.hasPrefix("hex:") ? text.dropFirst(4) : text[...]).utf8.filter {
            ![0x20, 0x09, 0x0A, 0x0D].contains($0)
        }
        guard case .success(let bytes) = HexText.bytes(digits[...]), bytes.count == 16 else {
            throw CommandFailure(.usage, "usage", "\(name) is not valid: a key has 16 bytes, as 32 hex digits.")
        }
        return SecretBytes(bytes)
    }
}
