/* Threads that append, read and go back at once: every handle shows one moment, and the log explains the
 * state. */
#include <pthread.h>
#include <stdatomic.h>

#include "open.h"

enum { APPENDERS = 2, EVENTS = 150, CHANGES = 60 };

static const ses_key key = {"app", "user", "session"};

struct worker {
    ses_store *store;
    int number;
    atomic_bool *ended; /* the appenders have */
    pthread_t thread;
    int wrong; /* a code that was not to be expected, or 1 */
    char message[600];
};

static void complain(struct worker *worker, const char *doing, int code, const ses_error *error)
{
    if (!worker->wrong)
        snprintf(worker->message, sizeof worker->message, "%s: %s %s", doing, ses_code_name(code),
                 code < 0 ? error->message : "");
    worker->wrong = code ? code : 1;
}

static void *append_events(void *context)
{
    struct worker *worker = context;
    char event[300];
    ses_error error;

    for (int i = 0; i < EVENTS && !worker->wrong; i++) {
        snprintf(event, sizeof event,
                 "{\"invocationId\":\"w%d-%d\",\"author\":\"user\",\"content\":{\"parts\":[{}]},\"actions\":{"
                 "\"stateDelta\":{\"last\":\"w%d-%d\"}}}",
                 worker->number, i, worker->number, i);
        int code = ses_append_by_key(worker->store, &key, event, SES_NUL, NULL, NULL, &error);
        if (code != SES_OK)
            complain(worker, "appending", code, &error);
    }
    return NULL;
}

/* Goes back somehow, to a point that others may have cut away meanwhile. */
static int change(const struct worker *worker, ses_session *session, int i, ses_error *error)
{
    const int64_t last = ses_session_last_seq(session);
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = last > 5 ? last - i % 5 : 0};
    const ses_point turn = {.size = sizeof turn, .kind = SES_POINT_LAST_TURN};
    const ses_key to = {"app", "forks", NULL};
    const ses_fork_options options = {.size = sizeof options, .flags = SES_FORK_OTHER_USER};

    switch (i % 4) {
    case 0:
        return ses_cut(session, &point, NULL, NULL, error);
    case 1:
        return ses_rewind_by_key(worker->store, &key, &turn, NULL, NULL, error);
    case 2:
        return ses_redo(session, NULL, NULL, error);
    default:
        return ses_fork(session, &point, &to, &options, NULL, error);
    }
}

static void *go_back(void *context)
{
    struct worker *worker = context;
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(worker->store, &key, NULL, &session, &error);

    for (int i = 0; i < CHANGES && code == SES_OK && !worker->wrong; i++) {
        int changed = change(worker, session, i, &error);
        if (changed < 0 && changed != SES_STALE && changed != SES_NOTFOUND)
            complain(worker, "going back", changed, &error);
        code = ses_refresh(session, NULL, &error);
    }
    if (code != SES_OK)
        complain(worker, "refreshing", code, &error);
    ses_session_close(session);
    return NULL;
}

/* The last event says what the key is, if it sets it. */
static bool is_one_moment(const ses_session *session)
{
    const size_t count = ses_session_event_count(session);
    const ses_event *event = count > 0 ? ses_session_event(session, count - 1) : NULL;
    const char *json = NULL;
    ses_error error;

    if (ses_session_stored(session) != (int64_t)count)
        return false;
    if (!event)
        return ses_state_count(session) == 0;
    if (event->invocation_id[0] != 'w')
        return true; /* a rewind */
    return ses_state_get_string(session, "last", &json, NULL, &error) == SES_OK &&
           strcmp(json, event->invocation_id) == 0;
}

static void *read_all(void *context)
{
    struct worker *worker = context;
    ses_error error;

    while (!atomic_load(worker->ended) && !worker->wrong) {
        ses_session *session = NULL;
        char *json = NULL;
        int code = ses_get(worker->store, &key, NULL, &session, &error);
        if (code != SES_OK || !is_one_moment(session)) {
            complain(worker, "reading", code, &error);
        } else {
            code = ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error);
            if (code != SES_STALE && (code != SES_OK || strcmp(json, support_state(session, NULL)) != 0))
                complain(worker, "reading as of", code, &error);
        }
        ses_free(json);
        ses_session_close(session);
    }
    return NULL;
}

TEST_FILE_AND_MEMORY(threads)
{
    enum { WORKERS = APPENDERS + 2 };
    static void *(*const work[])(void *) = {append_events, append_events, go_back, read_all};
    struct worker workers[WORKERS];
    atomic_bool ended;
    char *json = NULL;

    atomic_init(&ended, false);
    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.store = fixture->store, .number = i, .ended = &ended};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work[i], &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        if (i == WORKERS - 2)
            atomic_store(&ended, true);
    }
    for (int i = 0; i < WORKERS; i++) {
        if (workers[i].wrong)
            print_error("worker %d: %s\n", i, workers[i].message);
        assert_int_equal(workers[i].wrong, 0);
    }
    ses_session *session = must_get(fixture->store, &key);
    assert_true(is_one_moment(session));
    assert_ok(ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    assert_string_equal(json, support_state(session, NULL));
    ses_free(json);
}
