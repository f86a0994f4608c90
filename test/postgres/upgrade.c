/* A store of version 0.2.0: see server/upgrade.h. */
#include "place.h"

/* Sessions 4098, 8194 ... of one user. */
static void make_old(struct place *place, const struct database *database, const char *name)
{
    char line[512];

    place_make(place, database, name);
    if (database_shell(line, sizeof line, "psql -X -q -1 -v ON_ERROR_STOP=1 -f sql/postgres/0002_initial.sql",
                       place->address) != 0)
        fail_msg("%s", line);
    database_run(
        &place->at,
        "INSERT INTO seslite.apps SELECT ('x' || left(encode(sha256('app'), 'hex'), 3))::bit(12)::int, 4096 + "
        "('x' || left(encode(sha256('app'), 'hex'), 3))::bit(12)::int, 'app';"
        "INSERT INTO seslite.users SELECT n.shard, 4096 + n.shard, a.id, 'user' FROM seslite.apps AS a, (SELECT "
        "('x' || left(encode(sha256('app\\001user'), 'hex'), 3))::bit(12)::int AS shard) AS n;"
        "INSERT INTO seslite.sessions (shard, id, app_id, user_id, name, created_us, updated_us, active_30s, "
        "version, last_seq, event_count, details, changed_us) SELECT u.shard, i * 4096 + u.shard, u.app_id, u.id, "
        "n, i, i, 0, 0, 0, 0, CASE WHEN n = 'first' THEN 0 WHEN n IN ('alone', 'memory:notes') THEN 4 ELSE 1 "
        "END, i FROM seslite.users AS u, "
        "(VALUES (1, 'first'), (2, 'fork'), (3, 'alone'), (4, 'orphan'), (5, 'sibling'), (7, 'memory:notes')) AS v (i, n);"
        "INSERT INTO seslite.session_details (shard, session_id, parent_user, parent_session, parent_seq) SELECT "
        "shard, id, 'user', CASE name WHEN 'fork' THEN 'first' ELSE 'deleted' END, 0 FROM seslite.sessions WHERE "
        "details = 1;"
        "INSERT INTO seslite.session_labels SELECT shard, id, 'memory', CASE name WHEN 'alone' THEN '2' ELSE 'all' "
        "END, app_id FROM seslite.sessions WHERE details = 4;"
        "INSERT INTO seslite.session_labels SELECT shard, id, 'tag', 'x', app_id FROM seslite.sessions WHERE name = "
        "'alone'");
}

#define FAMILIES                                                                                             \
    "SELECT string_agg(f.names, ' | ' ORDER BY f.names) FROM (SELECT string_agg(s.name, ' ' ORDER BY s.id) " \
    "AS names FROM seslite.sessions AS s JOIN seslite.session_details AS d ON d.session_id = s.id WHERE "    \
    "d.origin > 0 GROUP BY d.origin) AS f"
#define OLD_BEGIN                                                                          \
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT (SELECT pg_catalog.textcat('feature ', " \
    "name)::pg_catalog.int8 FROM seslite.features WHERE pg_catalog.int8ne(needs, 1) AND "  \
    "pg_catalog.textne(name, 'search') LIMIT 1)"
#define REFUSED "feature families"
#define LATE_FORK                                                                              \
    "INSERT INTO seslite.sessions (shard, id, app_id, user_id, name, created_us, updated_us, " \
    "active_30s, version, last_seq, event_count, details, changed_us) SELECT shard, "          \
    "6 * 4096 + shard, app_id, id, 'late', 6, 6, 0, 0, 0, 0, 1, 6 FROM seslite.users; "        \
    "INSERT INTO seslite.session_details (shard, session_id, parent_user, parent_session, "    \
    "parent_seq) SELECT shard, id, 'user', 'fork', 0 FROM seslite.sessions WHERE name = 'late'"
#define WAITING "SELECT count(*) FROM pg_stat_activity WHERE datname = 'beside' AND wait_event_type = 'Lock'"

#include "server/upgrade.h"
