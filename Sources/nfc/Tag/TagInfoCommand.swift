// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TagProtocols
import VirtualTags

/// `nfc tag info`.
struct TagInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Describe a tag's image: product, memory, locks, and what NDEF says.",
        discussion: """
            Tells of a tag of any type what it is, how its memory is divided, what
            is locked, how far its counters are, and what a reader finds on it.

            Examples:
              nfc tag info --image card.nfc
              nfc tag info --image hf-mfu-04A1B2C3D4E580-dump.bin
              nfc tag info --image images.jsonl --id t2t-09 --json

            Exit status: 0 when the image is one, whether or not it holds NDEF; 1
            when it is not, 2 for wrong usage.
            """
    )

    @OptionGroup var image: ImageOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let description = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let file = try image.load()
            let (report, error) = try await TagBench.survey(file.makeTag(), file.contents)
            return TagDescription(contents: file.contents, report: report, error: error)
        }
        if json {
            description.printJSON()
        } else {
            for line in description.lines { printLine(line) }
        }
    }
}
