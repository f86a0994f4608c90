/* Group commit: writers that wait for one commit share the next; each gets its own result. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

#include "../../tools/bench/slow_vfs.h"
#include "support.h"

/* ---- a COMMIT, or one insert, that fails: see flags.mk */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

static atomic_bool fail_commit;
static atomic_bool fail_marked_insert; /* of the event "marked": rolls back everything, as a full disk may */
static atomic_bool fail_next_begin;    /* and then the next transaction is refused, too */
static atomic_bool begin_fails;

static bool is_marked_insert(sqlite3_stmt *statement)
{
    char *sql = sqlite3_expanded_sql(statement);
    bool is = sql && strncmp(sql, "INSERT INTO events", 18) == 0 && strstr(sql, "\"marked\"");
    sqlite3_free(sql);
    return is;
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    int rc;
    if (atomic_load(&fail_commit) && strncmp(sqlite3_sql(statement), "COMMIT", 6) == 0) {
        rc = SQLITE_IOERR;
    } else if (atomic_load(&fail_marked_insert) && is_marked_insert(statement)) {
        sqlite3_exec(sqlite3_db_handle(statement), "ROLLBACK", NULL, NULL, NULL);
        atomic_store(&begin_fails, atomic_load(&fail_next_begin));
        rc = SQLITE_FULL;
    } else if (atomic_load(&begin_fails) && strncmp(sqlite3_sql(statement), "BEGIN IMMEDIATE", 15) == 0) {
        atomic_store(&begin_fails, false);
        rc = SQLITE_IOERR;
    } else {
        rc = __real_sqlite3_step(statement);
    }
    return rc;
}

/* ---- threads that write at the same moment */

enum { MOST = 8 };

struct writer {
    ses_store *store;
    int number;
    const char *event;
    int appends;
    int code;   /* of the last append */
    int failed; /* how many were not 0 */
    pthread_t thread;
};

static void *write_events(void *context)
{
    struct writer *writer = context;
    char id[16];
    snprintf(id, sizeof id, "s%d", writer->number);
    const ses_key key = {"app", "user", id};

    for (int i = 0; i < writer->appends; i++) {
        writer->code = ses_append_by_key(writer->store, &key, writer->event, SES_NUL, NULL, NULL, NULL);
        writer->failed += writer->code != SES_OK;
    }
    return NULL;
}

static void make_sessions(ses_store *store)
{
    for (int i = 0; i < MOST; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        const ses_key key = {"app", "user", id};
        must_create(store, &key, NULL);
    }
}

static void start(struct writer *writers, ses_store *store, int appends)
{
    for (int i = 0; i < MOST; i++) {
        writers[i] =
            (struct writer){.store = store, .number = i, .event = "{\"author\":\"a\"}", .appends = appends};
    }
}

static void run(struct writer *writers)
{
    for (int i = 0; i < MOST; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_events, &writers[i]), 0);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
}

static int64_t stored(ses_store *store, int number)
{
    char id[16];

    snprintf(id, sizeof id, "s%d", number);
    const ses_key key = {"app", "user", id};
    ses_session *session = must_get(store, &key);
    int64_t count = (int64_t)ses_session_event_count(session);
    assert_int_equal(ses_session_version(session), count);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(ses_session_event(session, (size_t)i)->seq, i + 1);
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

TEST(waiting_writers_share_a_commit)
{
    struct writer writers[MOST];

    make_sessions(fixture->store);
    ses_stats before = statistics(fixture->store);
    long syncs_before = slow_vfs_syncs();
    slow_vfs_set_delay(2000);
    start(writers, fixture->store, 20);
    run(writers);
    slow_vfs_set_delay(0);
    ses_stats after = statistics(fixture->store);
    assert_int_equal(after.events - before.events, MOST * 20);
    assert_true(after.commits - before.commits <= MOST * 20 * 3 / 4);
    assert_true(slow_vfs_syncs() - syncs_before <= MOST * 20 * 3 / 4 + 5);
    assert_true(after.write_waits > before.write_waits);
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(writers[i].failed, 0);
        assert_int_equal(stored(fixture->store, i), 20);
    }
}

TEST(a_writer_alone_waits_for_nobody)
{
    const ses_key key = {"app", "user", "s0"};
    struct timespec start_time;
    struct timespec end_time;

    make_sessions(fixture->store);
    ses_stats before = statistics(fixture->store);
    clock_gettime(CLOCK_MONOTONIC, &start_time);
    for (int i = 0; i < 50; i++)
        must_append_by_key(fixture->store, &key, "{}");
    clock_gettime(CLOCK_MONOTONIC, &end_time);
    ses_stats after = statistics(fixture->store);
    assert_int_equal(after.commits - before.commits, 50);
    assert_int_equal(after.write_waits, before.write_waits);
    assert_true(end_time.tv_sec - start_time.tv_sec < 5);
}

TEST(members_fail_each_for_itself)
{
    struct writer writers[MOST];
    const ses_key taken = {"app", "user", "s1"};

    make_sessions(fixture->store);
    must_append_by_key(fixture->store, &taken, Q("{'id':'x','timestamp':1}"));
    slow_vfs_set_delay(1000);
    start(writers, fixture->store, 10);
    writers[1].event = "{\"id\":\"x\",\"timestamp\":2}"; /* EXISTS */
    writers[2].number = 99;                              /* NOTFOUND */
    writers[3].event = "{\"actions\":[]}";               /* INVALID */
    run(writers);
    slow_vfs_set_delay(0);
    assert_int_equal(writers[1].code, SES_EXISTS);
    assert_int_equal(writers[1].failed, 10);
    assert_int_equal(writers[2].code, SES_NOTFOUND);
    assert_int_equal(writers[3].code, SES_INVALID);
    assert_int_equal(stored(fixture->store, 1), 1);
    for (int i = 4; i < MOST; i++) {
        assert_int_equal(writers[i].failed, 0);
        assert_int_equal(stored(fixture->store, i), 10);
    }
}

static void *write_bad_batches(void *context)
{
    struct writer *writer = context;
    const ses_key key = {"app", "user", "s0"};
    const ses_text batch[] = {{Q("{'author':'half'}"), SES_NUL}, {Q("{'id':'x','timestamp':2}"), SES_NUL}};

    for (int i = 0; i < writer->appends; i++)
        writer->failed +=
            ses_append_batch_by_key(writer->store, &key, batch, 2, NULL, NULL, NULL) == SES_EXISTS;
    return NULL;
}

/* One that fails after it has written: the others are done again without it. */
TEST(a_member_that_has_written_is_undone)
{
    struct writer writers[MOST];
    struct writer bad = {.store = fixture->store, .appends = 20};
    const ses_key key = {"app", "user", "s0"};

    make_sessions(fixture->store);
    must_append_by_key(fixture->store, &key, Q("{'id':'x','timestamp':1}"));
    slow_vfs_set_delay(1000);
    start(writers, fixture->store, 20);
    assert_int_equal(pthread_create(&bad.thread, NULL, write_bad_batches, &bad), 0);
    run(writers);
    assert_int_equal(pthread_join(bad.thread, NULL), 0);
    slow_vfs_set_delay(0);
    assert_int_equal(bad.failed, 20);
    assert_int_equal(stored(fixture->store, 0), 21);
    for (int i = 1; i < MOST; i++) {
        assert_int_equal(writers[i].failed, 0);
        assert_int_equal(stored(fixture->store, i), 20);
    }
}

/* Like a full disk, this makes SQLite roll back the whole transaction, including the work of the others. */
TEST(a_failure_that_undoes_all_costs_the_others_nothing)
{
    struct writer writers[MOST];

    make_sessions(fixture->store);
    slow_vfs_set_delay(1000);
    atomic_store(&fail_marked_insert, true);
    start(writers, fixture->store, 10);
    writers[5].event = "{\"id\":\"marked\"}";
    run(writers);
    atomic_store(&fail_marked_insert, false);
    slow_vfs_set_delay(0);
    assert_int_equal(writers[5].code, SES_FULL);
    assert_int_equal(writers[5].failed, 10);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(stored(fixture->store, i), i == 5 ? 0 : 10);
    assert_int_equal(statistics(fixture->store).events, 10 * (MOST - 1));
}

/* The work of the others cannot be repeated either: each call is told so, and exactly what was acknowledged
 * is stored. */
TEST(a_failure_that_undoes_all_for_good)
{
    struct writer writers[MOST];
    int failed = 0;

    make_sessions(fixture->store);
    slow_vfs_set_delay(1000);
    atomic_store(&fail_marked_insert, true);
    atomic_store(&fail_next_begin, true);
    start(writers, fixture->store, 20);
    writers[5].event = "{\"id\":\"marked\"}";
    run(writers);
    atomic_store(&fail_marked_insert, false);
    atomic_store(&fail_next_begin, false);
    slow_vfs_set_delay(0);
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(stored(fixture->store, i), 20 - writers[i].failed);
        failed += writers[i].failed;
    }
    assert_int_equal(writers[5].failed, 20);
    assert_true(failed >= 20); /* and those who shared a transaction with it: how many, is a matter of time */
    assert_int_equal(statistics(fixture->store).events, 20 * MOST - failed);
}

TEST(a_commit_that_fails_fails_all)
{
    struct writer writers[MOST];

    make_sessions(fixture->store);
    atomic_store(&fail_commit, true);
    start(writers, fixture->store, 5);
    run(writers);
    atomic_store(&fail_commit, false);
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(writers[i].failed, 5);
        assert_int_equal(writers[i].code, SES_IO);
        assert_int_equal(stored(fixture->store, i), 0);
    }
    assert_int_equal(statistics(fixture->store).events, 0);
    start(writers, fixture->store, 5);
    run(writers);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(stored(fixture->store, i), 5);
}

static void *create_and_delete(void *context)
{
    struct writer *writer = context;
    for (int i = 0; i < writer->appends; i++) {
        char id[32];
        int64_t deleted = 0;
        snprintf(id, sizeof id, "made-%d-%d", writer->number, i);
        const ses_key key = {"app", "user", id};
        writer->failed +=
            ses_create(writer->store, &key, Q("{'user:n':1}"), SES_NUL, NULL, NULL, NULL) != SES_OK;
        writer->failed += ses_create(writer->store, &key, NULL, 0, NULL, NULL, NULL) != SES_EXISTS;
        writer->failed += ses_delete(writer->store, &key, NULL, &deleted, NULL) != SES_OK || deleted != 1;
    }
    return NULL;
}

TEST(creates_and_deletes_share_too)
{
    struct writer writers[MOST];

    slow_vfs_set_delay(1000);
    start(writers, fixture->store, 10);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, create_and_delete, &writers[i]), 0);
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_int_equal(writers[i].failed, 0);
    }
    slow_vfs_set_delay(0);
    assert_true(statistics(fixture->store).commits < MOST * 20);
}

/* Another process holds the lock all the time: every call waits for the whole timeout, also those in the
 * queue. */
TEST(waiting_ends_with_the_timeout)
{
    struct writer writers[MOST];
    struct timespec start_time;
    struct timespec end_time;
    sqlite3 *other = NULL;

    make_sessions(fixture->store);
    fixture->options.busy_timeout_ms = 300;
    fixture_reopen(fixture);
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    start(writers, fixture->store, 1);
    clock_gettime(CLOCK_MONOTONIC, &start_time);
    run(writers);
    clock_gettime(CLOCK_MONOTONIC, &end_time);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(writers[i].code, SES_BUSY);
    double ms = (double)(end_time.tv_sec - start_time.tv_sec) * 1e3 +
                (double)(end_time.tv_nsec - start_time.tv_nsec) / 1e6;
    assert_true(ms >= 295 && ms < 20000);
    sqlite3_close(other);
    start(writers, fixture->store, 1);
    run(writers);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(stored(fixture->store, i), 1);
}

BEFORE_TESTS()
{
    assert_int_equal(slow_vfs_install(), SQLITE_OK);
}
