// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How long nothing has to happen, in real time, before a session's time limit may pass without the test's request.
struct Grace: Sendable {
    /// The duration.
    var duration: Duration
    /// Whether the grace is zero when all work is counted.
    var isNoneWhenCounted = false

    /// The factor for the duration when timers, sockets or other processes may still deliver something.
    private static let factor = 10

    /// After this time without events, nothing more will happen.
    var long: Duration { duration * Self.factor }

    /// The grace for the current work.
    func duration(after work: TestTracker.Work) -> Duration {
        // Another thread of the app is not counted, and may have been started a moment ago. A thread that the run
        // started may sleep for any time before it continues.
        if isNoneWhenCounted, !work.hasUncounted, !work.hasThreads, PoolThreads.othersSleep { return .zero }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// How long nothing has to happen, with the current work, before a flow counts as one that never ends.
    ///
    /// A blocked queue is detected sooner: the code that could end its wait is counted, unless the test has started a
    /// thread, or another thread has called the test's code.
    func beforeEnd(after work: TestTracker.Work) -> Duration {
        guard work.waits.contains(where: { $0.end == nil }), !work.hasGuests, !work.hasThreads else { return long }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// Whether the process has child processes that it has not waited for.
    static var hasChildren: Bool {
        var info = unsafe siginfo_t()
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}
