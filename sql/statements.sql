-- The statements that engines share. Each is one text, but for the differences below. If an engine needs
-- another text, that is in its own book: statements.sql in sqlite/, postgres/ or mysql/.
--
-- `-- name: x` begins a statement, which C calls STATEMENT_X. An engine has each name once. Before the text:
--     -- only: postgres mysql     the third engine has another text, or none (the servers' books say why)
--     -- locks: FOR UPDATE        a server appends this in a transaction that writes
--     -- prepared: for ses_get    MySQL prepares it (mysql/README.md)
--
-- A text has everything that one of the engines needs. tools/book.awk makes that of each:
--
--     here                                SQLite             PostgreSQL           MySQL and MariaDB
--     $1                                  ?1                 $1                   $1
--     $1::bigint, $1::text                ?1                 $1::bigint           $1
--     FROM, JOIN, INTO or UPDATE apps     FROM apps          FROM seslite.apps    FROM seslite_apps
--     key                                 key                key                  `key`
--     shard = SHARD($1) AND               left out           as it is             left out
--     shard, or SHARD($1), in a list      left out           as it is             left out
--     AND +session_id = $1                as it is           left out             left out
--     INDEXED BY sessions_by_app          as it is           left out             left out
--     ON CONFLICT (a, b) DO UPDATE SET    without (a, b)     as it is             ON DUPLICATE KEY UPDATE
--     excluded.a                          as it is           as it is             values(a)
--     greatest(a, b), least(a, b)         max(a, b), min     as it is             as it is
--
-- (A damaged index of a file can lead to a wrong row. The condition with the plus, which no index serves,
-- checks it. The book of PostgreSQL describes shards.)
--
-- A name in capitals before a parenthesis is the call of a macro: tools/book.awk describes them. These are in
-- the books of the engines:
--     THE_SESSION($1)     and THE_USER, THE_APP, THE_CONTENT: $1, or if it is NULL, as it may be on a server,
--                         the number that this transaction found or added
--     HAS_LABEL(s)        and HAS_NAME(s), PASSES(s, ...): the conditions of a list's filter
--     IS_BEHIND(s, $4)    the feature $4 has not come as far as the session
--     USAGE_COLUMNS(s)    and USAGE_JOINS, USAGE_FILTER: sessions, and how far their use of tokens has come
--     FROM_INBOX()        inputs (i), with their session (s) and its owners (u, a)
--     FROM_RECENT($1, $4) the sessions of the app $1, or if that is NULL of the store, that were active in
--                         the 30 seconds $4 or later, hidden ones included (HIDDEN_SHIFT in rows/parts.h)
--     TOTAL(...)          a sum, as a bigint
--     IS_FREE(i)          nobody but $5 has the lease of the row's session at $6; nothing is asked if $5 is NULL
--     OLD(calls)          what a row of usage_sums had before an upsert, and ADDED(calls), the new sum
--     USAGE_SUMS(c)       the columns of such a row
-- And these are here:
--
-- The columns of a session and of an event:
-- macro: STATE_COLUMNS(row) = row.version, row.last_seq, row.event_count, row.created_us, row.updated_us,
--     row.expires_us, row.base_seq, row.details
-- macro: SESSION_COLUMNS(row) = row.id, row.app_id, row.user_id, STATE_COLUMNS(row)
-- macro: EVENT_COLUMNS() = seq, id, invocation_id, author, branch, time_us, high_us, body
--
-- The columns of an artifact, and of its contents. A row that leads to another's contents must not show them.
-- macro: ARTIFACT_COLUMNS() = f.name, f.version, f.created_us, f.kind, f.mime_type, f.display_name,
--     f.metadata, f.content_id, c.size, c.hash
-- macro: FROM_ARTIFACTS() = FROM artifacts AS f LEFT JOIN artifact_contents AS c
--     ON c.shard = f.shard AND c.id = f.content_id AND c.user_id = f.user_id

-- The columns of an input, with the names of its session and of the owners of that.
-- macro: INBOX_COLUMNS() = i.id AS place, i.session_id, i.app_id, s.app_id, i.added_us, i.request, i.body,
--     a.name, u.name, s.name

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- On a server: nobody else adds to the user, or removes from it.

-- name: lock_user
-- only: postgres mysql
SELECT 1::bigint FROM users WHERE shard = SHARD(THE_USER($1)) AND id = THE_USER($1) FOR UPDATE;

-- On a server: nobody else adds to the app, or removes from it.

-- name: lock_app
-- only: postgres mysql
SELECT 1::bigint FROM apps WHERE shard = SHARD(THE_APP($1)) AND id = THE_APP($1) FOR UPDATE;

-- Names in order, from $2 on, except $3.

-- name: apps_named
-- only: postgres mysql
SELECT id, name FROM apps
WHERE ($1::bigint IS NULL OR true) AND name >= $2 AND ($3::text IS NULL OR name <> $3) ORDER BY name
LIMIT $4::bigint;

-- name: users_named
-- only: postgres mysql
SELECT id, name FROM users
WHERE app_id = $1 AND name >= $2 AND ($3::text IS NULL OR name <> $3) ORDER BY name LIMIT $4::bigint;

-- name: user_delete
DELETE FROM users WHERE shard = SHARD($1) AND id = $1;

-- name: app_delete
DELETE FROM apps WHERE shard = SHARD($1) AND id = $1;

-- name: session_add
-- only: sqlite mysql
INSERT INTO sessions
    (app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq, event_count, expires_us,
     changed_us, ahead_hour)
VALUES ($1, $2, $3, $4, $4, $5, $6, 0, 0, $7, $8, $9);

-- name: details_add
INSERT INTO session_details (shard, session_id, initial_state)
VALUES (SHARD(THE_SESSION($1)), THE_SESSION($1), $2);

-- name: details_initial
SELECT initial_state, origin FROM session_details WHERE shard = SHARD($1) AND session_id = $1;

-- name: title_set
INSERT INTO session_details (shard, session_id, title) VALUES (SHARD(THE_SESSION($1)), THE_SESSION($1), $2)
ON CONFLICT (shard, session_id) DO UPDATE SET title = excluded.title;

-- name: archived_set
INSERT INTO session_details (shard, session_id, archived_us)
VALUES (SHARD(THE_SESSION($1)), THE_SESSION($1), $2)
ON CONFLICT (shard, session_id) DO UPDATE SET archived_us = excluded.archived_us;

-- name: child_of_set
INSERT INTO session_details (shard, session_id, child_user, child_session)
VALUES (SHARD(THE_SESSION($1)), THE_SESSION($1), $2, $3)
ON CONFLICT (shard, session_id) DO UPDATE SET
    child_user = excluded.child_user, child_session = excluded.child_session;

-- name: remembered_set
INSERT INTO session_details (shard, session_id, remembered_seq)
VALUES (SHARD(THE_SESSION($1)), THE_SESSION($1), $2)
ON CONFLICT (shard, session_id) DO UPDATE SET remembered_seq = excluded.remembered_seq;

-- name: remembered_seq
SELECT CASE WHEN s.details & 32 <> 0 THEN 4294967295 ELSE coalesce(d.remembered_seq, 0) END
FROM sessions AS s LEFT JOIN session_details AS d ON d.shard = SHARD($1) AND d.session_id = $1
WHERE s.shard = SHARD($1) AND s.id = $1;

-- name: label_set
INSERT INTO session_labels (shard, session_id, name, value, app_id)
VALUES (SHARD(THE_SESSION($1)), THE_SESSION($1), $2, $3, THE_APP($4))
ON CONFLICT (shard, session_id, name) DO UPDATE SET value = excluded.value, app_id = excluded.app_id;

-- name: label_remove
DELETE FROM session_labels WHERE shard = SHARD($1) AND session_id = $1 AND name = $2;

-- name: base_state_all
SELECT session_id, key, value, seq FROM base_state WHERE shard = SHARD($1) AND session_id = $1 ORDER BY key;

-- name: session_shelve
UPDATE sessions SET details = $2, active_30s = $3
WHERE shard = SHARD(THE_SESSION($1)) AND id = THE_SESSION($1);

-- name: session_describe
UPDATE sessions SET details = $2 WHERE shard = SHARD(THE_SESSION($1)) AND id = THE_SESSION($1);

-- name: session_expiry
UPDATE sessions SET expires_us = $2 WHERE shard = SHARD($1) AND id = $1;

-- name: session_touch
UPDATE sessions SET version = $2, last_seq = $3, event_count = $4, updated_us = $5, changed_us = $6
WHERE shard = SHARD($1) AND id = $1;

-- name: session_touch_active
UPDATE sessions SET version = $2, last_seq = $3, event_count = $4, updated_us = $5, changed_us = $6,
       active_30s = $7, ahead_hour = $8
WHERE shard = SHARD($1) AND id = $1;

-- name: sessions_of_user
SELECT id FROM sessions WHERE shard = SHARD($1) AND user_id = $1 LIMIT 1;

-- For followers.

-- name: sessions_by_name
-- only: postgres mysql
SELECT SESSION_COLUMNS(s), s.name
FROM sessions AS s WHERE s.shard = SHARD($1) AND s.user_id = $1 AND s.name > $2
ORDER BY s.name LIMIT $3::bigint;

-- name: session_version
-- only: sqlite mysql
SELECT version FROM sessions WHERE id = $1;

-- The sessions after $2, at most $3, of the app $1 or of the store; or of either those that were active in
-- the 30 seconds $4 or later.

-- name: followed_of_app
SELECT SESSION_COLUMNS(s) FROM sessions AS s INDEXED BY sessions_by_app
WHERE s.app_id = $1 AND s.id > $2 ORDER BY s.id LIMIT $3::bigint;

-- name: followed_of_store
SELECT SESSION_COLUMNS(s) FROM sessions AS s
WHERE s.id > $2 AND ($1::bigint IS NULL OR true) ORDER BY s.id LIMIT $3::bigint;

-- name: followed_recent
SELECT SESSION_COLUMNS(s) FROM_RECENT($1, $4) AND s.id > $2 ORDER BY s.id LIMIT $3::bigint;

-- A sum of parts of 32 bits cannot overflow.

-- name: recent_versions
SELECT max(s.id), count(s.id), TOTAL(s.version & 4294967295) FROM_RECENT($1, $2);

-- The sessions that ses_store_expire and ses_delete_app delete, a few at a time.

-- name: app_after
SELECT id FROM apps WHERE id > $1 ORDER BY id LIMIT 1;

-- name: user_name
SELECT name FROM users WHERE shard = SHARD($1) AND id = $1;

-- name: sessions_of_app
-- only: postgres mysql
-- locks: FOR UPDATE
SELECT id FROM sessions WHERE app_id = $1 ORDER BY id LIMIT $2::bigint;

-- name: sessions_expired
-- only: postgres mysql
-- locks: FOR UPDATE
SELECT id FROM sessions WHERE app_id = $1 AND expires_us <= $3 ORDER BY expires_us, id LIMIT $2::bigint;

-- name: sessions_idle
-- only: postgres mysql
-- locks: FOR UPDATE
SELECT id FROM sessions
WHERE app_id = $1 AND active_30s BETWEEN $5 AND $4 AND changed_us < $3 AND ahead_hour IS NULL
  AND details & 32 = $6
ORDER BY active_30s, id LIMIT $2::bigint;

-- name: sessions_idle_ahead
-- only: postgres mysql
-- locks: FOR UPDATE
SELECT id FROM sessions
WHERE app_id = $1 AND ahead_hour <= $4 AND changed_us < $3 AND details & 32 = $5
ORDER BY ahead_hour, id LIMIT $2::bigint;

-- name: user_has_more
SELECT 1::bigint FROM sessions WHERE shard = SHARD($1) AND user_id = $1 LIMIT 1 OFFSET $2::bigint;

-- The number of an app's sessions that are due: expired, not written since a time, which is $5 for memory
-- (details & 32), or beyond a number per user, where memory does not count.

-- name: due_count
-- only: sqlite postgres
SELECT coalesce(sum((SELECT greatest(
                         count(*) FILTER (WHERE s.details & 32 = 0) - $4::bigint,
                         count(*) FILTER (WHERE s.details & 32 = 0 AND (s.expires_us <= $2::bigint
                                                                        OR s.changed_us < $3::bigint)))
                         + count(*) FILTER (WHERE s.details & 32 <> 0 AND (s.expires_us <= $2::bigint
                                                                           OR s.changed_us < $5::bigint))
                     FROM sessions AS s WHERE s.shard = u.shard AND s.user_id = u.id)), 0)::bigint
FROM users AS u WHERE u.app_id = $1;

-- The numbers of at most $2 sessions that an index finds: those with a label $3 of a value from $4 to $5,
-- those with a name from $3 to before $4, those of the app $1 that are children of the session $4 of
-- the user $3, or those that were active in the 30 seconds from $3 to $4.

-- name: ids_labelled
-- only: sqlite mysql
SELECT session_id FROM session_labels INDEXED BY session_labels_by_value
WHERE app_id = $1 AND name = $3 AND value BETWEEN $4 AND $5 LIMIT $2;

-- name: ids_active_of_app
SELECT id FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = $1 AND active_30s BETWEEN $3 AND $4
UNION ALL
SELECT id FROM sessions INDEXED BY sessions_by_activity
WHERE app_id = $1 AND active_30s BETWEEN $5 AND $6
LIMIT $2::bigint;

-- name: ids_active_of_user
-- only: sqlite mysql
SELECT id FROM sessions INDEXED BY sessions_by_user_activity
WHERE user_id = $1 AND active_30s BETWEEN $3 AND $4
UNION ALL
SELECT id FROM sessions INDEXED BY sessions_by_user_activity
WHERE user_id = $1 AND active_30s BETWEEN $5 AND $6
LIMIT $2;

-- Between the first and the last 30 seconds no time has to be checked.

-- name: count_active
-- only: sqlite mysql
SELECT (SELECT count(*) FROM sessions AS c INDEXED BY sessions_by_activity
        WHERE c.app_id = $1 AND c.active_30s BETWEEN $11 AND $12
          AND ((c.active_30s > $11 AND c.active_30s < $12) OR (c.updated_us >= $3 AND c.updated_us < $4))
          AND PASSES(c, $15, $16, $17, $18, $19, $20))
     + (SELECT count(*) FROM sessions AS c INDEXED BY sessions_by_activity
        WHERE c.app_id = $1 AND c.active_30s BETWEEN $21 AND $22
          AND ((c.active_30s > $21 AND c.active_30s < $22) OR (c.updated_us >= $3 AND c.updated_us < $4))
          AND PASSES(c, $15, $16, $17, $18, $19, $20));

-- name: app_state_remove
DELETE FROM app_state WHERE shard = SHARD(THE_APP($1)) AND app_id = THE_APP($1) AND key = $2;

-- name: user_state_remove
DELETE FROM user_state WHERE shard = SHARD(THE_USER($1)) AND user_id = THE_USER($1) AND key = $2;

-- name: session_state_remove
DELETE FROM session_state WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND key = $2;

-- Only if the session $3 has set it.

-- name: app_state_remove_own
DELETE FROM app_state WHERE shard = SHARD($1) AND app_id = $1 AND key = $2 AND session_id = $3;

-- name: user_state_remove_own
DELETE FROM user_state WHERE shard = SHARD($1) AND user_id = $1 AND key = $2 AND session_id = $3;

-- name: app_state_all
SELECT key, value FROM app_state WHERE shard = SHARD(THE_APP($1)) AND app_id = THE_APP($1) ORDER BY key;

-- name: user_state_all
SELECT key, value FROM user_state WHERE shard = SHARD(THE_USER($1)) AND user_id = THE_USER($1) ORDER BY key;

-- name: session_state_all
SELECT key, value FROM session_state
WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) ORDER BY key;

-- All that a session sees: scope by scope, and each sorted.

-- name: state_of_session
-- prepared: for ses_get
SELECT key, value, 0::bigint AS scope FROM app_state WHERE shard = SHARD(THE_APP($1)) AND app_id = THE_APP($1)
UNION ALL
SELECT key, value, 1 FROM user_state WHERE shard = SHARD(THE_USER($2)) AND user_id = THE_USER($2)
UNION ALL
SELECT key, value, 2 FROM session_state WHERE shard = SHARD(THE_SESSION($3)) AND session_id = THE_SESSION($3);

-- Includes the event that set each key.

-- name: session_state_rows
SELECT session_id, key, value, seq FROM session_state
WHERE shard = SHARD($1) AND session_id = $1 ORDER BY key;

-- name: app_state_get
SELECT key, value FROM app_state WHERE shard = SHARD(THE_APP($1)) AND app_id = THE_APP($1) AND key = $2;

-- name: user_state_get
SELECT key, value FROM user_state WHERE shard = SHARD(THE_USER($1)) AND user_id = THE_USER($1) AND key = $2;

-- name: session_state_get
SELECT key, value FROM session_state
WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND key = $2;

-- A deletion by range checks each row, since damaged pages can contain rows of others.

-- name: app_state_delete
DELETE FROM app_state WHERE shard = SHARD($1) AND app_id = $1 AND +app_id = $1;

-- name: user_state_delete
DELETE FROM user_state WHERE shard = SHARD($1) AND user_id = $1 AND +user_id = $1;

-- name: session_state_delete
DELETE FROM session_state WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: base_state_add
INSERT INTO base_state (shard, session_id, key, value, seq) VALUES (SHARD($1), $1, $2, $3, $4);

-- name: base_state_delete
DELETE FROM base_state WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: session_labels_delete
DELETE FROM session_labels WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: session_lease_delete
DELETE FROM session_leases WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: derived_delete
DELETE FROM derived WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: lease_find
-- only: postgres mysql
-- locks: FOR UPDATE
SELECT token, session_id, owner, taken_us, until_us, next_owner, next_until_us
FROM session_leases WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1);

-- name: lease_add
-- only: sqlite mysql
INSERT INTO session_leases (session_id, owner, taken_us, until_us) VALUES ($1, $2, $3, $4);

-- name: lease_set
-- only: postgres mysql
UPDATE session_leases SET taken_us = $3, until_us = $4, next_owner = $5, next_until_us = $6
WHERE shard = SHARD($2) AND session_id = $2 AND token = $1;

-- name: draft_find
SELECT updated_us, body FROM session_drafts
WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1);

-- name: draft_set
INSERT INTO session_drafts (shard, session_id, updated_us, body) VALUES (SHARD($1), $1, $2, $3)
ON CONFLICT (shard, session_id) DO UPDATE SET updated_us = excluded.updated_us, body = excluded.body;

-- name: draft_delete
DELETE FROM session_drafts WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1);

-- name: inbox_add
-- only: sqlite mysql
INSERT INTO session_inbox (session_id, app_id, request, added_us, body) VALUES ($1, $2, $3, $4, $5);

-- name: inbox_find
SELECT body FROM session_inbox
WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND request = $2;

-- name: inbox_count
SELECT count(*) FROM session_inbox WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1);

-- name: inbox_remove
DELETE FROM session_inbox
WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND request = $2;

-- name: inbox_delete
DELETE FROM session_inbox WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- The inputs after $2 in their order, at most $3: of the store, of the app $1 or of its user $4 (unless that
-- is NULL), or of the session $1.

-- name: inbox_of_store
SELECT INBOX_COLUMNS() FROM_INBOX()
WHERE i.id > $2 AND ($1::bigint IS NULL OR true) AND ($4::bigint IS NULL OR true) AND IS_FREE(i)
ORDER BY i.id LIMIT $3::bigint;

-- name: inbox_of_app
SELECT INBOX_COLUMNS() FROM_INBOX()
WHERE i.app_id = $1 AND i.id > $2 AND ($4::bigint IS NULL OR s.user_id = $4::bigint) AND IS_FREE(i)
ORDER BY i.id LIMIT $3::bigint;

-- name: inbox_of_session
SELECT INBOX_COLUMNS() FROM_INBOX()
WHERE i.shard = SHARD(THE_SESSION($1)) AND i.session_id = THE_SESSION($1) AND i.id > $2
  AND ($4::bigint IS NULL OR true) AND IS_FREE(i)
ORDER BY i.id LIMIT $3::bigint;

-- name: event_marks_delete
DELETE FROM event_marks WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: event_marks_cut
DELETE FROM event_marks WHERE shard = SHARD($1) AND session_id = $1 AND seq > $2 AND +session_id = $1;

-- name: event_marks_prune
DELETE FROM event_marks WHERE shard = SHARD($1) AND session_id = $1 AND seq <= $2 AND +session_id = $1;

-- name: session_prune
UPDATE sessions SET base_seq = $2, event_count = $3 WHERE shard = SHARD($1) AND id = $1;

-- The event with a new body.

-- name: event_replace
-- only: postgres mysql
UPDATE events SET body = $5
WHERE shard = SHARD($1) AND session_id = $1 AND seq = $2 AND id = $3 AND invocation_id = $4;

-- The value $6 that an event $5 of the session $4 has set, or that was imported (then no session has set it).
-- The event may name its key twice, so it may have set another value.

-- name: app_state_replace
UPDATE app_state SET value = $3 WHERE shard = SHARD($1) AND app_id = $1 AND key = $2
  AND ((session_id = $4 AND seq = $5) OR session_id = 0) AND value = $6 AND value <> $3;

-- name: user_state_replace
UPDATE user_state SET value = $3 WHERE shard = SHARD($1) AND user_id = $1 AND key = $2
  AND ((session_id = $4 AND seq = $5) OR session_id = 0) AND value = $6 AND value <> $3;

-- name: session_state_replace
UPDATE session_state SET value = $3 WHERE shard = SHARD($1) AND session_id = $1 AND key = $2
  AND $4::bigint = $1 AND seq = $5 AND value = $6 AND value <> $3;

-- name: base_state_replace
UPDATE base_state SET value = $3
WHERE shard = SHARD($1) AND session_id = $1 AND key = $2 AND seq = $4 AND value = $5;

-- name: base_state_remove
DELETE FROM base_state WHERE shard = SHARD($1) AND session_id = $1 AND key = $2;

-- name: details_replace_initial
UPDATE session_details SET initial_state = $2 WHERE shard = SHARD($1) AND session_id = $1;

-- name: event_marks_backward
-- only: postgres mysql
SELECT session_id, seq, kind, target_seq FROM event_marks
WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND seq <= $2 ORDER BY seq DESC
LIMIT $3::bigint;

-- Copies of a session's rows for a fork.

-- name: events_copy
-- only: postgres mysql
INSERT INTO events (shard, session_id, EVENT_COLUMNS())
SELECT SHARD($2), $2::bigint, EVENT_COLUMNS()
FROM events WHERE shard = SHARD($1) AND session_id = $1 AND seq <= $3 ORDER BY seq;

-- name: event_marks_copy
INSERT INTO event_marks (shard, session_id, seq, kind, target_seq)
SELECT SHARD($2), $2::bigint, seq, kind, target_seq FROM event_marks
WHERE shard = SHARD($1) AND session_id = $1 AND seq <= $3;

-- name: base_state_copy
INSERT INTO base_state (shard, session_id, key, value, seq)
SELECT SHARD($2), $2::bigint, key, value, seq FROM base_state
WHERE shard = SHARD($1) AND session_id = $1;

-- name: session_state_copy
INSERT INTO session_state (shard, session_id, key, value, seq)
SELECT SHARD($2), $2::bigint, key, value, seq FROM session_state
WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: session_labels_copy
INSERT INTO session_labels (shard, session_id, name, value, app_id)
SELECT SHARD($2), $2::bigint, name, value, app_id FROM session_labels
WHERE shard = SHARD($1) AND session_id = $1 AND +session_id = $1;

-- name: details_copy
-- only: sqlite postgres
INSERT INTO session_details
    (shard, session_id, title, parent_user, parent_session, parent_seq, initial_state, origin, child_user,
     child_session)
VALUES (SHARD($2), $2,
        (SELECT title FROM session_details WHERE shard = SHARD($1) AND session_id = $1),
        $3, $4, $5,
        (SELECT initial_state FROM session_details WHERE shard = SHARD($1) AND session_id = $1),
        (SELECT origin FROM session_details WHERE shard = SHARD($1) AND session_id = $1),
        (SELECT child_user FROM session_details WHERE shard = SHARD($1) AND session_id = $1),
        (SELECT child_session FROM session_details WHERE shard = SHARD($1) AND session_id = $1));

-- An import of events that are older than the last write does not move that back.

-- name: session_fill
UPDATE sessions SET last_seq = $2, event_count = $3, updated_us = $4, active_30s = $5, base_seq = $6,
       details = $7, version = $8, changed_us = greatest(changed_us, $9), ahead_hour = $10
WHERE shard = SHARD($1) AND id = $1;

-- For loading: a session is created without a name, and gets it when it is complete.

-- name: session_name
UPDATE sessions SET name = $2 WHERE shard = SHARD($1) AND id = $1;

-- name: parent_set
INSERT INTO session_details (shard, session_id, parent_user, parent_session, parent_seq)
VALUES (SHARD($1), $1, $2, $3, $4)
ON CONFLICT (shard, session_id) DO UPDATE SET
    parent_user = excluded.parent_user, parent_session = excluded.parent_session,
    parent_seq = excluded.parent_seq;

-- name: event_mark_add
INSERT INTO event_marks (shard, session_id, seq, kind, target_seq) VALUES (SHARD($1), $1, $2, $3, $4);

-- name: events_newest
-- only: postgres mysql
-- prepared: for ses_get
SELECT EVENT_COLUMNS()
FROM events WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND seq BETWEEN $2 AND $3
ORDER BY seq DESC LIMIT $4::bigint;

-- The first event of an invocation.

-- name: event_of_invocation
-- only: postgres mysql
SELECT EVENT_COLUMNS()
FROM events WHERE shard = SHARD($1) AND session_id = $1 AND seq BETWEEN $2 AND $3 AND invocation_id = $4
ORDER BY seq LIMIT 1;

-- Finds where a walk begins, without reading the wide columns.

-- name: event_times_backward
-- only: postgres mysql
SELECT seq, time_us, high_us
FROM events WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1) AND seq BETWEEN $2 AND $3
ORDER BY seq DESC LIMIT $4::bigint;

-- name: events_delete
-- only: postgres mysql
DELETE FROM events WHERE shard = SHARD($1) AND session_id = $1 AND seq BETWEEN $2 AND $3;

-- The remains of a session, a user or an app after its rows were deleted.

-- name: session_left
-- only: postgres mysql
SELECT 1::bigint FROM events WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM event_marks WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM session_state WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM base_state WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM session_labels WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM session_leases WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM session_drafts WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM session_inbox WHERE shard = SHARD($1) AND session_id = $1
UNION ALL SELECT 1::bigint FROM derived WHERE shard = SHARD($1) AND session_id = $1
LIMIT 1;

-- name: user_left
-- only: postgres mysql
SELECT 1::bigint FROM user_state WHERE shard = SHARD($1) AND user_id = $1 LIMIT 1;

-- name: app_left
-- only: postgres mysql
SELECT 1::bigint FROM app_state WHERE shard = SHARD($1) AND app_id = $1
UNION ALL SELECT 1::bigint FROM users WHERE app_id = $1
UNION ALL SELECT 1::bigint FROM sessions WHERE app_id = $1
LIMIT 1;

-- For a check: single rows in order, without joins to other tables.

-- name: check_app_after
SELECT id, name FROM apps WHERE id > $1 ORDER BY id LIMIT 1;

-- name: check_user_after
-- only: sqlite postgres
SELECT u.id, u.app_id, u.name, a.name
FROM users AS u
LEFT JOIN apps AS a ON a.shard = SHARD(u.app_id) AND a.id = u.app_id
WHERE u.id > $1 ORDER BY u.id LIMIT 1;

-- name: check_session_after
-- only: sqlite postgres
SELECT SESSION_COLUMNS(s), s.active_30s, s.changed_us, s.ahead_hour, u.app_id, a.name, u.name, s.name
FROM sessions AS s
LEFT JOIN users AS u ON u.shard = s.shard AND u.id = s.user_id
LEFT JOIN apps AS a ON a.shard = SHARD(s.app_id) AND a.id = s.app_id
WHERE s.id > $1 ORDER BY s.id LIMIT 1;

-- name: check_details
SELECT title, parent_user, parent_session, parent_seq, more, origin, archived_us, child_user, child_session,
       remembered_seq
FROM session_details
WHERE shard = SHARD($1) AND session_id = $1;

-- name: check_labels
SELECT name, value, app_id FROM session_labels WHERE shard = SHARD($1) AND session_id = $1 ORDER BY name;

-- name: check_app_state
SELECT key, value, session_id, seq FROM app_state WHERE shard = SHARD($1) AND app_id = $1 ORDER BY key;

-- name: check_user_state
SELECT key, value, session_id, seq FROM user_state WHERE shard = SHARD($1) AND user_id = $1 ORDER BY key;

-- The next one of a user that has a hash, and the next one that has none.

-- name: check_content_after
SELECT id, hash, size, uses, written_us FROM artifact_contents
WHERE shard = SHARD($1) AND user_id = $1 AND hash > $2 ORDER BY hash LIMIT 1;

-- name: check_unfinished_after
SELECT id, hash, size, uses, written_us FROM artifact_contents
WHERE shard = SHARD($1) AND user_id = $1 AND hash IS NULL AND id > $2 ORDER BY id LIMIT 1;

-- name: check_uses
SELECT count(*) FROM artifacts WHERE shard = SHARD($1) AND user_id = $1 AND content_id = $2;

-- name: base_state_get
SELECT value, seq FROM base_state WHERE shard = SHARD($1) AND session_id = $1 AND key = $2;

-- name: check_floors
-- only: postgres mysql
SELECT floor FROM version_floor WHERE floor < 0 OR floor >= 9007199254740991 - 1099511627776
ORDER BY floor DESC LIMIT $1::bigint;

-- name: check_count
-- only: postgres mysql
SELECT count(*) FROM sessions;

-- Artifacts. $4 is the version, or the highest number for the newest one. Includes an address, if it is no
-- longer than one that leads to an artifact can be.

-- name: artifact_find
-- only: postgres mysql
SELECT ARTIFACT_COLUMNS(),
       CASE WHEN f.kind = 2 AND c.size <= 2176
            THEN (SELECT k.bytes FROM artifact_chunks AS k
                  WHERE k.shard = c.shard AND k.content_id = c.id AND k.number = 0) END
FROM_ARTIFACTS()
WHERE f.shard = SHARD(THE_USER($1)) AND f.user_id = THE_USER($1) AND f.session = $2 AND f.name = $3
  AND f.version <= $4
ORDER BY f.version DESC LIMIT 1;

-- The versions above $4.

-- name: artifact_versions
SELECT ARTIFACT_COLUMNS()
FROM_ARTIFACTS()
WHERE f.shard = SHARD(THE_USER($1)) AND f.user_id = THE_USER($1) AND f.session = $2 AND f.name = $3
  AND f.version > $4
ORDER BY f.version LIMIT $5;

-- All of a user, in order, after the one with the session's name $2, the name $3 and the version $4.

-- name: artifacts_after
SELECT ARTIFACT_COLUMNS(), f.session
FROM_ARTIFACTS()
WHERE f.shard = SHARD($1) AND f.user_id = $1 AND (f.session, f.name, f.version) > ($2, $3, $4)
ORDER BY f.session, f.name, f.version LIMIT $5;

-- name: artifact_add
INSERT INTO artifacts
    (shard, user_id, session, name, version, created_us, kind, mime_type, display_name, metadata, content_id)
VALUES (SHARD($1), $1, $2, $3, $4, $5, $6, $7, $8, $9, THE_CONTENT($10));

-- name: artifact_remove
DELETE FROM artifacts
WHERE shard = SHARD($1) AND user_id = $1 AND session = $2 AND name = $3 AND version = $4;

-- name: artifacts_remove
-- only: sqlite postgres
DELETE FROM artifacts
WHERE shard = SHARD(THE_USER($1)) AND user_id = THE_USER($1) AND session = $2 AND name = coalesce($3, name);

-- The base of the session $2 forgets the artifact $3, whose key there is $4, if no version of it is left.

-- name: base_artifact_forget
-- only: sqlite mysql
DELETE FROM base_state
WHERE session_id = (SELECT s.id FROM sessions AS s WHERE s.user_id = THE_USER($1) AND s.name = $2)
    AND key = $4
    AND NOT EXISTS (SELECT 1 FROM artifacts AS a
                    WHERE a.user_id = THE_USER($1) AND a.session = $2 AND a.name = $3);

-- name: artifacts_copy
INSERT INTO artifacts
    (shard, user_id, session, name, version, created_us, kind, mime_type, display_name, metadata, content_id)
SELECT shard, user_id, $3, name, version, created_us, kind, mime_type, display_name, metadata, content_id
FROM artifacts WHERE shard = SHARD($1) AND user_id = $1 AND session = $2;

-- The first version after version $4 of the name $3.

-- name: artifact_after
SELECT ARTIFACT_COLUMNS()
FROM_ARTIFACTS()
WHERE f.shard = SHARD($1) AND f.user_id = $1 AND f.session = $2 AND (f.name, f.version) > ($3, $4)
ORDER BY f.name, f.version LIMIT 1;

-- Artifacts that a session has get another name of a session.

-- name: artifacts_move
UPDATE artifacts SET session = $3 WHERE shard = SHARD($1) AND user_id = $1 AND session = $2;

-- The next name after $2 under which artifacts are, but no session.

-- name: artifacts_without_session
SELECT a.session FROM artifacts AS a
WHERE a.shard = SHARD($1) AND a.user_id = $1 AND a.session > $2
    AND NOT EXISTS (SELECT 1 FROM sessions AS s
                    WHERE s.shard = SHARD($1) AND s.user_id = $1 AND s.name = a.session)
ORDER BY a.session LIMIT 1;

-- name: session_called
SELECT name FROM sessions WHERE shard = SHARD($1) AND id = $1;

-- name: content_find
-- locks: FOR UPDATE
SELECT id, size FROM artifact_contents
WHERE shard = SHARD(THE_USER($1)) AND user_id = THE_USER($1) AND hash = $2;

-- name: content_use
UPDATE artifact_contents SET uses = uses + $3 WHERE shard = SHARD($1) AND id = $1 AND user_id = $2;

-- Only contents that are being written.

-- name: content_grow
UPDATE artifact_contents SET size = $3, written_us = $4
WHERE shard = SHARD($1) AND id = $1 AND user_id = $2 AND uses = 0 AND hash IS NULL;

-- name: content_finish
UPDATE artifact_contents SET hash = $3, uses = 1
WHERE shard = SHARD($1) AND id = $1 AND user_id = $2 AND uses = 0 AND hash IS NULL;

-- name: chunk_add
-- only: postgres mysql
INSERT INTO artifact_chunks (shard, content_id, number, bytes)
VALUES (SHARD(THE_CONTENT($1)), THE_CONTENT($1), $2, $3);

-- name: chunks_copy
-- only: postgres mysql
INSERT INTO artifact_chunks (shard, content_id, number, bytes)
SELECT SHARD($2), $2, number, bytes FROM artifact_chunks WHERE shard = SHARD($1) AND content_id = $1;

-- A row of NULLs: the content is there, but no such chunk.

-- name: chunks_read
-- only: postgres mysql
SELECT k.number, k.bytes
FROM artifact_contents AS c
LEFT JOIN artifact_chunks AS k ON k.shard = c.shard AND k.content_id = c.id AND k.number BETWEEN $4 AND $5
WHERE c.shard = SHARD($1) AND c.id = $1 AND c.user_id = $2 AND c.hash = $3 ORDER BY k.number;

-- The contents that no artifact of a user has any more, and those that were left before the time $2 while
-- they were written. (Their chunks are removed before, by chunks_sweep.)

-- name: contents_sweep
DELETE FROM artifact_contents
WHERE shard = SHARD(THE_USER($1)) AND user_id = THE_USER($1) AND uses = 0
  AND (hash IS NOT NULL OR written_us < $2);

-- name: chunks_delete
-- only: postgres mysql
DELETE FROM artifact_chunks WHERE shard = SHARD($1) AND content_id = $1;

-- name: content_delete
DELETE FROM artifact_contents
WHERE shard = SHARD($1) AND id = $1 AND user_id = $2 AND uses = 0 AND hash IS NULL;

-- name: user_contents_delete
DELETE FROM artifact_contents WHERE shard = SHARD($1) AND user_id = $1;

-- name: user_artifacts_delete
DELETE FROM artifacts WHERE shard = SHARD($1) AND user_id = $1;

-- Data that is derived from the events: a row in `features`, and for each session how far it has come. $1 (of
-- behind_*: $4) is the name of the feature.

-- name: feature_find
SELECT 1::bigint FROM features WHERE name = $1;

-- name: feature_leave
DELETE FROM features WHERE name = $1;

-- name: derived_forget
DELETE FROM derived WHERE what = $1;

-- name: derived_find
SELECT seq, epoch FROM derived WHERE shard = SHARD($1) AND session_id = $1 AND what = $2 AND +session_id = $1;

-- name: derived_set
INSERT INTO derived (shard, session_id, what, seq, epoch) VALUES (SHARD($1), $1, $2, $3, $4)
ON CONFLICT (shard, session_id, what) DO UPDATE SET seq = excluded.seq, epoch = excluded.epoch;

-- name: derived_leave
DELETE FROM derived WHERE shard = SHARD($1) AND session_id = $1 AND what = $2 AND +session_id = $1;

-- Sessions with a number above $1 with which it has not come as far as their events, or that were cut since
-- then: of the owner $3, at most $2.

-- name: behind_any
SELECT s.id
FROM sessions AS s
LEFT JOIN derived AS d ON d.shard = s.shard AND d.session_id = s.id AND d.what = $4::text
WHERE s.id > $1 AND s.event_count > 0
  AND (coalesce(d.seq, 0) < s.last_seq OR d.epoch <> s.version - s.last_seq)
  AND $3::bigint = 0
ORDER BY s.id LIMIT $2::bigint;

-- name: behind_app
-- only: postgres mysql
SELECT s.id FROM sessions AS s
WHERE s.app_id = $3 AND s.id > $1 AND s.event_count > 0 AND IS_BEHIND(s, $4) ORDER BY s.id LIMIT $2::bigint;

-- name: behind_session
-- only: postgres mysql
SELECT s.id FROM sessions AS s
WHERE s.shard = SHARD($3) AND s.id = $3 AND s.id > $1 AND s.event_count > 0 AND IS_BEHIND(s, $4)
LIMIT $2::bigint;

-- name: derived_lag
-- only: sqlite postgres
SELECT coalesce(sum(greatest(0, s.last_seq - greatest(s.base_seq, coalesce(d.seq, 0)))), 0)::bigint
FROM sessions AS s
LEFT JOIN derived AS d
    ON d.shard = s.shard AND d.session_id = s.id AND d.what = $1::text AND d.epoch = s.version - s.last_seq
WHERE s.event_count > 0;

-- Returns whether a search may use the index of words.

-- name: index_serves
-- only: sqlite mysql
SELECT 1 FROM features WHERE name = $1;

-- The use of tokens: the books of the engines make its table (usage_make). This adds calls to a row. A
-- sum that is too large is the largest number.

-- name: usage_add
INSERT INTO usage_sums (shard, session_id, quarter, model, what, first_seq, last_seq, calls, odd,
                        first_us, last_us, prompt, cached, candidates, thoughts, tool_use, total)
VALUES (SHARD($1), $1, $2, $3, 'usage2', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (shard, session_id, quarter, model) DO UPDATE SET
    first_seq = least(OLD(first_seq), excluded.first_seq),
    last_seq = greatest(OLD(last_seq), excluded.last_seq),
    first_us = least(OLD(first_us), excluded.first_us), last_us = greatest(OLD(last_us), excluded.last_us),
    calls = ADDED(calls), odd = ADDED(odd), prompt = ADDED(prompt), cached = ADDED(cached),
    candidates = ADDED(candidates), thoughts = ADDED(thoughts), tool_use = ADDED(tool_use),
    total = ADDED(total);

-- Sessions with events, of the owner $1, with how far their use of tokens has come: at most $2, which were
-- updated at $3 or later and before $4, have the label $5 (if it is not NULL) with a value from $6 to $7, a
-- number above $8, and a name from $10 to before $11 (if it is not NULL). $12 to $15 are those of PASSES.
-- Names of users and apps are given if $9 is not 0.

-- name: usage_any
SELECT USAGE_COLUMNS(s) FROM sessions AS s USAGE_JOINS($9)
WHERE $1::bigint = 0 AND USAGE_FILTER(s) ORDER BY s.id LIMIT $2::bigint;

-- name: usage_of_app
SELECT USAGE_COLUMNS(s) FROM sessions AS s INDEXED BY sessions_by_app USAGE_JOINS($9)
WHERE s.app_id = $1 AND USAGE_FILTER(s) ORDER BY s.id LIMIT $2::bigint;

-- name: usage_of_user
-- only: sqlite mysql
SELECT USAGE_COLUMNS(s) FROM sessions AS s INDEXED BY sessions_by_user USAGE_JOINS($9)
WHERE s.user_id = $1 AND USAGE_FILTER(s) ORDER BY s.id LIMIT $2;

-- name: usage_of_session
SELECT USAGE_COLUMNS(s) FROM sessions AS s USAGE_JOINS($9)
WHERE s.shard = SHARD($1) AND s.id = $1 AND USAGE_FILTER(s) LIMIT $2::bigint;
