/* The handle: what it shows, how it catches up, and what happens to it when its session goes. */
#include "support.h"

#include <stdbool.h>

static const ses_key key = {"app", "user", "session"};
static const ses_key same_user = {"app", "user", "second"};
static const ses_key same_app = {"app", "other", "session"};

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""
#define DELTA(pairs) "{\"actions\":{\"stateDelta\":{" pairs "}}}"

static void append(ses_store *store, const ses_key *which, const char *event)
{
    must_append_by_key(store, which, event);
}

static ses_session *get(ses_store *store, const ses_key *which, const ses_range *range)
{
    ses_session *session = NULL;
    ses_error error;
    assert_ok(ses_get(store, which, GET_RANGE(range), &session, &error));
    return session;
}

/* Everything a handle shows, as one text; free it. */
static char *describe(const ses_session *session)
{
    size_t len = 0;
    const char *json = support_state(session, &len);
    size_t room = len + 2000;
    char *text = malloc(room);

    assert_non_null(text);
    int at = snprintf(text, room, "%s/%s/%s version %lld seq %lld stored %lld created %lld updated %lld %s",
                      ses_session_app(session), ses_session_user(session), ses_session_id(session),
                      (long long)ses_session_version(session), (long long)ses_session_last_seq(session),
                      (long long)ses_session_stored(session), (long long)ses_session_created_us(session),
                      (long long)ses_session_updated_us(session), json);
    for (size_t i = 0; i < ses_session_event_count(session); i++)
        at += snprintf(text + at, room - (size_t)at, " %s", ses_session_event(session, i)->id);
    assert_true((size_t)at < room);
    return text;
}

/* The same as a handle that is read now. */
static void check_as_fresh(ses_store *store, const ses_session *session)
{
    const ses_key which = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    ses_session *fresh = get(store, &which, NULL);
    char *expected = describe(fresh);
    char *found = describe(session);
    assert_string_equal(found, expected);
    free(expected);
    free(found);
    ses_session_close(fresh);
}

/* ------------------------------------------------------------------------------------------- get */

TEST(accessors_show_the_session)
{
    const int64_t created = fixture->now;

    must_create(fixture->store, &key, Q("{'a':1}"));
    fixture->now += 5000000;
    append(fixture->store, &key, Q("{'id':'e1','invocationId':'i','author':'au','branch':'b.c'}"));
    append(fixture->store, &key, Q("{'id':'e2','timestamp':1.5}"));
    ses_session *session = get(fixture->store, &key, NULL);
    assert_string_equal(ses_session_app(session), "app");
    assert_string_equal(ses_session_user(session), "user");
    assert_string_equal(ses_session_id(session), "session");
    assert_int_equal(ses_session_version(session), 2);
    assert_int_equal(ses_session_last_seq(session), 2);
    assert_int_equal(ses_session_stored(session), 2);
    assert_int_equal(ses_session_created_us(session), created);
    assert_int_equal(ses_session_updated_us(session), fixture->now); /* it does not go back to 1.5 */
    assert_int_equal(ses_session_event_count(session), 2);
    const ses_event *event = ses_session_event(session, 0);
    assert_int_equal(event->seq, 1);
    assert_int_equal(event->time_us, fixture->now);
    assert_string_equal(event->id, "e1");
    assert_string_equal(event->invocation_id, "i");
    assert_string_equal(event->author, "au");
    assert_string_equal(event->branch, "b.c");
    assert_int_equal(event->json_len, strlen(event->json));
    event = ses_session_event(session, 1);
    assert_int_equal(event->time_us, 1500000);
    assert_string_equal(event->invocation_id, "");
    assert_string_equal(event->author, "");
    assert_null(event->branch);
    assert_string_equal(event->json, Q("{'id':'e2','timestamp':1.5}"));
    assert_null(ses_session_event(session, 2));
    assert_null(ses_session_event(session, SIZE_MAX));
    ses_session_close(session);
}

TEST(get_of_what_is_not_there)
{
    ses_session *session = (ses_session *)(void *)&fixture;

    assert_code(SES_NOTFOUND, ses_get(fixture->store, &key, NULL, &session, &error));
    assert_null(session);
    assert_message("app/user/session");
    assert_code(SES_MISUSE, ses_get(fixture->store, &key, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_get(fixture->store, NULL, NULL, &session, &error));
    assert_code(SES_MISUSE, ses_get(NULL, &key, NULL, &session, &error));
    assert_int_equal(ses_get(fixture->store, &key, NULL, &session, NULL), SES_NOTFOUND);
    ses_session_close(NULL);
}

TEST(handle_does_not_change_by_itself)
{
    must_create(fixture->store, &key, Q("{'a':1,'app:b':2,'user:c':3}"));
    ses_session *session = get(fixture->store, &key, NULL);
    const char *json = support_state(session, NULL);
    char *before = describe(session);
    append(fixture->store, &key, DELTA("\"a\":9,\"app:b\":9,\"user:c\":9"));
    must_create(fixture->store, &same_user, Q("{'app:b':8}"));
    char *after = describe(session);
    assert_string_equal(after, before);
    assert_ptr_equal(support_state(session, NULL), json);
    free(before);
    free(after);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------- refresh */

TEST_FILE_AND_MEMORY(refresh_brings_what_others_wrote)
{
    must_create(fixture->store, &key, Q("{'stays':0,'goes':1,'app:goes':2,'user:goes':3}"));
    append(fixture->store, &key, Q("{'id':'e1'}"));
    ses_session *session = get(fixture->store, &key, NULL);
    const ses_event *first = ses_session_event(session, 0);
    fixture->now += 1000000;
    append(fixture->store, &key, DELTA("\"new\":4,\"goes\":" REMOVED ",\"stays\":5,\"temp:t\":6"));
    append(fixture->store, &key, DELTA("\"new\":7,\"again\":8"));
    append(fixture->store, &key, DELTA("\"again\":" REMOVED ",\"user:goes\":" REMOVED));
    append(fixture->store, &key, DELTA("\"app:goes\":" REMOVED ",\"app:new\":9,\"user:new\":10"));
    must_refresh(session);
    assert_string_equal(support_state(session, NULL), Q("{'app:new':9,'user:new':10,'new':7,'stays':5}"));
    assert_int_equal(ses_session_version(session), 5);
    assert_int_equal(ses_session_event_count(session), 5);
    assert_ptr_equal(ses_session_event(session, 0), first); /* borrowed until the handle is closed */
    assert_string_equal(first->id, "e1");
    check_as_fresh(fixture->store, session);
    must_refresh(session); /* again: nothing new */
    check_as_fresh(fixture->store, session);
    ses_session_close(session);
}

TEST(refresh_brings_shared_state_of_other_sessions)
{
    must_create(fixture->store, &key, Q("{'app:a':1,'app:b':2,'user:c':3}"));
    ses_session *session = get(fixture->store, &key, NULL);
    must_create(fixture->store, &same_user, Q("{'user:c':4,'user:d':5,'own':6}"));
    must_create(fixture->store, &same_app, Q("{'app:a':7,'user:c':8}"));
    append(fixture->store, &same_app, DELTA("\"app:b\":" REMOVED));
    must_refresh(session);
    assert_string_equal(support_state(session, NULL), Q("{'app:a':7,'user:c':4,'user:d':5}"));
    assert_int_equal(ses_session_version(session), 0);
    assert_int_equal(ses_session_event_count(session), 0);
    ses_session_close(session);
}

TEST(refresh_keeps_temp_values)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    must_append(session, Q("{'invocationId':'i','actions':{'stateDelta':{'temp:t':1}}}"));
    append(fixture->store, &key, Q("{'invocationId':'j','actions':{'stateDelta':{'temp:t':2,'a':3}}}"));
    must_refresh(session);
    assert_string_equal(support_state(session, NULL), Q("{'a':3,'temp:t':1}"));
}

TEST(refresh_of_a_handle_with_a_range)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_range no_newest = {.size = sizeof no_newest, .which = SES_RANGE_NEWEST, .newest = 0};
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 1};

    must_create(fixture->store, &key, NULL);
    append(fixture->store, &key, DELTA("\"a\":1"));
    append(fixture->store, &key, DELTA("\"a\":2"));
    ses_session *without = get(fixture->store, &key, &none);
    ses_session *with_zero = get(fixture->store, &key, &no_newest);
    ses_session *with_one = get(fixture->store, &key, &newest);
    append(fixture->store, &key, DELTA("\"a\":3,\"b\":4"));
    must_refresh(without);
    must_refresh(with_zero);
    must_refresh(with_one);
    assert_int_equal(ses_session_event_count(without), 0);
    assert_int_equal(ses_session_event_count(with_zero), 1);
    assert_int_equal(ses_session_event(with_zero, 0)->seq, 3);
    assert_int_equal(ses_session_event_count(with_one), 2);
    assert_int_equal(ses_session_event(with_one, 0)->seq, 2);
    assert_string_equal(support_state(without, NULL), Q("{'a':3,'b':4}"));
    assert_string_equal(support_state(with_zero, NULL), Q("{'a':3,'b':4}"));
    assert_int_equal(ses_session_last_seq(without), 3);
    assert_int_equal(ses_session_stored(without), 3);
    must_append(without, "{}"); /* it is current */
    assert_int_equal(ses_session_event_count(without), 0);
    assert_null(ses_session_event(without, 0));
    assert_int_equal(ses_session_stored(without), 4);
    ses_session_close(without);
    ses_session_close(with_zero);
    ses_session_close(with_one);
}

TEST(failed_refresh_leaves_the_handle)
{
    must_create(fixture->store, &key, Q("{'a':1,'app:b':2}"));
    append(fixture->store, &key, DELTA("\"a\":2"));
    ses_session *session = get(fixture->store, &key, NULL);
    char *before = describe(session);
    append(fixture->store, &key, DELTA("\"a\":3,\"app:b\":4"));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_refresh(session, NULL, &error));
    assert_message("session");
    char *after = describe(session);
    assert_string_equal(after, before);
    free(after);
    fixture_reopen(fixture);
    assert_code(SES_MISUSE, ses_refresh(session, NULL, &error)); /* its store is closed */
    after = describe(session);
    assert_string_equal(after, before);
    free(after);
    free(before);
    ses_session_close(session);
    assert_code(SES_MISUSE, ses_refresh(NULL, NULL, &error));
}

TEST(handle_of_a_closed_store_is_misuse)
{
    const ses_text text = {Q("{'id':'x'}"), SES_NUL};

    must_create(fixture->store, &key, Q("{'a':1}"));
    ses_session *session = get(fixture->store, &key, NULL);
    fixture_reopen(fixture);
    assert_code(SES_MISUSE, ses_append(session, text.text, SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_batch(session, &text, 1, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_refresh(session, NULL, &error));
    ses_session_close(session);
}

/* "What they hold can still be looked at; calls on them that need the store are MISUSE from now on." */
TEST(every_call_that_needs_a_closed_store_is_misuse)
{
    const char *json = NULL;

    must_create(fixture->store, &key, Q("{'a':1}"));
    ses_session *session = get(fixture->store, &key, NULL);
    fixture_reopen(fixture);
    int partial = ses_append(session, Q("{'partial':true}"), SES_NUL, NULL, NULL, &error);
    int end = ses_invocation_end(session, &error);
    int read = ses_state_get(session, "a", &json, NULL, &error);
    ses_session_close(session);
    if (partial != SES_MISUSE || end != SES_MISUSE || read != SES_OK)
        fail_msg("appending a partial event: %s, ending the invocation: %s, reading a value: %s",
                 ses_code_name(partial), ses_code_name(end), ses_code_name(read));
}

/* ------------------------------------------------------------------------------------------- delete */

TEST(delete_takes_the_session_and_leaves_shared_state)
{
    int64_t deleted = 7;
    char *json = NULL;

    must_create(fixture->store, &key, Q("{'a':1,'app:b':2,'user:c':3}"));
    must_create(fixture->store, &same_user, Q("{'own':4}"));
    append(fixture->store, &key, Q("{'id':'e'}"));
    assert_ok(ses_delete(fixture->store, &key, NULL, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_code(SES_NOTFOUND, ses_state_json_by_key(fixture->store, &key, NULL, &json, NULL, &error));
    assert_ok(ses_state_json_by_key(fixture->store, &same_user, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'app:b':2,'user:c':3,'own':4}"));
    ses_free(json);
    assert_ok(ses_delete(fixture->store, &key, NULL, &deleted, &error));
    assert_int_equal(deleted, 0);
    assert_ok(ses_delete(fixture->store, &key, NULL, NULL, NULL));
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_string_equal(support_state(session, NULL), Q("{'app:b':2,'user:c':3}"));
    assert_int_equal(ses_session_stored(session), 0);
    must_append(session, Q("{'id':'e','author':'new'}"));
}

TEST(delete_user_takes_everything_of_the_user_in_the_app)
{
    const ses_key other_app = {"elsewhere", "user", "session"};
    int64_t sessions = 7;
    int64_t keys = 7;
    ses_session *session = NULL;

    must_create(fixture->store, &key, Q("{'a':1,'user:x':2,'user:y':3,'app:b':4}"));
    must_create(fixture->store, &same_user, Q("{'user:z':5}"));
    must_create(fixture->store, &same_app, Q("{'user:x':6,'own':7}"));
    must_create(fixture->store, &other_app, Q("{'user:x':8,'app:b':9}"));
    append(fixture->store, &key, "{}");
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, &sessions, &keys, &error));
    assert_int_equal(sessions, 2);
    assert_int_equal(keys, 3);
    assert_code(SES_NOTFOUND, ses_get(fixture->store, &key, NULL, &session, &error));
    assert_code(SES_NOTFOUND, ses_get(fixture->store, &same_user, NULL, &session, &error));
    session = get(fixture->store, &same_app, NULL);
    assert_string_equal(support_state(session, NULL), Q("{'app:b':4,'user:x':6,'own':7}"));
    ses_session_close(session);
    session = get(fixture->store, &other_app, NULL);
    assert_string_equal(support_state(session, NULL), Q("{'app:b':9,'user:x':8}"));
    ses_session_close(session);
    session = must_open_new(fixture->store, &key, NULL);
    assert_string_equal(support_state(session, NULL), Q("{'app:b':4}"));
    ses_session_close(session);
}

TEST(delete_user_counts_what_there_was)
{
    int64_t sessions = 7;
    int64_t keys = 7;

    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, &sessions, &keys, &error));
    assert_int_equal(sessions, 0);
    assert_int_equal(keys, 0);
    must_create(fixture->store, &key, Q("{'user:x':1}"));
    must_delete(fixture->store, &key);
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, &sessions, &keys, &error));
    assert_int_equal(sessions, 0);
    assert_int_equal(keys, 1);
    must_create(fixture->store, &key, Q("{'a':1}"));
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, &sessions, &keys, &error));
    assert_int_equal(sessions, 1);
    assert_int_equal(keys, 0);
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, NULL));
}

static void check_old_handle(ses_store *store, ses_session *old)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    ses_session *fresh = must_open_new(store, &key, Q("{'fresh':1}"));
    ses_error error;

    assert_code(SES_NOTFOUND, ses_refresh(old, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append(old, DELTA("\"app:x\":1,\"a\":2"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append(old, DELTA("\"app:x\":1,\"a\":2"), SES_NUL, &anyway, NULL, &error));
    must_refresh(fresh);
    assert_string_equal(support_state(fresh, NULL), Q("{'fresh':1}"));
    assert_int_equal(ses_session_stored(fresh), 0);
    ses_session_close(fresh);
}

TEST_FILE_AND_MEMORY(old_handle_never_reaches_a_session_made_again)
{
    ses_session *old = must_open_new(fixture->store, &key, Q("{'a':1}"));

    must_delete(fixture->store, &key);
    check_old_handle(fixture->store, old);
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    check_old_handle(fixture->store, old);
    assert_string_equal(support_state(old, NULL), Q("{'a':1}"));
}
