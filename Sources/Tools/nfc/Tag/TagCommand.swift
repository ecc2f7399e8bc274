// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc tag`: tags on a reader, and images of tags, which need none.
struct TagCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: "Read, write and describe tags, on a reader or in images, and make images.",
        discussion: """
            A tag is on a reader, which --reader names, or it is an image: the memory
            of a tag in a file, as a Flipper .nfc dump, a Proxmark3 .json or .bin, an
            .mfd, a TagInfo report, or the project's own JSON. A command puts an image
            in the virtual field and talks to it in frames, as to a tag on a reader.
            With neither, it is the reader that nfc scan uses.

            Examples:
              nfc tag create --product NTAG215 --out card.nfc
              nfc tag write --image card.nfc --message d1010c55046578616d706c652e636f6d
              nfc tag read --image card.nfc
              nfc tag info --image card.nfc
              nfc tag read --reader pcsc
              nfc tag write --reader pn532:/dev/ttyUSB0 https://example.com
              nfc tag convert card.nfc --to proxmark-json --out dump.json
            """,
        subcommands: [
            TagReadCommand.self, TagWriteCommand.self, TagCreateCommand.self, TagInfoCommand.self,
            TagConvertCommand.self,
        ]
    )
}
