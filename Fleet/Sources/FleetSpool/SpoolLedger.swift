// SPDX-License-Identifier: Apache-2.0
import FleetModel
import GRDB

/// In-memory summary of a spool's readers: which sequence numbers were assigned and acknowledged.
///
/// If a transaction fails, its changes here are rolled back too.
struct SpoolLedger {
    /// A reader of a node.
    struct Key: Hashable {
        var node: Int64
        var name: FleetName
    }

    /// A reader's progress.
    struct Reader {
        let key: Key
        /// The number of the reader's row.
        let row: Int64
        /// The last assigned sequence number.
        var sequence: Int64
        /// All events up to this number were acknowledged or dropped.
        var acknowledged: Int64
        /// The file contains no event before this number.
        var first: Int64
        /// Acknowledged numbers after a gap of unacknowledged ones.
        var earlyAcks: Set<Int64> = []
        /// Whether the row must be updated.
        var isUnsaved = false
    }

    /// A reader's dropped events that have not been reported yet.
    struct Dropped {
        var count: Int64
        var first: Int64
        var last: Int64
        /// Why there was no space; nil if unknown after a restart.
        var shortage: SpoolShortage?
        /// Whether the newest events were dropped, regardless of the settings.
        var areNewest = false

        /// The message of the report.
        var message: String {
            let advice = shortage?.advice ?? "Reconnect the broker, free some disk space, or raise limit_mb."
            return "The spool had no room for \(count) events. \(advice)"
        }

        /// Adds other dropped events. A full disk overrides the limit: raising the limit would not help.
        mutating func add(_ other: Dropped) {
            count += other.count
            first = min(first, other.first)
            last = max(last, other.last)
            areNewest = areNewest || other.areNewest
            if shortage != .disk { shortage = other.shortage ?? shortage }
        }
    }

    /// Totals for all readers.
    struct Totals {
        /// The size of all events in bytes.
        var size: Int
        /// The size of the job journal in bytes.
        var journal: Int
        /// The number of the next event. Numbers are never reused, even if an event is removed.
        var next: Int64
        var dropped: [Int: Dropped] = [:]
        /// The number of events per reader that could not even be counted on disk.
        var missed: [Key: Int64] = [:]
    }

    private enum Change {
        case reader(Int, Reader)
        case added(Key)
        case last(node: Int64, Int64)
    }

    var totals: Totals
    private(set) var readers: [Reader] = []
    private var indexes: [Key: Int] = [:]
    private var readersOfNodes: [Int64: [Int]] = [:]
    /// The number of each node's last event.
    private var lastNumbers: [Int64: Int64] = [:]
    /// The readers whose rows must be updated.
    private(set) var unsavedReaders: [Int] = []

    private var changes: [Change] = []
    private var totalsBefore: Totals

    /// Reads the ledger from the database.
    init(_ db: Database) throws {
        let size = try Int.fetchOne(db, sql: "SELECT ifnull(sum(length(payload)), 0) FROM event") ?? 0
        let last = try Int64.fetchOne(db, sql: "SELECT max(number) FROM event") ?? 0
        totals = Totals(size: size, journal: try SpoolCore.journalSize(db), next: last + 1)
        totalsBefore = totals
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT reader.number AS row, node, name, max(reader.sequence, ifnull(max(event.sequence), 0)) AS sequence,
                acknowledged, min(event.sequence) AS first, ifnull(max(event.number), 0) AS last
                FROM reader LEFT JOIN event ON event.reader = reader.number GROUP BY reader.number ORDER BY reader.number
                """
        )
        for row in rows {
            guard let name = FleetName(row["name"]) else { continue }
            let sequence: Int64 = row["sequence"]
            let first: Int64? = row["first"]
            let reader = Reader(
                key: Key(node: row["node"], name: name),
                row: row["row"],
                sequence: sequence,
                acknowledged: row["acknowledged"],
                first: first ?? sequence + 1
            )
            insert(reader)
            lastNumbers[reader.key.node] = max(lastNumbers[reader.key.node] ?? 0, row["last"])
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM dropped") {
            let number: Int64 = row["reader"]
            guard let index = readers.firstIndex(where: { $0.row == number }) else { continue }
            totals.dropped[index] = Dropped(count: row["count"], first: row["first"], last: row["last"])
        }
        totalsBefore = totals
    }

    private mutating func insert(_ reader: Reader) {
        indexes[reader.key] = readers.count
        readersOfNodes[reader.key.node, default: []].append(readers.count)
        readers.append(reader)
    }

    func index(_ key: Key) -> Int? { indexes[key] }

    /// Returns the indexes of a node's readers.
    func readers(of node: Int64) -> [Int] { readersOfNodes[node] ?? [] }

    /// Returns the number of a node's last event; 0 if there is none.
    func last(of node: Int64) -> Int64 { lastNumbers[node] ?? 0 }

    /// Returns the index of the reader with a row number.
    func index(row: Int64) -> Int? {
        // Rows are numbered from 1 in order of creation, and are never removed.
        let index = Int(row) - 1
        if readers.indices.contains(index), readers[index].row == row { return index }
        return readers.firstIndex { $0.row == row }
    }

    // MARK: Changes

    /// Adds a reader whose row was just created.
    mutating func add(_ key: Key, row: Int64) -> Int {
        changes.append(.added(key))
        insert(Reader(key: key, row: row, sequence: 0, acknowledged: 0, first: 1))
        return readers.count - 1
    }

    mutating func change(_ index: Int, _ body: (inout Reader) -> Void) {
        changes.append(.reader(index, readers[index]))
        let wasUnsaved = readers[index].isUnsaved
        body(&readers[index])
        if readers[index].isUnsaved, !wasUnsaved { unsavedReaders.append(index) }
        if wasUnsaved, !readers[index].isUnsaved { unsavedReaders.removeAll { $0 == index } }
    }

    /// Records the number of a node's last event.
    mutating func setLast(of node: Int64, _ number: Int64) {
        changes.append(.last(node: node, last(of: node)))
        lastNumbers[node] = number
    }

    /// Records that all rows are up to date.
    mutating func noteSaved() {
        for index in unsavedReaders {
            changes.append(.reader(index, readers[index]))
            readers[index].isUnsaved = false
        }
        unsavedReaders = []
    }

    // MARK: Transactions

    mutating func begin() {
        totalsBefore = totals
        changes.removeAll(keepingCapacity: true)
    }

    mutating func commit() { changes.removeAll(keepingCapacity: true) }

    mutating func rollBack() {
        totals = totalsBefore
        for change in changes.reversed() {
            switch change {
            case .reader(let index, let reader): readers[index] = reader
            case .added(let key):
                indexes[key] = nil
                readersOfNodes[key.node]?.removeLast()
                readers.removeLast()
            case .last(let node, let number): lastNumbers[node] = number
            }
        }
        changes.removeAll(keepingCapacity: true)
        unsavedReaders = readers.indices.filter { readers[$0].isUnsaved }
    }
}

extension SpoolLedger.Dropped {
    /// Reads what an event reports as dropped; nil if the event is not such a report.
    init?(report payload: [UInt8]) {
        guard let event = try? JSONValue(parsing: payload), event["type"]?.text == EventKind.error.type,
            let data = event["data"], data["code"] == "events-dropped",
            let count = data["count"]?.int, let first = data["first"]?.int, let last = data["last"]?.int
        else { return nil }
        self.init(count: Int64(count), first: Int64(first), last: Int64(last), areNewest: data["policy"] == "newest")
    }
}
