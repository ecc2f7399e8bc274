// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagProtocols

/// `nfc tag read`.
struct TagReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read the message of a tag, on a reader or in an image, and tell what that costs on the air.",
        discussion: """
            Exchanges, bytes and time on the air count from the end of activation,
            at the standard's minimum delays: they are the same on every machine.
            A reader that does not show them (cards with ISO-DEP behind PC/SC, and
            readers that have commands for pages and blocks alone) has null in their
            place, and so has activation where the reader activates tags by itself;
            the product is what the tag itself says, null where it does not say.

            What is no message by the rules of nfc ndef decode ends with 1: the error
            and its place are printed, and with --json the bytes too.

            Examples:
              nfc tag read --image card.nfc
              nfc tag read --reader pcsc
              nfc tag read --reader pn532:/dev/ttyUSB0 --timeout 10 --json
              nfc tag read --image images.jsonl --id t2t-09 --json
              nfc tag read --image ntag424.json --out ntag424.json
              xz -dc card.nfc.xz | nfc tag read --image -

            Exit status: 0 when the tag holds NDEF (an empty tag does), 1 when it
            does not, the image is damaged, or no tag came, 2 for wrong usage, 3
            without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var place: TagPlaceOptions

    @Option(help: ArgumentHelp("Save the image after it: tags that count readings have changed.", valueName: "file"))
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
                try await session.work(with: tag) { hand throws(TagError) in
                    var findings = try await hand.read()
                    findings.product = await hand.productName()
                    return findings
                }
            }
            return (TagReport(findings, on: environment), findings.survey.error)
        }
    }
}
