// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCSessions
import TagImages
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

struct TagCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make the image of a new tag, as from the factory.",
        discussion: """
            It makes tags of every type. For the products, see --list. Part of a name is
            enough if no other product's name contains it. Case, spaces and hyphens
            don't matter.

            Examples:
              nfc tag create --list
              nfc tag create --product NTAG215 --out card.nfc
              nfc tag create --product NTAG215 --out card.nfc https://example.com
              nfc tag create --product NTAG216 --wifi Guests --password "a long one" \\
                --out guests.nfc
              nfc tag create --product NTAG213 --uid 04a1b2c3d4e580 --out card.json
              nfc tag create --product slix2 --message d00000 --out label.nfc
              nfc tag create --product "generic Type 4" --size 4096 --out big.json
              nfc tag create --mrz "P<UTOERIKSSON<<ANNA…" --out passport.json

            A new tag has the formatting for NDEF and an empty message, or the message of
            the links and options. With --blank it has zeros instead, so that an app has
            to format it first.

            Only the owner can read an image with keys or passwords other than the
            factory ones. An existing file is replaced only if it is empty or an image. With --out - the image goes to standard output.

            Exit status: 0 when the image was made, 1 when the message is not valid or
            does not fit, or the file can't be written, 2 for wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("Links to put on the tag.", valueName: "link"))
    var links: [String] = []

    @Option(help: "The product, such as NTAG213.")
    var product: String?

    @Flag(help: "List the products that can be created.")
    var list = false

    @Option(help: "Make an electronic travel document from a machine readable zone, or file:PATH with it.")
    var mrz: String?

    @Option(
        help: ArgumentHelp(
            "Give the document PACE and this card access number, or that of file:PATH or env:NAME.",
            valueName: "digits"
        )
    )
    var can: String?

    @Option(help: "The UID in hex (for Type 3 the IDm, for Type 4B the PUPI). Default: random.")
    var uid: HexArgument?

    @Option(help: "The size of the memory in bytes, for products without a fixed size.")
    var size: Int?

    @Flag(help: "Leave out the formatting for NDEF: zeros in the memory.")
    var blank = false

    @OptionGroup var content: MessageOptions

    @Option(
        help: ArgumentHelp(
            "The file to make. Its extension, .nfc, .json, .bin, .eml or .mfd, sets the format.",
            valueName: "file"
        )
    )
    var out: String?

    @Option(help: "The format, if the file's name does not give it.")
    var format: TagImage.Format?

    @Flag(help: "Print JSON objects.")
    var json = false

    func validate() throws {
        if list { return }
        if let link = links.first(where: { !MessageOptions.isURI($0) }) {
            throw ValidationError("'\(link)' is not a link. Use --text for a text, and --out for the file.")
        }
        try content.check(links, isNeeded: false)
        if hasContent, blank { throw ValidationError("A blank tag has no content. Leave out --blank, or the content.") }
        guard can == nil || mrz != nil else {
            throw ValidationError("--can belongs to a travel document: give --mrz too.")
        }
        if mrz != nil {
            try validateDocument()
        } else {
            try validateProduct()
        }
        guard let out else { throw ValidationError("Give --out FILE.") }
        try TagImage.Format.check(format, out: out, option: "--format")
        try OutputTarget.check(out: out, json: json)
    }

    private var hasContent: Bool { !links.isEmpty || !content.isEmpty }

    private func validateDocument() throws {
        guard product == nil, size == nil, !blank, !hasContent else {
            throw ValidationError(
                "--mrz creates a travel document. Leave out --product, --size, --blank and the content."
            )
        }
        guard [4, 7, 10].contains(uid?.bytes.count ?? 4) else {
            throw ValidationError("The UID of a travel document has 4, 7 or 10 bytes.")
        }
    }

    private func validateProduct() throws {
        guard let product else { throw ValidationError("Give --product NAME, or --list for the names.") }
        let found = try Self.product(product)
        if blank, found.blank().unformatted == nil {
            throw ValidationError("A blank \(found) can't be made. Leave out --blank.")
        }
        if let uid, !found.identifierLengths.contains(uid.bytes.count) {
            let lengths = found.identifierLengths.map { String($0) }.joined(separator: " or ")
            let digits = found.identifierLengths.map { String($0 * 2) }.joined(separator: " or ")
            throw ValidationError("A UID of \(found) has \(lengths) bytes, so give \(digits) hex digits.")
        }
        if let size {
            guard let sizes = found.sizes else {
                throw ValidationError("The size of \(found) is fixed. Leave out --size.")
            }
            guard sizes.contains(size) else {
                throw ValidationError("The size of \(found) is \(sizes.lowerBound) to \(sizes.upperBound) bytes.")
            }
        }
    }

    /// Returns the product with a name, or the only product whose name contains these letters and digits.
    private static func product(_ name: String) throws -> TagProduct {
        if let product = TagProduct(named: name) { return product }
        let part = ProductName(name).text
        let products = part.isEmpty ? [] : TagProduct.all.filter { ProductName($0.name).text.contains(part) }
        guard let product = products.first else {
            throw ValidationError("The product '\(name)' does not exist. To see the products: nfc tag create --list")
        }
        guard products.count == 1 else {
            let names = products.map(\.name)
            let rest = names.count > 8 ? " and \(names.count - 8) more" : ""
            let message = "'\(name)' can be \(names.prefix(8).joined(separator: ", "))\(rest). Give more of the name."
            throw ValidationError(message)
        }
        return product
    }

    func run() async throws {
        guard !list else {
            for product in TagProduct.all { try await show(product) }
            return
        }
        var report = try await create()
        report.showsCost = false
        report.out = out
        report.print(json: json)
    }

    /// The size of the largest message that a new tag can hold, found as a reader does; nil if it can't hold any.
    private static func capacity(of product: TagProduct) async throws -> Int? {
        let contents = product.blank()
        return try await ImageTagRunner.read(contents.makeTag(), contents).0.capacity
    }

    private func show(_ product: TagProduct) async throws {
        let lengths = product.identifierLengths
        let type = product.tagType.map { "Type \($0)" } ?? "no NDEF"
        let name = product.name + String(repeating: " ", count: max(2, 30 - product.name.count))
        let sizes = product.sizes.map { ", \($0.lowerBound) to \($0.upperBound) bytes" } ?? ""
        // The capacity of a product without a fixed size depends on --size.
        let capacity = product.sizes == nil ? try await Self.capacity(of: product) : nil
        let room = capacity.map { ", messages of up to \($0) bytes" } ?? ""
        printResult(
            json: json,
            [
                "product": product.name, "tag_type": product.tagType, "uid_sizes": lengths,
                "smallest_size": product.sizes?.lowerBound, "largest_size": product.sizes?.upperBound,
                "capacity": capacity,
            ],
            ["\(name)\(type), UID of \(lengths.map { String($0) }.joined(separator: " or ")) bytes\(sizes)\(room)"]
        )
    }

    private func create() async throws -> TagReport {
        guard let out else { throw CommandFailure(.usage, "no-file", "Give --out FILE.") }
        try ImageFile.checkPlace(out)
        var contents = try newContents()
        let tag = contents.makeTag()
        if hasContent {
            let bytes = try content.bytes(links)
            let outcome = try await ImageTagRunner(tag).tag.write(bytes, checks: false, locks: false)
            if let failure = outcome.failure { throw CommandFailure(failure) }
            contents = TagContents(of: tag) ?? contents
        }
        try ImageFile.save(TagImage(contents, format: format ?? TagImage.Format(path: out) ?? .json), to: out)
        return try await ImageTagRunner.read(tag, contents).0
    }

    private func newContents() throws -> TagContents {
        if let mrz {
            let zone = try Secret.text(mrz)
            let number = try can.map(PassportReadCommand.accessNumber)
            do throws(EMRTDError) {
                var document = try EMRTDContents(
                    MachineReadableZone(zone),
                    chipKey: EMRTDContents.testChipKey,
                    signer: .test
                )
                document.accessNumber = number
                if can != nil { document.cardAccess = EMRTDContents.pace }
                let frontEnd = uid.map { Type4FrontEnd.emrtd(uid: $0.bytes) } ?? .randomEMRTD
                return .type4(Type4Contents(frontEnd: frontEnd, kind: .emrtd(document)))
            } catch {
                let name = error.code == .cryptography ? "no-cryptography" : "bad-zone"
                throw CommandFailure(name, error.reason)
            }
        }
        guard let product, let found = try? Self.product(product) else {
            throw CommandFailure(.usage, "unknown-product", "The product '\(product ?? "")' does not exist.")
        }
        let contents = found.blank(uid: uid?.bytes, size: size)
        return blank ? contents.unformatted ?? contents : contents
    }
}

extension TagContents {
    /// A new tag without the formatting for NDEF: zeros in place of the capability container and the data. Nil for a
    /// tag that is not formatted by writing its memory.
    fileprivate var unformatted: TagContents? {
        switch self {
        case .type1(var contents):
            // Blocks 1 to C (NFC Forum T1T 1.2, 2.1 and 2.2).
            contents.memory.replaceSubrange(8..<104, with: repeatElement(0, count: 96))
            return .type1(contents)
        case .type2(var contents):
            // Page 3 and the data (NFC Forum T2T 1.2, 4.5).
            let range = 12..<4 * (contents.product.userPages.upperBound + 1)
            contents.memory.replaceSubrange(range, with: repeatElement(0, count: range.count))
            return .type2(contents)
        case .type5(var contents):
            contents.memory = contents.memory.map { _ in 0 }
            return .type5(contents)
        case .type4(var contents):
            // A new card has no applications.
            guard case .desfire(var card) = contents.kind else { return nil }
            card.applications = []
            contents.kind = .desfire(card)
            return .type4(contents)
        case .type3, .classic, .nfcA: return nil
        }
    }
}

struct TagConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a tag's image in another format.",
        discussion: """
            Formats, and what they hold:
              flipper        .nfc   Flipper Zero: Ultralight, NTAG, Classic, DESFire,
                                    FeliCa, ISO 15693 and SLIX, ISO 14443-3 and -4,
                                    Type 4 tags; EMV, Mifare Plus and NTAG4xx as far
                                    as such files go
              json           .json  the project's own: every tag
              proxmark-json         Proxmark3: Ultralight, NTAG, Classic, ISO 15693,
                                    Topaz 96; DESFire read only
              proxmark-bin   .bin   Proxmark3: Ultralight, NTAG, Classic, ISO 15693
              proxmark-eml   .eml   Proxmark3: the same as lines of hex, without
                                    ISO 15693
              mfd            .mfd   the memory alone: Ultralight, NTAG, Classic as
                                    libnfc has it; amiibo; Type 5 without its UID
              mct            .mct   MIFARE Classic Tool: Classic
              taginfo        .xml   NXP TagInfo, XML or text; read only

            A file's format is detected from its content. If a format can't hold all
            of a tag, the command fails and says what would be lost. --lossy writes the
            file without that. --uid is for the memory of a Type 5 tag. Details that a
            virtual tag does not have are left out of a file in another format. A note
            on standard error lists them, and so does "remarks" of --json.

            Examples:
              nfc tag convert card.nfc --out card.json
              nfc tag convert hf-mfu-04A1B2C3D4E580-dump.bin --out card.nfc
              nfc tag convert card.nfc --to proxmark-json --out dump.json
              nfc tag convert scan.xml --out card.nfc --json
              nfc tag convert amiibo.nfc --to mfd --lossy --out amiibo.bin
              nfc tag convert spool.bin --uid e004012011223344 --out spool.json
              nfc tag convert - --to json --out - < card.nfc

            Exit status: 0 when the file was written, 1 when the image is invalid or
            the format can't hold it, 2 for wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("The image to read; - for standard input.", valueName: "file"))
    var file: String

    @Option(help: "The id of the image, if the file has several. Default: the first.")
    var id: String?

    @Option(help: ArgumentHelp("The format to write. Default: from the name of --out.", valueName: "format"))
    var to: TagImage.Format?

    @Option(help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var out: String

    @Flag(help: "Leave out what the format can't hold, and say what that is.")
    var lossy = false

    @Option(help: "The UID in hex, for a Type 5 memory dump that does not contain it.")
    var uid: HexArgument?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try TagImage.Format.check(to, out: out, option: "--to")
        try OutputTarget.check(image: file, out: out, json: json)
    }

    func run() throws {
        let image = try ImageFile(path: file, id: id, uid: uid?.bytes)
        let format = to ?? TagImage.Format(path: out) ?? .json
        let lost = try image.convert(to: format, out: out, isLossy: lossy)
        let contents = image.contents
        let isCopy = format == image.format
        let remarks = image.remarks.filter { !(isCopy && $0.kind == .leftOut) }
        let formats = "\(image.format.rawValue) to \(format.rawValue)"
        printResult(
            json: json,
            beside: out,
            [
                "ok": true, "tag_type": contents.tagType, "product": contents.product,
                "uid": contents.uid.hexText(), "from": image.format.rawValue, "to": format.rawValue, "out": out,
                "lost": lost, "remarks": remarks.map(\.object),
            ],
            ["\(contents.product), UID \(contents.uid.hexText()): \(formats)"]
        )
    }
}
