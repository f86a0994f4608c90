-- The statements of SQLite that are not in sql/statements.sql, whose head describes how these books are
-- written. Parameters are ?1 and so on.
--
-- A statement is always given the number of its owner.
-- macro: THE_SESSION(id) = id
-- macro: THE_USER(id) = id
-- macro: THE_APP(id) = id
-- macro: THE_CONTENT(id) = id
--
-- The conditions of a list's filter for a session: the label ?5 with a value from ?6 to ?7, and a name from
-- ?13 to before ?14. Nothing is asked if ?5 or ?13 is NULL. (details & 4: the session has labels.)
-- macro: HAS_LABEL(row) = (?5 IS NULL OR (row.details & 4 AND EXISTS (
--     SELECT 1 FROM session_labels AS l WHERE l.session_id = row.id AND l.name = ?5
--     AND l.value BETWEEN ?6 AND ?7)))
-- macro: HAS_NAME(row) = (?13 IS NULL OR (row.name >= ?13 AND row.name < ?14))
-- And, unless `since` is NULL, the times of the last write, no label of a name (unless that is NULL), and
-- a shelf that is not in a set of shelves, each of which is a bit of it (see list_filter), and the session of
-- which it is a child (unless that is NULL):
-- macro: PASSES(row, since, before, without, shelves, of_user, of_session) = (since IS NULL OR (
--     row.changed_us >= since AND row.changed_us < before
--     AND (shelves >> (row.details >> 3 & 15) & 1) = 0
--     AND (of_session IS NULL OR EXISTS (
--     SELECT 1 FROM session_details AS k WHERE k.session_id = row.id
--     AND k.child_session = of_session AND k.child_user = of_user))
--     AND (without IS NULL OR (row.details & 4) = 0 OR NOT EXISTS (
--     SELECT 1 FROM session_labels AS l WHERE l.session_id = row.id AND l.name = without))))
--
-- Sessions, how far their use of tokens has come, and (if `named` is not 0) the names of their owners:
-- macro: FROM_INBOX() = FROM session_inbox AS i LEFT JOIN sessions AS s ON s.id = i.session_id
--     LEFT JOIN users AS u ON u.id = s.user_id LEFT JOIN apps AS a ON a.id = s.app_id
-- macro: FROM_RECENT(app, first) = FROM apps AS a CROSS JOIN (
--     SELECT first AS low, 8589934592 AS high UNION ALL SELECT first - 17179869184, -8589934592) AS r
--     CROSS JOIN sessions AS s INDEXED BY sessions_by_activity
--     ON s.app_id = a.id AND s.active_30s BETWEEN r.low AND r.high
--     WHERE a.id BETWEEN coalesce(app, 0) AND coalesce(app, 9223372036854775807)
-- macro: TOTAL(numbers) = sum(numbers)
-- macro: IS_FREE(row) = (?5 IS NULL OR NOT EXISTS (SELECT 1 FROM session_leases AS l
--     WHERE l.session_id = row.session_id AND l.owner <> ?5 AND l.until_us > ?6
--     AND l.taken_us <= ?6 + 1000000))
-- macro: USAGE_COLUMNS(row) = row.id, row.app_id, row.user_id, row.version, row.last_seq,
--     row.base_seq, d.seq,
--     d.epoch, row.name, u.name, a.name
-- macro: USAGE_JOINS(named) = LEFT JOIN derived AS d ON d.session_id = s.id AND d.what = 'usage2'
--     LEFT JOIN users AS u ON u.id = s.user_id AND named LEFT JOIN apps AS a ON a.id = s.app_id AND named
-- macro: USAGE_FILTER(row) = row.id > ?8 AND row.event_count > 0 AND row.updated_us >= ?3
--     AND row.updated_us < ?4
--     AND (?10 IS NULL OR (row.name >= ?10 AND row.name < ?11)) AND HAS_LABEL(row)
--     AND PASSES(row, ?12, ?13, ?14, ?15, ?16, ?17)
--
-- The sums of calls in a row:
-- macro: OLD(column) = column
-- macro: ADDED(column) = column + min(excluded.column, 9223372036854775807 - max(column, 0))
-- macro: USAGE_SUMS(row) = row.session_id, row.quarter, row.model, row.first_seq, row.last_seq, row.calls,
--     row.odd, row.first_us, row.last_us, row.prompt, row.cached, row.candidates, row.thoughts, row.tool_use,
--     row.total

-- name: begin_write
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN;

-- The features that this library does not know. It knows an index of words by any number.

-- name: features_unknown
SELECT name, needs FROM features
WHERE name >= '' AND name <> 'families' AND NOT (name GLOB 'search*'
                                                 AND trim(substr(name, 7), '0123456789') = '');

-- name: app_add
INSERT INTO apps (name) VALUES (?1) ON CONFLICT DO NOTHING;

-- A damaged index can lead to a wrong row. So a row found by an index is checked in the table too: a last
-- column says whether it is the requested row, or a row of NULLs is returned if it is not. (The plus keeps a
-- condition out of the search.)

-- name: app_find
SELECT a.id, b.name IS ?1 FROM apps AS a LEFT JOIN apps AS b ON b.id = a.id WHERE a.name = ?1;

-- name: user_add
INSERT INTO users (app_id, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: user_find
SELECT u.id, u.app_id, b.name IS ?1 AND v.app_id IS a.id AND v.name IS ?2
FROM apps AS a
LEFT JOIN apps AS b ON b.id = a.id
JOIN users AS u ON u.app_id = a.id AND u.name = ?2
LEFT JOIN users AS v ON v.id = u.id
WHERE a.name = ?1;

-- Names in order, from ?2 on except ?3.

-- name: apps_named
SELECT id, name FROM apps WHERE name >= ?2 AND name IS NOT ?3 ORDER BY name LIMIT ?4;

-- name: users_named
SELECT id, name FROM users WHERE app_id = ?1 AND name >= ?2 AND name IS NOT ?3 ORDER BY name LIMIT ?4;

-- Row 1 is the only row; any other row is damage. The last parameter is the user, for engines with a floor
-- per group of users.

-- name: version_floor
SELECT iif(id = 1 AND typeof(floor) = 'integer', floor, -1) FROM version_floor WHERE id >= 1 AND ?1 > 0;

-- name: version_floor_raise
UPDATE version_floor SET floor = ?1 WHERE id = 1 AND ?2 > 0;

-- Parents, titles and labels of many sessions, in the given order.

-- name: details_of_owners
SELECT d.session_id, d.parent_user, d.parent_session, d.parent_seq, d.title, d.archived_us,
       d.child_user, d.child_session, d.remembered_seq
FROM temp.seslite_owners(?1) AS o CROSS JOIN session_details AS d ON d.session_id = o.id
ORDER BY o.rowid;

-- name: labels_of_owners
SELECT l.session_id, l.name, l.value, l.app_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN session_labels AS l ON l.session_id = o.id
ORDER BY o.rowid;

-- The same for one session, with the row of its details first, which has no label, and the labels by their
-- names.

-- name: details_of_session
SELECT session_id, parent_user, parent_session, parent_seq, title,
       NULL AS name, NULL AS value, NULL AS app_id, archived_us, child_user, child_session, remembered_seq
FROM session_details WHERE session_id = ?1
UNION ALL
SELECT session_id, NULL, NULL, NULL, NULL, name, value, app_id, NULL, NULL, NULL, NULL
FROM session_labels WHERE session_id = ?1;

-- name: session_find
SELECT SESSION_COLUMNS(s)
FROM apps AS a
JOIN users AS u ON u.app_id = a.id AND u.name = ?2
JOIN sessions AS i ON i.user_id = u.id AND i.name = ?3
LEFT JOIN sessions AS s ON s.id = i.id AND +s.user_id = u.id AND +s.app_id = a.id
WHERE a.name = ?1;

-- Includes the names, for a deletion: reading them would make a get 3% slower.

-- name: session_is
SELECT s.name IS ?4 AND u.name IS ?3 AND u.app_id IS s.app_id AND a.name IS ?2
FROM sessions AS s LEFT JOIN users AS u ON u.id = s.user_id LEFT JOIN apps AS a ON a.id = s.app_id
WHERE s.id = ?1;

-- name: session_by_id
SELECT id, app_id, user_id, version, last_seq, event_count, created_us, updated_us, expires_us,
    base_seq, details
FROM sessions WHERE id = ?1;

-- name: session_delete
DELETE FROM sessions WHERE id = ?1;

-- For followers.

-- name: sessions_by_name
SELECT id, app_id, user_id, version, last_seq, event_count, created_us, updated_us, expires_us,
       base_seq, details, name
FROM sessions WHERE user_id = ?1 AND name > ?2 ORDER BY name;

-- A sum of parts of 32 bits cannot overflow.

-- name: user_versions
SELECT max(s.id), count(s.id), sum(s.version & 4294967295)
FROM apps AS a CROSS JOIN users AS u ON u.app_id = a.id AND u.name = ?2
    CROSS JOIN sessions AS s ON s.user_id = u.id
WHERE a.name = ?1;

-- This number changes when another connection commits.

-- name: data_version
PRAGMA data_version;

-- A few at a time, for ses_store_expire and ses_delete_app.

-- name: sessions_of_app
SELECT id FROM sessions INDEXED BY sessions_by_app WHERE app_id = ?1 LIMIT ?2;

-- name: sessions_expired
SELECT id FROM sessions INDEXED BY sessions_by_expiry WHERE app_id = ?1 AND expires_us <= ?3
    ORDER BY expires_us LIMIT ?2;

-- The update time of a session is at most an hour after its last write; otherwise it is in the other index.

-- name: sessions_idle
SELECT id FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = ?1 AND active_30s BETWEEN ?5 AND ?4 AND changed_us < ?3 AND ahead_hour IS NULL
  AND details & 32 = ?6
ORDER BY active_30s LIMIT ?2;

-- name: sessions_idle_ahead
SELECT id FROM sessions INDEXED BY sessions_ahead
WHERE app_id = ?1 AND ahead_hour <= ?4 AND changed_us < ?3 AND details & 32 = ?5
ORDER BY ahead_hour LIMIT ?2;

-- The oldest of a user's sessions, as many as there are beyond ?3, all without memory (details & 32).

-- name: list_user_beyond
SELECT id FROM sessions INDEXED BY sessions_by_user_activity
WHERE user_id = ?1 AND details & 32 = 0 ORDER BY active_30s, updated_us, name DESC
LIMIT min(?2, max(0, (SELECT count(*) FROM sessions WHERE user_id = ?1 AND details & 32 = 0) - ?3));

-- Lists them by their last writes instead.

-- name: list_user_unwritten
SELECT id FROM sessions INDEXED BY sessions_by_user
WHERE user_id = ?1 AND details & 32 = 0 ORDER BY changed_us, name DESC
LIMIT min(?2, max(0, (SELECT count(*) FROM sessions WHERE user_id = ?1 AND details & 32 = 0) - ?3));

-- Lists, of at most ?2 sessions. Their update time is from ?3 to before ?4, and they have the label ?5 (if it
-- is not NULL) with a value from ?6 to ?7. (details & 4: the session has labels.) The list begins after a
-- position: a time ?8, then for ties a session name and a user id, or, in order of creation, a session number
-- ?8. A list by time goes through the 30 seconds from ?11 to ?12: they come in order from the index, and the
-- sessions of each are sorted. Names of a user's sessions are from ?13 to before ?14, unless these are NULL.
-- Unless ?15 is NULL, the last write was from ?15 to before ?16, there is no label ?17 (or that is NULL), and
-- the shelf is not among ?18.
-- (The sessions of the page come in the subquery's order, since it has a LIMIT and is the outer loop. To join
-- users before the sort would take twice the time. A list by time joins the index to its own table, so that a
-- label is looked up before the row is read. In order of creation the rows are read first, since they follow
-- one another and may be of other times. If the next session is, such a list begins at the first one that was
-- active between ?11 and ?12, or ?21 and ?22, for hidden ones. A NULL ends that search at once. The last
-- writes have no index, which every append would write: that list looks at all sessions of its owner.)

-- name: list_app_newest
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS i INDEXED BY sessions_by_activity CROSS JOIN sessions AS c ON c.id = i.id
      WHERE i.app_id = ?1 AND i.active_30s BETWEEN ?11 AND ?12 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND (c.updated_us < ?8 OR (c.updated_us = ?8 AND (c.name, c.user_id) > (?9, ?10)))
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND (?5 IS NULL OR c.details & 4)
        AND (?5 IS NULL OR EXISTS (
             SELECT 1 FROM session_labels AS l
             WHERE l.session_id = i.id AND l.name = ?5 AND l.value BETWEEN ?6 AND ?7))
      ORDER BY i.active_30s DESC, c.updated_us DESC, c.name, c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_app_oldest
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS i INDEXED BY sessions_by_activity CROSS JOIN sessions AS c ON c.id = i.id
      WHERE i.app_id = ?1 AND i.active_30s BETWEEN ?11 AND ?12 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND (c.updated_us > ?8 OR (c.updated_us = ?8 AND (c.name, c.user_id) > (?9, ?10)))
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND (?5 IS NULL OR c.details & 4)
        AND (?5 IS NULL OR EXISTS (
             SELECT 1 FROM session_labels AS l
             WHERE l.session_id = i.id AND l.name = ?5 AND l.value BETWEEN ?6 AND ?7))
      ORDER BY i.active_30s, c.updated_us, c.name, c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_app_created
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS c INDEXED BY sessions_by_app
      WHERE c.app_id = ?1 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND c.id > max(?8, coalesce((SELECT min(b.id) FROM (
            SELECT min(i.id) AS id FROM sessions AS i INDEXED BY sessions_by_activity
            WHERE i.app_id = ?1 AND i.active_30s <= ?12 AND i.active_30s >=
                  iif((SELECT n.updated_us >= ?3 AND n.updated_us < ?4
                       FROM sessions AS n INDEXED BY sessions_by_app
                       WHERE n.app_id = ?1 AND n.id > ?8 ORDER BY n.id LIMIT 1), NULL, ?11)
            UNION ALL
            SELECT min(i.id) AS id FROM sessions AS i INDEXED BY sessions_by_activity
            WHERE i.app_id = ?1 AND i.active_30s <= ?22 AND i.active_30s >=
                  iif((SELECT n.updated_us >= ?3 AND n.updated_us < ?4
                       FROM sessions AS n INDEXED BY sessions_by_app
                       WHERE n.app_id = ?1 AND n.id > ?8 ORDER BY n.id LIMIT 1), NULL, ?21)) AS b) - 1, 0))
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND HAS_LABEL(c)
      ORDER BY c.id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_app_changed
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS c INDEXED BY sessions_by_app
      WHERE c.app_id = ?1 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND (c.changed_us < ?8 OR (c.changed_us = ?8 AND (c.name, c.user_id) > (?9, ?10)))
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND HAS_LABEL(c)
      ORDER BY c.changed_us DESC, c.name, c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_user_newest
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS i INDEXED BY sessions_by_user_activity
      CROSS JOIN sessions AS c ON c.id = i.id
      WHERE i.user_id = ?1 AND i.active_30s BETWEEN ?11 AND ?12 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND (c.updated_us < ?8 OR (c.updated_us = ?8 AND (c.name, c.user_id) > (?9, ?10)))
        AND HAS_NAME(c)
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND (?5 IS NULL OR c.details & 4)
        AND (?5 IS NULL OR EXISTS (
             SELECT 1 FROM session_labels AS l
             WHERE l.session_id = i.id AND l.name = ?5 AND l.value BETWEEN ?6 AND ?7))
      ORDER BY i.active_30s DESC, c.updated_us DESC, c.name, c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_user_oldest
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS i INDEXED BY sessions_by_user_activity
      CROSS JOIN sessions AS c ON c.id = i.id
      WHERE i.user_id = ?1 AND i.active_30s BETWEEN ?11 AND ?12 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND (c.updated_us > ?8 OR (c.updated_us = ?8 AND (c.name, c.user_id) > (?9, ?10)))
        AND HAS_NAME(c)
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND (?5 IS NULL OR c.details & 4)
        AND (?5 IS NULL OR EXISTS (
             SELECT 1 FROM session_labels AS l
             WHERE l.session_id = i.id AND l.name = ?5 AND l.value BETWEEN ?6 AND ?7))
      ORDER BY i.active_30s, c.updated_us, c.name, c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_user_created
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS c INDEXED BY sessions_by_user
      WHERE c.user_id = ?1 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND c.id > max(?8, coalesce((SELECT min(b.id) FROM (
            SELECT min(i.id) AS id FROM sessions AS i INDEXED BY sessions_by_user_activity
            WHERE i.user_id = ?1 AND i.active_30s <= ?12 AND i.active_30s >=
                  iif((SELECT n.updated_us >= ?3 AND n.updated_us < ?4
                       FROM sessions AS n INDEXED BY sessions_by_user
                       WHERE n.user_id = ?1 AND n.id > ?8 ORDER BY n.id LIMIT 1), NULL, ?11)
            UNION ALL
            SELECT min(i.id) AS id FROM sessions AS i INDEXED BY sessions_by_user_activity
            WHERE i.user_id = ?1 AND i.active_30s <= ?22 AND i.active_30s >=
                  iif((SELECT n.updated_us >= ?3 AND n.updated_us < ?4
                       FROM sessions AS n INDEXED BY sessions_by_user
                       WHERE n.user_id = ?1 AND n.id > ?8 ORDER BY n.id LIMIT 1), NULL, ?21)) AS b) - 1, 0))
        AND HAS_NAME(c)
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND HAS_LABEL(c)
      ORDER BY c.id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- name: list_user_changed
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM sessions AS c INDEXED BY sessions_by_user
      WHERE c.user_id = ?1 AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND (c.changed_us < ?8 OR (c.changed_us = ?8 AND (c.name, c.user_id) > (?9, ?10)))
        AND HAS_NAME(c)
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND HAS_LABEL(c)
      ORDER BY c.changed_us DESC, c.name, c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- The same lists among sessions that an index found: ?21 is -1 for the newest first, 1 for the oldest first,
-- 0 for the order of creation, and multiplies ?8. ?12: by their last writes. ?22 is the user, if it is not
-- NULL. ?11: they must have labels.

-- name: list_among
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.id FROM temp.seslite_owners(?1) AS o CROSS JOIN sessions AS c ON c.id = o.id
      WHERE (?22 IS NULL OR c.user_id = ?22) AND c.updated_us >= ?3 AND c.updated_us < ?4
        AND CASE ?21 WHEN 0 THEN c.id > ?8
            ELSE ?21 * iif(?12, c.changed_us, c.updated_us) > ?8
                 OR (?21 * iif(?12, c.changed_us, c.updated_us) = ?8 AND (c.name, c.user_id) > (?9, ?10)) END
        AND HAS_NAME(c) AND (NOT ?11 OR c.details & 4)
        AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
        AND HAS_LABEL(c)
      ORDER BY ?21 * iif(?12, c.changed_us, c.updated_us), iif(?21, c.name, c.id), c.user_id LIMIT ?2) AS p
CROSS JOIN sessions AS s ON s.id = p.id CROSS JOIN users AS u ON u.id = s.user_id;

-- As ids_labelled, those with a name from ?3 to before ?4.

-- name: ids_named
SELECT id FROM sessions INDEXED BY sqlite_autoindex_sessions_1
WHERE user_id = ?1 AND name >= ?3 AND name < ?4 LIMIT ?2;

-- name: ids_of_children
SELECT d.session_id
FROM session_details AS d INDEXED BY session_details_by_child_of
CROSS JOIN sessions AS s ON s.id = d.session_id
WHERE d.child_session = ?4 AND d.child_user = ?3 AND s.app_id = ?1 LIMIT ?2;

-- Counts for the same filters, with the parameters of lists. (?8: the times have to be checked.)

-- name: count_of_user
SELECT count(*) FROM sessions AS c INDEXED BY sqlite_autoindex_sessions_1
WHERE c.user_id = ?1 AND c.name >= ?13 AND c.name < ?14
  AND (NOT ?8 OR (c.updated_us >= ?3 AND c.updated_us < ?4))
  AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20)
  AND HAS_LABEL(c);

-- name: count_labelled
SELECT count(*)
FROM session_labels AS l INDEXED BY session_labels_by_value CROSS JOIN sessions AS c ON c.id = l.session_id
WHERE l.app_id = ?1 AND l.name = ?5 AND l.value BETWEEN ?6 AND ?7 AND c.details & 4
  AND c.updated_us >= ?3 AND c.updated_us < ?4 AND PASSES(c, ?15, ?16, ?17, ?18, ?19, ?20);

-- name: app_state_set
INSERT INTO app_state (app_id, key, value, session_id, seq) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: user_state_set
INSERT INTO user_state (user_id, key, value, session_id, seq) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: session_state_set
INSERT INTO session_state (session_id, key, value, seq) VALUES (?1, ?2, ?3, ?5)
ON CONFLICT DO UPDATE SET value = excluded.value, seq = excluded.seq;

-- The state of all owners of a page, in the page's order.

-- name: user_state_of_owners
SELECT st.key, st.value, st.user_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN user_state AS st ON st.user_id = o.id
ORDER BY o.rowid;

-- name: session_state_of_owners
SELECT st.key, st.value, st.session_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN session_state AS st ON st.session_id = o.id
ORDER BY o.rowid;

-- One row per session, whose index is not trusted.

-- name: lease_find
SELECT l.token, l.session_id, l.owner, l.taken_us, l.until_us, l.next_owner, l.next_until_us
FROM session_leases AS i LEFT JOIN session_leases AS l ON l.token = i.token
WHERE i.session_id = ?1;

-- name: lease_set
UPDATE session_leases SET taken_us = ?3, until_us = ?4, next_owner = ?5, next_until_us = ?6
WHERE token = ?1 AND +session_id = ?2;

-- name: lease_replace
DELETE FROM session_leases WHERE token = ?1 AND +session_id = ?2;

-- ?11 is the id if it may be in the index as text although its hash is free. If it is, the insert conflicts
-- with that row.

-- name: event_add
INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, branch, time_us,
                    high_us, body)
VALUES ((?1 << 32) + ?2, ?1,
        iif(?11 IS NULL, ?10, coalesce((SELECT id_key FROM events WHERE session_id = ?1 AND id_key = ?11),
        ?10)), ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT DO NOTHING;

-- The event with a new body, in which its ids are at ?3 and ?4.

-- name: event_replace
UPDATE events SET id_at = ?3, invocation_at = ?4, body = ?5 WHERE position = (?1 << 32) + ?2
    AND +session_id = ?1;

-- The sessions of the app ?1 that have the number of origin of the session ?2, and that which the user ?3
-- has by the name ?4: with the names of what they were forked from, the last number taken from there, and the
-- names of what they are children of.

-- name: family_of
SELECT s.id, s.app_id, s.user_id, s.last_seq, s.created_us, s.base_seq, d.origin, d.parent_seq,
       u.name, s.name, d.parent_user, d.parent_session, d.child_user, d.child_session
FROM session_details AS own
CROSS JOIN session_details AS d INDEXED BY session_details_by_origin ON d.origin = own.origin
CROSS JOIN sessions AS s ON s.id = d.session_id
CROSS JOIN users AS u ON u.id = s.user_id
WHERE own.session_id = ?2 AND s.app_id = ?1
UNION ALL
SELECT s.id, s.app_id, s.user_id, s.last_seq, s.created_us, s.base_seq, d.origin, d.parent_seq,
       u.name, s.name, d.parent_user, d.parent_session, d.child_user, d.child_session
FROM sessions AS s
CROSS JOIN users AS u ON u.id = s.user_id
LEFT JOIN session_details AS d ON d.session_id = s.id
WHERE s.user_id = ?3 AND s.name = ?4;

-- The same for all sessions of the user ?2, including these.

-- name: families_of_user
SELECT s.id, s.app_id, s.user_id, s.last_seq, s.created_us, s.base_seq, d.origin, d.parent_seq,
       u.name, s.name, d.parent_user, d.parent_session, d.child_user, d.child_session
FROM session_details AS d INDEXED BY session_details_by_origin
CROSS JOIN sessions AS s ON s.id = d.session_id
CROSS JOIN users AS u ON u.id = s.user_id
WHERE s.app_id = ?1 AND d.origin IN (
    SELECT o.origin FROM sessions AS own CROSS JOIN session_details AS o ON o.session_id = own.id
    WHERE own.user_id = ?2 AND o.origin IS NOT NULL);

-- name: event_marks_backward
SELECT session_id, seq, kind, target_seq FROM event_marks WHERE session_id = ?1 AND seq <= ?2
    ORDER BY seq DESC;

-- Copies of a session's rows for a fork.

-- name: events_copy
INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, branch, time_us,
                    high_us, body)
SELECT position + ((?2 - ?1) << 32), ?2, id_key, id_at, invocation_at, author, branch, time_us, high_us, body
FROM events WHERE position BETWEEN (?1 << 32) AND (?1 << 32) + ?3 AND +session_id = ?1 ORDER BY position;

-- A session that has a number of origin keeps it.

-- name: origin_set
INSERT INTO session_details (session_id, origin) VALUES (?1, ?2)
ON CONFLICT DO UPDATE SET origin = coalesce(origin, excluded.origin);

-- The number of the first event of ?1 in which the log of ?2 differs.

-- name: event_unlike
SELECT a.position - (?1 << 32) FROM events AS a
    LEFT JOIN events AS b ON b.position = a.position + ((?2 - ?1) << 32)
WHERE a.position BETWEEN (?1 << 32) AND (?1 << 32) + 4294967295 AND b.body IS NOT a.body
    ORDER BY a.position LIMIT 1;

-- The event with id ?2, or one with its hash ?3.

-- name: event_by_id
SELECT position, id_at, invocation_at, author, branch, time_us, high_us, body
FROM events
WHERE session_id = ?1 AND id_key = coalesce((SELECT id_key FROM events WHERE session_id = ?1 AND id_key = ?2),
                                            ?3);

-- The events of a session with numbers from ?2 to ?3, and their positions.

-- name: events_forward
SELECT position, id_at, invocation_at, author, branch, time_us, high_us, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position;

-- name: events_backward
SELECT position, id_at, invocation_at, author, branch, time_us, high_us, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position DESC;

-- For a replay.

-- name: event_bodies_forward
SELECT position, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position;

-- name: event_bodies_backward
SELECT position, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position DESC;

-- The events of an invocation, and those in a form that this version does not know: they may be of it.

-- name: event_of_invocation
SELECT position, id_at, invocation_at, author, branch, time_us, high_us, body
FROM events
WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3
  AND CASE WHEN typeof(body) <> 'text' THEN 1
           WHEN typeof(invocation_at) = 'text' THEN invocation_at = ?4
           ELSE substr(cast(body AS BLOB), invocation_at + 1, length(cast(?4 AS BLOB)) + 1) = cast(?4 || '"' AS BLOB)
      END
ORDER BY position;

-- Finds where a walk begins, without reading the wide columns.

-- name: event_times_backward
SELECT position, time_us, high_us
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position DESC;

-- name: events_delete
DELETE FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 AND +session_id = ?1;

-- Rows left of a session or a user after the deletion of its rows: none in a sound file. In a damaged file,
-- rows stored as another's, which the foreign keys would delete too.

-- name: session_left
SELECT 1 FROM events WHERE position BETWEEN (?1 << 32) AND (?1 << 32) + 4294967295
UNION ALL SELECT 1 FROM events WHERE session_id = ?1
UNION ALL SELECT 1 FROM event_marks WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_state WHERE session_id = ?1
UNION ALL SELECT 1 FROM base_state WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_labels WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_leases WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_drafts WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_inbox WHERE session_id = ?1
UNION ALL SELECT 1 FROM derived WHERE session_id = ?1;

-- name: user_left
SELECT 1 FROM user_state WHERE user_id = ?1;

-- name: app_left
SELECT 1 FROM app_state WHERE app_id = ?1
UNION ALL SELECT 1 FROM users WHERE app_id = ?1
UNION ALL SELECT 1 FROM sessions WHERE app_id = ?1;

-- The chunks from ?2 on.

-- name: check_chunks
SELECT position & 1048575, bytes FROM artifact_chunks
WHERE position BETWEEN (?1 << 20) + ?2 AND (?1 << 20) + 1048575 ORDER BY position LIMIT ?3;

-- Artifacts. A row of an index that leads to another's contents must not show them, so each statement that
-- reads contents compares their user. ?4 is the version, or the highest number for the newest one. The last
-- column is an address, if it is no longer than one that leads to an artifact can be.

-- name: artifact_find
SELECT ARTIFACT_COLUMNS(),
       CASE WHEN f.kind = 2 AND c.size <= 2176 AND c.id < 1 << 43
            THEN (SELECT k.bytes FROM artifact_chunks AS k WHERE k.position = c.id << 20) END
FROM_ARTIFACTS()
WHERE f.user_id = ?1 AND f.session = ?2 AND f.name = ?3 AND f.version <= ?4 ORDER BY f.version DESC LIMIT 1;

-- The names above ?3, at most ?4, each with its newest version. Older versions are passed over.

-- name: artifact_names
WITH RECURSIVE n (name, rest) AS (
    SELECT (SELECT a.name FROM artifacts AS a WHERE a.user_id = ?1 AND a.session = ?2 AND a.name > ?3
            ORDER BY a.name LIMIT 1), ?4
    UNION ALL
    SELECT (SELECT a.name FROM artifacts AS a WHERE a.user_id = ?1 AND a.session = ?2 AND a.name > n.name
            ORDER BY a.name LIMIT 1), n.rest - 1
    FROM n WHERE n.name IS NOT NULL AND n.rest > 1)
SELECT ARTIFACT_COLUMNS()
FROM n
CROSS JOIN artifacts AS f ON f.user_id = ?1 AND f.session = ?2 AND f.name = n.name
    AND f.version = (SELECT v.version FROM artifacts AS v WHERE v.user_id = ?1 AND v.session = ?2
                     AND v.name = n.name
                     ORDER BY v.version DESC LIMIT 1)
LEFT JOIN artifact_contents AS c ON c.id = f.content_id AND c.user_id = f.user_id
LIMIT ?4;

-- Before the versions of a name, all of a session, or all that one took over from another, are removed or
-- added, their contents get as many uses less or more. Without a name (NULL) all names count.

-- name: contents_use
UPDATE artifact_contents SET uses = uses + ?4 * n.count
FROM (SELECT f.content_id, count(*) AS count FROM artifacts AS f
      WHERE f.user_id = ?1 AND f.session = ?2 AND f.name = coalesce(?3, f.name) GROUP BY f.content_id) AS n
WHERE artifact_contents.id = n.content_id AND artifact_contents.user_id = ?1;

-- An artifact of the session ?2, with the name ?4 if there is one, that the session ?3 lacks, or has in
-- another way.

-- name: artifact_unlike
SELECT a.version
FROM artifacts AS a
LEFT JOIN artifacts AS b ON b.user_id = ?1 AND b.session = ?3 AND b.name = a.name AND b.version = a.version
WHERE a.user_id = ?1 AND a.session = ?2 AND a.name = coalesce(?4, a.name)
    AND (b.name IS NULL OR b.created_us <> a.created_us OR b.kind <> a.kind OR b.mime_type IS NOT a.mime_type
         OR b.display_name IS NOT a.display_name OR b.metadata IS NOT a.metadata
             OR b.content_id <> a.content_id)
LIMIT 1;

-- name: content_add
INSERT INTO artifact_contents (user_id, hash, size, uses, written_us) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: chunk_add
INSERT INTO artifact_chunks (position, bytes) VALUES ((?1 << 20) + ?2, ?3);

-- name: chunks_copy
INSERT INTO artifact_chunks (position, bytes)
SELECT (?2 << 20) + (position & 1048575), bytes FROM artifact_chunks
    WHERE position BETWEEN ?1 << 20 AND (?1 << 20) + 1048575;

-- A row of NULLs: the content is there, but no such chunk.

-- name: chunks_read
SELECT k.position & 1048575, k.bytes
FROM artifact_contents AS c LEFT JOIN artifact_chunks AS k ON k.position BETWEEN (c.id << 20) + ?4 AND (c.id << 20) + ?5
WHERE c.id = ?1 AND c.user_id = ?2 AND c.hash = ?3 AND c.id < 1 << 43 ORDER BY k.position;

-- Contents that no artifact of a user has any more, and those whose writing was given up before the time ?2.

-- name: chunks_sweep
DELETE FROM artifact_chunks WHERE position IN (
    SELECT k.position
    FROM artifact_contents AS c CROSS JOIN artifact_chunks AS k ON k.position BETWEEN c.id << 20 AND (c.id << 20) + 1048575
    WHERE c.user_id = ?1 AND c.uses = 0 AND (c.hash IS NOT NULL OR c.written_us < ?2) AND c.id < 1 << 43);

-- name: chunks_delete
DELETE FROM artifact_chunks WHERE position BETWEEN ?1 << 20 AND (?1 << 20) + 1048575;

-- name: user_chunks_delete
DELETE FROM artifact_chunks WHERE position IN (
    SELECT k.position
    FROM artifact_contents AS c CROSS JOIN artifact_chunks AS k ON k.position BETWEEN c.id << 20 AND (c.id << 20) + 1048575
    WHERE c.user_id = ?1 AND c.id < 1 << 43);

-- name: feature_enter
INSERT INTO features (name, needs) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- The SQL of the table (or what else it is) with a name.

-- name: table_sql
SELECT sql FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type <> 'trigger';

-- As behind_any, of an app, a user or a session.

-- name: behind_app
SELECT s.id FROM sessions AS s INDEXED BY sessions_by_app LEFT JOIN derived AS d ON d.session_id = s.id
    AND d.what = ?4
WHERE s.app_id = ?3 AND s.id > ?1 AND s.event_count > 0
  AND (coalesce(d.seq, 0) < s.last_seq OR d.epoch <> s.version - s.last_seq)
ORDER BY s.id LIMIT ?2;

-- name: behind_user
SELECT s.id FROM sessions AS s INDEXED BY sessions_by_user LEFT JOIN derived AS d ON d.session_id = s.id
    AND d.what = ?4
WHERE s.user_id = ?3 AND s.id > ?1 AND s.event_count > 0
  AND (coalesce(d.seq, 0) < s.last_seq OR d.epoch <> s.version - s.last_seq)
ORDER BY s.id LIMIT ?2;

-- name: behind_session
SELECT s.id FROM sessions AS s LEFT JOIN derived AS d ON d.session_id = s.id AND d.what = ?4
WHERE s.id = ?3 AND s.id > ?1 AND s.event_count > 0
  AND (coalesce(d.seq, 0) < s.last_seq OR d.epoch <> s.version - s.last_seq)
LIMIT ?2;

-- The index of words for searches, which is made on demand. Each row has the words of an event, and marks of
-- its owners. FTS5 writes the distance between the row ids in which a word is, and events have positions that
-- are far apart. So search_places gives an id to each eight numbers of a session that follow each other, and
-- the row id is eight times that, plus the place among these. FTS5 keeps no text: it must be told the words
-- of a row that is removed. (A word of this index is what lies between two blanks: the library has folded
-- it.)
--
-- `search` is the first number of its rules, and another has it after that: search2. An index that another
-- number has made is not used.

-- name: index_features
SELECT name FROM features WHERE name GLOB 'search*' AND trim(substr(name, 7), '0123456789') = '';

-- name: index_leave
DELETE FROM features WHERE name GLOB 'search*' AND trim(substr(name, 7), '0123456789') = '';

-- name: index_forget
DELETE FROM derived WHERE what GLOB 'search*' AND trim(substr(what, 7), '0123456789') = '';

-- name: index_make
CREATE VIRTUAL TABLE search_words USING fts5(words, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '='");

-- name: places_make
CREATE TABLE search_places (
    id         INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL,
    first_seq  INTEGER NOT NULL,
    UNIQUE (session_id, first_seq)
) STRICT;

-- The module of the SQLite in use that such an index needs.

-- name: index_module
SELECT 1 FROM temp.pragma_module_list WHERE name = 'fts5';

-- Merges all parts of the index, so that nothing is left of what was removed.

-- name: index_merge
INSERT INTO search_words (search_words) VALUES ('optimize');

-- FTS5 would write what was changed when the transaction is committed. Merging nothing writes it at once, so
-- that damage in the index is a failure of this statement, and not of the commit.

-- name: index_write
INSERT INTO search_words (search_words, rank) VALUES ('merge', 0);

-- name: place_add
INSERT INTO search_places (session_id, first_seq) VALUES (?1, ((?2 - 1) & ~7) + 1) ON CONFLICT DO NOTHING;

-- Finds one for numbers above ?2.

-- name: place_after
SELECT 1 FROM search_places WHERE session_id = ?1 AND first_seq > ?2 LIMIT 1;

-- Those that have only numbers from ?2 to ?3.

-- name: places_remove
DELETE FROM search_places WHERE session_id = ?1 AND first_seq BETWEEN ?2 AND ?3 - 7;

-- An id that another program has put there, and that is too large for a row id of eight times it, is no
-- place.

-- name: words_add
INSERT INTO search_words (rowid, words)
SELECT id * 8 + ((?2 - 1) & 7), ?4 || ' ' || ?3 FROM search_places
WHERE session_id = ?1 AND first_seq = ((?2 - 1) & ~7) + 1 AND id >> 60 = 0;

-- name: words_remove
INSERT INTO search_words (search_words, rowid, words)
SELECT 'delete', id * 8 + ((?2 - 1) & 7), ?4 || ' ' || ?3 FROM search_places
WHERE session_id = ?1 AND first_seq = ((?2 - 1) & ~7) + 1 AND id >> 60 = 0;

-- First a row with the number of events that the index finds for ?1, at most ?2. If they are fewer, then
-- those in sessions that were updated from ?3 to before ?4, with the label ?5 (if it is not NULL) and a value
-- from ?6 to ?7, and with a name from ?13 to before ?14 (unless they are NULL), and that PASSES leaves. They
-- come in the order of a list, the newest first, and begin after a place (unless it is NULL): event ?11 of
-- the session with the name ?9 of the user ?10, which had the time ?8. At most ?12 of them.

-- name: words_found
WITH found AS MATERIALIZED (
    SELECT rowid AS id FROM search_words WHERE search_words MATCH ?1 LIMIT ?2
), placed AS (
    SELECT s.id AS session_id, p.first_seq + (f.id & 7) AS seq, s.name, s.user_id, s.app_id,
           iif(s.user_id = ?10 AND s.name = ?9, ?8, s.updated_us) AS updated_us
    FROM found AS f CROSS JOIN search_places AS p ON p.id = f.id >> 3
        CROSS JOIN sessions AS s ON s.id = p.session_id
    WHERE (SELECT count(*) FROM found) < ?2 AND s.updated_us >= ?3 AND s.updated_us < ?4 AND HAS_NAME(s)
      AND HAS_LABEL(s) AND PASSES(s, ?15, ?16, ?17, ?18, ?19, ?20)
      AND (?8 IS NULL OR CASE
               WHEN s.user_id = ?10 AND s.name = ?9 THEN p.first_seq + (f.id & 7) < ?11
               WHEN s.updated_us = ?8 THEN (s.name, s.user_id) > (?9, ?10)
               ELSE s.updated_us < ?8
           END)
    ORDER BY updated_us DESC, s.name, s.user_id, seq DESC LIMIT ?12
)
SELECT session_id, seq, name, user_name, user_id, updated_us, app_id, count
FROM (SELECT NULL AS session_id, NULL AS seq, NULL AS name, NULL AS user_name, NULL AS user_id,
             NULL AS updated_us, NULL AS app_id, (SELECT count(*) FROM found) AS count
      UNION ALL
      SELECT p.session_id, p.seq, p.name, u.name, p.user_id, p.updated_us, p.app_id, NULL
      FROM placed AS p CROSS JOIN users AS u ON u.id = p.user_id)
ORDER BY count IS NULL, updated_us DESC, name, user_id, seq DESC;

-- The use of tokens, which is derived from the events on demand. A row has the sums of a session's
-- calls with one model in a quarter of an hour, or (quarter -9223372036854775808) in the whole session
-- as far as it was counted, and between which events they are. The rows go with the row of `derived`
-- to which they lead, also where a library deletes it that does not know them.

-- name: usage_make
CREATE TABLE usage_sums (
    session_id INTEGER NOT NULL,
    quarter    INTEGER NOT NULL, -- of an hour, from 1970 on
    model      TEXT NOT NULL,
    what       TEXT NOT NULL,
    first_seq  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    calls      INTEGER NOT NULL,
    odd        INTEGER NOT NULL,
    first_us   INTEGER NOT NULL,
    last_us    INTEGER NOT NULL,
    prompt     INTEGER NOT NULL,
    cached     INTEGER NOT NULL,
    candidates INTEGER NOT NULL,
    thoughts   INTEGER NOT NULL,
    tool_use   INTEGER NOT NULL,
    total      INTEGER NOT NULL,
    PRIMARY KEY (session_id, quarter, model),
    FOREIGN KEY (session_id, what) REFERENCES derived ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Removes the rows of a session also if no row of `derived` leads to them.

-- name: usage_forget
DELETE FROM usage_sums WHERE session_id = ?1;

-- name: usage_drop
DROP TABLE IF EXISTS usage_sums;

-- The table of version 0.2.0.

-- name: usage_counts_drop
DROP TABLE IF EXISTS usage_counts;

-- Filters of invocations, which are derived from the events on demand: a row is about the events from
-- first_seq to last_seq. lib/storage/sql/session/filters.c knows what the part, the sum and the keys are. The
-- rows go with their session, also where a library deletes it that does not know them.

-- name: filters_make
CREATE TABLE invocation_filters (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    part       INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    first_seq  INTEGER NOT NULL,
    sum        INTEGER NOT NULL,
    keys       BLOB NOT NULL,
    PRIMARY KEY (session_id, part, last_seq)
) STRICT, WITHOUT ROWID;

-- name: filter_put
INSERT OR REPLACE INTO invocation_filters (session_id, part, last_seq, first_seq, sum, keys)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: filters_from
SELECT last_seq, first_seq, sum, keys FROM invocation_filters
WHERE session_id = ?1 AND part = ?2 AND last_seq >= ?3 ORDER BY last_seq;

-- name: filters_forget
DELETE FROM invocation_filters WHERE session_id = ?1 AND part <= ?2;

-- name: filters_drop
DROP TABLE IF EXISTS invocation_filters;

-- The rows of the sessions ?1, in the order of their numbers. ?2: the last quarter.

-- name: usage_of_sessions
SELECT USAGE_SUMS(c)
FROM temp.seslite_owners(?1) AS o CROSS JOIN usage_sums AS c ON c.session_id = o.id AND c.quarter <= ?2
ORDER BY o.rowid;
