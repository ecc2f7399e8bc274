// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import GRDB

extension Spool {
    /// Stores events, assigning each the next sequence number of its reader.
    ///
    /// If there is no space, drops the oldest or newest events, as configured, and stores a report event. If the disk
    /// itself is full, only reserves numbers for the events. The caller must then send them, or call ``drop(_:)``.
    ///
    /// - Parameters:
    ///   - events: the events and their readers, in order.
    ///   - places: events acknowledged by the broker. Storing them in the same transaction saves time.
    /// - Returns: the stored events, in order.
    /// - Throws: ``SpoolError`` with `diskFull` if nothing could be stored. The missing numbers are reported later.
    package func append(
        _ events: [(reader: FleetName, event: FleetEvent)],
        acknowledging places: [StoredEvent.Place] = []
    ) async throws(SpoolError) -> StoredEvents {
        try await transact { [number] core in
            for (reader, _) in events {
                core.ledger.totals.missed[SpoolLedger.Key(node: number, name: reader), default: 0] += 1
            }
        } _: { [number, node] core, db in
            try core.acknowledge(db, number, places)
            return try core.append(db, number, node, events)
        }
    }

    /// Stores events that so far only have numbers, if there is space now.
    ///
    /// - Returns: the events that could not be stored.
    package func store(_ events: [StoredEvent]) async throws(SpoolError) -> [StoredEvent] {
        try await transact { [number] core, db in try events.filter { try !core.store(db, number, $0) } }
    }

    /// Records that unstored events are lost.
    package func drop(_ places: [StoredEvent.Place]) async throws(SpoolError) {
        try await transact { [number] core, db in
            for place in places {
                guard let index = core.ledger.index(SpoolLedger.Key(node: number, name: place.reader)) else { continue }
                let (last, count) = (place.sequence, Int64(1))
                try core.note(db, index, .init(count: count, first: last, last: last, shortage: .disk, areNewest: true))
            }
        }
    }

    /// Stores events that report dropped events, if there is space now.
    ///
    /// - Parameters:
    ///   - time: the time of the reports.
    ///   - shortage: the earlier shortage. It lasts until an eighth of the space is free, so that it does not begin and
    ///     end again and again while each new event displaces an old one.
    /// - Returns: the reports. While there is no space, the result has a shortage.
    package func announceDropped(time: Int64, after shortage: SpoolShortage? = nil) async throws(SpoolError)
        -> StoredEvents
    {
        try await transact { [number, node] core, db in
            var stored = try core.announceDropped(db, number, node, time: time)
            if stored.shortage == nil, let shortage, try !core.hasRoom(db) { stored.shortage = shortage }
            return stored
        }
    }
}

extension SpoolCore {
    /// Adds a row for a node if needed. Returns the node's number.
    func add(_ db: Database, _ node: FleetName) throws -> Int64 {
        try db.execute(sql: "INSERT OR IGNORE INTO node (name) VALUES (?)", arguments: [node.text])
        let number = try Int64.fetchOne(db, sql: "SELECT number FROM node WHERE name = ?", arguments: [node.text])
        return number ?? 0
    }

    /// Stores a node's events within a transaction.
    func append(
        _ db: Database,
        _ number: Int64,
        _ node: FleetName,
        _ events: [(reader: FleetName, event: FleetEvent)]
    ) throws -> StoredEvents {
        try settleMissed(db, number)
        var stored = StoredEvents(previous: ledger.last(of: number))
        stored.events.reserveCapacity(events.count)
        for (reader, event) in events {
            let index = try index(db, SpoolLedger.Key(node: number, name: reader))
            if isFull, !isDiskFull {
                try makeRoom(db, atLeast: max(limit / 16, ledger.totals.size - limit), for: shortage)
            }
            if isDiskFull {
                (stored.shortage, stored.hasLast) = (.disk, true)
                stored.events.append(numbered(index, node, event))
            } else if isFull {
                try skip(db, index, 1, shortage)
                (stored.shortage, stored.hasLast) = (shortage, false)
            } else {
                let (reports, shortage) = try reportDropped(db, number, node, time: event.time)
                // With the policy "oldest", old events were dropped to make space. With "newest", there is space again.
                if settings.policy == .oldest { stored.shortage = shortage ?? stored.shortage }
                stored.events += reports
                stored.events.append(try insert(db, index, node, event))
                stored.hasLast = true
            }
        }
        return stored
    }

    /// Stores an event that already has a number. Returns false if there is no space.
    func store(_ db: Database, _ node: Int64, _ event: StoredEvent) throws -> Bool {
        guard let index = ledger.index(SpoolLedger.Key(node: node, name: event.reader)), !isFull,
            event.sequence > ledger.readers[index].acknowledged
        else { return false }
        let row = ledger.readers[index].row
        try db.execute(
            sql: "INSERT INTO event (number, reader, sequence, payload) VALUES (?, ?, ?, ?)",
            arguments: [event.number, row, event.sequence, event.payload.data]
        )
        ledger.totals.size += event.payload.count
        ledger.change(index) { $0.first = min($0.first, event.sequence) }
        return true
    }

    /// Whether a node has dropped events that have not been reported.
    func hasDropped(_ number: Int64) -> Bool {
        ledger.totals.missed.keys.contains { $0.node == number }
            || ledger.readers(of: number).contains { ledger.totals.dropped[$0] != nil }
    }

    /// Reports a node's dropped events, if there is space without dropping more.
    func announceDropped(_ db: Database, _ number: Int64, _ node: FleetName, time: Int64) throws -> StoredEvents {
        var stored = StoredEvents(previous: ledger.last(of: number))
        guard hasDropped(number) else {
            stored.shortage = isDiskFull ? .disk : nil
            return stored
        }
        try settleMissed(db, number)
        if isFull {
            try saveReaders(db)
            try removeAcknowledged(db, downTo: ledger.totals.size - limit / 16)
        }
        if isFull {
            stored.shortage = shortage
        } else {
            stored.events = try reportDropped(db, number, node, time: time).reports
        }
        return stored
    }

    /// Whether an eighth of the space is free, or has only acknowledged events.
    func hasRoom(_ db: Database) throws -> Bool {
        guard !isDiskFull else { return false }
        guard ledger.totals.size > limit / 8 * 7 else { return true }
        // Counts instead of sizes, because an index has all the numbers.
        try saveReaders(db)
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*) AS total, ifnull(sum(event.sequence > acknowledged), 0) AS waiting
                FROM event JOIN reader ON reader.number = event.reader
                """
        )
        guard let row else { return true }
        let (total, waiting): (Int, Int) = (row["total"], row["waiting"])
        return waiting * 8 <= total * 7
    }

    private var isFull: Bool { ledger.totals.size > limit || isDiskFull }

    /// Whether the disk is so full that removing events would not free enough space.
    private var isDiskFull: Bool { limit < min(settings.limit, Self.minimumLimit) }
    private static let minimumLimit = 64 << 10

    private var shortage: SpoolShortage { limit < settings.limit ? .disk : .limit }

    /// Assigns numbers to events that could not even be counted.
    private func settleMissed(_ db: Database, _ number: Int64) throws {
        for (key, count) in ledger.totals.missed where key.node == number {
            try skip(db, try index(db, key), count, .disk)
            ledger.totals.missed[key] = nil
        }
    }

    /// Returns the reader's index in the ledger. Adds the reader's row if it is missing.
    private func index(_ db: Database, _ key: SpoolLedger.Key) throws -> Int {
        if let index = ledger.index(key) { return index }
        try db.execute(sql: "INSERT INTO reader (node, name) VALUES (?, ?)", arguments: [key.node, key.name.text])
        return ledger.add(key, row: db.lastInsertedRowID)
    }

    private func insert(_ db: Database, _ index: Int, _ node: FleetName, _ event: FleetEvent) throws -> StoredEvent {
        // The event's row also stores the number, so the reader's row need not be updated.
        let wasUnsaved = ledger.readers[index].isUnsaved
        var stored = numbered(index, node, event)
        ledger.change(index) { $0.isUnsaved = wasUnsaved }
        stored.isStored = true
        let statement = try db.cachedStatement(
            sql: "INSERT INTO event (number, reader, sequence, payload) VALUES (?, ?, ?, ?)"
        )
        let row = ledger.readers[index].row
        try statement.execute(arguments: [stored.number, row, stored.sequence, stored.payload.data])
        ledger.totals.size += stored.payload.count
        return stored
    }

    /// Assigns a number to an event without storing it.
    private func numbered(_ index: Int, _ node: FleetName, _ event: FleetEvent) -> StoredEvent {
        let reader = ledger.readers[index]
        let (number, sequence) = (ledger.totals.next, reader.sequence + 1)
        let position = EventPosition(stream: stream, node: node, reader: reader.key.name, sequence: sequence)
        ledger.totals.next += 1
        ledger.change(index) { ($0.sequence, $0.isUnsaved) = (sequence, true) }
        ledger.setLast(of: reader.key.node, number)
        return StoredEvent(
            number: number,
            place: StoredEvent.Place(reader: reader.key.name, sequence: sequence),
            payload: CloudEvent.bytes(event, at: position),
            isStored: false
        )
    }

    /// Assigns numbers to events that are not stored.
    private func skip(_ db: Database, _ index: Int, _ count: Int64, _ shortage: SpoolShortage) throws {
        let last = ledger.readers[index].sequence + count
        ledger.change(index) { ($0.sequence, $0.isUnsaved) = (last, true) }
        try note(
            db,
            index,
            .init(count: count, first: last - count + 1, last: last, shortage: shortage, areNewest: true)
        )
    }

    /// Stores one event for each of a node's readers with dropped events.
    ///
    /// - Returns: the reports, and why there was no space; nil if nothing was dropped.
    private func reportDropped(_ db: Database, _ number: Int64, _ node: FleetName, time: Int64) throws
        -> (reports: [StoredEvent], shortage: SpoolShortage?)
    {
        guard !ledger.totals.dropped.isEmpty else { return ([], nil) }
        var stored: [StoredEvent] = []
        var shortage: SpoolShortage?
        for index in ledger.readers(of: number) {
            guard let dropped = ledger.totals.dropped.removeValue(forKey: index) else { continue }
            try db.execute(sql: "DELETE FROM dropped WHERE reader = ?", arguments: [ledger.readers[index].row])
            let event = FleetEvent(
                .error,
                time: time,
                [
                    "code": "events-dropped",
                    "message": .string(dropped.message),
                    "count": .integer(Int(dropped.count)), "first": .integer(Int(dropped.first)),
                    "last": .integer(Int(dropped.last)),
                    "policy": .string(dropped.areNewest ? "newest" : settings.policy.rawValue),
                ]
            )
            stored.append(try insert(db, index, node, event))
            shortage = dropped.shortage ?? .limit
        }
        return (stored, shortage)
    }

    /// Updates the rows of readers that have changed.
    func saveReaders(_ db: Database) throws {
        guard !ledger.unsavedReaders.isEmpty else { return }
        let statement = try db.cachedStatement(sql: "UPDATE reader SET sequence = ?, acknowledged = ? WHERE number = ?")
        for index in ledger.unsavedReaders {
            let reader = ledger.readers[index]
            try statement.execute(arguments: [reader.sequence, reader.acknowledged, reader.row])
        }
        ledger.noteSaved()
    }
}
