-- The statements for PostgreSQL that are not in sql/statements.sql, whose head describes how these books are
-- written. The names, parameters and columns are those that SQLite has; numbers are bigint, everything else
-- is text.
--
-- Wherever a statement has a number of an app, a user or a session, it has its shard too: the last 12 bits.
-- The shard of names is computed from them (0002_initial.sql says how). Only statements about a whole app, or
-- the whole store, go through all shards.
--
-- Only in SQLite:
-- without: data_version     there is no such number: followers look at their sessions,
-- without: session_version  many at once,
-- without: user_versions    with the statement watch
-- without: places_make      rows have the numbers of their events, so there is no table of places
-- without: place_add        to make, to add to,
-- without: place_after      to look into
-- without: places_remove    or to remove from,
-- without: words_remove     rows are deleted by their place, with words_delete,
-- without: index_merge      leave nothing behind,
-- without: index_write      and are written at once
-- without: usage_forget     foreign keys can be relied on
-- without: usage_counts_drop   the scripts drop it
-- without: filters_make     there are no filters of invocations:
-- without: filter_put       events are looked for
-- without: filters_from     where they are,
-- without: filters_forget   so none are deleted
-- without: filters_drop     with their table
--
-- Not in SQLite (a text that both servers share is in sql/statements.sql), since it locks the whole file:
-- own: lock_user            nobody else adds to the user, or removes from it,
-- own: lock_app             or the app
-- own: share_user           nobody deletes the user meanwhile,
-- own: share_app            or the app
--
-- Not in SQLite, since a file answers it in another way:
-- own: space                the bytes of the tables and their indexes
-- own: watch                the versions of many sessions, and of the sessions of many users
-- own: check_columns        missing columns (SQLite itself compares them with the schema),
-- own: check_indexes        and indexes
-- own: check_orphans        violations that foreign keys would prevent
-- own: check_shards         rows that cannot be found by their names
-- own: check_floors         shards that leave new sessions few versions, or none
-- own: check_count          the number of sessions for a check, which their ids do not give
--
-- Not in SQLite, since FTS5 must be told the words:
-- own: words_delete         what is removed from the index of words
-- own: words_after          its words, for a check,
-- own: index_drop           and a table is dropped without it
--
-- Not in SQLite, since the clocks of many machines differ:
-- own: lease_now            a lease and the server's time
--
-- Not in SQLite, since rows of a file are read one by one:
-- own: events_newest        as events_backward, however many bytes they have
--
-- Not in SQLite, for each transaction:
-- own: begin_settings       where names are looked up, how long to wait for a lock, and no unknown feature;
-- own: begin_read_settings  of a read only the first
--
-- Not in SQLite, for transactions that are sent as a whole, without waiting for numbers from the server:
-- own: append_by_key        the session to append to, if it is in the expected state,
-- own: append_by_id         or the same by its number
-- own: append_one           the same for a single event, which also updates the session,
-- own: append_one_named     or by its names
-- own: append_lease         the session's lease, if it has the expected token
-- own: append_event         an event with the next number
-- own: append_mark          a mark for an event that changes how the log is read
-- own: append_session_keys  the keys that the events set in the session's state,
-- own: append_user_keys     the user's,
-- own: append_app_keys      and the app's
-- own: remove_session_keys  the keys that they remove from the session's state,
-- own: remove_user_keys     the user's,
-- own: remove_app_keys      and the app's
-- own: append_touch         the session's row after these events
-- own: create_session       a session whose version follows those of earlier ones

-- The macros of these books, but those that are in sql/statements.sql.
--
-- The shards of a number, and of names:
-- macro: SHARD(id) = (id::bigint & 4095)::int
-- macro: HASH_SHARD(names) = ('x' || left(encode(sha256(convert_to(names, 'UTF8')), 'hex'), 3))::bit(12)::int
-- macro: APP_SHARD(app) = HASH_SHARD(app::text)
-- macro: USER_SHARD(app, user) = HASH_SHARD(app::text || E'\x01' || user::text)
--
-- The numbers that belong to names. (They are looked up one after the other, by subqueries: for a join, a
-- server may scan a shard.)
-- macro: APP_ID(app) = (SELECT a.id FROM seslite.apps AS a WHERE a.shard = APP_SHARD(app) AND a.name = app)
-- macro: USER_ID(app, user) = (SELECT u.id FROM seslite.users AS u
--     WHERE u.shard = USER_SHARD(app, user) AND u.name = user AND u.app_id = APP_ID(app))
--
-- A new number is above all others of its shard, even if the clock was set back. If two transactions make the
-- same one, the later one fails by the primary key (SQLSTATE 23505), and must be run again.
-- macro: CLOCK_US() = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
-- macro: NOW_US() = (CLOCK_US() - 1735689600000000)
-- macro: NEW_ID(table, number) = greatest(NOW_US() << 12 | number,
--     (SELECT max(o.id) FROM seslite.table AS o WHERE o.shard = number) + 4096)
--
-- The end of a DO block that makes a table with rows of sessions: it gets the rights and the row security
-- that `derived` has. `granted` is a record.
-- macro: GUARD_AS_DERIVED(made) = FOR granted IN
--     SELECT a.privilege_type AS what, CASE a.grantee WHEN 0
--     THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role
--     FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
--     WHERE c.oid = 'seslite.derived'::regclass AND a.grantee <> c.relowner
--     LOOP EXECUTE format('GRANT %s ON seslite.made TO %s', granted.what, granted.role); END LOOP;
--     IF (SELECT c.relrowsecurity FROM pg_class AS c WHERE c.oid = 'seslite.derived'::regclass) THEN
--     ALTER TABLE seslite.made ENABLE ROW LEVEL SECURITY;
--     CREATE POLICY tenant ON seslite.made USING (EXISTS (
--     SELECT FROM seslite.sessions AS o
--     WHERE o.shard = made.shard AND o.id = made.session_id OFFSET 0)); END IF;
--
-- session_find and its like keep the numbers of the session and of its owners until the transaction ends. A
-- statement about one of them that is given no number is about these, so that everything can be asked for
-- before the session is found.
-- macro: FOUND_COLUMNS(row) = set_config('seslite.session', row.id::text, true)::bigint AS id,
--     set_config('seslite.app', row.app_id::text, true)::bigint AS app_id,
--     set_config('seslite.user', row.user_id::text, true)::bigint AS user_id, STATE_COLUMNS(row)
-- What follows is about one session and goes by its indexes, whatever the numbers: it is planned once and not
-- again.
-- macro: PLANNED_ONCE() = set_config('plan_cache_mode', 'force_generic_plan', true) IS NOT NULL
-- (Under row security, the server uses no index for a condition that contains coalesce.)
-- macro: THE_SESSION(id) = CASE WHEN id::bigint IS NULL THEN nullif(current_setting('seslite.session', true),
--     '')::bigint ELSE id::bigint END
-- macro: THE_USER(id) = CASE WHEN id::bigint IS NULL THEN nullif(current_setting('seslite.user', true),
--     '')::bigint ELSE id::bigint END
-- macro: THE_APP(id) = CASE WHEN id::bigint IS NULL THEN nullif(current_setting('seslite.app', true),
--     '')::bigint ELSE id::bigint END
-- The same for the content that this transaction added last:
-- macro: THE_CONTENT(id) = CASE WHEN id::bigint IS NULL THEN nullif(current_setting('seslite.content', true),
--     '')::bigint ELSE id::bigint END
-- macro: APP_OF(session) = (SELECT o.app_id FROM seslite.sessions AS o
--     WHERE o.shard = SHARD(THE_SESSION(session)) AND o.id = THE_SESSION(session))
--
-- Keeps the numbers of a page of a list until the transaction ends, but those of the row after it: of its
-- sessions, of those with a row of details that a list shows, of those with labels, and of its users.
-- Statements about lists of owners that are given none are about these.
-- macro: KEPT(name, numbers) = set_config('seslite.name', coalesce((numbers)::text, '{}'), true)
-- macro: KEEP_PAGE(limit) = , kept AS MATERIALIZED (
--     SELECT KEPT(listed, array_agg(p.id ORDER BY p.place)),
--            KEPT(described, array_agg(p.id ORDER BY p.place) FILTER (WHERE p.details & 91 <> 0)),
--            KEPT(labelled, array_agg(p.id ORDER BY p.place) FILTER (WHERE p.details & 4 <> 0)),
--            KEPT(listed_users, array_agg(DISTINCT p.user_id))
--     FROM page AS p WHERE p.place < limit)
--     SELECT SESSION_COLUMNS(p), p.name, p.user_name AS name, p.users_app_id AS app_id, p.changed_us
--     FROM page AS p CROSS JOIN kept ORDER BY p.place
-- (Their shards are computed first: under row security, the server uses no index for a condition that
-- computes something from a row.)
-- macro: WITH_SHARDS(numbers) = (SELECT n.id, SHARD(n.id) AS shard, n.place
--     FROM unnest(numbers) WITH ORDINALITY AS n (id, place) OFFSET 0)
-- macro: OF_OWNER(table, number) = (SELECT * FROM seslite.table AS r
--     WHERE r.shard = o.shard AND r.number = o.id OFFSET 0)
-- macro: THE_OWNERS(owners, name) = WITH_SHARDS(coalesce(owners::bigint[], nullif(current_setting('seslite.name', true), '')::bigint[]))
--
-- A session's user. (OFFSET 0 makes the server look users up one by one, whatever number it estimates.)
-- macro: USER_OF(row) = (SELECT u.name, u.app_id FROM seslite.users AS u
--     WHERE u.shard = row.shard AND u.id = row.user_id OFFSET 0)
--
-- The conditions of a list's filter for a session: the label $5 with a value from $6 to $7, and a name from
-- $13 to before $14. Nothing is asked if $5 or $13 is NULL. Without $7, or $14, there is no upper bound: the
-- text of 1114111, the last character, sorts after all others. (details & 4: the session has labels.)
-- macro: HAS_LABEL(row) = ($5::text IS NULL OR (row.details & 4 <> 0 AND EXISTS (
--     SELECT 1 FROM seslite.session_labels AS l
--     WHERE l.shard = row.shard AND l.session_id = row.id AND l.name = $5
--       AND l.value BETWEEN $6 AND coalesce($7, repeat(chr(1114111), 129)) OFFSET 0)))
-- macro: HAS_NAME(row) = ($13::text IS NULL
--     OR (row.name >= $13 AND row.name < coalesce($14, $13 || repeat(chr(1114111), 129))))
-- And, unless `since` is NULL, the times of the last write, no label of a name (unless that is NULL), and
-- a shelf that is not in a set of shelves, each of which is a bit of it (see list_filter), and the session of
-- which it is a child (unless that is NULL).
-- (The server estimates that nearly all rows are not NULL, so a list is planned as if nothing were asked.)
-- macro: PASSES(row, since, before, without, shelves, of_user, of_session) = (nullif(
--     since::bigint IS NULL OR (row.changed_us >= since::bigint AND row.changed_us < before::bigint
--     AND (shelves::bigint >> (row.details >> 3 & 15)::int & 1) = 0
--     AND (of_session::text IS NULL OR (
--     SELECT k.child_session = of_session::text AND k.child_user = of_user::text
--     FROM seslite.session_details AS k WHERE k.shard = row.shard AND k.session_id = row.id))
--     AND (without::text IS NULL OR row.details & 4 = 0 OR NOT EXISTS (
--     SELECT 1 FROM seslite.session_labels AS l WHERE l.shard = row.shard AND l.session_id = row.id
--       AND l.name = without::text OFFSET 0))), false) IS NOT NULL)
--
-- The part of active_30s that hidden sessions have less of (see HIDDEN_SHIFT in rows/parts.h):
-- macro: HIDDEN_SHIFT() = CASE WHEN details & 56 <> 0 THEN 17179869184 ELSE 0 END
--
-- A session with which a feature has not come as far as its events, or that was cut since then:
-- macro: IS_BEHIND(row, feature) = NOT EXISTS (SELECT 1 FROM seslite.derived AS d
--     WHERE d.shard = row.shard AND d.session_id = row.id AND d.what = feature::text
--     AND d.seq >= row.last_seq
--       AND d.epoch = row.version - row.last_seq OFFSET 0)
--
-- Sessions, how far their use of tokens has come, and (if `named` is not 0) the names of their owners:
-- macro: FROM_INBOX() = FROM seslite.session_inbox AS i
--     LEFT JOIN LATERAL (SELECT s.shard, s.app_id, s.user_id, s.name FROM seslite.sessions AS s
--         WHERE s.shard = i.shard AND s.id = i.session_id OFFSET 0) AS s ON true
--     LEFT JOIN LATERAL (SELECT u.name FROM seslite.users AS u
--         WHERE u.shard = s.shard AND u.id = s.user_id OFFSET 0) AS u ON true
--     LEFT JOIN LATERAL (SELECT a.name FROM seslite.apps AS a
--         WHERE a.shard = SHARD(s.app_id) AND a.id = s.app_id OFFSET 0) AS a ON true
-- macro: FROM_RECENT(app, first) = FROM seslite.apps AS a
--     CROSS JOIN (VALUES (first::bigint, 8589934592), (first::bigint - 17179869184, -8589934592))
--         AS r (low, high)
--     CROSS JOIN LATERAL (SELECT c.* FROM seslite.sessions AS c
--         WHERE c.app_id = a.id AND c.active_30s BETWEEN r.low AND r.high OFFSET 0) AS s
--     WHERE a.id BETWEEN coalesce(app::bigint, 0) AND coalesce(app::bigint, 9223372036854775807)
-- macro: TOTAL(numbers) = sum(numbers)::bigint
-- macro: IS_FREE(row) = ($5::text IS NULL OR NOT EXISTS (SELECT 1 FROM seslite.session_leases AS l
--     WHERE l.shard = row.shard AND l.session_id = row.session_id AND l.owner <> $5::text
--     AND l.until_us > coalesce($6::bigint, CLOCK_US())
--     AND l.taken_us <= coalesce($6::bigint, CLOCK_US()) + 1000000 OFFSET 0))
-- macro: USAGE_COLUMNS(row) = row.id, row.app_id, row.user_id, row.version, row.last_seq, row.base_seq,
--     d.seq, d.epoch, row.name,
--     u.name, a.name
-- macro: USAGE_JOINS(named) =
--     LEFT JOIN LATERAL (SELECT d.seq, d.epoch FROM seslite.derived AS d
--         WHERE d.shard = s.shard AND d.session_id = s.id AND d.what = 'usage2' OFFSET 0) AS d ON true
--     LEFT JOIN LATERAL (SELECT u.name FROM seslite.users AS u
--         WHERE u.shard = s.shard AND u.id = s.user_id AND named::bigint <> 0 OFFSET 0) AS u ON true
--     LEFT JOIN LATERAL (SELECT a.name FROM seslite.apps AS a
--         WHERE a.shard = SHARD(s.app_id) AND a.id = s.app_id AND named::bigint <> 0 OFFSET 0) AS a ON true
-- macro: USAGE_FILTER(row) = row.id > $8 AND row.event_count > 0 AND row.updated_us >= $3
--     AND row.updated_us < $4
--     AND HAS_LABEL(row) AND PASSES(row, $12, $13, $14, $15, $16, $17) AND ($10::text IS NULL
--     OR (row.name >= $10 AND row.name < coalesce($11, $10 || repeat(chr(1114111), 129))))
--
-- The sums of calls in a row:
-- macro: OLD(column) = usage_sums.column
-- macro: ADDED(column) = usage_sums.column + least(
--     excluded.column, 9223372036854775807 - greatest(usage_sums.column, 0))
-- macro: USAGE_SUMS(row) = row.session_id, row.quarter, row.model, row.first_seq, row.last_seq, row.calls,
--     row.odd, row.first_us, row.last_us, row.prompt, row.cached, row.candidates, row.thoughts, row.tool_use,
--     row.total
--
-- Rows whose owner does not exist, or is not in the given shard:
-- macro: ORPHANS(children, parents, parent_id, place) = SELECT 'children' AS name, 'parents' AS owner,
--     r.parent_id AS id
--     FROM seslite.children AS r
--     WHERE NOT EXISTS (SELECT 1 FROM seslite.parents AS p WHERE p.shard = place AND p.id = r.parent_id)

-- Each statement sees all earlier commits, since the rows that it depends on are locked.

-- name: begin_write
BEGIN ISOLATION LEVEL READ COMMITTED;

-- All statements see the same moment.

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: features_unknown
SELECT name, needs FROM seslite.features WHERE name <> 'families' AND name !~ '^search[0-9]*$';

-- Sent after each of these. An unqualified function or operator could be one that somebody else has put into
-- `public`. So later statements look names up in pg_catalog only; this one cannot rely on that yet, and
-- qualifies them. A setting of the session would not do, because poolers share sessions. Waiting longer than
-- $1 milliseconds for a lock ends the transaction, so that the server does not go on waiting after the caller
-- has given up. A feature that this library does not know is no number, which ends the transaction with its
-- name (see failure.c).

-- name: begin_settings
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
       pg_catalog.set_config('lock_timeout', $1, true),
       (SELECT pg_catalog.textcat('feature ', name)::pg_catalog.int8
        FROM seslite.features WHERE pg_catalog.int8ne(needs, 1)
            AND pg_catalog.textregexne(name, '^search[0-9]*$')
                                AND pg_catalog.textne(name, 'families') LIMIT 1);

-- A read waits for a lock only while somebody changes the schema. (This way takes the server half as long.)

-- name: begin_read_settings
SET LOCAL search_path TO pg_catalog, pg_temp;

-- name: space
SELECT coalesce(sum(pg_catalog.pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'seslite' AND c.relkind IN ('r', 'p');

-- name: share_user
SELECT 1::bigint FROM seslite.users WHERE shard = SHARD(THE_USER($1)) AND id = THE_USER($1) FOR SHARE;

-- name: share_app
SELECT 1::bigint FROM seslite.apps WHERE shard = SHARD(THE_APP($1)) AND id = THE_APP($1) FOR SHARE;

-- name: app_add
INSERT INTO seslite.apps (shard, id, name)
SELECT h.shard, NEW_ID(apps, h.shard), $1 FROM (SELECT APP_SHARD($1) AS shard) AS h
ON CONFLICT (name, shard) DO NOTHING;

-- The last columns of this and the next say that it is the row that was asked for: an index leads to no
-- other.

-- name: app_find
-- locks: FOR KEY SHARE OF a
SELECT set_config('seslite.app', a.id::text, true)::bigint AS id, 1::bigint FROM seslite.apps AS a
    WHERE a.shard = APP_SHARD($1) AND a.name = $1;

-- Locks an existing one without a change, or it could be deleted before it is found.

-- name: user_add
INSERT INTO seslite.users (shard, id, app_id, name)
SELECT h.shard, NEW_ID(users, h.shard), THE_APP($1), $2::text
FROM (SELECT USER_SHARD(a.name, $2) AS shard FROM seslite.apps AS a
      WHERE a.shard = SHARD(THE_APP($1)) AND a.id = THE_APP($1)) AS h
ON CONFLICT (app_id, name, shard) DO UPDATE SET name = excluded.name WHERE false;

-- name: user_find
-- locks: FOR UPDATE OF u
SELECT set_config('seslite.user', u.id::text, true)::bigint AS id,
       set_config('seslite.app', u.app_id::text, true)::bigint AS app_id, 1::bigint
FROM seslite.users AS u WHERE u.shard = USER_SHARD($1, $2) AND u.name = $2 AND u.app_id = APP_ID($1);

-- name: session_add
INSERT INTO seslite.sessions
    (shard, id, app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq,
     event_count, expires_us, changed_us, ahead_hour)
VALUES (SHARD($2), NEW_ID(sessions, SHARD($2)), $1, $2, $3, $4, $4, $5, $6, 0, 0, $7, $8, $9)
RETURNING id;

-- The user's number is also a parameter: each shard has a floor, which is 0 until one of its sessions is
-- deleted.

-- name: version_floor
SELECT coalesce((SELECT floor FROM seslite.version_floor WHERE shard = SHARD($1)), 0::bigint);

-- name: version_floor_raise
INSERT INTO seslite.version_floor AS f (shard, floor) VALUES (SHARD($2), $1)
ON CONFLICT (shard) DO UPDATE SET floor = greatest(f.floor, excluded.floor);

-- Parents, titles and labels of many sessions, in the given order.

-- name: details_of_owners
SELECT d.session_id, d.parent_user, d.parent_session, d.parent_seq, d.title, d.archived_us,
       d.child_user, d.child_session, d.remembered_seq
FROM THE_OWNERS($1, described) AS o
CROSS JOIN LATERAL OF_OWNER(session_details, session_id) AS d
ORDER BY o.place;

-- name: labels_of_owners
SELECT l.session_id, l.name, l.value, l.app_id
FROM THE_OWNERS($1, labelled) AS o
CROSS JOIN LATERAL OF_OWNER(session_labels, session_id) AS l
ORDER BY o.place, l.name;

-- name: details_of_session
SELECT d.session_id, d.parent_user, d.parent_session, d.parent_seq, d.title,
       NULL AS name, NULL AS value, NULL::bigint AS app_id, d.archived_us, d.child_user, d.child_session,
       d.remembered_seq
FROM seslite.session_details AS d WHERE d.shard = SHARD(THE_SESSION($1)) AND d.session_id = THE_SESSION($1)
UNION ALL
SELECT l.session_id, NULL, NULL, NULL, NULL, l.name, l.value, l.app_id, NULL, NULL, NULL, NULL
FROM seslite.session_labels AS l WHERE l.shard = SHARD(THE_SESSION($1)) AND l.session_id = THE_SESSION($1)
ORDER BY name NULLS FIRST;

-- Keeps the numbers that it finds: see THE_SESSION.

-- name: session_find
-- locks: FOR UPDATE OF s
SELECT FOUND_COLUMNS(s)
FROM seslite.sessions AS s
WHERE s.shard = USER_SHARD($1, $2) AND s.name = $3 AND s.user_id = USER_ID($1, $2) AND PLANNED_ONCE();

-- Includes the names, for a deletion.

-- name: session_is
SELECT (s.name = $4 AND u.name = $3 AND u.app_id = s.app_id AND a.name = $2)::int::bigint
FROM seslite.sessions AS s
LEFT JOIN seslite.users AS u ON u.shard = s.shard AND u.id = s.user_id
LEFT JOIN seslite.apps AS a ON a.shard = SHARD(s.app_id) AND a.id = s.app_id
WHERE s.shard = SHARD($1) AND s.id = $1;

-- name: session_by_id
-- locks: FOR UPDATE
SELECT FOUND_COLUMNS(s) FROM seslite.sessions AS s WHERE s.shard = SHARD($1) AND s.id = $1 AND PLANNED_ONCE();

-- Also deletes the row of details, for which SQLite has a foreign key.

-- name: session_delete
WITH details AS (
    DELETE FROM seslite.session_details WHERE shard = SHARD($1) AND session_id = $1
)
DELETE FROM seslite.sessions WHERE shard = SHARD($1) AND id = $1;

-- A row for each session $1, or user $3 of the app $2, in their order; the texts are arrays, such as
-- '{"a","b"}'.

-- name: watch
SELECT s.version, v.last, v.count, v.versions
FROM (SELECT n.*, SHARD(n.id) AS shard, USER_SHARD(n.app, n.name) AS users_shard,
      APP_SHARD(n.app) AS apps_shard
      FROM unnest($1::bigint[], $2::text[], $3::text[])
          WITH ORDINALITY AS n (id, app, name, place) OFFSET 0) AS o
LEFT JOIN LATERAL (SELECT c.version FROM seslite.sessions AS c
                   WHERE c.shard = o.shard AND c.id = o.id OFFSET 0) AS s ON true
CROSS JOIN LATERAL
     (SELECT max(u.id) AS last, count(u.id) AS count, sum(u.version & 4294967295)::bigint AS versions
      FROM seslite.sessions AS u
      WHERE u.shard = o.users_shard AND u.user_id = (
            SELECT w.id FROM seslite.users AS w
            WHERE w.shard = o.users_shard AND w.name = o.name AND w.app_id = (
                SELECT a.id FROM seslite.apps AS a WHERE a.shard = o.apps_shard AND a.name = o.app))) AS v
ORDER BY o.place;

-- The oldest of a user's sessions, as many as there are beyond $3, all without memory (details & 32). They
-- are counted where they are selected, since others may delete some meanwhile.

-- name: list_user_beyond
SELECT id FROM seslite.sessions
WHERE shard = SHARD($1) AND user_id = $1 AND user_id > 0 AND details & 32 = 0
ORDER BY active_30s, updated_us, name DESC
LIMIT least($2::bigint, greatest(0, (SELECT count(*) FROM seslite.sessions
                                     WHERE shard = SHARD($1) AND user_id = $1
                                       AND details & 32 = 0) - $3::bigint));

-- Lists them by their last writes instead.

-- name: list_user_unwritten
SELECT id FROM seslite.sessions
WHERE shard = SHARD($1) AND user_id = $1 AND user_id > 0 AND details & 32 = 0 ORDER BY changed_us, name DESC
LIMIT least($2::bigint, greatest(0, (SELECT count(*) FROM seslite.sessions
                                     WHERE shard = SHARD($1) AND user_id = $1
                                       AND details & 32 = 0) - $3::bigint));

-- Lists, of at most $2 sessions, whose update time is from $3 to before $4, and which the filter leaves. The
-- list begins after a position: a time $8, then for ties a session name and a user id, or, in order of
-- creation, a session number $8. A list by time goes through the 30 seconds from $11 to $12, and of hidden
-- sessions from $21 to $22: they come in order from the index, and the sessions of each are sorted. If the
-- next session in order of creation is of other times, that list begins at the first one that was active
-- between $11 and $12, or $21 and $22. The last writes have no index, which every append would write: that
-- list looks at all sessions of its owner. (user_id > 0 lets the server use the indexes of a user's sessions.
-- It estimates that a range between two parameters has one in 200 rows, and would then sort a whole list
-- instead of walking it. It does not recognize the range of a row comparison, nor what coalesce hides.)

-- name: list_app_newest
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us,
                  row_number() OVER (ORDER BY s.updated_us DESC, s.name,
                                     s.user_id) AS place
FROM ((SELECT c.* FROM seslite.sessions AS c
       WHERE c.app_id = THE_APP($1) AND (c.app_id, c.active_30s) >= (THE_APP($1), $11) AND c.active_30s <= $12
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us < $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s DESC, c.updated_us DESC, c.name, c.user_id LIMIT $2::bigint)
      UNION ALL
      (SELECT c.* FROM seslite.sessions AS c
       WHERE c.app_id = THE_APP($1) AND (c.app_id, c.active_30s) >= (THE_APP($1), $21) AND c.active_30s <= $22
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us < $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s DESC, c.updated_us DESC, c.name, c.user_id LIMIT $2::bigint)
      ORDER BY updated_us DESC, name, user_id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_app_oldest
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us,
                  row_number() OVER (ORDER BY s.updated_us, s.name, s.user_id) AS place
FROM ((SELECT c.* FROM seslite.sessions AS c
       WHERE c.app_id = THE_APP($1) AND (c.app_id, c.active_30s) >= (THE_APP($1), $11) AND c.active_30s <= $12
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us > $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s, c.updated_us, c.name, c.user_id LIMIT $2::bigint)
      UNION ALL
      (SELECT c.* FROM seslite.sessions AS c
       WHERE c.app_id = THE_APP($1) AND (c.app_id, c.active_30s) >= (THE_APP($1), $21) AND c.active_30s <= $22
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us > $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s, c.updated_us, c.name, c.user_id LIMIT $2::bigint)
      ORDER BY updated_us, name, user_id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_app_created
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us, row_number() OVER (ORDER BY s.id) AS place
FROM (SELECT c.* FROM seslite.sessions AS c
      WHERE c.app_id = THE_APP($1)
        AND c.id > greatest($8, coalesce((SELECT min(i.id) FROM (
                SELECT a.id FROM seslite.sessions AS a
                WHERE a.app_id = THE_APP($1)
                  AND (a.active_30s BETWEEN $11 AND $12 OR a.active_30s BETWEEN $21 AND $22)
                  AND NOT (SELECT n.updated_us >= $3 AND n.updated_us < $4 FROM seslite.sessions AS n
                           WHERE n.app_id = THE_APP($1) AND n.id > $8 ORDER BY n.id LIMIT 1)
                OFFSET 0) AS i) - 1, 0))
        AND ($9::text IS NULL OR true) AND ($10::bigint IS NULL OR true)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true)
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_app_changed
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us, row_number() OVER (ORDER BY s.changed_us DESC, s.name, s.user_id) AS place
FROM (SELECT c.* FROM seslite.sessions AS c
      WHERE c.app_id = THE_APP($1)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.changed_us < $8 OR (c.changed_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND ($11::bigint IS NULL OR true) AND ($12::bigint IS NULL OR true)
        AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true)
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.changed_us DESC, c.name, c.user_id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_user_newest
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us,
                  row_number() OVER (ORDER BY s.updated_us DESC, s.name,
                                     s.user_id) AS place
FROM ((SELECT c.* FROM seslite.sessions AS c
       WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.user_id > 0
         AND (c.user_id, c.active_30s) >= (THE_USER($1), $11) AND c.active_30s <= $12
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us < $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND HAS_NAME(c)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s DESC, c.updated_us DESC, c.name, c.user_id LIMIT $2::bigint)
      UNION ALL
      (SELECT c.* FROM seslite.sessions AS c
       WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.user_id > 0
         AND (c.user_id, c.active_30s) >= (THE_USER($1), $21) AND c.active_30s <= $22
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us < $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND HAS_NAME(c)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s DESC, c.updated_us DESC, c.name, c.user_id LIMIT $2::bigint)
      ORDER BY updated_us DESC, name, user_id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_user_oldest
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us,
                  row_number() OVER (ORDER BY s.updated_us, s.name, s.user_id) AS place
FROM ((SELECT c.* FROM seslite.sessions AS c
       WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.user_id > 0
         AND (c.user_id, c.active_30s) >= (THE_USER($1), $11) AND c.active_30s <= $12
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us > $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND HAS_NAME(c)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s, c.updated_us, c.name, c.user_id LIMIT $2::bigint)
      UNION ALL
      (SELECT c.* FROM seslite.sessions AS c
       WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.user_id > 0
         AND (c.user_id, c.active_30s) >= (THE_USER($1), $21) AND c.active_30s <= $22
         AND coalesce(c.updated_us >= $3 AND c.updated_us < $4, false)
         AND coalesce(c.updated_us > $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)), false)
         AND HAS_NAME(c)
         AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
       ORDER BY c.active_30s, c.updated_us, c.name, c.user_id LIMIT $2::bigint)
      ORDER BY updated_us, name, user_id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_user_created
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us, row_number() OVER (ORDER BY s.id) AS place
FROM (SELECT c.* FROM seslite.sessions AS c
      WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.user_id > 0
        AND c.id > greatest($8, coalesce((SELECT min(i.id) FROM (
                SELECT a.id FROM seslite.sessions AS a
                WHERE a.shard = SHARD(THE_USER($1)) AND a.user_id = THE_USER($1) AND a.user_id > 0
                  AND (a.active_30s BETWEEN $11 AND $12 OR a.active_30s BETWEEN $21 AND $22)
                  AND NOT (SELECT n.updated_us >= $3 AND n.updated_us < $4 FROM seslite.sessions AS n
                           WHERE n.shard = SHARD(THE_USER($1)) AND n.user_id = THE_USER($1) AND n.user_id > 0
                               AND n.id > $8
                           ORDER BY n.id LIMIT 1)
                OFFSET 0) AS i) - 1, 0))
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND ($9::text IS NULL OR true) AND ($10::bigint IS NULL OR true)
        AND HAS_NAME(c)
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- name: list_user_changed
WITH page AS MATERIALIZED (SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name, u.app_id AS users_app_id,
                  s.changed_us, row_number() OVER (ORDER BY s.changed_us DESC, s.name, s.user_id) AS place
FROM (SELECT c.* FROM seslite.sessions AS c
      WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.user_id > 0
        AND ($11::bigint IS NULL OR true) AND ($12::bigint IS NULL OR true)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.changed_us < $8 OR (c.changed_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_NAME(c)
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.changed_us DESC, c.name, c.user_id LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u)
KEEP_PAGE($2);

-- The same lists among sessions that an index found: $21 is -1 for the newest first, 1 for the oldest first,
-- 0 for the order of creation, and multiplies $8. $12: by their last writes. $22 is the user, if it is not
-- NULL. $11: they must have labels.

-- name: list_among
SELECT SESSION_COLUMNS(s), s.name, u.name, u.app_id, s.changed_us
FROM (SELECT c.*, CASE $12::bigint WHEN 1 THEN c.changed_us ELSE c.updated_us END AS time_us
      FROM WITH_SHARDS($1::bigint[]) AS o
      CROSS JOIN LATERAL (SELECT * FROM seslite.sessions AS c
                          WHERE c.shard = o.shard AND c.id = o.id OFFSET 0) AS c
      WHERE ($22::bigint IS NULL OR c.user_id = $22) AND c.updated_us >= $3 AND c.updated_us < $4
        AND CASE $21::bigint WHEN 0 THEN c.id > $8
            ELSE $21 * CASE $12::bigint WHEN 1 THEN c.changed_us ELSE c.updated_us END > $8
                 OR ($21 * CASE $12::bigint WHEN 1 THEN c.changed_us ELSE c.updated_us END = $8
                     AND (c.name, c.user_id) > ($9, $10)) END
        AND HAS_NAME(c)
        AND ($11::bigint = 0 OR c.details & 4 <> 0)
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY $21 * CASE $12::bigint WHEN 1 THEN c.changed_us ELSE c.updated_us END,
               CASE $21 WHEN 0 THEN c.id END,
               CASE $21 WHEN 0 THEN '' ELSE c.name END, c.user_id
      LIMIT $2::bigint) AS s
CROSS JOIN LATERAL USER_OF(s) AS u
ORDER BY $21 * s.time_us, CASE $21 WHEN 0 THEN s.id END, CASE $21 WHEN 0 THEN '' ELSE s.name END, s.user_id;

-- The numbers of at most $2 sessions that an index finds: those with a label $3 of a value from $4 to $5,
-- those with a name from $3 to before $4, or those that were active in the 30 seconds from $3 to $4.

-- name: ids_labelled
SELECT session_id FROM seslite.session_labels
WHERE app_id = $1 AND name = $3 AND value BETWEEN $4 AND coalesce($5, repeat(chr(1114111), 129))
    LIMIT $2::bigint;

-- name: ids_named
SELECT id FROM seslite.sessions
WHERE shard = SHARD($1) AND user_id = $1 AND name >= $3
    AND name < coalesce($4, $3 || repeat(chr(1114111), 129)) LIMIT $2::bigint;

-- name: ids_of_children
SELECT d.session_id
FROM seslite.session_details AS d
CROSS JOIN LATERAL (SELECT r.app_id FROM seslite.sessions AS r
                    WHERE r.shard = d.shard AND r.id = d.session_id OFFSET 0) AS s
WHERE d.child_session = $4 AND d.child_user = $3 AND s.app_id = $1 LIMIT $2::bigint;

-- name: ids_active_of_user
SELECT id FROM seslite.sessions
WHERE shard = SHARD($1) AND user_id = $1 AND user_id > 0 AND active_30s BETWEEN $3 AND $4
UNION ALL
SELECT id FROM seslite.sessions
WHERE shard = SHARD($1) AND user_id = $1 AND user_id > 0 AND active_30s BETWEEN $5 AND $6 LIMIT $2::bigint;

-- Counts for the same filters, with the parameters of lists. ($8: the times have to be checked.)

-- name: count_of_user
SELECT count(*) FROM seslite.sessions AS c
WHERE c.shard = SHARD($1) AND c.user_id = $1
  AND c.name >= $13 AND c.name < coalesce($14, $13 || repeat(chr(1114111), 129))
  AND ($8::bigint = 0 OR (c.updated_us >= $3 AND c.updated_us < $4))
  AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
  AND ($2::bigint IS NULL OR true) AND ($9::text IS NULL OR true) AND ($10::bigint IS NULL OR true)
  AND ($11::bigint IS NULL OR true) AND ($12::bigint IS NULL OR true);

-- name: count_labelled
SELECT count(*)
FROM seslite.session_labels AS l JOIN seslite.sessions AS c ON c.shard = l.shard AND c.id = l.session_id
WHERE l.app_id = $1 AND l.name = $5 AND l.value BETWEEN $6 AND coalesce($7, repeat(chr(1114111), 129))
  AND c.details & 4 <> 0
  AND c.updated_us >= $3 AND c.updated_us < $4 AND PASSES(c, $15, $16, $17, $18, $19, $20)
  AND ($2::bigint IS NULL OR true) AND ($8::bigint IS NULL OR true) AND ($9::text IS NULL OR true)
  AND ($10::bigint IS NULL OR true) AND ($11::bigint IS NULL OR true) AND ($12::bigint IS NULL OR true)
  AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true);

-- Between the first and the last 30 seconds no time has to be checked.

-- name: count_active
SELECT sum(n)::bigint FROM (
    SELECT count(*) AS n FROM seslite.sessions AS c
    WHERE c.app_id = $1 AND c.active_30s BETWEEN $11 AND $12
      AND ((c.active_30s > $11 AND c.active_30s < $12) OR (c.updated_us >= $3 AND c.updated_us < $4))
      AND PASSES(c, $15, $16, $17, $18, $19, $20)
    UNION ALL
    SELECT count(*) FROM seslite.sessions AS c
    WHERE c.app_id = $1 AND c.active_30s BETWEEN $21 AND $22
      AND ((c.active_30s > $21 AND c.active_30s < $22) OR (c.updated_us >= $3 AND c.updated_us < $4))
      AND PASSES(c, $15, $16, $17, $18, $19, $20)) AS ranges
WHERE ($2::bigint IS NULL OR true) AND ($5::text IS NULL OR true) AND ($6::text IS NULL OR true)
  AND ($7::text IS NULL OR true) AND ($8::bigint IS NULL OR true) AND ($9::text IS NULL OR true)
  AND ($10::bigint IS NULL OR true) AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true);

-- name: app_state_set
INSERT INTO seslite.app_state (shard, app_id, key, value, session_id, seq)
VALUES (SHARD(THE_APP($1)), THE_APP($1), $2, $3, coalesce(THE_SESSION($4), 0), $5)
ON CONFLICT (shard, app_id, key) DO UPDATE
SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: user_state_set
INSERT INTO seslite.user_state (shard, user_id, key, value, session_id, seq)
VALUES (SHARD(THE_USER($1)), THE_USER($1), $2, $3, coalesce(THE_SESSION($4), 0), $5)
ON CONFLICT (shard, user_id, key) DO UPDATE
SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: session_state_set
INSERT INTO seslite.session_state (shard, session_id, key, value, seq)
SELECT SHARD(THE_SESSION($1)), THE_SESSION($1), $2::text, $3::text, $5::bigint
    WHERE ($4::bigint IS NULL OR true)
ON CONFLICT (shard, session_id, key) DO UPDATE SET value = excluded.value, seq = excluded.seq;

-- The state of all owners of a page, in the page's order.

-- name: user_state_of_owners
SELECT st.key, st.value, st.user_id
FROM THE_OWNERS($1, listed_users) AS o
CROSS JOIN LATERAL OF_OWNER(user_state, user_id) AS st
ORDER BY o.place, st.key;

-- name: session_state_of_owners
SELECT st.key, st.value, st.session_id
FROM THE_OWNERS($1, listed) AS o
CROSS JOIN LATERAL OF_OWNER(session_state, session_id) AS st
ORDER BY o.place, st.key;

-- The time is read after the session was found, whose lock keeps its lease from changing. There is a row even
-- without a lease.

-- name: lease_now
SELECT l.token, l.session_id, l.owner, l.taken_us, l.until_us, l.next_owner, l.next_until_us,
       CLOCK_US()
FROM (SELECT 1) AS one
LEFT JOIN seslite.session_leases AS l ON l.shard = SHARD(THE_SESSION($1)) AND l.session_id = THE_SESSION($1);

-- The numbers of inputs ascend as times do, those of all shards.

-- name: inbox_add
INSERT INTO seslite.session_inbox (shard, id, session_id, app_id, request, added_us, body)
VALUES (SHARD($1), NEW_ID(session_inbox, SHARD($1)), $1, $2, $3, $4, $5);

-- SQLite has a new row for each token; here one row per session keeps the last token.

-- name: lease_add
INSERT INTO seslite.session_leases AS l (shard, session_id, token, owner, taken_us, until_us)
VALUES (SHARD($1), $1, NOW_US(), $2, $3, $4)
ON CONFLICT (shard, session_id) DO UPDATE
SET token = greatest(l.token + 1, excluded.token), owner = excluded.owner, taken_us = excluded.taken_us,
    until_us = excluded.until_us, next_owner = NULL, next_until_us = NULL
RETURNING token;

-- name: lease_replace
UPDATE seslite.session_leases SET until_us = 0 WHERE shard = SHARD($2) AND session_id = $2 AND token = $1;

-- name: event_add
INSERT INTO seslite.events (shard, session_id, EVENT_COLUMNS())
VALUES (SHARD($1), $1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT DO NOTHING;

-- The sessions of the app $1 that have the number of origin of the session $2, and that which the user $3
-- has by the name $4: with the names of what they were forked from, the last number taken from there, and the
-- names of what they are children of.

-- name: family_of
SELECT o.id, o.app_id, o.user_id, o.last_seq, o.created_us, o.base_seq, d.origin, d.parent_seq,
       u.name AS user_name, o.name, d.parent_user, d.parent_session,
       d.child_user, d.child_session
FROM seslite.session_details AS own
CROSS JOIN LATERAL (SELECT * FROM seslite.session_details AS r WHERE r.origin = own.origin OFFSET 0) AS d
CROSS JOIN LATERAL (SELECT * FROM seslite.sessions AS r
                    WHERE r.shard = d.shard AND r.id = d.session_id OFFSET 0) AS o
CROSS JOIN LATERAL USER_OF(o) AS u
WHERE own.shard = SHARD($2) AND own.session_id = $2 AND o.app_id = $1
UNION ALL
SELECT o.id, o.app_id, o.user_id, o.last_seq, o.created_us, o.base_seq, d.origin, d.parent_seq,
       u.name AS user_name, o.name, d.parent_user, d.parent_session,
       d.child_user, d.child_session
FROM seslite.sessions AS o
CROSS JOIN LATERAL USER_OF(o) AS u
LEFT JOIN LATERAL OF_OWNER(session_details, session_id) AS d ON true
WHERE o.shard = SHARD($3) AND o.user_id = $3 AND o.name = $4;

-- The same for all sessions of the user $2, including these.

-- name: families_of_user
SELECT o.id, o.app_id, o.user_id, o.last_seq, o.created_us, o.base_seq, d.origin, d.parent_seq,
       u.name AS user_name, o.name, d.parent_user, d.parent_session,
       d.child_user, d.child_session
FROM seslite.sessions AS o
CROSS JOIN LATERAL OF_OWNER(session_details, session_id) AS d
CROSS JOIN LATERAL USER_OF(o) AS u
WHERE o.app_id = $1 AND d.origin = ANY (ARRAY (
    SELECT n.origin FROM seslite.sessions AS own
    JOIN seslite.session_details AS n ON n.shard = SHARD($2) AND n.session_id = own.id
    WHERE own.shard = SHARD($2) AND own.user_id = $2 AND n.origin IS NOT NULL));

-- A session that has a number of origin keeps it.

-- name: origin_set
INSERT INTO seslite.session_details AS d (shard, session_id, origin) VALUES (SHARD($1), $1, $2)
ON CONFLICT (shard, session_id) DO UPDATE SET origin = coalesce(d.origin, excluded.origin);

-- The number of the first event of $1 in which the log of $2 differs.

-- name: event_unlike
SELECT a.seq
FROM seslite.events AS a
LEFT JOIN seslite.events AS b ON b.shard = SHARD($2) AND b.session_id = $2 AND b.seq = a.seq
WHERE a.shard = SHARD($1) AND a.session_id = $1 AND b.body IS DISTINCT FROM a.body
ORDER BY a.seq LIMIT 1;

-- Selects the first event in the order of ids, from this id on: for a condition on the id alone, a planner
-- without statistics may read the whole log by the other index.

-- name: event_by_id
SELECT EVENT_COLUMNS()
FROM (SELECT e.* FROM seslite.events AS e
      WHERE e.shard = SHARD(THE_SESSION($1)) AND (e.session_id, e.id) >= (THE_SESSION($1), $2)
      ORDER BY e.session_id, e.id LIMIT 1) AS first
WHERE session_id = THE_SESSION($1) AND id = $2;

-- The events of a session with numbers from $2 to $3, at most $4 of them (all if NULL), and none after the
-- one with which their bodies reach $5 bytes, so that nothing is sent for which the caller has no room. (The
-- server knows the length of a text without reading it.)

-- name: events_forward
SELECT EVENT_COLUMNS()
FROM (SELECT e.*, sum(octet_length(e.body))
      OVER (ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM seslite.events AS e WHERE e.shard = SHARD(THE_SESSION($1)) AND e.session_id = THE_SESSION($1)
          AND e.seq BETWEEN $2 AND $3
      ORDER BY e.seq LIMIT $4::bigint) AS page
WHERE coalesce(before, 0) < $5::bigint ORDER BY seq;

-- name: events_backward
SELECT EVENT_COLUMNS()
FROM (SELECT e.*, sum(octet_length(e.body))
      OVER (ORDER BY e.seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM seslite.events AS e WHERE e.shard = SHARD(THE_SESSION($1)) AND e.session_id = THE_SESSION($1)
          AND e.seq BETWEEN $2 AND $3
      ORDER BY e.seq DESC LIMIT $4::bigint) AS page
WHERE coalesce(before, 0) < $5::bigint ORDER BY seq DESC;

-- For a replay.

-- name: event_bodies_forward
SELECT seq, body
FROM (SELECT e.seq, e.body, sum(octet_length(e.body))
      OVER (ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM seslite.events AS e WHERE e.shard = SHARD($1) AND e.session_id = $1 AND e.seq BETWEEN $2 AND $3
      ORDER BY e.seq LIMIT $4::bigint) AS page
WHERE coalesce(before, 0) < $5::bigint ORDER BY seq;

-- name: event_bodies_backward
SELECT seq, body
FROM (SELECT e.seq, e.body, sum(octet_length(e.body))
      OVER (ORDER BY e.seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM seslite.events AS e WHERE e.shard = SHARD($1) AND e.session_id = $1 AND e.seq BETWEEN $2 AND $3
      ORDER BY e.seq DESC LIMIT $4::bigint) AS page
WHERE coalesce(before, 0) < $5::bigint ORDER BY seq DESC;

-- The chunks from $2 on; with 0 also those below, which cannot be.

-- name: check_chunks
SELECT number, bytes FROM seslite.artifact_chunks
WHERE shard = SHARD($1) AND content_id = $1
  AND number >= coalesce(nullif($2::bigint, 0), -9223372036854775808) ORDER BY number LIMIT $3;

-- An append that is sent as a whole. The guards divide by zero if a job has to look first: the session does
-- not have version $4 (NULL: any), or has no room for $5 more events, of which it may hold $6. They lock the
-- session, so later statements see it unchanged. If there is no session, later statements find none either.

-- name: append_by_key
SELECT FOUND_COLUMNS(f),
       1::bigint / CASE WHEN f.version = coalesce($4, f.version) AND f.version <= 9007199254740991 - $5
                             AND f.last_seq <= 4294967295 - $5 AND f.event_count <= $6::bigint - $5::bigint
                        THEN 1 ELSE 0 END
FROM seslite.sessions AS f WHERE f.shard = USER_SHARD($1, $2) AND f.name = $3 AND f.user_id = USER_ID($1, $2)
FOR UPDATE;

-- name: append_by_id
SELECT SESSION_COLUMNS(s),
       1::bigint / CASE WHEN s.version = coalesce($2, s.version) AND s.version <= 9007199254740991 - $3
                             AND s.last_seq <= 4294967295 - $3 AND s.event_count <= $4::bigint - $3::bigint
                        THEN 1 ELSE 0 END
FROM seslite.sessions AS s WHERE s.shard = SHARD($1) AND s.id = $1
FOR UPDATE;

-- A single event ($5, or $3, is 1): one statement locks and updates the session, which then has the event's
-- number already. It returns the session as it was before, except for the update time, which may have been
-- any up to that of the event.

-- name: append_one
UPDATE seslite.sessions
SET version = version + 1 / CASE WHEN version = coalesce($2, version) AND version < 9007199254740991
                                      AND last_seq < 4294967295
                                      AND event_count <= $4::bigint - $3::bigint THEN 1 ELSE 0 END,
    last_seq = last_seq + 1, event_count = event_count + 1,
    updated_us = greatest(updated_us, $5), changed_us = $7,
    active_30s = greatest(active_30s, $6 - HIDDEN_SHIFT()),
    ahead_hour = CASE WHEN greatest(updated_us, $5) > $7 + 3600000000 THEN $8::bigint END
WHERE shard = SHARD($1) AND id = $1
RETURNING id, app_id, user_id, version - 1, last_seq - 1, event_count - 1, created_us,
          CASE WHEN updated_us > $5 THEN updated_us ELSE created_us END, expires_us, base_seq, details;

-- name: append_one_named
UPDATE seslite.sessions AS s
SET version = version + 1 / CASE WHEN version = coalesce($4, version) AND version < 9007199254740991
                                      AND last_seq < 4294967295
                                      AND event_count <= $6::bigint - $5::bigint THEN 1 ELSE 0 END,
    last_seq = last_seq + 1, event_count = event_count + 1,
    updated_us = greatest(updated_us, $7), changed_us = $9,
    active_30s = greatest(active_30s, $8 - HIDDEN_SHIFT()),
    ahead_hour = CASE WHEN greatest(updated_us, $7) > $9 + 3600000000 THEN $10::bigint END
WHERE s.shard = USER_SHARD($1, $2) AND s.name = $3 AND s.user_id = USER_ID($1, $2)
RETURNING set_config('seslite.session', s.id::text, true)::bigint,
          set_config('seslite.app', s.app_id::text, true)::bigint,
          set_config('seslite.user', s.user_id::text, true)::bigint, s.version - 1, s.last_seq - 1,
          s.event_count - 1, s.created_us, CASE WHEN s.updated_us > $7
              THEN s.updated_us ELSE s.created_us END, s.expires_us, s.base_seq,
          s.details;

-- name: append_lease
SELECT l.token, l.session_id, l.owner, l.taken_us, l.until_us, l.next_owner, l.next_until_us,
       1::bigint / CASE WHEN l.token = $2 THEN 1 ELSE 0 END
FROM (SELECT 1) AS one
LEFT JOIN seslite.session_leases AS l ON l.shard = SHARD(THE_SESSION($1)) AND l.session_id = THE_SESSION($1);

-- The $2nd of the new events; $8 is the latest time among them so far.

-- name: append_event
INSERT INTO seslite.events (shard, session_id, EVENT_COLUMNS())
SELECT s.shard, s.id, s.last_seq + $2, $3, $4, $5, $6, $7::bigint,
       nullif(greatest(s.updated_us, $8::bigint), $7), $9
FROM seslite.sessions AS s WHERE s.shard = SHARD(THE_SESSION($1)) AND s.id = THE_SESSION($1);

-- name: append_mark
INSERT INTO seslite.event_marks (shard, session_id, seq, kind, target_seq)
SELECT s.shard, s.id, s.last_seq + $2, $3, $4
FROM seslite.sessions AS s WHERE s.shard = SHARD(THE_SESSION($1)) AND s.id = THE_SESSION($1);

-- Keys $2 with the values $3, each once, as set by the $4th of the new events. The user, or the app, is
-- locked against transactions that read its state before they change it. Everything is found through the
-- session, so nothing changes if that is gone. If the user, or the app, is gone, the key would belong to
-- NULL, which fails.

-- name: append_session_keys
INSERT INTO seslite.session_state (shard, session_id, key, value, seq)
SELECT s.shard, s.id, k.key, k.value, s.last_seq + k.place
FROM seslite.sessions AS s, unnest($2::text[], $3::text[], $4::bigint[]) AS k (key, value, place)
WHERE s.shard = SHARD(THE_SESSION($1)) AND s.id = THE_SESSION($1)
ON CONFLICT (shard, session_id, key) DO UPDATE SET value = excluded.value, seq = excluded.seq;

-- name: append_user_keys
INSERT INTO seslite.user_state (shard, user_id, key, value, session_id, seq)
SELECT s.shard, u.id, k.key, k.value, s.id, s.last_seq + k.place
FROM seslite.sessions AS s
LEFT JOIN LATERAL (SELECT u.id FROM seslite.users AS u
     WHERE u.shard = s.shard AND u.id = s.user_id FOR SHARE) AS u ON true,
     unnest($2::text[], $3::text[], $4::bigint[]) AS k (key, value, place)
WHERE s.shard = SHARD(THE_SESSION($1)) AND s.id = THE_SESSION($1)
ON CONFLICT (shard, user_id, key) DO UPDATE
SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: append_app_keys
INSERT INTO seslite.app_state (shard, app_id, key, value, session_id, seq)
SELECT SHARD(s.app_id), a.id, k.key, k.value, s.id, s.last_seq + k.place
FROM seslite.sessions AS s
LEFT JOIN LATERAL (SELECT a.id FROM seslite.apps AS a
                   WHERE a.shard = SHARD(s.app_id) AND a.id = s.app_id FOR SHARE) AS a ON true,
     unnest($2::text[], $3::text[], $4::bigint[]) AS k (key, value, place)
WHERE s.shard = SHARD(THE_SESSION($1)) AND s.id = THE_SESSION($1)
ON CONFLICT (shard, app_id, key) DO UPDATE
SET value = excluded.value, session_id = excluded.session_id, seq = excluded.seq;

-- name: remove_session_keys
DELETE FROM seslite.session_state WHERE shard = SHARD(THE_SESSION($1)) AND session_id = THE_SESSION($1)
    AND key = ANY ($2::text[]);

-- name: remove_user_keys
DELETE FROM seslite.user_state AS st USING seslite.sessions AS s
WHERE s.shard = SHARD(THE_SESSION($1)) AND s.id = THE_SESSION($1)
  AND st.shard = s.shard AND st.user_id = s.user_id AND st.key = ANY ($2::text[]);

-- The app is looked up first, so that only its partition is read.

-- name: remove_app_keys
DELETE FROM seslite.app_state
WHERE shard = SHARD(APP_OF($1)) AND app_id = APP_OF($1) AND key = ANY ($2::text[]);

-- name: append_touch
UPDATE seslite.sessions
SET version = version + $2, last_seq = last_seq + $2, event_count = event_count + $2,
    updated_us = greatest(updated_us, $3), changed_us = $5,
    active_30s = greatest(active_30s, $4 - HIDDEN_SHIFT()),
    ahead_hour = CASE WHEN greatest(updated_us, $3) > $5 + 3600000000 THEN $6::bigint END
WHERE shard = SHARD(THE_SESSION($1)) AND id = THE_SESSION($1);

-- Like session_add, for the user that was found, and with the version from the shard's floor. Becomes the
-- session that was found.

-- name: create_session
INSERT INTO seslite.sessions
    (shard, id, app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq,
     event_count, expires_us, changed_us, ahead_hour)
VALUES (SHARD(THE_USER(NULL)), NEW_ID(sessions, SHARD(THE_USER(NULL))), THE_APP(NULL), THE_USER(NULL),
        $1, $2, $2, $3, coalesce((SELECT f.floor / CASE WHEN f.floor <= 9007199254740991 THEN 1 ELSE 0 END
                  FROM seslite.version_floor AS f WHERE f.shard = SHARD(THE_USER(NULL))), 0::bigint),
        0, 0, $4, $5, $6)
RETURNING set_config('seslite.session', id::text, true)::bigint, app_id, user_id, STATE_COLUMNS(sessions);

-- Checks, of which each row is the text of a problem. Every column that statements use must exist with its
-- type, and compare text by bytes.

-- name: check_columns
SELECT 'the table ' || t.name || ' has no column ' || split_part(w.word, ':', 1) || ' of type '
       || split_part(w.word, ':', 2) || ' with the right collation'
FROM (VALUES
    ('schema_version', 'version:int4'),
    ('apps', 'shard:int4 id:int8 name:text'),
    ('users', 'shard:int4 id:int8 app_id:int8 name:text'),
    ('sessions', 'shard:int4 id:int8 app_id:int8 user_id:int8 name:text created_us:int8'),
    ('sessions', 'updated_us:int8 active_30s:int8 version:int8 last_seq:int8 event_count:int8'),
    ('sessions', 'expires_us:int8 base_seq:int8 details:int8 changed_us:int8 ahead_hour:int8'),
    ('version_floor', 'shard:int4 floor:int8'),
    ('session_details', 'shard:int4 session_id:int8 title:text parent_user:text parent_session:text'),
    ('session_details', 'parent_seq:int8 more:text initial_state:text origin:int8'),
    ('session_details', 'archived_us:int8 child_user:text child_session:text remembered_seq:int8'),
    ('session_labels', 'shard:int4 session_id:int8 name:text value:text app_id:int8'),
    ('session_leases', 'shard:int4 session_id:int8 token:int8 owner:text taken_us:int8 until_us:int8'),
    ('session_leases', 'next_owner:text next_until_us:int8'),
    ('session_drafts', 'shard:int4 session_id:int8 updated_us:int8 body:text'),
    ('session_inbox', 'shard:int4 id:int8 session_id:int8 app_id:int8 request:text added_us:int8 body:text'),
    ('derived', 'shard:int4 session_id:int8 what:text seq:int8 epoch:int8'),
    ('features', 'name:text needs:int8'),
    ('app_state', 'shard:int4 app_id:int8 key:text value:text session_id:int8 seq:int8'),
    ('user_state', 'shard:int4 user_id:int8 key:text value:text session_id:int8 seq:int8'),
    ('session_state', 'shard:int4 session_id:int8 key:text value:text seq:int8'),
    ('base_state', 'shard:int4 session_id:int8 key:text value:text seq:int8'),
    ('events', 'shard:int4 session_id:int8 seq:int8 id:text invocation_id:text author:text'),
    ('events', 'branch:text time_us:int8 high_us:int8 body:text'),
    ('event_marks', 'shard:int4 session_id:int8 seq:int8 kind:int8 target_seq:int8'),
    ('artifacts', 'shard:int4 user_id:int8 session:text name:text version:int8 created_us:int8 kind:int8'),
    ('artifacts', 'mime_type:text display_name:text metadata:text content_id:int8'),
    ('artifact_contents', 'shard:int4 id:int8 user_id:int8 hash:text size:int8 uses:int8 written_us:int8'),
    ('artifact_chunks', 'shard:int4 content_id:int8 number:int8 bytes:bytea')
) AS t (name, words) CROSS JOIN LATERAL unnest(string_to_array(t.words, ' ')) AS w (word)
WHERE NOT EXISTS (
    SELECT 1
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_type AS y ON y.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_collation AS o ON o.oid = a.attcollation
    WHERE n.nspname = 'seslite' AND c.relname = t.name AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
      AND a.attname || ':' || y.typname = w.word AND (y.typname <> 'text' OR o.collname = 'C'))
ORDER BY 1 LIMIT $1::bigint;

-- By name. An index whose build failed is not valid.

-- name: check_indexes
SELECT 'the index ' || w.name || ' is missing, or not valid'
FROM unnest(string_to_array(
    'app_state_pkey apps_by_id apps_name_shard_key apps_pkey artifact_chunks_pkey artifact_contents_pkey'
    || ' artifact_contents_shard_user_id_hash_key artifact_contents_unused artifacts_pkey'
    || ' base_state_pkey derived_pkey event_marks_pkey events_pkey'
    || ' events_shard_session_id_id_key features_pkey schema_version_pkey session_details_by_child_of'
    || ' session_details_by_origin session_details_pkey'
    || ' session_drafts_pkey session_inbox_by_app session_inbox_by_id session_inbox_pkey'
    || ' session_inbox_shard_session_id_request_key session_labels_by_value session_labels_pkey'
    || ' session_leases_pkey session_state_pkey sessions_ahead sessions_by_activity sessions_by_app'
    || ' sessions_by_expiry sessions_by_id sessions_by_user sessions_by_user_activity sessions_pkey'
    || ' sessions_shard_user_id_name_key user_state_pkey'
    || ' users_app_id_name_shard_key users_by_id users_pkey version_floor_pkey', ' ')) AS w (name)
WHERE NOT EXISTS (
    SELECT 1
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'seslite' AND c.relname = w.name AND i.indisvalid)
ORDER BY 1 LIMIT $1::bigint;

-- name: check_orphans
SELECT count(*) || ' rows of ' || o.name || ' belong to row ' || o.id || ' of ' || o.owner
       || ', which does not exist or is in another shard'
FROM (
    ORPHANS(users, apps, app_id, SHARD(r.app_id))
    UNION ALL ORPHANS(sessions, apps, app_id, SHARD(r.app_id))
    UNION ALL ORPHANS(sessions, users, user_id, r.shard)
    UNION ALL ORPHANS(app_state, apps, app_id, r.shard)
    UNION ALL ORPHANS(user_state, users, user_id, r.shard)
    UNION ALL ORPHANS(session_details, sessions, session_id, r.shard)
    UNION ALL ORPHANS(session_labels, sessions, session_id, r.shard)
    UNION ALL ORPHANS(session_leases, sessions, session_id, r.shard)
    UNION ALL ORPHANS(session_drafts, sessions, session_id, r.shard)
    UNION ALL ORPHANS(session_inbox, sessions, session_id, r.shard)
    UNION ALL ORPHANS(derived, sessions, session_id, r.shard)
    UNION ALL ORPHANS(session_state, sessions, session_id, r.shard)
    UNION ALL ORPHANS(base_state, sessions, session_id, r.shard)
    UNION ALL ORPHANS(events, sessions, session_id, r.shard)
    UNION ALL ORPHANS(event_marks, sessions, session_id, r.shard)
    UNION ALL ORPHANS(artifacts, users, user_id, r.shard)
    UNION ALL ORPHANS(artifacts, artifact_contents, content_id, r.shard)
    UNION ALL ORPHANS(artifact_contents, users, user_id, r.shard)
    UNION ALL ORPHANS(artifact_chunks, artifact_contents, content_id, r.shard)
) AS o
GROUP BY o.name, o.owner, o.id
ORDER BY o.name, o.owner, o.id LIMIT $1::bigint;

-- name: check_shards
SELECT 'row ' || a.id || ' of apps is not in the shard of its name' FROM seslite.apps AS a
WHERE a.shard <> APP_SHARD(a.name)
UNION ALL
SELECT 'row ' || u.id || ' of users is not in the shard of its name'
FROM seslite.users AS u JOIN seslite.apps AS a ON a.shard = SHARD(u.app_id) AND a.id = u.app_id
WHERE u.shard <> USER_SHARD(a.name, u.name)
LIMIT $1::bigint;

-- The names above $3, at most $4, each with its newest version. Older versions are passed over.

-- name: artifact_names
WITH RECURSIVE n (name, rest) AS (
    SELECT (SELECT a.name FROM seslite.artifacts AS a
            WHERE a.shard = SHARD(THE_USER($1)) AND a.user_id = THE_USER($1) AND a.session = $2
                AND a.name > $3 ORDER BY a.name LIMIT 1),
           $4::bigint
    UNION ALL
    SELECT (SELECT a.name FROM seslite.artifacts AS a
            WHERE a.shard = SHARD(THE_USER($1)) AND a.user_id = THE_USER($1) AND a.session = $2
                AND a.name > n.name ORDER BY a.name LIMIT 1),
           n.rest - 1
    FROM n WHERE n.name IS NOT NULL AND n.rest > 1)
SELECT ARTIFACT_COLUMNS()
FROM n
JOIN seslite.artifacts AS f ON f.shard = SHARD(THE_USER($1)) AND f.user_id = THE_USER($1) AND f.session = $2
    AND f.name = n.name
    AND f.version = (SELECT v.version FROM seslite.artifacts AS v
                     WHERE v.shard = SHARD(THE_USER($1)) AND v.user_id = THE_USER($1) AND v.session = $2
                         AND v.name = n.name
                     ORDER BY v.version DESC LIMIT 1)
LEFT JOIN seslite.artifact_contents AS c ON c.shard = f.shard AND c.id = f.content_id
    AND c.user_id = f.user_id
ORDER BY f.name LIMIT $4;

-- Before the versions of a name, all of a session, or all that one took over from another, are removed or
-- added, their contents get as many uses less or more. Without a name (NULL) all names count. (A version that
-- another transaction removes meanwhile is waited for, and does not count.)

-- name: contents_use
UPDATE seslite.artifact_contents AS c SET uses = c.uses + $4 * n.count
FROM (SELECT l.content_id, count(*) AS count
      FROM (SELECT f.content_id FROM seslite.artifacts AS f
            WHERE f.shard = SHARD(THE_USER($1)) AND f.user_id = THE_USER($1) AND f.session = $2
              AND f.name = coalesce($3, f.name) FOR UPDATE) AS l
      GROUP BY l.content_id) AS n
WHERE c.shard = SHARD(THE_USER($1)) AND c.id = n.content_id AND c.user_id = THE_USER($1);

-- The base of the session $2 forgets the artifact $3, whose key there is $4, if no version of it is left.

-- name: base_artifact_forget
DELETE FROM seslite.base_state
WHERE shard = SHARD(THE_USER($1)) AND key = $4
    AND session_id = (SELECT s.id FROM seslite.sessions AS s
                      WHERE s.shard = SHARD(THE_USER($1)) AND s.user_id = THE_USER($1) AND s.name = $2)
    AND NOT EXISTS (SELECT 1 FROM seslite.artifacts AS a
                    WHERE a.shard = SHARD(THE_USER($1)) AND a.user_id = THE_USER($1) AND a.session = $2
                        AND a.name = $3);

-- An artifact of the session $2, with the name $4 if there is one, that the session $3 lacks, or has in
-- another way.

-- name: artifact_unlike
SELECT a.version
FROM seslite.artifacts AS a
LEFT JOIN seslite.artifacts AS b
    ON b.shard = SHARD($1) AND b.user_id = $1 AND b.session = $3 AND b.name = a.name AND b.version = a.version
WHERE a.shard = SHARD($1) AND a.user_id = $1 AND a.session = $2 AND a.name = coalesce($4, a.name)
    AND (b.name IS NULL OR b.created_us <> a.created_us OR b.kind <> a.kind
         OR b.mime_type IS DISTINCT FROM a.mime_type
         OR b.display_name IS DISTINCT FROM a.display_name OR b.metadata IS DISTINCT FROM a.metadata
         OR b.content_id <> a.content_id)
LIMIT 1;

-- name: content_add
INSERT INTO seslite.artifact_contents (shard, id, user_id, hash, size, uses, written_us)
VALUES (SHARD($1), NEW_ID(artifact_contents, SHARD($1)), $1, $2, $3, $4, $5)
RETURNING set_config('seslite.content', id::text, true)::bigint;

-- Contents that no artifact of a user has any more, and those whose writing was given up before the time $2.
-- (It is locked, or it might be finished before contents_sweep.)

-- name: chunks_sweep
DELETE FROM seslite.artifact_chunks AS k
USING (SELECT c.shard, c.id FROM seslite.artifact_contents AS c
       WHERE c.shard = SHARD(THE_USER($1)) AND c.user_id = THE_USER($1) AND c.uses = 0
         AND (c.hash IS NOT NULL OR c.written_us < $2) FOR UPDATE) AS g
WHERE k.shard = g.shard AND k.content_id = g.id;

-- name: user_chunks_delete
DELETE FROM seslite.artifact_chunks AS k USING seslite.artifact_contents AS c
WHERE c.shard = SHARD($1) AND c.user_id = $1 AND k.shard = c.shard AND k.content_id = c.id;

-- name: feature_enter
INSERT INTO seslite.features (name, needs) VALUES ($1, $2::bigint::int) ON CONFLICT DO NOTHING;

-- A server keeps no SQL: there is a row if there is a table.

-- name: table_sql
SELECT NULL FROM pg_class WHERE oid = to_regclass('seslite.' || $1::text);

-- name: behind_user
SELECT s.id FROM seslite.sessions AS s
WHERE s.shard = SHARD($3) AND s.user_id = $3 AND s.user_id > 0 AND s.id > $1 AND s.event_count > 0
    AND IS_BEHIND(s, $4)
ORDER BY s.id LIMIT $2::bigint;

-- The index of words, which is made on demand: a row for each event that has words. The words are folded;
-- with capitals there are three that name the app (A), the user (U) and the session (S). An event with very
-- many words has only these and the word L, for which every search looks, too. The table gets the rights and
-- the row security that `derived` has. Everybody who writes looks for features first, so it is made when
-- nobody writes.

-- name: index_features
SELECT name FROM seslite.features WHERE name ~ '^search[0-9]*$'
    AND to_regclass('seslite.search_words') IS NOT NULL;

-- name: index_leave
DELETE FROM seslite.features WHERE name ~ '^search[0-9]*$';

-- name: index_forget
DELETE FROM seslite.derived WHERE what ~ '^search[0-9]*$';

-- Under row security the server would look at each row of it.

-- name: index_serves
SELECT 1::bigint FROM seslite.features WHERE name = $1 AND NOT row_security_active('seslite.derived');

-- name: index_make
DO $make$
DECLARE
    granted record;
BEGIN
    LOCK TABLE seslite.features IN ACCESS EXCLUSIVE MODE;
    IF to_regclass('seslite.search_words') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE TABLE seslite.search_words (
        shard      int NOT NULL,
        session_id bigint NOT NULL,
        seq        bigint NOT NULL,
        words      tsvector NOT NULL,
        PRIMARY KEY (shard, session_id, seq)
    );
    CREATE INDEX search_words_by_word ON seslite.search_words USING gin (words) WITH (fastupdate = off);
    GUARD_AS_DERIVED(search_words)
END $make$;

-- It needs nothing that a server may lack.

-- name: index_module
SELECT 1::bigint;

-- name: index_drop
DROP TABLE IF EXISTS seslite.search_words;

-- A tsvector has at most 1 MiB of words.

-- name: words_add
INSERT INTO seslite.search_words (shard, session_id, seq, words)
VALUES (SHARD($1), $1, $2, array_to_tsvector(string_to_array(
    $4::text || ' ' || CASE WHEN octet_length($3::text) < 500000 THEN $3::text ELSE 'L' END, ' ')))
ON CONFLICT (shard, session_id, seq) DO UPDATE SET words = excluded.words;

-- name: words_delete
DELETE FROM seslite.search_words WHERE shard = SHARD($1) AND session_id = $1 AND seq BETWEEN $2 AND $3;

-- Rows of the index after one, at most $4, with the words of each and a blank between them.

-- name: words_after
SELECT w.shard::bigint, w.session_id, w.seq, array_to_string(tsvector_to_array(w.words), ' ')
FROM seslite.search_words AS w
WHERE (w.shard, w.session_id, w.seq) > (($1::bigint)::int, $2, $3) ORDER BY w.shard, w.session_id, w.seq
    LIMIT $4::bigint;

-- name: words_found
WITH found AS MATERIALIZED (
    SELECT w.shard, w.session_id, w.seq FROM seslite.search_words AS w WHERE w.words @@ $1::text::tsquery
        LIMIT $2::bigint
), placed AS (
    SELECT s.id AS session_id, f.seq, s.name, u.name AS user_name, s.user_id, s.app_id,
           CASE WHEN s.user_id = $10 AND s.name = $9 THEN $8 ELSE s.updated_us END AS updated_us
    FROM found AS f
    JOIN seslite.sessions AS s ON s.shard = f.shard AND s.id = f.session_id
    JOIN seslite.users AS u ON u.shard = s.shard AND u.id = s.user_id
    WHERE (SELECT count(*) FROM found) < $2::bigint AND s.updated_us >= $3 AND s.updated_us < $4
      AND HAS_LABEL(s) AND HAS_NAME(s) AND PASSES(s, $15, $16, $17, $18, $19, $20)
      AND ($8::bigint IS NULL OR CASE
               WHEN s.user_id = $10::bigint AND s.name = $9::text THEN f.seq < $11::bigint
               WHEN s.updated_us = $8::bigint THEN (s.name, s.user_id) > ($9::text, $10::bigint)
               ELSE s.updated_us < $8::bigint
           END)
    ORDER BY updated_us DESC, s.name, s.user_id, f.seq DESC LIMIT $12::bigint
)
SELECT p.session_id, p.seq, p.name, p.user_name, p.user_id, p.updated_us, p.app_id, p.count
FROM (SELECT NULL::bigint AS session_id, NULL::bigint AS seq, NULL::text AS name, NULL::text AS user_name,
             NULL::bigint AS user_id, NULL::bigint AS updated_us, NULL::bigint AS app_id,
             (SELECT count(*) FROM found) AS count
      UNION ALL
      SELECT session_id, seq, name, user_name, user_id, updated_us, app_id, NULL::bigint FROM placed) AS p
ORDER BY p.count IS NULL, p.updated_us DESC, p.name COLLATE "C", p.user_id, p.seq DESC;

-- The use of tokens, which is derived from the events on demand: the rows are as in a file. They go
-- with the row of `derived` to which they lead, also where a library deletes it that does not know
-- them. The table gets the rights and the row security that `derived` has, as that of the index of
-- words does.

-- name: usage_make
DO $make$
DECLARE
    granted record;
BEGIN
    LOCK TABLE seslite.features IN ACCESS EXCLUSIVE MODE;
    IF to_regclass('seslite.usage_sums') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE TABLE seslite.usage_sums (
        shard      int NOT NULL,
        session_id bigint NOT NULL,
        quarter    bigint NOT NULL,
        model      text COLLATE "C" NOT NULL,
        what       text COLLATE "C" NOT NULL,
        first_seq  bigint NOT NULL,
        last_seq   bigint NOT NULL,
        calls      bigint NOT NULL,
        odd        bigint NOT NULL,
        first_us   bigint NOT NULL,
        last_us    bigint NOT NULL,
        prompt     bigint NOT NULL,
        cached     bigint NOT NULL,
        candidates bigint NOT NULL,
        thoughts   bigint NOT NULL,
        tool_use   bigint NOT NULL,
        total      bigint NOT NULL,
        PRIMARY KEY (shard, session_id, quarter, model),
        FOREIGN KEY (shard, session_id, what) REFERENCES seslite.derived ON DELETE CASCADE
    );
    GUARD_AS_DERIVED(usage_sums)
    INSERT INTO seslite.features (name, needs) VALUES ('usage2', 1) ON CONFLICT DO NOTHING;
END $make$;

-- name: usage_drop
DROP TABLE IF EXISTS seslite.usage_sums;

-- name: usage_of_sessions
SELECT USAGE_SUMS(c)
FROM WITH_SHARDS($1::bigint[]) AS o
CROSS JOIN LATERAL OF_OWNER(usage_sums, session_id) AS c
WHERE c.quarter <= $2::bigint
ORDER BY o.place;

-- name: usage_of_user
SELECT USAGE_COLUMNS(s) FROM seslite.sessions AS s USAGE_JOINS($9)
WHERE s.shard = SHARD($1) AND s.user_id = $1 AND s.user_id > 0 AND USAGE_FILTER(s) ORDER BY s.id
    LIMIT $2::bigint;
