/* Creating sessions: the initial state goes to its scopes, all or nothing; and getting or creating. */
#include "support.h"

static const ses_key key = {"app", "user", "session"};
static const ses_key same_user = {"app", "user", "second"};
static const ses_key same_app = {"app", "other", "session"};

static void check_state(ses_store *store, const ses_key *which, const char *expected)
{
    char *json = NULL;
    ses_error error;
    assert_ok(ses_state_json_by_key(store, which, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

/* The rows of apps and users, as "2 3", counted by another program. NULL where there is none. */
static char *count_apps_and_users(const struct fixture *fixture)
{
    char command[1200];
    int status = 0;

    support_need_file();
    snprintf(
        command, sizeof command,
        "sqlite3 -readonly -separator ' ' '%s' 'SELECT (SELECT count(*) FROM apps), count(*) FROM users'",
        fixture->path);
    char *text = support_run(command, &status);
    if (status == 127) {
        print_message("skipped: counting apps and users takes the sqlite3 program\n");
        free(text);
        text = NULL;
    } else {
        assert_int_equal(status, 0);
    }
    return text;
}

static void check_apps_and_users(const struct fixture *fixture, const char *expected)
{
    char *counts = count_apps_and_users(fixture);
    if (counts)
        assert_string_equal(counts, expected);
    free(counts);
}

/* ---------------------------------------------------------------------------------------------- create */

TEST(initial_state_goes_to_its_scopes)
{
    ses_session *session = must_open_new(
        fixture->store, &key, Q("{'own':1, 'user:name' : 'A','app:theme':{'a': [1, 2]},'temp:t':4}"));

    assert_string_equal(support_state(session, NULL),
                        Q("{'app:theme':{'a': [1, 2]},'user:name':'A','own':1}"));
    must_create(fixture->store, &same_user, "{}");
    must_create(fixture->store, &same_app, "{}");
    check_state(fixture->store, &key, support_state(session, NULL));
    check_state(fixture->store, &same_user, Q("{'app:theme':{'a': [1, 2]},'user:name':'A'}"));
    check_state(fixture->store, &same_app, Q("{'app:theme':{'a': [1, 2]}}"));
    ses_session_close(session);
}

TEST(created_session_shows_shared_state_that_was_there)
{
    must_create(fixture->store, &key, Q("{'app:a':1,'app:b':2,'user:u':3,'own':4}"));
    ses_session *session = must_open_new(fixture->store, &same_user, Q("{'app:b':5,'mine':6}"));
    assert_string_equal(support_state(session, NULL), Q("{'app:a':1,'app:b':5,'user:u':3,'mine':6}"));
    check_state(fixture->store, &key, Q("{'app:a':1,'app:b':5,'user:u':3,'own':4}"));
}

TEST(temp_keys_are_dropped)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'temp:a':1,'b':2,'temp:':3,'temp:c':4}"));

    assert_string_equal(support_state(session, NULL), Q("{'b':2}"));
    ses_session_close(session);
    session = must_open_new(fixture->store, &same_user, Q("{'temp:a':1}"));
    assert_string_equal(support_state(session, NULL), "{}");
}

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

TEST(tombstone_removes_and_the_last_of_a_key_counts)
{
    must_create(fixture->store, &same_user, Q("{'app:a':1,'user:u':2,'app:stays':3}"));
    ses_session *session = must_open_new(fixture->store, &key,
                                         Q("{'app:a':" REMOVED ",'user:u':" REMOVED ",'none':" REMOVED
                                           ",'x':1,'x':" REMOVED ",'y':" REMOVED ",'y':2,'z':1,'z':2,"
                                           "'e':'\\u005f_ADK_SENTINEL_REMOVED__','list':[" REMOVED "],"
                                           "'like':'__ADK_SENTINEL_REMOVED__ '}"));
    assert_string_equal(support_state(session, NULL),
                        Q("{'app:stays':3,'e':'\\u005f_ADK_SENTINEL_REMOVED__','like':'__ADK_SENTINEL_"
                          "REMOVED__ ','list':[" REMOVED "],'y':2,'z':2}"));
    check_state(fixture->store, &key, support_state(session, NULL));
    check_state(fixture->store, &same_user, Q("{'app:stays':3}"));
}

TEST(null_state_is_an_empty_one)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_string_equal(support_state(session, NULL), "{}");
    ses_session_close(session);
    assert_ok(ses_create(fixture->store, &same_user, NULL, 99, NULL, &session, &error));
    assert_string_equal(support_state(session, NULL), "{}");
    ses_session_close(session);
    assert_ok(ses_create(fixture->store, &same_app, NULL, SES_NUL, NULL, NULL, NULL));
}

TEST(state_length_counts)
{
    assert_ok(ses_create(fixture->store, &key, Q("{'a':1}garbage"), 7, NULL, NULL, &error));
    check_state(fixture->store, &key, Q("{'a':1}"));
    assert_code(SES_JSON, ses_create(fixture->store, &same_user, Q("{'a':1}"), 6, NULL, NULL, &error));
    assert_code(SES_JSON, ses_create(fixture->store, &same_user, Q("{'a':1}"), 0, NULL, NULL, &error));
    assert_code(SES_JSON,
                ses_create(fixture->store, &same_user, Q("{'a':1}"), 8, NULL, NULL, &error)); /* the NUL */
    assert_int_equal(error.offset, 7);
}

TEST(refused_state_leaves_nothing_behind)
{
    static const struct {
        const char *json;
        int code;
    } refused[] = {
        {"", SES_JSON},
        {"  ", SES_JSON},
        {"{", SES_JSON},
        {"{\"a\":1", SES_JSON},
        {"{\"a\":}", SES_JSON},
        {"{a:1}", SES_JSON},
        {"{\"a\":1,}", SES_JSON},
        {"{\"a\":1} x", SES_JSON},
        {"{\"a\":01}", SES_JSON},
        {"{'a':1}", SES_JSON},
        {"{\"a\":NaN}", SES_JSON},
        {"{\"a\":\"\x01\"}", SES_JSON},
        {"{\"a\":1}{}", SES_JSON},
        {"[", SES_JSON},
        {"tru", SES_JSON},
        {"{\"a\":\"\xFF\"}", SES_JSON},
        {"[]", SES_INVALID},
        {"[1]", SES_INVALID},
        {"1", SES_INVALID},
        {"\"a\"", SES_INVALID},
        {"null", SES_INVALID},
        {"true", SES_INVALID},
        {" [ ] ", SES_INVALID},
        {"{\"app:a\":1,\"b\\u0000\":2}", SES_INVALID},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ses_session *session = (ses_session *)(void *)&error;
        int code = ses_create(fixture->store, &key, refused[i].json, SES_NUL, NULL, &session, &error);
        if (code != refused[i].code)
            print_error("the state is %s\n", refused[i].json);
        assert_code(refused[i].code, code);
        assert_null(session);
    }
    check_apps_and_users(fixture, "0 0\n");
    must_create(fixture->store, &key, NULL);
    check_state(fixture->store, &key, "{}");
}

TEST(too_large_state_is_a_limit)
{
    fixture->options.max_event_bytes = 20;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, Q("{'k':'123456789012'}"));
    assert_code(SES_LIMIT, ses_create(fixture->store, &same_user, Q("{'k':'1234567890123'}"), SES_NUL, NULL,
                                      NULL, &error));
    assert_code(SES_LIMIT,
                ses_create(fixture->store, &same_user, Q("{'k':'1234567890123'}"), 21, NULL, NULL, &error));
    assert_code(SES_NOTFOUND,
                ses_state_json_by_key(fixture->store, &same_user, NULL, &(char *){NULL}, NULL, &error));
}

TEST(depth_of_the_state_is_limited_to_1000_levels)
{
    char json[2100];

    for (int arrays = 999; arrays <= 1000; arrays++) {
        int at = snprintf(json, sizeof json, "{\"k\":");
        for (int i = 0; i < arrays; i++)
            json[at++] = '[';
        for (int i = 0; i < arrays; i++)
            json[at++] = ']';
        strcpy(json + at, "}");
        assert_code(
            arrays == 999 ? SES_OK : SES_LIMIT,
            ses_create(fixture->store, arrays == 999 ? &key : &same_user, json, SES_NUL, NULL, NULL, &error));
    }
}

TEST(existing_session_is_exists_and_changes_nothing)
{
    ses_session *session = (ses_session *)(void *)&fixture;

    must_create(fixture->store, &key, Q("{'app:a':1,'user:u':2,'own':3}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'e'}"));
    fixture->now += 1000000;
    assert_code(SES_EXISTS, ses_create(fixture->store, &key,
                                       Q("{'app:a':9,'app:new':9,'user:u':" REMOVED ",'own':9,'x':9}"),
                                       SES_NUL, NULL, &session, &error));
    assert_null(session);
    assert_message("app/user/session");
    ses_session *after = must_get(fixture->store, &key);
    assert_string_equal(support_state(after, NULL), Q("{'app:a':1,'user:u':2,'own':3}"));
    assert_int_equal(ses_session_stored(after), 1);
    assert_int_equal(ses_session_version(after), 1);
    assert_int_equal(ses_session_created_us(after), fixture->now - 1000000);
    assert_int_equal(ses_session_updated_us(after), fixture->now - 1000000);
    ses_session_close(after);
    check_apps_and_users(fixture, "1 1\n");
}

TEST(fresh_session_has_no_events_and_the_stores_time)
{
    fixture->now = INT64_C(1234567890123456);
    ses_session *session = must_open_new(fixture->store, &key, "{}");
    assert_string_equal(ses_session_app(session), "app");
    assert_string_equal(ses_session_user(session), "user");
    assert_string_equal(ses_session_id(session), "session");
    assert_int_equal(ses_session_version(session), 0);
    assert_int_equal(ses_session_last_seq(session), 0);
    assert_int_equal(ses_session_stored(session), 0);
    assert_int_equal(ses_session_event_count(session), 0);
    assert_null(ses_session_event(session, 0));
    assert_int_equal(ses_session_created_us(session), INT64_C(1234567890123456));
    assert_int_equal(ses_session_updated_us(session), INT64_C(1234567890123456));
}

TEST(time_of_creation_can_be_given)
{
    const int64_t first_us = INT64_C(-62167219200000000); /* the years 0 to 9999 */
    const int64_t last_us = INT64_C(253402300799999999);
    const int64_t times[] = {0, -1, 1, INT64_C(1600000000000001), first_us, last_us};
    const int64_t wrong[] = {first_us - 1, last_us + 1, INT64_MIN, INT64_MAX};
    ses_create_options options = {.size = sizeof options};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char name[16];
        ses_session *session = NULL;
        snprintf(name, sizeof name, "s%zu", i);
        options.created_us = &times[i];
        assert_ok(
            ses_create(fixture->store, &(ses_key){"app", "user", name}, NULL, 0, &options, &session, &error));
        assert_int_equal(ses_session_created_us(session), times[i]);
        assert_int_equal(ses_session_updated_us(session), times[i]);
        must_refresh(session);
        assert_int_equal(ses_session_created_us(session), times[i]);
        ses_session_close(session);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.created_us = &wrong[i];
        assert_code(SES_INVALID,
                    ses_create(fixture->store, &key, Q("{'app:a':1}"), SES_NUL, &options, NULL, &error));
    }
    assert_code(SES_NOTFOUND,
                ses_state_json_by_key(fixture->store, &key, NULL, &(char *){NULL}, NULL, &error));
}

TEST(create_options_are_checked)
{
    ses_create_options options = {.size = 0};
    ses_session *session = NULL;

    assert_code(SES_MISUSE, ses_create(fixture->store, &key, NULL, 0, &options, NULL, &error));
    options.size = sizeof options;
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = -1};
    options.range = &range;
    assert_code(SES_INVALID, ses_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_null(session);
    assert_code(SES_MISUSE, ses_create(fixture->store, NULL, NULL, 0, NULL, &session, &error));
    assert_code(SES_MISUSE, ses_create(NULL, &key, NULL, 0, NULL, &session, &error));
    assert_code(SES_NOTFOUND,
                ses_state_json_by_key(fixture->store, &key, NULL, &(char *){NULL}, NULL, &error));
}

/* ------------------------------------------------------------------------------------------ get or create */

TEST(get_or_create_creates_once)
{
    ses_session *session = NULL;

    assert_ok(
        ses_get_or_create(fixture->store, &key, Q("{'app:a':1,'own':2}"), SES_NUL, NULL, &session, &error));
    assert_string_equal(support_state(session, NULL), Q("{'app:a':1,'own':2}"));
    must_append(session, Q("{'id':'e'}"));
    ses_session_close(session);
    session = NULL;
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, Q("{'app:a':8,'own':9,'user:u':7}"),
                                                SES_NUL, NULL, &session, &error));
    assert_int_equal(error.code, SES_OK);
    assert_string_equal(error.message, "");
    assert_string_equal(support_state(session, NULL), Q("{'app:a':1,'own':2}"));
    assert_int_equal(ses_session_event_count(session), 1);
    ses_session_close(session);
    check_state(fixture->store, &key, Q("{'app:a':1,'own':2}"));
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, NULL, 0, NULL, NULL, &error));
}

TEST(get_or_create_checks_the_state_it_does_not_use)
{
    ses_session *session = NULL;

    must_create(fixture->store, &key, NULL);
    assert_code(SES_INVALID, ses_get_or_create(fixture->store, &key, "[]", SES_NUL, NULL, &session, &error));
    assert_code(SES_JSON,
                ses_get_or_create(fixture->store, &key, Q("{'a'}"), SES_NUL, NULL, &session, &error));
    assert_code(SES_INVALID,
                ses_get_or_create(fixture->store, &key, Q("{'\\u0000':1}"), SES_NUL, NULL, &session, &error));
    assert_null(session);
}

TEST(get_existing_reads_the_range)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 2};
    ses_create_options options = {.size = sizeof options, .range = &newest};
    ses_session *session = NULL;

    assert_ok(ses_get_or_create(fixture->store, &key, Q("{'a':1}"), SES_NUL, &options, &session, &error));
    for (int i = 0; i < 3; i++)
        must_append(session, "{}");
    ses_session_close(session);
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_int_equal(ses_session_event_count(session), 2);
    assert_int_equal(ses_session_event(session, 0)->seq, 2);
    ses_session_close(session);
    options.range = &none;
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_int_equal(ses_session_event_count(session), 0);
    assert_int_equal(ses_session_stored(session), 3);
    assert_string_equal(support_state(session, NULL), Q("{'a':1}"));
    ses_session_close(session);
}

TEST(get_existing_keeps_the_time_of_creation)
{
    const int64_t given = 5;
    const ses_create_options options = {.size = sizeof options, .created_us = &given};
    ses_session *session = NULL;

    must_create(fixture->store, &key, NULL);
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_int_equal(ses_session_created_us(session), fixture->now);
    ses_session_close(session);
}
