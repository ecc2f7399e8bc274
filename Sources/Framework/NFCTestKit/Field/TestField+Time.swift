// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import TagLink

/// How long nothing happens, in real time, before a limit of a session passes that the test has not let pass.
struct Grace: Sendable {
    /// How long.
    var duration: Duration
    /// Whether there is none when all that goes on is counted.
    var isNoneWhenCounted = false

    /// How many times as long it takes where timers, sockets or other processes may have an answer.
    private static let factor = 10

    /// What has not gone on for so long does not go on.
    var long: Duration { duration * Self.factor }

    /// The grace after what is under way.
    func duration(after work: FieldPlace.Work) -> Duration {
        // A thread of the app's own is not counted, and may have been begun a moment ago. One that the run has begun may sleep
        // for as long as it likes before it goes on.
        if isNoneWhenCounted, !work.hasUncounted, !work.hasThreads, PoolThreads.othersSleep { return .zero }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// How long nothing happens, after what is under way, before a flow counts as one that never ends.
    ///
    /// A queue that is blocked is found sooner: whoever could end its wait is under way, and counted, unless the test has begun a
    /// thread, or a thread has called it.
    func beforeEnd(after work: FieldPlace.Work) -> Duration {
        guard work.waits.contains(where: { $0.end == nil }), !work.hasGuests, !work.hasThreads else { return long }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// Whether the process has begun others, that have not been waited for.
    static var hasChildren: Bool {
        var info = unsafe siginfo_t()
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}

/// For how long nothing has happened in a field, in real time.
struct Stillness: Sendable {
    static let none = Stillness()

    /// How long nothing of the test has happened.
    var quiet = Duration.zero
    /// How long the field's time has stood.
    var standing = Duration.zero
    /// Whether what no count shows rests too. If not, all that may pass is a delay that is over in real time as well.
    var isOfAll = true
}

extension TestField {
    /// Nothing of the test can go on but by time: whoever waits for that goes first, then the next event.
    ///
    /// - Parameters:
    ///   - work: what is under way.
    ///   - stillness: for how long nothing has happened.
    /// - Returns: whether something has.
    func goOn(after work: FieldPlace.Work, _ stillness: Stillness) -> Bool {
        guard let clock = drivenClock else { return false }
        guard stillness.isOfAll || isNextDelayOver(stillness) else { return false }
        let (next, target) = state.withLock { state in
            (state.waiting.isEmpty || !stillness.isOfAll ? nil : state.waiting.removeFirst(), state.target)
        }
        if let next {
            next.resume()
            return true
        }
        guard let event = clock.nextEvent, event.deadline <= limit else {
            // Past its limit the field has nothing to wait for. That ends the flow, so it has to be so for long, also where all is
            // counted.
            guard stillness.quiet >= grace.beforeEnd(after: work) else { return false }
            if clock.nextEvent != nil || mayPassLimits(after: work, stillness.quiet) { stop(after: work) }
            return false
        }
        // A wait that ends by real time may see what comes before its end.
        if let end = work.waits.compactMap(\.end).min(), event.deadline > end { return false }
        guard event.deadline <= target || mayPass(event, after: work, stillness) else { return false }
        clock.advance(by: max(event.deadline - clock.now, .zero))
        return true
    }

    /// Whether time may go on to an event that the test has not asked to wait for.
    private func mayPass(
        _ event: (deadline: Duration, kind: DeadlineQueue.Kind),
        after work: FieldPlace.Work,
        _ stillness: Stillness
    ) -> Bool {
        switch event.kind {
        case .other: true
        case .limit: mayPassLimits(after: work, stillness.quiet)
        case .delay:
            // What takes real time is measured with a delay that takes as long: it may be a time limit of the app's own.
            !work.hasSources || isNextDelayOver(stillness)
                || !Grace.hasChildren && mayPassLimits(after: work, stillness.quiet)
        }
    }

    /// Whether the next event is the end of an app's delay that is over in real time too.
    private func isNextDelayOver(_ stillness: Stillness) -> Bool {
        guard let event = drivenClock?.nextEvent, event.kind == .delay else { return false }
        return stillness.standing >= event.deadline - now
    }

    private func mayPassLimits(after work: FieldPlace.Work, _ quiet: Duration) -> Bool {
        work.waits.allSatisfy { $0.end == nil } && quiet >= grace.duration(after: work)
    }

    /// Ends the flow with an error that says why nothing ends it.
    func stop(after work: FieldPlace.Work? = nil) {
        let pending = state.withLock { $0.pending.map(\.name) }
        let missing = pending.isEmpty ? "" : " Never called: \(pending.joined(separator: ", "))."
        let seconds = now.components.seconds
        let (whyItGoesOn, advice) = unfinished
        if let wait = work?.waits.first(where: { $0.end == nil }) {
            let queue = wait.isOnMainQueue ? "main queue" : "queue \"\(wait.queue)\""
            return fail(
                FieldError(
                    .queueIsBlocked,
                    """
                    The \(queue) is blocked: what runs there waits with \(wait.call), and nothing was left that could end \
                    it.\(missing) A delegate's methods and completion handlers share one queue: what waits there for another \
                    of them waits for ever. Go on in the completion handler, or use async and await.
                    """,
                    trace: trace
                )
            )
        }
        fail(
            FieldError(
                .neverEnds,
                "The flow has not ended after \(seconds) s, and \(whyItGoesOn)\(missing)\(advice)",
                trace: trace
            )
        )
    }

    /// Why a flow has not ended, and what to do.
    private var unfinished: (why: String, advice: String) {
        let limit = limit.components.seconds
        let next = drivenClock?.nextEvent?.deadline
        if now > self.limit || next != nil {
            let what = next.map { " The next thing happens at \($0.components.seconds) s." } ?? ""
            return ("its limit is \(limit) s.\(what)", " Give limit: for a flow that is to take longer.")
        }
        let (sessions, log) = state.withLock { ($0.sessionsMade, $0.log) }
        let released = Trace.Event.note(SilentMistake.delegateReleased.explanation)
        let advice =
            if sessions > 0, environment.arbiter.requestCount == 0 {
                "A session was made, and none has begun: call begin()."
            } else if log.contains(where: { $0.event == released }) {
                SilentMistake.delegateReleased.explanation
            } else {
                "Look for a continuation that no path resumes."
            }
        let long = grace.long / .seconds(1)
        let longText = long == long.rounded() ? String(Int(long)) : String(long)
        let shorter =
            grace.duration > .milliseconds(100)
            ? ": a shorter one, such as grace: .milliseconds(100), reports this sooner." : "."
        return (
            "nothing was left that could end it within \(limit) s.",
            """
             \(advice) Nothing happened for \(longText) s of real time, which is ten times grace\(shorter)
            """
        )
    }

    /// Ends the flow with an error that says which queue has been blocked for long.
    func stop(blockedFor quiet: Duration) {
        fail(
            FieldError(
                .queueIsBlocked,
                """
                A queue or a thread is blocked: code of the test has run for \(quiet.components.seconds) s of real time, and \
                nothing else of the test has happened. Look for a lock or a condition in a delegate's method or a completion \
                handler that waits for another of them.
                """,
                trace: trace
            )
        )
    }

    /// Ends a flow that does one thing after the other, for which no time passes.
    func stopEndless() {
        fail(
            FieldError(
                .neverEnds,
                """
                The flow goes on for ever: it does one thing after the other, and the field's time stands, for nothing that it \
                does sends a frame or waits. Look for a retry without a limit, such as of a command that fails because the tag \
                is gone.
                """,
                trace: trace
            )
        )
    }

    /// Ends the flow with an error. A test's function that has one and goes on is ended with the process.
    ///
    /// - Parameter isFirst: whether it counts only where there was none before.
    func fail(_ error: FieldError, onlyFirst isFirst: Bool = false) {
        let stop = state.withLock { state in
            if isFirst, state.hasFailed { return nil as (@Sendable (FieldError) -> Void)? }
            state.hasFailed = true
            return state.stop.take()
        }
        if stop != nil, error.code == .queueIsBlocked { place.noteBlocked() }
        stop?(error)
    }
}
