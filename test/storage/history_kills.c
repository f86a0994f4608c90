/* A process that is killed in the middle of a cut or a fork of a large session: it was done, or nothing was. */
#include "open.h"

#include <signal.h>

enum { EVENTS = 4000, KEPT = 1000, ROUNDS = 12 };

static const ses_key key = {"app", "user", "session"};
static const ses_key copy = {"app", "user", "copy"};
static const ses_point middle = {.size = sizeof middle, .kind = SES_POINT_SEQ, .seq = KEPT};

static void make_large(const char *path)
{
    enum { BATCH = 200 };
    static char texts[BATCH][400];
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_text events[BATCH];
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open(path, &options, &store, &error));
    must_create(store, &key, Q("{'given':1}"));
    for (int i = 0; i < EVENTS; i += BATCH) {
        for (int k = 0; k < BATCH; k++) {
            snprintf(
                texts[k], sizeof texts[k],
                "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"text\":\"%0200d\",\"actions\":{%s\"stateDelta\":{"
                "\"k%d\":%d,\"last\":%d}}}",
                i + k, (i + k) / 4, i, k == 7 ? "\"compaction\":{}," : "", (i + k) % 50, i + k, i + k + 1);
            events[k] = (ses_text){texts[k], SES_NUL};
        }
        assert_ok(ses_append_batch_by_key(store, &key, events, BATCH, NULL, NULL, &error));
    }
    ses_close(store);
}

struct victim {
    const char *path;
    bool forks;
    int ready; /* told by a byte just before the call */
};

static int run_victim(void *context)
{
    const struct victim *victim = context;
    ses_store *store = NULL;
    ses_error error;
    int code = ses_open(victim->path, NULL, &store, &error);

    if (code != SES_OK || write(victim->ready, "r", 1) != 1)
        return 1;
    code = victim->forks ? ses_fork_by_key(store, &key, &middle, &copy, NULL, NULL, &error)
                         : ses_cut_by_key(store, &key, &middle, NULL, NULL, &error);
    ses_close(store);
    return code == SES_OK ? 0 : 1;
}

/* How long it took, or the moment of the kill; -1: it is let live. */
static int64_t run_one(const char *path, bool forks, int64_t kill_after_us)
{
    int ready[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    struct victim victim = {path, forks, ready[1]};
    pid_t child = child_start(run_victim, &victim);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    int64_t began = support_steady_us();
    if (kill_after_us >= 0) {
        support_pause_us((long)kill_after_us);
        assert_int_equal(kill(child, SIGKILL), 0);
        (void)child_end(child);
    } else {
        assert_int_equal(child_end(child), 0);
    }
    return support_steady_us() - began;
}

/* The own state is what the log leads to, with as many events as its row says. */
static void assert_explained(ses_store *store, const ses_key *of, int64_t events)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session = NULL;
    char *json = NULL;
    int64_t last = 0;
    ses_error error;

    assert_ok(ses_get(store, of, GET_RANGE(&none), &session, &error));
    assert_ok(ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    assert_string_equal(json, support_state(session, NULL));
    assert_ok(ses_state_get_int64(session, "last", &last, &error));
    assert_int_equal(last, events);
    assert_int_equal(ses_session_stored(session), events);
    ses_free(json);
    ses_session_close(session);
}

/* Was it done? Whole, or not at all. */
static bool look_at(const char *path, bool forks)
{
    ses_session *fork = NULL;
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open(path, NULL, &store, &error)); /* which brings the file in order */
    char *counts =
        raw_text(path, "SELECT session_id, count(*), max(position) & 4294967295, (SELECT count(*) FROM "
                       "event_marks AS m WHERE m.session_id = e.session_id) FROM events AS e GROUP BY 1");
    bool done = strcmp(counts, forks ? "1|4000|4000|20\n2|1000|1000|5\n" : "1|1000|1000|5\n") == 0;
    if (!done)
        assert_string_equal(counts, "1|4000|4000|20\n");
    assert_explained(store, &key, !forks && done ? KEPT : EVENTS);
    if (forks && done)
        assert_explained(store, &copy, KEPT);
    else if (forks)
        assert_code(SES_NOTFOUND, ses_get(store, &copy, NULL, &fork, &error));
    free(counts);
    ses_close(store);
    assert_sound(path);
    return done;
}

static void kill_at_many_moments(const struct folder *folder, bool forks)
{
    char *original = support_path(folder->folder, "original.db");
    char command[1024];
    int64_t whole = 0;
    int done = 0;

    make_large(original);
    for (int round = 0; round <= ROUNDS; round++) {
        int status = 0;
        snprintf(command, sizeof command, "rm -f '%s' '%s-wal' '%s-shm'; cp '%s' '%s'", folder->path,
                 folder->path, folder->path, original, folder->path);
        free(support_run(command, &status));
        assert_int_equal(status, 0);
        int64_t took = run_one(folder->path, forks, round == 0 ? -1 : whole * (round - 1) / ROUNDS);
        if (round == 0)
            whole = took;
        done += look_at(folder->path, forks);
    }
    assert_in_range(done, 1, ROUNDS); /* the one that was let live, and not one that was killed at once */
    assert_int_equal(unlink(original), 0);
    free(original);
}

static void test_killed_in_the_middle_of_a_cut(void **state)
{
    kill_at_many_moments(*state, false);
}

static void test_killed_in_the_middle_of_a_fork(void **state)
{
    kill_at_many_moments(*state, true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_killed_in_the_middle_of_a_cut),
        TEST(test_killed_in_the_middle_of_a_fork),
    };
    return cmocka_run_group_tests_name("history, killed", tests, NULL, NULL);
}
