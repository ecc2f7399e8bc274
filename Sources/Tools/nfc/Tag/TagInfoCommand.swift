// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagProtocols
import VirtualTags

/// `nfc tag info`.
struct TagInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Describe a tag, on a reader or in an image: product, memory, locks, and what NDEF says.",
        discussion: """
            Tells of a tag of any type what it is, how its memory is divided, what
            is locked, how far its counters are, and what a reader finds on it. Of a
            tag on a reader it tells what the tag says of itself, over what the
            reader can send: GET_VERSION, signature, counters, lock bits, system
            information. What they keep to themselves is left out, and never made
            up. Where an image contradicts itself, or lacks a part of the tag, a
            note on standard error says so, and "remarks" of --json.

            Examples:
              nfc tag info --image card.nfc
              nfc tag info --reader pcsc
              nfc tag info --image hf-mfu-04A1B2C3D4E580-dump.bin
              nfc tag info --image images.jsonl --id t2t-09 --json

            Exit status: 0 when the tag is there, whether or not it holds NDEF; 1
            when the image is none, the tag left, or none came, 2 for wrong usage,
            3 without a reader, 130 when cancelled.
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
                try await session.work(with: tag) { hand throws(TagError) in try await hand.inspect() }
            }
            return TagDescription(inspection)
        }
    }
}
