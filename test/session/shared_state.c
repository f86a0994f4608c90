/* State of an app and of users, read and changed without a session. */
#include "append.h"
#include "open.h"

static char *json_of(ses_store *store, const char *user)
{
    char *json = NULL;
    size_t len = 0;
    ses_error error;

    assert_ok(ses_shared_state_json(store, "app", user, NULL, &json, &len, &error));
    assert_int_equal(strlen(json), len);
    return json;
}

static void assert_shared(ses_store *store, const char *user, const char *expected)
{
    char *json = json_of(store, user);
    assert_string_equal(json, expected);
    ses_free(json);
}

static int change(ses_store *store, const char *user, const char *delta, ses_error *error)
{
    return ses_shared_state_change(store, "app", user, delta, SES_NUL, NULL, error);
}

static int change_seen(ses_store *store, const char *user, const char *delta, const char *seen,
                       ses_error *error)
{
    const ses_shared_state_options options = {
        .size = sizeof options, .expected = seen, .expected_len = SES_NUL};
    return ses_shared_state_change(store, "app", user, delta, SES_NUL, &options, error);
}

/* -------------------------------------------------------------------------------------------- reading */

TEST(absent_apps_and_users_have_no_state)
{
    size_t len = 7;
    char *json = (char *)"x";

    assert_shared(fixture->store, NULL, "{}");
    assert_shared(fixture->store, "user", "{}");
    assert_code(SES_ABSENT,
                ses_shared_state_get(fixture->store, "app", "user", "k", NULL, &json, &len, &error));
    assert_null(json);
    assert_int_equal(len, 0);
}

TEST(it_is_what_sessions_show_with_a_prefix)
{
    char *json = NULL;
    size_t len = 0;

    must_create(fixture->store, &key, Q("{'app:b':1.10,'app:a':[ 1 ],'user:x':'\\u00e9','own':1,'app:':0}"));
    assert_shared(fixture->store, NULL, Q("{'':0,'a':[ 1 ],'b':1.10}"));
    assert_shared(fixture->store, "user", Q("{'x':'\\u00e9'}"));
    assert_shared(fixture->store, "another", "{}");
    assert_ok(ses_shared_state_get(fixture->store, "app", NULL, "b", NULL, &json, &len, &error));
    assert_string_equal(json, "1.10");
    assert_int_equal(len, 4);
    ses_free(json);
    assert_ok(ses_shared_state_get(fixture->store, "app", "user", "x", NULL, &json, NULL, &error));
    assert_string_equal(json, "\"\\u00e9\"");
    ses_free(json);
    assert_code(SES_ABSENT,
                ses_shared_state_get(fixture->store, "app", NULL, "own", NULL, &json, NULL, &error));
}

/* app:user:x is the app's key user:x. It can be read, but not by a name that means another key in a
 * session. */
TEST(a_key_that_looks_prefixed_is_shown)
{
    must_create(fixture->store, &key, Q("{'app:user:x':1,'app:App:x':2}"));
    assert_shared(fixture->store, NULL, Q("{'App:x':2,'user:x':1}"));
}

TEST(a_text_outlives_the_store)
{
    assert_ok(change(fixture->store, NULL, Q("{'k':1}"), &error));
    char *json = json_of(fixture->store, NULL);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_string_equal(json, Q("{'k':1}"));
    ses_free(json);
}

/* ------------------------------------------------------------------------------------------- changing */

TEST_FILE_AND_MEMORY(values_replace_and_the_tombstone_removes)
{
    assert_ok(change(fixture->store, "user", Q("{'a':1,'b':{'x': 1},'c':null}"), &error));
    assert_shared(fixture->store, "user", Q("{'a':1,'b':{'x': 1},'c':null}"));
    assert_ok(change(fixture->store, "user",
                     Q("{'b':2,'a':'__ADK_SENTINEL_REMOVED__','d':'\\u005f_ADK_SENTINEL_REMOVED__'}"),
                     &error));
    assert_shared(fixture->store, "user", Q("{'b':2,'c':null,'d':'\\u005f_ADK_SENTINEL_REMOVED__'}"));
    assert_shared(fixture->store, NULL, "{}");
    assert_ok(change(fixture->store, NULL, Q("{'b':1,'b':2,'e':1,'e':'__ADK_SENTINEL_REMOVED__'}"), &error));
    assert_shared(fixture->store, NULL, Q("{'b':2}"));
}

TEST(app_and_user_are_created)
{
    assert_ok(change(fixture->store, NULL, Q("{'a':1}"), &error));
    assert_query(fixture->path, "SELECT (SELECT count(*) FROM apps), (SELECT count(*) FROM users)", "1|0\n");
    assert_ok(change(fixture->store, "user", Q("{'b':2}"), &error));
    assert_query(fixture->path, "SELECT (SELECT count(*) FROM apps), (SELECT count(*) FROM users)", "1|1\n");
    assert_query(fixture->path,
                 "SELECT session_id, seq FROM app_state UNION ALL SELECT session_id, seq FROM user_state",
                 "0|0\n0|0\n");
    must_create(fixture->store, &key, Q("{'own':1}"));
    ses_session *session = must_get(fixture->store, &key);
    assert_state(session, Q("{'app:a':1,'user:b':2,'own':1}"));
}

TEST(a_call_that_sets_nothing_makes_nothing)
{
    assert_ok(change(fixture->store, NULL, "{}", &error));
    assert_ok(change(fixture->store, "user", " { } ", &error));
    assert_ok(change(fixture->store, "user", Q("{'k':'__ADK_SENTINEL_REMOVED__'}"), &error));
    assert_query(fixture->path, "SELECT (SELECT count(*) FROM apps), (SELECT count(*) FROM users)", "0|0\n");
}

TEST_FILE_AND_MEMORY(no_session_moves)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'user:u':1}"));

    must_append(session, "{}");
    const int64_t version = ses_session_version(session);
    const int64_t updated = ses_session_updated_us(session);
    fixture->now += 1000000;
    assert_ok(change(fixture->store, "user", Q("{'u':2}"), &error));
    assert_ok(change(fixture->store, NULL, Q("{'a':3}"), &error));
    assert_state(session, Q("{'user:u':1}"));
    must_refresh(session);
    assert_state(session, Q("{'app:a':3,'user:u':2}"));
    assert_int_equal(ses_session_version(session), version);
    assert_int_equal(ses_session_updated_us(session), updated);
    assert_ok(change(fixture->store, "user", Q("{'u':3}"), &error));
    must_append(session, "{}"); /* not STALE */
}

TEST(a_key_that_has_changed_is_stale)
{
    assert_code(SES_STALE, change_seen(fixture->store, "user", Q("{'n':1}"), Q("{'n':0}"), &error));
    assert_message("\"n\"");
    assert_int_equal(error.version, -1);
    assert_query(fixture->path, "SELECT count(*) FROM apps", "0\n");
    assert_ok(
        change_seen(fixture->store, "user", Q("{'n':1}"), Q("{'n':'__ADK_SENTINEL_REMOVED__'}"), &error));
    assert_ok(change_seen(fixture->store, "user", Q("{'n':2}"), Q("{'n':1}"), &error));
    assert_code(SES_STALE, change_seen(fixture->store, "user", Q("{'n':3,'m':1}"),
                                       Q("{'m':'__ADK_SENTINEL_REMOVED__','n':1}"), &error));
    assert_code(SES_STALE, change_seen(fixture->store, "user", "{}", Q("{'n':2.0}"), &error));
    assert_code(SES_STALE,
                change_seen(fixture->store, "user", "{}", Q("{'n':'__ADK_SENTINEL_REMOVED__'}"), &error));
    assert_shared(fixture->store, "user", Q("{'n':2}"));
}

TEST(a_counter_of_two_stores_loses_no_step)
{
    ses_store *stores[2] = {fixture->store, NULL};
    int stale = 0;

    assert_ok(ses_open(fixture->path, &fixture->options, &stores[1], &error));
    assert_ok(change(fixture->store, NULL, Q("{'n':0}"), &error));
    for (int round = 0; round < 20; round++) {
        char *seen[2];
        for (int i = 0; i < 2; i++)
            seen[i] = json_of(stores[i], NULL);
        for (int i = 0; i < 2; i++) {
            char next[40];
            snprintf(next, sizeof next, "{\"n\":%d}", atoi(strchr(seen[i], ':') + 1) + 1);
            stale += change_seen(stores[i], NULL, next, seen[i], &error) == SES_STALE;
            ses_free(seen[i]);
        }
    }
    assert_int_equal(stale, 20);
    assert_shared(stores[1], NULL, Q("{'n':20}"));
    ses_close(stores[1]);
}

TEST(it_survives_sessions_and_goes_with_its_owner)
{
    int64_t keys = 0;

    assert_ok(change(fixture->store, "user", Q("{'u':1}"), &error));
    must_create(fixture->store, &key, NULL);
    must_delete(fixture->store, &key);
    assert_shared(fixture->store, "user", Q("{'u':1}"));
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, &keys, &error));
    assert_int_equal(keys, 1);
    assert_shared(fixture->store, "user", "{}");
}

/* -------------------------------------------------------------------------------------------- refused */

TEST(prefixes_are_refused)
{
    static const char *const names[] = {"app:k", "user:k", "temp:k", "temp:", "app:"};
    char *json = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char delta[64];
        snprintf(delta, sizeof delta, "{\"fine\":1,\"%s\":1}", names[i]);
        assert_code(SES_INVALID, change(fixture->store, "user", delta, &error));
        assert_message(names[i]);
        assert_code(SES_INVALID, change_seen(fixture->store, "user", "{}", delta, &error));
        assert_message("expected");
        assert_code(SES_INVALID,
                    ses_shared_state_get(fixture->store, "app", "user", names[i], NULL, &json, NULL, &error));
        assert_message(names[i]);
    }
    assert_shared(fixture->store, "user", "{}");
    assert_ok(change(fixture->store, "user", Q("{'App:k':1,'other:k':2}"), &error));
}

TEST(arguments_that_break_a_rule_are_refused)
{
    ses_store *store = fixture->store;
    char *json = NULL;
    char longest[600];

    memset(longest, 'x', sizeof longest);
    longest[513] = '\0';
    assert_code(SES_MISUSE, ses_shared_state_json(store, NULL, NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_shared_state_json(store, "app", NULL, NULL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_shared_state_json(store, "", NULL, NULL, &json, NULL, &error));
    assert_code(SES_INVALID, ses_shared_state_json(store, "app", "", NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_shared_state_get(store, "app", NULL, NULL, NULL, &json, NULL, &error));
    assert_code(SES_INVALID, ses_shared_state_get(store, "app", NULL, longest, NULL, &json, NULL, &error));
    assert_code(SES_INVALID, ses_shared_state_get(store, "app", NULL, "\xff", NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_shared_state_change(store, "app", NULL, NULL, 0, NULL, &error));
    assert_code(SES_JSON, change(store, NULL, "{", &error));
    assert_int_equal(error.offset, 1);
    assert_code(SES_JSON, change(store, NULL, "{} x", &error));
    assert_code(SES_INVALID, change(store, NULL, "[]", &error));
    assert_code(SES_INVALID, change(store, NULL, Q("{'a\\u0000':1}"), &error));
    assert_code(SES_JSON, change_seen(store, NULL, "{}", "{", &error));
    assert_int_equal(error.offset, -1);
    assert_code(SES_NOTFOUND, ses_get(store, &key, NULL, &(ses_session *){NULL}, &error));
}

TEST(a_delta_has_a_limit)
{
    const ses_open_options options = {.size = sizeof options, .max_event_bytes = 10};

    ses_store *store = must_open(fixture->path, &options);
    assert_ok(change(store, NULL, Q("{'k':1234}"), &error));
    assert_code(SES_LIMIT, change(store, NULL, Q("{'k':12345}"), &error));
    ses_close(store);
}

TEST(a_read_only_store_is_read)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = NULL;

    assert_ok(change(fixture->store, "user", Q("{'u':1}"), &error));
    assert_ok(ses_open(fixture->path, &options, &store, &error));
    assert_shared(store, "user", Q("{'u':1}"));
    assert_code(SES_READONLY, change(store, "user", Q("{'u':2}"), &error));
    ses_close(store);
}

TEST(damage_is_corrupt)
{
    static const char *const damages[] = {"value = '{'", "key = CAST(x'ff' AS TEXT)", "key = 'a' || char(0)",
                                          "key = printf('%.*c', 513, 'x')"};
    char *json = NULL;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char sql[200];
        assert_ok(change(fixture->store, "user", Q("{'k':1}"), &error));
        snprintf(sql, sizeof sql, "DROP TRIGGER IF EXISTS guard_user_state_update; UPDATE user_state SET %s",
                 damages[i]);
        raw_exec(fixture->path, sql);
        assert_code(SES_CORRUPT,
                    ses_shared_state_json(fixture->store, "app", "user", NULL, &json, NULL, &error));
        assert_null(json);
        if (i == 0)
            assert_code(SES_CORRUPT,
                        ses_shared_state_get(fixture->store, "app", "user", "k", NULL, &json, NULL, &error));
        raw_exec(fixture->path, "DELETE FROM user_state");
    }
}

TEST(a_key_that_is_far_too_long)
{
    char *json = NULL;

    must_create(fixture->store, &key, Q("{'app:a':1}"));
    raw_exec(fixture->path, "INSERT INTO app_state VALUES (1, 'b' || hex(zeroblob(500000)), '1', 0, 0)");
    assert_code(SES_CORRUPT, ses_shared_state_json(fixture->store, "app", NULL, NULL, &json, NULL, &error));
    assert_message("more than 512 bytes");
    assert_null(json);
}
