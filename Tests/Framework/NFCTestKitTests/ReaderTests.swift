// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// What a test runs on: virtual tags, a recording, or a reader.
@Suite(.timeLimit(.minutes(10))) struct ReaderTests {
    /// A recording of a client's flow on a virtual tag.
    static func recorded() async throws -> Recording {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try Recorder(path: path)
        let reader = TestReader.reader(recorder.recording(.field(try await air())))
        try await withField(reader: reader) { field in _ = try await LinkClient.run(field) }
        return try Recording(path: path)
    }

    /// A field of the process with the tag.
    private static func air() async throws -> VirtualField {
        let field = VirtualField()
        field.bring(try await withField(linkTag) { try $0.tags[0].contents() }.makeTag())
        return field
    }

    @Test func `field on a recording: the flow runs, and the trace has its exchanges`() async throws {
        let recording = try await Self.recorded()
        try await withField(reader: .recording(recording)) { field in
            #expect(field.exchanges.isEmpty)
            let link = try await LinkClient.run(field)
            #expect(link == oldLink)
            #expect(field.exchanges.count == recording.exchangeCount)
            let times = field.trace.entries.compactMap(\.time)
            #expect(times.count > recording.exchangeCount && times == times.sorted())
            #expect(throws: FieldError(.notVirtual, "")) { try field.inject(.loss(atExchange: 1)) }
        }
    }

    @Test func `field on a recording, flow with other commands: always fails as badRecording`() async throws {
        let recording = try await Self.recorded()
        let flow: @Sendable (TestField) async throws -> Void = { field in
            _ = try await field.completion("write") { LinkClient("https://example.com/other").start($0) }
        }
        let error = await #expect(throws: FieldError.self) {
            try await withField(reader: .recording(recording)) { try await flow($0) }
        }
        #expect(error?.code == .badRecording && error?.reason.contains("Expected:") == true)
        await #expect(throws: FieldError(.badRecording, "")) {
            try await explore(.everyLoss, invariants: [], reader: .recording(recording)) { try await flow($0) }
        }
        let missing = #expect(throws: FieldError.self) { try TestReader.recording("/nowhere.jsonl") }
        #expect(missing?.code == .badRecording)
    }

    @Test func `reader: an exploration makes one run, and only tags of the test kit can be asked`() async throws {
        let reader = TestReader.reader(.field(try await Self.air()))
        let report = try await explore(.everyLoss, near: linkTag, reader: reader) { field in
            _ = try await LinkClient.run(field)
            await #expect(throws: FieldError(.notVirtual, "")) { try await field.tags[0].message() }
        }
        #expect(report.runs == 1 && report.first.tags.count == 1)
        for tag in report.first.tags { #expect(tag.before == nil && tag.after == nil) }
    }

    @Test(.ownThreads) func `field on a reader: the person is asked for each tag by product and message`()
        async throws
    {
        let said = try said(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await withField(linkTag, reader: .reader(.field(VirtualField()))) { field in
                    _ = try await field.make("NTAG213")
                }
                try await withField("NTAG216") { _ in }
            }
        )
        #expect(
            said.components(separatedBy: "\n").filter { $0.hasPrefix("Put ") } == [
                "Put this on the reader: NTAG215 with URI \(oldLink)", "Put this on the reader: NTAG213",
            ],
            "\(said)"
        )
    }

    @Test func `reader: the limit is real time, for withField and for the trait`() async throws {
        let error = await #expect(throws: FieldError.self) {
            try await withField(limit: .milliseconds(20), reader: .reader(.field(VirtualField()))) { field in
                let _: Int = try await field.completion("never") { _ in LinkReader().begin { _ in } }
            }
        }
        #expect(error?.code == .neverEnds)
        let test = try #require(Test.current)
        await #expect(throws: FieldError(.neverEnds, "")) {
            var trait: FieldTrait = .field(limit: .milliseconds(20))
            trait.reader = .reader(.field(VirtualField()))
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                try await Task.sleep(for: .seconds(1000))
            }
        }
    }

    @Test(.ownThreads) func `NFC_TEST_READER: names the reader of tests, and NFC_READER does not`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NFC_READER", "none", 1)
            let readers: [(String?, isVirtual: Bool)] = [(nil, true), ("", true), ("virtual", true), ("none", false)]
            for (name, isVirtual) in readers {
                unsafe unsetenv("NFC_TEST_READER")
                if let name { unsafe setenv("NFC_TEST_READER", name, 1) }
                try await withField { field in
                    guard (field.virtual != nil) == isVirtual else { fatalError("\(name ?? "unset")") }
                }
            }
        }
    }
}
