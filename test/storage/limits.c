/* Limits of calls: a time, or a handle that is pulled, ends what waits and what works, and nothing that
 * commits. */
#include "group.h"

#include <signal.h>
#include <sys/time.h>

static const ses_key one = {"app", "user", "a"};

/* A call that waits would do so for the busy timeout, ten seconds. On a busy machine it may be late by less
 * than this. */
enum { SHORT_MS = 60, LATE_US = 3000000 };

static sqlite3 *lock_file(const struct fixture *fixture)
{
    sqlite3 *other = NULL;

    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return other;
}

static ses_cancel *new_cancel(ses_store *store)
{
    ses_cancel *cancel = NULL;
    ses_error error;

    assert_ok(ses_cancel_open(store, &cancel, &error));
    return cancel;
}

#define assert_ends_in(begun_us, ms)                                        \
    do {                                                                    \
        const int64_t took_us = support_steady_us() - (begun_us);           \
        assert_true(took_us >= (ms)*1000 && took_us < (ms)*1000 + LATE_US); \
    } while (0)

/* ---------------------------------------------------------------------------------------------- waiting */

COMMIT_TEST(a_lock_of_another_process)
{
    sqlite3 *other = lock_file(fixture);
    const ses_append_options append = {.size = sizeof append, .timeout_ms = SHORT_MS};
    const ses_call_options call = {.size = sizeof call, .timeout_ms = SHORT_MS};
    const ses_delete_options delete = {.size = sizeof delete, .timeout_ms = SHORT_MS};

    int64_t begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_append_by_key(fixture->store, &one, "{}", SES_NUL, &append, NULL, &error));
    assert_ends_in(begun_us, SHORT_MS);
    begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_title_set_by_key(fixture->store, &one, "title", &call, &error));
    assert_ends_in(begun_us, SHORT_MS);
    begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_delete(fixture->store, &one, &delete, NULL, &error));
    assert_ends_in(begun_us, SHORT_MS);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_ok(ses_append_by_key(fixture->store, &one, "{}", SES_NUL, &append, NULL, &error));
}

COMMIT_TEST(a_writer_of_this_process)
{
    struct call limited = APPEND_TO("a");

    limited.timeout_ms = SHORT_MS;
    const struct call what[] = {limited, APPEND_TO("b")};
    hold_leader(fixture->store);
    queue_calls(fixture->store, what, 2);
    join_call(&calls[0]);
    assert_int_equal(calls[0].code, SES_BUSY);
    assert_true(calls[0].took_us >= SHORT_MS * 1000 && calls[0].took_us < LATE_US);
    assert_false(atomic_load(&calls[1].done));
    release_leader();
    join_call(&calls[1]);
    assert_int_equal(calls[1].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 0);
}

static void append_much(ses_store *store)
{
    for (int i = 0; i < 2000; i++) /* the buffer of an export is written several times */
        append(store, "a", "{\"author\":\"somebody, whose name is not short, so that lines are long\"}");
}

/* Reads within the callback of a call that has the only reading connection. */
struct nested_read {
    ses_store *store;
    int code; /* SES_OK: it was not made yet */
    int64_t took_us;
};

static int read_meanwhile(void *context, const char *data, size_t len, ses_error *error)
{
    struct nested_read *nested = context;
    const ses_get_options get = {.size = sizeof get, .timeout_ms = SHORT_MS};
    ses_session *session = NULL;
    const int64_t begun_us = support_steady_us();
    (void)data;
    (void)len;
    (void)error;

    if (nested->code == SES_OK && statistics(nested->store).readers_in_use > 0) {
        nested->code = ses_get(nested->store, &one, &get, &session, NULL);
        nested->took_us = support_steady_us() - begun_us;
        ses_session_close(session);
    }
    return 0;
}

COMMIT_TEST(all_readers_are_taken)
{
    struct nested_read nested = {.code = SES_OK};

    fixture->options.max_readers = 1;
    fixture_reopen(fixture);
    append_much(fixture->store);
    nested.store = fixture->store;
    assert_ok(ses_store_export(fixture->store, NULL, read_meanwhile, &nested, &error));
    assert_int_equal(nested.code, SES_BUSY);
    assert_true(nested.took_us >= SHORT_MS * 1000 && nested.took_us < LATE_US);
}

COMMIT_TEST(a_lease)
{
    const ses_lease_options patient = {
        .size = sizeof patient, .wait_ms = 60000, .timeout_ms = SHORT_MS, .duration_us = 60000000};
    ses_lease lease;

    assert_ok(ses_lease_take(fixture->store, &one, "first", NULL, &lease, &error));
    const int64_t begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_lease_take(fixture->store, &one, "second", &patient, &lease, &error));
    assert_message("another owner has the lease");
    assert_ends_in(begun_us, SHORT_MS);
}

/* ---------------------------------------------------------------------------------------------- working */

static int sleep_and_take(void *context, const char *data, size_t len, ses_error *error)
{
    (void)data;
    (void)len;
    (void)error;
    support_pause_us(*(const long *)context);
    return 0;
}

COMMIT_TEST(work_ends)
{
    const ses_export_options limited = {.size = sizeof limited, .timeout_ms = 20};
    const ses_export_options enough = {.size = sizeof enough, .timeout_ms = 60000};
    const long pause_us = 30000;

    append_much(fixture->store);
    assert_code(SES_INTERRUPTED, ses_store_export(fixture->store, &limited, sleep_and_take,
                                                  (void *)(uintptr_t)&pause_us, &error));
    assert_message("timeout_ms");
    assert_ok(
        ses_store_export(fixture->store, &enough, sleep_and_take, (void *)(uintptr_t) & (long){0}, &error));
}

/* One statement goes on and on: SQLite itself looks at the time. */
COMMIT_TEST(a_statement_ends)
{
    enum { SESSIONS = 3000 };
    const ses_check_options limited = {.size = sizeof limited, .level = SES_CHECK_LOG, .timeout_ms = 1};
    int64_t problems = 0;
    sqlite3 *other = NULL;

    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < SESSIONS; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "INSERT INTO app_state SELECT id, 'k%d', '1' FROM apps", i);
        if (sqlite3_exec(other, sql, NULL, NULL, NULL) != SQLITE_OK)
            break;
    }
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    const int64_t begun_us = support_steady_us();
    assert_code(SES_INTERRUPTED, ses_store_check(fixture->store, &limited, &problems, &error));
    assert_ends_in(begun_us, 1);
}

/* ------------------------------------------------------------------------------------------ a handle */

COMMIT_TEST(a_pulled_handle_ends_every_call)
{
    ses_store *store = fixture->store;
    ses_cancel *cancel = new_cancel(store);
    const ses_append_options append = {.size = sizeof append, .cancel = cancel};
    const ses_get_options get = {.size = sizeof get, .cancel = cancel};
    const ses_list_options list = {.size = sizeof list, .cancel = cancel};
    const ses_check_options check = {.size = sizeof check, .cancel = cancel};
    const ses_cursor_options walk = {.size = sizeof walk, .cancel = cancel};
    const ses_backup_options backup = {.size = sizeof backup, .cancel = cancel};
    const ses_lease_options take = {.size = sizeof take, .cancel = cancel};
    const ses_call_options call = {.size = sizeof call, .cancel = cancel};
    const ses_follow_options follow = {.size = sizeof follow, .cancel = cancel};
    char *path = support_path(fixture->folder, "copy.db");
    ses_session *session = NULL;
    ses_page *page = NULL;
    ses_cursor *cursor = NULL;
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    ses_pending *pending = NULL;
    ses_context *context = NULL;
    ses_lease lease;
    char *json = NULL;
    int64_t problems = 0;
    int64_t count = 0;
    ses_space space = {.size = sizeof space};

    assert_ok(ses_follower_open(store, &one, &follow, &follower, &error));
    ses_cancel_pull(cancel);
    assert_code(SES_INTERRUPTED, ses_append_by_key(store, &one, "{}", SES_NUL, &append, NULL, &error));
    assert_message("cancelled");
    assert_code(SES_INTERRUPTED, ses_get(store, &one, &get, &session, &error));
    assert_code(SES_INTERRUPTED, ses_list(store, "app", NULL, &list, &page, &error));
    assert_code(SES_INTERRUPTED, ses_list_count(store, "app", NULL, NULL, &call, &count, &error));
    assert_code(SES_INTERRUPTED, ses_store_space(store, &call, &space, &error));
    assert_code(SES_INTERRUPTED, ses_cursor_open(store, &one, &walk, &cursor, &error));
    assert_code(SES_INTERRUPTED, ses_store_check(store, &check, &problems, &error));
    assert_code(SES_INTERRUPTED, ses_store_backup(store, path, &backup, &error));
    assert_code(SES_INTERRUPTED, ses_lease_take(store, &one, "owner", &take, &lease, &error));
    assert_code(SES_INTERRUPTED, ses_title_set_by_key(store, &one, "title", &call, &error));
    assert_code(SES_INTERRUPTED, ses_state_json_by_key(store, &one, &call, &json, NULL, &error));
    assert_code(SES_INTERRUPTED, ses_follower_next(follower, -1, &event, &error));
    assert_code(SES_INTERRUPTED, ses_pending_open_by_key(store, &one, &call, &pending, &error));
    assert_code(
        SES_INTERRUPTED,
        ses_context_open_by_key(store, &one,
                                &(ses_context_options){.size = sizeof(ses_context_options), .cancel = cancel},
                                &context, &error));
    ses_cancel_reset(cancel);
    assert_ok(ses_append_by_key(store, &one, "{}", SES_NUL, &append, NULL, &error));
    assert_code(SES_ROW, ses_follower_next(follower, -1, &event, &error));
    assert_ok(ses_cursor_open(store, &one, &walk, &cursor, &error));
    assert_ok(ses_cursor_close(cursor, &error));
    assert_ok(ses_store_backup(store, path, &backup, &error));
    assert_int_equal(stored(store, "a"), 1);
    ses_follower_close(follower);
    ses_cancel_close(cancel);
    ses_cancel_close(NULL);
    ses_cancel_pull(NULL);
    free(path);
}

static void *pull_later(void *context)
{
    support_pause_us(SHORT_MS * 1000);
    ses_cancel_pull(context);
    return NULL;
}

/* Another thread ends a call that waits: for a lock, for a lease, for events. */
COMMIT_TEST(another_thread_pulls)
{
    ses_cancel *cancel = new_cancel(fixture->store);
    const ses_append_options append = {.size = sizeof append, .cancel = cancel};
    const ses_lease_options take = {.size = sizeof take, .cancel = cancel, .wait_ms = 60000};
    const ses_follow_options follow = {.size = sizeof follow, .cancel = cancel};
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    ses_lease lease;
    pthread_t thread;

    assert_ok(ses_lease_take(fixture->store, &one, "first", NULL, &lease, &error));
    assert_ok(ses_follower_open(fixture->store, &one, &follow, &follower, &error));
    for (int kind = 0; kind < 3; kind++) {
        sqlite3 *other = kind == 0 ? lock_file(fixture) : NULL;
        const int64_t begun_us = support_steady_us();
        assert_int_equal(pthread_create(&thread, NULL, pull_later, cancel), 0);
        if (kind == 0)
            assert_code(SES_INTERRUPTED,
                        ses_append_by_key(fixture->store, &one, "{}", SES_NUL, &append, NULL, &error));
        else if (kind == 1)
            assert_code(SES_INTERRUPTED,
                        ses_lease_take(fixture->store, &one, "second", &take, &lease, &error));
        else
            assert_code(SES_INTERRUPTED, ses_follower_next(follower, -1, &event, &error));
        assert_ends_in(begun_us, SHORT_MS);
        assert_int_equal(pthread_join(thread, NULL), 0);
        ses_cancel_reset(cancel);
        assert_int_equal(sqlite3_close(other), SQLITE_OK);
    }
    ses_follower_close(follower);
    ses_cancel_close(cancel);
}

static ses_cancel *pulled_by_signal;

static void on_alarm(int number)
{
    (void)number;
    ses_cancel_pull(pulled_by_signal);
}

COMMIT_TEST(a_signal_handler_pulls)
{
    sqlite3 *other = lock_file(fixture);
    ses_cancel *cancel = new_cancel(fixture->store);
    const ses_append_options append = {.size = sizeof append, .cancel = cancel};
    const struct itimerval soon = {.it_value = {.tv_usec = SHORT_MS * 1000}};
    struct sigaction action = {.sa_handler = on_alarm};
    struct sigaction before;

    pulled_by_signal = cancel;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    const int64_t begun_us = support_steady_us();
    assert_code(SES_INTERRUPTED,
                ses_append_by_key(fixture->store, &one, "{}", SES_NUL, &append, NULL, &error));
    assert_true(support_steady_us() - begun_us < LATE_US);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    ses_cancel_close(cancel);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

/* A queued call that is cancelled leaves the queue. The others in it share their commit. */
COMMIT_TEST(a_queued_call_is_cancelled)
{
    ses_cancel *cancel = new_cancel(fixture->store);
    struct call limited = APPEND_TO("a");

    limited.cancel = cancel;
    const struct call what[] = {APPEND_TO("b"), limited, APPEND_TO("c")};
    hold_leader(fixture->store);
    queue_calls(fixture->store, what, 3);
    ses_cancel_pull(cancel);
    join_call(&calls[1]);
    assert_int_equal(calls[1].code, SES_INTERRUPTED);
    release_leader();
    join_call(&calls[0]);
    join_call(&calls[2]);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[2].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 0);
    ses_cancel_close(cancel);
}

/* One call of a group is cancelled after it has written. Its writes are undone, and the others are stored. */
COMMIT_TEST(a_cancelled_member_fails_no_other)
{
    ses_cancel *cancel = new_cancel(fixture->store);
    struct call limited = {.kind = APPEND, .session_id = "a", .text = "{\"author\":\"marked\"}"};

    limited.cancel = cancel;
    const struct call what[] = {APPEND_TO("b"), limited, APPEND_TO("c")};
    atomic_store(&pulled_after_marked, cancel);
    run_group(fixture->store, what, 3, COMMIT_IS_REAL);
    assert_int_equal(calls[1].code, SES_INTERRUPTED);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[2].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 0);
    assert_int_equal(stored(fixture->store, "b"), 1);
    assert_int_equal(stored(fixture->store, "c"), 1);
    ses_cancel_close(cancel);
}

/* The commit has begun: its outcome is the call's, however long that takes and whoever pulls. */
COMMIT_TEST(a_commit_is_not_ended)
{
    ses_cancel *cancel = new_cancel(fixture->store);
    struct call limited = APPEND_TO("a");
    const int64_t until_us = support_steady_us() + 20000000;

    limited.timeout_ms = SHORT_MS;
    limited.cancel = cancel;
    atomic_store(&hold_open, false);
    atomic_store(&held, false);
    atomic_store(&next_commit, COMMIT_IS_HELD);
    start_call(&calls[0], fixture->store, limited);
    while (!atomic_load(&held) && support_steady_us() < until_us)
        support_pause_us(200);
    ses_cancel_pull(cancel);
    support_pause_us(2 * SHORT_MS * 1000);
    assert_false(atomic_load(&calls[0].done));
    atomic_store(&hold_open, true);
    join_call(&calls[0]);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 1);
    ses_cancel_close(cancel);
}

/* ------------------------------------------------------------------------------------------ the store's */

COMMIT_TEST(the_store_has_a_limit_of_its_own)
{
    const ses_append_options unlimited = {.size = sizeof unlimited, .timeout_ms = -1};
    struct call waits = APPEND_TO("a");

    fixture->options.timeout_ms = SHORT_MS;
    fixture->options.busy_timeout_ms = 8 * SHORT_MS;
    fixture_reopen(fixture);
    sqlite3 *other = lock_file(fixture);
    int64_t begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_append_by_key(fixture->store, &one, "{}", SES_NUL, NULL, NULL, &error));
    assert_ends_in(begun_us, SHORT_MS);
    begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_append_by_key(fixture->store, &one, "{}", SES_NUL, &unlimited, NULL, &error));
    assert_ends_in(begun_us, 8 * SHORT_MS);
    start_call(&calls[0], fixture->store, waits);
    join_call(&calls[0]);
    assert_int_equal(calls[0].code, SES_BUSY);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

COMMIT_TEST(a_store_in_memory)
{
    ses_store *store = must_open(":memory:", NULL);
    ses_cancel *cancel = new_cancel(store);
    const ses_get_options get = {.size = sizeof get, .cancel = cancel, .timeout_ms = 60000};
    ses_session *session = NULL;
    must_create(store, &one, NULL);
    ses_cancel_pull(cancel);
    assert_code(SES_INTERRUPTED, ses_get(store, &one, &get, &session, &error));
    ses_cancel_reset(cancel);
    assert_ok(ses_get(store, &one, &get, &session, &error));
    ses_session_close(session);
    ses_close(store);
    ses_cancel_close(cancel); /* it outlives its store */
    (void)fixture;
}

COMMIT_TEST(arguments)
{
    ses_cancel *cancel = NULL;

    assert_code(SES_MISUSE, ses_cancel_open(NULL, &cancel, &error));
    assert_code(SES_MISUSE, ses_cancel_open(fixture->store, NULL, &error));
}
