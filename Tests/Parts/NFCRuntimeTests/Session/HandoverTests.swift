// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import NFCRuntime

/// The moment in which one session's sheet goes and the next session gets the reader.
struct `The handover of the reader` {
    /// What stands for a session.
    private final class Name: Sendable {}

    private let arbiter = SessionArbiter()
    private let events = Locked<[String]>([])
    private let a = Name()
    private let b = Name()
    private let c = Name()

    private func request(_ session: Name, _ name: String) -> SessionArbiter.Answer {
        arbiter.request(ObjectIdentifier(session), grant: { [events] in events.withLock { $0.append(name) } })
    }

    /// Lets the first session's sheet leave, during whose going something happens.
    private func letFirstLeave(_ body: @escaping @Sendable () -> Void) {
        #expect(request(a, "a") == .granted)
        arbiter.sheetBeginsToLeave(ObjectIdentifier(a)) { [events] in
            events.withLock { $0.append("a goes") }
            body()
            events.withLock { $0.append("a has gone") }
        }
        arbiter.release(ObjectIdentifier(a))
    }

    @Test func `A session that withdraws meanwhile does not let the next one draw over a sheet that is going`() {
        letFirstLeave { [arbiter, b, c] in
            #expect(request(c, "c") == .waits(forActiveSession: true))
            arbiter.withdraw(ObjectIdentifier(b))
        }
        #expect(request(b, "b") == .granted)
        #expect(events.withLock { $0 } == ["a", "a goes", "a has gone", "c"])
        #expect(!arbiter.isIdle)
        arbiter.release(ObjectIdentifier(c))
        #expect(arbiter.isIdle)
    }

    @Test func `A session that withdraws meanwhile leaves the reader free`() {
        letFirstLeave { [arbiter, b] in arbiter.withdraw(ObjectIdentifier(b)) }
        #expect(request(b, "b") == .granted)
        #expect(events.withLock { $0 } == ["a", "a goes", "a has gone"])
        #expect(arbiter.isIdle)
        #expect(request(c, "c") == .granted)
    }

    @Test func `The time of the sheet ends meanwhile, and it goes once`() {
        letFirstLeave { [arbiter, a] in arbiter.takeSheetAway(of: ObjectIdentifier(a)) }
        #expect(request(b, "b") == .granted)
        #expect(events.withLock { $0 } == ["a", "a goes", "a has gone", "b"])
        #expect(request(c, "c") == .waits(forActiveSession: true))
    }

    @Test func `A session waits for an active one, unless the last one is just ending`() {
        #expect(request(a, "a") == .granted)
        arbiter.sheetBeginsToLeave(ObjectIdentifier(a)) { [events] in events.withLock { $0.append("a goes") } }
        #expect(request(b, "b") == .waits(forActiveSession: false))
        #expect(request(c, "c") == .waits(forActiveSession: true))
        arbiter.release(ObjectIdentifier(a))
        #expect(events.withLock { $0 } == ["a", "a goes", "b"])
    }

    @Test func `A session that begins while a sheet goes by its time has the reader next, and another one waits`() {
        letFirstLeave { [b, c] in
            #expect(request(b, "b") == .waits(forActiveSession: false))
            #expect(request(c, "c") == .waits(forActiveSession: true))
        }
        arbiter.takeSheetAway(of: ObjectIdentifier(a))
        #expect(events.withLock { $0 } == ["a", "a goes", "a has gone", "b"])
        arbiter.release(ObjectIdentifier(b))
        #expect(events.withLock { $0 } == ["a", "a goes", "a has gone", "b", "c"])
    }

    @Test func `Only the session that has the reader passes it on, and only its own sheet goes`() {
        #expect(request(a, "a") == .granted)
        #expect(request(b, "b") == .waits(forActiveSession: true))
        arbiter.sheetBeginsToLeave(ObjectIdentifier(a)) { [events] in events.withLock { $0.append("a goes") } }
        for other in [b, c] {
            arbiter.takeSheetAway(of: ObjectIdentifier(other))
            arbiter.release(ObjectIdentifier(other))
        }
        arbiter.withdraw(ObjectIdentifier(c))
        #expect(events.withLock { $0 } == ["a"])
        arbiter.release(ObjectIdentifier(a))
        #expect(events.withLock { $0 } == ["a", "a goes", "b"])
    }

    @Test func `When all sessions are ended, no sheet goes any more, and a refusal that was planned is none`() {
        #expect(request(a, "a") == .granted)
        arbiter.refuse(request: 2) { [events] in events.withLock { $0.append("refused") } }
        arbiter.sheetBeginsToLeave(ObjectIdentifier(a)) { [events] in events.withLock { $0.append("a goes") } }
        arbiter.close(with: .timeout)
        arbiter.takeSheetAway(of: ObjectIdentifier(a))
        for _ in 1...16 { #expect(request(b, "b") == .isOver) }
        // Whoever begins again and again waits then, and is not told that another session is active.
        #expect(request(b, "b") == .waits(forActiveSession: false))
        // The sheet of a session that ends because of that stays as it is too.
        arbiter.sheetBeginsToLeave(ObjectIdentifier(a)) { [events] in events.withLock { $0.append("a goes late") } }
        arbiter.takeSheetAway(of: ObjectIdentifier(a))
        #expect(events.withLock { $0 } == ["a"])
    }
}
