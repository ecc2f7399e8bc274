// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NFCRuntime

/// Feeds events to the state machine of background reading, one after the other, and has its actions performed.
///
/// Events that come before ``begin(_:)`` wait. An event that an action causes is handled after the actions of its cause.
final class MachineLoop {
    private(set) var machine = BackgroundReader()
    /// Performs an action of the machine.
    var perform: (BackgroundReader.Action) -> Void = { _ in }

    private let clock: any RuntimeClock
    private var inputs: [BackgroundReader.Input] = []
    private var isHandling = false
    private var hasBegun = false

    init(clock: any RuntimeClock) {
        self.clock = clock
    }

    func handle(_ input: BackgroundReader.Input) {
        inputs.append(input)
        drain()
    }

    /// Starts the machine.
    ///
    /// - Parameter first: what the machine has to know before the events that waited.
    func begin(_ first: [BackgroundReader.Input]) {
        inputs = first + inputs
        hasBegun = true
        drain()
    }

    private func drain() {
        guard hasBegun, !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !inputs.isEmpty {
            for action in machine.handle(inputs.removeFirst(), now: clock.now) { perform(action) }
        }
    }
}
