/* Where a fork comes from, as handles and lists show it. The rows are written by another program. */
#include "open.h"

static const ses_key fork_key = {"app", "user", "fork"};

/* Session 1, made from event 3 of session "old" of another user; session 2, which is no fork; session 3, a
 * fork. */
static int forks_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    const ses_key plain = {"app", "user", "plain"};
    const ses_key third = {"app", "user", "third"};

    must_create(fixture->store, &fork_key, Q("{'k':1}"));
    must_create(fixture->store, &plain, Q("{'k':1}"));
    must_create(fixture->store, &third, NULL);
    raw_exec(fixture->path,
             "UPDATE sessions SET details = 1 WHERE id <> 2;"
             "UPDATE session_details SET parent_user = 'another', parent_session = 'old', parent_seq = 3"
             " WHERE session_id = 1;"
             "INSERT INTO session_details (session_id, parent_user, parent_session, parent_seq)"
             " VALUES (3, 'user', 'fork', 0);");
    return failed;
}

static void assert_parent(const ses_session *session, const char *user, const char *name, int64_t seq)
{
    int64_t shown = -7;
    const ses_key *parent = ses_session_parent(session, &shown);

    if (user) {
        assert_non_null(parent);
        assert_string_equal(parent->app, "app");
        assert_string_equal(parent->user, user);
        assert_string_equal(parent->session, name);
        assert_int_equal(shown, seq);
        assert_ptr_equal(ses_session_parent(session, NULL), parent);
    } else {
        assert_null(parent);
        assert_int_equal(shown, -7);
    }
}

static void assert_parent_of_handle(ses_session *session)
{
    assert_parent(session, "another", "old", 3);
    must_refresh(session);
    must_append(session, "{}");
    assert_parent(session, "another", "old", 3);
    ses_session_close(session);
}

TEST_OF(forks_setup, handles_show_it)
{
    const ses_key plain = {"app", "user", "plain"};
    ses_session *session = NULL;

    assert_parent_of_handle(must_get(fixture->store, &fork_key));
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &fork_key, NULL, 0, NULL, &session, &error));
    assert_parent_of_handle(session);
    session = must_get(fixture->store, &plain);
    assert_parent(session, NULL, NULL, 0);
    ses_session_close(session);
}

TEST_OF(forks_setup, lists_show_it)
{
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED};
    ses_page *page = NULL;

    assert_ok(ses_list(fixture->store, "app", NULL, &options, &page, &error));
    assert_int_equal(ses_page_count(page), 3);
    assert_parent(ses_page_session(page, 0), "another", "old", 3);
    assert_parent(ses_page_session(page, 1), NULL, NULL, 0);
    assert_parent(ses_page_session(page, 2), "user", "fork", 0);
    ses_page_close(page);
}

/* A row of details that says nothing of a parent, none at all, and values that no session has. */
TEST_OF(forks_setup, damage_is_corrupt)
{
    static const char *const damages[] = {
        "parent_user = NULL", "parent_session = NULL",      "parent_user = ''",
        "parent_seq = -1",    "parent_seq = 4294967296",    "parent_session = 'a' || char(0)",
        "session_id = 99",    "parent_user = x'ff' || 'a'",
    };
    ses_session *session = NULL;
    ses_page *page = NULL;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char sql[300];
        snprintf(sql, sizeof sql,
                 "UPDATE session_details SET parent_user = 'u', parent_session = 's', parent_seq = 1"
                 " WHERE session_id = 1;"
                 "PRAGMA foreign_keys = OFF; DROP TRIGGER IF EXISTS guard_session_details_update;"
                 "UPDATE session_details SET %s WHERE session_id = 1;",
                 damages[i]);
        raw_exec(fixture->path, sql);
        assert_code(SES_CORRUPT, ses_get(fixture->store, &fork_key, NULL, &session, &error));
        assert_message("session number 1");
        assert_null(session);
        assert_code(SES_CORRUPT, ses_list(fixture->store, "app", "user", NULL, &page, &error));
        assert_null(page);
        raw_exec(fixture->path, "UPDATE session_details SET session_id = 1 WHERE session_id = 99");
    }
}
