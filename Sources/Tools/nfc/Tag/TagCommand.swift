// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import NFCSessions
import TagProtocols
import VirtualTags

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

/// `nfc tag read`.
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
              nfc tag read --image card.nfc
              nfc tag read --reader pcsc
              nfc tag read --reader pn532:/dev/ttyUSB0 --timeout 10 --json
              nfc tag read --image images.jsonl --id t2t-09 --json
              nfc tag read --image ntag424.json --out ntag424.json
              xz -dc card.nfc.xz | nfc tag read --image -

            Exit status: 0 when the tag holds NDEF, even if it is empty, 1 when it does
            not, the image is damaged, or no tag came, 2 for wrong usage, 3 without a
            reader, 130 when cancelled.
            """
    )

    @OptionGroup var place: TagPlaceOptions

    @Option(help: ArgumentHelp("Save the image afterwards. Some tags count their readings.", valueName: "file"))
    var out: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try place.checkImageOption("--out", isGiven: out != nil)
        try OutputTarget.check(image: place.image, out: out, savesImage: false, json: json)
    }

    func run() async throws {
        let (report, error) = try await reportingFailure(json: json, read)
        guard let failure = report.failure(error) else { return report.print(json: json, beside: out) }
        failure.print(json: json, beside: out)
        throw ExitCode(failure.status.rawValue)
    }

    private func read() async throws(CommandFailure) -> (TagReport, TagError?) {
        switch try place.open() {
        case .image(let file):
            let tag = file.makeTag()
            let result = try await TagBench.survey(tag, file.contents)
            if let out { try file.save(tag, to: out) }
            return result
        case .reader(let environment):
            let findings = try await TagSession(
                environment: environment,
                prompt: "Hold a tag near the reader.",
                seconds: place.timeout?.value,
                plan: .everyTag
            ).withOneTag(doneMessage: "The tag was read.") { session, tag throws(CommandFailure) in
                try await session.work(with: tag) { tag throws(TagError) in
                    var findings = try await tag.read()
                    findings.product = await tag.productName()
                    return findings
                }
            }
            return (TagReport(findings, on: environment), findings.survey.error)
        }
    }
}

/// `nfc tag write`.
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

            --lock forbids writing in the capability container and locks the memory.
            A tag like ST25DV, which can lock no more than its first blocks, keeps the
            rest open to programs that ignore its capability container.

            Examples:
              nfc tag write --image card.nfc https://example.com
              nfc tag write --reader pcsc --message d1010c55046578616d706c652e636f6d
              nfc tag write --image card.nfc --text "Room 12" --lock
              nfc tag write --image card.nfc --message d00000 --out empty.nfc
              nfc tag write --image card.nfc --tear-after 2 --out torn.nfc \\
                https://a.example
              nfc tag write --image - --out - https://a.example < blank.nfc > card.nfc

            Exit status: 0 when the message was written, 1 when the tag refused it or
            left, the field was cut, or no tag came, 2 for wrong usage, 3 without a
            reader, 130 when cancelled.
            """
    )

    @OptionGroup var place: TagPlaceOptions

    @OptionGroup var content: MessageOptions

    @Option(help: ArgumentHelp("Save the image in this file.", valueName: "file"))
    var out: String?

    @Flag(help: "Then make the tag read-only. This can't be undone.")
    var lock = false

    @Flag(help: "Then read the message back and compare it.")
    var check = false

    @Option(help: ArgumentHelp("Cut the field after this many writes; 0 cuts it before the first.", valueName: "k"))
    var tearAfter: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let tearAfter, tearAfter < 0 { throw ValidationError("--tear-after takes 0 or a higher number.") }
        try place.checkImageOption("--out", isGiven: out != nil)
        try place.checkImageOption("--tear-after", isGiven: tearAfter != nil)
        try OutputTarget.check(image: place.image, out: out, savesImage: true, json: json)
    }

    func run() async throws {
        let (report, failure) = try await reportingFailure(json: json, write)
        guard let failure = failure.map({ CommandFailure($0).of(report) }) else {
            return report.print(json: json, beside: out)
        }
        failure.print(json: json, beside: out)
        throw ExitCode(failure.status.rawValue)
    }

    /// Writes the message. The report describes the tag after the write.
    private func write() async throws(CommandFailure) -> (TagReport, TagWriteFailure?) {
        let bytes = try content.bytes()
        switch try place.open() {
        case .image(let file): return try await write(bytes, to: file)
        case .reader(let environment): return try await write(bytes, on: environment)
        }
    }

    /// Writes an image and saves it.
    private func write(
        _ bytes: [UInt8],
        to file: ImageFile
    ) async throws(CommandFailure) -> (TagReport, TagWriteFailure?) {
        try file.checkTarget(out)
        let virtualTag = file.makeTag()
        let bench = try await TagBench(virtualTag)
        if let tearAfter { bench.arm(.tear(afterWrite: tearAfter)) }
        let outcome = await bench.tag.write(bytes, checks: check, locks: lock)
        try file.save(virtualTag, to: out)
        if let tearAfter, outcome.failure == nil {
            StandardError.writeLine("Note: The field was not cut: there were fewer than \(tearAfter) writes.")
        }
        // Read the tag in another field, so that the read does not count in the airtime of the write.
        var (report, _) = try await TagBench(virtualTag).read(product: file.product)
        report.cost = outcome.findings.cost
        report.activation = outcome.findings.activation
        return (report, outcome.failure)
    }

    /// Writes to the next tag on a reader.
    private func write(
        _ bytes: [UInt8],
        on environment: NFCEnvironment
    ) async throws(CommandFailure) -> (TagReport, TagWriteFailure?) {
        let (checks, locks) = (check, lock)
        let outcome = try await TagSession(
            environment: environment,
            prompt: "Hold the tag to write near the reader.",
            seconds: place.timeout?.value,
            plan: .everyTag
        ).withOneTag(
            doneMessage: lock ? "The message is written, and the tag locked." : "The message is written.",
            failure: { $0.failure?.sheetMessage }
        ) { session, tag throws(CommandFailure) in
            try await session.work(with: tag) { hand throws(TagError) in
                await hand.writeAndDescribe(bytes, checks: checks, locks: locks)
            }
        }
        return (TagReport(outcome.findings, on: environment), outcome.failure)
    }
}

extension TagWriteFailure {
    /// The sheet's text. It is too short to explain what may be on the tag.
    fileprivate var sheetMessage: String {
        leavesDoubt ? "The tag left too early. Hold it near the reader again." : error.reason
    }
}
