/* A session that is loaded is as it was: what is kept, what is refused, and what becomes of one that is
 * there. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"
#include "history.h"

/* Events that a test gives: single quotes are double ones. */
struct source {
    const char *const *events;
    const int64_t *seqs;       /* NULL: counted */
    const int64_t *updated_us; /* of the last event; NULL: counted */
    size_t count;
    size_t asked;
    int ends_with; /* after the events */
    ses_loaded loaded;
};

static int next_event_of(void *context, ses_loaded_event *event, ses_error *error)
{
    struct source *source = context;

    (void)error;
    assert_int_equal(event->seq, 0);
    if (source->asked == source->count)
        return source->ends_with;
    event->json = Q(source->events[source->asked]);
    event->json_len = SES_NUL;
    event->seq = source->seqs ? source->seqs[source->asked] : 0;
    source->asked++;
    if (source->asked == source->count)
        event->updated_us = source->updated_us;
    return 1;
}

static const int64_t created = 1000000;

/* The events that ses_load takes, from the first on. */
static const ses_loaded *given(struct source *source)
{
    source->asked = 0;
    source->loaded.size = sizeof source->loaded;
    source->loaded.next = next_event_of;
    source->loaded.next_context = source;
    if (!source->loaded.created_us)
        source->loaded.created_us = &created;
    return &source->loaded;
}

static int load_with(ses_store *store, struct source *source, unsigned flags, ses_load_result *result,
                     ses_error *error)
{
    const ses_load_options options = {.size = sizeof options, .flags = flags};
    return ses_load(store, &key, given(source), &options, result, error);
}

static const char *const plain_events[] = {
    "{'id':'e1','timestamp':2,'invocationId':'i1','actions':{'stateDelta':{'k':1.10,'user:u':1}}}",
    (" {'id':'e2', "
     "'timestamp':7,'invocationId':'i2','actions':{'stateDelta':{'gone':'__ADK_SENTINEL_REMOVED__'}}}\n"),
    "{'id':'e3','timestamp':5,'invocationId':'i3','actions':{'stateDelta':{'k':2,'l':'x'}}}"};

static struct source plain(void)
{
    return (struct source){
        .events = plain_events,
        .count = 3,
        .loaded = {.initial_state = "{\"gone\":1,\"app:a\":1,\"i\":[1, 2]}", .initial_state_len = SES_NUL}};
}

static void must_load(ses_store *store, struct source *source)
{
    ses_error error;
    assert_ok(load_with(store, source, 0, NULL, &error));
}

/* ----------------------------------------------------------------------------------------------- loading */

TEST_FILE_AND_MEMORY(a_loaded_session_is_as_it_was)
{
    static const ses_label labels[] = {{"b", "2"}, {"a", ""}};
    const int64_t seqs[] = {3, 4, 9};
    const int64_t expires = 5;
    const int64_t updated = 9000000;
    const int64_t after = 8000000;
    ses_store *store = fixture->store;
    struct source source = plain();
    ses_load_result result;

    source.seqs = seqs;
    source.updated_us = &after;
    source.loaded.updated_us = &updated;
    source.loaded.expires_us = &expires;
    source.loaded.version = &(int64_t){77};
    source.loaded.last_seq = 12;
    source.loaded.title = "Title";
    source.loaded.labels = labels;
    source.loaded.label_count = 2;
    source.loaded.parent = &(ses_key){NULL, "other", "p"};
    source.loaded.parent_seq = 4;
    source.loaded.state = "{\"l\":\"x\",\"k\":2,\"i\":[1, 2]}";
    source.loaded.state_len = SES_NUL;
    assert_ok(load_with(store, &source, 0, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_NEW);
    assert_int_equal(result.events, 3);
    assert_int_equal(result.version, 77);
    assert_string_equal(result.session, "session");
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_version(session), 77);
    assert_int_equal(ses_session_last_seq(session), 12);
    assert_int_equal(ses_session_stored(session), 3);
    assert_int_equal(ses_session_created_us(session), created);
    assert_int_equal(ses_session_updated_us(session), updated);
    assert_int_equal(ses_session_expires_us(session), expires);
    assert_string_equal(ses_session_title(session), "Title");
    assert_int_equal(ses_session_label_count(session), 2);
    assert_string_equal(ses_session_label_value(session, "b"), "2");
    int64_t parent_seq = 0;
    assert_string_equal(ses_session_parent(session, &parent_seq)->session, "p");
    assert_string_equal(ses_session_parent(session, NULL)->app, "app");
    assert_int_equal(parent_seq, 4);
    assert_string_equal(stored_seqs(store, &key), "3 4 9");
    assert_string_equal(ses_session_event(session, 1)->json, Q(plain_events[1]));
    assert_int_equal(ses_session_event(session, 1)->time_us, 7000000);
    assert_state(session, "{\"i\":[1, 2],\"k\":2,\"l\":\"x\"}");
    assert_as_of(store, &key, AFTER_SEQ(3), "{\"gone\":1,\"i\":[1, 2],\"k\":1.10}");
}

TEST(omitted_members_are_computed)
{
    const ses_loaded nothing = {.size = sizeof nothing};
    const ses_key other = {"app", "user", "nothing"};
    struct source source = plain();

    must_load(fixture->store, &source);
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_version(session), 3);
    assert_int_equal(ses_session_last_seq(session), 3);
    assert_int_equal(ses_session_updated_us(session), 7000000);
    assert_true(ses_session_expires_us(session) == INT64_MAX);
    ses_session_close(session);
    assert_ok(ses_load(fixture->store, &other, &nothing, NULL, NULL, &error));
    session = must_get(fixture->store, &other);
    assert_int_equal(ses_session_created_us(session), fixture->now);
    assert_int_equal(ses_session_version(session), 0);
    assert_state(session, "{}");
}

TEST(shared_scopes_stay_as_they_are)
{
    ses_store *store = fixture->store;
    struct source source = plain();
    char *json = NULL;

    assert_ok(ses_shared_state_change(store, "app", NULL, "{\"a\":7}", SES_NUL, NULL, &error));
    must_load(store, &source);
    assert_stored_state(store, &key, "{\"app:a\":7,\"i\":[1, 2],\"k\":2,\"l\":\"x\"}");
    assert_ok(ses_shared_state_json(store, "app", "user", NULL, &json, NULL, &error));
    assert_string_equal(json, "{}");
    ses_free(json);
    assert_ok(ses_state_json_initial_by_key(store, &key, NULL, &json, NULL, &error));
    assert_string_equal(json, source.loaded.initial_state);
    ses_free(json);
}

TEST(a_missing_id_or_time_is_added_and_temp_keys_are_cut)
{
    static const char *const events[] = {"{'actions':{'stateDelta':{'temp:t':1,'k':1}}}"};
    struct source source = {.events = events, .count = 1};

    must_load(fixture->store, &source);
    ses_session *session = must_get(fixture->store, &key);
    const ses_event *event = ses_session_event(session, 0);
    assert_int_equal(event->time_us, fixture->now);
    assert_int_equal(strlen(event->id), 36);
    assert_non_null(strstr(event->json, Q("'actions':{'stateDelta':{'k':1}}")));
    assert_state(session, "{\"k\":1}");
}

/* Rewinds and compactions count as if they had been appended. */
TEST(history_goes_on_after_loading)
{
    static const char *const events[] = {
        "{'id':'a','timestamp':1,'invocationId':'i1','author':'user','content':{'parts':[{'text':'x'}]},"
        "'actions':{'stateDelta':{'k':1}}}",
        "{'id':'b','timestamp':2,'invocationId':'i2','actions':{'stateDelta':{'k':2}}}",
        "{'id':'c','timestamp':3,'invocationId':'r','actions':{'rewindBeforeInvocationId':'i2','stateDelta':{"
        "'k':1}}}",
        "{'id':'d','timestamp':4,'invocationId':'c','actions':{'compaction':{'startTimestamp':1,'"
        "endTimestamp':1,"
        "'compactedContent':{'parts':[{'text':'sum'}]}}}}"};
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    ses_store *store = fixture->store;
    struct source source = {.events = events, .count = 4};
    ses_session *session = NULL;

    must_load(store, &source);
    assert_ok(ses_get(store, &key, GET_RANGE(&live), &session, &error));
    assert_int_equal(ses_session_event_count(session), 2);
    ses_session_close(session);
    assert_query(fixture->path, "SELECT seq, kind, target_seq FROM event_marks", "3|1|2\n4|2|NULL\n");
    assert_code(SES_UNCHANGED, ses_redo_by_key(store, &key, NULL, NULL, &error));
    must_say(store, &key, "i5", "user", Q("{'k':5}"));
    must_rewind(store, &key, AFTER_SEQ(4));
    assert_stored_state(store, &key, "{\"k\":1}");
    assert_ok(ses_cut_by_key(store, &key, AFTER_SEQ(2), NULL, NULL, &error));
    assert_stored_state(store, &key, "{\"k\":2}");
}

TEST(a_pruned_log_is_loaded_with_its_base)
{
    static const ses_loaded_value base[] = {
        {"k", " {\"z\": 1} ", SES_NUL, 5}, {"app:a", "2", 1, 0}, {"gone", "1", 1, 7}};
    const int64_t seqs[] = {8, 9, 10};
    struct source source = plain();

    source.seqs = seqs;
    source.loaded.initial_state = "{\"app:a\":2,\"k\":1}";
    source.loaded.initial_state_len = SES_NUL;
    source.loaded.base_seq = 7;
    source.loaded.base = base;
    source.loaded.base_count = 3;
    must_load(fixture->store, &source);
    assert_as_of(fixture->store, &key, AFTER_SEQ(7), "{\"gone\":1,\"k\":{\"z\": 1}}");
    assert_as_of(fixture->store, &key, AFTER_SEQ(10), "{\"k\":2,\"l\":\"x\"}");
    assert_stored_state(fixture->store, &key, "{\"k\":2,\"l\":\"x\"}");
    char *json = NULL;
    assert_code(SES_NOTFOUND,
                ses_state_json_as_of_by_key(fixture->store, &key, AFTER_SEQ(6), NULL, &json, NULL, &error));
    assert_query(fixture->path, "SELECT key, value, seq FROM base_state ORDER BY key",
                 "app:a|2|0\ngone|1|7\nk|{\"z\": 1}|5\n");
    assert_query(fixture->path, "SELECT key, seq FROM session_state ORDER BY key", "k|10\nl|10\n");
    assert_int_equal(load_with(fixture->store, &source, 0, NULL, &error), SES_UNCHANGED);
}

TEST(a_different_base_is_a_different_session)
{
    static const ses_loaded_value bases[][3] = {{{"a", "1", 1, 5}, {"b", "2", 1, 6}},
                                                {{"a", "1", 1, 5}, {"b", "3", 1, 6}},
                                                {{"a", "1", 1, 5}, {"c", "2", 1, 6}},
                                                {{"a", "1", 1, 5}, {"b", "2", 1, 7}},
                                                {{"a", "1", 1, 5}},
                                                {{"a", "1", 1, 5}, {"b", "2", 1, 6}, {"c", "3", 1, 6}}};
    const int64_t seqs[] = {8, 9, 10};
    ses_store *store = fixture->store;
    struct source source = plain();

    source.seqs = seqs;
    source.loaded.base_seq = 7;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        source.loaded.base = bases[i];
        source.loaded.base_count = i == 4 ? 1 : i == 5 ? 3 : 2;
        assert_int_equal(load_with(store, &source, 0, NULL, &error), i == 0 ? SES_OK : SES_EXISTS);
        if (i > 0)
            assert_message("base");
    }
}

TEST(the_version_is_kept_but_never_that_of_a_deleted_session)
{
    ses_store *store = fixture->store;
    const ses_append_options old = {.size = sizeof old, .flags = SES_AT_VERSION, .version = 2};
    struct source source = plain();
    ses_load_result result;

    must_load(store, &source);
    must_append_by_key(store, &key, "{}");
    must_delete(store, &key);
    source.loaded.version = &(int64_t){2};
    assert_ok(load_with(store, &source, 0, &result, &error));
    assert_int_equal(result.version, 5);
    assert_code(SES_STALE, ses_append_by_key(store, &key, "{}", SES_NUL, &old, NULL, &error));
    must_delete(store, &key);
    source.loaded.version = &(int64_t){1000};
    assert_ok(load_with(store, &source, 0, &result, &error));
    assert_int_equal(result.version, 1000);
}

/* ---------------------------------------------------------------------------------------- one that exists */

TEST(loading_twice_changes_nothing)
{
    struct source source = plain();
    ses_load_result result;

    must_load(fixture->store, &source);
    char *before = describe_stored(fixture->store, &key);
    for (unsigned flags = 0; flags < 4; flags++) {
        assert_int_equal(
            load_with(fixture->store, &source, flags == 3 ? SES_LOAD_RENAME : flags, &result, &error),
            SES_UNCHANGED);
        assert_int_equal(result.outcome, SES_LOADED_EQUAL);
        assert_int_equal(result.events, 0);
        assert_int_equal(result.version, 3);
        assert_string_equal(result.session, "session");
    }
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    assert_query(fixture->path, "SELECT count(*) FROM sessions", "1\n");
    free(before);
    free(after);
}

/* One thing of the plain session is different. */
static void make_unlike(struct source *source, int number)
{
    static const ses_label label = {"l", "v"};
    static const ses_key parent = {NULL, "u", "p"};
    static const int64_t time = 8000000;
    static const int64_t early = 2;
    static const int64_t seqs[] = {1, 2, 4};
    static const char *const others[] = {
        "{'id':'e1','timestamp':2,'invocationId':'i1','actions':{'stateDelta':{'k':1.10,'user:u':1}}}",
        "{'id':'other','timestamp':6}", "{'id':'e3','timestamp':5}"};

    switch (number) {
    case 0:
        source->loaded.created_us = &early;
        break;
    case 1:
        source->loaded.updated_us = &time;
        break;
    case 2:
        source->loaded.expires_us = &time;
        break;
    case 3:
        source->loaded.title = "T";
        break;
    case 4:
        source->loaded.labels = &label, source->loaded.label_count = 1;
        break;
    case 5:
        source->loaded.parent = &parent;
        break;
    case 6:
        source->loaded.initial_state = "{}";
        break;
    case 7:
        source->loaded.last_seq = 9;
        break;
    case 8:
        source->seqs = seqs;
        break;
    case 9:
        source->events = others;
        break;
    case 10:
        source->count = 2;
        break;
    default:
        source->count = 0;
        break;
    }
}
enum { UNLIKE = 12 };

TEST_FILE_AND_MEMORY(a_different_session_is_never_touched)
{
    static const char *const words[UNLIKE] = {
        "time of creation", "update time", "expiry",           "title",
        "labels",           "parent",      "initial state",    "last sequence number",
        "event 4",          "event 2",     "number of events", "number of events"};
    ses_store *store = fixture->store;
    struct source first = plain();

    must_load(store, &first);
    char *before = describe_stored(store, &key);
    for (int i = 0; i < UNLIKE; i++) {
        struct source source = plain();
        ses_load_result result = {.outcome = -1};
        make_unlike(&source, i);
        assert_code(SES_EXISTS, load_with(store, &source, 0, &result, &error));
        assert_message(words[i]);
        assert_code(SES_EXISTS, load_with(store, &source, SES_LOAD_UPDATE, &result, &error));
        assert_int_equal(result.outcome, -1);
        char *after = describe_stored(store, &key);
        assert_string_equal(after, before);
        free(after);
    }
    free(before);
}

/* However much of it was there already, a session that replaces another is as if it had been loaded alone. */
TEST(a_different_session_can_be_replaced)
{
    ses_store *store = fixture->store;

    for (int i = 0; i < UNLIKE; i++) {
        struct source first = plain();
        struct source source = plain();
        ses_load_result result;
        must_load(store, &first);
        ses_session *old = must_get(store, &key);
        make_unlike(&source, i);
        assert_ok(load_with(store, &source, SES_LOAD_REPLACE, &result, &error));
        assert_int_equal(result.outcome, SES_LOADED_REPLACED);
        assert_true(result.version > ses_session_version(old));
        assert_code(SES_NOTFOUND, ses_append(old, "{}", SES_NUL, NULL, NULL, &error));
        ses_session_close(old);
        assert_int_equal(load_with(store, &source, 0, NULL, &error), SES_UNCHANGED);
        assert_query(
            fixture->path,
            "SELECT count(*) FROM (SELECT session_id FROM events UNION SELECT session_id FROM session_state)"
            " WHERE session_id NOT IN (SELECT id FROM sessions)",
            "0\n");
        char *json = NULL;
        assert_ok(ses_state_json_as_of_by_key(store, &key, NULL, NULL, &json, NULL, &error));
        assert_stored_state(store, &key, json);
        ses_free(json);
        must_delete(store, &key);
    }
}

TEST(a_different_session_can_be_loaded_beside_it)
{
    ses_store *store = fixture->store;
    struct source first = plain();
    ses_load_result result;

    must_load(store, &first);
    char *before = describe_stored(store, &key);
    for (int i = 0; i < UNLIKE; i++) {
        char expected[32];
        struct source source = plain();
        make_unlike(&source, i);
        assert_ok(load_with(store, &source, SES_LOAD_RENAME, &result, &error));
        assert_int_equal(result.outcome, SES_LOADED_RENAMED);
        snprintf(expected, sizeof expected, "session~%d", i + 2);
        assert_string_equal(result.session, expected);
        /* a second time it is there, and nothing is written */
        assert_int_equal(load_with(store, &source, SES_LOAD_RENAME, &result, &error), SES_UNCHANGED);
        assert_string_equal(result.session, expected);
        assert_int_equal(result.outcome, SES_LOADED_EQUAL);
    }
    assert_query(fixture->path, "SELECT count(*) FROM sessions", "13\n");
    char *after = describe_stored(store, &key);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

TEST(another_name_is_still_an_id)
{
    ses_store *store = fixture->store;
    char name[SES_ID_MAX + 1];
    const ses_key of = {"app", "user", name};
    const ses_load_options rename = {.size = sizeof rename, .flags = SES_LOAD_RENAME};
    ses_load_result result;

    for (size_t i = 0; i < SES_ID_MAX; i += 2)
        memcpy(name + i, "\xC3\xA9", 2);
    name[SES_ID_MAX] = '\0';
    must_create(store, &of, NULL);
    struct source source = plain();
    assert_ok(ses_load(store, &of, given(&source), &rename, &result, &error));
    assert_int_equal(strlen(result.session), SES_ID_MAX);
    assert_string_equal(result.session + SES_ID_MAX - 2, "~2");
    struct source other = plain();
    other.count = 1;
    assert_ok(ses_load(store, &of, given(&other), &rename, &result, &error));
    assert_string_equal(result.session + SES_ID_MAX - 4, "\xC3\xA9~3");
}

TEST(events_that_the_existing_session_lacks_are_added)
{
    ses_store *store = fixture->store;
    struct source source = plain();
    ses_load_result result;

    source.count = 1;
    must_load(store, &source);
    ses_session *session = must_get(store, &key);
    source = plain();
    assert_ok(load_with(store, &source, SES_LOAD_UPDATE | SES_LOAD_REPLACE, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_UPDATED);
    assert_int_equal(result.events, 2);
    assert_int_equal(result.version, 3);
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    must_refresh(session);
    assert_int_equal(ses_session_event_count(session), 3);
    assert_state(session, "{\"i\":[1, 2],\"k\":2,\"l\":\"x\"}");
    assert_handle_is_current(store, session);
    ses_session_close(session);
    assert_int_equal(load_with(store, &source, 0, NULL, &error), SES_UNCHANGED);
    assert_as_of(store, &key, AFTER_SEQ(1), "{\"gone\":1,\"i\":[1, 2],\"k\":1.10}");
}

TEST(a_dry_run_changes_nothing)
{
    static const struct {
        unsigned flags;
        int outcome;
    } runs[] = {{SES_LOAD_UPDATE, SES_LOADED_UPDATED},
                {SES_LOAD_REPLACE, SES_LOADED_REPLACED},
                {SES_LOAD_RENAME, SES_LOADED_RENAMED}};
    struct source source = plain();
    ses_load_result result;

    assert_ok(load_with(fixture->store, &source, SES_LOAD_DRY_RUN, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_NEW);
    assert_query(fixture->path, "SELECT count(*) FROM apps", "0\n");
    source.count = 1;
    must_load(fixture->store, &source);
    char *before = describe_stored(fixture->store, &key);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        source = plain();
        assert_ok(load_with(fixture->store, &source, runs[i].flags | SES_LOAD_DRY_RUN, &result, &error));
        assert_int_equal(result.outcome, runs[i].outcome);
        assert_int_equal(result.events, runs[i].outcome == SES_LOADED_RENAMED ? 3 : 2);
        char *after = describe_stored(fixture->store, &key);
        assert_string_equal(after, before);
        free(after);
        assert_query(fixture->path, "SELECT count(*) FROM sessions", "1\n");
    }
    free(before);
}

/* -------------------------------------------------------------------------------------------- refusals */

static void assert_refused(ses_store *store, struct source *source, int code, const char *words,
                           int64_t index)
{
    ses_session *session = NULL;
    ses_error error;

    assert_code(code, load_with(store, source, 0, NULL, &error));
    assert_message(words);
    assert_int_equal(error.index, index);
    assert_code(SES_NOTFOUND, ses_get(store, &key, NULL, &session, &error));
}

TEST_FILE_AND_MEMORY(events_that_are_none_are_refused)
{
    static const struct {
        const char *event;
        int code;
        const char *words;
    } cases[] = {{"{'id':'e1'}", SES_INVALID, "earlier event"},
                 {"{'id':'x','partial':true}", SES_INVALID, "partial"},
                 {"{'id':1}", SES_INVALID, "id"},
                 {"{'id':'x'", SES_JSON, "at byte"},
                 {"[]", SES_INVALID, "object"}};
    ses_store *store = fixture->store;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const events[] = {plain_events[0], plain_events[1], cases[i].event, "{}"};
        struct source source = {.events = events, .count = 4};
        assert_refused(store, &source, cases[i].code, cases[i].words, 2);
        assert_int_equal(source.asked, 3);
    }
}

TEST(numbers_and_times_that_cannot_be_are_refused)
{
    static const int64_t same[] = {1, 1, 3};
    static const int64_t negative[] = {1, -1, 3};
    static const int64_t large[] = {1, 2, INT64_C(1) << 32};
    static const int64_t early = 6999999;
    static const int64_t late = 7000001;
    static const int64_t never = INT64_MAX;
    ses_store *store = fixture->store;
    struct source source = plain();

    source.seqs = same;
    assert_refused(store, &source, SES_INVALID, "the one before", 1);
    source.seqs = negative;
    assert_refused(store, &source, SES_INVALID, "negative", 1);
    source.seqs = large;
    assert_refused(store, &source, SES_LIMIT, "2^32 - 1", 2);
    source = plain();
    source.updated_us = &early;
    assert_refused(store, &source, SES_INVALID, "update time", 2);
    source.updated_us = &late; /* nothing was cut between the last two */
    assert_refused(store, &source, SES_INVALID, "update time", 2);
    source = plain();
    source.loaded.updated_us = &early;
    assert_refused(store, &source, SES_INVALID, "updated_us", -1);
    source = plain();
    source.loaded.created_us = &never;
    assert_refused(store, &source, SES_INVALID, "years", -1);
    source = plain();
    source.loaded.last_seq = 2;
    assert_refused(store, &source, SES_INVALID, "last_seq", -1);
    source.loaded.last_seq = -1;
    assert_refused(store, &source, SES_INVALID, "sequence number", -1);
    source.loaded.last_seq = 0;
    source.loaded.parent = &(ses_key){NULL, "u", "p"};
    source.loaded.parent_seq = 1000;
    assert_refused(store, &source, SES_INVALID, "parent_seq", -1);
    source.loaded.parent_seq = -1;
    assert_refused(store, &source, SES_INVALID, "sequence number", -1);
    source.loaded.parent_seq = (INT64_C(1) << 32) - 1;
    assert_refused(store, &source, SES_INVALID, "parent_seq", -1);
    source.loaded.parent_seq = INT64_C(1) << 32;
    assert_refused(store, &source, SES_INVALID, "sequence number", -1);
}

/* Values may be nested 999 deep, wherever they are given. */
TEST(a_state_as_deep_as_can_be_is_loaded)
{
    enum { DEPTH = 999 };
    ses_store *store = fixture->store;
    struct source source = plain();
    struct text deep = {NULL, 0};

    text_printf(&deep, "{\"k\":");
    for (int i = 0; i < DEPTH; i++)
        text_add(&deep, "[", 1);
    for (int i = 0; i < DEPTH; i++)
        text_add(&deep, "]", 1);
    text_add(&deep, "}", 1);
    source.count = 0;
    source.loaded.initial_state = deep.data;
    source.loaded.initial_state_len = deep.len;
    source.loaded.state = deep.data;
    source.loaded.state_len = deep.len;
    assert_ok(load_with(store, &source, 0, NULL, &error));
    free(deep.data);
}

/* A session may have any version up to the bound, and its deletion leaves all others enough. */
TEST(a_version_above_2_to_the_52_is_refused)
{
    const int64_t most = INT64_C(1) << 52;
    const ses_key other = {"other", "user", "session"};
    ses_store *store = fixture->store;
    struct source source = plain();
    ses_load_result result;

    source.loaded.version = &(int64_t){most + 1};
    assert_refused(store, &source, SES_INVALID, "2^52", -1);
    source.loaded.version = &(int64_t){-1};
    assert_refused(store, &source, SES_INVALID, "2^52", -1);
    source.loaded.version = &most;
    assert_ok(load_with(store, &source, 0, &result, &error));
    assert_true(result.version == most);
    must_delete(store, &key);
    must_create(store, &other, NULL);
    must_append_by_key(store, &other, "{}");
    assert_no_problems(store);
}

TEST(an_own_state_that_the_log_does_not_lead_to_is_refused)
{
    static const char *const states[][2] = {{"{\"i\":[1,2],\"k\":2,\"l\":\"x\"}", "\"i\""},
                                            {"{\"i\":[1, 2],\"k\":2}", "\"l\""},
                                            {"{\"i\":[1, 2],\"k\":2,\"l\":\"x\",\"m\":1}", "\"m\""},
                                            {"{\"i\":[1, 2],\"k\":2,\"l\":\"x\",\"app:a\":1}", "\"app:a\""},
                                            {"{\"i\":[1, 2],\"k\":2,\"l\":" REMOVED "}", "\"l\""}};
    ses_store *store = fixture->store;

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        struct source source = plain();
        source.loaded.state = states[i][0];
        source.loaded.state_len = SES_NUL;
        assert_refused(store, &source, SES_INVALID, states[i][1], -1);
    }
}

TEST(a_base_that_cannot_be_is_refused)
{
    static const ses_loaded_value bases[][2] = {{{"k", "1", 1, 1}, {"k", "2", 1, 1}},
                                                {{"i", "7", 1, 0}}, /* the initial state has another value */
                                                {{"k", "1", 1, 0}}, /* or none */
                                                {{"k", "1", 1, 8}},
                                                {{"temp:k", "1", 1, 0}},
                                                {{"k", "tru", 3, 0}},
                                                {{"k", REMOVED, SES_NUL, 0}},
                                                {{"\xFF", "1", 1, 0}}};
    static const int codes[] = {SES_INVALID, SES_INVALID, SES_INVALID, SES_INVALID,
                                SES_INVALID, SES_JSON,    SES_INVALID, SES_INVALID};
    ses_store *store = fixture->store;

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct source source = {.loaded = {.initial_state = "{\"i\":1}",
                                           .initial_state_len = SES_NUL,
                                           .base_seq = 7,
                                           .base = bases[i],
                                           .base_count = bases[i][1].name ? 2 : 1}};
        assert_refused(store, &source, codes[i], "the base", -1);
        source.loaded.base_seq = 0;
        assert_refused(store, &source, SES_INVALID, "cannot have a base", -1);
    }
}

TEST(wrong_calls_are_refused)
{
    ses_store *store = fixture->store;
    struct source source = plain();

    assert_code(SES_MISUSE, ses_load(store, &key, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, load_with(store, &source, 0x100, NULL, &error));
    assert_code(SES_MISUSE, load_with(store, &source, SES_SECURE, NULL, &error)); /* of another call */
    assert_code(SES_MISUSE, load_with(store, &source, SES_LOAD_REPLACE | SES_LOAD_RENAME, NULL, &error));
    assert_code(SES_MISUSE,
                ses_load(store, &(ses_key){"app", "user", NULL}, given(&source), NULL, NULL, &error));
    assert_code(SES_INVALID, ses_load(store, &(ses_key){"app", "", "s"}, given(&source), NULL, NULL, &error));
    source.loaded.parent = &(ses_key){"other", "user", "s"};
    assert_refused(store, &source, SES_INVALID, "another app", -1);
    source.loaded.parent = &(ses_key){NULL, "user", ""};
    assert_refused(store, &source, SES_INVALID, "the parent: the session id", -1);
    source = plain();
    source.loaded.title = "";
    assert_refused(store, &source, SES_INVALID, "title", -1);
    source = plain();
    source.loaded.initial_state = "[]";
    assert_refused(store, &source, SES_INVALID, "initial state", -1);
    source.loaded.initial_state = "{";
    assert_refused(store, &source, SES_JSON, "initial state", -1);
}

TEST(limits_hold_for_what_is_loaded)
{
    static const char *const untimed[] = {"{}", "{'id':'e2','author':'somebody else'}"};
    struct source source = plain();

    fixture->options.max_session_events = 2;
    fixture_reopen(fixture);
    assert_refused(fixture->store, &source, SES_LIMIT, "max_session_events", 2);
    fixture->options.max_session_events = 0;
    fixture->options.max_event_bytes = 30;
    fixture_reopen(fixture);
    source.events = untimed;
    source.count = 2;
    assert_refused(fixture->store, &source, SES_LIMIT, "max_event_bytes", 1);
}

TEST(a_read_only_store_loads_nothing)
{
    struct source source = plain();

    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_code(SES_READONLY, load_with(fixture->store, &source, 0, NULL, &error));
    assert_int_equal(source.asked, 0);
}

/* -------------------------------------------------------------------------------- the function that gives */

TEST(the_function_can_end_the_call)
{
    ses_store *store = fixture->store;
    struct source source = plain();

    source.ends_with = SES_IO;
    assert_refused(store, &source, SES_IO, "has ended the call", -1);
    for (int odd = -1000; odd >= -1003; odd--) { /* no codes */
        source.ends_with = odd;
        assert_refused(store, &source, SES_IO, "returned -100", -1);
    }
    source.ends_with = 2;
    assert_refused(store, &source, SES_MISUSE, "returned 2", -1);
}

struct meddler {
    ses_store *store;
    int read;
    int written;
    ses_error error;
};

static int meddle(void *context, ses_loaded_event *event, ses_error *error)
{
    const ses_key other = {"app", "user", "other"};
    struct meddler *meddler = context;
    ses_session *session = NULL;

    (void)event;
    meddler->read = ses_get(meddler->store, &other, NULL, &session, error);
    ses_session_close(session);
    meddler->written = ses_append_by_key(meddler->store, &other, "{}", SES_NUL, NULL, NULL, error);
    meddler->error = *error;
    return 0;
}

TEST(the_function_may_read_from_the_store_but_not_write)
{
    struct meddler meddler = {.store = NULL};
    const ses_loaded loaded = {.size = sizeof loaded, .next = meddle, .next_context = &meddler};

    fixture->options.busy_timeout_ms = support_on_server() ? 0 : 20;
    fixture_reopen(fixture);
    meddler.store = fixture->store;
    must_create(fixture->store, &(ses_key){"app", "user", "other"}, NULL);
    assert_ok(ses_load(fixture->store, &key, &loaded, NULL, NULL, &error));
    assert_int_equal(meddler.read, SES_OK);
    assert_int_equal(meddler.written, support_on_server() ? SES_OK : SES_BUSY); /* there others may write */
}

struct other_writer {
    ses_store *store;
    pthread_t thread;
    size_t given;
    bool started;
    int code;
};

static void *append_beside(void *context)
{
    struct other_writer *writer = context;
    ses_error error;

    writer->code = ses_append_by_key(writer->store, &(ses_key){"app", "user", "other"}, "{}", SES_NUL, NULL,
                                     NULL, &error);
    return NULL;
}

static int give_slowly(void *context, ses_loaded_event *event, ses_error *error)
{
    struct other_writer *writer = context;

    (void)error;
    if (writer->given == 20)
        return SES_INVALID;
    if (writer->given++ == 3) {
        assert_int_equal(pthread_create(&writer->thread, NULL, append_beside, writer), 0);
        writer->started = true;
    }
    support_pause_us(2000);
    event->json = "{}";
    event->json_len = 2;
    return 1;
}

/* A call that waits meanwhile is neither lost with a load that fails nor run on another thread. */
TEST(other_writers_wait_and_do_not_share_the_transaction)
{
    struct other_writer writer = {.store = fixture->store, .code = SES_INTERNAL};
    const ses_loaded loaded = {.size = sizeof loaded, .next = give_slowly, .next_context = &writer};

    must_create(fixture->store, &(ses_key){"app", "user", "other"}, NULL);
    assert_code(SES_INVALID, ses_load(fixture->store, &key, &loaded, NULL, NULL, &error));
    assert_true(writer.started);
    assert_int_equal(pthread_join(writer.thread, NULL), 0);
    assert_int_equal(writer.code, SES_OK);
    assert_query(fixture->path, "SELECT name, event_count FROM sessions", "other|1\n");
}

enum { LOADERS = 4, LOADS = 30 };

struct loader {
    pthread_t thread;
    ses_store *store;
    int news;
    int code; /* below 0: the first failure */
};

static void *load_the_same(void *context)
{
    const ses_loaded loaded = {.size = sizeof loaded, .created_us = &created};
    struct loader *loader = context;

    for (int i = 0; i < LOADS && loader->code >= 0; i++) {
        ses_load_result result;
        char name[20];
        ses_error error;
        snprintf(name, sizeof name, "session%d", i);
        loader->code =
            ses_load(loader->store, &(ses_key){"app", "user", name}, &loaded, NULL, &result, &error);
        loader->news += loader->code == SES_OK && result.outcome == SES_LOADED_NEW;
        if (loader->code < 0)
            print_error("%s\n", error.message);
    }
    return NULL;
}

TEST(one_of_several_concurrent_loads_makes_it)
{
    struct loader loaders[LOADERS];
    int news = 0;

    for (int i = 0; i < LOADERS; i++) {
        loaders[i] = (struct loader){.store = fixture->store};
        assert_int_equal(pthread_create(&loaders[i].thread, NULL, load_the_same, &loaders[i]), 0);
    }
    for (int i = 0; i < LOADERS; i++) {
        assert_int_equal(pthread_join(loaders[i].thread, NULL), 0);
        assert_true(loaders[i].code >= 0);
        news += loaders[i].news;
    }
    assert_int_equal(news, LOADS);
}

struct reader {
    sqlite3 *db;
    atomic_bool given; /* the function has ended, so the commit is next */
};

static void *end_reading(void *context)
{
    struct reader *reader = context;

    while (!atomic_load(&reader->given))
        support_pause_us(1000);
    support_pause_us(100000);
    return sqlite3_exec(reader->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? context : NULL;
}

static int give_nothing_late(void *context, ses_loaded_event *event, ses_error *error)
{
    struct reader *reader = context;

    (void)event, (void)error;
    support_pause_us(1100000);
    atomic_store(&reader->given, true);
    return 0;
}

/* With a rollback journal the commit waits for readers: for the whole timeout, however long the function
 * took. */
TEST(the_time_of_the_function_is_not_that_of_waiting)
{
    struct reader reader = {.db = NULL};
    const ses_loaded loaded = {.size = sizeof loaded, .next = give_nothing_late, .next_context = &reader};
    pthread_t thread;
    void *ended = NULL;

    fixture->options.busy_timeout_ms = 1000;
    fixture->options.journal = SES_JOURNAL_ROLLBACK;
    fixture_reopen(fixture);
    reader.db = raw_open(fixture->path);
    raw_run(reader.db, "BEGIN; SELECT count(*) FROM sessions");
    assert_int_equal(pthread_create(&thread, NULL, end_reading, &reader), 0);
    assert_ok(ses_load(fixture->store, &key, &loaded, NULL, NULL, &error));
    assert_int_equal(pthread_join(thread, &ended), 0);
    assert_non_null(ended);
    assert_int_equal(sqlite3_close(reader.db), SQLITE_OK);
}

static void count_notice(void *context)
{
    ++*(int *)context;
}

MEMORY_TEST(followers_are_not_told_of_a_dry_run)
{
    ses_store *store = fixture->store;
    const ses_key of_user = {"app", "user", NULL};
    int notices = 0;
    const ses_follow_options options = {
        .size = sizeof options, .notify = count_notice, .notify_context = &notices};
    struct source source = plain();
    const ses_event *event = NULL;
    ses_follower *follower = NULL;

    assert_ok(ses_follower_open(store, &of_user, &options, &follower, &error));
    assert_ok(ses_follower_next(follower, 0, &event, &error));
    assert_ok(load_with(store, &source, SES_LOAD_DRY_RUN, NULL, &error));
    assert_int_equal(notices, 0);
    must_load(store, &source);
    assert_int_equal(notices, 1);
    ses_follower_close(follower);
}

TEST(followers_are_told)
{
    ses_store *store = fixture->store;
    const ses_key of_user = {"app", "user", NULL};
    struct source source = plain();
    const ses_event *event = NULL;
    ses_follower *follower = NULL;

    assert_ok(ses_follower_open(store, &of_user, NULL, &follower, &error));
    assert_ok(ses_follower_next(follower, 0, &event, &error));
    must_load(store, &source);
    for (size_t i = 0; i < 3; i++)
        assert_code(SES_ROW, ses_follower_next(follower, 5000, &event, &error));
    assert_ok(ses_follower_next(follower, 0, &event, &error));
    make_unlike(&source, 9);
    assert_ok(load_with(store, &source, SES_LOAD_REPLACE, NULL, &error));
    assert_code(SES_RESET, ses_follower_next(follower, 5000, &event, &error));
    ses_follower_close(follower);
}
