// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import Testing

@testable import TagTrace  // the lines of a recording and its parser are internal

/// The file of a recording: its lines, the range of each value, and what is no recording.
struct RecordingTests {
    private static let text = (try? Transcript.text(of: "tags.jsonl")) ?? ""
    private static let fieldText = (try? Transcript.text(of: "field.jsonl")) ?? ""
    private static let head = String(text.prefix { $0 != "\n" }) + "\n"
    private static let look = #"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":[]}"#

    /// The rows of a file.
    private static func rows(of name: String) throws -> [String] {
        try Transcript.text(of: name).split(separator: "\n").map(String.init)
    }

    /// The lines of a row: a slash is the end of a line, LOOK a call, and SEND and CARD the start of one.
    private static func expand(_ row: String) -> String {
        row.replacing(" / ", with: "\n").replacing("LOOK", with: look)
            .replacing("CARD", with: #"{"tag":1,"technology":"nfc-b","atqb":"""#)
            .replacing("SEND", with: #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"00""#)
    }

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

    @Test(arguments: ["tags.jsonl", "field.jsonl"]) func `recording: parsed and written again, it has the same lines`(
        file: String
    ) throws {
        let text = try Transcript.text(of: file)
        let recording = try Recording(parsing: Array(text.utf8))
        // The reader's reports during a call are between the lines of the call.
        var (lines, open) = ([recording.header.line], "")
        for step in recording.steps {
            if !step.action.isEvent { lines.append(open) }
            lines.append(step.line)
            if !step.action.isEvent { open = step.outcomeLines }
        }
        let written = (lines + [open]).joined().split(separator: "\n").sorted()
        #expect(written == text.split(separator: "\n").sorted())
    }

    @Test func `trace of a recording: each call in words, with its outcome and time`() throws {
        let recording = try Recording(parsing: Array(Self.text.utf8))
        let notes = recording.trace.entries.compactMap { if case .note(let text) = $0.event { text } else { nil } }
        #expect(
            notes == [
                "a tag arrived or left",
                "look for nfc-a, nfc-b, nfc-f, nfc-v, system 12fc: tag 1, nfc-a 04010203040506, SAK 00; "
                    + "tag 2, nfc-b 01020304; tag 3, nfc-f 0102030405060708, system 12fc; tag 4, nfc-v e004010203040506",
                "04010203040506 is near, arrival 3", "select tag 1: done", "a tag arrived or left",
                "wake tag 1: the tag left", "is tag 2 present: no", "is 04010203040506 still near: yes",
                "release: done",
            ]
        )
        #expect(recording.readerName == "A \"reader\"" && recording.exchangeCount == 3 && !recording.isCutOff)
        #expect(recording.trace.entries.map(\.time).first == .zero)
        #expect(recording.trace.entries.map(\.time).last == .microseconds(23))
        let field = try Recording(parsing: Array(Self.fieldText.utf8))
        #expect(field.header.isField && !field.header.reportsPresence)
        let words = [
            "field on", "a tag arrived or left", "04010203040506 is near, arrival 3", "REQA", "no answer",
            "field off: \(LinkError.Code.readerUnavailable.words)",
        ]
        #expect(field.trace.lines.map(\.meaning) == words)
    }

    @Test func `recording split at any byte: the same steps; cut at any byte: its first steps, or notARecording`()
        throws
    {
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

    @Test func `recording that breaks off in a call or a line: the trace ends with a line that says so`() throws {
        let (release, presence) = (#"{"us":0,"do":"release"}"#, #"{"us":0,"do":"presence"}"#)
        let rows: [(String, [String])] = [
            (release + "\n", ["release", "the recording breaks off"]),
            (presence + "\n{", ["a tag arrived or left", "the recording breaks off"]),
            (presence + "\n", ["a tag arrived or left"]),
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

    @Test func `poll with 64 tags: read; with 65: malformed at that line; the next poll has its own tags`() throws {
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

    @Test func `line that can't be used: malformed, with the number of the line`() throws {
        let controls = ["{\"a\":\"\u{1}\"}", "{\"a\":\"\\n\u{1}\"}"]
        for line in try Self.rows(of: "malformed.txt").map(Self.expand) + controls {
            let error = Self.error { try Self.lines(line) }
            #expect(error?.code == .malformed && error?.line == line.split(separator: "\n").count + 1, "\(line)")
        }
        // Bytes that are not UTF-8, also behind an escape.
        for bytes in [[0xFF], [0xC3, 0x28], Array(#"\n"#.utf8) + [0xE2, 0x82]] as [[UInt8]] {
            let line = Array(#"{"us":0,"do":"release","note":""#.utf8) + bytes + Array("\"}\n".utf8)
            let error = Self.error { try Recording(parsing: Array(Self.head.utf8) + line) }
            #expect(error?.code == .malformed && error?.line == 2)
        }
    }

    // MARK: The range of each value

    @Test(arguments: try rows(of: "ranges.txt"))
    func `number or bytes in a line: read at the least and the greatest value, malformed beyond`(row: String) throws {
        let fields = row.split(separator: " ", maxSplits: 3).map(String.init)
        let (least, most) = (try #require(Int(fields[1])), try #require(Int(fields[2])))
        func code(_ value: String) -> RecordingError.Code? {
            Self.error { try Self.lines(Self.expand(fields[3]).replacing("#", with: value)) }?.code
        }
        func text(_ value: Int) -> String {
            fields[0] == "number" ? "\(value)" : String(repeating: "a5", count: value)
        }
        for value in [least, most] { #expect(code(text(value)) == nil, "\(value)") }
        for value in [least - 1, most + 1] where value >= 0 || fields[0] == "number" {
            #expect(code(text(value)) == .malformed, "\(value)")
        }
        for wrong in fields[0] == "number" ? ["\"1\""] : ["5", "0g", "é0"] { #expect(code(wrong) == .malformed) }
    }

    @Test func `failed call in a line: each error code is read`() throws {
        let codes: [LinkError.Code] = [
            .timeout, .tagRemoved, .transmission, .collision, .frameTooLong, .readerUnavailable, .cancelled,
            .unsupported, .protocolViolation, .inUse,
        ]
        for code in codes {
            let line = #"{"us":1,"failed":"\#(code.description)","reason":"Why."}"#
            let outcome = try Self.lines(#"{"us":0,"do":"release"}"#, line).steps[0].outcome
            #expect(outcome == .failed(LinkError(code, "")), "\(code)")
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

    @Test func `path that is no regular file: unreadable, without a wait; file of 1 TiB: tooLarge`() throws {
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
