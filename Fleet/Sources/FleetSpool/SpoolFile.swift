// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import GRDB
import LinuxSupport

/// The file on the disk: the events of one node, or of all nodes of a process, and the journals of their jobs.
///
/// Whatever waits to be stored is stored in one transaction, and so with one sync of the disk. The more comes at once,
/// the less each event costs; an event that comes alone is stored at once.
package final class SpoolFile: @unchecked Sendable {
    // Sendable because the core is only used on the queue, and by `init`; the rest has a lock.

    /// Something to do in a transaction.
    struct Operation {
        /// Does it. Returns what is called after the commit. It may be called again after a transaction has failed.
        let perform: (SpoolCore, Database) throws -> () -> Void
        /// Notes that it could not be stored. Returns what is called then.
        let fail: (SpoolCore, SpoolError) -> () -> Void
    }

    /// The most operations of a transaction, so that none of them waits for long.
    private static let mostOperations = 1000

    private let queue = DispatchQueue(label: "org.opencorenfc.spool")
    private let lock = NSLock()
    private var waiting: [Operation] = []
    private var isScheduled = false
    private let core: SpoolCore
    private let claim: FileClaim

    /// The name of the file's stream of numbers.
    package var stream: String { core.stream }

    /// Opens the file in a folder, and makes both where they are missing.
    ///
    /// - Parameter folder: an absolute path. Only the user may get into the folder.
    /// - Throws: ``SpoolError`` with `inUse`, `unusable`, `diskFull`; `unusable` also when others can write the folder.
    package init(folder: String, settings: SpoolSettings = SpoolSettings()) throws(SpoolError) {
        try SpoolFiles.checkFolder(folder)
        do throws(StorageError) {
            let store = try PrivateFolder(store: folder)
            // The claim is on the file itself, so it is made once.
            if !(try store.names().contains("spool.lock")) { try store.write("spool.lock", []) }
            claim = try store.claim("spool.lock")
        } catch {
            throw SpoolError(error.code == .inUse ? .inUse : .unusable, error.reason)
        }
        core = try SpoolCore(folder: folder, settings: settings)
    }

    /// Makes a node's part of the file where it is missing.
    ///
    /// - Returns: its number in the file.
    func add(_ node: FleetName) throws(SpoolError) -> Int64 {
        try queue.sync { () -> Result<Int64, SpoolError> in
            do {
                return .success(try core.transact { db in try core.add(db, node) })
            } catch {
                return .failure(SpoolError(error, path: core.path))
            }
        }.get()
    }

    /// Does something in the next transaction.
    func add(_ operation: Operation) {
        let isFirst = lock.withLock {
            waiting.append(operation)
            defer { isScheduled = true }
            return !isScheduled
        }
        if isFirst { schedule() }
    }

    /// Returns something that is known without the disk, after the transactions that have begun.
    func read<Value: Sendable>(_ body: @escaping @Sendable (SpoolCore) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: body(core)) }
        }
    }

    private func schedule() {
        queue.async { [weak self] in
            // The file is closed when nobody waits for it any more, so it is not held while they are told.
            for finish in self?.work() ?? [] { finish() }
        }
    }

    /// Does what waits. Returns what is to be called now that it is stored.
    private func work() -> [() -> Void] {
        let operations = lock.withLock {
            let operations = Array(waiting.prefix(Self.mostOperations))
            waiting.removeFirst(operations.count)
            return operations
        }
        var finishers: [() -> Void]
        do {
            finishers = try core.transact { db in try operations.map { try $0.perform(core, db) } }
        } catch {
            // One of them has failed, or the disk is full. The others must not suffer from it.
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
