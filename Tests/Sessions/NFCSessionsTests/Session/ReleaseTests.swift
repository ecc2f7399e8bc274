// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import NFCSessions
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// The threads that act for a session, and what a session lets go of at its end.
@Suite(.timeLimit(.minutes(1))) struct ReleaseTests {
    @Test(arguments: [false, true])
    func `session that ends during a poll: the poll is cancelled and interrupted before the reader is released`(
        isWaiting: Bool
    )
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
            let session = try #require(ReaderSession(environment: scene.environment))
            let events = Locked(0)
            (kept, listener) = (session, events)
            session.alertMessage = "a"
            session.observe { _ in events.withLock { $0 += 1 } }
            session.begin()
            await until { events.withLock { $0 } == 2 }
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

    /// A sheet that draws one message slowly: it reports when it begins, and ends when it may.
    private final class SlowSheet: ScanSheet {
        private let drawn = Locked<[String]>([])
        let begins = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        var messages: [String] { drawn.withLock { $0 } }

        func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
            if content.message == "slow" {
                begins.signal()
                _ = mayEnd.wait(timeout: .now() + 20)
            }
            drawn.withLock { $0.append(content.message) }
        }
    }

    @Test(.ownThreads, arguments: [false, true])
    func `alertMessage set while another thread draws: returns at once in an app, after the drawing in a test`(
        belongsToTest: Bool
    ) throws {
        for _ in 0..<10 {
            let (sheet, clock, group) = (SlowSheet(), ManualClock(), DispatchGroup())
            let reader = NFCEnvironment.Reader.field(VirtualField())
            let environment = NFCEnvironment(reader: reader, clock: clock, sheet: sheet, belongsToTest: belongsToTest)
            let session = try #require(ReaderSession(environment: environment))
            session.alertMessage = "first"
            session.begin()
            DispatchQueue(label: "slow").async(group: group) { session.alertMessage = "slow" }
            sheet.begins.wait()
            let seen = Locked<[String]>([])
            DispatchQueue(label: "call").async(group: group) {
                session.alertMessage = "after"
                let messages = sheet.messages
                seen.withLock { $0 = messages }
            }
            // An app's call does not wait. A test's may begin meanwhile, and waits.
            if belongsToTest { for _ in 0..<100 { sched_yield() } } else { waitWhile(seen.withLock { $0 }.isEmpty) }
            sheet.mayEnd.signal()
            group.wait()
            #expect(seen.withLock { $0 } == (belongsToTest ? ["first", "slow", "after"] : ["first"]))
            #expect(sheet.messages == ["first", "slow", "after"])
        }
    }
}
