/*
 * The upgrade of a store of version 0.2.0 is cut off: by a disk that stops at each of its operations, and by
 * a signal that kills the program at each statement. Then the store is as it was or as it should be, and the
 * next program that opens it goes on.
 */
#include <signal.h>

#include "released.h"
#include "stopping_disk.h"

#define NUMBERS                                                                                              \
    "SELECT count(*) FROM session_details WHERE origin > 0 AND session_id IN (SELECT id FROM sessions WHERE" \
    " name IN ('talk', 'branch') AND user_id = (SELECT min(id) FROM users))"

static char *rows_of(const char *path)
{
    return raw_text(
        path,
        "SELECT (SELECT group_concat(hex(body) || position) FROM events), (SELECT group_concat(id || name || "
        "version || details) FROM sessions), (SELECT group_concat(value) FROM session_state), (SELECT "
        "group_concat(session_id || coalesce(title, '') || coalesce(parent_session, '')) FROM session_details "
        "WHERE initial_state IS NOT NULL OR parent_session IS NOT NULL OR title IS NOT NULL)");
}

/* With the journal that a store has. */
static char *make_old(const char *path)
{
    disk_remove_files(path);
    released_make("0.2.0", path);
    raw_exec(path, "PRAGMA journal_mode = WAL");
    return rows_of(path);
}

/* The operation that stopped, and where. */
static bool assert_before_or_after(const char *path, const char *rows)
{
    char *now = rows_of(path);
    char *version = raw_text(path, "PRAGMA user_version");
    const bool upgraded = strcmp(version, "3\n") == 0;

    assert_string_equal(now, rows);
    if (upgraded) {
        assert_query(path, NUMBERS, "2\n");
        assert_query(path, "SELECT needs FROM features WHERE name = 'families'", "3\n");
    } else {
        assert_string_equal(version, "2\n");
        assert_query(path, "SELECT count(*) FROM pragma_table_info('session_details') WHERE name = 'origin'",
                     "0\n");
        assert_query(path, "SELECT count(*) FROM features WHERE name = 'families'", "0\n");
    }
    ses_store *store = must_open(path, NULL);
    ses_close(store);
    assert_query(path, "PRAGMA user_version", "3\n");
    assert_query(path, NUMBERS, "2\n");
    assert_sound(path);
    free(version);
    free(now);
    return upgraded;
}

static int upgrade(const char *path, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = -1};
    ses_store *store = NULL;
    const int code = ses_open(path, &options, &store, error);

    ses_close(store);
    return code;
}

FOLDER_TEST(a_disk_that_stops_leaves_the_old_or_the_new)
{
    long last = 1;
    int old = 0;
    int new = 0;

    for (long n = 0; n <= last; n++) {
        char *rows = make_old(folder->path);
        disk_begin(n);
        const int code = upgrade(folder->path, &error);
        disk_end();
        if (n == 0)
            last = disk.operations;
        else
            assert_stopped(code, &error);
        if (assert_before_or_after(folder->path, rows))
            new ++;
        else
            old++;
        free(rows);
    }
    support_figure("cut-states", last);
    assert_in_range(last, 5, 500);
    assert_in_range(old, 3, last);
    assert_in_range(new, 2, last);
}

/* ------------------------------------------------------------------------------------------ killed */

static long statements; /* that this process has begun */
static long kill_at;

static int count_statement(unsigned event, void *context, void *statement, void *sql)
{
    (void)event;
    (void)context;
    (void)statement;
    (void)sql;
    if (++statements == kill_at)
        (void)kill(getpid(), SIGKILL);
    return 0;
}

static int trace_statements(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_statement, NULL);
}

/* In a child. 0 if it was not killed. */
static int run_traced(void *context)
{
    ses_error error;

    if (sqlite3_auto_extension((void (*)(void))trace_statements) != SQLITE_OK)
        return 1;
    return upgrade(context, &error) == SES_OK ? 0 : 2;
}

FOLDER_TEST(a_kill_at_each_statement_leaves_the_old_or_the_new)
{
    int result = -1;
    int old = 0;
    int new = 0;

    for (kill_at = 1; result != 0; kill_at++) {
        char *rows = make_old(folder->path);
        assert_in_range(kill_at, 1, 500);
        result = child_run(run_traced, folder->path);
        assert_in_range(result + 1, 0, 1);
        if (assert_before_or_after(folder->path, rows))
            new ++;
        else
            old++;
        free(rows);
    }
    support_figure("kills", kill_at - 2);
    assert_in_range(old, 30, 300);
    assert_in_range(new, 2, 300);
}

BEFORE_TESTS()
{
    disk_make();
}
