// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TagProtocols
import VirtualTags

/// `nfc tag create`.
struct TagCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make the image of a tag as it is delivered.",
        discussion: """
            Products:
            \(wrapped(Type2Product.all.map(\.name)))

            Examples:
              nfc tag create --product NTAG215 --out card.nfc
              nfc tag create --product NTAG213 --uid 04a1b2c3d4e580 --out card.json
              nfc tag create --product UL11 --message d00000 --out empty.nfc

            Exit status: 0 when the image was made, 1 when the message does not
            fit or the file can't be written, 2 for wrong usage.
            """
    )

    @Option(help: "The product, such as NTAG213.")
    var product: String

    @Option(help: "The UID, 7 octets in hex; a random one unless given.")
    var uid: HexArgument?

    @Option(help: "The octets of the message to put on it, in hex.")
    var message: HexArgument?

    @Option(help: ArgumentHelp("The file to make; .nfc or .json at its end says the format.", valueName: "file"))
    var out: String

    @Option(help: "The format, where the file's name does not say it: flipper or json.")
    var format: TagImage.Format?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if Type2Product(named: product) == nil {
            let names = Type2Product.all.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no product '\(product)'. Those that can be made: \(names).")
        }
        if let uid, uid.octets.count != 7 {
            throw ValidationError("The UID of these products has 7 octets, which are 14 hex digits.")
        }
        if format == nil, TagImage.Format(path: out) == nil {
            throw ValidationError("The name '\(out)' does not say the format. Add --format flipper or --format json.")
        }
    }

    func run() async throws {
        let report = try await reportingFailure(json: json, create)
        report.print(json: json)
    }

    private func create() async throws(CommandFailure) -> TagReport {
        guard let product = Type2Product(named: product) else {
            throw CommandFailure(.usage, "unknown-product", "There is no product '\(product)'.")
        }
        let tag = Type2Tag(product, uid: uid?.octets)
        if let message {
            let bench = try await TagBench(tag)
            do throws(TagError) {
                try await bench.tag.writeNDEF(message.octets)
            } catch {
                throw CommandFailure(error)
            }
            bench.clear()
        }
        let format = format ?? TagImage.Format(path: out) ?? .json
        try ImageFile.save(TagImage(tag.contents, format: format), to: out)
        var (report, _) = try await TagBench(tag).read(product: product.name)
        report.cost = nil
        report.activation = nil
        return report
    }

    /// Names in lines that fit the help.
    private static func wrapped(_ names: [String]) -> String {
        var lines = [""]
        for name in names {
            let piece = name + (name == names.last ? "" : ", ")
            if lines[lines.count - 1].count + piece.count > 70 { lines.append("") }
            lines[lines.count - 1] += piece
        }
        return lines.map { "  " + $0 }.joined(separator: "\n")
    }
}
