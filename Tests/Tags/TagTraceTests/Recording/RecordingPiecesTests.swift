// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TagTrace

/// A recording that is read in pieces, and lines at the limits of their length and number.
@Suite("A recording in pieces")
struct RecordingPiecesTests {
    private static let head = `The format of a recording`.head

    private static func recording(_ text: String, pieces size: Int = .max) throws -> Recording {
        let bytes = Array(text.utf8)
        var parser = RecordingParser()
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count - start, size) + start
            try parser.take(Array(bytes[start..<end]))
            start = end
        }
        return try parser.finish()
    }

    @Test("is the same as in one", arguments: [1, 2, 7, 64, 1000])
    func pieces(size: Int) throws {
        let text = `The format of a recording`.head + `The format of a recording`.body
        let whole = try Recording(parsing: Array(text.utf8))
        #expect(try Self.recording(text, pieces: size) == whole)
        // A line that is cut off is none, also where it began in an earlier piece.
        let cut = try Self.recording(text + #"{"us":25,"do":"rel"#, pieces: size)
        #expect(cut.isCutOff && cut.steps == whole.steps)
    }

    @Test("names the line of a fault, wherever the pieces end", arguments: [1, 7, 1000])
    func faults(size: Int) {
        let text = Self.head + #"{"us":0,"do":"presence"}"# + "\n" + #"{"us":0,"do":"dance"}"# + "\n"
        let error = #expect(throws: RecordingError.self) { try Self.recording(text, pieces: size) }
        #expect(error?.line == 3 && error?.code == .malformed)
    }

    @Test("has lines of 256 KiB, and none that is longer", arguments: [Int.max, 50_000])
    func longestLine(size: Int) throws {
        let call = #"{"us":0,"do":"release"}"#
        for (excess, isTaken) in [(0, true), (1, false)] {
            let space = String(repeating: " ", count: Recording.maximumLineLength + excess - call.utf8.count)
            for end in ["\n", ""] {
                let text = Self.head + call + space + end
                guard isTaken else {
                    let error = #expect(throws: RecordingError.self) { try Self.recording(text, pieces: size) }
                    #expect(error?.code == .tooLarge && error?.line == 2)
                    continue
                }
                let recording = try Self.recording(text, pieces: size)
                #expect(recording.steps.count == (end.isEmpty ? 0 : 1) && recording.isCutOff == end.isEmpty)
            }
        }
    }

    // MARK: Tags of a look

    private static func look(_ tags: Range<Int>) -> String {
        let look = #"{"us":0,"do":"discover","technologies":["nfc-b"],"systems":[]}"#
        let found = tags.map { #"{"tag":\#($0),"technology":"nfc-b","atqb":"","maximum_frame_length":1}"# }
        return ([look] + found + [#"{"us":0,"found":\#(tags.count)}"#]).joined(separator: "\n") + "\n"
    }

    @Test("has 64 tags in a look at most, and each look its own")
    func tags() throws {
        let recording = try Self.recording(Self.head + Self.look(1..<65) + Self.look(65..<66) + Self.look(66..<66))
        let found = recording.steps.map { step -> [Int] in
            if case .tags(let tags)? = step.outcome { tags.map(\.number) } else { [0] }
        }
        #expect(found == [Array(1..<65), [65], []])
        let error = #expect(throws: RecordingError.self) { try Self.recording(Self.head + Self.look(1..<66)) }
        #expect(error?.code == .malformed && error?.line == 67)
        #expect(error?.reason.contains("A tag is found by no look.") == true)
    }
}
