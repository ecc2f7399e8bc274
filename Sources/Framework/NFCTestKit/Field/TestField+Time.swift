// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagTrace

extension TestField {
    /// Called when only the passing of time can continue the test. It first resumes the next call that waits for this
    /// moment; if there is none, it advances to the next event.
    ///
    /// - Returns: whether something was resumed or time has advanced.
    func advance(after work: TestTracker.Work, _ idle: IdleState) -> Bool {
        guard let clock = drivenClock else { return false }
        guard idle.isOfAll || isNextDelayOver(idle) else { return false }
        let (next, target) = state.withLock { state in
            (state.waiting.isEmpty || !idle.isOfAll ? nil : state.waiting.removeFirst(), state.target)
        }
        if let next {
            next.resume()
            return true
        }
        guard let event = clock.nextEvent, event.deadline <= limit else {
            // After its limit the field has no more events to wait for. This ends the flow, so the rest must have
            // lasted for long, even if all work is counted.
            guard idle.quiet >= grace.beforeEnd(after: work) else { return false }
            if clock.nextEvent != nil || mayPassLimits(after: work, idle.quiet) {
                stop(after: work, quiet: idle.quiet)
            }
            return false
        }
        // A wait with a time limit must not see events that come after its end.
        if let end = work.waits.compactMap(\.end).min(), event.deadline > end { return false }
        guard event.deadline <= target || mayPass(event, after: work, idle) else { return false }
        clock.advance(by: max(event.deadline - clock.now, .zero))
        return true
    }

    /// Whether time may advance to an event for which the test has not asked to wait.
    private func mayPass(
        _ event: (deadline: Duration, kind: DeadlineQueue.Kind),
        after work: TestTracker.Work,
        _ idle: IdleState
    ) -> Bool {
        switch event.kind {
        case .other: true
        case .limit: mayPassLimits(after: work, idle.quiet)
        case .delay:
            // Code may use a delay as a time limit for work that takes real time. So the delay lasts as long in real
            // time.
            !work.hasSources || isNextDelayOver(idle)
                || !IdleTimeout.hasChildren && mayPassLimits(after: work, idle.quiet)
        }
    }

    /// Whether the next event is the end of an app's delay that is also over in real time.
    private func isNextDelayOver(_ idle: IdleState) -> Bool {
        guard let event = drivenClock?.nextEvent, event.kind == .delay else { return false }
        return idle.standing >= event.deadline - now
    }

    private func mayPassLimits(after work: TestTracker.Work, _ quiet: Duration) -> Bool {
        work.waits.allSatisfy { $0.end == nil } && quiet >= grace.duration(after: work)
    }

    /// Ends the flow with an error that says why it can't end by itself.
    func stop(after work: TestTracker.Work? = nil, quiet: Duration = .zero) {
        let pending = state.withLock { $0.pending.map(\.name) }
        let missing = pending.isEmpty ? "" : " Never called: \(pending.joined(separator: ", "))."
        let seconds = (now - start).components.seconds
        let (whyItGoesOn, advice) = unfinished
        if let wait = work?.waits.first(where: { $0.end == nil }) {
            let queue = wait.isOnMainQueue ? "main queue" : "queue \"\(wait.queue)\""
            return stop(
                .queueIsBlocked,
                """
                The \(queue) is blocked: what runs there waits with \(wait.call), and nothing was left that could end \
                it: nothing happened for \(quiet.components.seconds) s of real time.\(missing) A delegate's methods and completion handlers share one queue: if one of them waits there for \
                another, it waits forever. Go on in the completion handler, or use async and await.
                """
            )
        }
        stop(.neverEnds, "The flow has not ended after \(seconds) s, and \(whyItGoesOn)\(missing)\(advice)")
    }

    private func stop(_ code: FieldError.Code, _ reason: String) { fail(FieldError(code, reason, trace: trace)) }

    /// The reason why a flow has not ended, and what to do.
    private var unfinished: (why: String, advice: String) {
        let limit = limit.components.seconds
        let next = drivenClock?.nextEvent?.deadline
        if now - start > self.limit || next != nil {
            let what = next.map { " The next thing happens at \($0.components.seconds) s." } ?? ""
            return ("its limit is \(limit) s.\(what)", " Give limit: for a flow that is to take longer.")
        }
        let (sessions, log) = state.withLock { ($0.sessionsMade, $0.log) }
        let released = Trace.Event.note(APIMisuse.delegateReleased.explanation)
        let advice =
            if sessions > 0, environment.arbiter.requestCount == 0 {
                "A session was made, and none has begun: call begin()."
            } else if log.contains(where: { $0.event == released }) {
                APIMisuse.delegateReleased.explanation
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

    /// Ends a flow whose code has run for long without any other event.
    func stop(blockedFor quiet: Duration) {
        stop(
            .queueIsBlocked,
            """
            A queue or a thread is blocked: code of the test has run for \(quiet.components.seconds) s of real time, and \
            nothing else of the test has happened. Look for a lock or a condition in a delegate's method or a completion \
            handler that waits for another of them.
            """
        )
    }

    /// Ends a flow that keeps working while no time passes.
    func stopEndless() {
        stop(
            .neverEnds,
            """
            The flow goes on forever: it does one thing after the other, and the field's time stands still, because it \
            neither sends a frame nor waits. Look for a retry without a limit, such as of a command that fails because \
            the tag is gone.
            """
        )
    }

    /// Ends the flow with an error. If it is a test function that already has an error and continues, the process ends.
    ///
    /// - Parameter isFirst: whether the error counts only if there was none before.
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
