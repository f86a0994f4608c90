/* Deleting all of an app, in steps. */
#include "../open.h"
#include "append.h"

static int64_t delete_app(ses_store *store, int expected, const char *app, int64_t limit)
{
    const ses_delete_options options = {.size = sizeof options, .limit = limit};
    int64_t sessions = -1;
    ses_error error;

    assert_code(expected, ses_delete_app(store, app, &options, &sessions, &error));
    return sessions;
}

static void create_some(ses_store *store, const char *app, int users, int sessions)
{
    for (int u = 0; u < users; u++) {
        for (int s = 0; s < sessions; s++) {
            char user[20];
            char id[20];
            const ses_key of = {app, user, id};
            snprintf(user, sizeof user, "u%d", u);
            snprintf(id, sizeof id, "s%d", s);
            must_create(store, &of, Q("{'app:a':1,'user:u':1,'k':1}"));
            must_append_by_key(store, &of, Q("{'actions':{'stateDelta':{'k':2}}}"));
        }
    }
}

TEST(everything_of_an_app_goes)
{
    create_some(fixture->store, "app", 3, 2);
    create_some(fixture->store, "other", 1, 1);
    assert_int_equal(delete_app(fixture->store, SES_OK, "app", 0), 6);
    assert_int_equal(delete_app(fixture->store, SES_OK, "app", 0), 0);
    assert_query(fixture->path,
                 "SELECT (SELECT group_concat(name) FROM apps), (SELECT count(*) FROM users),"
                 " (SELECT count(*) FROM sessions), (SELECT count(*) FROM events),"
                 " (SELECT count(*) FROM app_state), (SELECT count(*) FROM user_state),"
                 " (SELECT count(*) FROM session_state), (SELECT count(*) FROM session_details)",
                 "other|1|1|1|1|1|1|1\n");
    assert_sound(fixture->path);
}

TEST(it_goes_in_steps)
{
    static const ses_key late = {"app", "late", "late"};

    create_some(fixture->store, "app", 2, 3);
    assert_int_equal(delete_app(fixture->store, SES_MORE, "app", 4), 4);
    must_create(fixture->store, &late, NULL);
    assert_int_equal(delete_app(fixture->store, SES_OK, "app", 4), 3);
    assert_query(fixture->path, "SELECT count(*) FROM apps", "0\n");
    create_some(fixture->store, "app", 1, 2);
    assert_int_equal(delete_app(fixture->store, SES_MORE, "app", 2), 2);
    assert_int_equal(delete_app(fixture->store, SES_OK, "app", 2), 0);
}

TEST(users_without_sessions_go_too)
{
    enum { USERS = 1500 };
    struct text sql = {NULL, 0};

    create_some(fixture->store, "app", 1, 1);
    text_printf(&sql,
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                " INSERT INTO users (app_id, name) SELECT 1, 'x' || i FROM n",
                USERS);
    raw_exec(fixture->path, sql.data);
    free(sql.data);
    assert_int_equal(delete_app(fixture->store, SES_MORE, "app", 0), 1);
    assert_int_equal(delete_app(fixture->store, SES_OK, "app", 0), 0);
    assert_query(fixture->path, "SELECT count(*) FROM users", "0\n");
}

TEST(versions_begin_above_those_that_were_deleted)
{
    static const ses_key of = {"app", "u0", "s0"};

    create_some(fixture->store, "app", 1, 1);
    ses_session *old = must_get(fixture->store, &of);
    delete_app(fixture->store, SES_OK, "app", 0);
    assert_code(SES_NOTFOUND, ses_append(old, "{}", SES_NUL, NULL, NULL, &error));
    create_some(fixture->store, "app", 1, 1);
    ses_session *fresh = must_get(fixture->store, &of);
    assert_true(ses_session_version(fresh) > ses_session_version(old));
}

TEST(wrong_arguments_are_refused)
{
    ses_delete_options options = {.size = sizeof options, .limit = -1};

    assert_code(SES_MISUSE, ses_delete_app(NULL, "app", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_delete_app(fixture->store, NULL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_delete_app(fixture->store, "", NULL, NULL, &error));
    assert_code(SES_INVALID, ses_delete_app(fixture->store, "app", &options, NULL, &error));
    options = (ses_delete_options){.size = sizeof options, .flags = 0x80};
    assert_code(SES_MISUSE, ses_delete_app(fixture->store, "app", &options, NULL, &error));
    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_code(SES_READONLY, ses_delete_app(fixture->store, "app", NULL, NULL, &error));
}
