// SPDX-License-Identifier: Apache-2.0

/// Feeds events to the state machine of background reading, one after the other, and has its actions performed.
///
/// Events that come before ``begin(_:)`` wait. An event that an action causes is handled after the actions of its cause.
package final class StateMachineDriver {
    /// The state machine.
    package private(set) var machine = BackgroundReader()
    /// Performs an action of the machine.
    package var perform: (BackgroundReader.Action) -> Void = { _ in }

    private let now: () -> Duration
    private var inputs: [BackgroundReader.Input] = []
    private var isHandling = false
    private var hasBegun = false

    /// Creates the machine.
    ///
    /// - Parameter now: the time since any fixed moment; it never goes back.
    package init(now: @escaping () -> Duration) {
        self.now = now
    }

    /// Handles an event, after those that wait.
    package func handle(_ input: BackgroundReader.Input) {
        inputs.append(input)
        drain()
    }

    /// Starts the machine.
    ///
    /// - Parameter first: what the machine has to know before the events that waited.
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
