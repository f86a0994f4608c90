/* Group commit: which call waits for which, and for how long. */
#include "group.h"

enum { MOST_THREADS = 8 };

struct worker {
    ses_store *store;
    const char *session_id;
    int64_t until_us;
    int stored;
    int failed;
    pthread_t thread;
};

static void *append_repeatedly(void *context)
{
    struct worker *worker = context;
    const ses_key key = {"app", "user", worker->session_id};

    while (support_steady_us() < worker->until_us) {
        int code = ses_append_by_key(worker->store, &key, "{}", SES_NUL, NULL, NULL, NULL);
        worker->stored += code == SES_OK;
        worker->failed += code != SES_OK;
    }
    return NULL;
}

COMMIT_TEST(no_thread_starves)
{
    static const char *const ids[] = {"a", "b", "c", "d"};
    struct worker workers[MOST_THREADS];
    int least = INT32_MAX;
    int most = 0;

    slow_vfs_set_delay(2000);
    for (int i = 0; i < MOST_THREADS; i++) {
        workers[i] = (struct worker){
            .store = fixture->store, .session_id = ids[i % 4], .until_us = support_steady_us() + 500000};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, append_repeatedly, &workers[i]), 0);
    }
    for (int i = 0; i < MOST_THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failed, 0);
        least = workers[i].stored < least ? workers[i].stored : least;
        most = workers[i].stored > most ? workers[i].stored : most;
    }
    if (least * 5 < most)
        print_error("from %d to %d appends\n", least, most);
    assert_true(least * 5 >= most);
}

/* However many calls wait, one commit takes a limited number of them, and of their bytes. */
COMMIT_TEST(groups_are_bounded)
{
    enum { LARGE = 6, BYTES = 1500000 };
    struct call what[MOST_CALLS];
    char *large = malloc(BYTES + 64);

    assert_non_null(large);
    for (int i = 0; i < MOST_CALLS; i++)
        what[i] = APPEND_TO("a");
    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, MOST_CALLS, COMMIT_IS_REAL);
    ses_stats after = statistics(fixture->store);
    assert_int_equal(stored(fixture->store, "a"), MOST_CALLS);
    assert_true(after.commits - before.commits >= 1 + 2);

    int len = snprintf(large, BYTES + 64, "{\"author\":\"%0*d\"}", BYTES, 0);
    assert_true(len > BYTES);
    for (int i = 0; i < LARGE; i++)
        what[i].text = large;
    run_group(fixture->store, what, LARGE, COMMIT_IS_REAL);
    assert_int_equal(stored(fixture->store, "a"), MOST_CALLS + LARGE);
    assert_true(statistics(fixture->store).commits - after.commits >= 1 + 2);
    free(large);
}

/* ------------------------------------------------------------------------------------------------ waiting */

static void reopen_with_timeout(struct fixture *fixture, int64_t ms)
{
    fixture->options.busy_timeout_ms = ms;
    fixture_reopen(fixture);
}

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    return handle;
}

/* The writer is stuck in a commit. A call in the queue waits for the whole timeout, returns BUSY, and stores
 * nothing. */
COMMIT_TEST(busy_behind_a_stuck_writer)
{
    const struct call what[] = {APPEND_TO("a"), {.kind = DELETE, .session_id = "b"}};

    reopen_with_timeout(fixture, 300);
    ses_stats before = statistics(fixture->store);
    hold_leader(fixture->store);
    queue_calls(fixture->store, what, 2);
    for (int i = 0; i < 2; i++) {
        join_call(&calls[i]);
        assert_int_equal(calls[i].code, SES_BUSY);
        assert_in_range(calls[i].took_us, 300000, 20000000);
    }
    assert_false(atomic_load(&leader.done));
    release_leader();
    ses_stats after = statistics(fixture->store);
    assert_int_equal(after.write_calls - before.write_calls, 3); /* the two have tried */
    assert_int_equal(after.write_waits - before.write_waits, 2);
    assert_int_equal(stored(fixture->store, "a"), 0);
    assert_int_equal(stored(fixture->store, "b"), 0);
}

static void wait_behind_a_stuck_writer(struct fixture *fixture, int64_t timeout_ms)
{
    const struct call what[] = {APPEND_TO("a"), APPEND_TO("b")};

    reopen_with_timeout(fixture, timeout_ms);
    hold_leader(fixture->store);
    queue_calls(fixture->store, what, 2);
    support_pause_us(300000);
    assert_false(atomic_load(&calls[0].done));
    assert_false(atomic_load(&calls[1].done));
    release_leader();
    for (int i = 0; i < 2; i++) {
        join_call(&calls[i]);
        assert_int_equal(calls[i].code, SES_OK);
    }
}

COMMIT_TEST(the_longest_timeout)
{
    wait_behind_a_stuck_writer(fixture, INT64_MAX);
}

COMMIT_TEST(the_default_timeout)
{
    wait_behind_a_stuck_writer(fixture, 0);
}

/* Another process has the lock. The leader and the calls queued after it wait for it, each for the whole
 * timeout. */
COMMIT_TEST(busy_behind_another_process)
{
    sqlite3 *other = open_raw(fixture->path);

    reopen_with_timeout(fixture, 300);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < 4; i++) {
        start_call(&calls[i], fixture->store, APPEND_TO("a"));
        support_pause_us(50000);
    }
    for (int i = 0; i < 4; i++) {
        join_call(&calls[i]);
        assert_int_equal(calls[i].code, SES_BUSY);
        assert_in_range(calls[i].took_us, 300000, 20000000);
    }
    assert_true(statistics(fixture->store).sqlite.busy_waits > 0);
    assert_true(statistics(fixture->store).sqlite.busy_us >= 200000);

    reopen_with_timeout(fixture, -1); /* not at all */
    start_call(&calls[0], fixture->store, APPEND_TO("a"));
    join_call(&calls[0]);
    assert_int_equal(calls[0].code, SES_BUSY);
    assert_true(calls[0].took_us < 8000000); /* the default timeout is ten seconds */
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    append(fixture->store, "a", "{}");
    assert_int_equal(stored(fixture->store, "a"), 1);
}

/*
 * A leader that is done returns, though others wait: when another process takes the lock, they wait for it.
 * (The other takes it at the very end of the leader's commit.)
 */
COMMIT_TEST(a_leader_does_not_wait_for_the_next_group)
{
    sqlite3 *other = open_raw(fixture->path);
    const struct call what[] = {APPEND_TO("a"), APPEND_TO("b")};
    const int64_t until = support_steady_us() + 8000000; /* below the timeout of ten seconds */

    hold_leader(fixture->store);
    queue_calls(fixture->store, what, 2);
    atomic_store(&intruder, other);
    atomic_store(&hold_open, true);
    while (!atomic_load(&leader.done) && support_steady_us() < until)
        support_pause_us(1000);
    bool leader_is_done = atomic_load(&leader.done);
    bool others_wait = !atomic_load(&calls[0].done) && !atomic_load(&calls[1].done);
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    release_leader();
    for (int i = 0; i < 2; i++) {
        join_call(&calls[i]);
        assert_int_equal(calls[i].code, SES_OK);
    }
    assert_true(others_wait);
    assert_true(leader_is_done);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

static void *append_when_held(void *context)
{
    struct call *call = context;
    while (!atomic_load(&held))
        ;
    return run_call(call);
}

/* The same where commits are quick. */
COMMIT_TEST(a_quick_leader_does_not_wait_either)
{
    enum { ROUNDS = 20 };
    sqlite3 *other = open_raw(fixture->path);
    int late = 0;

    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    awaiting = fixture->store;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t until = support_steady_us() + 8000000; /* below the timeout of ten seconds */
        atomic_store(&held, false);
        calls[0] = APPEND_TO("a");
        calls[0].store = fixture->store;
        assert_int_equal(pthread_create(&calls[0].thread, NULL, append_when_held, &calls[0]), 0);
        support_pause_us(2000);
        atomic_store(&intruder, other);
        atomic_store(&next_commit, COMMIT_AWAITS_A_CALL);
        start_call(&leader, fixture->store, APPEND_TO("leader"));
        while (!atomic_load(&leader.done) && support_steady_us() < until)
            support_pause_us(200);
        late += !atomic_load(&leader.done);
        (void)sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
        join_call(&leader);
        join_call(&calls[0]);
        assert_int_equal(leader.code, SES_OK);
        assert_int_equal(calls[0].code, SES_OK);
    }
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(late, 0);
    assert_int_equal(stored(fixture->store, "a"), ROUNDS);
    assert_int_equal(stored(fixture->store, "leader"), ROUNDS);
}

/* Closing waits for all who stand in the queue. */
static void *close_store(void *store)
{
    ses_close(store);
    return NULL;
}

COMMIT_TEST(close_waits_for_the_queue)
{
    const struct call what[] = {
        APPEND_TO("a"), APPEND_TO("a"), {.kind = CREATE, .session_id = "new", .text = "{}"}};
    pthread_t closer;

    hold_leader(fixture->store);
    queue_calls(fixture->store, what, 3);
    assert_int_equal(pthread_create(&closer, NULL, close_store, fixture->store), 0);
    support_pause_us(100000);
    release_leader();
    assert_int_equal(pthread_join(closer, NULL), 0);
    fixture->store = NULL;
    for (int i = 0; i < 3; i++) {
        join_call(&calls[i]);
        assert_int_equal(calls[i].code, SES_OK);
    }
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    assert_int_equal(stored(fixture->store, "leader"), 1);
    assert_int_equal(stored(fixture->store, "a"), 2);
    assert_int_equal(stored(fixture->store, "new"), 0);
}

BEFORE_TESTS()
{
    assert_int_equal(slow_vfs_install(), SQLITE_OK);
}
