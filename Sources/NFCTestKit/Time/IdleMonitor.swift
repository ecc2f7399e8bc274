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
            guard activity.isAtRest() else {
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
