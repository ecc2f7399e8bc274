// SPDX-License-Identifier: Apache-2.0
import SimulatorModel

/// Follows a simulator whose background reading runs beside the test.
final class Following: Sendable {
    private let changes: AsyncStream<Void>
    private let simulator: Simulator

    init(_ simulator: Simulator) {
        self.simulator = simulator
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        simulator.onChange { change.yield() }
    }

    /// Waits until a condition holds.
    func until(_ condition: () throws -> Bool) async throws {
        if try condition() { return }
        for await _ in changes {
            _ = simulator.takeChanges()
            if try condition() { return }
        }
    }
}
