-- seslite on MySQL and MariaDB, schema version 2, which is the first: unreleased states of seslite numbered
-- their stores 1.
--
-- To make a new store:        mariadb --database=NAME < 0002_initial.sql
-- The library runs this same text when it finds no store. A server commits after each statement here, so each can be run again:
-- what is there already stays as it is. The last statement says that the store is complete.
--
-- Run it as a user that may create tables and views. Another USER needs:
--     GRANT SELECT ON database.* TO USER;
-- and to write:
--     GRANT SELECT, INSERT, UPDATE, DELETE ON database.* TO USER;
--
-- The names of all tables begin with seslite_, so that a store can share a database with other tables. All
-- tables are InnoDB's. There are no triggers, functions or events, and one foreign key.
--
-- Text is VARBINARY or LONGBLOB: it gives back every byte, and is compared by its bytes, whatever the
-- collation of the database. No key needs a prefix of a column: ids have at most 512 bytes, and an index of
-- InnoDB takes 3,072. JSON is kept as text, since the type JSON would change it.
--
-- Times are microseconds since 1970-01-01 00:00:00 UTC. Look at the views at the end first.

-- A single row: the last script that was run.
CREATE TABLE IF NOT EXISTS seslite_schema_version (
    version INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- Features that the store uses beyond these tables. A library that does not know a feature ...
-- needs 1: may read and write: it is derived from the rest, and later calls bring it up to date.
-- needs 2: may only read.
-- needs 3, or any other number: must not open the store.
-- To add one that needs 2 or 3, LOCK TABLES seslite_features WRITE: every transaction that writes reads it
-- first.
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

-- One row per session. Every append rewrites it, so it is kept narrow: wide or rare values have tables of
-- their own. No index contains the columns that every append changes.
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

-- One row per group of users (8 bits of the CRC-32 of their names) of which sessions were deleted. `floor` is
-- above the last version of each of these. A new session begins there, so that a version of a deleted session
-- never matches a later session of the same name.
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

-- The owner that may take a session's next turn. Each owner gets a new row, whose token is above all earlier
-- ones.
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

-- How far what is derived from a session's events (the use of tokens) has come, by the name of the feature
-- that derives it. Later calls continue after event `seq`. They begin again if `epoch` is not the session's
-- version - last_seq any more: an append raises both numbers, a cut only the first.
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

-- The result of the log up to event sessions.base_seq, if the events up to that one were pruned: the
-- session's own state, and the last values that it wrote to shared keys.
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
-- kind 1: a rewind (actions.rewindBeforeInvocationId). It takes back the events from target_seq, the first of
--         that invocation in the log, to itself. If target_seq is 0 there is none, and it takes back only
--         itself.
-- kind 2: a compaction (actions.compaction).
CREATE TABLE IF NOT EXISTS seslite_event_marks (
    session_id BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    kind       BIGINT NOT NULL,
    target_seq BIGINT,
    PRIMARY KEY (session_id, seq)
) ENGINE = InnoDB;

-- Artifacts: files that belong to a session, or to a user. One row per version. They are filed by the
-- session's id as the application uses it, because an artifact may be saved before its session.
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

-- Views for people. (The library reads the tables.) They show text as utf8mb4. A body that is not JSON, which
-- the library never writes, ends a query of transcript, tool_calls and usage. The server joins texts up to
-- group_concat_max_len, which in MySQL is 1,024 bytes unless it is set. (MySQL takes paths in JSON only from
-- a connection that has a character set.)
SET @seslite_client = @@character_set_client, @seslite_connection = @@collation_connection, @seslite_results = @@character_set_results;
SET NAMES utf8mb4;

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

-- Every event with its number, its time, and the names of its app, user and session. A rewind takes back the
-- events from takes_back_from to itself (unless it was taken back before them). `json` is the body for the
-- server's functions, without lone surrogates, which these reject; U+2400 stands for a NUL.
CREATE OR REPLACE VIEW seslite_event_log AS
SELECT convert(a.name USING utf8mb4) AS app, convert(u.name USING utf8mb4) AS user, convert(s.name USING utf8mb4) AS session,
       e.seq,
       (SELECT coalesce(nullif(m.target_seq, 0), m.seq) FROM seslite_event_marks AS m
        WHERE m.session_id = s.id AND m.seq = e.seq AND m.kind = 1) AS takes_back_from,
       date_format(timestampadd(MICROSECOND, e.time_us, '1970-01-01'), '%Y-%m-%dT%H:%i:%s.%fZ') AS time,
       convert(e.id USING utf8mb4) AS id, convert(e.invocation_id USING utf8mb4) AS invocation_id,
       convert(e.author USING utf8mb4) AS author, convert(e.branch USING utf8mb4) AS branch, e.time_us,
       convert(e.body USING utf8mb4) AS body,
       CASE
           WHEN locate(_binary'\\u', e.body) = 0 THEN convert(e.body USING utf8mb4)
           ELSE replace(regexp_replace(regexp_replace(
                    replace(replace(convert(e.body USING utf8mb4), '\\\\', _utf8mb4 0x01), '\\u0000', _utf8mb4 0xE29080),
                    '(?<!\\\\u[dD][89abAB][0-9a-fA-F]{2})\\\\u[dD][c-fC-F][0-9a-fA-F]{2}', ''),
                    '\\\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\\\u[dD][c-fC-F])', ''), _utf8mb4 0x01, '\\\\')
       END AS json,
       s.id AS session_id
FROM seslite_apps AS a
JOIN seslite_users AS u ON u.app_id = a.id
JOIN seslite_sessions AS s ON s.user_id = u.id
JOIN seslite_events AS e ON e.session_id = s.id;

-- Every conversation in readable form: one row per event. `text` joins the texts of its parts, `calls` shows
-- the tool calls as name(arguments), `responses` their answers as name: answer, and `changes` the changes of
-- the state. `code` has code that a model ran and its output, `files` the type and address of each image or
-- other file, `transfer` the agent that takes over, and `error` the code and message of an error.
CREATE OR REPLACE VIEW seslite_transcript AS
SELECT log.app, log.user, log.session, log.seq, log.time, log.author,
       group_concat(CASE WHEN convert(e.text_json USING utf8mb4) LIKE '"%' THEN e.text END
                    ORDER BY e.place SEPARATOR '') AS text,
       group_concat(CASE
                        WHEN convert(e.call_1 USING utf8mb4) LIKE '{%'
                            THEN concat(e.call_name_1, '(', coalesce(nullif(convert(e.args_1 USING utf8mb4), 'null'), ''), ')')
                        WHEN convert(e.call_2 USING utf8mb4) LIKE '{%'
                            THEN concat(e.call_name_2, '(', coalesce(nullif(convert(e.args_2 USING utf8mb4), 'null'), ''), ')')
                    END ORDER BY e.place SEPARATOR '; ') AS calls,
       group_concat(CASE
                        WHEN convert(e.answer_1 USING utf8mb4) LIKE '{%'
                            THEN concat(e.answer_name_1, ': ', coalesce(nullif(convert(e.response_1 USING utf8mb4), 'null'), ''))
                        WHEN convert(e.answer_2 USING utf8mb4) LIKE '{%'
                            THEN concat(e.answer_name_2, ': ', coalesce(nullif(convert(e.response_2 USING utf8mb4), 'null'), ''))
                    END ORDER BY e.place SEPARATOR '; ') AS responses,
       max(nullif(coalesce(nullif(convert(e.delta_1 USING utf8mb4), 'null'),
                           nullif(convert(e.delta_2 USING utf8mb4), 'null')), '{}')) AS changes,
       group_concat(coalesce(e.code_1, e.code_2, e.output_1, e.output_2) ORDER BY e.place SEPARATOR '\n') AS code,
       group_concat(coalesce(concat(coalesce(e.type_1, e.type_2, e.type_3, e.type_4), ' ', coalesce(e.address_1, e.address_2)),
                             e.type_1, e.type_2, e.type_3, e.type_4, e.address_1, e.address_2,
                             CASE
                                 WHEN convert(coalesce(e.inline_1, e.inline_2) USING utf8mb4) LIKE '{%' THEN 'data'
                             END) ORDER BY e.place SEPARATOR '; ') AS files,
       max(coalesce(e.transfer_1, e.transfer_2)) AS transfer,
       max(nullif(concat_ws(': ', coalesce(e.error_code_1, e.error_code_2), coalesce(e.error_message_1, e.error_message_2)), ''))
           AS error
FROM seslite_event_log AS log
JOIN JSON_TABLE(log.json, '$' COLUMNS (
    delta_1 JSON PATH '$.actions.stateDelta',
    delta_2 JSON PATH '$.actions.state_delta',
    transfer_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.actions.transferToAgent',
    transfer_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.actions.transfer_to_agent',
    error_code_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.errorCode',
    error_code_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.error_code',
    error_message_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.errorMessage',
    error_message_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.error_message',
    NESTED PATH '$.content.parts[*]' COLUMNS (
        place FOR ORDINALITY,
        text_json JSON PATH '$.text',
        text LONGTEXT CHARACTER SET utf8mb4 PATH '$.text',
        call_1 JSON PATH '$.functionCall',
        call_2 JSON PATH '$.function_call',
        call_name_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.functionCall.name',
        call_name_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.function_call.name',
        args_1 JSON PATH '$.functionCall.args',
        args_2 JSON PATH '$.function_call.args',
        answer_1 JSON PATH '$.functionResponse',
        answer_2 JSON PATH '$.function_response',
        answer_name_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.functionResponse.name',
        answer_name_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.function_response.name',
        response_1 JSON PATH '$.functionResponse.response',
        response_2 JSON PATH '$.function_response.response',
        code_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.executableCode.code',
        code_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.executable_code.code',
        output_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.codeExecutionResult.output',
        output_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.code_execution_result.output',
        type_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.inlineData.mimeType',
        type_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.inline_data.mime_type',
        type_3 LONGTEXT CHARACTER SET utf8mb4 PATH '$.fileData.mimeType',
        type_4 LONGTEXT CHARACTER SET utf8mb4 PATH '$.file_data.mime_type',
        address_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.fileData.fileUri',
        address_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.file_data.file_uri',
        inline_1 JSON PATH '$.inlineData',
        inline_2 JSON PATH '$.inline_data'))) AS e
GROUP BY log.session_id, log.app, log.user, log.session, log.seq, log.time, log.author;

-- Every tool call: one row per call, with its arguments, its answer (NULL if none yet) and the seconds
-- between them. A response with an id answers the last call before it with that id; the last such response
-- counts. Calls and responses without ids are matched by name, in order.
CREATE OR REPLACE VIEW seslite_tool_calls AS
WITH parts AS (
    SELECT log.session_id, log.app, log.user, log.session, log.seq, log.time, log.time_us, log.author, e.part,
           e.id_1, e.id_2, e.id_3, e.id_4, e.name_1, e.name_2, e.name_3, e.name_4,
           e.content_1, e.content_2, e.content_3, e.content_4,
           CASE
               WHEN convert(e.call_1 USING utf8mb4) LIKE '{%' THEN 1
               WHEN convert(e.call_2 USING utf8mb4) LIKE '{%' THEN 2
               WHEN convert(e.answer_1 USING utf8mb4) LIKE '{%' THEN 3
               WHEN convert(e.answer_2 USING utf8mb4) LIKE '{%' THEN 4
           END AS kind
    FROM seslite_event_log AS log
    JOIN JSON_TABLE(log.json, '$.content.parts[*]' COLUMNS (
        part FOR ORDINALITY,
        call_1 JSON PATH '$.functionCall',
        id_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.functionCall.id',
        name_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.functionCall.name',
        content_1 JSON PATH '$.functionCall.args',
        call_2 JSON PATH '$.function_call',
        id_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.function_call.id',
        name_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.function_call.name',
        content_2 JSON PATH '$.function_call.args',
        answer_1 JSON PATH '$.functionResponse',
        id_3 LONGTEXT CHARACTER SET utf8mb4 PATH '$.functionResponse.id',
        name_3 LONGTEXT CHARACTER SET utf8mb4 PATH '$.functionResponse.name',
        content_3 JSON PATH '$.functionResponse.response',
        answer_2 JSON PATH '$.function_response',
        id_4 LONGTEXT CHARACTER SET utf8mb4 PATH '$.function_response.id',
        name_4 LONGTEXT CHARACTER SET utf8mb4 PATH '$.function_response.name',
        content_4 JSON PATH '$.function_response.response')) AS e
), tools AS (
    SELECT session_id, app, user, session, seq, time, time_us, author, part, kind <= 2 AS is_call,
           nullif(elt(kind, id_1, id_2, id_3, id_4), '') AS id, elt(kind, name_1, name_2, name_3, name_4) AS name,
           nullif(elt(kind, convert(content_1 USING utf8mb4), convert(content_2 USING utf8mb4),
                      convert(content_3 USING utf8mb4), convert(content_4 USING utf8mb4)), 'null') AS content
    FROM parts
    WHERE kind IS NOT NULL
), turns AS (
    SELECT tools.*,
           sum(id IS NULL OR is_call)
               OVER (PARTITION BY session_id, cast(id AS BINARY), CASE WHEN id IS NULL THEN cast(concat(name, is_call) AS BINARY) END
                     ORDER BY seq, is_call, part ROWS UNBOUNDED PRECEDING) AS turn
    FROM tools
), answered AS (
    SELECT turns.*,
           last_value(CASE WHEN NOT is_call THEN content END) OVER following AS answer,
           last_value(CASE WHEN NOT is_call THEN time_us END) OVER following AS answered_us
    FROM turns
    WINDOW following AS (PARTITION BY session_id, cast(id AS BINARY), CASE WHEN id IS NULL THEN cast(name AS BINARY) END, turn
                         ORDER BY is_call DESC, seq, part
                         ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
)
SELECT app, user, session, seq, time, author, id, name, content AS arguments, answer,
       (answered_us - time_us) / 1000000e0 AS duration
FROM answered
WHERE is_call;

-- The tokens that models read and wrote: one row per session, model and day (UTC).
CREATE OR REPLACE VIEW seslite_usage AS
SELECT log.app, log.user, log.session, coalesce(e.model_1, e.model_2, '') AS model, left(log.time, 10) AS day,
       count(*) AS calls,
       sum(CASE WHEN coalesce(e.prompt_1, e.prompt_2) REGEXP '^-?[0-9]{1,18}$'
               THEN cast(coalesce(e.prompt_1, e.prompt_2) AS SIGNED) END) AS prompt,
       sum(CASE WHEN coalesce(e.cached_1, e.cached_2) REGEXP '^-?[0-9]{1,18}$'
               THEN cast(coalesce(e.cached_1, e.cached_2) AS SIGNED) END) AS cached,
       sum(CASE WHEN coalesce(e.candidates_1, e.candidates_2) REGEXP '^-?[0-9]{1,18}$'
               THEN cast(coalesce(e.candidates_1, e.candidates_2) AS SIGNED) END) AS candidates,
       sum(CASE WHEN coalesce(e.thoughts_1, e.thoughts_2) REGEXP '^-?[0-9]{1,18}$'
               THEN cast(coalesce(e.thoughts_1, e.thoughts_2) AS SIGNED) END) AS thoughts,
       sum(CASE WHEN coalesce(e.tool_use_1, e.tool_use_2) REGEXP '^-?[0-9]{1,18}$'
               THEN cast(coalesce(e.tool_use_1, e.tool_use_2) AS SIGNED) END) AS tool_use,
       sum(CASE WHEN coalesce(e.total_1, e.total_2) REGEXP '^-?[0-9]{1,18}$'
               THEN cast(coalesce(e.total_1, e.total_2) AS SIGNED) END) AS total
FROM seslite_event_log AS log
JOIN JSON_TABLE(log.json, '$' COLUMNS (
        model_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.modelVersion',
        model_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.model_version',
        counts_1 JSON PATH '$.usageMetadata',
        counts_2 JSON PATH '$.usage_metadata',
        prompt_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usageMetadata.promptTokenCount',
        prompt_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usage_metadata.prompt_token_count',
        cached_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usageMetadata.cachedContentTokenCount',
        cached_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usage_metadata.cached_content_token_count',
        candidates_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usageMetadata.candidatesTokenCount',
        candidates_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usage_metadata.candidates_token_count',
        thoughts_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usageMetadata.thoughtsTokenCount',
        thoughts_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usage_metadata.thoughts_token_count',
        tool_use_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usageMetadata.toolUsePromptTokenCount',
        tool_use_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usage_metadata.tool_use_prompt_token_count',
        total_1 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usageMetadata.totalTokenCount',
        total_2 LONGTEXT CHARACTER SET utf8mb4 PATH '$.usage_metadata.total_token_count')) AS e
WHERE convert(e.counts_1 USING utf8mb4) LIKE '{%' OR convert(e.counts_2 USING utf8mb4) LIKE '{%'
GROUP BY log.session_id, log.app, log.user, log.session, cast(coalesce(e.model_1, e.model_2, '') AS BINARY),
         coalesce(e.model_1, e.model_2, ''), left(log.time, 10);

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

-- Every session with its title, labels and counts. parent is the session it was forked from, as
-- user/session@seq with the last event that it took from there; events up to number `pruned` were pruned.
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

SET character_set_client = @seslite_client, collation_connection = @seslite_connection, character_set_results = @seslite_results;

-- (A store that another program has completed meanwhile, or that a later script has changed, stays as it is.)
INSERT INTO seslite_schema_version (version)
SELECT 2 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM seslite_schema_version AS v);
