/*
 * The primary is lost under writers, again and again, and a standby takes its place: what was acknowledged
 * stays, nothing is stored twice, no call takes longer than it may. SESLITE_KILLS says how often (2).
 */
#include "cluster.h"
#include "failover.h"
#include "seslite_postgres.h"

static ses_store *open_store(const struct cluster *cluster, int timeout_ms)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = timeout_ms};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(cluster->everywhere, &options, NULL, &store, &error));
    return store;
}

GROUP_TEST(struct cluster *cluster, acknowledged_events_survive_the_loss_of_the_primary)
{
    const struct failover failover = {cluster, open_store, cluster_fail_over, 0};
    ses_store *store = open_store(failover.cluster, TIMEOUT_MS);

    for (int i = 0; i < SESSIONS; i++) {
        const ses_key key = key_of(i);
        must_create(store, &key, NULL);
    }
    ses_close(store);
    write_while_primaries_are_lost(&failover);
}

GROUP_TEST(struct cluster *cluster, a_standby_is_read_and_not_written)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    const ses_key key = {.app = "other", .user = "user", .session = "s"};
    ses_store *stores[3];
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
        must_refresh(session);
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

TEST_GROUP(setup, teardown)
