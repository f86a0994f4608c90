/*
 * The primary is lost under writers, again and again, and a standby takes its place: what was acknowledged stays, nothing
 * is stored twice, no call takes longer than it may. SESLITE_KILLS says how often (2).
 */
#include <pthread.h>
#include <stdatomic.h>

#include "cluster.h"
#include "seslite_postgres.h"

enum { WRITERS = 8, SESSIONS = 4, TIMEOUT_MS = 5000, SLACK_MS = 1500 };

static ses_key key_of(int session)
{
    static const char *const names[SESSIONS] = {"s0", "s1", "s2", "s3"};
    return (ses_key){.app = "app", .user = "user", .session = names[session % SESSIONS]};
}

struct writer {
    ses_store *store;
    int number;
    int acknowledged; /* so many events, from the first on */
    int failures;
    int64_t longest_us;
    atomic_bool *stop;
    char wrong[700];
    pthread_t thread;
};

/* What a call may return while there is no primary. */
static bool may_be(int code)
{
    return code == SES_OK || code == SES_DUPLICATE || code == SES_BUSY || code == SES_IO ||
           code == SES_CANTOPEN || code == SES_UNKNOWN;
}

/* Until it is acknowledged. */
static void append_one(struct writer *writer, const char *event)
{
    const ses_key key = key_of(writer->number + writer->acknowledged);
    ses_error error;
    int code;

    do {
        const int64_t begun = support_steady_us();
        code = ses_append_by_key(writer->store, &key, event, SES_NUL, NULL, NULL, &error);
        const int64_t took_us = support_steady_us() - begun;
        writer->failures += code < 0;
        if (took_us > writer->longest_us)
            writer->longest_us = took_us;
        if (!may_be(code))
            snprintf(writer->wrong, sizeof writer->wrong, "%s: %s", ses_code_name(code), error.message);
    } while (code < 0 && !writer->wrong[0]);
}

static void *append_many(void *context)
{
    struct writer *writer = context;

    while (!atomic_load(writer->stop) && !writer->wrong[0]) {
        char event[120];
        snprintf(event, sizeof event, "{\"id\":\"%d-%d\",\"actions\":{\"stateDelta\":{\"user:n%d\":%d}}}",
                 writer->number, writer->acknowledged, writer->number, writer->acknowledged);
        append_one(writer, event);
        writer->acknowledged++;
    }
    return NULL;
}

/* The events of one writer in one session come in their order, each once. */
static void count_events(ses_store *store, int counts[WRITERS])
{
    for (int s = 0; s < SESSIONS; s++) {
        const ses_key key = key_of(s);
        int last[WRITERS];
        ses_session *session = must_get(store, &key);

        for (int w = 0; w < WRITERS; w++)
            last[w] = -1;
        for (size_t i = 0; i < ses_session_event_count(session); i++) {
            int writer = 0;
            int number = 0;
            assert_int_equal(sscanf(ses_session_event(session, i)->id, "%d-%d", &writer, &number), 2);
            assert_true(number > last[writer]);
            last[writer] = number;
            counts[writer]++;
        }
        ses_session_close(session);
    }
}

static void look_at_all(ses_store *store, const struct writer *writers)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int counts[WRITERS] = {0};
    int64_t problems = -1;
    ses_error error;

    count_events(store, counts);
    for (int i = 0; i < WRITERS; i++) {
        if (writers[i].wrong[0])
            fail_msg("%s", writers[i].wrong);
        assert_int_equal(counts[i], writers[i].acknowledged);
        assert_true(writers[i].acknowledged > 0);
        assert_in_range(writers[i].longest_us, 0, (TIMEOUT_MS + SLACK_MS) * 1000);
    }
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
}

static void start_writers(struct writer *writers, ses_store **stores, atomic_bool *stop)
{
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = stores[i % 2], .number = i, .stop = stop};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, append_many, &writers[i]), 0);
    }
}

static void report(const struct writer *writers, int kills)
{
    int64_t longest_us = 0;
    int acknowledged = 0;
    int failures = 0;

    for (int i = 0; i < WRITERS; i++) {
        acknowledged += writers[i].acknowledged;
        failures += writers[i].failures;
        longest_us = writers[i].longest_us > longest_us ? writers[i].longest_us : longest_us;
    }
    printf("%d kills, %d events, %d calls that failed, the longest took %lld ms\n", kills, acknowledged,
           failures, (long long)(longest_us / 1000));
}

static void test_what_is_acknowledged_survives_the_loss_of_the_primary(void **state)
{
    struct cluster *cluster = *state;
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = TIMEOUT_MS};
    const ses_open_options patient = {.size = sizeof patient, .busy_timeout_ms = 60000};
    const char *wanted = getenv("SESLITE_KILLS");
    const int kills = wanted ? atoi(wanted) : 2;
    struct writer writers[WRITERS];
    ses_store *stores[2];
    atomic_bool stop = false;
    ses_error error;

    for (int i = 0; i < 2; i++)
        assert_ok(ses_open_postgres(cluster->everywhere, &options, NULL, &stores[i], &error));
    for (int i = 0; i < SESSIONS; i++) {
        const ses_key key = key_of(i);
        must_create(stores[0], &key, NULL);
    }
    start_writers(writers, stores, &stop);
    for (int i = 0; i < kills; i++) {
        support_pause_us(200000 + (long)(support_steady_us() % 800) * 1000);
        cluster_fail_over(cluster);
    }
    support_pause_us(300000);
    atomic_store(&stop, true);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
    report(writers, kills);
    ses_close(stores[0]);
    ses_close(stores[1]);
    assert_ok(ses_open_postgres(cluster->everywhere, &patient, NULL, &stores[0], &error));
    look_at_all(stores[0], writers);
    ses_close(stores[0]);
}

static void test_a_standby_is_read_and_not_written(void **state)
{
    struct cluster *cluster = *state;
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    const ses_key key = {.app = "other", .user = "user", .session = "s"};
    ses_store *stores[3];
    ses_error error;
    char place[600];

    assert_ok(ses_open_postgres(cluster->everywhere, NULL, NULL, &stores[0], &error));
    must_create(stores[0], &key, "{\"a\":1}");
    const int standby = (cluster->primary + 1) % CLUSTER_NODES;
    cluster_wait_for(cluster, standby, "SELECT count(*) FROM seslite.sessions WHERE name = 's'", "1");
    snprintf(place, sizeof place, "host=%s user=seslite dbname=postgres", cluster->nodes[standby]);
    assert_ok(ses_open_postgres(place, &read_only, NULL, &stores[1], &error));
    assert_ok(ses_open_postgres(place, NULL, NULL, &stores[2], &error));
    for (int i = 1; i < 3; i++) {
        ses_session *session = must_get(stores[i], &key);
        assert_string_equal(support_state(session, NULL), "{\"a\":1}");
        assert_code(SES_READONLY, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
        assert_code(SES_READONLY, ses_delete(stores[i], &key, NULL, NULL, &error));
        assert_ok(ses_refresh(session, NULL, &error));
        ses_session_close(session);
    }
    for (int i = 0; i < 3; i++)
        ses_close(stores[i]);
}

static int setup(void **state)
{
    static struct cluster cluster;

    cluster_start(&cluster);
    *state = &cluster;
    return 0;
}

static int teardown(void **state)
{
    cluster_stop(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_acknowledged_survives_the_loss_of_the_primary),
        cmocka_unit_test(test_a_standby_is_read_and_not_written),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
