// SPDX-License-Identifier: Apache-2.0

/// Feeds events to the state machine of background reading, one after the other, and has its actions performed.
///
/// Events that come before ``begin(_:)`` wait. An event that an action causes is handled after the actions of its cause.
package final class StateMachineDriver {
    package private(set) var machine = BackgroundReader()
    package var perform: (BackgroundReader.Action) -> Void = { _ in }

    private let now: () -> Duration
    private var inputs: [BackgroundReader.Input] = []
    private var isHandling = false
    private var hasBegun = false

    /// - Parameter now: the time since any fixed moment; it never goes back.
    package init(now: @escaping () -> Duration) {
        self.now = now
    }

    /// Handles an event, after those that wait.
    package func handle(_ input: BackgroundReader.Input) {
        inputs.append(input)
        drain()
    }

    /// Starts the machine with what it has to know before the events that waited.
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

/// Starts and stops looking for tags. A stop takes time, and a start that comes meanwhile has an effect after it.
@MainActor package final class PollingToggle {
    private let start: @MainActor () -> Void
    private let stop: @MainActor () async -> Void
    private var isOn = false

    /// - Parameters:
    ///   - start: starts to look. It does nothing while the reader is looked at.
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

    /// Stops looking, waits until the reader is free, and returns whether it is. If the switch is on by then, it starts
    /// to look again.
    @discardableResult
    package func release() async -> Bool {
        await stop()
        if isOn { start() }
        return !isOn
    }
}
