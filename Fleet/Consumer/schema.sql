-- SPDX-License-Identifier: Apache-2.0
-- The events of a fleet in PostgreSQL 14 or newer. Load it once as the owner of the database:
--
--   psql --set ON_ERROR_STOP=1 --single-transaction --file schema.sql fleet

CREATE SCHEMA fleet;

-- One row for each event. An event that is sent again has the same source and id, so it can't be stored twice.
CREATE TABLE fleet.event (
    source text NOT NULL,
    id text NOT NULL,
    node text NOT NULL,
    reader text NOT NULL,
    stream text NOT NULL,
    sequence bigint NOT NULL CHECK (sequence > 0),
    type text NOT NULL,
    -- When it happened, by the node's clock, and when it was stored, by the database's.
    time timestamptz NOT NULL,
    stored timestamptz NOT NULL DEFAULT clock_timestamp(),
    late boolean NOT NULL,
    -- The UID or its keyed hash, and what Home Assistant calls the tag.
    tag text,
    tag_id text,
    -- The event as it was sent, with U+FFFD for characters that PostgreSQL can't store as text. Text in it comes from tags, so it
    -- is untrusted.
    body json NOT NULL,
    PRIMARY KEY (source, id)
);
CREATE INDEX event_by_tag ON fleet.event (tag, time DESC) WHERE tag IS NOT NULL;
CREATE INDEX event_by_time ON fleet.event (time);
CREATE INDEX event_by_storing ON fleet.event (stored);

-- Which numbers of a reader were stored. It is kept when old events are deleted, so that they are not stored again.
CREATE TABLE fleet.stream (
    node text NOT NULL,
    reader text NOT NULL,
    stream text NOT NULL,
    seen int8multirange NOT NULL DEFAULT '{}',
    -- Numbers that the agent has dropped, as it says itself.
    dropped int8multirange NOT NULL DEFAULT '{}',
    -- The last number that the broker has acknowledged, and the first that the agent can send again.
    announced bigint NOT NULL DEFAULT 0,
    kept_from bigint,
    -- When the reader's agent last used this stream.
    heard timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Since when numbers are missing, and when they were asked for.
    missing_since timestamptz,
    asked timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    PRIMARY KEY (node, reader, stream)
) WITH (fillfactor = 60);

-- What is retained at the broker. The reader is 'bridge' for the agent itself.
CREATE TABLE fleet.state (
    node text NOT NULL,
    reader text NOT NULL,
    state text NOT NULL CHECK (state IN ('online', 'offline')),
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (node, reader)
);
CREATE TABLE fleet.info (node text PRIMARY KEY, body json NOT NULL, changed timestamptz NOT NULL DEFAULT clock_timestamp());

-- Messages that are no events. The consumer keeps the last 1000.
CREATE TABLE fleet.rejected (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stored timestamptz NOT NULL DEFAULT clock_timestamp(),
    topic text NOT NULL,
    reason text NOT NULL,
    payload bytea NOT NULL
);

-- Numbers that are missing, below the last that was stored or acknowledged. 'waiting': they can still come. 'dropped': the agent has said that they are lost.
-- 'gone': the agent does not keep them any more, or its spool was replaced.
CREATE FUNCTION fleet.has_gap(seen int8multirange, announced bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT seen <> int8multirange(int8range(1, greatest(coalesce(upper(seen), 1), announced + 1)))
$$;
-- Whether a reader's agent uses the stream. A spool that is replaced begins another one; an agent that is back with its old spool,
-- after another machine has used its name, uses the old one again.
CREATE FUNCTION fleet.is_current(stream fleet.stream) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT NOT EXISTS (
        SELECT FROM fleet.stream other
        WHERE (other.node, other.reader) = (stream.node, stream.reader) AND other.heard > stream.heard
    )
$$;
CREATE INDEX stream_with_gap ON fleet.stream (missing_since) WHERE missing_since IS NOT NULL;
CREATE VIEW fleet.gap AS
SELECT node, reader, stream, lower(missing) AS first, upper(missing) - 1 AS last, upper(missing) - lower(missing) AS count,
       state, asked, attempts
FROM (
    SELECT s.*,
           int8multirange(int8range(1, greatest(coalesce(upper(seen), 1), announced + 1))) - seen AS absent,
           -- Everything below what is kept; everything when the agent uses another spool now.
           CASE WHEN NOT fleet.is_current(s) THEN int8multirange(int8range(1, NULL))
                WHEN kept_from > 1 THEN int8multirange(int8range(1, kept_from))
                ELSE '{}' END AS unkept
    FROM fleet.stream s WHERE missing_since IS NOT NULL
) part
CROSS JOIN LATERAL (
    SELECT unnest(absent * dropped) AS missing, 'dropped' AS state
    UNION ALL SELECT unnest((absent - dropped) * unkept), 'gone'
    UNION ALL SELECT unnest(absent - dropped - unkept), 'waiting'
) range;

-- The last time that each tag was seen.
CREATE VIEW fleet.last_seen AS
SELECT DISTINCT ON (tag) tag, tag_id, node, reader, time, body #>> '{data,product}' AS product
FROM fleet.event WHERE type = 'org.opencorenfc.tag' AND tag IS NOT NULL
ORDER BY tag, time DESC;

-- How many tags came each day, in the session's time zone.
CREATE VIEW fleet.per_day AS
SELECT time::date AS day, node, reader, count(*) AS arrivals, count(DISTINCT tag) AS tags
FROM fleet.event WHERE type = 'org.opencorenfc.tag'
GROUP BY 1, 2, 3;

-- How long each tag lay. A tag that is still there, or whose agent was killed, has no end.
CREATE VIEW fleet.dwell AS
SELECT came.node, came.reader, came.tag, came.tag_id, came.time AS came, gone.time AS gone,
       CASE WHEN gone.body #>> '{data,duration_ms}' ~ '^[0-9]{1,12}$'
            THEN make_interval(secs => (gone.body #>> '{data,duration_ms}')::double precision / 1000) END AS duration
FROM fleet.event came
LEFT JOIN fleet.event gone
    ON gone.type = 'org.opencorenfc.removed' AND (gone.source, gone.body #>> '{data,tag_event}') = (came.source, came.id)
WHERE came.type = 'org.opencorenfc.tag';
CREATE INDEX event_removal ON fleet.event (source, (body #>> '{data,tag_event}')) WHERE type = 'org.opencorenfc.removed';

-- The nodes and their readers. A reader works when both are online.
CREATE VIEW fleet.node_state AS
SELECT agent.node, reader.reader, agent.state AS agent, coalesce(reader.state, 'offline') AS reader_state,
       agent.state = 'online' AND reader.state = 'online' AS works,
       greatest(agent.since, reader.since) AS since, info.body ->> 'version' AS version,
       (SELECT coalesce(sum(count), 0) FROM fleet.gap g WHERE (g.node, g.reader) = (reader.node, reader.reader)) AS missing
FROM fleet.state agent
LEFT JOIN fleet.state reader ON reader.node = agent.node AND reader.reader <> 'bridge'
LEFT JOIN fleet.info ON info.node = agent.node
WHERE agent.reader = 'bridge';

-- The outcomes of jobs.
CREATE VIEW fleet.outcome AS
SELECT DISTINCT ON (node, body #>> '{data,job}') node, body #>> '{data,job}' AS job, body #>> '{data,kind}' AS kind,
       body #>> '{data,outcome}' AS outcome, body #>> '{data,code}' AS code, tag, time
FROM fleet.event WHERE type = 'org.opencorenfc.outcome' AND body #>> '{data,job}' IS NOT NULL
ORDER BY node, body #>> '{data,job}', sequence;

-- Deletes what happened before a time, a part at a time. Returns how many rows went; call it until it returns 0.
CREATE FUNCTION fleet.forget(before timestamptz, at_most integer DEFAULT 10000) RETURNS bigint LANGUAGE sql AS $$
    WITH gone AS (
        DELETE FROM fleet.event WHERE ctid IN (SELECT ctid FROM fleet.event WHERE time < before LIMIT at_most) RETURNING 1
    )
    SELECT count(*) FROM gone
$$;
