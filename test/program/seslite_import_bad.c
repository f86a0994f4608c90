/* The command imports: files that are nothing, damaged, locked, newer, or made to do harm. */
#include "foreign.h"

static void assert_nothing_here(const struct fixture *fixture)
{
    struct reply answer = {0};

    run_at(&answer, 0, NULL, fixture->path, "list", "--names", "apps");
    assert_string_equal(answer.out.data, "");
    reply_free(&answer);
}

/* ----------------------------------------------------------------------------------- what is no such file */

TEST(anything_else_is_refused)
{
    char *path = support_path(fixture->folder, "other");

    run_code(3, "import", path);
    write_file(path, "", 0);
    run_code(8, "import", path);
    write_file(path, "hello\n", 6);
    run_code(8, "import", path);
    assert_has(&reply.err, "cannot import");
    write_file(path, "{\"kind\":\"seslit\"}\n", 18);
    run_code(8, "import", path);
    write_file(path, "SQLite format 3\0 and more that is no page", 40);
    run_code(8, "import", path);
    assert_int_equal(unlink(path), 0);
    raw_exec(path, "CREATE TABLE sessions (x); CREATE TABLE events (y);");
    run_code(8, "import", path);
    assert_has(&reply.err, "not of a program listed");
    run_code(8, "import", fixture->folder);
    assert_has(&reply.err, "a folder without apps");
    run_code(2, "import", fixture->path);
    assert_has(&reply.err, "is the store itself");
    run_code(2, "import");
    assert_nothing_here(fixture);
    free(path);
}

TEST(a_text_that_is_not_known_is_described)
{
    static const struct {
        const char *text;
        size_t len; /* 0: that of the text */
        const char *words;
    } texts[] = {
        {"[{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"events\":[]}]", 0,
         "sessions of an ADK, in an array"},
        {"{\"app_name\":1,\"x\":[1],\"events\":2}\n{\"x\":2}\n", 0, "sessions of an ADK, one a line"},
        {"\xef\xbb\xbf{\"id\":\"s\"}", 0, "a byte order mark"},
        {"\xff\xfe{\0}\0", 6, "it is UTF-16"},
        {"\0{\0}", 4, "it is UTF-16"},
        {"[\n {\"title\":\"t\", \"mapping\":{\"a\":", 0,
         "a JSON array of objects with the members title, mapping,"},
        {"{\"type\":1}\n{\"type\":2}\n", 0, "JSON lines of objects with the members type,"},
        {"{\"a\":1,\"b\":{}}", 0, "a JSON object with the members a, b,"},
        {"Dear diary", 0, "it is not JSON"},
        {"[", 0, "a JSON array"},
        {"", 0, "the file is empty"},
    };
    char *path = support_path(fixture->folder, "other");

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file(path, texts[i].text, texts[i].len ? texts[i].len : strlen(texts[i].text));
        run_code(8, "import", path);
        assert_has(&reply.err, texts[i].words);
    }
    free(path);
}

TEST(a_file_that_is_refused_makes_no_store)
{
    char *path = support_path(fixture->folder, "other");
    char *store = support_path(fixture->folder, "new.db");

    write_file(path, "hello\n", 6);
    run_at(&reply, 8, NULL, store, "import", path);
    assert_int_equal(access(store, F_OK), -1);
    const char *cut_short = Q("{'kind':'seslite','format':1}\n{'kind':'session");
    write_file(path, cut_short, strlen(cut_short));
    run_at(&reply, 2, NULL, store, "import", path);
    assert_int_equal(access(store, F_OK), -1);
    const char *nameless = Q("{'id':'s','appName':'','userId':'u','events':[]}");
    write_file(path, nameless, strlen(nameless));
    run_at(&reply, 2, NULL, store, "import", path);
    assert_int_equal(access(store, F_OK), -1);
    run_at(&reply, 0, NULL, store, "import", path, "--rename");
    assert_int_equal(access(store, F_OK), 0);
    free(store);
    free(path);
}

TEST(newer_versions_are_refused_as_such)
{
    static const struct {
        const char *name;
        const char *sql;
    } newer[] = {
        {"python-v1-2.13", "UPDATE adk_internal_metadata SET value = '2'"},
        {"js", "UPDATE adk_internal_metadata SET value = '2'"},
        {"rust", "INSERT INTO _adk_session_migrations VALUES (2, 'x', 'y')"},
    };

    need_data();
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        char *from = data_path(newer[i].name, ".db");
        char *path = support_path(fixture->folder, newer[i].name);
        copy_file(from, path);
        assert_int_equal(chmod(path, 0600), 0);
        raw_exec(path, newer[i].sql);
        run_code(8, "import", path);
        assert_has(&reply.err, "reads only up to version 1");
        free(path);
        free(from);
    }
}

/* ---------------------------------------------------------------------------------------- locked, damaged */

TEST(a_locked_file_is_busy)
{
    char *path = make_adk(fixture, "source.db", NULL);
    sqlite3 *db = raw_open(path);

    raw_run(db, "BEGIN EXCLUSIVE");
    run_code(6, "import", path);
    assert_has(&reply.err, "locked");
    raw_run(db, "COMMIT");
    run_ok("import", path);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(path);
}

static bool is_one_of_the_exits(int status)
{
    return status == 0 || status == 1 || status == 2 || status == 7 || status == 8;
}

/* The result is sound, whatever the file held. */
static void import_damaged(const struct fixture *fixture, const char *path)
{
    const char *const arguments[] = {COMMAND, "-f", fixture->path, "import", path, NULL};
    struct reply answer = {0};
    int64_t problems = 0;
    ses_error error;

    command_run(&answer, NULL, arguments);
    if (!is_one_of_the_exits(answer.status))
        print_error("%d\n%s%s\n", answer.status, answer.out.data, answer.err.data);
    assert_true(is_one_of_the_exits(answer.status));
    assert_lacks(&answer.err, "Sanitizer");
    assert_lacks(&answer.err, "runtime error");
    assert_ok(ses_store_check(fixture->store,
                              &(ses_check_options){.size = sizeof(ses_check_options), .level = SES_CHECK_LOG},
                              &problems, &error));
    assert_int_equal(problems, 0);
    reply_free(&answer);
}

TEST(half_of_a_file_is_refused_and_nothing_is_written)
{
    static const char *const names[] = {"python-v1-2.13", "python-sqlite-2.13", "js", "go", "rust"};

    need_data();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *from = data_path(names[i], ".db");
        char *path = support_path(fixture->folder, names[i]);
        size_t len = 0;
        char *bytes = support_read_file(from, &len);
        write_file(path, bytes, len / 2 / 4096 * 4096);
        run_code(7, "import", path);
        assert_has(&reply.err, "damaged");
        assert_nothing_here(fixture);
        free(bytes);
        free(path);
        free(from);
    }
}

TEST(damaged_files_do_no_harm)
{
    static const char *const names[] = {"python-v1-2.13", "python-sqlite-2.13", "js", "go", "rust"};
    const unsigned tries = UNDER_ASAN ? 5 : 30;
    uint64_t seed = 88172645463325252u;

    need_data();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *from = data_path(names[i], ".db");
        char *path = support_path(fixture->folder, names[i]);
        size_t len = 0;
        char *bytes = support_read_file(from, &len);
        for (unsigned n = 0; n < tries; n++) {
            char *damaged = malloc(len);
            memcpy(damaged, bytes, len);
            for (int at = 0; at < 16; at++) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                /* The beginning of pages is where most depends on it. */
                const size_t page = (size_t)(seed >> 20) % (len / 4096) * 4096;
                const size_t place = page + (at % 2 ? (size_t)(seed >> 8) % 4096 : (size_t)(seed >> 8) % 128);
                damaged[place < 100 ? 100 + place : place] = (char)seed;
            }
            write_file(path, damaged, len);
            import_damaged(fixture, path);
            free(damaged);
        }
        free(bytes);
        free(path);
        free(from);
    }
}

/* ---------------------------------------------------------------------------------------- made to do harm */

TEST(hostile_schemas_are_refused)
{
    static const char *const hostile[] = {
        /* views in place of tables, one without an end */
        "DROP TABLE events; CREATE VIEW events AS SELECT 'x' AS id, 'a' AS app_name, 'u' AS user_id, 's' AS "
        "session_id,"
        " 'i' AS invocation_id, 1.0 AS timestamp, '{}' AS event_data",
        "DROP TABLE sessions; CREATE VIEW sessions AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x "
        "FROM n)"
        " SELECT 'a' AS app_name, 'u' AS user_id, x AS id, '{}' AS state, 1.0 AS create_time, 1.0 AS "
        "update_time FROM n",
        /* what is computed while it is read */
        "DROP TABLE events; CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT,"
        " invocation_id TEXT, timestamp REAL, event_data TEXT AS (hex(zeroblob(500000000))) VIRTUAL)",
        /* tables without an order of appending */
        "DROP TABLE events; CREATE TABLE events (id TEXT PRIMARY KEY, app_name TEXT, user_id TEXT, "
        "session_id TEXT,"
        " invocation_id TEXT, timestamp REAL, event_data TEXT) WITHOUT ROWID",
        "DROP TABLE events; CREATE VIRTUAL TABLE events USING fts5(id, app_name, user_id, session_id, "
        "event_data)",
    };

    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "hostile-%zu", i);
        char *path = make_adk(fixture, name, hostile[i]);
        const char *const arguments[] = {COMMAND, "-f", fixture->path, "import", path, NULL};
        command_run(&reply, NULL, arguments);
        if (reply.status != 8 && reply.status != 7)
            print_error("%zu: %d %s%s\n", i, reply.status, reply.out.data, reply.err.data);
        assert_true(reply.status == 8 || reply.status == 7);
        assert_nothing_here(fixture);
        free(path);
    }
}

TEST(triggers_and_odd_values_do_nothing)
{
    char *path = make_adk(fixture, "triggers.db",
                          "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM sessions; END;"
                          "INSERT INTO sessions VALUES (x'00ff', 'u', 'blob', '{}', 1, 1), (7, 8, 9, '{}', "
                          "'soon', 1e999);");

    run_ok("import", path, "--skip");
    assert_has(&reply.err, "the app contains a NUL");
    ses_session_close(must_get(fixture->store, &(ses_key){"7", "8", "9"}));
    free(path);
}

TEST(huge_and_deep_values_are_named)
{
    static const struct {
        const char *sql;
        const char *words;
    } cases[] = {
        {"UPDATE events SET event_data = '{\"id\":\"e1\",\"x\":\"' || hex(zeroblob(10000000)) || '\"}' WHERE "
         "id = 'e1'",
         "a/u/s: event 1, e1: it has 20000018 bytes"},
        {"UPDATE events SET event_data = hex(zeroblob(30000000)) WHERE id = 'e2'",
         "a/u/s: event 2: reading the tables failed"},
        {"UPDATE events SET event_data = replace(hex(zeroblob(100000)), '0', '[') WHERE id = 'e1'",
         "a/u/s: event 1, e1: "},
        {"UPDATE sessions SET state = replace(hex(zeroblob(100000)), '00', '{\"a\":') WHERE id = 's'",
         "a/u/s: its state: "},
        {"UPDATE events SET event_data = '' WHERE id = 'e2'", "a/u/s: event 2, e2: it is missing"},
        {"UPDATE events SET event_data = '[]' WHERE id = 'e2'", "a/u/s: event 2, e2: "},
        {"UPDATE events SET event_data = '{\"id\":\"e2\",\"x\":Infinity}' WHERE id = 'e2'",
         "a/u/s: event 2, e2: at byte 15: Infinity is not a JSON number"},
        {"UPDATE sessions SET state = 'null' WHERE id = 's'", "a/u/s: its state: "},
        {"UPDATE app_states SET state = '7'", "the shared state of a: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "odd-%zu", i);
        char *path = make_adk(fixture, name, cases[i].sql);
        const char *const arguments[] = {COMMAND, "-f", fixture->path, "import", path, NULL};
        command_run(&reply, NULL, arguments);
        assert_true(reply.status == 2 || reply.status == 1);
        assert_has(&reply.err, cases[i].words);
        assert_nothing_here(fixture);
        free(path);
    }
}
