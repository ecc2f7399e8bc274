// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Checks that text of a tag, a file or the caller can't control a terminal or hide text.
@Suite(.ownThreads) struct `Words that are not to be trusted` {
    /// A title for the window, a control of C1, marks of direction, and what is not drawn at all.
    private static let words = "\u{1B}]0;x\u{7}\u{9B}2J\u{202E}\u{2066}\u{200B}\u{E0041}\u{3164}z"
    private static let escaped =
        "\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}\\u{2066}\\u{200b}\\u{e0041}\\u{3164}z"
    private let images: Images

    init() throws {
        images = try Images()
    }

    /// Checks that there are no invisible characters except line feeds.
    private func expectVisible(_ outcome: Command.Outcome, _ location: SourceLocation = #_sourceLocation) {
        for text in [outcome.output, outcome.error] {
            let hidden = text.unicodeScalars.filter { scalar in
                [.control, .format].contains(scalar.properties.generalCategory) && scalar != "\n"
                    || scalar.properties.isDefaultIgnorableCodePoint
            }
            #expect(hidden.isEmpty, "\(text.debugDescription)", sourceLocation: location)
        }
    }

    /// An image, of such a name, of a tag with such a text.
    private func tag() throws -> String {
        let path = images.folder.path(Self.words + ".nfc")
        try FileManager.default.moveItem(atPath: try images.blank("NTAG213"), toPath: path)
        let outcome = try Command(name: "nfc").run("tag", "write", "--image", path, "--text", Self.words)
        #expect(outcome.status == 0)
        expectVisible(outcome)
        return path
    }

    @Test(arguments: [
        ["inbox", "open", words], ["inbox", "clear", words], [words], ["--" + words], ["tag", "--" + words],
        ["scan", "--timeout", words], ["scan", "--reader", words], ["scan", "--reader", "pn532:" + words],
        ["scan", "--tags", words], ["write", words], ["write", "--message", words],
        ["tag", "create", "--product", words, "--out", "x"], ["tag", "create", "--product", "NTAG213", "--out", words],
        ["tag", "read", "--image", words], ["ndef", "decode", "--lenient", words], ["links", "check", words],
        ["links", "check", "--served-at", words, "x"], ["links", "remove", words], ["trace", words],
        ["background", "run", "--" + words], ["background", "run", "--reader", words],
    ])
    func `The caller's own words are escaped, and have the same value in JSON`(arguments: [String]) throws {
        let outcome = try Command(name: "nfc").run(arguments)
        #expect(outcome.status != 0)
        expectVisible(outcome)
        #expect(outcome.error.contains(Self.escaped))
        let json = try Command(name: "nfc").run(arguments + ["--json"])
        #expect(json.status == outcome.status)
        expectVisible(json)
        let message = try #require(try json.objects().last?["message"] as? String)
        #expect(message.contains(Self.words) || message.contains(Self.escaped))
    }

    @Test func `The words of a tag and the name of its file are escaped, and have the same value in JSON`() throws {
        let path = try tag()
        for arguments in [["tag", "read", "--image", path], ["scan", "--tags", path]] {
            let outcome = try Command(name: "nfc").run(arguments)
            expectVisible(outcome)
            #expect(outcome.output.contains(Self.escaped))
            let json = try Command(name: "nfc").run(arguments + ["--json"])
            expectVisible(json)
            let message = try #require(try json.objects().last?["message_hex"] as? String)
            let decoded = try Command(name: "nfc").run("ndef", "decode", "--json", input: message + "\n")
            expectVisible(decoded)
            let records = try #require(try decoded.objects().first?["records"] as? [[String: Any]])
            #expect((records.first?["decoded"] as? [String: Any])?["text"] as? String == Self.words)
        }
    }

    @Test func `The service says no word as it is`() throws {
        for arguments in [["--" + Self.words], ["--reader", Self.words], ["--reader", Self.words, "--json"]] {
            let outcome = try Command(name: "nfcd").run(arguments)
            #expect(outcome.status == 2)
            expectVisible(outcome)
        }
    }

    @Test func `The sample app shows no word of a card, its commands or its file as it is`() throws {
        let environment = ["NFC_TAGS": try tag(), "TAGREADER_STORE": images.folder.path("\(Self.words).json")]
        let app = Command(name: "TagReader", environment: environment)
        let outcome = try app.run("--plain", input: "\(Self.words)\nscan\nlist\nshow 1\n")
        expectVisible(outcome)
        #expect(outcome.output.contains("Text (en): \(Self.escaped)"))
        #expect(outcome.error.contains("There is no command \(Self.escaped)."))
        // The file can't be made below another file.
        let blocked = Command(name: "TagReader", environment: ["TAGREADER_STORE": "/dev/null/\(Self.words)"])
        let failed = try blocked.run("--plain", input: "scan\n")
        expectVisible(failed)
        #expect(failed.error.contains(Self.escaped))
        expectVisible(try app.run("--\(Self.words)"))
    }

    @Test func `The example shows no word of a tag as it is`() throws {
        let outcome = try Command(name: "FirstScan", environment: ["NFC_TAGS": try tag()]).run()
        expectVisible(outcome)
        #expect(outcome.output.hasPrefix("Text: \\u001B]0;x\\u0007\\u009B2J\\u202E"))
    }

    @Test func `The framework names an app's files escaped`() throws {
        let environment = ["NFC_TAGS": try tag(), "NFC_ENTITLEMENTS": "/nonexistent/\(Self.words)"]
        let outcome = try Command(name: "FirstScan", environment: environment).run()
        expectVisible(outcome)
        #expect(outcome.error.contains(Self.escaped))
    }
}
