// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCSessions
import TagProtocols

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
