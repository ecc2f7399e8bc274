// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport
import NDEF
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TagTrace

/// Options that select the reader. NFC_READER and NFC_TAGS are the defaults.
struct ReaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The reader: \(ReaderKind.usage(for: .sessions)). Default: NFC_READER, or the first contactless PC/SC "
                + "reader.",
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
        try Self.check(reader)
        guard let tags, !tags.contains(where: { $0 != "," }) else { return }
        throw ValidationError("--tags lists no images. Give one or more, separated by commas.")
    }

    /// Throws if no reader can ever have this name.
    static func check(_ reader: String?) throws {
        guard let problem = ReaderConfiguration(reader: reader).backgroundProblem else { return }
        throw ValidationError("--reader: \(problem)")
    }

    /// Uses the image that an argument names, as with `--tags`.
    mutating func use(image: String?) throws {
        guard let image else { return }
        guard tags == nil || tags == image else {
            throw ValidationError("The image is given twice, as \(image) and with --tags. Leave out --tags.")
        }
        tags = image
    }

    /// What to do if no reader is named and none was found. Then there is only the virtual reader, whose demonstration
    /// tag nobody asked for.
    enum MissingReader {
        case fails
        /// Uses the demonstration tag. The first line printed says so.
        case showsDemonstrationTag
        case usesVirtualReader
    }

    /// Whether a reader is selected, by these options or by the configuration.
    func isNamed(beside configuration: ReaderConfiguration) -> Bool { reader ?? configuration.reader != nil }

    /// Creates the environment for a session. `recording` is the file to record to: nil means `NFC_RECORD`, and empty
    /// means none.
    func environment(
        savesTags: Bool = false,
        recording: String? = nil,
        seconds: Double? = nil,
        withoutReader missing: MissingReader = .fails
    ) throws -> NFCEnvironment {
        let choice = configuration(over: .ofProcess, savesTags: savesTags, recording: recording, seconds: seconds)
        let environment = NFCEnvironment(choice)
        if let error = environment.recordingError { throw error }
        if let error = environment.tagFileError { throw error }
        if savesTags { try environment.tagSaver?.check() }
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason).on(nil)
        }
        let isChosen = choice.reader != nil || choice.tags != nil
        guard !isChosen, let driver = environment.driver, ReaderKind.virtual.owns(driver.unrecorded) else {
            return environment
        }
        switch missing {
        case .fails:
            let message = """
                No contactless reader was found. Plug one in; see: nfc doctor. Without one, name the image of a tag, \
                or use the virtual reader with its demonstration tag: --reader virtual
                """
            throw CommandFailure(.noReader, "no-reader", message).on(nil)
        case .showsDemonstrationTag:
            printLine("No contactless reader was found. This is the demonstration tag of the virtual reader:")
        case .usesVirtualReader: break
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

    @Flag(help: "Blink and beep for each tag, on a reader with the ACR122U's lights and buzzer.")
    var feedback = false

    func validate() throws {
        try timeout?.checkSession()
        guard OutputTarget.isStandardOutput(record) else { return }
        let message = "Standard output is used for the report. Name a file for the recording: --record FILE."
        throw ValidationError(message)
    }

    func begin(
        _ prompt: String,
        savesTags: Bool = false,
        withoutReader missing: ReaderOptions.MissingReader = .fails
    ) throws -> TagSession {
        let environment = try reader.environment(
            savesTags: savesTags,
            recording: record,
            seconds: timeout?.value,
            withoutReader: missing
        )
        // A recording has the exchanges of an app's session, so that an app can replay it.
        let plan = environment.recorder == nil && environment.replay == nil ? PollingPlan.everyTag : .ndef
        return try TagSession(
            environment: environment,
            prompt: prompt,
            seconds: timeout?.value,
            plan: plan,
            givesFeedback: feedback
        )
    }
}

/// A tag on a reader or in an image, as a command's options name it.
///
/// The option groups that conform declare the same options, because a group within a group multiplies what the parser
/// checks in debug builds.
protocol TagSourceArguments: ParsableArguments {
    var image: String? { get set }
    var id: String? { get set }
    var reader: String? { get }
    var timeout: SecondsArgument? { get }
}

/// What help texts say about the arguments of a tag.
enum TagSourceHelp {
    /// The exit status of a command that reads with keys.
    static let exit = """
        Exit status: 0 done, 1 when the tag has other keys, does not fit, refused or
        left, or none was found, 2 for wrong usage, 3 without a reader, 130 when
        cancelled.
        """

    static let argument = ArgumentHelp("The image of the tag, like --image.", valueName: "image")
    static let image = ArgumentHelp(
        "An image of the tag: a Flipper .nfc file, a Proxmark3 .json, .bin or .eml file, an .mfd file, a TagInfo "
            + "report, or the project's JSON, also one image per line; - for standard input.",
        valueName: "file"
    )
    static let id: ArgumentHelp = "The id of the image, if the file has several. Default: the first."
    static let reader = ArgumentHelp(
        "The reader with the tag: \(ReaderKind.usage(for: .sessions)). Default, without an image: "
            + "NFC_READER, or the first contactless PC/SC reader.",
        valueName: "reader"
    )
    static let timeout: ArgumentHelp = "For a reader: wait this many seconds for the tag. Default and maximum: 60."
}

/// A tag on a reader, or in an image that is named as an argument.
struct TagSourceOptions: TagSourceArguments {
    @Argument(help: TagSourceHelp.argument) var file: String?

    @Option(help: TagSourceHelp.image) var image: String?

    @Option(help: TagSourceHelp.id) var id: String?

    @Option(help: TagSourceHelp.reader) var reader: String?

    @Option(help: TagSourceHelp.timeout) var timeout: SecondsArgument?

    mutating func validate() throws { try use(image: file) }
}

/// The same for a command whose arguments are more than an image.
struct NamedTagOptions: TagSourceArguments {
    @Option(help: TagSourceHelp.image) var image: String?

    @Option(help: TagSourceHelp.id) var id: String?

    @Option(help: TagSourceHelp.reader) var reader: String?

    @Option(help: TagSourceHelp.timeout) var timeout: SecondsArgument?
}

/// An opened image, or a session that has begun.
enum OpenedTagSource {
    case image(ImageFile)
    case reader(TagSession)
}

extension TagSourceArguments {
    /// Uses the image that an argument names, as with `--image`, and throws if the options contradict each other.
    mutating func use(image path: String?) throws {
        if let path {
            guard image == nil || image == path else {
                throw ValidationError("The image is given twice, as \(path) and with --image. Leave out --image.")
            }
            image = path
        }
        if image != nil, reader != nil {
            throw ValidationError("Give an image or --reader READER, not both.")
        }
        try ReaderOptions.check(reader)
        if image != nil, timeout != nil {
            throw ValidationError("--timeout works only with a reader. Leave it out with an image.")
        }
        try checkImageOption("--id", isGiven: id != nil)
        try timeout?.checkSession()
    }

    /// Throws if an option for images was given without an image.
    func checkImageOption(_ name: String, isGiven: Bool) throws {
        guard isGiven, image == nil else { return }
        throw ValidationError("\(name) works only on an image. Name its file.")
    }

    /// Opens the image, or begins a session for all kinds of tags.
    func open(_ prompt: String = "Hold a tag near the reader.") throws -> OpenedTagSource {
        if let image { return .image(try ImageFile(path: image, id: id)) }
        var options = ReaderOptions()
        options.reader = reader
        options.tags = nil
        let environment = try options.environment(seconds: timeout?.value)
        return .reader(try TagSession(environment: environment, prompt: prompt, seconds: timeout?.value))
    }

    /// Reads something from an image's tag, or from the next tag on the reader, whose name is returned too.
    func read<Value: Sendable>(
        _ prompt: String = "Hold a tag near the reader.",
        done: String = "The tag was read.",
        _ body: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws -> (value: Value, reader: String?) {
        switch try open(prompt) {
        case .image(let file): (try await body(try await ImageTagRunner(file.makeTag()).tag), nil)
        case .reader(let session):
            (try await session.withOneTag(doneMessage: done, body), session.readerName)
        }
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

/// One block or several, such as `8` or `8-15`.
struct BlockRangeArgument: ExpressibleByArgument {
    let range: ClosedRange<Int>

    init?(argument: String) {
        let numbers = argument.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
        guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1],
            first <= last
        else { return nil }
        range = Int(first)...Int(last)
    }
}

struct WriteOptions: ParsableArguments {
    @Flag(help: "Then make the tag read-only. This can't be undone.")
    var lock = false

    @Flag(help: "Then read the message back and compare it.")
    var check = false

    static let prompt = "Hold the tag to write near the reader."
    var doneMessage: String { lock ? "The message is written, and the tag locked." : "The message is written." }

    /// The links among a command's arguments, and the image of the tag if one of them is not a link.
    func split(_ words: [String], _ content: MessageOptions) throws -> (links: [String], image: String?) {
        let links = words.filter(MessageOptions.isURI)
        let paths = words.filter { !MessageOptions.isURI($0) }
        if let path = paths.first, paths.count > 1 || (links.isEmpty && content.isEmpty) {
            let path = paths.count > 1 ? paths[1] : path
            let problem = paths.count > 1 ? "there is an image already" : "nothing else to write is given"
            let reason = "'\(path)' is not a link, and \(problem)."
            throw ValidationError("\(reason) A link begins like https:// and has no spaces. Use --text for a text.")
        }
        if lock, links.isEmpty, content.isEmpty {
            throw ValidationError("Give something to write. To lock a tag without writing: nfc tag lock")
        }
        try content.check(links)
        return (links, paths.first)
    }
}

/// Options that specify a message: its records, or its bytes. Links are the command's arguments.
struct MessageOptions: ParsableArguments {
    @Option(help: "A link to write, with or without the option; can be repeated.")
    var link: [String] = []

    @Option(help: "A text to write; can be repeated.")
    var text: [String] = []

    @Option(help: "The language of the texts. Default: en.")
    var language: String?

    @Option(help: ArgumentHelp("A Wi-Fi network to join, by its name.", valueName: "ssid"))
    var wifi: String?

    @Option(
        help: "The password of the Wi-Fi network, or file:PATH or env:NAME with it. Without it, the network is open."
    )
    var password: String?

    @Option(
        help: ArgumentHelp("A contact, as a vCard: a name, or a file that ends in .vcf.", valueName: "name-or-file")
    )
    var contact: String?

    @Option(help: ArgumentHelp("A telephone number of the contact; can be repeated.", valueName: "number"))
    var phone: [String] = []

    @Option(help: ArgumentHelp("An e-mail address of the contact; can be repeated.", valueName: "address"))
    var email: [String] = []

    @Option(help: ArgumentHelp("A Bluetooth device to pair, such as 00:0B:57:12:34:56.", valueName: "address"))
    var bluetooth: String?

    // The next word is a value, even if it begins with a minus.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A place on a map, in degrees, such as 48.2010,16.3695.", valueName: "latitude,longitude")
    )
    var location: String?

    @Option(
        help: ArgumentHelp(
            "A record of a media type or an external type, such as text/plain=Hi or example.com:seat=12; after =@, "
                + "the file with its bytes. Can be repeated.",
            valueName: "type=content"
        )
    )
    var data: [String] = []

    @Option(help: ArgumentHelp("An Android app to open, such as com.example.app.", valueName: "package"))
    var app: String?

    @Option(help: "The bytes of a whole message to write, in hex.")
    var message: HexArgument?

    /// Whether no option gives content.
    var isEmpty: Bool { message == nil && hasNoRecords }

    private var hasNoRecords: Bool {
        link.isEmpty && text.isEmpty && wifi == nil && contact == nil && bluetooth == nil && location == nil
            && data.isEmpty && app == nil
    }

    /// Throws if there is no content but some is needed, or if the options contradict each other.
    func check(_ links: [String], isNeeded: Bool = true) throws {
        let hasRecords = !links.isEmpty || !hasNoRecords
        guard hasRecords || message != nil || !isNeeded else {
            throw ValidationError(
                "Give something to write: a link, --text, --wifi, --contact, --bluetooth, --location, --data, --app, or "
                    + "--message HEX."
            )
        }
        if hasRecords, message != nil {
            throw ValidationError("--message is a whole message. Leave out --message, or everything else to write.")
        }
        for (option, isGiven, other, hasOther) in [
            ("--language", language != nil, "--text", !text.isEmpty),
            ("--password", password != nil, "--wifi", wifi != nil),
            ("--phone", !phone.isEmpty, "--contact", contact != nil),
            ("--email", !email.isEmpty, "--contact", contact != nil),
        ] where isGiven && !hasOther {
            throw ValidationError("\(option) works only with \(other). Leave it out.")
        }
        if let language, !LanguageCode.isValid(language) {
            throw ValidationError("--language takes \(LanguageCode.requirement).")
        }
        if let link = link.first(where: { !Self.isURI($0) }) {
            throw ValidationError("--link takes a link with its scheme, such as https://example.com, not '\(link)'.")
        }
        if let bluetooth, Self.address(bluetooth) == nil {
            throw ValidationError("--bluetooth takes an address of six bytes, such as 00:0B:57:12:34:56.")
        }
        if isContactFile, !phone.isEmpty || !email.isEmpty {
            throw ValidationError("--phone and --email are for a contact by name. The file of --contact has its own.")
        }
    }

    private var isContactFile: Bool { contact?.lowercased().hasSuffix(".vcf") ?? false }

    /// Returns these options with every text replaced by what `fill` makes of it.
    func filled(
        by fill: (String) throws -> String,
        inLinks fillLink: (String) throws -> String
    ) rethrows -> MessageOptions {
        var options = self
        options.link = try link.map(fillLink)
        options.text = try text.map(fill)
        options.wifi = try wifi.map(fill)
        options.password = try password.map(fill)
        options.contact = try contact.map(fill)
        options.phone = try phone.map(fill)
        options.email = try email.map(fill)
        options.location = try location.map(fill)
        options.data = try data.map(fill)
        options.app = try app.map(fill)
        return options
    }

    /// Returns the message, in the order of the options' help. The app comes last, because Android's older versions
    /// look at the first record to choose an app.
    func bytes(_ links: [String]) throws -> [UInt8] {
        if let message { return try message.checkedMessage() }
        var records = try (links + link).map { try NDEFRecord.uri($0) }
        records += try text.map { try .text($0, language: language ?? "en") }
        if let wifi { records.append(try Self.network(wifi, password).makeRecord(identifier: [])) }
        if let contact {
            let card = isContactFile ? try Self.content(ofFile: contact) : vCard(contact)
            records.append(.media(type: "text/vcard", payload: card))
        }
        if let address = bluetooth.flatMap(Self.address) {
            records.append(try BluetoothEasyPairingRecord(address: address).makeRecord(identifier: []))
        }
        if let location { records.append(try .uri(Self.place(location))) }
        records += try data.map(Self.record)
        if let app { records.append(.androidApplication(package: app)) }
        return try NDEFMessage(records).encoded()
    }

    /// The URI of a place (RFC 5870, 3.3), from its latitude and longitude in degrees.
    private static func place(_ text: String) throws -> String {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
        let isPlain = numbers.allSatisfy { $0.allSatisfy { $0.isASCII && ($0.isNumber || "-.".contains($0)) } }
        guard isPlain, numbers.count == 2, let latitude = Double(numbers[0]), let longitude = Double(numbers[1]),
            abs(latitude) <= 90, abs(longitude) <= 180
        else {
            throw CommandFailure(
                .usage,
                "bad-location",
                "--location takes a latitude and a longitude in degrees, such as 48.2010,16.3695."
            )
        }
        return "geo:\(numbers[0]),\(numbers[1])"
    }

    /// The record of a text such as `text/plain=Hi`. A media type has a slash (RFC 2046), an external type a colon
    /// (NFC Forum RTD 1.0, 3.3).
    private static func record(_ text: String) throws -> NDEFRecord {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts[0].contains(where: { "/:".contains($0) }) else {
            throw CommandFailure(
                .usage,
                "bad-data",
                "--data takes a type and its content, such as text/plain=Hi or example.com:seat=12."
            )
        }
        let payload = parts[1].hasPrefix("@") ? try content(ofFile: String(parts[1].dropFirst())) : Array(parts[1].utf8)
        let type = parts[0]
        return type.contains("/") ? .media(type: type, payload: payload) : .external(type: type, payload: payload)
    }

    private static func content(ofFile path: String) throws -> [UInt8] {
        try InputFile.named(path, limit: StandardInput.maximumSize).readToEnd()
    }

    /// An open network, or one with WPA2 and AES (Wi-Fi Simple Configuration 2.0.5, 12: authentication type 0020,
    /// encryption type 0008), which any device may join.
    private static func network(_ name: String, _ password: String?) throws -> WiFiRecord {
        let password = try password.map { String(try Secret.text($0).prefix { !$0.isNewline }) }
        guard (1...32).contains(name.utf8.count) else {
            throw CommandFailure(.usage, "bad-wifi", "The name of a Wi-Fi network has 1 to 32 bytes.")
        }
        let isKey = password.map { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) } ?? false
        guard isKey || (8...63).contains(password?.utf8.count ?? 8) else {
            throw CommandFailure(
                .usage,
                "bad-wifi",
                "The password of a Wi-Fi network has 8 to 63 bytes, or 64 hex digits."
            )
        }
        return try WiFiRecord(
            WiFiCredential(
                ssid: name,
                key: password ?? "",
                authentication: password == nil ? 1 : 0x20,
                encryption: password == nil ? 1 : 8,
                macAddress: [UInt8](repeating: 0xFF, count: 6)
            )
        )
    }

    /// Returns the contact as a vCard 3.0 (RFC 2426), which phones of every age accept.
    private func vCard(_ name: String) -> [UInt8] {
        func escaped(_ text: String) -> String {
            let special: [Character: String] = ["\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r\n": "\\n"]
            return text.map { special[$0] ?? String($0) }.joined()
        }
        var lines = ["BEGIN:VCARD", "VERSION:3.0", "N:\(escaped(name));;;;", "FN:\(escaped(name))"]
        lines += phone.map { "TEL:\(escaped($0))" } + email.map { "EMAIL:\(escaped($0))" } + ["END:VCARD"]
        return lines.flatMap { Array("\($0)\r\n".utf8) }
    }

    /// Returns the six bytes of a Bluetooth address; nil for other texts.
    private static func address(_ text: String) -> [UInt8]? {
        HexArgument(argument: text.filter { $0 != ":" && $0 != "-" }).flatMap { $0.bytes.count == 6 ? $0.bytes : nil }
    }

    /// Whether a text starts with a URI scheme (RFC 3986, 3.1) and contains no spaces.
    static func isURI(_ text: String) -> Bool {
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
