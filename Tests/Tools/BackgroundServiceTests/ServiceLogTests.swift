// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import nfcd

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

    /// The lines for programs, without those before.
    func lines() -> [String] {
        defer { output = "" }
        return output.split(separator: "\n").map(String.init)
    }
}

@Suite struct `A line of the service's log` {
    @MainActor @Test func `is an object for programs, with its members in their order`() throws {
        let recorded = RecordedLog()
        let log = try recorded.log("--json")
        log.write("started", "The service runs.")
        log.write("shown", "It is “shown”.", content: "secret", ["id": "1", "count": "2"])
        log.fail("inbox", "The disk\nis full.")
        #expect(
            recorded.output == """
                {"event":"started","message":"The service runs."}
                {"event":"shown","message":"It is “shown”.","id":"1","count":"2"}
                {"ok":false,"event":"failed","error":"inbox","message":"The disk\u{FFFD}is full."}

                """
        )
        #expect(recorded.errors == "")
    }

    @MainActor @Test func `is a sentence for people, of a failure too`() throws {
        let recorded = RecordedLog()
        let log = try recorded.log()
        log.write("started", "The service runs.", content: "secret", ["id": "1"])
        log.fail("inbox", "The disk is full.")
        let lines = recorded.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && lines[2].isEmpty)
        #expect(lines[0].hasSuffix("The service runs.") && lines[1].hasSuffix("The disk is full."))
        #expect(recorded.output == "")
    }

    @MainActor @Test func `has what a tag has only with the option for it, and no more of all than fits`() throws {
        let recorded = RecordedLog()
        let log = try recorded.log("--json", "--log-content")
        log.write("read", "It is read.", content: "Open it")
        #expect(recorded.lines() == [#"{"event":"read","message":"It is read. Open it"}"#])
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        log.write("a", text(1000), content: text(400))
        log.write("a", text(1001), content: text(401))
        log.fail("b", text(1000))
        log.fail("b", text(1001))
        #expect(
            recorded.lines() == [
                #"{"event":"a","message":"\#(text(1000)) \#(text(400))"}"#,
                #"{"event":"a","message":"\#(text(999))… \#(text(399))…"}"#,
                #"{"ok":false,"event":"failed","error":"b","message":"\#(text(1000))"}"#,
                #"{"ok":false,"event":"failed","error":"b","message":"\#(text(999))…"}"#,
            ]
        )
    }
}
