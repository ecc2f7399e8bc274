// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

extension ReaderSession {
    /// Starts to look for tags. This continues until tags are found or the session ends.
    func startPolling() {
        claimReader()
        let isObserved = state.withLock { $0.presence != nil }
        if !isObserved {
            let presence = driver.observePresence { [weak self] in self?.fieldChanged() }
            state.withLock { $0.presence = presence }
        }
        look()
    }

    /// Asks the background service to release the reader, once per session, before the first look.
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

    /// The driver reports that a tag may have arrived or left, or the polling plan changed.
    func fieldChanged() {
        noticeDepartures()
        let looks = state.withLock { state in
            // If arrivals can't be distinguished, every tag that is near now counts as new.
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

    /// Looks for tags once.
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

    private func lookedAndFound(_ tags: [ConnectableTag], by plan: PollingPlan) {
        enum Next {
            case report, lookAgain, wait, nothing
        }
        let next = state.withLock { state -> Next in
            guard state.machine.phase == .polling else { return .nothing }
            state.obstacle = nil
            // Tags found with an outdated plan are not what the app looks for now.
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
            var isWanted = true
            act { state in
                // The app may have restarted polling with another plan meanwhile.
                isWanted = plan == state.plan ?? self.plan
                return isWanted ? state.machine.handle(.tagsFound).map(SessionAction.session) : []
            }
            if !isWanted { look() }
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
            // A tag that left during the look, noise, or a tag that another program uses: look again later.
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
