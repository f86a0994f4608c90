/* The sqlite3 program: runs the schema script, reads what the library wrote, and cannot break it. */
#include "open.h"

/* The output of `sqlite3 store.db SQL`. */
static char *query(const struct folder *folder, const char *sql, int *status)
{
    char command[4096];
    snprintf(command, sizeof command, "sqlite3 '%s' \"%s\"", folder->path, sql);
    return support_run(command, status);
}

static void assert_prints(const struct folder *folder, const char *sql, const char *expected)
{
    int status = 0;
    char *text = query(folder, sql, &status);
    assert_string_equal(text, expected);
    assert_int_equal(status, 0);
    free(text);
}

static void assert_refused(const struct folder *folder, const char *sql, const char *words)
{
    int status = 0;
    char *before = query(folder, ".dump", &status);
    char *text = query(folder, sql, &status);
    char *after = query(folder, ".dump", &status);
    if (!strstr(text, words)) {
        print_error("%s\nsaid \"%s\", not \"%s\"\n", sql, text, words);
        fail();
    }
    assert_string_equal(before, after);
    free(after);
    free(text);
    free(before);
}

static int run_script(const struct folder *folder, const char *name, char **text)
{
    char command[1024];
    int status = 0;
    snprintf(command, sizeof command, "sqlite3 '%s' < sql/sqlite/%s", folder->path, name);
    *text = support_run(command, &status);
    return status;
}

static void fill(const struct folder *folder)
{
    const int64_t created = INT64_C(1700000000000000);
    const ses_create_options options = {.size = sizeof options, .created_us = &created};
    const ses_key key = {"app", "user", "one"};
    ses_session *session = NULL;
    ses_error error;

    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_create(store, &key, "{\"app:a\":1,\"user:u\":\"x\",\"k\":[1.10]}", SES_NUL, &options,
                         &session, &error));
    assert_ok(ses_append(
        session,
        "{\"id\":\"e1\",\"author\":\"user\",\"timestamp\":1700000000.000042,\"content\":{\"parts\":["
        "{\"text\":\"Hello \"},{\"text\":\"there\"}]}}",
        SES_NUL, NULL, NULL, &error));
    assert_ok(
        ses_append(session,
                   "{\"id\":\"e2\",\"author\":\"agent\",\"timestamp\":1700000001,\"content\":{\"parts\":["
                   "{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1.50}}},"
                   "{\"function_call\":{\"name\":\"g\",\"args\":{}}}]}}",
                   SES_NUL, NULL, NULL, &error));
    assert_ok(ses_append(session,
                         "{\"id\":\"e3\",\"author\":\"agent\",\"timestamp\":-0.5,\"content\":{\"parts\":["
                         "{\"functionResponse\":{\"name\":\"f\",\"response\":{\"y\":2}}},"
                         "{\"function_response\":{\"name\":\"g\",\"response\":{\"z\":3}}}]}}",
                         SES_NUL, NULL, NULL, &error));
    ses_session_close(session);
    ses_close(store);
}

FOLDER_TEST(script_makes_a_store)
{
    char *text = NULL;

    assert_int_equal(run_script(folder, "0002_initial.sql", &text), 0);
    assert_string_equal(text, "");
    free(text);
    assert_prints(folder, "PRAGMA user_version; PRAGMA auto_vacuum; PRAGMA application_id;",
                  "2\n2\n1397052236\n");
    assert_int_equal(run_script(folder, "0003_families.sql", &text), 0);
    assert_string_equal(text, "");
    free(text);
    assert_prints(folder, "PRAGMA user_version; SELECT * FROM features;", "3\nfamilies|3\n");
    assert_int_not_equal(run_script(folder, "0003_families.sql", &text), 0);
    assert_non_null(
        strstr(text, "the file is not at version 2, or uses other features; nothing was changed"));
    free(text);
    fill(folder);
    assert_prints(folder, "SELECT count(*) FROM events; PRAGMA integrity_check; PRAGMA foreign_key_check;",
                  "3\nok\n");
}

FOLDER_TEST(the_library_makes_what_the_scripts_make)
{
    static const char all[] =
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1, 2;"
        "PRAGMA user_version; PRAGMA auto_vacuum; PRAGMA application_id; PRAGMA encoding; PRAGMA freelist_count;"
        "SELECT * FROM features; SELECT * FROM version_floor; SELECT * FROM sqlite_sequence;";
    char *text = NULL;
    int status = 0;

    ses_close(must_open(folder->path, NULL));
    char *of_library = query(folder, all, &status);
    remove(folder->path);
    assert_int_equal(run_script(folder, "0002_initial.sql", &text), 0);
    free(text);
    assert_int_equal(run_script(folder, "0003_families.sql", &text), 0);
    free(text);
    assert_prints(folder, all, of_library);
    assert_non_null(strstr(of_library, "CREATE VIEW"));
    free(of_library);
}

static void assert_script_changes_nothing(const struct folder *folder)
{
    size_t before_len = 0;
    size_t after_len = 0;
    char *text = NULL;
    char *before = support_read_file(folder->path, &before_len);
    assert_int_not_equal(run_script(folder, "0002_initial.sql", &text), 0);
    assert_non_null(strstr(text, "the file is not empty; nothing was changed"));
    char *after = support_read_file(folder->path, &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    free(after);
    free(before);
    free(text);
}

FOLDER_TEST(script_changes_no_other_file)
{
    char *text = NULL;

    assert_int_equal(run_script(folder, "0002_initial.sql", &text), 0);
    free(text);
    assert_script_changes_nothing(folder);
    remove(folder->path);
    assert_prints(folder, "PRAGMA auto_vacuum = FULL; CREATE TABLE mine (x);", "");
    assert_script_changes_nothing(folder);
    remove(folder->path);
    assert_prints(folder, "PRAGMA user_version = 3;", "");
    assert_script_changes_nothing(folder);
}

FOLDER_TEST(views)
{
    fill(folder);
    assert_prints(folder, "SELECT app, user, session, key, value FROM merged_state",
                  "app|user|one|app:a|1\napp|user|one|k|[1.10]\napp|user|one|user:u|\"x\"\n");
}

FOLDER_TEST(transcript)
{
    fill(folder);
    assert_prints(folder, "SELECT seq, time, author, text FROM transcript WHERE text IS NOT NULL",
                  "1|2023-11-14T22:13:20.000042Z|user|Hello there\n");
    assert_prints(folder, "SELECT seq, time, calls FROM transcript WHERE calls IS NOT NULL",
                  "2|2023-11-14T22:13:21.000000Z|f({\"x\":1.50}); g({})\n");
    assert_prints(folder, "SELECT time, responses FROM transcript WHERE responses IS NOT NULL",
                  "1969-12-31T23:59:59.500000Z|f: {\"y\":2}; g: {\"z\":3}\n");
    assert_prints(folder,
                  "SELECT session, created, updated, version, events, session_keys, user_keys, app_keys "
                  "FROM session_overview",
                  "one|2023-11-14T22:13:20Z|2023-11-14T22:13:21Z|3|3|1|1|1\n");
}

FOLDER_TEST(changes_of_state_in_the_transcript)
{
    static const char *const events[] = {
        "{\"actions\":{\"stateDelta\":{\"k\": 1.10,\"user:big\":9007199254740993,\"temp:t\":0}}}",
        "{\"actions\":{\"state_delta\":{\"k\":null}}}",
        "{\"actions\":{\"stateDelta\":{\"temp:t\":1}}}",
        "{\"actions\":{}}",
    };
    const ses_key key = {"app", "user", "one"};

    fill(folder);
    ses_store *store = must_open(folder->path, NULL);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(store, &key, events[i]);
    ses_close(store);
    assert_prints(folder, "SELECT seq, changes FROM transcript WHERE seq > 2",
                  "3|\n4|{\"k\":1.10,\"user:big\":9007199254740993}\n5|{\"k\":null}\n6|\n7|\n");
}

FOLDER_TEST(the_transcript_hides_nothing)
{
    static const char *const events[] = {
        "{\"content\":{\"parts\":[{\"text\":\"a\\u0000b \\\\u0000\"},3]},\"errorCode\":\"SAFETY\","
        "\"errorMessage\":\"no\\u0000pe\"}",
        "{\"content\":{\"parts\":[{\"executableCode\":{\"code\":\"print(1)\"}},{\"code_execution_result\":{"
        "\"output\":\"1\"}},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AA==\"}},{\"file_data\":{"
        "\"mime_type\":\"text/csv\",\"file_uri\":\"gs://b/"
        "c\"}}]},\"actions\":{\"transferToAgent\":\"billing\"}}",
    };
    const ses_key key = {"app", "user", "one"};

    fill(folder);
    ses_store *store = must_open(folder->path, NULL);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(store, &key, events[i]);
    ses_close(store);
    assert_prints(folder, "SELECT text, error, code, files, transfer FROM transcript WHERE seq = 4",
                  "a\xe2\x90\x80"
                  "b \\u0000|SAFETY: no\xe2\x90\x80pe|||\n");
    assert_prints(folder, "SELECT text, error, code, files, transfer FROM transcript WHERE seq = 5",
                  "||print(1)\n1|image/png; text/csv gs://b/c|billing\n");
}

FOLDER_TEST(invalid_json_is_refused)
{
    fill(folder);
    assert_refused(folder, "INSERT INTO session_state VALUES (1, 'x', '{bad', 1)",
                   "session_state.value: not valid JSON");
    assert_refused(folder, "UPDATE session_state SET value = '{bad'", "session_state.value: not valid JSON");
    assert_refused(folder, "INSERT INTO user_state VALUES (1, 'x', 'nope', 1, 1)",
                   "user_state.value: not valid JSON");
    assert_refused(folder, "UPDATE user_state SET value = ''", "user_state.value: not valid JSON");
    assert_refused(folder, "INSERT INTO app_state VALUES (1, 'x', '1 2', 1, 1)",
                   "app_state.value: not valid JSON");
    assert_refused(folder, "UPDATE app_state SET value = '['", "app_state.value: not valid JSON");
    assert_refused(folder, "UPDATE events SET body = '{' WHERE position = 1 << 32 | 1",
                   "events.body: not valid JSON");
    assert_refused(folder, "UPDATE session_details SET initial_state = 'x'",
                   "session_details.initial_state: not valid JSON");
    assert_refused(folder, "UPDATE app_state SET value = x'31'", "cannot store BLOB value");
}

FOLDER_TEST(references_hold)
{
    fill(folder);
    assert_prints(folder, "PRAGMA foreign_keys", "0\n"); /* so it is the guards that hold */
    assert_refused(folder, "INSERT INTO session_state VALUES (9, 'x', '1', 1)", "there is no such session");
    assert_refused(folder, "INSERT INTO user_state VALUES (9, 'x', '1', 1, 1)", "there is no such user");
    assert_refused(folder, "INSERT INTO app_state VALUES (9, 'x', '1', 1, 1)", "there is no such app");
    assert_refused(folder, "INSERT INTO users VALUES (9, 9, 'x')", "there is no such app");
    assert_refused(folder, "UPDATE users SET app_id = 9", "the id and the app must not change");
    assert_refused(folder, "UPDATE sessions SET user_id = 9", "the user must belong to the app");
    assert_refused(folder, "UPDATE sessions SET id = 9", "the id must not change");
    assert_refused(folder, "UPDATE events SET session_id = 9, position = 9 << 32 | position & 4294967295",
                   "there is no such session");
    assert_refused(folder, "UPDATE events SET position = position + 4294967296", "CHECK constraint failed");
    assert_refused(folder, "DELETE FROM users", "the user has sessions");
    assert_refused(folder, "DELETE FROM apps", "the app has users");
}

FOLDER_TEST(deleting_takes_what_belongs_to_it)
{
    fill(folder);
    assert_prints(folder,
                  "DELETE FROM sessions; SELECT count(*) FROM events; SELECT count(*) FROM session_state; "
                  "SELECT count(*) FROM session_details; SELECT count(*) FROM user_state;",
                  "0\n0\n0\n1\n");
    assert_prints(folder,
                  "DELETE FROM users; SELECT count(*) FROM user_state; SELECT count(*) FROM app_state;",
                  "0\n1\n");
    assert_prints(folder, "DELETE FROM apps; SELECT count(*) FROM app_state; PRAGMA foreign_key_check;",
                  "0\n");
}

FOLDER_TEST(reads_while_the_library_has_it_open)
{
    const ses_key key = {"app", "user", "one"};

    fill(folder);
    ses_store *store = must_open(folder->path, NULL);
    must_append_by_key(store, &key, "{\"author\":\"last\"}");
    assert_prints(folder, "SELECT author FROM events ORDER BY position DESC LIMIT 1", "last\n");
    must_append_by_key(store, &key, "{\"author\":\"after\"}");
    ses_close(store);
}

static int no_program(void)
{
    int status = 0;
    free(support_run("command -v sqlite3", &status));
    if (status != 0)
        print_message("skipped: there is no sqlite3 program\n");
    return status;
}

BEFORE_TESTS()
{
    if (no_program())
        exit(EXIT_SUCCESS);
}
