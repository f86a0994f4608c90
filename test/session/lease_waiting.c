/* Calls that wait for a lease: their order, what wakes them, and what ends them. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "append.h"
#include "session/store.h"

static const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
static const ses_lease_options patient = {.size = sizeof patient, .wait_ms = 600000};

/* A store whose clock threads may look at while it is set, and a second one on the same file, as of another
 * process. */
struct waiting {
    struct fixture *fixture;
    ses_store *store;
    ses_store *second;
    atomic_llong now;
};

static int64_t shared_clock(void *context)
{
    return atomic_load((atomic_llong *)context);
}

static int setup(void **state)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    ses_error error;

    assert_non_null(waiting);
    assert_int_equal(fixture_setup((void **)&waiting->fixture), 0);
    atomic_init(&waiting->now, INT64_C(1700000000000000));
    waiting->fixture->options.clock = shared_clock;
    waiting->fixture->options.clock_context = &waiting->now;
    fixture_reopen(waiting->fixture);
    waiting->store = waiting->fixture->store;
    must_create(waiting->store, &key, NULL);
    assert_ok(ses_open(waiting->fixture->path, &waiting->fixture->options, &waiting->second, &error));
    *state = waiting;
    return 0;
}

static int teardown(void **state)
{
    struct waiting *waiting = *state;
    ses_close(waiting->second);
    (void)fixture_teardown((void **)&waiting->fixture);
    free(waiting);
    return 0;
}

static ses_lease must_take(ses_store *store, const char *owner)
{
    ses_lease lease = {0};
    ses_error error;
    assert_ok(ses_lease_take(store, &key, owner, &at_once, &lease, &error));
    return lease;
}

static void must_release(ses_store *store, int64_t token)
{
    ses_error error;
    assert_ok(ses_lease_release(store, &key, token, NULL, &error));
}

/* ---------------------------------------------------------------------------------- threads that wait */

enum { WAITERS = 12 };

struct turn_list {
    pthread_mutex_t lock;
    int order[WAITERS];
    int count;
};

struct waiter {
    pthread_t thread;
    ses_store *store;
    const ses_key *of; /* the session; NULL: `key` */
    const ses_lease_options *options;
    struct turn_list *turns; /* NULL: it keeps the lease */
    int number;
    int code;
    ses_lease lease;
    ses_error error;
    atomic_bool done;
};

/* A turn: nobody else may have one at the same time. */
static void take_turn(struct waiter *waiter)
{
    const ses_append_options options = {.size = sizeof options, .lease = waiter->lease.token};
    ses_error error;

    (void)pthread_mutex_lock(&waiter->turns->lock);
    waiter->turns->order[waiter->turns->count++] = waiter->number;
    (void)pthread_mutex_unlock(&waiter->turns->lock);
    waiter->code = ses_append_by_key(waiter->store, &key, "{}", SES_NUL, &options, NULL, &waiter->error);
    support_pause_us(1000);
    if (waiter->code == SES_OK)
        waiter->code = ses_append_by_key(waiter->store, &key, "{}", SES_NUL, &options, NULL, &waiter->error);
    if (ses_lease_release(waiter->store, &key, waiter->lease.token, NULL, &error) != SES_OK)
        waiter->code = error.code;
}

static void *wait_for_lease(void *context)
{
    struct waiter *waiter = context;
    char owner[32];

    snprintf(owner, sizeof owner, "waiter %d", waiter->number);
    waiter->code = ses_lease_take(waiter->store, waiter->of ? waiter->of : &key, owner, waiter->options,
                                  &waiter->lease, &waiter->error);
    if (waiter->code == SES_OK && waiter->turns)
        take_turn(waiter);
    atomic_store(&waiter->done, true);
    return NULL;
}

static int count_waiters(ses_store *store)
{
    int count = 0;

    (void)pthread_mutex_lock(&store->leases.lock);
    for (const struct lease_waiter *at = store->leases.waiters; at; at = at->next)
        count++;
    (void)pthread_mutex_unlock(&store->leases.lock);
    return count;
}

/* Returns when the thread is in the queue, or has given up before this one had its turn. */
static void start_waiter(struct waiter *waiter, ses_store *store, int number)
{
    const int before = count_waiters(store);

    *waiter = (struct waiter){.store = store,
                              .of = waiter->of,
                              .options = waiter->options,
                              .turns = waiter->turns,
                              .number = number};
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_lease, waiter), 0);
    while (count_waiters(store) == before && !atomic_load(&waiter->done))
        support_pause_us(100);
}

static void start_waiters(struct waiter waiters[WAITERS], ses_store *store, struct turn_list *turns)
{
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){.options = &patient, .turns = turns};
        start_waiter(&waiters[i], store, i);
    }
}

static void join_waiter(struct waiter *waiter)
{
    assert_int_equal(pthread_join(waiter->thread, NULL), 0);
}

static void join_all(struct waiter waiters[WAITERS], int code)
{
    for (int i = 0; i < WAITERS; i++) {
        join_waiter(&waiters[i]);
        if (waiters[i].code != code)
            print_error("waiter %d: %s\n", i, waiters[i].error.message);
        assert_int_equal(waiters[i].code, code);
    }
}

/* ---------------------------------------------------------------------------------------------- order */

#define WAITING_TEST(name) TEST_WITH(struct waiting *waiting, setup, teardown, name)

WAITING_TEST(twelve_waiters_are_served_in_the_order_in_which_they_came)
{
    struct turn_list turns = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiter waiters[WAITERS];
    ses_lease lease = must_take(waiting->store, "first");

    start_waiters(waiters, waiting->store, &turns);
    must_release(waiting->store, lease.token);
    join_all(waiters, SES_OK);
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(turns.order[i], i);
    ses_session *session = must_get(waiting->store, &key);
    assert_int_equal(ses_session_event_count(session), 2 * WAITERS);
}

WAITING_TEST(a_newcomer_does_not_overtake_those_who_wait)
{
    struct turn_list turns = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiter waiters[WAITERS];
    ses_lease lease = must_take(waiting->store, "first");

    start_waiters(waiters, waiting->store, &turns);
    must_release(waiting->store, lease.token);
    assert_ok(ses_lease_take(waiting->store, &key, "late", &patient, &lease, &error));
    assert_int_equal(turns.count, WAITERS);
    join_all(waiters, SES_OK);
}

WAITING_TEST(an_owner_extends_its_lease_while_others_wait)
{
    struct waiter waiter = {.options = &patient};
    ses_lease lease = must_take(waiting->store, "first");

    start_waiter(&waiter, waiting->store, 1);
    assert_int_equal(must_take(waiting->store, "first").token, lease.token);
    must_release(waiting->store, lease.token);
    join_waiter(&waiter);
    assert_int_equal(waiter.code, SES_OK);
    assert_true(waiter.lease.token > lease.token);
}

WAITING_TEST(one_that_gives_up_lets_the_next_go_on)
{
    const ses_lease_options brief = {.size = sizeof brief, .wait_ms = 60};
    struct waiter first = {.options = &brief};
    struct waiter second = {.options = &patient};
    ses_lease lease = must_take(waiting->store, "holder");

    start_waiter(&first, waiting->store, 1);
    start_waiter(&second, waiting->store, 2);
    join_waiter(&first);
    assert_int_equal(first.code, SES_BUSY);
    must_release(waiting->store, lease.token);
    join_waiter(&second);
    assert_int_equal(second.code, SES_OK);
}

WAITING_TEST(those_who_wait_for_one_session_do_not_hold_up_those_of_another)
{
    static const ses_key other = {"app", "user", "another"};
    struct waiter one = {.options = &patient};
    struct waiter two = {.options = &patient, .of = &other};
    ses_lease lease;

    must_create(waiting->store, &other, NULL);
    (void)must_take(waiting->store, "a");
    assert_ok(ses_lease_take(waiting->store, &other, "a", &at_once, &lease, &error));
    start_waiter(&one, waiting->store, 1);
    start_waiter(&two, waiting->store, 2);
    assert_ok(ses_lease_release(waiting->store, &other, lease.token, NULL, &error));
    join_waiter(&two);
    assert_int_equal(two.code, SES_OK);
    assert_int_equal(count_waiters(waiting->store), 1);
    assert_ok(ses_store_interrupt(waiting->store, &error));
    join_waiter(&one);
    assert_int_equal(one.code, SES_INTERRUPTED);
}

/* ---------------------------------------------------------------------------------------- how it ends */

WAITING_TEST(waiting_ends_with_busy_after_its_time)
{
    const ses_lease_options brief = {.size = sizeof brief, .wait_ms = 70};
    ses_lease lease = must_take(waiting->store, "a");
    int64_t begun = support_steady_us();

    assert_code(SES_BUSY, ses_lease_take(waiting->store, &key, "b", &brief, &lease, &error));
    assert_true(support_steady_us() - begun >= 70000);
    assert_message("waited ");
}

WAITING_TEST(waiting_takes_as_long_as_the_busy_timeout_by_default)
{
    ses_lease lease = must_take(waiting->second, "a");

    /* a server is given no longer for each statement */
    const int timeout_ms = support_on_server() ? 1500 : 80;
    waiting->fixture->options.busy_timeout_ms = timeout_ms;
    fixture_reopen(waiting->fixture);
    int64_t begun = support_steady_us();
    assert_code(SES_BUSY, ses_lease_take(waiting->fixture->store, &key, "b", NULL, &lease, &error));
    assert_in_range(support_steady_us() - begun, timeout_ms * 1000, timeout_ms * 1000 + 5000000);
}

WAITING_TEST(a_lease_that_runs_out_is_found_by_those_who_wait)
{
    struct waiter waiter = {.options = &patient};
    ses_lease lease = must_take(waiting->store, "a");

    start_waiter(&waiter, waiting->store, 1);
    atomic_store(&waiting->now, lease.until_us);
    join_waiter(&waiter);
    assert_int_equal(waiter.code, SES_OK);
    assert_int_equal(waiter.lease.until_us, lease.until_us + 60000000);
}

WAITING_TEST(an_interrupt_ends_those_who_wait_and_nobody_later)
{
    struct turn_list turns = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiter waiters[WAITERS];
    ses_lease lease = must_take(waiting->store, "a");

    start_waiters(waiters, waiting->store, &turns);
    support_pause_us(100000); /* the first has precedence by now */
    assert_ok(ses_store_interrupt(waiting->store, &error));
    join_all(waiters, SES_INTERRUPTED);
    must_release(waiting->store, lease.token);
    (void)must_take(waiting->second, "b"); /* no precedence is left */
}

WAITING_TEST(close_ends_those_who_wait)
{
    struct turn_list turns = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiter waiters[WAITERS];

    (void)must_take(waiting->store, "a");
    start_waiters(waiters, waiting->store, &turns);
    ses_close(waiting->store);
    waiting->fixture->store = NULL;
    join_all(waiters, SES_INTERRUPTED);
}

static void delete_by(int how, ses_store *store)
{
    const ses_expire_options late = {.size = sizeof late, .now_us = &(int64_t){INT64_C(4102444800000001)}};
    const int64_t expires = INT64_C(4102444800000000);
    ses_error error;

    if (how == 0) {
        must_delete(store, &key);
    } else if (how == 1) {
        assert_ok(ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    } else if (how == 2) {
        assert_ok(ses_delete_app(store, "app", NULL, NULL, &error));
    } else {
        assert_ok(ses_expiry_set_by_key(store, &key, &expires, NULL, &error));
        assert_ok(ses_store_expire(store, NULL, &late, NULL, &error));
    }
}

WAITING_TEST(deleting_the_session_ends_those_who_wait)
{
    struct turn_list turns = {.lock = PTHREAD_MUTEX_INITIALIZER};

    for (int how = 0; how < 4; how++) {
        struct waiter waiters[WAITERS];
        (void)must_take(waiting->store, "a");
        start_waiters(waiters, waiting->store, &turns);
        delete_by(how, waiting->store);
        join_all(waiters, SES_NOTFOUND);
        must_create(waiting->store, &key, NULL);
    }
}

/* ------------------------------------------------------------------------------------ other processes */

/* The waiter with precedence, from the row of the lease; free it. */
static char *next_owner(const struct waiting *waiting)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;

    support_need_file();
    assert_int_equal(sqlite3_open(waiting->fixture->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT coalesce(next_owner, '') FROM session_leases", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    char *owner = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return owner;
}

static void await_precedence(const struct waiting *waiting, const char *owner)
{
    bool has = false;

    while (!has) {
        char *now = next_owner(waiting);
        has = strcmp(now, owner) == 0;
        free(now);
        support_pause_us(1000);
    }
}

WAITING_TEST(a_release_by_another_process_is_found)
{
    struct waiter waiter = {.options = &patient};
    ses_lease lease = must_take(waiting->second, "theirs");

    start_waiter(&waiter, waiting->store, 1);
    must_release(waiting->second, lease.token);
    join_waiter(&waiter);
    assert_int_equal(waiter.code, SES_OK);
}

WAITING_TEST(a_waiter_has_precedence_before_other_processes)
{
    struct waiter waiter = {.options = &patient};
    ses_lease lease = must_take(waiting->second, "theirs");

    support_need_file(); /* no later: the thread would outlive the test */
    start_waiter(&waiter, waiting->store, 1);
    await_precedence(waiting, "waiter 1");
    must_release(waiting->second, lease.token);
    int code = ses_lease_take(waiting->second, &key, "theirs", &at_once, &lease, &error);
    assert_int_equal(code, SES_BUSY); /* whether it still is to come, or has come already */
    join_waiter(&waiter);
    assert_int_equal(waiter.code, SES_OK);
    await_precedence(waiting, "");
}

/* One second from now, to one that was killed. */
static void give_precedence(const struct waiting *waiting)
{
    sqlite3 *db = NULL;

    support_need_file();
    assert_int_equal(sqlite3_open(waiting->fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE session_leases SET next_owner = 'killed', next_until_us = "
                                  "1700000001000000",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

WAITING_TEST(precedence_lapses_after_a_second)
{
    ses_lease lease = must_take(waiting->store, "a");

    give_precedence(waiting);
    must_release(waiting->store, lease.token);
    assert_code(SES_BUSY, ses_lease_take(waiting->store, &key, "b", &at_once, &lease, &error));
    assert_message("until 1700000001000000 us");
    assert_code(SES_BUSY, ses_lease_take(waiting->store, &key, "a", &at_once, &lease, &error));
    atomic_fetch_add(&waiting->now, 1000000);
    (void)must_take(waiting->store, "b");
}

static void assert_next_owner(const struct waiting *waiting, const char *expected)
{
    char *owner = next_owner(waiting);
    assert_string_equal(owner, expected);
    free(owner);
}

WAITING_TEST(precedence_outlasts_extensions_and_ends_when_the_lease_is_given)
{
    ses_lease lease = must_take(waiting->store, "a");

    give_precedence(waiting);
    (void)must_take(waiting->store, "a");
    assert_next_owner(waiting, "killed");
    assert_ok(ses_lease_renew(waiting->store, &key, lease.token, NULL, &lease, &error));
    assert_next_owner(waiting, "killed");
    atomic_fetch_add(&waiting->now, INT64_C(3600000000)); /* the lease has run out */
    assert_true(must_take(waiting->store, "a").token == lease.token);
    assert_next_owner(waiting, "");
}

WAITING_TEST(precedence_does_not_last_when_the_clock_is_set_back)
{
    ses_lease lease = must_take(waiting->store, "a");

    give_precedence(waiting);
    must_release(waiting->store, lease.token);
    atomic_fetch_sub(&waiting->now, INT64_C(3600000000));
    (void)must_take(waiting->store, "b");
}

WAITING_TEST(precedence_ends_with_the_waiting)
{
    const ses_lease_options brief = {.size = sizeof brief, .wait_ms = 200};
    struct waiter waiter = {.options = &patient};
    ses_lease lease = must_take(waiting->store, "a");

    support_need_file();
    start_waiter(&waiter, waiting->store, 1);
    await_precedence(waiting, "waiter 1");
    assert_ok(ses_store_interrupt(waiting->store, &error));
    join_waiter(&waiter);
    assert_int_equal(waiter.code, SES_INTERRUPTED);
    await_precedence(waiting, "");
    assert_code(SES_BUSY, ses_lease_take(waiting->store, &key, "c", &brief, &(ses_lease){0}, &error));
    await_precedence(waiting, "");
    must_release(waiting->store, lease.token);
    (void)must_take(waiting->second, "b");
}

/* One look at a time, and nothing is written but who has precedence. */
WAITING_TEST(waiting_costs_little)
{
    struct turn_list turns = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiter waiters[WAITERS];
    ses_stats before = {.size = sizeof before};
    ses_stats after = {.size = sizeof after};
    ses_lease lease = must_take(waiting->store, "a");

    assert_ok(ses_store_stats(waiting->store, &before, &error));
    int64_t begun = support_steady_us();
    start_waiters(waiters, waiting->store, &turns);
    support_pause_us(300000);
    assert_ok(ses_store_stats(waiting->store, &after, &error));
    int64_t looks = (support_steady_us() - begun) / 5000 + 2;
    assert_in_range(after.read_calls - before.read_calls, 5, WAITERS + looks);
    assert_in_range(after.commits - before.commits, 0, 2); /* the clock stands still */
    must_release(waiting->store, lease.token);
    join_all(waiters, SES_OK);
}

static int64_t reads_of_releases(struct waiting *waiting, const ses_key *of, int releases)
{
    ses_stats before = {.size = sizeof before};
    ses_stats after = {.size = sizeof after};
    ses_error error;

    assert_ok(ses_store_stats(waiting->store, &before, &error));
    for (int i = 0; i < releases; i++) {
        ses_lease lease;
        assert_ok(ses_lease_take(waiting->store, of, "b", &at_once, &lease, &error));
        assert_ok(ses_lease_release(waiting->store, of, lease.token, NULL, &error));
        support_pause_us(1000);
    }
    assert_ok(ses_store_stats(waiting->store, &after, &error));
    return after.read_calls - before.read_calls;
}

/* However often the lease of another session is released, one that waits looks no more often for that: after
 * half a second every 30 ms. */
WAITING_TEST(a_release_wakes_nobody_who_waits_for_another_session)
{
    static const ses_key other = {"app", "user", "another"};
    enum { RELEASES = 100 };
    struct waiter waiter = {.options = &patient};
    ses_lease held = must_take(waiting->store, "a");

    must_create(waiting->store, &other, NULL);
    const int64_t alone = reads_of_releases(waiting, &other, RELEASES);
    start_waiter(&waiter, waiting->store, 1);
    support_pause_us(500000);
    const int64_t begun = support_steady_us();
    const int64_t reads = reads_of_releases(waiting, &other, RELEASES);
    assert_in_range(reads, alone, alone + (support_steady_us() - begun) / 30000 + 2);
    must_release(waiting->store, held.token);
    join_waiter(&waiter);
    assert_int_equal(waiter.code, SES_OK);
}

/* The clock stands still a moment before the lease runs out. */
WAITING_TEST(a_lease_that_is_about_to_run_out_is_not_looked_at_without_a_pause)
{
    const ses_lease_options brief = {.size = sizeof brief, .wait_ms = 30};
    ses_stats before = {.size = sizeof before};
    ses_stats after = {.size = sizeof after};
    ses_lease lease = must_take(waiting->store, "a");

    atomic_store(&waiting->now, lease.until_us - 1);
    assert_ok(ses_store_stats(waiting->store, &before, &error));
    assert_code(SES_BUSY, ses_lease_take(waiting->store, &key, "b", &brief, &lease, &error));
    assert_ok(ses_store_stats(waiting->store, &after, &error));
    assert_in_range(after.read_calls - before.read_calls, 2, 32);
    assert_int_equal(after.commits, before.commits); /* it ends before it would have precedence */
}
