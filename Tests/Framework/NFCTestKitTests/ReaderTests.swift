// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(10))) struct `What a test runs on` {
    static let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/old"))

    @Sendable static func flow(_ field: TestField) async throws -> String {
        try await field.completion("write") { Writer("https://example.com/new").start($0) }.get()
    }

    /// A recording of the flow on a virtual tag.
    static func recorded() async throws -> Recording {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try Recorder(path: path)
        let field = VirtualField()
        let contents = try await withField(Self.tag) { try $0.tags[0].contents() }
        field.bring(contents.makeTag())
        try await withField(reader: .reader(recorder.recording(.field(field)))) { field in _ = try await flow(field) }
        return try Recording(path: path)
    }

    @Test func `The flow of a test runs on a recording, by its own time`() async throws {
        let recording = try await Self.recorded()
        try await withField(reader: .recording(recording)) { field in
            let old = try await Self.flow(field)
            #expect(old == "https://example.com/old")
            #expect(field.exchanges.count == recording.exchangeCount)
            #expect(throws: FieldError(.notVirtual, "")) { try field.inject(.loss(atExchange: 1)) }
        }
    }

    @Test func `The trace of a recording has what was replayed so far, with the sheet in between`() async throws {
        let recording = try await Self.recorded()
        try await withField(reader: .recording(recording)) { field in
            #expect(field.exchanges.isEmpty)
            _ = try await Self.flow(field)
            let times = field.trace.entries.compactMap(\.time)
            #expect(times.count > recording.exchangeCount && times == times.sorted())
        }
    }

    @Test func `A flow that makes nothing of its departure from a recording fails too`() async throws {
        let recording = try await Self.recorded()
        await #expect(throws: FieldError(.badRecording, "")) {
            try await withField(reader: .recording(recording)) { field in
                let result: Result<String, any Error> = try await field.completion("write") {
                    Writer("https://example.com/other").start($0)
                }
                #expect(throws: (any Error).self) { try result.get() }
            }
        }
    }

    @Test func `A flow of an exploration that departs from its recording fails too, whatever it makes of it`()
        async throws
    {
        let recording = try await Self.recorded()
        await #expect(throws: FieldError(.badRecording, "")) {
            try await explore(.everyLoss, invariants: [], reader: .recording(recording)) { field in
                let result: Result<String, any Error> = try await field.completion("write") {
                    Writer("https://example.com/other").start($0)
                }
                #expect(throws: (any Error).self) { try result.get() }
            }
        }
    }

    @Test func `A recording that does not fit says where it was left, and what to do`() async throws {
        let recording = try await Self.recorded()
        let error = try #require(
            await #expect(throws: FieldError.self) {
                try await withField(reader: .recording(recording)) { field in
                    try await field.completion("write") { Writer("https://example.com/other").start($0) }.get()
                }
            }
        )
        #expect(error.code == .badRecording && error.reason.contains("Expected:"))
        let missing = #expect(throws: FieldError.self) { try TestReader.recording("/nowhere.jsonl") }
        #expect(missing?.code == .badRecording && missing?.reason.contains("NFC_RECORD") == true)
    }

    @Test func `An exploration on a reader is one run, and asks the person for tags`() async throws {
        let field = VirtualField()
        let contents = try await withField(Self.tag) { try $0.tags[0].contents() }
        field.bring(contents.makeTag())
        let report = try await explore(.everyLoss, near: Self.tag, reader: .reader(.field(field))) { field in
            _ = try await Self.flow(field)
            await #expect(throws: FieldError(.notVirtual, "")) { try await field.tags[0].message() }
        }
        #expect(report.runs == 1)
        // What the person's tag holds is not what the description says.
        #expect(report.first.tags.count == 1)
        for tag in report.first.tags { #expect(tag.before == nil && tag.after == nil) }
    }

    @Test(.ownThreads) func `On a reader the person is asked for each tag, by what it is`() async throws {
        let said = try CrashTests.said(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await withField(Self.tag, reader: .reader(.field(VirtualField()))) { field in
                    _ = try await field.make("NTAG213")
                }
                try await withField("NTAG216") { _ in }
            }
        )
        #expect(
            said.components(separatedBy: "\n").filter { $0.hasPrefix("Put ") } == [
                "Put this on the reader: NTAG215 with URI https://example.com/old", "Put this on the reader: NTAG213",
            ],
            "\(said)"
        )
    }

    @Test func `On a reader a session may end a moment after its flow`() async throws {
        let delegate = Nothing()
        let report = try await explore(
            .everyLoss,
            near: Self.tag,
            invariants: [.sessionEnds],
            reader: .reader(.field(VirtualField()))
        ) { _ in
            let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
            session.begin()
            // Sendable because nothing else uses it any more.
            nonisolated(unsafe) let last = session
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(300)) { unsafe last.invalidate() }
        }
        #expect(report.runs == 1)
    }

    @Test func `On a reader a flow that never ends is stopped by real time`() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let error = await #expect(throws: FieldError.self) {
            try await withField(limit: .milliseconds(20), reader: .reader(.field(VirtualField()))) { field in
                let _: Int = try await field.completion("never") { _ in Writer("x").start { _ in } }
            }
        }
        #expect(error?.code == .neverEnds)
        // The time of the flow is reported, and not that of the process.
        let words = try #require(error?.reason.split(separator: " "))
        let seconds = try #require(Int64(words[6]))
        #expect(words[..<6].joined(separator: " ") == "The flow has not ended after", "\(words)")
        #expect(seconds <= start.duration(to: clock.now).components.seconds)
    }

    @Test(.ownThreads) func `The environment says what tests run on, by a name of its own`() async {
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

    @Test func `An app's configuration is data`() async throws {
        let usage: [String: AppProperties.Value] = ["NFCReaderUsageDescription": "Why."]
        let formats = "com.apple.developer.nfc.readersession.formats"
        for (entitlements, isAllowed) in [([formats: ["TAG"]], true), ([formats: ["VAS"]], false), ([:], false)]
            as [([String: AppProperties.Value], Bool)]
        {
            let app = AppProperties(infoPlist: usage, entitlements: entitlements)
            try await withField(Self.tag, app: app) { field in
                let result = try? await Self.flow(field)
                #expect((result != nil) == isAllowed)
                #expect(field.exchanges.isEmpty == !isAllowed)
            }
        }
    }

    @Test func `Tags are swapped, two are near at once, and a script answers`() async throws {
        try await withField(Self.tag) { field in
            let other = try await field.bring(.product("Topaz 512"))
            #expect(field.virtual?.tags.count == 2)
            try await field.takeAway(other)
            let last = try await field.swap(for: .product("ICODE SLIX", holding: .uri("https://example.com/v")))
            #expect(try await Self.flow(field) == "https://example.com/v")
            #expect(try await last.message() == .uri("https://example.com/new"))
            #expect(try await field.tags[0].message() == .uri("https://example.com/old"))
            let card = try await field.make(.script([([0, 0xB0, 0, 0, 2], [0xCA, 0xFE, 0x90, 0])]))
            #expect(throws: FieldError(.badTag, "")) { try card.contents() }
            #expect(card.virtual.identifier.count == 4 && card.virtual.identifier.first == 0x08)
        }
    }
}

/// A delegate that does nothing.
private final class Nothing: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
}
