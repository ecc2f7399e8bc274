// SPDX-License-Identifier: Apache-2.0
import FleetModel
import GRDB

/// A spool's database, with an in-memory summary. Use it only on the file's queue.
final class SpoolCore {
    let path: String
    let stream: String
    let settings: SpoolSettings
    let database: DatabaseQueue
    let reserve: SpoolReserve
    var ledger: SpoolLedger
    /// The maximum size of all events in bytes, updated for each transaction.
    private(set) var limit = 0
    /// Whether events are stored, and not only numbered.
    private var storesEvents = true
    private var transactions = 0
    private var logged = 0

    /// The log is checkpointed after this many transactions, or bytes of events.
    private static let maximumTransactions = 64
    private static let maximumLogged = 4 << 20

    init(folder: String, settings: SpoolSettings) throws(SpoolError) {
        self.settings = settings
        path = folder + "/spool.sqlite"
        try SpoolFiles.make(path)
        reserve = SpoolReserve(path: folder + "/spool.reserve", size: settings.reserve)
        do {
            (database, stream, ledger) = try Self.open(path)
        } catch let error as SpoolError {
            throw error
        } catch {
            throw SpoolError(error, path: path)
        }
        reserve.make()
    }

    private static func open(_ path: String) throws -> (DatabaseQueue, stream: String, SpoolLedger) {
        var configuration = Configuration()
        configuration.label = "spool"
        // Another program may briefly lock the file. Only the spool's queue waits for it.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            // Sync every commit, so that nothing is lost in a power failure.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // Overwrite deleted data, because jobs may contain passwords.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // Events are read once, in order, so a small cache is enough.
            try db.execute(sql: "PRAGMA cache_size = -256")
            // Checkpoints are run explicitly, so that a full disk is noticed while the log is small.
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        return try database.write { db in
            switch try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 {
            case 0: try SpoolSchema.make(db, stream: Hex.text((0..<8).map { _ in UInt8.random(in: 0...0xFF) }))
            case SpoolSchema.version: break
            case 1:
                throw SpoolError(
                    .unusable,
                    "The spool \(path) has the format of a version before the first release. Move it away."
                )
            default:
                throw SpoolError(
                    .unusable,
                    "The spool \(path) was written by a newer version. Use that version's agent."
                )
            }
            try SpoolSchema.complete(db)
            guard let stream = try String.fetchOne(db, sql: "SELECT value FROM setting WHERE name = 'stream'") else {
                throw SpoolError(.unusable, "The spool \(path) has no stream id.")
            }
            return (database, stream, try SpoolLedger(db))
        }
    }

    /// Runs a transaction, and checkpoints the log occasionally. On failure, neither disk nor memory changes.
    func transact<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let size = ledger.totals.size
        let value = try write { db in
            limit = try currentLimit(db)
            return try body(db)
        }
        transactions += 1
        logged += max(ledger.totals.size - size, 0)
        if !reserve.exists, transactions % 16 == 0, reserve.freeSpace > 2 * Self.logRoom { reserve.make() }
        if transactions >= Self.maximumTransactions || logged >= Self.maximumLogged { shortenLog() }
        return value
    }

    /// Changes the database and the ledger together, or not at all.
    private func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        ledger.begin()
        do {
            let value = try database.write { db in
                let value = try body(db)
                try saveReaders(db)
                return value
            }
            ledger.commit()
            return value
        } catch {
            ledger.rollBack()
            throw error
        }
    }

    /// Runs a transaction. If the disk is full, frees space and tries again. If that fails too, tries once more without
    /// storing events, so that they only get numbers.
    func transactMakingRoom<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try transact(body)
        } catch let error as DatabaseError where Self.isFull(error) {
            makeRoomOnDisk()
        }
        do {
            return try transact(body)
        } catch let error as DatabaseError where Self.isFull(error) {
            storesEvents = false
            defer { storesEvents = true }
            return try transact(body)
        }
    }

    private static func isFull(_ error: DatabaseError) -> Bool {
        [.SQLITE_FULL, .SQLITE_IOERR].contains(error.resultCode)
    }

    /// Checkpoints the log. If the disk is full, frees space.
    private func shortenLog() {
        (transactions, logged) = (0, 0)
        do {
            try checkpoint()
        } catch let error as DatabaseError where Self.isFull(error) {
            makeRoomOnDisk()
        } catch {
            // The next checkpoint, after more transactions, tries again.
        }
    }

    private func checkpoint() throws {
        try database.writeWithoutTransaction { db in _ = try db.checkpoint(.passive) }
    }

    /// Checkpoints and truncates the log, so that no deleted data remains in it.
    func emptyLog() {
        try? database.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }

    /// Removes the oldest events in small steps, each of which needs little disk space.
    private func makeRoomOnDisk() {
        reserve.release()
        try? checkpoint()
        let wanted = max(ledger.totals.size / 8, 256 << 10)
        let target = ledger.totals.size - wanted
        while ledger.totals.size > target {
            let before = ledger.totals.size
            guard (try? write { db in try makeRoom(db, atLeast: 64 << 10, for: .disk) }) != nil,
                ledger.totals.size < before
            else { break }
            try? checkpoint()
        }
    }

    /// Returns the size limit from the settings, or less if the disk is nearly full. The file does not shrink when
    /// events are removed, so its free pages count as available space.
    private func currentLimit(_ db: Database) throws -> Int {
        guard storesEvents else { return 0 }
        let room = ledger.totals.size + reserve.freeSpace + (reserve.exists ? settings.reserve : 0) - Self.logRoom
        if room >= settings.limit { return settings.limit }
        let pages = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
        return min(settings.limit, max(room + pages * Self.pageSize, 0))
    }

    /// Disk space reserved for the log, in bytes: its size limit plus what is written before a checkpoint.
    private static let logRoom = 5 << 18
    private static let pageSize = 4096
}
