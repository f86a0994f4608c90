/* Writers, whose primary is lost again and again: the same test on each kind of server. SESLITE_KILLS says
 * how often (2). */
#ifndef SESLITE_TEST_FAILOVER_H
#define SESLITE_TEST_FAILOVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

enum { WRITERS = 8, SESSIONS = 4, TIMEOUT_MS = 5000, SLACK_MS = 1500 };

struct cluster;
struct failover {
    struct cluster *cluster;
    /* Opens the store wherever the primary is. */
    ses_store *(*open)(const struct cluster *cluster, int timeout_ms);
    /* Kills the primary, and puts another server in its place. */
    void (*lose_primary)(struct cluster *cluster);
    int other_code; /* that a call may return while there is no primary; 0: none but the usual ones */
};

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
    int other_code; /* see struct failover */
    atomic_bool *stop;
    char wrong[700];
    pthread_t thread;
};

static bool may_be(const struct writer *writer, int code)
{
    return code == SES_OK || code == SES_DUPLICATE || code == SES_BUSY || code == SES_IO ||
           code == SES_CANTOPEN || code == SES_UNKNOWN || code == writer->other_code;
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
        if (!may_be(writer, code))
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

static void start_writers(struct writer *writers, ses_store **stores, int other_code, atomic_bool *stop)
{
    for (int i = 0; i < WRITERS; i++) {
        writers[i] =
            (struct writer){.store = stores[i % 2], .number = i, .other_code = other_code, .stop = stop};
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

/* The sessions exist. */
static void write_while_primaries_are_lost(const struct failover *failover)
{
    const int kills = (int)support_setting("SESLITE_KILLS", 2);
    struct writer writers[WRITERS];
    ses_store *stores[2];
    atomic_bool stop = false;

    for (int i = 0; i < 2; i++)
        stores[i] = failover->open(failover->cluster, TIMEOUT_MS);
    start_writers(writers, stores, failover->other_code, &stop);
    for (int i = 0; i < kills; i++) {
        support_pause_us(200000 + (long)(support_steady_us() % 800) * 1000);
        failover->lose_primary(failover->cluster);
    }
    support_pause_us(300000);
    atomic_store(&stop, true);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
    report(writers, kills);
    ses_close(stores[0]);
    ses_close(stores[1]);
    stores[0] = failover->open(failover->cluster, 60000);
    look_at_all(stores[0], writers);
    ses_close(stores[0]);
}

#endif
