// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCSessions
import TagImages
import TagProtocols
import VirtualTags

/// `nfc tag info`.
struct TagInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Describe a tag, on a reader or in an image: product, memory, locks and NDEF.",
        discussion: """
            For a tag of any type, it prints the product, the parts of the memory, the
            locks, the counters, and what a reader finds. For a tag on a reader, it
            reports only what the tag and the reader expose: GET_VERSION, signature,
            counters, lock bits, system information. Unknown values are left out. If an
            image contradicts itself or lacks a part of the tag, a note on standard
            error says so, and so does "remarks" of --json.

            Examples:
              nfc tag info --image card.nfc
              nfc tag info --reader pcsc
              nfc tag info --image hf-mfu-04A1B2C3D4E580-dump.bin
              nfc tag info --image images.jsonl --id t2t-09 --json

            Exit status: 0 when the tag was found, with or without NDEF, 1 when the
            image is invalid, the tag left, or no tag came, 2 for wrong usage, 3
            without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var place: TagPlaceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let description = try await reportingFailure(json: json, describe)
        if json {
            description.printJSON()
        } else {
            for line in description.lines { printLine(line) }
        }
    }

    private func describe() async throws(CommandFailure) -> TagDescription {
        switch try place.open() {
        case .image(let file):
            let (report, error) = try await TagBench.survey(file.makeTag(), file.contents)
            let remarks = file.remarks.filter { $0.kind != .leftOut }
            return TagDescription(contents: file.contents, report: report, error: error, remarks: remarks)
        case .reader(let environment):
            let inspection = try await TagSession(
                environment: environment,
                prompt: "Hold a tag near the reader.",
                seconds: place.timeout?.value,
                plan: .everyTag
            ).withOneTag(doneMessage: "The tag was read.") { session, tag throws(CommandFailure) in
                try await session.work(with: tag) { tag throws(TagError) in try await tag.inspect() }
            }
            return TagDescription(inspection)
        }
    }
}
