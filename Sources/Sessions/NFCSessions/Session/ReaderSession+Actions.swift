// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ReaderSession {
    nonisolated func handle(_ event: SessionStateMachine.Event) { act { $0.machine.handle(event) } }

    /// Applies a transition under the lock, then performs its actions outside the lock.
    ///
    /// Only one thread performs actions at a time, in the order of the transitions. A transition that occurs meanwhile,
    /// on another thread or inside an action, only appends its actions to the queue.
    nonisolated func act(_ transition: (inout State) -> [SessionStateMachine.Action]) {
        // In a test, the effects of a call are complete when it returns, regardless of other threads.
        environment.lock?.lock()
        defer { environment.lock?.unlock() }
        let performsActions = state.withLock { state in
            state.actions += transition(&state)
            if state.isActing || state.actions.isEmpty { return false }
            state.isActing = true
            return true
        }
        guard performsActions else { return }
        while true {
            let actions = state.withLock { state in
                if state.actions.isEmpty { state.isActing = false }
                defer { state.actions = [] }
                return state.actions
            }
            if actions.isEmpty { return }
            for action in actions { perform(action) }
        }
    }

    private nonisolated func perform(_ action: SessionStateMachine.Action) {
        switch action {
        case .requestTurn: requestTurn()
        case .withdrawRequest: environment.arbiter.withdraw(ObjectIdentifier(self))
        case .presentSheet: showSheet(.present(message: alertMessage))
        case .awaitSheet: after(limits.sheetAppearance) { [weak self] in self?.handle(.sheetAppeared) }
        case .startSessionTimer: startSessionTimer()
        case .startTagTimer: startTagTimer()
        case .cancelTagTimer: state.withLock { $0.tagTimer.take() }?.cancel()
        case .notifyActive: notify(.becameActive)
        case .startPolling: startPolling()
        case .resumePolling: after(limits.pollingPause) { [weak self] in self?.startPolling() }
        case .dropTags:
            dropTags(.gone)
            state.withLock { $0.connected = nil }
        case .expireTags:
            let seconds = limits.connectedTag.components.seconds
            environment.testContext?.note("the tag was connected for \(seconds) s, its limit: polling has to restart")
            dropTags(.limit)
        case .notifyTags:
            let (claim, found) = state.withLock { ($0.claim, $0.found) }
            claim?.note(found.map(\.presence.identifier))
            notify(.detected(found))
        case .updateSheetMessage: showSheet(.messageChanged(alertMessage))
        case .showScanning: showSheet(.tagFound)
        case .showReady: showSheet(.pollingRestarted)
        case .showSuccess: showSheet(.succeeded)
        case .showFailure(let message): showSheet(.failed(message: message, showsErrorSymbol: drawsErrorSymbol))
        case .dismissSheet: showSheet(.leave)
        case .shutDown(let end): shutDown(end)
        case .notifyEnded(let end):
            after(limits.endReport) { [self] in
                notify(.ended(end))
                state.withLock { $0.observer = nil }
                environment.arbiter.release(ObjectIdentifier(self))
            }
        }
    }

    /// Does something after a pause, as an event of the clock; at once when there is no pause.
    private nonisolated func after(_ pause: Duration, _ work: @escaping @Sendable () -> Void) {
        if pause == .zero { return work() }
        environment.clock.schedule(pause: pause) { [environment] in
            environment.lock?.lock()
            defer { environment.lock?.unlock() }
            work()
        }
    }

    private nonisolated func notify(_ event: Event) { state.withLock { $0.observer }?(event) }

    private nonisolated func requestTurn() {
        if let end = environment.host?.withheld.end { return handle(.readerFailed(end)) }
        let answer = environment.arbiter.request(
            ObjectIdentifier(self),
            grant: { [self] in handle(.turnGranted) },
            end: { [weak self] in self?.fail($0) }
        )
        switch answer {
        case .granted: break
        case .waits(let isForActiveSession): if isForActiveSession { mistakes.add(.waitsForTurn) }
        case .refused: handle(.turnRefused)
        case .isOver:
            environment.noticeOnce(
                """
                Code left over from a finished test started a session. It ends with error 203. Await everything the test \
                starts.
                """
            )
            handle(.turnRefused)
        }
    }

    private nonisolated func showSheet(_ event: SheetStateMachine.Event) {
        guard let content = state.withLock({ $0.sheet.handle(event) }) else { return }
        environment.sheet.present(content) { [weak self] in self?.handle(.userCanceled) }
    }

    // MARK: Limits

    private nonisolated func startSessionTimer() {
        let timer = environment.clock.schedule(limit: limits.session) { [weak self] in
            guard let self else { return }
            environment.testContext?.note("the session reaches its limit of \(limits.session.components.seconds) s")
            handle(.sessionTimerFired)
        }
        state.withLock { $0.sessionTimer = timer }
    }

    private nonisolated func startTagTimer() {
        let timer = environment.clock.schedule(limit: limits.connectedTag) { [weak self] in
            self?.handle(.tagTimerFired)
        }
        let last = state.withLock { state in
            defer { state.tagTimer = timer }
            return state.tagTimer
        }
        last?.cancel()
    }

    // MARK: The end

    private nonisolated func dropTags(_ loss: ConnectableTag.Loss) {
        let dropped = state.withLock { state in
            defer { state.found = [] }
            return state.found
        }
        for tag in dropped { tag.loseIfAvailable(loss) }
    }

    /// Stops timers, polling and commands. After the interrupted commands have called their completions, this reports
    /// the end and releases the reader to the next session.
    private nonisolated func shutDown(_ end: SessionEnd) {
        let timers = state.withLock { state in
            state.presence = nil
            state.poll = .idle
            return [state.sessionTimer.take(), state.tagTimer.take(), state.pollTimer.take()]
        }
        dismissSheetLater()
        for timer in timers { timer?.cancel() }
        interrupt()
        enqueue { session in
            session.forgetTags()
            // A new task, because the current task may be cancelled and the field still has to be turned off.
            await Task(executorPreference: session.executor) { [source = session.source] in await source.shutDown() }
                .value
            _ = session.state.withLock { $0.claim.take() }
            session.environment.sessionEndObserver?.sessionEnded()
            session.act { _ in [.notifyEnded(end)] }
        }
    }

    /// Removes the sheet after the result was shown for a while, or when the next session's sheet replaces it.
    private nonisolated func dismissSheetLater() {
        let id = ObjectIdentifier(self)
        // The closure draws at once instead of queuing an action, so that the old sheet is gone before the next
        // session's sheet is drawn.
        environment.arbiter.sheetShowsResult(of: id) { [self] in
            state.withLock { $0.sheetTimer.take() }?.cancel()
            showSheet(.resultShown)
        }
        let timer = environment.clock.schedule(after: limits.sheetDismissal) { [environment] in
            environment.lock?.lock()
            defer { environment.lock?.unlock() }
            environment.arbiter.removeSheet(of: id)
        }
        state.withLock { $0.sheetTimer = timer }
    }
}
