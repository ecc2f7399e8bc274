// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagTrace
import Testing

@Suite struct `The format of a recording` {
    static let head = """
        {"opencorenfc_recording":1,"reader":"A \\"reader\\"","kind":"discovering",\
        "technologies":["nfc-a","nfc-f"],"maximum_frame_length":256,"tells_presence":true}

        """

    /// One of each thing that a recording may hold.
    static let body = """
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

    static let text = Array((head + body).utf8)

    @Test func `It is read, and says what went on`() throws {
        let recording = try Recording(parsing: Self.text)
        #expect(recording.readerName == "A \"reader\"")
        #expect(recording.exchangeCount == 3)
        let meanings = recording.trace.lines.map(\.meaning)
        #expect(meanings.first == "a tag came or left")
        #expect(meanings.contains("04010203040506 is near, arrival 3"))
        #expect(meanings.contains("READ 04"))
        #expect(meanings.contains("NAK 0: not allowed, or no such place"))
        #expect(meanings.contains("no answer: several tags at once"))
        #expect(meanings.last == "release: done")
    }

    @Test func `In pieces it is the same, and cut off anywhere it is its beginning or none`() throws {
        let whole = try Recording(parsing: Self.text)
        for length in 0..<Self.text.count {
            do throws(RecordingError) {
                let part = try Recording(parsing: Self.text[..<length])
                #expect(part.exchangeCount <= whole.exchangeCount)
                #expect(part.trace.entries.count <= whole.trace.entries.count + 1)
            } catch {
                // A file that ends within its first line is not a recording.
                #expect(error.code == .notARecording)
                #expect(length <= Self.head.utf8.count)
            }
        }
    }

    private static let release = #"{"us":0,"do":"release"}"# + "\n"

    static let foreign: [String] = [
        "", "hello", "hello\n", "{}\n", "[[[[[[[[\n", "\u{0}\u{0}\n",
        #"{"opencorenfc_recording":1,"kind":"other"}"# + "\n",
    ]

    static let badLines: [String] = [
        "{", "{}", #"{"us":0,"do":"dance"}"#, #"{"us":0,"done":true}"#, #"{"us":-1,"do":"release"}"#,
        #"{"us":0,"do":"select","tag":7}"#, #"{"n":2,"us":0,"do":"send","hex":"00"}"#,
        #"{"us":99999999999999999999,"do":"release"}"#, #"{"n":1,"us":0,"do":"send","hex":"0"}"#,
        #"{"n":1,"us":0,"do":"send","technology":"nfc-a","hex":"00","bits":9,"timeout_us":1}"#,
        release + #"{"us":0,"do":"release"}"#,
    ]

    /// Checks that a text is refused, and returns where and why.
    @discardableResult
    private func check(_ text: String, is code: RecordingError.Code) -> (line: Int?, reason: String) {
        let error = #expect(throws: RecordingError.self) { try Recording(parsing: Array(text.utf8)) }
        #expect(error?.code == code)
        let reason = error?.reason ?? ""
        #expect(reason.hasSuffix(".") || reason.hasSuffix("FILE"))
        return (error?.line, reason)
    }

    @Test(arguments: foreign) func `An invalid file is refused with how to make a recording`(text: String) {
        let (line, reason) = check(text, is: .notARecording)
        let kind = text.isEmpty ? "empty" : "no recording"
        #expect(line == 1 && reason == "The file is \(kind). Record a flow with: nfc scan --record FILE")
    }

    @Test(arguments: badLines) func `An invalid line is named`(line: String) {
        check(Self.head + line + "\n", is: .malformed)
    }

    @Test func `Another version and lines without end are refused`() {
        let other = check(#"{"opencorenfc_recording":2}"# + "\n", is: .unknownVersion)
        let reason = "The recording has version 2 of the format, and version 1 is known here."
        #expect(other.line == 1 && other.reason.hasPrefix(reason))
        let space = String(repeating: " ", count: 300 << 10)
        check(Self.head + space, is: .tooLarge)
        check(Self.head + space + "\n", is: .tooLarge)
        // The line is named, whether it ends or not.
        let release = #"{"us":0,"do":"release"}"# + "\n" + #"{"us":1,"done":true}"# + "\n"
        for text in [Self.head + release + space, Self.head + release + space + "\n"] {
            let error = #expect(throws: RecordingError.self) { try Recording(parsing: Array(text.utf8)) }
            #expect(error?.line == 4)
            #expect(error?.reason == "Line 4 is longer than any line of a recording. Record the flow again.")
        }
        #expect(check(space, is: .notARecording).line == 1)
    }

    @Test func `Any change of a byte is read or refused`() {
        for index in stride(from: 0, to: Self.text.count, by: 5) {
            for byte in [UInt8(0), 0x22, 0x39, 0x7D] {
                var changed = Self.text
                changed[index] = byte
                _ = try? Recording(parsing: changed)
            }
        }
    }

    @Test func `A file that is not a recording is noticed at once, at any length`() {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        // Zeros that take no room on the disk.
        #expect(unsafe truncate(path, 60 << 20) == 0)
        let error = #expect(throws: RecordingError.self) { try Recording(path: path) }
        #expect(error?.code == .notARecording)
        #expect(error?.reason.hasPrefix("\(path): ") == true)
        #expect(unsafe truncate(path, 1 << 40) == 0)
        #expect(throws: RecordingError.self) { try Recording(path: path) }.map { #expect($0.code == .tooLarge) }
        #expect(throws: RecordingError.self) { try Recording(path: "/nonexistent") }
    }

    @Test func `What is no file is refused at once, for an app that starts waits for nobody`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(unsafe mkfifo(path, 0o600) == 0)
        for path in [path, "/dev/zero", "/"] {
            let error = #expect(throws: RecordingError.self) { try Recording(path: path) }
            #expect(error?.code == .unreadable)
            #expect(error?.reason.hasSuffix("Name a file.") == true)
        }
    }
}
