// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc ndef`: messages as octets and as what they say. Needs no reader and no tag.
struct NDEFCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Decode and encode NDEF messages.",
        subcommands: [NDEFDecodeCommand.self, NDEFEncodeCommand.self]
    )
}
