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
            Examples:
              nfc tag info --image card.nfc
              nfc tag info --image images.jsonl --id t2t-09 --json

            Exit status: 0 when the image is one, whether or not it holds NDEF; 1
            when it is not, 2 for wrong usage.
            """
    )

    @OptionGroup var image: ImageOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let (contents, report, error) = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let file = try image.load()
            let (report, error) = try await TagBench(file.makeTag()).read(product: file.product)
            return (file.contents, report, error)
        }
        guard let type2 = contents.type2 else {
            // Of the other types there is no more to tell than what a reader finds.
            guard let error else { return report.print(json: json) }
            if !json { for line in report.lines { printLine(line) } }
            try CommandFailure(error).report(json: json) { report.write(to: &$0) }
        }
        let description = TagDescription(contents: type2, report: report, error: error)
        if json {
            description.printJSON()
        } else {
            for line in description.lines { printLine(line) }
        }
    }
}
