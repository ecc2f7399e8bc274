// SPDX-License-Identifier: Apache-2.0
import FleetModel
import GRDB

/// What a spool knows of its readers without asking the disk: the numbers that were given and acknowledged.
///
/// A transaction that fails takes back its changes here too.
struct SpoolLedger {
    /// A reader of a node.
    struct Key: Hashable {
        var node: Int64
        var name: FleetName
    }

    /// How far a reader is.
    struct Reader {
        let key: Key
        /// Its row.
        let row: Int64
        /// The last number that was given.
        var sequence: Int64
        /// All events up to this number were acknowledged, or dropped.
        var acknowledged: Int64
        /// No event before this number is there.
        var first: Int64
        /// Numbers that were acknowledged before others that come before them.
        var early: Set<Int64> = []
        /// Whether the row has to be written.
        var isUnsaved = false
    }

    /// What was dropped of a reader, and is not reported yet.
    struct Dropped {
        var count: Int64
        var first: Int64
        var last: Int64
        /// Why there was no room; nil when that is not known any more.
        var shortage: SpoolShortage?
        /// Whether the newest went, whatever the settings say.
        var areNewest = false

        /// What the report of it says.
        var message: String {
            let advice = shortage?.advice ?? "Bring the broker back, make room on the disk, or raise limit_mb."
            return "There was no room for \(count) events. \(advice)"
        }

        /// Adds what was dropped later. A full disk comes before the limit, which helps nothing then.
        mutating func add(_ other: Dropped) {
            count += other.count
            first = min(first, other.first)
            last = max(last, other.last)
            areNewest = areNewest || other.areNewest
            if shortage != .disk { shortage = other.shortage ?? shortage }
        }
    }

    /// What concerns all readers.
    struct Totals {
        /// The bytes of all events.
        var size: Int
        /// The number of the next event. A number is not given again, also when its event was removed.
        var next: Int64
        var dropped: [Int: Dropped] = [:]
        /// The events that could not even be counted on the disk.
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
    /// The last event of each node.
    private var lasts: [Int64: Int64] = [:]
    /// The readers whose rows have to be written.
    private(set) var unsaved: [Int] = []

    private var changes: [Change] = []
    private var before: Totals

    /// Reads it from the disk.
    init(_ db: Database) throws {
        let size = try Int.fetchOne(db, sql: "SELECT ifnull(sum(length(payload)), 0) FROM event") ?? 0
        let last = try Int64.fetchOne(db, sql: "SELECT max(number) FROM event") ?? 0
        totals = Totals(size: size, next: last + 1)
        before = totals
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
            lasts[reader.key.node] = max(lasts[reader.key.node] ?? 0, row["last"])
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM dropped") {
            let number: Int64 = row["reader"]
            guard let index = readers.firstIndex(where: { $0.row == number }) else { continue }
            totals.dropped[index] = Dropped(count: row["count"], first: row["first"], last: row["last"])
        }
        before = totals
    }

    private mutating func insert(_ reader: Reader) {
        indexes[reader.key] = readers.count
        readersOfNodes[reader.key.node, default: []].append(readers.count)
        readers.append(reader)
    }

    func index(_ key: Key) -> Int? { indexes[key] }

    /// The readers of a node.
    func readers(of node: Int64) -> [Int] { readersOfNodes[node] ?? [] }

    /// The last event of a node; 0 without one.
    func last(of node: Int64) -> Int64 { lasts[node] ?? 0 }

    /// The index of the reader with a row.
    func index(row: Int64) -> Int? {
        // Rows are numbered from 1 in the order in which they were made, and are never removed.
        let index = Int(row) - 1
        if readers.indices.contains(index), readers[index].row == row { return index }
        return readers.firstIndex { $0.row == row }
    }

    // MARK: Changes

    /// Adds a reader whose row was just made.
    mutating func add(_ key: Key, row: Int64) -> Int {
        changes.append(.added(key))
        insert(Reader(key: key, row: row, sequence: 0, acknowledged: 0, first: 1))
        return readers.count - 1
    }

    mutating func change(_ index: Int, _ body: (inout Reader) -> Void) {
        changes.append(.reader(index, readers[index]))
        let wasUnsaved = readers[index].isUnsaved
        body(&readers[index])
        if readers[index].isUnsaved, !wasUnsaved { unsaved.append(index) }
        if wasUnsaved, !readers[index].isUnsaved { unsaved.removeAll { $0 == index } }
    }

    /// Notes the last event of a node.
    mutating func setLast(of node: Int64, _ number: Int64) {
        changes.append(.last(node: node, last(of: node)))
        lasts[node] = number
    }

    /// Notes that all rows were written.
    mutating func noteSaved() {
        for index in unsaved {
            changes.append(.reader(index, readers[index]))
            readers[index].isUnsaved = false
        }
        unsaved = []
    }

    // MARK: Transactions

    mutating func begin() {
        before = totals
        changes.removeAll(keepingCapacity: true)
    }

    mutating func commit() { changes.removeAll(keepingCapacity: true) }

    mutating func rollBack() {
        totals = before
        for change in changes.reversed() {
            switch change {
            case .reader(let index, let reader): readers[index] = reader
            case .added(let key):
                indexes[key] = nil
                readersOfNodes[key.node]?.removeLast()
                readers.removeLast()
            case .last(let node, let number): lasts[node] = number
            }
        }
        changes.removeAll(keepingCapacity: true)
        unsaved = readers.indices.filter { readers[$0].isUnsaved }
    }
}
