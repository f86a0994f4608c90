/* Appending an event: its place in the log, and what its delta does to the state of each scope. */
#include "session/append.h"

static const ses_key same_user = {"app", "user", "another"};
static const ses_key same_app = {"app", "someone", "session"};
static const ses_key other_app = {"application", "user", "session"};

/* An event that has this delta. */
static void append_delta(ses_session *session, const char *delta)
{
    char event[2048];
    snprintf(event, sizeof event, "{\"invocationId\":\"i\",\"actions\":{\"stateDelta\":%s}}", delta);
    must_append(session, event);
}

TEST(an_append_moves_the_session_forward)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'a':0}"));
    ses_appended appended;

    assert_int_equal(ses_session_version(session), 0);
    assert_int_equal(ses_session_last_seq(session), 0);
    for (int i = 1; i <= 3; i++) {
        char event[128];
        fixture->now += 1000;
        snprintf(event, sizeof event, "{\"author\":\"%d\",\"actions\":{\"stateDelta\":{\"a\":%d}}}", i, i);
        assert_ok(ses_append(session, event, SES_NUL, NULL, &appended, &error));
        assert_int_equal(appended.status, SES_OK);
        assert_int_equal(appended.seq, i);
        assert_int_equal(appended.version, i);
        assert_int_equal(appended.time_us, fixture->now);
        assert_int_equal(ses_session_version(session), i);
        assert_int_equal(ses_session_last_seq(session), i);
        assert_int_equal(ses_session_stored(session), i);
        assert_int_equal(ses_session_updated_us(session), fixture->now);
        assert_int_equal(ses_session_event_count(session), i);
        assert_int_equal(ses_session_event(session, (size_t)i - 1)->seq, i);
        assert_null(ses_session_event(session, (size_t)i));
        assert_handle_is_current(fixture->store, session);
    }
    assert_int_equal(ses_session_created_us(session), fixture->now - 3000);
    ses_session_close(session);
    fixture_reopen(fixture);
    assert_stored_state(fixture->store, &key, Q("{'a':3}"));
}

/* ------------------------------------------------------------------------------------------- scopes */

TEST(a_delta_is_split_by_prefix)
{
    must_create(fixture->store, &same_user, NULL);
    must_create(fixture->store, &same_app, NULL);
    must_create(fixture->store, &other_app, NULL);
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    append_delta(session, Q("{'app:a':1,'user:u':2,'s':3,'temp:t':4,'App:x':5,'other:x':6,'app:user:x':7,"
                            "'user:app:x':8,'app:':9,'user:':10,'temp:':11,':x':12,'':13,'app':14,"
                            "'user:temp:x':15,' app:x':16,'TEMP:x':17,'app:temp:x':18}"));
    assert_string_equal(support_state(session, NULL),
                        Q("{'app:':9,'app:a':1,'app:temp:x':18,'app:user:x':7,"
                          "'user:':10,'user:app:x':8,'user:temp:x':15,'user:u':2,"
                          "'':13,' app:x':16,':x':12,'App:x':5,'TEMP:x':17,'app':14,'other:x':6,'s':3,"
                          "'temp:':11,'temp:t':4}"));
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
    fixture_reopen(fixture);
    assert_stored_state(fixture->store, &key,
                        Q("{'app:':9,'app:a':1,'app:temp:x':18,'app:user:x':7,"
                          "'user:':10,'user:app:x':8,'user:temp:x':15,'user:u':2,"
                          "'':13,' app:x':16,':x':12,'App:x':5,'TEMP:x':17,'app':14,'other:x':6,'s':3}"));
    assert_stored_state(fixture->store, &same_user,
                        Q("{'app:':9,'app:a':1,'app:temp:x':18,'app:user:x':7,"
                          "'user:':10,'user:app:x':8,'user:temp:x':15,'user:u':2}"));
    assert_stored_state(fixture->store, &same_app, Q("{'app:':9,'app:a':1,'app:temp:x':18,'app:user:x':7}"));
    assert_stored_state(fixture->store, &other_app, "{}");
}

/* Each key is a row of its own: writers of different keys do not undo each other, of one key the last wins.
 */
MEMORY_TEST(sessions_share_app_and_user_state_key_by_key)
{
    ses_session *one = must_open_new(fixture->store, &key, NULL);
    ses_session *two = must_open_new(fixture->store, &same_user, NULL);

    append_delta(one, Q("{'app:one':1,'user:one':1,'app:both':1,'user:both':1,'own':1}"));
    append_delta(two, Q("{'app:two':2,'user:two':2,'app:both':2,'user:both':2,'own':2}"));
    append_delta(one, Q("{'app:one':3}"));
    assert_stored_state(fixture->store, &key,
                        Q("{'app:both':2,'app:one':3,'app:two':2,"
                          "'user:both':2,'user:one':1,'user:two':2,'own':1}"));
    assert_stored_state(fixture->store, &same_user,
                        Q("{'app:both':2,'app:one':3,'app:two':2,"
                          "'user:both':2,'user:one':1,'user:two':2,'own':2}"));
    /* Neither was stale, because shared scopes have no version. A refresh shows their current values. */
    must_refresh(one);
    assert_handle_is_current(fixture->store, one);
}

/* ------------------------------------------------------------------------------------------- values */

MEMORY_TEST(a_delta_replaces_whole_values)
{
    static const struct {
        const char *delta;
        const char *state; /* after it */
    } steps[] = {
        {"{'a':{'x':1,'y':{'z':2}},'b':[1,2]}", "{'a':{'x':1,'y':{'z':2}},'b':[1,2]}"},
        {"{'a':{'x':3}}", "{'a':{'x':3},'b':[1,2]}"},
        {"{'b':[3]}", "{'a':{'x':3},'b':[3]}"},
        {"{}", "{'a':{'x':3},'b':[3]}"},
        {"{'a':{}}", "{'a':{},'b':[3]}"},
        {"{'a':null}", "{'a':null,'b':[3]}"},
        {"{'a':1,'b':" REMOVED "}", "{'a':1}"},
        {"{'a':" REMOVED "}", "{}"},
        {"{'a':" REMOVED "}", "{}"}, /* what is not there can be removed again */
        {"{'a':'__ADK_SENTINEL_REMOVED__ '}", "{'a':'__ADK_SENTINEL_REMOVED__ '}"},
        {"{'a':'__adk_sentinel_removed__'}", "{'a':'__adk_sentinel_removed__'}"},
        {"{'a':[" REMOVED "]}", "{'a':[" REMOVED "]}"},
        {"{'a':{'x':" REMOVED "}}", "{'a':{'x':" REMOVED "}}"},
        {"{'a':'\\u005f_ADK_SENTINEL_REMOVED_\\u005F'}",
         "{'a':'\\u005f_ADK_SENTINEL_REMOVED_\\u005F'}"}, /* a string */
        {"{'a':" REMOVED "}", "{}"},
        {"{'app:a':1,'user:a':2,'a':3}", "{'app:a':1,'user:a':2,'a':3}"},
        {"{'app:a':" REMOVED "}", "{'user:a':2,'a':3}"},
        {"{'user:a':" REMOVED ",'app:a':null}", "{'app:a':null,'a':3}"},
        {"{'app:a':" REMOVED ",'a':" REMOVED ",'user:b':" REMOVED "}", "{}"},
        /* When a key appears twice, the last one counts. */
        {"{'a':1,'b':9,'a':2}", "{'a':2,'b':9}"},
        {"{'a':3,'a':" REMOVED "}", "{'b':9}"},
        {"{'a':" REMOVED ",'a':4}", "{'a':4,'b':9}"},
        {"{'a':5,'\\u0061':6}", "{'a':6,'b':9}"},
        {"{'\\u0061':7,'a':8,'b':1,'b':2,'b':" REMOVED "}", "{'a':8}"},
        {"{'app:a':1,'user:a':1,'app:a':2,'user:a':" REMOVED "}", "{'app:a':2,'a':8}"},
        {"{'app:a':" REMOVED ",'\\u0061pp:a':null,'a':null,'a':" REMOVED "}", "{'app:a':null}"},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_session *other = must_get(fixture->store, &key);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        append_delta(session, Q(steps[i].delta));
        assert_string_equal(support_state(session, NULL), Q(steps[i].state));
        assert_handle_is_current(fixture->store, session);
        if (i % 3 == 0) { /* some of the time it has several events to catch up with */
            must_refresh(other);
            assert_string_equal(support_state(other, NULL), Q(steps[i].state));
        }
    }
}

MEMORY_TEST(a_removed_key_is_told_from_a_null)
{
    const char *json = NULL;
    char *value = NULL;
    ses_session *session = must_open_new(fixture->store, &key, Q("{'a':1,'b':1}"));

    append_delta(session, Q("{'a':null,'b':" REMOVED "}"));
    assert_ok(ses_state_get(session, "a", &json, NULL, &error));
    assert_string_equal(json, "null");
    assert_code(SES_ABSENT, ses_state_get(session, "b", &json, NULL, &error));
    assert_ok(ses_state_get_by_key(fixture->store, &key, "a", NULL, &value, NULL, &error));
    assert_string_equal(value, "null");
    ses_free(value);
    assert_code(SES_ABSENT, ses_state_get_by_key(fixture->store, &key, "b", NULL, &value, NULL, &error));
    assert_null(value);
}

MEMORY_TEST(a_tombstone_at_creation_removes_what_is_shared)
{
    ses_session *session = NULL;

    must_create(fixture->store, &key, Q("{'app:a':1,'app:b':1,'user:a':1,'a':1}"));
    session =
        must_open_new(fixture->store, &same_user,
                      Q("{'app:a':" REMOVED ",'user:a':" REMOVED ",'a':" REMOVED ",'temp:a':" REMOVED "}"));
    assert_string_equal(support_state(session, NULL), Q("{'app:b':1}"));
    assert_stored_state(fixture->store, &same_user, Q("{'app:b':1}"));
    assert_stored_state(fixture->store, &key, Q("{'app:b':1,'a':1}"));
    ses_session_close(session);
}

MEMORY_TEST(names_of_keys_that_break_a_rule_are_invalid)
{
    static const char *const prefixes[] = {"", "app:", "user:", "temp:"};
    static const char *const wrong[] = {"\\u0000", "a\\u0000b", "\\ud800", "a\\udc00\\ud800"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char name[SES_ID_MAX + 2];
    char event[SES_ID_MAX + 256];

    memset(name, 'n', sizeof name);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        static const char format[] = "{\"actions\":{\"stateDelta\":{\"good\":1,\"%s%s\":1}}}";
        for (size_t j = 0; j < sizeof wrong / sizeof wrong[0]; j++) {
            snprintf(event, sizeof event, format, prefixes[i], wrong[j]);
            assert_code(SES_INVALID, ses_append(session, event, SES_NUL, NULL, NULL, &error));
        }
        name[SES_ID_MAX] = 'n';
        name[SES_ID_MAX + 1] = '\0';
        snprintf(event, sizeof event, format, prefixes[i], name);
        assert_code(SES_INVALID, ses_append(session, event, SES_NUL, NULL, NULL, &error));
    }
    assert_int_equal(ses_session_version(session), 0);
    assert_int_equal(ses_state_count(session), 0);
    name[SES_ID_MAX] = '\0';
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"%s%s\":1}}}", prefixes[i], name);
        must_append(session, event);
    }
    assert_int_equal(ses_state_count(session), 4);
    assert_handle_is_current(fixture->store, session);
}
