# SPDX-License-Identifier: Apache-2.0
"""Stores events in PostgreSQL. A batch is one transaction, and storing it twice changes nothing."""
import logging

import psycopg

from events import Event

log = logging.getLogger("consumer")

_EVENTS = """
WITH incoming AS (
    SELECT * FROM unnest(
        %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::timestamptz[], %s::boolean[],
        %s::text[], %s::text[], %s::text[]
    ) AS e (source, id, node, reader, stream, sequence, type, time, late, tag, tag_id, body)
)
INSERT INTO fleet.event (source, id, node, reader, stream, sequence, type, time, late, tag, tag_id, body)
SELECT source, id, node, reader, stream, sequence, type, time, late, tag, tag_id, body::json
FROM incoming
-- Events that were stored and deleted since are not stored again.
WHERE NOT EXISTS (
    SELECT FROM fleet.stream s WHERE (s.node, s.reader, s.stream) = (incoming.node, incoming.reader, incoming.stream)
    AND s.seen @> incoming.sequence
)
ORDER BY source, id
ON CONFLICT DO NOTHING
"""

_NUMBERS = """
INSERT INTO fleet.stream AS s (node, reader, stream, seen, missing_since)
SELECT node, reader, stream, seen, CASE WHEN fleet.has_gap(seen, 0) THEN clock_timestamp() END
FROM (
    SELECT node, reader, stream, range_agg(int8range(sequence, sequence + 1)) AS seen
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[]) AS e (node, reader, stream, sequence)
    GROUP BY node, reader, stream ORDER BY node, reader, stream
) part
ON CONFLICT (node, reader, stream) DO UPDATE
SET seen = s.seen + excluded.seen, heard = clock_timestamp(),
    missing_since = CASE WHEN fleet.has_gap(s.seen + excluded.seen, s.announced) THEN coalesce(s.missing_since, clock_timestamp()) END,
    -- A new gap does not wait as long as an old one that nobody fills.
    attempts = CASE WHEN lower(excluded.seen) > upper(s.seen) THEN 0 ELSE s.attempts END
WHERE NOT s.seen @> excluded.seen OR NOT fleet.is_current(s)
"""

_DROPPED = """
UPDATE fleet.stream SET dropped = dropped + int8multirange(int8range(%s, %s))
WHERE (node, reader, stream) = (%s, %s, %s)
"""

_POSITION = """
INSERT INTO fleet.stream AS s (node, reader, stream, announced, kept_from, missing_since)
SELECT node, reader, stream, announced, kept_from, CASE WHEN announced > 0 THEN clock_timestamp() END
FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[]) AS p (node, reader, stream, announced, kept_from)
ORDER BY node, reader, stream
ON CONFLICT (node, reader, stream) DO UPDATE
SET announced = greatest(s.announced, excluded.announced), kept_from = greatest(s.kept_from, excluded.kept_from),
    heard = clock_timestamp(),
    missing_since = CASE WHEN fleet.has_gap(s.seen, greatest(s.announced, excluded.announced))
                    THEN coalesce(s.missing_since, clock_timestamp()) END
WHERE (s.announced, s.kept_from) IS DISTINCT FROM (excluded.announced, excluded.kept_from) OR NOT fleet.is_current(s)
"""

_STATE = """
INSERT INTO fleet.state AS s (node, reader, state)
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[]) AS p (node, reader, state) ORDER BY node, reader
ON CONFLICT (node, reader) DO UPDATE SET state = excluded.state, since = clock_timestamp() WHERE s.state <> excluded.state
"""

_GONE = """
DELETE FROM fleet.state USING unnest(%s::text[], %s::text[]) AS p (node, reader)
WHERE (state.node, state.reader) = (p.node, p.reader)
"""

_INFO = """
INSERT INTO fleet.info (node, body)
SELECT node, body::json FROM unnest(%s::text[], %s::text[]) AS p (node, body) ORDER BY node
ON CONFLICT (node) DO UPDATE SET body = excluded.body, changed = clock_timestamp()
"""

# Missing numbers of readers that have had time to send them: a few gaps of each, other ones the next time. How long the
# next request waits doubles each time.
_MISSING = """
WITH due AS (
    SELECT node, reader, stream FROM fleet.stream
    WHERE missing_since < clock_timestamp() - make_interval(secs => %(patience)s)
    AND (asked IS NULL OR asked < clock_timestamp() - make_interval(secs => %(patience)s * 2 ^ least(attempts, 6)))
    AND EXISTS (SELECT FROM fleet.gap WHERE (gap.node, gap.reader, gap.stream) = (stream.node, stream.reader, stream.stream)
                AND gap.state = 'waiting')
    ORDER BY asked NULLS FIRST LIMIT 100 FOR UPDATE SKIP LOCKED
), noted AS (
    UPDATE fleet.stream s SET asked = clock_timestamp(), attempts = s.attempts + 1
    FROM due WHERE (s.node, s.reader, s.stream) = (due.node, due.reader, due.stream)
), numbered AS (
    SELECT g.*, row_number() OVER part - 1 AS number, count(*) OVER (PARTITION BY node, reader, stream) AS gaps
    FROM fleet.gap g JOIN due USING (node, reader, stream) WHERE g.state = 'waiting'
    WINDOW part AS (PARTITION BY node, reader, stream ORDER BY first)
)
SELECT node, reader, stream, first, least(last, first + 9999) FROM numbered
WHERE (number - attempts * 10 %% gaps + gaps) %% gaps < 10
"""


def columns(rows) -> list[list]:
    """Rows as a list for each column, which goes to the database as one value: one statement for any number of rows.

    Statements sort their rows, so that two consumers do not wait for each other.
    """
    return [list(column) for column in zip(*rows)]


class Store:
    """A connection to the database, which is made when it is needed."""

    def __init__(self, database: str):
        self.database = database
        self._connection: psycopg.Connection | None = None

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            # A request that takes longer than the broker's keep-alive would cost the connection to the broker.
            self._connection = psycopg.connect(
                self.database, connect_timeout=5, application_name="opencorenfc-consumer",
                options="-c statement_timeout=20s -c lock_timeout=10s",
            )
        return self._connection

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def save(self, batch: "Batch"):
        """Stores everything or nothing. When it returns, the batch is on the database's disk."""
        try:
            self._save(batch)
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            # One message that the database refuses must not stop the others.
            if len(batch) <= 1:
                batch = batch.refused(str(error).split("\n")[0])
                self._save(batch)
                return
            for part in batch.parts():
                self.save(part)

    def _save(self, batch: "Batch"):
        with self._transaction() as cursor:
            events = batch.events
            if events:
                cursor.execute(_EVENTS, columns(
                    (e.source, e.id, e.node, e.reader, e.stream, e.sequence, e.type, e.time, e.late, e.tag, e.tag_id, e.body) for e in events
                ))
                cursor.execute(_NUMBERS, columns((e.node, e.reader, e.stream, e.sequence) for e in events))
            for e in events:
                if e.dropped:
                    cursor.execute(_DROPPED, (e.dropped[0], e.dropped[1] + 1, e.node, e.reader, e.stream))
            if batch.positions:
                cursor.execute(_POSITION, columns((*key, *value) for key, value in batch.positions.items()))
            if states := [(*key, value) for key, value in batch.states.items() if value]:
                cursor.execute(_STATE, columns(states))
            # What is empty was cleared: the reader or the node is gone.
            if gone := [key for key, value in batch.states.items() if not value]:
                cursor.execute(_GONE, columns(gone))
            if batch.infos:
                cursor.execute(_INFO, columns(batch.infos.items()))
            for topic, reason, payload in batch.rejected:
                cursor.execute("INSERT INTO fleet.rejected (topic, reason, payload) VALUES (%s, %s, %s)", (topic, reason, payload))
            if batch.rejected:
                cursor.execute("DELETE FROM fleet.rejected WHERE number <= (SELECT max(number) FROM fleet.rejected) - 1000")

    def missing(self, patience: float) -> list[tuple[str, str, str, int, int]]:
        """The events to ask for again: node, reader, stream, first, last. Notes that they were asked for."""
        with self._transaction() as cursor:
            return cursor.execute(_MISSING, {"patience": patience}).fetchall()

    def _transaction(self):
        return _Transaction(self)


class _Transaction:
    """A transaction; the connection is closed when it fails, because nobody knows in which state it is."""

    def __init__(self, store: Store):
        self._store = store

    def __enter__(self) -> psycopg.Cursor:
        self._connection = self._store._connected()
        return self._connection.cursor()

    def __exit__(self, kind, error, trace):
        if kind is None:
            try:
                self._connection.commit()
            except psycopg.Error:
                self._store.close()
                raise
        else:
            self._store.close()
        return False


class Batch:
    """What has come since the last commit."""

    def __init__(self):
        self.events: list[Event] = []
        self.positions: dict[tuple[str, str, str], tuple[int, int | None]] = {}
        self.states: dict[tuple[str, str], str] = {}
        self.infos: dict[str, str] = {}
        self.rejected: list[tuple[str, str, bytes]] = []

    def __len__(self) -> int:
        return len(self.events) + len(self.positions) + len(self.states) + len(self.infos) + len(self.rejected)

    def reject(self, topic: str, reason: str, payload: bytes):
        topic = topic.replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:500]
        self.rejected.append((topic, reason[:500], payload[:4096]))

    def parts(self) -> "list[Batch]":
        """A batch for each event and each other thing."""
        parts = []
        for event in self.events:
            parts.append(part := Batch())
            part.events.append(event)
        for name in ("positions", "states", "infos"):
            for key, value in getattr(self, name).items():
                parts.append(part := Batch())
                getattr(part, name)[key] = value
        for row in self.rejected:
            parts.append(part := Batch())
            part.rejected.append(row)
        return parts

    def refused(self, reason: str) -> "Batch":
        """A batch that only says that this one, of one part, was refused by the database."""
        log.warning("The database refused a message: %s", reason)
        batch = Batch()
        for event in self.events:
            batch.reject(event.source, reason, event.body.encode("utf-8", "replace"))
        for node, reader, _ in self.positions:
            batch.reject(f"{node}/{reader}/position", reason, b"")
        for node in self.infos:
            batch.reject(f"{node}/bridge/info", reason, b"")
        return batch
