/* Everything that RFC 8259 allows, however odd, is accepted wherever a value can stand. */
#include "texts.h"

static const ses_key key = {"app", "user", "session"};

/* Where values stand: in what the store passes through, and in what it reads. */
static const char *const event_formats[] = {
    "{'content':%s}",
    " \t\r\n{ 'id' : 'x' , 'content' : { 'parts' : [ 1 , %s ] } , 'author' : 'a' } \t\r\n",
    "{'actions':{'artifactDelta':%s}}",
    "{'actions':{'stateDelta':{'v':%s}}}",
    "{'actions':{'state_delta':{'app:v':1,'user:v':%s,'v':2}}}",
    "{'actions':{'stateDelta':{'temp:v':%s,'v':1}}}",
};

static const char *const state_formats[] = {
    "{'v':%s}",
    "\n{\t'app:v' : 1 ,\r'user:v':2 , 'v' : %s } ",
    "{'app:v':1,'temp:v':%s,'v':1}",
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

MEMORY_TEST(good_values_are_accepted_in_an_initial_state)
{
    char text[512];

    for (size_t i = 0; i < ACCEPTED_COUNT; i++) {
        for (size_t format = 0; format < COUNT(state_formats); format++) {
            snprintf(text, sizeof text, Q(state_formats[format]), accepted_values[i]);
            must_create(fixture->store, &key, text);
            assert_code(SES_EXISTING,
                        ses_get_or_create(fixture->store, &key, text, SES_NUL, NULL, NULL, &error));
            must_delete(fixture->store, &key);
        }
    }
}

MEMORY_TEST(good_values_are_accepted_in_an_event)
{
    ses_session *session = NULL;
    char text[512];

    for (size_t i = 0; i < ACCEPTED_COUNT; i++) {
        session = must_open_new(fixture->store, &key, NULL);
        for (size_t format = 0; format < COUNT(event_formats); format++) {
            snprintf(text, sizeof text, Q(event_formats[format]), accepted_values[i]);
            must_append(session, text);
            must_append_by_key(fixture->store, &key, "{}");
            must_refresh(session);
        }
        snprintf(text, sizeof text, "{\"partial\":true,\"content\":%s}", accepted_values[i]);
        assert_code(SES_PARTIAL, ses_append(session, text, SES_NUL, NULL, NULL, &error));
        assert_int_equal(ses_session_event_count(session), COUNT(event_formats) * 2);
        ses_session_close(session);
        must_delete(fixture->store, &key);
    }
}

MEMORY_TEST(the_length_counts_and_not_the_nul)
{
    ses_session *session = NULL;

    assert_ok(ses_create(fixture->store, &key, Q("{'a':1}{'b':2}"), 7, NULL, &session, &error));
    assert_string_equal(support_state(session, NULL), Q("{'a':1}"));
    assert_ok(ses_append(session, Q("{'id':'e','timestamp':1}garbage"), 24, NULL, NULL, &error));
    assert_string_equal(ses_session_event(session, 0)->json, Q("{'id':'e','timestamp':1}"));
    assert_code(SES_JSON, ses_append(session, Q("{'id':'f'}"), 9, NULL, NULL, &error));
    assert_int_equal(error.offset, 9);
    ses_session_close(session);
}
