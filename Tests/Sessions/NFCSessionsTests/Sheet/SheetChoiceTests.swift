// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import TestThreads
import Testing

/// Which sheet a process shows, and what the sheets without a terminal write.
@Suite(.timeLimit(.minutes(1))) struct SheetChoiceTests {
    private static let states: [(SheetState, String)] = [
        (.ready, "Say \"cheese\"\n\u{1B}."), (.scanning, "Reading."), (.success, "Done."), (.failure, "No."),
        (.dismissed, "No."),
    ]

    /// What a sheet writes to a pipe.
    private static func written(_ make: (Int32) -> any ScanSheet, _ states: [(SheetState, String)] = states) throws
        -> String
    {
        // Programs that other tests start at this moment do not get its ends. Else it would end with them.
        let pipe = try #require(DescriptorPipe())
        let sheet = make(pipe.writer)
        for (state, message) in states {
            sheet.present(SheetTests.content(state, message, symbol: state == .failure)) {
                #expect(Bool(false), "Nobody has pressed Cancel.")
            }
        }
        close(pipe.writer)
        let file = FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true)
        return String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
    }

    @Test func `plain text sheet: one line for each change, none when the sheet is dismissed`() throws {
        let lines = "[Ready to Scan] Say \"cheese\"\\n\\u{1b}.\n[Scanning] Reading.\n[Done] Done.\n[Failed] No.\n"
        #expect(try Self.written { PlainTextSheet(fileDescriptor: $0) } == lines)
        let empty = Self.states.map { ($0.0, "") }
        let shown = "[Ready to Scan] (no message)\n[Scanning] (no message)\n[Done]\n[Failed] \n"
        #expect(try Self.written({ PlainTextSheet(fileDescriptor: $0) }, empty) == shown)
    }

    @Test func `JSON sheet: one object on a line for each change, also when the sheet is dismissed`() throws {
        let lines = try Self.written { SheetChoice.json(fileDescriptor: $0).makeSheet() }
        let expected = #"""
            {"state":"ready","title":"Ready to Scan","message":"Say \"cheese\"\u000a\u001b.","shows_error_symbol":false}
            {"state":"scanning","title":"Ready to Scan","message":"Reading.","shows_error_symbol":false}
            {"state":"success","title":"","message":"Done.","shows_error_symbol":false}
            {"state":"failure","title":"","message":"No.","shows_error_symbol":true}
            {"state":"dismissed","title":"","message":"No.","shows_error_symbol":false}

            """#
        #expect(lines == expected)
    }

    @Test func `sheet names: each makes its sheet, and any other text makes none`() throws {
        let names: [(String, SheetChoice?)] = [
            ("terminal", .terminal), ("json", .json(fileDescriptor: 2)), ("json:7", .json(fileDescriptor: 7)),
            ("json:0", .json(fileDescriptor: 0)), ("json:2147483647", .json(fileDescriptor: .max)), ("text", .text),
            ("none", SheetChoice.none), ("json:2147483648", nil), ("", nil), ("Terminal", nil), ("json:", nil),
            ("json:-1", nil), ("json:x", nil), ("web", nil),
        ]
        for (name, choice) in names { #expect(SheetChoice(name: name) == choice, "\(name)") }
        #expect(SheetChoice.terminal.makeSheet() is TerminalSheet && SheetChoice.text.makeSheet() is PlainTextSheet)
        #expect(SheetChoice.none.makeSheet() is HiddenSheet)
        #expect(try Self.written { _ in SheetChoice.none.makeSheet() } == "")
    }

    @Test(.ownThreads) func `NFC_SHEET chooses the sheet, with a warning for other names; NO_COLOR turns off colour`()
        async
    {
        await #expect(processExitsWith: .success) {
            for (name, choice) in [("none", SheetChoice.none), ("text", .text), ("json:5", .json(fileDescriptor: 5))] {
                _ = unsafe setenv("NFC_SHEET", name, 1)
                guard SheetChoice.isNamed, SheetChoice.automatic == choice else { exit(1) }
            }
            for (value, isAllowed) in [("", true), ("1", false)] {
                _ = unsafe setenv("NO_COLOR", value, 1)
                guard SheetChoice.allowsColor == isAllowed else { exit(2) }
            }
            _ = unsafe unsetenv("NO_COLOR")
            guard SheetChoice.allowsColor else { exit(3) }
        }
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            dup2(unsafe open("/dev/null", O_RDWR), STDIN_FILENO)
            for name in ["", "we\u{1B}b"] {
                _ = unsafe setenv("NFC_SHEET", name, 1)
                guard SheetChoice.isNamed != name.isEmpty, SheetChoice.automatic == .text else { exit(1) }
            }
            let content = SheetContent(state: .success, title: "", message: "Done.", showsErrorSymbol: false)
            JSONLinesSheet().present(content) {}
            PlainTextSheet().present(content) {}
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("NFC_SHEET is we\\u{1b}b") && text.components(separatedBy: "NFC_SHEET is").count == 2)
        #expect(text.contains(#"{"state":"success","title":"","message":"Done.""#) && text.contains("[Done] Done.\n"))
    }

    @Test(.ownThreads, arguments: [("xterm", true), ("dumb", false), ("", false), (nil, false)] as [(String?, Bool)])
    func `isInteractive: true if standard input and error are a terminal, and TERM is neither dumb nor empty`(
        term: String?,
        isInteractive: Bool
    ) async {
        await #expect(processExitsWith: .success) { [term, isInteractive] in
            guard let pseudo = PseudoTerminal() else { exit(2) }
            let terminal = unsafe open(pseudo.path, O_RDWR | O_NOCTTY)
            if let term { _ = unsafe setenv("TERM", term, 1) } else { _ = unsafe unsetenv("TERM") }
            let nowhere = unsafe open("/dev/null", O_RDWR)
            for (input, errors) in [(nowhere, terminal), (terminal, nowhere), (nowhere, nowhere)] {
                dup2(input, STDIN_FILENO)
                dup2(errors, STDERR_FILENO)
                guard !SheetChoice.isInteractive else { exit(1) }
            }
            dup2(terminal, STDIN_FILENO)
            dup2(terminal, STDERR_FILENO)
            _ = unsafe unsetenv("NFC_SHEET")
            let isTerminal = SheetChoice.automatic == .terminal
            exit(SheetChoice.isInteractive == isInteractive && isTerminal == isInteractive ? 0 : 1)
        }
    }
}
