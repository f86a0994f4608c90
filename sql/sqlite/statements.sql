-- Every statement of the library. `-- name: X` begins one; statements.h (generated) calls it STATEMENT_X in capitals.
-- Parameters are numbered. The statements may be in any order; each name occurs once.

-- name: begin_write
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: analyze
ANALYZE main;

-- name: app_add
INSERT INTO apps (name) VALUES (?1) ON CONFLICT DO NOTHING;

-- A damaged index can lead to a wrong row. So a row found by an index is checked in the table too: a last column says
-- whether it is the requested row, or a row of NULLs is returned if it is not. (The plus keeps a condition out of the
-- search.)

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

-- name: user_delete
DELETE FROM users WHERE id = ?1;

-- name: app_delete
DELETE FROM apps WHERE id = ?1;

-- name: session_add
INSERT INTO sessions
    (app_id, user_id, name, created_us, updated_us, active_hour, version, last_seq, event_count, expires_us,
     changed_us, ahead_hour)
VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, 0, 0, ?7, ?8, ?9);

-- Row 1 is the only row; any other row is damage. The last parameter is the user, for engines with a floor per group of
-- users.

-- name: version_floor
SELECT iif(id = 1 AND typeof(floor) = 'integer', floor, -1) FROM version_floor WHERE id >= 1 AND ?1 > 0;

-- name: version_floor_raise
UPDATE version_floor SET floor = ?1 WHERE id = 1 AND ?2 > 0;

-- name: details_add
INSERT INTO session_details (session_id, initial_state) VALUES (?1, ?2);

-- name: details_initial
SELECT initial_state FROM session_details WHERE session_id = ?1;

-- name: title_set
INSERT INTO session_details (session_id, title) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET title = excluded.title;

-- name: label_set
INSERT INTO session_labels (session_id, name, value, app_id) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET value = excluded.value, app_id = excluded.app_id;

-- name: label_remove
DELETE FROM session_labels WHERE session_id = ?1 AND name = ?2;

-- Parents, titles and labels of many sessions, in the given order.

-- name: details_of_owners
SELECT d.session_id, d.parent_user, d.parent_session, d.parent_seq, d.title
FROM temp.seslite_owners(?1) AS o CROSS JOIN session_details AS d ON d.session_id = o.id
ORDER BY o.rowid;

-- name: labels_of_owners
SELECT l.session_id, l.name, l.value, l.app_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN session_labels AS l ON l.session_id = o.id
ORDER BY o.rowid;

-- name: base_state_all
SELECT session_id, key, value, seq FROM base_state WHERE session_id = ?1 ORDER BY key;

-- name: session_find
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details
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
SELECT id, app_id, user_id, version, last_seq, event_count, created_us, updated_us, expires_us, base_seq, details
FROM sessions WHERE id = ?1;

-- name: session_describe
UPDATE sessions SET details = ?2 WHERE id = ?1;

-- name: session_expiry
UPDATE sessions SET expires_us = ?2 WHERE id = ?1;

-- name: session_touch
UPDATE sessions SET version = ?2, last_seq = ?3, event_count = ?4, updated_us = ?5, changed_us = ?6 WHERE id = ?1;

-- name: session_touch_hour
UPDATE sessions SET version = ?2, last_seq = ?3, event_count = ?4, updated_us = ?5, changed_us = ?6,
       active_hour = ?7, ahead_hour = ?8
WHERE id = ?1;

-- name: session_delete
DELETE FROM sessions WHERE id = ?1;

-- name: sessions_of_user
SELECT id FROM sessions WHERE user_id = ?1;

-- For followers.

-- name: sessions_by_name
SELECT id, app_id, user_id, version, last_seq, event_count, created_us, updated_us, expires_us, base_seq, details,
       name
FROM sessions WHERE user_id = ?1 AND name > ?2 ORDER BY name;

-- name: session_version
SELECT version FROM sessions WHERE id = ?1;

-- A sum of parts of 32 bits cannot overflow.

-- name: user_versions
SELECT max(s.id), count(s.id), sum(s.version & 4294967295)
FROM apps AS a CROSS JOIN users AS u ON u.app_id = a.id AND u.name = ?2 CROSS JOIN sessions AS s ON s.user_id = u.id
WHERE a.name = ?1;

-- This number changes when another connection commits.

-- name: data_version
PRAGMA data_version;

-- The rows that ses_expire and ses_delete_app delete, a few at a time.

-- name: app_after
SELECT id FROM apps WHERE id > ?1 ORDER BY id LIMIT 1;

-- name: users_after
SELECT id, name FROM users WHERE app_id = ?1 AND name > ?2 ORDER BY name LIMIT ?3;

-- name: user_name
SELECT name FROM users WHERE id = ?1;

-- name: sessions_of_app
SELECT id FROM sessions INDEXED BY sessions_by_app WHERE app_id = ?1 LIMIT ?2;

-- name: sessions_expired
SELECT id FROM sessions INDEXED BY sessions_by_expiry WHERE app_id = ?1 AND expires_us <= ?3 ORDER BY expires_us LIMIT ?2;

-- The update time of a session is at most an hour after its last write; otherwise it is in the other index.

-- name: sessions_idle
SELECT id FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = ?1 AND active_hour <= ?4 + 1 AND changed_us < ?3 AND ahead_hour IS NULL
ORDER BY active_hour LIMIT ?2;

-- name: sessions_idle_ahead
SELECT id FROM sessions INDEXED BY sessions_ahead
WHERE app_id = ?1 AND ahead_hour <= ?4 AND changed_us < ?3 ORDER BY ahead_hour LIMIT ?2;

-- name: list_user_oldest_ids
SELECT id FROM sessions WHERE user_id = ?1 ORDER BY updated_us, name DESC LIMIT ?2;

-- name: user_has_more
SELECT 1 FROM sessions WHERE user_id = ?1 LIMIT 1 OFFSET ?2;

-- name: user_session_count
SELECT count(*) FROM sessions WHERE user_id = ?1;

-- The number of an app's sessions that are due: expired, not written since a time, or beyond a number per user.

-- name: due_count
SELECT coalesce(sum((SELECT max(count(*) - ?4, count(*) FILTER (WHERE s.expires_us <= ?2 OR s.changed_us < ?3))
                     FROM sessions AS s WHERE s.user_id = u.id)), 0)
FROM users AS u WHERE u.app_id = ?1;

-- Lists. Each takes the position after which it begins: a time, then for ties a session name and a user id, or the row
-- id for the order of creation. The first page begins before everything.

-- name: list_user_newest
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM users AS u CROSS JOIN sessions AS s ON s.user_id = u.id
WHERE u.id = ?1 AND (s.updated_us < ?2 OR (s.updated_us = ?2 AND (s.name, s.user_id) > (?3, ?4)))
ORDER BY s.updated_us DESC, s.name LIMIT ?5;

-- name: list_user_oldest
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM users AS u CROSS JOIN sessions AS s ON s.user_id = u.id
WHERE u.id = ?1 AND (s.updated_us > ?2 OR (s.updated_us = ?2 AND (s.name, s.user_id) > (?3, ?4)))
ORDER BY s.updated_us, s.name LIMIT ?5;

-- name: list_user_created
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM users AS u CROSS JOIN sessions AS s INDEXED BY sqlite_autoindex_sessions_1 ON s.user_id = u.id
WHERE u.id = ?1 AND s.id > ?2
ORDER BY s.id LIMIT ?5;

-- Within an hour the sessions are sorted; the hours come sorted from the index.

-- name: list_app_newest
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM sessions AS s INDEXED BY sessions_by_activity CROSS JOIN users AS u ON u.id = s.user_id
WHERE s.app_id = ?1 AND s.active_hour <= ?6
  AND (s.updated_us < ?2 OR (s.updated_us = ?2 AND (s.name, s.user_id) > (?3, ?4)))
ORDER BY s.active_hour DESC, s.updated_us DESC, s.name, s.user_id LIMIT ?5;

-- name: list_app_oldest
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM sessions AS s INDEXED BY sessions_by_activity CROSS JOIN users AS u ON u.id = s.user_id
WHERE s.app_id = ?1 AND s.active_hour >= ?6
  AND (s.updated_us > ?2 OR (s.updated_us = ?2 AND (s.name, s.user_id) > (?3, ?4)))
ORDER BY s.active_hour, s.updated_us, s.name, s.user_id LIMIT ?5;

-- The same lists from or up to an hour. (One more condition would make a list without a filter 1% slower.)

-- name: list_app_newest_since
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM sessions AS s INDEXED BY sessions_by_activity CROSS JOIN users AS u ON u.id = s.user_id
WHERE s.app_id = ?1 AND s.active_hour <= ?6 AND s.active_hour >= ?7
  AND (s.updated_us < ?2 OR (s.updated_us = ?2 AND (s.name, s.user_id) > (?3, ?4)))
ORDER BY s.active_hour DESC, s.updated_us DESC, s.name, s.user_id LIMIT ?5;

-- name: list_app_oldest_before
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM sessions AS s INDEXED BY sessions_by_activity CROSS JOIN users AS u ON u.id = s.user_id
WHERE s.app_id = ?1 AND s.active_hour >= ?6 AND s.active_hour <= ?7
  AND (s.updated_us > ?2 OR (s.updated_us = ?2 AND (s.name, s.user_id) > (?3, ?4)))
ORDER BY s.active_hour, s.updated_us, s.name, s.user_id LIMIT ?5;

-- name: list_app_created
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM sessions AS s INDEXED BY sessions_by_app CROSS JOIN users AS u ON u.id = s.user_id
WHERE s.app_id = ?1 AND s.id > ?2
ORDER BY s.id LIMIT ?5;

-- The chosen sessions, in the given order.

-- name: list_chosen
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.name, u.name, u.app_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN sessions AS s ON s.id = o.id CROSS JOIN users AS u ON u.id = s.user_id
ORDER BY o.rowid;

-- Filters choose sessions in any order: ?4 is -1 for the newest first, 1 for the oldest first, 0 for the order of
-- creation. The update time is from ?2 to before ?3. A label ?11 has a value from ?12 to ?13. (details & 4: the session
-- has labels.)

-- name: choose_of_user
SELECT s.id FROM sessions AS s INDEXED BY sqlite_autoindex_sessions_1
WHERE s.user_id = ?1 AND s.name >= ?9 AND s.name < ?10
  AND s.updated_us >= ?2 AND s.updated_us < ?3
  AND (?4 * s.updated_us > ?5
       OR (?4 * s.updated_us = ?5 AND (iif(?4, s.name, s.id), s.user_id) > (?6, ?7)))
  AND (?11 IS NULL OR (s.details & 4 AND EXISTS (
       SELECT 1 FROM session_labels AS l WHERE l.session_id = s.id AND l.name = ?11 AND l.value BETWEEN ?12 AND ?13)))
ORDER BY ?4 * s.updated_us, iif(?4, s.name, s.id), s.user_id LIMIT ?8;

-- name: choose_labelled
SELECT s.id
FROM session_labels AS l INDEXED BY session_labels_by_value CROSS JOIN sessions AS s ON s.id = l.session_id
WHERE l.app_id = ?1 AND l.name = ?11 AND l.value BETWEEN ?12 AND ?13 AND s.details & 4
  AND s.updated_us >= ?2 AND s.updated_us < ?3
  AND (?4 * s.updated_us > ?5
       OR (?4 * s.updated_us = ?5 AND (iif(?4, s.name, s.id), s.user_id) > (?6, ?7)))
ORDER BY ?4 * s.updated_us, iif(?4, s.name, s.id), s.user_id LIMIT ?8;

-- name: choose_active
SELECT s.id FROM sessions AS s INDEXED BY sessions_by_activity
WHERE s.app_id = ?1 AND s.active_hour BETWEEN ?9 AND ?10
  AND s.updated_us >= ?2 AND s.updated_us < ?3
  AND (?4 * s.updated_us > ?5
       OR (?4 * s.updated_us = ?5 AND (iif(?4, s.name, s.id), s.user_id) > (?6, ?7)))
ORDER BY ?4 * s.updated_us, iif(?4, s.name, s.id), s.user_id LIMIT ?8;

-- name: choose_among
SELECT s.id FROM temp.seslite_owners(?1) AS o CROSS JOIN sessions AS s ON s.id = o.id
WHERE s.details & 4 AND (?9 IS NULL OR s.user_id = ?9)
  AND s.updated_us >= ?2 AND s.updated_us < ?3
  AND (?4 * s.updated_us > ?5
       OR (?4 * s.updated_us = ?5 AND (iif(?4, s.name, s.id), s.user_id) > (?6, ?7)))
ORDER BY ?4 * s.updated_us, iif(?4, s.name, s.id), s.user_id LIMIT ?8;

-- name: label_get
SELECT 1 FROM session_labels WHERE session_id = ?1 AND name = ?2 AND value BETWEEN ?3 AND ?4;

-- name: labelled_ids
SELECT session_id FROM session_labels INDEXED BY session_labels_by_value
WHERE app_id = ?1 AND name = ?2 AND value BETWEEN ?3 AND ?4 LIMIT ?5;

-- Walks that read only an index: all hours, one hour, or the sessions with a label.

-- name: hours_backward
SELECT active_hour, id, NULL FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = ?1 AND active_hour <= ?2 AND active_hour >= ?3 ORDER BY active_hour DESC, id DESC;

-- name: hours_forward
SELECT active_hour, id, NULL FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = ?1 AND active_hour >= ?2 AND active_hour <= ?3 ORDER BY active_hour, id;

-- name: hour_backward
SELECT active_hour, id, NULL FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = ?1 AND active_hour = ?2 AND id <= ?3 ORDER BY id DESC;

-- name: hour_forward
SELECT active_hour, id, NULL FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = ?1 AND active_hour = ?2 AND id >= ?3 ORDER BY id;

-- name: labels_newest
SELECT s.active_hour, s.id, l.app_id
FROM sessions AS s INDEXED BY sessions_by_activity
LEFT JOIN session_labels AS l ON l.session_id = s.id AND l.name = ?4 AND l.value BETWEEN ?5 AND ?6
WHERE s.app_id = ?1 AND s.active_hour <= ?2 AND s.active_hour >= ?3
ORDER BY s.active_hour DESC, s.id DESC;

-- name: labels_oldest
SELECT s.active_hour, s.id, l.app_id
FROM sessions AS s INDEXED BY sessions_by_activity
LEFT JOIN session_labels AS l ON l.session_id = s.id AND l.name = ?4 AND l.value BETWEEN ?5 AND ?6
WHERE s.app_id = ?1 AND s.active_hour >= ?2 AND s.active_hour <= ?3
ORDER BY s.active_hour, s.id;

-- name: labels_created
SELECT 0, s.id, l.app_id
FROM sessions AS s INDEXED BY sessions_by_app
LEFT JOIN session_labels AS l ON l.session_id = s.id AND l.name = ?4 AND l.value BETWEEN ?5 AND ?6
WHERE s.app_id = ?1 AND s.id >= ?2
ORDER BY s.id;

-- Counts for the same filters. (?8: the times have to be checked.)

-- name: count_of_user
SELECT count(*) FROM sessions AS s INDEXED BY sqlite_autoindex_sessions_1
WHERE s.user_id = ?1 AND s.name >= ?9 AND s.name < ?10
  AND (NOT ?8 OR (s.updated_us >= ?2 AND s.updated_us < ?3))
  AND (?11 IS NULL OR (s.details & 4 AND EXISTS (
       SELECT 1 FROM session_labels AS l WHERE l.session_id = s.id AND l.name = ?11 AND l.value BETWEEN ?12 AND ?13)));

-- name: count_labelled
SELECT count(*)
FROM session_labels AS l INDEXED BY session_labels_by_value CROSS JOIN sessions AS s ON s.id = l.session_id
WHERE l.app_id = ?1 AND l.name = ?11 AND l.value BETWEEN ?12 AND ?13 AND s.details & 4
  AND s.updated_us >= ?2 AND s.updated_us < ?3;

-- Between the first and the last hour no time has to be checked.

-- name: count_active
SELECT count(*) FROM sessions AS s INDEXED BY sessions_by_activity
WHERE s.app_id = ?1 AND s.active_hour BETWEEN ?9 AND ?10
  AND ((s.active_hour > ?9 AND s.active_hour < ?10) OR (s.updated_us >= ?2 AND s.updated_us < ?3));

-- name: app_state_set
INSERT INTO app_state (app_id, key, value, session_id, seq) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: user_state_set
INSERT INTO user_state (user_id, key, value, session_id, seq) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: session_state_set
INSERT INTO session_state (session_id, key, value, seq) VALUES (?1, ?2, ?3, ?5)
ON CONFLICT DO UPDATE SET value = excluded.value, seq = excluded.seq;

-- name: app_state_remove
DELETE FROM app_state WHERE app_id = ?1 AND key = ?2;

-- name: user_state_remove
DELETE FROM user_state WHERE user_id = ?1 AND key = ?2;

-- name: session_state_remove
DELETE FROM session_state WHERE session_id = ?1 AND key = ?2;

-- name: app_state_all
SELECT key, value FROM app_state WHERE app_id = ?1 ORDER BY key;

-- name: user_state_all
SELECT key, value FROM user_state WHERE user_id = ?1 ORDER BY key;

-- name: session_state_all
SELECT key, value FROM session_state WHERE session_id = ?1 ORDER BY key;

-- The state of all owners of a page, in the page's order.

-- name: user_state_of_owners
SELECT st.key, st.value, st.user_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN user_state AS st ON st.user_id = o.id
ORDER BY o.rowid;

-- name: session_state_of_owners
SELECT st.key, st.value, st.session_id
FROM temp.seslite_owners(?1) AS o CROSS JOIN session_state AS st ON st.session_id = o.id
ORDER BY o.rowid;

-- Includes the event that set each key.

-- name: session_state_rows
SELECT session_id, key, value, seq FROM session_state WHERE session_id = ?1 ORDER BY key;

-- name: app_state_get
SELECT key, value FROM app_state WHERE app_id = ?1 AND key = ?2;

-- name: user_state_get
SELECT key, value FROM user_state WHERE user_id = ?1 AND key = ?2;

-- name: session_state_get
SELECT key, value FROM session_state WHERE session_id = ?1 AND key = ?2;

-- A deletion by range checks each row, since damaged pages can contain rows of others.

-- name: app_state_delete
DELETE FROM app_state WHERE app_id = ?1 AND +app_id = ?1;

-- name: user_state_delete
DELETE FROM user_state WHERE user_id = ?1 AND +user_id = ?1;

-- name: session_state_delete
DELETE FROM session_state WHERE session_id = ?1 AND +session_id = ?1;

-- name: base_state_add
INSERT INTO base_state (session_id, key, value, seq) VALUES (?1, ?2, ?3, ?4);

-- name: base_state_delete
DELETE FROM base_state WHERE session_id = ?1 AND +session_id = ?1;

-- name: session_labels_delete
DELETE FROM session_labels WHERE session_id = ?1 AND +session_id = ?1;

-- name: session_lease_delete
DELETE FROM session_leases WHERE session_id = ?1 AND +session_id = ?1;

-- One row per session, whose index is not trusted.

-- name: lease_find
SELECT l.token, l.session_id, l.owner, l.taken_us, l.until_us, l.next_owner, l.next_until_us
FROM session_leases AS i LEFT JOIN session_leases AS l ON l.token = i.token
WHERE i.session_id = ?1;

-- name: lease_add
INSERT INTO session_leases (session_id, owner, taken_us, until_us) VALUES (?1, ?2, ?3, ?4);

-- name: lease_set
UPDATE session_leases SET taken_us = ?3, until_us = ?4, next_owner = ?5, next_until_us = ?6
WHERE token = ?1 AND +session_id = ?2;

-- name: lease_replace
DELETE FROM session_leases WHERE token = ?1 AND +session_id = ?2;

-- name: event_marks_delete
DELETE FROM event_marks WHERE session_id = ?1 AND +session_id = ?1;

-- name: event_marks_cut
DELETE FROM event_marks WHERE session_id = ?1 AND seq > ?2 AND +session_id = ?1;

-- name: event_marks_prune
DELETE FROM event_marks WHERE session_id = ?1 AND seq <= ?2 AND +session_id = ?1;

-- name: session_prune
UPDATE sessions SET base_seq = ?2, event_count = ?3 WHERE id = ?1;

-- ?11 is the id if it may be in the index as text although its hash is free. If it is, the insert conflicts with that
-- row.

-- name: event_add
INSERT INTO events (position, session_id, id_key, id, invocation_id, author, branch, time_us, high_us, body)
VALUES ((?1 << 32) + ?2, ?1,
        iif(?11 IS NULL, ?10, coalesce((SELECT id_key FROM events WHERE session_id = ?1 AND id_key = ?11), ?10)),
        ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT DO NOTHING;

-- name: event_marks_backward
SELECT session_id, seq, kind, target_seq FROM event_marks WHERE session_id = ?1 AND seq <= ?2 ORDER BY seq DESC;

-- Copies of a session's rows for a fork.

-- name: events_copy
INSERT INTO events (position, session_id, id_key, id, invocation_id, author, branch, time_us, high_us, body)
SELECT position + ((?2 - ?1) << 32), ?2, id_key, id, invocation_id, author, branch, time_us, high_us, body
FROM events WHERE position BETWEEN (?1 << 32) AND (?1 << 32) + ?3 AND +session_id = ?1 ORDER BY position;

-- name: event_marks_copy
INSERT INTO event_marks (session_id, seq, kind, target_seq)
SELECT ?2, seq, kind, target_seq FROM event_marks WHERE session_id = ?1 AND seq <= ?3;

-- name: base_state_copy
INSERT INTO base_state (session_id, key, value, seq)
SELECT ?2, key, value, seq FROM base_state WHERE session_id = ?1;

-- name: session_state_copy
INSERT INTO session_state (session_id, key, value, seq)
SELECT ?2, key, value, seq FROM session_state WHERE session_id = ?1 AND +session_id = ?1;

-- name: session_labels_copy
INSERT INTO session_labels (session_id, name, value, app_id)
SELECT ?2, name, value, app_id FROM session_labels WHERE session_id = ?1 AND +session_id = ?1;

-- name: details_copy
INSERT INTO session_details (session_id, title, parent_user, parent_session, parent_seq, initial_state)
VALUES (?2, (SELECT title FROM session_details WHERE session_id = ?1), ?3, ?4, ?5,
        (SELECT initial_state FROM session_details WHERE session_id = ?1));

-- name: session_fill
UPDATE sessions SET last_seq = ?2, event_count = ?3, updated_us = ?4, active_hour = ?5, base_seq = ?6, details = ?7,
       version = ?8, changed_us = ?9, ahead_hour = ?10
WHERE id = ?1;

-- For loading: a session is created without a name, and gets it when it is complete.

-- name: session_name
UPDATE sessions SET name = ?2 WHERE id = ?1;

-- name: parent_set
INSERT INTO session_details (session_id, parent_user, parent_session, parent_seq) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET parent_user = excluded.parent_user, parent_session = excluded.parent_session,
                          parent_seq = excluded.parent_seq;

-- The number of the first event of ?1 in which the log of ?2 differs.

-- name: event_unlike
SELECT a.position - (?1 << 32) FROM events AS a LEFT JOIN events AS b ON b.position = a.position + ((?2 - ?1) << 32)
WHERE a.position BETWEEN (?1 << 32) AND (?1 << 32) + 4294967295 AND b.body IS NOT a.body ORDER BY a.position LIMIT 1;

-- name: event_mark_add
INSERT INTO event_marks (session_id, seq, kind, target_seq) VALUES (?1, ?2, ?3, ?4);

-- The event with id ?2, or one with its hash ?3.

-- name: event_by_id
SELECT position, id, invocation_id, author, branch, time_us, high_us, body
FROM events
WHERE session_id = ?1 AND id_key = coalesce((SELECT id_key FROM events WHERE session_id = ?1 AND id_key = ?2), ?3);

-- The events of a session with numbers from ?2 to ?3, and their positions.

-- name: events_forward
SELECT position, id, invocation_id, author, branch, time_us, high_us, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position;

-- name: events_backward
SELECT position, id, invocation_id, author, branch, time_us, high_us, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position DESC;

-- For a replay.

-- name: event_bodies_forward
SELECT position, body
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position;

-- Finds where a walk begins, without reading the wide columns.

-- name: event_times_backward
SELECT position, time_us, high_us
FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 ORDER BY position DESC;

-- name: events_delete
DELETE FROM events WHERE position BETWEEN (?1 << 32) + ?2 AND (?1 << 32) + ?3 AND +session_id = ?1;

-- Rows left of a session or a user after the deletion of its rows: none in a sound file. In a damaged file, rows stored
-- as another's, which the foreign keys would delete too.

-- name: session_left
SELECT 1 FROM events WHERE position BETWEEN (?1 << 32) AND (?1 << 32) + 4294967295
UNION ALL SELECT 1 FROM events WHERE session_id = ?1
UNION ALL SELECT 1 FROM event_marks WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_state WHERE session_id = ?1
UNION ALL SELECT 1 FROM base_state WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_labels WHERE session_id = ?1
UNION ALL SELECT 1 FROM session_leases WHERE session_id = ?1;

-- name: user_left
SELECT 1 FROM user_state WHERE user_id = ?1;

-- name: app_left
SELECT 1 FROM app_state WHERE app_id = ?1
UNION ALL SELECT 1 FROM users WHERE app_id = ?1
UNION ALL SELECT 1 FROM sessions WHERE app_id = ?1;

-- For a check: single rows in order, without joins to other tables.

-- name: check_app_after
SELECT id, name FROM apps WHERE id > ?1 ORDER BY id LIMIT 1;

-- name: check_user_after
SELECT u.id, u.app_id, u.name, a.name
FROM users AS u LEFT JOIN apps AS a ON a.id = u.app_id WHERE u.id > ?1 ORDER BY u.id LIMIT 1;

-- name: check_session_after
SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,
       s.expires_us, s.base_seq, s.details, s.active_hour, s.changed_us, s.ahead_hour, u.app_id, a.name, u.name, s.name
FROM sessions AS s LEFT JOIN users AS u ON u.id = s.user_id LEFT JOIN apps AS a ON a.id = s.app_id
WHERE s.id > ?1 ORDER BY s.id LIMIT 1;

-- name: check_details
SELECT title, parent_user, parent_session, parent_seq, more FROM session_details WHERE session_id = ?1;

-- name: check_labels
SELECT name, value, app_id FROM session_labels WHERE session_id = ?1 ORDER BY name;

-- name: check_app_state
SELECT key, value, session_id, seq FROM app_state WHERE app_id = ?1 ORDER BY key;

-- name: check_user_state
SELECT key, value, session_id, seq FROM user_state WHERE user_id = ?1 ORDER BY key;

-- name: base_state_get
SELECT value, seq FROM base_state WHERE session_id = ?1 AND key = ?2;
