-- What all scripts make of an empty file. `make schema` writes it. ses_open makes new stores of it, and compares
-- a file with all but its end: see lib/storage/sqlite/connection/schema_check.c.

-- table apps
CREATE TABLE apps (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE            -- the id the application uses
) STRICT;

-- table users
CREATE TABLE users (
    id     INTEGER PRIMARY KEY,
    app_id INTEGER NOT NULL REFERENCES apps,
    name   TEXT NOT NULL,                -- the id the application uses
    UNIQUE (app_id, name)
) STRICT;

-- table sessions
CREATE TABLE sessions (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id      INTEGER NOT NULL REFERENCES apps,
    user_id     INTEGER NOT NULL REFERENCES users,
    name        TEXT NOT NULL,           -- the id the application uses
    created_us  INTEGER NOT NULL,
    updated_us  INTEGER NOT NULL,        -- the latest event time so far
    active_30s  INTEGER NOT NULL,        -- updated_us in units of 30 seconds, for the indexes below
    version     INTEGER NOT NULL,        -- raised by one with every change of the log; begins at version_floor
    last_seq    INTEGER NOT NULL,        -- the highest sequence number ever given
    event_count INTEGER NOT NULL,        -- events stored now
    expires_us  INTEGER,                 -- the session may be removed from then on; NULL means never
    base_seq    INTEGER NOT NULL DEFAULT 0, -- events up to this number were pruned: base_state is the state after it
    details     INTEGER NOT NULL DEFAULT 0, -- its rows in other tables: 1 a parent, 2 a title, 4 labels
    changed_us  INTEGER NOT NULL         -- its last write, by the store's clock; it is idle since then
                DEFAULT (strftime('%s', 'now') * 1000000), -- for rows inserted by hand
    ahead_hour  INTEGER,                 -- at most changed_us in hours; set if updated_us is over an hour later
    UNIQUE (user_id, name)
) STRICT;

-- table version_floor
CREATE TABLE version_floor (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    floor INTEGER NOT NULL CHECK (floor BETWEEN 0 AND 9007199254740992) -- at 2^53 no session can begin
) STRICT;

-- table features
CREATE TABLE features (
    name  TEXT PRIMARY KEY,
    needs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- index sessions_by_activity
CREATE INDEX sessions_by_activity ON sessions (app_id, active_30s);

-- index sessions_by_user_activity
CREATE INDEX sessions_by_user_activity ON sessions (user_id, active_30s);

-- index sessions_by_app
CREATE INDEX sessions_by_app ON sessions (app_id);

-- index sessions_by_user
CREATE INDEX sessions_by_user ON sessions (user_id);

-- index sessions_ahead
CREATE INDEX sessions_ahead ON sessions (app_id, ahead_hour) WHERE ahead_hour IS NOT NULL;

-- index sessions_by_expiry
CREATE INDEX sessions_by_expiry ON sessions (app_id, expires_us) WHERE expires_us IS NOT NULL;

-- table session_details
CREATE TABLE session_details (
    session_id     INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    title          TEXT,
    parent_user    TEXT,    -- of a fork: the session it was made from, by the application's ids, ...
    parent_session TEXT,    -- ... because that session may be deleted
    parent_seq     INTEGER, -- and the number of the last event that it took from there
    more           TEXT,    -- a JSON object for attributes added by later versions
    initial_state  TEXT     -- JSON, as created, without temp: keys; NULL means empty
, origin INTEGER, archived_us INTEGER, child_user TEXT, child_session TEXT, remembered_seq INTEGER) STRICT;

-- table session_labels
CREATE TABLE session_labels (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,
    app_id     INTEGER NOT NULL,         -- the session's
    PRIMARY KEY (session_id, name)
) STRICT, WITHOUT ROWID;

-- index session_labels_by_value
CREATE INDEX session_labels_by_value ON session_labels (app_id, name, value);

-- table session_leases
CREATE TABLE session_leases (
    token        INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id   INTEGER NOT NULL UNIQUE REFERENCES sessions ON DELETE CASCADE,
    owner        TEXT NOT NULL,
    taken_us     INTEGER NOT NULL,       -- when it was taken or renewed, by the store's clock
    until_us     INTEGER NOT NULL,       -- its end, by the same clock; 0 if released
    next_owner   TEXT,                   -- an owner in another process, which waits for the lease ...
    next_until_us INTEGER                -- ... and takes precedence over all others until then
) STRICT;

-- table derived
CREATE TABLE derived (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    what       TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    PRIMARY KEY (session_id, what)
) STRICT, WITHOUT ROWID;

-- table app_state
CREATE TABLE app_state (
    app_id     INTEGER NOT NULL REFERENCES apps ON DELETE CASCADE,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    session_id INTEGER NOT NULL,         -- no reference: the value outlives the session
    seq        INTEGER NOT NULL,
    PRIMARY KEY (app_id, key)
) STRICT, WITHOUT ROWID;

-- table user_state
CREATE TABLE user_state (
    user_id    INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    session_id INTEGER NOT NULL,         -- no reference: the value outlives the session
    seq        INTEGER NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

-- table session_state
CREATE TABLE session_state (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)
) STRICT, WITHOUT ROWID;

-- table base_state
CREATE TABLE base_state (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    key        TEXT NOT NULL,            -- with its prefix
    value      TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)
) STRICT, WITHOUT ROWID;

-- table events
CREATE TABLE events (
    position      INTEGER PRIMARY KEY CHECK (position >> 32 = session_id AND position & 4294967295 > 0),
    session_id    INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    id_key        ANY NOT NULL,          -- a hash of the id, or the id itself if another event already had that hash
    id_at         ANY NOT NULL,          -- a number: the id begins at this byte of body and ends before the next quote
                                         -- (or the id itself, as text, if body spells it with escapes)
    invocation_at ANY NOT NULL,          -- the invocation's id likewise; '' if there is none
    author        TEXT NOT NULL,
    branch        TEXT,
    time_us       INTEGER NOT NULL,      -- the event's timestamp
    high_us       INTEGER,               -- sessions.updated_us after it, if that is later than time_us
    body          ANY NOT NULL -- as text: the event, byte for byte, without temp: keys; later versions may add other forms
) STRICT;

-- index events_by_id
CREATE UNIQUE INDEX events_by_id ON events (session_id, id_key);

-- table event_marks
CREATE TABLE event_marks (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    target_seq INTEGER,
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

-- table artifacts
CREATE TABLE artifacts (
    user_id      INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    session      TEXT NOT NULL,          -- '' for the artifacts of the user, whose names begin with user:
    name         TEXT NOT NULL,
    version      INTEGER NOT NULL,       -- 0, 1, 2 ...
    created_us   INTEGER NOT NULL,
    kind         INTEGER NOT NULL,       -- of the contents: 0 bytes, 1 a text, 2 the address (URI) of something else
    mime_type    TEXT,
    display_name TEXT,
    metadata     TEXT,                   -- a JSON object, byte for byte as received; NULL means empty
    content_id   INTEGER NOT NULL,       -- the row in artifact_contents
    PRIMARY KEY (user_id, session, name, version)
) STRICT, WITHOUT ROWID;

-- table artifact_contents
CREATE TABLE artifact_contents (
    id         INTEGER PRIMARY KEY AUTOINCREMENT -- an open artifact must never find another's bytes under its id
               CHECK (id < 1 << 43),
    user_id    INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    hash       TEXT,                     -- SHA-256 of the bytes, in hexadecimal; NULL while they are being written
    size       INTEGER NOT NULL,         -- bytes
    uses       INTEGER NOT NULL,         -- rows of artifacts that have them; 0 while they are being written
    written_us INTEGER NOT NULL,         -- when the last of them was written, by the store's clock
    UNIQUE (user_id, hash)
) STRICT;

-- index artifact_contents_unused
CREATE INDEX artifact_contents_unused ON artifact_contents (user_id) WHERE uses = 0;

-- table artifact_chunks
CREATE TABLE artifact_chunks (
    position INTEGER PRIMARY KEY,
    bytes    BLOB NOT NULL
) STRICT;

-- trigger guard_apps_insert
CREATE TRIGGER guard_apps_insert BEFORE INSERT ON apps
WHEN EXISTS (SELECT 1 FROM apps WHERE id = NEW.id OR name = NEW.name)
BEGIN
    SELECT RAISE(ABORT, 'apps: this app already exists');
END;

-- trigger guard_apps_update
CREATE TRIGGER guard_apps_update BEFORE UPDATE ON apps
WHEN NEW.id <> OLD.id OR EXISTS (SELECT 1 FROM apps WHERE id <> OLD.id AND name = NEW.name)
BEGIN
    SELECT RAISE(ABORT, 'apps: the id must not change, and names are unique');
END;

-- trigger guard_apps_delete
CREATE TRIGGER guard_apps_delete BEFORE DELETE ON apps
BEGIN
    SELECT RAISE(ABORT, 'apps: the app has users; delete them first') WHERE OLD.id IN (SELECT app_id FROM users);
    DELETE FROM app_state WHERE app_id = OLD.id;
END;

-- trigger guard_users_insert
CREATE TRIGGER guard_users_insert BEFORE INSERT ON users
WHEN NEW.app_id NOT IN (SELECT id FROM apps)
    OR EXISTS (SELECT 1 FROM users WHERE id = NEW.id OR (app_id = NEW.app_id AND name = NEW.name))
BEGIN
    SELECT RAISE(ABORT, 'users: there is no such app, or this user already exists');
END;

-- trigger guard_users_update
CREATE TRIGGER guard_users_update BEFORE UPDATE ON users
WHEN NEW.id <> OLD.id OR NEW.app_id <> OLD.app_id
    OR EXISTS (SELECT 1 FROM users WHERE id <> OLD.id AND app_id = NEW.app_id AND name = NEW.name)
BEGIN
    SELECT RAISE(ABORT, 'users: the id and the app must not change, and names are unique');
END;

-- trigger guard_users_delete
CREATE TRIGGER guard_users_delete BEFORE DELETE ON users
BEGIN
    SELECT RAISE(ABORT, 'users: the user has sessions; delete them first')
    WHERE EXISTS (SELECT 1 FROM sessions WHERE user_id = OLD.id);
    DELETE FROM user_state WHERE user_id = OLD.id;
    DELETE FROM artifacts WHERE user_id = OLD.id;
    DELETE FROM artifact_contents WHERE user_id = OLD.id;
END;

-- trigger guard_sessions_insert
CREATE TRIGGER guard_sessions_insert BEFORE INSERT ON sessions
WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id AND app_id = NEW.app_id)
    OR EXISTS (SELECT 1 FROM sessions WHERE id = NEW.id OR (user_id = NEW.user_id AND name = NEW.name))
BEGIN
    SELECT RAISE(ABORT, 'sessions: there is no such user in that app, or this session already exists');
END;

-- trigger guard_sessions_update
CREATE TRIGGER guard_sessions_update BEFORE UPDATE ON sessions
WHEN NEW.id <> OLD.id OR NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id AND app_id = NEW.app_id)
    OR EXISTS (SELECT 1 FROM sessions WHERE id <> OLD.id AND user_id = NEW.user_id AND name = NEW.name)
BEGIN
    SELECT RAISE(ABORT, 'sessions: the id must not change, the user must belong to the app, and names are unique');
END;

-- trigger guard_app_state_insert
CREATE TRIGGER guard_app_state_insert BEFORE INSERT ON app_state
BEGIN
    SELECT RAISE(ABORT, 'app_state: there is no such app')
    WHERE NEW.app_id NOT IN (SELECT id FROM apps);
    SELECT RAISE(ABORT, 'app_state.value: not valid JSON') WHERE NOT json_valid(NEW.value);
END;

-- trigger guard_app_state_update
CREATE TRIGGER guard_app_state_update BEFORE UPDATE ON app_state
BEGIN
    SELECT RAISE(ABORT, 'app_state: there is no such app')
    WHERE NEW.app_id NOT IN (SELECT id FROM apps);
    SELECT RAISE(ABORT, 'app_state.value: not valid JSON') WHERE NOT json_valid(NEW.value);
END;

-- trigger guard_user_state_insert
CREATE TRIGGER guard_user_state_insert BEFORE INSERT ON user_state
BEGIN
    SELECT RAISE(ABORT, 'user_state: there is no such user')
    WHERE NEW.user_id NOT IN (SELECT id FROM users);
    SELECT RAISE(ABORT, 'user_state.value: not valid JSON') WHERE NOT json_valid(NEW.value);
END;

-- trigger guard_user_state_update
CREATE TRIGGER guard_user_state_update BEFORE UPDATE ON user_state
BEGIN
    SELECT RAISE(ABORT, 'user_state: there is no such user')
    WHERE NEW.user_id NOT IN (SELECT id FROM users);
    SELECT RAISE(ABORT, 'user_state.value: not valid JSON') WHERE NOT json_valid(NEW.value);
END;

-- trigger guard_session_state_insert
CREATE TRIGGER guard_session_state_insert BEFORE INSERT ON session_state
BEGIN
    SELECT RAISE(ABORT, 'session_state: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
    SELECT RAISE(ABORT, 'session_state.value: not valid JSON') WHERE NOT json_valid(NEW.value);
END;

-- trigger guard_session_state_update
CREATE TRIGGER guard_session_state_update BEFORE UPDATE ON session_state
BEGIN
    SELECT RAISE(ABORT, 'session_state: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
    SELECT RAISE(ABORT, 'session_state.value: not valid JSON') WHERE NOT json_valid(NEW.value);
END;

-- trigger guard_session_details_insert
CREATE TRIGGER guard_session_details_insert BEFORE INSERT ON session_details
BEGIN
    SELECT RAISE(ABORT, 'session_details: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
    SELECT RAISE(ABORT, 'session_details.initial_state: not valid JSON')
    WHERE NEW.initial_state IS NOT NULL AND NOT json_valid(NEW.initial_state);
END;

-- trigger guard_session_details_update
CREATE TRIGGER guard_session_details_update BEFORE UPDATE ON session_details
BEGIN
    SELECT RAISE(ABORT, 'session_details: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
    SELECT RAISE(ABORT, 'session_details.initial_state: not valid JSON')
    WHERE NEW.initial_state IS NOT NULL AND NOT json_valid(NEW.initial_state);
END;

-- trigger guard_events_insert
CREATE TRIGGER guard_events_insert BEFORE INSERT ON events
BEGIN
    SELECT RAISE(ABORT, 'events: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
    SELECT RAISE(ABORT, 'events.body: not valid JSON') WHERE typeof(NEW.body) <> 'text' OR NOT json_valid(NEW.body);
END;

-- trigger guard_events_update
CREATE TRIGGER guard_events_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events: there is no such session')
    WHERE NEW.session_id NOT IN (SELECT id FROM sessions);
    SELECT RAISE(ABORT, 'events.body: not valid JSON') WHERE typeof(NEW.body) <> 'text' OR NOT json_valid(NEW.body);
    SELECT RAISE(ABORT, 'events.body: set id_at and invocation_at to the ids, as text, together with it')
    WHERE NEW.body IS NOT OLD.body AND (typeof(NEW.id_at) <> 'text' OR typeof(NEW.invocation_at) <> 'text');
END;

-- trigger guard_session_labels_insert
CREATE TRIGGER guard_session_labels_insert BEFORE INSERT ON session_labels
BEGIN
    SELECT RAISE(ABORT, 'session_labels: there is no such session in that app')
    WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = NEW.session_id AND app_id = NEW.app_id);
END;

-- trigger guard_artifacts_insert
CREATE TRIGGER guard_artifacts_insert BEFORE INSERT ON artifacts
BEGIN
    SELECT RAISE(ABORT, 'artifacts: save them with seslite artifact put');
END;

-- trigger guard_artifacts_delete
CREATE TRIGGER guard_artifacts_delete AFTER DELETE ON artifacts
BEGIN
    UPDATE artifact_contents SET uses = uses - 1 WHERE id = OLD.content_id;
    DELETE FROM artifact_contents WHERE id = OLD.content_id AND uses = 0;
END;

-- trigger guard_artifact_contents_delete
CREATE TRIGGER guard_artifact_contents_delete AFTER DELETE ON artifact_contents
BEGIN
    DELETE FROM artifact_chunks WHERE position BETWEEN OLD.id << 20 AND OLD.id << 20 | 1048575;
END;

-- index session_details_by_origin
CREATE INDEX session_details_by_origin ON session_details (origin) WHERE origin IS NOT NULL;

-- index session_details_by_child_of
CREATE INDEX session_details_by_child_of ON session_details (child_session, child_user)
    WHERE child_session IS NOT NULL;

-- table session_drafts
CREATE TABLE session_drafts (
    session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    updated_us INTEGER NOT NULL,         -- when it was set, by the store's clock
    body       TEXT NOT NULL
) STRICT;

-- table session_inbox
CREATE TABLE session_inbox (
    id         INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    app_id     INTEGER NOT NULL,         -- the session's
    request    TEXT NOT NULL,            -- an id, which whoever added it has chosen
    added_us   INTEGER NOT NULL,         -- when it was added, by the store's clock
    body       TEXT NOT NULL,
    UNIQUE (session_id, request)
) STRICT;

-- index session_inbox_by_app
CREATE INDEX session_inbox_by_app ON session_inbox (app_id);

-- trigger guard_sessions_delete
CREATE TRIGGER guard_sessions_delete BEFORE DELETE ON sessions
BEGIN
    DELETE FROM events WHERE session_id = OLD.id;
    DELETE FROM event_marks WHERE session_id = OLD.id;
    DELETE FROM session_state WHERE session_id = OLD.id;
    DELETE FROM base_state WHERE session_id = OLD.id;
    DELETE FROM session_details WHERE session_id = OLD.id;
    DELETE FROM session_labels WHERE session_id = OLD.id;
    DELETE FROM session_leases WHERE session_id = OLD.id;
    DELETE FROM session_drafts WHERE session_id = OLD.id;
    DELETE FROM session_inbox WHERE session_id = OLD.id;
    DELETE FROM derived WHERE session_id = OLD.id;
    DELETE FROM artifacts WHERE user_id = OLD.user_id AND session = OLD.name;
    UPDATE version_floor SET floor = OLD.version + 1
    WHERE floor <= OLD.version AND OLD.version < 9007199254740992;
END;

-- the views, the rows of a new store, and its numbers
CREATE VIEW merged_state AS
SELECT a.name AS app, u.name AS user, s.name AS session, 'app:' || st.key AS key, st.value
FROM apps AS a
CROSS JOIN users AS u ON u.app_id = a.id
CROSS JOIN sessions AS s ON s.user_id = u.id
CROSS JOIN app_state AS st ON st.app_id = a.id
UNION ALL
SELECT a.name, u.name, s.name, 'user:' || st.key, st.value
FROM apps AS a
CROSS JOIN users AS u ON u.app_id = a.id
CROSS JOIN sessions AS s ON s.user_id = u.id
CROSS JOIN user_state AS st ON st.user_id = u.id
UNION ALL
SELECT a.name, u.name, s.name, st.key, st.value
FROM apps AS a
CROSS JOIN users AS u ON u.app_id = a.id
CROSS JOIN sessions AS s ON s.user_id = u.id
CROSS JOIN session_state AS st ON st.session_id = s.id
ORDER BY app, user, session, key;
CREATE VIEW event_log AS
SELECT a.name AS app, u.name AS user, s.name AS session, e.position & 4294967295 AS seq,
       (SELECT coalesce(nullif(m.target_seq, 0), m.seq) FROM event_marks AS m
        WHERE m.session_id = s.id AND m.seq = e.position & 4294967295 AND m.kind = 1) AS takes_back_from,
       strftime('%Y-%m-%dT%H:%M:%S', e.time_us / 1000000 - (e.time_us % 1000000 < 0), 'unixepoch')
           || printf('.%06dZ', (e.time_us % 1000000 + 1000000) % 1000000) AS time,
       CASE
           WHEN typeof(e.id_at) = 'text' THEN e.id_at
           WHEN typeof(e.body) = 'text' THEN
               CAST(substr(CAST(e.body AS BLOB), e.id_at + 1,
                           instr(substr(CAST(e.body AS BLOB), e.id_at + 1), x'22') - 1) AS TEXT)
       END AS id,
       CASE
           WHEN typeof(e.invocation_at) = 'text' THEN e.invocation_at
           WHEN typeof(e.body) = 'text' THEN
               CAST(substr(CAST(e.body AS BLOB), e.invocation_at + 1,
                           instr(substr(CAST(e.body AS BLOB), e.invocation_at + 1), x'22') - 1) AS TEXT)
       END AS invocation_id,
       e.author, e.branch, e.time_us, iif(typeof(e.body) = 'text', e.body, NULL) AS body
FROM apps AS a
CROSS JOIN users AS u ON u.app_id = a.id
CROSS JOIN sessions AS s ON s.user_id = u.id
CROSS JOIN events AS e ON e.position BETWEEN s.id << 32 AND s.id << 32 | 4294967295
ORDER BY a.id, u.id, s.id, e.position;
CREATE VIEW transcript AS
SELECT log.app, log.user, log.session, log.seq, log.time, log.author,
       (SELECT group_concat(json_extract(p.value, '$.text'), '')
        FROM json_each(log.shown, '$.content.parts') AS p
        WHERE p.type = 'object' AND json_type(p.value, '$.text') = 'text') AS text,
       (SELECT group_concat(json_extract(c.call, '$.name') || '('
                            || coalesce(json_extract(c.call, '$.args'), '') || ')', '; ')
        FROM (SELECT coalesce(json_extract(p.value, '$.functionCall'),
                              json_extract(p.value, '$.function_call')) AS call
              FROM json_each(log.body, '$.content.parts') AS p
              WHERE p.type = 'object') AS c
        WHERE json_valid(c.call)) AS calls,
       (SELECT group_concat(json_extract(r.answer, '$.name') || ': '
                            || coalesce(json_extract(r.answer, '$.response'), ''), '; ')
        FROM (SELECT coalesce(json_extract(p.value, '$.functionResponse'),
                              json_extract(p.value, '$.function_response')) AS answer
              FROM json_each(log.body, '$.content.parts') AS p
              WHERE p.type = 'object') AS r
        WHERE json_valid(r.answer)) AS responses,
       nullif(coalesce(json_extract(log.body, '$.actions.stateDelta'),
                       json_extract(log.body, '$.actions.state_delta')), '{}') AS changes,
       (SELECT group_concat(coalesce(json_extract(p.value, '$.executableCode.code'),
                                     json_extract(p.value, '$.executable_code.code'),
                                     json_extract(p.value, '$.codeExecutionResult.output'),
                                     json_extract(p.value, '$.code_execution_result.output')), char(10))
        FROM json_each(log.shown, '$.content.parts') AS p
        WHERE p.type = 'object') AS code,
       (SELECT group_concat(coalesce(f.type || ' ' || f.address, f.type, f.address, f.inline), '; ')
        FROM (SELECT coalesce(json_extract(p.value, '$.inlineData.mimeType'),
                              json_extract(p.value, '$.inline_data.mime_type'),
                              json_extract(p.value, '$.fileData.mimeType'),
                              json_extract(p.value, '$.file_data.mime_type')) AS type,
                     coalesce(json_extract(p.value, '$.fileData.fileUri'),
                              json_extract(p.value, '$.file_data.file_uri')) AS address,
                     iif(coalesce(json_type(p.value, '$.inlineData'), json_type(p.value, '$.inline_data')) = 'object',
                         'data', NULL) AS inline
              FROM json_each(log.shown, '$.content.parts') AS p
              WHERE p.type = 'object') AS f) AS files,
       coalesce(json_extract(log.shown, '$.actions.transferToAgent'),
                json_extract(log.shown, '$.actions.transfer_to_agent')) AS transfer,
       (SELECT coalesce(failure.code || ': ' || failure.message, failure.code, failure.message)
        FROM (SELECT coalesce(json_extract(log.shown, '$.errorCode'), json_extract(log.shown, '$.error_code')) AS code,
                     coalesce(json_extract(log.shown, '$.errorMessage'),
                              json_extract(log.shown, '$.error_message')) AS message) AS failure) AS error
FROM (SELECT *,
             iif(instr(body, '\u0000') = 0, body,
                 replace(replace(replace(body, '\\', char(1)), '\u0000', char(9216)), char(1), '\\')) AS shown
      FROM event_log) AS log;
CREATE VIEW tool_calls AS
WITH parts AS (
    SELECT log.app, log.user, log.session, log.seq, log.time, log.time_us, log.author, p.key AS part,
           CASE
               WHEN p.type <> 'object' THEN NULL
               WHEN json_type(p.value, '$.functionCall') = 'object' THEN 1
               WHEN json_type(p.value, '$.function_call') = 'object' THEN 1
               ELSE 0
           END AS is_call,
           CASE
               WHEN p.type <> 'object' THEN NULL
               WHEN json_type(p.value, '$.functionCall') = 'object' THEN json_extract(p.value, '$.functionCall')
               WHEN json_type(p.value, '$.function_call') = 'object' THEN json_extract(p.value, '$.function_call')
               WHEN json_type(p.value, '$.functionResponse') = 'object'
                   THEN json_extract(p.value, '$.functionResponse')
               WHEN json_type(p.value, '$.function_response') = 'object'
                   THEN json_extract(p.value, '$.function_response')
           END AS tool
    FROM event_log AS log, json_each(log.body, '$.content.parts') AS p
), tools AS (
    SELECT app, user, session, seq, time, time_us, author, part, is_call, tool,
           nullif(json_extract(tool, '$.id'), '') AS id, json_extract(tool, '$.name') AS name
    FROM parts
    WHERE tool IS NOT NULL
), turns AS (
    SELECT *,
           sum(id IS NULL OR is_call) OVER (PARTITION BY app, user, session, id, iif(id IS NULL, name || is_call, '')
                                            ORDER BY seq, is_call, part ROWS UNBOUNDED PRECEDING) AS turn
    FROM tools
), answered AS (
    SELECT *,
           last_value(iif(is_call, NULL, json_extract(tool, '$.response'))) OVER following AS answer,
           last_value(iif(is_call, NULL, time_us)) OVER following AS answered_us
    FROM turns
    WINDOW following AS (PARTITION BY app, user, session, id, iif(id IS NULL, name, ''), turn
                         ORDER BY is_call DESC, seq, part
                         ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
)
SELECT app, user, session, seq, time, author, id, name, json_extract(tool, '$.args') AS arguments, answer,
       (answered_us - time_us) / 1000000.0 AS duration
FROM answered
WHERE is_call
ORDER BY app, user, session, seq, part;
CREATE VIEW artifact_overview AS
SELECT p.name AS app, u.name AS user, f.session, f.name, max(f.version) AS version,
       strftime('%Y-%m-%dT%H:%M:%SZ', f.created_us / 1000000, 'unixepoch') AS created,
       f.mime_type, c.size, f.metadata
FROM apps AS p
CROSS JOIN users AS u ON u.app_id = p.id
CROSS JOIN artifacts AS f ON f.user_id = u.id
LEFT JOIN artifact_contents AS c ON c.id = f.content_id
GROUP BY p.name, u.name, f.session, f.name;
CREATE VIEW session_overview AS
SELECT a.name AS app, u.name AS user, s.name AS session, d.title,
       (SELECT group_concat(l.name || '=' || l.value, ', ') FROM session_labels AS l WHERE l.session_id = s.id)
           AS labels,
       strftime('%Y-%m-%dT%H:%M:%SZ', s.created_us / 1000000, 'unixepoch') AS created,
       strftime('%Y-%m-%dT%H:%M:%SZ', s.updated_us / 1000000, 'unixepoch') AS updated,
       strftime('%Y-%m-%dT%H:%M:%SZ', s.expires_us / 1000000, 'unixepoch') AS expires,
       d.parent_user || '/' || d.parent_session || '@' || d.parent_seq AS parent,
       s.version,
       s.event_count AS events,
       s.base_seq AS pruned,
       (SELECT count(*) FROM session_state AS st WHERE st.session_id = s.id) AS session_keys,
       (SELECT count(*) FROM user_state AS st WHERE st.user_id = s.user_id) AS user_keys,
       (SELECT count(*) FROM app_state AS st WHERE st.app_id = s.app_id) AS app_keys
FROM apps AS a
CROSS JOIN users AS u ON u.app_id = a.id
CROSS JOIN sessions AS s ON s.user_id = u.id
LEFT JOIN session_details AS d ON d.session_id = s.id
ORDER BY s.updated_us DESC, s.id DESC;
CREATE VIEW usage AS
SELECT a.name AS app, u.name AS user, s.name AS session,
       coalesce(json_extract(e.body, '$.modelVersion'), json_extract(e.body, '$.model_version'), '') AS model,
       date(e.time_us / 1000000 - (e.time_us % 1000000 < 0), 'unixepoch') AS day,
       count(DISTINCT e.position) AS calls,
       CAST(sum(iif(c.key IN ('promptTokenCount', 'prompt_token_count'), c.value + 0.0, NULL)) AS INTEGER) AS prompt,
       CAST(sum(iif(c.key IN ('cachedContentTokenCount', 'cached_content_token_count'), c.value + 0.0, NULL)) AS INTEGER)
           AS cached,
       CAST(sum(iif(c.key IN ('candidatesTokenCount', 'candidates_token_count'), c.value + 0.0, NULL)) AS INTEGER)
           AS candidates,
       CAST(sum(iif(c.key IN ('thoughtsTokenCount', 'thoughts_token_count'), c.value + 0.0, NULL)) AS INTEGER) AS thoughts,
       CAST(sum(iif(c.key IN ('toolUsePromptTokenCount', 'tool_use_prompt_token_count'), c.value + 0.0, NULL)) AS INTEGER)
           AS tool_use,
       CAST(sum(iif(c.key IN ('totalTokenCount', 'total_token_count'), c.value + 0.0, NULL)) AS INTEGER) AS total
FROM apps AS a
CROSS JOIN users AS u ON u.app_id = a.id
CROSS JOIN sessions AS s ON s.user_id = u.id
CROSS JOIN events AS e ON e.position BETWEEN s.id << 32 AND s.id << 32 | 4294967295
LEFT JOIN json_each(e.body, iif(json_type(e.body, '$.usageMetadata') = 'object', '$.usageMetadata', '$.usage_metadata')) AS c
       ON c.type IN ('integer', 'real') AND c.value BETWEEN 0 AND 9007199254740991
      AND c.value = CAST(c.value AS INTEGER)
WHERE iif(typeof(e.body) = 'text',
          json_type(e.body, '$.usageMetadata') = 'object' OR json_type(e.body, '$.usage_metadata') = 'object', 0)
GROUP BY a.name, u.name, s.name, model, day;
INSERT INTO version_floor VALUES(1,0);
INSERT INTO features VALUES('families',3);
PRAGMA application_id = 1397052236;
PRAGMA user_version = 3;
