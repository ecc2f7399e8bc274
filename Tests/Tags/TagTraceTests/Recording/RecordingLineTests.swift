// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import Testing

@testable import TagTrace

/// Checks the lines of a recording: they are written as they were read, and each value has a range.
@Suite struct `Lines of a recording` {
    private static let head = `The format of a recording`.head

    private static func recording(_ lines: String...) throws -> Recording {
        try Recording(parsing: Array((head + lines.joined(separator: "\n") + "\n").utf8))
    }

    @Test func `What was read is written as it was`() throws {
        let text = `The format of a recording`.head + `The format of a recording`.body
        let recording = try Recording(parsing: Array(text.utf8))
        // The reader's reports during a call are between the lines of the call.
        var lines = [recording.header.line]
        var open: String?
        for step in recording.steps {
            if step.action.isTold {
                lines.append(step.line)
                continue
            }
            if let end = open { lines.append(end) }
            lines.append(step.line)
            open = step.outcomeLines
        }
        lines.append(open ?? "")
        let written = lines.joined().split(separator: "\n").sorted()
        #expect(written == text.split(separator: "\n").sorted())
    }

    @Test func `A recording of a reader that sends frames is written as it was`() throws {
        let head =
            #"{"opencorenfc_recording":1,"reader":"virtual","kind":"field","technologies":["nfc-a"],"#
            + #""maximum_frame_length":64,"tells_presence":false}"# + "\n"
        let body = """
            {"us":0,"do":"field-on"}
            {"us":1,"done":true}
            {"us":1,"do":"presence"}
            {"us":1,"do":"arrival","uid":"04010203040506","number":3}
            {"n":1,"us":2,"do":"send","technology":"nfc-a","hex":"26","bits":7,"checksum":"none","timeout_us":9}
            {"n":1,"us":3,"failed":"timeout","reason":"A \\"tab\\"\\t."}
            {"us":4,"do":"field-off"}
            {"us":5,"failed":"readerUnavailable","reason":"Gone."}

            """
        let recording = try Recording(parsing: Array((head + body).utf8))
        let written = recording.header.line + recording.steps.map { $0.line + $0.outcomeLines }.joined()
        #expect(written.replacingOccurrences(of: "\\u0009", with: "\\t") == head + body)
        #expect(recording.header.isField && !recording.header.tellsPresence)
        #expect(
            recording.trace.lines.map(\.meaning) == [
                "field on", "a tag came or left", "04010203040506 is near, arrival 3", "REQA", "no answer",
                "field off: \(LinkError.Code.readerUnavailable.words)",
            ]
        )
    }

    @Test func `Each step is described in words`() throws {
        let recording = try Recording(parsing: `The format of a recording`.text)
        let notes = recording.trace.entries.compactMap { entry in
            if case .note(let text) = entry.event { text } else { nil }
        }
        #expect(
            notes == [
                "a tag came or left",
                "look for nfc-a, nfc-b, nfc-f, nfc-v, system 12fc: tag 1, nfc-a 04010203040506, SAK 00; "
                    + "tag 2, nfc-b 01020304; tag 3, nfc-f 0102030405060708, system 12fc; tag 4, nfc-v e004010203040506",
                "04010203040506 is near, arrival 3", "select tag 1: done", "a tag came or left",
                "wake tag 1: the tag left", "is tag 2 there: no", "is 04010203040506 still near: yes",
                "release: done",
            ]
        )
        let times = recording.trace.entries.map(\.time)
        #expect(times.first == .zero && times.last == .microseconds(23))
        #expect(!recording.isCutOff)
    }

    @Test func `A recording that breaks off says so`() throws {
        let open = try Self.recording(#"{"us":0,"do":"release"}"#)
        #expect(open.trace.lines.map(\.meaning) == ["release", "the recording breaks off"])
        let cut = try Recording(parsing: Array((Self.head + #"{"us":0,"do":"presence"}"# + "\n{").utf8))
        #expect(cut.isCutOff && cut.trace.lines.map(\.meaning) == ["a tag came or left", "the recording breaks off"])
        let whole = try Self.recording(#"{"us":0,"do":"presence"}"#)
        #expect(whole.trace.lines.map(\.meaning) == ["a tag came or left"])
    }

    // MARK: The range of each value

    struct Field: Sendable, CustomTestStringConvertible {
        var name: String
        var least: Int
        var most: Int
        /// The lines, with `#` in the place of the number.
        var lines: String
        var testDescription: String { name }
    }

    private static let look = #"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":[]}"#
    private static let send = #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"00","#

    private static let fields =
        [
            Field(name: "us", least: 0, most: 1 << 53, lines: #"{"us":#,"do":"release"}"#),
            Field(
                name: "us",
                least: 0,
                most: 1 << 53,
                lines: #"{"us":0,"do":"release"}\#n{"us":#,"done":true}"#
            ),
            Field(name: "number", least: 0, most: 1 << 53, lines: #"{"us":0,"do":"arrival","uid":"01","number":#}"#),
            Field(name: "bits", least: 1, most: 8, lines: send + #""bits":#,"timeout_us":1}"#),
            Field(name: "timeout_us", least: 0, most: 1 << 40, lines: send + #""timeout_us":#}"#),
            Field(
                name: "tag",
                least: 1,
                most: 1 << 31,
                lines: look + "\n" + #"{"tag":#,"technology":"nfc-a","atqa":"0044","uid":"","maximum_frame_length":1}"#
            ),
            Field(
                name: "maximum_frame_length",
                least: 1,
                most: 1 << 20,
                lines: look + "\n" + #"{"tag":1,"technology":"nfc-a","atqa":"0044","uid":"","maximum_frame_length":#}"#
            ),
        ]
        + ["maximum_command_length", "maximum_response_length", "block_command_length", "block_response_length"]
        .map { name in
            var card =
                #"{"tag":1,"technology":"nfc-b","atqb":"","maximum_command_length":9,"maximum_response_length":9,"#
                + #""block_command_length":9,"block_response_length":9}"#
            card.replace("\"\(name)\":9", with: "\"\(name)\":#")
            return Field(name: name, least: 1, most: 1 << 20, lines: look + "\n" + card)
        }

    @Test(arguments: fields) func `A number has its range`(field: Field) throws {
        func take(_ number: Int) throws {
            _ = try Self.recording(field.lines.replacingOccurrences(of: "#", with: "\(number)"))
        }
        for number in [field.least, field.least + 1, field.most] { try take(number) }
        for number in [field.least - 1, field.most + 1] {
            let error = #expect(throws: RecordingError.self) { try take(number) }
            #expect(error?.code == .malformed && error?.line == field.lines.split(separator: "\n").count + 1)
            if field.name != "tag" {
                #expect(
                    error?.reason.contains("\"\(field.name)\" has to be a number from \(field.least) to \(field.most).")
                        == true
                )
            }
        }
        // It is a number, and is there.
        #expect(throws: RecordingError.self) {
            try Self.recording(field.lines.replacingOccurrences(of: "#", with: "\"1\""))
        }
    }

    /// Hex values with the lengths that they may have, and the lines with `#` in their place.
    private static let lengths: [(name: String, counts: ClosedRange<Int>, line: String)] = {
        func tag(_ members: String) -> String { look + "\n{\"tag\":1,\(members),\"maximum_frame_length\":9}" }
        return [
            ("uid", 0...10, #"{"us":0,"do":"arrival","uid":"%","number":1}"#),
            ("uid", 0...10, #"{"us":0,"do":"is-still-near","uid":"%"}"#),
            ("atqa", 2...2, tag(#""technology":"nfc-a","atqa":"%","uid":"""#)),
            ("sak", 1...1, tag(#""technology":"nfc-a","atqa":"0044","sak":"%","uid":"""#)),
            ("uid", 0...10, tag(#""technology":"nfc-a","atqa":"0044","uid":"%""#)),
            ("atqb", 0...64, tag(#""technology":"nfc-b","atqb":"%""#)),
            ("idm", 8...8, tag(#""technology":"nfc-f","idm":"%","pmm":"0102030405060708""#)),
            ("pmm", 8...8, tag(#""technology":"nfc-f","pmm":"%","idm":"0102030405060708""#)),
            (
                "system", 2...2,
                tag(#""technology":"nfc-f","pmm":"0102030405060708","idm":"0102030405060708","system":"%""#)
            ),
            ("uid", 8...8, tag(#""technology":"nfc-v","uid":"%","dsfid":"00""#)),
            ("dsfid", 1...1, tag(#""technology":"nfc-v","uid":"0102030405060708","dsfid":"%""#)),
            (
                "ats", 0...255,
                tag(
                    #""technology":"nfc-b","atqb":"","maximum_command_length":9,"maximum_response_length":9,"#
                        + #""block_command_length":9,"block_response_length":9,"ats":"%""#
                )
            ),
        ]
    }()

    @Test(arguments: lengths.indices) func `A value of bytes has its length`(index: Int) throws {
        let (name, counts, line) = Self.lengths[index]
        func take(_ count: Int) throws {
            _ = try Self.recording(line.replacingOccurrences(of: "%", with: String(repeating: "a5", count: count)))
        }
        for count in Set([counts.lowerBound, counts.upperBound]) { try take(count) }
        for count in [counts.lowerBound - 1, counts.upperBound + 1] where count >= 0 {
            let error = #expect(throws: RecordingError.self) { try take(count) }
            #expect(error?.reason.contains("\"\(name)\" has a wrong length.") == true, "\(count)")
        }
        for digits in ["5", "0g", "é0"] {
            let error = #expect(throws: RecordingError.self) {
                try Self.recording(line.replacingOccurrences(of: "%", with: digits))
            }
            #expect(error?.reason.contains("\"\(name)\" is not hex.") == true, "\(digits)")
        }
    }

    @Test(arguments: [
        (0, ""), (1, "01"), (7, "01"), (8, "01"), (9, "0102"), (16, "0102"), (17, "010203"),
    ]) func `A collision has the bits before it`(index: Int, hex: String) throws {
        func line(_ hex: String) -> String {
            #"{"n":1,"us":1,"failed":"collision","reason":"","collision_bit":\#(index),"collision_hex":"\#(hex)"}"#
        }
        let call = Self.send + #""timeout_us":1}"#
        let recording = try Self.recording(call, line(hex))
        guard case .failed(let error) = recording.steps[0].outcome else { return #expect(Bool(false)) }
        #expect(error.collision?.bitIndex == index && error.collision?.bits.count == hex.utf8.count / 2)
        #expect(throws: RecordingError.self) { try Self.recording(call, line(hex + "00")) }
        if !hex.isEmpty {
            #expect(throws: RecordingError.self) { try Self.recording(call, line(String(hex.dropLast(2)))) }
        }
    }

    @Test(arguments: [
        LinkError.Code.timeout, .tagRemoved, .transmission, .collision, .frameTooLong, .readerUnavailable, .cancelled,
        .unsupported, .protocolViolation, .inUse,
    ]) func `Each kind of failure is kept`(code: LinkError.Code) throws {
        let recording = try Self.recording(
            #"{"us":0,"do":"release"}"#,
            #"{"us":1,"failed":"\#(code.description)","reason":"Why."}"#
        )
        guard case .failed(let error) = recording.steps[0].outcome else { return #expect(Bool(false)) }
        #expect(error.code == code && error.reason == "Why.")
    }

    private static let badLines: [(String, String)] = [
        (#"{"us":0,"do":"dance"}"#, "\"do\" names no call."),
        (
            #"{"us":0,"do":"discover","technologies":["nfc-x"],"systems":[]}"#,
            "\"technologies\" takes nfc-a, nfc-b, nfc-f and nfc-v."
        ),
        (#"{"us":0,"do":"discover","systems":[]}"#, "\"technologies\" is missing."),
        (#"{"us":0,"do":"discover","technologies":[],"systems":["12f"]}"#, "\"systems\" takes four hex digits each."),
        (#"{"us":0,"do":"discover","technologies":[],"systems":["12fcc"]}"#, "\"systems\" takes four hex digits each."),
        (#"{"us":0,"do":"select","tag":1}"#, "\"tag\" names no tag that was found."),
        (
            #"{"n":1,"us":0,"do":"send","technology":"nfc-c","hex":"00","timeout_us":1}"#,
            "\"technology\" has to be nfc-a, nfc-b, nfc-f or nfc-v."
        ),
        (
            #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"00","checksum":"crc-a","timeout_us":1}"#,
            "\"checksum\" has to be crc-b or none."
        ),
        (#"{"n":2,"us":0,"do":"send","hex":"00"}"#, "The number of the exchange has to be 1."),
        (#"{"us":0,"done":true}"#, "It is the outcome of no call."),
        (#"{"tag":1,"technology":"nfc-v"}"#, "A tag is found by no look."),
        (#"{"us":0,"do":"release"}\#n{"us":0,"done":false}"#, "\"done\" or \"failed\" is missing."),
        (#"{"us":0,"do":"release"}\#n{"us":0,"failed":"luck"}"#, "\"failed\" names no kind of failure."),
        (#"{"us":0,"do":"release"}\#n{"us":0,"do":"release"}"#, "The call before it has no outcome."),
        (#"{"us":0,"do":"is-still-near","uid":"01"}\#n{"us":0,"done":true}"#, "\"present\" is missing."),
        ("\(look)\n{\"us\":0,\"found\":1}", "\"found\" has to count the tags."),
        (
            look + "\n" + #"{"tag":1,"technology":"nfc-b","atqb":"","maximum_frame_length":1}"# + "\n"
                + #"{"tag":1,"technology":"nfc-b","atqb":"","maximum_frame_length":1}"#, "There is a tag 1 already."
        ),
        (#"{"n":1,"us":0,"do":"send"}"#, "\"hex\" is missing, or is not hex."),
    ]

    @Test(arguments: badLines.indices) func `An invalid line gives a reason`(index: Int) {
        let (lines, reason) = Self.badLines[index]
        let error = #expect(throws: RecordingError.self) { try Self.recording(lines) }
        let line = lines.split(separator: "\n").count + 1
        #expect(error?.code == .malformed && error?.line == line)
        #expect(error?.reason == "Line \(line) can't be used: \(reason) Record the flow again, or fix the line.")
    }

    // MARK: JSON

    private static func name(_ json: String) throws -> String {
        let line = #"{"opencorenfc_recording":1,"reader":\#(json),"kind":"field","technologies":[],"#
        let rest = #""maximum_frame_length":1,"tells_presence":true}"# + "\n"
        return try Recording(parsing: Array((line + rest).utf8)).readerName
    }

    @Test(arguments: [
        #""""#, #""a b""#, #""é日🎈""#, #""\"\\\/""#, #""\n\r\t""#, #""\u0041\u00e9\u65E5""#, #""a\"b""#, #""é\n""#,
        #""\\""#, #""\\\\n""#, #""\b\f\ud83c\udf88""#, "  \"a\"\t",
    ]) func `A string is what it is in any JSON`(json: String) throws {
        let expected = try JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8))
        #expect(try [Self.name(json)] == expected)
    }

    @Test(arguments: [
        #""\x41""#, #""\u00""#, #""\u00g0""#, #""\ud800""#, #""a"#, #"""""#, "\"a\tb\"", "\"\\", "1", "null",
    ]) func `What is no string is refused`(json: String) {
        let error = #expect(throws: RecordingError.self) {
            let name = try Self.name(json)
            // A value of another kind can't be a name.
            if name.isEmpty { throw RecordingError(.notARecording, "") }
        }
        #expect(error?.code == .notARecording)
    }

    @Test func `Bytes that are not UTF-8 are refused, also behind an escape`() {
        for bytes in [[0xFF], [0xC3, 0x28], Array(#"\n"#.utf8) + [0xE2, 0x82]] as [[UInt8]] {
            let line = Array(#"{"us":0,"do":"release","note":""#.utf8) + bytes + Array("\"}\n".utf8)
            let error = #expect(throws: RecordingError.self) { try Recording(parsing: Array(Self.head.utf8) + line) }
            #expect(error?.reason.contains("the text is not UTF-8.") == true)
        }
    }

    private static let badJSON: [(String, String)] = [
        (#"["us"]"#, "A line has to be a JSON object."), (#"{"us" 0}"#, invalid(7, "a colon is missing after the key")),
        (#"{"us":}"#, invalid(7, "no JSON value starts here")), (#"{"us":"#, invalid(7, "the JSON ends too early")),
        (#"{"us":0"#, invalid(8, "the JSON ends too early")),
        (#"{"us":0} x"#, invalid(10, "something follows the end of the JSON")),
        (#"{"us":0,"us":0}"#, "\"us\" is there twice."),
        (#"{us:0}"#, invalid(2, "a key has to stand here, in quotes")),
        (#"{"us":tru}"#, invalid(7, "no JSON value starts here")),
        (#"{"us":falsx}"#, invalid(7, "no JSON value starts here")),
        (#"{"us":1-1}"#, invalid(8, "a comma or } is missing")), (#"{"us":1.5}"#, wrongKind("us")),
        (#"{"us":null}"#, wrongKind("us")), (#"{"a":{}}"#, wrongKind("a")), (#"{"a":[1]}"#, wrongKind("a")),
        (#"{"a":[["b"]]}"#, invalid(7, "the values are nested too deeply")),
        (#"{"a":["b" "c"]}"#, invalid(11, "a comma or ] is missing")),
        (#"{"a":["b",]}"#, invalid(11, "no JSON value starts here")),
        (#"{"a":"b"#, invalid(8, "a text does not end")), (#"{"a":"\"#, invalid(8, "a text does not end")),
        (#"{"a":"\q"}"#, invalid(7, "JSON has no such escape")),
        (#"{"a":"b\u0"}"#, invalid(10, "JSON has no such escape")),
        ("{\"a\":\"\u{1}\"}", invalid(7, "a text has a control character")),
        ("{\"a\":\"\\n\u{1}\"}", invalid(9, "a text has a control character")),
        (#"{"us":0,}"#, invalid(9, "a key has to stand here, in quotes")),
    ]

    private static func invalid(_ character: Int, _ reason: String) -> String {
        "It is not valid JSON at character \(character): \(reason)."
    }

    private static func wrongKind(_ key: String) -> String { "\"\(key)\" has a value of a wrong kind." }

    @Test(arguments: badJSON.indices) func `What is no JSON says what is missing`(index: Int) {
        let (line, reason) = Self.badJSON[index]
        let error = #expect(throws: RecordingError.self) { try Self.recording(line) }
        #expect(error?.reason == "Line 2 can't be used: \(reason) Record the flow again, or fix the line.")
    }

    @Test func `Space and empty lists may be anywhere in a line`() throws {
        let line =
            "\t{ \"us\" : 7 ,\r \"do\" : \"discover\" , \"technologies\" : [ ] , \"systems\" : [ \"12fc\" , \"ffff\" ] } "
        let recording = try Self.recording(line, #"{"us":9,"found":0}"#)
        #expect(recording.steps[0].action == .discover([], systemCodes: [0x12FC, 0xFFFF]))
        #expect(recording.steps[0].time == .microseconds(7) && recording.steps[0].endTime == .microseconds(9))
        #expect(recording.steps[0].outcome == .tags([]))
    }
}
