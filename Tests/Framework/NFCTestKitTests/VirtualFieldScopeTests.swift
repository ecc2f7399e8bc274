// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// A field that a test drives by itself.
@Suite(.timeLimit(.minutes(5))) struct `A field with a clock of the test's own` {
    private static func link(_ queue: DispatchQueue? = nil) async -> Result<String, any Error> {
        await withCheckedContinuation { continuation in
            LinkReader(queue: queue).begin { continuation.resume(returning: $0) }
        }
    }

    /// A tag that was made in a field of its own.
    private static func tag(holding link: String) async throws -> any VirtualTag {
        let spec = TagSpec.product("NTAG215", holding: .uri(link))
        let contents = try await Task.detached { try await withField(spec) { try $0.tags[0].contents() } }.value
        return contents.makeTag()
    }

    @Test func `Its sessions, its sheet, its clock and its card reader are those of the scope`() async throws {
        try await withVirtualField { scope in
            scope.tags.bring(try await Self.tag(holding: "https://example.com/a"))
            #expect(scope.clock.now == .zero && scope.sheet.content == nil)
            #expect(try await Self.link().get() == "https://example.com/a")
            #expect(scope.sheet.history.map(\.state).contains(.scanning))
            // The airtime of the exchanges has passed, and no more.
            #expect(scope.clock.now > .zero && scope.clock.now < .seconds(1))
            #expect(scope.environment.clock.now == scope.clock.now)
        }
    }

    @Test func `It is idle once the sheet has left, which takes time`() async throws {
        try await withVirtualField { scope in
            #expect(scope.environment.arbiter.isIdle)
            try await scope.untilIdle()
            let link = Task { await Self.link() }
            // The session has the reader a moment before it sets its limit.
            while scope.clock.scheduledEventCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(!scope.environment.arbiter.isIdle)
            scope.clock.advance(by: Duration.seconds(60))
            let error = await #expect(throws: NFCReaderError.self) { try await link.value.get() }
            #expect(error?.code == .readerSessionInvalidationErrorSessionTimeout)
            let wait = Task { () -> Bool in
                try await scope.untilIdle()
                return scope.environment.arbiter.isIdle
            }
            while !scope.environment.arbiter.isIdle {
                scope.clock.advance(by: Duration.milliseconds(100))
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(try await wait.value)
        }
    }

    @Test func `Whose task is cancelled does not wait any longer until it is idle`() async throws {
        try await withVirtualField { scope in
            let link = Task { await Self.link() }
            while scope.clock.scheduledEventCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            let wasCancelled = Locked(false)
            let wait = Task {
                do { try await scope.untilIdle() } catch { wasCancelled.withLock { $0 = error is CancellationError } }
            }
            wait.cancel()
            try await waitWhile(!wasCancelled.withLock { $0 })
            #expect(wasCancelled.withLock { $0 } && !scope.environment.arbiter.isIdle)
            scope.clock.advance(by: Duration.seconds(60))
            await #expect(throws: NFCReaderError.self) { try await link.value.get() }
        }
    }

    @Test func `Its limits are those that are asked for`() async throws {
        var limits = SessionLimits()
        limits.session = .seconds(5)
        try await withVirtualField(limits: limits) { scope in
            let result = Locked<Result<String, any Error>?>(nil)
            let link = Task {
                let value = await Self.link()
                result.withLock { $0 = value }
            }
            while scope.clock.scheduledEventCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            scope.clock.advance(by: Duration.seconds(4))
            #expect(scope.sheet.content?.state != .dismissed)
            scope.clock.advance(by: Duration.seconds(1))
            try await waitWhile(result.withLock { $0 == nil })
            let error = #expect(throws: NFCReaderError.self) { try result.withLock { $0 }?.get() }
            #expect(error?.code == .readerSessionInvalidationErrorSessionTimeout)
            // A session with other limits ends by then.
            scope.clock.advance(by: Duration.seconds(60))
            await link.value
        }
    }

    @Test func `It is freed when the scope has ended`() async throws {
        weak var environment: NFCEnvironment?
        await withVirtualField { scope in environment = scope.environment }
        try await waitWhile(environment != nil)
        #expect(environment == nil)
    }

    @Test func `Without a reader there is none, and the reason is the test's`() async throws {
        await withoutReader {
            #expect(!NFCNDEFReaderSession.readingAvailable)
            #expect(NFCEnvironment.scoped?.driver == nil)
        }
        await withoutReader(reason: "It is gone.") { #expect(!NFCNDEFReaderSession.readingAvailable) }
        await withVirtualField { _ in #expect(NFCNDEFReaderSession.readingAvailable) }
    }
}
