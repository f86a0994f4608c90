/*
 * A store that comes back from `.recover` of the sqlite3 program has every event. SESLITE_SQLITE3 names the
 * program to use, where it is not the one in the path.
 */
#include "open.h"

enum { EVENTS = 300 };

static const ses_key key = {"app", "user", "one"};

static const char *program(void)
{
    const char *named = getenv("SESLITE_SQLITE3");
    return named ? named : "sqlite3";
}

static void append_many(ses_store *store, ses_session *session)
{
    ses_error error;
    const ses_key gone = {"app", "user", "gone"};

    for (int i = 1; i <= EVENTS; i++) {
        char event[512];
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"content\":{\"parts\":[{\"text\":\"%*d\"}]},"
                 "\"actions\":{%s\"stateDelta\":{\"n\":%d,\"user:n\":1.%d0}}}",
                 i, i / 4, i, i, i % 100 == 0 ? "\"rewindBeforeInvocationId\":\"i2\"," : "", i, i);
        must_append(session, event);
    }
    assert_ok(ses_create(store, &gone, NULL, 0, NULL, NULL, &error));
    must_delete(store, &gone);
}

static void fill(const char *path)
{
    ses_session *session = NULL;
    ses_error error;

    ses_store *store = must_open(path, NULL);
    assert_ok(ses_create(store, &key, "{\"app:a\":1,\"user:u\":\"x\",\"k\":[1.10]}", SES_NUL, NULL, &session,
                         &error));
    append_many(store, session);
    ses_session_close(session);
    ses_close(store);
}

static char *recover(const struct folder *folder)
{
    struct text command = {NULL, 0};
    char *recovered = support_path(folder->folder, "recovered.db");
    int status = 0;

    text_printf(&command, "'%s' '%s' .recover 2>&1 | '%s' '%s'", program(), folder->path, program(),
                recovered);
    free(support_run(command.data,
                     &status)); /* 3.42 to 3.50 say that sqlite_sequence is reserved, and go on */
    free(command.data);
    return recovered;
}

/* Every row of the tables. */
static char *rows_of(const char *path)
{
    static const char *const tables[] = {"apps",          "users",      "sessions",      "session_details",
                                         "app_state",     "user_state", "events",        "event_marks",
                                         "session_state", "base_state", "version_floor", "sqlite_sequence"};
    struct text rows = {NULL, 0};
    sqlite3 *db = raw_open(path);

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2", tables[i]);
        text_printf(&rows, "%s\n", tables[i]);
        raw_query(db, sql, &rows);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return rows.data;
}

static void assert_usable(const char *path)
{
    ses_error error;

    ses_store *store = must_open(path, NULL);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), EVENTS);
    must_append(session, "{\"id\":\"next\"}");
    assert_code(SES_DUPLICATE,
                ses_append_by_key(store, &key, "{\"id\":\"next\"}", SES_NUL, NULL, NULL, &error));
    ses_session_close(session);
    ses_close(store);
    assert_sound(path);
}

FOLDER_TEST(everything_comes_back)
{
    fill(folder->path);
    char *recovered = recover(folder);
    char *before = rows_of(folder->path);
    char *after = rows_of(recovered);
    assert_string_equal(before, after);
    assert_usable(recovered);
    free(after);
    free(before);
    free(recovered);
}

/* The root page of the index over all events is lost: the rows are not. */
FOLDER_TEST(events_come_back_from_a_damaged_file)
{
    char zeros[4096] = {0};

    fill(folder->path);
    char *before = rows_of(folder->path);
    char *root = raw_text(folder->path, "SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_id'");
    raw_exec(folder->path, "PRAGMA journal_mode = DELETE");
    int file = open(folder->path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, zeros, sizeof zeros, (off_t)(atol(root) - 1) * (off_t)sizeof zeros),
                     sizeof zeros);
    close(file);
    char *recovered = recover(folder);
    char *after = rows_of(recovered);
    assert_string_equal(before, after);
    assert_usable(recovered);
    free(after);
    free(recovered);
    free(root);
    free(before);
}

/* Some builds have no `.recover`, or one that fails on any file: Debian 12's, for want of sqlite_dbpage. */
static bool can_recover(void)
{
    struct text command = {NULL, 0};
    int status = 0;

    text_printf(&command, "'%s' :memory: 'CREATE TABLE t (x)' .recover 2>&1", program());
    char *printed = support_run(command.data, &status);
    bool can = status == 0 && strstr(printed, "CREATE TABLE t") != NULL;
    if (!can)
        print_message("skipped: the sqlite3 program has no .recover that works\n");
    free(printed);
    free(command.data);
    return can;
}

BEFORE_TESTS()
{
    if (!can_recover())
        exit(EXIT_SUCCESS);
}
