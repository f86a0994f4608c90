/* Rows in every table, for tests of plans. */
#ifndef SESLITE_TEST_POSTGRES_FILLED_H
#define SESLITE_TEST_POSTGRES_FILLED_H

#include "database.h"

/* Rows for plans: several users in each of several apps, and rows in every table. */
static const char *const filling[] = {
    "CREATE TEMP TABLE filled AS"
    " SELECT a, u, ('x' || left(encode(sha256(convert_to('app' || a, 'UTF8')), 'hex'), 3))::bit(12)::int AS "
    "app_shard,"
    " ('x' || left(encode(sha256(convert_to('app' || a || E'\\x01' || 'user' || u, 'UTF8')), 'hex'), "
    "3))::bit(12)::int"
    " AS shard FROM generate_series(1, 500) AS a, generate_series(1, 20) AS u WHERE u = 1 OR a <= 5",
    "INSERT INTO seslite.apps SELECT DISTINCT app_shard, (a::bigint << 12) + app_shard, 'app' || a FROM "
    "filled",
    "INSERT INTO seslite.users SELECT shard, ((a * 100 + u)::bigint << 12) + shard, (a::bigint << 12) + "
    "app_shard,"
    " 'user' || u FROM filled",
    "INSERT INTO seslite.sessions SELECT shard, ((a * 100 + u)::bigint * 1000 + s << 12) + shard,"
    " (a::bigint << 12) + app_shard, ((a * 100 + u)::bigint << 12) + shard, 'session' || s,"
    " s * 3600000000, s * 3600000000, s * 120, 10, 10, 10, CASE s % 10 WHEN 0 THEN s END, 0, 4, s * 3600000000,"
    " CASE s % 10 WHEN 0 THEN s END"
    " FROM filled, generate_series(1, 100) AS s WHERE a <= 5",
    "INSERT INTO seslite.events SELECT shard, id, n, 'event' || n, 'invocation', 'user', NULL, n, NULL,"
    " '{\"id\":\"event' || n || '\",\"text\":\"' || repeat('words ', 20) || '\"}'"
    " FROM seslite.sessions, generate_series(1, 10) AS n",
    "INSERT INTO seslite.event_marks SELECT shard, id, n, 1, 1 FROM seslite.sessions, generate_series(5, 6) "
    "AS n",
    "INSERT INTO seslite.session_labels SELECT shard, id, 'label' || n, 'value' || (id >> 12) % 50, app_id"
    " FROM seslite.sessions, generate_series(1, 3) AS n",
    "INSERT INTO seslite.session_details SELECT shard, id, 'A title' FROM seslite.sessions",
    "INSERT INTO seslite.derived SELECT shard, id, 'words', 1, 0 FROM seslite.sessions",
    "INSERT INTO seslite.session_leases SELECT shard, id, 1, 'owner', 0, 0 FROM seslite.sessions",
    "INSERT INTO seslite.session_state SELECT shard, id, 'key' || n, 'true', 1"
    " FROM seslite.sessions, generate_series(1, 5) AS n",
    "INSERT INTO seslite.base_state SELECT * FROM seslite.session_state",
    "INSERT INTO seslite.user_state SELECT shard, id, 'key' || n, 'true', 0, 0"
    " FROM seslite.users, generate_series(1, 5) AS n",
    "INSERT INTO seslite.app_state SELECT shard, id, 'key' || n, 'true', 0, 0"
    " FROM seslite.apps, generate_series(1, 5) AS n",
    "INSERT INTO seslite.version_floor SELECT n, 1 FROM generate_series(0, 4095) AS n",
    "ANALYZE",
};

static inline void fill_tables(PGconn *conn)
{
    for (size_t i = 0; i < sizeof filling / sizeof filling[0]; i++)
        PQclear(database_take(conn, PQexec(conn, filling[i]), filling[i]));
}

#endif
