// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import GRDB
import LinuxSupport

/// A spool file: the events and job journals of one node, or of all nodes in a process.
///
/// All pending operations are stored in one transaction, with one disk sync. The more operations are pending, the less
/// each costs; a single operation is stored immediately.
package final class SpoolFile: @unchecked Sendable {
    // Sendable because the core is used only on the queue and by `init`; a lock protects the rest.

    /// An operation to perform in a transaction.
    struct Operation {
        /// Performs the operation. Returns a function to call after the commit. Called again if the transaction fails.
        let perform: (SpoolCore, Database) throws -> () -> Void
        /// Handles a failed operation. Returns a function to call afterwards.
        let fail: (SpoolCore, SpoolError) -> () -> Void
    }

    /// The maximum number of operations per transaction, so that none waits for long.
    private static let maximumOperations = 1000

    private let queue = DispatchQueue(label: "org.opencorenfc.spool")
    private let lock = NSLock()
    private var waiting: [Operation] = []
    private var isScheduled = false
    private let core: SpoolCore
    private let claim: FileClaim

    /// The file's stream name.
    package var stream: String { core.stream }

    /// Opens the file in a folder, creating both if needed.
    ///
    /// - Parameters:
    ///   - folder: an absolute path. Others must not be able to write to the folder. Its mode is not changed, because a
    ///     person may have chosen the folder.
    ///   - settings: the limits.
    /// - Throws: ``SpoolError`` with `inUse`, `diskFull`, or `unusable`, also if others can write to the folder.
    package init(folder: String, settings: SpoolSettings = SpoolSettings()) throws(SpoolError) {
        do throws(StorageError) {
            let store = try PrivateFolder(folder, guests: .mayRead, checksParents: false)
            // The claim locks this file itself, so create the file only once.
            if !(try store.names().contains("spool.lock")) { try store.write("spool.lock", []) }
            claim = try store.claim("spool.lock")
        } catch {
            throw SpoolError(error.code == .inUse ? .inUse : .unusable, error.reason)
        }
        core = try SpoolCore(folder: folder, settings: settings)
    }

    /// Adds a node to the file if needed.
    ///
    /// - Returns: the node's number in the file.
    func add(_ node: FleetName) throws(SpoolError) -> Int64 {
        try queue.sync { () -> Result<Int64, SpoolError> in
            do {
                return .success(try core.transact { db in try core.add(db, node) })
            } catch {
                return .failure(SpoolError(error, path: core.path))
            }
        }.get()
    }

    /// Adds an operation to the next transaction.
    func add(_ operation: Operation) {
        let isFirst = lock.withLock {
            waiting.append(operation)
            defer { isScheduled = true }
            return !isScheduled
        }
        if isFirst { schedule() }
    }

    /// Returns in-memory data, after the transactions that have begun.
    func read<Value: Sendable>(_ body: @escaping @Sendable (SpoolCore) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: body(core)) }
        }
    }

    private func schedule() {
        queue.async { [weak self] in
            // The callbacks run without a reference to the file, so that one of them may release it last and close it.
            for finish in self?.work() ?? [] { finish() }
        }
    }

    /// Performs pending operations. Returns the functions to call after the commit.
    private func work() -> [() -> Void] {
        let operations = lock.withLock {
            let operations = Array(waiting.prefix(Self.maximumOperations))
            waiting.removeFirst(operations.count)
            return operations
        }
        var finishers: [() -> Void]
        do {
            finishers = try core.transact { db in try operations.map { try $0.perform(core, db) } }
        } catch {
            // One operation failed, or the disk is full. Run each operation separately, so that the others succeed.
            finishers = operations.map(alone)
        }
        let isMore = lock.withLock {
            isScheduled = !waiting.isEmpty
            return isScheduled
        }
        if isMore { schedule() }
        return finishers
    }

    private func alone(_ operation: Operation) -> () -> Void {
        do {
            return try core.transactMakingRoom { db in try operation.perform(core, db) }
        } catch {
            return operation.fail(core, SpoolError(error, path: core.path))
        }
    }
}
