/*
 * How late a call returns that waits behind a lock until its time is over. The load of the machine makes any
 * call late, so a call is tried until one return is soon enough, and the work that it does for its wait is
 * measured by itself.
 */
#include "group.h"

#include "seslite_artifact.h"
#include "seslite_history.h"
#include "seslite_live.h"

enum { LIMIT_MS = 30, LATE_US = 10000, TRIES = 200, SLOWER = UNDER_TSAN ? 20 : UNDER_ASAN ? 5 : 1 };

static const ses_key one = {"app", "user", "a"};

/* -------------------------------------------------------------------------------------------------- calls */

typedef int limited_call(ses_store *store, ses_error *error);

#define LIMITED(type, name) const type name = {.size = sizeof name, .timeout_ms = LIMIT_MS}

static int append_event(ses_store *store, ses_error *error)
{
    LIMITED(ses_append_options, options);
    return ses_append_by_key(store, &one, "{}", SES_NUL, &options, NULL, error);
}

static int create_session(ses_store *store, ses_error *error)
{
    LIMITED(ses_create_options, options);
    ses_session *session = NULL;
    return ses_create(store, &(ses_key){"app", "user", "new"}, NULL, 0, &options, &session, error);
}

static int set_title(ses_store *store, ses_error *error)
{
    LIMITED(ses_call_options, options);
    return ses_title_set_by_key(store, &one, "title", &options, error);
}

static int set_label(ses_store *store, ses_error *error)
{
    LIMITED(ses_call_options, options);
    return ses_labels_set_by_key(store, &one, &(ses_label){"name", "value"}, 1, &options, error);
}

static int change_shared_state(ses_store *store, ses_error *error)
{
    LIMITED(ses_shared_state_options, options);
    return ses_shared_state_change(store, "app", "user", "{\"k\":1}", SES_NUL, &options, error);
}

static int delete_session(ses_store *store, ses_error *error)
{
    LIMITED(ses_delete_options, options);
    return ses_delete(store, &one, &options, NULL, error);
}

static int cut(ses_store *store, ses_error *error)
{
    LIMITED(ses_cut_options, options);
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ};
    return ses_cut_by_key(store, &one, &start, &options, NULL, error);
}

static int save_artifact(ses_store *store, ses_error *error)
{
    LIMITED(ses_artifact_save_options, options);
    return ses_artifact_save_by_key(store, &one, "name", "bytes", 5, &options, NULL, error);
}

static int take_lease(ses_store *store, ses_error *error)
{
    const ses_lease_options options = {
        .size = sizeof options, .timeout_ms = LIMIT_MS, .wait_ms = 60000, .duration_us = 60000000};
    ses_lease lease;
    return ses_lease_take(store, &one, "second", &options, &lease, error);
}

static int get_session(ses_store *store, ses_error *error)
{
    LIMITED(ses_get_options, options);
    ses_session *session = NULL;
    const int code = ses_get(store, &one, &options, &session, error);
    ses_session_close(session);
    return code;
}

static int list_sessions(ses_store *store, ses_error *error)
{
    LIMITED(ses_list_options, options);
    ses_page *page = NULL;
    const int code = ses_list(store, "app", NULL, &options, &page, error);
    ses_page_close(page);
    return code;
}

static int open_cursor(ses_store *store, ses_error *error)
{
    LIMITED(ses_cursor_options, options);
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(store, &one, &options, &cursor, error);
    const ses_event *event = NULL;
    if (code == SES_OK) {
        code = ses_cursor_next(cursor, &event, error);
        (void)ses_cursor_close(cursor, NULL); /* which returns the failure again */
    }
    return code;
}

struct named_call {
    const char *name;
    limited_call *call;
};

static const struct named_call writes[] = {{"append", append_event},
                                           {"create", create_session},
                                           {"title", set_title},
                                           {"label", set_label},
                                           {"shared state", change_shared_state},
                                           {"delete", delete_session},
                                           {"cut", cut},
                                           {"artifact", save_artifact},
                                           {"lease", take_lease}};
static const struct named_call reads[] = {
    {"get", get_session}, {"list", list_sessions}, {"cursor", open_cursor}};

/* --------------------------------------------------------------------------------------------- measuring */

static int64_t work_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The work of the shortest try is what the call itself needs: an interrupt of the machine also counts as its
 * thread's work. A call that the machine did not let run before its limit did not wait, and is INTERRUPTED:
 * it does not count. */
static void measure(ses_store *store, const char *lock, const struct named_call *what)
{
    int64_t late_us = INT64_MAX;
    int64_t worked_us = INT64_MAX;
    int tries = 0;

    for (; tries < TRIES && (late_us >= LATE_US || worked_us >= LATE_US * SLOWER); tries++) {
        ses_error error;
        const int64_t work_begun_us = work_us();
        const int64_t begun_us = support_steady_us();
        const int code = what->call(store, &error);
        const int64_t took_us = support_steady_us() - begun_us;
        if (code != SES_BUSY && code != SES_INTERRUPTED)
            print_error("%s behind %s: %d\n", what->name, lock, code);
        assert_true(code == SES_BUSY || code == SES_INTERRUPTED);
        if (code == SES_BUSY) {
            late_us = least(late_us, took_us - LIMIT_MS * 1000);
            worked_us = least(worked_us, work_us() - work_begun_us);
        }
    }
    print_message("%s behind %s: late by %ld us, worked %ld us, tried %d times\n", what->name, lock,
                  (long)late_us, (long)worked_us, tries);
    assert_true(late_us >= -1000); /* it waited */
    assert_true(late_us < LATE_US);
    assert_true(worked_us < LATE_US * SLOWER);
}

#define measure_all(store, lock, calls)                                 \
    do {                                                                \
        for (size_t i = 0; i < sizeof(calls) / sizeof((calls)[0]); i++) \
            measure(store, lock, &(calls)[i]);                          \
    } while (0)

/* -------------------------------------------------------------------------------------------------- locks */

static sqlite3 *lock_file(const struct fixture *fixture, const char *how)
{
    sqlite3 *other = NULL;

    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, how, NULL, NULL, NULL), SQLITE_OK);
    return other;
}

COMMIT_TEST(behind_another_process_that_writes)
{
    sqlite3 *other = lock_file(fixture, "BEGIN IMMEDIATE");

    measure_all(fixture->store, "another process that writes", writes);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

COMMIT_TEST(behind_another_process_that_has_the_file)
{
    fixture->options.journal = SES_JOURNAL_ROLLBACK;
    fixture_reopen(fixture);
    sqlite3 *other = lock_file(fixture, "BEGIN EXCLUSIVE");
    measure_all(fixture->store, "another process that has the file", writes);
    measure_all(fixture->store, "another process that has the file", reads);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

COMMIT_TEST(behind_another_thread_that_writes)
{
    hold_leader(fixture->store);
    measure_all(fixture->store, "another thread that writes", writes);
    release_leader();
}

COMMIT_TEST(behind_a_lease)
{
    const struct named_call call = {"lease", take_lease};
    ses_lease lease;

    assert_ok(ses_lease_take(fixture->store, &one, "first", NULL, &lease, &error));
    measure(fixture->store, "a lease", &call);
}

/* Reads while the only connection for reading is in use, by the thread itself. */
static int read_meanwhile(void *context, const char *data, size_t len, ses_error *error)
{
    ses_store **store = context;

    (void)data;
    (void)len;
    (void)error;
    if (*store && statistics(*store).readers_in_use > 0) {
        measure_all(*store, "the only reader", reads);
        *store = NULL;
    }
    return 0;
}

COMMIT_TEST(behind_all_readers)
{
    ses_store *store = NULL;

    fixture->options.max_readers = 1;
    fixture_reopen(fixture);
    for (int i = 0; i < 2000; i++) /* the buffer of an export is written several times */
        append(fixture->store, "a",
               "{\"author\":\"somebody, whose name is not short, so that lines are long\"}");
    store = fixture->store;
    assert_ok(ses_store_export(store, NULL, read_meanwhile, &store, &error));
    assert_null(store);
}
