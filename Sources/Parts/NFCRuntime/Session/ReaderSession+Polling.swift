// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

extension ReaderSession {
    /// Begins to look for tags, and goes on until some are found or the session ends.
    func startPolling() {
        claimReader()
        let isObserved = state.withLock { $0.presence != nil }
        if !isObserved {
            let presence = driver.observePresence { [weak self] in self?.fieldChanged() }
            state.withLock { $0.presence = presence }
        }
        look()
    }

    /// Has the service that reads in the background give the reader up, once a session, before the first look.
    private func claimReader() {
        guard let gate = environment.gate else { return }
        let isFirst = state.withLock { state in
            defer { state.hasClaimed = true }
            return !state.hasClaimed
        }
        guard isFirst else { return }
        channel.enqueue { [self] _ in
            guard isActive, let claim = await gate.claim(for: .session, clock: environment.clock) else { return }
            state.withLock { $0.claim = claim }
        }
    }

    /// The driver says that a tag may have come or gone, or there is another plan.
    func fieldChanged() {
        noticeDepartures()
        let looks = state.withLock { state in
            // Where arrivals can't be told apart, whatever is there now is a new one.
            state.reported = state.reported.filter { $0.arrival != nil }
            switch state.poll {
            case .waiting: return true
            case .looking:
                state.poll = .lookingAndChanged
                return false
            case .idle, .lookingAndChanged: return false
            }
        }
        if looks { look() }
    }

    /// Makes one attempt.
    private func look() {
        let timer = state.withLock { state in
            guard state.machine.phase == .polling else { return state.pollTimer.take() }
            state.poll = .looking
            return state.pollTimer.take()
        }
        timer?.cancel()
        channel.enqueue { [self] channel in
            guard state.withLock({ $0.machine.phase == .polling }) else { return }
            let plan = currentPlan
            do throws(TagError) {
                let tags = try await channel.findTags(of: plan, for: self)
                lookedAndFound(tags, by: plan)
            } catch {
                lookFailed(error)
            }
        }
    }

    private func lookedAndFound(_ tags: [DetectedTag], by plan: PollingPlan) {
        enum Next {
            case report, lookAgain, wait, nothing
        }
        let next = state.withLock { state -> Next in
            guard state.machine.phase == .polling else { return .nothing }
            state.obstacle = nil
            // What was found by a plan that holds no more is not what the app looks for.
            guard plan == state.plan ?? self.plan else { return .lookAgain }
            let present = Set(tags.map(\.stay))
            state.reported.formIntersection(present)
            if !present.isSubset(of: state.reported) {
                state.found = tags.filter { !state.reported.contains($0.stay) }
                state.poll = .idle
                return .report
            }
            let changed = state.poll == .lookingAndChanged
            state.poll = changed ? .looking : .waiting
            return changed ? .lookAgain : .wait
        }
        switch next {
        case .report:
            let (claim, found) = state.withLock { ($0.claim, $0.found) }
            claim?.note(found.map(\.stay.identifier))
            handle(.tagsFound)
        case .lookAgain: look()
        case .wait: if state.withLock({ $0.presence == nil }) { lookLater() }
        case .nothing: break
        }
    }

    private func lookFailed(_ error: TagError) {
        switch error.code {
        case .readerUnavailable where error.link?.code != .inUse:
            fail(.terminatedUnexpectedly(reason: error.reason))
        default:
            // A tag that left in the middle, noise, or a tag that another program has: the field will be looked at again.
            state.withLock { state in
                state.obstacle = error.link?.code == .inUse ? error.reason : nil
                if state.machine.phase == .polling { state.poll = .waiting }
            }
            lookLater()
        }
    }

    private func lookLater() {
        let timer = environment.clock.schedule(after: limits.pollingInterval) { [weak self] in
            guard let self, state.withLock({ $0.poll == .waiting }) else { return }
            look()
        }
        let unused = state.withLock { state -> ScheduledEvent? in
            guard state.machine.phase == .polling else { return timer }
            defer { state.pollTimer = timer }
            return state.pollTimer
        }
        unused?.cancel()
    }
}
