// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCSessions

/// The place of a command's tag: in a file, or on a reader.
struct TagPlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An image of the tag: a Flipper .nfc file, a Proxmark3 .json, .bin or .eml file, an .mfd file, a TagInfo "
                + "report, the project's JSON, or lines of that; - for standard input.",
            valueName: "file"
        )
    )
    var image: String?

    @Option(help: "The id of the image, if the file has several. Default: the first.")
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The reader with the tag: \(ReaderKind.usage(for: .sessions)). Default, without --image: "
                + "the reader of nfc scan, which is NFC_READER, or the first contactless PC/SC reader, or the "
                + "virtual one.",
            valueName: "reader"
        )
    )
    var reader: String?

    @Option(help: "For a reader: wait this many seconds for the tag. Default and maximum: 60.")
    var timeout: SecondsArgument?

    /// The place of the tag.
    enum Place {
        case image(ImageFile)
        case reader(NFCEnvironment)
    }

    /// Whether the tag is on a reader.
    var isReader: Bool { image == nil }

    func validate() throws {
        if image != nil, reader != nil {
            throw ValidationError("Give --image FILE or --reader READER, not both: a tag is in one place.")
        }
        if image != nil, timeout != nil {
            throw ValidationError("--timeout is only for a reader. Leave it out with --image.")
        }
        try checkImageOption("--id", isGiven: id != nil)
        if let timeout { try checkTimeout(timeout) }
    }

    /// Fails when an option for images is given for a reader.
    func checkImageOption(_ name: String, isGiven: Bool) throws {
        guard isGiven, isReader else { return }
        throw ValidationError("\(name) works only on an image. Give it with --image FILE.")
    }

    /// Opens the image or chooses the reader.
    func open() throws(CommandFailure) -> Place {
        if let image { return .image(try ImageFile(path: image, id: id)) }
        var options = ReaderOptions()
        options.reader = reader
        options.tags = nil
        return .reader(try options.environment(seconds: timeout?.value, imageOption: "--image"))
    }
}

/// Fails when the recording would go to standard output, which has the report.
func checkRecord(_ path: String?) throws {
    guard OutputTarget.isStandardOutput(path) else { return }
    throw ValidationError(
        "Standard output has the report, so it can't take the recording. Name a file with --record FILE."
    )
}

/// Fails when a session can't last that long.
func checkTimeout(_ seconds: SecondsArgument) throws {
    guard seconds.value > 0, seconds.value <= 60 else {
        throw ValidationError("--timeout takes more than 0 and at most 60 seconds.")
    }
}
