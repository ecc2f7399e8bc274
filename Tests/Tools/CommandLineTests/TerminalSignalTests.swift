// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

/// However a program ends, the person's terminal is as it was: keys are shown, and the cursor can be seen.
@Suite(.ownThreads) struct `The terminal of a program that a signal ends` {
    private let scratch: ScratchFolder
    private let app: Command

    init() throws {
        scratch = try ScratchFolder()
        app = Command(
            name: "TagReader",
            environment: [
                "TAGREADER_STORE": scratch.path("messages.json"), "TERM": "xterm", "NFC_READER": "virtual",
                "NFC_SHEET": "",
                // The shell of Swift's own crash reports would wait for a key.
                "SWIFT_BACKTRACE": "enable=no",
            ]
        )
    }

    private func check(_ terminal: TerminalSession, after signal: Int32) throws {
        #expect(!terminal.isAtRest)
        #expect(!Self.showsCursor(terminal.output))
        terminal.send(signal)
        #expect(try terminal.end() == -signal)
        #expect(terminal.isAtRest)
        #expect(Self.showsCursor(terminal.output))
    }

    /// Whether the cursor was shown last, and not hidden.
    private static func showsCursor(_ output: String) -> Bool {
        output.matches(of: /\u{1B}\[\?25([hl])/).last?.1 != "l"
    }

    private static let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
    private static let endings = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE]

    @Test(arguments: crashes + endings)
    func `It is as it was while the sheet of TagReader is up`(signal: Int32) throws {
        let terminal = try TerminalSession(app)
        try terminal.type("m", at: "No messages yet.")
        try terminal.wait(for: "That one is saved.")
        try check(terminal, after: signal)
        #expect(terminal.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test(arguments: crashes + endings)
    func `It is as it was while the sheet of an app without a screen is up`(signal: Int32) throws {
        var app = app
        app.name = "FirstScan"
        // A folder without tags.
        app.environment["NFC_TAGS"] = scratch.path("")
        let terminal = try TerminalSession(app)
        try terminal.wait(for: "Ready to Scan")
        try check(terminal, after: signal)
    }

    @Test(arguments: crashes + [SIGHUP, SIGUSR1])
    func `It is as it was while nfc scan waits`(signal: Int32) throws {
        var nfc = app
        nfc.name = "nfc"
        let terminal = try TerminalSession(nfc, ["scan", "--many"])
        try terminal.wait(for: "Hold the next tag near the reader.")
        try check(terminal, after: signal)
    }

    @Test(arguments: crashes + endings)
    func `It is as it was while TagReader shows its list`(signal: Int32) throws {
        let terminal = try TerminalSession(app)
        try terminal.wait(for: "No messages yet.")
        try check(terminal, after: signal)
    }

    @Test(arguments: crashes + [SIGTERM, SIGHUP, SIGQUIT, SIGPIPE])
    func `Line by line it is never changed`(signal: Int32) throws {
        let terminal = try TerminalSession(app, ["--plain"])
        try terminal.type("scan --many\n", at: "> ")
        try terminal.wait(for: "[Ready to Scan] That one is saved.")
        #expect(terminal.isAtRest)
        terminal.send(signal)
        #expect(try terminal.end() == -signal)
        #expect(terminal.isAtRest)
        #expect(!terminal.output.contains("\u{1B}"))
    }
}
