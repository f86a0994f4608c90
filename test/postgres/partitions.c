/* A store whose tables are partitioned by shard: every call works as on others, and what is about one session
 * looks into one partition of each table. */
#include <ctype.h>

#include "database.h"
#include "plans.h"
#include "seslite_postgres.h"

#define PARTITIONS "8"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

/* A database with a store that is partitioned, and its connection string. */
static void make_partitioned(const struct database *database, const char *name, char place[600])
{
    char line[512];

    database_fresh(database, name, "", place);
    if (database_shell(line, sizeof line,
                       "sh test/postgres/partitioned.sh " PARTITIONS " | psql -X -q -1 -v ON_ERROR_STOP=1",
                       place) != 0)
        fail_msg("%s", line);
}

static ses_store *open_at(const char *place)
{
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    return store;
}

static int64_t problems_of(ses_store *store)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &whole, &problems, &error));
    return problems;
}

/* ------------------------------------------------------------------------------------------------ calls */

static void create_sessions(ses_store *store, int count)
{
    char user[20];
    char name[20];

    for (int i = 0; i < count; i++) {
        snprintf(user, sizeof user, "user%d", i % 10);
        snprintf(name, sizeof name, "s%d", i);
        const ses_key one = {.app = "app", .user = user, .session = name};
        must_create(store, &one, "{\"app:a\":1,\"user:b\":2,\"c\":3}");
        must_append_by_key(store, &one, "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"c\":4}}}");
    }
}

static int64_t count_listed(ses_store *store, const char *user)
{
    const ses_list_options all = {.size = sizeof all, .limit = 100};
    ses_page *page = NULL;
    ses_error error;

    assert_ok(ses_list(store, "app", user, &all, &page, &error));
    const int64_t count = (int64_t)ses_page_count(page);
    ses_page_close(page);
    return count;
}

static const char *value_of(const ses_session *session, const char *name)
{
    const char *json = NULL;
    size_t len;
    ses_error error;

    assert_ok(ses_state_get(session, name, &json, &len, &error));
    return json;
}

SERVER_TEST(calls_work_on_partitions)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    char place[600];

    make_partitioned(database, "calls", place);
    ses_store *store = open_at(place);
    create_sessions(store, 40);
    assert_int_equal(count_listed(store, NULL), 40);
    assert_int_equal(count_listed(store, "user3"), 4);

    ses_session *session = must_open_new(store, &key, "{\"n\":0,\"app:a\":2}");
    must_append(session, "{\"invocationId\":\"i1\",\"actions\":{\"stateDelta\":{\"n\":1}}}");
    must_append(session, "{\"invocationId\":\"i2\",\"actions\":{\"stateDelta\":{\"n\":2,\"app:a\":null}}}");
    must_append(session, "{\"actions\":{\"stateDelta\":{\"app:a\":\"__ADK_SENTINEL_REMOVED__\"}}}");
    assert_ok(ses_rewind(session, &first, NULL, NULL, &error));
    assert_string_equal(value_of(session, "n"), "1");
    ses_session_close(session);
    assert_code(ses_create(store, &key, NULL, 0, NULL, NULL, &error), SES_EXISTS);
    assert_true(ses_get_or_create(store, &key, NULL, 0, NULL, &session, &error) >= 0);
    assert_int_equal(ses_session_event_count(session), 4);
    ses_session_close(session);
    assert_ok(ses_prune_by_key(store, &key, &prune, NULL, &error));
    assert_int_equal(problems_of(store), 0);
    must_delete(store, &key);
    assert_int_equal(count_listed(store, NULL), 40);
    assert_int_equal(problems_of(store), 0);
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------------ plans */

/* Statements of single sessions, with the arguments for one: @ stands for its number, @a and @u for those of
 * its owners. */
static const struct {
    const char *name;
    const char *arguments;
} hot[] = {
    {"app_find", "'app1'"},
    {"user_find", "'app1', 'user1'"},
    {"session_find", "'app1', 'user1', 'session1'"},
    {"session_by_id", "@"},
    {"append_one", "@, NULL, 1, 1000, 1, 1, 1, NULL"},
    {"append_one_named", "'app1', 'user1', 'session1', NULL, 1, 1000, 1, 1, 1, NULL"},
    {"append_by_key", "'app1', 'user1', 'session1', NULL, 1, 1000"},
    {"append_by_id", "@, NULL, 1, 1000"},
    {"append_event", "@, 1, 'new', '', 'user', NULL, 1, 1, '{}'"},
    {"append_mark", "@, 1, 2, NULL"},
    {"append_session_keys", "@, '{k}', '{1}', '{1}'"},
    {"append_user_keys", "@, '{k}', '{1}', '{1}'"},
    {"append_app_keys", "@, '{k}', '{1}', '{1}'"},
    {"remove_session_keys", "@, '{k}'"},
    {"remove_user_keys", "@, '{k}'"},
    {"remove_app_keys", "@, '{k}'"},
    {"append_touch", "@, 1, 1, 1, 1, NULL"},
    {"lease_now", "@"},
    {"state_of_session", "@a, @u, @"},
    {"details_of_session", "@"},
    {"event_by_id", "@, 'e'"},
    {"events_newest", "@, 1, 100, 50"},
    {"events_forward", "@, 1, 100, 50, 100000"},
    {"events_backward", "@, 1, 100, 50, 100000"},
    {"event_marks_backward", "@, 100, 50"},
    {"events_delete", "@, 1, 2"},
    {"session_delete", "@"},
    {"list_user_newest", "@u, 50, 0, 9000000000000000000, NULL, NULL, NULL, 9000000000000000000, '', 0, 0, "
                         "9000000000000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, "
                         "9000000000000000000"},
    {"session_state_of_owners", "'{@}'"},
    {"user_state_of_owners", "'{@u}'"},
    {"details_of_owners", "'{@}'"},
    {"labels_of_owners", "'{@}'"},
    {"watch", "'{@}', '{NULL}', '{NULL}'"},
};

static const struct postgres_statement *statement_called(const char *name)
{
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        if (ses__postgres_statements[i].text && strcmp(ses__postgres_statements[i].name, name) == 0)
            return &ses__postgres_statements[i];
    }
    fail_msg("there is no statement %s", name);
    return NULL;
}

/* The numbers in place of their signs. */
static char *fill_in(PGconn *conn, const char *arguments)
{
    PGresult *ids = database_take(
        conn,
        PQexec(
            conn,
            "SELECT s.id, s.app_id, s.user_id FROM seslite.sessions AS s JOIN seslite.users AS u ON u.id = s.user_id WHERE s.name = 'session1' AND u.name = 'user1' ORDER BY s.id LIMIT 1"),
        "ids");
    struct text text = {NULL, 0};

    for (const char *at = arguments; *at; at++) {
        if (*at != '@') {
            text_printf(&text, "%c", *at);
            continue;
        }
        const int column = at[1] == 'a' ? 1 : at[1] == 'u' ? 2 : 0;
        text_printf(&text, "%s", PQgetvalue(ids, 0, column));
        at += column != 0;
    }
    PQclear(ids);
    return text.data;
}

/* A line of a plan that was carried out, such as "Index Scan using events_3_pkey on events_3 e (actual rows=1
 * loops=1)". The partition, "events_3", goes to `name`; false if the line is of something else, or was not
 * carried out. */
static bool partition_of(const char *line, char name[64])
{
    const char *on = strstr(line, "Scan") ? strstr(line, " on ") : NULL;
    size_t len = on ? strcspn(on + 4, " ") : 0;

    if (!on || strstr(line, "never executed") || strstr(line, "Bitmap Index") || len >= 64)
        return false;
    memcpy(name, on + 4, len);
    name[len] = '\0';
    return len > 0 && isdigit((unsigned char)name[len - 1]);
}

/* No two partitions of a table, whose names begin alike. */
static void check_one_partition_each(const char *statement, const PGresult *plan)
{
    char seen[32][64];
    int count = 0;

    for (int i = 0; i < PQntuples(plan) && count < 32; i++) {
        if (!partition_of(PQgetvalue(plan, i, 0), seen[count]))
            continue;
        const size_t table = (size_t)(strrchr(seen[count], '_') - seen[count]);
        for (int j = 0; j < count; j++) {
            if (strncmp(seen[j], seen[count], table + 1) == 0 && strcmp(seen[j], seen[count]) != 0)
                fail_msg("%s looks into %s and %s", statement, seen[j], seen[count]);
        }
        count++;
    }
    if (count == 0)
        fail_msg("%s looks into no partition", statement);
}

static void check_partitions(PGconn *conn, const char *name, const char *arguments)
{
    char *filled = fill_in(conn, arguments);
    struct text sql = {NULL, 0};

    text_printf(&sql, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE %s (%s)", name, filled);
    PQclear(database_take(conn, PQprepare(conn, name, statement_called(name)->text, 0, NULL), name));
    PQclear(database_take(conn, PQexec(conn, "BEGIN"), "BEGIN"));
    PGresult *plan = database_take(conn, PQexec(conn, sql.data), sql.data);
    check_one_partition_each(name, plan);
    PQclear(plan);
    PQclear(database_take(conn, PQexec(conn, "ROLLBACK"), "ROLLBACK"));
    free(sql.data);
    free(filled);
}

SERVER_TEST(statements_about_one_session_look_into_one_partition_of_each_table)
{
    char place[600];

    make_partitioned(database, "plans", place);
    PGconn *conn = PQconnectdb(place);
    fill_tables(conn);
    PQclear(database_take(conn, PQexec(conn, "SET plan_cache_mode = force_generic_plan"), "SET"));
    for (size_t i = 0; i < sizeof hot / sizeof hot[0]; i++)
        check_partitions(conn, hot[i].name, hot[i].arguments);
    PQfinish(conn);
}
