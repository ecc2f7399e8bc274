// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import Foundation
import GRDB

extension Spool {
    /// Returns unacknowledged events, in order.
    ///
    /// - Parameters:
    ///   - number: return only events with larger numbers.
    ///   - limit: the maximum number of events.
    package func waiting(after number: Int64, limit: Int) async throws(SpoolError) -> [StoredEvent] {
        try await transact { [node = self.number] core, db in
            try core.waiting(db, node, after: number, limit: limit)
        }
    }

    /// Returns the number of unacknowledged events.
    package func waitingCount() async throws(SpoolError) -> Int {
        try await transact { [number] core, db in
            var sum = 0
            for index in core.ledger.readers(of: number) {
                let reader = core.ledger.readers[index]
                guard reader.acknowledged < reader.sequence else { continue }
                let statement = try db.cachedStatement(
                    sql: "SELECT count(*) FROM event WHERE reader = ? AND sequence > ?"
                )
                let count = try Int.fetchOne(statement, arguments: [reader.row, reader.acknowledged]) ?? 0
                sum += count - reader.earlyAcks.count
            }
            return sum
        }
    }

    /// The number of the last event in the file; 0 if there is none.
    package func lastNumber() async -> Int64 { await file.read { core in core.ledger.totals.next - 1 } }

    /// Records acknowledged events. Removes acknowledged events that the settings no longer keep.
    ///
    /// - Returns: whether dropped events remain that ``announceDropped(time:)`` has not reported yet.
    @discardableResult
    package func acknowledge(_ places: [StoredEvent.Place]) async throws(SpoolError) -> Bool {
        guard !places.isEmpty else { return false }
        return try await transact { [number] core, db in
            try core.acknowledge(db, number, places)
            return core.hasDropped(number)
        }
    }

    // MARK: Retained messages

    /// Returns the topics on which the broker retains a message from this node.
    package func retainedTopics() async throws(SpoolError) -> Set<String> {
        try await transact { [number] _, db in
            Set(try String.fetchAll(db, sql: "SELECT topic FROM retained WHERE node = ?", arguments: [number]))
        }
    }

    /// Records topics on which the broker now retains a message from this node, or no longer does.
    package func note(retained topics: some Collection<String> & Sendable, _ isRetained: Bool) async throws(SpoolError)
    {
        let sql =
            isRetained
            ? "INSERT OR IGNORE INTO retained (node, topic) VALUES (?, ?)"
            : "DELETE FROM retained WHERE node = ? AND topic = ?"
        try await transact { [number] _, db in
            for topic in topics { try db.execute(sql: sql, arguments: [number, topic]) }
        }
    }

    // MARK: Replay

    /// Returns a reader's events that are still stored, in order, whether acknowledged or not.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - range: the sequence numbers.
    ///   - limit: the maximum number of events.
    ///   - size: the maximum size of all but the last of the events, in bytes.
    package func events(of reader: FleetName, in range: ClosedRange<Int64>, limit: Int, size: Int = .max)
        async throws(SpoolError) -> [StoredEvent]
    {
        try await transact { [number] core, db in
            guard let index = core.ledger.index(SpoolLedger.Key(node: number, name: reader)) else { return [] }
            return try core.fetch(
                db,
                index,
                "SELECT number, sequence, payload FROM event WHERE reader = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?",
                [core.ledger.readers[index].row, range.lowerBound, range.upperBound, limit],
                size: size
            )
        }
    }

    /// Returns up to which number each reader's events are acknowledged.
    package func positions() async throws(SpoolError) -> [ReaderPosition] {
        try await transact { [number] core, db in
            try core.ledger.readers(of: number).map { index in
                let reader = core.ledger.readers[index]
                let first = try db.cachedStatement(sql: "SELECT min(sequence) FROM event WHERE reader = ?")
                return ReaderPosition(
                    reader: reader.key.name,
                    sequence: reader.acknowledged,
                    first: try Int64.fetchOne(first, arguments: [reader.row])
                )
            }
        }
    }
}

extension SpoolCore {
    func waiting(_ db: Database, _ node: Int64, after number: Int64, limit: Int) throws -> [StoredEvent] {
        var events: [StoredEvent] = []
        let indexes = ledger.readers(of: node).filter { ledger.readers[$0].acknowledged < ledger.readers[$0].sequence }
        for index in indexes {
            let reader = ledger.readers[index]
            let found = try fetch(
                db,
                index,
                """
                SELECT number, sequence, payload FROM event WHERE reader = ? AND sequence > ? AND number > ?
                ORDER BY sequence LIMIT ?
                """,
                [reader.row, reader.acknowledged, number, limit + reader.earlyAcks.count]
            )
            events += reader.earlyAcks.isEmpty ? found : found.filter { !reader.earlyAcks.contains($0.sequence) }
        }
        if indexes.count > 1 { events.sort { $0.number < $1.number } }
        return Array(events.prefix(limit))
    }

    /// Runs a query for one reader's numbers, sequence numbers and payloads, until the payloads have a size.
    func fetch(
        _ db: Database,
        _ index: Int,
        _ sql: String,
        _ arguments: StatementArguments,
        size: Int = .max
    ) throws -> [StoredEvent] {
        let name = ledger.readers[index].key.name
        var events: [StoredEvent] = []
        var rest = size
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        while rest > 0, let row = try rows.next() {
            let payload: Data = row["payload"]
            rest -= payload.count
            let place = StoredEvent.Place(reader: name, sequence: row["sequence"])
            events.append(StoredEvent(number: row["number"], place: place, payload: Array(payload)))
        }
        return events
    }

    /// Records acknowledgements within a transaction.
    func acknowledge(_ db: Database, _ node: Int64, _ places: [StoredEvent.Place]) throws {
        var touched: Set<Int> = []
        for place in places {
            guard let index = ledger.index(SpoolLedger.Key(node: node, name: place.reader)) else { continue }
            let reader = ledger.readers[index]
            guard place.sequence > reader.acknowledged, place.sequence <= reader.sequence else { continue }
            ledger.change(index) { $0.earlyAcks.insert(place.sequence) }
            touched.insert(index)
        }
        for index in touched {
            try advance(db, index)
            try forget(db, index)
        }
    }

    /// Advances the number up to which all events are acknowledged.
    private func advance(_ db: Database, _ index: Int) throws {
        var reader = ledger.readers[index]
        let before = reader.acknowledged
        while let least = reader.earlyAcks.min() {
            if least > reader.acknowledged + 1 {
                // The events in between were dropped, or are still waiting.
                let statement = try db.cachedStatement(
                    sql: "SELECT 1 FROM event WHERE reader = ? AND sequence > ? AND sequence < ? LIMIT 1"
                )
                if try Int.fetchOne(statement, arguments: [reader.row, reader.acknowledged, least]) != nil { break }
            }
            reader.earlyAcks.remove(least)
            reader.acknowledged = least
        }
        guard reader.acknowledged != before else { return }
        ledger.change(index) { [reader] in
            ($0.earlyAcks, $0.acknowledged, $0.isUnsaved) = (reader.earlyAcks, reader.acknowledged, true)
        }
    }

    /// Removes a reader's acknowledged events that are no longer kept, in batches.
    private func forget(_ db: Database, _ index: Int) throws {
        let reader = ledger.readers[index]
        let last = min(reader.acknowledged, reader.sequence - Int64(settings.keep))
        guard last >= reader.first + Int64(settings.keep / 100) else { return }
        let size = try Int.fetchOne(
            db,
            sql: "SELECT ifnull(sum(length(payload)), 0) FROM event WHERE reader = ? AND sequence <= ?",
            arguments: [reader.row, last]
        )
        try db.execute(sql: "DELETE FROM event WHERE reader = ? AND sequence <= ?", arguments: [reader.row, last])
        ledger.totals.size -= size ?? 0
        ledger.change(index) { ($0.first, $0.isUnsaved) = (last + 1, true) }
    }
}
