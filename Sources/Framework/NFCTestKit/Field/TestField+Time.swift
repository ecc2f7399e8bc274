// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagTrace

struct SettleCall {
    let continuation: CheckedContinuation<Void, Never>
    /// The time until which the call lets the phone's own pauses pass.
    let end: Duration
}

extension TestField {
    /// Called when the test can continue only if time passes. Resumes the next call of ``settle()``; if no such call is
    /// waiting, advances the clock to the next event.
    ///
    /// - Returns: whether a call was resumed or time has advanced.
    func advance(after work: TestTracker.Work, _ idle: IdleState) -> Bool {
        guard let clock = drivenClock else { return false }
        guard idle.includesUntrackedWork || isNextDelayOver(idle) else { return false }
        let event = clock.nextEvent
        let (next, target) = state.withLock { state -> (SettleCall?, Duration) in
            guard idle.includesUntrackedWork, let first = state.settleCalls.first else { return (nil, state.target) }
            if let event, event.kind == .pause, event.deadline <= first.end { return (nil, state.target) }
            return (state.settleCalls.removeFirst(), state.target)
        }
        if let next {
            next.continuation.resume()
            return true
        }
        guard let event, event.deadline <= limit else {
            // No event is left within the field's limit, so the flow has to end. To be sure, the test must have been
            // idle for long, even if all work is tracked.
            guard idle.quiet >= grace.beforeEnd(after: work) else { return false }
            if clock.nextEvent != nil || mayPassLimits(after: work, idle.quiet) {
                stop(after: work, quiet: idle.quiet)
            }
            return false
        }
        // A wait with a time limit must not see events after its end.
        if let end = work.waits.compactMap(\.end).min(), event.deadline > end { return false }
        guard event.deadline <= target || mayPass(event, after: work, idle) else { return false }
        clock.advance(by: max(event.deadline - clock.now, .zero))
        return true
    }

    /// Whether time may advance to an event that is later than the test's own waits.
    private func mayPass(
        _ event: (deadline: Duration, kind: DeadlineQueue.Kind),
        after work: TestTracker.Work,
        _ idle: IdleState
    ) -> Bool {
        switch event.kind {
        case .other, .pause: true
        case .limit: mayPassLimits(after: work, idle.quiet)
        case .delay:
            // The delay may be a time limit for work that takes real time, so it has to last as long in real time.
            !work.hasSources || isNextDelayOver(idle)
                || !IdleTimeout.hasChildren && mayPassLimits(after: work, idle.quiet)
        }
    }

    /// Whether the next event is the end of an app's delay, and the delay is over in real time too.
    private func isNextDelayOver(_ idle: IdleState) -> Bool {
        guard let event = drivenClock?.nextEvent, event.kind == .delay else { return false }
        return idle.standing >= event.deadline - now
    }

    private func mayPassLimits(after work: TestTracker.Work, _ quiet: Duration) -> Bool {
        work.waits.allSatisfy { $0.end == nil } && quiet >= grace.duration(after: work)
    }

    /// Ends the flow with an error that says why the flow can't end by itself.
    func stop(after work: TestTracker.Work? = nil, quiet: Duration = .zero) {
        if let work, !work.onlyWaits { return stop(blockedFor: quiet) }
        let pending = state.withLock { $0.pending.map(\.name) }
        let missing = pending.isEmpty ? "" : " Never called: \(pending.joined(separator: ", "))."
        let seconds = (now - start).components.seconds
        let (reason, advice) = unfinished(after: work.map { grace.beforeEnd(after: $0) } ?? grace.long)
        if let wait = work?.waits.first(where: { $0.end == nil }) {
            let queue = wait.isOnMainQueue ? "main queue" : "queue \"\(wait.queue)\""
            return stop(
                .queueIsBlocked,
                """
                The \(queue) is blocked: its current work waits with \(wait.call), and nothing is left that could end \
                the wait: nothing happened for \(quiet.components.seconds) s of real time.\(missing) A delegate's \
                methods and completion handlers share one queue: if one of them waits there for another, it waits \
                forever. Continue in the completion handler, or use async and await.
                """
            )
        }
        stop(.neverEnds, "The flow has not ended after \(seconds) s, and \(reason)\(missing)\(advice)")
    }

    private func stop(_ code: FieldError.Code, _ reason: String) {
        fail(FieldError(code, ([reason] + tracker.advice).joined(separator: " "), trace: trace))
    }

    /// The reason why a flow has not ended, and advice for its author.
    private func unfinished(after idle: Duration) -> (why: String, advice: String) {
        let limit = limit.components.seconds
        let next = drivenClock?.nextEvent?.deadline
        if now - start > self.limit || next != nil {
            let what = next.map { " The next event is at \($0.components.seconds) s." } ?? ""
            return ("its limit is \(limit) s.\(what)", " Set limit: for a longer flow.")
        }
        let (sessions, log) = state.withLock { ($0.sessionsMade, $0.log) }
        func lastNote(_ start: String) -> String? {
            for entry in log.reversed() { if case .note(let text) = entry.event, text.hasPrefix(start) { return text } }
            return nil
        }
        let advice =
            if let refusal = lastNote(ReaderSession.refusalNote) {
                "Its last session never began: \(refusal) The delegate gets the error in didInvalidateWithError."
            } else if sessions > 0, environment.arbiter.requestCount == 0 {
                "A session was created but never begun: call begin()."
            } else if let released = lastNote(APIMisuse.releasedNote) {
                released
            } else if let missingTag {
                missingTag
            } else {
                "Look for a continuation that no path resumes."
            }
        let seconds = idle / .seconds(1)
        let secondsText = seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
        let factor = grace.duration > .zero ? Int((idle / grace.duration).rounded()) : 0
        let shorter =
            grace.duration > .milliseconds(100)
            ? ": a shorter one, such as grace: .milliseconds(100), reports this sooner." : "."
        return (
            "nothing is left that could end it within \(limit) s.",
            """
             \(advice) Nothing happened for \(secondsText) s of real time, which is \(factor) times grace\(shorter)
            """
        )
    }

    /// A sentence for a failure in a field that never had a tag; nil if it had one, or no session.
    var missingTag: String? {
        guard virtual != nil, state.withLock({ $0.tags.isEmpty && $0.sessionsMade > 0 }) else { return nil }
        return """
            The field has no tag, so no tag came near. Name a tag, as in \
            withField(.product("NTAG215", holding: .uri("https://example.com"))), or call field.bring(_:).
            """
    }

    /// Ends a flow whose code has been running for too long without any other event.
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

    func stopEndless() {
        stop(
            .neverEnds,
            """
            The flow never ends: it keeps working while the field's time does not advance, because it \
            neither sends a frame nor waits. Look for a retry without a limit, for example of a command that fails \
            because the tag has left.
            """
        )
    }

    /// Ends the flow with an error. If a test function continues even after an earlier error, the process ends.
    ///
    /// - Parameter isFirst: whether to ignore the error if the flow has already failed.
    func fail(_ error: FieldError, onlyFirst isFirst: Bool = false) {
        let stop = state.withLock { state in
            if isFirst, state.hasFailed { return nil as (@Sendable (FieldError) -> Void)? }
            state.hasFailed = true
            return state.stop.take()
        }
        if stop != nil, error.code == .queueIsBlocked { tracker.noteBlocked() }
        stop?(error)
    }
}
