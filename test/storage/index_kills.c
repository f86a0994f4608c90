/*
 * A process that is killed while it changes sessions and brings the index of words up to date: the index
 * holds what the log does, up to where it says that it has come, and a search finds every event.
 * SESLITE_KILLS=2000 kills more often, SESLITE_TEST_SEED=2 at other moments of other changes.
 */
#include "open.h"
#include "random.h"
#include "seslite_history.h"
#include "seslite_search.h"
#include "seslite_transfer.h"

#include <signal.h>

enum { SESSIONS = 3, BATCH = 20, EVENTS_MAX = 200, LONGEST_US = 20000 };

/* Every event has the word `each`; most have many others, so that the index has pages to merge. */
static int append_some(ses_store *store, const ses_key *key, uint64_t *seed, ses_error *error)
{
    static char bodies[BATCH][6000];
    ses_text events[BATCH];
    const size_t count = 1 + random_below(seed, BATCH);

    for (size_t i = 0; i < count; i++) {
        int len =
            snprintf(bodies[i], sizeof bodies[i], "{\"content\":{\"parts\":[{\"text\":\"each \u6bcf\u4e2a");
        for (size_t words = random_below(seed, 500); words > 0; words--)
            len += snprintf(bodies[i] + len, sizeof bodies[i] - (size_t)len, " w%zu",
                            random_below(seed, 100000));
        len += snprintf(bodies[i] + len, sizeof bodies[i] - (size_t)len, "\"}]}}");
        events[i] = (ses_text){bodies[i], (size_t)len};
    }
    return ses_append_batch_by_key(store, key, events, count, NULL, NULL, error);
}

static int change_and_index(ses_store *store, uint64_t *seed, ses_error *error)
{
    const char name[] = {(char)('a' + (int)random_below(seed, SESSIONS)), '\0'};
    const ses_key key = {"app", "user", name};
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_index_options rebuild = {.size = sizeof rebuild, .flags = SES_INDEX_REBUILD};
    const ses_prune_options prune = {
        .size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = EVENTS_MAX / 4, .limit = EVENTS_MAX};
    ses_error ignored;

    switch (random_below(seed, 12)) {
    case 0:
        return ses_delete(store, &key, random_below(seed, 2) ? &secure : NULL, NULL, error);
    case 1:
        return ses_store_index(store, &rebuild, NULL, error);
    case 2:
        (void)ses_prune_by_key(store, &key, &prune, NULL, &ignored); /* it may not be there */
        return SES_OK;
    case 3:
    case 4:
    case 5:
    case 6:
        return ses_store_index(store, NULL, NULL, error);
    default:
        (void)ses_create(store, &key, NULL, 0, NULL, NULL, &ignored); /* it may be there */
        return append_some(store, &key, seed, error);
    }
}

struct indexer {
    const char *path;
    uint64_t seed;
    int ready;
};

static int index_until_killed(void *context)
{
    struct indexer *indexer = context;
    ses_store *store = NULL;
    ses_error error;

    if (ses_open(indexer->path, NULL, &store, &error) != SES_OK || write(indexer->ready, "r", 1) != 1)
        return 1;
    for (;;) {
        const int code = change_and_index(store, &indexer->seed, &error);
        if (code < 0 && code != SES_NOTFOUND)
            return 1;
    }
}

static void run_and_kill(const char *path, uint64_t *seed)
{
    int ready[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    struct indexer indexer = {path, random_next(seed), ready[1]};
    const pid_t child = child_start(index_until_killed, &indexer);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    support_pause_us((long)random_below(seed, LONGEST_US));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(child_end(child), -1);
}

static int say_problem(void *context, const ses_problem *problem)
{
    (void)context;
    print_message("%s: %s\n", ses_problem_name(problem->kind), problem->message);
    return 0;
}

/* All events that are stored, in all sessions; those that grew long are deleted afterwards. */
static size_t events_of(ses_store *store, bool shorten)
{
    size_t events = 0;

    for (char letter = 'a'; letter < 'a' + SESSIONS; letter++) {
        const char name[] = {letter, '\0'};
        const ses_key key = {"app", "user", name};
        ses_session *session = NULL;
        ses_error error;
        if (ses_get(store, &key, NULL, &session, &error) != SES_OK)
            continue;
        const size_t own = ses_session_event_count(session);
        ses_session_close(session);
        if (shorten && own > EVENTS_MAX)
            must_delete(store, &key);
        events += own;
    }
    return events;
}

static size_t count_found(ses_store *store, const char *words)
{
    const ses_key scope = {"app", "user", NULL};
    const ses_search_options options = {.size = sizeof options, .limit = 1000};
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_store_search(store, &scope, words, SES_NUL, &options, &hits, &error));
    assert_int_equal(ses_hits_indexed(hits), 1);
    const size_t count = ses_hits_count(hits);
    ses_hits_close(hits);
    return count;
}

static void assert_index_is_right(ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG, .report = say_problem};
    const size_t events = events_of(store, false);
    int64_t problems = 0;
    ses_error error;

    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
    assert_int_equal(count_found(store, "each"), events);
    assert_int_equal(count_found(store, "\u6bcf\u4e2a"), events);
    assert_ok(ses_store_check(store, &options, &problems, &error)); /* what was lacking is there now */
    assert_int_equal(problems, 0);
    (void)events_of(store, true);
}

FOLDER_TEST(the_index_agrees_with_the_log)
{
    const int kills = (int)support_setting("SESLITE_KILLS", 40);
    uint64_t seed = (uint64_t)support_setting("SESLITE_TEST_SEED", 27);

    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_store_index(store, NULL, NULL, &error));
    ses_close(store);
    for (int i = 0; i < kills; i++) {
        run_and_kill(folder->path, &seed);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        assert_index_is_right(store);
        ses_close(store);
    }
    support_figure("kills", kills);
}
