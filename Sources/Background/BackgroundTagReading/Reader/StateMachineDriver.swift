// SPDX-License-Identifier: Apache-2.0

/// Feeds events to the state machine of background reading, one at a time, and performs its actions.
///
/// Events before ``begin(_:)`` wait. If an action causes an event, that event is handled after the current actions.
package final class StateMachineDriver {
    package private(set) var machine = BackgroundReader()
    package var perform: (BackgroundReader.Action) -> Void = { _ in }

    private let now: () -> Duration
    private var inputs: [BackgroundReader.Input] = []
    private var isHandling = false
    private var hasBegun = false

    /// - Parameter now: the time since any fixed moment. It must never decrease.
    package init(now: @escaping () -> Duration) {
        self.now = now
    }

    /// Handles an event after all waiting events.
    package func handle(_ input: BackgroundReader.Input) {
        inputs.append(input)
        drain()
    }

    /// Starts the machine. It handles these events before those that waited.
    package func begin(_ first: [BackgroundReader.Input]) {
        inputs = first + inputs
        hasBegun = true
        drain()
    }

    private func drain() {
        guard hasBegun, !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !inputs.isEmpty {
            for action in machine.handle(inputs.removeFirst(), now: now()) { perform(action) }
        }
    }
}

/// Starts and stops looking for tags. Stopping takes time, so a start during that time takes effect afterwards.
@MainActor package final class PollingToggle {
    private let start: @MainActor () -> Void
    private let stop: @MainActor () async -> Void
    private var isOn = false

    /// - Parameters:
    ///   - start: starts looking. Must do nothing if already looking.
    ///   - stop: stops looking, and waits until the reader is free.
    package init(start: @escaping @MainActor () -> Void, stop: @escaping @MainActor () async -> Void) {
        self.start = start
        self.stop = stop
    }

    package func turnOn() {
        isOn = true
        start()
    }

    package func turnOff() {
        isOn = false
        Task { await release() }
    }

    /// Stops looking, waits until the reader is free, and returns whether it is still free. If the switch was turned on
    /// meanwhile, starts looking again.
    @discardableResult
    package func release() async -> Bool {
        await stop()
        if isOn { start() }
        return !isOn
    }
}
