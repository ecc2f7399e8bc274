// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Testing

@testable import nfc

/// Which options of nfc emulate, scan, write and trace go together. Nothing is run.
@Suite struct `Options that go together` {
    /// Why options are refused; nil when they are taken.
    private func problem<Options: ParsableArguments>(_ type: Options.Type, _ words: [String]) -> String? {
        do {
            _ = try type.parse(words)
            return nil
        } catch {
            return type.message(for: error)
        }
    }

    @Test(
        arguments: [
            (["--image", "x", "--pcsc"], nil), (["--image", "x", "--pn532", "y"], nil),
            (["--pn532", "y", "--facing", "z"], nil), (["--image", "-", "--pn532", "y", "--out", "z"], nil),
            (["--image", "x", "--pn532", "y", "--commands", "--trace", "--json", "--id", "1"], nil),
            (["--image", "x", "--pcsc", "--start-pcscd"], nil),
            (["--image", "x", "--pcsc", "--reader-name", "R"], nil),
            (["--image", "x", "--pcsc", "--folder", "f", "--reader-conf", "c"], nil),
            (["--image", "x", "--pcsc", "--timeout", "0.1"], nil),
            (["--image", "x", "--pcsc", "--timeout", "86400"], nil),
            (["--image", "x"], "Give either --pcsc or --pn532 PATH."),
            (["--image", "x", "--pcsc", "--pn532", "y"], "Give either --pcsc or --pn532 PATH."),
            (["--pcsc", "--facing", "z"], "--facing needs --pn532 PATH."),
            (["--pn532", "y", "--facing", "y"], "The two PN532 need different paths."),
            (["--pcsc"], "Give the tag: --image FILE. To make a blank one: nfc tag create"),
            (["--pn532", "y"], "Give the tag: --image FILE. To make a blank one: nfc tag create"),
        ] as [([String], String?)]
    )
    func `An emulation has one reader and one tag`(words: [String], reason: String?) {
        #expect(problem(EmulateShowCommand.self, words) == reason)
    }

    @Test(arguments: [["--image", "x"], ["--id", "1"], ["--out", "o"], ["--commands"]])
    func `Two PN532 that face each other have no tag`(words: [String]) {
        let reason = "With --facing the other program is the card. Leave out --image, --id, --out and --commands."
        #expect(problem(EmulateShowCommand.self, ["--pn532", "y", "--facing", "z"] + words) == reason)
        let taken = ["--pn532", "y", "--facing", "z", "--trace", "--json", "--timeout", "1"]
        #expect(problem(EmulateShowCommand.self, taken) == nil)
    }

    @Test(arguments: [["--start-pcscd"], ["--reader-conf", "c"], ["--folder", "f"], ["--reader-name", "R"]])
    func `What is pcscd's does not go with a PN532`(words: [String]) {
        let reason = "--start-pcscd, --reader-conf, --folder and --reader-name need --pcsc."
        #expect(problem(EmulateShowCommand.self, ["--image", "x", "--pn532", "y"] + words) == reason)
        #expect(problem(EmulateShowCommand.self, ["--image", "x", "--pcsc"] + words) == nil)
    }

    @Test(arguments: ["0", "86400.5", "86401"]) func `An emulation lasts a day at most`(seconds: String) {
        let reason = "--timeout takes a number of seconds above 0, up to 86400."
        #expect(problem(EmulateShowCommand.self, ["--image", "x", "--pcsc", "--timeout", seconds]) == reason)
    }

    @Test func `Standard input and output of an emulation serve one purpose`() {
        let image = ["--image", "-", "--pn532", "y"]
        let events = "Standard output shows the events, so it can't take the image. Name a file with --out."
        for out in ["-", "/dev/stdout"] {
            #expect(problem(EmulateShowCommand.self, image + ["--out", out]) == events)
        }
        let input = "Standard input is the image, so it can't be used for --commands. Name a file with --image FILE."
        #expect(problem(EmulateShowCommand.self, image + ["--out", "z", "--commands"]) == input)
        let place =
            "The image comes from standard input. Give a place to save it: --out FILE, or --out - for standard output."
        #expect(problem(EmulateShowCommand.self, image) == place)
    }

    @Test func `A session waits a minute at most, and its recording does not go where its report goes`() {
        let time = "--timeout takes more than 0 and at most 60 seconds."
        let record = "Standard output has the report, so it can't take the recording. Name a file with --record FILE."
        for (seconds, reason) in [("60", nil), ("0.1", nil), ("60.1", time), ("0", time)] as [(String, String?)] {
            #expect(problem(ScanCommand.self, ["--timeout", seconds]) == reason)
            #expect(problem(WriteCommand.self, ["a:b", "--timeout", seconds]) == reason)
        }
        for (file, reason) in [("x", nil), ("-", record), ("/dev/stdout", record)] as [(String, String?)] {
            #expect(problem(ScanCommand.self, ["--record", file]) == reason)
            #expect(problem(WriteCommand.self, ["a:b", "--record", file]) == reason)
        }
    }

    @Test func `A capture has times, and leaves standard output to itself`() {
        let times = "A capture always has times, so --no-times does not go with --pcapng."
        let output = "Standard output is the capture, so --json can't use it. Name a file with --pcapng."
        #expect(problem(TraceCommand.self, ["x", "--no-times", "--pcapng", "y"]) == times)
        #expect(problem(TraceCommand.self, ["x", "--pcapng", "-", "--json"]) == output)
        for words in [["x", "--no-times"], ["-", "--pcapng", "y"], ["x", "--pcapng", "-"], ["x", "--json"]] {
            #expect(problem(TraceCommand.self, words) == nil)
        }
    }

    @Test func `Something is written: a link, a text or a message`() {
        let one = "Give one thing to write: a link, --text TEXT, or --message HEX."
        for words in [[], ["a:b", "--text", "x"], ["a:b", "--message", "00"], ["--text", "x", "--message", "00"]] {
            #expect(problem(MessageOptions.self, words) == one)
        }
        for words in [["a:b"], ["--text", ""], ["--message", "d0 00:00"], ["--text", "x", "--language", "de"]] {
            #expect(problem(MessageOptions.self, words) == nil)
        }
        let longest = String(repeating: "x", count: 63)
        #expect(problem(MessageOptions.self, ["--text", "x", "--language", longest]) == nil)
        let code = "--language takes a language code of 1 to 63 ASCII characters, such as en or de-CH."
        for language in ["", longest + "x", "d\u{E9}"] {
            #expect(problem(MessageOptions.self, ["--text", "x", "--language", language]) == code)
        }
        for words in [["a:b"], ["--message", "d00000"]] {
            let only = "--language is only for --text. Leave it out."
            #expect(problem(MessageOptions.self, words + ["--language", "de"]) == only)
        }
        for link in ["x", ":x", "1a:b", "a b:c", "a:b c", "a_b:c", "\u{E9}:x", "a\u{E9}:x"] {
            let reason = "'\(link)' is not a link. A link begins like https://. Use --text for a text."
            #expect(problem(MessageOptions.self, [link]) == reason)
        }
        for link in ["a:", "a1+.-z:x", "A:b:c"] { #expect(problem(MessageOptions.self, [link]) == nil) }
    }

    @Test func `Images that are brought near have names`() {
        let none = "--tags names no image. Give one, or several separated by commas."
        for tags in ["", ",", ",,"] { #expect(problem(ReaderOptions.self, ["--tags", tags]) == none) }
        for tags in ["a", ",a", "a,b"] { #expect(problem(ReaderOptions.self, ["--tags", tags]) == nil) }
        #expect(problem(ReaderOptions.self, []) == nil)
    }

    @Test func `An entry is cleared by its name, or all that is damaged is`() {
        let id = "019fb0c2d4e11a2b3c4d"
        let both = "Give identifiers or --damaged, not both."
        #expect(problem(InboxClearCommand.self, [id, "--damaged"]) == both)
        for words in [[], [id], ["--damaged"], [id, "\(id).entry"]] {
            #expect(problem(InboxClearCommand.self, words) == nil)
        }
        for name in [id, "\(id).entry", "\(id).new"] {
            #expect(EntryArgument(argument: name)?.id.description == id)
        }
        for name in ["", ".entry", "\(id).old", "\(id).entry.entry", "x\(id)", "\(id)entry"] {
            #expect(EntryArgument(argument: name) == nil, "\(name)")
        }
    }

    @Test func `Seconds are decimal digits with at most one point`() {
        for (text, value) in [("3", 3), ("0.5", 0.5), ("09", 9), ("60", 60)] as [(String, Double)] {
            #expect(SecondsArgument(argument: text)?.value == value, "\(text)")
        }
        for text in ["", ".", "1.2.3", "1e1", "0x3", "-1", "+1", "1/2", "1:2", "inf", "nan", " 1", "1,5"] {
            #expect(SecondsArgument(argument: text)?.value == nil, "\(text)")
        }
    }
}
