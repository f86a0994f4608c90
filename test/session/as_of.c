/* The state of a session as it was at any point of its log. */
#include "history.h"

static void begin(const struct fixture *fixture)
{
    must_create(fixture->store, &key, Q("{'a':1,'app:x':1,'b':[1, 2],'user:y':1,'temp:z':1}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e1','invocationId':'i1','actions':{'stateDelta':{'a':2,'c':1.10}}}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'e2','invocationId':'i1'}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e3','invocationId':'i2','author':'user','content':{'parts':[{'text':'x'}]},"
                         "'actions':{'state_delta':{'b':'__ADK_SENTINEL_REMOVED__','app:x':2,'app:n':1,'a':3,"
                         "'temp:t':1,'a':4}}}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e4','invocationId':'i2','actions':{'stateDelta':{'b':null,'user:y':"
                         "'__ADK_SENTINEL_REMOVED__'}}}"));
}

/* ------------------------------------------------------------------------------------------- points */

TEST(every_point_has_its_state)
{
    static const char *const expected[] = {"{'a':1,'b':[1, 2]}", "{'a':2,'b':[1, 2],'c':1.10}",
                                           "{'a':2,'b':[1, 2],'c':1.10}", "{'a':4,'c':1.10}",
                                           "{'a':4,'b':null,'c':1.10}"};

    begin(fixture);
    for (int seq = 0; seq <= 4; seq++)
        assert_as_of(fixture->store, &key, AFTER_SEQ(seq), Q(expected[seq]));
    assert_as_of(fixture->store, &key, NULL, Q(expected[4]));
    assert_as_of(fixture->store, &key, AFTER_EVENT("e1"), Q(expected[1]));
    assert_as_of(fixture->store, &key, AFTER_EVENT("e3"), Q(expected[3]));
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("i1"), Q(expected[0]));
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("i2"), Q(expected[2]));
    assert_as_of(fixture->store, &key, LAST_TURN, Q(expected[2]));
}

TEST(an_invocation_is_found_whatever_its_id)
{
    static const struct {
        const char *json; /* the id, as the event has it */
        const char *id;
    } invocations[] = {
        {"a", "a"},
        {"ab", "ab"},
        {"a\\\",\\\"author\\\":\\\"user", "a\",\"author\":\"user"}, /* as the text of the first goes on */
        {"a\\\\", "a\\"},
        {"a'b\xc3\xa4%_", "a'b\xc3\xa4%_"},
        {"\\u00e4", "\xc3\xa4"},
        {"\xc3\xa4\\u00e4", "\xc3\xa4\xc3\xa4"},
    };
    enum { COUNT = sizeof invocations / sizeof invocations[0] };

    must_create(fixture->store, &key, Q("{'n':-1}"));
    for (int i = 0; i < COUNT; i++) {
        char event[160];
        snprintf(event, sizeof event,
                 "{\"invocationId\":\"%s\",\"author\":\"user\",\"actions\":{\"stateDelta\":{\"n\":%d}}}",
                 invocations[i].json, i);
        must_append_by_key(fixture->store, &key, event);
    }
    for (int i = 0; i < COUNT; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "{\"n\":%d}", i - 1);
        assert_as_of(fixture->store, &key, BEFORE_INVOCATION(invocations[i].id), expected);
    }
}

TEST(shared_keys_that_the_session_wrote_are_there_on_request)
{
    const ses_as_of_options shared = {.size = sizeof shared, .flags = SES_AS_OF_SHARED};
    static const char *const expected[] = {
        "{'app:x':1,'user:y':1,'a':1,'b':[1, 2]}", "{'app:x':1,'user:y':1,'a':2,'b':[1, 2],'c':1.10}",
        "{'app:x':1,'user:y':1,'a':2,'b':[1, 2],'c':1.10}", "{'app:n':1,'app:x':2,'user:y':1,'a':4,'c':1.10}",
        "{'app:n':1,'app:x':2,'a':4,'b':null,'c':1.10}"};
    const ses_key other = {"app", "user", "other"};

    begin(fixture);
    must_create(fixture->store, &other, Q("{'app:x':9,'user:y':9}"));
    for (int seq = 0; seq <= 4; seq++) {
        char *json = NULL;
        size_t len = 0;
        assert_ok(
            ses_state_json_as_of_by_key(fixture->store, &key, AFTER_SEQ(seq), &shared, &json, &len, &error));
        assert_string_equal(json, Q(expected[seq]));
        assert_int_equal(len, strlen(json));
        ses_free(json);
    }
}

TEST(points_that_are_not_there)
{
    const struct {
        const ses_point *point;
        int code;
        const char *message;
    } cases[] = {
        {AFTER_SEQ(5), SES_NOTFOUND, "there is no event 5: the last event is 4"},
        {AFTER_SEQ(-1), SES_INVALID, "seq is negative"},
        {AFTER_EVENT("e5"), SES_NOTFOUND, "there is no event \"e5\""},
        {AFTER_EVENT(""), SES_INVALID, "the id is empty"},
        {AFTER_EVENT(NULL), SES_MISUSE, "point.id"},
        {BEFORE_INVOCATION("i3"), SES_NOTFOUND, "there is no invocation \"i3\""},
        {BEFORE_INVOCATION(""), SES_INVALID, "the id is empty"},
        {&(ses_point){.size = sizeof(ses_point), .kind = 5}, SES_MISUSE, "SES_POINT_"},
        {&(ses_point){.size = sizeof(ses_point), .kind = -1}, SES_MISUSE, "SES_POINT_"},
        {&(ses_point){.size = 0}, SES_MISUSE, "point"},
    };

    begin(fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *json = (char *)&json;
        assert_code(cases[i].code, ses_state_json_as_of_by_key(fixture->store, &key, cases[i].point, NULL,
                                                               &json, NULL, &error));
        assert_message(cases[i].message);
        assert_null(json);
    }
}

TEST(a_pruned_point_says_from_where_history_is_known)
{
    char *json = NULL;

    begin(fixture);
    raw_exec(fixture->path, "DELETE FROM events WHERE position & 4294967295 <= 2;"
                            "INSERT INTO base_state VALUES (1, 'a', '2', 1), (1, 'b', '[1, 2]', 0), (1, 'c', "
                            "'1.10', 1), (1, 'app:x', '1', 0);"
                            "UPDATE sessions SET base_seq = 2, event_count = 2");
    assert_as_of(fixture->store, &key, AFTER_SEQ(2), Q("{'a':2,'b':[1, 2],'c':1.10}"));
    assert_as_of(fixture->store, &key, AFTER_SEQ(3), Q("{'a':4,'c':1.10}"));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':4,'b':null,'c':1.10}"));
    assert_code(SES_NOTFOUND,
                ses_state_json_as_of_by_key(fixture->store, &key, AFTER_SEQ(1), NULL, &json, NULL, &error));
    assert_message("known from the point after event 2 on");
    assert_code(SES_NOTFOUND, ses_state_json_as_of_by_key(fixture->store, &key, AFTER_EVENT("e1"), NULL,
                                                          &json, NULL, &error));
    assert_message("events up to 2 were pruned");
    assert_code(SES_NOTFOUND, ses_state_json_as_of_by_key(fixture->store, &key, BEFORE_INVOCATION("i1"), NULL,
                                                          &json, NULL, &error));
    assert_message("events up to 2 were pruned");
    assert_ok(ses_state_json_initial_by_key(fixture->store, &key, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'a':1,'app:x':1,'b':[1, 2],'user:y':1}"));
    ses_free(json);
}

/* ------------------------------------------------------------------------------------------- handles */

TEST(now_is_the_handle_s_own_last_event)
{
    char *json = NULL;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'a':5}}}"));
    assert_ok(ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'a':4,'b':null,'c':1.10}"));
    ses_free(json);
    assert_ok(ses_state_json_as_of(session, AFTER_SEQ(5), NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'a':5,'b':null,'c':1.10}"));
    ses_free(json);
    must_refresh(session);
    assert_ok(ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'a':5,'b':null,'c':1.10}"));
    ses_free(json);
}

TEST(a_handle_that_was_cut_under_is_stale)
{
    char *json = (char *)&json;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    raw_exec(fixture->path, "UPDATE sessions SET version = version + 1");
    assert_code(SES_STALE, ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    assert_int_equal(error.version, 5);
    assert_null(json);
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    assert_code(SES_NOTFOUND, ses_state_json_initial(session, NULL, &json, NULL, &error));
}

/* ------------------------------------------------------------------------------------- initial states */

TEST(the_initial_state_keeps_its_bytes)
{
    const ses_key empty = {"app", "user", "empty"};
    const char *const given = Q("{ 'b' : 1e400, 'app:x':{'y': null} ,'a':'\\u0000'}");
    char *json = NULL;
    size_t len = 0;

    must_create(fixture->store, &key, given);
    must_create(fixture->store, &empty, Q("{'temp:x':1}"));
    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'a':5}}}"));
    ses_session *session = must_get(fixture->store, &key);
    assert_ok(ses_state_json_initial(session, NULL, &json, &len, &error));
    assert_string_equal(json, given);
    assert_int_equal(len, strlen(given));
    ses_free(json);
    ses_session_close(session);
    assert_ok(ses_state_json_initial_by_key(fixture->store, &empty, NULL, &json, NULL, &error));
    assert_string_equal(json, "{}");
    ses_free(json);
    assert_as_of(fixture->store, &empty, AFTER_SEQ(0), "{}");
}

/* -------------------------------------------------------------------------------------------- misuse */

TEST(arguments_are_checked)
{
    const ses_as_of_options unknown = {.size = sizeof unknown, .flags = 0x80};
    const ses_key nobody = {"app", "user", "nobody"};
    const ses_key nameless = {"app", "user", ""};
    char *json = NULL;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_code(SES_MISUSE, ses_state_json_as_of(NULL, NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_as_of(session, NULL, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_as_of(session, NULL, &unknown, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_initial(NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_initial(session, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_as_of_by_key(NULL, &key, NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE,
                ses_state_json_as_of_by_key(fixture->store, NULL, NULL, NULL, &json, NULL, &error));
    assert_code(SES_INVALID,
                ses_state_json_as_of_by_key(fixture->store, &nameless, NULL, NULL, &json, NULL, &error));
    assert_code(SES_NOTFOUND,
                ses_state_json_as_of_by_key(fixture->store, &nobody, NULL, NULL, &json, NULL, &error));
    assert_code(SES_NOTFOUND,
                ses_state_json_initial_by_key(fixture->store, &nobody, NULL, &json, NULL, &error));
}

/* -------------------------------------------------------------------------------------------- damage */

PLAIN_TEST(a_log_that_cannot_be_replayed_is_corrupt)
{
    void *made = NULL;

    static const char *const damages[] = {
        "UPDATE session_details SET initial_state = '[]'",
        "UPDATE session_details SET initial_state = '{\"a\":1'",
        "UPDATE events SET body = '[]' WHERE position & 4294967295 = 2",
        "UPDATE events SET body = '{\"actions\":{\"stateDelta\":5}}' WHERE position & 4294967295 = 2",
        "UPDATE sessions SET base_seq = 2, event_count = 2; INSERT INTO base_state VALUES (1, 'k', '1', 3)",
        "UPDATE sessions SET base_seq = 2, event_count = 2; INSERT INTO base_state VALUES (1, 'k', '1', -1)",
        "UPDATE sessions SET base_seq = 2, event_count = 2; INSERT INTO base_state VALUES (1, 'k', '{', 1)",
        "UPDATE sessions SET base_seq = 5",
        "UPDATE sessions SET base_seq = -1",
    };

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char *json = NULL;
        (void)fixture_setup(&made);
        const struct fixture *fixture = made;
        begin(fixture);
        raw_exec(fixture->path,
                 "DROP TRIGGER guard_events_update; DROP TRIGGER guard_session_details_update");
        raw_exec(fixture->path, damages[i]);
        if (ses_state_json_as_of_by_key(fixture->store, &key, AFTER_SEQ(2), NULL, &json, NULL, &error) !=
            SES_CORRUPT) {
            print_error("%s: %s\n", damages[i], json);
            fail();
        }
        (void)fixture_teardown(&made);
    }
}
