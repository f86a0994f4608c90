/* The command imports a large database in bounded memory. Its speed is printed. */
#include "foreign.h"

#include <sys/resource.h>

/* SESLITE_TEST_EVENTS: how many, for a larger run. */
static int events_wanted(void)
{
    const char *given = getenv("SESLITE_TEST_EVENTS");
    return given ? atoi(given) : UNDER_ASAN || UNDER_TSAN ? 3000 : 50000;
}

/* A session of so many events of about a kilobyte, among others. */
static char *make_large(const struct fixture *fixture, int events)
{
    char *path = support_path(fixture->folder, "large.db");
    char sql[2048];

    (void)snprintf(
        sql, sizeof sql,
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
        "CREATE TABLE adk_internal_metadata (key VARCHAR(128) PRIMARY KEY, value VARCHAR(256));"
        "INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');"
        "CREATE TABLE sessions (app_name VARCHAR(128), user_id VARCHAR(128), id VARCHAR(128), state TEXT,"
        " create_time DATETIME, update_time DATETIME, PRIMARY KEY (app_name, user_id, id));"
        "CREATE TABLE app_states (app_name VARCHAR(128), state TEXT, update_time DATETIME);"
        "CREATE TABLE user_states (app_name VARCHAR(128), user_id VARCHAR(128), state TEXT, update_time "
        "DATETIME);"
        "CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id "
        "VARCHAR(128),"
        " invocation_id VARCHAR(256), timestamp DATETIME, event_data TEXT,"
        " PRIMARY KEY (id, app_name, user_id, session_id));"
        "INSERT INTO sessions SELECT 'a', 'u', 's' || value, '{\"n\":1}', '2025-01-01 00:00:00', '2025-01-01 "
        "00:00:00'"
        " FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n LIMIT 100) SELECT * "
        "FROM n);"
        "INSERT INTO events SELECT 'e' || value, 'a', 'u', 's' || (value %% 10 / 9 * (value %% 990 / 10 + "
        "1)), 'i', '2025-01-01',"
        " '{\"id\":\"e' || value || '\",\"author\":\"bot\",\"invocation_id\":\"i' || (value / 10) || "
        "'\",\"timestamp\":'"
        " || (1735689600 + value) || ',\"content\":{\"parts\":[{\"text\":\"' || hex(randomblob(400)) || "
        "'\"}]},"
        "\"actions\":{\"state_delta\":{\"n\":1}}}'"
        " FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT %d) SELECT * "
        "FROM n);",
        events);
    raw_exec(path, sql);
    return path;
}

TEST(memory_is_bounded)
{
    const int events = events_wanted();
    char *path = make_large(fixture, events);
    struct rusage usage;

    const int64_t begun = support_steady_us();
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    const int64_t us = support_steady_us() - begun;
    assert_int_equal(number_of(&reply, "made"), 100);
    assert_int_equal(number_of(&reply, "events"), events);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    print_message("%d events in %.1f s, %.0f a second, with %ld MB\n", events, (double)us / 1e6,
                  (double)events * 1e6 / (double)us, (long)usage.ru_maxrss / 1024);
    if (!UNDER_ASAN && !UNDER_TSAN)
        assert_in_range(usage.ru_maxrss, 0, 100 * 1024);
    free(path);
}

struct late_writer {
    const char *source;
    const char *log; /* of the store */
};

/* Writes to the source when the import has begun to write to the store. */
static void *write_late(void *context)
{
    const struct late_writer *writer = context;
    struct stat status;

    for (int i = 0; i < 5000 && (stat(writer->log, &status) != 0 || status.st_size < 1000000); i++)
        support_pause_us(2000);
    sqlite3 *db = raw_open(writer->source);
    raw_run(
        db,
        "INSERT INTO sessions VALUES ('a', 'u', 'late', '{}', '2025-01-01 00:00:00', '2025-01-01 00:00:00')");
    (void)sqlite3_close(db);
    return NULL;
}

/* Its log was empty, so it was opened as if it could not change. */
TEST(a_source_that_changes_meanwhile_is_noticed)
{
    char *path = make_large(fixture, events_wanted());
    char *log = support_path(fixture->folder, "new.db-wal");
    char *store = support_path(fixture->folder, "new.db");
    const char *const arguments[] = {COMMAND, "-f", store, "import", path, NULL};
    struct late_writer writer = {path, log};
    pthread_t thread;

    raw_exec(path, "PRAGMA journal_mode = WAL");
    assert_int_equal(pthread_create(&thread, NULL, write_late, &writer), 0);
    command_run(&reply, NULL, arguments);
    assert_int_equal(pthread_join(thread, NULL), 0);
    /* It may have been through before. */
    assert_true(reply.status == 6 || reply.status == 0);
    if (reply.status == 6)
        assert_has(&reply.err, "another program began to write");
    run_at(&reply, 0, NULL, store, "import", path, "--json");
    assert_int_equal(number_of(&reply, "made") + number_of(&reply, "equal"), 101);
    free(store);
    free(log);
    free(path);
}
