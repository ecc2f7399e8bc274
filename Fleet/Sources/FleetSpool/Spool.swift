// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import GRDB

/// A node's part of a ``SpoolFile``: the events that wait to be sent, those that were sent, and the journal of jobs.
///
/// What a call has stored is on the disk when it returns, also after a power cut. Calls are done in the order in which
/// they were made.
package final class Spool: Sendable {
    /// The node.
    package let node: FleetName
    /// The name of the file's stream of numbers.
    package var stream: String { file.stream }

    let file: SpoolFile
    /// The node's number in the file.
    let number: Int64

    /// Opens the spool of a node that has a folder of its own.
    ///
    /// - Parameters:
    ///   - folder: an absolute path. Only the user may get into the folder.
    ///   - node: the node's name.
    /// - Throws: ``SpoolError`` with `inUse`, `unusable`, `diskFull`; `unusable` also when others can write the folder.
    package convenience init(
        folder: String,
        node: FleetName,
        settings: SpoolSettings = SpoolSettings()
    ) throws(SpoolError) {
        try self.init(SpoolFile(folder: folder, settings: settings), node: node)
    }

    /// Opens a node's part of a file, which is made where it is missing. Nodes of one process share a file, so that one
    /// sync of the disk serves them all.
    package init(_ file: SpoolFile, node: FleetName) throws(SpoolError) {
        self.file = file
        self.node = node
        number = try file.add(node)
    }

    /// Does something in the next transaction, and returns after its commit.
    ///
    /// - Parameters:
    ///   - body: called again after a transaction has failed.
    ///   - onFailure: called when it was not stored.
    func transact<Value: Sendable>(
        onFailure: @escaping @Sendable (SpoolCore) -> Void = { _ in },
        _ body: @escaping @Sendable (SpoolCore, Database) throws -> Value
    ) async throws(SpoolError) -> Value {
        // The file forgets what waits once nobody has it any more. Then this call would never return.
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

    /// The settings of the database that keep what was stored.
    package func durability() async throws(SpoolError) -> (journal: String?, synchronous: Int?) {
        try await transact { _, db in
            (
                try String.fetchOne(db, sql: "PRAGMA journal_mode"),
                try Int.fetchOne(db, sql: "PRAGMA synchronous")
            )
        }
    }
}
