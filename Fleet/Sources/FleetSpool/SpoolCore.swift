// SPDX-License-Identifier: Apache-2.0
import FleetModel
import GRDB

/// The database of a spool, and what is known of it without asking the disk. Everything happens on the file's queue.
final class SpoolCore {
    let path: String
    let stream: String
    let settings: SpoolSettings
    let database: DatabaseQueue
    let reserve: SpoolReserve
    var ledger: SpoolLedger
    /// The most bytes that events may have; looked up once for a transaction.
    private(set) var limit = 0
    /// Whether the disk takes events, and not only their numbers.
    private var storesEvents = true
    private var transactions = 0
    private var logged = 0

    /// After so many transactions, or bytes of events, the log is written back into the file.
    private static let mostTransactions = 64
    private static let mostLogged = 4 << 20

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
        // Another program may look into the file, or change it, for a moment. The queue waits meanwhile, and nothing else does.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            // Every commit is synced, so that nothing is lost when the power is cut.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // Passwords of jobs are overwritten when they are removed.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // Events are read once, in order, so there is little to keep in memory.
            try db.execute(sql: "PRAGMA cache_size = -256")
            // The log is written back from here, so that a full disk is noticed while the log is small.
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        return try database.write { db in
            switch try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 {
            case 0: try SpoolSchema.make(db, stream: Hex.text((0..<8).map { _ in UInt8.random(in: 0...0xFF) }))
            case SpoolSchema.version: break
            case 1:
                throw SpoolError(.unusable, "The spool \(path) is of a version before the first release. Move it away.")
            default: throw SpoolError(.unusable, "The spool \(path) is of a newer version. Use that version's agent.")
            }
            try SpoolSchema.complete(db)
            guard let stream = try String.fetchOne(db, sql: "SELECT value FROM setting WHERE name = 'stream'") else {
                throw SpoolError(.unusable, "The spool \(path) has no stream.")
            }
            return (database, stream, try SpoolLedger(db))
        }
    }

    /// Runs a transaction, and shortens the log now and then. If it fails, nothing has changed, in memory neither.
    func transact<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let size = ledger.totals.size
        let value = try write { db in
            limit = try currentLimit(db)
            return try body(db)
        }
        transactions += 1
        logged += max(ledger.totals.size - size, 0)
        if !reserve.exists, transactions % 16 == 0, reserve.freeSpace > 2 * Self.logRoom { reserve.make() }
        if transactions >= Self.mostTransactions || logged >= Self.mostLogged { shortenLog() }
        return value
    }

    /// Changes the database and the ledger together, or neither.
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

    /// Runs a transaction. When the disk is full, room is made, and it is tried once more; at last so that events only get
    /// their numbers.
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

    /// Writes the log back into the file. When the disk has no room for it, room is made.
    private func shortenLog() {
        (transactions, logged) = (0, 0)
        do {
            try checkpoint()
        } catch let error as DatabaseError where Self.isFull(error) {
            makeRoomOnDisk()
        } catch {
            // It is tried again after the next transactions.
        }
    }

    private func checkpoint() throws {
        try database.writeWithoutTransaction { db in _ = try db.checkpoint(.passive) }
    }

    /// Writes the log back and empties it, so that it keeps nothing that was removed.
    func emptyLog() {
        try? database.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }

    /// Removes the oldest events in small steps, each of which needs little room itself.
    private func makeRoomOnDisk() {
        reserve.release()
        try? checkpoint()
        let wanted = max(ledger.totals.size / 8, 256 << 10)
        let target = ledger.totals.size - wanted
        while ledger.totals.size > target {
            let before = ledger.totals.size
            guard (try? write { db in try makeRoom(db, atLeast: 64 << 10, for: .disk) }) != nil,
                ledger.totals.size < before
            else {
                break
            }
            try? checkpoint()
        }
    }

    /// What the settings say, and less on a disk that has little room. The file does not become smaller when events are
    /// removed: what they leave free in it is room too.
    private func currentLimit(_ db: Database) throws -> Int {
        guard storesEvents else { return 0 }
        let room = ledger.totals.size + reserve.freeSpace + (reserve.exists ? settings.reserve : 0) - Self.logRoom
        if room >= settings.limit { return settings.limit }
        let pages = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
        return min(settings.limit, max(room + pages * Self.pageSize, 0))
    }

    /// What is left free on the disk for the log, in bytes: its limit, and what is written until it is shortened.
    private static let logRoom = 5 << 18
    private static let pageSize = 4096
}
