.bail on
-- seslite, schema version 3: sessions that were forked from each other have a number in common.
--
-- To upgrade a store of version 2:        sqlite3 store.db < 0003_families.sql
-- On any other file it changes nothing and fails with a message. The library runs this same text.

CREATE TEMP TABLE seslite_guard (
    ok INTEGER CONSTRAINT "seslite 0003: the file is not at version 2, or uses other features; nothing was changed" CHECK (ok)
);

BEGIN IMMEDIATE;

INSERT INTO temp.seslite_guard
SELECT (SELECT application_id FROM temp.pragma_application_id) = 1397052236
   AND (SELECT user_version FROM temp.pragma_user_version) = 2
   AND NOT EXISTS (SELECT 1 FROM features WHERE needs <> 1 AND name <> 'search');

-- A program of an older version that has the file open would make forks without the number. It looks here
-- before it writes.
INSERT INTO features VALUES ('families', 3);

-- A tally of used tokens that the file keeps is made anew as a table of sums, when they are next added
-- up. Programs that know only the old one do not look for it any more.
UPDATE features SET name = 'usage2' WHERE name = 'usage';

-- A positive random number. A session and its forks have the same, and so do forks of those. NULL: it has no
-- forks, and is none. It stays when a session of the family is deleted or gets another name.
ALTER TABLE session_details ADD COLUMN origin INTEGER;
CREATE INDEX session_details_by_origin ON session_details (origin) WHERE origin IS NOT NULL;

-- When the session was archived, by the clock of the store, after 1970. NULL: it is not. (The bit 8 of
-- sessions.details says that it is.)
ALTER TABLE session_details ADD COLUMN archived_us INTEGER;

-- The session that the session is a child of, such as that of a sub-agent: the names of its user and its own,
-- in the same app, also after it was deleted. NULL: it is no child. (The bit 16 of sessions.details says that
-- it is one, and the bit 32 that the session is memory. With any of the bits 8, 16 and 32,
-- sessions.active_30s is 2^34 less.)
ALTER TABLE session_details ADD COLUMN child_user TEXT;
ALTER TABLE session_details ADD COLUMN child_session TEXT;
CREATE INDEX session_details_by_child_of ON session_details (child_session, child_user)
    WHERE child_session IS NOT NULL;

-- The number of the last event of the session that is remembered. NULL: none is. (The bit 64 of
-- sessions.details says that there is one.)
ALTER TABLE session_details ADD COLUMN remembered_seq INTEGER;

-- Programs on version 0.2.0 kept memory in labels. `memory` had this number, or `all`. Sessions with copies
-- for memory alone had names that begin with `memory:`, and `all`, or the label `memory-project`. These
-- become sessions of the kind memory: bit 32 of sessions.details, and sessions.active_30s is 2^34 less.
CREATE TEMP TABLE seslite_memory (
    session_id INTEGER PRIMARY KEY,
    seq        INTEGER -- NULL: it has copies
);
INSERT OR IGNORE INTO temp.seslite_memory
SELECT s.id, NULL
FROM session_labels AS l
JOIN sessions AS s ON s.id = l.session_id
WHERE (l.name = 'memory' AND l.value = 'all' AND substr(s.name, 1, 7) = 'memory:')
   OR (l.name = 'memory-project' AND substr(s.name, 1, 15) = 'memory-project:');
INSERT OR IGNORE INTO temp.seslite_memory
SELECT s.id, iif(l.value = 'all', 4294967295, min(CAST(l.value AS INTEGER), 4294967295))
FROM session_labels AS l
JOIN sessions AS s ON s.id = l.session_id
WHERE l.name = 'memory'
  AND (l.value = 'all'
       OR (length(l.value) <= 18 AND l.value NOT GLOB '*[^0-9]*' AND CAST(l.value AS INTEGER) > 0));
INSERT INTO session_details (session_id, remembered_seq)
SELECT session_id, seq FROM temp.seslite_memory WHERE seq IS NOT NULL
ON CONFLICT DO UPDATE SET remembered_seq = excluded.remembered_seq;
DELETE FROM session_labels
WHERE name = 'memory' AND session_id IN (SELECT session_id FROM temp.seslite_memory);
UPDATE sessions
SET details = details & ~4 | iif(m.seq IS NULL, 32, 64)
            | iif(EXISTS (SELECT 1 FROM session_labels AS l WHERE l.session_id = m.session_id), 4, 0),
    active_30s = active_30s - iif(m.seq IS NULL, 17179869184, 0)
FROM temp.seslite_memory AS m
WHERE m.session_id = sessions.id;
DROP TABLE temp.seslite_memory;

-- From here on to the temporary tables' end: the numbers of the forks that there are.
--
-- Each fork has the names of its parent. No session of that name, or one that is younger by its number and by
-- its time, means that the parent was deleted. (One of the two may deceive: an import numbers forks before
-- their parents, and clocks differ.)
CREATE TEMP TABLE seslite_links (
    session_id     INTEGER PRIMARY KEY, -- a fork
    app_id         INTEGER NOT NULL,
    parent_user    TEXT,
    parent_session TEXT NOT NULL,
    parent_id      INTEGER,             -- NULL: it was deleted
    drawn          INTEGER NOT NULL     -- a number for its family
);
INSERT INTO temp.seslite_links
SELECT s.id, s.app_id, d.parent_user, d.parent_session, p.id, max(random() & 9223372036854775807, 1)
FROM session_details AS d
JOIN sessions AS s ON s.id = d.session_id
LEFT JOIN users AS u ON u.app_id = s.app_id AND u.name = d.parent_user
LEFT JOIN sessions AS p ON p.user_id = u.id AND p.name = d.parent_session AND p.id <> s.id
                       AND (p.id < s.id OR p.created_us <= s.created_us)
WHERE d.parent_session IS NOT NULL;
CREATE INDEX temp.seslite_links_by_parent ON seslite_links (parent_id);

-- A family begins with a session that was not forked itself, or with the forks of a deleted one.
CREATE TEMP TABLE seslite_families (
    session_id INTEGER PRIMARY KEY,
    origin     INTEGER NOT NULL
);
CREATE TEMP VIEW seslite_members AS
WITH RECURSIVE members (session_id, origin) AS (
    SELECT parent_id, min(drawn) FROM temp.seslite_links
    WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT session_id FROM temp.seslite_links)
    GROUP BY parent_id
    UNION ALL
    SELECT session_id, min(drawn) OVER (PARTITION BY app_id, parent_user, parent_session)
    FROM temp.seslite_links
    WHERE parent_id IS NULL
    UNION ALL
    SELECT l.session_id, m.origin
    FROM members AS m
    JOIN temp.seslite_links AS l ON l.parent_id = m.session_id
)
SELECT session_id, origin FROM members;
INSERT INTO temp.seslite_families SELECT session_id, origin FROM temp.seslite_members;

-- The rest are forks of each other in a circle, as names that were used again may form. Numbers form none.
UPDATE temp.seslite_links SET parent_id = NULL
WHERE parent_id > session_id AND session_id NOT IN (SELECT session_id FROM temp.seslite_families);
INSERT OR IGNORE INTO temp.seslite_families SELECT session_id, origin FROM temp.seslite_members;

INSERT INTO session_details (session_id, origin)
SELECT session_id, origin FROM temp.seslite_families WHERE true
ON CONFLICT DO UPDATE SET origin = excluded.origin;

DROP VIEW temp.seslite_members;
DROP TABLE temp.seslite_families;
DROP TABLE temp.seslite_links;

-- A text beside the log of a session that is replaced in place: a message that grows, until the append that
-- stores it.
CREATE TABLE session_drafts (
    session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    updated_us INTEGER NOT NULL,         -- when it was set, by the store's clock
    body       TEXT NOT NULL
) STRICT;

-- Inputs that wait for their turn, each until the append that answers it. The number gives their order.
CREATE TABLE session_inbox (
    id         INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    app_id     INTEGER NOT NULL,         -- the session's
    request    TEXT NOT NULL,            -- an id, which whoever added it has chosen
    added_us   INTEGER NOT NULL,         -- when it was added, by the store's clock
    body       TEXT NOT NULL,
    UNIQUE (session_id, request)
) STRICT;
CREATE INDEX session_inbox_by_app ON session_inbox (app_id);

-- The trigger of schema version 2, and what is beside the log.
DROP TRIGGER guard_sessions_delete;
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

-- The tokens that models read and wrote: one row per session, model and day (UTC). Only whole numbers from 0
-- to 2^53 - 1 count. A sum above that is rounded.
DROP VIEW usage;
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

PRAGMA user_version = 3;

COMMIT;

DROP TABLE temp.seslite_guard;
