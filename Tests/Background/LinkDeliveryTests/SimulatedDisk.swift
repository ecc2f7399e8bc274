// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import Synchronization

/// A disk in memory that stops at a step, as in a power failure. Names that were not synchronized may be lost, and a file that
/// was being written has only a part.
final class SimulatedDisk: FileStore {
    /// What happens to names that changed since the last synchronization.
    enum Loss: CaseIterable { case allKept, allLost, lastLost }

    private struct State {
        var durable: [String: [UInt8]] = [:]
        /// The changes since the last synchronization, in order.
        var pending: [Change] = []
        var steps = 0
        var isDead = false
    }

    private enum Change {
        case set(String, [UInt8])
        case rename(String, String)
        case remove(String)
    }

    private let state: Mutex<State>
    private let last: Int
    private static let dead = StorageError(.failed, "The power is off.")

    /// Creates a disk that fails at the step with a number; with 0 it never fails.
    init(_ files: [String: [UInt8]] = [:], failsAt last: Int = 0) {
        state = Mutex(State(durable: files))
        self.last = last
    }

    var steps: Int { state.withLock { $0.steps } }

    /// The files as the next run finds them.
    func afterPowerLoss(_ loss: Loss) -> [String: [UInt8]] {
        state.withLock { state in
            switch loss {
            case .allKept: Self.applying(state.pending[...], to: state.durable)
            case .allLost: state.durable
            case .lastLost: Self.applying(state.pending.dropLast(), to: state.durable)
            }
        }
    }

    private static func applying(_ changes: ArraySlice<Change>, to files: [String: [UInt8]]) -> [String: [UInt8]] {
        var files = files
        for change in changes {
            switch change {
            case .set(let name, let bytes): files[name] = bytes
            case .rename(let old, let new):
                if let bytes = files.removeValue(forKey: old) { files[new] = bytes }
            case .remove(let name): files[name] = nil
            }
        }
        return files
    }

    /// Makes a step. If the disk fails at this step, only `part` of it happens.
    private func step(_ change: Change?, part: Change? = nil) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            guard !state.isDead else { throw Self.dead }
            state.steps += 1
            guard state.steps != last else {
                state.isDead = true
                if let part { state.pending.append(part) }
                throw Self.dead
            }
            if let change {
                state.pending.append(change)
            } else {
                state.durable = Self.applying(state.pending[...], to: state.durable)
                state.pending = []
            }
        }
    }

    func names() throws(StorageError) -> [String] { afterPowerLoss(.allKept).keys.sorted() }

    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] {
        guard let bytes = afterPowerLoss(.allKept)[name] else { throw StorageError(.missing, name) }
        guard bytes.count <= limit else { throw StorageError(.tooLarge, name) }
        return bytes
    }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        // Before it is made; made and empty; half of it; all of it.
        try step(.set(name, []))
        try step(.set(name, bytes), part: .set(name, Array(bytes.prefix(bytes.count / 2))))
        try step(.set(name, bytes), part: .set(name, bytes))
    }

    func rename(_ name: String, to new: String) throws(StorageError) {
        guard afterPowerLoss(.allKept)[name] != nil else { throw StorageError(.missing, name) }
        try step(.rename(name, new))
    }

    func remove(_ name: String) throws(StorageError) {
        if afterPowerLoss(.allKept)[name] != nil { try step(.remove(name)) }
    }

    func synchronize() throws(StorageError) { try step(nil) }
}
