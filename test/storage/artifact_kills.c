/*
 * A process that is killed while it appends events with artifacts: an event never names an artifact without
 * its bytes, and no artifact is there without its event. SESLITE_KILLS=10000 kills more often,
 * SESLITE_TEST_SEED=2 at other moments.
 */
#include "open.h"
#include "random.h"
#include "seslite_artifact.h"

#include <signal.h>

enum { SMALL = 40000, LARGE = 4500000, LONGEST_US = 12000 };

/* The bytes of the artifact that this event of this session has saved. A few are long, so that they are not
 * written in the event's transaction. */
static size_t make_bytes(char *bytes, const char *session, int event)
{
    const size_t len = event % 8 == 7 ? LARGE : 1 + (size_t)event * 7919 % SMALL;
    char text[64];
    const size_t text_len = (size_t)snprintf(text, sizeof text, "%s, event %d. ", session, event);

    for (size_t at = 0; at < len; at += text_len)
        memcpy(bytes + at, text, len - at < text_len ? len - at : text_len);
    return len;
}

struct writer {
    const char *path;
    const char *session;
    int told; /* a byte for each event that is stored */
};

/* Two artifacts with each event: one of its own, and one of which it saves the next version. */
static int append_with_artifacts(ses_store *store, const ses_key *key, char *bytes, int event)
{
    const size_t len = make_bytes(bytes, key->session, event);
    ses_append_options options = {.size = sizeof options};
    char name[32];
    char body[64];
    ses_error error;
    int code = ses_artifacts_open(store, key, &options.artifacts, &error);

    snprintf(name, sizeof name, "own %d", event);
    snprintf(body, sizeof body, "{\"id\":\"%d\"}", event);
    if (code == SES_OK)
        code = ses_artifacts_add(options.artifacts, name, bytes, len, NULL, &error);
    if (code == SES_OK)
        code = ses_artifacts_add(options.artifacts, "shared", bytes, len % SMALL, NULL, &error);
    if (code == SES_OK)
        code = ses_append_by_key(store, key, body, SES_NUL, &options, NULL, &error);
    ses_artifacts_close(options.artifacts);
    return code;
}

static int write_until_killed(void *context)
{
    static char bytes[LARGE];
    const struct writer *writer = context;
    const ses_key key = {"app", "user", writer->session};
    ses_store *store = NULL;
    ses_error error;

    if (ses_open(writer->path, NULL, &store, &error) != SES_OK ||
        ses_create(store, &key, NULL, 0, NULL, NULL, &error) != SES_OK || write(writer->told, "c", 1) != 1)
        return 1;
    for (int event = 0;; event++)
        if (append_with_artifacts(store, &key, bytes, event) != SES_OK || write(writer->told, "e", 1) != 1)
            return 1;
}

/* Returns how many events the process said it had stored. */
static int64_t run_and_kill(const char *path, const char *session, int64_t after_us)
{
    static char told_bytes[100000];
    int told[2];
    int64_t count = 0;
    ssize_t got = 0;

    assert_int_equal(pipe(told), 0);
    struct writer writer = {path, session, told[1]};
    const pid_t child = child_start(write_until_killed, &writer);
    close(told[1]);
    assert_int_equal(read(told[0], told_bytes, 1), 1);
    support_pause_us((long)after_us);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(child_end(child), -1);
    while ((got = read(told[0], told_bytes, sizeof told_bytes)) > 0)
        count += got;
    close(told[0]);
    return count;
}

static void assert_bytes(ses_store *store, const ses_key *key, const char *name, int64_t version,
                         const char *expected, size_t len)
{
    static char bytes[LARGE + 1];
    const ses_artifact_open_options options = {.size = sizeof options, .version = &version};
    ses_artifact *artifact = NULL;
    size_t got = 0;
    ses_error error;

    assert_ok(ses_artifact_open_by_key(store, key, name, &options, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &got, &error));
    assert_int_equal(got, len);
    assert_memory_equal(bytes, expected, len);
    ses_artifact_close(artifact);
}

/* Event number n has saved "own n", and version n of "shared". Nothing else is there. */
static int64_t assert_complete(ses_store *store, const ses_key *key)
{
    static char bytes[LARGE];
    const ses_artifact_list_options most = {.size = sizeof most, .limit = 10000};
    ses_artifact_list *list = NULL;
    ses_error error;

    ses_session *session = must_get(store, key);
    const size_t events = ses_session_event_count(session);
    for (size_t i = 0; i < events; i++) {
        char name[32];
        char body[128];
        snprintf(name, sizeof name, "own %zu", i);
        snprintf(body, sizeof body, "\"actions\":{\"artifactDelta\":{\"%s\":0,\"shared\":%zu}}", name, i);
        assert_non_null(strstr(ses_session_event(session, i)->json, body));
        const size_t len = make_bytes(bytes, key->session, (int)i);
        assert_bytes(store, key, name, 0, bytes, len);
        assert_bytes(store, key, "shared", (int64_t)i, bytes, len % SMALL);
    }
    assert_ok(ses_artifact_names(session, &most, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), events == 0 ? 0 : events + 1);
    ses_artifact_list_close(list);
    assert_ok(ses_artifact_versions(session, "shared", &most, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), events);
    ses_artifact_list_close(list);
    ses_session_close(session);
    return (int64_t)events;
}

FOLDER_TEST(events_and_artifacts_are_one)
{
    const int kills = (int)support_setting("SESLITE_KILLS", 40);
    uint64_t seed = (uint64_t)support_setting("SESLITE_TEST_SEED", 1);
    int64_t stored = 0;
    int64_t cut_off = 0; /* events whose process was killed before it could say that they are stored */

    for (int i = 0; i < kills; i++) {
        char name[16];
        const ses_key key = {"app", "user", name};
        ses_store *store = NULL;
        snprintf(name, sizeof name, "s%d", i);
        const int64_t told = run_and_kill(folder->path, name, (int64_t)random_below(&seed, LONGEST_US));
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        const int64_t events = assert_complete(store, &key);
        assert_in_range(events, told, told + 1);
        stored += events;
        cut_off += events - told;
        must_delete(store, &key);
        ses_close(store);
    }
    print_message("%d kills, %lld events, %lld of them stored before it could be said\n", kills,
                  (long long)stored, (long long)cut_off);
    support_figure("kills", kills);
    assert_query(
        folder->path,
        "SELECT (SELECT count(*) FROM artifacts), (SELECT count(*) FROM artifact_contents WHERE uses > 0),"
        " (SELECT count(*) FROM artifact_chunks WHERE position >> 20 NOT IN"
        " (SELECT id FROM artifact_contents))",
        "0|0|0\n");
}
