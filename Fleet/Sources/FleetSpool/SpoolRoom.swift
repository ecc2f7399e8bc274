// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import GRDB

/// Dropping events to free space.
extension SpoolCore {
    /// Removes the oldest events: first acknowledged ones, then, unless the policy is to drop the newest, waiting
    /// events, which are recorded as dropped.
    ///
    /// - Parameters:
    ///   - size: the minimum number of bytes to free.
    ///   - shortage: why there is no space.
    func makeRoom(_ db: Database, atLeast size: Int, for shortage: SpoolShortage) throws {
        // The statements below use the readers' rows.
        try saveReaders(db)
        let target = ledger.totals.size - size
        try removeAcknowledged(db, downTo: target)
        if ledger.totals.size > target, settings.policy == .oldest {
            for (index, var dropped) in try remove(db, downTo: target, acknowledged: false) {
                dropped.shortage = shortage
                try note(db, index, dropped)
            }
        }
    }

    /// Removes the oldest acknowledged events.
    func removeAcknowledged(_ db: Database, downTo target: Int) throws {
        _ = try remove(db, downTo: target, acknowledged: true)
    }

    /// - Returns: the removed events of each reader.
    private func remove(_ db: Database, downTo target: Int, acknowledged: Bool) throws -> [Int: SpoolLedger.Dropped] {
        let comparison = acknowledged ? "<=" : ">"
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT event.number, event.reader, event.sequence, length(payload) AS size,
                CASE WHEN instr(payload, CAST('"events-dropped"' AS BLOB)) > 0 THEN payload END AS report
                FROM event JOIN reader ON reader.number = event.reader
                WHERE event.sequence \(comparison) acknowledged ORDER BY event.number
                """
        )
        var (size, last) = (ledger.totals.size, Int64?.none)
        var removed: [Int: SpoolLedger.Dropped] = [:]
        var ends: [Int: Int64] = [:]
        while size > target, let row = try rows.next() {
            size -= row["size"] as Int
            last = row["number"]
            guard let index = ledger.index(row: row["reader"]) else { continue }
            let sequence: Int64 = row["sequence"]
            ends[index] = sequence
            // The broker has acknowledged this event, so it is not lost.
            guard acknowledged || !ledger.readers[index].earlyAcks.contains(sequence) else { continue }
            var lost = SpoolLedger.Dropped(count: 1, first: sequence, last: sequence)
            // Nobody has received this report, so the next report also covers the events that it reported.
            if !acknowledged, let report: Data = row["report"], let earlier = SpoolLedger.Dropped(report: Array(report))
            {
                lost.add(earlier)
            }
            if let soFar = removed[index] { lost.add(soFar) }
            removed[index] = lost
        }
        guard let last else { return [:] }
        try db.execute(
            sql: """
                DELETE FROM event WHERE number <= ?
                AND sequence \(comparison) (SELECT acknowledged FROM reader WHERE reader.number = event.reader)
                """,
            arguments: [last]
        )
        ledger.totals.size = size
        for (index, end) in ends {
            // The events' rows no longer contain the last number, so the reader's row must.
            ledger.change(index) { reader in
                reader.isUnsaved = true
                reader.earlyAcks = reader.earlyAcks.filter { $0 > end }
            }
        }
        try saveReaders(db)
        return removed
    }

    /// Records dropped events.
    func note(_ db: Database, _ index: Int, _ more: SpoolLedger.Dropped) throws {
        var dropped = more
        if let earlier = ledger.totals.dropped[index] {
            dropped = earlier
            dropped.add(more)
        }
        ledger.totals.dropped[index] = dropped
        try db.execute(
            sql: "INSERT OR REPLACE INTO dropped VALUES (?, ?, ?, ?)",
            arguments: [ledger.readers[index].row, dropped.count, dropped.first, dropped.last]
        )
    }
}
