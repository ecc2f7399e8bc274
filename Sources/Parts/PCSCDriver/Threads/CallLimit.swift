// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Sees to it that a call to the service comes back: when it takes too long, or its caller is cancelled, its connection
/// is cut.
///
/// A thread looks after the calls only while there are any, and looks once a limit, not once a call.
final class CallLimit: Sendable {
    private struct State {
        /// When the call that is under way is cut.
        var deadline: UInt64?
        var isWatched = false
        /// When the watching thread looks next; nil while it waits to be called.
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
    ///   - milliseconds: the longest time that a call may take.
    ///   - cut: ends the call that is under way, from another thread.
    init(milliseconds: Int, cut: @escaping @Sendable () -> Void) {
        nanoseconds = UInt64(milliseconds) * 1_000_000
        self.cut = cut
    }

    /// A call begins.
    ///
    /// - Parameter milliseconds: the longest time that this call may take, where that is less than others may; nil for
    ///   the same.
    /// - Throws: `cancelled` while calls are interrupted; then none may be made.
    func begin(within milliseconds: Int? = nil) throws(SmartCardError) {
        let span = milliseconds.map { min(nanoseconds, UInt64($0) * 1_000_000) } ?? nanoseconds
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

    /// The call has come back.
    ///
    /// - Returns: nil, or why it was cut: `cancelled` or `timeout`.
    func end() -> SmartCardError.Code? {
        state.withLock { state in
            state.deadline = nil
            guard state.wasCut else { return nil }
            return state.isInterrupted ? .cancelled : .timeout
        }
    }

    /// Cuts the call that is under way, if any.
    func cancel() {
        state.withLock { if $0.deadline != nil { cut(&$0) } }
    }

    /// Cuts the call that is under way, and lets none begin until ``resume()``.
    func interrupt() {
        state.withLock { state in
            state.isInterrupted = true
            if state.deadline != nil { cut(&state) }
        }
    }

    /// Lets calls begin again.
    func resume() {
        state.withLock { $0.isInterrupted = false }
    }

    /// Lets the watching thread end.
    func finish() {
        state.withLock { $0.isFinished = true }
        state.signal()
    }

    /// Under the lock, so that a call that comes back meanwhile is not followed by another one that is cut instead.
    private func cut(_ state: inout State) {
        guard !state.wasCut else { return }
        state.wasCut = true
        cut()
    }

    private func startWatching() {
        let thread = DriverThread()
        thread.run { [self] in
            // The closure keeps the thread until it is done.
            withExtendedLifetime(thread) { watch() }
        }
    }

    private func watch() {
        state.wait { state -> Monitor<State>.Step<Void> in
            if state.isFinished { return .done(()) }
            guard let deadline = state.deadline, !state.wasCut else {
                // One limit long nothing may happen before the thread waits to be called.
                state.nextLook = nil
                return .wait(until: nil)
            }
            // mutate: equivalent, because a wait that is a nanosecond too early is only looked at again.
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
