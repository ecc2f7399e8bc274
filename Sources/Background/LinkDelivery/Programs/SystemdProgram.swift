// SPDX-License-Identifier: Apache-2.0
import UserBus

/// A program that the user's systemd started.
struct SystemdProgram: StartedProgram {
    private let unit: StartedUnit
    private let path: String

    /// Starts a program, and waits until it runs.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - bus: a connection to the user's bus that nothing else uses.
    ///   - limit: how long systemd may take.
    /// - Returns: nil when the user's systemd is not on the bus.
    init?(_ program: UnitProgram, _ bus: UserBus, limit: Duration) throws(DeliveryError) {
        path = program.path
        let state: StartedUnit.State
        do throws(BusError) {
            guard let unit = try StartedUnit(program, bus: bus, limit: limit) else { return nil }
            self.unit = unit
            state = try unit.waitForStart(limit)
        } catch {
            throw DeliveryError(.notStarted, "\(program.path) can't be started: \(error.reason)")
        }
        if case .notStarted(let reason) = state { throw Self.notStarted(program.path, reason) }
    }

    func wait(_ limit: Duration) throws(DeliveryError) -> Int32? {
        let state: StartedUnit.State
        do throws(BusError) {
            state = try unit.wait(limit)
        } catch {
            throw DeliveryError(error)
        }
        switch state {
        case .running: return nil
        case .exited(let status): return status << 8
        case .killed(let signal): return signal
        case .notStarted(let reason): throw Self.notStarted(path, reason)
        }
    }

    private static func notStarted(_ path: String, _ reason: String) -> DeliveryError {
        DeliveryError(.notStarted, "\(path) can't be started: systemd reports \(reason).")
    }
}
