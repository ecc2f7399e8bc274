// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import Foundation
import GRDB

/// The journal's answer for a received job.
package enum JobAcceptance: Sendable, Hashable {
    /// The job is new, and was added to the journal.
    case new
    /// The job was received before, and has not ended.
    case waiting
    /// The job has ended. The value contains the members of its outcome event.
    case ended(JSONValue)
    /// The job is new, and there is no room for it on the board or in the journal.
    case refused
}

extension Spool {
    /// How long to remember an ended job after its deadline, in milliseconds. Any later copy is past its deadline.
    private static let memory: Int64 = 86_400_000

    /// Adds a job to the journal, unless it already exists or there is no room for a new one.
    package func accept(_ job: Job, hasRoom: Bool = true) async throws(SpoolError) -> JobAcceptance {
        let body = job.json.bytes
        return try await transact { [number] core, db in
            let row = try Row.fetchOne(
                db,
                sql: "SELECT outcome FROM job WHERE node = ? AND id = ?",
                arguments: [number, job.id]
            )
            if let row {
                guard let outcome: Data = row["outcome"] else { return .waiting }
                return .ended((try? JSONValue(parsing: Array(outcome))) ?? [:])
            }
            guard hasRoom, try core.makeRoomInJournal(db, for: body.count, ofTagJob: job.work.needsTag) else {
                return .refused
            }
            try db.execute(
                sql: "INSERT INTO job (node, id, body, deadline) VALUES (?, ?, ?, ?)",
                arguments: [number, job.id, body.data, job.deadline]
            )
            core.ledger.totals.journal += body.count + SpoolCore.jobSize
            return .new
        }
    }

    /// Assigns a job to a tag in the journal, before anything is written. From then on, the job can use only this tag.
    ///
    /// - Parameter takesSerial: whether to assign a serial number.
    /// - Returns: the serial number, which no other job gets.
    package func begin(
        _ id: String,
        at reader: FleetName,
        with uid: [UInt8],
        takingSerial takesSerial: Bool
    ) async throws(SpoolError) -> Int64? {
        try await transact { [number] _, db in
            var serial: Int64?
            if takesSerial {
                serial = try Int64.fetchOne(
                    db,
                    sql: "UPDATE node SET serial = serial + 1 WHERE number = ? RETURNING serial",
                    arguments: [number]
                )
            }
            try db.execute(
                sql: """
                    UPDATE job SET reader = ?, uid = ?, serial = ?, tag_state = 'uncertain'
                    WHERE node = ? AND id = ? AND outcome IS NULL
                    """,
                arguments: [reader.text, uid.data, serial, number, id]
            )
            return serial
        }
    }

    /// Records the tag's state after a job was interrupted.
    package func note(_ tagState: JobOutcome.TagState, of id: String) async throws(SpoolError) {
        try await transact { [number] _, db in
            try db.execute(
                sql: "UPDATE job SET tag_state = ? WHERE node = ? AND id = ?",
                arguments: [tagState.rawValue, number, id]
            )
        }
    }

    /// Ends a job in one transaction: stores its outcome, the outcome event, and a change of an allow list. Deletes the
    /// job's content, which may include a password.
    ///
    /// - Parameters:
    ///   - outcome: the outcome.
    ///   - event: the outcome event.
    ///   - change: the change to an allow list, and the reader whose list changes.
    /// - Returns: the stored event; nil if the job had already ended.
    package func end(
        _ outcome: JobOutcome,
        _ event: FleetEvent,
        applying change: (change: Job.AllowChange, reader: FleetName?)? = nil
    ) async throws(SpoolError) -> StoredEvent? {
        let now = event.time
        let stored: StoredEvent? = try await transact { [number, node] core, db in
            if let id = outcome.job {
                let sql = "SELECT length(body) FROM job WHERE node = ? AND id = ? AND outcome IS NULL"
                guard let size = try Int.fetchOne(db, sql: sql, arguments: [number, id]) else { return nil }
                let body = JSONValue.object(event.members).bytes
                try db.execute(
                    sql: "UPDATE job SET outcome = ?, body = x'' WHERE node = ? AND id = ?",
                    arguments: [body.data, number, id]
                )
                core.ledger.totals.journal += body.count - size
            }
            if let (change, reader) = change { try Self.apply(db, number, change, to: reader) }
            try core.forgetJobs(db, "node = ? AND deadline < ?", [number, now - Self.memory])
            return try core.append(db, number, node, [(.bridge, event)]).events.last
        }
        if outcome.kind == "protect" { await file.read { core in core.emptyLog() } }
        return stored
    }

    /// Returns the jobs that have not ended, in order of arrival.
    package func openJobs() async throws(SpoolError) -> [JobBoard.Entry] {
        try await transact { [number] _, db in
            try Row.fetchAll(
                db,
                sql: "SELECT * FROM job WHERE node = ? AND outcome IS NULL ORDER BY number",
                arguments: [number]
            ).compactMap { row in
                let body: Data = row["body"]
                guard let value = try? JSONValue(parsing: Array(body)), let job = try? Job(value) else { return nil }
                let (name, uid): (String?, Data?) = (row["reader"], row["uid"])
                guard let reader = name.flatMap(FleetName.init), let uid else { return JobBoard.Entry(job) }
                let state: String? = row["tag_state"]
                let beginning = JobBoard.Beginning(
                    reader: reader,
                    uid: Array(uid),
                    serial: row["serial"],
                    tagState: state.flatMap(JobOutcome.TagState.init) ?? .uncertain
                )
                return JobBoard.Entry(job, beginning: beginning)
            }
        }
    }

    // MARK: Allow lists

    /// Returns the allow lists.
    package func allowLists() async throws(SpoolError) -> AllowLists {
        try await transact { [number] _, db in
            var lists: [FleetName?: Set<[UInt8]>] = [:]
            let names = try String.fetchAll(
                db,
                sql: "SELECT reader FROM allow_list WHERE node = ?",
                arguments: [number]
            )
            for name in names {
                let uids = try Data.fetchAll(
                    db,
                    sql: "SELECT uid FROM allowed WHERE node = ? AND reader = ?",
                    arguments: [number, name]
                )
                lists.updateValue(Set(uids.map { Array($0) }), forKey: FleetName(name))
            }
            return AllowLists(lists)
        }
    }

    private static func apply(
        _ db: Database,
        _ node: Int64,
        _ change: Job.AllowChange,
        to reader: FleetName?
    ) throws {
        let name = reader?.text ?? ""
        switch change.mode {
        case .off, .replace:
            for table in ["allowed", "allow_list"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE node = ? AND reader = ?", arguments: [node, name])
            }
        case .add, .remove: break
        }
        guard change.mode != .off else { return }
        try db.execute(sql: "INSERT OR IGNORE INTO allow_list VALUES (?, ?)", arguments: [node, name])
        let sql =
            change.mode == .remove
            ? "DELETE FROM allowed WHERE node = ? AND reader = ? AND uid = ?"
            : "INSERT OR IGNORE INTO allowed VALUES (?, ?, ?)"
        for uid in change.uids { try db.execute(sql: sql, arguments: [node, name, uid.data]) }
    }
}

/// The size of the journal.
extension SpoolCore {
    /// The size of a job in the journal in bytes, without its content and its outcome.
    static let jobSize = 256

    /// Returns the size of the journal in bytes.
    static func journalSize(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT ifnull(sum(\(sizeOfRow)), 0) FROM job") ?? 0
    }

    private static let sizeOfRow = "length(body) + ifnull(length(outcome), 0) + \(jobSize)"

    /// Checks that the journal has space for a new job. If needed, forgets ended jobs that are past their deadline: a copy
    /// of such a job is never carried out.
    func makeRoomInJournal(_ db: Database, for size: Int, ofTagJob isTagJob: Bool) throws -> Bool {
        // Waiting jobs never fill the journal, so that there is room for a job that cancels one.
        let limit = isTagJob ? settings.journalLimit / 4 * 3 : settings.journalLimit
        func hasRoom() -> Bool { ledger.totals.journal + size + Self.jobSize <= limit }
        if !hasRoom() { try forgetJobs(db, "deadline < ?", [Timestamp.now]) }
        return hasRoom()
    }

    /// Removes ended jobs that match a condition.
    func forgetJobs(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws {
        let sql = "DELETE FROM job WHERE outcome IS NOT NULL AND \(condition) RETURNING \(Self.sizeOfRow)"
        ledger.totals.journal -= try Int.fetchAll(db, sql: sql, arguments: arguments).reduce(0, +)
    }
}
