-- seslite on MySQL and MariaDB, schema version 1.
--
-- To make a new store:        mariadb --database=NAME < 0001_initial.sql
-- The library runs this same text when it finds no store. A server commits after each statement here, so each can be run again:
-- what is there already stays as it is. The last statement says that the store is complete.
--
-- Run it as a user that may create tables and views. Another USER needs:
--     GRANT SELECT ON database.* TO USER;
-- and to write:
--     GRANT SELECT, INSERT, UPDATE, DELETE ON database.* TO USER;
--
-- The names of all tables begin with seslite_, so that a store can share a database with other tables. All tables are InnoDB's.
-- There are no triggers, functions or events, and one foreign key.
--
-- Text is VARBINARY or LONGBLOB: it gives back every byte, and is compared by its bytes, whatever the collation of the
-- database. No key needs a prefix of a column: ids have at most 512 bytes, and an index of InnoDB takes 3,072. JSON is kept as
-- text, since the type JSON would change it.
--
-- Times are microseconds since 1970-01-01 00:00:00 UTC. Look at the views at the end first.

-- A single row: the last script that was run.
CREATE TABLE IF NOT EXISTS seslite_schema_version (
    version INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- What the store uses beyond these tables. A library that does not know a feature ...
-- needs 1: may read and write: it is derived from the rest, and later calls bring it up to date.
-- needs 2: may only read.
-- needs 3, or any other number: must not open the store.
-- To add one that needs 2 or 3, LOCK TABLES seslite_features WRITE: every transaction that writes reads it first.
CREATE TABLE IF NOT EXISTS seslite_features (
    name  VARBINARY(128) NOT NULL PRIMARY KEY,
    needs BIGINT NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS seslite_apps (
    id   BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARBINARY(512) NOT NULL,             -- the id the application uses
    UNIQUE KEY name (name)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS seslite_users (
    id     BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    app_id BIGINT NOT NULL,
    name   VARBINARY(512) NOT NULL,           -- the id the application uses
    UNIQUE KEY app_id (app_id, name)
) ENGINE = InnoDB;

-- One row per session. Every append rewrites it, so it is kept narrow: wide or rare values have tables of their own. No index
-- contains the columns that every append changes.
CREATE TABLE IF NOT EXISTS seslite_sessions (
    id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    app_id      BIGINT NOT NULL,
    user_id     BIGINT NOT NULL,
    name        VARBINARY(512) NOT NULL,      -- the id the application uses
    created_us  BIGINT NOT NULL,
    updated_us  BIGINT NOT NULL,              -- the latest event time so far
    active_30s  BIGINT NOT NULL,              -- updated_us in units of 30 seconds, for the indexes below
    version     BIGINT NOT NULL,              -- raised by one with every change of the log; begins at version_floor
    last_seq    BIGINT NOT NULL,              -- the highest sequence number ever given
    event_count BIGINT NOT NULL,              -- events stored now
    expires_us  BIGINT,                       -- the session may be removed from then on; NULL means never
    base_seq    BIGINT NOT NULL DEFAULT 0,    -- events up to this number were pruned: base_state is the state after it
    details     BIGINT NOT NULL DEFAULT 0,    -- its rows in other tables: 1 a parent, 2 a title, 4 labels
    changed_us  BIGINT NOT NULL,              -- its last write, by the store's clock; it is idle since then
    ahead_hour  BIGINT,                       -- at most changed_us in hours; set if updated_us is over an hour later
    UNIQUE KEY user_id (user_id, name),
    -- The sessions of an app or a user, latest first and in order of creation (every index ends with the id). Activity counts in
    -- units of 30 seconds, so that an append writes to its indexes at most once in that time.
    KEY by_activity (app_id, active_30s),
    KEY by_user_activity (user_id, active_30s),
    KEY by_app (app_id, id),
    KEY by_user (user_id, id),
    -- by_activity finds idle sessions, except those with an event from the future, which are in this index.
    KEY ahead (app_id, ahead_hour),
    KEY by_expiry (app_id, expires_us)
) ENGINE = InnoDB;

-- One row per group of users (8 bits of the CRC-32 of their names) of which sessions were deleted. `floor` is above the last
-- version of each of these. A new session begins there, so that a version of a deleted session never matches a later session
-- of the same name.
CREATE TABLE IF NOT EXISTS seslite_version_floor (
    user_group BIGINT NOT NULL PRIMARY KEY,
    floor      BIGINT NOT NULL                -- at 2^53 no session can begin
) ENGINE = InnoDB;

-- Details that only some sessions have: at most one row for each.
CREATE TABLE IF NOT EXISTS seslite_session_details (
    session_id     BIGINT NOT NULL PRIMARY KEY,
    title          VARBINARY(1024),
    parent_user    VARBINARY(512),            -- of a fork: the session it was made from, by the application's ids, ...
    parent_session VARBINARY(512),            -- ... because that session may be deleted
    parent_seq     BIGINT,                    -- and the number of the last event that it took from there
    more           LONGBLOB,                  -- a JSON object for attributes added by later versions
    initial_state  LONGBLOB                   -- JSON, as created, without temp: keys; NULL means empty
) ENGINE = InnoDB;

-- One row per label. The index finds the sessions of an app that have a label.
CREATE TABLE IF NOT EXISTS seslite_session_labels (
    session_id BIGINT NOT NULL,
    name       VARBINARY(128) NOT NULL,
    value      VARBINARY(512) NOT NULL,
    app_id     BIGINT NOT NULL,               -- the session's
    PRIMARY KEY (session_id, name),
    KEY by_value (app_id, name, value)
) ENGINE = InnoDB;

-- The owner that may take a session's next turn. Each owner gets a new row, whose token is above all earlier ones.
CREATE TABLE IF NOT EXISTS seslite_session_leases (
    token         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id    BIGINT NOT NULL,
    owner         VARBINARY(128) NOT NULL,
    taken_us      BIGINT NOT NULL,            -- when it was taken or renewed, by the server's clock
    until_us      BIGINT NOT NULL,            -- its end, by the same clock; 0 if released
    next_owner    VARBINARY(128),             -- an owner in another process, which waits for the lease ...
    next_until_us BIGINT,                     -- ... and takes precedence over all others until then
    UNIQUE KEY session_id (session_id)
) ENGINE = InnoDB;

-- How far what is derived from a session's events (the use of tokens) has come, by the name of the feature that derives it.
-- Later calls continue after event `seq`. They begin again if `epoch` is not the session's version - last_seq any more: an
-- append raises both numbers, a cut only the first.
CREATE TABLE IF NOT EXISTS seslite_derived (
    session_id BIGINT NOT NULL,
    what       VARBINARY(128) NOT NULL,
    seq        BIGINT NOT NULL,
    epoch      BIGINT NOT NULL,
    PRIMARY KEY (session_id, what)
) ENGINE = InnoDB;

-- The tokens of model calls, packed, if the store keeps a tally.
CREATE TABLE IF NOT EXISTS seslite_usage_counts (
    session_id BIGINT NOT NULL,
    first_seq  BIGINT NOT NULL,
    last_seq   BIGINT NOT NULL,
    what       VARBINARY(128) NOT NULL,
    counts     LONGBLOB NOT NULL,
    PRIMARY KEY (session_id, first_seq),
    FOREIGN KEY (session_id, what) REFERENCES seslite_derived (session_id, what) ON DELETE CASCADE
) ENGINE = InnoDB;

-- State: one row per key. `key` is without its prefix, `value` is JSON text, byte for byte as received.
-- session_id and seq name the event that set it last (seq 0: the creation of that session; session_id 0: the
-- application itself, without a session).
CREATE TABLE IF NOT EXISTS seslite_app_state (
    app_id     BIGINT NOT NULL,
    `key`      VARBINARY(512) NOT NULL,
    value      LONGBLOB NOT NULL,
    session_id BIGINT NOT NULL,               -- the value outlives the session
    seq        BIGINT NOT NULL,
    PRIMARY KEY (app_id, `key`)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS seslite_user_state (
    user_id    BIGINT NOT NULL,
    `key`      VARBINARY(512) NOT NULL,
    value      LONGBLOB NOT NULL,
    session_id BIGINT NOT NULL,               -- the value outlives the session
    seq        BIGINT NOT NULL,
    PRIMARY KEY (user_id, `key`)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS seslite_session_state (
    session_id BIGINT NOT NULL,
    `key`      VARBINARY(512) NOT NULL,
    value      LONGBLOB NOT NULL,
    seq        BIGINT NOT NULL,
    PRIMARY KEY (session_id, `key`)
) ENGINE = InnoDB;

-- The result of the log up to event sessions.base_seq, if the events up to that one were pruned: the session's own state,
-- and the last values that it wrote to shared keys.
CREATE TABLE IF NOT EXISTS seslite_base_state (
    session_id BIGINT NOT NULL,
    `key`      VARBINARY(600) NOT NULL,       -- with its prefix
    value      LONGBLOB NOT NULL,
    seq        BIGINT NOT NULL,
    PRIMARY KEY (session_id, `key`)
) ENGINE = InnoDB;

-- One row per event. A retried event is found by its id.
CREATE TABLE IF NOT EXISTS seslite_events (
    session_id    BIGINT NOT NULL,
    seq           BIGINT NOT NULL,            -- 1 to 4294967295
    id            VARBINARY(512) NOT NULL,
    invocation_id LONGBLOB NOT NULL,          -- '' if there is none
    author        LONGBLOB NOT NULL,
    branch        LONGBLOB,
    time_us       BIGINT NOT NULL,            -- the event's timestamp
    high_us       BIGINT,                     -- sessions.updated_us after it, if that is later than time_us
    body          LONGBLOB NOT NULL,          -- the event, byte for byte, without temp: keys
    size          BIGINT AS (length(body)) STORED, -- for pages, which have a limit of bytes
    PRIMARY KEY (session_id, seq),
    UNIQUE KEY id (session_id, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- The few events that change how a log is read, so that a walk over live events parses none.
-- kind 1: a rewind (actions.rewindBeforeInvocationId). It takes back the events from target_seq, the first of that
--         invocation in the log, to itself. If target_seq is 0 there is none, and it takes back only itself.
-- kind 2: a compaction (actions.compaction).
CREATE TABLE IF NOT EXISTS seslite_event_marks (
    session_id BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    kind       BIGINT NOT NULL,
    target_seq BIGINT,
    PRIMARY KEY (session_id, seq)
) ENGINE = InnoDB;

-- Artifacts: files that belong to a session, or to a user. One row per version. They are filed by the session's id as the
-- application uses it, because an artifact may be saved before its session.
CREATE TABLE IF NOT EXISTS seslite_artifacts (
    user_id      BIGINT NOT NULL,
    session      VARBINARY(520) NOT NULL,     -- '' for the artifacts of the user, whose names begin with user:
    name         VARBINARY(600) NOT NULL,
    version      BIGINT NOT NULL,             -- 0, 1, 2 ...
    created_us   BIGINT NOT NULL,
    kind         BIGINT NOT NULL,             -- of the contents: 0 bytes, 1 a text, 2 the address (URI) of something else
    mime_type    VARBINARY(512),
    display_name VARBINARY(512),
    metadata     LONGBLOB,                    -- a JSON object, byte for byte as received; NULL means empty
    content_id   BIGINT NOT NULL,             -- the row in artifact_contents
    PRIMARY KEY (user_id, session, name, version)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- The bytes of artifacts: one row for equal bytes of a user, however many versions of artifacts have them.
CREATE TABLE IF NOT EXISTS seslite_artifact_contents (
    id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id    BIGINT NOT NULL,
    hash       VARBINARY(64),                 -- SHA-256 of the bytes, in hexadecimal; NULL while they are being written
    size       BIGINT NOT NULL,               -- bytes
    uses       BIGINT NOT NULL,               -- rows of artifacts that have them; 0 while they are being written
    written_us BIGINT NOT NULL,               -- when the last of them was written, by the store's clock
    UNIQUE KEY user_id (user_id, hash),
    KEY unused (user_id, uses)                -- finds contents that nothing has any more
) ENGINE = InnoDB;

-- The bytes themselves, in chunks of 64 KiB of which only the last is shorter.
CREATE TABLE IF NOT EXISTS seslite_artifact_chunks (
    content_id BIGINT NOT NULL,
    number     BIGINT NOT NULL,               -- from 0 on
    bytes      LONGBLOB NOT NULL,
    PRIMARY KEY (content_id, number)
) ENGINE = InnoDB;

-- Views for people. (The library reads the tables.) They show text as utf8mb4.

-- Every session with its state, all scopes merged: one row per key.
CREATE OR REPLACE VIEW seslite_merged_state AS
SELECT convert(a.name USING utf8mb4) AS app, convert(u.name USING utf8mb4) AS user, convert(s.name USING utf8mb4) AS session,
       convert(concat('app:', st.`key`) USING utf8mb4) AS `key`, convert(st.value USING utf8mb4) AS value
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_sessions AS s ON s.user_id = u.id
JOIN seslite_app_state AS st ON st.app_id = a.id
UNION ALL
SELECT convert(a.name USING utf8mb4), convert(u.name USING utf8mb4), convert(s.name USING utf8mb4),
       convert(concat('user:', st.`key`) USING utf8mb4), convert(st.value USING utf8mb4)
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_sessions AS s ON s.user_id = u.id
JOIN seslite_user_state AS st ON st.user_id = u.id
UNION ALL
SELECT convert(a.name USING utf8mb4), convert(u.name USING utf8mb4), convert(s.name USING utf8mb4),
       convert(st.`key` USING utf8mb4), convert(st.value USING utf8mb4)
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_sessions AS s ON s.user_id = u.id
JOIN seslite_session_state AS st ON st.session_id = s.id;

-- Every event with its number, its time, and the names of its app, user and session. A rewind takes back the events from
-- takes_back_from to itself (unless it was taken back before them).
CREATE OR REPLACE VIEW seslite_event_log AS
SELECT convert(a.name USING utf8mb4) AS app, convert(u.name USING utf8mb4) AS user, convert(s.name USING utf8mb4) AS session,
       e.seq,
       (SELECT coalesce(nullif(m.target_seq, 0), m.seq) FROM seslite_event_marks AS m
        WHERE m.session_id = s.id AND m.seq = e.seq AND m.kind = 1) AS takes_back_from,
       date_format(timestampadd(MICROSECOND, e.time_us, '1970-01-01'), '%Y-%m-%dT%H:%i:%s.%fZ') AS time,
       convert(e.id USING utf8mb4) AS id, convert(e.invocation_id USING utf8mb4) AS invocation_id,
       convert(e.author USING utf8mb4) AS author, convert(e.branch USING utf8mb4) AS branch, e.time_us,
       convert(e.body USING utf8mb4) AS body
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_sessions AS s ON s.user_id = u.id
JOIN seslite_events AS e ON e.session_id = s.id;

-- The newest version of each artifact. Its session is '' for an artifact of the user. `size` is in bytes.
CREATE OR REPLACE VIEW seslite_artifact_overview AS
SELECT convert(a.name USING utf8mb4) AS app, convert(u.name USING utf8mb4) AS user,
       convert(f.session USING utf8mb4) AS session, convert(f.name USING utf8mb4) AS name, f.version,
       date_format(timestampadd(MICROSECOND, f.created_us, '1970-01-01'), '%Y-%m-%dT%H:%i:%sZ') AS created,
       convert(f.mime_type USING utf8mb4) AS mime_type, c.size, convert(f.metadata USING utf8mb4) AS metadata
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_artifacts AS f ON f.user_id = u.id
LEFT JOIN seslite_artifact_contents AS c ON c.id = f.content_id
WHERE f.version = (SELECT max(n.version) FROM seslite_artifacts AS n
                   WHERE n.user_id = f.user_id AND n.session = f.session AND n.name = f.name);

-- Every session with its title, labels and counts. parent is the session it was forked from, as user/session@seq with the
-- last event that it took from there; events up to number `pruned` were pruned.
CREATE OR REPLACE VIEW seslite_session_overview AS
SELECT convert(a.name USING utf8mb4) AS app, convert(u.name USING utf8mb4) AS user, convert(s.name USING utf8mb4) AS session,
       convert(d.title USING utf8mb4) AS title,
       (SELECT convert(group_concat(l.name, '=', l.value ORDER BY l.name SEPARATOR ', ') USING utf8mb4)
        FROM seslite_session_labels AS l WHERE l.session_id = s.id) AS labels,
       date_format(timestampadd(MICROSECOND, s.created_us, '1970-01-01'), '%Y-%m-%dT%H:%i:%sZ') AS created,
       date_format(timestampadd(MICROSECOND, s.updated_us, '1970-01-01'), '%Y-%m-%dT%H:%i:%sZ') AS updated,
       date_format(timestampadd(MICROSECOND, s.expires_us, '1970-01-01'), '%Y-%m-%dT%H:%i:%sZ') AS expires,
       convert(concat(d.parent_user, '/', d.parent_session, '@', d.parent_seq) USING utf8mb4) AS parent,
       s.version,
       s.event_count AS events,
       s.base_seq AS pruned,
       (SELECT count(*) FROM seslite_session_state AS st WHERE st.session_id = s.id) AS session_keys,
       (SELECT count(*) FROM seslite_user_state AS st WHERE st.user_id = u.id) AS user_keys,
       (SELECT count(*) FROM seslite_app_state AS st WHERE st.app_id = a.id) AS app_keys
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_sessions AS s ON s.user_id = u.id
LEFT JOIN seslite_session_details AS d ON d.session_id = s.id;

INSERT IGNORE INTO seslite_schema_version VALUES (1);
