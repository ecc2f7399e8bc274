// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCRuntime
import NFCTestKit
import SystemLibrary
import TagLink
import TestThreads
import Testing
import VirtualTags

/// The threads that act for a session, and what a session lets go of at its end.
@Suite(.timeLimit(.minutes(1))) struct ReleaseTests {
    @Test(arguments: [false, true])
    func `session that ends during a look: cancelled and interrupted before the reader is released`(isWaiting: Bool)
        async throws
    {
        let queue = QueueExecutor(target: nil, knowsCallers: true)
        let isOnThread = Locked(false)
        let look = ScriptedReader.Look.waitsUntilCancelled(then: LinkError(.cancelled, "It was cut off.")) {
            isOnThread.withLock { $0 = queue.isCurrent }
        }
        let reader = ScriptedReader([isWaiting ? look : .nothing], tells: true, executor: queue)
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        session.begin()
        #expect(await scene.event() == "a active")
        if isWaiting { await until { isOnThread.withLock { $0 } } } else { await reader.looks(1) }
        session.invalidate()
        #expect(await scene.event() == Scene.canceled)
        #expect(reader.log == ["interrupt", "release"])
        // The sheet is still to close. No other look follows.
        #expect(scene.clock.scheduledEventCount == 1)
    }

    @Test func `ended session: its observer, its tags and the session itself are freed`() async throws {
        let scene = Scene(.field(field(ntag())))
        weak var kept: ReaderSession?
        weak var listener: Locked<Int>?
        do {
            let (session, _) = try await scene.finding()
            let strong = Locked(0)
            (kept, listener) = (session, strong)
            session.observe { event in if case .ended = event { strong.withLock { $0 += 1 } } }
            session.invalidate()
        }
        await scene.untilIdle()
        await until { listener == nil }
        scene.clock.advance(by: .seconds(3))
        // The reader's thread may still be about to leave it.
        await until { kept == nil }
        #expect(scene.clock.scheduledEventCount == 0)
        #expect(scene.sheet.history == ["ready: a", "scanning: a", "success: a", "dismissed: a"])
    }

    // MARK: Threads

    /// A sheet that draws something slowly: it reports when it begins, and ends when it may.
    private final class SlowSheet: ScanSheet {
        private let drawn = Locked<[String]>([])
        let begins = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        private let isSlow: @Sendable (SheetContent) -> Bool
        var messages: [String] { drawn.withLock { $0 } }

        init(isSlow: @escaping @Sendable (SheetContent) -> Bool) { self.isSlow = isSlow }

        func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
            if isSlow(content) {
                begins.signal()
                _ = mayEnd.wait(timeout: .now() + 20)
            }
            drawn.withLock { $0.append(content.message) }
        }
    }

    /// A session of an app or of a test.
    private static func session(_ name: String, _ environment: NFCEnvironment) throws -> ReaderSession {
        let session = try #require(ReaderSession(environment: environment))
        session.alertMessage = name
        return session
    }

    private static func environment(_ sheet: SlowSheet, _ clock: ManualClock, isOfTest: Bool) -> NFCEnvironment {
        NFCEnvironment(reader: .field(VirtualField()), clock: clock, sheet: sheet, isOfTest: isOfTest)
    }

    /// What is drawn when a call returns that is made while another thread draws something slow.
    private static func drawn(
        on sheet: SlowSheet,
        while slow: @escaping @Sendable () -> Void,
        after call: @escaping @Sendable () -> Void
    ) -> [String] {
        let (begins, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let seen = Locked<[String]>([])
        DispatchQueue(label: "slow").async {
            slow()
            isDone.signal()
        }
        sheet.begins.wait()
        DispatchQueue(label: "call").async {
            begins.signal()
            call()
            let messages = sheet.messages
            seen.withLock { $0 = messages }
            isDone.signal()
        }
        begins.wait()
        // The other call may begin meanwhile, and has to wait.
        for _ in 0..<100 { sched_yield() }
        sheet.mayEnd.signal()
        for _ in 0..<2 { isDone.wait() }
        return seen.withLock { $0 }
    }

    @Test(.ownThreads) func `app's call while another thread draws: it returns at once, and is drawn after that`()
        throws
    {
        let sheet = SlowSheet { $0.message == "slow" }
        let session = try Self.session("first", Self.environment(sheet, ManualClock(), isOfTest: false))
        session.begin()
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue(label: "slow").async {
            session.alertMessage = "slow"
            isDone.signal()
        }
        sheet.begins.wait()
        session.alertMessage = "after"
        #expect(sheet.messages == ["first"])
        sheet.mayEnd.signal()
        isDone.wait()
        #expect(sheet.messages == ["first", "slow", "after"])
    }

    @Test(.ownThreads) func `test's call while another thread draws: its effects are complete when it returns`() throws
    {
        for _ in 0..<20 {
            let sheet = SlowSheet { $0.message == "slow" }
            let session = try Self.session("first", Self.environment(sheet, ManualClock(), isOfTest: true))
            session.begin()
            let seen = Self.drawn(
                on: sheet,
                while: { session.alertMessage = "slow" },
                after: { session.alertMessage = "after" }
            )
            #expect(seen == ["first", "slow", "after"])
        }
    }

    @Test(.ownThreads) func `test's session begun while the last sheet leaves: its sheet is shown when begin returns`()
        throws
    {
        for _ in 0..<20 {
            let (clock, sheet) = (ManualClock(), SlowSheet { $0.state == .dismissed })
            let environment = Self.environment(sheet, clock, isOfTest: true)
            let (last, next) = (try Self.session("last", environment), try Self.session("next", environment))
            last.begin()
            last.invalidate()
            while !environment.arbiter.isIdle { sched_yield() }
            let seen = Self.drawn(on: sheet, while: { clock.advance(by: .seconds(3)) }, after: { next.begin() })
            #expect(seen == ["last", "last", "last", "next"])
        }
    }
}
