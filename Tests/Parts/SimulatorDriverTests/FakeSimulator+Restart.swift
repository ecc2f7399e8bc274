// SPDX-License-Identifier: Apache-2.0
import SimulatorDriver
import SimulatorTesting

extension FakeSimulator {
    /// Ends all connections, and waits until a reader has connected again and all that belongs to that has come.
    func restart(for reader: SimulatorReader) async throws {
        func greetings() -> Int { lines.count { $0.contains("\"hello\"") } }
        let before = greetings()
        end()
        while greetings() == before {
            try? await reader.prepare()
            try await Task.sleep(for: .milliseconds(2))
        }
        try await reader.setCarrier(true)
    }
}
