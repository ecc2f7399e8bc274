// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import Synchronization

/// A folder whose process ends without notice at a step.
final class KillingStore: FileStore {
    private let base: DirectoryStore
    private let last: Int
    private let steps = Atomic<Int>(0)

    init(_ base: DirectoryStore, at last: Int) {
        self.base = base
        self.last = last
    }

    private var isLast: Bool { steps.wrappingAdd(1, ordering: .relaxed).newValue == last }

    private func step() {
        if isLast { kill(getpid(), SIGKILL) }
    }

    func names() throws(StorageError) -> [String] { try base.names() }

    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] { try base.read(name, limit: limit) }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        step()
        if isLast {
            try base.write(name, Array(bytes.prefix(bytes.count / 2)))
            kill(getpid(), SIGKILL)
        }
        try base.write(name, bytes)
    }

    func rename(_ name: String, to new: String) throws(StorageError) {
        step()
        try base.rename(name, to: new)
        step()
    }

    func remove(_ name: String) throws(StorageError) {
        step()
        try base.remove(name)
        step()
    }

    func synchronize() throws(StorageError) {
        step()
        try base.synchronize()
    }
}
