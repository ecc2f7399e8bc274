// SPDX-License-Identifier: Apache-2.0
import UserBus

/// A program that the user's systemd has started.
struct SystemdProgram: StartedProgram {
    private let unit: StartedUnit
    private let path: String

    /// Starts a program, and waits until it has begun.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - bus: the user's bus, which nothing else uses.
    ///   - limit: how long systemd may take.
    /// - Returns: nil when no systemd of the user is on the bus.
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
