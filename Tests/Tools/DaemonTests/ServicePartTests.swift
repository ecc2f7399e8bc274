// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NFCReaders
import ProgramTesting
import TestThreads
import Testing

@testable import nfcd  // the program has no public interface

/// A log whose lines a test reads.
@MainActor final class RecordedLog {
    /// The lines for programs.
    private(set) var output = ""
    /// The lines for people.
    private(set) var errors = ""

    func log(_ arguments: String...) throws -> Log {
        let options = try #require(Options(["--reader", "virtual"] + arguments))
        return Log(options, output: { self.output += $0 }, errors: { self.errors += $0 })
    }

    /// The lines for programs since the last time.
    func lines() -> [JSONLine] {
        defer { output = "" }
        return output.split(separator: "\n").map { JSONLine(String($0)) }
    }
}

/// The log, which a person or a program reads.
@MainActor struct ServiceLogTests {
    @Test func `Log with --json: each line is an object with its members in order`() throws {
        let recorded = RecordedLog()
        let log = try recorded.log("--json")
        log.write("started", "The service is running.")
        log.write("shown", "It is “shown”.", content: "secret", ["id": "1", "count": "2"])
        log.fail("inbox", "The disk\nis full.")
        #expect(
            recorded.output == """
                {"event":"started","message":"The service is running."}
                {"event":"shown","message":"It is “shown”.","id":"1","count":"2"}
                {"ok":false,"event":"failed","error":"inbox","message":"The disk\u{FFFD}is full."}

                """
        )
        #expect(recorded.errors == "")
    }

    @Test func `Log with --log-content: the content follows the message, cut at 400 characters, the message at 1000`()
        throws
    {
        let recorded = RecordedLog()
        let log = try recorded.log("--json", "--log-content")
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        log.write("a", text(1000), content: text(400))
        log.write("a", text(1001), content: text(401))
        log.fail("b", text(1001))
        let messages = recorded.lines().map { $0["message"] }
        #expect(messages == ["\(text(1000)) \(text(400))", "\(text(999))… \(text(399))…", "\(text(999))…"])
    }
}

/// The command line of nfcd.
@MainActor @Suite(.ownThreads) struct ServiceOptionsTests {
    @Test func `nfcd options: each is parsed, and --tags selects the virtual reader`() throws {
        let none = try #require(Options(["--reader", "none"]))
        #expect(!none.json && !none.logsContent && !none.allowsCustomSchemes)
        #expect(none.reader.reader == "none" && none.reader.readerSource == "--reader")
        let all = try #require(Options(["--json", "--log-content", "--allow-custom-schemes", "--reader", "virtual"]))
        #expect(all.json && all.logsContent && all.allowsCustomSchemes && all.reader.tagsSource == "NFC_TAGS")
        let tags = try #require(Options(["--reader", "none", "--tags", "a.nfc,b.nfc"]))
        #expect(tags.reader.reader == "virtual" && tags.reader.readerSource == "--tags")
        #expect(tags.reader.tags == "a.nfc,b.nfc" && tags.reader.tagsSource == "--tags")
    }

    @Test func `nfcd with wrong options: status 2, and the reason as text or JSON`() throws {
        for reader in ["bogus", "none:", "pcsc:", "virtual:1", "replay:", "pn532", "pn532:/dev/ttyS0@1"] {
            let outcome = try TestProgram("nfcd").run("--json", "--reader", reader)
            #expect(outcome.status == 2 && outcome["message"]?.hasPrefix("--reader: ") == true, "\(reader)")
        }
        let rows: [([String], String)] = [
            (["--reader"], "--reader needs a value."), (["--log-content", "--tags"], "--tags needs a value."),
            (["--bogus", "--help"], "Unknown option '--bogus'. See: nfcd --help"),
        ]
        for (arguments, reason) in rows {
            let text = try TestProgram("nfcd").run(arguments)
            #expect(text.status == 2 && text.output == "", "\(arguments)")
            #expect(text.error.hasPrefix("Error: \(reason)\n\nUsage: nfcd ["), "\(text.error)")
        }
        let json = try TestProgram("nfcd", ["NFC_READER": "bogus"]).run("--json")
        #expect(json.status == 2 && json.error == "" && json["error"] == "usage")
        #expect(json["message"]?.hasPrefix("NFC_READER: ") == true)
        let help = try TestProgram("nfcd").run("--json", "-h")
        #expect(help.status == 0 && help.error == "")
        #expect(help.output.hasPrefix("Usage: nfcd [") && help.output.hasSuffix(": nfc background enable\n"))
    }

    @Test func `nfcd with tags, a recording or a bus that can't be used: status 1 and the reason as JSON`() throws {
        let rows: [([String], String)] = [
            (["--tags", "none.json"], "unreadable-file"), (["--tags", "none.json,other"], "unreadable-file"),
            (["--reader", "replay:none.jsonl"], "unreadable-recording"), (["--reader", "none"], "no-bus"),
        ]
        let user = try User()
        for (arguments, error) in rows {
            let outcome = try TestProgram("nfcd", user.nfc.environment).run(arguments + ["--json"])
            #expect(outcome.status == 1 && outcome.error == "", "\(outcome)")
            #expect(outcome["ok"] == "false" && outcome["event"] == "failed" && outcome["error"] == error)
        }
    }

    @Test func `nfcd log as text: has the time, except in the journal`() throws {
        let user = try User()
        let words = ["-u", "JOURNAL_STREAM", "TZ=UTC", TestProgram("nfcd").path, "--reader", "none"]
        let begin = Date()
        let alone = try TestProgram("/usr/bin/env", user.nfc.environment).run(words)
        let line = try #require(alone.error.wholeMatch(of: /(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) .* bus.+\n/))
        func text(_ time: Date) -> String { String(time.formatted(.iso8601).replacing("T", with: " ").dropLast()) }
        #expect((text(begin)...text(Date())).contains(String(line.1)))
        let journal = try TestProgram("nfcd", user.nfc.environment.merging(["JOURNAL_STREAM": "8:12345"]) { $1 }).run(
            "--reader",
            "none"
        )
        #expect(journal.error.contains(" bus: "))
    }
}

/// When the service asks the sites of apps for their association files.
@MainActor struct LinkRefreshTests {
    /// A site that was asked, and has failed some times since.
    private static func site(asked: Int64, failures: Int = 0) throws -> CachedAssociation {
        let outcome = failures == 0 ? "\(asked) 2 0 \n{}" : "- - \(failures) unreachable: It is gone.\n"
        let bytes = Array("nfc-links 2 \(asked) \(outcome)".utf8)
        return try #require(CachedAssociation(domain: "a.example", bytes: bytes))
    }

    @Test func `Link refresh: a site is due when new, after a week, or when it failed and something changed`() throws {
        let week: Int64 = 7 * 24 * 3600
        let known = try Self.site(asked: 1000)
        let failed = try Self.site(asked: 1000, failures: 1)
        let rows: [(known: CachedAssociation?, now: Int64, retriesFailures: Bool, isDue: Bool)] = [
            (nil, 1000, false, true), (known, 999 + week, false, false), (known, 1000 + week, false, true),
            (known, 999 + week, true, false), (known, 1000 + week, true, true), (failed, 1059, false, false),
            (failed, 1059, true, true), (failed, 1060, false, true),
        ]
        for row in rows {
            let isDue = LinkRefresh.isDue(row.known, at: row.now, retriesFailures: row.retriesFailures)
            #expect(isDue == row.isDue, "\(row.now) \(row.retriesFailures)")
        }
    }

    @Test func `Link refresh: the next check is when the first site is due, but in 2 s at least and an hour at most`() {
        let rows: [([Int64], Int64)] = [
            ([], 3600), ([1000], 2), ([1002], 2), ([1003], 3), ([1500, 1100, 1200], 100), ([4599], 3599),
            ([4600], 3600), ([4601], 3600),
        ]
        for (times, pause) in rows { #expect(LinkRefresh.pause(until: times, at: 1000) == pause, "\(times)") }
        var settling = ChangeSettling()
        #expect(LinkRefresh.pause(settling, until: 100) == .seconds(100))
        _ = settling.change(at: .zero)
        #expect(LinkRefresh.pause(settling, until: 100) == ChangeSettling.pause)
    }
}
