/* Readers: which call waits for which, and for how long; closing waits for all of them. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "open.h"

static const ses_key key = {"app", "user", "one"};

/* ------------------------------------------ reads that are held, before the row of an event: see flags.mk */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

static atomic_int rows_to_hold; /* counts down; the row of events that makes it zero is held */
static atomic_bool hold_insert; /* the next event is held before it is inserted */
static atomic_bool held;
static atomic_bool let_go;

static bool is_to_be_held(const char *sql)
{
    bool is = false;
    if (strncmp(sql, "SELECT position", 15) == 0 && atomic_load(&rows_to_hold) > 0)
        is = atomic_fetch_sub(&rows_to_hold, 1) == 1;
    else if (strncmp(sql, "INSERT INTO events", 18) == 0)
        is = atomic_exchange(&hold_insert, false);
    return is;
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (is_to_be_held(sqlite3_sql(statement))) {
        atomic_store(&held, true);
        while (!atomic_load(&let_go))
            support_pause_us(200);
    }
    return __real_sqlite3_step(statement);
}

enum kind { GET, REFRESH, OPEN_CURSOR, READ_STATE, APPEND, DELETE_SECURELY };

/* A call in a thread of its own. */
struct call {
    enum kind kind;
    ses_store *store;
    ses_session *session;
    int code;
    ses_error error;
    bool has_output; /* what it returned was NULL when it failed, and not when it did not */
    int64_t took_us;
    atomic_bool done;
    pthread_t thread;
};

static void make_call(struct call *call)
{
    ses_session *session = NULL;
    ses_cursor *cursor = NULL;
    char *json = NULL;

    switch (call->kind) {
    case GET:
        call->code = ses_get(call->store, &key, NULL, &session, &call->error);
        break;
    case REFRESH:
        call->code = ses_refresh(call->session, NULL, &call->error);
        break;
    case OPEN_CURSOR: {
        const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 100};
        const ses_cursor_options options = {.size = sizeof options, .range = &newest};
        call->code = ses_cursor_open(call->store, &key, &options, &cursor, &call->error);
        break;
    }
    case READ_STATE:
        call->code = ses_state_json_by_key(call->store, &key, NULL, &json, NULL, &call->error);
        break;
    case APPEND:
        call->code = ses_append_by_key(call->store, &key, "{}", SES_NUL, NULL, NULL, &call->error);
        break;
    case DELETE_SECURELY: {
        const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
        call->code = ses_delete(call->store, &key, &secure, NULL, &call->error);
        break;
    }
    }
    call->has_output = session || cursor || json;
    ses_session_close(session);
    (void)ses_cursor_close(cursor, NULL);
    ses_free(json);
}

static void *run_call(void *context)
{
    struct call *call = context;
    int64_t start = support_steady_us();
    make_call(call);
    call->took_us = support_steady_us() - start;
    atomic_store(&call->done, true);
    return NULL;
}

static void start_call(struct call *call)
{
    atomic_store(&call->done, false);
    assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
}

static void join_call(struct call *call)
{
    assert_int_equal(pthread_join(call->thread, NULL), 0);
}

/* Starts a call and waits until it is held: a read before that row of events. */
static void start_held(struct call *call, int row)
{
    const int64_t until = support_steady_us() + 20000000;

    atomic_store(&held, false);
    atomic_store(&let_go, false);
    atomic_store(&rows_to_hold, row);
    atomic_store(&hold_insert, call->kind == APPEND);
    start_call(call);
    while (!atomic_load(&held) && support_steady_us() < until)
        support_pause_us(200);
    assert_true(atomic_load(&held));
}

static void release(struct call *call)
{
    atomic_store(&let_go, true);
    join_call(call);
}

static int teardown(void **state)
{
    atomic_store(&rows_to_hold, 0);
    atomic_store(&let_go, true);
    return fixture_teardown(state);
}

enum { EVENTS = 200 };

static void fill(ses_store *store)
{
    static const ses_text events[EVENTS / 4] = {{"{}", 2}};
    ses_text batch[EVENTS / 4];
    ses_error error;

    must_create(store, &key, Q("{'k':1}"));
    for (size_t i = 0; i < EVENTS / 4; i++)
        batch[i] = events[0];
    for (int i = 0; i < 4; i++)
        assert_ok(ses_append_batch_by_key(store, &key, batch, EVENTS / 4, NULL, NULL, &error));
}

static int64_t count_events(ses_store *store)
{
    ses_session *session = must_get(store, &key);

    int64_t count = (int64_t)ses_session_event_count(session);
    ses_session_close(session);
    return count;
}

static ses_stats statistics(ses_store *store)
{
    ses_stats stats = {.size = sizeof stats};
    ses_error error;
    assert_ok(ses_store_stats(store, &stats, &error));
    return stats;
}

/* --------------------------------------------------------------------------------- nobody in their way */

#define READERS_WAITING_TEST(name) TEST_WITH(struct fixture *fixture, fixture_setup, teardown, name)

/* Another process has the write lock, and has written; a writer of this store waits for it. */
READERS_WAITING_TEST(no_reader_waits_for_a_writer)
{
    static const enum kind kinds[] = {GET, OPEN_CURSOR, READ_STATE, REFRESH};
    struct call writer = {.kind = APPEND, .store = fixture->store};
    sqlite3 *other = NULL;

    fill(fixture->store);
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other,
                                  "BEGIN IMMEDIATE; UPDATE session_state SET value = 2; DELETE FROM events",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    start_call(&writer);
    support_pause_us(50000);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct call reader = {.kind = kinds[i], .store = fixture->store, .session = session};
        start_call(&reader);
        join_call(&reader);
        assert_int_equal(reader.code, SES_OK);
        assert_true(reader.took_us < 8000000); /* the timeout is ten seconds */
    }
    assert_int_equal(count_events(fixture->store), EVENTS);
    assert_false(atomic_load(&writer.done));
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    join_call(&writer);
    assert_int_equal(writer.code, SES_OK);
    assert_int_equal(count_events(fixture->store), EVENTS + 1);
    assert_string_equal(support_state(session, NULL), Q("{'k':1}"));
    ses_session_close(session);
}

/* A writer of the same store is in the middle of its transaction. */
READERS_WAITING_TEST(no_reader_waits_for_a_writer_of_its_own_store)
{
    struct call writer = {.kind = APPEND, .store = fixture->store};

    fill(fixture->store);
    start_held(&writer, 0);
    assert_int_equal(count_events(fixture->store), EVENTS);
    assert_false(atomic_load(&writer.done));
    release(&writer);
    assert_int_equal(writer.code, SES_OK);
    assert_int_equal(count_events(fixture->store), EVENTS + 1);
}

/* One that reads for long holds up neither a writer nor another reader. */
READERS_WAITING_TEST(a_long_read_holds_nobody_up)
{
    struct call reader = {.kind = GET};

    fixture->options.max_readers = 2;
    fixture_reopen(fixture);
    fill(fixture->store);
    reader.store = fixture->store;
    start_held(&reader, EVENTS / 2);
    must_append_by_key(fixture->store, &key, "{}");
    assert_int_equal(count_events(fixture->store), EVENTS + 1);
    assert_int_equal(statistics(fixture->store).readers_in_use, 1);
    assert_int_equal(statistics(fixture->store).readers_open, 2);
    assert_int_equal(statistics(fixture->store).reader_waits, 0);
    assert_false(atomic_load(&reader.done));
    release(&reader);
    assert_int_equal(reader.code, SES_OK);
}

/* A secure deletion waits for a reader of another process, which keeps the log from being emptied. */
READERS_WAITING_TEST(writers_do_not_wait_for_the_reader_of_a_secure_deletion)
{
    static const ses_key other = {"app", "user", "other"};
    struct call deletion = {.kind = DELETE_SECURELY};

    fixture->options.busy_timeout_ms = 60000;
    fixture_reopen(fixture);
    must_create(fixture->store, &other, NULL);
    must_create(fixture->store, &key, NULL);
    sqlite3 *reader = raw_open(fixture->path);
    raw_run(reader, "BEGIN; SELECT count(*) FROM events");
    deletion.store = fixture->store;
    start_call(&deletion);
    support_pause_us(100000);
    int64_t start = support_steady_us();
    for (int i = 0; i < 10; i++)
        must_append_by_key(fixture->store, &other, "{}");
    assert_in_range(support_steady_us() - start, 0, 30000000); /* half of what it waits for the reader */
    assert_false(atomic_load(&deletion.done));
    raw_run(reader, "COMMIT");
    join_call(&deletion);
    assert_int_equal(deletion.code, SES_OK);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

/* All connections are in use. A call that needs one waits for the whole timeout, or until one is given
 * back. */
READERS_WAITING_TEST(waiting_for_a_connection)
{
    struct call reader = {.kind = GET};
    struct call waiting = {.kind = READ_STATE};

    fixture->options.max_readers = 1;
    fixture->options.busy_timeout_ms = 300;
    fixture_reopen(fixture);
    fill(fixture->store);
    reader.store = fixture->store;
    waiting.store = fixture->store;
    ses_stats before = statistics(fixture->store);
    start_held(&reader, EVENTS / 2);
    start_call(&waiting);
    join_call(&waiting);
    assert_int_equal(waiting.code, SES_BUSY);
    assert_false(waiting.has_output);
    assert_in_range(waiting.took_us, 300000, 20000000);
    assert_true(statistics(fixture->store).reader_waits >= 1);
    assert_int_equal(statistics(fixture->store).read_calls - before.read_calls, 2); /* one has tried */
    release(&reader);
    assert_int_equal(reader.code, SES_OK);

    start_held(&reader, EVENTS / 2);
    start_call(&waiting);
    support_pause_us(50000);
    assert_false(atomic_load(&waiting.done));
    release(&reader);
    join_call(&waiting);
    assert_int_equal(waiting.code, SES_OK);
    assert_int_equal(statistics(fixture->store).readers_open, 1);
    assert_int_equal(statistics(fixture->store).readers_in_use, 0);
}

/* -------------------------------------------------------------------------------------------- closing */

static void *close_store(void *store)
{
    ses_close(store);
    return NULL;
}

/* While the store is closing, and not closed yet. */
static void assert_refused(ses_store *store)
{
    ses_session *session = NULL;
    ses_stats stats = {.size = sizeof stats};
    const int64_t until = support_steady_us() + 20000000;
    ses_error error;

    while (ses_store_stats(store, &stats, &error) == SES_OK && support_steady_us() < until)
        support_pause_us(1000);
    assert_code(SES_MISUSE, ses_store_stats(store, &stats, &error));
    assert_message("closed");
    assert_code(SES_MISUSE, ses_get(store, &key, NULL, &session, &error));
    assert_null(session);
    assert_code(SES_MISUSE, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_store_interrupt(store, &error));
}

static void await_reader_wait(ses_store *store, struct call *waiting)
{
    const int64_t until = support_steady_us() + 20000000;
    while (statistics(store).reader_waits == 0 && !atomic_load(&waiting->done) && support_steady_us() < until)
        support_pause_us(1000);
}

/* The call under way succeeds, and so does one that waits for a connection. Later calls are refused. */
static void close_upon(struct fixture *fixture, enum kind kind)
{
    struct call call = {.kind = kind};
    struct call waiting = {.kind = READ_STATE};
    ses_session *kept = NULL; /* a handle keeps what is looked at here, when the store is closed */
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    pthread_t closer;
    ses_error error;

    fixture->options.max_readers = 1;
    fixture_reopen(fixture);
    fill(fixture->store);
    kept = must_get(fixture->store, &key);
    assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    call.store = fixture->store;
    waiting.store = fixture->store;
    start_held(&call, 10);
    start_call(&waiting);
    await_reader_wait(fixture->store, &waiting);
    assert_int_equal(pthread_create(&closer, NULL, close_store, fixture->store), 0);
    assert_refused(fixture->store);
    assert_false(atomic_load(&call.done));
    release(&call);
    join_call(&waiting);
    assert_int_equal(pthread_join(closer, NULL), 0);
    fixture->store = NULL;

    assert_int_equal(call.code, SES_OK);
    assert_int_equal(waiting.code, SES_OK);
    assert_code(SES_MISUSE, ses_refresh(kept, NULL, &error));
    assert_code(SES_MISUSE, ses_append(kept, "{}", SES_NUL, NULL, NULL, &error));
    assert_int_equal(ses_session_version(kept), EVENTS);
    assert_code(SES_MISUSE, ses_cursor_next(cursor, &event, &error)); /* though it has more on its page */
    assert_code(SES_MISUSE, ses_cursor_close(cursor, &error));
    ses_session_close(kept);
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    assert_int_equal(count_events(fixture->store), EVENTS + (kind == APPEND));
}

READERS_WAITING_TEST(close_waits_for_a_get)
{
    close_upon(fixture, GET);
}

READERS_WAITING_TEST(close_waits_for_a_cursor)
{
    close_upon(fixture, OPEN_CURSOR);
}

READERS_WAITING_TEST(close_waits_for_an_append)
{
    close_upon(fixture, APPEND);
}
