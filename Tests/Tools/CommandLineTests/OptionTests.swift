// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkFetching
import NFCReaders
import Testing

@testable import nfc  // parsed here, so that nothing is run

/// Which options go together, and what commands make of them. Nothing is run.
struct OptionTests {
    private let own = ReaderConfiguration(reader: "pcsc", tags: "t", cardReader: "pcsc:C", recording: "r")

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
    func `nfc emulate: one reader and one tag, else a reason`(words: [String], reason: String?) {
        #expect(problem(EmulateShowCommand.self, words) == reason)
    }

    @Test(arguments: [["--image", "x"], ["--id", "1"], ["--out", "o"], ["--commands"]])
    func `nfc emulate --facing: options of a tag, refused`(words: [String]) {
        let reason = "With --facing the other program is the card. Leave out --image, --id, --out and --commands."
        #expect(problem(EmulateShowCommand.self, ["--pn532", "y", "--facing", "z"] + words) == reason)
        let taken = ["--pn532", "y", "--facing", "z", "--trace", "--json", "--timeout", "1"]
        #expect(problem(EmulateShowCommand.self, taken) == nil)
    }

    @Test(arguments: [["--start-pcscd"], ["--reader-conf", "c"], ["--folder", "f"], ["--reader-name", "R"]])
    func `nfc emulate --pn532: options of pcscd, refused`(words: [String]) {
        let reason = "--start-pcscd, --reader-conf, --folder and --reader-name need --pcsc."
        #expect(problem(EmulateShowCommand.self, ["--image", "x", "--pn532", "y"] + words) == reason)
        #expect(problem(EmulateShowCommand.self, ["--image", "x", "--pcsc"] + words) == nil)
    }

    @Test(arguments: ["0", "86400.5", "86401"]) func `nfc emulate --timeout: 0 or more than a day, refused`(
        seconds: String
    ) {
        let reason = "--timeout takes a number of seconds above 0, up to 86400."
        #expect(problem(EmulateShowCommand.self, ["--image", "x", "--pcsc", "--timeout", seconds]) == reason)
    }

    @Test func `nfc emulate: standard input or output for two purposes, refused`() {
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

    @Test func `nfc scan and write: times and recordings that are taken or refused`() {
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

    @Test func `nfc trace --pcapng: options of a table, refused`() {
        let times = "A capture always has times, so --no-times does not go with --pcapng."
        let output = "Standard output is the capture, so --json can't use it. Name a file with --pcapng."
        #expect(problem(TraceCommand.self, ["x", "--no-times", "--pcapng", "y"]) == times)
        #expect(problem(TraceCommand.self, ["x", "--pcapng", "-", "--json"]) == output)
        for words in [["x", "--no-times"], ["-", "--pcapng", "y"], ["x", "--pcapng", "-"], ["x", "--json"]] {
            #expect(problem(TraceCommand.self, words) == nil)
        }
    }

    @Test func `content to write: a link, a text or a message, else a reason`() {
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

    @Test func `--tags: no name, refused`() {
        let none = "--tags names no image. Give one, or several separated by commas."
        for tags in ["", ",", ",,"] { #expect(problem(ReaderOptions.self, ["--tags", tags]) == none) }
        for tags in ["a", ",a", "a,b"] { #expect(problem(ReaderOptions.self, ["--tags", tags]) == nil) }
        #expect(problem(ReaderOptions.self, []) == nil)
    }

    @Test func `nfc inbox clear: names of entries and --damaged`() {
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

    @Test func `seconds: decimal digits with at most one point`() {
        for (text, value) in [("3", 3), ("0.5", 0.5), ("09", 9), ("60", 60)] as [(String, Double)] {
            #expect(SecondsArgument(argument: text)?.value == value, "\(text)")
        }
        for text in ["", ".", "1.2.3", "1e1", "0x3", "-1", "+1", "1/2", "1:2", "inf", "nan", " 1", "1,5"] {
            #expect(SecondsArgument(argument: text)?.value == nil, "\(text)")
        }
    }

    // MARK: Readers and sites

    @Test func `reader: no option, that of the process`() throws {
        let none = try ReaderOptions.parse([])
        #expect(none.configuration(over: own) == own)
        #expect(none.configuration(over: own, savesTags: true) == own)
        #expect(none.configuration(over: own, recording: "x").recording == "x")
        #expect(none.configuration(over: own, recording: "").recording == nil)
        var saving = own
        saving.savesTags = true
        #expect(none.configuration(over: saving) == saving)
        var patient = own
        patient.patience = .seconds(0.5)
        #expect(none.configuration(over: own, seconds: 0.5) == patient)
        #expect(none.configuration(over: patient) == own)
    }

    @Test func `reader: --tags, the virtual one, and images are saved where that is wanted`() throws {
        var expected = own
        (expected.reader, expected.tags, expected.tagsSource) = ("virtual", "a,b", "--tags")
        let near = try ReaderOptions.parse(["--tags", "a,b"])
        #expect(near.configuration(over: own) == expected)
        expected.savesTags = true
        #expect(near.configuration(over: own, savesTags: true) == expected)
        var saving = own
        saving.savesTags = true
        #expect(near.configuration(over: saving) == expected)
        #expect(near.configuration(over: saving, savesTags: true) == expected)
    }

    @Test func `reader: named beside --tags, the named one`() throws {
        var expected = own
        (expected.reader, expected.readerSource) = ("none", "--reader")
        #expect(try ReaderOptions.parse(["--reader", "none"]).configuration(over: own) == expected)
        (expected.tags, expected.tagsSource) = ("a", "--tags")
        #expect(try ReaderOptions.parse(["--reader", "none", "--tags", "a"]).configuration(over: own) == expected)
    }

    @Test func `nfc background doctor: a short look at the reader, not recorded`() {
        let named = BackgroundDoctorCommand.lookConfiguration(over: own)
        #expect(named.reader == "pcsc" && named.tags == "t" && named.cardReader == "pcsc:C")
        #expect(named.recording == nil && (named.patience ?? .seconds(60)) <= .seconds(5))
        #expect(BackgroundDoctorCommand.lookConfiguration(over: ReaderConfiguration()).reader == "pcsc")
        #expect(BackgroundDoctorCommand.lookConfiguration(over: ReaderConfiguration(tags: "t")).reader == "virtual")
    }

    @Test func `nfc links fetch: its options`() throws {
        #expect(try LinksFetchCommand.parse([]).options == AssociationFetcher.Options())
        let words = ["--timeout", "7", "--connect-to", "127.0.0.1:1", "--authorities", "ca.pem"]
        var expected = AssociationFetcher.Options()
        (expected.timeout, expected.connectTo, expected.authorities) = (.seconds(7), "127.0.0.1:1", "ca.pem")
        #expect(try LinksFetchCommand.parse(words).options == expected)
        expected.allowsPrivateAddresses = true
        #expect(try LinksFetchCommand.parse(words + ["--allow-private-addresses"]).options == expected)
    }
}
