// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import GRDB

extension Spool {
    /// Stores events, each with the next number of its reader.
    ///
    /// When there is no room, the oldest or the newest go, as the settings say. An event that says so follows. Where the
    /// disk itself has none, the events only get their numbers, and the caller has to send them: ``drop(_:)`` if it can't.
    ///
    /// - Parameters:
    ///   - events: the events and their readers, in order.
    ///   - places: events that the broker has acknowledged meanwhile. To note them here saves a transaction.
    /// - Returns: the events that were stored, in order.
    /// - Throws: ``SpoolError`` with `diskFull` when nothing could be stored. The numbers that are missing are reported
    ///   later.
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

    /// Stores events that only got their numbers, now that there may be room.
    ///
    /// - Returns: those that still have none.
    package func store(_ events: [StoredEvent]) async throws(SpoolError) -> [StoredEvent] {
        try await transact { [number] core, db in try events.filter { try !core.store(db, number, $0) } }
    }

    /// Notes that events that were not stored are lost.
    package func drop(_ places: [StoredEvent.Place]) async throws(SpoolError) {
        try await transact { [number] core, db in
            for place in places {
                guard let index = core.ledger.index(SpoolLedger.Key(node: number, name: place.reader)) else { continue }
                let (last, count) = (place.sequence, Int64(1))
                try core.note(db, index, .init(count: count, first: last, last: last, shortage: .disk, areNewest: true))
            }
        }
    }

    /// Stores events that report what was dropped, if there is room for them now.
    ///
    /// - Returns: these events. They have a shortage while there is no room.
    package func announceDropped(time: Int64) async throws(SpoolError) -> StoredEvents {
        try await transact { [number, node] core, db in try core.announceDropped(db, number, node, time: time) }
    }
}

extension SpoolCore {
    /// Makes a node's row. Returns its number.
    func add(_ db: Database, _ node: FleetName) throws -> Int64 {
        try db.execute(sql: "INSERT OR IGNORE INTO node (name) VALUES (?)", arguments: [node.text])
        let number = try Int64.fetchOne(db, sql: "SELECT number FROM node WHERE name = ?", arguments: [node.text])
        return number ?? 0
    }

    /// Stores events of a node in a transaction.
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
                // The oldest have gone for this event, while with the other policy there is room again.
                if settings.policy == .oldest { stored.shortage = shortage ?? stored.shortage }
                stored.events += reports
                stored.events.append(try insert(db, index, node, event))
                stored.hasLast = true
            }
        }
        return stored
    }

    /// Stores an event that has its number already. Returns false where there is no room.
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

    /// Whether something of a node was dropped and is not reported yet.
    func hasDropped(_ number: Int64) -> Bool {
        ledger.totals.missed.keys.contains { $0.node == number }
            || ledger.readers(of: number).contains { ledger.totals.dropped[$0] != nil }
    }

    /// Reports what was dropped of a node, when there is room without dropping more.
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

    private var isFull: Bool { ledger.totals.size > limit || isDiskFull }

    /// Whether the disk has no room worth mentioning, so that removing events makes none either.
    private var isDiskFull: Bool { limit < min(settings.limit, Self.leastLimit) }
    private static let leastLimit = 64 << 10

    private var shortage: SpoolShortage { limit < settings.limit ? .disk : .limit }

    /// Gives numbers to events that could not even be counted.
    private func settleMissed(_ db: Database, _ number: Int64) throws {
        for (key, count) in ledger.totals.missed where key.node == number {
            try skip(db, try index(db, key), count, .disk)
            ledger.totals.missed[key] = nil
        }
    }

    /// The reader's place in the ledger. Its row is made where it is missing.
    private func index(_ db: Database, _ key: SpoolLedger.Key) throws -> Int {
        if let index = ledger.index(key) { return index }
        try db.execute(sql: "INSERT INTO reader (node, name) VALUES (?, ?)", arguments: [key.node, key.name.text])
        return ledger.add(key, row: db.lastInsertedRowID)
    }

    private func insert(_ db: Database, _ index: Int, _ node: FleetName, _ event: FleetEvent) throws -> StoredEvent {
        // The row of the event has the number too, so that of the reader need not be written.
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

    /// Gives an event its number, without storing it.
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

    /// Gives numbers to events that are not stored.
    private func skip(_ db: Database, _ index: Int, _ count: Int64, _ shortage: SpoolShortage) throws {
        let last = ledger.readers[index].sequence + count
        ledger.change(index) { ($0.sequence, $0.isUnsaved) = (last, true) }
        try note(
            db,
            index,
            .init(count: count, first: last - count + 1, last: last, shortage: shortage, areNewest: true)
        )
    }

    /// Stores an event for each reader of a node of which something was dropped.
    ///
    /// - Returns: these events, and why there was no room; nil when nothing was dropped.
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

    /// Writes the rows of the readers that have changed.
    func saveReaders(_ db: Database) throws {
        guard !ledger.unsaved.isEmpty else { return }
        let statement = try db.cachedStatement(sql: "UPDATE reader SET sequence = ?, acknowledged = ? WHERE number = ?")
        for index in ledger.unsaved {
            let reader = ledger.readers[index]
            try statement.execute(arguments: [reader.sequence, reader.acknowledged, reader.row])
        }
        ledger.noteSaved()
    }
}
