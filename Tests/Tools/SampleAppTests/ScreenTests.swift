// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing

/// The sample app on the full screen.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ScreenTests {
    private func selected(_ terminal: TestTerminal) -> Int? {
        terminal.screen.first { $0.hasPrefix("> ") }.flatMap { Int($0.split(separator: " ")[1]) }
    }

    @Test func `screen: scan a card, show its message, write it, delete it`() throws {
        let app = try SampleApp()
        let terminal = try app.terminal()
        try terminal.play(
            """
            Messages
              No messages yet. Press s to scan.
            s scan  m scan many  Enter open  w write  d delete  ? help  q quit
            [s]
            > 1  2 records  Link: https://example.com/welcome
            1 message was added.
            [Enter]
            Message 1: 2 records
            Record 1
              Format      1, well-known
              Payload     Link: https://example.com/welcome
            w write  d delete  up/down scroll  ? help  q back
            [w]
            The message is saved on the card.
            [Esc]
            Messages
            > 1
            [Esc]
            To end the app, press q.
            [?]
            Help
              s           scans one card
              The messages are in
            [q]
            Messages
            [d]
            Delete message 1? Press y to delete it.
            [Esc]
            [d]
            Delete message 1? Press y to delete it.
            [y]
            Message 1 is deleted.
              No messages yet.
            [q]
            """
        )
        #expect(try terminal.end() == 0)
        #expect(terminal.isAtRest && terminal.output.hasSuffix(TestTerminal.restored))
    }

    @Test func `screen: keys of xterm, the Linux console and rxvt, with and without Shift, Alt or Ctrl`() throws {
        let app = try SampleApp()
        try app.keep(300)
        let terminal = try app.terminal()
        try terminal.play("> 300\n300 of 300")
        let keys: [(String, Int)] = [
            ("[H", 1), ("[6~", 20), ("[6~", 39), ("[5~", 20), ("[F", 300), ("[1~", 1), ("[4~", 300), ("OH", 1),
            ("OF", 300), ("[7~", 1), ("[8~", 300), ("[A", 299), ("OB", 300), ("[1;5H", 1), ("[6;5~", 20),
            ("[5;3~", 1), ("[1;2B", 2), ("[1;3A", 1), ("[4;2~", 300), ("[7;5~", 1), ("[8;5~", 300),
        ]
        for (key, number) in keys {
            try terminal.type("\u{1B}" + key)
            try terminal.wait("\(key): message \(number)") { selected(terminal) == number }
        }
        for (key, number) in [("g", 1), ("j", 2), ("k", 1), ("G", 300)] {
            try terminal.type(key)
            try terminal.wait("\(key): message \(number)") { selected(terminal) == number }
        }
        try terminal.play("[\u{1B}[3;2~]\nDelete message 300?\n[y]\nMessage 300 is deleted.\n[Ctrl-C]")
        #expect(try terminal.end() == 130)
    }

    @Test func `screen: terminals of every width, the keys for deleting and ending are there`() throws {
        for columns: UInt16 in [14, 20, 40, 200] {
            let app = try SampleApp()
            try app.keep(30)
            let terminal = try app.terminal(columns: columns, lines: 20)
            try terminal.wait("The list at \(columns)") {
                terminal.screen.suffix(3).joined(separator: "  ").contains("q quit")
            }
            let screen = terminal.screen
            #expect(screen.count <= 20 && screen.allSatisfy { $0.count <= Int(columns) }, "\(screen)")
            #expect(screen.suffix(3).joined(separator: "  ").contains("d delete"), "\(screen)")
            terminal.resize(columns: columns, lines: 5)
            try terminal.wait("The short list at \(columns)") {
                let last = terminal.screen.last ?? ""
                return terminal.screen.count <= 5 && last.contains("d") && last.contains("q")
            }
        }
    }

    @Test func `screen: details longer than the screen, they scroll and lines break at words`() throws {
        let app = try SampleApp()
        try app.keep(1)
        let terminal = try app.terminal(columns: 60, lines: 14)
        try terminal.play("> 1\n[Enter]\nRecord 2\n  Type        T\nLines 1 to 9 of \n[PgDn]\nLines 10 to 18 of ")
        let line = try #require(terminal.screen.firstIndex { $0.hasPrefix("  Payload     Text (en): The quick") })
        #expect(terminal.screen[line].hasSuffix("jumps.") || terminal.screen[line].hasSuffix("The"))
        #expect(terminal.screen[line + 1].hasPrefix("              "))
        try terminal.play("[End]\n              … and 344 more bytes\n[Home]\nLines 1 to 9 of \n[q]\n> 1\n[q]")
        #expect(try terminal.end() == 0)
    }

    @Test func `screen: another window adds and deletes messages, this one follows`() throws {
        let app = try SampleApp()
        let terminal = try app.terminal()
        try terminal.play("  No messages yet.")
        #expect(try app.run("scan").status == 0)
        try terminal.play("> 1  2 records\nAnother window added message 1.\n[Enter]\nRecord 2\n[?]\nHelp")
        #expect(try app.run("delete 1", "scan").status == 0)
        // The help stays, and leads back to the list.
        try terminal.play("Help\n[q]\nMessages\n> 2  2 records\n[Enter]\nRecord 1")
        #expect(try app.run("delete 2").status == 0)
        try terminal.play("That message was deleted in another window.\n[q]")
        #expect(try terminal.end() == 0)
    }

    @Test func `screen: signals, the terminal is as before`() throws {
        for signal in [SIGTERM, SIGHUP, SIGSEGV] {
            let terminal = try SampleApp().terminal()
            try terminal.play("  No messages yet.")
            // With the scanning sheet, which draws on the terminal too.
            if signal == SIGHUP { try terminal.type("m") }
            if signal == SIGHUP { try terminal.wait(for: "That one is saved.") }
            #expect(!terminal.isAtRest)
            terminal.send(signal)
            #expect(try terminal.end() == -signal)
            #expect(terminal.isAtRest && terminal.output.hasSuffix(TestTerminal.restored), "\(signal)")
        }
    }

    @Test func `screen: Ctrl-Z, the terminal is free until the app continues`() throws {
        let terminal = try SampleApp().terminal()
        try terminal.play("  No messages yet.\n[Ctrl-Z]")
        try terminal.wait(for: TestTerminal.restored)
        waitWhile(!terminal.isAtRest)
        #expect(terminal.isAtRest)
        terminal.send(SIGCONT)
        try terminal.wait(for: "No messages yet.")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

}
