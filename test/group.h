/*
 * Groups of calls that share a commit. They are made, not hoped for: a first call is held inside its COMMIT
 * until the others stand in the queue, in a known order. So what they share is exactly one commit.
 *
 * A test that includes this is linked with -Wl,--wrap=sqlite3_step and with tools/bench/slow_vfs.c: see
 * flags.mk.
 */
#ifndef SESLITE_TEST_GROUP_H
#define SESLITE_TEST_GROUP_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "../tools/bench/slow_vfs.h"
#include "support.h"

/* ------------------------------------------------------------------------------------- what SQLite does */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

enum commit_does {
    COMMIT_IS_REAL,
    COMMIT_IS_HELD,       /* until `hold_open` */
    COMMIT_AWAITS_A_CALL, /* until one stands in the queue, and then it is quick */
    COMMIT_FAILS,
    COMMIT_FAILS_AND_ROLLS_BACK
};

static atomic_int next_commit;      /* enum commit_does; then they are real again */
static atomic_bool hold_open;       /* ends a COMMIT_IS_HELD */
static atomic_bool held;            /* a COMMIT is being held */
static atomic_int begun;            /* transactions that write */
static ses_store *awaiting;         /* the store whose queue COMMIT_AWAITS_A_CALL looks at */
static _Atomic(sqlite3 *) intruder; /* takes the write lock at the end of the next COMMIT that was held */
static atomic_bool fail_marked; /* inserts of the event "marked" roll back everything, as on a full disk */
static _Atomic(const char *) fails_after_marked; /* and then the next statement that begins so fails, too */
static _Atomic(const char *) fails_now;
static _Atomic(ses_cancel *) pulled_after_marked; /* an insert of the event "marked" pulls this handle */

static inline bool is_marked_insert(sqlite3_stmt *statement)
{
    char *sql = sqlite3_expanded_sql(statement);
    bool is = sql && strncmp(sql, "INSERT INTO events", 18) == 0 && strstr(sql, "\"marked\"");
    sqlite3_free(sql);
    return is;
}

static inline bool is_to_fail(const char *sql)
{
    const char *start = atomic_load(&fails_now);
    bool is = start && strncmp(sql, start, strlen(start)) == 0;
    if (is)
        atomic_store(&fails_now, NULL);
    return is;
}

static inline void await_call(void)
{
    ses_stats before = {.size = sizeof before};
    ses_stats now = {.size = sizeof now};
    const int64_t until = support_steady_us() + 2000;

    (void)ses_store_stats(awaiting, &before, NULL);
    atomic_store(&held, true);
    do {
        (void)ses_store_stats(awaiting, &now, NULL);
    } while (now.write_waits == before.write_waits && support_steady_us() < until);
}

static inline int step_commit(sqlite3_stmt *statement, int does)
{
    int rc = SQLITE_IOERR_FSYNC;

    if (does == COMMIT_FAILS_AND_ROLLS_BACK) {
        sqlite3_exec(sqlite3_db_handle(statement), "ROLLBACK", NULL, NULL, NULL);
    } else if (does == COMMIT_IS_HELD || does == COMMIT_AWAITS_A_CALL) {
        if (does == COMMIT_AWAITS_A_CALL)
            await_call();
        atomic_store(&held, true);
        while (does == COMMIT_IS_HELD && !atomic_load(&hold_open))
            support_pause_us(200);
        rc = __real_sqlite3_step(statement);
        sqlite3 *other = atomic_exchange(&intruder, NULL);
        if (other)
            sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    }
    return rc;
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    const char *sql = sqlite3_sql(statement);
    int does = COMMIT_IS_REAL;
    int rc;

    atomic_fetch_add(&begun, strncmp(sql, "BEGIN IMMEDIATE", 15) == 0);
    if (strncmp(sql, "COMMIT", 6) == 0)
        does = atomic_exchange(&next_commit, COMMIT_IS_REAL);
    if (does != COMMIT_IS_REAL) {
        rc = step_commit(statement, does);
    } else if (atomic_load(&fail_marked) && is_marked_insert(statement)) {
        sqlite3_exec(sqlite3_db_handle(statement), "ROLLBACK", NULL, NULL, NULL);
        atomic_store(&fails_now, atomic_exchange(&fails_after_marked, NULL));
        rc = SQLITE_FULL;
    } else if (is_to_fail(sql)) {
        rc = SQLITE_IOERR;
    } else {
        rc = __real_sqlite3_step(statement);
    }
    if (atomic_load(&pulled_after_marked) && is_marked_insert(statement))
        ses_cancel_pull(atomic_exchange(&pulled_after_marked, NULL));
    return rc;
}

/* -------------------------------------------------------------------------- calls in threads of their own */

enum kind { APPEND, APPEND_AT_VERSION, APPEND_TO_HANDLE, BATCH_OF_TWO, CREATE, DELETE, PRUNE, CUT, OTHER };

struct call {
    enum kind kind;
    int (*make)(struct call *call); /* for OTHER */
    const char *session_id;
    const char *text; /* of the event, or of the second in a batch */
    int64_t version;  /* or the number of the last event that is pruned, or that a cut leaves */
    ses_session *session;
    int64_t timeout_ms; /* for APPEND, as is the next */
    ses_cancel *cancel;
    ses_store *store;
    int code;
    ses_error error;
    ses_appended appended;
    int64_t deleted;
    int64_t took_us;
    atomic_bool done;
    pthread_t thread;
};

enum { MOST_CALLS = 100 };
static struct call calls[MOST_CALLS];
static struct call leader;

static inline int make_call(struct call *call)
{
    const ses_key key = {"app", "user", call->session_id};
    const ses_append_options at_version = {
        .size = sizeof at_version, .flags = SES_AT_VERSION, .version = call->version};
    const ses_append_options limited = {
        .size = sizeof limited, .timeout_ms = call->timeout_ms, .cancel = call->cancel};
    const ses_text two[] = {{Q("{'author':'first of two'}"), SES_NUL}, {call->text, SES_NUL}};
    const ses_prune_options pruned = {
        .size = sizeof pruned, .which = SES_PRUNE_SEQ, .last_seq = call->version};
    const ses_point end = {.size = sizeof end, .kind = SES_POINT_SEQ, .seq = call->version};
    ses_appended both[2];
    int code = SES_INTERNAL;

    switch (call->kind) {
    case APPEND:
        code = ses_append_by_key(call->store, &key, call->text, SES_NUL, &limited, &call->appended,
                                 &call->error);
        break;
    case APPEND_AT_VERSION:
        code = ses_append_by_key(call->store, &key, call->text, SES_NUL, &at_version, &call->appended,
                                 &call->error);
        break;
    case APPEND_TO_HANDLE:
        code = ses_append(call->session, call->text, SES_NUL, NULL, &call->appended, &call->error);
        break;
    case BATCH_OF_TWO:
        code = ses_append_batch_by_key(call->store, &key, two, 2, NULL, both, &call->error);
        break;
    case CREATE:
        code = ses_create(call->store, &key, call->text, SES_NUL, NULL, NULL, &call->error);
        break;
    case DELETE:
        code = ses_delete(call->store, &key, NULL, &call->deleted, &call->error);
        break;
    case PRUNE:
        code = ses_prune_by_key(call->store, &key, &pruned, &call->deleted, &call->error);
        break;
    case CUT:
        code = ses_cut_by_key(call->store, &key, &end, NULL, &call->deleted, &call->error);
        break;
    case OTHER:
        code = call->make(call);
        break;
    }
    return code;
}

static inline void *run_call(void *context)
{
    struct call *call = context;
    int64_t start = support_steady_us();
    call->code = make_call(call);
    call->took_us = support_steady_us() - start;
    atomic_store(&call->done, true);
    return NULL;
}

static inline void start_call(struct call *call, ses_store *store, struct call what)
{
    *call = what;
    call->store = store;
    assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
}

static inline void join_call(struct call *call)
{
    assert_int_equal(pthread_join(call->thread, NULL), 0);
}

static inline ses_stats statistics(ses_store *store)
{
    ses_stats stats = {.size = sizeof stats};
    ses_error error;
    assert_ok(ses_store_stats(store, &stats, &error));
    return stats;
}

/* Starts the call that is held inside its COMMIT. */
static inline void hold_leader(ses_store *store)
{
    const int64_t until = support_steady_us() + 20000000;

    atomic_store(&hold_open, false);
    atomic_store(&held, false);
    atomic_store(&next_commit, COMMIT_IS_HELD);
    start_call(&leader, store, (struct call){.kind = APPEND, .session_id = "leader", .text = "{}"});
    while (!atomic_load(&held) && support_steady_us() < until)
        support_pause_us(200);
    assert_true(atomic_load(&held));
}

/* Starts the calls; each stands in the queue before the next one comes. */
static inline void queue_calls(ses_store *store, const struct call *what, size_t count)
{
    const int64_t until = support_steady_us() + 20000000;

    for (size_t i = 0; i < count; i++) {
        int64_t waits = statistics(store).write_waits;
        start_call(&calls[i], store, what[i]);
        while (statistics(store).write_waits == waits && support_steady_us() < until)
            support_pause_us(100);
        assert_true(support_steady_us() < until);
    }
}

static inline void release_leader(void)
{
    atomic_store(&hold_open, true);
    join_call(&leader);
    assert_int_equal(leader.code, SES_OK);
}

/* All in one group, behind a leader of its own. `commit` is what their COMMIT does. */
static inline void run_group(ses_store *store, const struct call *what, size_t count, enum commit_does commit)
{
    hold_leader(store);
    queue_calls(store, what, count);
    atomic_store(&next_commit, (int)commit);
    release_leader();
    for (size_t i = 0; i < count; i++)
        join_call(&calls[i]);
}

/* ------------------------------------------------------------------------------------------ around a test */

static inline void create(ses_store *store, const char *id)
{
    const ses_key key = {"app", "user", id};
    must_create(store, &key, NULL);
}

static inline void append(ses_store *store, const char *id, const char *event)
{
    const ses_key key = {"app", "user", id};
    must_append_by_key(store, &key, event);
}

static inline int setup(void **state)
{
    static const char *const ids[] = {"leader", "a", "b", "c", "d"};
    int failed = fixture_setup(state);
    struct fixture *fixture = *state;

    fixture->options.busy_timeout_ms =
        600000; /* on a busy machine it takes long until all are in the queue */
    fixture_reopen(fixture);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        create(fixture->store, ids[i]);
    return failed;
}

/* A test that failed may have left a held call. It must end, or closing the store would wait for it. */
static inline int teardown(void **state)
{
    atomic_store(&next_commit, COMMIT_IS_REAL);
    atomic_store(&hold_open, true);
    atomic_store(&fail_marked, false);
    atomic_store(&fails_after_marked, NULL);
    atomic_store(&fails_now, NULL);
    slow_vfs_set_delay(0);
    return fixture_teardown(state);
}

/* The number of events in the session, which are numbered without a gap. -1: there is no such session. */
static inline int64_t stored(ses_store *store, const char *id)
{
    const ses_key key = {"app", "user", id};
    ses_session *session = NULL;
    ses_error error;
    int64_t count = -1;
    int code = ses_get(store, &key, NULL, &session, &error);

    if (code == SES_OK) {
        count = (int64_t)ses_session_event_count(session);
        assert_int_equal(ses_session_version(session), count);
        assert_int_equal(ses_session_last_seq(session), count);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(ses_session_event(session, (size_t)i)->seq, i + 1);
    } else {
        assert_int_equal(code, SES_NOTFOUND);
    }
    ses_session_close(session);
    return count;
}

#define APPEND_TO(id) ((struct call){.kind = APPEND, .session_id = (id), .text = "{\"author\":\"x\"}"})
#define COMMIT_TEST(name) TEST_WITH(struct fixture *fixture, setup, teardown, name)

#endif
