// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Grants the reader to one session at a time. Later sessions wait in a queue.
///
/// If a session gets the reader while the previous session's sheet is still visible, it replaces that sheet at once.
public final class SessionArbiter: Sendable {
    /// The treatment of a session that begins while the previous session's sheet is still visible.
    public enum BusyPolicy: Sendable, Hashable {
        /// The session gets the reader at once, as Apple documents.
        case queue
        /// The session ends with "system resource unavailable", as on real phones.
        case refuseWhileSheetLeaves
    }

    enum Answer: Sendable, Hashable {
        case granted
        /// The caller waits for a session that is active or queued, or for a session that is just ending.
        case waits(forActiveSession: Bool)
        /// The request is refused for good.
        case refused
        /// The request is refused, because the arbiter was closed.
        case isOver
    }

    private struct Request: Sendable {
        let id: ObjectIdentifier
        let grant: @Sendable () -> Void
        let end: @Sendable (SessionEnd) -> Void
    }

    private struct LeavingSheet: Sendable {
        let owner: ObjectIdentifier
        let remove: @Sendable () -> Void
        var isBeingRemoved = false
    }

    /// A session that has become the holder, and a closure that first removes the last session's sheet.
    private struct Grant: Sendable {
        let request: Request
        let remove: (@Sendable () -> Void)?
    }

    private struct State {
        var holder: ObjectIdentifier?
        var endHolder: (@Sendable (SessionEnd) -> Void)?
        var requests = 0
        /// The requests to refuse, by number starting at 1, with the closures to call.
        var refusals: [Int: @Sendable () -> Void] = [:]
        var waiting: [Request] = []
        /// The sheet of the last session; nil when it has left.
        var leaving: LeavingSheet?
        var isClosed = false
        /// How many further requests are refused after closing.
        var refusalsLeft = 16

        /// Makes the next session the holder, unless no session waits or a sheet is being removed.
        mutating func next() -> Grant? {
            guard holder == nil, leaving?.isBeingRemoved != true, !waiting.isEmpty else { return nil }
            let next = waiting.removeFirst()
            holder = next.id
            endHolder = next.end
            leaving?.isBeingRemoved = true
            return Grant(request: next, remove: leaving?.remove)
        }

        /// Called when the last session's sheet was removed for a new holder. The holder may have withdrawn meanwhile.
        mutating func sheetWasRemoved(for grant: Grant) -> Grant? {
            leaving = nil
            return holder == grant.request.id ? Grant(request: grant.request, remove: nil) : next()
        }
    }

    private let policy: BusyPolicy
    private let state = Locked(State())

    /// Creates an arbiter.
    ///
    /// - Parameter policy: the treatment of a session that begins while the previous sheet is still visible.
    public init(policy: BusyPolicy = .queue) { self.policy = policy }

    /// Requests the reader.
    ///
    /// - Parameters:
    ///   - grant: called when the caller gets the reader, at once or later, never under the arbiter's lock.
    ///   - end: ends the caller's session when the system takes the reader away.
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
        let (answer, granted) = state.withLock { state -> (Answer, Grant?) in
            if state.isClosed {
                // Without this limit, a client that begins a new session after each refusal would never stop.
                state.refusalsLeft -= 1
                return (state.refusalsLeft >= 0 ? .isOver : .waits(forActiveSession: false), nil)
            }
            // The sheet counts as leaving until another session has become the holder.
            let isOwners = state.holder == nil || state.holder == state.leaving?.owner
            let isLeaving = state.leaving != nil && isOwners
            if isLeaving, policy == .refuseWhileSheetLeaves { return (.refused, nil) }
            let isEnding = isLeaving && state.waiting.isEmpty
            state.waiting.append(Request(id: id, grant: grant, end: end))
            guard let next = state.next() else { return (.waits(forActiveSession: !isEnding), nil) }
            return (.granted, next)
        }
        finish(granted)
        return answer
    }

    func isHeld(byOtherThan id: ObjectIdentifier) -> Bool {
        state.withLock { state in state.holder.map { $0 != id } ?? false }
    }

    /// Withdraws a waiting request, or passes the reader on if it was granted meanwhile.
    func withdraw(_ id: ObjectIdentifier) {
        let isHolder = state.withLock { state in
            state.waiting.removeAll { $0.id == id }
            return state.holder == id
        }
        if isHolder { release(id) }
    }

    func release(_ id: ObjectIdentifier) {
        passOn { state in
            guard state.holder == id else { return }
            state.holder = nil
            state.endHolder = nil
        }
    }

    /// Called when the holder's sheet shows its result and will soon be removed.
    ///
    /// - Parameter remove: removes the sheet. Called once, before the next session's sheet is shown.
    func sheetShowsResult(of id: ObjectIdentifier, remove: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isClosed { $0.leaving = LeavingSheet(owner: id, remove: remove) } }
    }

    /// Removes a session's sheet, unless the next sheet has replaced it.
    func removeSheet(of id: ObjectIdentifier) {
        let remove = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.leaving?.owner == id, state.leaving?.isBeingRemoved == false else { return nil }
            state.leaving?.isBeingRemoved = true
            return state.leaving?.remove
        }
        guard let remove else { return }
        remove()
        // A session may have requested the reader meanwhile. It is waiting now.
        passOn { $0.leaving = nil }
    }

    /// Changes the state, and grants the reader to the next session if the reader is free.
    private func passOn(after change: (inout State) -> Void) {
        finish(
            state.withLock { state in
                change(&state)
                return state.next()
            }
        )
    }

    /// Removes the last session's sheet, and informs the new holder. No other session gets the reader before the sheet
    /// is removed, even if the new holder withdraws.
    private func finish(_ grant: Grant?) {
        var grant = grant
        while let current = grant {
            guard let remove = current.remove else { return current.request.grant() }
            remove()
            grant = state.withLock { $0.sheetWasRemoved(for: current) }
        }
    }

    package var requestCount: Int { state.withLock { $0.requests } }

    /// Refuses a future request, as if the system were busy.
    ///
    /// - Parameter number: the number of the request, starting at 1.
    package func refuse(request number: Int, onRefusal: @escaping @Sendable () -> Void) {
        state.withLock { $0.refusals[number] = onRefusal }
    }

    /// Ends the session that has the reader, for example because its app goes to the background. Returns false when no
    /// session has the reader.
    @discardableResult
    package func endSession(with end: SessionEnd) -> Bool {
        guard let endHolder = state.withLock({ $0.endHolder }) else { return false }
        endHolder(end)
        return true
    }

    /// Ends all sessions and refuses new ones, for example when the test is over. This also breaks reference cycles
    /// between the arbiter and the sessions.
    package func close(with end: SessionEnd) {
        let (held, ends) = state.withLock { state -> (State, [@Sendable (SessionEnd) -> Void]) in
            let held = state
            state.isClosed = true
            (state.waiting, state.refusals, state.leaving) = ([], [:], nil)
            return (held, [held.endHolder].compactMap(\.self) + held.waiting.map(\.end))
        }
        // Releasing the old state may free waiting sessions, so this happens outside the lock.
        withExtendedLifetime(held) { for endSession in ends { endSession(end) } }
    }

    package var isIdle: Bool { state.withLock { $0.holder == nil && $0.waiting.isEmpty } }
}

/// A recursive lock.
///
/// Session actions never block, so every thread gets the lock soon.
@safe
final class RecursiveLock: @unchecked Sendable {
    // Sendable because a mutex is made for use by several threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        defer { unsafe pthread_mutexattr_destroy(&attributes) }
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        unsafe pthread_mutex_init(mutex, &attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func lock() { unsafe pthread_mutex_lock(mutex) }

    func unlock() { unsafe pthread_mutex_unlock(mutex) }
}
