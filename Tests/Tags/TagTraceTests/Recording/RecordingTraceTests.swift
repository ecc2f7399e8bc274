// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// Checks how a recording is shown of a reader that finds, selects and wakes tags by itself: no frame of that is in it.
@Suite struct `The trace of a reader that wakes tags by itself` {
    private static let head =
        #"{"opencorenfc_recording":1,"reader":"R","kind":"discovering","technologies":["nfc-a","nfc-b"],"#
        + #""maximum_frame_length":256,"tells_presence":false}"#

    /// A step whose outcome is not of interest.
    private static func step(_ call: String, _ outcome: String = #""done":true"#) -> [String] {
        [#"{"us":0,"do":\#(call)}"#, #"{"us":0,\#(outcome)}"#]
    }

    private static func send(_ number: Int, _ hex: String, _ answer: String, tag: Int = 1) -> [String] {
        [
            #"{"n":\#(number),"us":0,"do":"send","tag":\#(tag),"technology":"nfc-a","hex":"\#(hex)","timeout_us":1}"#,
            #"{"n":\#(number),"us":0,"got":"\#(answer)"}"#,
        ]
    }

    /// A look that finds two tags, which have numbers of their own.
    private static func look(_ first: Int = 1) -> [String] {
        let tags = [first, first + 1].map { number in
            #"{"tag":\#(number),"technology":"nfc-a","atqa":"0044","sak":"20","uid":"0\#(number)","maximum_frame_length":64}"#
        }
        return [#"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":[]}"#] + tags + [#"{"us":0,"found":2}"#]
    }

    /// The lines about exchanges.
    private static func lines(_ steps: [[String]]) throws -> [TraceLine] {
        let text = ([head] + steps.joined()).joined(separator: "\n") + "\n"
        let recording = try Recording(parsing: Array(text.utf8))
        return recording.trace.lines.filter { $0.number != nil }
    }

    /// What the reader does by itself.
    ///
    /// - Parameter first: the number of the next tag, if it looks for tags.
    private static func work(_ how: String, _ first: Int = 3) -> [String] {
        switch how {
        case "wake": step(#""wake","tag":1"#)
        case "select": step(#""select","tag":2"#)
        default: look(first)
        }
    }

    @Test(arguments: ["wake", "select", "discover"])
    func `A card that is woken, selected or found begins anew, also in the middle of a chain`(how: String) throws {
        let lines = try Self.lines([
            Self.look(), Self.send(1, "e080", "0578807002"), Self.send(2, "0200a4040000", "029000"),
            // The first block of a chain, and the first of an answer.
            Self.send(3, "1300d600000401", "a3"), Self.work(how), Self.send(4, "e080", "0578807002"),
            Self.send(5, "0200b0000002", "12010203"), Self.work(how, 5), Self.send(6, "e080", "0578807002"),
            Self.send(7, "0200b0000002", "02049000"),
        ])
        #expect(
            lines.map(\.meaning) == [
                "RATS: begin ISO-DEP, CID 0", "ATS", "SELECT application", "9000 done",
                "UPDATE BINARY 0000+04, goes on", "R(ACK): go on", "RATS: begin ISO-DEP, CID 0", "ATS",
                "READ BINARY 0000+02", "3 bytes, goes on", "RATS: begin ISO-DEP, CID 0", "ATS",
                "READ BINARY 0000+02", "1 byte, 9000 done",
            ]
        )
    }

    @Test func `A tag without ISO-DEP that follows a card is understood`() throws {
        let pages = String(repeating: "00", count: 16)
        let lines = try Self.lines([
            Self.look(), Self.send(1, "e080", "0578807002"), Self.work("select"), Self.send(2, "3004", pages, tag: 2),
        ])
        #expect(lines.map(\.meaning) == ["RATS: begin ISO-DEP, CID 0", "ATS", "READ 04", "16 bytes of memory"])
    }

    @Test func `A tag's password pages are its own: they stay when it is woken, and go with another tag`() throws {
        let version = Self.send(1, "60", "0004040201000f03")
        let write = Self.send(2, "a22b01020304", "00")
        for how in ["wake", "select", "discover"] {
            let lines = try Self.lines([Self.look(), version, Self.work(how), write])
            let request = try #require(lines.first { $0.number == 2 })
            #expect(request.concealed == (how == "wake" ? [2..<6] : []), "\(how)")
        }
    }
}
