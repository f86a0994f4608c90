/* The same event again: a retry is safe, and another event of the same id is refused. */
#include "session/append.h"

static const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

/* Events that are stored first, and retried later. */
static const char *const events[] = {
    "{'id':'whole','timestamp':17e8,'invocationId':'i','actions':{'stateDelta':{'a':1}}}",
    "{'id':'timeless','actions':{'stateDelta':{'b':1,'app:b':1}}}",
    "{'author':'x','timestamp':null,'id':'null time','actions':{'stateDelta':{'user:c':1}}}",
    "{ 'id' : 'temp' , 'actions':{ 'state_delta':{ 'temp:d':1 , 'd' : 1.10 }}}\n",
    "{'id':'only temp','actions':{'stateDelta':{'temp:e':1}}}",
    "{'id':'removes','timestamp':1,'actions':{'stateDelta':{'a':" REMOVED "}}}",
    "{'id':'\\u0065scaped','content':{'parts':[]}}",
};

enum { COUNT = sizeof events / sizeof events[0] };

static void store_events(struct fixture *fixture, ses_session **session, ses_appended first[COUNT])
{
    ses_error error;

    assert_ok(ses_create(fixture->store, &key, NULL, 0, NULL, session, &error));
    for (size_t i = 0; i < COUNT; i++) {
        fixture->now += 1000001;
        assert_ok(ses_append(*session, Q(events[i]), SES_NUL, NULL, &first[i], &error));
    }
}

static void assert_duplicate(const ses_appended *again, const ses_appended *first, int64_t version)
{
    assert_int_equal(again->status, SES_DUPLICATE);
    assert_int_equal(again->seq, first->seq);
    assert_int_equal(again->time_us, first->time_us);
    assert_int_equal(again->version, version);
    assert_string_equal(again->made_id, "");
}

/* Later events changed what these had set: a retry must not bring it back. */
static void overwrite(ses_session *session)
{
    must_append(session, Q("{'invocationId':'later','actions':{'stateDelta':{'a':9,'b':9,'app:b':9,"
                           "'user:c':" REMOVED ",'d':9,'temp:z':9}}}"));
}

TEST(a_retry_through_the_handle_changes_nothing)
{
    ses_session *session = NULL;
    ses_appended first[COUNT];
    ses_appended again;

    store_events(fixture, &session, first);
    overwrite(session);
    fixture->now += 5000000;
    char *before = describe(session, 1);
    for (size_t i = 0; i < COUNT; i++) {
        error.code = SES_IO;
        assert_code(SES_DUPLICATE, ses_append(session, Q(events[i]), SES_NUL, NULL, &again, &error));
        assert_int_equal(error.code, SES_OK);
        assert_string_equal(error.message, "");
        assert_duplicate(&again, &first[i], COUNT + 1);
        char *after = describe(session, 1);
        assert_string_equal(after, before);
        free(after);
        assert_handle_is_current(fixture->store, session);
    }
    free(before);
    ses_session_close(session);
}

TEST(a_retry_by_key_changes_nothing)
{
    ses_session *session = NULL;
    ses_appended first[COUNT];
    ses_appended again;

    store_events(fixture, &session, first);
    overwrite(session);
    ses_session_close(session);
    for (int reopened = 0; reopened < 2; reopened++) {
        char *before = describe_stored(fixture->store, &key);
        for (size_t i = 0; i < COUNT; i++) {
            fixture->now += 77;
            assert_code(SES_DUPLICATE,
                        ses_append_by_key(fixture->store, &key, Q(events[i]), SES_NUL, NULL, &again, &error));
            assert_duplicate(&again, &first[i], COUNT + 1);
        }
        char *after = describe_stored(fixture->store, &key);
        assert_string_equal(after, before);
        free(after);
        free(before);
        fixture_reopen(fixture);
    }
}

/* Events that were read from a session can be given back to it: the bytes are those that are stored. */
MEMORY_TEST(the_stored_bytes_are_a_retry)
{
    ses_session *session = NULL;
    ses_appended first[COUNT];
    ses_appended again;

    store_events(fixture, &session, first);
    must_append(session, Q("{'author':'made'}"));
    ses_session *stored = must_get(fixture->store, &key);
    for (size_t i = 0; i < COUNT + 1; i++) {
        const ses_event *event = ses_session_event(stored, i);
        assert_code(SES_DUPLICATE, ses_append(session, event->json, event->json_len, NULL, &again, &error));
        assert_int_equal(again.seq, event->seq);
        assert_int_equal(again.time_us, event->time_us);
    }
    assert_int_equal(ses_session_version(session), COUNT + 1);
    ses_session_close(session);
}

MEMORY_TEST(another_event_with_the_id_exists)
{
    static const char stored[] =
        "{\"id\":\"e\",\"timestamp\":5,\"author\":\"a\",\"actions\":{\"stateDelta\":{\"a\":1,\"temp:t\":1}}}";
    static const char with_other_temp[] =
        "{\"id\":\"e\",\"timestamp\":5,\"author\":\"a\",\"actions\":{\"stateDelta\":{\"a\":1,\"temp:t\":2}}}";
    static const char *const others[] = {
        "{'id':'e'}",
        "{'id':'e','timestamp':5,'author':'a'}",
        "{'id':'e','timestamp':5,'author':'b','actions':{'stateDelta':{'a':1,'temp:t':1}}}",
        "{'id':'e','timestamp':6,'author':'a','actions':{'stateDelta':{'a':1}}}",
        "{'id':'e','timestamp':5.0,'author':'a','actions':{'stateDelta':{'a':1}}}",
        "{'id':'e','timestamp':5,'author':'a','actions':{'stateDelta':{'a':1.0}}}",
        "{'id':'e','timestamp':5,'author':'a','actions':{'stateDelta':{'a':1,'b':1}}}",
        "{'id':'e','timestamp':5,'author':'a','actions':{'stateDelta':{'temp:a':1}}}",
        "{'id':'e','timestamp':5,'author':'a','actions':{'stateDelta':{'a':1}}} ",
        "{'id':'e', 'timestamp':5,'author':'a','actions':{'stateDelta':{'a':1}}}",
        "{'timestamp':5,'id':'e','author':'a','actions':{'stateDelta':{'a':1}}}",
        "{'id':'\\u0065','timestamp':5,'author':'a','actions':{'stateDelta':{'a':1}}}",
        "{'id':'e','author':'a','actions':{'stateDelta':{'a':1}}}",
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    must_append(session, stored);
    char *before = describe(session, 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_code(SES_EXISTS, ses_append(session, Q(others[i]), SES_NUL, NULL, NULL, &error));
        assert_message("\"e\"");
        assert_code(SES_EXISTS, ses_append(session, Q(others[i]), SES_NUL, &anyway, NULL, &error));
        assert_code(SES_EXISTS,
                    ses_append_by_key(fixture->store, &key, Q(others[i]), SES_NUL, NULL, NULL, &error));
    }
    char *after = describe(session, 1);
    assert_string_equal(after, before);
    assert_handle_is_current(fixture->store, session);
    /* Its temp: values are no part of the stored event: they make no difference. */
    assert_code(SES_DUPLICATE, ses_append(session, with_other_temp, SES_NUL, NULL, NULL, &error));
    assert_state(session, Q("{'a':1,'temp:t':1}"));
    free(before);
    free(after);
}

MEMORY_TEST(ids_belong_to_one_session)
{
    const ses_key another = {"app", "user", "another"};

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &another, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'e'}"));
    must_append_by_key(fixture->store, &another, Q("{'id':'e','author':'a'}"));
    /* Ids are compared byte by byte. */
    must_append_by_key(fixture->store, &key, Q("{'id':'E'}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'e '}"));
    /* A session that was made anew has none of the old ones. */
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND,
                ses_append_by_key(fixture->store, &key, Q("{'id':'e'}"), SES_NUL, NULL, NULL, &error));
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'e','author':'b'}"));
}

/* ------------------------------------------------------------------------------------- stale handles */

/* The answer to the first try was lost: the event is stored, and the handle does not know of it. */
MEMORY_TEST(a_retry_of_what_the_handle_has_not_seen)
{
    static const char event[] = "{\"id\":\"e\",\"invocationId\":\"i\",\"actions\":{\"stateDelta\":{"
                                "\"a\":1,\"app:a\":1,\"temp:t\":1}}}";

    for (int flags = 0; flags < 2; flags++) {
        const ses_append_options *options = flags ? &anyway : NULL;
        ses_session *session = must_open_new(fixture->store, &key, NULL);
        ses_appended first;
        ses_appended again;

        assert_ok(ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, &first, &error));
        fixture->now += 1000;
        assert_code(SES_DUPLICATE, ses_append(session, event, SES_NUL, options, &again, &error));
        assert_duplicate(&again, &first, first.version);
        assert_state(session, Q("{'app:a':1,'a':1,'temp:t':1}"));
        assert_int_equal(ses_session_event_count(session), 1);
        assert_handle_is_current(fixture->store, session);
        must_append(session, Q("{'invocationId':'i'}"));
        assert_handle_is_current(fixture->store, session);
        ses_session_close(session);
        must_delete(fixture->store, &key);
    }
}

MEMORY_TEST(a_retry_on_a_stale_handle)
{
    for (int flags = 0; flags < 2; flags++) {
        const ses_append_options *options = flags ? &anyway : NULL;
        ses_session *session = NULL;
        ses_appended first[COUNT];
        ses_appended again;
        store_events(fixture, &session, first);
        for (size_t i = 0; i < COUNT; i++) {
            int64_t version = ses_session_version(session) + 1;
            must_append_by_key(fixture->store, &key,
                               Q("{'invocationId':'else','actions':{'stateDelta':{'a':7,'app:b':7}}}"));
            fixture->now += 1000;
            assert_code(SES_DUPLICATE, ses_append(session, Q(events[i]), SES_NUL, options, &again, &error));
            assert_duplicate(&again, &first[i], version);
            /* Whether it caught up or not: nothing is there twice, and nothing is lost. */
            must_refresh(session);
            assert_handle_is_current(fixture->store, session);
        }
        ses_session_close(session);
        must_delete(fixture->store, &key);
    }
}

MEMORY_TEST(a_retry_at_an_older_version)
{
    ses_session *session = NULL;
    ses_appended first[COUNT];
    ses_appended again;

    store_events(fixture, &session, first);
    for (size_t i = 0; i < COUNT; i++) {
        const ses_append_options expected = {
            .size = sizeof expected, .flags = SES_AT_VERSION, .version = (int64_t)i};
        fixture->now += 1000;
        assert_code(SES_DUPLICATE, ses_append_by_key(fixture->store, &key, Q(events[i]), SES_NUL, &expected,
                                                     &again, &error));
        assert_duplicate(&again, &first[i], COUNT);
    }
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

MEMORY_TEST(a_retry_with_a_handle_that_keeps_no_events)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session = NULL;
    ses_session *lean = NULL;
    ses_appended first[COUNT];
    ses_appended again;

    store_events(fixture, &session, first);
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&none), &lean, &error));
    overwrite(session);
    for (size_t i = 0; i < COUNT; i++) {
        assert_code(SES_DUPLICATE, ses_append(lean, Q(events[i]), SES_NUL, NULL, &again, &error));
        assert_duplicate(&again, &first[i], COUNT + 1);
        assert_int_equal(ses_session_event_count(lean), 0);
    }
    must_refresh(lean);
    assert_int_equal(ses_session_version(lean), COUNT + 1);
    assert_state(lean, Q("{'app:b':9,'a':9,'b':9,'d':9}"));
    ses_session_close(session);
    ses_session_close(lean);
}
