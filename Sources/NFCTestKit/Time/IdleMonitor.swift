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

/// Whether anything in the process can go on by itself.
///
/// Code under test uses tasks, queues and threads of its own, which nobody counts. So the kernel is asked: when every
/// thread sleeps, twice in a row and without having run in between, then at the moment between the two all of them
/// slept, and nothing but time can wake them.
struct ProcessActivity {
    private var buffer = [UInt8](repeating: 0, count: 512)
    /// The thread that asks.
    private let own: Int32

    /// Begins to look, from this thread.
    init() {
        // Such as 17561/task/17563.
        var link = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &link, link.count)
        var number: Int32 = 0
        for character in link[..<max(count, 0)] {
            let isDigit = (0x30...0x39).contains(character)
            number = isDigit ? number &* 10 &+ Int32(character) &- 0x30 : 0
        }
        own = number
    }

    /// Looks once: whether every thread but the caller's sleeps, and no timer is due soon.
    mutating func isAtRest() -> Bool {
        guard let first = sleepers() else { return false }
        return sleepers() == first
    }

    /// How often each thread was given a processor; nil when one of them, other than the caller's, does not sleep.
    private mutating func sleepers() -> [Int32: UInt64]? {
        var counts: [Int32: UInt64] = [:]
        for thread in Self.numbers(in: "/proc/self/task") where thread != own {
            let before = timesRun(thread)
            guard isAsleep(thread) else { return nil }
            counts[thread] = before
        }
        return counts
    }

    /// The state follows the name, which is in parentheses and may hold any character (proc(5)).
    private mutating func isAsleep(_ thread: Int32) -> Bool {
        let count = read("/proc/self/task/\(thread)/stat")
        // A thread that has ended meanwhile does nothing.
        guard count > 0 else { return true }
        guard let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
        return [UInt8(ascii: "S"), UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(buffer[end + 2])
    }

    /// The third number of schedstat; of a thread that has ended, none.
    private mutating func timesRun(_ thread: Int32) -> UInt64 {
        numbers(read("/proc/self/task/\(thread)/schedstat")).dropFirst(2).first ?? 0
    }

    /// The whole numbers in what was read.
    private func numbers(_ count: Int) -> [UInt64] {
        buffer[..<count].split { $0 < 0x30 || $0 > 0x39 }.prefix(3).map { digits in
            digits.reduce(0) { $0 &* 10 &+ UInt64($1 - 0x30) }
        }
    }

    private mutating func read(_ path: String) -> Int {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        return unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }

    /// The entries of a directory whose names are numbers.
    private static func numbers(in path: String) -> [Int32] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var numbers: [Int32] = []
        while let entry = unsafe readdir(directory) {
            let number = unsafe strtol(&entry.pointee.d_name.0, nil, 10)
            if number > 0 { numbers.append(Int32(truncatingIfNeeded: number)) }
        }
        return numbers
    }
}
