// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TagImages
import TextSafety
import VirtualTags

/// `nfc tag convert`.
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
                                    Topaz 96
              proxmark-bin   .bin   Proxmark3: Ultralight, NTAG, Classic, ISO 15693
              proxmark-eml   .eml   Proxmark3: the same as lines of hex, without
                                    ISO 15693
              mfd            .mfd   libnfc: the memory of Ultralight, NTAG, Classic
              taginfo        .xml   NXP TagInfo; read only

            The format of a file is found from its content. If a format can't hold all
            of a tag, the command fails and says what would be lost. Details that a
            virtual tag does not have are left out of a file in another format. A note
            on standard error lists them, and so does "remarks" of --json.

            Examples:
              nfc tag convert card.nfc --out card.json
              nfc tag convert hf-mfu-04A1B2C3D4E580-dump.bin --out card.nfc
              nfc tag convert card.nfc --to proxmark-json --out dump.json
              nfc tag convert scan.xml --out card.nfc --json
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

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try TagImage.Format.check(to, out: out, option: "--to")
        try OutputTarget.check(image: file, out: out, savesImage: false, json: json)
    }

    func run() throws {
        do throws(CommandFailure) {
            let image = try ImageFile(path: file, id: id)
            let format = to ?? TagImage.Format(path: out) ?? .json
            try image.convert(to: format, out: out)
            report(image, format)
        } catch {
            try error.report(json: json)
        }
    }

    private func report(_ image: ImageFile, _ format: TagImage.Format) {
        let contents = image.contents
        guard json else {
            let formats = "\(image.format.rawValue) to \(format.rawValue)"
            return printLine("\(contents.product), UID \(HexText.text(contents.uid)): \(formats)", beside: out)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("tag_type", contents.tagType)
        writer.member("product", contents.product)
        writer.member("uid", hex: contents.uid)
        writer.member("from", image.format.rawValue)
        writer.member("to", format.rawValue)
        writer.member("out", out)
        let isCopy = format == image.format
        writer.member(remarks: image.remarks.filter { !(isCopy && $0.kind == .leftOut) })
        writer.endObject()
        writer.printLine()
    }
}
