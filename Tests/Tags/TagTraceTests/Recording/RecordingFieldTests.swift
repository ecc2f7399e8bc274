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
        #expect(header.tellsPresence)
        #expect(header.isField && header.technologies == [.nfcA, .nfcV] && header.maximumFrameLength == 64)
    }

    /// A reader that reads two pages of a tag, and reports between them that the tag came.
    private static func reader() throws -> AttachedReader {
        var writer = RecordingWriter(reader: "R")
        func read(_ page: UInt8) {
            writer.addExchange(
                .nfcA,
                request: Frame([0x30, page]),
                result: .success(Frame([UInt8](repeating: page, count: 16))),
                timeout: .milliseconds(5),
                at: .zero,
                duration: .zero
            )
        }
        read(4)
        writer.addArrival(of: [4, 5, 6, 7], number: 2, at: .zero)
        writer.addPresence(at: .zero)
        read(8)
        return RecordingReplay(try Recording(parsing: writer.bytes)).reader
    }

    @Test("Its times begin with the recording, whatever the reader did before")
    func origin() async throws {
        let scratch = RecorderTests.Scratch()
        let reader = try Self.reader()
        guard case .field(let base) = reader else { throw LinkError(.unsupported, "") }
        _ = try await base.link(for: .nfcA)?.transceive(Frame([0x30, 4]), timeout: .milliseconds(5))
        #expect(base.statistics.airtime > .zero)
        guard case .field(let field) = try Recorder(path: scratch.path).recording(reader) else {
            throw LinkError(.unsupported, "")
        }
        _ = try await field.link(for: .nfcA)?.transceive(Frame([0x30, 8]), timeout: .milliseconds(5))
        let steps = try scratch.recording.steps
        #expect(steps.map(\.time) == [.zero])
        #expect(steps.allSatisfy { ($0.endTime ?? .zero) > .zero })
    }

    @Test("A step has the time that the exchanges before it took, and a report is before what its listener asks")
    func order() async throws {
        let scratch = RecorderTests.Scratch()
        guard case .field(let field) = try Recorder(path: scratch.path).recording(Self.reader()) else {
            throw LinkError(.unsupported, "")
        }
        let observation = field.observePresence { _ = field.arrival(of: [4, 5, 6, 7]) }
        let link = try #require(field.link(for: .nfcA))
        var times: [Int64] = []
        for page: UInt8 in [4, 8] {
            _ = try await link.transceive(Frame([0x30, page]), timeout: .milliseconds(5))
            times.append(field.statistics.airtime.duration.wholeMicroseconds)
        }
        #expect(observation != nil && times[0] > 0 && times[1] > times[0])
        let steps = try scratch.recording.steps
        #expect(steps.count == 4)
        #expect(steps.dropFirst().prefix(2).map(\.action) == [.presence, .arrival([4, 5, 6, 7], number: 2)])
        #expect(steps.map(\.time.wholeMicroseconds) == [0, times[0], times[0], times[0]])
        #expect(steps.first?.endTime?.wholeMicroseconds == times[0])
        #expect(steps.last?.endTime?.wholeMicroseconds == times[1])
    }
}
