/* Inputs and results of the ADK's own rewind: vectors/rewind.json. */
#include <cjson/cJSON.h>

#include "history.h"

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static char *print(const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    assert_non_null(text);
    return text;
}

static void play_log(ses_store *store, const ses_key *of, const cJSON *one)
{
    const cJSON *event = NULL;
    char *initial = print(member(one, "initialState"));

    must_create(store, of, initial);
    free(initial);
    cJSON_ArrayForEach(event, member(one, "events"))
    {
        char *text = print(event);
        must_append_by_key(store, of, text);
        free(text);
    }
}

static void assert_same_json(const char *name, const char *text, const cJSON *expected)
{
    cJSON *parsed = cJSON_Parse(text);

    assert_non_null(parsed);
    if (!cJSON_Compare(parsed, expected, 1)) {
        char *wanted = print(expected);
        print_error("%s: %s\n    not %s\n", name, text, wanted);
        fail();
    }
    cJSON_Delete(parsed);
}

static void assert_state_is(ses_store *store, const ses_key *of, const char *name, const cJSON *expected)
{
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_by_key(store, of, NULL, &json, NULL, &error));
    assert_same_json(name, json, expected);
    ses_free(json);
}

/* The last event, of the form that the ADK gives it. */
static void assert_form(ses_store *store, const ses_key *of, const cJSON *one)
{
    const cJSON *appended = member(one, "appended");
    ses_session *session = must_get(store, of);
    const ses_event *last = ses_session_event(session, ses_session_event_count(session) - 1);
    cJSON *own = cJSON_Parse(last->json);

    assert_string_equal(last->author, "user");
    assert_true(strncmp(last->invocation_id, "e-", 2) == 0);
    assert_int_equal(strlen(last->invocation_id), 38);
    assert_string_equal(member(member(own, "actions"), "rewindBeforeInvocationId")->valuestring,
                        member(member(appended, "actions"), "rewindBeforeInvocationId")->valuestring);
    assert_true(cJSON_IsObject(member(member(own, "actions"), "artifactDelta")));
    assert_null(member(own, "content"));
    cJSON_Delete(own);
    ses_session_close(session);
}

static void check_case(const struct fixture *fixture, const cJSON *one)
{
    const char *name = member(one, "name")->valuestring;
    const ses_key of = {name, "user", "session"};
    const char *before = member(one, "rewindBeforeInvocationId")->valuestring;
    ses_appended appended;
    ses_error error;

    play_log(fixture->store, &of, one);
    assert_state_is(fixture->store, &of, name, member(one, "stateBefore"));
    int64_t count = cJSON_GetArraySize(member(one, "events"));
    int code = ses_rewind_by_key(fixture->store, &of, BEFORE_INVOCATION(before), NULL, &appended, &error);
    if (member(one, "error")) {
        assert_int_equal(code, SES_NOTFOUND);
        assert_state_is(fixture->store, &of, name, member(one, "stateBefore"));
    } else if (code == SES_UNCHANGED) {
        assert_state_is(fixture->store, &of, name, member(one, "stateBefore"));
        assert_state_is(fixture->store, &of, name, member(one, "exactMerged"));
    } else {
        assert_ok(code);
        assert_int_equal(appended.seq, ++count);
        assert_state_is(fixture->store, &of, name, member(one, "exactMerged"));
        assert_same_json(name, as_of(fixture->store, &of, NULL), member(one, "exact"));
        assert_form(fixture->store, &of, one);
    }
    ses_session *session = must_get(fixture->store, &of);
    assert_int_equal(ses_session_event_count(session), count);
    ses_session_close(session);
}

TEST(every_case_ends_where_it_was)
{
    const cJSON *one = NULL;
    char *text = support_test_data("vectors/rewind.json", NULL);

    if (!text)
        skip();
    cJSON *vectors = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(member(vectors, "cases")), 44);
    cJSON_ArrayForEach(one, member(vectors, "cases")) check_case(fixture, one);
    cJSON_Delete(vectors);
    free(text);
}
