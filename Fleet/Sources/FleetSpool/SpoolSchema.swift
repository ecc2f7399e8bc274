// SPDX-License-Identifier: Apache-2.0
import GRDB

/// The tables of a spool.
enum SpoolSchema {
    /// The schema version that this program writes.
    static let version = 2

    /// Creates tables that a file of this version may be missing.
    static func complete(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The topics on which the broker retains a message from a node.
                CREATE TABLE IF NOT EXISTS retained (node INTEGER NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (node, topic))
                WITHOUT ROWID
                """
        )
    }

    /// Creates the tables in a new file.
    ///
    /// - Parameter stream: the name of the new stream.
    static func make(_ db: Database, stream: String) throws {
        try db.execute(
            sql: """
                CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                -- The nodes in this file, and the last serial number each has assigned to a job.
                CREATE TABLE node (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, serial INTEGER NOT NULL DEFAULT 0);
                -- The last sequence number of a reader (possibly smaller while that event exists), and the
                -- number up to which the broker has acknowledged all events.
                CREATE TABLE reader (
                    number INTEGER PRIMARY KEY,
                    node INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    sequence INTEGER NOT NULL DEFAULT 0,
                    acknowledged INTEGER NOT NULL DEFAULT 0,
                    UNIQUE (node, name)
                );
                -- Events in the order in which they happened. Acknowledged events are kept for a while.
                CREATE TABLE event (
                    number INTEGER PRIMARY KEY,
                    reader INTEGER NOT NULL,
                    sequence INTEGER NOT NULL,
                    payload BLOB NOT NULL,
                    UNIQUE (reader, sequence)
                );
                -- Dropped events that have not been reported yet.
                CREATE TABLE dropped (
                    reader INTEGER PRIMARY KEY, count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL
                );
                -- Every accepted job and its progress.
                CREATE TABLE job (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    node INTEGER NOT NULL,
                    id TEXT NOT NULL,
                    body BLOB NOT NULL,
                    deadline INTEGER NOT NULL,
                    reader TEXT,
                    uid BLOB,
                    serial INTEGER,
                    tag_state TEXT,
                    outcome BLOB,
                    UNIQUE (node, id)
                );
                -- The tags allowed at a reader. The reader's name is empty for all readers.
                CREATE TABLE allow_list (node INTEGER NOT NULL, reader TEXT NOT NULL, PRIMARY KEY (node, reader)) WITHOUT ROWID;
                CREATE TABLE allowed (
                    node INTEGER NOT NULL, reader TEXT NOT NULL, uid BLOB NOT NULL, PRIMARY KEY (node, reader, uid)
                ) WITHOUT ROWID;
                """
        )
        try db.execute(sql: "INSERT INTO setting VALUES ('stream', ?)", arguments: [stream])
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }
}
