// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@Suite(.ownThreads) struct `TagReader line by line on a terminal` {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    private func terminal(_ variables: [String: String], _ arguments: [String]) throws -> TerminalSession {
        let store = ["TAGREADER_STORE": scratch.path("messages.json"), "NFC_READER": "virtual", "NFC_SHEET": ""]
        return try TerminalSession(
            Command(name: "TagReader", environment: store.merging(variables) { $1 }),
            arguments,
            columns: 40
        )
    }

    @Test(
        arguments: [
            (["TERM": "dumb"], []), (["TERM": ""], []), (["TERM": "xterm", "NFC_SHEET": "text"], []),
            (["TERM": "xterm"], ["--plain"]), (["TERM": "xterm", "NFC_SHEET": "terminal"], ["--plain"]),
        ] as [([String: String], [String])]
    )
    func `No escape sequence reaches the terminal, and a scan can be cancelled`(
        variables: [String: String],
        arguments: [String]
    ) throws {
        let terminal = try terminal(variables, arguments)
        try terminal.type("scan\n", at: "Tag Reader. 0 messages. The command help lists the commands.\r\n> ")
        try terminal.wait(for: "[Ready to Scan] Hold the card near the reader to see its messages.")
        try terminal.wait(for: "1  2 records  Link: https://example.com/welcome\r\n> ")
        try terminal.type("scan --many\n")
        try terminal.wait(for: "To cancel, use the Enter key.")
        // What is typed for later waits.
        try terminal.type("show 1\n", at: "[Ready to Scan] That one is saved.")
        try terminal.wait(for: "show 1")
        try terminal.type("\n")
        try terminal.wait(for: "[Failed] That was cancelled.")
        try terminal.type("scan --many\n", at: "Payload     Text (en): Welcome to the gallery.\r\n> ")
        try terminal.type("\u{3}", at: "[Ready to Scan] That one is saved.")
        try terminal.type("quit\n", at: "[Failed] That was cancelled.")
        #expect(try terminal.end() == 0)
        #expect(!terminal.output.contains("\u{1B}"))
        #expect(terminal.isAtRest)
    }

    @Test func `Ctrl-C at the prompt ends it, and so does the end of the input`() throws {
        let first = try terminal(["TERM": "dumb"], [])
        try first.type("\u{3}", at: "> ")
        #expect(try first.end() == 130)
        let second = try terminal(["TERM": "dumb"], [])
        try second.type("\u{4}", at: "> ")
        #expect(try second.end() == 0)
        #expect(first.isAtRest && second.isAtRest)
    }

    @Test func `What another instance adds is said`() throws {
        let terminal = try terminal(["TERM": "dumb"], [])
        try terminal.wait(for: "> ")
        let other = Command(
            name: "TagReader",
            environment: ["TAGREADER_STORE": scratch.path("messages.json"), "NFC_READER": "virtual"]
        )
        #expect(try other.run(input: "scan\n").status == 0)
        try terminal.wait(for: "Another window added: 1  2 records  Link: https://example.com/welcome")
        terminal.send(SIGTERM)
        #expect(try terminal.end() == -SIGTERM)
        #expect(terminal.isAtRest)
    }
}
