// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import Testing

@testable import TagTrace

/// Where a recording is written, and what is said when it can't be.
@Suite("The file of a recorder")
struct RecorderFileTests {
    @Test("It replaces a recording, and nothing else")
    func replacing() throws {
        let scratch = RecorderTests.Scratch()
        let file = URL(fileURLWithPath: scratch.path)
        try Data("hello".utf8).write(to: file)
        let error = #expect(throws: RecordingError.self) { try Recorder(path: scratch.path) }
        #expect(error?.code == .notARecording)
        #expect(error?.reason == "\(scratch.path) is there already and is no recording. Name another file.")
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        try Data(RecordingWriter(reader: "R").bytes).write(to: file)
        let recorder = try Recorder(path: scratch.path)
        #expect(recorder.path == scratch.path && recorder.failure == nil)
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test("It is said when it can't be made, and when it takes nothing")
    func failures() throws {
        let error = #expect(throws: RecordingError.self) { try Recorder(path: "/nonexistent/r.jsonl") }
        #expect(error?.code == .unwritable && error?.reason.contains("/nonexistent/r.jsonl") == true)
        let recorder = try Recorder(path: "/dev/full")
        #expect(recorder.failure == nil)
        let recording = try Recording(parsing: RecordingWriter(reader: "R").bytes)
        guard case .field = recorder.recording(RecordingReplay(recording).reader) else {
            throw LinkError(.unsupported, "")
        }
        let failure = try #require(recorder.failure)
        #expect(failure.code == .unwritable && failure.reason.hasSuffix(" The recording ends here."))
    }
}
