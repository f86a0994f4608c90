/* Counters that several sessions of a user share: no step is lost, between threads and between processes. */
#include "open.h"

enum { WORKERS = 8, STEPS = UNDER_TSAN ? 100 : 1000 };

struct worker {
    int (*count)(struct worker *worker, ses_error *error); /* one step; a negative code */
    ses_store *store;
    const char *path;
    int number;
    char name[16];
    ses_key key; /* of a session of its own */
    ses_session *session;
    ses_tracked *view;
    char problem[640];
    pthread_t thread;
};

/* -------------------------------------------------------------------------------------------- one step */

/* As lib/agent/README.md shows it. */
static int count_through_view(struct worker *worker, ses_error *error)
{
    int code = SES_OK;

    do {
        int64_t n = 0;
        if (code == SES_STALE && (code = ses_refresh(worker->session, NULL, error)) < 0)
            break;
        ses_tracked_discard(worker->view);
        code = ses_tracked_get_int64(worker->view, "user:n", &n, error);
        if (code < 0)
            break;
        code = ses_tracked_set_int64(worker->view, "user:n", n + 1, error);
        if (code == SES_OK)
            code = ses_tracked_append(worker->view, "{}", SES_NUL, NULL, NULL, error);
    } while (code == SES_STALE);
    return code;
}

static int count_by_key(struct worker *worker, ses_error *error)
{
    int code;

    do {
        char *seen = NULL;
        char expected[100];
        char event[100];
        code = ses_state_get_by_key(worker->store, &worker->key, "app:n", NULL, &seen, NULL, error);
        if (code < 0)
            break;
        snprintf(expected, sizeof expected, "{\"app:n\":%s}", seen ? seen : "\"__ADK_SENTINEL_REMOVED__\"");
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"app:n\":%d}}}",
                 seen ? atoi(seen) + 1 : 1);
        ses_free(seen);
        const ses_append_options options = {
            .size = sizeof options, .expected = expected, .expected_len = SES_NUL};
        code = ses_append_by_key(worker->store, &worker->key, event, SES_NUL, &options, NULL, error);
    } while (code == SES_STALE);
    return code;
}

/* ---------------------------------------------------------------------------------------------- workers */

static ses_store *open_store(const char *path, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_store *store = NULL;
    (void)ses_open(path, &options, &store, error);
    return store;
}

static void *run_worker(void *context)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    struct worker *worker = context;
    ses_error error;

    snprintf(worker->name, sizeof worker->name, "session %d", worker->number);
    worker->key = (ses_key){"app", "user", worker->name};
    int code = ses_create(worker->store, &worker->key, NULL, 0, NULL, NULL, &error);
    if (code == SES_OK)
        code = ses_get(worker->store, &worker->key, GET_RANGE(&none), &worker->session, &error);
    if (code == SES_OK)
        code = ses_tracked_open(worker->session, NULL, &worker->view, &error);
    for (int i = 0; i < support_steps(STEPS) && code == SES_OK; i++)
        code = worker->count(worker, &error);
    if (code != SES_OK)
        snprintf(worker->problem, sizeof worker->problem, "%s: %s", ses_code_name(code), error.message);
    ses_tracked_close(worker->view);
    ses_session_close(worker->session);
    return NULL;
}

static void count_in_threads(const char *path, int (*count)(struct worker *, ses_error *))
{
    struct worker workers[WORKERS];
    ses_error error;
    ses_store *store = open_store(path, &error);

    assert_non_null(store);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.count = count, .store = store, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < WORKERS; i++)
        assert_string_equal(workers[i].problem, "");
    ses_close(store);
}

static int run_process(void *context)
{
    struct worker *worker = context;
    ses_error error;

    worker->store = open_store(worker->path, &error);
    if (worker->store)
        (void)run_worker(worker);
    else
        snprintf(worker->problem, sizeof worker->problem, "open: %s", error.message);
    if (worker->problem[0])
        fprintf(stderr, "process %d: %s\n", worker->number, worker->problem);
    ses_close(worker->store);
    return worker->problem[0] != '\0';
}

static void count_in_processes(const char *path, int (*count)(struct worker *, ses_error *))
{
    struct worker workers[WORKERS];
    pid_t children[WORKERS];

    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.count = count, .path = path, .number = i};
        children[i] = child_start(run_process, &workers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(child_end(children[i]), 0);
}

/* -------------------------------------------------------------------------------------------- the tests */

static void assert_counter(const char *path, const char *counter, int expected)
{
    const ses_key key = {"app", "user", "session 0"};
    ses_error error;
    ses_store *store = open_store(path, &error);
    char *value = NULL;

    assert_non_null(store);
    assert_ok(ses_state_get_by_key(store, &key, counter, NULL, &value, NULL, &error));
    assert_int_equal(atoi(value), expected);
    ses_free(value);
    ses_close(store);
}

static void assert_counted(const char *path, const char *counter, const char *table)
{
    const int expected = WORKERS * support_steps(STEPS);
    struct text sql = {NULL, 0};
    char row[40];

    assert_counter(path, counter, expected);
    if (support_on_server())
        return;
    text_printf(&sql, "SELECT value, (SELECT count(*) FROM events) FROM %s", table);
    snprintf(row, sizeof row, "%d|%d\n", expected, expected);
    assert_query(path, sql.data, row);
    assert_sound(path);
    free(sql.data);
}

FOLDER_TEST(threads_count_through_views)
{
    count_in_threads(folder->path, count_through_view);
    assert_counted(folder->path, "user:n", "user_state");
}

FOLDER_TEST(threads_count_by_key)
{
    count_in_threads(folder->path, count_by_key);
    assert_counted(folder->path, "app:n", "app_state");
}

FOLDER_TEST(processes_count_through_views)
{
    count_in_processes(folder->path, count_through_view);
    assert_counted(folder->path, "user:n", "user_state");
}

FOLDER_TEST(processes_count_by_key)
{
    count_in_processes(folder->path, count_by_key);
    assert_counted(folder->path, "app:n", "app_state");
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
