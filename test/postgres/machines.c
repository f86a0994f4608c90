/* Programs on more than one machine: pools and processes that know of each other by the server alone. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};
static const ses_key user_key = {.app = "app", .user = "user", .session = NULL};

static ses_store *open_store(const char *place)
{
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    return store;
}

/* ----------------------------------------------------------------------------------------- following */

enum { ROUNDS = 20 };

/* One side of a conversation: it waits for each event of the other, and answers it with its own. */
struct speaker {
    ses_store *store;
    ses_follower *follower;
    int turn; /* events of this parity are its own */
    int code;
    ses_error error;
    pthread_t thread;
};

static int say(struct speaker *speaker, int number)
{
    char event[60];

    snprintf(event, sizeof event, "{\"id\":\"%d\"}", number);
    return ses_append_by_key(speaker->store, &key, event, SES_NUL, NULL, NULL, &speaker->error);
}

static int hear(struct speaker *speaker, int number)
{
    const ses_event *event = NULL;
    const int code = ses_follower_next(speaker->follower, 10000, &event, &speaker->error);

    if (code != SES_ROW)
        return code < 0 ? code : SES_BUSY;
    return atoi(event->id) == number ? SES_OK : SES_INTERNAL;
}

static void *converse(void *context)
{
    struct speaker *speaker = context;

    for (int i = 0; i < ROUNDS && speaker->code == SES_OK; i++) {
        if (i % 2 == speaker->turn)
            speaker->code = say(speaker, i);
        if (speaker->code == SES_OK)
            speaker->code = hear(speaker, i);
    }
    return NULL;
}

SERVER_TEST(two_pools_follow_each_other)
{
    struct speaker speakers[2];

    for (int i = 0; i < 2; i++) {
        speakers[i] = (struct speaker){.store = open_store(database->place), .turn = i};
        /* One follows the session, the other the user. */
        if (i == 0)
            must_create(speakers[0].store, &key, NULL);
        assert_ok(ses_follower_open(speakers[i].store, i == 0 ? &key : &user_key, NULL, &speakers[i].follower,
                                    &error));
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&speakers[i].thread, NULL, converse, &speakers[i]), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(speakers[i].thread, NULL), 0);
        support_assert_code(SES_OK, speakers[i].code, &speakers[i].error, "a speaker", __FILE__, __LINE__);
    }
    must_delete(speakers[1].store, &key);
    const ses_event *event = NULL;
    assert_code(SES_NOTFOUND, ses_follower_next(speakers[0].follower, 10000, &event, &error));
    for (int i = 0; i < 2; i++) {
        ses_follower_close(speakers[i].follower);
        ses_close(speakers[i].store);
    }
}

/* Events that are appended while the follower's connection is killed arrive, each once and in order. */
SERVER_TEST(a_follower_outlives_its_connections)
{
    ses_store *writer = open_store(database->place);
    ses_store *reader = open_store(database->place);
    ses_follower *follower = NULL;
    const ses_event *event = NULL;

    must_create(writer, &key, NULL);
    assert_ok(ses_follower_open(reader, &key, NULL, &follower, &error));
    for (int i = 1; i <= 10; i++) {
        must_append_by_key(writer, &key, "{}");
        database_run(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                               "application_name = 'seslite'");
        assert_code(SES_ROW, ses_follower_next(follower, 10000, &event, &error));
        assert_int_equal(event->seq, i);
    }
    ses_follower_close(follower);
    must_delete(writer, &key);
    ses_close(reader);
    ses_close(writer);
}

/* ------------------------------------------------------------------------------------------ the lease */

enum { PROCESSES = 2, PLAY_US = 1000000 };

static void must(int code, const ses_error *error)
{
    if (code < 0) {
        fprintf(stderr, "%s: %s\n", ses_code_name(code), error->message);
        _exit(255);
    }
}

static void change_busy(ses_store *store, int64_t token, int busy)
{
    const ses_append_options leased = {.size = sizeof leased, .lease = token};
    ses_error error;
    char event[80];

    snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"busy\":%d}}}", busy);
    must(ses_append_by_key(store, &key, event, SES_NUL, &leased, NULL, &error), &error);
}

/* At the beginning of each turn, and at its end, nobody is busy. */
static void take_turn(ses_store *store, const char *owner)
{
    const ses_lease_options patient = {.size = sizeof patient, .wait_ms = 20000};
    ses_lease lease;
    ses_error error;
    char *busy = NULL;

    must(ses_lease_take(store, &key, owner, &patient, &lease, &error), &error);
    must(ses_state_get_by_key(store, &key, "busy", NULL, &busy, NULL, &error), &error);
    if (strcmp(busy, "0") != 0)
        _exit(254);
    ses_free(busy);
    change_busy(store, lease.token, 1);
    change_busy(store, lease.token, 0);
    must(ses_lease_release(store, &key, lease.token, NULL, &error), &error);
}

/* Never returns: it exits with the number of its turns, up to 200. */
static void play(const char *place, int number)
{
    ses_store *store = NULL;
    ses_error error;
    char owner[20];
    int turns = 0;

    must(ses_open_postgres(place, NULL, NULL, &store, &error), &error);
    snprintf(owner, sizeof owner, "process %d", number);
    for (const int64_t until = support_steady_us() + PLAY_US; support_steady_us() < until && turns < 200;
         turns++)
        take_turn(store, owner);
    ses_close(store);
    _exit(turns);
}

SERVER_TEST(processes_take_turns)
{
    pid_t children[PROCESSES];
    int all = 0;

    ses_store *store = open_store(database->place);
    must_create(store, &key, "{\"busy\":0}");
    ses_close(store);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            play(database->place, i);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_in_range(WEXITSTATUS(status), 2, 200);
        all += WEXITSTATUS(status);
    }
    store = open_store(database->place);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_stored(session), 2 * all);
    ses_session_close(session);
    must_delete(store, &key);
    ses_close(store);
}

/* Takes the lease and is killed with it. */
static void take_and_die(const char *place)
{
    const ses_lease_options brief = {.size = sizeof brief, .duration_us = 400000};
    ses_store *store = NULL;
    ses_lease lease;
    ses_error error;

    must(ses_open_postgres(place, NULL, NULL, &store, &error), &error);
    must(ses_lease_take(store, &key, "the dead", &brief, &lease, &error), &error);
    (void)raise(SIGKILL);
}

SERVER_TEST(a_lease_of_a_killed_process_runs_out)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    const ses_lease_options patient = {.size = sizeof patient, .wait_ms = 10000};
    ses_store *store = open_store(database->place);
    ses_lease lease;
    int status = 0;

    must_create(store, &key, NULL);
    const int64_t begun = support_steady_us();
    const pid_t child = fork();
    if (child == 0)
        take_and_die(database->place);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    if (support_steady_us() - begun < 300000)
        assert_code(SES_BUSY, ses_lease_take(store, &key, "the living", &at_once, &lease, &error));
    assert_ok(ses_lease_take(store, &key, "the living", &patient, &lease, &error));
    assert_in_range(support_steady_us() - begun, 390000, 3000000);
    must_delete(store, &key);
    ses_close(store);
}
