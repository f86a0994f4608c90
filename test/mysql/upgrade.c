/* A store of version 0.2.0 (schema version 2) on a server: its upgrade is cut off, and a client of that version has it open. */
#include <pthread.h>

#include "mysql/database.h"
#include "siblings.h"

static const ses_key first = {.app = "app", .user = "user", .session = "first"};

static void run(const struct database *database, const char *sql)
{
    if (mysql_query(database->conn, sql) != 0)
        fail_msg("%.200s: %s", sql, mysql_error(database->conn));
    do
        mysql_free_result(mysql_store_result(database->conn));
    while (mysql_next_result(database->conn) == 0);
    assert_int_equal(mysql_errno(database->conn), 0);
}

/* Makes the database of that name, with forks, and uses it. */
static void make_old(const struct database *database, const char *name, char uri[600])
{
    char sql[200];
    char *script = support_read_file("sql/mysql/0002_initial.sql", NULL);

    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s; CREATE DATABASE %s; USE %s", name, name, name);
    run(database, sql);
    run(database, script);
    free(script);
    run(database,
        "INSERT INTO seslite_apps VALUES (1, 'app'); INSERT INTO seslite_users VALUES (1, 1, 'user');"
        "INSERT INTO seslite_sessions (id, app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, event_count, details, changed_us) VALUES (1, 1, 1, 'first', 1, 1, 0, 0, 0, 0, 0, 1), (2, 1, 1, "
        "'fork', 2, 2, 0, 0, 0, 0, 1, 2), (3, 1, 1, 'alone', 3, 3, 0, 0, 0, 0, 0, 3), (4, 1, 1, 'orphan', 4, 4, 0, "
        "0, 0, 0, 1, 4), (5, 1, 1, 'sibling', 5, 5, 0, 0, 0, 0, 1, 5);"
        "INSERT INTO seslite_session_details (session_id, parent_user, parent_session, parent_seq) VALUES (2, "
        "'user', 'first', 0), (4, 'user', 'deleted', 0), (5, 'user', 'deleted', 0)");
    address_of(database->server, name, uri, 600);
}

static void assert_families(const struct database *database, const char *expected)
{
    assert_string_equal(
        database_ask(
            database,
            "SELECT group_concat(f.names ORDER BY f.names SEPARATOR ' | ') FROM (SELECT group_concat(s.name ORDER "
            "BY s.id SEPARATOR ' ') AS names FROM seslite_sessions AS s JOIN seslite_session_details AS d ON "
            "d.session_id = s.id WHERE d.origin > 0 GROUP BY d.origin) AS f"),
        expected);
    assert_string_equal(database_ask(database, "SELECT version FROM seslite_schema_version"), "3");
}

/* The end of the statement that begins here, or of the script. */
static const char *end_of_statement(const char *sql)
{
    const char *end = strstr(sql, ";\n");
    return end ? end + 1 : sql + strlen(sql);
}

static void test_one_that_is_cut_off_at_any_statement_is_done_by_the_next(void **state)
{
    const struct database *database = *state;
    char *script = support_read_file("sql/mysql/0003_families.sql", NULL);
    int count = 0;

    assert_non_null(script);
    for (const char *end = script; *end && *(end + 1); count++) {
        ses_store *store = NULL;
        char uri[600];
        ses_error error;

        make_old(database, "cut_off", uri);
        char *part = strndup(script, (size_t)(end - script));
        if (count > 0)
            run(database, part);
        run(database, "UNLOCK TABLES"); /* its connection has ended */
        free(part);
        assert_ok(ses_open_mysql(uri, NULL, NULL, &store, &error));
        must_append_by_key(store, &first, "{}");
        assert_families(database, "first fork | orphan sibling");
        assert_siblings(store, &(ses_key){"app", "user", "orphan"}, &(ses_key){"app", "user", "sibling"});
        ses_close(store);
        assert_string_equal(
            database_ask(database, "SELECT count(*) FROM information_schema.tables WHERE table_schema = "
                                   "database() AND table_name LIKE '%upgrade%'"),
            "0");
        end = end_of_statement(end);
    }
    assert_in_range(count, 15, 40);
    free(script);
}

/* As each transaction of 0.2.0 that writes begins. */
#define OLD_BEGIN                                                                                                   \
    "SELECT length(f.name) + 9223372036854775807 FROM seslite_features AS f WHERE f.needs <> 1 AND concat(f.name) " \
    "<> 'search'"

struct opening {
    const char *uri;
    int code;
    ses_error error;
};

static void *open_it(void *context)
{
    struct opening *opening = context;
    ses_store *store = NULL;

    opening->code = ses_open_mysql(opening->uri, NULL, NULL, &store, &opening->error);
    ses_close(store);
    return NULL;
}

static void test_the_upgrade_waits_for_an_old_client_and_then_refuses_it(void **state)
{
    const struct database *database = *state;
    const struct database old = {.conn = mysql_init(NULL)};
    pthread_t thread;
    char uri[600];

    make_old(database, "beside", uri);
    struct opening opening = {.uri = uri};
    assert_true(address_connect(old.conn, database->server, "beside"));
    run(&old, "START TRANSACTION; " OLD_BEGIN);
    assert_int_equal(pthread_create(&thread, NULL, open_it, &opening), 0);
    for (int i = 0;
         i < 5000 &&
         database_number(database, "SELECT count(*) FROM information_schema.processlist WHERE db = "
                                   "'beside' AND state LIKE '%metadata lock%'") == 0;
         i++)
        support_pause_us(1000);
    /* A fork that the old client makes in the transaction that it has begun. */
    run(&old,
        "INSERT INTO seslite_sessions (id, app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, event_count, details, changed_us) VALUES (6, 1, 1, 'late', 6, 6, 0, 0, 0, 0, 1, 6);"
        "INSERT INTO seslite_session_details (session_id, parent_user, parent_session, parent_seq) VALUES (6, 'user', "
        "'fork', 0); COMMIT");
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (opening.code != SES_OK)
        fail_msg("%s", opening.error.message);
    assert_families(database, "first fork late | orphan sibling");
    if (mysql_query(old.conn, OLD_BEGIN) == 0)
        mysql_free_result(mysql_store_result(old.conn));
    assert_non_null(strstr(mysql_error(old.conn), "out of range"));
    mysql_close(old.conn);
}

static void test_programs_that_open_at_once(void **state)
{
    enum { PROGRAMS = 6 };
    struct opening openings[PROGRAMS];
    pthread_t threads[PROGRAMS];
    char uri[600];

    make_old(*state, "at_once", uri);
    for (int i = 0; i < PROGRAMS; i++) {
        openings[i] = (struct opening){.uri = uri};
        assert_int_equal(pthread_create(&threads[i], NULL, open_it, &openings[i]), 0);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (openings[i].code != SES_OK)
            fail_msg("%s", openings[i].error.message);
    }
    assert_families(*state, "first fork | orphan sibling");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_is_cut_off_at_any_statement_is_done_by_the_next),
        cmocka_unit_test(test_the_upgrade_waits_for_an_old_client_and_then_refuses_it),
        cmocka_unit_test(test_programs_that_open_at_once),
    };
    return cmocka_run_group_tests_name("upgrade", tests, database_setup, database_teardown);
}
