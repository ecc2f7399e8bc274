// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCSessions
import TagImages
import TagProtocols
import VirtualTags

struct TagCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: "Read, write and describe tags, on a reader or in images, and make images.",
        discussion: """
            A tag is on the reader of --reader, or it is an image: a file with the
            memory of a tag. Images can be Flipper .nfc dumps, Proxmark3 .json or .bin
            files, .mfd files, TagInfo reports, or the project's own JSON. A command
            puts an image in the virtual field, and exchanges frames with it as with a
            tag on a reader. Without --reader and an image, it uses the first
            contactless PC/SC reader.

            Examples:
              nfc tag create --product NTAG215 --out card.nfc https://example.com
              nfc tag write card.nfc --text "Room 12"
              nfc tag read card.nfc
              nfc tag info card.nfc
              nfc tag read --reader pcsc
              nfc tag write --reader pn532:/dev/ttyUSB0 https://example.com
              nfc tag convert card.nfc --to proxmark-json --out dump.json
            """,
        subcommands: [
            TagReadCommand.self, TagWriteCommand.self, TagLockCommand.self, TagCreateCommand.self,
            TagInfoCommand.self, TagConvertCommand.self, TagDumpCommand.self, TagCompareCommand.self,
            TagRestoreCommand.self, TagCloneCommand.self, TagWipeCommand.self, TagFormatCommand.self,
            TagProtectCommand.self, TagUnprotectCommand.self, TagRawCommand.self, TagVerifyCommand.self,
        ]
    )
}

struct TagReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a tag's NDEF message, on a reader or in an image, and report its airtime.",
        discussion: """
            The exchanges, bytes and airtime count from the end of activation. The
            airtime uses the standard's minimum delays, so it is the same on every
            machine. If the reader does not show the frames (cards with ISO-DEP over
            PC/SC, and readers with only page and block commands), these values are
            null. So are those of the activation, if the reader activates tags by
            itself. The product is what the tag reports, or null.

            If nfc ndef decode would refuse the message, the exit status is 1. The
            error and its place are printed, and with --json also the bytes.

            Examples:
              nfc tag read card.nfc
              nfc tag read --reader pcsc
              nfc tag read --reader pn532:/dev/ttyUSB0 --timeout 10 --json
              nfc tag read images.jsonl --id t2t-09 --json
              nfc tag read ntag424.json --out ntag424.json
              xz -dc card.nfc.xz | nfc tag read -

            Exit status: 0 when the tag holds NDEF, even if it is empty, 1 when it does
            not, the image is damaged, or no tag was found, 2 for wrong usage, 3 without
            a reader, 130 when cancelled.
            """
    )

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var unlocking: UnlockOptions

    @Option(help: ArgumentHelp("Save the image afterwards. Some tags count their readings.", valueName: "file"))
    var out: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try source.checkImageOption("--out", isGiven: out != nil)
        try OutputTarget.check(image: source.image, out: out, json: json)
    }

    func run() async throws {
        var (report, error) = try await read(unlock: unlocking.opening())
        report.out = out
        if let failure = report.failure(error) { throw failure }
        report.print(json: json)
    }

    private func read(unlock opening: TagCredentials) async throws -> (TagReport, TagError?) {
        switch try source.open() {
        case .image(let file):
            let tag = file.makeTag()
            let result = try await ImageTagRunner.read(tag, file.contents, unlock: opening)
            if let out { try file.save(tag, to: out) }
            return result
        case .reader(let session):
            let findings = try await session.withOneTag(
                doneMessage: "The tag was read.",
                failure: { TagReport($0).failure($0.ndefStatus.error)?.message }
            ) { tag throws(TagError) in
                try await tag.open(opening)
                var findings = try await tag.read()
                findings.product = await tag.productName()
                return findings
            }
            return (TagReport(findings, on: session.environment), findings.ndefStatus.error)
        }
    }
}

struct TagWriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a message to a tag, on a reader or in an image.",
        discussion: """
            After the write, the image is saved to its own file, or to the file of
            --out. The extension sets the format: .json, .nfc, .bin, .eml or .mfd. The
            file keeps its mode, owner and links. Only the owner can read a new file
            with keys or passwords other than the factory ones. With --out - the image
            goes to standard output, in its own format, and the report to standard
            error; --json can't be given then. Images of NFC_TAGS are saved if
            NFC_TAGS_SAVE is set. Exchanges and airtime are those of the write; nfc tag
            read --help explains them.

            If the message does not fit, the tag is read-only, or --lock would need a
            key or a password, the command fails before it writes anything. If the tag
            leaves during the write, it holds the old message, none, or the new one.
            For some types there are short moments when it can hold a part of a
            message. Write it again to repair it.

            --lock forbids writing in the capability container and locks the memory. On
            an ST25DV it also locks the areas and the configuration for readers; its
            host can still write over its own bus.

            Examples:
              nfc tag write card.nfc https://example.com
              nfc tag write --reader pcsc --message d1010c55046578616d706c652e636f6d
              nfc tag write card.nfc --text "Room 12" --lock
              nfc tag write card.nfc --message d00000 --out empty.nfc
              nfc tag write card.nfc --tear-after 2 --out torn.nfc \\
                https://a.example
              nfc tag write - --out - https://a.example < blank.nfc > card.nfc

            Exit status: 0 when the message was written, 1 when the tag refused it or
            left, the field was cut, or no tag was found, 2 for wrong usage, 3 without a
            reader, 130 when cancelled.
            """
    )

    @Argument(
        help: ArgumentHelp("Links to write; and the image of the tag, like --image.", valueName: "link-or-image")
    )
    var words: [String] = []

    @OptionGroup var source: NamedTagOptions

    @OptionGroup var content: MessageOptions

    @OptionGroup var writing: WriteOptions

    @OptionGroup var unlocking: UnlockOptions

    @Option(help: ArgumentHelp("Save the image in this file.", valueName: "file"))
    var out: String?

    @Option(help: ArgumentHelp("Cut the field after this many writes; 0 cuts it before the first.", valueName: "k"))
    var tearAfter: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        try source.use(image: writing.split(words, content).image)
        if let tearAfter, tearAfter < 0 { throw ValidationError("--tear-after must be 0 or more.") }
        try source.checkImageOption("--out", isGiven: out != nil)
        try source.checkImageOption("--tear-after", isGiven: tearAfter != nil)
        try OutputTarget.check(image: source.image, out: out, savesImage: true, json: json)
    }

    func run() async throws {
        let bytes = try content.bytes(writing.split(words, content).links)
        let opening = try unlocking.opening()
        var (report, failure) =
            switch try source.open(WriteOptions.prompt) {
            case .image(let file): try await write(bytes, to: file, unlock: opening)
            case .reader(let session): try await write(bytes, in: session, unlock: opening)
            }
        report.out = out
        if let failure { throw report.failure(ofWrite: failure) }
        report.print(json: json)
    }

    /// Writes to an image and saves it. The report describes the tag after the write.
    private func write(
        _ bytes: [UInt8],
        to file: ImageFile,
        unlock opening: TagCredentials
    ) async throws -> (TagReport, TagWriteFailure?) {
        try file.checkTarget(out)
        let tag = file.makeTag()
        let runner = try await ImageTagRunner(tag, unlock: opening)
        if let tearAfter { runner.arm(.tear(afterWrite: tearAfter)) }
        let outcome = await runner.tag.write(bytes, checks: writing.check, locks: writing.lock)
        try file.save(tag, to: out)
        if let tearAfter, outcome.failure == nil {
            StandardError.writeLine("Note: The field was not cut: there were fewer than \(tearAfter) writes.")
        }
        // Read the tag in a separate field, so that the read is not counted in the write's airtime.
        var (report, _) = try await ImageTagRunner(tag, unlock: opening).read(product: file.product)
        report.cost = outcome.findings.cost
        report.activation = outcome.findings.activation
        return (report, outcome.failure)
    }

    private func write(
        _ bytes: [UInt8],
        in session: TagSession,
        unlock opening: TagCredentials
    ) async throws -> (TagReport, TagWriteFailure?) {
        let (checks, locks) = (writing.check, writing.lock)
        let outcome = try await session.withOneTag(
            doneMessage: writing.doneMessage,
            failure: { $0.failure?.sheetMessage }
        ) { tag throws(TagError) in
            try await tag.open(opening)
            return await tag.write(bytes, checks: checks, locks: locks, describing: .product)
        }
        return (TagReport(outcome.findings, on: session.environment), outcome.failure)
    }
}

struct TagLockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Make a tag read-only without writing its message, on a reader or in an image.",
        discussion: """
            This can't be undone, so it asks first. It forbids writing in the capability
            container and locks the memory, like nfc tag write --lock, whose help
            explains ST25DV. If that would need a key or a password, the command fails
            before it changes anything. If the tag leaves in between, its message can
            still be read: run the command again to complete it.

            With --blocks, only these blocks become read-only, and the rest can still be
            written: blocks of Types 1 and 5, pages of Type 2, which can share a lock bit.

            Examples:
              nfc tag lock card.nfc --yes
              nfc tag lock --reader pcsc
              nfc tag lock card.nfc --blocks 16-31

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var unlocking: UnlockOptions

    @Option(help: "Lock only these blocks or pages, such as 8-15 or 8.")
    var blocks: BlockRangeArgument?

    func run() async throws {
        try await options.carryOut(
            "Hold the tag to lock near the reader.",
            done: "The tag is locked.",
            unlock: unlocking.opening()
        ) { tag, performs throws(TagError) in
            if let blocks {
                guard let forumTag = try tag.ndef as? any BlockLockingTag else {
                    throw TagError(
                        .unsupported,
                        "Only tags of Types 1, 2 and 5 have blocks that can be locked one by one."
                    )
                }
                try await forumTag.prepare()
                let unit = forumTag is Type2Tag ? "page" : "block"
                let locked = try await forumTag.lock(blocks: blocks.range, performs: performs)
                var plan = await TagChangePlan(tag)
                plan.changes = locked.map { TagDifference("\(unit) \($0)", "writable", "locked") }
                plan.notes = ["This can't be undone. A message that reaches there can't be changed any more."]
                return plan
            }
            let locksAreas = try await tag.lock(performs: performs)
            var plan = await TagChangePlan(tag)
            plan.changes = [TagDifference("writing", "allowed", "forbidden")]
            if locksAreas { plan.changes.append(TagDifference("areas and configuration", "open", "locked")) }
            // The file system of a card is not the capability container's: its rights and keys decide what is possible.
            plan.notes = [
                tag.forumTag is Type4Tag
                    ? "Only the capability container forbids it: who may write its file by the card's rights still can"
                    : "This can't be undone"
            ]
            return plan
        }
    }
}

extension TagWriteFailure {
    /// The text for the scanning sheet, which is too short to explain what the tag may contain.
    var sheetMessage: String {
        isContentUnknown ? "The tag was removed too early. Hold it near the reader again." : error.reason
    }
}
