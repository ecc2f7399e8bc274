// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(1))) struct `Sessions that take turns` {
    private static let canceled = "ended: userCanceled"
    private let scene = Scene(.field(VirtualField()))

    @Test func `They come in the order in which they began, each after the end of the one before it`() async throws {
        let (a, b, c) = (try scene.session("a"), try scene.session("b"), try scene.session("c"))
        a.begin()
        c.begin()
        b.begin()
        #expect(await scene.event() == "a active")
        #expect(a.isActive && !b.isActive && !c.isActive && !b.hasEnded)
        // Each of the two sessions that wait for an active one gets one notice.
        #expect(scene.notices("A session waits for its turn") == 2)
        a.invalidate()
        #expect(await scene.events(2) == ["a \(Self.canceled)", "c active"])
        c.invalidate(errorMessage: "No.")
        #expect(await scene.events(2) == ["c \(Self.canceled)", "b active"])
        b.fail(.terminatedUnexpectedly(reason: "Gone."))
        #expect(await scene.event() == "b ended: \(SessionEnd.terminatedUnexpectedly(reason: "Gone."))")
        await scene.untilIdle()
        #expect(scene.environment.arbiter.requestCount == 3)
        // The sheet of the next one replaces the one that is leaving: never are two to be seen.
        #expect(
            scene.sheet.history == [
                "ready: a", "success: a", "dismissed: a", "ready: c", "failure: No.", "dismissed: No.",
                "ready: b", "dismissed: b",
            ]
        )
    }

    @Test func `The next one comes after the last one and its sheet, whichever thread is first`() async throws {
        for _ in 0..<100 {
            let scene = Scene(.field(VirtualField()))
            let (a, b) = (try scene.session("a"), try scene.session("b"))
            a.begin()
            b.begin()
            // The end of the session comes from the reader's thread while this one is still in the call.
            a.invalidate()
            #expect(await scene.events(3) == ["a active", "a \(Self.canceled)", "b active"])
            #expect(scene.sheet.history == ["ready: a", "success: a", "dismissed: a", "ready: b"])
            b.invalidate()
        }
    }

    @Test func `One that begins just when the last one's sheet leaves has its own after it`() async throws {
        for _ in 0..<100 {
            let scene = Scene(.field(VirtualField()))
            let (a, b) = (try scene.session("a"), try scene.session("b"))
            a.begin()
            a.invalidate()
            #expect(await scene.events(2) == ["a active", "a \(Self.canceled)"])
            await scene.untilIdle()
            async let leaving: Void = scene.clock.advance(by: .milliseconds(2500))
            b.begin()
            #expect(await scene.event() == "b active")
            await leaving
            #expect(scene.sheet.history == ["ready: a", "success: a", "dismissed: a", "ready: b"])
            b.invalidate()
        }
    }

    @Test func `One that begins when the last one's sheet is still there replaces it at once`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        a.invalidate()
        #expect(await scene.events(2) == ["a active", "a \(Self.canceled)"])
        await scene.untilIdle()
        #expect(scene.sheet.content?.state == .success)
        b.begin()
        #expect(await scene.event() == "b active")
        #expect(scene.sheet.history == ["ready: a", "success: a", "dismissed: a", "ready: b"])
        // The time at which the first sheet would have gone does nothing to the second one.
        scene.clock.advance(by: .seconds(10))
        #expect(scene.sheet.content?.state == .ready)
        #expect(scene.notices("A session waits") == 0)
        b.invalidate()
        #expect(await scene.event() == "b \(Self.canceled)")
    }

    @Test func `A sheet shows the result for two and a half seconds`() async throws {
        let a = try scene.session("a")
        a.begin()
        a.invalidate()
        #expect(await scene.events(2) == ["a active", "a \(Self.canceled)"])
        scene.clock.advance(by: .milliseconds(2499))
        #expect(scene.sheet.content?.state == .success)
        scene.clock.advance(by: .milliseconds(1))
        #expect(scene.sheet.content?.state == .dismissed)
    }

    @Test func `With the switch of phones on, one is refused until the last sheet has left`() async throws {
        let scene = Scene(.field(VirtualField()), policy: .refuseWhileSheetLeaves)
        let (a, b, c) = (try scene.session("a"), try scene.session("b"), try scene.session("c"))
        a.begin()
        a.invalidate()
        #expect(await scene.events(2) == ["a active", "a \(Self.canceled)"])
        await scene.untilIdle()
        scene.clock.advance(by: .milliseconds(2499))
        b.begin()
        #expect(await scene.event() == "b ended: systemBusy")
        #expect(b.hasEnded && scene.sheet.history == ["ready: a", "success: a"])
        scene.clock.advance(by: .milliseconds(1))
        c.begin()
        #expect(await scene.event() == "c active")
        c.invalidate()
        #expect(await scene.event() == "c \(Self.canceled)")
    }

    @Test func `With the switch on, one is refused as soon as the last sheet leaves, and one that waits has its turn`()
        async throws
    {
        let scene = Scene(.field(VirtualField()), policy: .refuseWhileSheetLeaves)
        let ended = try #require(ReaderSession(environment: scene.environment))
        let (b, c) = (try scene.session("b"), try scene.session("c"))
        // The reader is passed on after the end was reported.
        ended.observe { event in
            if case .ended = event { c.begin() }
        }
        ended.begin()
        ended.invalidate()
        #expect(await scene.event() == "c ended: systemBusy")
        await scene.untilIdle()
        scene.clock.advance(by: .milliseconds(2500))
        let a = try scene.session("a")
        a.begin()
        b.begin()
        a.invalidate()
        #expect(await scene.events(3) == ["a active", "a \(Self.canceled)", "b active"])
        b.invalidate()
        #expect(await scene.event() == "b \(Self.canceled)")
    }

    @Test func `One that waits and is invalidated ends at once, and its turn is the next one's`() async throws {
        let (a, b, c) = (try scene.session("a"), try scene.session("b"), try scene.session("c"))
        for session in [a, b, c] { session.begin() }
        b.invalidate(errorMessage: "Never shown.")
        #expect(await scene.events(2) == ["a active", "b \(Self.canceled)"])
        #expect(a.isActive && scene.sheet.content?.state == .ready)
        a.invalidate()
        #expect(await scene.events(2) == ["a \(Self.canceled)", "c active"])
        c.invalidate()
        #expect(await scene.event() == "c \(Self.canceled)")
        await scene.untilIdle()
        #expect(!scene.sheet.history.contains { $0.contains("Never shown.") || $0.contains("b") })
    }

    @Test func `One that was never begun ends without a turn, and never begins`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.invalidate()
        #expect(await scene.event() == "a \(Self.canceled)")
        a.begin()
        b.begin()
        #expect(await scene.event() == "b active")
        #expect(scene.sheet.history == ["ready: b"])
        b.invalidate()
        #expect(await scene.event() == "b \(Self.canceled)")
    }

    @Test func `A button of a sheet that has gone cancels nobody`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        b.begin()
        #expect(await scene.event() == "a active")
        scene.sheet.pressCancel(drawing: 0)
        #expect(await scene.events(2) == ["a \(Self.canceled)", "b active"])
        // The person cancelled: there is no result to show.
        #expect(scene.sheet.history == ["ready: a", "dismissed: a", "ready: b"])
        scene.sheet.pressCancel(drawing: 0)
        scene.sheet.pressCancel(drawing: 1)
        #expect(b.isActive)
        scene.sheet.pressCancel(drawing: 2)
        #expect(await scene.event() == "b \(Self.canceled)")
    }

    @Test func `The system takes the reader from the session that has it, and from no other`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        #expect(!scene.environment.arbiter.endSession(with: .appInBackground))
        a.begin()
        b.begin()
        #expect(scene.environment.arbiter.endSession(with: .appInBackground))
        #expect(await scene.events(3) == ["a active", "a ended: appInBackground", "b active"])
        #expect(scene.environment.arbiter.endSession(with: .appInBackground))
        #expect(await scene.event() == "b ended: appInBackground")
        await scene.untilIdle()
        #expect(!scene.environment.arbiter.endSession(with: .appInBackground))
    }

    @Test func `A request that is to be refused is, and no other`() async throws {
        let refused = Locked(0)
        scene.environment.arbiter.refuse(request: 2) { refused.withLock { $0 += 1 } }
        let (a, b, c) = (try scene.session("a"), try scene.session("b"), try scene.session("c"))
        for session in [a, b, c] { session.begin() }
        #expect(await scene.events(2) == ["a active", "b ended: systemBusy"])
        #expect(refused.withLock { $0 } == 1)
        a.invalidate()
        #expect(await scene.events(2) == ["a \(Self.canceled)", "c active"])
        c.invalidate()
        #expect(await scene.event() == "c \(Self.canceled)")
    }

    @Test func `When a test's field ends, all of its sessions do, and begin no more`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        b.begin()
        let reason = SessionEnd.terminatedUnexpectedly(reason: "It is over.")
        scene.environment.arbiter.close(with: reason)
        #expect(await scene.events(3).sorted() == ["a active", "a ended: \(reason)", "b ended: \(reason)"])
        await scene.untilIdle()
        var late: [ReaderSession] = []
        for number in 1...17 {
            let session = try scene.session("\(number)")
            session.begin()
            late.append(session)
        }
        #expect(await scene.events(16) == (1...16).map { "\($0) ended: systemBusy" })
        // A client that always restarts would do so without end; it waits instead.
        #expect(late.last?.hasEnded == false && late.last?.isActive == false)
        #expect(scene.notices("A session was begun by what a test has left behind") == 1)
    }

    @Test func `The message of a session that waits is shown when its turn comes, and one that is too late never`()
        async throws
    {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        b.begin()
        b.alertMessage = "b, later"
        a.alertMessage = "a, now"
        #expect(scene.sheet.history == ["ready: a", "ready: a, now"])
        a.alertMessage = "a, now"
        a.drawsErrorSymbol = false
        a.invalidate(errorMessage: "It failed.")
        #expect(scene.sheet.content?.showsErrorSymbol == false)
        a.alertMessage = "a, too late"
        #expect(await scene.events(3) == ["a active", "a \(Self.canceled)", "b active"])
        b.invalidate(errorMessage: "It failed too.")
        #expect(await scene.event() == "b \(Self.canceled)")
        #expect(scene.sheet.content?.showsErrorSymbol == true)
        #expect(
            scene.sheet.history == [
                "ready: a", "ready: a, now", "failure: It failed.", "dismissed: It failed.", "ready: b, later",
                "failure: It failed too.",
            ]
        )
    }

    @Test func `The use of a tag of an ended session, while another one is active, is reported to the author once`()
        async throws
    {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        let scene = Scene(.field(field))
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let tag = try #require(scene.tags.first)
        a.invalidate()
        #expect(await scene.event() == "a \(Self.canceled)")
        #expect(await a.read(tag) == .failure(.sessionInvalidated))
        await scene.untilIdle()
        #expect(scene.notices("A tag of a session that has ended was used") == 0)
        b.begin()
        #expect(await scene.events(2) == ["b active", "b found 1"])
        for _ in 0..<2 { #expect(await a.read(tag) == .failure(.sessionInvalidated)) }
        #expect(scene.notices("A tag of a session that has ended was used") == 1)
        b.invalidate()
        #expect(await scene.event() == "b \(Self.canceled)")
    }

    @Test func `A result that the next sheet replaces is no longer waited for`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        a.invalidate(errorMessage: "No.")
        #expect(await scene.events(2) == ["a active", "a \(Self.canceled)"])
        await scene.untilIdle()
        #expect(scene.clock.scheduledEventCount == 1)
        b.begin()
        #expect(await scene.event() == "b active")
        // The limit of the session alone.
        #expect(scene.clock.scheduledEventCount == 1)
        #expect(scene.sheet.history == ["ready: a", "failure: No.", "dismissed: No.", "ready: b"])
        b.invalidate()
        #expect(await scene.event() == "b \(Self.canceled)")
        await scene.untilIdle()
        #expect(scene.clock.scheduledEventCount == 1)
        scene.clock.advance(by: .seconds(3))
        #expect(scene.clock.scheduledEventCount == 0 && scene.sheet.content?.state == .dismissed)
    }
}
