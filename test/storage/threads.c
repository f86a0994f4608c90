/* Threads: all kinds of calls on one store at once, and closing it while they are at it. */
#include "open.h"

#include <stdatomic.h>

enum { THREADS = 6 };

static const ses_key shared_key = {"app", "shared", "session"};

/* -------------------------------------------------------------------------------------- mixed calls */

struct worker {
    ses_store *store;
    const char *path;
    int number;
    int rounds;
    int stored;        /* events in the shared session */
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

/* Appends to a session that all threads write, through a handle of its own, which is stale again and
 * again. */
static void use_shared_session(struct worker *worker, ses_session *session, int round)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    char event[200];
    ses_error error;
    int64_t version = ses_session_version(session);
    int code;

    snprintf(event, sizeof event,
             "{\"id\":\"t%d-%d\",\"actions\":{\"stateDelta\":{\"app:t%d\":%d,\"k\":%d,\"temp:r\":%d}}}",
             worker->number, round, worker->number, round, worker->number, round);
    code = ses_append(session, event, SES_NUL, NULL, NULL, &error);
    if (code == SES_STALE) {
        is_fine(worker, "the version after STALE", ses_session_version(session) == version, code, &error);
        code = round % 2 ? ses_refresh(session, NULL, &error) : SES_OK;
        is_fine(worker, "refresh", code == SES_OK, code, &error);
        code = ses_append(session, event, SES_NUL, &anyway, NULL, &error);
    }
    worker->stored += is_fine(worker, "append", code == SES_OK, code, &error);
    is_fine(worker, "what the handle holds",
            ses_session_event_count(session) == (size_t)ses_session_version(session) &&
                ses_session_version(session) > version,
            0, &error);
    int64_t temp = 0;
    code = ses_state_get_int64(session, "temp:r", &temp, &error);
    is_fine(worker, "temp:", code == SES_OK && temp == round, code, &error);
}

/* On a session of its own that nobody else knows. */
static void use_own_session(struct worker *worker, int round)
{
    char name[32];
    ses_error error;
    ses_session *session = NULL;
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int64_t deleted = 0;
    int seen = 0;
    const ses_text events[] = {
        {Q("{'id':'1'}"), SES_NUL}, {Q("{'id':'2'}"), SES_NUL}, {Q("{'id':'3'}"), SES_NUL}};

    snprintf(name, sizeof name, "own-%d-%d", worker->number, round);
    const ses_key key = {"app", "own", name};
    int code = ses_create(worker->store, &key, Q("{'user:x':1,'y':[2]}"), SES_NUL, NULL, &session, &error);
    if (is_fine(worker, "create", code == SES_OK, code, &error)) {
        code = ses_append_batch(session, events, 3, NULL, NULL, &error);
        is_fine(worker, "batch", code == SES_OK && ses_session_stored(session) == 3, code, &error);
        code = ses_cursor_open(worker->store, &key, NULL, &cursor, &error);
        is_fine(worker, "cursor", code == SES_OK, code, &error);
        while (ses_cursor_next(cursor, &event, &error) == SES_ROW)
            seen++;
        code = ses_cursor_close(cursor, &error);
        is_fine(worker, "walk", code == SES_OK && seen == 3, code, &error);
        code = ses_delete(worker->store, &key, NULL, &deleted, &error);
        is_fine(worker, "delete", code == SES_OK && deleted == 1, code, &error);
        code = ses_refresh(session, NULL, &error);
        is_fine(worker, "refresh of a deleted session", code == SES_NOTFOUND, code, &error);
    }
    ses_session_close(session);
}

static void read_shared(struct worker *worker)
{
    ses_page *page = NULL;
    ses_session *session = NULL;
    ses_info info = {.size = sizeof info};
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 3};
    char *json = NULL;
    ses_error error;
    int code = ses_list(worker->store, "app", "shared", NULL, &page, &error);

    is_fine(worker, "list", code == SES_OK && ses_page_count(page) == 1, code, &error);
    ses_page_close(page);
    code = ses_get(worker->store, &shared_key, GET_RANGE(&newest), &session, &error);
    /* One moment: the newest event is the one that the version counts. */
    if (is_fine(worker, "get", code == SES_OK, code, &error) && ses_session_event_count(session) > 0) {
        const ses_event *last = ses_session_event(session, ses_session_event_count(session) - 1);
        is_fine(worker, "one moment", last->seq == ses_session_version(session), code, &error);
    }
    ses_session_close(session);
    code = ses_state_json_by_key(worker->store, &shared_key, NULL, &json, NULL, &error);
    is_fine(worker, "read state", code == SES_OK, code, &error);
    ses_free(json);
    code = ses_store_info(worker->store, &info, &error);
    is_fine(worker, "info", code == SES_OK, code, &error);
}

static void *run_worker(void *context)
{
    struct worker *worker = context;
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(worker->store, &shared_key, NULL, &session, &error);

    if (is_fine(worker, "get", code == SES_OK, code, &error)) {
        for (int round = 1; round <= worker->rounds && !worker->problem[0]; round++) {
            use_shared_session(worker, session, round);
            use_own_session(worker, round);
            read_shared(worker);
        }
    }
    ses_session_close(session);
    return NULL;
}

static void run_workers(struct worker *workers, void *(*run)(void *context))
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(workers[i].problem, "");
}

FOLDER_TEST(all_kinds_of_calls_at_once)
{
    enum { ROUNDS = 25 };
    struct worker workers[THREADS];
    struct counting_memory memory;
    const ses_allocator allocator = counting_allocator(&memory);
    /* Fewer reading connections than threads: they take turns. */
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator, .max_readers = 2};

    ses_store *store = must_open(folder->path, &options);
    must_create(store, &shared_key, NULL);
    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.store = store, .number = i, .rounds = ROUNDS};
    run_workers(workers, run_worker);
    ses_close(store);
    assert_no_blocks(&memory);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT name, version, last_seq, event_count FROM sessions",
                 "session|150|150|150\n");
    assert_query(folder->path, "SELECT count(*), count(DISTINCT id), max(seq) FROM event_log",
                 "150|150|150\n");
    assert_query(folder->path, "SELECT count(*) FROM app_state WHERE value = '25'", "6\n");
}

/* ------------------------------------------------------------------------------------------- opening */

static void *run_opener(void *context)
{
    struct worker *worker = context;
    ses_error error;

    for (int round = 0; round < worker->rounds; round++) {
        ses_store *store = NULL;
        int code = ses_open(worker->path, NULL, &store, &error);
        is_fine(worker, "open", code == SES_OK, code, &error);
        if (code == SES_OK) {
            code = ses_get_or_create(store, &shared_key, NULL, 0, NULL, NULL, &error);
            is_fine(worker, "get or create", code >= 0, code, &error);
            code = ses_append_by_key(store, &shared_key, "{}", 2, NULL, NULL, &error);
            worker->stored += is_fine(worker, "append", code == SES_OK, code, &error);
        }
        ses_close(store);
    }
    return NULL;
}

/* Each thread with a store of its own on the same file, which is new. */
FOLDER_TEST(opening_one_file_at_once)
{
    struct worker workers[THREADS];

    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.path = folder->path, .number = i, .rounds = 10};
    run_workers(workers, run_opener);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT count(*), max(seq) FROM event_log", "60|60\n");
}

/* ------------------------------------------------------------------------------------------- closing */

/* A call that is held in a callback of the application until it is released. */
struct halt {
    atomic_bool armed;
    atomic_bool reached;
    atomic_bool go_on;
    atomic_bool closed; /* ses_close has returned */
    ses_store *store;
    ses_session *session;
    int (*call)(struct halt *halt, ses_error *error);
    int code;
    ses_error error;
    struct counting_memory memory;
};

static void halt_here(struct halt *halt)
{
    if (atomic_exchange(&halt->armed, false)) {
        atomic_store(&halt->reached, true);
        while (!atomic_load(&halt->go_on))
            support_pause_us(1000);
    }
}

static int64_t halting_clock(void *context)
{
    halt_here(context);
    return 1000000;
}

static int halting_id(void *context, char *id, size_t capacity)
{
    static atomic_int made;
    halt_here(context);
    snprintf(id, capacity, "made-%d", atomic_fetch_add(&made, 1));
    return 0;
}

static void *run_halted_call(void *context)
{
    struct halt *halt = context;
    halt->code = halt->call(halt, &halt->error);
    return NULL;
}

static void *run_close(void *context)
{
    struct halt *halt = context;
    ses_close(halt->store);
    atomic_store(&halt->closed, true);
    return NULL;
}

static int halted_create(struct halt *halt, ses_error *error)
{
    const ses_key key = {"app", "user", NULL};
    ses_session *session = NULL;
    int code = ses_create(halt->store, &key, Q("{'k':1}"), SES_NUL, NULL, &session, error);
    ses_session_close(session);
    return code;
}

static int halted_append_by_key(struct halt *halt, ses_error *error)
{
    return ses_append_by_key(halt->store, &shared_key, Q("{'actions':{'stateDelta':{'k':1}}}"), SES_NUL, NULL,
                             NULL, error);
}

static int halted_append(struct halt *halt, ses_error *error)
{
    return ses_append(halt->session, Q("{'actions':{'stateDelta':{'k':1}}}"), SES_NUL, NULL, NULL, error);
}

/* Appends as well, so that its outcome can be seen in the file. */
static int halted_invocation(struct halt *halt, ses_error *error)
{
    int code = ses_invocation_begin(halt->session, NULL, error);
    return code == SES_OK ? halted_append(halt, error) : code;
}

/* Closing waits for a call that is under way, wherever in the library it is; the call ends as it would
 * have. */
static void close_during(const struct folder *folder, int (*call)(struct halt *, ses_error *), bool in_clock,
                         bool with_handle)
{
    struct halt *halt = calloc(1, sizeof *halt);
    assert_non_null(halt);
    const ses_allocator allocator = counting_allocator(&halt->memory);
    ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    pthread_t caller;
    pthread_t closer;
    ses_error error;

    halt->call = call;
    if (in_clock) {
        options.clock = halting_clock;
        options.clock_context = halt;
    } else {
        options.make_id = halting_id;
        options.make_id_context = halt;
    }
    assert_ok(ses_open(folder->path, &options, &halt->store, &error));
    assert_ok(
        ses_create(halt->store, &shared_key, NULL, 0, NULL, with_handle ? &halt->session : NULL, &error));
    atomic_store(&halt->armed, true);
    assert_int_equal(pthread_create(&caller, NULL, run_halted_call, halt), 0);
    while (!atomic_load(&halt->reached))
        support_pause_us(1000);
    assert_int_equal(pthread_create(&closer, NULL, run_close, halt), 0);
    support_pause_us(100000);
    /* After a failure the call stays held and its memory is not freed, because it would use freed memory if
     * it went on. */
    assert_false(atomic_load(&halt->closed));
    atomic_store(&halt->go_on, true);
    assert_int_equal(pthread_join(caller, NULL), 0);
    assert_int_equal(pthread_join(closer, NULL), 0);
    if (halt->code != SES_OK)
        assert_int_equal(halt->code, SES_MISUSE);
    ses_session_close(halt->session);
    assert_no_blocks(&halt->memory);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM sessions) - 1",
                 halt->code == SES_OK ? "1\n" : "0\n");
    free(halt);
}

FOLDER_TEST(close_during_the_making_of_an_id)
{
    close_during(folder, halted_create, false, false);
}

FOLDER_TEST(close_during_a_look_at_the_clock)
{
    close_during(folder, halted_create, true, false);
}

FOLDER_TEST(close_during_an_append_by_key)
{
    close_during(folder, halted_append_by_key, true, false);
}

FOLDER_TEST(close_during_an_append_through_a_handle)
{
    close_during(folder, halted_append, true, true);
}

FOLDER_TEST(close_during_the_beginning_of_an_invocation)
{
    close_during(folder, halted_invocation, false, true);
}

/* Handles closed by threads at the same moment as their store: the last one frees it. */
struct closer {
    atomic_int *waiting;
    ses_session *session;
    ses_page *page;
    ses_cursor *cursor;
    pthread_t thread;
};

static void *run_handle_closer(void *context)
{
    struct closer *closer = context;
    atomic_fetch_sub(closer->waiting, 1);
    while (atomic_load(closer->waiting) > 0)
        ;
    ses_session_close(closer->session);
    ses_page_close(closer->page);
    (void)ses_cursor_close(closer->cursor, NULL);
    return NULL;
}

FOLDER_TEST(handles_and_store_closed_at_once)
{
    for (int round = 0; round < 20; round++) {
        struct counting_memory memory;
        const ses_allocator allocator = counting_allocator(&memory);
        const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
        struct closer closers[THREADS];
        atomic_int waiting = THREADS + 1;
        ses_store *store = NULL;

        assert_ok(ses_open(folder->path, &options, &store, &error));
        assert_in_range(ses_get_or_create(store, &shared_key, NULL, 0, NULL, NULL, &error), 0, SES_EXISTING);
        for (int i = 0; i < THREADS; i++) {
            closers[i] = (struct closer){.waiting = &waiting};
            closers[i].session = must_get(store, &shared_key);
            assert_ok(ses_list(store, "app", NULL, NULL, &closers[i].page, &error));
            assert_ok(ses_cursor_open(store, &shared_key, NULL, &closers[i].cursor, &error));
            assert_int_equal(pthread_create(&closers[i].thread, NULL, run_handle_closer, &closers[i]), 0);
        }
        atomic_fetch_sub(&waiting, 1);
        while (atomic_load(&waiting) > 0)
            ;
        ses_close(store);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(closers[i].thread, NULL), 0);
        assert_no_blocks(&memory);
    }
}
