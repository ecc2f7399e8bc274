// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc tag`: images of tags, in the virtual field. Needs no reader.
struct TagCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: "Read, write, make and describe images of tags.",
        discussion: """
            An image is the memory of a tag in a file: a Flipper .nfc dump, a
            Proxmark3 .json or .bin, an .mfd, a TagInfo report, or the project's own
            JSON. A command puts it in the virtual field and talks to it in frames,
            as a session talks to a tag on a reader.

            Examples:
              nfc tag create --product NTAG215 --out card.nfc
              nfc tag write --image card.nfc --message d1010c55046578616d706c652e636f6d
              nfc tag read --image card.nfc
              nfc tag info --image card.nfc
              nfc tag convert card.nfc --to proxmark-json --out dump.json
            """,
        subcommands: [
            TagReadCommand.self, TagWriteCommand.self, TagCreateCommand.self, TagInfoCommand.self,
            TagConvertCommand.self,
        ]
    )
}
