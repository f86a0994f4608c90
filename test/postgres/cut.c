/* The way to the server is cut at any byte of an append, of what is asked and of what is answered: it is
 * stored once. */
#include "database.h"
#include "proxy.h"
#include "seslite_artifact.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

struct cut_store {
    struct proxy *proxy;
    ses_store *store;
    ses_session *session;
    int made;
};

static void open_cut(struct cut_store *cut, const struct database *database, const char *name)
{
    char place[600];
    char by_proxy[900];
    ses_error error;

    database_fresh(database, name, "", place);
    cut->proxy = proxy_start(database->place, 0);
    assert_non_null(cut->proxy);
    snprintf(by_proxy, sizeof by_proxy, "%s dbname=%s", cut->proxy->place, name);
    assert_ok(ses_open_postgres(by_proxy, NULL, NULL, &cut->store, &error));
    cut->session = must_open_new(cut->store, &key, "{\"a\":0,\"user:u\":1}");
    cut->made = 0;
}

static void close_cut(struct cut_store *cut)
{
    ses_session_close(cut->session);
    ses_close(cut->store);
    proxy_stop(cut->proxy);
}

enum how { GENERATED, GIVEN, BY_KEY, BY_KEY_GENERATED, LABELLED, LABELLED_BY_KEY, HOWS };

static bool is_labelled(enum how how)
{
    return how == LABELLED || how == LABELLED_BY_KEY;
}

static int append(struct cut_store *cut, enum how how, ses_appended *appended, ses_error *error)
{
    char event[200];
    char title[20];
    const ses_label label = {"made", title};
    const ses_append_options options = {.size = sizeof options,
                                        .title = is_labelled(how) ? title : NULL,
                                        .labels = &label,
                                        .label_count = is_labelled(how)};

    snprintf(title, sizeof title, "%d", cut->made);
    if (how != GIVEN && how != BY_KEY)
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"a\":%d,\"app:x\":null}}}",
                 cut->made++);
    else
        snprintf(event, sizeof event, "{\"id\":\"made-%d\",\"timestamp\":1}", cut->made++);
    return how == GENERATED || how == GIVEN || how == LABELLED
               ? ses_append(cut->session, event, SES_NUL, &options, appended, error)
               : ses_append_by_key(cut->store, &key, event, SES_NUL, &options, appended, error);
}

static void assert_labelled(const struct cut_store *cut)
{
    const char *value = ses_session_label_value(cut->session, "made");
    char last[20];

    snprintf(last, sizeof last, "%d", cut->made - 1);
    assert_string_equal(ses_session_title(cut->session), last);
    assert_non_null(value);
    assert_string_equal(value, last);
}

/* One append, of which so many bytes are handed on. */
static void append_cut(struct cut_store *cut, atomic_long *left, long bytes, enum how how)
{
    ses_appended appended = {.status = -1};
    ses_error error;
    const int64_t before = ses_session_stored(cut->session);

    atomic_store(left, bytes);
    const int code = append(cut, how, &appended, &error);
    atomic_store(left, -1);
    if (code != SES_OK || appended.status != SES_OK || appended.seq != before + 1)
        fail_msg("way %d, cut after %ld: %s, status %d, event %d: %s", (int)how, bytes, ses_code_name(code),
                 appended.status, (int)appended.seq, error.message);
    if (how == LABELLED)
        assert_labelled(cut);
    must_refresh(cut->session);
    if (is_labelled(how))
        assert_labelled(cut);
    assert_int_equal(ses_session_stored(cut->session), before + 1);
    assert_int_equal(ses_session_event_count(cut->session), before + 1);
}

SERVER_TEST(a_cut_append_is_stored_once)
{
    const long step = getenv("SESLITE_CUT_STEP") ? atol(getenv("SESLITE_CUT_STEP")) : 97;
    struct cut_store cut;

    open_cut(&cut, database, "cut");
    for (enum how how = GENERATED; how < HOWS; how++) {
        const int trips = is_labelled(how) ? 2 : 1;
        for (long bytes = 0; bytes < 2500 * trips; bytes += step)
            append_cut(&cut, &cut.proxy->up_left, bytes, how);
        for (long bytes = 0; bytes < 500 * trips; bytes += step / 4 + 1)
            append_cut(&cut, &cut.proxy->down_left, bytes, how);
    }
    close_cut(&cut);
}

struct other {
    ses_store *store;
    atomic_bool stop;
    pthread_t thread;
};

static void *append_meanwhile(void *context)
{
    struct other *other = context;

    while (!atomic_load(&other->stop))
        must_append_by_key(other->store, &key, "{}");
    return NULL;
}

/* Not that of what others appended before the answer was asked for again. */
SERVER_TEST(a_cut_append_has_the_version_of_its_event)
{
    struct cut_store cut;
    struct other other = {.stop = false};
    char place[600];

    open_cut(&cut, database, "versions");
    snprintf(place, sizeof place, "%s dbname=versions", database->place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &other.store, &error));
    assert_int_equal(pthread_create(&other.thread, NULL, append_meanwhile, &other), 0);
    for (long bytes = 0; bytes < 500; bytes += 25) {
        ses_appended appended = {.status = -1};
        atomic_store(&cut.proxy->down_left, bytes);
        assert_ok(append(&cut, BY_KEY, &appended, &error));
        atomic_store(&cut.proxy->down_left, -1);
        assert_int_equal(appended.version, appended.seq); /* nothing else has changed the session */
    }
    atomic_store(&other.stop, true);
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    ses_close(other.store);
    close_cut(&cut);
}

/* ------------------------------------------------------------------------------------------- artifacts */

/* In two pieces, each in a transaction, and a third of them makes it an artifact. */
enum { LONG = 4194304 + 70000 };

static size_t versions_of(struct cut_store *cut, const char *name)
{
    const ses_artifact_list_options options = {.size = sizeof options, .limit = 10000};
    ses_artifact_list *list = NULL;
    ses_error error;

    assert_ok(ses_artifact_versions(cut->session, name, &options, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

static void assert_newest(struct cut_store *cut, const char *name, const char *bytes, size_t len,
                          char *buffer)
{
    ses_artifact *artifact = NULL;
    ses_error error;
    size_t got = 0;

    assert_ok(ses_artifact_open(cut->session, name, NULL, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, buffer, LONG, &got, &error));
    assert_int_equal(got, len);
    assert_memory_equal(buffer, bytes, len);
    ses_artifact_close(artifact);
}

/* One save, of which so many bytes of the answers come back. Returns its code. */
static int save_cut(struct cut_store *cut, long bytes, char *text, size_t len, char *buffer)
{
    const size_t before = versions_of(cut, "a");
    int64_t version = -1;
    ses_error error;

    snprintf(text, 20, "%d", cut->made++);
    atomic_store(&cut->proxy->down_left, bytes);
    const int code = ses_artifact_save(cut->session, "a", text, len, NULL, &version, &error);
    atomic_store(&cut->proxy->down_left, -1);
    const size_t after = versions_of(cut, "a");
    if (code == SES_OK)
        assert_int_equal(version, before);
    if (code == SES_OK ? after != before + 1 : code == SES_UNKNOWN ? after > before + 1 : after != before)
        fail_msg("cut after %ld: %s, and %zu versions instead of %zu", bytes, ses_code_name(code), after,
                 before);
    if (after > before)
        assert_newest(cut, "a", text, len, buffer);
    return code;
}

/* Only of the last transaction is it unknown whether there is a version. */
SERVER_TEST(a_cut_save_is_whole_or_absent)
{
    struct cut_store cut;
    char *text = calloc(LONG, 1);
    char *buffer = malloc(LONG);
    int failed = 0;
    int unknown = 0;
    int code = SES_OK;

    open_cut(&cut, database, "saves");
    for (long bytes = 0; bytes < 1700; bytes += 61)
        unknown += save_cut(&cut, bytes, text, 1000, buffer) == SES_UNKNOWN;
    assert_in_range(unknown, 1, 8);
    assert_int_equal(save_cut(&cut, -1, text, LONG, buffer), SES_OK);
    unknown = 0;
    for (long bytes = 2300; bytes < 8000 && (unknown == 0 || code == SES_UNKNOWN); bytes += 30) {
        code = save_cut(&cut, bytes, text, LONG, buffer);
        failed += code == SES_IO;
        unknown += code == SES_UNKNOWN;
    }
    assert_in_range(failed, 1, 20);
    assert_in_range(unknown, 1, 20);
    close_cut(&cut);
    free(text);
    free(buffer);
}

/* An append together with two artifacts: one of the event, and one that is written before. */
static void append_artifacts_cut(struct cut_store *cut, long bytes, char *text, char *buffer)
{
    const int64_t before = ses_session_stored(cut->session);
    const size_t versions = versions_of(cut, "a");
    ses_append_options options = {.size = sizeof options};
    ses_appended appended = {.status = -1};
    ses_error error;
    char event[60];

    snprintf(text, 20, "%d", cut->made);
    snprintf(event, sizeof event, "{\"id\":\"made-%d\",\"timestamp\":1}", cut->made++);
    assert_ok(ses_artifacts_open(cut->store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, "a", text, SES_NUL, NULL, &error));
    assert_ok(ses_artifacts_add(options.artifacts, "b", text, bytes % 5 ? 100 : LONG, NULL, &error));
    atomic_store(&cut->proxy->down_left, bytes);
    const int code = ses_append(cut->session, event, SES_NUL, &options, &appended, &error);
    atomic_store(&cut->proxy->down_left, -1);
    if (code != SES_OK || appended.status != SES_OK || appended.seq != before + 1)
        fail_msg("cut after %ld: %s, status %d, event %d: %s", bytes, ses_code_name(code), appended.status,
                 (int)appended.seq, error.message);
    ses_artifacts_close(options.artifacts);
    must_refresh(cut->session);
    assert_int_equal(ses_session_stored(cut->session), before + 1);
    assert_int_equal(versions_of(cut, "a"), versions + 1);
    assert_newest(cut, "a", text, strlen(text), buffer);
    assert_newest(cut, "b", text, bytes % 5 ? 100 : LONG, buffer);
}

SERVER_TEST(a_cut_append_and_its_artifacts_are_stored_once)
{
    struct cut_store cut;
    char *text = calloc(LONG, 1);
    char *buffer = malloc(LONG);

    open_cut(&cut, database, "attached");
    for (long bytes = 0; bytes < 4000; bytes += 83)
        append_artifacts_cut(&cut, bytes, text, buffer);
    close_cut(&cut);
    free(text);
    free(buffer);
}
