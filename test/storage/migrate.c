/* Migration in place: with a library that has later schema scripts (test/sql; see flags.mk). */
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "released.h"

static const ses_key key = {"app", "user", "one"};

static void exec(const char *path, const char *sql)
{
    sqlite3 *handle = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &message) != SQLITE_OK) {
        print_error("%s\n", message);
        fail();
    }
    sqlite3_close(handle);
}

static int64_t read_number(const char *path, const char *sql)
{
    sqlite3 *handle = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return number;
}

/* A script that makes the same schema, in other words. */
static void remove_comments(char *sql)
{
    char *end = sql;

    while (*sql) {
        if (sql[0] == '-' && sql[1] == '-')
            sql += strcspn(sql, "\n");
        else
            *end++ = *sql++;
    }
    *end = '\0';
}

/* A file as the first version of the library leaves it. */
static void make_first_version_of(const char *path, bool without_comments)
{
    char *script = support_read_file("sql/sqlite/0002_initial.sql", NULL);
    assert_non_null(script);
    if (without_comments)
        remove_comments(script);
    exec(path, strchr(script, '\n'));
    free(script);
    exec(path, "INSERT INTO apps VALUES (1, 'app'); INSERT INTO users VALUES (1, 1, 'user');"
               "INSERT INTO sessions VALUES (1, 1, 1, 'one', 5, 7, 0, 1, 1, 1, NULL, 0, 0, 7, NULL);"
               "INSERT INTO session_state VALUES (1, 'k', '1.10', 1);"
               "INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, branch, "
               "time_us, high_us, body)"
               " VALUES (4294967297, 1, 68865795, 'e1', '', 'a', NULL, 7, NULL, "
               "'{\"id\":\"e1\",\"timestamp\":0.000007}');"
               "PRAGMA journal_mode = WAL;");
    assert_int_equal(read_number(path, "PRAGMA user_version"), 2);
}

static void make_first_version(const char *path)
{
    make_first_version_of(path, false);
}

FOLDER_TEST(older_store_is_brought_up_to_date)
{
    ses_info info = {.size = sizeof info};

    make_first_version(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_store_info(store, &info, &error));
    assert_int_equal(info.schema_version, 5);
    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL), Q("{'k':1.10}"));
    assert_string_equal(ses_session_event(session, 0)->json, Q("{'id':'e1','timestamp':0.000007}"));
    must_append(session, "{}");
    ses_session_close(session);
    ses_close(store);
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 5);
    assert_int_equal(read_number(folder->path, "SELECT \"how many\" FROM later"),
                     1); /* the event there was at the time */
}

/* These later scripts rename a column that exports need, so the rows are looked at. */
FOLDER_TEST(stores_of_released_versions_keep_their_rows)
{
    const char *sums =
        "SELECT (SELECT sum(length(body) * position) FROM events) +"
        " (SELECT count(*) FROM artifact_chunks) + (SELECT sum(length(value)) FROM session_state) +"
        " (SELECT count(*) FROM event_marks) + (SELECT sum(version) FROM sessions)";

    for (int i = 0; i < RELEASED_VERSIONS; i++) {
        ses_store *store = NULL;

        released_make(released_versions[i], folder->path);
        const int64_t sum = read_number(folder->path, sums);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        ses_close(store);
        assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 5);
        assert_int_equal(read_number(folder->path, sums), sum);
        assert_int_equal(remove(folder->path), 0);
    }
}

FOLDER_TEST(new_store_goes_through_all_scripts)
{
    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    ses_close(store);
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 5);
    assert_int_equal(read_number(folder->path, "SELECT count(*) FROM later"), 1);
    assert_ok(ses_open(":memory:", NULL, &store, &error));
    ses_close(store);
}

FOLDER_TEST(script_that_fails_in_its_middle_changes_nothing)
{
    ses_store *store = NULL;

    make_first_version(folder->path);
    exec(folder->path, "CREATE TABLE later (mine)");
    assert_code(SES_INTERNAL, ses_open(folder->path, NULL, &store, &error));
    assert_null(store);
    assert_message("0004_test.sql");
    assert_message("table later already exists");
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"),
                     3); /* as the script before it has left it */
    assert_int_equal(
        read_number(folder->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'before_later'"), 0);
    exec(folder->path, "DROP TABLE later");
    assert_ok(ses_open(folder->path, NULL, &store, &error));
    ses_close(store);
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 5);
}

FOLDER_TEST(older_store_is_not_read_only)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = NULL;

    make_first_version(folder->path);
    assert_code(SES_READONLY, ses_open(folder->path, &options, &store, &error));
    assert_message("version 2 and must be migrated to 5");
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 2);
}

FOLDER_TEST(newer_store_is_refused)
{
    ses_store *store = NULL;

    make_first_version(folder->path);
    exec(folder->path, "PRAGMA user_version = 6");
    assert_code(SES_TOONEW, ses_open(folder->path, NULL, &store, &error));
    assert_message("needs a seslite that knows schema version 6");
    assert_message("knows up to 5");
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 6);
}

/* A feature that this library does not know may depend on the schema as it is. */
FOLDER_TEST(a_file_with_other_features_is_not_migrated)
{
    ses_store *store = NULL;
    sqlite3 *handle = NULL;

    make_first_version(folder->path);
    exec(folder->path, "INSERT INTO features VALUES ('use', 1), ('things', 2)");
    assert_code(SES_READONLY, ses_open(folder->path, NULL, &store, &error));
    assert_message("\"things\"");
    exec(folder->path, "UPDATE features SET needs = 3 WHERE name = 'things'");
    assert_code(SES_TOONEW, ses_open(folder->path, NULL, &store, &error));
    assert_message("\"things\"");
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 2);

    /* Nor by the script alone. */
    char *script = support_read_file("sql/sqlite/0003_families.sql", NULL);
    assert_int_equal(sqlite3_open(folder->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, strchr(script, '\n'), NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_non_null(strstr(sqlite3_errmsg(handle), "uses other features"));
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
    free(script);
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 2);

    exec(folder->path, "DELETE FROM features WHERE name = 'things'");
    assert_ok(ses_open(folder->path, NULL, &store, &error));
    ses_close(store);
    assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 5);
}

/* -------------------------------------------------------------- scripts that change what others have made */

/* Opens it for writing, then for reading. */
static void assert_opens(const char *path)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    ses_error error;

    ses_store *store = must_open(path, NULL);
    ses_close(store);
    assert_ok(ses_open(path, &read_only, &store, &error));
    ses_close(store);
    assert_int_equal(
        read_number(path,
                    "SELECT count(*) FROM pragma_table_info('session_leases') WHERE name = 'duration_us'"),
        1);
    assert_int_equal(read_number(path, "PRAGMA user_version"), 5);
}

static const char *const later_scripts[] = {"sql/sqlite/0003_families.sql", "test/sql/0004_test.sql",
                                            "test/sql/0005_test.sql"};

static void run_by_hand(const char *path, const char *script)
{
    char command[1024];
    int status = 0;

    snprintf(command, sizeof command, "sqlite3 '%s' < %s", path, script);
    free(support_run(command, &status));
    assert_int_equal(status, 0);
}

FOLDER_TEST(altered_schema_opens)
{
    assert_opens(folder->path); /* a new file */
    for (size_t by_hand = 0; by_hand <= sizeof later_scripts / sizeof later_scripts[0]; by_hand++) {
        for (int without_comments = 0; without_comments < 2; without_comments++) {
            assert_int_equal(unlink(folder->path), 0);
            make_first_version_of(folder->path, without_comments);
            for (size_t i = 0; i < by_hand; i++)
                run_by_hand(folder->path, later_scripts[i]);
            assert_opens(folder->path);
        }
    }
}

struct change {
    const char *sql;
    const char *names;
};

#define REWRITE "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "

static const struct change refused[] = {
    {"ALTER TABLE session_leases DROP COLUMN duration_us", "\"session_leases\" was changed"},
    {"ALTER TABLE session_leases ADD COLUMN more INTEGER", "\"session_leases\" was changed"},
    {"ALTER TABLE session_details RENAME COLUMN first_state TO initial_state", "was changed"},
    {"ALTER TABLE later RENAME COLUMN \"how many\" TO x", "\"later\" was changed"},
    {"ALTER TABLE earlier RENAME TO before_later", "\"earlier\" is missing"},
    {"DROP INDEX sessions_by_expiry", "\"sessions_by_expiry\" is missing"},
    {"DROP INDEX sessions_by_expiry;"
     "CREATE INDEX sessions_by_expiry ON sessions (app_id, expires_us) WHERE expires_us IS NOT NULL",
     "\"sessions_by_expiry\" was changed"},
    {"DROP TRIGGER guard_session_labels_insert", "\"guard_session_labels_insert\" is missing"},
    {REWRITE "replace(sql, '[a b]', '[a  b]')", "\"quoted\" was changed"},
    {REWRITE "replace(sql, '`c``d`', '`c``D`')", "\"quoted\" was changed"},
    {REWRITE "replace(sql, '`c``d`', '`c`` d`')", "\"quoted\" was changed"},
    {REWRITE "replace(sql, 'it''''s', 'it''''S')", "\"quoted\" was changed"},
    {REWRITE "replace(sql, '\"e\"\"f\"', '\"e\"\" f\"')", "\"quoted\" was changed"},
    {REWRITE "replace(sql, 'x''4a''', '''4a''')", "\"quoted\" was changed"},
    {REWRITE "replace(sql, ' CHECK (\"made by\" <> '''')', '')", "\"event_marks\" was changed"},
};

FOLDER_TEST(altered_schema_in_other_words)
{
    assert_opens(folder->path);
    exec(folder->path,
         REWRITE "replace(replace(replace(sql, '[a b]', '/*''*/ [a b]/**//*/*/'), 'x''4a''', 'X''4A'''), "
                 "', `c``d`', ' ,`c``d`')");
    assert_opens(folder->path);
}

FOLDER_TEST(altered_schema_that_was_changed)
{
    ses_store *store = NULL;

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        ses_close(store);
        exec(folder->path, refused[i].sql);
        assert_code(SES_CORRUPT, ses_open(folder->path, NULL, &store, &error));
        assert_message(refused[i].names);
        assert_int_equal(unlink(folder->path), 0);
    }
    make_first_version(folder->path);
    exec(folder->path, "PRAGMA user_version = 5"); /* which it is not */
    assert_code(SES_CORRUPT, ses_open(folder->path, NULL, &store, &error));
    assert_message("was changed");
}

/* ------------------------------------------------------------------------------------- several processes */

/* Starts children that open the file at the same moment. Returns how many of them failed. */
static int open_together(const char *path)
{
    enum { CHILDREN = 8 };
    int failed = 0;
    int gate[2];
    char byte = 0;

    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            ses_store *store = NULL;
            ses_error error;
            close(gate[1]);
            (void)read(gate[0], &byte, 1); /* returns when the parent closes its end */
            int code = ses_open(path, NULL, &store, &error);
            if (code == SES_OK)
                code = ses_get_or_create(store, &key, NULL, 0, NULL, NULL, &error);
            if (code < 0)
                fprintf(stderr, "%s: %s\n", ses_code_name(code), error.message);
            ses_close(store);
            _exit(code < 0);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < CHILDREN; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        failed += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return failed;
}

FOLDER_TEST(processes_that_open_at_once)
{
    for (int round = 0; round < 10; round++) {
        static const char *const suffixes[] = {"", "-wal", "-shm"};
        for (size_t i = 0; i < 3; i++) {
            char name[1024];
            snprintf(name, sizeof name, "%s%s", folder->path, suffixes[i]);
            (void)remove(name);
        }
        if (round % 2 == 0)
            make_first_version(folder->path);
        assert_int_equal(open_together(folder->path), 0);
        assert_int_equal(read_number(folder->path, "PRAGMA user_version"), 5);
        assert_int_equal(read_number(folder->path, "SELECT count(*) FROM later"), 1);
        assert_int_equal(read_number(folder->path, "SELECT count(*) FROM sessions"), 1);
    }
}
