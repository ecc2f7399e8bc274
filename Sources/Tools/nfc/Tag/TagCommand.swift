// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc tag`: tags on a reader, and images of tags, which need no reader.
struct TagCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: "Read, write and describe tags, on a reader or in images, and make images.",
        discussion: """
            A tag is on the reader of --reader, or it is an image: a file with the
            memory of a tag. Images can be Flipper .nfc dumps, Proxmark3 .json or .bin
            files, .mfd files, TagInfo reports, or the project's own JSON. A command
            puts an image in the virtual field, and exchanges frames with it as with a
            tag on a reader. Without --reader and --image, it uses the reader of
            nfc scan.

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
