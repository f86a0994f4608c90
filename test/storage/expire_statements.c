/* Calls that expire in steps look at each user about once in all, not once each. (The linker puts the step
 * below in place of SQLite's; see flags.mk.) */
#include <sqlite3.h>

#include "../open.h"

enum { USERS = 3000, STEP = 100 };

static long looks; /* at how many sessions a user has */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (!sqlite3_stmt_busy(statement) && strstr(sqlite3_sql(statement), "LIMIT 1 OFFSET"))
        looks++;
    return __real_sqlite3_step(statement);
}

/* Each user of two apps has one session too many. */
static void add_users(const struct fixture *fixture)
{
    char sql[800];

    must_create(fixture->store, &(ses_key){"app", "user", "only"}, NULL);
    must_create(fixture->store, &(ses_key){"other", "user", "only"}, NULL);
    snprintf(
        sql, sizeof sql,
        "INSERT INTO users (app_id, name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < %d) SELECT 1 + i %% 2, 'u' || i FROM n;"
        "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, event_count, changed_us) SELECT app_id, id, x.name, 1, x.at, 0, 0, 0, 0, 1 "
        "FROM users, (SELECT 'old' AS name, 1 AS at UNION SELECT 'new', 2) AS x WHERE users.name <> 'user'",
        USERS);
    raw_exec(fixture->path, sql);
}

static int expire_step(ses_store *store, const char *app, int64_t per_user, int64_t *deleted)
{
    const ses_expire_options options = {.size = sizeof options, .sessions_per_user = per_user, .limit = STEP};
    ses_error error;

    int code = ses_store_expire(store, app, &options, deleted, &error);
    assert_true(code >= 0);
    return code;
}

TEST(each_user_is_looked_at_about_once)
{
    int64_t deleted = 0;
    int64_t total = 0;
    int code = SES_MORE;

    add_users(fixture);
    looks = 0;
    for (int calls = 0; code == SES_MORE; calls++) {
        assert_true(calls < USERS / STEP + 2);
        code = expire_step(fixture->store, NULL, 1, &deleted);
        total += deleted;
    }
    assert_int_equal(total, USERS);
    assert_in_range(looks, USERS, 4 * USERS);
    assert_query(fixture->path, "SELECT name, count(*) FROM sessions GROUP BY name", "new|3000\nonly|2\n");
}

/* The place of the last look is only a hint. */
TEST(another_app_and_users_before_the_place)
{
    int64_t deleted = 0;

    add_users(fixture);
    assert_int_equal(expire_step(fixture->store, "app", 1, &deleted), SES_MORE);
    assert_int_equal(deleted, STEP);
    assert_int_equal(expire_step(fixture->store, "other", 1, &deleted), SES_MORE);
    assert_query(fixture->path, "SELECT app_id, count(*) FROM sessions WHERE name <> 'only' GROUP BY 1",
                 "1|2900\n2|2900\n");
    must_create(fixture->store, &(ses_key){"other", "a", "one"}, NULL); /* before the place, as is the next */
    must_create(fixture->store, &(ses_key){"other", "a", "two"}, NULL);
    must_create(fixture->store, &(ses_key){"app", "a", "one"}, NULL);
    raw_exec(fixture->path, "DELETE FROM sessions WHERE name = 'old'");
    assert_int_equal(expire_step(fixture->store, "other", 1, &deleted), SES_OK);
    assert_int_equal(deleted, 1);
    assert_int_equal(expire_step(fixture->store, "missing", 1, &deleted), SES_OK);
    assert_int_equal(deleted, 0);
}

/* A user with many too many takes several steps. */
TEST(a_step_ends_within_a_user)
{
    char name[20];
    int64_t deleted = 0;

    for (int i = 0; i < 3 * STEP / 2 + 1; i++) {
        snprintf(name, sizeof name, "s%d", i);
        must_create(fixture->store, &(ses_key){"app", "many", name}, NULL);
        must_create(fixture->store, &(ses_key){"app", "more", name}, NULL);
    }
    for (int i = 0; i < 3; i++) {
        (void)expire_step(fixture->store, "app", 1, &deleted);
        assert_int_equal(deleted, STEP);
    }
    assert_int_equal(expire_step(fixture->store, "app", 1, &deleted), SES_OK);
    assert_int_equal(deleted, 0);
    assert_query(fixture->path, "SELECT count(*) FROM sessions", "2\n");
}
