/* How followers learn what other processes write: the thread that looks at the file. Here a second store on
 * the same file stands for the other process. */
#include "../session/follow.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/error.h"
#include "session/store.h"
#include "storage/sqlite/parts.h"

struct two_stores {
    struct fixture *fixture;
    ses_store *store;
    ses_store *other;
    struct engine table; /* of `store`, whose looks are counted */
};

static atomic_int looks;
static atomic_int failing; /* so many looks fail ... */
static atomic_int code;    /* ... with this */

static atomic_int failing_reads; /* so many do, with BUSY, of a store whose engine was changed */
static const struct engine *real;

static int run(struct storage *storage, const struct manner *manner, storage_job *job, void *context,
               ses_error *error)
{
    if (!manner->writes && atomic_load(&failing_reads) > 0) {
        atomic_fetch_sub(&failing_reads, 1);
        return ses__error_set(error, SES_BUSY, "a read that fails");
    }
    return real->run(storage, manner, job, context, error);
}

static int watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    atomic_fetch_add(&looks, 1);
    if (atomic_load(&failing) == 0)
        return ses__sqlite_watch(storage, op, error);
    atomic_fetch_sub(&failing, 1);
    return atomic_load(&code);
}

static void change_engine(struct two_stores *stores)
{
    real = stores->store->storage->engine;
    stores->table = *real;
    stores->table.watch = watch;
    stores->table.run = run;
    stores->store->storage->engine = &stores->table;
}

static int setup(void **state)
{
    struct two_stores *stores = calloc(1, sizeof *stores);
    ses_error error;

    assert_non_null(stores);
    assert_int_equal(fixture_setup((void **)&stores->fixture), 0);
    stores->store = stores->fixture->store;
    assert_ok(ses_open(stores->fixture->path, NULL, &stores->other, &error));
    change_engine(stores);
    atomic_store(&looks, 0);
    atomic_store(&failing, 0);
    atomic_store(&failing_reads, 0);
    *state = stores;
    return 0;
}

static int teardown(void **state)
{
    struct two_stores *stores = *state;
    void *fixture = stores->fixture;

    ses_close(stores->other);
    (void)fixture_teardown(&fixture);
    free(stores);
    return 0;
}

/* ------------------------------------------------------------------------------------- the operation */

static bool changed(ses_store *store, struct watched item)
{
    struct watch_op op = {.items = &item, .count = 1};
    ses_error error;

    assert_ok(ses__door_watch(store->storage, &op, &error));
    return item.changed;
}

static struct watched session_now(ses_store *store, const char *name)
{
    const ses_key of = {"app", "user", name};
    ses_session *session = must_get(store, &of);
    struct watched item = {.session_id = 1, .versions = ses_session_version(session)};
    ses_session_close(session);
    return item;
}

#define TWO_STORES_TEST(name) TEST_WITH(struct two_stores *stores, setup, teardown, name)

TWO_STORES_TEST(a_session_has_changed_or_not)
{
    create_session(stores->store, "one", 1);
    struct watched now = session_now(stores->store, "one");
    (void)changed(stores->store, now);
    struct watched stale = now;
    stale.versions = 7;
    assert_false(changed(stores->store, now));
    assert_false(changed(stores->store, stale)); /* nothing was written, so it is not looked at ... */
    stale.fresh = true;
    assert_true(changed(stores->store, stale)); /* ... unless it was not yet */
    append_to(stores->other, "one", 1);
    assert_true(changed(stores->store, now));
    now = session_now(stores->store, "one");
    create_session(stores->other, "two", 1);
    assert_false(changed(stores->store, now));
    cut_after(stores->other, "one", 0);
    assert_true(changed(stores->store, now));
    now = session_now(stores->store, "one");
    delete_named(stores->other, "one");
    assert_true(changed(stores->store, now));
}

TWO_STORES_TEST(a_users_sessions_have_changed_or_not)
{
    struct watched now = {.app = "app", .user = "user"};

    assert_false(changed(stores->store, now)); /* there is no such user */
    must_create(stores->other, &(ses_key){"app", "other", "one"}, NULL);
    assert_false(changed(stores->store, now));
    create_session(stores->other, "one", 2);
    assert_true(changed(stores->store, now));
    struct watched two = {.app = "app", .user = "user", .session_id = 2, .count = 1, .versions = 2};
    two.fresh = true;
    assert_false(changed(stores->store, two));
    create_session(stores->other, "two", 0);
    assert_true(changed(stores->store, two));
    delete_named(stores->other, "one");
    assert_true(changed(stores->store, two));
}

/* -------------------------------------------------------------------------------------------- the thread */

struct waiter {
    ses_follower *follower;
    int code;
    int64_t seq;
    pthread_t thread;
};

static void *run_waiter(void *context)
{
    struct waiter *waiter = context;
    const ses_event *event = NULL;
    ses_error error;

    waiter->code = ses_follower_next(waiter->follower, 60000, &event, &error);
    waiter->seq = event ? event->seq : 0;
    return NULL;
}

static void start_waiter(struct waiter *waiter, ses_follower *follower)
{
    *waiter = (struct waiter){.follower = follower};
    assert_int_equal(pthread_create(&waiter->thread, NULL, run_waiter, waiter), 0);
}

static void assert_waiter(struct waiter *waiter, int expected, int64_t seq)
{
    assert_int_equal(pthread_join(waiter->thread, NULL), 0);
    assert_int_equal(waiter->code, expected);
    assert_int_equal(waiter->seq, seq);
}

TWO_STORES_TEST(writes_of_others_are_found)
{
    struct waiter one;
    struct waiter all;

    create_session(stores->other, "one", 0);
    ses_follower *follower = must_follow(stores->store, &key, NULL);
    ses_follower *of_user = must_follow(stores->store, &user_key, NULL);
    for (int seq = 1; seq <= 5; seq++) {
        start_waiter(&one, follower);
        start_waiter(&all, of_user);
        support_pause_us(seq * 7000);
        append_to(stores->other, "one", 1);
        assert_waiter(&one, SES_ROW, seq);
        assert_waiter(&all, SES_ROW, seq);
    }
    start_waiter(&one, follower);
    start_waiter(&all, of_user);
    support_pause_us(30000);
    cut_after(stores->other, "one", 3);
    assert_waiter(&one, SES_RESET, 0);
    assert_waiter(&all, SES_RESET, 0);
    start_waiter(&one, follower);
    start_waiter(&all, of_user);
    support_pause_us(30000);
    delete_named(stores->other, "one");
    assert_waiter(&one, SES_NOTFOUND, 0);
    assert_waiter(&all, SES_RESET, 0);
}

static void count_notified(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

TWO_STORES_TEST(notify_is_called_for_what_others_write)
{
    atomic_int count = 0;
    const ses_follow_options options = {
        .size = sizeof options, .notify = count_notified, .notify_context = &count};

    create_session(stores->other, "one", 0);
    create_session(stores->other, "two", 0);
    ses_follower *follower = must_follow(stores->store, &key, &options);
    assert_nothing(follower);
    append_to(stores->other, "two", 1);
    support_pause_us(200000);
    assert_int_equal(atomic_load(&count), 0);
    append_to(stores->other, "one", 1);
    for (int i = 0; i < 1000 && atomic_load(&count) == 0; i++)
        support_pause_us(10000);
    assert_int_equal(atomic_load(&count), 1);
    assert_next(follower, "one", 1);
}

/* A write just before a follower waits does not count as seen, whatever the thread has looked at for
 * others. */
TWO_STORES_TEST(nothing_is_missed_at_the_beginning_of_a_wait)
{
    const ses_key two = {"app", "user", "two"};
    struct waiter idle;

    create_session(stores->other, "one", 0);
    create_session(stores->other, "two", 0);
    ses_follower *follower = must_follow(stores->store, &key, NULL);
    ses_follower *other = must_follow(stores->store, &two, NULL);
    start_waiter(&idle, other); /* keeps the thread looking */
    for (int seq = 1; seq <= 30; seq++) {
        append_to(stores->other, "one", 1);
        support_pause_us(seq % 7 * 1000);
        assert_next(follower, "one", seq);
    }
    ses_follower_wake(other);
    assert_waiter(&idle, SES_OK, 0);
}

/* Pauses, and longer until the thread has looked so often, as on a busy machine it may not have had its turn.
 * The looks that were made, per second. */
static int64_t looks_per_second(long pause_us, int least)
{
    const int64_t begun = support_steady_us();
    const int before = atomic_load(&looks);

    do
        support_pause_us(pause_us);
    while (atomic_load(&looks) - before < least && support_steady_us() - begun < 60000000);
    assert_true(atomic_load(&looks) - before >= least);
    return (atomic_load(&looks) - before) * INT64_C(1000000) / (support_steady_us() - begun);
}

/* False when there was always another look. */
static bool comes_to_rest(void)
{
    bool rests = false;

    for (int i = 0; i < 50 && !rests; i++) {
        const int before = atomic_load(&looks);
        support_pause_us(300000);
        rests = atomic_load(&looks) == before;
    }
    return rests;
}

TWO_STORES_TEST(the_thread_rests)
{
    struct waiter waiter;

    create_session(stores->other, "one", 0);
    ses_follower *follower = must_follow(stores->store, &key, NULL);
    assert_nothing(follower);
    support_pause_us(100000);
    assert_int_equal(atomic_load(&looks), 0); /* nobody waits */
    start_waiter(&waiter, follower);
    assert_in_range(looks_per_second(1500000, 5), 0, 40);
    assert_in_range(looks_per_second(1000000, 1), 0, 12);
    append_to(stores->store, "one", 1);
    assert_waiter(&waiter, SES_ROW, 1);
    assert_true(comes_to_rest());
}

/* A look that fails is made again; a failure that would not pass is the caller's to meet. */
TWO_STORES_TEST(looks_that_fail_lose_nothing)
{
    static const int codes[] = {SES_BUSY, SES_NOMEM, SES_INTERRUPTED, SES_IO, SES_CORRUPT};
    struct waiter waiter;
    int seq = 0;

    create_session(stores->other, "one", 0);
    ses_follower *follower = must_follow(stores->store, &key, NULL);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        atomic_store(&code, codes[i]);
        start_waiter(&waiter, follower);
        support_pause_us(30000);
        atomic_store(&failing, 3);
        append_to(stores->other, "one", 1);
        assert_waiter(&waiter, SES_ROW, ++seq);
        atomic_store(&failing, 0);
    }
}

/* ----------------------------------------------------------------- sessions of which this process is told */

enum { MANY = 100 };

static const char *name_of(int session)
{
    static char name[16];

    snprintf(name, sizeof name, "s%03d", session);
    return name;
}

static ses_follower *follow_many(const struct two_stores *stores, const ses_follow_options *options)
{
    for (int i = 0; i < MANY; i++)
        create_session(stores->store, name_of(i), 0);
    ses_follower *follower = must_follow(stores->store, &user_key, options);
    assert_nothing(follower);
    return follower;
}

/* Each round, one event of this process, one of the other, or both: the follower gets them in any order. */
static void assert_both_are_found(struct two_stores *stores, ses_follower *follower, int64_t timeout_ms)
{
    int64_t given[MANY] = {0};
    int64_t stored[MANY] = {0};

    for (int round = 1; round <= 60; round++) {
        const int64_t begun = support_steady_us();
        const int own = round * 7 % MANY;
        const int others = round % 3 == 0 ? own : round * 13 % MANY;
        int left = round % 4 == 0 ? 1 : 2;
        append_to(stores->other, name_of(others), 1);
        stored[others]++;
        if (left == 2) {
            append_to(stores->store, name_of(own), 1);
            stored[own]++;
        }
        while (left > 0 && support_steady_us() - begun < 60000000) {
            const ses_event *event = NULL;
            ses_error error;
            const int result = ses_follower_next(follower, timeout_ms, &event, &error);
            assert_true(result == SES_OK || result == SES_ROW);
            if (result == SES_OK)
                continue;
            assert_int_equal(event->seq, ++given[atoi(ses_follower_session(follower) + 1)]);
            left--;
        }
    }
    assert_memory_equal(given, stored, sizeof given);
}

TWO_STORES_TEST(writes_of_other_processes_are_found)
{
    ses_follower *follower = follow_many(stores, NULL);

    assert_both_are_found(stores, follower, 20000);
    ses_follower_close(follower);
}

/* Such waits may be too short for the thread, which here never gets to look. */
TWO_STORES_TEST(writes_of_others_are_found_in_short_waits)
{
    const ses_event *event = NULL;
    int found = SES_OK;
    ses_follower *follower = follow_many(stores, NULL);

    atomic_store(&code, SES_BUSY);
    atomic_store(&failing, INT_MAX);
    append_to(stores->other, name_of(8), 1);
    for (int calls = 0; calls < 60000 && found == SES_OK; calls++)
        found = ses_follower_next(follower, 1, &event, &error);
    assert_int_equal(found, SES_ROW);
    atomic_store(&failing, 0);
    ses_follower_close(follower);
}

TWO_STORES_TEST(writes_of_others_are_found_at_once_without_waiting)
{
    ses_follower *follower = follow_many(stores, NULL);

    for (int i = 0; i < 10; i++) {
        const ses_event *event = NULL;
        append_to(stores->store, name_of(50), 1);
        append_to(stores->other, name_of(i), 1);
        for (int events = 0; events < 2; events++)
            assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
        assert_nothing(follower);
    }
    ses_follower_close(follower);
}

TWO_STORES_TEST(writes_of_others_are_found_in_an_event_loop)
{
    atomic_int count = 0;
    const ses_follow_options options = {
        .size = sizeof options, .notify = count_notified, .notify_context = &count};
    ses_follower *follower = follow_many(stores, &options);

    assert_both_are_found(stores, follower, 0);
    ses_follower_close(follower);
}

/* A notification is not forgotten when the look there fails. In memory no thread would find it later. */
TWO_STORES_TEST(told_sessions_survive_a_failed_look)
{
    struct two_stores made = {.other = stores->other};
    const ses_event *event = NULL;

    assert_ok(ses_open(":memory:", NULL, &made.store, &error));
    change_engine(&made);
    ses_follower *follower = follow_many(&made, NULL);
    for (int i = 1; i <= 10; i++) {
        append_to(made.store, name_of(3), 1);
        atomic_store(&failing_reads, 1);
        assert_code(SES_BUSY, ses_follower_next(follower, 0, &event, &error));
        assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
        assert_int_equal(event->seq, i);
    }
    ses_follower_close(follower);
    ses_close(made.store);
}

TWO_STORES_TEST(looks_are_no_calls)
{
    const ses_event *event = NULL;

    create_session(stores->other, "one", 0);
    ses_follower *follower = must_follow(stores->store, &key, NULL);
    assert_code(SES_OK, ses_follower_next(follower, 50, &event, &error));
    const int before = atomic_load(&looks);
    int calls = 0;
    do
        assert_code(SES_OK, ses_follower_next(follower, 300, &event, &error));
    while (++calls < 100 &&
           atomic_load(&looks) == before); /* on a busy machine the thread may miss its turn */
    assert_in_range(atomic_load(&looks) - before, 1, 100);
    ses_stats stats = {.size = sizeof stats};
    assert_ok(ses_store_stats(stores->store, &stats, &error));
    assert_in_range(stats.read_calls, 2 + calls, 3 + 2 * calls); /* of the follower: looks are no calls */
}

/* The thread's look at the file must not keep the follower from looking. */
TWO_STORES_TEST(a_file_that_is_gone_is_told)
{
    struct waiter waiter;

    create_session(stores->store, "one", 0);
    ses_follower *follower = must_follow(stores->store, &key, NULL);
    start_waiter(&waiter, follower);
    support_pause_us(50000);
    assert_int_equal(unlink(stores->fixture->path), 0);
    assert_waiter(&waiter, SES_IO, 0);
}
