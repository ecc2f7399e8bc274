// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import NFCReaders
import NFCRuntime
import TagLink
import TagTrace

/// The reader that a command uses, from its options or from NFC_READER and NFC_TAGS.
struct ReaderOptions: ParsableArguments {
    @Option(help: "The reader: \(ReaderKind.usage(for: .sessions)). Default: NFC_READER.")
    var reader: String?

    @Option(help: ArgumentHelp("Images to bring near the virtual reader, separated by commas.", valueName: "files"))
    var tags: String?

    func validate() throws {
        guard let tags, !tags.contains(where: { $0 != "," }) else { return }
        throw ValidationError("--tags names no image. Give one, or several separated by commas.")
    }

    /// The environment of the command's session.
    ///
    /// - Parameters:
    ///   - savesTags: whether to save changed images that `--tags` names.
    ///   - recording: the file to record the session in; nil for `NFC_RECORD`, an empty name
    ///     for none.
    ///   - seconds: how long the command waits for a tag and for the reader; nil for the default.
    func environment(
        savesTags: Bool = false,
        recording: String? = nil,
        seconds: Double? = nil
    ) throws(CommandFailure) -> NFCEnvironment {
        var configuration = ReaderConfiguration.ofProcess
        configuration.patience = seconds.map(Duration.seconds)
        if let tags {
            configuration.tags = tags
            configuration.tagsSource = "--tags"
            configuration.reader = "virtual"
            configuration.savesTags = configuration.savesTags || savesTags
        }
        if let reader {
            configuration.reader = reader
            configuration.readerSource = "--reader"
        }
        if let recording { configuration.recording = recording.isEmpty ? nil : recording }
        let environment = NFCEnvironment(configuration)
        if let error = environment.recordingError {
            throw CommandFailure(.refused, error.code.description, error.reason)
        }
        if let error = environment.tagFileError {
            throw CommandFailure(.refused, error.code.description, error.reason)
        }
        if case .none(let reason) = environment.reader {
            throw CommandFailure(.noReader, "no-reader", reason)
        }
        return environment
    }
}

/// What a command writes: a link, a text, or the bytes of a message.
struct MessageOptions: ParsableArguments {
    @Argument(help: "A link to write, such as https://example.com.")
    var link: String?

    @Option(help: "A text to write.")
    var text: String?

    @Option(help: "The language of the text.")
    var language = "en"

    @Option(help: "The bytes of a message to write, in hex.")
    var message: HexArgument?

    func validate() throws {
        let count = [link != nil, text != nil, message != nil].filter { $0 }.count
        guard count == 1 else {
            throw ValidationError("Give one thing to write: a link, --text TEXT, or --message HEX.")
        }
        if let link, !Self.isURI(link) {
            throw ValidationError("'\(link)' is not a link. A link begins like https://. Use --text for a text.")
        }
    }

    /// The message's bytes.
    func octets() throws(CommandFailure) -> [UInt8] {
        if let message { return try message.checkedMessage() }
        let record: NDEFRecord
        do throws(RecordError) {
            record = if let link { try .uri(link) } else { try .text(text ?? "", language: language) }
        } catch {
            throw CommandFailure(.refused, error.code.description, error.reason)
        }
        do throws(NDEFError) {
            return try NDEFMessage([record]).encoded()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Whether a text begins with a scheme (RFC 3986, 3.1) and has no space.
    private static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), !text.contains(where: \.isWhitespace) else { return false }
        let scheme = text[..<colon]
        return scheme.first.map { $0.isASCII && $0.isLetter } ?? false
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}

/// Bytes in hex on the command line.
struct HexArgument: ExpressibleByArgument {
    var octets: [UInt8]

    init?(argument: String) {
        guard case .success(let octets) = HexText.octets(Array(argument.utf8)[...]) else { return nil }
        self.octets = octets
    }

    static var defaultCompletionKind: CompletionKind { .default }

    /// The bytes, if they are a valid message.
    func checkedMessage() throws(CommandFailure) -> [UInt8] {
        do throws(NDEFError) {
            _ = try NDEFMessage(decoding: octets)
            return octets
        } catch {
            throw CommandFailure(error)
        }
    }
}
