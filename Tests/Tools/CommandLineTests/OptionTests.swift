// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import LinkDelivery
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

    @Test func `nfc emulate: options that go together, taken`() {
        for words in [
            "--pn532 y --facing z --trace --json --timeout 1", "--image - --pn532 y --out z",
            "--image x --pn532 y --commands --trace --json --id 1", "--image x --pcsc --start-pcscd --reader-name R",
            "--image x --pcsc --folder f", "--image x --pcsc --timeout 0.1", "--image x --pcsc --timeout 86400",
        ] {
            #expect(problem(EmulateShowCommand.self, words.split(separator: " ").map(String.init)) == nil, "\(words)")
        }
    }

    @Test func `content to write: a scheme of letters, digits, +, - and . before the colon`() {
        for link in ["x", ":x", "1a:b", "a b:c", "a:b c", "a_b:c", "\u{E9}:x", "a\u{E9}:x"] {
            #expect(problem(MessageOptions.self, [link])?.contains("is not a link") == true, "\(link)")
        }
        for link in ["a:", "a1+.-z:x", "A:b:c"] { #expect(problem(MessageOptions.self, [link]) == nil, "\(link)") }
    }

    @Test func `content to write: a language code of 1 to 63 ASCII characters`() {
        for (language, isCode) in [
            ("a", true), (String(repeating: "x", count: 63), true), ("", false), ("d\u{E9}", false),
            (String(repeating: "x", count: 64), false),
        ] {
            #expect((problem(MessageOptions.self, ["--text", "x", "--language", language]) == nil) == isCode)
        }
    }

    @Test func `nfc inbox clear: an entry by its identifier or the name of its file`() {
        let id = "019fb0c2d4e11a2b3c4d"
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

    @Test func `reader options, none given: the configuration of the process`() throws {
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

    @Test func `reader options, --tags: the virtual reader, and images are saved on request`() throws {
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

    @Test func `reader options, --reader beside --tags: the named reader`() throws {
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
