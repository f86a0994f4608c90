/* Many events in one transaction: all or none. */
#include "session/append.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

TEST(a_batch_is_appended_in_order)
{
    static const char second[] =
        "{\"timestamp\":20,\"actions\":{\"stateDelta\":{\"x\":2,\"y\":" REMOVED "}}}garbage";
    const ses_text events[] = {
        {Q("{'id':'a','timestamp':30,'actions':{'stateDelta':{'x':1,'y':1,'app:z':1}}}"), SES_NUL},
        {second, sizeof second - sizeof "garbage"},
        {Q("{'id':'c','actions':{'stateDelta':{'app:z':3,'user:u':3}}}"), SES_NUL},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_appended appended[3];

    must_append(session, "{}");
    fixture->now += 5;
    assert_ok(ses_append_batch(session, events, 3, NULL, appended, &error));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(appended[i].status, SES_OK);
        assert_int_equal(appended[i].seq, i + 2);
        assert_int_equal(appended[i].version, 4);
    }
    assert_int_equal(appended[0].time_us, 30000000);
    assert_int_equal(appended[1].time_us, 20000000);
    assert_int_equal(appended[2].time_us, fixture->now);
    assert_string_equal(appended[0].made_id, "");
    assert_string_equal(appended[1].made_id, ses_session_event(session, 2)->id);
    assert_string_equal(appended[2].made_id, "");
    assert_state(session, Q("{'app:z':3,'user:u':3,'x':2}"));
    assert_int_equal(ses_session_version(session), 4);
    assert_int_equal(ses_session_updated_us(session), fixture->now);
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
    fixture_reopen(fixture);
    assert_stored_state(fixture->store, &key, Q("{'app:z':3,'user:u':3,'x':2}"));
}

MEMORY_TEST(a_batch_by_key)
{
    const ses_text events[] = {{"{\"actions\":{\"stateDelta\":{\"x\":1}}}", SES_NUL},
                               {"{\"actions\":{\"stateDelta\":{\"y\":2,\"temp:t\":1}}}", SES_NUL}};
    ses_appended appended[2];

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 2, NULL, appended, &error));
    assert_int_equal(appended[0].seq, 1);
    assert_int_equal(appended[1].seq, 2);
    assert_int_equal(appended[1].version, 2);
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 2, NULL, NULL, &error));
    assert_stored_state(fixture->store, &key, Q("{'x':1,'y':2}"));
}

MEMORY_TEST(a_batch_of_none_does_nothing)
{
    static const ses_text one = {"{}", SES_NUL};
    ses_session *session = must_open_new(fixture->store, &key, Q("{'a':1}"));

    char *before = describe(session, 1);
    assert_ok(ses_append_batch(session, NULL, 0, NULL, NULL, &error));
    assert_ok(ses_append_batch(session, &one, 0, NULL, NULL, &error));
    assert_ok(ses_append_batch_by_key(fixture->store, &key, NULL, 0, NULL, NULL, &error));
    char *after = describe(session, 1);
    assert_string_equal(after, before);
    assert_handle_is_current(fixture->store, session);
    assert_code(SES_MISUSE, ses_append_batch(session, NULL, 1, NULL, NULL, &error));
    free(before);
    free(after);
}

/* Each is refused at one event; the index tells which, and the others leave no trace. */
TEST(a_batch_is_all_or_none)
{
    static const char good[] = "{\"invocationId\":\"other\",\"actions\":{\"stateDelta\":{"
                               "\"app:a\":2,\"user:a\":2,\"a\":2,\"temp:a\":2}}}";
    static const struct {
        int code;
        const char *event;
    } cases[] = {
        {SES_JSON, "{'actions':{'stateDelta':{'a':3}}"},
        {SES_JSON, ""},
        {SES_INVALID, "[]"},
        {SES_INVALID, "{'id':1}"},
        {SES_INVALID, "{'partial':true,'author':1}"},
        {SES_EXISTS, "{'id':'first','author':'another'}"},
        {SES_MISUSE, NULL},
    };
    ses_session *session = must_open_new(fixture->store, &key, Q("{'app:a':0,'user:a':0,'a':0}"));

    must_append(session, Q("{'id':'first','invocationId':'i','actions':{'stateDelta':{'a':1,'temp:a':1}}}"));
    char *handle = describe(session, 1);
    char *file = describe_stored(fixture->store, &key);
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t at = 0; at < 4; at++) {
            ses_text events[4] = {{good, SES_NUL}, {good, SES_NUL}, {good, SES_NUL}, {good, SES_NUL}};
            ses_appended appended[4];
            ses_appended untouched[4];
            memset(untouched, 0x55, sizeof untouched);
            memcpy(appended, untouched, sizeof appended);
            events[at].text = Q(cases[i].event);
            assert_code(cases[i].code, ses_append_batch(session, events, 4, NULL, appended, &error));
            assert_int_equal(error.index, at);
            assert_code(cases[i].code,
                        ses_append_batch_by_key(fixture->store, &key, events, 4, NULL, appended, &error));
            assert_int_equal(error.index, at);
            assert_memory_equal(appended, untouched, sizeof appended);
            char *handle_after = describe(session, 1);
            char *file_after = describe_stored(fixture->store, &key);
            assert_string_equal(handle_after, handle);
            assert_string_equal(file_after, file);
            free(handle_after);
            free(file_after);
        }
    }
    free(handle);
    free(file);
}

MEMORY_TEST(partial_and_duplicate_events_are_told_apart)
{
    static const char stored[] = "{\"id\":\"stored\",\"actions\":{\"stateDelta\":{\"a\":1}}}";
    const ses_text events[] = {
        {"{\"id\":\"new\",\"actions\":{\"stateDelta\":{\"a\":2}}}", SES_NUL},
        {"{\"id\":\"part\",\"partial\":true,\"actions\":{\"stateDelta\":{\"a\":3,\"app:a\":3}}}", SES_NUL},
        {stored, SES_NUL},
        {"{\"id\":\"newer\",\"actions\":{\"stateDelta\":{\"b\":4}}}", SES_NUL},
    };
    static const int statuses[] = {SES_OK, SES_PARTIAL, SES_DUPLICATE, SES_OK};
    static const int64_t numbers[] = {2, 0, 1, 3};
    ses_appended appended[4];
    int64_t stored_us = fixture->now;

    ses_session *session = must_open_new(fixture->store, &key, NULL);
    must_append(session, stored);
    fixture->now += 1000;
    assert_ok(ses_append_batch(session, events, 4, NULL, appended, &error));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(appended[i].status, statuses[i]);
        assert_int_equal(appended[i].seq, numbers[i]);
        assert_int_equal(appended[i].version, statuses[i] == SES_PARTIAL ? 0 : 3);
    }
    assert_int_equal(appended[1].time_us, 0);
    assert_int_equal(appended[2].time_us, stored_us);
    assert_int_equal(appended[3].time_us, fixture->now);
    assert_state(session, Q("{'a':2,'b':4}")); /* what the duplicate had set does not come back */
    assert_handle_is_current(fixture->store, session);

    /* All of it again: all of it was there. */
    assert_ok(ses_append_batch(session, events, 4, NULL, appended, &error));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(appended[i].status, i == 1 ? SES_PARTIAL : SES_DUPLICATE);
        assert_int_equal(appended[i].seq, numbers[i]);
    }
    assert_int_equal(ses_session_version(session), 3);
    assert_handle_is_current(fixture->store, session);
}

MEMORY_TEST(a_batch_of_partial_events_stores_nothing)
{
    const ses_text events[] = {{"{\"partial\":true}", SES_NUL}, {"{\"id\":\"x\",\"partial\":true}", SES_NUL}};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_appended appended[2];

    assert_ok(ses_append_batch(session, events, 2, NULL, appended, &error));
    assert_int_equal(appended[0].status, SES_PARTIAL);
    assert_int_equal(appended[1].status, SES_PARTIAL);
    assert_int_equal(ses_session_version(session), 0);
    assert_handle_is_current(fixture->store, session);
}

MEMORY_TEST(the_same_event_twice_in_a_batch_is_stored_once)
{
    static const char twice[] =
        "{\"id\":\"twice\",\"invocationId\":\"i\",\"actions\":{\"stateDelta\":{\"a\":1,\"temp:t\":1}}}";
    const ses_text events[] = {
        {twice, SES_NUL},
        {"{\"id\":\"between\",\"invocationId\":\"i\",\"actions\":{\"stateDelta\":{\"a\":2,\"temp:t\":2}}}",
         SES_NUL},
        {twice, SES_NUL},
        {twice, SES_NUL},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_appended appended[4];

    assert_ok(ses_append_batch(session, events, 4, NULL, appended, &error));
    assert_int_equal(appended[0].status, SES_OK);
    assert_int_equal(appended[1].status, SES_OK);
    assert_int_equal(appended[2].status, SES_DUPLICATE);
    assert_int_equal(appended[3].status, SES_DUPLICATE);
    assert_int_equal(appended[2].seq, 1);
    assert_int_equal(appended[3].seq, 1);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(appended[i].version, 2);
    assert_state(session, Q("{'a':2,'temp:t':2}"));
    assert_int_equal(ses_session_event_count(session), 2);
    assert_handle_is_current(fixture->store, session);
}

MEMORY_TEST(two_events_of_one_id_in_a_batch_exist)
{
    const ses_text events[] = {
        {"{\"id\":\"a\",\"actions\":{\"stateDelta\":{\"a\":1}}}", SES_NUL},
        {"{\"id\":\"b\"}", SES_NUL},
        {"{\"id\":\"a\",\"actions\":{\"stateDelta\":{\"a\":2}}}", SES_NUL},
        {"{\"id\":\"b\",\"author\":\"x\"}", SES_NUL},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_code(SES_EXISTS, ses_append_batch(session, events, 4, NULL, NULL, &error));
    assert_int_equal(error.index, 2);
    assert_int_equal(ses_session_version(session), 0);
    assert_state(session, "{}");
    assert_handle_is_current(fixture->store, session);
}

/* A partial event comes before the whole one, and has its id. */
MEMORY_TEST(a_partial_event_takes_no_id_in_a_batch)
{
    const ses_text events[] = {{"{\"id\":\"a\",\"partial\":true}", SES_NUL},
                               {"{\"id\":\"a\",\"partial\":true,\"author\":\"x\"}", SES_NUL},
                               {"{\"id\":\"a\",\"partial\":false}", SES_NUL}};
    ses_appended appended[3];

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 3, NULL, appended, &error));
    assert_int_equal(appended[0].status, SES_PARTIAL);
    assert_int_equal(appended[1].status, SES_PARTIAL);
    assert_int_equal(appended[2].status, SES_OK);
    assert_int_equal(appended[2].seq, 1);
}

/* A batch may be stored already, in part, and unknown to the handle. */
MEMORY_TEST(a_batch_is_retried_on_a_stale_handle)
{
    const ses_text events[] = {
        {"{\"id\":\"a\",\"actions\":{\"stateDelta\":{\"a\":1}}}", SES_NUL},
        {"{\"id\":\"p\",\"partial\":true}", SES_NUL},
        {"{\"id\":\"b\",\"actions\":{\"stateDelta\":{\"a\":2}}}", SES_NUL},
        {"{\"id\":\"c\",\"actions\":{\"stateDelta\":{\"a\":3}}}", SES_NUL},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_appended appended[4];

    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 3, NULL, NULL, &error));
    /* One of it is new: that may not be written over what the handle has not seen. */
    assert_code(SES_STALE, ses_append_batch(session, events, 4, NULL, NULL, &error));
    assert_int_equal(ses_session_version(session), 0);
    /* None of it is new. */
    assert_ok(ses_append_batch(session, events, 3, NULL, appended, &error));
    assert_int_equal(appended[0].status, SES_DUPLICATE);
    assert_int_equal(appended[1].status, SES_PARTIAL);
    assert_int_equal(appended[2].status, SES_DUPLICATE);
    assert_int_equal(appended[2].seq, 2);
    must_refresh(session);
    assert_handle_is_current(fixture->store, session);
    assert_ok(ses_append_batch(session, events, 4, NULL, appended, &error));
    assert_int_equal(appended[2].status, SES_DUPLICATE);
    assert_int_equal(appended[3].status, SES_OK);
    assert_int_equal(appended[3].seq, 3);
    assert_state(session, Q("{'a':3}"));
    assert_handle_is_current(fixture->store, session);
}

MEMORY_TEST(a_large_batch)
{
    enum { LARGE = 5000 };
    static char texts[LARGE][96];
    static ses_text events[LARGE];
    static ses_appended appended[LARGE];

    for (int i = 0; i < LARGE; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"id\":\"%d\",\"actions\":{\"stateDelta\":{\"k%d\":%d}}}", i,
                 i % 100, i);
        events[i] = (ses_text){texts[i], SES_NUL};
    }
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    assert_ok(ses_append_batch(session, events, LARGE, NULL, appended, &error));
    for (int i = 0; i < LARGE; i++)
        assert_int_equal(appended[i].seq, i + 1);
    assert_int_equal(ses_session_event_count(session), LARGE);
    assert_int_equal(ses_state_count(session), 100);
    assert_handle_is_current(fixture->store, session);
}
