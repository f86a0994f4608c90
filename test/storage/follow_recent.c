/* A follower of a store with many sessions: where another process has written, it looks at the sessions that
 * were updated lately, and only now and then at all. A second store on the same file stands for the other
 * process. */
#include "../session/follow.h"
#include "open.h"

#include "base/clock.h"

enum { SESSIONS = 10000 };

/* Sessions without events, a minute apart. */
static void insert_many(const char *path)
{
    char sql[1000];

    snprintf(sql, sizeof sql,
             "INSERT INTO apps (name) VALUES ('app'), ('other');"
             "INSERT INTO users (app_id, name) SELECT id, 'user' FROM apps;"
             "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_30s, version,"
             " last_seq, event_count, changed_us)"
             "SELECT u.app_id, u.id, 's' || n.i, n.i * 60000000, n.i * 60000000, n.i * 2, 0, 0, 0,"
             " n.i * 60000000 FROM n JOIN users AS u ON u.id = n.i %% 2 + 1",
             SESSIONS);
    raw_exec(path, sql);
}

/* How long each call may take is far above what it takes, which is some milliseconds. */
static void must_get_within(ses_follower *follower, int code, const char *session, int64_t most_us)
{
    const ses_event *event = NULL;
    const int64_t begun_us = ses__clock_steady_us();
    ses_error error;

    assert_code(code, ses_follower_next(follower, 60000, &event, &error));
    assert_in_range(ses__clock_steady_us() - begun_us, 0, most_us);
    if (session)
        assert_string_equal(ses_follower_session(follower), session);
    else
        assert_null(ses_follower_session(follower));
}

FOLDER_TEST(many_sessions_of_a_store_are_followed)
{
    const ses_key everything = {NULL, NULL, NULL};
    const ses_key quiet = {"app", "user", "s42"};
    const ses_key gone = {"other", "user", "s43"};

    ses_close(must_open(folder->path, NULL));
    insert_many(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    ses_store *other = must_open(folder->path, NULL);
    ses_follower *follower = NULL;
    assert_ok(ses_follower_open(store, &everything, FOLLOW_ONLY_NEW, &follower, &error));
    for (int i = 0; i < 20; i++) { /* one after the other, of the oldest, which thereby become the newest */
        char name[16];
        snprintf(name, sizeof name, "s%d", 100 + i);
        must_append_by_key(other, &(ses_key){i % 2 ? "other" : "app", "user", name}, "{}");
        must_get_within(follower, SES_ROW, name, 5000000);
    }
    must_append_by_key(other, &quiet, "{\"timestamp\":1}"); /* only a look at all finds it */
    must_get_within(follower, SES_ROW, "s42", 20000000);
    must_delete(other, &gone);
    must_get_within(follower, SES_RESET, NULL, 20000000);
    ses_follower_close(follower);
    ses_close(other);
    ses_close(store);
}
