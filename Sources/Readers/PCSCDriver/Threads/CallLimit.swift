// SPDX-License-Identifier: Apache-2.0

/// Limits the time of calls to the service. When a call takes too long, or its caller is cancelled, its connection is
/// cut.
///
/// A thread watches the calls, only while there are any. It checks once in each limit's time, not for each call.
final class CallLimit: Sendable {
    private struct State {
        /// When to cut the current call.
        var deadline: UInt64?
        var isWatched = false
        /// When the watching thread checks next; nil while it waits to be woken.
        var nextLook: UInt64?
        var wasCut = false
        var isInterrupted = false
        var isFinished = false
    }

    private let state = Monitor(State())
    private let nanoseconds: UInt64
    private let cut: @Sendable () -> Void

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - milliseconds: the maximum time of a call.
    ///   - cut: ends the current call, from another thread.
    init(milliseconds: Int, cut: @escaping @Sendable () -> Void) {
        nanoseconds = UInt64(milliseconds) * Monitor<State>.millisecond
        self.cut = cut
    }

    /// Begins a call.
    ///
    /// - Parameter milliseconds: a shorter limit for this call; nil for the usual one.
    /// - Throws: `cancelled` while calls are interrupted; then the call must not be made.
    func begin(within milliseconds: Int? = nil) throws(SmartCardError) {
        let span = milliseconds.map { min(nanoseconds, UInt64($0) * Monitor<State>.millisecond) } ?? nanoseconds
        let (isWanted, starts, signals) = state.withLock { state -> (Bool, Bool, Bool) in
            guard !state.isInterrupted else { return (false, false, false) }
            let deadline = Monitor<State>.now + span
            state.deadline = deadline
            state.wasCut = false
            let isSeen = state.nextLook.map { $0 <= deadline } ?? false
            defer { state.isWatched = true }
            return (true, !state.isWatched, !isSeen)
        }
        guard isWanted else { throw SmartCardError(.cancelled, "The call") }
        if starts { startWatching() }
        if signals { state.signal() }
    }

    /// Ends a call that has returned.
    ///
    /// - Returns: nil, or why it was cut: `cancelled` or `timeout`.
    func end() -> SmartCardError.Code? {
        state.withLock { state in
            state.deadline = nil
            guard state.wasCut else { return nil }
            return state.isInterrupted ? .cancelled : .timeout
        }
    }

    /// Cuts the current call, if any.
    func cancel() {
        state.withLock { if $0.deadline != nil { cut(&$0) } }
    }

    /// Cuts the current call, and allows no other until ``resume()``.
    func interrupt() {
        state.withLock { state in
            state.isInterrupted = true
            if state.deadline != nil { cut(&state) }
        }
    }

    /// Allows calls again.
    func resume() {
        state.withLock { $0.isInterrupted = false }
    }

    /// Lets the watching thread end.
    func finish() {
        state.change { $0.isFinished = true }
    }

    /// Called under the lock. Otherwise the call could return meanwhile, and the next call would be cut instead.
    private func cut(_ state: inout State) {
        guard !state.wasCut else { return }
        state.wasCut = true
        cut()
    }

    private func startWatching() {
        let thread = DriverThread()
        thread.run { [self] in
            // The closure keeps the thread alive until it is done.
            withExtendedLifetime(thread) { watch() }
        }
    }

    private func watch() {
        state.wait { state -> Monitor<State>.Step<Void> in
            if state.isFinished { return .done(()) }
            guard let deadline = state.deadline else {
                // The thread waits to be woken only after a whole limit's time without a call.
                state.nextLook = nil
                return .wait(until: nil)
            }
            if Monitor<State>.now >= deadline {
                cut(&state)
                state.nextLook = nil
            } else {
                state.nextLook = deadline
            }
            return .wait(until: state.nextLook)
        }
    }
}
