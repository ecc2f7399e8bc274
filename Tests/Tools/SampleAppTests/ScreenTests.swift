// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing

/// The sample app on the full screen.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ScreenTests {
    private func selected(_ terminal: TestTerminal) -> Int? {
        terminal.screen.first { $0.hasPrefix("> ") }.flatMap { Int($0.split { !$0.isNumber }[0]) }
    }

    @Test func `screen: a card is scanned, and its message is shown, written to a card and deleted`() throws {
        let app = try SampleApp()
        let terminal = try app.terminal()
        try terminal.play(
            """
            Messages
            No messages yet.
            s Scan  m Scan Many  Enter Open  ? Help  q Quit
            [s]
            Esc Cancel
            """
        )
        try terminal.play(
            """
            Message 1
            1 message was added.
            Record 1
              Payload     Link: https://example.com/welcome
              Format      1, well-known
            w Write to a Card  d Delete  up/down Scroll  ? Help  q Back
            [w]
            The message is saved on the card.
            [Esc]
            Messages
            > Message 1, scanned 2
            [?]
            Help
              s           scans one card
              The messages are in
            Press any key.
            [q]
            Messages
            [d]
            Delete This Message?
            y Delete  any other key Cancel
            [Esc]
            Message 1
            [d]
            Delete This Message?
            [y]
            Message 1 is deleted.
            No messages yet.
            [q]
            """
        )
        #expect(try terminal.end() == 0)
        #expect(terminal.isAtRest && terminal.output.hasSuffix(TestTerminal.restored))
    }

    @Test func `screen: arrow keys move by one line, page keys by one screen`() throws {
        let app = try SampleApp()
        try app.keep(300)
        let terminal = try app.terminal()
        try terminal.play("> Message 300")
        for (key, number) in [("[B", 299), ("OA", 300), ("[6~", 278), ("[6~", 256), ("[5~", 278), ("[1;2A", 279)] {
            try terminal.type("\u{1B}" + key)
            try terminal.wait("\(key): message \(number)") { selected(terminal) == number }
        }
        try terminal.play("[d]\nDelete This Message?\n[y]\nMessage 279 is deleted.\n> Message 278\n[Ctrl-C]")
        #expect(try terminal.end() == 130)
    }

    @Test func `screen: the list fits a new size of the terminal`() throws {
        let app = try SampleApp()
        try app.keep(30)
        let terminal = try app.terminal(lines: 20)
        try terminal.wait("The list") { terminal.screen.count == 20 }
        terminal.resize(columns: 40, lines: 5)
        try terminal.wait("The short list") {
            terminal.screen.count == 5 && terminal.screen[1].hasPrefix("> Message 30")
        }
    }

    @Test func `screen: long details scroll, and their lines break at words`() throws {
        let app = try SampleApp()
        try app.keep(1)
        let terminal = try app.terminal(columns: 60, lines: 14)
        try terminal.play("> Message 1\n[Enter]\nRecord 2")
        let line = try #require(terminal.screen.firstIndex { $0.hasPrefix("  Payload     Text (en): The quick") })
        #expect(terminal.screen[line].count <= 60 && terminal.screen[line + 1].hasPrefix("              "))
        try terminal.play("[PgDn]\n[PgDn]\n[PgDn]\n[PgDn]\n              … and 344 more bytes\n[q]\n> Message 1\n[q]")
        #expect(try terminal.end() == 0)
    }

    @Test func `screen: messages that another window adds or deletes appear and disappear in this window`() throws {
        let app = try SampleApp()
        let terminal = try app.terminal()
        try terminal.play("No messages yet.")
        #expect(try app.run("scan").status == 0)
        try terminal.play("> Message 1\nAnother window added message 1.\n[Enter]\nRecord 2\n[?]\nHelp")
        #expect(try app.run("delete 1", "scan").status == 0)
        // The help stays, and leads back to the list.
        try terminal.play("Help\n[q]\nMessages\n> Message 2\n[Enter]\nRecord 1")
        #expect(try app.run("delete 2").status == 0)
        try terminal.play("That message was deleted in another window.\n[q]")
        #expect(try terminal.end() == 0)
    }

    @Test func `screen ended by a signal: the terminal is restored`() throws {
        for signal in [SIGTERM, SIGHUP, SIGSEGV] {
            let terminal = try SampleApp().terminal()
            try terminal.play("No messages yet.")
            #expect(!terminal.isAtRest)
            terminal.send(signal)
            #expect(try terminal.end() == -signal)
            #expect(terminal.isAtRest && terminal.output.hasSuffix(TestTerminal.restored), "\(signal)")
        }
    }

    @Test func `screen after Ctrl-Z: the terminal is restored until the app continues`() throws {
        let terminal = try SampleApp().terminal()
        try terminal.play("No messages yet.\n[Ctrl-Z]")
        try terminal.wait(for: TestTerminal.restored)
        waitWhile(!terminal.isAtRest)
        #expect(terminal.isAtRest)
        terminal.send(SIGCONT)
        try terminal.wait(for: "No messages yet.")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }
}
