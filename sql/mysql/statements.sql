-- The statements for MySQL and MariaDB that are not in sql/statements.sql, whose head describes how these
-- books are written. The names, parameters and columns are those that SQLite has.
--
-- Statements are sent as text, many at once (see README.md). Each parameter is replaced by its value;
-- `$1@ses_user` is the variable @ses_user if the value is NULL. Everything that is sent is bytes (SET NAMES
-- binary), and text columns are VARBINARY or LONGBLOB. A name here may stand for several statements: the last
-- of them gives the rows and counts the changes. One with `-- prepared: ` is prepared when a connection first
-- sends it, and then only executed: the statements of the calls that are made most often.
--
-- Only in SQLite:
-- without: data_version     there is no such number: followers look at their sessions, many at once
-- without: words_add        there is no index of words: searches read the events
-- without: words_remove     there is no index of words,
-- without: words_found      and none is asked
-- without: index_merge      nothing is left behind
-- without: index_write      or waits to be written
-- without: usage_forget     foreign keys can be relied on
-- without: usage_counts_drop   the scripts drop it
-- without: filters_make     there are no filters of invocations:
-- without: filter_put       events are looked for
-- without: filters_from     where they are,
-- without: filters_forget   so none are deleted
-- without: filters_drop     with their table
-- without: index_make       never begun, since index_module has no row
-- without: places_make      nor is there a table of places
-- without: place_add        to add to,
-- without: place_after      to look into
-- without: places_remove    or to remove from
--
-- Not in SQLite (a text that both servers share is in sql/statements.sql), since it locks the whole file:
-- own: lock_user            nobody else adds to the user, or removes from it,
-- own: lock_app             or the app
-- own: share_user           nobody deletes the user meanwhile,
-- own: share_app            or the app
--
-- Not in SQLite, since a file answers it in another way:
-- own: space                the bytes of the tables and their indexes
-- own: check_columns        missing columns (SQLite itself compares them with the schema),
-- own: check_indexes        and indexes
-- own: check_orphans        violations that foreign keys would prevent
-- own: check_floors         groups of users whose new sessions have few versions left, or none
-- own: check_count          the number of sessions for a check, which their ids do not give
-- own: words_delete         would remove words from an index,
-- own: index_drop           or drop it
--
-- Not in SQLite, since the clocks of many machines differ:
-- own: lease_now            a lease and the server's time
--
-- Not in SQLite, since rows of a file are read one by one:
-- own: events_newest        as events_backward, however many bytes they have
--
-- Not in SQLite, for each transaction:
-- own: isolate_write        each statement sees all earlier commits,
-- own: isolate_read         or all see the same moment, until the other is sent
-- own: begin_settings       how long to wait for a lock
-- own: begin_guard          no unknown feature
-- own: begin_read_settings  forgets the numbers that the transaction before has found
--
-- Not in SQLite, for transactions that are sent as a whole, without waiting for numbers from the server:
-- own: append_by_id         the session to append one event to, if it is in the expected state,
-- own: append_by_key        or the same by its names
-- own: append_event         the event, with the next number
-- own: append_mark          a mark for an event that changes how the log is read
-- own: append_app_key       a key that the event sets in the app's state,
-- own: append_user_key      in the user's,
-- own: append_session_key   or in the session's
-- own: append_session_two   two of them, which take little longer than one
-- own: append_touch         the session's row after the event
-- own: create_session       a session whose version follows those of earlier ones
--
-- The macros of these books, but those that are in sql/statements.sql.
--
-- session_find and its like keep the numbers of the session and of its owners until the transaction ends. A
-- statement about one of them that is given no number is about these, so that everything can be asked for
-- before the session is found.
-- macro: FOUND_COLUMNS(row) = @ses_session := row.id AS id, @ses_app := row.app_id AS app_id,
--     @ses_user := row.user_id AS user_id,
--     STATE_COLUMNS(row)
-- macro: THE_SESSION(id) = id@ses_session
-- macro: THE_USER(id) = id@ses_user
-- macro: THE_APP(id) = id@ses_app
-- The same for the content that this transaction added last:
-- macro: THE_CONTENT(id) = id@ses_content
--
-- The numbers that belong to names. (They are looked up by a subquery, since a locking query locks all tables
-- that it joins. A second one in it would take longer than the join.)
-- macro: APP_ID(app) = (SELECT a.id FROM seslite_apps AS a WHERE a.name = app)
-- macro: USER_ID(app, user) = (SELECT u.id FROM seslite_apps AS a
--     JOIN seslite_users AS u ON u.app_id = a.id AND u.name = user
--     WHERE a.name = app)
--
-- The owner of a shared key, of which the row is locked as by share_app and share_user. A key of an owner
-- without a row would belong to NULL, which fails.
-- macro: LOCKED_APP(id_of_app) = (SELECT o.id FROM seslite_apps AS o
--     WHERE o.id = id_of_app LOCK IN SHARE MODE)
-- macro: LOCKED_USER(id_of_user) = (SELECT o.id FROM seslite_users AS o
--     WHERE o.id = id_of_user LOCK IN SHARE MODE)
--
-- The group of a user, for version_floor:
-- macro: GROUP_OF(user) = (SELECT crc32(g.name) & 255 FROM seslite_users AS g WHERE g.id = user)
--
-- The rows of a list of numbers, which is JSON, in its order.
-- macro: CLOCK_US() = cast(unix_timestamp(now(6)) * 1000000 AS SIGNED)
-- macro: LIST_OF(numbers) = json_table(convert(numbers USING utf8mb4),
--     _utf8mb4'$[*]' COLUMNS (place FOR ORDINALITY, id BIGINT PATH _utf8mb4'$'))
-- macro: AS_LIST(numbers) = concat('[', numbers, ']')
--
-- Keeps the numbers of a page of a list until the transaction ends: of its rows, of these but the one after
-- the page, and of their users. Statements about lists of owners that are given none are about these.
-- macro: BY_TIME(direction) = group_concat(p.id ORDER BY p.updated_us direction, p.name, p.user_id)
-- macro: KEEP_PAGE(numbers, limit) = AS_LIST(numbers), AS_LIST(substring_index(numbers, ',', limit - 1))
--     INTO @ses_page, @ses_listed
-- macro: PAGE() = SELECT AS_LIST(group_concat(DISTINCT s.user_id ORDER BY s.user_id)) INTO @ses_listed_users
--     FROM LIST_OF(@ses_listed) AS o STRAIGHT_JOIN seslite_sessions AS s ON s.id = o.id
-- macro: PAGE_ROWS() = SELECT SESSION_COLUMNS(s), s.name, u.name AS user_name,
--     u.app_id AS users_app_id, s.changed_us
--     FROM LIST_OF(@ses_page) AS o STRAIGHT_JOIN seslite_sessions AS s ON s.id = o.id
--     STRAIGHT_JOIN seslite_users AS u ON u.id = s.user_id ORDER BY o.place
--
-- The conditions of a list's filter for a session: the label $5 with a value from $6 to $7, and a name from
-- $13 to before $14. Nothing is asked if $5 or $13 is NULL. (details & 4: the session has labels.)
-- macro: HAS_LABEL(row) = ($5 IS NULL OR ((row.details & 4) <> 0 AND EXISTS (
--     SELECT 1 FROM seslite_session_labels AS l WHERE l.session_id = row.id AND l.name = $5
--     AND l.value BETWEEN $6 AND $7)))
-- macro: HAS_NAME(row) = ($13 IS NULL OR (row.name >= $13 AND row.name < $14))
-- And, unless `since` is NULL, the times of the last write, no label of a name (unless that is NULL), and
-- a shelf that is not in a set of shelves, each of which is a bit of it (see list_filter), and the session of
-- which it is a child (unless that is NULL):
-- macro: PASSES(row, since, before, without, shelves, of_user, of_session) = (since IS NULL OR (
--     row.changed_us >= since AND row.changed_us < before
--     AND (shelves >> (row.details >> 3 & 15) & 1) = 0
--     AND (of_session IS NULL OR EXISTS (
--     SELECT 1 FROM seslite_session_details AS k WHERE k.session_id = row.id
--     AND k.child_session = of_session AND k.child_user = of_user))
--     AND (without IS NULL OR (row.details & 4) = 0 OR NOT EXISTS (
--     SELECT 1 FROM seslite_session_labels AS l WHERE l.session_id = row.id AND l.name = without))))
--
-- A server sorts all that it has found before it takes the first few. So a list by time looks first for the
-- 30 seconds up to which it has as many sessions as it needs, besides those of the 30 seconds in which it
-- begins, of which some may not belong to it. A filter may leave fewer. (A subquery with a variable is run
-- again for each row: so what a statement is about is found by one before it. That is no SET, which would
-- lock the rows that it reads, in a transaction that only reads, too.)
-- macro: KEEP_FIRST(owner, number, start, end, name) = SELECT max(q.active_30s) INTO @name
--     FROM (SELECT z.active_30s FROM seslite_sessions AS z
--     WHERE z.owner = number AND z.active_30s >= start AND z.active_30s < end AND $5 IS NULL AND $13 IS NULL
--     AND $15 IS NULL
--     ORDER BY z.active_30s DESC LIMIT 1 OFFSET $2) AS q
-- macro: KEEP_LAST(owner, number, start, end, name) = SELECT max(q.active_30s) INTO @name
--     FROM (SELECT z.active_30s FROM seslite_sessions AS z
--     WHERE z.owner = number AND z.active_30s > start AND z.active_30s <= end AND $5 IS NULL AND $13 IS NULL
--     AND $15 IS NULL
--     ORDER BY z.active_30s LIMIT 1 OFFSET $2) AS q
-- For a list in order of creation: whether the next session is of these times, and if not, the first one that
-- was active then.
-- macro: KEEP_NEXT(owner, number) = SELECT max(q.fits) INTO @ses_next
--     FROM (SELECT n.updated_us >= $3 AND n.updated_us < $4 AS fits
--     FROM seslite_sessions AS n WHERE n.owner = number AND n.id > $8 ORDER BY n.id LIMIT 1) AS q
-- macro: KEEP_BEGIN(owner, number) = SELECT min(i.id) - 1 INTO @ses_begin FROM seslite_sessions AS i
--     WHERE @ses_next = 0 AND i.owner = number AND (i.active_30s BETWEEN $11 AND $12
--     OR i.active_30s BETWEEN $21 AND $22)
--
-- A session with which a feature has not come as far as its events, or that was cut since then:
-- macro: IS_BEHIND(row, feature) = NOT EXISTS (SELECT 1 FROM seslite_derived AS d
--     WHERE d.session_id = row.id AND d.what = feature AND d.seq >= row.last_seq
--     AND d.epoch = row.version - row.last_seq)
--
-- Sessions, how far their use of tokens has come, and (if `named` is not 0) the names of their owners:
-- macro: FROM_INBOX() = FROM seslite_session_inbox AS i
--     LEFT JOIN seslite_sessions AS s ON s.id = i.session_id
--     LEFT JOIN seslite_users AS u ON u.id = s.user_id LEFT JOIN seslite_apps AS a ON a.id = s.app_id
-- (It reads the index of each app: the servers search it by its second column only for a single app, which is
-- given as a number.)
-- macro: FROM_RECENT(app, first) = FROM seslite_apps AS a
--     STRAIGHT_JOIN seslite_sessions AS s FORCE INDEX (by_activity) ON s.app_id = a.id
--     AND (s.active_30s >= first OR s.active_30s BETWEEN first - 17179869184 AND -8589934592)
--     WHERE a.id BETWEEN coalesce(app, 0) AND coalesce(app, 9223372036854775807)
-- macro: TOTAL(numbers) = cast(sum(numbers) AS SIGNED)
-- macro: IS_FREE(row) = ($5 IS NULL OR NOT EXISTS (SELECT 1 FROM seslite_session_leases AS l
--     WHERE l.session_id = row.session_id AND l.owner <> $5 AND l.until_us > coalesce($6, CLOCK_US())
--     AND l.taken_us <= coalesce($6, CLOCK_US()) + 1000000))
-- macro: USAGE_COLUMNS(row) = row.id, row.app_id, row.user_id, row.version, row.last_seq, row.base_seq,
--     d.seq, d.epoch, row.name,
--     u.name AS user_name, a.name AS app_name
-- macro: USAGE_JOINS(named) =
--     LEFT JOIN seslite_derived AS d ON d.session_id = s.id AND d.what = 'usage2'
--     LEFT JOIN seslite_users AS u ON u.id = s.user_id AND named <> 0
--     LEFT JOIN seslite_apps AS a ON a.id = s.app_id AND named <> 0
-- macro: USAGE_FILTER(row) = row.id > $8 AND row.event_count > 0 AND row.updated_us >= $3
--     AND row.updated_us < $4
--     AND ($10 IS NULL OR (row.name >= $10 AND row.name < $11)) AND HAS_LABEL(row)
--     AND PASSES(row, $12, $13, $14, $15, $16, $17)
--
-- The sums of calls in a row:
-- macro: OLD(column) = column
-- macro: ADDED(column) = column + least(values(column), 9223372036854775807 - greatest(column, 0))
-- macro: USAGE_SUMS(row) = row.session_id, row.quarter, row.model, row.first_seq, row.last_seq, row.calls,
--     row.odd, row.first_us, row.last_us, row.prompt, row.cached, row.candidates, row.thoughts, row.tool_use,
--     row.total
--
-- Rows whose owner does not exist:
-- macro: ORPHANS(children, parents, parent_id) = SELECT 'children' AS name, 'parents' AS owner,
--     r.parent_id AS id
--     FROM children AS r WHERE NOT EXISTS (SELECT 1 FROM parents AS p WHERE p.id = r.parent_id)
--
-- Up to which number, or down to which, the events of a session from $2 to $3 have less than $5 bytes before
-- them, and are at most $4, so that nothing is sent for which the caller has no room.
-- macro: KEEP_UP_TO(id) = SELECT max(p.seq) INTO @ses_end FROM (
--     SELECT x.seq, sum(x.size) OVER (ORDER BY x.seq ROWS UNBOUNDED PRECEDING) - x.size AS earlier
--     FROM (SELECT seq, size FROM seslite_events WHERE session_id = id AND seq BETWEEN $2 AND $3 ORDER BY seq
--     LIMIT $4) AS x) AS p
--     WHERE p.earlier < $5
-- macro: KEEP_DOWN_TO(id) = SELECT min(p.seq) INTO @ses_end FROM (
--     SELECT x.seq, sum(x.size) OVER (ORDER BY x.seq DESC ROWS UNBOUNDED PRECEDING) - x.size AS earlier
--     FROM (SELECT seq, size FROM seslite_events WHERE session_id = id AND seq BETWEEN $2 AND $3
--     ORDER BY seq DESC LIMIT $4) AS x) AS p
--     WHERE p.earlier < $5

-- Each statement sees all earlier commits, since the rows that it depends on are locked.

-- name: isolate_write
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;

-- name: begin_write
START TRANSACTION;

-- All statements see the same moment.

-- name: isolate_read
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- name: begin_read
START TRANSACTION READ ONLY;

-- name: features_unknown
SELECT name, needs FROM seslite_features WHERE name NOT IN ('search', 'families');

-- Sent after each of these. Waiting longer than $1 seconds for a lock ends the statement, so that the server
-- does not go on waiting after the caller has given up.

-- name: begin_settings
-- prepared: for ses_append
SET innodb_lock_wait_timeout = $1, @ses_app = NULL, @ses_user = NULL, @ses_session = NULL,
    @ses_content = NULL;

-- name: begin_read_settings
-- prepared: for ses_get
SET @ses_app = NULL, @ses_user = NULL, @ses_session = NULL;

-- The first in each transaction that writes, except those that begin with append_by_id or append_by_key. A
-- feature that this library does not know makes a number that is out of range, which fails (see failure.c).
-- (By a mere name, the server would plan to read two parts of the index, which takes longer than all of it.)
-- macro: UNKNOWN_FEATURES() = seslite_features AS f WHERE f.needs <> 1
--     AND concat(f.name) NOT IN ('search', 'families')

-- name: begin_guard
SELECT length(f.name) + 9223372036854775807 FROM UNKNOWN_FEATURES();

-- name: space
SELECT cast(coalesce(sum(data_length + index_length), 0) AS SIGNED)
FROM information_schema.tables WHERE table_schema = database() AND table_name LIKE 'seslite\\_%';

-- name: share_user
SELECT 1 FROM seslite_users WHERE id = THE_USER($1) LOCK IN SHARE MODE;

-- name: share_app
SELECT 1 FROM seslite_apps WHERE id = THE_APP($1) LOCK IN SHARE MODE;

-- (IGNORE is about a name that is there already. The columns hold whatever the library lets through.)

-- name: app_add
INSERT IGNORE INTO seslite_apps (name) VALUES ($1);

-- The last columns of this and the next say that it is the row that was asked for: an index leads to no
-- other.

-- name: app_find
-- locks: LOCK IN SHARE MODE
SELECT @ses_app := id AS id, 1 FROM seslite_apps WHERE name = $1;

-- name: user_add
INSERT INTO seslite_users (app_id, name) VALUES (THE_APP($1), $2) ON DUPLICATE KEY UPDATE name = name;

-- name: user_find
-- locks: FOR UPDATE
SELECT @ses_user := id AS id, @ses_app := app_id AS app_id, 1 FROM seslite_users
    WHERE name = $2 AND app_id = APP_ID($1);

-- The user's number is also a parameter: each of 256 groups of users has a floor, which is 0 until one of
-- their sessions is deleted. A user who is deleted, and comes again, is of the same group.

-- name: version_floor
SELECT coalesce((SELECT floor FROM seslite_version_floor WHERE user_group = GROUP_OF($1)), 0);

-- name: version_floor_raise
INSERT INTO seslite_version_floor (user_group, floor) VALUES (GROUP_OF($2), $1)
ON DUPLICATE KEY UPDATE floor = greatest(floor, values(floor));

-- Parents, titles and labels of many sessions, in the given order.

-- name: details_of_owners
SELECT d.session_id, d.parent_user, d.parent_session, d.parent_seq, d.title, d.archived_us,
       d.child_user, d.child_session, d.remembered_seq
FROM LIST_OF($1@ses_listed) AS o STRAIGHT_JOIN seslite_sessions AS s ON s.id = o.id AND (s.details & 91) <> 0
STRAIGHT_JOIN seslite_session_details AS d ON d.session_id = o.id
ORDER BY o.place;

-- name: labels_of_owners
SELECT l.session_id, l.name, l.value, l.app_id
FROM LIST_OF($1@ses_listed) AS o STRAIGHT_JOIN seslite_sessions AS s ON s.id = o.id AND (s.details & 4) <> 0
STRAIGHT_JOIN seslite_session_labels AS l ON l.session_id = o.id
ORDER BY o.place, l.name;

-- The row of details comes first, and the labels in the order of their key. (To sort them would take twice
-- the time.)

-- name: details_of_session
-- prepared: for ses_get
SELECT d.session_id, d.parent_user, d.parent_session, d.parent_seq, d.title,
       NULL AS name, NULL AS value, NULL AS app_id, d.archived_us, d.child_user, d.child_session,
       d.remembered_seq
FROM seslite_session_details AS d WHERE d.session_id = THE_SESSION($1)
UNION ALL
SELECT l.session_id, NULL, NULL, NULL, NULL, l.name, l.value, l.app_id, NULL, NULL, NULL, NULL
FROM seslite_session_labels AS l FORCE INDEX (PRIMARY) WHERE l.session_id = THE_SESSION($1);

-- Keeps the numbers that it finds: see THE_SESSION.

-- name: session_find
-- prepared: for ses_get
-- locks: FOR UPDATE
SELECT FOUND_COLUMNS(s) FROM seslite_sessions AS s WHERE s.name = $3 AND s.user_id = USER_ID($1, $2);

-- Includes the names, for a deletion.

-- name: session_is
SELECT (s.name <=> $4) AND (u.name <=> $3) AND (u.app_id <=> s.app_id) AND (a.name <=> $2)
FROM seslite_sessions AS s
LEFT JOIN seslite_users AS u ON u.id = s.user_id
LEFT JOIN seslite_apps AS a ON a.id = s.app_id
WHERE s.id = $1;

-- name: session_by_id
-- locks: FOR UPDATE
SELECT FOUND_COLUMNS(s) FROM seslite_sessions AS s WHERE s.id = $1;

-- Also deletes the row of details, for which SQLite has a foreign key.

-- name: session_delete
DELETE FROM seslite_session_details WHERE session_id = $1;
DELETE FROM seslite_sessions WHERE id = $1;

-- A sum of parts of 32 bits cannot overflow.

-- name: user_versions
SELECT max(s.id), count(s.id), cast(sum(s.version & 4294967295) AS SIGNED)
FROM seslite_sessions AS s WHERE s.user_id = USER_ID($1, $2);

-- The oldest of a user's sessions, as many as there are beyond $3, all without memory (details & 32). They
-- are counted where they are selected, since others may delete some meanwhile.

-- name: list_user_beyond
SELECT p.id FROM (
    SELECT s.id, row_number() OVER (ORDER BY s.active_30s, s.updated_us, s.name DESC) AS place,
        count(*) OVER () AS total
    FROM seslite_sessions AS s WHERE s.user_id = $1 AND (s.details & 32) = 0) AS p
WHERE p.place <= p.total - $3 ORDER BY p.place LIMIT $2;

-- Lists them by their last writes instead.

-- name: list_user_unwritten
SELECT p.id FROM (
    SELECT s.id, row_number() OVER (ORDER BY s.changed_us, s.name DESC) AS place, count(*) OVER () AS total
    FROM seslite_sessions AS s WHERE s.user_id = $1 AND (s.details & 32) = 0) AS p
WHERE p.place <= p.total - $3 ORDER BY p.place LIMIT $2;

-- The number of an app's sessions that are due: expired, not written since a time, which is $5 for memory
-- (details & 32), or beyond a number per user, where memory does not count.

-- name: due_count
SELECT cast(coalesce(sum(greatest(n.total - $4, n.due) + n.memory), 0) AS SIGNED)
FROM (SELECT sum((s.details & 32) = 0) AS total,
             sum((s.details & 32) = 0 AND (coalesce(s.expires_us <= $2, 0) OR s.changed_us < $3)) AS due,
             sum((s.details & 32) <> 0 AND (coalesce(s.expires_us <= $2, 0) OR s.changed_us < $5)) AS memory
      FROM seslite_sessions AS s WHERE s.app_id = $1 GROUP BY s.user_id) AS n;

-- Lists, of at most $2 sessions, whose update time is from $3 to before $4, and which the filter leaves. The
-- list begins after a position: a time $8, then for ties a session name and a user id, or, in order of
-- creation, a session number $8. A list by time goes through the 30 seconds from $11 to $12, and of hidden
-- sessions from $21 to $22. If the next session in order of creation is of other times, that list begins at
-- the first one that was active between these. The last writes have no index, which every append would
-- write: that list looks at all sessions of its owner.

-- name: list_app_newest
KEEP_FIRST(app_id, THE_APP($1), $11, $12, ses_first);
KEEP_FIRST(app_id, THE_APP($1), $21, $22, ses_first_hidden);
SELECT KEEP_PAGE(BY_TIME(DESC), $2)
FROM (SELECT c.id, c.updated_us, c.name, c.user_id FROM seslite_sessions AS c
      WHERE c.app_id = THE_APP($1)
        AND (c.active_30s BETWEEN coalesce(@ses_first, $11) AND $12
             OR c.active_30s BETWEEN coalesce(@ses_first_hidden, $21) AND $22)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.updated_us < $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.updated_us DESC, c.name, c.user_id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_app_oldest
KEEP_LAST(app_id, THE_APP($1), $11, $12, ses_last);
KEEP_LAST(app_id, THE_APP($1), $21, $22, ses_last_hidden);
SELECT KEEP_PAGE(BY_TIME(ASC), $2)
FROM (SELECT c.id, c.updated_us, c.name, c.user_id FROM seslite_sessions AS c
      WHERE c.app_id = THE_APP($1)
        AND (c.active_30s BETWEEN $11 AND coalesce(@ses_last, $12)
             OR c.active_30s BETWEEN $21 AND coalesce(@ses_last_hidden, $22))
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.updated_us > $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.updated_us, c.name, c.user_id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_app_created
KEEP_NEXT(app_id, THE_APP($1));
KEEP_BEGIN(app_id, THE_APP($1));
SELECT KEEP_PAGE(group_concat(p.id ORDER BY p.id), $2)
FROM (SELECT c.id FROM seslite_sessions AS c
      WHERE c.app_id = THE_APP($1)
        AND c.id > greatest($8, coalesce(@ses_begin, 0))
        AND ($9 IS NULL OR true) AND ($10 IS NULL OR true)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_app_changed
SELECT KEEP_PAGE(group_concat(p.id ORDER BY p.changed_us DESC, p.name, p.user_id), $2)
FROM (SELECT c.id, c.changed_us, c.name, c.user_id FROM seslite_sessions AS c
      WHERE c.app_id = THE_APP($1)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.changed_us < $8 OR (c.changed_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.changed_us DESC, c.name, c.user_id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_user_newest
KEEP_FIRST(user_id, THE_USER($1), $11, $12, ses_first);
KEEP_FIRST(user_id, THE_USER($1), $21, $22, ses_first_hidden);
SELECT KEEP_PAGE(BY_TIME(DESC), $2)
FROM (SELECT c.id, c.updated_us, c.name, c.user_id FROM seslite_sessions AS c
      WHERE c.user_id = THE_USER($1)
        AND (c.active_30s BETWEEN coalesce(@ses_first, $11) AND $12
             OR c.active_30s BETWEEN coalesce(@ses_first_hidden, $21) AND $22)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.updated_us < $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_NAME(c) AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.updated_us DESC, c.name, c.user_id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_user_oldest
KEEP_LAST(user_id, THE_USER($1), $11, $12, ses_last);
KEEP_LAST(user_id, THE_USER($1), $21, $22, ses_last_hidden);
SELECT KEEP_PAGE(BY_TIME(ASC), $2)
FROM (SELECT c.id, c.updated_us, c.name, c.user_id FROM seslite_sessions AS c
      WHERE c.user_id = THE_USER($1)
        AND (c.active_30s BETWEEN $11 AND coalesce(@ses_last, $12)
             OR c.active_30s BETWEEN $21 AND coalesce(@ses_last_hidden, $22))
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.updated_us > $8 OR (c.updated_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_NAME(c) AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.updated_us, c.name, c.user_id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_user_created
KEEP_NEXT(user_id, THE_USER($1));
KEEP_BEGIN(user_id, THE_USER($1));
SELECT KEEP_PAGE(group_concat(p.id ORDER BY p.id), $2)
FROM (SELECT c.id FROM seslite_sessions AS c
      WHERE c.user_id = THE_USER($1)
        AND c.id > greatest($8, coalesce(@ses_begin, 0))
        AND ($9 IS NULL OR true) AND ($10 IS NULL OR true)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND HAS_NAME(c) AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- name: list_user_changed
SELECT KEEP_PAGE(group_concat(p.id ORDER BY p.changed_us DESC, p.name, p.user_id), $2)
FROM (SELECT c.id, c.changed_us, c.name, c.user_id FROM seslite_sessions AS c
      WHERE c.user_id = THE_USER($1)
        AND ($11 IS NULL OR true) AND ($12 IS NULL OR true)
        AND c.updated_us >= $3 AND c.updated_us < $4
        AND (c.changed_us < $8 OR (c.changed_us = $8 AND (c.name, c.user_id) > ($9, $10)))
        AND HAS_NAME(c) AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
      ORDER BY c.changed_us DESC, c.name, c.user_id LIMIT $2) AS p;
PAGE();
PAGE_ROWS();

-- The same lists among sessions that an index found: $21 is -1 for the newest first, 1 for the oldest first,
-- 0 for the order of creation, and multiplies $8. $12: by their last writes. $22 is the user, if it is not
-- NULL. $11: they must have labels.

-- name: list_among
SELECT SESSION_COLUMNS(c), c.name, u.name AS user_name, u.app_id AS users_app_id, c.changed_us
FROM LIST_OF($1) AS o STRAIGHT_JOIN seslite_sessions AS c ON c.id = o.id
    STRAIGHT_JOIN seslite_users AS u ON u.id = c.user_id
WHERE ($22 IS NULL OR c.user_id = $22) AND c.updated_us >= $3 AND c.updated_us < $4
  AND CASE $21 WHEN 0 THEN c.id > $8
      ELSE $21 * CASE $12 WHEN 1 THEN c.changed_us ELSE c.updated_us END > $8
           OR ($21 * CASE $12 WHEN 1 THEN c.changed_us ELSE c.updated_us END = $8
               AND (c.name, c.user_id) > ($9, $10)) END
  AND HAS_NAME(c)
  AND ($11 = 0 OR (c.details & 4) <> 0)
  AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20)
ORDER BY $21 * CASE $12 WHEN 1 THEN c.changed_us ELSE c.updated_us END, CASE $21 WHEN 0 THEN c.id END,
    CASE $21 WHEN 0 THEN '' ELSE c.name END, c.user_id
LIMIT $2;

-- As ids_labelled, those with a name from $3 to before $4.

-- name: ids_named
SELECT id FROM seslite_sessions WHERE user_id = $1 AND name >= $3 AND name < $4 LIMIT $2;

-- name: ids_of_children
SELECT d.session_id
FROM seslite_session_details AS d FORCE INDEX (by_child_of)
STRAIGHT_JOIN seslite_sessions AS s ON s.id = d.session_id
WHERE d.child_session = $4 AND d.child_user = $3 AND s.app_id = $1 LIMIT $2;

-- Counts for the same filters, with the parameters of lists. ($8: the times have to be checked.)

-- name: count_of_user
SELECT count(*) FROM seslite_sessions AS c
WHERE c.user_id = $1 AND c.name >= $13 AND c.name < $14
  AND ($8 = 0 OR (c.updated_us >= $3 AND c.updated_us < $4))
  AND HAS_LABEL(c) AND PASSES(c, $15, $16, $17, $18, $19, $20);

-- name: count_labelled
SELECT count(*)
FROM seslite_session_labels AS l JOIN seslite_sessions AS c ON c.id = l.session_id
WHERE l.app_id = $1 AND l.name = $5 AND l.value BETWEEN $6 AND $7 AND (c.details & 4) <> 0
  AND c.updated_us >= $3 AND c.updated_us < $4 AND PASSES(c, $15, $16, $17, $18, $19, $20);

-- name: app_state_set
INSERT INTO seslite_app_state (app_id, `key`, value, session_id, seq)
VALUES (LOCKED_APP(THE_APP($1)), $2, $3, coalesce($4@ses_session, 0), $5)
ON DUPLICATE KEY UPDATE value = values(value), session_id = values(session_id), seq = values(seq);

-- name: user_state_set
INSERT INTO seslite_user_state (user_id, `key`, value, session_id, seq)
VALUES (LOCKED_USER(THE_USER($1)), $2, $3, coalesce($4@ses_session, 0), $5)
ON DUPLICATE KEY UPDATE value = values(value), session_id = values(session_id), seq = values(seq);

-- name: session_state_set
INSERT INTO seslite_session_state (session_id, `key`, value, seq) VALUES (THE_SESSION($1), $2, $3, $5)
ON DUPLICATE KEY UPDATE value = values(value), seq = values(seq);

-- The state of all owners of a page, in the page's order.

-- name: user_state_of_owners
SELECT st.`key`, st.value, st.user_id
FROM LIST_OF($1@ses_listed_users) AS o STRAIGHT_JOIN seslite_user_state AS st ON st.user_id = o.id
ORDER BY o.place, st.`key`;

-- name: session_state_of_owners
SELECT st.`key`, st.value, st.session_id
FROM LIST_OF($1@ses_listed) AS o STRAIGHT_JOIN seslite_session_state AS st ON st.session_id = o.id
ORDER BY o.place, st.`key`;

-- The time is read after the session was found, whose lock keeps its lease from changing. There is a row even
-- without a lease.

-- name: lease_now
SELECT l.token, l.session_id, l.owner, l.taken_us, l.until_us, l.next_owner, l.next_until_us,
       CLOCK_US()
FROM (SELECT 1) AS one LEFT JOIN seslite_session_leases AS l ON l.session_id = THE_SESSION($1);

-- name: lease_replace
DELETE FROM seslite_session_leases WHERE session_id = $2 AND token = $1;

-- name: event_add
INSERT IGNORE INTO seslite_events (session_id, EVENT_COLUMNS()) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- The sessions of the app $1 that have the number of origin of the session $2, and that which the user $3
-- has by the name $4: with the names of what they were forked from, the last number taken from there, and the
-- names of what they are children of.

-- name: family_of
SELECT o.id, o.app_id, o.user_id, o.last_seq, o.created_us, o.base_seq, d.origin, d.parent_seq,
       u.name AS user_name, o.name, d.parent_user, d.parent_session,
       d.child_user, d.child_session
FROM seslite_session_details AS own
STRAIGHT_JOIN seslite_session_details AS d FORCE INDEX (by_origin) ON d.origin = own.origin
STRAIGHT_JOIN seslite_sessions AS o ON o.id = d.session_id AND o.app_id = $1
STRAIGHT_JOIN seslite_users AS u ON u.id = o.user_id
WHERE own.session_id = $2
UNION ALL
SELECT o.id, o.app_id, o.user_id, o.last_seq, o.created_us, o.base_seq, d.origin, d.parent_seq,
       u.name AS user_name, o.name, d.parent_user, d.parent_session,
       d.child_user, d.child_session
FROM seslite_sessions AS o
JOIN seslite_users AS u ON u.id = o.user_id
LEFT JOIN seslite_session_details AS d ON d.session_id = o.id
WHERE o.user_id = $3 AND o.name = $4;

-- The same for all sessions of the user $2, including these.

-- name: families_of_user
SELECT o.id, o.app_id, o.user_id, o.last_seq, o.created_us, o.base_seq, d.origin, d.parent_seq,
       u.name AS user_name, o.name, d.parent_user, d.parent_session,
       d.child_user, d.child_session
FROM seslite_sessions AS o
JOIN seslite_session_details AS d ON d.session_id = o.id
JOIN seslite_users AS u ON u.id = o.user_id
WHERE o.app_id = $1 AND d.origin IN (
    SELECT n.origin FROM seslite_sessions AS own JOIN seslite_session_details AS n ON n.session_id = own.id
    WHERE own.user_id = $2 AND n.origin IS NOT NULL);

-- name: details_copy
INSERT INTO seslite_session_details (session_id, title, parent_user, parent_session, parent_seq,
                                     initial_state, origin, child_user, child_session)
SELECT $2, d.title, $3, $4, $5, d.initial_state, d.origin, d.child_user, d.child_session
FROM (SELECT 1) AS one LEFT JOIN seslite_session_details AS d ON d.session_id = $1;

-- A session that has a number of origin keeps it.

-- name: origin_set
INSERT INTO seslite_session_details (session_id, origin) VALUES ($1, $2)
ON DUPLICATE KEY UPDATE origin = coalesce(origin, values(origin));

-- The number of the first event of $1 in which the log of $2 differs.

-- name: event_unlike
SELECT a.seq
FROM seslite_events AS a LEFT JOIN seslite_events AS b ON b.session_id = $2 AND b.seq = a.seq
WHERE a.session_id = $1 AND NOT (b.body <=> a.body)
ORDER BY a.seq LIMIT 1;

-- Selects the first event in the order of ids, from this id on: for a condition on the id alone, a planner
-- without statistics may read the whole log by the other index.

-- name: event_by_id
SELECT EVENT_COLUMNS() FROM seslite_events WHERE session_id = THE_SESSION($1) AND id = $2;

-- The events of a session with numbers from $2 to $3.

-- name: events_forward
KEEP_UP_TO(THE_SESSION($1));
SELECT EVENT_COLUMNS() FROM seslite_events
WHERE session_id = THE_SESSION($1) AND seq BETWEEN $2 AND @ses_end ORDER BY seq;

-- name: events_backward
KEEP_DOWN_TO(THE_SESSION($1));
SELECT EVENT_COLUMNS() FROM seslite_events
WHERE session_id = THE_SESSION($1) AND seq BETWEEN @ses_end AND $3 ORDER BY seq DESC;

-- For a replay.

-- name: event_bodies_forward
KEEP_UP_TO($1);
SELECT seq, body FROM seslite_events WHERE session_id = $1 AND seq BETWEEN $2 AND @ses_end ORDER BY seq;

-- name: event_bodies_backward
KEEP_DOWN_TO($1);
SELECT seq, body FROM seslite_events WHERE session_id = $1 AND seq BETWEEN @ses_end AND $3 ORDER BY seq DESC;

-- name: check_user_after
SELECT u.id, u.app_id, u.name, a.name AS app_name
FROM seslite_users AS u LEFT JOIN seslite_apps AS a ON a.id = u.app_id
WHERE u.id > $1 ORDER BY u.id LIMIT 1;

-- name: check_session_after
SELECT SESSION_COLUMNS(s), s.active_30s, s.changed_us, s.ahead_hour, u.app_id AS users_app_id,
       a.name AS app_name, u.name AS user_name, s.name
FROM seslite_sessions AS s
LEFT JOIN seslite_users AS u ON u.id = s.user_id
LEFT JOIN seslite_apps AS a ON a.id = s.app_id
WHERE s.id > $1 ORDER BY s.id LIMIT 1;

-- The chunks from $2 on; with 0 also those below, which cannot be.

-- name: check_chunks
SELECT number, bytes FROM seslite_artifact_chunks
WHERE content_id = $1 AND number >= if($2 = 0, -9223372036854775808, $2) ORDER BY number LIMIT $3;

-- An append that is sent as a whole. A number is out of range, which fails, if a job has to look first: the
-- session does not have the version that is expected (NULL: any), or has no room among the events that it may
-- hold, or there is an unknown feature. If there is no session, the event would belong to NULL, which fails,
-- too. The columns are SESSION_COLUMNS: each one more would be described in the answer.
-- macro: MAY_APPEND(row, expected, most) = row.version = coalesce(expected, row.version)
--     AND row.version < 9007199254740991
--     AND row.last_seq < 4294967295 AND row.event_count < most
--     AND NOT EXISTS (SELECT 1 FROM UNKNOWN_FEATURES())
-- macro: TO_APPEND(row, expected, most) = @ses_session := row.id
--         + CASE WHEN MAY_APPEND(row, expected, most) THEN 0 ELSE 9223372036854775807 END AS id,
--     @ses_app := row.app_id AS app_id, @ses_user := row.user_id AS user_id, row.version,
--     (@ses_seq := row.last_seq + 1) - 1,
--     row.event_count, row.created_us, @ses_high := row.updated_us, row.expires_us, row.base_seq, row.details

-- name: append_by_id
-- prepared: for ses_append
SELECT TO_APPEND(s, $2, $3) FROM seslite_sessions AS s WHERE s.id = $1 FOR UPDATE;

-- name: append_by_key
-- prepared: for ses_append
SELECT TO_APPEND(s, $4, $5) FROM seslite_sessions AS s WHERE s.name = $3 AND s.user_id = USER_ID($1, $2)
    FOR UPDATE;

-- name: append_event
-- prepared: for ses_append
INSERT INTO seslite_events (session_id, EVENT_COLUMNS())
VALUES (@ses_session, @ses_seq, $1, $2, $3, $4, $5, nullif(greatest(@ses_high, $5), $5), $6);

-- name: append_mark
INSERT INTO seslite_event_marks (session_id, seq, kind, target_seq) VALUES (@ses_session, @ses_seq, $1, $2);

-- name: append_app_key
-- prepared: for ses_append
INSERT INTO seslite_app_state (app_id, `key`, value, session_id, seq)
    VALUES (LOCKED_APP(@ses_app), $1, $2, @ses_session, @ses_seq)
ON DUPLICATE KEY UPDATE value = values(value), session_id = values(session_id), seq = values(seq);

-- name: append_user_key
-- prepared: for ses_append
INSERT INTO seslite_user_state (user_id, `key`, value, session_id, seq)
    VALUES (LOCKED_USER(@ses_user), $1, $2, @ses_session, @ses_seq)
ON DUPLICATE KEY UPDATE value = values(value), session_id = values(session_id), seq = values(seq);

-- name: append_session_key
-- prepared: for ses_append
INSERT INTO seslite_session_state (session_id, `key`, value, seq) VALUES (@ses_session, $1, $2, @ses_seq)
ON DUPLICATE KEY UPDATE value = values(value), seq = values(seq);

-- name: append_session_two
-- prepared: for ses_append
INSERT INTO seslite_session_state (session_id, `key`, value, seq)
VALUES (@ses_session, $1, $2, @ses_seq), (@ses_session, $3, $4, @ses_seq)
ON DUPLICATE KEY UPDATE value = values(value), seq = values(seq);

-- name: append_touch
-- prepared: for ses_append
UPDATE seslite_sessions
SET version = version + 1, last_seq = last_seq + 1, event_count = event_count + 1,
    updated_us = greatest(updated_us, $1), active_30s =
        greatest(active_30s, $2 - CASE WHEN (details & 56) <> 0 THEN 17179869184 ELSE 0 END), changed_us = $3,
    ahead_hour = CASE WHEN greatest(updated_us, $1) > $3 + 3600000000 THEN $4 END
WHERE id = @ses_session;

-- Like session_add, for the user that was found, and with the version from the floor of his group. Becomes
-- the session that was found.

-- name: create_session
SET @ses_group = GROUP_OF(@ses_user);
INSERT INTO seslite_sessions
    (app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq, event_count, expires_us,
     changed_us, ahead_hour)
VALUES (@ses_app, @ses_user, $1, $2, $2, $3,
        (SELECT CASE WHEN coalesce(max(f.floor), 0) <= 9007199254740991 THEN coalesce(max(f.floor), 0) END
         FROM seslite_version_floor AS f WHERE f.user_group = @ses_group),
        0, 0, $4, $5, $6);
SELECT @ses_session := s.id AS id, s.app_id, s.user_id, STATE_COLUMNS(s) FROM seslite_sessions AS s
    WHERE s.id = last_insert_id();

-- Checks, of which each row is the text of a problem. Every column that statements use must exist with its
-- type. DISTINCT has the server look at its tables once, not once for each word.

-- name: check_columns
SELECT concat('the table ', substring_index(w.word, '.', 1), ' has no column ',
              substring_index(substring_index(w.word, '.', -1), ':', 1), ' of type ',
                  substring_index(w.word, ':', -1))
FROM json_table(convert('["schema_version.version:int", "features.name:varbinary", "features.needs:bigint", "apps.id:bigint",
    "apps.name:varbinary", "users.id:bigint", "users.app_id:bigint", "users.name:varbinary",
    "sessions.id:bigint", "sessions.app_id:bigint", "sessions.user_id:bigint", "sessions.name:varbinary",
    "sessions.created_us:bigint", "sessions.updated_us:bigint", "sessions.active_30s:bigint",
    "sessions.version:bigint", "sessions.last_seq:bigint", "sessions.event_count:bigint",
    "sessions.expires_us:bigint", "sessions.base_seq:bigint", "sessions.details:bigint",
    "sessions.changed_us:bigint", "sessions.ahead_hour:bigint", "version_floor.user_group:bigint",
    "version_floor.floor:bigint", "session_details.session_id:bigint", "session_details.title:varbinary",
    "session_details.parent_user:varbinary", "session_details.parent_session:varbinary",
    "session_details.parent_seq:bigint", "session_details.more:longblob",
    "session_details.initial_state:longblob", "session_details.origin:bigint",
    "session_details.archived_us:bigint", "session_details.child_user:varbinary",
    "session_details.child_session:varbinary", "session_details.remembered_seq:bigint",
    "session_labels.session_id:bigint", "session_labels.name:varbinary", "session_labels.value:varbinary",
    "session_labels.app_id:bigint", "session_leases.token:bigint", "session_leases.session_id:bigint",
    "session_leases.owner:varbinary", "session_leases.taken_us:bigint", "session_leases.until_us:bigint",
    "session_leases.next_owner:varbinary", "session_leases.next_until_us:bigint",
    "session_drafts.session_id:bigint", "session_drafts.updated_us:bigint", "session_drafts.body:longblob",
    "session_inbox.id:bigint", "session_inbox.session_id:bigint", "session_inbox.app_id:bigint",
    "session_inbox.request:varbinary", "session_inbox.added_us:bigint", "session_inbox.body:longblob",
    "derived.session_id:bigint", "derived.what:varbinary", "derived.seq:bigint", "derived.epoch:bigint",
    "app_state.app_id:bigint", "app_state.key:varbinary", "app_state.value:longblob",
    "app_state.session_id:bigint", "app_state.seq:bigint", "user_state.user_id:bigint",
    "user_state.key:varbinary", "user_state.value:longblob", "user_state.session_id:bigint",
    "user_state.seq:bigint", "session_state.session_id:bigint", "session_state.key:varbinary",
    "session_state.value:longblob", "session_state.seq:bigint", "base_state.session_id:bigint",
    "base_state.key:varbinary", "base_state.value:longblob", "base_state.seq:bigint",
    "events.session_id:bigint", "events.seq:bigint", "events.id:varbinary", "events.invocation_id:longblob",
    "events.author:longblob", "events.branch:longblob", "events.time_us:bigint", "events.high_us:bigint",
    "events.body:longblob", "events.size:bigint", "event_marks.session_id:bigint", "event_marks.seq:bigint",
    "event_marks.kind:bigint", "event_marks.target_seq:bigint", "artifacts.user_id:bigint",
    "artifacts.session:varbinary", "artifacts.name:varbinary", "artifacts.version:bigint",
    "artifacts.created_us:bigint", "artifacts.kind:bigint", "artifacts.mime_type:varbinary",
    "artifacts.display_name:varbinary", "artifacts.metadata:longblob", "artifacts.content_id:bigint",
    "artifact_contents.id:bigint", "artifact_contents.user_id:bigint", "artifact_contents.hash:varbinary",
    "artifact_contents.size:bigint", "artifact_contents.uses:bigint", "artifact_contents.written_us:bigint",
    "artifact_chunks.content_id:bigint", "artifact_chunks.number:bigint", "artifact_chunks.bytes:longblob",
    "usage_sums.session_id:bigint", "usage_sums.quarter:bigint", "usage_sums.model:varbinary",
    "usage_sums.what:varbinary", "usage_sums.first_seq:bigint", "usage_sums.last_seq:bigint",
    "usage_sums.calls:bigint", "usage_sums.odd:bigint", "usage_sums.first_us:bigint",
    "usage_sums.last_us:bigint", "usage_sums.prompt:bigint", "usage_sums.cached:bigint",
    "usage_sums.candidates:bigint", "usage_sums.thoughts:bigint", "usage_sums.tool_use:bigint",
    "usage_sums.total:bigint"]'
    USING utf8mb4), _utf8mb4'$[*]' COLUMNS (word varchar(100) PATH _utf8mb4'$')) AS w
LEFT JOIN (SELECT DISTINCT cast(concat(substring(table_name, 9), '.', column_name, ':', data_type) AS BINARY)
               AS word
           FROM information_schema.columns WHERE table_schema = database()) AS c
    ON c.word = cast(w.word AS BINARY)
WHERE c.word IS NULL
ORDER BY 1 LIMIT $1;

-- name: check_indexes
SELECT concat('the index ', substring_index(w.word, '.', -1), ' of ', substring_index(w.word, '.', 1),
              ' is missing')
FROM json_table(convert('["apps.PRIMARY", "apps.name", "users.PRIMARY", "users.app_id", "sessions.PRIMARY", "sessions.user_id",
    "sessions.by_activity", "sessions.by_user_activity", "sessions.by_app", "sessions.ahead",
    "sessions.by_expiry", "version_floor.PRIMARY", "session_details.PRIMARY", "session_details.by_origin",
    "session_details.by_child_of", "session_labels.PRIMARY",
    "session_labels.by_value", "session_leases.PRIMARY", "session_leases.session_id",
    "session_drafts.PRIMARY", "session_inbox.PRIMARY", "session_inbox.session_id", "session_inbox.by_app", "derived.PRIMARY",
    "app_state.PRIMARY", "user_state.PRIMARY", "session_state.PRIMARY", "base_state.PRIMARY",
    "events.PRIMARY", "events.id", "event_marks.PRIMARY", "artifacts.PRIMARY", "artifact_contents.PRIMARY",
    "artifact_contents.user_id", "artifact_contents.unused", "artifact_chunks.PRIMARY",
    "usage_sums.PRIMARY", "features.PRIMARY"]'
    USING utf8mb4), _utf8mb4'$[*]' COLUMNS (word varchar(100) PATH _utf8mb4'$')) AS w
LEFT JOIN (SELECT DISTINCT cast(concat(substring(table_name, 9), '.', index_name) AS BINARY) AS word
           FROM information_schema.statistics WHERE table_schema = database()) AS i
    ON i.word = cast(w.word AS BINARY)
WHERE i.word IS NULL
ORDER BY 1 LIMIT $1;

-- name: check_orphans
SELECT concat(count(*), ' rows of ', o.name, ' belong to row ', o.id, ' of ', o.owner,
              ', which does not exist')
FROM (
    ORPHANS(seslite_users, seslite_apps, app_id)
    UNION ALL ORPHANS(seslite_sessions, seslite_apps, app_id)
    UNION ALL ORPHANS(seslite_sessions, seslite_users, user_id)
    UNION ALL ORPHANS(seslite_app_state, seslite_apps, app_id)
    UNION ALL ORPHANS(seslite_user_state, seslite_users, user_id)
    UNION ALL ORPHANS(seslite_session_details, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_session_labels, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_session_leases, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_session_drafts, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_session_inbox, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_derived, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_session_state, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_base_state, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_events, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_event_marks, seslite_sessions, session_id)
    UNION ALL ORPHANS(seslite_artifacts, seslite_users, user_id)
    UNION ALL ORPHANS(seslite_artifacts, seslite_artifact_contents, content_id)
    UNION ALL ORPHANS(seslite_artifact_contents, seslite_users, user_id)
    UNION ALL ORPHANS(seslite_artifact_chunks, seslite_artifact_contents, content_id)
) AS o
GROUP BY o.name, o.owner, o.id
ORDER BY o.name, o.owner, o.id LIMIT $1;

-- The names above $3, at most $4, each with its newest version. Older versions are passed over.

-- name: artifact_names
WITH RECURSIVE n (name, rest) AS (
    SELECT (SELECT a.name FROM seslite_artifacts AS a
            WHERE a.user_id = THE_USER($1) AND a.session = $2 AND a.name > $3 ORDER BY a.name LIMIT 1),
           $4
    UNION ALL
    SELECT (SELECT a.name FROM seslite_artifacts AS a
            WHERE a.user_id = THE_USER($1) AND a.session = $2 AND a.name > n.name ORDER BY a.name LIMIT 1),
           n.rest - 1
    FROM n WHERE n.name IS NOT NULL AND n.rest > 1)
SELECT ARTIFACT_COLUMNS()
FROM n
JOIN seslite_artifacts AS f ON f.user_id = THE_USER($1) AND f.session = $2 AND f.name = n.name
    AND f.version = (SELECT v.version FROM seslite_artifacts AS v
                     WHERE v.user_id = THE_USER($1) AND v.session = $2 AND v.name = n.name
                     ORDER BY v.version DESC LIMIT 1)
LEFT JOIN seslite_artifact_contents AS c ON c.id = f.content_id AND c.user_id = f.user_id
ORDER BY f.name LIMIT $4;

-- Before the versions of a name, all of a session, or all that one took over from another, are removed or
-- added, their contents get as many uses less or more. Without a name (NULL) all names count. (A version that
-- another transaction removes meanwhile is waited for, and does not count.)

-- name: contents_use
UPDATE seslite_artifact_contents AS c
JOIN (SELECT l.content_id, count(*) AS count
      FROM (SELECT f.content_id FROM seslite_artifacts AS f
            WHERE f.user_id = THE_USER($1) AND f.session = $2 AND ($3 IS NULL OR f.name = $3) FOR UPDATE) AS l
      GROUP BY l.content_id) AS n ON c.id = n.content_id
SET c.uses = c.uses + $4 * n.count
WHERE c.user_id = THE_USER($1);

-- name: artifacts_remove
DELETE FROM seslite_artifacts WHERE user_id = THE_USER($1) AND session = $2 AND ($3 IS NULL OR name = $3);

-- An artifact of the session $2, with the name $4 if there is one, that the session $3 lacks, or has in
-- another way.

-- name: artifact_unlike
SELECT a.version
FROM seslite_artifacts AS a
LEFT JOIN seslite_artifacts AS b ON b.user_id = $1 AND b.session = $3 AND b.name = a.name
    AND b.version = a.version
WHERE a.user_id = $1 AND a.session = $2 AND ($4 IS NULL OR a.name = $4)
    AND (b.name IS NULL OR b.created_us <> a.created_us OR b.kind <> a.kind
         OR NOT (b.mime_type <=> a.mime_type)
         OR NOT (b.display_name <=> a.display_name) OR NOT (b.metadata <=> a.metadata)
             OR b.content_id <> a.content_id)
LIMIT 1;

-- name: content_add
INSERT INTO seslite_artifact_contents (user_id, hash, size, uses, written_us) VALUES ($1, $2, $3, $4, $5);
SET @ses_content = last_insert_id();

-- Contents that no artifact of a user has any more, and those whose writing was given up before the time $2.
-- (It is locked, or it might be finished before contents_sweep.)

-- name: chunks_sweep
SELECT c.id FROM seslite_artifact_contents AS c
WHERE c.user_id = THE_USER($1) AND c.uses = 0 AND (c.hash IS NOT NULL OR c.written_us < $2) FOR UPDATE;
DELETE k FROM seslite_artifact_chunks AS k JOIN seslite_artifact_contents AS c ON c.id = k.content_id
WHERE c.user_id = THE_USER($1) AND c.uses = 0 AND (c.hash IS NOT NULL OR c.written_us < $2);

-- name: user_chunks_delete
DELETE k FROM seslite_artifact_chunks AS k JOIN seslite_artifact_contents AS c ON c.id = k.content_id
WHERE c.user_id = $1;

-- name: feature_enter
INSERT IGNORE INTO seslite_features (name, needs) VALUES ($1, $2);

-- A server keeps no SQL: there is a row if there is a table.

-- name: table_sql
SELECT NULL FROM information_schema.tables
WHERE table_schema = database() AND table_name = concat('seslite_', $1);

-- name: behind_user
SELECT s.id FROM seslite_sessions AS s
WHERE s.user_id = $3 AND s.id > $1 AND s.event_count > 0 AND IS_BEHIND(s, $4) ORDER BY s.id LIMIT $2;

-- name: derived_lag
SELECT cast(coalesce(sum(greatest(0, s.last_seq - greatest(s.base_seq, coalesce(d.seq, 0)))), 0) AS SIGNED)
FROM seslite_sessions AS s
LEFT JOIN seslite_derived AS d ON d.session_id = s.id AND d.what = $1 AND d.epoch = s.version - s.last_seq
WHERE s.event_count > 0;

-- There is no index of words.

-- name: index_features
SELECT NULL FROM (SELECT 1) AS one WHERE false;

-- name: index_leave
DELETE FROM seslite_features WHERE name = 'search';

-- name: index_forget
DELETE FROM seslite_derived WHERE what = 'search';

-- name: index_module
SELECT 1 FROM (SELECT 1) AS one WHERE false;

-- name: index_drop
DO 0;

-- name: words_delete
DO 0;

-- The use of tokens, which is derived from the events on demand: the rows are as in a file. They go
-- with the row of `derived` to which they lead, also where a library deletes it that does not know
-- them. (A server commits before it makes a table, so there is always one.)

-- name: usage_make
INSERT IGNORE INTO seslite_features (name, needs) VALUES ('usage2', 1);

-- name: usage_drop
DELETE FROM seslite_usage_sums;

-- name: usage_of_sessions
SELECT USAGE_SUMS(c)
FROM LIST_OF($1) AS o STRAIGHT_JOIN seslite_usage_sums AS c ON c.session_id = o.id AND c.quarter <= $2
ORDER BY o.place;
