// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TagLink
import TagProtocols
import VirtualTags

/// `nfc tag write`.
struct TagWriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a message to a tag's image, as a session would.",
        discussion: """
            The image is saved as the tag is left, in its own file unless --out
            names another; the name's ending says the format, .json, .nfc, .bin or
            .mfd. The counts are those of the write.

            Examples:
              nfc tag write --image card.nfc https://example.com
              nfc tag write --image card.nfc --text "Room 12" --lock
              nfc tag write --image card.nfc --message d00000 --out empty.nfc
              nfc tag write --image card.nfc --tear-after 2 --out torn.nfc https://a.example

            Exit status: 0 when it was written, 1 when the tag said no or the
            field was cut, 2 for wrong usage.
            """
    )

    @OptionGroup var image: ImageOptions

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
    }

    func run() async throws {
        let (report, failure) = try await reportingFailure(json: json, write)
        guard let failure else { return report.print(json: json) }
        if !json { for line in report.lines { printLine(line) } }
        try failure.report(json: json) { report.write(to: &$0) }
    }

    /// Writes and saves; the report tells of the tag as it is left.
    private func write() async throws(CommandFailure) -> (TagReport, CommandFailure?) {
        let octets = try content.octets()
        let file = try image.load()
        try file.checkTarget(out)
        let virtualTag = file.makeTag()
        let bench = try await TagBench(virtualTag)
        if let tearAfter { bench.arm(.tear(afterWrite: tearAfter)) }
        var failure: CommandFailure?
        var cost = LinkStatistics.zero
        do throws(TagError) {
            try await bench.tag.writeNDEF(octets)
            cost = bench.cost
            if check { try await bench.tag.checkNDEF(octets) }
            if lock { try await bench.tag.lock() }
        } catch {
            if cost == .zero { cost = bench.cost }
            failure = CommandFailure(error)
        }
        bench.clear()
        try file.save(virtualTag, to: out)
        // What is on the tag now is read in a field of its own, which costs the write nothing.
        var (report, _) = try await TagBench(virtualTag).read(product: file.product)
        report.cost = cost
        report.activation = bench.activation
        return (report, failure)
    }
}
