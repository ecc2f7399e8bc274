// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing

/// Ctrl-C and other signals while nfc waits for a tag or reads it.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct CancelTests {
    private let folder: TestFolder
    /// The tool near a folder without tags.
    private let nfc: TestProgram

    init() throws {
        folder = try TestFolder()
        try folder.makeFolder("tags")
        let variables = ["NFC_READER": "virtual", "NFC_TAGS": folder.path("tags"), "NFC_SHEET": "text"]
        nfc = TestProgram("nfc", variables)
    }

    /// The answer, up to the reader's name.
    private static let answer = #"{"ok":false,"error":"cancelled","message":"Cancelled.","reader":""#

    @Test(
        arguments: [["scan"], ["scan", "--many"], ["write", "a:b"], ["tag", "read"], ["tag", "info"]],
        [false, true]
    ) func `Ctrl-C while a command waits for a tag: status 130 and one sentence`(words: [String], json: Bool) throws {
        let running = try RunningProgram(nfc, words + (json ? ["--json"] : []))
        waitWhile(!running.text.error.contains("[Ready to Scan]"))
        #expect(running.end(by: SIGINT) == 130 && running.process.terminationReason == .exit)
        let (output, error) = running.text
        #expect(output == (json ? Self.answer + "virtual\"}\n" : ""))
        #expect(error.hasSuffix("Error: Cancelled.\n") != json)
    }

    @Test func `killed during a batch: a tag whose row was printed is saved`() throws {
        let card = folder.path("tags/card.json")
        try #require(try nfc.run("tag", "create", "--product", "NTAG213", "--out", card).status == 0)
        try "place\nA1\nB2\n".write(toFile: folder.path("seats.csv"), atomically: true, encoding: .utf8)
        let words = ["write", "--batch", folder.path("seats.csv"), "--text", "{place}", "--tags", folder.path("tags")]
        let running = try RunningProgram(nfc, words)
        waitWhile(!running.text.output.contains("Row 1 of 2"))
        #expect(running.end(by: SIGKILL) == SIGKILL)
        #expect(try nfc.run("tag", "read", card).output.contains("A1"))
    }

    @Test func `Ctrl-C in the middle of a read: status 130`() throws {
        let card = folder.path("card.json")
        // A text of 30000 letters.
        let message = "c1010000753354" + "02656e" + String(repeating: "61", count: 30_000)
        let product = ["--product", "generic Type 4", "--size", "32000"]
        let made = try nfc.run(["tag", "create", "--out", card, "--message", message] + product)
        try #require(made.status == 0, "\(made.error)")
        let emulation = Process()
        emulation.executableURL = URL(fileURLWithPath: nfc.path)
        let line = folder.path("line")
        emulation.arguments = ["emulate", "--image", card, "--pn532", line, "--trace", "--json", "--timeout", "300"]
        emulation.environment = nfc.variables
        emulation.standardInput = FileHandle.nullDevice
        let trace = Pipe()
        emulation.standardOutput = trace
        try emulation.run()
        defer {
            kill(emulation.processIdentifier, SIGKILL)
            emulation.waitUntilExit()
        }
        /// Reads the trace until it has a word.
        func wait(for word: String) throws {
            var text = ""
            while !text.contains(word) {
                let data = trace.fileHandleForReading.availableData
                try #require(!data.isEmpty, "\(text.suffix(200))")
                text += String(decoding: data, as: UTF8.self)
            }
        }
        try wait(for: #""event":"ready""#)
        let scan = try RunningProgram(nfc, ["scan", "--reader", "pn532:" + line, "--json"])
        // From now on nobody reads the trace, so the emulation waits, and the read with it.
        try wait(for: "616161")
        #expect(scan.end(by: SIGINT) == 130 && scan.process.terminationReason == .exit)
        #expect(scan.text.output.hasPrefix(Self.answer) && scan.text.output.hasSuffix("\"}\n"))
    }

    // MARK: Terminals

    private func terminal(near tags: String) throws -> TestTerminal {
        let variables = [
            "NFC_READER": "virtual", "NFC_TAGS": tags, "NFC_SHEET": "", "TERM": "xterm", "NO_COLOR": "1",
            // The shell of Swift's own crash reports would wait for a key.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        return try TestTerminal(TestProgram("nfc", variables), ["scan", "--many"])
    }

    @Test func `terminal: Ctrl-C on the sheet ends nfc with status 130, and the terminal is restored`() throws {
        let terminal = try terminal(near: folder.card())
        try terminal.wait(for: "Hold the next tag near the reader.")
        try terminal.type("\u{3}")
        #expect(try terminal.end() == 130)
        #expect(terminal.output.contains("https://example.com") && terminal.output.contains("Cancelled."))
        #expect(terminal.isAtRest)
    }

    @Test(arguments: [SIGSEGV, SIGILL, SIGABRT, SIGHUP, SIGUSR1])
    func `terminal: after a signal that ends nfc, typed keys and the cursor are shown again`(signal: Int32) throws {
        let terminal = try terminal(near: folder.path("tags"))
        try terminal.wait(for: "Hold one tag after another near the")
        #expect(!terminal.isAtRest)
        terminal.send(signal)
        #expect(try terminal.end() == -signal)
        #expect(terminal.isAtRest)
        #expect(terminal.output.matches(of: /\u{1B}\[\?25([hl])/).last?.1 != "l")
    }
}
