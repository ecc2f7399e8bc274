// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import ProgramTesting
import TestThreads
import Testing

/// The sample app line by line: for scripts, simple terminals and screen readers.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct CommandTests {
    @Test func `scan and show: print the records and the texts of the sheet`() throws {
        var app = try SampleApp()
        try app.hold(message: try SampleApp.poster())
        let outcome = try app.run("scan", "show 1")
        #expect(
            outcome.output.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, with: "DATE") == """
                1  2 records  Link: https://example.com/poster/12
                Message 1: 2 records, 54 bytes, scanned DATE
                Record 1
                  Payload     Link: https://example.com/poster/12
                  Format      1, well-known
                  Type        U
                  Identifier  none
                Record 2
                  Payload     Text (en): Opening hours 9 to 17
                  Format      1, well-known
                  Type        T
                  Identifier  none

                """
        )
        #expect(
            outcome.error == """
                [Ready to Scan] Hold the card near the reader to see its messages.
                [Scanning] Hold the card near the reader to see its messages.
                [Scanning] The message is in your list.
                [Done] The message is in your list.

                """
        )
        #expect(outcome.status == 0)
        let more = try app.run("scan --many 1", "scan", "delete 1", "list")
        #expect(more.error.contains("[Ready to Scan] Hold another card near the reader."))
        #expect(more.lines.map { $0.prefix(2) } == ["2 ", "3 ", "De", "2 ", "3 "] && more.status == 0)
    }

    @Test func `show: prints the payload of each kind of record`() throws {
        let poster = try NDEFMessage([try .uri("https://a.b"), try .text("T", language: "de")]).encoded()
        let rows: [(format: Int, type: String, payload: [UInt8], shown: [String])] = [
            (0, "", [], ["Empty"]), (1, "Sp", poster, ["Poster: Text (de): T", "Link: https://a.b"]),
            (1, "x", [1], ["Well-known: x, 1 byte", "01"]),
            (2, "image/png", [1, 0xFF], ["Media: image/png, 2 bytes", "01ff"]),
            (2, "text/plain", Array("a\u{1B}\nb".utf8), ["Media: text/plain, 4 bytes", "a\\u{1b}", "b"]),
            (
                2, "text/vcard", Array("BEGIN:VCARD\r\nFN:Ann\\, B\r\n ee\r\nTEL;TYPE=work:+49 1\r\nEND:VCARD".utf8),
                ["Contact: Ann, Bee", "Phone: +49 1"]
            ), (1, "U", [0] + Array("sms:+491&body=Hi%20you".utf8), ["Text message to +491", "Hi you"]),
            (3, "a:b", [], ["Link: a:b"]), (4, "a.b:c", [9], ["External: a.b:c, 1 byte", "09"]),
            (4, "android.com:pkg", Array("a.b".utf8), ["Android app: a.b"]),
            (5, "", [UInt8](repeating: 7, count: 257), ["Data: 257 bytes", String(repeating: "07", count: 256)]),
        ]
        let records = rows.map { row in
            let (type, payload) = (Data(row.type.utf8).base64EncodedString(), Data(row.payload).base64EncodedString())
            return #"{"format":\#(row.format),"type":"\#(type)","identifier":"","payload":"\#(payload)"}"#
        }
        let app = try SampleApp()
        try app.folder.write(
            "messages.json",
            #"{"version":1,"last":1,"messages":[{"number":1,"records":[\#(records.joined(separator: ","))]}]}"#
        )
        let lines = try app.run("show 1").lines
        let shown = lines.filter { $0.hasPrefix("  Payload     ") || $0.hasPrefix("              ") }.map {
            $0.dropFirst(14)
        }
        #expect(shown.map(String.init) == rows.flatMap(\.shown) + ["… and 1 more byte, which is not shown"])
        #expect(lines.filter { $0.hasPrefix("  Format") }.count == rows.count)
    }

    @Test func `write: locked, non-NDEF and small cards are refused with their sentence, a blank card is written`()
        throws
    {
        var app = try SampleApp()
        try app.hold(message: try SampleApp.poster())
        #expect(try app.run("scan").status == 0)
        let refusals: [(container: [UInt8], isSmall: Bool, text: String)] = [
            ([0xE1, 0x10, 0x12, 0x0F], false, "This card is locked and can't be changed. Please use another one."),
            ([0, 0, 0, 0], false, "This card can't hold messages. Please use another one."),
            ([0xE1, 0x10, 6, 0], true, "The message has 54 bytes, but this card has room for 46."),
        ]
        for refusal in refusals {
            try app.hold(container: refusal.container, isSmall: refusal.isSmall)
            let outcome = try app.run("write 1")
            #expect(outcome.output == "" && outcome.status == 1)
            #expect(outcome.error.contains("[Failed] \(refusal.text)\n\(refusal.text)\n"), "\(outcome.error)")
        }
        try app.hold()
        let outcome = try app.run("write 1", "scan")
        #expect(outcome.status == 0)
        let row = "2  2 records  Link: https://example.com/poster/12"
        #expect(outcome.lines == ["The message is saved on the card.", row])
    }

    @Test func `command that can't be run: prints a sentence, and the next command runs`() throws {
        let app = try SampleApp()
        let commands = [
            "frob", "show", "show 1", "show x", "write 9", "delete 0", "scan --some", "scan --many 0", "list 1",
        ]
        for command in commands {
            let outcome = try app.run(command, "list")
            #expect(outcome.output == "No messages.\n" && outcome.status == 1, "\(command)")
            #expect(outcome.error.hasSuffix(".\n") || outcome.error.hasPrefix("Use: "), "\(command)")
        }
        #expect(try app.program.run("--bogus").status == 2)
        #expect(try app.program.run("--help").output.hasPrefix("Usage: TagReader "))
    }

    @Test func `commands without a reader: the reason is printed once, and the status is 3`() throws {
        let place = try TestFolder()
        let rows = [
            ("nonsense", "Scanning Isn't Available.", "The reader \"nonsense\" is unknown; use virtual"),
            ("pn532:\(place.path("none"))", "Scanning Ended.", "/none"),
        ]
        for (reader, title, reason) in rows {
            let app = try SampleApp(["NFC_READER": reader])
            try app.keep(1)
            for commands in ["write 1", "scan\nscan\nlist"] {
                let outcome = try app.run(commands)
                let lines = outcome.error.split(separator: "\n")
                #expect(lines.count { $0.contains(reason) } == 1, "\(outcome.error)")
                let first = try #require(lines.firstIndex { $0.hasPrefix("CoreNFC: ") && $0.contains(reason) })
                #expect(lines[first...].contains { $0 == title }, "\(outcome.error)")
                #expect(outcome.status == 3)
            }
            #expect(try app.run("list").status == 0)
            // The first example shows the reason as its result, too.
            let example = try TestProgram("FirstScan", ["NFC_READER": reader]).run()
            #expect(example.output.hasPrefix("Scanning ended: ") && example.output.contains(reason))
            #expect(example.error.split(separator: "\n").count { $0.hasPrefix("CoreNFC: ") } == 1)
            #expect(example.status == 1)
        }
    }

    @Test func `NFC_STRICT: the examples run without a message, because they declare all that they use`() throws {
        let app = try SampleApp(["NFC_STRICT": "1"])
        for (name, input) in [("TagReader", "scan\n"), ("FirstScan", "")] {
            let outcome = try TestProgram(name, app.program.environment).run(input: input)
            #expect(outcome.status == 0 && !outcome.error.contains("CoreNFC"), "\(outcome.error)")
        }
    }

    // MARK: On a terminal

    private static let prompt = "Tag Reader. 0 messages. Type help for a list of commands.\r\n> "

    @Test func `plain terminal: no escape sequence, and a scan can be cancelled`() throws {
        let rows: [(variables: [String: String], arguments: [String])] = [
            (["TERM": "dumb"], []), (["NFC_SHEET": "terminal"], ["--plain"]),
        ]
        for row in rows {
            let terminal = try SampleApp(row.variables).terminal(row.arguments, columns: 40)
            let steps: [(text: String, keys: String)] = [
                (Self.prompt, "scan\n"),
                ("1  2 records  Link: https://example.com/welcome\r\n> ", "scan --many\n"),
                ("[Ready to Scan] Saved.", "\n"), ("[Failed] That was cancelled.", "show 1\n"),
                ("Payload     Text (en): Welcome to the gallery.\r\n", "quit\n"),
            ]
            for step in steps {
                try terminal.wait(for: step.text)
                try terminal.type(step.keys)
            }
            #expect(try terminal.end() == 0)
            #expect(!terminal.output.contains("\u{1B}") && terminal.isAtRest, "\(row)")
        }
    }

    @Test
    func `plain terminal: the app ends by SIGINT at Ctrl-C, by SIGTERM at SIGTERM, and with 0 at the end of input`()
        throws
    {
        for (keys, status) in [("\u{3}", -SIGINT), ("\u{4}", 0), ("", -SIGTERM)] {
            let terminal = try SampleApp(["TERM": "dumb"]).terminal()
            try terminal.wait(for: Self.prompt)
            if keys == "" { terminal.send(SIGTERM) }
            try terminal.type(keys)
            #expect(try terminal.end() == status && terminal.isAtRest)
        }
    }
}
