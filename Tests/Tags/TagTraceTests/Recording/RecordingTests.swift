// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import Testing

@testable import TagTrace  // the lines of a recording and its parser are internal

/// The file of a recording: its lines, the range of each value, and what is no recording.
struct RecordingTests {
    static let head = """
        {"opencorenfc_recording":1,"reader":"A \\"reader\\"","kind":"discovering",\
        "technologies":["nfc-a","nfc-f"],"maximum_frame_length":256,"tells_presence":true}

        """

    /// One of each thing that a recording of a reader that finds tags may hold.
    static let text =
        head + """
            {"us":0,"do":"presence"}
            {"us":5,"do":"discover","technologies":["nfc-a","nfc-b","nfc-f","nfc-v"],"systems":["12fc"]}
            {"tag":1,"technology":"nfc-a","atqa":"0044","sak":"00","uid":"04010203040506","maximum_frame_length":264}
            {"tag":2,"technology":"nfc-b","atqb":"500102030400000000008081","maximum_command_length":261,\
            "maximum_response_length":258,"block_command_length":253,"block_response_length":253,"ats":"0578807002"}
            {"tag":3,"technology":"nfc-f","idm":"0102030405060708","pmm":"0102030405060708","system":"12fc",\
            "maximum_frame_length":264}
            {"tag":4,"technology":"nfc-v","uid":"e004010203040506","dsfid":"00","maximum_frame_length":264,\
            "counts_air":false}
            {"us":9,"found":4}
            {"us":9,"do":"arrival","uid":"04010203040506","number":3}
            {"us":10,"do":"select","tag":1}
            {"us":11,"done":true}
            {"n":1,"us":12,"do":"send","tag":1,"technology":"nfc-a","hex":"3004","timeout_us":5000}
            {"us":13,"do":"presence"}
            {"n":1,"us":14,"got":"00","bits":4,"checksum":"none"}
            {"n":2,"us":15,"do":"send","tag":1,"technology":"nfc-a","hex":"78000000000000","checksum":"crc-b","timeout_us":1}
            {"n":2,"us":16,"failed":"collision","reason":"Two.","collision_bit":3,"collision_hex":"05"}
            {"us":17,"do":"wake","tag":1}
            {"us":18,"failed":"tagRemoved","reason":""}
            {"n":3,"us":19,"do":"send","tag":2,"hex":"00a40000"}
            {"n":3,"us":20,"got":"9000"}
            {"us":21,"do":"is-present","tag":2}
            {"us":22,"present":false}
            {"us":22,"do":"is-still-near","uid":"04010203040506"}
            {"us":23,"present":true}
            {"us":23,"do":"release"}
            {"us":24,"done":true}

            """

    private static let fieldText = """
        {"opencorenfc_recording":1,"reader":"virtual","kind":"field","technologies":["nfc-a"],\
        "maximum_frame_length":64,"tells_presence":false}
        {"us":0,"do":"field-on"}
        {"us":1,"done":true}
        {"us":1,"do":"presence"}
        {"us":1,"do":"arrival","uid":"04010203040506","number":3}
        {"n":1,"us":2,"do":"send","technology":"nfc-a","hex":"26","bits":7,"checksum":"none","timeout_us":9}
        {"n":1,"us":3,"failed":"timeout","reason":"A \\"tab\\"\\u0009."}
        {"us":4,"do":"field-off"}
        {"us":5,"failed":"readerUnavailable","reason":"Gone."}

        """

    /// A recording of these lines, read in pieces of some size.
    private static func recording(_ text: String, pieces size: Int = .max) throws -> Recording {
        var (parser, rest) = (RecordingParser(), Array(text.utf8)[...])
        while !rest.isEmpty {
            try parser.take(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return try parser.finish()
    }

    private static func lines(_ lines: String...) throws -> Recording {
        try recording(head + lines.joined(separator: "\n") + "\n")
    }

    private static func error(_ work: () throws -> Recording) -> RecordingError? {
        do {
            _ = try work()
            return nil
        } catch { return error as? RecordingError }
    }

    // MARK: Whole, in pieces, cut, changed

    @Test(arguments: [text, fieldText]) func `recording: written as it was read`(text: String) throws {
        let recording = try Recording(parsing: Array(text.utf8))
        // The reader's reports during a call are between the lines of the call.
        var (lines, open) = ([recording.header.line], "")
        for step in recording.steps {
            if !step.action.isTold { lines.append(open) }
            lines.append(step.line)
            if !step.action.isTold { open = step.outcomeLines }
        }
        let written = (lines + [open]).joined().split(separator: "\n").sorted()
        #expect(written == text.split(separator: "\n").sorted())
    }

    @Test func `recording in words: each call with its outcome and its time`() throws {
        let recording = try Recording(parsing: Array(Self.text.utf8))
        let notes = recording.trace.entries.compactMap { if case .note(let text) = $0.event { text } else { nil } }
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
        #expect(recording.readerName == "A \"reader\"" && recording.exchangeCount == 3 && !recording.isCutOff)
        #expect(recording.trace.entries.map(\.time).first == .zero)
        #expect(recording.trace.entries.map(\.time).last == .microseconds(23))
        let field = try Recording(parsing: Array(Self.fieldText.utf8))
        #expect(field.header.isField && !field.header.tellsPresence)
        let words = [
            "field on", "a tag came or left", "04010203040506 is near, arrival 3", "REQA", "no answer",
            "field off: \(LinkError.Code.readerUnavailable.words)",
        ]
        #expect(field.trace.lines.map(\.meaning) == words)
    }

    @Test func `recording split at any byte: the same; cut at any byte: its beginning, or no recording`() throws {
        let whole = try Self.recording(Self.text)
        for size in Array(1...9) + [64, 1000] {
            #expect(try Self.recording(Self.text, pieces: size) == whole, "\(size)")
            // A line that is cut off is none, also where it began in an earlier piece.
            let cut = try Self.recording(Self.text + #"{"us":25,"do":"rel"#, pieces: size)
            #expect(cut.isCutOff && cut.steps == whole.steps, "\(size)")
            let fault = Self.error { try Self.recording(Self.text + "{\n", pieces: size) }
            #expect(fault?.code == .malformed && fault?.line == Self.text.split(separator: "\n").count + 1, "\(size)")
        }
        let bytes = Array(Self.text.utf8)
        for length in bytes.indices {
            do throws(RecordingError) {
                let part = try Recording(parsing: bytes[..<length])
                #expect(part.exchangeCount <= whole.exchangeCount && part.steps.count <= whole.steps.count)
            } catch { #expect(error.code == .notARecording && length <= Self.head.utf8.count) }
        }
        for index in stride(from: 0, to: bytes.count, by: 17) {
            for byte in [UInt8(0), 0x22, 0x39, 0x7D] {
                var changed = bytes
                changed[index] = byte
                _ = try? Recording(parsing: changed)
            }
        }
    }

    @Test func `recording that breaks off in a call or a line: its trace ends with that`() throws {
        let (release, presence) = (#"{"us":0,"do":"release"}"#, #"{"us":0,"do":"presence"}"#)
        let rows: [(String, [String])] = [
            (release + "\n", ["release", "the recording breaks off"]),
            (presence + "\n{", ["a tag came or left", "the recording breaks off"]),
            (presence + "\n", ["a tag came or left"]),
        ]
        for (text, meanings) in rows {
            #expect(try Self.recording(Self.head + text).trace.lines.map(\.meaning) == meanings, "\(text)")
        }
    }

    // MARK: What is refused

    @Test func `file that is no recording, or of another version: refused at its first line`() {
        let foreign = [
            "", "hello", "hello\n", "{}\n", "[[[[[[[[\n", "\u{0}\u{0}\n",
            "{\"opencorenfc_recording\":1,\"kind\":\"other\"}\n",
        ]
        for text in foreign + [String(repeating: " ", count: 300 << 10)] {
            let error = Self.error { try Self.recording(text) }
            #expect(error?.code == .notARecording && error?.line == 1, "\(text.prefix(40))")
        }
        #expect(Self.error { try Self.recording("{\"opencorenfc_recording\":2}\n") }?.code == .unknownVersion)
    }

    @Test(arguments: [Int.max, 50_000]) func `line of 256 KiB: read; one byte more: tooLarge`(size: Int) throws {
        let call = #"{"us":0,"do":"release"}"#
        for (excess, end) in [(0, "\n"), (0, ""), (1, "\n"), (1, "")] {
            let space = String(repeating: " ", count: Recording.maximumLineLength + excess - call.utf8.count)
            let text = Self.head + call + space + end
            if excess == 0 {
                let recording = try Self.recording(text, pieces: size)
                #expect(recording.steps.count == (end.isEmpty ? 0 : 1) && recording.isCutOff == end.isEmpty)
            } else {
                let error = Self.error { try Self.recording(text, pieces: size) }
                #expect(error?.code == .tooLarge && error?.line == 2)
            }
        }
    }

    @Test func `look with 64 tags: read; with 65: malformed at that line; the next look has its own tags`() throws {
        func look(_ tags: Range<Int>) -> String {
            let found = tags.map { #"{"tag":\#($0),"technology":"nfc-b","atqb":"","maximum_frame_length":1}"# }
            let lines = [Self.look.replacing("nfc-a", with: "nfc-b")] + found + [#"{"us":0,"found":\#(tags.count)}"#]
            return lines.joined(separator: "\n") + "\n"
        }
        let recording = try Self.recording(Self.head + look(1..<65) + look(65..<66) + look(66..<66))
        let found = recording.steps.map { step -> [Int] in
            if case .tags(let tags)? = step.outcome { tags.map(\.number) } else { [0] }
        }
        #expect(found == [Array(1..<65), [65], []])
        let error = Self.error { try Self.recording(Self.head + look(1..<66)) }
        #expect(error?.code == .malformed && error?.line == 67)
    }

    private static let look = #"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":[]}"#
    private static let send = #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"00","#

    @Test func `line that can't be used: malformed, with the number of the line`() {
        let tag = #"{"tag":1,"technology":"nfc-b","atqb":"","maximum_frame_length":1}"#
        let release = #"{"us":0,"do":"release"}"#
        let lines = [
            // Calls.
            "{}", #"{"us":0,"do":"dance"}"#, #"{"us":0,"do":"discover","technologies":["nfc-x"],"systems":[]}"#,
            #"{"us":0,"do":"discover","systems":[]}"#, #"{"us":0,"do":"discover","technologies":[],"systems":["12f"]}"#,
            #"{"us":0,"do":"discover","technologies":[],"systems":["12fcc"]}"#, #"{"us":0,"do":"select","tag":1}"#,
            #"{"n":1,"us":0,"do":"send","technology":"nfc-c","hex":"00","timeout_us":1}"#,
            #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"00","checksum":"crc-a","timeout_us":1}"#,
            #"{"n":2,"us":0,"do":"send","hex":"00"}"#, #"{"n":1,"us":0,"do":"send"}"#,
            #"{"n":1,"us":0,"do":"send","hex":"0"}"#, #"{"us":99999999999999999999,"do":"release"}"#,
            // Outcomes.
            #"{"us":0,"done":true}"#, #"{"tag":1,"technology":"nfc-v"}"#, release + "\n" + #"{"us":0,"done":false}"#,
            release + "\n" + #"{"us":0,"failed":"luck"}"#, release + "\n" + release,
            Self.look + "\n{\"us\":0,\"found\":1}",
            #"{"us":0,"do":"is-still-near","uid":"01"}\#n{"us":0,"done":true}"#, Self.look + "\n" + tag + "\n" + tag,
            // JSON.
            "{", #"["us"]"#, #"{"us" 0}"#, #"{"us":}"#, #"{"us":"#, #"{"us":0"#, #"{"us":0} x"#, #"{"us":0,"us":0}"#,
            #"{us:0}"#, #"{"us":tru}"#, #"{"us":falsx}"#, #"{"us":1-1}"#, #"{"us":1.5}"#, #"{"us":null}"#, #"{"a":{}}"#,
            #"{"a":[1]}"#, #"{"a":[["b"]]}"#, #"{"a":["b" "c"]}"#, #"{"a":["b",]}"#, #"{"a":"b"#, #"{"a":"\"#,
            #"{"a":"\q"}"#, #"{"a":"b\u0"}"#, "{\"a\":\"\u{1}\"}", "{\"a\":\"\\n\u{1}\"}", #"{"us":0,}"#,
        ]
        for line in lines {
            let error = Self.error { try Self.lines(line) }
            #expect(error?.code == .malformed && error?.line == line.split(separator: "\n").count + 1, "\(line)")
        }
        // Bytes that are not UTF-8, also behind an escape.
        for bytes in [[0xFF], [0xC3, 0x28], Array(#"\n"#.utf8) + [0xE2, 0x82]] as [[UInt8]] {
            let line = Array(#"{"us":0,"do":"release","note":""#.utf8) + bytes + Array("\"}\n".utf8)
            let error = Self.error { try Recording(parsing: Array(Self.head.utf8) + line) }
            #expect(error?.code == .malformed && error?.line == 2)
        }
        // The sentence for a person, once.
        let reason = "Line 2 can't be used: \"do\" names no call. Record the flow again, or fix the line."
        #expect(Self.error { try Self.lines(#"{"us":0,"do":"dance"}"#) }?.reason == reason)
    }

    // MARK: The range of each value

    private static let nfcB =
        #"{"tag":1,"technology":"nfc-b","atqb":"","maximum_command_length":9,"#
        + #""maximum_response_length":9,"block_command_length":9,"block_response_length":9}"#

    /// Numbers with their ranges, and the lines with `#` in the place of the number.
    private static let numbers: [(least: Int, most: Int, lines: String)] = {
        let tag = look + "\n" + #"{"tag":1,"technology":"nfc-a","atqa":"0044","uid":"","maximum_frame_length":1}"#
        var rows: [(Int, Int, String)] = [
            (0, 1 << 53, #"{"us":#,"do":"release"}"#),
            (0, 1 << 53, #"{"us":0,"do":"release"}\#n{"us":#,"done":true}"#),
            (0, 1 << 53, #"{"us":0,"do":"arrival","uid":"01","number":#}"#),
            (1, 8, send + #""bits":#,"timeout_us":1}"#), (0, 1 << 40, send + #""timeout_us":#}"#),
            (1, 1 << 31, tag.replacing("\"tag\":1", with: "\"tag\":#")),
            (1, 1 << 20, tag.replacing("length\":1", with: "length\":#")),
        ]
        for name in ["maximum_command", "maximum_response", "block_command", "block_response"] {
            let card = nfcB.replacing("\"\(name)_length\":9", with: "\"\(name)_length\":#")
            rows.append((1, 1 << 20, look + "\n" + card))
        }
        return rows
    }()

    @Test(arguments: numbers.indices) func `number in a line: its least and most value, and nothing beyond`(index: Int)
    {
        let (least, most, lines) = Self.numbers[index]
        func code(_ value: String) -> RecordingError.Code? {
            Self.error { try Self.lines(lines.replacing("#", with: value)) }?.code
        }
        for number in [least, least + 1, most] { #expect(code("\(number)") == nil, "\(number)") }
        for number in [least - 1, most + 1] { #expect(code("\(number)") == .malformed, "\(number)") }
        #expect(code("\"1\"") == .malformed)
    }

    /// Bytes with the counts that they may have, and the lines with `%` in their place.
    private static let hexes: [(counts: ClosedRange<Int>, line: String)] = {
        func tag(_ members: String) -> String { look + "\n{\"tag\":1,\(members),\"maximum_frame_length\":9}" }
        let identifiers = #""pmm":"0102030405060708","idm":"0102030405060708""#
        return [
            (0...10, #"{"us":0,"do":"arrival","uid":"%","number":1}"#),
            (0...10, #"{"us":0,"do":"is-still-near","uid":"%"}"#),
            (2...2, tag(#""technology":"nfc-a","atqa":"%","uid":"""#)),
            (1...1, tag(#""technology":"nfc-a","atqa":"0044","sak":"%","uid":"""#)),
            (0...10, tag(#""technology":"nfc-a","atqa":"0044","uid":"%""#)),
            (0...64, tag(#""technology":"nfc-b","atqb":"%""#)),
            (8...8, tag(#""technology":"nfc-f","idm":"%","pmm":"0102030405060708""#)),
            (8...8, tag(#""technology":"nfc-f","pmm":"%","idm":"0102030405060708""#)),
            (2...2, tag(#""technology":"nfc-f",\#(identifiers),"system":"%""#)),
            (8...8, tag(#""technology":"nfc-v","uid":"%","dsfid":"00""#)),
            (1...1, tag(#""technology":"nfc-v","uid":"0102030405060708","dsfid":"%""#)),
            (0...255, look + "\n" + nfcB.dropLast() + #","ats":"%"}"#),
        ]
    }()

    @Test(arguments: hexes.indices) func `bytes in a line: their least and most count, in hex`(index: Int) {
        let (counts, line) = Self.hexes[index]
        func code(_ value: String) -> RecordingError.Code? {
            Self.error { try Self.lines(line.replacing("%", with: value)) }?.code
        }
        func hex(_ count: Int) -> String { String(repeating: "a5", count: count) }
        for count in [counts.lowerBound, counts.upperBound] { #expect(code(hex(count)) == nil, "\(count)") }
        for count in [counts.lowerBound - 1, counts.upperBound + 1] where count >= 0 {
            #expect(code(hex(count)) == .malformed, "\(count)")
        }
        for digits in ["5", "0g", "é0"] { #expect(code(digits) == .malformed, "\(digits)") }
    }

    @Test func `failure in a line: each code, and the bits before a collision`() throws {
        let codes: [LinkError.Code] = [
            .timeout, .tagRemoved, .transmission, .collision, .frameTooLong, .readerUnavailable, .cancelled,
            .unsupported, .protocolViolation, .inUse,
        ]
        for code in codes {
            let line = #"{"us":1,"failed":"\#(code.description)","reason":"Why."}"#
            let outcome = try Self.lines(#"{"us":0,"do":"release"}"#, line).steps[0].outcome
            #expect(outcome == .failed(LinkError(code, "")), "\(code)")
        }
        let call = Self.send + #""timeout_us":1}"#
        for (index, count) in [(0, 0), (1, 1), (7, 1), (8, 1), (9, 2), (16, 2), (17, 3)] {
            func line(_ count: Int) -> String {
                let hex = String(repeating: "01", count: count)
                return
                    #"{"n":1,"us":1,"failed":"collision","reason":"","collision_bit":\#(index),"collision_hex":"\#(hex)"}"#
            }
            guard case .failed(let error) = try Self.lines(call, line(count)).steps[0].outcome else { continue }
            #expect(error.collision?.bitIndex == index && error.collision?.bits.count == count)
            #expect(Self.error { try Self.lines(call, line(count + 1)) }?.code == .malformed)
            if count > 0 { #expect(Self.error { try Self.lines(call, line(count - 1)) }?.code == .malformed) }
        }
    }

    @Test func `strings and spaces in a line: as in any JSON`() throws {
        func name(_ json: String) throws -> String {
            let line = #"{"opencorenfc_recording":1,"reader":\#(json),"kind":"field","technologies":[],"#
            return try Self.recording(line + #""maximum_frame_length":1,"tells_presence":true}"# + "\n").readerName
        }
        let good = [
            #""""#, #""a b""#, #""é日🎈""#, #""\"\\\/""#, #""\n\r\t""#, #""\u0041\u00e9\u65E5""#, #""a\"b""#, #""é\n""#,
            #""\\""#, #""\\\\n""#, #""\b\f\ud83c\udf88""#, "  \"a\"\t",
        ]
        for json in good {
            let expected = try JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8))
            #expect(try [name(json)] == expected, "\(json)")
        }
        let bad = [
            #""\x41""#, #""\u00""#, #""\u00g0""#, #""\ud800""#, #""a"#, #"""""#, "\"a\tb\"", "\"\\", "1", "null",
        ]
        for json in bad { #expect((try? name(json)).map(\.isEmpty) != false, "\(json)") }
        let spaced =
            "\t{ \"us\" : 7 ,\r \"do\" : \"discover\" , \"technologies\" : [ ] , \"systems\" : [ \"12fc\" , \"ffff\" ] } "
        let step = try Self.lines(spaced, #"{"us":9,"found":0}"#).steps[0]
        #expect(step.action == .discover([], systemCodes: [0x12FC, 0xFFFF]) && step.outcome == .tags([]))
        #expect(step.time == .microseconds(7) && step.endTime == .microseconds(9))
    }

    // MARK: The file

    @Test func `path that is no file, or a large one: refused at once`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ocn-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        // Zeros that take no room on the disk.
        for (size, code) in [(60 << 20, RecordingError.Code.notARecording), (1 << 40, .tooLarge)] {
            #expect(unsafe truncate(path, size) == 0)
            #expect(Self.error { try Recording(path: path) }?.code == code, "\(size)")
        }
        // An app that starts waits for nobody.
        try #require(unsafe mkfifo(path + "-pipe", 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path + "-pipe") }
        for path in [path + "-pipe", "/dev/zero", "/", "/nonexistent"] {
            #expect(Self.error { try Recording(path: path) }?.code == .unreadable, "\(path)")
        }
    }
}
