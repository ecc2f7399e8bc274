// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

/// The root of the command line.
@main
struct NFCCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc",
        abstract: "Read, write and make NFC tags and their messages.",
        discussion: """
            Examples:
              nfc scan
              nfc write https://example.com
              nfc tag create --product NTAG215 --out card.nfc
              echo d1010c55046578616d706c652e636f6d | nfc ndef decode

            Every command that answers takes --json. Exit status: 0 done, 1 the tag
            or the data said no, 2 wrong usage, 3 no reader, 130 cancelled.
            """,
        subcommands: [
            ScanCommand.self, WriteCommand.self, ReadersCommand.self, TraceCommand.self, EmulateCommand.self,
            TagCommand.self,
            NDEFCommand.self, LinksCommand.self, AppsCommand.self, InboxCommand.self,
            BackgroundCommand.self,
        ]
    )

    /// Runs the command line. Wrong usage ends with status 2, as in the contract, and not with the parser's own 64.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            StandardError.write(fullMessage(for: error) + "\n")
            Glibc.exit(2)
        }
    }
}

/// `nfc ndef`: messages as octets and as what they say. Needs no reader and no tag.
struct NDEFCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Decode and encode NDEF messages.",
        subcommands: [NDEFDecodeCommand.self, NDEFEncodeCommand.self]
    )
}

/// `nfc links`.
struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "Say which app a link opens, and why.",
        subcommands: [
            LinksMatchCommand.self, LinksExplainCommand.self, LinksCheckCommand.self, LinksFetchCommand.self,
        ]
    )
}
