// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Lets one session at a time have the reader; later ones wait first in, first out.
///
/// A session that takes its turn while the sheet of the last one is still leaving replaces that sheet at once.
public final class SessionArbiter: Sendable {
    /// What happens to a session that begins while the sheet of the last one is still leaving.
    public enum BusyPolicy: Sendable, Hashable {
        /// It takes its turn at once, as the documentation says.
        case queue
        /// It ends with "system resource unavailable", as phones do in practice.
        case refuseWhileSheetLeaves
    }

    /// What becomes of a request.
    enum Answer: Sendable, Hashable {
        /// It is the caller's turn.
        case granted
        /// The caller waits: for a session that is active or waits itself, or for one that is just ending.
        case waits(forActiveSession: Bool)
        /// It is refused, and no turn comes.
        case refused
        /// It is refused, because all sessions were ended before.
        case isOver
    }

    private struct Request: Sendable {
        let id: ObjectIdentifier
        let grant: @Sendable () -> Void
        let end: @Sendable (SessionEnd) -> Void
    }

    /// A sheet that shows a result.
    private struct LeavingSheet: Sendable {
        let owner: ObjectIdentifier
        /// Takes it away.
        let takeAway: @Sendable () -> Void
        /// Whether a thread does that now.
        var isGoing = false
    }

    private struct State {
        var holder: ObjectIdentifier?
        /// Ends the holder's session.
        var endHolder: (@Sendable (SessionEnd) -> Void)?
        /// How many sessions have asked for the reader.
        var requests = 0
        /// What is called in place of granting a request, by the request's number from 1.
        var refusals: [Int: @Sendable () -> Void] = [:]
        var waiting: [Request] = []
        /// The sheet of the last session; nil when it has left.
        var leaving: LeavingSheet?
        var isClosed = false
        /// How many more requests are refused when it is closed.
        var refusalsLeft = 16

        /// The next session's turn; nil when none waits, or while a sheet is being taken away.
        mutating func next() -> (request: Request, takeAway: (@Sendable () -> Void)?)? {
            guard holder == nil, leaving?.isGoing != true, !waiting.isEmpty else { return nil }
            let next = waiting.removeFirst()
            holder = next.id
            endHolder = next.end
            return (next, leaving.take()?.takeAway)
        }
    }

    private let policy: BusyPolicy
    private let state = Locked(State())

    /// Creates an arbiter.
    ///
    /// - Parameter policy: what happens to a session that begins while the last one's sheet is still leaving.
    public init(policy: BusyPolicy = .queue) {
        self.policy = policy
    }

    /// Asks for the reader.
    ///
    /// - Parameters:
    ///   - id: who asks.
    ///   - grant: called when it is the caller's turn, at once or later, never under the arbiter's lock.
    ///   - end: ends the caller's session, when the system takes the reader away.
    /// - Returns: what becomes of the request.
    func request(
        _ id: ObjectIdentifier,
        grant: @escaping @Sendable () -> Void,
        end: @escaping @Sendable (SessionEnd) -> Void = { _ in }
    ) -> Answer {
        let refusal = state.withLock { state in
            state.requests += 1
            return state.refusals.removeValue(forKey: state.requests)
        }
        if let refusal {
            refusal()
            return .refused
        }
        let (answer, takeAway) = state.withLock { state -> (Answer, (@Sendable () -> Void)?) in
            if state.isClosed {
                // A client that begins again at once, whatever happens, would do so for ever.
                state.refusalsLeft -= 1
                return (state.refusalsLeft >= 0 ? .isOver : .waits(forActiveSession: false), nil)
            }
            if state.holder == nil, policy == .refuseWhileSheetLeaves, state.leaving != nil { return (.refused, nil) }
            // The sheet leaves while its session ends.
            let isEnding = state.leaving != nil && state.waiting.isEmpty
            state.waiting.append(Request(id: id, grant: grant, end: end))
            guard let next = state.next() else { return (.waits(forActiveSession: !isEnding), nil) }
            return (.granted, next.takeAway)
        }
        if answer == .granted {
            takeAway?()
            grant()
        }
        return answer
    }

    /// Whether another one than the caller has the reader.
    func isHeld(byOtherThan id: ObjectIdentifier) -> Bool {
        state.withLock { state in state.holder.map { $0 != id } ?? false }
    }

    /// Takes a waiting request back, or hands on the reader when its turn has come meanwhile.
    func withdraw(_ id: ObjectIdentifier) {
        let isHolder = state.withLock { state in
            state.waiting.removeAll { $0.id == id }
            return state.holder == id
        }
        if isHolder { release(id) }
    }

    /// Hands the reader on to the next session.
    func release(_ id: ObjectIdentifier) {
        handOn { state in
            guard state.holder == id else { return }
            state.holder = nil
            state.endHolder = nil
        }
    }

    /// Says that the holder's sheet is leaving.
    ///
    /// - Parameters:
    ///   - id: the holder.
    ///   - takeAway: takes the sheet away. Called once, before the next session's sheet is there.
    func sheetBeginsToLeave(_ id: ObjectIdentifier, takeAway: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isClosed { $0.leaving = LeavingSheet(owner: id, takeAway: takeAway) } }
    }

    /// Takes a session's sheet away, unless the next one has replaced it.
    func takeSheetAway(of id: ObjectIdentifier) {
        let takeAway = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.leaving?.owner == id, state.leaving?.isGoing == false else { return nil }
            state.leaving?.isGoing = true
            return state.leaving?.takeAway
        }
        guard let takeAway else { return }
        takeAway()
        // A session that came meanwhile has waited.
        handOn { $0.leaving = nil }
    }

    /// Changes the state, and lets the next session have its turn when the reader is free.
    private func handOn(after change: (inout State) -> Void) {
        let next = state.withLock { state in
            change(&state)
            return state.next()
        }
        next?.takeAway?()
        next?.request.grant()
    }

    /// How many sessions have asked for the reader so far.
    package var requestCount: Int { state.withLock { $0.requests } }

    /// Refuses a request to come, as when the system is busy.
    ///
    /// - Parameters:
    ///   - number: which of all requests, from 1.
    ///   - onRefusal: called when it is refused.
    package func refuse(request number: Int, onRefusal: @escaping @Sendable () -> Void) {
        state.withLock { $0.refusals[number] = onRefusal }
    }

    /// Ends the session that has the reader, as when its app goes to the background.
    ///
    /// - Parameter end: what the session ends with.
    /// - Returns: false when no session has the reader.
    @discardableResult
    package func endSession(with end: SessionEnd) -> Bool {
        guard let endHolder = state.withLock({ $0.endHolder }) else { return false }
        endHolder(end)
        return true
    }

    /// Ends all sessions and takes no more, as when the test is over to which they belong. What the arbiter holds of a session
    /// would hold the arbiter too.
    ///
    /// - Parameter end: what the sessions end with.
    package func close(with end: SessionEnd) {
        let (held, ends) = state.withLock { state -> (State, [@Sendable (SessionEnd) -> Void]) in
            let held = state
            state.isClosed = true
            (state.waiting, state.refusals, state.leaving) = ([], [:], nil)
            return (held, [held.endHolder].compactMap(\.self) + held.waiting.map(\.end))
        }
        // The sessions that wait may be freed when what was held is: outside of the lock.
        withExtendedLifetime(held) { for endSession in ends { endSession(end) } }
    }

    /// Whether no session has the reader and none waits for it.
    package var isIdle: Bool {
        state.withLock { $0.holder == nil && $0.waiting.isEmpty }
    }
}
