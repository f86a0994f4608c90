/*
 * The primary is lost under writers, again and again, and a replica that confirmed each commit takes its
 * place: what was acknowledged stays, nothing is stored twice, no call takes longer than it may. A server
 * that is read-only is waited for. SESLITE_KILLS says how often the primary is lost (2).
 */
#include "failover.h"
#include "mysql/cluster.h"

/* MySQL replicates with other statements and plugins. */
static struct cluster *need_mariadb(struct cluster *cluster)
{
    if (!cluster->is_mariadb)
        skip();
    return cluster;
}

static ses_store *open_store(const struct cluster *cluster, int timeout_ms)
{
    return database_open(cluster->uri, timeout_ms);
}

/* ------------------------------------------------------------------------------------ read-only servers */

/* The last try may find no time, or no answer in its time, on a machine that has much to do. */
static void assert_refused(int code, const ses_error *error)
{
    if (code == SES_READONLY)
        assert_non_null(strstr(error->message, "the server is read-only"));
    else
        assert_true(code == SES_BUSY || code == SES_UNKNOWN);
}

static int let_the_replica_go_on(void **state)
{
    const struct cluster *cluster = *state;

    if (cluster->is_mariadb)
        cluster_continue_replica(cluster);
    return 0;
}

#define CLUSTER_TEST(name) GROUP_TEST(struct cluster *cluster, name)

CLUSTER_TEST(a_replica_is_read_and_not_written)
{
    need_mariadb(cluster);
    const ses_key key = {.app = "other", .user = "user", .session = "s"};
    const ses_append_options titled = {.size = sizeof titled, .title = "A title"};
    const ses_key late = {.app = "other", .user = "user", .session = "late"};
    ses_store *stores[2];
    char uri[300];

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
    must_refresh(session);
    assert_int_equal(ses_session_event_count(session), 0);
    ses_session_close(session);
    for (int i = 0; i < 2; i++)
        ses_close(stores[i]);
}

/* A call whose time is over while the server waits for the replica leaves that waiting. If it ended it, the
 * event would be there to be found, and lost with the primary. */
TEST_WITH(struct cluster *cluster, NULL, let_the_replica_go_on,
          what_no_replica_has_confirmed_is_not_acknowledged_later)
{
    need_mariadb(cluster);
    const ses_key key = {.app = "waiting", .user = "user", .session = "s"};
    static const char event[] = "{\"id\":\"e\"}";
    ses_store *store = database_open(cluster->uri, 1500);
    ses_session *session;

    must_create(store, &key, NULL);
    cluster_stop_replica(cluster);
    assert_code(SES_UNKNOWN, ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error));
    support_pause_us(300000); /* for work in the background */
    session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 0);
    ses_session_close(session);
    const int code = ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error);
    assert_true(code == SES_BUSY || code == SES_UNKNOWN);
    cluster_continue_replica(cluster);
    assert_int_equal(ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error), SES_DUPLICATE);
    session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 1);
    ses_session_close(session);
    ses_close(store);
}

CLUSTER_TEST(acknowledged_events_survive_the_loss_of_the_primary)
{
    /* A replica may be in the primary's place already, and still read-only. */
    const struct failover failover = {need_mariadb(cluster), open_store, cluster_fail_over, SES_READONLY};

    write_while_primaries_are_lost(&failover);
}

/* Connections stay on a primary that becomes a replica, and the address leads to the new one only later. */
CLUSTER_TEST(a_write_leaves_a_primary_that_has_become_a_replica)
{
    need_mariadb(cluster);
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

static int teardown(void **state)
{
    cluster_stop(*state);
    return 0;
}

TEST_GROUP(setup, teardown)
