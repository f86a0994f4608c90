-- seslite on MySQL and MariaDB, schema version 3: sessions that were forked from each other have a number in
-- common.
--
-- To upgrade a store of version 2:        mariadb --database=NAME < 0003_families.sql
-- The library runs this same text. A server commits after each statement here, so each can be run again, and
-- a script that was cut off is run again from its beginning. The last statement says that the store has this
-- version.

-- A program of an older version that has the store open would make forks without the number. It looks here
-- before it writes, and this waits for those that are writing.
LOCK TABLES seslite_features WRITE;
INSERT IGNORE INTO seslite_features (name, needs) VALUES ('families', 3);
UNLOCK TABLES;

-- The sums of the tokens of model calls, if the store keeps a tally: those of a session, of one model,
-- in a quarter of an hour from 1970 on, or (quarter -9223372036854775808) all of them as far as they
-- were counted. A tally that the store keeps is made anew when tokens are next added up.
CREATE TABLE IF NOT EXISTS seslite_usage_sums (
    session_id BIGINT NOT NULL,
    quarter    BIGINT NOT NULL,
    model      VARBINARY(512) NOT NULL,
    what       VARBINARY(128) NOT NULL,
    first_seq  BIGINT NOT NULL,
    last_seq   BIGINT NOT NULL,
    calls      BIGINT NOT NULL,
    odd        BIGINT NOT NULL,
    first_us   BIGINT NOT NULL,
    last_us    BIGINT NOT NULL,
    prompt     BIGINT NOT NULL,
    cached     BIGINT NOT NULL,
    candidates BIGINT NOT NULL,
    thoughts   BIGINT NOT NULL,
    tool_use   BIGINT NOT NULL,
    total      BIGINT NOT NULL,
    PRIMARY KEY (session_id, quarter, model),
    FOREIGN KEY (session_id, what) REFERENCES seslite_derived (session_id, what) ON DELETE CASCADE
) ENGINE = InnoDB;
DROP TABLE IF EXISTS seslite_usage_counts;
DELETE FROM seslite_derived WHERE what = 'usage';
UPDATE IGNORE seslite_features SET name = 'usage2' WHERE name = 'usage';

-- A positive random number. A session and its forks have the same, and so do forks of those. NULL: it has no
-- forks, and is none. It stays when a session of the family is deleted or gets another name.
--
-- When the session was archived, by the clock of the store, after 1970. NULL: it is not. (The bit 8 of
-- sessions.details says that it is.)
--
-- The session that the session is a child of, such as that of a sub-agent: the names of its user and its own,
-- in the same app, also after it was deleted. NULL: it is no child. (The bit 16 of sessions.details says that
-- it is one, and the bit 32 that the session is memory. With any of the bits 8, 16 and 32,
-- sessions.active_30s is 2^34 less.)
--
-- The number of the last event of the session that is remembered. NULL: none is. (The bit 64 of
-- sessions.details says that there is one.)
--
-- (MariaDB adds a column only if it is not there. MySQL cannot, so there the statement depends on what is
-- there.)
/*M! ALTER TABLE seslite_session_details ADD COLUMN IF NOT EXISTS origin BIGINT,
    ADD COLUMN IF NOT EXISTS archived_us BIGINT,
    ADD COLUMN IF NOT EXISTS child_user VARBINARY(512),
    ADD COLUMN IF NOT EXISTS child_session VARBINARY(512),
    ADD COLUMN IF NOT EXISTS remembered_seq BIGINT,
    ADD KEY IF NOT EXISTS by_origin (origin),
    ADD KEY IF NOT EXISTS by_child_of (child_session, child_user) */
/*!80003 SET @seslite_step =
    (SELECT CASE count(*) WHEN 0 THEN 'ALTER TABLE seslite_session_details ADD COLUMN origin BIGINT, '
                                      'ADD COLUMN archived_us BIGINT, '
                                      'ADD COLUMN child_user VARBINARY(512), '
                                      'ADD COLUMN child_session VARBINARY(512), '
                                      'ADD COLUMN remembered_seq BIGINT, '
                                      'ADD KEY by_origin (origin), '
                                      'ADD KEY by_child_of (child_session, child_user)' ELSE 'DO 0' END
     FROM information_schema.columns
     WHERE table_schema = database() AND table_name = 'seslite_session_details' AND column_name = 'origin') */;
/*M! DO 0 */ /*!80003 PREPARE seslite_step FROM @seslite_step */;
/*M! DO 0 */ /*!80003 EXECUTE seslite_step */;
/*M! DO 0 */ /*!80003 DEALLOCATE PREPARE seslite_step */;

-- A text beside the log of a session that is replaced in place: a message that grows, until the append that
-- stores it.
CREATE TABLE IF NOT EXISTS seslite_session_drafts (
    session_id BIGINT NOT NULL PRIMARY KEY,
    updated_us BIGINT NOT NULL,               -- when it was set, by the store's clock
    body       LONGBLOB NOT NULL
) ENGINE = InnoDB;

-- Inputs that wait for their turn, each until the append that answers it. The number gives their order.
CREATE TABLE IF NOT EXISTS seslite_session_inbox (
    id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id BIGINT NOT NULL,
    app_id     BIGINT NOT NULL,               -- the session's
    request    VARBINARY(512) NOT NULL,       -- an id, which whoever added it has chosen
    added_us   BIGINT NOT NULL,               -- when it was added, by the store's clock
    body       LONGBLOB NOT NULL,
    UNIQUE KEY session_id (session_id, request),
    KEY by_app (app_id)
) ENGINE = InnoDB;

-- Programs on version 0.2.0 kept memory in labels. `memory` had this number, or `all`. Sessions with copies
-- for memory alone had names that begin with `memory:`, and `all`, or the label `memory-project`. These
-- become sessions of the kind memory: bit 32 of sessions.details, and sessions.active_30s is 2^34 less.
UPDATE seslite_session_labels AS l
JOIN seslite_sessions AS s ON s.id = l.session_id AND (s.details & 32) = 0
SET s.details = s.details | 32, s.active_30s = s.active_30s - 17179869184
WHERE (l.name = 'memory' AND l.value = 'all' AND left(s.name, 7) = 'memory:')
   OR (l.name = 'memory-project' AND left(s.name, 15) = 'memory-project:');
INSERT INTO seslite_session_details (session_id, remembered_seq)
SELECT s.id, CASE WHEN l.value = 'all' THEN 4294967295
                  ELSE least(cast(convert(l.value USING latin1) AS UNSIGNED), 4294967295) END
FROM seslite_session_labels AS l
JOIN seslite_sessions AS s ON s.id = l.session_id AND (s.details & 32) = 0
WHERE l.name = 'memory'
  AND (l.value = 'all' OR convert(l.value USING latin1) REGEXP '^0*[1-9][0-9]*$' AND length(l.value) <= 18)
ON DUPLICATE KEY UPDATE remembered_seq = values(remembered_seq);
UPDATE seslite_session_details AS d
JOIN seslite_sessions AS s ON s.id = d.session_id
SET s.details = s.details | 64
WHERE d.remembered_seq IS NOT NULL;
DELETE l FROM seslite_session_labels AS l
JOIN seslite_sessions AS s ON s.id = l.session_id AND (s.details & 96) <> 0
WHERE l.name = 'memory'
  AND (l.value = 'all' OR convert(l.value USING latin1) REGEXP '^0*[1-9][0-9]*$' AND length(l.value) <= 18);
UPDATE seslite_sessions AS s SET s.details = s.details & ~4
WHERE (s.details & 96) <> 0 AND (s.details & 4) <> 0
  AND NOT EXISTS (SELECT 1 FROM seslite_session_labels AS l WHERE l.session_id = s.id);

-- From here on to the drop of these tables: the numbers of the forks that there are.
--
-- Each fork has the names of its parent. No session of that name, or one that is younger by its number and by
-- its time, means that the parent was deleted. (One of the two may deceive: an import numbers forks before
-- their parents, and clocks differ.)
DROP TABLE IF EXISTS seslite_upgrade_links, seslite_upgrade_families;
CREATE TABLE seslite_upgrade_links (
    session_id     BIGINT NOT NULL PRIMARY KEY, -- a fork
    app_id         BIGINT NOT NULL,
    parent_user    VARBINARY(512),
    parent_session VARBINARY(512) NOT NULL,
    parent_id      BIGINT,                      -- NULL: it was deleted
    drawn          BIGINT NOT NULL,             -- a number for its family
    KEY by_parent (parent_id)
) ENGINE = InnoDB;
INSERT INTO seslite_upgrade_links
SELECT s.id, s.app_id, d.parent_user, d.parent_session, p.id,
       floor(rand() * 2147483648) << 32 | floor(rand() * 4294967295) + 1
FROM seslite_session_details AS d
JOIN seslite_sessions AS s ON s.id = d.session_id
LEFT JOIN seslite_users AS u ON u.app_id = s.app_id AND u.name = d.parent_user
LEFT JOIN seslite_sessions AS p ON p.user_id = u.id AND p.name = d.parent_session AND p.id <> s.id
                               AND (p.id < s.id OR p.created_us <= s.created_us)
WHERE d.parent_session IS NOT NULL;

-- A family begins with a session that was not forked itself, or with the forks of a deleted one. (Forks of
-- forks may be deeper than the servers allow by default; each has its own name for that.)
CREATE TABLE seslite_upgrade_families (
    session_id BIGINT NOT NULL PRIMARY KEY,
    origin     BIGINT NOT NULL
) ENGINE = InnoDB;
CREATE OR REPLACE VIEW seslite_upgrade_members AS
WITH RECURSIVE members (session_id, origin) AS (
    SELECT parent_id, min(drawn) FROM seslite_upgrade_links
    WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT session_id FROM seslite_upgrade_links)
    GROUP BY parent_id
    UNION ALL
    SELECT session_id, min(drawn) OVER (PARTITION BY app_id, parent_user, parent_session)
    FROM seslite_upgrade_links
    WHERE parent_id IS NULL
    UNION ALL
    SELECT l.session_id, m.origin
    FROM members AS m
    STRAIGHT_JOIN seslite_upgrade_links AS l FORCE INDEX (by_parent) ON l.parent_id = m.session_id
)
SELECT session_id, origin FROM members;
SET /*!80003 cte_max_recursion_depth = 4294967295 */ /*M! max_recursive_iterations = 4294967295 */;
INSERT INTO seslite_upgrade_families SELECT session_id, origin FROM seslite_upgrade_members;

-- The rest are forks of each other in a circle, as names that were used again may form. Numbers form none.
UPDATE seslite_upgrade_links SET parent_id = NULL
WHERE parent_id > session_id AND session_id NOT IN (SELECT session_id FROM seslite_upgrade_families);
INSERT IGNORE INTO seslite_upgrade_families SELECT session_id, origin FROM seslite_upgrade_members;

INSERT INTO seslite_session_details (session_id, origin)
SELECT session_id, origin FROM seslite_upgrade_families
ON DUPLICATE KEY UPDATE origin = values(origin);

DROP VIEW seslite_upgrade_members;
DROP TABLE seslite_upgrade_families;
DROP TABLE seslite_upgrade_links;

UPDATE seslite_schema_version SET version = 3 WHERE version = 2;
