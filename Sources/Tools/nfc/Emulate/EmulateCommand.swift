// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc emulate`.
struct EmulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulate",
        abstract: "Show a tag to other programs, as a reader with the tag on it would.",
        discussion: """
            With --pcsc it is a reader of pcscd, for every PC/SC program. With --pn532
            it is a PN532 on a serial line, for libnfc and nfcpy. For all options, see:
            nfc emulate show --help. To use the system's pcscd, root installs the reader
            once for a user.

            Examples:
              nfc emulate --image card.nfc --pcsc --start-pcscd
              nfc emulate --image card.nfc --pn532 /tmp/pn532 --trace
              sudo nfc emulate install --for $USER
            """,
        subcommands: [EmulateShowCommand.self, EmulateInstallCommand.self, EmulateUninstallCommand.self],
        defaultSubcommand: EmulateShowCommand.self
    )
}
