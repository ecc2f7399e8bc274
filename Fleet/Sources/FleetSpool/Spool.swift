// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import GRDB

/// A node's part of a ``SpoolFile``: its pending events, its sent events, and its job journal.
///
/// When a call returns, its changes are on disk and survive a power failure. Calls are performed in order.
package final class Spool: Sendable {
    package let node: FleetName
    /// The file's stream name.
    package var stream: String { file.stream }

    let file: SpoolFile
    /// The node's number in the file.
    let number: Int64

    /// Opens the spool of a node in its own folder.
    ///
    /// - Parameters:
    ///   - folder: an absolute path. Others must not be able to write to the folder.
    ///   - node: the node's name.
    /// - Throws: ``SpoolError`` with `inUse`, `diskFull`, or `unusable`, also if others can write to the folder.
    package convenience init(
        folder: String,
        node: FleetName,
        settings: SpoolSettings = SpoolSettings()
    ) throws(SpoolError) {
        try self.init(SpoolFile(folder: folder, settings: settings), node: node)
    }

    /// Opens a node's part of a file, creating it if needed. Nodes of one process share a file, so that one disk sync
    /// serves them all.
    package init(_ file: SpoolFile, node: FleetName) throws(SpoolError) {
        self.file = file
        self.node = node
        number = try file.add(node)
    }

    /// Runs a function in the next transaction, and returns after the commit.
    ///
    /// - Parameters:
    ///   - onFailure: called if the change could not be stored.
    ///   - body: the work. Called again if the transaction fails.
    func transact<Value: Sendable>(
        onFailure: @escaping @Sendable (SpoolCore) -> Void = { _ in },
        _ body: @escaping @Sendable (SpoolCore, Database) throws -> Value
    ) async throws(SpoolError) -> Value {
        // The file drops pending operations once no spool refers to it. Then this call would never return.
        defer { withExtendedLifetime(self) {} }
        let result: Result<Value, SpoolError> = await withCheckedContinuation { continuation in
            let operation = SpoolFile.Operation { core, db in
                let value = try body(core, db)
                return { continuation.resume(returning: .success(value)) }
            } fail: { core, error in
                onFailure(core)
                return { continuation.resume(returning: .failure(error)) }
            }
            file.add(operation)
        }
        return try result.get()
    }

    /// Returns the database settings that determine durability.
    package func durability() async throws(SpoolError) -> (journal: String?, synchronous: Int?) {
        try await transact { _, db in
            (
                try String.fetchOne(db, sql: "PRAGMA journal_mode"),
                try Int.fetchOne(db, sql: "PRAGMA synchronous")
            )
        }
    }
}
