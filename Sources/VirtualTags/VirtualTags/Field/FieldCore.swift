// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state that a virtual field shares with its links.
final class FieldCore: Sendable {
    let state = Locked(FieldState())
    private let onElapsed: (@Sendable (Airtime) -> Void)?
    private let onExchange: (@Sendable (ExchangeRecord) -> Void)?

    init(onElapsed: (@Sendable (Airtime) -> Void)?, onExchange: (@Sendable (ExchangeRecord) -> Void)?) {
        self.onElapsed = onElapsed
        self.onExchange = onExchange
    }

    /// Calls the closures that a fault plan has for the moment before the next exchange.
    func makeCalls() {
        let calls = state.withLock { state in state.isCarrierOn ? state.faults?.takeCalls() ?? [] : [] }
        for call in calls { call() }
    }

    /// Performs an exchange, then informs the clock and the observers, outside the lock.
    func exchange(
        _ frame: Frame,
        _ technology: Technology,
        timeout: Airtime,
        maximumFrameLength: Int
    ) throws(LinkError) -> Frame {
        let outcome = state.withLock {
            $0.exchange(frame, technology, timeout: timeout, maximumFrameLength: maximumFrameLength)
        }
        onExchange?(
            ExchangeRecord(technology: technology, request: frame, result: outcome.result, elapsed: outcome.elapsed)
        )
        if outcome.elapsed > .zero { onElapsed?(outcome.elapsed) }
        if outcome.changedPresence { tellObservers() }
        return try outcome.result.get()
    }

    /// Performs an exchange, then informs the observers, outside the lock.
    func exchangeAlone(
        _ frame: Frame,
        _ technology: Technology,
        timeout: Airtime,
        maximumFrameLength: Int
    ) -> (result: Result<Frame, LinkError>, elapsed: Airtime) {
        let outcome = state.withLock {
            $0.exchange(frame, technology, timeout: timeout, maximumFrameLength: maximumFrameLength)
        }
        if outcome.changedPresence { tellObservers() }
        return (outcome.result, outcome.elapsed)
    }

    /// Changes the tags in the field, and informs the observers if `change` returns true.
    func changePresence(_ change: @Sendable (inout FieldState) -> Bool) {
        if state.withLock({ change(&$0) }) { tellObservers() }
    }

    func tellObservers() {
        let handlers = state.withLock { $0.observers.map(\.handler) }
        for handler in handlers { handler() }
    }

    func addObserver(_ handler: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.nextObserver += 1
            state.observers.append((state.nextObserver, handler))
            return state.nextObserver
        }
    }

    func removeObserver(_ id: UInt64) {
        // Released outside the lock, because a handler may own any object.
        let released = state.withLock { state in
            let removed = state.observers.filter { $0.id == id }
            state.observers.removeAll { $0.id == id }
            return removed
        }
        _ = released
    }
}
