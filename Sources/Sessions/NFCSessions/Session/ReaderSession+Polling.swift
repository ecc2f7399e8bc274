// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

extension ReaderSession {
    /// Starts to look for tags. This continues until tags are found or the session ends.
    nonisolated func startPolling() {
        claimReader()
        if state.withLock({ $0.presence == nil }) {
            let presence = driver.observePresence { [weak self] in self?.fieldChanged() }
            state.withLock { $0.presence = presence }
        }
        search()
    }

    /// Asks the background service to release the reader, once per session, before the first search.
    private nonisolated func claimReader() {
        guard let gate = environment.gate else { return }
        let isFirst = state.withLock { state in
            defer { state.hasClaimed = true }
            return !state.hasClaimed
        }
        guard isFirst else { return }
        enqueue { session in
            guard session.isActive, let claim = await gate.claim(for: .session, clock: session.environment.clock)
            else { return }
            session.state.withLock { $0.claim = claim }
        }
    }

    /// Called when the driver reports that a tag may have arrived or left, or when the polling plan has changed.
    nonisolated func fieldChanged() {
        noticeDepartures()
        let searches = state.withLock { state in
            // If arrivals can't be distinguished, every tag in the field now counts as new.
            state.reportedTags = state.reportedTags.filter { $0.arrival != nil }
            switch state.poll {
            case .waiting: return true
            case .searching:
                state.poll = .searchingAndChanged
                return false
            case .idle, .searchingAndChanged: return false
            }
        }
        if searches { search() }
    }

    private nonisolated func search() {
        let timer = state.withLock { state in
            guard state.machine.phase == .polling else { return state.pollTimer.take() }
            state.poll = .searching
            return state.pollTimer.take()
        }
        timer?.cancel()
        enqueue { session in
            let plan = session.state.withLock { $0.machine.phase == .polling ? $0.plan : nil }
            guard let plan else { return }
            session.forgetTags()
            do throws(TagError) {
                let found = try await session.source.find(plan)
                session.tags = found.tags.map { (ConnectableTag($0, session: session), $0) }
                session.selected = session.tags.first { $0.tag === found.selected }?.handle
                session.searchFinished(session.tags.map(\.handle), by: plan)
            } catch {
                session.searchFailed(error)
            }
        }
    }

    private nonisolated func searchFinished(_ tags: [ConnectableTag], by plan: PollingPlan) {
        var searchesAgain = false
        var waits = false
        act { state in
            guard state.machine.phase == .polling else { return [] }
            state.obstacle = nil
            // The plan changed during the search, so these tags may not match it.
            searchesAgain = plan != state.plan
            if searchesAgain { return [] }
            let present = Set(tags.map(\.presence))
            state.reportedTags.formIntersection(present)
            if !present.isSubset(of: state.reportedTags) {
                state.found = tags.filter { !state.reportedTags.contains($0.presence) }
                state.poll = .idle
                return state.machine.handle(.tagsFound)
            }
            searchesAgain = state.poll == .searchingAndChanged
            state.poll = searchesAgain ? .searching : .waiting
            waits = !searchesAgain && state.presence == nil
            return []
        }
        if searchesAgain { search() }
        if waits { searchLater() }
    }

    private nonisolated func searchFailed(_ error: TagError) {
        switch error.code {
        case .readerUnavailable where error.link?.code != .inUse:
            fail(.terminatedUnexpectedly(reason: error.reason))
        default:
            // The tag left during the search, there was noise, or another program uses the tag: search again later.
            state.withLock { state in
                state.obstacle = error.link?.code == .inUse ? error.reason : nil
                if state.machine.phase == .polling { state.poll = .waiting }
            }
            searchLater()
        }
    }

    private nonisolated func searchLater() {
        let timer = environment.clock.schedule(after: limits.pollingInterval) { [weak self] in
            guard let self, state.withLock({ $0.poll == .waiting }) else { return }
            search()
        }
        let unused = state.withLock { state -> ScheduledEvent? in
            guard state.machine.phase == .polling else { return timer }
            defer { state.pollTimer = timer }
            return state.pollTimer
        }
        unused?.cancel()
    }
}
