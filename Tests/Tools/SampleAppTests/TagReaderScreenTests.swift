// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@Suite(.ownThreads) struct `TagReader on the full screen` {
    private let scratch: ScratchFolder
    private let app: Command

    init() throws {
        scratch = try ScratchFolder()
        app = Command(
            name: "TagReader",
            environment: [
                "TAGREADER_STORE": scratch.path("messages.json"), "NFC_READER": "virtual", "TERM": "xterm",
                "NO_COLOR": "1", "SWIFT_BACKTRACE": "enable=no",
            ]
        )
    }

    /// Keeps messages: each a link, a long text and 600 bytes of data.
    private func keep(_ count: Int) throws {
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let data = Data((0..<600).map { UInt8($0 & 0xFF) }).base64EncodedString()
        let text = base64("\u{2}en" + String(repeating: "The quick brown fox jumps. ", count: 8))
        let messages = (1...count).map { number in
            """
            {"records":[{"format":1,"type":"VQ==","identifier":"","payload":"\(base64("\u{4}example.com/\(number)"))"},
            {"format":1,"type":"VA==","identifier":"","payload":"\(text)"},
            {"format":5,"type":"","identifier":"","payload":"\(data)"}]}
            """
        }
        let contents = #"{"version":1,"messages":[\#(messages.joined(separator: ","))]}"#
        try Data(contents.utf8).write(to: URL(fileURLWithPath: scratch.path("messages.json")))
    }

    private static func selected(_ screen: [String]) -> Int? {
        screen.first { $0.hasPrefix("> ") }.flatMap { Int($0.split(separator: " ")[1]) }
    }

    @Test func `In a list of 300 one gets everywhere with few keys`() throws {
        try keep(300)
        let terminal = try TerminalSession(app, columns: 80, lines: 24)
        try terminal.wait { Self.selected($0) == 300 && $0.contains("300 of 300") }
        // As xterm, the Linux console and rxvt send them, and the letters.
        let keys: [(String, Int)] = [
            ("\u{1B}[H", 1), ("\u{1B}[6~", 20), ("\u{1B}[6~", 39), ("\u{1B}[5~", 20), ("\u{1B}[F", 300),
            ("\u{1B}[1~", 1), ("\u{1B}[4~", 300), ("\u{1B}OH", 1), ("\u{1B}OF", 300), ("\u{1B}[7~", 1),
            ("\u{1B}[8~", 300), ("g", 1), ("G", 300), ("\u{1B}[A", 299), ("k", 298), ("\u{1B}OB", 299), ("j", 300),
        ]
        for (key, number) in keys {
            try terminal.type(key)
            try terminal.wait { Self.selected($0) == number }
        }
        try terminal.type("?")
        try terminal.wait { $0.first == "Help" && $0.contains("  PgUp, PgDn  go one screen") }
        try terminal.type("q")
        try terminal.wait { Self.selected($0) == 300 }
        try terminal.type("q")
        #expect(try terminal.end() == 0)
        #expect(terminal.isAtRest)
    }

    @Test func `Keys that are held with Shift, Alt or Ctrl do what they do alone`() throws {
        try keep(60)
        let terminal = try TerminalSession(app, columns: 80, lines: 24)
        try terminal.wait { Self.selected($0) == 60 }
        // As xterm sends them: the modifier after a semicolon.
        let keys: [(String, Int)] = [
            ("\u{1B}[1;5H", 1), ("\u{1B}[6;5~", 20), ("\u{1B}[5;3~", 1), ("\u{1B}[1;2B", 2), ("\u{1B}[1;3A", 1),
            ("\u{1B}[1;5F", 60), ("\u{1B}[1;2~", 1), ("\u{1B}[4;2~", 60), ("\u{1B}[7;5~", 1), ("\u{1B}[8;5~", 60),
        ]
        for (key, number) in keys {
            try terminal.type(key)
            try terminal.wait { Self.selected($0) == number }
        }
        try terminal.type("\u{1B}[3;2~", at: "> 60")
        try terminal.type("y", at: "Delete message 60?")
        try terminal.wait(for: "Message 60 is deleted.")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test func `Help over a message that another window deletes leads back to the list`() throws {
        try keep(2)
        let terminal = try TerminalSession(app)
        try terminal.type("\r", at: "> 2")
        try terminal.type("?", at: "Record 1")
        try terminal.wait { $0.first == "Help" }
        let seen = terminal.output.utf8.count
        #expect(try app.run(input: "delete 2\n").status == 0)
        // It is drawn again when it has seen that.
        try terminal.wait { _ in terminal.output.utf8.count > seen }
        #expect(terminal.screen.first == "Help")
        try terminal.type("q")
        try terminal.wait { $0.first == "Messages" && Self.selected($0) == 1 }
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test func `Without a reader the last line and the alert of a scan say why`() throws {
        var environment = app.environment
        environment["NFC_READER"] = "nonsense"
        let terminal = try TerminalSession(
            Command(name: "TagReader", environment: environment),
            columns: 120,
            lines: 24
        )
        try terminal.wait { $0.contains { $0.contains("CoreNFC: There is no reader \"nonsense\"; use virtual") } }
        try terminal.type("s")
        try terminal.wait {
            $0.contains { $0.contains("Scanning Isn't Available") }
                && $0.contains { $0.contains("There is no reader \"nonsense\"; use virtual") }
        }
        try terminal.type("q")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
        #expect(terminal.isAtRest)
    }

    @Test(arguments: [14, 20, 40, 80, 200] as [UInt16])
    func `The keys for deleting and ending are there at every width`(columns: UInt16) throws {
        try keep(30)
        let terminal = try TerminalSession(app, columns: columns, lines: 20)
        try terminal.wait { Self.selected($0) == 30 }
        let footer = terminal.screen.suffix(3).joined(separator: "  ")
        #expect(footer.contains("d delete") && footer.contains("q quit"))
        #expect(terminal.screen.count <= 20)
        #expect(terminal.screen.allSatisfy { $0.count <= Int(columns) }, "\(terminal.screen)")
        terminal.resize(columns: columns, lines: 5)
        try terminal.wait { $0.count <= 5 && $0.last?.contains("d") == true && $0.last?.contains("q") == true }
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test func `Details that are longer than the screen say so, and what goes on in the next line is indented`() throws
    {
        try keep(1)
        let terminal = try TerminalSession(app, columns: 60, lines: 14)
        try terminal.type("\r", at: "> 1")
        try terminal.wait { $0.contains { $0.hasPrefix("Lines 1 to 9 of ") } }
        let text = terminal.screen.drop { $0 != "Record 2" }
        #expect(text.contains("  Type        T"))
        try terminal.type("\u{1B}[6~")
        try terminal.wait { $0.contains { $0.hasPrefix("Lines 10 to 18 of ") } }
        let line = try #require(terminal.screen.firstIndex { $0.hasPrefix("  Payload     Text (en): The quick") })
        #expect(terminal.screen[line + 1].hasPrefix("              "))
        // Words stay whole.
        #expect(terminal.screen[line].hasSuffix("jumps.") || terminal.screen[line].hasSuffix("The"))
        try terminal.type("\u{1B}[F")
        try terminal.wait(for: "… and 344 more bytes, which are not shown")
        try terminal.type("\u{1B}[H")
        try terminal.wait { $0.contains { $0.hasPrefix("Lines 1 to 9 of ") } }
        try terminal.type("q")
        try terminal.type("q", at: "> 1")
        #expect(try terminal.end() == 0)
    }

    @Test func `Escape leads back to the list, and does not end the app there`() throws {
        try keep(2)
        let terminal = try TerminalSession(app)
        try terminal.type("\r", at: "> 2")
        try terminal.type("\u{1B}", at: "Record 1")
        try terminal.type("\u{1B}", at: "> 2")
        try terminal.wait(for: "To end the app, press q.")
        try terminal.type("d")
        try terminal.type("\u{1B}", at: "Delete message 2? Press y to delete it.")
        try terminal.wait { Self.selected($0) == 2 && !$0.contains { $0.hasPrefix("Delete") } }
        try terminal.type("d")
        try terminal.type("y", at: "Delete message 2?")
        try terminal.wait(for: "Message 2 is deleted.")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
        #expect(terminal.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT])
    func `A signal ends it with the terminal as it was`(signal: Int32) throws {
        let terminal = try TerminalSession(app)
        try terminal.wait(for: "No messages yet.")
        #expect(!terminal.isAtRest)
        terminal.send(signal)
        #expect(try terminal.end() == -signal)
        #expect(terminal.isAtRest)
        #expect(terminal.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test func `A signal while the sheet is up gives the terminal back too`() throws {
        let terminal = try TerminalSession(app)
        try terminal.type("m", at: "No messages yet.")
        try terminal.wait(for: "That one is saved.")
        terminal.send(SIGTERM)
        #expect(try terminal.end() == -SIGTERM)
        #expect(terminal.isAtRest)
        #expect(terminal.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test func `Ctrl-Z gives the terminal back until the app goes on`() throws {
        let terminal = try TerminalSession(app)
        try terminal.type("\u{1A}", at: "No messages yet.")
        try terminal.wait(for: "\u{1B}[?1049l")
        waitWhile(!terminal.isAtRest)
        #expect(terminal.isAtRest)
        terminal.send(SIGCONT)
        try terminal.type("q", at: "No messages yet.")
        #expect(try terminal.end() == 0)
    }

    @Test func `What a crash says can be read behind it`() throws {
        var app = app
        // A property list that was named and has nothing in it: the process ends, as on a phone.
        app.environment["NFC_INFO_PLIST"] = "/nonexistent"
        let terminal = try TerminalSession(app)
        try terminal.type("s", at: "No messages yet.")
        #expect(try terminal.end() == -SIGABRT)
        let after = try #require(terminal.output.components(separatedBy: "\u{1B}[?1049l").last)
        #expect(after.contains("NFCReaderUsageDescription is missing in /nonexistent. Add it with a sentence"))
        #expect(terminal.isAtRest)
    }

    @Test func `A note on standard error does not disturb the screen, and can be read whole`() throws {
        // An executable without its resources: the framework prints a note about the missing settings.
        let copy = scratch.path("TagReader")
        // Another process copies it. A child process of ours could inherit the open file, and then it can't run.
        #expect(try Command(name: "cp").run(app.path, copy).status == 0)
        let terminal = try TerminalSession(Command(name: copy, environment: app.environment))
        try terminal.type("s", at: "No messages yet.")
        try terminal.wait { $0.contains { $0.hasPrefix("> 1") } }
        try terminal.type("?")
        try terminal.wait { $0.first == "Help" && $0.contains { $0.hasPrefix("  Noted: CoreNFC: this runs here") } }
        #expect(terminal.screen.allSatisfy { $0.count <= 80 })
        try terminal.type("qq")
        #expect(try terminal.end() == 0)
        let after = try #require(terminal.output.components(separatedBy: "\u{1B}[?1049l").last)
        #expect(after.contains("NFCReaderUsageDescription is missing in the app's Info.plist."))
    }
}
