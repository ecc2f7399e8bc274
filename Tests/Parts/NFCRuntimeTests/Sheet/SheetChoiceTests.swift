// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCRuntime
import SystemLibrary
import TestThreads
import Testing

/// Checks which sheet a process shows, and what sheets without a terminal write.
@Suite(.timeLimit(.minutes(1))) struct `The sheet of a process` {
    private static func content(_ state: SheetState, _ message: String) -> SheetContent {
        let title = state == .ready || state == .scanning ? "Ready to Scan" : ""
        return SheetContent(state: state, title: title, message: message, showsErrorSymbol: state == .failure)
    }

    private static let states: [(SheetState, String)] = [
        (.ready, "Hold it near."), (.scanning, "Reading."), (.success, "Done."), (.failure, "No."), (.dismissed, "No."),
    ]

    /// What a sheet writes to a pipe, and whether it calls its Cancel button.
    private static func written(_ make: (Int32) -> any ScanSheet, _ states: [(SheetState, String)] = states) throws
        -> String
    {
        // Programs that other tests start at this moment do not get its ends. Else it would end with them.
        let pipe = try #require(DescriptorPipe())
        let sheet = make(pipe.writer)
        for (state, message) in states {
            sheet.present(content(state, message)) { #expect(Bool(false), "Nobody has pressed it.") }
        }
        close(pipe.writer)
        return String(
            decoding: FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true).readDataToEndOfFile(),
            as: UTF8.self
        )
    }

    @Test func `Plain text is one line a change, and none for the leaving`() throws {
        #expect(
            try Self.written { PlainTextSheet(fileDescriptor: $0) }
                == "[Ready to Scan] Hold it near.\n[Scanning] Reading.\n[Done] Done.\n[Failed] No.\n"
        )
        let empty = Self.states.map { ($0.0, "") }
        #expect(
            try Self.written({ PlainTextSheet(fileDescriptor: $0) }, empty)
                == "[Ready to Scan] (no message)\n[Scanning] (no message)\n[Done]\n[Failed] \n"
        )
    }

    @Test func `JSON is one object a line, the leaving too`() throws {
        let lines = try Self.written { JSONLinesSheet(fileDescriptor: $0) }.split(separator: "\n")
        let objects = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(
            objects
                == Self.states.map { state, message in
                    let content = Self.content(state, message)
                    return Line(
                        state: state.rawValue,
                        title: content.title,
                        message: message,
                        shows_error_symbol: content.showsErrorSymbol
                    )
                }
        )
    }

    private struct Line: Decodable, Equatable {
        var state: String
        var title: String
        var message: String
        var shows_error_symbol: Bool
    }

    @Test func `A choice makes its sheet`() throws {
        #expect(SheetChoice.terminal.makeSheet() is TerminalSheet)
        #expect(SheetChoice.text.makeSheet() is PlainTextSheet)
        #expect(SheetChoice.none.makeSheet() is HiddenSheet)
        #expect(try Self.written { SheetChoice.json(fileDescriptor: $0).makeSheet() }.hasPrefix("{\"state\":\"ready\""))
        #expect(try Self.written { _ in SheetChoice.none.makeSheet() } == "")
        #expect(SheetChoice(name: "json:0") == .json(fileDescriptor: 0))
        #expect(SheetChoice(name: "json:2147483647") == .json(fileDescriptor: .max))
        #expect(SheetChoice(name: "json:2147483648") == nil)
    }

    @Test(.ownThreads) func `A variable names the sheet of the process`() async {
        await #expect(processExitsWith: .success) {
            for (name, choice) in [("none", SheetChoice.none), ("text", .text), ("json:5", .json(fileDescriptor: 5))] {
                _ = unsafe setenv("NFC_SHEET", name, 1)
                guard SheetChoice.isNamed, SheetChoice.automatic == choice else { exit(1) }
            }
        }
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let ends = unsafe open("/dev/null", O_RDWR)
            dup2(ends, STDIN_FILENO)
            for name in ["", "we\u{1B}b"] {
                _ = unsafe setenv("NFC_SHEET", name, 1)
                guard SheetChoice.isNamed != name.isEmpty, SheetChoice.automatic == .text else { exit(1) }
            }
            // What is not said otherwise is written there too.
            let content = SheetContent(state: .success, title: "", message: "Done.", showsErrorSymbol: false)
            JSONLinesSheet().present(content) {}
            PlainTextSheet().present(content) {}
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("NFC_SHEET is we\\u{1b}b; use terminal, json, json:FD, text or none.\n"))
        #expect(text.components(separatedBy: "NFC_SHEET is").count == 2)
        #expect(text.contains(#"{"state":"success","title":"","message":"Done.""#))
        #expect(text.contains("[Done] Done.\n"))
    }

    @Test(.ownThreads, arguments: [(nil, true), ("", true), ("1", false)] as [(String?, Bool)])
    func `Colour is left out where NO_COLOR says something`(value: String?, allowed: Bool) async {
        await #expect(processExitsWith: .success) { [value, allowed] in
            if let value { _ = unsafe setenv("NO_COLOR", value, 1) } else { _ = unsafe unsetenv("NO_COLOR") }
            exit(SheetChoice.allowsColor == allowed ? 0 : 1)
        }
    }

    // MARK: Writing

    @Test func `A text is written whole to a pipe that is full for a while`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let text = String(repeating: "0123456789abcdef", count: 64 << 10)
        let reader = Thread {
            var count = 0
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while count < text.utf8.count { count += max(unsafe read(reading, &buffer, buffer.count), 0) }
            close(reading)
        }
        reader.start()
        let began = ContinuousClock.now
        #expect(OutputDescriptor(writing).write(text) == nil)
        // It waits for room and not for time.
        #expect(ContinuousClock.now - began < .seconds(10))
        close(writing)
    }

    @Test func `What nobody reads is dropped, and says why`() throws {
        // Programs that other tests start at this moment do not get its ends.
        let pipe = try #require(DescriptorPipe())
        close(pipe.reader)
        signal(SIGPIPE, SIG_IGN)
        #expect(OutputDescriptor(pipe.writer).write("x") == EPIPE)
        close(pipe.writer)
        #expect(OutputDescriptor(-1).write("x") == EBADF)
        #expect(OutputDescriptor(-1).write("") == nil)
    }
}
