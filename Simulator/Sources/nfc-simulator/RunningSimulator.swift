// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SimulatorModel
import SimulatorServer

/// Sends actions to the running simulator, over its socket in the private folder.
struct RunningSimulator: Sendable {
    private let location: SimulatorLocation

    /// Finds the running simulator.
    init(json: Bool) throws {
        let location = SimulatorLocation.ofUser(environment: ProcessInfo.processInfo.environment)
        guard location.running() != nil else {
            throw Output.failure("not-running", "No simulator is running. Start one with: nfc simulator", json: json)
        }
        self.location = location
    }

    /// Performs an action, and returns its result. Prints a note if the change could not be saved.
    func perform(_ action: JSON, json: Bool) throws -> JSON {
        do throws(SimulatorFailure) {
            let result = try ActionClient(location).perform(action)
            if let problem = result["unsaved"]?.string { Output.note("Not saved yet: \(problem)") }
            return result
        } catch {
            throw Output.failure(error.code, error.message, json: json)
        }
    }
}
