// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagTrace

/// What is recorded of a reader whose host sends every frame.
@Suite("A recorder of a reader whose host sends every frame")
struct RecordingFieldTests {
    @Test("Its recording has the reader's technologies, and the longest answer that the reader takes")
    func header() throws {
        let scratch = RecorderTests.Scratch()
        let written = RecordingWriter(reader: "R", technologies: [.nfcA, .nfcV], maximumFrameLength: 64).bytes
        let reader = RecordingReplay(try Recording(parsing: written)).reader
        let recorded = try Recorder(path: scratch.path).recording(reader)
        guard case .field(let field) = recorded else { throw LinkError(.unsupported, "") }
        #expect(field.link(for: .nfcA)?.maximumFrameLength == 64)
        let header = try scratch.recording.header
        #expect(header.isField && header.technologies == [.nfcA, .nfcV] && header.maximumFrameLength == 64)
    }
}
