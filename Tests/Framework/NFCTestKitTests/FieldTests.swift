// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(10))) struct `A field around a test` {
    static let old = TagMessage.uri("https://example.com/old")
    static let new = TagMessage.uri("https://example.com/new")

    /// Reads and writes as an app does.
    @Sendable static func flow(_ field: TestField) async throws -> String {
        try await field.completion("write") { Writer("https://example.com/new").start($0) }.get()
    }

    @Test func `Code that knows nothing of it finds the tag, and the test sees what became of it`() async throws {
        try await withField(.product("NTAG215", holding: Self.old)) { field in
            #expect(try await Self.flow(field) == "https://example.com/old")
            let tag = try #require(field.tags.first)
            #expect(try await tag.message() == Self.new)
            #expect(field.sheetTexts == ["Hold the card near the phone.", "Done."])
            #expect(field.sheetHistory.map(\.content.state).last == .success)
            #expect(field.exchanges.count > 10)
            #expect(field.airtime > .milliseconds(20) && field.airtime < .milliseconds(500))
        }
    }

    @Test func `A session without a tag ends after its minute, which takes no time`() async throws {
        try await withField { field in
            let error = await #expect(throws: NFCReaderError.self) { try await Self.flow(field) }
            #expect(error?.code == .readerSessionInvalidationErrorSessionTimeout)
            #expect(field.now >= .seconds(60) && field.now < .seconds(61))
        }
    }

    @Test func `The person acts when the code waits`() async throws {
        try await withField { field in
            async let written = Self.flow(field)
            let first = try await field.bring(.product("NTAG215", holding: Self.old))
            #expect(try await written == "https://example.com/old")
            #expect(try await first.message() == Self.new)
            try await field.takeAway()
            let cancelled = Task { try await Self.flow(field) }
            try await field.cancelSheet()
            let error = await #expect(throws: NFCReaderError.self) { try await cancelled.value }
            #expect(error?.code == .readerSessionInvalidationErrorUserCanceled)
            await #expect(throws: FieldError(.noButton, "")) { try await field.cancelSheet() }
        }
    }

    @Test func `Calls that wait until the code rests go on in turn`() async throws {
        let order = Locked<[String]>([])
        try await withField { field in
            await withTaskGroup(of: Void.self) { group in
                for name in ["a", "b"] {
                    group.addTask {
                        for _ in 0..<3 {
                            await field.settle()
                            order.withLock { $0.append(name) }
                        }
                    }
                }
            }
        }
        let names = order.withLock { $0 }
        #expect(names.count == 6 && zip(names, names.dropFirst()).allSatisfy { $0 != $1 }, "\(names)")
    }

    @Test func `Sleeping waits by the time of the field`() async throws {
        try await withField { field in
            try await Task.sleep(for: .seconds(300))
            #expect(field.now == .seconds(300))
            try await Task.sleep(nanoseconds: 1_500_000_000)
            #expect(field.now == .milliseconds(301_500))
            await field.wait(for: .seconds(10))
            #expect(field.now == .milliseconds(311_500))
        }
    }

    @Test func `A block that is delayed on a queue waits by the time of the field`() async throws {
        try await withField { field in
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(300)) { continuation.resume() }
            }
            #expect(field.now == .milliseconds(300))
        }
    }

    @Test func `A flow that never ends is stopped, with the trace so far`() async throws {
        let error = await #expect(throws: FieldError.self) {
            try await withField(.product("NTAG215", holding: Self.old)) { field in
                try field.inject(.loss(atExchange: 12))
                // What was called is not among what was never called.
                #expect(try await field.completion("at once") { $0(true) })
                let _: Int = try await field.completion("never") { _ in Writer("x").start { _ in } }
            }
        }
        #expect(error?.code == .neverEnds)
        #expect(error?.reason.contains("Never called: never.") == true)
        #expect(error?.trace?.exchanges.isEmpty == false)
    }

    /// Sends REQA, and nothing after it.
    ///
    /// - Returns: the time after that.
    @Sendable private static func ask(_ field: TestField) async throws -> Duration {
        guard case .field(let driver) = field.environment.reader else { return .zero }
        try await driver.setCarrier(true)
        let link = try #require(driver.link(for: .nfcA))
        _ = try await link.transceive(Frame(bits: [0x26], validBitsInLastByte: 7), timeout: .milliseconds(1))
        return field.now
    }

    @Test func `A flow whose exchange uses up its time is stopped by that exchange`() async throws {
        let error = await #expect(throws: FieldError.self) {
            try await withField("NTAG213", limit: .nanoseconds(1)) { field in _ = try await Self.ask(field) }
        }
        #expect(error?.code == .neverEnds)
        #expect(error?.reason.hasSuffix("its limit is 0 s. Give limit: for a flow that is to take longer.") == true)
        // One that takes just as long as its limit ends by itself.
        let time = try await withField("NTAG213") { field in try await Self.ask(field) }
        let limited = try await withField("NTAG213", limit: time) { field in try await Self.ask(field) }
        #expect(time > .zero && limited == time)
    }

    @Test func `So is a flow on a recording, by the call that uses up its time`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try Recorder(path: path)
        let air = VirtualField()
        air.bring(VirtualType2Tag(.ntag213))
        try await withField(reader: .reader(recorder.recording(.field(air)))) { field in _ = try await Self.ask(field) }
        let reader = TestReader.recording(try Recording(path: path))
        // The time that the calls took when they were recorded.
        let time = try await withField(reader: reader) { field in try await Self.ask(field) }
        try #require(time > .nanoseconds(1))
        let error = await #expect(throws: FieldError.self) {
            try await withField(limit: time - .nanoseconds(1), reader: reader) { field in _ = try await Self.ask(field)
            }
        }
        #expect(error?.code == .neverEnds)
        let limited = try await withField(limit: time, reader: reader) { field in try await Self.ask(field) }
        #expect(limited == time)
    }

    @Test func `What goes wrong says what to write`() async throws {
        let gone = try await withField("NTAG213") { field in
            await #expect(throws: FieldError(.fieldInField, "")) { try await withField { _ in } }
            let error = await #expect(throws: FieldError.self) { try await field.bring("NTAG2155") }
            #expect(error?.reason.contains("Write \"NTAG215\"") == true)
            return field.tags[0]
        }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await gone.message() }
        await #expect(throws: FieldError(.badTag, "")) { try await withField(.dump([1, 2, 3])) { _ in } }
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await withField("NTAG213") { _ in }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        for limit in [Duration.zero, .seconds(-1)] {
            await #expect(throws: FieldError(.badDuration, "")) { try await withField(limit: limit) { _ in } }
            await #expect(throws: FieldError(.badDuration, "")) {
                try await explore(.losses, near: "NTAG213", limit: limit) { _ in }
            }
        }
        await #expect(throws: FieldError(.badDuration, "")) { try await withField(grace: .seconds(-1)) { _ in } }
        // No grace at all is not less than none.
        let number = try await withField(grace: .zero) { _ in 7 }
        #expect(number == 7)
        await #expect(throws: FieldError(.badTag, "")) {
            try await withField(.product("NTAG213", holding: .text(String(repeating: "x", count: 200)))) { _ in }
        }
    }

    @Test func `A handler that is passed to a field that has ended is not passed on`() async throws {
        let ended = try await withField { $0 }
        await #expect(throws: FieldError(.fieldIsGone, "")) {
            _ = try await ended.completion { (_: @escaping @Sendable (Int) -> Void) in
                Issue.record("The work has started, though nothing can come of it.")
            }
        }
    }

    @Test func `The same seed gives the same trace`() async throws {
        func trace() async throws -> String {
            try await withField(.product("NTAG215", holding: Self.old), seed: 7) { field in
                _ = try await Self.flow(field)
                await field.wait(for: .seconds(3))
                return field.trace.description
            }
        }
        let first = try await trace()
        for _ in 0..<20 {
            let next = try await trace()
            #expect(next == first)
            if next != first { print(first, "\n-----\n", next) }
        }
    }

    @Test(.field(.product("NTAG215", holding: old))) func `A trait puts it around a test`() async throws {
        let field = try #require(TestField.current)
        #expect(try await Self.flow(field) == "https://example.com/old")
    }
}
