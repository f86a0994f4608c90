/* How SQLite runs every statement of its book: by searching, never by scanning. */
#include <sqlite3.h>

#include "storage/sqlite/connection/connection.h"
#include "support.h"

struct plan_test {
    sqlite3 *handle;
    char *statements; /* the book: all statements of SQLite */
    bool uses[64];    /* which of `indexes` some plan has used */
    char indexes[64][64];
    size_t index_count;
};

/* The tables of features, by the statements that make them. */
static void make_features(struct plan_test *test)
{
    static const char *const beginnings[] = {"CREATE VIRTUAL TABLE", "CREATE TABLE search_places",
                                             "CREATE TABLE usage_sums", "CREATE TABLE invocation_filters"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        sqlite3_stmt *statement = NULL;
        assert_int_equal(
            sqlite3_prepare_v2(test->handle, strstr(test->statements, beginnings[i]), -1, &statement, NULL),
            SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_finalize(statement);
    }
}

static int setup(void **state)
{
    struct plan_test *test = calloc(1, sizeof *test);
    char *schema = support_schema();

    assert_non_null(test);
    test->statements = support_read_file(BUILD_FOLDER "/gen/sqlite.sql", NULL);
    assert_non_null(test->statements);
    assert_int_equal(sqlite3_open(":memory:", &test->handle), SQLITE_OK);
    assert_int_equal(ses__id_list_register(test->handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(test->handle, schema, NULL, NULL, NULL), SQLITE_OK);
    make_features(test);
    free(schema);
    *state = test;
    return 0;
}

/* With statistics of a store that has little, or of one that has much, as ses_store_maintain makes them. */
static void analyze(struct plan_test *test, int sessions)
{
    char sql[2000];

    snprintf(
        sql, sizeof sql,
        "INSERT INTO apps VALUES (1, 'app'); INSERT INTO users VALUES (1, 1, 'user');"
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO sessions SELECT i, 1, 1, 's' || i, i, i, 0, 1, 2, 2, i, 0, 0, i, i FROM n;"
        "INSERT INTO events SELECT id << 32 | 1, id, 'e', 'e', '', '', NULL, 0, NULL, '{}' FROM sessions;"
        "INSERT INTO events SELECT id << 32 | 2, id, 'f', 'f', '', '', NULL, 0, NULL, '{}' FROM sessions;"
        "INSERT INTO event_marks SELECT id, 1, 1, 0 FROM sessions;"
        "INSERT INTO session_state SELECT id, 'k', '1', 1 FROM sessions;"
        "INSERT INTO base_state SELECT id, 'k', '1', 1 FROM sessions;"
        "INSERT INTO session_labels SELECT id, 'k', 'v', 1 FROM sessions;"
        "INSERT INTO session_details"
        " SELECT id, NULL, NULL, NULL, NULL, NULL, '{}', 1, 1, 'u', 's', 1 FROM sessions;"
        "INSERT INTO app_state VALUES (1, 'k', '1', 1, 1); INSERT INTO user_state VALUES (1, 'k', '1', 1, 1);"
        "PRAGMA analysis_limit = 400; ANALYZE; UPDATE sqlite_stat1 SET stat = '1000' WHERE idx IS NULL;"
        "DELETE FROM sqlite_stat1 WHERE CAST(stat AS INTEGER) < 1000; ANALYZE sqlite_schema;"
        "DELETE FROM sqlite_stat1 WHERE idx IS NULL",
        sessions);
    if (sqlite3_exec(test->handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
        print_error("%s\n", sqlite3_errmsg(test->handle));
        fail();
    }
}

static int setup_little(void **state)
{
    (void)setup(state);
    analyze(*state, 1);
    return 0;
}

static int setup_much(void **state)
{
    (void)setup(state);
    analyze(*state, 5000);
    return 0;
}

static int teardown(void **state)
{
    struct plan_test *test = *state;
    assert_int_equal(sqlite3_close(test->handle), SQLITE_OK);
    free(test->statements);
    free(test);
    return 0;
}

static sqlite3_stmt *prepare(struct plan_test *test, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(test->handle, sql, -1, &statement, NULL) != SQLITE_OK) {
        print_error("%s\n%s\n", sqlite3_errmsg(test->handle), sql);
        fail();
    }
    return statement;
}

static void list_indexes(struct plan_test *test)
{
    sqlite3_stmt *statement = prepare(
        test, "SELECT i.name FROM sqlite_schema AS t, pragma_index_list(t.name) AS i "
              "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'search_words%'");
    while (sqlite3_step(statement) == SQLITE_ROW)
        snprintf(test->indexes[test->index_count++], sizeof test->indexes[0], "%s",
                 (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    assert_true(test->index_count > 5);
}

static void note_indexes(struct plan_test *test, const char *detail)
{
    for (size_t i = 0; i < test->index_count; i++) {
        if (strstr(detail, test->indexes[i]))
            test->uses[i] = true;
    }
}

/* A table without a row id is its own index, which the plan calls by its primary key. */
static void note_primary_key(struct plan_test *test, const char *detail)
{
    static const char *const tables[] = {"app_state",      "user_state",  "session_state",     "base_state",
                                         "session_labels", "event_marks", "features",          "derived",
                                         "artifacts",      "usage_sums",  "invocation_filters"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char use[96];
        char name[96];
        snprintf(use, sizeof use, "SEARCH %s USING PRIMARY KEY", tables[i]);
        snprintf(name, sizeof name, "sqlite_autoindex_%s_1", tables[i]);
        if (strstr(detail, use))
            note_indexes(test, name);
    }
}

/* The owners whose rows a page shows, or among whom it chooses: a list in memory. */
static bool walks_owners(const char *detail)
{
    return strcmp(detail, "SCAN o VIRTUAL TABLE INDEX 0:") == 0;
}

/* The sessions of a page, which a subquery chose. */
static bool walks_page(const char *detail)
{
    return strcmp(detail, "SCAN p") == 0;
}

/* The two ranges of activity, in which sessions are looked for. */
static bool walks_ranges(const char *detail)
{
    return strcmp(detail, "SCAN r") == 0;
}

/* Rows that come in the order of the first terms are sorted by the others only: as older and as newer
 * versions word it. */
static bool sorts_by_last_terms(const char *detail)
{
    return strstr(detail, "TEMP B-TREE FOR RIGHT PART OF ORDER BY") ||
           strstr(detail, "TEMP B-TREE FOR LAST ");
}

/* The last writes have no index: these look at all sessions of their owner. */
static bool is_by_last_writes(const char *name)
{
    return strcmp(name, "list_app_changed") == 0 || strcmp(name, "list_user_changed") == 0 ||
           strcmp(name, "list_user_unwritten") == 0;
}

static void assert_plan_line(const char *name, const char *detail)
{
    /* A sort is bounded: by the sessions active in the same 30 seconds, or in two minutes, by the few that an
     * index found, or by a session's artifacts or inputs. */
    bool sorts = strstr(detail, "TEMP B-TREE") != NULL;
    bool is_short = strncmp(name, "list_", 5) == 0 && sorts_by_last_terms(detail);
    bool of_few = strcmp(name, "list_among") == 0 || strcmp(name, "contents_use") == 0 ||
                  strcmp(name, "inbox_of_session") == 0 || strcmp(name, "followed_recent") == 0 ||
                  is_by_last_writes(name);

    /* It has one row, of which the statistics may tell. */
    if (strcmp(detail, "SCAN version_floor") == 0)
        return;
    /* The findings of the index of words, of which there is a limited number, sorted; the modules of SQLite;
     * and all sessions, to bring the whole index up to date. */
    if (strcmp(name, "words_found") == 0 && strncmp(detail, "SCAN s ", 7) != 0 &&
        strncmp(detail, "SCAN u", 6) != 0)
        return;
    if (strcmp(name, "index_module") == 0 || strcmp(name, "table_sql") == 0 ||
        strcmp(name, "index_forget") == 0 || strcmp(name, "derived_lag") == 0 ||
        strcmp(name, "derived_forget") == 0)
        return;
    /* The names of a page, which a recursion finds one after the other. */
    if (strcmp(detail, "SCAN CONSTANT ROW") == 0 || strcmp(detail, "SCAN n") == 0)
        return;
    if ((strncmp(detail, "SCAN", 4) == 0 && !walks_owners(detail) && !walks_page(detail) &&
         !walks_ranges(detail)) ||
        (sorts && !is_short && !of_few)) {
        print_error("%s: %s\n", name, detail);
        fail();
    }
}

static void look_at(struct plan_test *test, const char *name, const char *sql)
{
    char explain[4096];

    if (strcmp(name, "index_make") == 0 || strcmp(name, "places_make") == 0 ||
        strcmp(name, "usage_make") == 0 || strcmp(name, "filters_make") == 0)
        return;
    snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *statement = prepare(test, explain);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(statement, 3);
        assert_plan_line(name, detail);
        note_indexes(test, detail);
        note_primary_key(test, detail);
    }
    sqlite3_finalize(statement);
}

TEST_ALSO(setup_much, teardown, statements_search)
TEST_ALSO(setup_little, teardown, statements_search)
TEST_WITH(struct plan_test *test, setup, teardown, statements_search)
{
    size_t count = 0;

    list_indexes(test);
    char *at = strstr(test->statements, "\n-- name: ");
    while (at) {
        char name[64];
        char *next = strstr(at + 1, "\n-- name: ");
        assert_int_equal(sscanf(at, "\n-- name: %63s", name), 1);
        char *sql = strchr(at + 1, '\n') + 1;
        if (next)
            *next = '\0';
        look_at(test, name, sql);
        count++;
        if (next)
            *next = '\n';
        at = next;
    }
    assert_true(count > 30);

    /* Plans do not show what an insert or a foreign key looks up. The events' index also finds a retried
     * event. */
    for (size_t i = 0; i < test->index_count; i++) {
        if (!test->uses[i]) {
            print_error("no statement uses the index %s\n", test->indexes[i]);
            fail();
        }
    }
}
