/*
 * The primary is lost under writers, again and again, and a replica that confirmed each commit takes its place: what was
 * acknowledged stays, nothing is stored twice, no call takes longer than it may. A server that is read-only is waited for.
 * SESLITE_KILLS says how often the primary is lost (2).
 */
#include <pthread.h>
#include <stdatomic.h>

#include "mysql/cluster.h"

enum { WRITERS = 8, SESSIONS = 4, TIMEOUT_MS = 5000, SLACK_MS = 1500 };

/* MySQL replicates with other statements and plugins. */
static struct cluster *need_mariadb(void **state)
{
    struct cluster *cluster = *state;

    if (!cluster->is_mariadb)
        skip();
    return cluster;
}

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
    int unknown; /* of these */
    int64_t longest_us;
    atomic_bool *stop;
    char wrong[700];
    pthread_t thread;
};

/* What a call may return while there is no primary, or a replica is in its place. */
static bool may_be(int code)
{
    return code == SES_OK || code == SES_DUPLICATE || code == SES_BUSY || code == SES_IO ||
           code == SES_CANTOPEN || code == SES_UNKNOWN || code == SES_READONLY;
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
        writer->unknown += code == SES_UNKNOWN;
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
    int unknown = 0;

    for (int i = 0; i < WRITERS; i++) {
        acknowledged += writers[i].acknowledged;
        failures += writers[i].failures;
        unknown += writers[i].unknown;
        longest_us = writers[i].longest_us > longest_us ? writers[i].longest_us : longest_us;
    }
    printf(
        "%d kills, %d events, %d calls that failed, %d of them with an unknown outcome, the longest took %lld ms\n",
        kills, acknowledged, failures, unknown, (long long)(longest_us / 1000));
}

static void test_what_is_acknowledged_survives_the_loss_of_the_primary(void **state)
{
    struct cluster *cluster = need_mariadb(state);
    const char *wanted = getenv("SESLITE_KILLS");
    const int kills = wanted ? atoi(wanted) : 2;
    struct writer writers[WRITERS];
    ses_store *stores[2];
    atomic_bool stop = false;

    for (int i = 0; i < 2; i++)
        stores[i] = database_open(cluster->uri, TIMEOUT_MS);
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
    stores[0] = database_open(cluster->uri, 60000);
    look_at_all(stores[0], writers);
    ses_close(stores[0]);
}

/* ------------------------------------------------------------------------------------ read-only servers */

/* The last try, too, may find no time on a machine that has much to do. */
static void assert_refused(int code, const ses_error *error)
{
    if (code == SES_READONLY)
        assert_non_null(strstr(error->message, "the server is read-only"));
    else
        assert_int_equal(code, SES_BUSY);
}

static void test_a_replica_is_read_and_not_written(void **state)
{
    struct cluster *cluster = need_mariadb(state);
    const ses_key key = {.app = "other", .user = "user", .session = "s"};
    const ses_append_options titled = {.size = sizeof titled, .title = "A title"};
    const ses_key late = {.app = "other", .user = "user", .session = "late"};
    ses_store *stores[2];
    char uri[300];
    ses_error error;

    stores[0] = database_open(cluster->uri, TIMEOUT_MS);
    must_create(stores[0], &key, "{\"a\":1}");
    cluster_address(cluster, cluster_other(cluster), uri, sizeof uri);
    cluster_wait_for_replica(cluster); /* a commit is confirmed before the replica has applied it */
    stores[1] = database_open(uri, 1000);
    ses_session *session = must_get(stores[1], &key);
    assert_string_equal(support_state(session, NULL), "{\"a\":1}");
    const int64_t begun_us = support_steady_us();
    assert_refused(ses_append(session, "{}", SES_NUL, NULL, NULL, &error), &error);
    assert_in_range(support_steady_us() - begun_us, 400000, 1000000 + SLACK_MS * 1000);
    assert_refused(ses_delete(stores[1], &key, NULL, NULL, &error), &error);
    /* It would look first. The primary may have what the replica lacks. */
    assert_refused(ses_append_by_key(stores[1], &late, "{}", SES_NUL, &titled, NULL, &error), &error);
    assert_ok(ses_refresh(session, NULL, &error));
    assert_int_equal(ses_session_event_count(session), 0);
    ses_session_close(session);
    for (int i = 0; i < 2; i++)
        ses_close(stores[i]);
}

/* Connections stay on a primary that becomes a replica, and the address leads to the new one only later. */
static void test_a_write_leaves_a_primary_that_has_become_a_replica(void **state)
{
    struct cluster *cluster = need_mariadb(state);
    const ses_key key = key_of(0);
    ses_store *store = database_open(cluster->uri, 30000);
    atomic_bool stop = false;
    struct writer writer = {.store = store, .stop = &stop, .acknowledged = 1000000}; /* ids of its own */
    char count[20];

    must_append_by_key(store, &key, "{\"id\":\"before\"}");
    cluster_run(cluster, cluster->primary, "SET GLOBAL read_only = 1");
    assert_int_equal(pthread_create(&writer.thread, NULL, append_many, &writer), 0);
    support_pause_us(500000);
    assert_int_equal(writer.acknowledged, 1000000); /* it waits */
    cluster_promote(cluster);
    cluster_lead_to(cluster, cluster->primary);
    cluster_add_replica(cluster);
    support_pause_us(500000);
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(writer.thread, NULL), 0);
    if (writer.wrong[0])
        fail_msg("%s", writer.wrong);
    assert_true(writer.acknowledged > 1000000);
    cluster_ask(cluster, cluster->primary,
                "SELECT count(*) FROM agents.seslite_events WHERE id = '0-1000000'", 0, count, sizeof count);
    assert_string_equal(count, "1");
    ses_close(store);
}

/* A call whose time is over while the server waits for the replica leaves that waiting. If it ended it, the event would be there to
 * be found, and lost with the primary. */
static void test_what_no_replica_has_confirmed_is_not_acknowledged_later(void **state)
{
    struct cluster *cluster = need_mariadb(state);
    const ses_key key = {.app = "waiting", .user = "user", .session = "s"};
    static const char event[] = "{\"id\":\"e\"}";
    ses_store *store = database_open(cluster->uri, 1500);
    ses_session *session;
    ses_error error;

    must_create(store, &key, NULL);
    cluster_signal_replica(cluster, SIGSTOP);
    assert_code(SES_UNKNOWN, ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error));
    support_pause_us(300000); /* what the library does in the background */
    session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 0);
    ses_session_close(session);
    const int code = ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error);
    assert_true(code == SES_BUSY || code == SES_UNKNOWN);
    cluster_signal_replica(cluster, SIGCONT);
    assert_int_equal(ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error), SES_DUPLICATE);
    session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 1);
    ses_session_close(session);
    ses_close(store);
}

static int setup(void **state)
{
    static struct cluster cluster;

    cluster_start(&cluster);
    *state = &cluster;
    if (!cluster.is_mariadb)
        return 0;
    ses_store *store = database_open(cluster.uri, 60000);
    for (int i = 0; i < SESSIONS; i++) {
        const ses_key key = key_of(i);
        must_create(store, &key, NULL);
    }
    ses_close(store);
    return 0;
}

static int let_the_replica_go_on(void **state)
{
    const struct cluster *cluster = *state;

    if (cluster->is_mariadb)
        cluster_signal_replica(cluster, SIGCONT);
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
        cmocka_unit_test(test_a_replica_is_read_and_not_written),
        cmocka_unit_test_teardown(test_what_no_replica_has_confirmed_is_not_acknowledged_later,
                                  let_the_replica_go_on),
        cmocka_unit_test(test_what_is_acknowledged_survives_the_loss_of_the_primary),
        cmocka_unit_test(test_a_write_leaves_a_primary_that_has_become_a_replica),
    };
    return cmocka_run_group_tests_name("failover", tests, setup, teardown);
}
