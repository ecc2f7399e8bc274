// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF

/// What a command writes: a link, a text, or the bytes of a message.
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

    /// Whether a text begins with a scheme (RFC 3986, 3.1) and has no space.
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

/// The language of a text, as a record can have it (NFC Forum Text RTD 1.0, 3.2).
enum LanguageCode {
    static let requirement = "a language code of 1 to 63 ASCII characters, such as en or de-CH"

    static func isValid(_ code: String) -> Bool {
        (try? TextRecord("", language: code).makeRecord(identifier: [])) != nil
    }
}
