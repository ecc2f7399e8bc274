// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import TagLink

/// Tells the open fields of a process when nothing in it can go on but by time.
///
/// Virtual time moves then and only then: however slow the machine is, a limit never passes before the code has done all
/// that it could do without waiting. Fields have nothing to do with each other, so each of them goes on at that moment.
final class IdleMonitor: Sendable {
    static let shared = IdleMonitor()

    private struct State {
        var fields: [TestField] = []
        var isRunning = false
    }

    private let state = Locked(State())
    /// How many blocks that only tell that they were run have not been.
    private let probes = Locked(0)
    private static let priorities: [TaskPriority] = [.medium, .high]
    private let queue = DispatchQueue(label: "org.opencorenfc.testkit.idle")

    func add(_ field: TestField) {
        let starts = state.withLock { state in
            state.fields.append(field)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { queue.async { self.run() } }
    }

    func remove(_ field: TestField) {
        state.withLock { state in state.fields.removeAll { $0 === field } }
    }

    /// Whether new tasks and blocks are run now. When all threads that run them are blocked, some may wait for one while
    /// every thread sleeps.
    private func hasFreeWorkers() -> Bool {
        guard probes.withLock({ $0 == 0 }) else { return false }
        probes.withLock { $0 = Self.priorities.count + 1 }
        DispatchQueue.global().async { [probes] in probes.withLock { $0 -= 1 } }
        for priority in Self.priorities {
            Task.detached(priority: priority) { [probes] in probes.withLock { $0 -= 1 } }
        }
        for _ in 0..<100 {
            if probes.withLock({ $0 == 0 }) { return true }
            usleep(10)
        }
        return false
    }

    private func run() {
        var activity = ProcessActivity()
        var pause: UInt32 = 20
        while true {
            let fields = state.withLock { state in
                if state.fields.isEmpty { state.isRunning = false }
                return state.fields
            }
            if fields.isEmpty { return }
            usleep(pause)
            guard activity.isAtRest(), hasFreeWorkers(), activity.isAtRest() else {
                pause = min(pause * 2, 1000)
                continue
            }
            pause = 20
            for field in fields where state.withLock({ state in state.fields.contains { $0 === field } }) {
                field.isAtRest()
            }
        }
    }
}
