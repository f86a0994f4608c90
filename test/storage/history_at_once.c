/*
 * Several threads, and several processes that are killed, append to one session and read it while others
 * rewind, cut, prune and fork it. Each event notes its own id in the state: so whoever reads sees whether
 * state and events belong to one moment.
 */
#include "open.h"
#include "random.h"

#include <signal.h>

static const ses_key key = {"app", "user", "session"};

struct worker {
    const char *path;
    ses_store *store;
    int number;
    int rounds; /* INT_MAX: until it is killed */
    bool checks;
    uint64_t random;
    char problem[640]; /* the first thing that went wrong */
    pthread_t thread;
};

static bool is_fine(struct worker *worker, const char *doing, bool fine, int code, const ses_error *error)
{
    if (!fine && !worker->problem[0])
        snprintf(worker->problem, sizeof worker->problem, "%s: %s %s", doing, ses_code_name(code),
                 code < 0 ? error->message : "");
    return fine;
}

/* ---------------------------------------------------------------------------------------------- reading */

/* The value of the key `last` in the newest event that changes it, or nothing. */
static bool find_last(const ses_session *session, const char **value, size_t *len)
{
    static const char name[] = "\"last\":\"";

    for (size_t i = ses_session_event_count(session); i > 0; i--) {
        const char *at = strstr(ses_session_event(session, i - 1)->json, name);
        if (at) {
            *value = at + sizeof name - 1;
            *len = strcspn(*value, "\"");
            return true;
        }
    }
    return false;
}

static void read_one_moment(struct worker *worker)
{
    ses_session *session = NULL;
    const char *expected = NULL;
    const char *found = NULL;
    size_t expected_len = 0;
    size_t found_len = 0;
    ses_error error;
    int code = ses_get(worker->store, &key, NULL, &session, &error);

    if (is_fine(worker, "get", code == SES_OK, code, &error)) {
        code = ses_state_get_string(session, "last", &found, &found_len, &error);
        is_fine(worker, "state", code >= 0, code, &error);
        is_fine(worker, "count", (int64_t)ses_session_event_count(session) == ses_session_stored(session), 0,
                &error);
        if (find_last(session, &expected, &expected_len)) {
            bool removed = strncmp(expected, "__ADK_SENTINEL", 14) == 0;
            bool same = found && found_len == expected_len && memcmp(found, expected, found_len) == 0;
            is_fine(worker, "one moment", removed ? code == SES_ABSENT : same, code, &error);
        }
    }
    ses_session_close(session);
}

/* A cursor sees a log without holes, or is told to begin again. */
static void walk(struct worker *worker)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_cursor_options options = {.size = sizeof options, .range = &live};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int64_t before = 0;
    ses_error error;
    int code = ses_cursor_open(worker->store, &key, &options, &cursor, &error);

    if (!is_fine(worker, "open a cursor", code == SES_OK, code, &error))
        return;
    while (ses_cursor_next(cursor, &event, &error) == SES_ROW) {
        is_fine(worker, "order", event->seq > before, 0, &error);
        before = event->seq;
    }
    code = ses_cursor_close(cursor, &error);
    is_fine(worker, "walk", code == SES_OK || code == SES_STALE, code, &error);
}

/* --------------------------------------------------------------------------------------------- changing */

static void append_turn(struct worker *worker, int round)
{
    char event[300];
    ses_error error;

    for (int i = 0; i < 2; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"w%d-%d-%d\",\"invocationId\":\"w%d-%d\",\"author\":\"%s\","
                 "\"content\":{\"parts\":[{\"text\":\"hi\"}]},"
                 "\"actions\":{\"stateDelta\":{\"last\":\"w%d-%d-%d\",\"k%d\":%d}}}",
                 worker->number, round, i, worker->number, round, i ? "agent" : "user", worker->number, round,
                 i, worker->number, round);
        int code = ses_append_by_key(worker->store, &key, event, SES_NUL, NULL, NULL, &error);
        is_fine(worker, "append", code == SES_OK || code == SES_DUPLICATE, code, &error);
    }
}

/* Others change the log meanwhile, so that a point may be gone, or lie inside an invocation by now. */
static bool may_be(int code)
{
    return code >= 0 || code == SES_NOTFOUND || code == SES_INVALID;
}

static ses_point random_point(struct worker *worker)
{
    ses_point point = {.size = sizeof point, .kind = SES_POINT_LAST_TURN};
    ses_error error;

    if (random_below(&worker->random, 2)) {
        ses_session *session = NULL;
        int code = ses_get(worker->store, &key, NULL, &session, &error);
        if (is_fine(worker, "get", code == SES_OK, code, &error)) {
            int64_t last = ses_session_last_seq(session);
            int64_t back = (int64_t)random_below(&worker->random, 12);
            point.kind = SES_POINT_SEQ;
            point.seq = last > back ? last - back : 0;
        }
        ses_session_close(session);
    }
    return point;
}

static void rewind_or_redo(struct worker *worker)
{
    const ses_point point = random_point(worker);
    ses_error error;
    int code = random_below(&worker->random, 3)
                   ? ses_rewind_by_key(worker->store, &key, &point, NULL, NULL, &error)
                   : ses_redo_by_key(worker->store, &key, NULL, NULL, &error);
    is_fine(worker, "rewind", may_be(code), code, &error);
}

static void cut(struct worker *worker)
{
    const ses_point point = random_point(worker);
    ses_error error;
    int code = ses_cut_by_key(worker->store, &key, &point, NULL, NULL, &error);
    is_fine(worker, "cut", may_be(code), code, &error);
}

static void prune(struct worker *worker)
{
    const ses_prune_options options = {.size = sizeof options,
                                       .which = SES_PRUNE_KEEP,
                                       .keep = (int64_t)random_below(&worker->random, 60),
                                       .limit = 10};
    ses_error error;
    int code = ses_prune_by_key(worker->store, &key, &options, NULL, &error);
    is_fine(worker, "prune", code >= 0, code, &error);
}

static void fork_and_delete(struct worker *worker)
{
    const ses_point point = random_point(worker);
    char name[32];
    ses_error error;

    snprintf(name, sizeof name, "fork-%d", worker->number);
    const ses_key to = {"app", "user", name};
    int code = ses_delete(worker->store, &to, NULL, NULL, &error);
    is_fine(worker, "delete", code == SES_OK, code, &error);
    code = ses_fork_by_key(worker->store, &key, &point, &to, NULL, NULL, &error);
    is_fine(worker, "fork", may_be(code), code, &error);
}

static void take_round(struct worker *worker, int round)
{
    switch (random_below(&worker->random, 10)) {
    case 0:
    case 1:
        rewind_or_redo(worker);
        break;
    case 2:
        cut(worker);
        break;
    case 3:
        prune(worker);
        break;
    case 4:
        fork_and_delete(worker);
        break;
    case 5:
        walk(worker);
        break;
    default:
        append_turn(worker, round);
    }
    if (worker->checks)
        read_one_moment(worker);
}

static void *run_worker(void *context)
{
    struct worker *worker = context;
    for (int round = 1; round <= worker->rounds && !worker->problem[0]; round++)
        take_round(worker, round);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ checks */

static int64_t number_of(const char *path, const char *sql)
{
    char *text = raw_text(path, sql);
    int64_t number = strtoll(text, NULL, 10);
    free(text);
    return number;
}

/* A replay of the log leads to the stored state, and the counts are right. */
static void assert_log_explains_state(const char *path)
{
    ses_page *page = NULL;
    char *json = NULL;
    ses_error error;

    assert_sound(path);
    assert_int_equal(number_of(path, "SELECT count(*) FROM sessions AS s WHERE s.event_count <>"
                                     " (SELECT count(*) FROM events WHERE session_id = s.id)"),
                     0);
    ses_store *store = must_open(path, NULL);
    assert_ok(ses_list(store, "app", NULL, NULL, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++) {
        const ses_session *session = ses_page_session(page, i);
        const ses_key own = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
        assert_ok(ses_state_json_as_of_by_key(store, &own, NULL, NULL, &json, NULL, &error));
        assert_string_equal(json, support_state(session, NULL)); /* there are no shared keys */
        ses_free(json);
    }
    ses_page_close(page);
    ses_close(store);
}

FOLDER_TEST(threads_that_change_one_log)
{
    enum { THREADS = 6, ROUNDS = 150 };
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    struct worker workers[THREADS];

    ses_store *store = must_open(folder->path, &options);
    must_create(store, &key, Q("{'begin':1}"));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){
            .store = store, .number = i, .rounds = ROUNDS, .checks = true, .random = (uint64_t)i + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    ses_close(store);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(workers[i].problem, "");
    assert_log_explains_state(folder->path);
}

/* In a child. */
static int run_process(void *context)
{
    struct worker *worker = context;
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_error error;
    int code = ses_open(worker->path, &options, &worker->store, &error);

    if (is_fine(worker, "open", code == SES_OK, code, &error))
        (void)run_worker(worker);
    ses_close(worker->store);
    if (worker->problem[0])
        fprintf(stderr, "process %d: %s\n", worker->number, worker->problem);
    return worker->problem[0] ? 1 : 0;
}

FOLDER_TEST(processes_that_change_one_log_and_are_killed)
{
    enum { CHILDREN = 3, ROUNDS = 6 };

    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, Q("{'begin':1}"));
    ses_close(store);
    for (int round = 0; round < ROUNDS; round++) {
        struct worker killed = {
            .path = folder->path, .number = round, .rounds = 100000, .random = (uint64_t)round + 7};
        struct worker workers[CHILDREN];
        pid_t children[CHILDREN];
        pid_t victim = child_start(run_process, &killed);
        for (int i = 0; i < CHILDREN; i++) {
            workers[i] = (struct worker){.path = folder->path,
                                         .number = 100 * round + 10 + i,
                                         .rounds = 30,
                                         .checks = true,
                                         .random = (uint64_t)(round * 10 + i)};
            children[i] = child_start(run_process, &workers[i]);
        }
        support_pause_us(30000 + round * 1700);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(child_end(victim), -1);
        for (int i = 0; i < CHILDREN; i++)
            assert_int_equal(child_end(children[i]), 0);
        assert_log_explains_state(folder->path);
    }
}
