/*
 * SQLite has no memory for a text of a row, cannot configure a connection, or cannot checkpoint: each such
 * call fails in turn. (The linker puts the functions below in place of SQLite's; see flags.mk.)
 */
#include <sqlite3.h>
#include <unistd.h>

#include "scenario.h"

enum wrapped { WRAPPED_TEXT, WRAPPED_CONFIG, WRAPPED_CHECKPOINT };

static struct {
    enum wrapped which;
    bool all; /* each of these calls fails */
    long calls;
} sqlite;

static bool fails_now(enum wrapped which)
{
    if (which != sqlite.which)
        return false;
    sqlite.calls++;
    return sqlite.all || fault_now();
}

const unsigned char *__real_sqlite3_column_text(sqlite3_stmt *statement, int column);
const unsigned char *__wrap_sqlite3_column_text(sqlite3_stmt *statement, int column);
const unsigned char *__wrap_sqlite3_column_text(sqlite3_stmt *statement, int column)
{
    return fails_now(WRAPPED_TEXT) ? NULL : __real_sqlite3_column_text(statement, column);
}

const unsigned char *__real_sqlite3_value_text(sqlite3_value *value);
const unsigned char *__wrap_sqlite3_value_text(sqlite3_value *value);
const unsigned char *__wrap_sqlite3_value_text(sqlite3_value *value)
{
    return fails_now(WRAPPED_TEXT) ? NULL : __real_sqlite3_value_text(value);
}

int __real_sqlite3_db_config(sqlite3 *handle, int operation, ...);
int __wrap_sqlite3_db_config(sqlite3 *handle, int operation, ...);
int __wrap_sqlite3_db_config(sqlite3 *handle, int operation, ...)
{
    va_list arguments;
    va_start(arguments, operation);
    /* All settings of the library are switches: on or off, and a pointer for the resulting value. */
    int on = va_arg(arguments, int);
    int *is = va_arg(arguments, int *);
    va_end(arguments);
    return fails_now(WRAPPED_CONFIG) ? SQLITE_IOERR : __real_sqlite3_db_config(handle, operation, on, is);
}

int __real_sqlite3_wal_checkpoint_v2(sqlite3 *handle, const char *name, int mode, int *frames, int *copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *handle, const char *name, int mode, int *frames, int *copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *handle, const char *name, int mode, int *frames, int *copied)
{
    return fails_now(WRAPPED_CHECKPOINT)
               ? SQLITE_IOERR
               : __real_sqlite3_wal_checkpoint_v2(handle, name, mode, frames, copied);
}

static bool is_expected(int code)
{
    return sqlite.which == WRAPPED_TEXT ? code == SES_NOMEM : code == SES_IO;
}

static void fail_each_in(enum scene scene, const char *path, enum wrapped which, bool sticks,
                         size_t least_calls)
{
    struct faults faults = {.expected = is_expected, .path = path, .scene = scene};
    char undisturbed[sizeof faults.dump];

    sqlite.which = which;
    faults_prepare(&faults);
    fault_begin_recording();
    faults_run(&faults);
    fault_choose();
    assert_string_equal(faults.wrong, "");
    strcpy(undisturbed, faults.dump);
    assert_true(fault_calls.count >= least_calls);
    for (size_t run = 0; run < fault_calls.runs; run += fault_apart(1)) {
        faults_prepare(&faults);
        fault_begin_run(run, sticks);
        faults_run(&faults);
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0) {
            print_error("scene %d, run %zu of %zu: %s\n%d steps failed, the store held\n%s", scene, run,
                        fault_calls.runs, faults.wrong, faults.failures, faults.dump);
            fail();
        }
    }
}

static void fail_each(enum wrapped which, bool sticks, size_t least_calls)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, path, which, sticks, least_calls);
    free(path);
    support_folder_remove(folder);
}

PLAIN_TEST(no_memory_for_a_text_once)
{
    fail_each(WRAPPED_TEXT, false, 5);
}

PLAIN_TEST(no_memory_for_texts_any_more)
{
    fail_each(WRAPPED_TEXT, true, 5);
}

PLAIN_TEST(connections_cannot_be_configured)
{
    fail_each(WRAPPED_CONFIG, false, 3);
    fail_each(WRAPPED_CONFIG, true, 3);
}

/* A walk that has enough and stops at a row must not hand out a row that could not be read. */
TEST(the_last_row_of_a_walk)
{
    const ses_key key = {"app", "user", "one"};
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 1};
    const char *const event = "{\"id\":\"e\",\"invocationId\":\"i\",\"author\":\"a\",\"branch\":\"b\"}";

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, event);
    for (long n = 1; n <= 3; n++) {
        ses_session *session = NULL;
        sqlite.which = WRAPPED_TEXT;
        fault_begin_run(SIZE_MAX, false);
        fault_calls.fail_at = n;
        int code = ses_get(fixture->store, &key, GET_RANGE(&newest), &session, &error);
        fault_lift();
        assert_code(SES_NOMEM, code);
        assert_null(session);
    }
    ses_session *session = NULL;
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&newest), &session, &error));
    assert_string_equal(ses_session_event(session, 0)->branch, "b");
    ses_session_close(session);
}

/* No call reports a checkpoint that fails, because nothing is lost: the next one, or closing, does its
 * work. */
TEST(checkpoints_fail)
{
    const ses_key key = {"app", "user", "one"};
    static char event[20000];

    snprintf(event, sizeof event, "{\"author\":\"%0*d\"}", (int)sizeof event - 100, 7);
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    sqlite.which = WRAPPED_CHECKPOINT;
    sqlite.all = true;
    sqlite.calls = 0;
    for (int i = 0; i < 600; i++)
        must_append(session, event);
    ses_session_close(session);
    fixture_reopen(fixture);
    assert_true(sqlite.calls > 0);
    sqlite.all = false;
    session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), 600);
    must_append(session, event);
    ses_session_close(session);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
