// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagLink
import TagProtocols
import VirtualTags

/// `nfc tag write`.
struct TagWriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a message to a tag, on a reader or in an image.",
        discussion: """
            An image is saved as the tag is left, in its own file unless --out names
            another; the name's ending says the format, .json, .nfc, .bin, .eml or .mfd.
            The file keeps its mode, its owner and its links; a new one that has keys
            or passwords other than the delivered ones is its owner's alone. With
            --out - the image is standard output, in its own format, and the report
            goes to standard error.
            Images that NFC_TAGS brings near the virtual reader are saved when
            NFC_TAGS_SAVE is set. The counts are those of the write; nfc tag read
            --help says what a reader shows of them.

            A message that does not fit, a tag that is read-only, and a card that
            --lock would need a key for, are told before anything is written. When
            the tag leaves in the middle, it holds the old message, none, or the new
            one, but for a few moments that its type can't help; writing it again
            puts that right.

            Examples:
              nfc tag write --image card.nfc https://example.com
              nfc tag write --reader pcsc --message d1010c55046578616d706c652e636f6d
              nfc tag write --image card.nfc --text "Room 12" --lock
              nfc tag write --image card.nfc --message d00000 --out empty.nfc
              nfc tag write --image card.nfc --tear-after 2 --out torn.nfc \\
                https://a.example
              nfc tag write --image - --out - https://a.example < blank.nfc > card.nfc

            Exit status: 0 when it was written, 1 when the tag said no or left, the
            field was cut, or no tag came, 2 for wrong usage, 3 without a reader,
            130 when cancelled.
            """
    )

    @OptionGroup var place: TagPlaceOptions

    @OptionGroup var content: MessageOptions

    @Option(help: ArgumentHelp("Save the image in this file.", valueName: "file"))
    var out: String?

    @Flag(help: "Make the tag read-only afterwards, for ever.")
    var lock = false

    @Flag(help: "Read the message from the tag afterwards, and compare.")
    var check = false

    @Option(help: ArgumentHelp("Cut the field after so many write commands; 0 before the first.", valueName: "k"))
    var tearAfter: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let tearAfter, tearAfter < 0 { throw ValidationError("--tear-after counts from 0.") }
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

    /// Writes; the report tells of the tag as it is left.
    private func write() async throws(CommandFailure) -> (TagReport, TagWriteFailure?) {
        let octets = try content.octets()
        switch try place.open() {
        case .image(let file): return try await write(octets, to: file)
        case .reader(let environment): return try await write(octets, on: environment)
        }
    }

    /// Writes an image and saves it.
    private func write(
        _ octets: [UInt8],
        to file: ImageFile
    ) async throws(CommandFailure) -> (TagReport, TagWriteFailure?) {
        try file.checkTarget(out)
        let virtualTag = file.makeTag()
        let bench = try await TagBench(virtualTag)
        if let tearAfter { bench.arm(.tear(afterWrite: tearAfter)) }
        let outcome = await bench.hand.write(octets, checks: check, locks: lock)
        bench.clear()
        try file.save(virtualTag, to: out)
        // What is on the tag now is read in a field of its own, which costs the write nothing.
        var (report, _) = try await TagBench(virtualTag).read(product: file.product)
        report.cost = outcome.findings.cost
        report.activation = outcome.findings.activation
        return (report, outcome.failure)
    }

    /// Writes the next tag on a reader.
    private func write(
        _ octets: [UInt8],
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
                await hand.writeAndDescribe(octets, checks: checks, locks: locks)
            }
        }
        return (TagReport(outcome.findings, on: environment), outcome.failure)
    }
}

extension TagWriteFailure {
    /// What the scanning sheet says; it has no room for what may be on the tag.
    fileprivate var sheetMessage: String {
        leavesDoubt ? "The tag left too early. Hold it near the reader again." : error.reason
    }
}
