/* The command imports: times finer than the store's, and sessions that tell none. */
#include "foreign.h"

static char *text_file(const struct fixture *fixture, const char *name, const char *text)
{
    char *path = support_path(fixture->folder, name);

    write_file(path, text, strlen(text));
    return path;
}

static int64_t created_us_of(const struct fixture *fixture, const ses_key *of)
{
    ses_session *session = must_get(fixture->store, of);
    const int64_t created_us = ses_session_created_us(session);

    ses_session_close(session);
    return created_us;
}

static int64_t updated_us_of(const struct fixture *fixture, const ses_key *of)
{
    ses_session *session = must_get(fixture->store, of);
    const int64_t updated_us = ses_session_updated_us(session);

    ses_session_close(session);
    return updated_us;
}

/* -------------------------------------------------------------------------------------------- nanoseconds */

TEST(nanoseconds_are_rounded_as_the_store_rounds_them)
{
    static const ses_key s = {"a", "u", "s"};
    char *file =
        text_file(fixture, "s.session.json",
                  "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"state\":{},\"events\":["
                  "{\"id\":\"e\",\"author\":\"user\",\"timestamp\":\"2026-01-02T03:04:05.9999995Z\"}],"
                  "\"lastUpdateTime\":\"2026-01-02T03:04:05.9999995Z\"}");

    run_ok("import", file);
    assert_int_equal(updated_us_of(fixture, &s), INT64_C(1767323046000000));
    run_ok("import", file);
    assert_has(&reply.out, "1 session already here and unchanged");
    free(file);
}

static const char rust[] =
    "CREATE TABLE _adk_session_migrations (version INTEGER);"
    "CREATE TABLE sessions (app_name TEXT, user_id TEXT, session_id TEXT, state TEXT, created_at TEXT,"
    " updated_at TEXT);"
    "CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT,"
    " branch TEXT, author TEXT, timestamp TEXT, llm_response TEXT, actions TEXT, long_running_tool_ids TEXT);"
    "CREATE TABLE app_states (app_name TEXT, state TEXT, updated_at TEXT);"
    "CREATE TABLE user_states (app_name TEXT, user_id TEXT, state TEXT, updated_at TEXT);"
    "WITH RECURSIVE n(i, t) AS (SELECT 0, '2026-01-02T03:04:05.123456000Z' UNION ALL SELECT i + 1,"
    " printf('2026-01-02T03:04:05.123456%03dZ', i * 111 + 55) FROM n WHERE i < 9)"
    "INSERT INTO sessions SELECT 'a', 'u', i, '{}', '2026-01-02T03:04:05Z', t FROM n;"
    "INSERT INTO events SELECT 'e', app_name, user_id, session_id, 'i', '', 'user', updated_at,"
    " '{\"content\":{\"role\":\"user\",\"parts\":[]}}', '{}', '[]' FROM sessions;";

TEST(all_sessions_of_rust_are_brought)
{
    char *path = support_path(fixture->folder, "rust.db");

    raw_exec(path, rust);
    run_ok("import", path, "--json");
    assert_int_equal(number_of(&reply, "made"), 10);
    assert_lacks(&reply.out, "update_raised");
    free(path);
}

/* The column is REAL, and the event has the same number as decimal digits. Times a million in doubles, the
 * first is rounded up. */
TEST(a_real_time_is_rounded_as_its_digits_are)
{
    char *path = make_adk(fixture, "real.db",
                          "UPDATE sessions SET update_time = 1760000000.1234574 WHERE id = 's';"
                          "UPDATE events SET event_data = '{\"id\":\"e2\",\"timestamp\":1760000000.1234574}'"
                          " WHERE id = 'e2';");

    run_ok("import", path);
    assert_int_equal(updated_us_of(fixture, &(ses_key){"a", "u", "s"}), INT64_C(1760000000123457));
    free(path);
}

/* ----------------------------------------------------------------------------------------- no time at all */

TEST(a_session_without_events_was_created_at_its_last_update)
{
    char *file =
        text_file(fixture, "s.session.json",
                  "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"lastUpdateTime\":1760000000.5}");

    run_ok("import", file);
    assert_int_equal(created_us_of(fixture, &(ses_key){"a", "u", "s"}), INT64_C(1760000000500000));
    assert_has(&reply.out, "otherwise of the last update");
    free(file);
}

TEST(a_session_without_any_time_is_created_now)
{
    static const ses_key s = {"a", "u", "s"};
    const int64_t before_us = (int64_t)time(NULL) * 1000000;
    char *file = text_file(fixture, "s.session.json",
                           "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"state\":{\"k\":1},"
                           "\"events\":[{\"id\":\"e\"}]}");

    run_ok("import", file, "--json");
    assert_has(&reply.out, "\"kind\":\"created_now\",\"count\":1");
    assert_true(created_us_of(fixture, &s) >= before_us);
    run_ok("import", file, "--json");
    assert_int_equal(number_of(&reply, "equal"), 1);
    free(file);
}
