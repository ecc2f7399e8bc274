// SPDX-License-Identifier: Apache-2.0
import TestThreads
import Testing

@Suite(.ownThreads) struct `Usage of nfc` {
    private let nfc = Command(name: "nfc")

    @Test(arguments: [
        ["--help"], ["scan", "--help"], ["write", "--help"], ["readers", "--help"], ["emulate", "--help"],
        ["emulate", "show", "--help"], ["emulate", "install", "--help"],
        ["tag", "--help"], ["tag", "read", "--help"], ["tag", "write", "--help"], ["tag", "info", "--help"],
        ["ndef", "decode", "--help"], ["ndef", "encode", "--help"],
    ])
    func `Every command has help with an example`(arguments: [String]) throws {
        let outcome = try nfc.run(arguments)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Examples:\n") && outcome.output.contains("  nfc ") || arguments[0] == "ndef")
    }

    @Test func `The longest time that may be asked for is taken, and a scheme of all its characters`() throws {
        let images = try Images()
        #expect(try nfc.run("scan", "--tags", images.poster(), "--timeout", "60").status == 0)
        let written = try nfc.object("tag", "write", "--image", images.blank("NTAG213"), "a+b-C.1:x")
        #expect(written["message_hex"] as? String == "d1010a5500612b622d432e313a78")
    }

    @Test(arguments: ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func `An image and JSON can't both go to standard output, whatever it is called`(name: String) throws {
        let words = ["tag", "create", "--product", "NTAG213", "--format", "json", "--out", name, "--json"]
        let outcome = try nfc.run(words)
        #expect(outcome.status == 2)
        #expect(outcome.lines.count == 1 && outcome.output.hasPrefix(#"{"ok":false,"error":"usage""#), "\(outcome)")
    }

    private static let narrow = Command(name: "nfc", environment: ["COLUMNS": "80"])
    private static let wide = Command(name: "nfc", environment: ["COLUMNS": "1000"])

    /// The words of each command with its own help, found in the help of commands with subcommands, and its help in 80
    /// columns. With --help, a command that is another program shows that program's help.
    private static func commands(below words: [String] = []) throws -> [(words: [String], help: String)] {
        let help = try narrow.run(["help"] + words).output
        guard let list = help.split(separator: "SUBCOMMANDS:\n").dropFirst().first else { return [(words, help)] }
        let names = list.matches(of: /(?m)^  ([a-z0-9-]+)/).map { String($0.1) }
        return [(words, help)] + (try names.flatMap { try commands(below: words + [$0]) })
    }

    /// The text before the usage, which is written line by line; only the first line can have any length.
    private static func text(_ help: String) -> [Substring] {
        let lines = (help.split(separator: "\nUSAGE:").first ?? "").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        return Array(lines.drop { !$0.isEmpty })
    }

    @Test func `No line of a help's text is broken, but an example with a backslash`() throws {
        let commands = try Self.commands()
        #expect(commands.count > 30)
        for (words, help) in commands {
            let lines = Self.text(help)
            #expect(lines == Self.text(try Self.wide.run(["help"] + words).output), "\(words)")
            guard let start = lines.firstIndex(of: "Examples:") else { continue }
            var isContinued = false
            for line in lines[(start + 1)...].prefix(while: { !$0.isEmpty }) {
                let isCommand = line.contains(#/^  ([A-Z_]+=\S+ )?(nfc|curl|echo|printf|sudo|diff|xz) /#)
                #expect(isCommand != isContinued, "\(words): \(line)")
                isContinued = line.hasSuffix(" \\")
            }
            #expect(!isContinued, "\(words)")
        }
    }

    @Test(arguments: [
        ["frob"], ["scan", "--timeout", "61"], ["scan", "--timeout", "x"], ["write"], ["write", "no link"],
        ["write", "https://a.example", "--text", "both"], ["write", "--message", "abc"],
        ["scan", "--timeout", "0x3"], ["tag", "read", "--timeout", "1e1"], ["write", "a:b", "--timeout", "inf"],
        ["scan", "--tags", ","], ["write", "a:b", "--tags", ""],
        ["emulate", "--image", "x"], ["emulate", "--image", "x", "--pcsc", "--pn532", "y"], ["emulate", "--pcsc"],
        ["emulate", "--pcsc", "--facing", "y"], ["emulate", "--pn532", "y", "--facing", "y"],
        ["emulate", "--image", "x", "--pn532", "y", "--facing", "z"],
        ["emulate", "--image", "x", "--pn532", "y", "--start-pcscd"],
        ["scan", "--timeout", "0"], ["scan", "--timeout", "60.1"], ["write", "1a:b"], ["write", ":b"],
        ["write", "a_b:c"], ["write", "a b:c"], ["tag", "write", "--image", "x", "--tear-after=-1", "a:b"],
        ["links", "fetch", "--timeout", "121"], ["links", "fetch", "--timeout", "0"],
        ["emulate", "--image", "x", "--pn532", "y", "--timeout", "0"],
        ["emulate", "--image", "x", "--pn532", "y", "--timeout", "86401"],
        ["tag", "create", "--mrz", "x", "--uid", "0102", "--out", "x.json"],
    ])
    func `Wrong usage ends with 2, says why and prints nothing else`(arguments: [String]) throws {
        let outcome = try nfc.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: "))
    }
}
