// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import Synchronization

/// A disk in memory that takes nothing for a while, as when it is full.
final class RefusingDisk: FileStore {
    private let base = SimulatedDisk()
    private let refuses = Mutex(false)

    /// Whether it takes nothing now.
    var isFull: Bool {
        get { refuses.withLock { $0 } }
        set { refuses.withLock { $0 = newValue } }
    }

    func names() throws(StorageError) -> [String] { try base.names() }

    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] { try base.read(name, limit: limit) }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        guard !isFull else { throw StorageError(.failed, "The disk is full.") }
        try base.write(name, bytes)
    }

    func rename(_ name: String, to new: String) throws(StorageError) { try base.rename(name, to: new) }

    func remove(_ name: String) throws(StorageError) { try base.remove(name) }

    func synchronize() throws(StorageError) { try base.synchronize() }
}
