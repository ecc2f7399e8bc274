// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc tag read`.
struct TagReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read the message of a tag's image, and tell what that costs on the air.",
        discussion: """
            Exchanges, octets and time on the air count from the end of activation,
            at the standard's minimum delays: they are the same on every machine.

            Examples:
              nfc tag read --image card.nfc
              nfc tag read --image images.jsonl --id t2t-09 --json
              nfc tag read --image ntag424.json --out ntag424.json

            Exit status: 0 when the tag holds NDEF (an empty tag does), 1 when it
            does not or the image is damaged, 2 for wrong usage.
            """
    )

    @OptionGroup var image: ImageOptions

    @Option(help: ArgumentHelp("Save the image after it: tags that count readings have changed.", valueName: "file"))
    var out: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let (report, error) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let file = try image.load()
            let tag = file.makeTag()
            let result = try await TagBench.survey(tag, file.contents)
            if let out { try file.save(tag, to: out) }
            return result
        }
        guard let error else { return report.print(json: json) }
        if !json { for line in report.lines { printLine(line) } }
        try CommandFailure(error).report(json: json) { report.write(to: &$0) }
    }
}
