/* Artifacts, and what callers do wrong: functions that fail or call back, odd names, old and new structs,
 * stale handles. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "artifact.h"

/* ------------------------------------------------------------------------------------ functions that read */

struct source {
    ses_store *store;
    size_t first; /* what the first call gives, and the later ones; then 0 */
    size_t later;
    int laters;
    int calls;
    int ending; /* the call that returns `result`; 0: none */
    int result;
};

static int read_source(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct source *source = context;

    *len = source->calls == 0 ? source->first : source->calls <= source->laters ? source->later : 0;
    memset(buffer, 'x', *len < capacity ? *len : capacity);
    if (++source->calls != source->ending)
        return SES_OK;
    snprintf(error->message, sizeof error->message, "the source says %d", source->result);
    return source->result;
}

typedef int read_bytes(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error);

static int save_from(ses_store *store, read_bytes *read, void *context, ses_error *error)
{
    const ses_artifact_save_options options = {.size = sizeof options, .read = read, .read_context = context};
    return ses_artifact_save_by_key(store, &key, "a", NULL, SES_NUL, &options, NULL, error);
}

TEST(a_function_that_fails_saves_nothing)
{
    static const struct {
        int result;
        size_t len;
        int code;
        const char *message;
    } cases[] = {
        {SES_INTERRUPTED, 0, SES_INTERRUPTED, "the source says -16"},
        {SES_CORRUPT, 1, SES_CORRUPT, "the source says -12"},
        {-1000, 0, SES_IO, "the source says -1000"},
        {INT_MIN, 1, SES_IO, "the source says"},
        {1, 1, SES_MISUSE, "returned 1"},
        {INT_MAX, 0, SES_MISUSE, "returned"},
        {SES_OK, SIZE_MAX, SES_MISUSE, "more than was asked for"},
        {SES_OK, 4194305, SES_MISUSE, "more than was asked for"},
    };

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct source like = {.later = cases[i].len, .laters = 1, .result = cases[i].result};
        struct source sources[] = {like, like, like};
        sources[0].first = cases[i].len;
        sources[1].first = 100;
        sources[2].first = 4194304;
        for (size_t at = 0; at < 3; at++) {
            sources[at].ending = at == 0 ? 1 : 2;
            assert_code(cases[i].code, save_from(fixture->store, read_source, &sources[at], &error));
            assert_message("artifact \"a\"");
            assert_message(cases[i].message);
        }
    }
    assert_no_artifact(fixture->store, &key, "a");
    assert_sound(fixture);
}

/* Each time, other calls on the same store, among them a long save that reads as well. */
static int read_and_call(void *context, char *buffer, size_t capacity, size_t *len, ses_error *own)
{
    struct source *source = context;
    ses_error error;
    (void)own;

    *len = 0;
    if (source->calls++ == 3)
        return SES_OK;
    assert_true(capacity > 0);
    must_save(source->store, &key, "within", "bytes");
    must_append_by_key(source->store, &key, "{}");
    assert_artifact(source->store, &key, "within", NULL, "bytes");
    struct source inner = {.first = 4194304, .later = 10, .laters = 2};
    const ses_artifact_save_options options = {
        .size = sizeof options, .read = read_source, .read_context = &inner};
    assert_ok(ses_artifact_save_by_key(source->store, &key, "a", NULL, SES_NUL, &options, NULL, &error));
    memset(buffer, 'y', capacity);
    *len = capacity;
    return SES_OK;
}

TEST(a_function_may_call_the_library)
{
    struct source source = {.store = fixture->store};
    ses_artifact_list *list;

    must_create(fixture->store, &key, NULL);
    assert_ok(save_from(fixture->store, read_and_call, &source, &error));
    assert_ok(ses_artifact_versions_by_key(fixture->store, &key, "a", NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 4);
    assert_int_equal(ses_artifact_list_at(list, 0)->size, 4194324);
    assert_int_equal(ses_artifact_list_at(list, 3)->size, 12582912);
    ses_artifact_list_close(list);
    assert_int_equal(count_versions(fixture->store, &key, "within"), 3);
    assert_sound(fixture);
}

/* The user goes while a long artifact of theirs is written, or the session does. */
static int read_and_delete(void *context, char *buffer, size_t capacity, size_t *len, ses_error *own)
{
    struct source *source = context;
    ses_error error;

    if (source->calls++ == 1) {
        if (source->laters)
            must_delete(source->store, &key);
        else
            assert_ok(ses_delete_user(source->store, "app", "user", NULL, NULL, NULL, &error));
    }
    memset(buffer, 'z', capacity);
    *len = source->calls < 4 ? capacity : 0;
    (void)own;
    return SES_OK;
}

TEST(its_owner_is_deleted_meanwhile)
{
    for (int of_session = 0; of_session < 2; of_session++) {
        struct source source = {.store = fixture->store, .laters = of_session};
        must_create(fixture->store, &key, NULL);
        assert_code(SES_NOTFOUND, save_from(fixture->store, read_and_delete, &source, &error));
        assert_no_artifact(fixture->store, &key, "a");
        assert_sound(fixture);
    }
}

/* -------------------------------------------------------------------------------------------------- names */

static void append_named(ses_store *store, const char *name, const char *expected)
{
    ses_append_options options = {.size = sizeof options};
    ses_session *session;
    ses_error error;

    assert_ok(ses_artifacts_open(store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, name, "attached", SES_NUL, NULL, &error));
    assert_ok(ses_append_by_key(store, &key, "{}", SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
    session = must_get(store, &key);
    const ses_event *event = ses_session_event(session, ses_session_event_count(session) - 1);
    if (!strstr(event->json, expected))
        fail_msg("%s: %s", expected, event->json);
    ses_session_close(session);
}

TEST(any_text_is_a_name)
{
    static const char *const names[][2] = {
        {"..", "{'..':1}"},
        {".", "{'.':1}"},
        {"/etc/passwd", "{'/etc/passwd':1}"},
        {"a/../b", "{'a/../b':1}"},
        {"C:\\x", "{'C:\\\\x':1}"},
        {"\xF0\x9F\x98\x80", "{'\xF0\x9F\x98\x80':1}"},
        {" ", "{' ':1}"},
        {"a\nb\x01", "{'a\\nb\\u0001':1}"},
        {"'; DROP TABLE artifacts; --", "1}"},
        {"x/versions/7", "{'x/versions/7':1}"},
        {"{artifact.x}%s", "{'{artifact.x}%s':1}"},
        {"user:", "{'user:':1}"},
        {"user:user:", "{'user:user:':1}"},
        {"User:a", "{'User:a':1}"},
        {"user", "{'user':1}"},
    };

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[20];
        snprintf(text, sizeof text, "text %d", (int)i);
        assert_int_equal(must_save(fixture->store, &key, names[i][0], text), 0);
        assert_artifact(fixture->store, &key, names[i][0], NULL, text);
        append_named(fixture->store, names[i][0], Q(names[i][1]));
        assert_artifact(fixture->store, &key, names[i][0], NULL, "attached");
    }
    assert_sound(fixture);
}

/* The user's artifacts need no prefix by key; the same name twice is the same artifact. */
TEST(names_of_users)
{
    const ses_key user = {"app", "user", NULL};
    char name[SES_ID_MAX + 2];

    assert_int_equal(must_save(fixture->store, &user, "a", "1"), 0);
    assert_int_equal(must_save(fixture->store, &user, "user:a", "2"), 1);
    assert_int_equal(must_save(fixture->store, &key, "user:a", "3"), 2);
    assert_int_equal(must_save(fixture->store, &user, "user:", "4"), 0);
    memset(name, 'n', sizeof name);
    name[SES_ID_MAX - 5] = '\0';
    assert_int_equal(must_save(fixture->store, &user, name, "longest"), 0);
    name[SES_ID_MAX - 5] = 'n';
    name[SES_ID_MAX - 4] = '\0';
    assert_code(SES_INVALID,
                ses_artifact_save_by_key(fixture->store, &user, name, "", 0, NULL, NULL, &error));
    assert_sound(fixture);
}

/* Members of an event's delta that are no names of artifacts stay as they are. */
TEST(deltas_that_name_no_artifact)
{
    static const char *const deltas[] = {
        "{'a\\u0000b':0}", "{'':0}",   "{'a':-1}",      "{'a':4294967295}", "{'a':1e3}",      "{'a':null}",
        "{'a':'0'}",       "{'a':{}}", "{'a':9,'a':0}", "{'user:a':0}",     "{'a\\ud800':0}", "{'\\u0061':0}",
    };
    const ses_point before = {.size = sizeof before, .kind = SES_POINT_SEQ, .seq = 1};

    for (size_t i = 0; i < sizeof deltas / sizeof deltas[0]; i++) {
        char event[300];
        must_create(fixture->store, &key, NULL);
        must_save(fixture->store, &key, "kept", "bytes");
        must_append_by_key(fixture->store, &key, Q("{'id':'e1','invocationId':'i1'}"));
        snprintf(event, sizeof event,
                 "{\"id\":\"e2\",\"invocationId\":\"i2\",\"actions\":{\"artifactDelta\":%s}}", deltas[i]);
        const int code = ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, NULL, &error);
        if (code == SES_OK) {
            assert_ok(ses_fork_by_key(fixture->store, &key, &before, &(ses_key){"app", "user", "fork"}, NULL,
                                      NULL, &error));
            assert_artifact(fixture->store, &(ses_key){"app", "user", "fork"}, "kept", NULL, "bytes");
            assert_ok(ses_rewind_by_key(fixture->store, &key, &before, NULL, NULL, &error));
            assert_ok(ses_cut_by_key(fixture->store, &key, &before, NULL, NULL, &error));
        } else {
            assert_true(code == SES_INVALID || code == SES_JSON || code == SES_RANGE);
        }
        assert_artifact(fixture->store, &key, "kept", NULL, "bytes");
        assert_sound(fixture);
        assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    }
}

/* ------------------------------------------------------------------------------------------------ structs */

/* A struct of an older header ends earlier; one of a newer one has more members, which must be zero. */
TEST(structs_of_other_headers)
{
    ses_store *store = fixture->store;
    struct {
        ses_artifact_save_options known;
        int64_t later;
    } newer = {.known = {.size = sizeof newer}};
    struct {
        ses_artifact_list_options known;
        int64_t later;
    } newer_list = {.known = {.size = sizeof newer_list}};
    struct {
        ses_artifact_open_options known;
        int64_t later;
    } newer_open = {.known = {.size = sizeof newer_open}};
    const ses_artifact_save_options older = {.size = offsetof(ses_artifact_save_options, mime_type),
                                             .mime_type = (const char *)1,
                                             .max_bytes = -1};
    const ses_artifact_save_options small = {.size = 1};
    const ses_artifact_list_options small_list = {.size = 1};
    const ses_artifact_open_options small_open = {.size = 1};
    ses_artifact_list *list = (ses_artifact_list *)1;
    ses_artifact *artifact = (ses_artifact *)1;

    must_create(store, &key, NULL);
    assert_ok(ses_artifact_save_by_key(store, &key, "a", "", 0, &newer.known, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, &key, "a", "", 0, &older, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_save_by_key(store, &key, "a", "", 0, &small, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_names_by_key(store, &key, &small_list, &list, &error));
    assert_null(list);
    assert_code(SES_MISUSE, ses_artifact_open_by_key(store, &key, "a", &small_open, &artifact, &error));
    assert_null(artifact);
    newer.later = newer_list.later = newer_open.later = 1;
    assert_code(SES_MISUSE, ses_artifact_save_by_key(store, &key, "a", "", 0, &newer.known, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_versions_by_key(store, &key, "a", &newer_list.known, &list, &error));
    assert_code(SES_MISUSE, ses_artifact_open_by_key(store, &key, "a", &newer_open.known, &artifact, &error));
    assert_int_equal(count_versions(store, &key, "a"), 2);
}

/* --------------------------------------------------------------------------------------------------- NULL */

TEST(null_everywhere)
{
    ses_store *store = fixture->store;
    const ses_key no_app = {NULL, "user", "s"};
    const ses_key no_user = {"app", NULL, NULL};
    const ses_key no_session = {"app", "user", NULL};
    ses_session *session = must_open_new(store, &key, NULL);
    ses_artifact_list *list = NULL;
    ses_artifact *artifact = NULL;
    ses_artifacts *artifacts = NULL;
    char byte;
    size_t len;

    assert_code(SES_MISUSE, ses_artifact_save(NULL, "a", "", 0, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_artifact_save(session, NULL, "", 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_save(session, "a", NULL, SES_NUL, NULL, NULL, &error));
    assert_int_equal(ses_artifact_save(session, "a", NULL, 0, NULL, NULL, NULL), SES_OK);
    assert_int_equal(ses_artifact_save_by_key(NULL, &key, "a", "", 0, NULL, NULL, NULL), SES_MISUSE);
    assert_code(SES_MISUSE, ses_artifact_save_by_key(store, NULL, "a", "", 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_save_by_key(store, &no_app, "a", "", 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_save_by_key(store, &no_user, "a", "", 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_open(NULL, "a", NULL, &artifact, &error));
    assert_code(SES_MISUSE, ses_artifact_open(session, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_open_by_key(store, NULL, "a", NULL, &artifact, &error));
    assert_code(SES_MISUSE, ses_artifact_names(NULL, NULL, &list, &error));
    assert_code(SES_MISUSE, ses_artifact_names(session, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_names_by_key(store, NULL, NULL, &list, &error));
    assert_code(SES_INVALID, ses_artifact_versions(session, NULL, NULL, &list, &error));
    assert_int_equal(ses_artifact_versions_by_key(store, &key, "a", NULL, NULL, NULL), SES_MISUSE);
    assert_code(SES_INVALID, ses_artifact_delete(session, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_delete_by_key(store, NULL, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_read(NULL, 0, &byte, 1, &len, &error));
    assert_int_equal(ses_artifact_open(session, "a", NULL, &artifact, NULL), SES_OK);
    assert_code(SES_MISUSE, ses_artifact_read(artifact, 0, NULL, 1, &len, &error));
    assert_code(SES_MISUSE, ses_artifact_read(artifact, 0, &byte, 1, NULL, &error));
    assert_code(SES_INVALID, ses_artifact_read(artifact, -1, &byte, 1, &len, &error));
    assert_int_equal(ses_artifact_read(artifact, INT64_MAX, &byte, 1, &len, NULL), SES_OK);
    assert_int_equal(len, 0);
    ses_artifact_close(artifact);
    ses_artifact_close(NULL);
    ses_artifact_list_close(NULL);
    assert_code(SES_MISUSE, ses_artifacts_open(NULL, &key, &artifacts, &error));
    assert_code(SES_MISUSE, ses_artifacts_open(store, NULL, &artifacts, &error));
    assert_code(SES_MISUSE, ses_artifacts_open(store, &key, NULL, &error));
    assert_code(SES_MISUSE, ses_artifacts_open(store, &no_session, &artifacts, &error));
    assert_code(SES_MISUSE, ses_artifacts_add(NULL, "a", "", 0, NULL, &error));
    assert_code(SES_MISUSE, ses_artifacts_offload(NULL, 1, &error));
    assert_int_equal(ses_artifacts_open(store, &key, &artifacts, NULL), SES_OK);
    assert_code(SES_INVALID, ses_artifacts_add(artifacts, NULL, "", 0, NULL, &error));
    assert_code(SES_INVALID, ses_artifacts_offload(artifacts, -1, &error));
    assert_int_equal(ses_artifacts_version(artifacts, SIZE_MAX), -1);
    ses_artifacts_close(artifacts);
    ses_artifacts_close(NULL);
    ses_session_close(session);
    assert_sound(fixture);
}

/* ------------------------------------------------------------------------------------------------ handles */

/* A session of the same name is another one, whose artifacts begin with version 0. */
TEST(a_session_that_was_made_again)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_artifact_list *list;
    ses_artifact *artifact;
    ses_artifact *again;
    char byte;
    size_t len;
    int64_t version = -1;

    must_save(fixture->store, &key, "a", "bytes");
    assert_ok(ses_artifact_open(session, "a", NULL, &artifact, &error));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_artifact_save(session, "a", "x", 1, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_artifact_open(session, "a", NULL, &again, &error));
    assert_ok(ses_artifact_names(session, NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 0);
    ses_artifact_list_close(list);
    must_create(fixture->store, &key, NULL);
    assert_int_equal(must_save(fixture->store, &key, "a", "bytes"), 0);
    assert_code(SES_NOTFOUND, ses_artifact_read(artifact, 0, &byte, 1, &len, &error));
    assert_ok(ses_artifact_save(session, "a", "x", 1, NULL, &version, &error)); /* it goes by the name */
    assert_int_equal(version, 1);
    ses_artifact_close(artifact);
    ses_session_close(session);
    assert_sound(fixture);
}

/* An outdated handle saves and reads artifacts, and appends as it would without them. */
TEST(a_stale_handle)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_append_options options = {.size = sizeof options};

    must_append_by_key(fixture->store, &key, "{}");
    assert_ok(ses_artifact_save(session, "a", "1", 1, NULL, NULL, &error));
    assert_artifact(fixture->store, &key, "a", NULL, "1");
    assert_ok(ses_artifacts_open(fixture->store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, "a", "2", 1, NULL, &error));
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_int_equal(count_versions(fixture->store, &key, "a"), 1);
    must_refresh(session);
    assert_ok(ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_artifact(fixture->store, &key, "a", NULL, "2");
    ses_artifacts_close(options.artifacts);
    ses_session_close(session);
    assert_sound(fixture);
}

/* Objects that outlive their store report that, and can be closed. */
TEST(a_store_that_is_closed)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_append_options options = {.size = sizeof options};
    static char bytes[4194304 + 10];
    ses_artifact_list *list;
    ses_artifact *artifact;
    size_t len;

    assert_ok(ses_artifact_save(session, "a", "1", 1, NULL, NULL, &error));
    assert_ok(ses_artifact_open(session, "a", NULL, &artifact, &error));
    assert_ok(ses_artifact_names(session, NULL, &list, &error));
    assert_ok(ses_artifacts_open(fixture->store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, "long", bytes, sizeof bytes, NULL, &error));
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_string_equal(ses_artifact_info_of(artifact)->name, "a");
    assert_string_equal(ses_artifact_list_at(list, 0)->name, "a");
    assert_code(SES_MISUSE, ses_artifact_read(artifact, 0, bytes, 1, &len, &error));
    assert_code(SES_MISUSE, ses_artifact_save(session, "a", "1", 1, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_delete(session, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_artifacts_add(options.artifacts, "a", "", 0, NULL, &error));
    assert_code(SES_MISUSE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
    ses_artifact_list_close(list);
    ses_artifact_close(artifact);
    ses_session_close(session);
    fixture_reopen(fixture);
    assert_artifact(fixture->store, &key, "a", NULL, "1");
}

/* ------------------------------------------------------------------------------------------- other stores */

TEST(a_store_that_is_only_read)
{
    ses_append_options append = {.size = sizeof append};
    static char bytes[4194304 + 10];
    ses_artifacts *artifacts;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "1");
    fixture->options.flags |= SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_artifact(fixture->store, &key, "a", NULL, "1");
    assert_int_equal(count_versions(fixture->store, &key, "a"), 1);
    assert_code(SES_READONLY, ses_artifact_save_by_key(fixture->store, &key, "a", "", 0, NULL, NULL, &error));
    assert_code(SES_READONLY,
                ses_artifact_save_by_key(fixture->store, &key, "a", bytes, sizeof bytes, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, NULL, &error));
    assert_ok(ses_artifacts_open(fixture->store, &key, &artifacts, &error));
    assert_ok(ses_artifacts_add(artifacts, "a", "", 0, NULL, &error));
    assert_code(SES_READONLY, ses_artifacts_add(artifacts, "b", bytes, sizeof bytes, NULL, &error));
    append.artifacts = artifacts;
    assert_code(SES_READONLY, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &append, NULL, &error));
    ses_artifacts_close(artifacts);
}

TEST(a_store_in_memory)
{
    static char bytes[4194304 + 10];
    ses_store *store;
    ses_artifact *artifact;
    size_t len;

    assert_ok(ses_open(":memory:", NULL, &store, &error));
    must_create(store, &key, NULL);
    must_save(store, &key, "a", "1");
    bytes[sizeof bytes - 1] = 'e';
    assert_ok(ses_artifact_save_by_key(store, &key, "long", bytes, sizeof bytes, NULL, NULL, &error));
    assert_ok(ses_artifact_open_by_key(store, &key, "long", NULL, &artifact, &error));
    bytes[sizeof bytes - 1] = '\0';
    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error));
    assert_int_equal(len, sizeof bytes);
    assert_int_equal(bytes[sizeof bytes - 1], 'e');
    ses_artifact_close(artifact);
    must_delete(store, &key);
    assert_no_artifact(store, &key, "a");
    ses_close(store);
}

/* ------------------------------------------------------------------------------ before there is a session */

static const ses_artifact_save_options anyway = {.size = sizeof anyway,
                                                 .flags = SES_ARTIFACT_WITHOUT_SESSION};

static int give_no_event(void *context, ses_loaded_event *event, ses_error *error)
{
    (void)context;
    (void)event;
    (void)error;
    return 0;
}

TEST(a_session_that_comes_later_has_them)
{
    static const ses_key later[] = {{"app", "user", "created"}, {"app", "user", "loaded"}};
    const ses_loaded loaded = {.size = sizeof loaded, .next = give_no_event};

    for (size_t i = 0; i < 2; i++)
        assert_ok(
            ses_artifact_save_by_key(fixture->store, &later[i], "a", "early", 5, &anyway, NULL, &error));
    must_create(fixture->store, &later[0], NULL);
    assert_ok(ses_load(fixture->store, &later[1], &loaded, NULL, NULL, &error));
    for (size_t i = 0; i < 2; i++) {
        assert_artifact(fixture->store, &later[i], "a", NULL, "early");
        assert_int_equal(must_save(fixture->store, &later[i], "a", "later"), 1);
        must_delete(fixture->store, &later[i]);
        assert_no_artifact(fixture->store, &later[i], "a");
    }
    assert_sound(fixture);
}

/* Versions of the same number would be two things: the fork is refused. */
static void check_fork_onto(struct fixture *fixture, const char *user)
{
    const ses_key to = {"app", user, "fork"};
    const ses_point now = {.size = sizeof now, .kind = SES_POINT_NOW};
    const ses_fork_options other = {.size = sizeof other, .flags = SES_FORK_OTHER_USER};
    ses_error error;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "one");
    must_save(fixture->store, &key, "a", "two");
    assert_ok(ses_artifact_save_by_key(fixture->store, &to, "a", "early", 5, &anyway, NULL, &error));
    assert_ok(ses_artifact_save_by_key(fixture->store, &to, "b", "early", 5, &anyway, NULL, &error));
    assert_code(SES_EXISTS, ses_fork_by_key(fixture->store, &key, &now, &to, &other, NULL, &error));
    assert_message("artifacts of app/");
    assert_artifact(fixture->store, &to, "a", NULL, "early");
    assert_artifact(fixture->store, &to, "b", NULL, "early");
    assert_sound(fixture);
    assert_ok(ses_artifact_delete_by_key(fixture->store, &to, "a", NULL, NULL, &error));
    assert_ok(ses_artifact_delete_by_key(fixture->store, &to, "b", NULL, NULL, &error));
    assert_ok(ses_fork_by_key(fixture->store, &key, &now, &to, &other, NULL, &error));
    assert_artifact(fixture->store, &to, "a", NULL, "two");
    assert_ok(ses_delete_app(fixture->store, "app", NULL, NULL, &error));
}

TEST(a_fork_to_a_place_that_has_some)
{
    check_fork_onto(fixture, "user");
    check_fork_onto(fixture, "another");
}
