// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagProtocols
import VirtualTags

/// `nfc tag create`.
struct TagCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make the image of a tag as it is delivered.",
        discussion: """
            Makes tags of every type; --list tells of which products. Names may be
            short, and case, spaces and hyphens don't count.

            Examples:
              nfc tag create --list
              nfc tag create --product NTAG215 --out card.nfc
              nfc tag create --product NTAG213 --uid 04a1b2c3d4e580 --out card.json
              nfc tag create --product slix2 --message d00000 --out label.nfc
              nfc tag create --product "generic Type 4" --size 4096 --out big.json
              nfc tag create --mrz "P<UTOERIKSSON<<ANNA…" --out passport.json

            An image that has keys or passwords other than the delivered ones is its
            owner's alone. With --out - it is standard output.

            Exit status: 0 when the image was made, 1 when the bytes of --message are no
            message or don't fit, or the file can't be written, 2 for wrong usage.
            """
    )

    @Option(help: "The product, such as NTAG213.")
    var product: String?

    @Flag(help: "List the products that can be made.")
    var list = false

    @Option(help: "Make an electronic travel document of a machine readable zone.")
    var mrz: String?

    @Option(help: "The UID in hex (the IDm of Type 3, the PUPI of Type 4B); a random one unless given.")
    var uid: HexArgument?

    @Option(help: "The bytes of memory, of a product of which any size can be made.")
    var size: Int?

    @Option(help: "The bytes of the message to put on it, in hex.")
    var message: HexArgument?

    @Option(
        help: ArgumentHelp(
            "The file to make; .nfc, .json, .bin, .eml or .mfd at its end says the format.",
            valueName: "file"
        )
    )
    var out: String?

    @Option(help: "The format, where the file's name does not say it.")
    var format: TagImage.Format?

    @Flag(help: "Print JSON objects.")
    var json = false

    func validate() throws {
        if list { return }
        if mrz != nil {
            try validateDocument()
        } else {
            try validateProduct()
        }
        guard let out else { throw ValidationError("Give --out FILE.") }
        try TagImage.Format.check(format, out: out, option: "--format")
        try OutputTarget.check(image: nil, out: out, savesImage: false, json: json)
    }

    private func validateDocument() throws {
        guard product == nil, size == nil, message == nil else {
            throw ValidationError("A travel document is made of --mrz alone, and holds no message.")
        }
        guard [4, 7, 10].contains(uid?.octets.count ?? 4) else {
            throw ValidationError("The UID of a travel document has 4, 7 or 10 bytes.")
        }
    }

    private func validateProduct() throws {
        guard let product else { throw ValidationError("Give --product NAME, or --list for the names.") }
        guard let found = TagProduct(named: product) else {
            throw ValidationError("There is no product '\(product)'. --list tells those that can be made.")
        }
        if let uid, !found.identifierLengths.contains(uid.octets.count) {
            let lengths = found.identifierLengths.map { String($0) }.joined(separator: " or ")
            let digits = found.identifierLengths.map { String($0 * 2) }.joined(separator: " or ")
            throw ValidationError("The UID of a \(found) has \(lengths) bytes, which are \(digits) hex digits.")
        }
        if let size {
            guard let sizes = found.sizes else {
                throw ValidationError("A \(found) has one size, and takes no --size.")
            }
            guard sizes.contains(size) else {
                throw ValidationError("A \(found) has \(sizes.lowerBound) to \(sizes.upperBound) bytes.")
            }
        }
    }

    func run() async throws {
        guard !list else { return printList() }
        let report = try await reportingFailure(json: json, create)
        report.print(json: json, beside: out)
    }

    private func printList() {
        for product in TagProduct.all {
            let lengths = product.identifierLengths
            if json {
                var writer = JSONWriter()
                writer.beginObject()
                writer.member("product", product.name)
                writer.member("tag_type", product.tagType)
                writer.member(TagFact("uid_sizes", .numbers(lengths)))
                writer.member("smallest_size", product.sizes?.lowerBound)
                writer.member("largest_size", product.sizes?.upperBound)
                writer.endObject()
                writer.printLine()
            } else {
                let type = product.tagType.map { "Type \($0)" } ?? "no NDEF"
                let name = product.name + String(repeating: " ", count: max(2, 30 - product.name.count))
                let sizes = product.sizes.map { ", \($0.lowerBound) to \($0.upperBound) bytes" } ?? ""
                printLine(
                    "\(name)\(type), UID of \(lengths.map { String($0) }.joined(separator: " or ")) bytes\(sizes)"
                )
            }
        }
    }

    private func create() async throws(CommandFailure) -> TagReport {
        guard let out else { throw CommandFailure(.usage, "no-file", "Give --out FILE.") }
        var contents = try blank()
        let tag = contents.makeTag()
        if let message {
            let bench = try await TagBench(tag)
            let octets = try message.checkedMessage()
            let outcome = await bench.hand.write(octets, checks: false, locks: false)
            if let failure = outcome.failure { throw CommandFailure(failure) }
            bench.clear()
            contents = TagContents(of: tag) ?? contents
        }
        try ImageFile.save(TagImage(contents, format: format ?? TagImage.Format(path: out) ?? .json), to: out)
        var (report, _) = try await TagBench.survey(tag, contents)
        report.showsCost = false
        return report
    }

    /// The tag before a message is put on it.
    private func blank() throws(CommandFailure) -> TagContents {
        if let mrz {
            do throws(EMRTDError) {
                let document = try EMRTDContents(MachineReadableZone(mrz), signer: .test)
                let frontEnd = uid.map { Type4FrontEnd.emrtd(uid: $0.octets) } ?? .randomEMRTD
                return .type4(Type4Contents(frontEnd: frontEnd, kind: .emrtd(document)))
            } catch {
                throw CommandFailure(
                    .refused,
                    error.code == .cryptography ? "no-cryptography" : "bad-zone",
                    error.reason
                )
            }
        }
        guard let product, let found = TagProduct(named: product) else {
            throw CommandFailure(.usage, "unknown-product", "There is no product '\(product ?? "")'.")
        }
        return found.blank(uid: uid?.octets, size: size)
    }
}
