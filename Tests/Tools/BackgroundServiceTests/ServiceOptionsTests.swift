// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import TestThreads
import Testing

@testable import nfcd

/// The options of the service's command line.
@Suite(.ownThreads) struct `The options of the service` {
    @MainActor @Test func `are off until they are given`() throws {
        let none = try #require(Options(["--reader", "none"]))
        #expect(!none.json && !none.logsContent && !none.allowsCustomSchemes)
        #expect(none.reader.reader == "none" && none.reader.readerSource == "--reader")
        let all = try #require(Options(["--json", "--log-content", "--allow-custom-schemes", "--reader", "virtual"]))
        #expect(all.json && all.logsContent && all.allowsCustomSchemes)
        #expect(all.reader.reader == "virtual" && all.reader.tagsSource == "NFC_TAGS")
    }

    @MainActor @Test func `name images for the virtual reader, whatever reader was named before`() throws {
        let options = try #require(Options(["--reader", "none", "--tags", "a.nfc,b.nfc"]))
        #expect(options.reader.reader == "virtual" && options.reader.readerSource == "--tags")
        #expect(options.reader.tags == "a.nfc,b.nfc" && options.reader.tagsSource == "--tags")
    }

    @Test func `that are wrong are named, with the usage`() throws {
        for (arguments, reason) in [
            (["--reader"], "--reader needs a value."), (["--log-content", "--tags"], "--tags needs a value."),
            (["--bogus", "--help"], "There is no option '--bogus'. See: nfcd --help"),
        ] {
            let outcome = try Command(name: "nfcd").run(arguments)
            #expect(outcome.status == 2 && outcome.output == "")
            #expect(outcome.error.hasPrefix("Error: \(reason)\n\nUsage: nfcd ["), "\(outcome.error)")
        }
    }

    @Test func `that are wrong are an object where JSON is meant`() throws {
        for arguments in [["--json=yes"], ["--bogus", "--json=yes"]] {
            let outcome = try Command(name: "nfcd").run(arguments)
            #expect(outcome.status == 2 && outcome.error == "")
            let object = try #require(try outcome.objects().first)
            #expect(object["message"] as? String == "There is no option '\(arguments[0])'. See: nfcd --help")
        }
    }

    @Test func `have a help that goes to standard output`() throws {
        let outcome = try Command(name: "nfcd").run("--json", "-h")
        #expect(outcome.status == 0 && outcome.error == "")
        #expect(outcome.output.hasPrefix("Usage: nfcd [") && outcome.output.hasSuffix(": nfc background enable\n"))
    }
}
