/*
 * Changes that the sqlite3 program, whose foreign keys are off by default, cannot make to a store: values
 * that are not JSON, or of another type, and rows that belong to nothing.
 */
#include "open.h"
#include "seslite_artifact.h"

static int store_setup(void **state)
{
    const ses_key key = {"app", "user", "one"};
    const ses_key second = {"app", "user", "two"};
    const ses_key elsewhere = {"other", "user", "one"};
    ses_error error;

    assert_int_equal(folder_setup(state), 0);
    const struct folder *folder = *state;
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_create(store, &key, "{\"app:a\":1,\"user:u\":2,\"k\":3}", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_create(store, &second, "{\"k\":4}", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_create(store, &elsewhere, "{\"app:a\":5,\"user:u\":6}", SES_NUL, NULL, NULL, &error));
    must_append_by_key(store, &key, "{\"id\":\"e1\"}");
    must_append_by_key(store, &key, "{\"id\":\"e2\"}");
    ses_close(store);
    return 0;
}

/* Returns what the program prints. The SQL is passed in a file, so that the shell does not see it. */
static char *run_program(const struct folder *folder, const char *sql, int *status)
{
    char *input = support_path(folder->folder, "input.sql");
    struct text command = {NULL, 0};

    write_file(input, sql, strlen(sql));
    text_printf(&command, "sqlite3 -bail '%s' < '%s'", folder->path, input);
    char *printed = support_run(command.data, status);
    free(command.data);
    free(input);
    return printed;
}

/* Every row of every table. */
static char *dump(const char *path)
{
    static const char *const tables[] = {
        "apps",           "users",          "sessions",      "session_details",   "session_labels",
        "session_leases", "session_drafts", "session_inbox", "app_state",         "user_state",
        "session_state",  "base_state",     "events",        "event_marks",       "version_floor",
        "features",       "derived",        "artifacts",     "artifact_contents", "artifact_chunks"};
    struct text out = {NULL, 0};
    sqlite3 *db = raw_open(path);

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct text sql = {NULL, 0};
        text_printf(&out, "%s:\n", tables[i]);
        text_printf(&sql, "SELECT * FROM %s ORDER BY 1, 2", tables[i]);
        raw_query(db, sql.data, &out);
        free(sql.data);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return out.data;
}

static void refuse(const struct folder *folder, const char *sql, const char *words, int line)
{
    int status = 0;
    char *before = dump(folder->path);
    char *printed = run_program(folder, sql, &status);
    char *after = dump(folder->path);

    if (!strstr(printed, words) || status == 0 || strcmp(before, after) != 0) {
        print_error("%s:%d: %s\n    ended with %d and said \"%s\", not \"%s\"; the rows are %s\n", __FILE__,
                    line, sql, status, printed, words, strcmp(before, after) == 0 ? "as before" : "changed");
        fail();
    }
    free(after);
    free(printed);
    free(before);
}

#define assert_refused(sql, words) refuse(folder, (sql), (words), __LINE__)

#define SQLITE3_GUARDS_TEST(name) TEST_WITH(struct folder *folder, store_setup, folder_teardown, name)

SQLITE3_GUARDS_TEST(only_json_is_taken)
{
    static const char *const bad[] = {"{",         "",    "nope", "[1,]", "{\"a\":1,}", "01",    "+1",
                                      ".5",        "1.",  "-",    "1e",   "0x10",       "NaN",   "\"\\x\"",
                                      "\"\\u12\"", "\"a", "1 2",  "[1]]", "True",       "{a:1}", "/**/1"};
    static const struct {
        const char *sql;
        const char *words;
    } statements[] = {
        {"INSERT INTO app_state VALUES (1, 'new', '%s', 1, 1)", "app_state.value: not valid JSON"},
        {"UPDATE app_state SET value = '%s'", "app_state.value: not valid JSON"},
        {"INSERT INTO user_state VALUES (1, 'new', '%s', 1, 1)", "user_state.value: not valid JSON"},
        {"REPLACE INTO session_state VALUES (1, 'k', '%s', 1)", "session_state.value: not valid JSON"},
        {"UPDATE OR IGNORE events SET body = '%s'", "events.body: not valid JSON"},
        {"INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body)"
         " VALUES (1 << 32 | 3, 1, 'e3', 'e3', '', '', 0, '%s')",
         "events.body: not valid JSON"},
        {"UPDATE session_details SET initial_state = '%s'", "session_details.initial_state: not valid JSON"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const size_t at = i % (sizeof statements / sizeof statements[0]);
        char sql[400];
        const char *hole = strstr(statements[at].sql, "%s");
        snprintf(sql, sizeof sql, "%.*s%s%s", (int)(hole - statements[at].sql), statements[at].sql, bad[i],
                 hole + 2);
        assert_refused(sql, statements[at].words);
    }
}

SQLITE3_GUARDS_TEST(types_are_strict)
{
    assert_refused("UPDATE sessions SET version = 'one'", "cannot store TEXT value in INTEGER column");
    assert_refused("UPDATE sessions SET created_us = 1.5", "cannot store REAL value in INTEGER column");
    assert_refused("UPDATE events SET author = x'00'", "cannot store BLOB value in TEXT column");
    assert_refused("UPDATE events SET time_us = NULL", "NOT NULL constraint failed");
    assert_refused("INSERT INTO apps (name) VALUES (NULL)", "NOT NULL constraint failed");
    assert_refused("INSERT INTO apps (name) VALUES ('app')", "this app already exists");
    assert_refused("INSERT INTO users (app_id, name) VALUES (1, 'user')", "this user already exists");
    assert_refused("UPDATE sessions SET name = 'one'", "names are unique");
    assert_refused("UPDATE events SET id_key = 'e1'", "UNIQUE constraint failed");
    assert_query(
        folder->path,
        "SELECT count(*), sum(strict) FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
        " AND name NOT LIKE 'sqlite_%'",
        "20|20\n");
}

SQLITE3_GUARDS_TEST(no_row_without_its_owner)
{
    assert_refused("INSERT INTO users VALUES (9, 9, 'x')", "there is no such app");
    assert_refused("UPDATE users SET app_id = 9", "users");
    assert_refused("UPDATE users SET id = 9 WHERE id = 1", "the id and the app must not change");
    assert_refused("UPDATE apps SET id = 9 WHERE id = 1", "the id must not change");
    assert_refused("UPDATE sessions SET id = 9 WHERE id = 1", "the id must not change");
    assert_refused("UPDATE sessions SET app_id = 9 WHERE id = 1", "the user must belong to the app");
    assert_refused("UPDATE sessions SET user_id = 9 WHERE id = 1", "the user must belong to the app");
    assert_refused("UPDATE sessions SET user_id = 2 WHERE id = 1", "the user must belong to the app");
    assert_refused("INSERT INTO sessions VALUES (9, 1, 2, 'x', 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, NULL)",
                   "there is no such user in that app");
    assert_refused("INSERT INTO session_details (session_id) VALUES (9)", "there is no such session");
    assert_refused("UPDATE session_details SET session_id = 9 WHERE session_id = 1",
                   "there is no such session");
    assert_refused("INSERT INTO app_state VALUES (9, 'k', '1', 1, 1)", "there is no such app");
    assert_refused("UPDATE app_state SET app_id = 9 WHERE app_id = 1", "there is no such app");
    assert_refused("INSERT INTO user_state VALUES (9, 'k', '1', 1, 1)", "there is no such user");
    assert_refused("UPDATE user_state SET user_id = 9 WHERE user_id = 1", "there is no such user");
    assert_refused("INSERT INTO session_state VALUES (9, 'k', '1', 1)", "there is no such session");
    assert_refused("UPDATE session_state SET session_id = 9 WHERE session_id = 1",
                   "there is no such session");
    assert_refused(
        "INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body)"
        " VALUES (9 << 32 | 1, 9, 'e', 'e', '', '', 0, '{}')",
        "there is no such session");
    assert_refused("UPDATE events SET session_id = 9 WHERE position = 1 << 32 | 1",
                   "there is no such session");
    assert_refused("UPDATE events SET session_id = 2 WHERE position = 1 << 32 | 1",
                   "CHECK constraint failed");
    assert_refused("DELETE FROM users WHERE id = 1", "the user has sessions");
    assert_refused("DELETE FROM apps WHERE id = 1", "the app has users");
    assert_sound(folder->path);
}

/*
 * REPLACE takes the row that is in its way without asking the triggers that guard a deletion. It may be
 * refused, or do what a deletion does; but no row may be left that belongs to nothing.
 */
SQLITE3_GUARDS_TEST(replacing_leaves_nothing_behind)
{
    static const char *const statements[] = {
        "REPLACE INTO users VALUES (9, 1, 'user')",
        "REPLACE INTO apps VALUES (9, 'app')",
        "REPLACE INTO sessions VALUES (9, 1, 1, 'one', 0, 0, 0, 0, 0, 0, NULL, 0, 0)",
        "INSERT INTO users VALUES (9, 1, 'v'); UPDATE OR REPLACE users SET name = 'user' WHERE id = 9",
        "INSERT INTO apps VALUES (9, 'c'); UPDATE OR REPLACE apps SET name = 'app' WHERE id = 9",
        "UPDATE OR REPLACE sessions SET name = 'one' WHERE name = 'two'",
    };
    char *kept = support_path(folder->folder, "kept.db");
    int broken = 0;

    copy_file(folder->path, kept);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        int status = 0;
        copy_file(kept, folder->path);
        free(run_program(folder, statements[i], &status));
        char *left = raw_text(
            folder->path, "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2");
        if (left[0]) {
            print_error("%s\n    leaves rows that belong to nothing:\n%s", statements[i], left);
            broken++;
        }
        free(left);
    }
    free(kept);
    assert_int_equal(broken, 0);
}

/* A session's app is its user's app; a user that moves would take none of the sessions along. */
SQLITE3_GUARDS_TEST(users_do_not_move)
{
    assert_refused("UPDATE users SET app_id = 2, name = 'moved' WHERE id = 1", "users");
}

SQLITE3_GUARDS_TEST(deleting_takes_all_that_belongs)
{
    int status = 0;

    free(run_program(folder, "DELETE FROM sessions WHERE name = 'one' AND user_id = 1;", &status));
    assert_int_equal(status, 0);
    assert_query(folder->path,
                 "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM session_state),"
                 " (SELECT count(*) FROM session_details), (SELECT count(*) FROM user_state)",
                 "0|1|2|2\n");
    free(run_program(folder, "DELETE FROM sessions; DELETE FROM users; DELETE FROM apps;", &status));
    assert_int_equal(status, 0);
    assert_query(folder->path,
                 "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM session_details),"
                 " (SELECT count(*) FROM user_state), (SELECT count(*) FROM app_state)",
                 "0|0|0|0\n");
    assert_sound(folder->path);
}

/* Saves the same bytes for each of the sessions, and other bytes for the user. */
static void save_artifacts(const char *path)
{
    static const ses_key keys[] = {{"app", "user", "one"}, {"app", "user", "two"}, {"app", "user", NULL}};
    ses_error error;

    ses_store *store = must_open(path, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_ok(ses_artifact_save_by_key(store, &keys[i], "a", keys[i].session ? "same" : "other", SES_NUL,
                                           NULL, NULL, &error));
    ses_close(store);
}

/* A version of a deleted session never fits the next session of that name. */
SQLITE3_GUARDS_TEST(deleting_ends_the_versions)
{
    const ses_key key = {"app", "user", "one"};
    int status = 0;

    free(run_program(folder, "DELETE FROM sessions WHERE name = 'two'; DELETE FROM sessions;", &status));
    assert_int_equal(status, 0);
    assert_query(folder->path, "SELECT * FROM version_floor", "1|3\n");
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_create(store, &key, NULL, 0, NULL, NULL, &error));
    must_append_by_key(store, &key, "{}");
    for (int64_t version = 0; version < 4; version++) {
        const ses_append_options old = {.size = sizeof old, .flags = SES_AT_VERSION, .version = version};
        assert_code(SES_STALE, ses_append_by_key(store, &key, "{}", SES_NUL, &old, NULL, &error));
    }
    ses_close(store);
}

SQLITE3_GUARDS_TEST(versions_stay_within_bounds)
{
    assert_refused("UPDATE version_floor SET floor = -1", "CHECK constraint failed");
    assert_refused("UPDATE version_floor SET floor = 9007199254740993", "CHECK constraint failed");
    assert_refused("UPDATE version_floor SET floor = 'x'", "cannot store TEXT");
    assert_refused("INSERT INTO version_floor VALUES (2, 0)", "CHECK constraint failed");
}

/* The library continues with correct changes of the program. */
SQLITE3_GUARDS_TEST(the_library_goes_on)
{
    const ses_key key = {"app", "user", "one"};
    int status = 0;

    free(run_program(folder,
                     "INSERT INTO session_state VALUES (1, 'by hand', '{\"x\": 1.50}', 2);"
                     "UPDATE app_state SET value = '\"changed\"' WHERE app_id = 1;"
                     "DELETE FROM user_state WHERE user_id = 1;",
                     &status));
    assert_int_equal(status, 0);
    ses_store *store = must_open(folder->path, NULL);
    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL),
                        "{\"app:a\":\"changed\",\"by hand\":{\"x\": 1.50},\"k\":3}");
    must_append(session, "{\"id\":\"e3\"}");
    ses_session_close(session);
    ses_close(store);
    assert_sound(folder->path);
}

SQLITE3_GUARDS_TEST(artifacts_go_with_what_they_belong_to)
{
    static const char *const left[] = {
        "DELETE FROM sessions WHERE name = 'one'",     "2|2|2\n",
        "DELETE FROM artifacts WHERE session = 'two'", "1|1|1\n",
        "DELETE FROM sessions; DELETE FROM users;",    "0|0|0\n",
    };
    int status = 0;

    save_artifacts(folder->path);
    assert_refused("INSERT INTO artifacts SELECT user_id, session, 'b', 0, 0, 0, NULL, NULL, NULL, content_id"
                   " FROM artifacts",
                   "artifacts: save them with");
    assert_refused("REPLACE INTO artifacts SELECT * FROM artifacts", "artifacts: save them with");
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i += 2) {
        free(run_program(folder, left[i], &status));
        assert_int_equal(status, 0);
        assert_query(folder->path,
                     "SELECT (SELECT count(*) FROM artifacts), (SELECT count(*) FROM artifact_contents),"
                     " (SELECT count(*) FROM artifact_chunks)",
                     left[i + 1]);
        assert_sound(folder->path);
    }
}

static int no_program(void)
{
    int status = 0;
    free(support_run("command -v sqlite3", &status));
    if (status != 0)
        print_message("skipped: there is no sqlite3 program\n");
    return status;
}

/* Not since 1970, so that it is not removed as idle at once. */
SQLITE3_GUARDS_TEST(a_session_written_by_hand_is_idle_from_now_on)
{
    int status = 0;
    char *printed = run_program(
        folder,
        "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq,"
        " event_count) VALUES (1, 1, 'by hand', 0, 0, 0, 0, 0, 0);"
        "SELECT abs(changed_us / 1000000 - strftime('%s', 'now')) < 600 FROM sessions WHERE name = 'by hand'",
        &status);

    assert_int_equal(status, 0);
    assert_string_equal(printed, "1\n");
    free(printed);
}

BEFORE_TESTS()
{
    if (no_program())
        exit(EXIT_SUCCESS);
}
