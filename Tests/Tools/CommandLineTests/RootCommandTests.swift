// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What nfc answers before a command runs.
@Suite(.ownThreads) struct `The command nfc itself` {
    private let nfc = Command(name: "nfc")

    @Test(arguments: [
        ("tag --json --frob", "Unknown option '--frob'"), ("tag frob --json", "Unexpected argument 'frob'"),
        ("--json", "nfc needs a subcommand. See: nfc --help"),
        ("ndef --json", "nfc ndef needs a subcommand. See: nfc ndef --help"),
        ("links --json", "nfc links needs a subcommand. See: nfc links --help"),
        ("help tag --json", "Unknown option '--json'"),
        ("ndef encode --chunk-size 0 --json", "--chunk-size 0 is too small: a chunk needs at least one byte."),
    ])
    func `Where JSON is asked for, the mistake that remains without it is named`(words: String, message: String) throws
    {
        let outcome = try nfc.run(words.split(separator: " ").map(String.init))
        #expect(outcome.status == 2 && outcome.error == "")
        #expect(outcome.output == #"{"ok":false,"error":"usage","message":"\#(message)"}"# + "\n")
    }

    @Test func `A word that is not UTF-8 is named, also where another mistake would be found without JSON`() throws {
        let outcome = try Command.shell("nfc tag $'caf\\xe9' --json; echo $?", in: "/")
        let message = "Argument 2, 'caf\u{FFFD}', is not UTF-8. Give text in UTF-8, and bytes in hex. If it is a file, "
        let object = #"{"ok":false,"error":"usage","message":"\#(message)rename it."}"#
        #expect(outcome.output == object + "\n2\n", "\(outcome)")
    }

    @Test func `Without JSON the usage is said on lines of their own`() throws {
        let outcome = try nfc.run("tag", "--", "--json")
        #expect(outcome.status == 2 && outcome.output == "")
        #expect(
            outcome.error == """
                Error: Unexpected argument '--json'
                Usage: nfc tag <subcommand>
                  See 'nfc tag --help' for more information.

                """
        )
    }

    @Test(arguments: [
        ("help foo", "nfc has no subcommand 'foo'. See: nfc --help"),
        ("help tag reed", "nfc tag has no subcommand 'reed'. See: nfc tag --help"),
    ])
    func `There is no help of what is no command`(words: String, message: String) throws {
        let outcome = try nfc.run(words.split(separator: " ").map(String.init))
        #expect(outcome.status == 2 && outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: \(message)\n"), "\(outcome)")
    }

    @Test(arguments: [["help", "help"], ["help", "tag", "read"], ["help", "simulator", "tap"]])
    func `Help is shown of commands, and before words that another program takes`(arguments: [String]) throws {
        let outcome = try nfc.run(arguments)
        #expect(outcome.status == 0 && outcome.output.contains("\nUSAGE: nfc "), "\(outcome)")
    }

    @Test(arguments: [["--help"], ["--help", "--json"], ["tag", "--json", "--help"], ["help", "tag"], []])
    func `Help is text, also where JSON is asked for`(arguments: [String]) throws {
        let outcome = try nfc.run(arguments)
        #expect(outcome.status == 0 && outcome.error == "")
        let isOfTag = arguments.contains("tag")
        let start = isOfTag ? "OVERVIEW: Read, write and describe tags, " : "OVERVIEW: Read, write and make NFC tags"
        #expect(outcome.output.hasPrefix(start), "\(outcome)")
        #expect(outcome.output.contains("\nUSAGE: nfc "))
    }

    @Test func `A command that failed says one thing alone`() throws {
        let json = try nfc.run("tag", "read", "--image", "/nowhere/x.nfc", "--json")
        #expect(json.status == 1 && json.lines.count == 1 && json.error == "")
        let text = try nfc.run("tag", "read", "--image", "/nowhere/x.nfc")
        #expect(text.status == 1 && text.output == "")
        #expect(text.error.split(separator: "\n", omittingEmptySubsequences: false).count == 2, "\(text)")
    }
}
