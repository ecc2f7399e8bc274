// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import NFCReaders
import NFCSessions
import TagLink
import TagTrace

/// Options that select the reader. NFC_READER and NFC_TAGS are the defaults.
struct ReaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The reader: \(ReaderKind.usage(for: .sessions)). Default: NFC_READER, or the first contactless PC/SC reader, "
                + "or the virtual one.",
            valueName: "reader"
        )
    )
    var reader: String?

    @Option(
        help: ArgumentHelp(
            "Images to bring near the virtual reader, one in each file, separated by commas.",
            valueName: "files"
        )
    )
    var tags: String?

    func validate() throws {
        guard let tags, !tags.contains(where: { $0 != "," }) else { return }
        throw ValidationError("--tags lists no images. Give one or more, separated by commas.")
    }

    /// Whether a reader is selected, by these options or by the configuration.
    func isNamed(beside configuration: ReaderConfiguration) -> Bool { reader ?? configuration.reader != nil }

    /// Creates the environment for a session. `recording` is the file to record to: nil means `NFC_RECORD`, and empty
    /// means none. If the demonstration tag is used by default, a note on standard error mentions `imageOption`.
    func environment(
        savesTags: Bool = false,
        recording: String? = nil,
        seconds: Double? = nil,
        imageOption: String? = nil
    ) throws -> NFCEnvironment {
        let choice = configuration(over: .ofProcess, savesTags: savesTags, recording: recording, seconds: seconds)
        let environment = NFCEnvironment(choice)
        if let error = environment.recordingError { throw error }
        if let error = environment.tagFileError { throw error }
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason)
        }
        let isChosen = choice.reader != nil || choice.tags != nil
        if let imageOption, !isChosen, let driver = environment.driver, ReaderKind.virtual.owns(driver.unrecorded) {
            StandardError.writeLine(
                """
                No contactless reader was found, so the virtual reader and its demonstration tag are used. Name a reader \
                with --reader, or an image with \(imageOption).
                """
            )
        }
        return environment
    }

    /// Returns the session's configuration: `own`, which is this process's configuration, with the options applied.
    func configuration(
        over own: ReaderConfiguration,
        savesTags: Bool = false,
        recording: String? = nil,
        seconds: Double? = nil
    ) -> ReaderConfiguration {
        var configuration = own
        configuration.patience = seconds.map(Duration.seconds)
        if let tags {
            configuration.tags = tags
            configuration.tagsSource = "--tags"
            configuration.reader = "virtual"
            configuration.savesTags = own.savesTags || savesTags
        }
        if let reader {
            configuration.reader = reader
            configuration.readerSource = "--reader"
        }
        if let recording { configuration.recording = recording.isEmpty ? nil : recording }
        return configuration
    }
}

/// Options of a command that uses one session: the reader, the recording and the time limit.
struct SessionOptions: ParsableArguments {
    @OptionGroup var reader: ReaderOptions

    @Option(
        help: ArgumentHelp(
            "Record the session in this file, in place of an older recording; see nfc trace.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(help: "Give up after this many seconds, up to 60.")
    var timeout: SecondsArgument?

    func validate() throws {
        try timeout?.checkSession()
        guard OutputTarget.isStandardOutput(record) else { return }
        let message = "Standard output is used for the report. Name a file for the recording: --record FILE."
        throw ValidationError(message)
    }

    func begin(_ prompt: String, savesTags: Bool = false) throws -> TagSession {
        let environment = try reader.environment(
            savesTags: savesTags,
            recording: record,
            seconds: timeout?.value,
            imageOption: "--tags"
        )
        return try TagSession(environment: environment, prompt: prompt, seconds: timeout?.value)
    }
}

/// Options that select a tag, in a file or on a reader.
struct TagSourceOptions: ParsableArguments {
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

    /// An opened image, or a session that has begun.
    enum Source {
        case image(ImageFile)
        case reader(TagSession)
    }

    func validate() throws {
        if image != nil, reader != nil {
            throw ValidationError("Give --image FILE or --reader READER, not both.")
        }
        if image != nil, timeout != nil {
            throw ValidationError("--timeout is only for a reader. Leave it out with --image.")
        }
        try checkImageOption("--id", isGiven: id != nil)
        try timeout?.checkSession()
    }

    /// Throws if an option for images was given without an image.
    func checkImageOption(_ name: String, isGiven: Bool) throws {
        guard isGiven, image == nil else { return }
        throw ValidationError("\(name) works only on an image. Give it with --image FILE.")
    }

    /// Opens the image, or begins a session for all kinds of tags.
    func open(_ prompt: String = "Hold a tag near the reader.") throws -> Source {
        if let image { return .image(try ImageFile(path: image, id: id)) }
        var options = ReaderOptions()
        options.reader = reader
        options.tags = nil
        let environment = try options.environment(seconds: timeout?.value, imageOption: "--image")
        return .reader(
            try TagSession(environment: environment, prompt: prompt, seconds: timeout?.value, plan: .everyTag)
        )
    }
}

/// A number of seconds on the command line, as a decimal number such as `3` or `0.5`.
struct SecondsArgument: ExpressibleByArgument {
    let value: Double

    init?(argument: String) {
        // Double(_:) would also accept hexadecimal numbers, exponents, infinity and signs.
        guard argument.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let value = Double(argument)
        else { return nil }
        self.value = value
    }

    /// Throws if the number is not a valid time limit for a session.
    func checkSession() throws {
        guard value > 0, value <= 60 else {
            throw ValidationError("--timeout must be more than 0 and at most 60 seconds.")
        }
    }
}

/// Options that specify what to write: a link, a text, or the bytes of a message.
struct MessageOptions: ParsableArguments {
    @Argument(help: "A link to write, such as https://example.com.")
    var link: String?

    @Option(help: "A text to write.")
    var text: String?

    @Option(help: "The language of the text. Default: en.")
    var language: String?

    @Option(help: "The bytes of a message to write, in hex.")
    var message: HexArgument?

    @Flag(help: "Then make the tag read-only. This can't be undone.")
    var lock = false

    @Flag(help: "Then read the message back and compare it.")
    var check = false

    static let prompt = "Hold the tag to write near the reader."
    var doneMessage: String { lock ? "The message is written, and the tag locked." : "The message is written." }

    func validate() throws {
        let count = [link != nil, text != nil, message != nil].filter { $0 }.count
        guard count == 1 else {
            throw ValidationError("Give one thing to write: a link, --text TEXT, or --message HEX.")
        }
        if let link, !Self.isURI(link) {
            throw ValidationError("'\(link)' is not a link. A link begins like https://. Use --text for a text.")
        }
        if let language {
            guard text != nil else { throw ValidationError("--language is only for --text. Leave it out.") }
            guard LanguageCode.isValid(language) else {
                throw ValidationError("--language takes \(LanguageCode.requirement).")
            }
        }
    }

    func bytes() throws -> [UInt8] {
        if let message { return try message.checkedMessage() }
        let record: NDEFRecord =
            if let link { try .uri(link) } else { try .text(text ?? "", language: language ?? "en") }
        return try NDEFMessage([record]).encoded()
    }

    /// Whether a text starts with a URI scheme (RFC 3986, 3.1) and contains no spaces.
    private static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), !text.contains(where: \.isWhitespace) else { return false }
        let scheme = text[..<colon]
        return scheme.first.map { $0.isASCII && $0.isLetter } ?? false
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}

struct HexArgument: ExpressibleByArgument {
    var bytes: [UInt8]

    init?(argument: String) {
        guard case .success(let bytes) = HexText.bytes(Array(argument.utf8)[...]) else { return nil }
        self.bytes = bytes
    }

    func checkedMessage() throws -> [UInt8] {
        _ = try NDEFMessage(decoding: bytes)
        return bytes
    }
}

/// Checks language codes for text records (NFC Forum Text RTD 1.0, 3.2).
enum LanguageCode {
    static let requirement = "a language code of 1 to 63 ASCII characters, such as en or de-CH"

    static func isValid(_ code: String) -> Bool {
        (try? TextRecord("", language: code).makeRecord(identifier: [])) != nil
    }
}
