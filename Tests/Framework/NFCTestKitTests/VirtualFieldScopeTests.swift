// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCSessions
import TagLink
import TestThreads
import Testing
import VirtualTags

@testable import NFCTestKit  // the clock's next event is internal

/// A field that a test drives by itself, with its clock and its sheet.
@Suite(.timeLimit(.minutes(5))) struct VirtualFieldScopeTests {
    private static func link() async -> Result<String, any Error> {
        await withCheckedContinuation { continuation in
            LinkReader(queue: nil).begin { continuation.resume(returning: $0) }
        }
    }

    @Test func `withVirtualField: sessions use the scope's tags, sheet and clock; its environment is freed afterwards`()
        async throws
    {
        let contents = try await withField(linkTag) { try $0.tags[0].contents() }
        try await withVirtualField { scope in
            scope.tags.bring(contents.makeTag())
            #expect(scope.clock.now == .zero && scope.sheet.content == nil && scope.environment.arbiter.isIdle)
            #expect(NFCNDEFReaderSession.readingAvailable)
            let link = try await Self.link().get()
            #expect(link == oldLink)
            #expect(scope.sheet.history.map(\.state).contains(.scanning))
            // The airtime of the exchanges has passed, and no more.
            #expect(scope.clock.now > .zero && scope.clock.now < .seconds(1))
            #expect(scope.environment.clock.now == scope.clock.now)
        }
        weak var environment: NFCEnvironment?
        await withVirtualField { environment = $0.environment }
        try await waitWhile(environment != nil)
        #expect(environment == nil)
    }

    @Test func `limits: a session ends as timed out at its limit; untilIdle() returns once the sheet has left`()
        async throws
    {
        var limits = SessionLimits()
        limits.session = .seconds(5)
        for (limits, limit) in [(SessionLimits(), 60), (limits, 5)] {
            try await withVirtualField(limits: limits) { scope in
                try await scope.untilIdle()
                let link = Task { await Self.link() }
                // The session has the reader a moment before it sets its limit.
                while scope.clock.scheduledEventCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
                scope.clock.advance(by: Duration.seconds(limit - 1))
                #expect(scope.sheet.content?.state != .dismissed && !scope.environment.arbiter.isIdle)
                // Whose task is cancelled does not wait any longer.
                let cancelled = Task { try await scope.untilIdle() }
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                scope.clock.advance(by: Duration.seconds(1))
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
    }

    // MARK: The clock

    @Test func `clock: stands at zero, and goes on by durations and by airtime`() {
        let clock = ManualClock()
        #expect(clock.now == .zero && clock.scheduledEventCount == 0)
        clock.advance(by: Duration.milliseconds(1500))
        let airtime = Airtime.milliseconds(5)
        clock.advance(by: airtime)
        clock.advance(by: Duration.zero)
        #expect(clock.now == .milliseconds(1500) + airtime.duration && airtime.duration > .zero)
    }

    @Test func `clock event: fires at exactly its time, at once if its time has passed, and never once cancelled`() {
        let clock = ManualClock()
        let fired = Locked<[Duration]>([])
        clock.advance(by: Duration.seconds(10))
        for delay in [Duration.seconds(1), .seconds(-5)] {
            _ = clock.schedule(after: delay) { fired.withLock { $0.append(clock.now) } }
        }
        _ = clock.schedule(limit: .seconds(2)) { fired.withLock { $0.append(clock.now) } }
        let cancelled = clock.schedule(after: .seconds(1)) { Issue.record("It was cancelled.") }
        #expect(clock.scheduledEventCount == 4)
        for _ in 0..<2 { cancelled.cancel() }
        #expect(clock.scheduledEventCount == 3)
        clock.advance(by: Duration.milliseconds(999))
        #expect(fired.withLock { $0 } == [.seconds(10)] && clock.scheduledEventCount == 2)
        clock.advance(by: Duration.milliseconds(1))
        #expect(fired.withLock { $0 } == [.seconds(10), .seconds(11)])
        clock.advance(by: Duration.seconds(60))
        #expect(fired.withLock { $0 } == [.seconds(10), .seconds(11), .seconds(12)])
        #expect(clock.now == .seconds(71))
    }

    @Test func `closed clock: has no events, and takes none`() {
        let clock = ManualClock()
        clock.schedule(delayOfApp: .seconds(1)) { Issue.record("The clock is closed.") }
        _ = clock.schedule(limit: .seconds(2)) { Issue.record("The clock is closed.") }
        #expect(clock.nextEvent?.deadline == .seconds(1) && clock.scheduledEventCount == 2)
        clock.close()
        _ = clock.schedule(after: .zero) { Issue.record("The clock is closed.") }
        #expect(clock.nextEvent?.deadline == nil && clock.scheduledEventCount == 0)
        clock.advance(by: Duration.seconds(5))
        #expect(clock.now == .seconds(5))
    }

    // MARK: The sheet

    @Test func `sheet: keeps what it showed, and its button works while it waits or scans`() {
        let sheet = RecordingSheet()
        let pressed = Locked<[SheetState]>([])
        #expect(sheet.history.isEmpty && sheet.content == nil && !sheet.cancel())
        let states: [SheetState] = [.ready, .scanning, .success, .scanning, .failure, .dismissed]
        for (number, state) in states.enumerated() {
            let content = SheetContent(state: state, title: "", message: "\(number)", showsErrorSymbol: false)
            sheet.present(content) { pressed.withLock { $0.append(state) } }
            #expect(sheet.content == content && sheet.history.map(\.state) == Array(states[...number]))
            #expect(sheet.cancel() == (state == .ready || state == .scanning))
        }
        #expect(pressed.withLock { $0 } == [.ready, .scanning, .scanning])
    }
}
