/* Calls that wait for an input: what wakes them, and what ends them. */
#include <pthread.h>
#include <stdatomic.h>

#include "seslite_inbox.h"
#include "session/append.h"

static const ses_key app = {"app", NULL, NULL};
static const ses_key elsewhere = {"app2", "user", "one"};
static const ses_inbox_take_options patient = {.size = sizeof patient, .wait_ms = -1};

static int setup(void **state)
{
    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &elsewhere, NULL);
    return 0;
}

struct worker {
    pthread_t thread;
    ses_store *store;
    const ses_key *whose;
    const ses_inbox_take_options *options;
    int number;
    char request[16]; /* "": none yet */
    ses_lease lease;
    int code;
    int64_t waited_us;
    ses_error error;
};

static void *take_one(void *context)
{
    struct worker *worker = context;
    const int64_t begun_us = support_steady_us();
    ses_inputs *input = NULL;
    char owner[16];

    snprintf(owner, sizeof owner, "w%d", worker->number);
    worker->code = ses_inbox_take(worker->store, worker->whose, owner, worker->options, &input,
                                  &worker->lease, &worker->error);
    worker->waited_us = support_steady_us() - begun_us;
    if (worker->code == SES_OK)
        snprintf(worker->request, sizeof worker->request, "%s", ses_inputs_at(input, 0)->request);
    ses_inputs_close(input);
    return NULL;
}

/* It waits after a moment. */
static void start(struct worker *worker, ses_store *store, const ses_key *whose,
                  const ses_inbox_take_options *options, int number)
{
    *worker = (struct worker){.store = store, .whose = whose, .options = options, .number = number};
    assert_int_equal(pthread_create(&worker->thread, NULL, take_one, worker), 0);
    support_pause_us(20000);
}

static void assert_took(struct worker *worker, const char *request)
{
    assert_int_equal(pthread_join(worker->thread, NULL), 0);
    assert_int_equal(worker->code, SES_OK);
    assert_string_equal(worker->request, request);
}

static void must_add(ses_store *store, const ses_key *of, const char *request)
{
    ses_error error;
    assert_ok(ses_inbox_add(store, of, request, "1", 1, NULL, &error));
}

TEST_OF(setup, an_input_wakes_who_waits_for_it)
{
    struct worker one;
    struct worker all;

    start(&one, fixture->store, &key, &patient, 1);
    start(&all, fixture->store, NULL, &patient, 2);
    must_add(fixture->store, &elsewhere, "r1");
    assert_took(&all, "r1");
    must_add(fixture->store, &key, "r2");
    assert_took(&one, "r2");
}

/* Each of them gets one, though only the first looks. */
TEST_OF(setup, many_workers_share_what_comes)
{
    enum { WORKERS = 6 };
    struct worker workers[WORKERS];
    unsigned seen = 0;

    for (int i = 0; i < WORKERS; i++)
        start(&workers[i], fixture->store, &app, &patient, i);
    for (int i = 0; i < WORKERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        const ses_key of = {"app", "user", name};
        must_create(fixture->store, &of, NULL);
        must_add(fixture->store, &of, name);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].code, SES_OK);
        seen |= 1U << (workers[i].request[1] - '0');
    }
    assert_int_equal(seen, (1U << WORKERS) - 1);
}

TEST_OF(setup, a_lease_that_is_released_wakes)
{
    struct worker first;
    struct worker second;

    must_add(fixture->store, &key, "r1");
    start(&first, fixture->store, &app, &patient, 1);
    assert_took(&first, "r1");
    start(&second, fixture->store, &app, &patient, 2);
    assert_ok(ses_lease_release(fixture->store, &key, first.lease.token, NULL, &error));
    assert_took(&second, "r1");
    assert_true(second.lease.token > first.lease.token);
}

/* A waiter for the inbox does not stand before one for the lease. */
TEST_OF(setup, who_waits_for_the_lease_is_not_held_up)
{
    const ses_lease_options brief = {.size = sizeof brief, .wait_ms = 5000};
    struct worker worker;
    ses_lease lease;

    start(&worker, fixture->store, &key, &patient, 1);
    assert_ok(ses_lease_take(fixture->store, &key, "turn", &brief, &lease, &error));
    must_add(fixture->store, &key, "r1");
    assert_ok(ses_lease_release(fixture->store, &key, lease.token, NULL, &error));
    assert_took(&worker, "r1");
}

/* As of another process. */
TEST_OF(setup, an_input_of_another_store_is_seen_soon)
{
    ses_store *second = must_open(fixture->path, &fixture->options);
    struct worker worker;

    start(&worker, fixture->store, NULL, &patient, 1);
    must_add(second, &key, "r1");
    assert_took(&worker, "r1");
    ses_close(second);
}

TEST_OF(setup, the_time_passes)
{
    const ses_inbox_take_options brief = {.size = sizeof brief, .wait_ms = 30};
    struct worker worker;

    start(&worker, fixture->store, &key, &brief, 1);
    must_add(fixture->store, &elsewhere, "r1");
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_int_equal(worker.code, SES_ABSENT);
    assert_true(worker.waited_us >= 30000);
}

TEST_OF(setup, waiting_is_interrupted)
{
    struct worker first;
    struct worker second;

    start(&first, fixture->store, &app, &patient, 1);
    start(&second, fixture->store, &app, &patient, 2);
    assert_ok(ses_store_interrupt(fixture->store, &error));
    assert_int_equal(pthread_join(first.thread, NULL), 0);
    assert_int_equal(pthread_join(second.thread, NULL), 0);
    assert_int_equal(first.code, SES_INTERRUPTED);
    assert_int_equal(second.code, SES_INTERRUPTED);
}
