// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagLink

/// Where the tag of a command is: in a file, or on a reader.
struct TagPlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An image of the tag: a Flipper .nfc file, a Proxmark3 .json, .bin or .eml file, an .mfd file, a TagInfo "
                + "report, the project's JSON, or lines of that; - for standard input.",
            valueName: "file"
        )
    )
    var image: String?

    @Option(help: "The image of that id, where the file has several; the first unless given.")
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The reader on which the tag lies: virtual, pcsc[:NAME], pn532:PATH or replay:FILE. Without --image "
                + "and --reader it is the one of nfc scan: NFC_READER, else the first contactless PC/SC reader, "
                + "else the virtual one.",
            valueName: "reader"
        )
    )
    var reader: String?

    @Option(help: "Wait for the tag so many seconds at most; 60 unless given. For a reader.")
    var timeout: SecondsArgument?

    /// Where the tag is.
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
            throw ValidationError("--timeout is for a reader; an image is there at once.")
        }
        try checkImageOption("--id", isGiven: id != nil)
        if let timeout { try checkTimeout(timeout) }
    }

    /// Makes sure that an option that works on a file is not given for a reader.
    func checkImageOption(_ name: String, isGiven: Bool) throws {
        guard isGiven, isReader else { return }
        throw ValidationError("\(name) works on an image of a tag: give it with --image FILE.")
    }

    /// Opens the image or chooses the reader.
    func open() throws(CommandFailure) -> Place {
        if let image { return .image(try ImageFile(path: image, id: id)) }
        var options = ReaderOptions()
        options.reader = reader
        options.tags = nil
        let environment = try options.environment(seconds: timeout?.value)
        let configuration = ReaderConfiguration.ofProcess
        let isChosen = reader != nil || configuration.reader != nil || configuration.tags != nil
        if !isChosen, environment.driver?.name == "virtual" {
            StandardError.writeLine(
                """
                No contactless reader was found, so this is the demonstration tag of the virtual one. Name a reader with \
                --reader, or an image with --image.
                """
            )
        }
        return .reader(environment)
    }
}

/// Makes sure that a recording does not get into the answer.
func checkRecord(_ path: String?) throws {
    guard OutputTarget.isStandardOutput(path) else { return }
    throw ValidationError(
        "Standard output has the answer, and no room for a recording. Name a file with --record FILE."
    )
}

/// Makes sure that a session may last so long.
func checkTimeout(_ seconds: SecondsArgument) throws {
    guard seconds.value > 0, seconds.value <= 60 else {
        throw ValidationError("--timeout takes more than 0 and at most 60 seconds.")
    }
}
