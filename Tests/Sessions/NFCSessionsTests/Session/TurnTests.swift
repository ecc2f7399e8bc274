// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import Testing
import VirtualTags

/// Which session has the reader and the sheet, and when.
@Suite(.timeLimit(.minutes(1))) struct TurnTests {
    private let scene = Scene(.field(VirtualField()))

    private func sessions() throws -> (ReaderSession, ReaderSession, ReaderSession) {
        (try scene.session("a"), try scene.session("b"), try scene.session("c"))
    }

    @Test func `sessions begun together: one at a time is active, in the order of begin(), each with its own sheet`()
        async throws
    {
        let (a, b, c) = try sessions()
        a.begin()
        c.begin()
        b.begin()
        #expect(await scene.event() == "a active")
        #expect(a.isActive && !b.isActive && !c.isActive && !b.hasEnded)
        #expect(scene.notices("A session waits for its turn") == 2)
        a.invalidate()
        #expect(await scene.events(2) == ["a ended: userCanceled", "c active"])
        c.invalidate(errorMessage: "No.")
        #expect(await scene.events(2) == ["c ended: userCanceled", "b active"])
        b.fail(.timeout)
        #expect(await scene.event() == "b ended: timeout")
        await scene.untilIdle()
        #expect(scene.environment.arbiter.requestCount == 3)
        let sheets = [
            "ready: a", "success: a", "dismissed: a", "ready: c", "failure: No.", "dismissed: No.", "ready: b",
            "dismissed: b",
        ]
        #expect(scene.sheet.history == sheets)
    }

    @Test func `sheet with a result: dismissed after 2.5 s, or at once for the next session`() async throws {
        let (a, b, _) = try sessions()
        a.begin()
        a.invalidate()
        #expect(await scene.events(2) == ["a active", "a ended: userCanceled"])
        await scene.untilIdle()
        scene.clock.advance(by: .milliseconds(2499))
        #expect(scene.sheet.content?.state == .success)
        b.begin()
        #expect(await scene.event() == "b active")
        #expect(scene.sheet.history == ["ready: a", "success: a", "dismissed: a", "ready: b"])
        // The first sheet's time does nothing to the second one.
        scene.clock.advance(by: .seconds(10))
        #expect(b.isActive && scene.sheet.content?.state == .ready && scene.notices("A session waits") == 0)
        b.invalidate(errorMessage: "No.")
        #expect(await scene.event() == "b ended: userCanceled")
        await scene.untilIdle()
        scene.clock.advance(by: .milliseconds(2499))
        #expect(scene.sheet.content?.state == .failure)
        scene.clock.advance(by: .milliseconds(1))
        #expect(scene.sheet.content?.state == .dismissed)
    }

    @Test func `refusing policy: a session that begins while the sheet leaves ends with systemBusy`() async throws {
        let scene = Scene(.field(VirtualField()), policy: .refuseWhileSheetLeaves)
        let names = ["a", "b", "c", "d", "e"]
        let sessions = try names.map { try scene.session($0) }
        // The first one begins the second in its own end.
        scene.onEvent.withLock {
            $0 = { session, event in
                if case .ended = event, session === sessions[0] { sessions[1].begin() }
            }
        }
        sessions[0].begin()
        sessions[0].invalidate()
        #expect(await scene.events(3).sorted() == ["a active", "a ended: userCanceled", "b ended: systemBusy"])
        await scene.untilIdle()
        scene.clock.advance(by: .milliseconds(2499))
        sessions[2].begin()
        #expect(await scene.event() == "c ended: systemBusy")
        #expect(sessions[2].hasEnded && scene.sheet.history == ["ready: a", "success: a"])
        scene.clock.advance(by: .milliseconds(1))
        // One that waits before the end has its turn.
        for session in sessions[3...] { session.begin() }
        sessions[3].invalidate()
        #expect(await scene.events(3) == ["d active", "d ended: userCanceled", "e active"])
    }

    @Test func `waiting or unbegun session, invalidated: it ends at once without a sheet`() async throws {
        let (a, b, c) = try sessions()
        for session in [a, b] { session.begin() }
        c.invalidate()
        c.begin()
        b.invalidate(errorMessage: "Never shown.")
        #expect(await scene.events(3) == ["a active", "c ended: userCanceled", "b ended: userCanceled"])
        #expect(a.isActive && scene.sheet.content?.state == .ready)
        let d = try scene.session("d")
        d.begin()
        a.invalidate()
        #expect(await scene.events(2) == ["a ended: userCanceled", "d active"])
        #expect(scene.sheet.history == ["ready: a", "success: a", "dismissed: a", "ready: d"])
    }

    @Test func `Cancel button: ends the session of its own sheet and no other`() async throws {
        let (a, b, _) = try sessions()
        a.begin()
        b.begin()
        #expect(await scene.event() == "a active")
        scene.sheet.pressCancel(drawing: 0)
        #expect(await scene.events(2) == ["a ended: userCanceled", "b active"])
        #expect(scene.sheet.history == ["ready: a", "dismissed: a", "ready: b"])
        for old in 0...1 { scene.sheet.pressCancel(drawing: old) }
        #expect(b.isActive)
        scene.sheet.pressCancel(drawing: 2)
        #expect(await scene.event() == "b ended: userCanceled")
    }

    @Test func `endSession(with:) of the arbiter: ends the active session, and the next one becomes active`()
        async throws
    {
        let (a, b, c) = try sessions()
        let (arbiter, refused) = (scene.environment.arbiter, Locked(0))
        arbiter.refuse(request: 3) { refused.withLock { $0 += 1 } }
        #expect(!arbiter.endSession(with: .appInBackground))
        for session in [a, b, c] { session.begin() }
        #expect(await scene.events(2) == ["a active", "c ended: systemBusy"])
        #expect(refused.withLock { $0 } == 1)
        #expect(arbiter.endSession(with: .appInBackground))
        #expect(await scene.events(2) == ["a ended: appInBackground", "b active"])
        #expect(arbiter.endSession(with: .appInBackground))
        #expect(await scene.event() == "b ended: appInBackground")
        await scene.untilIdle()
        #expect(!arbiter.endSession(with: .appInBackground))
    }

    @Test func `closed arbiter: all sessions end, the next 16 get systemBusy, and later ones wait without an end`()
        async throws
    {
        let (a, b, _) = try sessions()
        a.begin()
        b.begin()
        scene.environment.arbiter.close(with: .unsupported(reason: "Over."))
        let end = SessionEnd.unsupported(reason: "Over.")
        #expect(await scene.events(3).sorted() == ["a active", "a ended: \(end)", "b ended: \(end)"])
        await scene.untilIdle()
        let late = try (1...17).map { try scene.session("\($0)") }
        for session in late { session.begin() }
        #expect(await scene.events(16) == (1...16).map { "\($0) ended: systemBusy" })
        // A client that always restarts would do so without end. It waits instead.
        #expect(!late[16].hasEnded && !late[16].isActive)
        #expect(scene.notices("Code left over from a finished test started a session") == 1)
    }

    @Test func `alertMessage: shown at once by the active session, at its turn by a waiting one, never after the end`()
        async throws
    {
        let (a, b, _) = try sessions()
        a.begin()
        b.begin()
        b.alertMessage = "b, later"
        for _ in 0..<2 { a.alertMessage = "a, now" }
        #expect(scene.sheet.history == ["ready: a", "ready: a, now"])
        a.drawsErrorSymbol = false
        a.invalidate(errorMessage: "It failed.")
        #expect(scene.sheet.content?.showsErrorSymbol == false)
        a.alertMessage = "a, too late"
        #expect(await scene.events(3) == ["a active", "a ended: userCanceled", "b active"])
        b.invalidate(errorMessage: "It failed too.")
        #expect(await scene.event() == "b ended: userCanceled")
        #expect(scene.sheet.content?.showsErrorSymbol == true)
        let sheets = [
            "ready: a", "ready: a, now", "failure: It failed.", "dismissed: It failed.", "ready: b, later",
            "failure: It failed too.",
        ]
        #expect(scene.sheet.history == sheets)
    }

    @Test func `tag of an ended session, used while another is active: one notice to the author`() async throws {
        let scene = Scene(.field(field(ntag())))
        let (a, tags) = try await scene.finding()
        a.invalidate()
        #expect(await scene.event() == Scene.canceled)
        let notice = "A tag of a session that has ended was used"
        #expect(await a.read(tags[0]) == .failure(.sessionInvalidated))
        await scene.untilIdle()
        #expect(scene.notices(notice) == 0)
        try scene.session("b").begin()
        #expect(await scene.events(2) == ["b active", "b found 1"])
        for _ in 0..<2 { #expect(await a.read(tags[0]) == .failure(.sessionInvalidated)) }
        #expect(scene.notices(notice) == 1)
    }

    // MARK: The phone

    private final class Phone: SessionHost {
        let withheld: SessionNeeds
        init(_ withheld: SessionNeeds) { self.withheld = withheld }
        func note(_ event: SessionEvent, of session: Int) {}
    }

    @Test(
        arguments: [
            ([], "a active"), (.radio, "a ended: radioDisabled"), (.freeReader, "a ended: systemBusy"),
            ([.radio, .freeReader], "a ended: radioDisabled"), ([.entitlement, .usageText], "a active"),
        ] as [(SessionNeeds, String)]
    )
    func `phone without radio or free reader: the session ends with the reason`(withheld: SessionNeeds, event: String)
        async throws
    {
        let scene = Scene(.field(VirtualField()), host: Phone(withheld))
        let session = try scene.session()
        session.begin()
        #expect(await scene.event() == event)
    }
}
