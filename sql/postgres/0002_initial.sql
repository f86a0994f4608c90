-- seslite on PostgreSQL, schema version 2, which is the first: unreleased states of seslite numbered their
-- stores 1.
--
-- To make a new store:        psql -1 -v ON_ERROR_STOP=1 -f 0002_initial.sql postgresql://...
-- In a database that already has a schema of this name it changes nothing and fails with a message.
-- The library runs this same text, in one transaction. The database must be encoded in UTF8.
--
-- Run it as a role that may create schemas in the database; it then owns the store. Another ROLE needs:
--     GRANT USAGE ON SCHEMA seslite TO ROLE;
--     GRANT SELECT ON ALL TABLES IN SCHEMA seslite TO ROLE;
-- and to write:
--     GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA seslite TO ROLE;
--     REVOKE INSERT, UPDATE, DELETE ON seslite.schema_version FROM ROLE;
--
-- Everything is in the schema seslite and always referred to by its full name, since poolers forget a
-- search_path. Functions and operators are those of pg_catalog, even if others have added some to `public`.
-- There are no triggers, functions, sequences or foreign keys, so that other databases that speak
-- PostgreSQL's protocol can hold a store.
--
-- The key of every table begins with `shard`, a number of 12 bits: for an app and its state, the first bits
-- of the SHA-256 of the app's name; for everything else, the first bits of that of the names of app and user
-- with a byte 1 between them. All rows of a user are in one shard, so that they can be kept on one machine.
--
-- Apps, users and sessions have numbers: the microseconds from 2025-01-01 UTC to the creation of the row,
-- times 4096, plus the shard. So numbers ascend, and the last 12 bits of a number are its shard.
--
-- Times are microseconds since 1970-01-01 00:00:00 UTC. Text is compared by its bytes. JSON is stored as
-- text, since jsonb would change it. Look at the views at the end first.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL standard_conforming_strings = on;

CREATE SCHEMA seslite;

-- A single row: the last script that was run.
CREATE TABLE seslite.schema_version (
    version int PRIMARY KEY
);
INSERT INTO seslite.schema_version VALUES (2);

-- Features that the store uses beyond these tables. A library that does not know a feature ...
-- needs 1: may read and write: it is derived from the rest, and later calls bring it up to date.
-- needs 2: may only read.
-- needs 3, or any other number: must not open the store.
-- To add one that needs 2 or 3, lock this table in ACCESS EXCLUSIVE MODE: every transaction that writes reads
-- it first.
CREATE TABLE seslite.features (
    name  text COLLATE "C" PRIMARY KEY,
    needs bigint NOT NULL
);

CREATE TABLE seslite.apps (
    shard int NOT NULL,
    id    bigint NOT NULL CHECK (shard = (id & 4095)),
    name  text COLLATE "C" NOT NULL,     -- the id the application uses
    PRIMARY KEY (shard, id),
    UNIQUE (name, shard)                 -- in this order it also lists all apps
);
-- For walks over all apps.
CREATE INDEX apps_by_id ON seslite.apps (id, shard);

CREATE TABLE seslite.users (
    shard  int NOT NULL,
    id     bigint NOT NULL CHECK (shard = (id & 4095)),
    app_id bigint NOT NULL,
    name   text COLLATE "C" NOT NULL,    -- the id the application uses
    PRIMARY KEY (shard, id),
    UNIQUE (app_id, name, shard)         -- in this order it also lists the users of an app, which are in many shards
);
-- For a check, which walks all users.
CREATE INDEX users_by_id ON seslite.users (id, shard);

-- One row per session. Every append rewrites it, so it is kept narrow: wide or rare values have tables of
-- their own. No index contains the columns that every append changes, and each page keeps free room, so that
-- the new row is written to the same page and no index is touched
-- (https://www.postgresql.org/docs/current/storage-hot.html).
CREATE TABLE seslite.sessions (
    shard       int NOT NULL,
    id          bigint NOT NULL CHECK (shard = (id & 4095)),
    app_id      bigint NOT NULL,
    user_id     bigint NOT NULL CHECK (shard = (user_id & 4095)),
    name        text COLLATE "C" NOT NULL, -- the id the application uses
    created_us  bigint NOT NULL,
    updated_us  bigint NOT NULL,         -- the latest event time so far
    active_30s  bigint NOT NULL,         -- updated_us in units of 30 seconds, for the indexes below
    version     bigint NOT NULL,         -- raised by one with every change of the log; begins at version_floor
    last_seq    bigint NOT NULL,         -- the highest sequence number ever given
    event_count bigint NOT NULL,         -- events stored now
    expires_us  bigint,                  -- the session may be removed from then on; NULL means never
    base_seq    bigint NOT NULL DEFAULT 0, -- events up to this number were pruned: base_state is the state after it
    details     bigint NOT NULL DEFAULT 0, -- its rows in other tables: 1 a parent, 2 a title, 4 labels
    changed_us  bigint NOT NULL,         -- its last write, by the store's clock; it is idle since then
    ahead_hour  bigint,                  -- at most changed_us in hours; set if updated_us is over an hour later
    PRIMARY KEY (shard, id)
) WITH (fillfactor = 80);
-- These list the sessions of an app or a user, latest first and in order of creation. Activity counts in
-- units of 30 seconds, so that an append writes to its indexes at most once in that time. (All numbers of
-- users are above 0. The condition keeps the planner from finding a session by its name in an index of a
-- user's sessions.)
CREATE INDEX sessions_by_activity ON seslite.sessions (app_id, active_30s, id);
CREATE INDEX sessions_by_user_activity ON seslite.sessions (shard, user_id, active_30s, id) WHERE user_id > 0;
CREATE INDEX sessions_by_app ON seslite.sessions (app_id, id);
CREATE INDEX sessions_by_user ON seslite.sessions (shard, user_id, id) WHERE user_id > 0;
-- sessions_by_activity finds idle sessions, except those with an event from the future, which are in this
-- index.
CREATE INDEX sessions_ahead ON seslite.sessions (app_id, ahead_hour, id) WHERE ahead_hour IS NOT NULL;
-- Finds expired sessions. Sessions that never expire are not in it.
CREATE INDEX sessions_by_expiry ON seslite.sessions (app_id, expires_us, id) WHERE expires_us IS NOT NULL;
-- For a check, which walks all sessions.
CREATE INDEX sessions_by_id ON seslite.sessions (id, shard);
-- While the statistics are older than most rows, all indexes with a shard look alike to the planner, and it
-- takes the smallest or the one created last. So this index is created last, and the statistics are set to
-- say that a single shard has all rows.
CREATE UNIQUE INDEX sessions_shard_user_id_name_key ON seslite.sessions (shard, user_id, name);
ALTER TABLE seslite.sessions ALTER COLUMN shard SET (n_distinct = 1);

-- One row per shard in which sessions were deleted. `floor` is above the last version of each of them. A new
-- session begins there, so that a version of a deleted session never matches a later session of the same
-- name.
CREATE TABLE seslite.version_floor (
    shard int PRIMARY KEY,
    floor bigint NOT NULL CHECK (floor BETWEEN 0 AND 9007199254740992) -- at 2^53 no session can begin
);

-- Details that only some sessions have: at most one row for each.
CREATE TABLE seslite.session_details (
    shard          int NOT NULL,
    session_id     bigint NOT NULL,
    title          text COLLATE "C",
    parent_user    text COLLATE "C", -- of a fork: the session it was made from, by the application's ids, ...
    parent_session text COLLATE "C", -- ... because that session may be deleted
    parent_seq     bigint,           -- and the number of the last event that it took from there
    more           text COLLATE "C", -- a JSON object for attributes added by later versions
    initial_state  text COLLATE "C", -- JSON, as created, without temp: keys; NULL means empty
    PRIMARY KEY (shard, session_id)
);

-- One row per label. The index finds the sessions of an app that have a label.
CREATE TABLE seslite.session_labels (
    shard      int NOT NULL,
    session_id bigint NOT NULL,
    name       text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    app_id     bigint NOT NULL,          -- the session's
    PRIMARY KEY (shard, session_id, name)
);
CREATE INDEX session_labels_by_value ON seslite.session_labels (app_id, name, value, session_id);

-- The owner that may take a session's next turn. Each owner gets a token above all earlier ones of the
-- session: the microseconds since 2025-01-01 UTC, or the last token plus one. So the row stays when the lease
-- is released or expires, and is rewritten when the next owner takes it.
CREATE TABLE seslite.session_leases (
    shard         int NOT NULL,
    session_id    bigint NOT NULL,
    token         bigint NOT NULL,
    owner         text COLLATE "C" NOT NULL,
    taken_us      bigint NOT NULL,       -- when it was taken or renewed, by the server's clock
    until_us      bigint NOT NULL,       -- its end, by the same clock; 0 if released
    next_owner    text COLLATE "C",      -- an owner in another process, which waits for the lease ...
    next_until_us bigint,                -- ... and takes precedence over all others until then
    PRIMARY KEY (shard, session_id)
);

-- How far what is derived from a session's events (an index of words, the use of tokens) has come, by the
-- name of the feature that derives it. Later calls continue after event `seq`. They begin again if `epoch` is
-- not the session's version - last_seq any more: an append raises both numbers, a cut only the first.
CREATE TABLE seslite.derived (
    shard      int NOT NULL,
    session_id bigint NOT NULL,
    what       text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    epoch      bigint NOT NULL,
    PRIMARY KEY (shard, session_id, what)
);

-- State: one row per key. `key` is without its prefix, `value` is JSON text, byte for byte as received.
-- session_id and seq name the event that set it last (seq 0: the creation of that session; session_id 0: the
-- application itself, without a session).
CREATE TABLE seslite.app_state (
    shard      int NOT NULL,
    app_id     bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    session_id bigint NOT NULL,          -- the value outlives the session
    seq        bigint NOT NULL,
    PRIMARY KEY (shard, app_id, key)
);

CREATE TABLE seslite.user_state (
    shard      int NOT NULL,
    user_id    bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    session_id bigint NOT NULL,          -- the value outlives the session
    seq        bigint NOT NULL,
    PRIMARY KEY (shard, user_id, key)
);

CREATE TABLE seslite.session_state (
    shard      int NOT NULL,
    session_id bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    PRIMARY KEY (shard, session_id, key)
);

-- The result of the log up to event sessions.base_seq, if the events up to that one were pruned: the
-- session's own state, and the last values that it wrote to shared keys.
CREATE TABLE seslite.base_state (
    shard      int NOT NULL,
    session_id bigint NOT NULL,
    key        text COLLATE "C" NOT NULL, -- with its prefix
    value      text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    PRIMARY KEY (shard, session_id, key)
);

-- One row per event. A retried event is found by its id.
CREATE TABLE seslite.events (
    shard         int NOT NULL,
    session_id    bigint NOT NULL,
    seq           bigint NOT NULL CHECK (seq BETWEEN 1 AND 4294967295),
    id            text COLLATE "C" NOT NULL,
    invocation_id text COLLATE "C" NOT NULL, -- '' if there is none
    author        text COLLATE "C" NOT NULL,
    branch        text COLLATE "C",
    time_us       bigint NOT NULL,       -- the event's timestamp
    high_us       bigint,                -- sessions.updated_us after it, if that is later than time_us
    body          text COLLATE "C" NOT NULL, -- the event, byte for byte, without temp: keys
    UNIQUE (shard, session_id, id)
);
-- Before the table is analyzed, both indexes look alike to the planner, and it takes the one created last.
-- For ranges of a long log that must be this one. (The query for an event by its id is written so that only
-- the other index serves it.)
ALTER TABLE seslite.events ADD PRIMARY KEY (shard, session_id, seq);

-- The few events that change how a log is read, so that a walk over live events parses none.
-- kind 1: a rewind (actions.rewindBeforeInvocationId). It takes back the events from target_seq, the first of
--         that invocation in the log, to itself. If target_seq is 0 there is none, and it takes back only
--         itself.
-- kind 2: a compaction (actions.compaction).
CREATE TABLE seslite.event_marks (
    shard      int NOT NULL,
    session_id bigint NOT NULL,
    seq        bigint NOT NULL,
    kind       bigint NOT NULL,
    target_seq bigint,
    PRIMARY KEY (shard, session_id, seq)
);

-- Artifacts: files that belong to a session, or to a user. One row per version. They are filed by the
-- session's id as the application uses it, because an artifact may be saved before its session.
CREATE TABLE seslite.artifacts (
    shard        int NOT NULL,
    user_id      bigint NOT NULL,
    session      text COLLATE "C" NOT NULL, -- '' for the artifacts of the user, whose names begin with user:
    name         text COLLATE "C" NOT NULL,
    version      bigint NOT NULL,        -- 0, 1, 2 ...
    created_us   bigint NOT NULL,
    kind         bigint NOT NULL,        -- of the contents: 0 bytes, 1 a text, 2 the address (URI) of something else
    mime_type    text COLLATE "C",
    display_name text COLLATE "C",
    metadata     text COLLATE "C",       -- a JSON object, byte for byte as received; NULL means empty
    content_id   bigint NOT NULL,        -- the row in artifact_contents
    PRIMARY KEY (shard, user_id, session, name, version)
);

-- The bytes of artifacts: one row for equal bytes of a user, however many versions of artifacts have them.
CREATE TABLE seslite.artifact_contents (
    shard      int NOT NULL,
    id         bigint NOT NULL CHECK (shard = (id & 4095)),
    user_id    bigint NOT NULL,
    hash       text COLLATE "C",         -- SHA-256 of the bytes, in hexadecimal; NULL while they are being written
    size       bigint NOT NULL,          -- bytes
    uses       bigint NOT NULL,          -- rows of artifacts that have them; 0 while they are being written
    written_us bigint NOT NULL,          -- when the last of them was written, by the store's clock
    PRIMARY KEY (shard, id),
    UNIQUE (shard, user_id, hash)
);
-- Finds contents that nothing has any more.
CREATE INDEX artifact_contents_unused ON seslite.artifact_contents (shard, user_id) WHERE uses = 0;

-- The bytes themselves, in chunks of 64 KiB of which only the last is shorter. The server does not try to
-- compress them, since images are compressed already.
CREATE TABLE seslite.artifact_chunks (
    shard      int NOT NULL,
    content_id bigint NOT NULL,
    number     bigint NOT NULL,          -- from 0 on
    bytes      bytea NOT NULL,
    PRIMARY KEY (shard, content_id, number)
);
ALTER TABLE seslite.artifact_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Views for people. (The library reads the tables.) With app, user and session given, each view reads only
-- that session. A body that is not JSON, which the library never writes, ends a query of event_log.json, and
-- of the views that read it: transcript, tool_calls and usage. The others read JSON as text.

-- Every session with its state, all scopes merged: one row per key.
CREATE VIEW seslite.merged_state AS
SELECT a.name AS app, u.name AS "user", s.name AS session, 'app:' || st.key AS key, st.value
FROM seslite.apps AS a
JOIN seslite.users AS u ON u.app_id = a.id
JOIN seslite.sessions AS s ON s.shard = u.shard AND s.user_id = u.id
JOIN seslite.app_state AS st ON st.shard = a.shard AND st.app_id = a.id
UNION ALL
SELECT a.name, u.name, s.name, 'user:' || st.key, st.value
FROM seslite.apps AS a
JOIN seslite.users AS u ON u.app_id = a.id
JOIN seslite.sessions AS s ON s.shard = u.shard AND s.user_id = u.id
JOIN seslite.user_state AS st ON st.shard = u.shard AND st.user_id = u.id
UNION ALL
SELECT a.name, u.name, s.name, st.key, st.value
FROM seslite.apps AS a
JOIN seslite.users AS u ON u.app_id = a.id
JOIN seslite.sessions AS s ON s.shard = u.shard AND s.user_id = u.id
JOIN seslite.session_state AS st ON st.shard = s.shard AND st.session_id = s.id
ORDER BY app, "user", session, key;

-- Every event with its number, its time, and the names of its app, user and session. A rewind takes back the
-- events from takes_back_from to itself (unless it was taken back before them). `json` is the body for
-- PostgreSQL's functions, without the escapes that these reject (\u0000 and lone surrogates).
CREATE VIEW seslite.event_log AS
SELECT a.name AS app, u.name AS "user", s.name AS session, e.seq,
       (SELECT coalesce(nullif(m.target_seq, 0), m.seq) FROM seslite.event_marks AS m
        WHERE m.shard = s.shard AND m.session_id = s.id AND m.seq = e.seq AND m.kind = 1) AS takes_back_from,
       to_char(timestamp 'epoch' + e.time_us / 3600000000 * interval '1 hour'
               + e.time_us % 3600000000 * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       e.id, e.invocation_id, e.author, e.branch, e.time_us, e.body,
       CASE
           WHEN e.body ~ '\\u(?:0000|[dD][89a-fA-F])' THEN
               regexp_replace(e.body, '(\\[^u]|\\u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4}'
                              '|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})'
                              '|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1', 'g')::json
           ELSE e.body::json
       END AS json
FROM seslite.apps AS a
JOIN seslite.users AS u ON u.app_id = a.id
JOIN seslite.sessions AS s ON s.shard = u.shard AND s.user_id = u.id
JOIN seslite.events AS e ON e.shard = s.shard AND e.session_id = s.id
ORDER BY a.id, u.id, s.id, e.seq;

-- Every conversation in readable form: one row per event. `text` joins the texts of its parts, `calls` shows
-- the tool calls as name(arguments), `responses` their answers as name: answer, and `changes` the changes of
-- the state. `code` has code that a model ran and its output, `files` the type and address of each image or
-- other file, `transfer` the agent that takes over, and `error` the code and message of an error.
CREATE VIEW seslite.transcript AS
SELECT log.app, log."user", log.session, log.seq, log.time, log.author, said.text, said.calls, said.responses,
       nullif(coalesce(log.json #>> '{actions,stateDelta}', log.json #>> '{actions,state_delta}'), '{}') AS changes,
       said.code, said.files,
       coalesce(log.json #>> '{actions,transferToAgent}', log.json #>> '{actions,transfer_to_agent}') AS transfer,
       nullif(concat_ws(': ', coalesce(log.json ->> 'errorCode', log.json ->> 'error_code'),
                        coalesce(log.json ->> 'errorMessage', log.json ->> 'error_message')), '') AS error
FROM seslite.event_log AS log
CROSS JOIN LATERAL (
    SELECT string_agg(CASE json_typeof(p.part -> 'text') WHEN 'string' THEN p.part ->> 'text' END, ''
                      ORDER BY p.place) AS text,
           string_agg((t.call ->> 'name') || '(' || coalesce(t.call ->> 'args', '') || ')', '; '
                      ORDER BY p.place) AS calls,
           string_agg((t.answer ->> 'name') || ': ' || coalesce(t.answer ->> 'response', ''), '; '
                      ORDER BY p.place) AS responses,
           string_agg(coalesce(p.part #>> '{executableCode,code}', p.part #>> '{executable_code,code}',
                               p.part #>> '{codeExecutionResult,output}',
                               p.part #>> '{code_execution_result,output}'), E'\n' ORDER BY p.place) AS code,
           string_agg(coalesce(f.type || ' ' || f.address, f.type, f.address, f.inline), '; ' ORDER BY p.place) AS files
    FROM json_array_elements(CASE json_typeof(log.json #> '{content,parts}')
                                 WHEN 'array' THEN log.json #> '{content,parts}'
                             END) WITH ORDINALITY AS p (part, place)
    CROSS JOIN LATERAL (
        SELECT CASE 'object'
                   WHEN json_typeof(p.part -> 'functionCall') THEN p.part -> 'functionCall'
                   WHEN json_typeof(p.part -> 'function_call') THEN p.part -> 'function_call'
               END AS call,
               CASE 'object'
                   WHEN json_typeof(p.part -> 'functionResponse') THEN p.part -> 'functionResponse'
                   WHEN json_typeof(p.part -> 'function_response') THEN p.part -> 'function_response'
               END AS answer
    ) AS t
    CROSS JOIN LATERAL (
        SELECT coalesce(p.part #>> '{inlineData,mimeType}', p.part #>> '{inline_data,mime_type}',
                        p.part #>> '{fileData,mimeType}', p.part #>> '{file_data,mime_type}') AS type,
               coalesce(p.part #>> '{fileData,fileUri}', p.part #>> '{file_data,file_uri}') AS address,
               CASE 'object'
                   WHEN json_typeof(p.part -> 'inlineData') THEN 'data'
                   WHEN json_typeof(p.part -> 'inline_data') THEN 'data'
               END AS inline
    ) AS f
) AS said;

-- Every tool call: one row per call, with its arguments, its answer (NULL if none yet) and the seconds
-- between them. A response with an id answers the last call before it with that id; the last such response
-- counts. Calls and responses without ids are matched by name, in order.
CREATE VIEW seslite.tool_calls AS
WITH tools AS (
    SELECT log.app, log."user", log.session, log.seq, log.time, log.time_us, log.author, p.place AS part,
           t.is_call, t.tool, nullif(t.tool ->> 'id', '') AS id, t.tool ->> 'name' AS name
    FROM seslite.event_log AS log
    CROSS JOIN LATERAL json_array_elements(CASE json_typeof(log.json #> '{content,parts}')
                                               WHEN 'array' THEN log.json #> '{content,parts}'
                                           END) WITH ORDINALITY AS p (part, place)
    CROSS JOIN LATERAL (
        SELECT 'object' IN (json_typeof(p.part -> 'functionCall'), json_typeof(p.part -> 'function_call')) IS TRUE
                   AS is_call,
               CASE 'object'
                   WHEN json_typeof(p.part -> 'functionCall') THEN p.part -> 'functionCall'
                   WHEN json_typeof(p.part -> 'function_call') THEN p.part -> 'function_call'
                   WHEN json_typeof(p.part -> 'functionResponse') THEN p.part -> 'functionResponse'
                   WHEN json_typeof(p.part -> 'function_response') THEN p.part -> 'function_response'
               END AS tool
    ) AS t
    WHERE t.tool IS NOT NULL
), turns AS (
    SELECT *,
           count(*) FILTER (WHERE id IS NULL OR is_call)
               OVER (PARTITION BY app, "user", session, id, CASE WHEN id IS NULL THEN name || is_call::int ELSE '' END
                     ORDER BY seq, is_call, part ROWS UNBOUNDED PRECEDING) AS turn
    FROM tools
), answered AS (
    SELECT *,
           last_value(CASE WHEN NOT is_call THEN tool ->> 'response' END) OVER following AS answer,
           last_value(CASE WHEN NOT is_call THEN time_us END) OVER following AS answered_us
    FROM turns
    WINDOW following AS (PARTITION BY app, "user", session, id, CASE WHEN id IS NULL THEN name ELSE '' END, turn
                         ORDER BY is_call DESC, seq, part
                         ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
)
SELECT app, "user", session, seq, time, author, id, name, tool ->> 'args' AS arguments, answer,
       (answered_us - time_us) / 1000000.0::float8 AS duration
FROM answered
WHERE is_call
ORDER BY app, "user", session, seq, part;

-- The tokens that models read and wrote: one row per session, model and day (UTC).
CREATE VIEW seslite.usage AS
SELECT log.app, log."user", log.session,
       coalesce(log.json ->> 'modelVersion', log.json ->> 'model_version', '') AS model,
       left(log.time, 10) AS day,
       count(*) AS calls,
       sum(CASE WHEN t.prompt ~ '^-?[0-9]{1,18}$' THEN t.prompt::bigint END) AS prompt,
       sum(CASE WHEN t.cached ~ '^-?[0-9]{1,18}$' THEN t.cached::bigint END) AS cached,
       sum(CASE WHEN t.candidates ~ '^-?[0-9]{1,18}$' THEN t.candidates::bigint END) AS candidates,
       sum(CASE WHEN t.thoughts ~ '^-?[0-9]{1,18}$' THEN t.thoughts::bigint END) AS thoughts,
       sum(CASE WHEN t.tool_use ~ '^-?[0-9]{1,18}$' THEN t.tool_use::bigint END) AS tool_use,
       sum(CASE WHEN t.total ~ '^-?[0-9]{1,18}$' THEN t.total::bigint END) AS total
FROM seslite.event_log AS log
CROSS JOIN LATERAL (
    SELECT coalesce(log.json #>> '{usageMetadata,promptTokenCount}',
                    log.json #>> '{usage_metadata,prompt_token_count}') AS prompt,
           coalesce(log.json #>> '{usageMetadata,cachedContentTokenCount}',
                    log.json #>> '{usage_metadata,cached_content_token_count}') AS cached,
           coalesce(log.json #>> '{usageMetadata,candidatesTokenCount}',
                    log.json #>> '{usage_metadata,candidates_token_count}') AS candidates,
           coalesce(log.json #>> '{usageMetadata,thoughtsTokenCount}',
                    log.json #>> '{usage_metadata,thoughts_token_count}') AS thoughts,
           coalesce(log.json #>> '{usageMetadata,toolUsePromptTokenCount}',
                    log.json #>> '{usage_metadata,tool_use_prompt_token_count}') AS tool_use,
           coalesce(log.json #>> '{usageMetadata,totalTokenCount}',
                    log.json #>> '{usage_metadata,total_token_count}') AS total
) AS t
WHERE 'object' IN (json_typeof(log.json -> 'usageMetadata'), json_typeof(log.json -> 'usage_metadata'))
GROUP BY log.app, log."user", log.session, model, day;

-- The newest version of each artifact. Its session is '' for an artifact of the user. `size` is in bytes.
CREATE VIEW seslite.artifact_overview AS
SELECT DISTINCT ON (a.name, u.name, f.session, f.name)
       a.name AS app, u.name AS "user", f.session, f.name, f.version,
       to_char(timestamp 'epoch' + f.created_us / 1000000 * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
           AS created,
       f.mime_type, c.size, f.metadata
FROM seslite.apps AS a
JOIN seslite.users AS u ON u.app_id = a.id
JOIN seslite.artifacts AS f ON f.shard = u.shard AND f.user_id = u.id
LEFT JOIN seslite.artifact_contents AS c ON c.shard = f.shard AND c.id = f.content_id
ORDER BY a.name, u.name, f.session, f.name, f.version DESC;

-- Every session with its title, labels and counts, latest first. parent is the session it was forked from, as
-- user/session@seq with the last event that it took from there; events up to number `pruned` were pruned.
CREATE VIEW seslite.session_overview AS
SELECT a.name AS app, u.name AS "user", s.name AS session, d.title,
       (SELECT string_agg(l.name || '=' || l.value, ', ' ORDER BY l.name) FROM seslite.session_labels AS l
        WHERE l.shard = s.shard AND l.session_id = s.id) AS labels,
       to_char(timestamp 'epoch' + s.created_us / 1000000 * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
           AS created,
       to_char(timestamp 'epoch' + s.updated_us / 1000000 * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
           AS updated,
       to_char(timestamp 'epoch' + s.expires_us / 1000000 * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
           AS expires,
       d.parent_user || '/' || d.parent_session || '@' || d.parent_seq AS parent,
       s.version,
       s.event_count AS events,
       s.base_seq AS pruned,
       (SELECT count(*) FROM seslite.session_state AS st WHERE st.shard = s.shard AND st.session_id = s.id)
           AS session_keys,
       (SELECT count(*) FROM seslite.user_state AS st WHERE st.shard = u.shard AND st.user_id = u.id) AS user_keys,
       (SELECT count(*) FROM seslite.app_state AS st WHERE st.shard = a.shard AND st.app_id = a.id) AS app_keys
FROM seslite.apps AS a
JOIN seslite.users AS u ON u.app_id = a.id
JOIN seslite.sessions AS s ON s.shard = u.shard AND s.user_id = u.id
LEFT JOIN seslite.session_details AS d ON d.shard = s.shard AND d.session_id = s.id
ORDER BY s.updated_us DESC, s.id DESC;
