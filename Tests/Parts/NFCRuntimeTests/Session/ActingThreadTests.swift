// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks what happens when several threads act for a session.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `The threads that act for a session` {
    /// A sheet that says when it begins to draw something that is slow, and ends when it may.
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

    /// A session that has begun, of an app or of a test.
    private static func session(_ sheet: SlowSheet, isOfTest: Bool) throws -> ReaderSession {
        let environment = NFCEnvironment(
            reader: .field(VirtualField()),
            clock: ManualClock(),
            sheet: sheet,
            isOfTest: isOfTest
        )
        let session = try #require(ReaderSession(environment: environment))
        session.alertMessage = "first"
        session.begin()
        return session
    }

    /// What is drawn when a call returns that comes while another thread draws something slow.
    private static func drawn(
        on sheet: SlowSheet,
        while slow: @escaping @Sendable () -> Void,
        after call: @escaping @Sendable () -> Void
    ) -> [String] {
        let (comes, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let seen = Locked<[String]>([])
        DispatchQueue(label: "slow").async {
            slow()
            isDone.signal()
        }
        sheet.begins.wait()
        DispatchQueue(label: "call").async {
            comes.signal()
            call()
            let messages = sheet.messages
            seen.withLock { $0 = messages }
            isDone.signal()
        }
        comes.wait()
        // The other call may begin meanwhile, and has to wait.
        for _ in 0..<100 { sched_yield() }
        sheet.mayEnd.signal()
        for _ in 0..<2 { isDone.wait() }
        return seen.withLock { $0 }
    }

    @Test func `An app's call does not wait for what another thread draws, and what it changes is drawn after that`()
        throws
    {
        let sheet = SlowSheet { $0.message == "slow" }
        let session = try Self.session(sheet, isOfTest: false)
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
        session.invalidate()
    }

    @Test func `In a test, what a call changes is drawn when it returns, also when another thread draws`() throws {
        for _ in 0..<20 {
            let sheet = SlowSheet { $0.message == "slow" }
            let session = try Self.session(sheet, isOfTest: true)
            let seen = Self.drawn(
                on: sheet,
                while: { session.alertMessage = "slow" },
                after: { session.alertMessage = "after" }
            )
            #expect(seen == ["first", "slow", "after"])
            session.invalidate()
        }
    }

    @Test func `In a test, a session that begins while the last one's sheet goes has its own when the call returns`()
        throws
    {
        for _ in 0..<20 {
            let (clock, sheet) = (ManualClock(), SlowSheet { $0.state == .dismissed })
            let environment = NFCEnvironment(
                reader: .field(VirtualField()),
                clock: clock,
                sheet: sheet,
                isOfTest: true
            )
            let last = try #require(ReaderSession(environment: environment))
            let next = try #require(ReaderSession(environment: environment))
            (last.alertMessage, next.alertMessage) = ("last", "next")
            last.begin()
            last.invalidate()
            while !environment.arbiter.isIdle { sched_yield() }
            let seen = Self.drawn(on: sheet, while: { clock.advance(by: .seconds(3)) }, after: { next.begin() })
            // Ready, the check mark, and gone.
            #expect(seen == ["last", "last", "last", "next"])
            next.invalidate()
        }
    }
}
