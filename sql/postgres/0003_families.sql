-- seslite on PostgreSQL, schema version 3: sessions that were forked from each other have a number in common.
--
-- To upgrade a store of version 2:        psql -1 -v ON_ERROR_STOP=1 -f 0003_families.sql postgresql://...
-- On any other it changes nothing and fails with a message. The library runs this same text, in one
-- transaction. Run it as the role that owns the store.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL standard_conforming_strings = on;

-- A program of an older version that has the store open would make forks without the number. It looks here
-- before it writes, and this waits for those that are writing.
LOCK TABLE seslite.features IN ACCESS EXCLUSIVE MODE;

CREATE TABLE seslite.upgrade_guard (
    ok boolean CONSTRAINT "seslite 0003: not a store of version 2; nothing was changed" CHECK (ok)
);
INSERT INTO seslite.upgrade_guard
SELECT (SELECT max(version) FROM seslite.schema_version) = 2
   AND NOT EXISTS (SELECT 1 FROM seslite.features WHERE needs <> 1 AND name <> 'search');
DROP TABLE seslite.upgrade_guard;

INSERT INTO seslite.features VALUES ('families', 3);

-- A tally of used tokens that the store keeps is made anew as a table of sums, when they are next added up.
DROP TABLE IF EXISTS seslite.usage_counts;
DELETE FROM seslite.derived WHERE what = 'usage';
UPDATE seslite.features SET name = 'usage2' WHERE name = 'usage';

-- A positive random number. A session and its forks have the same, and so do forks of those. NULL: it has no
-- forks, and is none. It stays when a session of the family is deleted or gets another name.
ALTER TABLE seslite.session_details ADD COLUMN origin bigint;
CREATE INDEX session_details_by_origin ON seslite.session_details (origin) WHERE origin IS NOT NULL;

-- When the session was archived, by the clock of the store, after 1970. NULL: it is not. (The bit 8 of
-- sessions.details says that it is.)
ALTER TABLE seslite.session_details ADD COLUMN archived_us bigint;

-- The session that the session is a child of, such as that of a sub-agent: the names of its user and its own,
-- in the same app, also after it was deleted. NULL: it is no child. (The bit 16 of sessions.details says that
-- it is one, and the bit 32 that the session is memory. With any of the bits 8, 16 and 32,
-- sessions.active_30s is 2^34 less.)
ALTER TABLE seslite.session_details ADD COLUMN child_user text COLLATE "C";
ALTER TABLE seslite.session_details ADD COLUMN child_session text COLLATE "C";
CREATE INDEX session_details_by_child_of ON seslite.session_details (child_session, child_user)
    WHERE child_session IS NOT NULL;

-- A text beside the log of a session that is replaced in place: a message that grows, until the append that
-- stores it.
CREATE TABLE seslite.session_drafts (
    shard      int NOT NULL,
    session_id bigint NOT NULL,
    updated_us bigint NOT NULL,          -- when it was set, by the store's clock
    body       text COLLATE "C" NOT NULL,
    PRIMARY KEY (shard, session_id)
);

-- Inputs that wait for their turn, each until the append that answers it. The number gives their order.
CREATE TABLE seslite.session_inbox (
    shard      int NOT NULL,
    id         bigint NOT NULL,
    session_id bigint NOT NULL,
    app_id     bigint NOT NULL,          -- the session's
    request    text COLLATE "C" NOT NULL, -- an id, which whoever added it has chosen
    added_us   bigint NOT NULL,          -- when it was added, by the store's clock
    body       text COLLATE "C" NOT NULL,
    PRIMARY KEY (shard, id),
    UNIQUE (shard, session_id, request)
);
CREATE INDEX session_inbox_by_id ON seslite.session_inbox (id);
CREATE INDEX session_inbox_by_app ON seslite.session_inbox (app_id, id);

-- The number of the last event of the session that is remembered. NULL: none is. (The bit 64 of
-- sessions.details says that there is one.)
ALTER TABLE seslite.session_details ADD COLUMN remembered_seq bigint;

-- Programs on version 0.2.0 kept memory in labels. `memory` had this number, or `all`. Sessions with copies
-- for memory alone had names that begin with `memory:`, and `all`, or the label `memory-project`. These
-- become sessions of the kind memory: bit 32 of sessions.details, and sessions.active_30s is 2^34 less.
CREATE TABLE seslite.upgrade_memory (
    session_id bigint PRIMARY KEY,
    seq        bigint -- NULL: it has copies
);
INSERT INTO seslite.upgrade_memory
SELECT s.id, NULL
FROM seslite.session_labels AS l
JOIN seslite.sessions AS s ON s.shard = l.shard AND s.id = l.session_id
WHERE (l.name = 'memory' AND l.value = 'all' AND starts_with(s.name, 'memory:'))
   OR (l.name = 'memory-project' AND starts_with(s.name, 'memory-project:'))
ON CONFLICT DO NOTHING;
INSERT INTO seslite.upgrade_memory
SELECT s.id, CASE WHEN l.value = 'all' THEN 4294967295 ELSE least(l.value::bigint, 4294967295) END
FROM seslite.session_labels AS l
JOIN seslite.sessions AS s ON s.shard = l.shard AND s.id = l.session_id
WHERE l.name = 'memory' AND (l.value = 'all' OR (l.value ~ '^[0-9]{1,18}$' AND l.value ~ '[1-9]'))
ON CONFLICT DO NOTHING;
INSERT INTO seslite.session_details (shard, session_id, remembered_seq)
SELECT session_id & 4095, session_id, seq FROM seslite.upgrade_memory WHERE seq IS NOT NULL
ON CONFLICT (shard, session_id) DO UPDATE SET remembered_seq = excluded.remembered_seq;
DELETE FROM seslite.session_labels AS l USING seslite.upgrade_memory AS m
WHERE l.shard = m.session_id & 4095 AND l.session_id = m.session_id AND l.name = 'memory';
UPDATE seslite.sessions AS s
SET details = s.details & ~4 | CASE WHEN m.seq IS NULL THEN 32 ELSE 64 END
            | CASE WHEN EXISTS (SELECT 1 FROM seslite.session_labels AS l
                                WHERE l.shard = m.session_id & 4095 AND l.session_id = m.session_id)
                   THEN 4 ELSE 0 END,
    active_30s = s.active_30s - CASE WHEN m.seq IS NULL THEN 17179869184 ELSE 0 END
FROM seslite.upgrade_memory AS m
WHERE s.shard = m.session_id & 4095 AND s.id = m.session_id;
DROP TABLE seslite.upgrade_memory;

-- From here on to the drop of these tables: the numbers of the forks that there are.
--
-- Each fork has the names of its parent. No session of that name, or one that is younger by its number and by
-- its time, means that the parent was deleted. (One of the two may deceive: an import numbers forks before
-- their parents, and clocks differ.)
-- Without statistics the server would join whole tables again for each step.
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_seqscan = off;
CREATE TABLE seslite.upgrade_links (
    session_id     bigint PRIMARY KEY,     -- a fork
    app_id         bigint NOT NULL,
    parent_user    text COLLATE "C",
    parent_session text COLLATE "C" NOT NULL,
    parent_id      bigint,                 -- NULL: it was deleted
    drawn          bigint NOT NULL         -- a number for its family
);
INSERT INTO seslite.upgrade_links
SELECT s.id, s.app_id, d.parent_user, d.parent_session,
       (SELECT p.id FROM seslite.sessions AS p
        WHERE p.shard = u.shard AND p.user_id = u.id AND p.name = d.parent_session AND p.id <> s.id
          AND (p.id < s.id OR p.created_us <= s.created_us)),
       floor(random() * 2147483648)::bigint << 32 | floor(random() * 4294967295)::bigint + 1
FROM seslite.session_details AS d
JOIN seslite.sessions AS s ON s.shard = d.shard AND s.id = d.session_id
LEFT JOIN seslite.users AS u ON u.app_id = s.app_id AND u.name = d.parent_user
WHERE d.parent_session IS NOT NULL;
CREATE INDEX upgrade_links_by_parent ON seslite.upgrade_links (parent_id);

-- A family begins with a session that was not forked itself, or with the forks of a deleted one.
CREATE TABLE seslite.upgrade_families (
    session_id bigint PRIMARY KEY,
    origin     bigint NOT NULL
);
CREATE VIEW seslite.upgrade_members AS
WITH RECURSIVE members (session_id, origin) AS (
    (SELECT parent_id, min(drawn) FROM seslite.upgrade_links
     WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT session_id FROM seslite.upgrade_links)
     GROUP BY parent_id
     UNION ALL
     SELECT session_id, min(drawn) OVER (PARTITION BY app_id, parent_user, parent_session)
     FROM seslite.upgrade_links
     WHERE parent_id IS NULL)
    UNION ALL
    SELECT l.session_id, m.origin
    FROM members AS m
    JOIN seslite.upgrade_links AS l ON l.parent_id = m.session_id
)
SELECT session_id, origin FROM members;
INSERT INTO seslite.upgrade_families SELECT session_id, origin FROM seslite.upgrade_members;

-- The rest are forks of each other in a circle, as names that were used again may form. Numbers form none.
UPDATE seslite.upgrade_links SET parent_id = NULL
WHERE parent_id > session_id AND session_id NOT IN (SELECT session_id FROM seslite.upgrade_families);
INSERT INTO seslite.upgrade_families SELECT session_id, origin FROM seslite.upgrade_members ON CONFLICT DO NOTHING;

INSERT INTO seslite.session_details (shard, session_id, origin)
SELECT session_id & 4095, session_id, origin FROM seslite.upgrade_families
ON CONFLICT (shard, session_id) DO UPDATE SET origin = excluded.origin;

DROP VIEW seslite.upgrade_members;
DROP TABLE seslite.upgrade_families;
DROP TABLE seslite.upgrade_links;
SET LOCAL enable_hashjoin = DEFAULT;
SET LOCAL enable_mergejoin = DEFAULT;
SET LOCAL enable_seqscan = DEFAULT;

UPDATE seslite.schema_version SET version = 3;
