// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import TestThreads
import Testing
import VirtualTags

@testable import NFCTestKit  // the patience of a test function is internal

/// A flow that never ends, what its error says, and what becomes of the flow.
@Suite(.timeLimit(.minutes(10))) struct NeverEndsTests {
    private static func message(
        limit: Duration = .seconds(600),
        grace: Duration = .milliseconds(50),
        _ body: @escaping @Sendable (TestField) async throws -> Void
    ) async -> String {
        await reason { try await withField("NTAG215", limit: limit, grace: grace) { try await body($0) } }
    }

    /// Waits for a handler that is never called.
    @Sendable private static func wait(_ field: TestField, _ begin: @Sendable () -> Void = {}) async throws {
        let _: Int = try await field.completion("read") { _ in begin() }
    }

    @Test func `flow that never ends: stops with neverEnds, the trace, and what was never called`() async throws {
        let error = await #expect(throws: FieldError.self) {
            try await withField(linkTag, grace: .milliseconds(50)) { field in
                try field.inject(.loss(atExchange: 12))
                #expect(try await field.completion("zero") { $0(true) })
                async let one: Int = field.completion("one") { _ in LinkReader().begin { _ in } }
                await field.settle()
                async let two: Int = field.completion("two") { _ in }
                _ = try await (one, two)
            }
        }
        #expect(error?.code == .neverEnds && error?.trace?.exchanges.isEmpty == false)
        #expect(error?.reason.contains(" Never called: one, two.") == true)
    }

    @Test func `never ends: the error names the likely cause`() async {
        let kept = Locked<[AnyObject]>([])
        @Sendable func session(_ delegate: Nobody, begins: Bool) {
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            if begins { session.begin() }
            // Sendable because it is only kept.
            nonisolated(unsafe) let object = session
            kept.withLock { unsafe $0.append(object) }
        }
        let delegate = Nobody()
        let released = await Self.message { try await Self.wait($0) { session(Nobody(), begins: true) } }
        #expect(released.contains("The delegate of a session was released"), "\(released)")
        let unbegun = await Self.message { try await Self.wait($0) { session(delegate, begins: false) } }
        #expect(unbegun.contains("call begin()"), "\(unbegun)")
        let app = AppProperties(entitlements: ["com.apple.developer.nfc.readersession.formats": []])
        let refused = await reason {
            try await withField("NTAG215", app: app, grace: .milliseconds(50)) { field in
                try await Self.wait(field) { session(delegate, begins: true) }
            }
        }
        #expect(refused.contains("never began: the session is refused: com.apple.developer.nfc"), "\(refused)")
        let alone = await reason {
            try await withField(grace: .milliseconds(50)) { field in
                try await Self.wait(field) { session(delegate, begins: true) }
            }
        }
        #expect(alone.contains("no tag came near"), "\(alone)")
        let long = await Self.message(limit: .seconds(5)) { _ in try await Task.sleep(for: .seconds(9)) }
        #expect(long.contains("its limit is 5 s. The next event is at 9 s."), "\(long)")
        for text in [released, unbegun, long] { #expect(!text.contains("continuation"), "\(text)") }
        let nested = await Self.message { _ in _ = try await explore(.losses, near: "NTAG215") { _ in } }
        #expect(nested.contains("call explore outside of withField"), "\(nested)")
    }

    @Test(arguments: [(200, "0.6 s"), (100, "0.3 s")])
    func `never ends: a missed continuation is reported after three times the grace`(grace: Int, time: String) async {
        // In a process of its own: a thread or a timer of another test could end the flow, which is then waited for longer.
        await #expect(processExitsWith: .success) { [grace, time] in
            let text = await Self.message(grace: .milliseconds(grace)) { try await Self.wait($0) }
            #expect(text.contains("Look for a continuation that no path resumes."), "\(text)")
            #expect(text.contains("Never called: read.") && text.contains(" for \(time) of real"), "\(text)")
            #expect(text.contains("grace: .milliseconds(100)") == (grace > 100), "\(text)")
        }
    }

    @Test func `never ends: a retry without a limit is named`() async {
        let isOver = Box<Bool>()
        @Sendable func retry() {
            guard isOver.value == nil else { return }
            // Some 25,000 tries are needed: each takes as long as a quick one does.
            usleep(50)
            DispatchQueue.global().async { retry() }
        }
        let text = await Self.message { try await Self.wait($0) { retry() } }
        isOver.set(true)
        #expect(text.contains("Look for a retry without a limit"), "\(text)")
    }

    @Test(.ownThreads) func `blocked main queue: the error names it, and the handlers that were never called`() async {
        // In a process of its own: the main queue is that of other tests too.
        await #expect(processExitsWith: .success) {
            let error = await #expect(throws: FieldError.self) {
                try await withField(grace: .milliseconds(50)) { field in
                    try await Self.wait(field) { DispatchQueue.main.async { DispatchSemaphore(value: 0).wait() } }
                }
            }
            let start = "The main queue is blocked: its current work waits with DispatchSemaphore.wait(), "
            #expect(error?.code == .queueIsBlocked && error?.reason.hasPrefix(start) == true)
            #expect(error?.reason.contains(" s of real time. Never called: read. A delegate's methods ") == true)
        }
    }

    // MARK: Limits

    @Test func `limit: a flow that takes exactly the limit succeeds, one that takes longer throws neverEnds`()
        async throws
    {
        try await withField(limit: .seconds(5)) { field in
            try await Task.sleep(for: .seconds(5))
            #expect(field.now == .seconds(5))
        }
        await #expect(throws: FieldError(.neverEnds, "")) {
            try await withField(limit: .seconds(5) - .nanoseconds(1)) { _ in try await Task.sleep(for: .seconds(5)) }
        }
    }

    @Test func `limit or grace that leaves no time: fails as badDuration`() async {
        for limit in [Duration.zero, .seconds(-1)] {
            await #expect(throws: FieldError(.badDuration, "")) { try await withField(limit: limit) { _ in } }
            await #expect(throws: FieldError(.badDuration, "")) {
                try await explore(.losses, near: "NTAG213", limit: limit) { _ in }
            }
        }
        await #expect(throws: FieldError(.badDuration, "")) { try await withField(grace: .seconds(-1)) { _ in } }
        await #expect(throws: Never.self) { try await withField(grace: .zero) { _ in } }
    }

    // MARK: What becomes of the flow

    @Test func `flow that is given up: its task is cancelled`() async {
        let wasCancelled = Box<Bool>()
        await #expect(throws: FieldError(.neverEnds, "")) {
            try await withField(grace: .milliseconds(50)) { field in
                try await withTaskCancellationHandler {
                    try await Self.wait(field)
                } onCancel: {
                    wasCancelled.set(true)
                }
            }
        }
        #expect(wasCancelled.value == true)
    }

    @Test func `withField in a cancelled task: its body is cancelled, and the result or error of the body returned`()
        async throws
    {
        let (begun, never) = (Gate(), Gate())
        let caller = Task {
            try await withField(grace: .seconds(6)) { _ in
                begun.open()
                await never.pass()
                return Task.isCancelled
            }
        }
        await begun.pass()
        caller.cancel()
        #expect(try await caller.value)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await withField("NTAG213") { _ in }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func `task that still waits when its field ends: its waits return, or throw fieldIsGone`() async throws {
        let (handler, time, rest) = try await withField { field in
            let handler = Task { try await field.completion("never") { (_: @escaping @Sendable (Int) -> Void) in } }
            let time = Task {
                await field.wait(for: .seconds(3600))
                return field.now
            }
            let rest = Task { for _ in 0..<1000 { await field.settle() } }
            // The wait begins when the first of the two calls that wait for rest returns.
            for _ in 0..<2 { await field.settle() }
            return (handler, time, rest)
        }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await handler.value }
        #expect(await time.value == .zero)
        await rest.value
    }

    @Test(.ownThreads, arguments: [true, false])
    func `test function with the trait that never ends: the process ends with a message`(isVirtual: Bool) async throws {
        let said = try said(
            await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
                [isVirtual = isVirtual as Bool] in
                let limit = Duration.milliseconds(isVirtual ? 600_000 : 20)
                let reader: TestReader = isVirtual ? .virtual : .reader(.field(VirtualField()))
                let settings = FieldSettings([], nil, 0, limit, .milliseconds(50), .queue, reader)
                let field = try await TestField.opened(settings)
                // Nothing resumes it, not even that it is cancelled.
                try await field.attend(patience: .milliseconds(500)) {
                    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
                }
            }
        )
        #expect(said.contains("The flow has not ended after "), "\(said)")
        #expect(said.contains("\nNothing else can end this test function.\n"), "\(said)")
    }
}
