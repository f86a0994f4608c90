/*
 * Processes, with threads, that save, read, append with and delete the same artifacts of one user: no call
 * fails, every read gives bytes that somebody saved, versions have no gap, and a check finds nothing.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../artifact.h"
#include "../random.h"

enum { PROCESSES = 4, THREADS = 2, STEPS = UNDER_TSAN ? 60 : 300, TEXTS = 3, LONG = 4194304 + 1000 };

static const char *const names[] = {"a", "b", "user:c"};

struct worker {
    ses_store *store;
    uint64_t seed;
    bool failed;
    char *buffer;
    pthread_t thread;
};

/* NOTFOUND: another has deleted it, or its session, or its user. */
static void look(struct worker *worker, const char *what, int code, int allowed, const ses_error *error)
{
    if (code >= 0 || code == SES_NOTFOUND || code == allowed)
        return;
    print_error("%s: %s: %s\n", what, ses_code_name(code), error->message);
    worker->failed = true;
}

static size_t fill(char *bytes, size_t which)
{
    const size_t len = which == TEXTS ? LONG : which * 70000 + 1;
    memset(bytes, 'a' + (int)which, len);
    return len;
}

static bool is_known(const char *bytes, size_t len)
{
    const size_t which = len > 0 ? (size_t)(bytes[0] - 'a') : TEXTS + 1;
    bool same = which <= TEXTS && len == (which == TEXTS ? LONG : which * 70000 + 1);

    for (size_t i = 0; i < len && same; i++)
        same = bytes[i] == bytes[0];
    return same;
}

static void save(struct worker *worker, const char *name)
{
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    const size_t which = random_below(&worker->seed, 20) == 0 ? TEXTS : random_below(&worker->seed, TEXTS);
    ses_error error;

    look(worker, "save",
         ses_artifact_save_by_key(worker->store, &key, name, worker->buffer, fill(worker->buffer, which),
                                  random_below(&worker->seed, 2) ? &anyway : NULL, NULL, &error),
         SES_OK, &error);
}

static void read_newest(struct worker *worker, const char *name)
{
    ses_artifact *artifact = NULL;
    ses_error error;
    size_t len = 0;
    int code = ses_artifact_open_by_key(worker->store, &key, name, NULL, &artifact, &error);

    look(worker, "open", code, SES_OK, &error);
    if (code != SES_OK)
        return;
    code = ses_artifact_read(artifact, 0, worker->buffer, LONG, &len, &error);
    look(worker, "read", code, SES_OK, &error);
    if (code == SES_OK && !is_known(worker->buffer, len)) {
        print_error("read: %zu bytes that nobody saved\n", len);
        worker->failed = true;
    }
    ses_artifact_close(artifact);
}

/* BUSY: others kept saving the same name. */
static void append(struct worker *worker, const char *name)
{
    ses_append_options options = {.size = sizeof options};
    ses_error error;
    int code = ses_artifacts_open(worker->store, &key, &options.artifacts, &error);

    for (int i = 0; i < 2 && code == SES_OK; i++) {
        const size_t len = fill(worker->buffer, random_below(&worker->seed, TEXTS));
        code = ses_artifacts_add(options.artifacts, i ? name : "a", worker->buffer, len, NULL, &error);
    }
    look(worker, "add", code, SES_OK, &error);
    if (code == SES_OK)
        look(worker, "append",
             ses_append_by_key(worker->store, &key, "{\"author\":\"x\"}", SES_NUL, &options, NULL, &error),
             SES_BUSY, &error);
    ses_artifacts_close(options.artifacts);
}

static void step(struct worker *worker)
{
    const char *name = names[random_below(&worker->seed, sizeof names / sizeof names[0])];
    const size_t what = random_below(&worker->seed, 200);
    ses_artifact_list *list = NULL;
    ses_error error;

    if (what < 70)
        save(worker, name);
    else if (what < 110)
        read_newest(worker, name);
    else if (what < 150)
        append(worker, name);
    else if (what < 170)
        look(worker, "delete", ses_artifact_delete_by_key(worker->store, &key, name, NULL, NULL, &error),
             SES_OK, &error);
    else if (what < 180)
        look(worker, "names", ses_artifact_names_by_key(worker->store, &key, NULL, &list, &error), SES_OK,
             &error);
    else if (what < 187)
        look(worker, "delete the session", ses_delete(worker->store, &key, NULL, NULL, &error), SES_OK,
             &error);
    else if (what < 188)
        look(worker, "delete the user",
             ses_delete_user(worker->store, key.app, key.user, NULL, NULL, NULL, &error), SES_OK, &error);
    else
        look(worker, "create", ses_create(worker->store, &key, NULL, 0, NULL, NULL, &error), SES_EXISTS,
             &error);
    ses_artifact_list_close(list);
}

static void *work(void *context)
{
    struct worker *worker = context;

    for (int i = 0; i < support_steps(STEPS) && !worker->failed; i++)
        step(worker);
    return NULL;
}

/* In the child. */
static void run_process(const struct fixture *fixture, int number)
{
    struct worker workers[THREADS];
    ses_store *store = NULL;
    ses_error error;
    bool failed = ses_open(fixture->path, &fixture->options, &store, &error) != SES_OK;

    if (failed)
        print_error("open: %s\n", error.message);
    for (int i = 0; i < THREADS && store; i++) {
        workers[i] =
            (struct worker){.store = store, .seed = (uint64_t)(number * THREADS + i), .buffer = malloc(LONG)};
        failed = pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0 || failed;
    }
    for (int i = 0; i < THREADS && store; i++) {
        failed = pthread_join(workers[i].thread, NULL) != 0 || workers[i].failed || failed;
        free(workers[i].buffer);
    }
    ses_close(store);
    _exit(failed ? 1 : 0);
}

static void assert_no_gaps(ses_store *store)
{
    const ses_artifact_list_options options = {.size = sizeof options, .limit = 10000};
    ses_artifact_list *list;
    ses_error error;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_ok(ses_artifact_versions_by_key(store, &key, names[i], &options, &list, &error));
        for (size_t k = 0; k < ses_artifact_list_count(list); k++)
            assert_int_equal(ses_artifact_list_at(list, k)->version, k);
        ses_artifact_list_close(list);
    }
}

TEST(processes_share_the_artifacts_of_a_user)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    pid_t children[PROCESSES];
    int64_t problems = -1;
    int status;

    must_create(fixture->store, &key, NULL);
    ses_close(fixture->store);
    fixture->store = NULL;
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_int_not_equal(children[i], -1);
        if (children[i] == 0)
            run_process(fixture, i);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    fixture_reopen(fixture);
    assert_no_gaps(fixture->store);
    assert_ok(ses_store_check(fixture->store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
    assert_sound(fixture);
}
