/* A process that is killed in the middle of cutting, forking, pruning or deleting a large session: it was
 * done, or nothing was. SESLITE_KILLS=400 kills at so many moments. */
#include "open.h"

#include <signal.h>

enum { EVENTS = 4000, KEPT = 1000 };

static const ses_key key = {"app", "user", "session"};
static const ses_key copy = {"app", "user", "copy"};
static const ses_point middle = {.size = sizeof middle, .kind = SES_POINT_SEQ, .seq = KEPT};

static void make_large(const char *path)
{
    enum { BATCH = 200 };
    static char texts[BATCH][400];
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_text events[BATCH];
    ses_error error;

    ses_store *store = must_open(path, &options);
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

enum deed { CUT, FORK, PRUNE, EXPIRE, DELETE_APP };

/* For each session: its events, the last of them, and its marks. */
static const char nothing_done[] = "1|4000|4000|20\n";
static const char *const done[] = {
    [CUT] = "1|1000|1000|5\n",   [FORK] = "1|4000|4000|20\n2|1000|1000|5\n",
    [PRUNE] = "1|1000|4000|5\n", [EXPIRE] = "",
    [DELETE_APP] = "",
};

static int do_deed(ses_store *store, enum deed deed, ses_error *error)
{
    static const int64_t later = INT64_C(4000000000000000);
    const ses_prune_options keep = {
        .size = sizeof keep, .which = SES_PRUNE_KEEP, .keep = KEPT, .limit = EVENTS};
    const ses_expire_options idle = {.size = sizeof idle, .now_us = &later, .idle_us = 1};
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};

    switch (deed) {
    case CUT:
        return ses_cut_by_key(store, &key, &middle, NULL, NULL, error);
    case FORK:
        return ses_fork_by_key(store, &key, &middle, &copy, NULL, NULL, error);
    case PRUNE:
        return ses_prune_by_key(store, &key, &keep, NULL, error);
    case EXPIRE:
        return ses_store_expire(store, NULL, &idle, NULL, error);
    default:
        return ses_delete_app(store, key.app, &secure, NULL, error);
    }
}

struct victim {
    const char *path;
    enum deed deed;
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
    do
        code = do_deed(store, victim->deed, &error);
    while (code == SES_MORE);
    ses_close(store);
    return code == SES_OK ? 0 : 1;
}

/* How long it took, or the moment of the kill; -1: it is let live. */
static int64_t run_one(const char *path, enum deed deed, int64_t kill_after_us)
{
    int ready[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    struct victim victim = {path, deed, ready[1]};
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

/* The own state is what the log leads to, by so many events up to that one. */
static void assert_explained(ses_store *store, const ses_key *of, int64_t events, int64_t last_seq)
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
    assert_int_equal(last, last_seq);
    assert_int_equal(ses_session_stored(session), events);
    ses_free(json);
    ses_session_close(session);
}

static void assert_deleted(ses_store *store, const char *path)
{
    ses_session *session = NULL;
    ses_error error;

    assert_code(SES_NOTFOUND, ses_get(store, &key, NULL, &session, &error));
    assert_query(path,
                 "SELECT count(*) FROM session_state UNION SELECT count(*) FROM session_details UNION "
                 "SELECT count(*) FROM event_marks UNION SELECT count(*) FROM base_state",
                 "0\n");
}

/* True if it was done. Whole, or not at all. */
static bool look_at(const char *path, enum deed deed)
{
    ses_session *fork = NULL;
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open(path, NULL, &store, &error)); /* which brings the file in order */
    char *counts =
        raw_text(path, "SELECT session_id, count(*), max(position) & 4294967295, (SELECT count(*) FROM "
                       "event_marks AS m WHERE m.session_id = e.session_id) FROM events AS e GROUP BY 1");
    bool is_done = strcmp(counts, done[deed]) == 0;
    if (!is_done)
        assert_string_equal(counts, nothing_done);
    if (is_done && done[deed][0] == '\0')
        assert_deleted(store, path);
    else
        assert_explained(store, &key, is_done && deed != FORK ? KEPT : EVENTS,
                         is_done && deed == CUT ? KEPT : EVENTS);
    if (is_done && deed == FORK)
        assert_explained(store, &copy, KEPT, KEPT);
    else
        assert_code(SES_NOTFOUND, ses_get(store, &copy, NULL, &fork, &error));
    free(counts);
    ses_close(store);
    assert_sound(path);
    return is_done;
}

static void kill_at_many_moments(const struct folder *folder, enum deed deed)
{
    char *original = support_path(folder->folder, "original.db");
    char command[1024];
    const int kills = (int)support_setting("SESLITE_KILLS", 12);
    int64_t whole = 0;
    int times = 0;

    make_large(original);
    for (int round = 0; round <= kills; round++) {
        int status = 0;
        snprintf(command, sizeof command, "rm -f '%s' '%s-wal' '%s-shm'; cp '%s' '%s'", folder->path,
                 folder->path, folder->path, original, folder->path);
        free(support_run(command, &status));
        assert_int_equal(status, 0);
        int64_t took = run_one(folder->path, deed, round == 0 ? -1 : whole * (round - 1) / kills);
        if (round == 0)
            whole = took;
        times += look_at(folder->path, deed);
    }
    assert_in_range(times, 1, kills); /* the one that was let live, and not one that was killed at once */
    support_figure("kills", kills);
    assert_int_equal(unlink(original), 0);
    free(original);
}

FOLDER_TEST(killed_in_the_middle_of_a_cut)
{
    kill_at_many_moments(folder, CUT);
}

FOLDER_TEST(killed_in_the_middle_of_a_fork)
{
    kill_at_many_moments(folder, FORK);
}

FOLDER_TEST(killed_in_the_middle_of_a_prune)
{
    kill_at_many_moments(folder, PRUNE);
}

FOLDER_TEST(killed_in_the_middle_of_an_expiry)
{
    kill_at_many_moments(folder, EXPIRE);
}

FOLDER_TEST(killed_in_the_middle_of_deleting_an_app_securely)
{
    kill_at_many_moments(folder, DELETE_APP);
}
