/* The schema of a file is compared with the scripts' when it is opened. */
#include "check.h"

#include "seslite_search.h"

static const ses_key key = {"app", "user", "session"};

static void make_store(const char *path)
{
    ses_store *store = must_open(path, NULL);
    must_create(store, &key, Q("{'k':1}"));
    must_append_by_key(store, &key, Q("{'id':'e'}"));
    ses_close(store);
}

/* In a file that is sound but for this, as somebody else changed it. */
struct change {
    const char *sql;
    const char *names; /* the message does */
};

#define REWRITE "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "

static const struct change refused[] = {
    {"DROP VIEW merged_state; DROP VIEW session_overview; DROP TRIGGER guard_sessions_delete;"
     "DROP TABLE session_state; CREATE VIEW session_state AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL "
     "SELECT n + 1 "
     "FROM r) SELECT 1 AS session_id, 'k' || n AS key, '1' AS value, 1 AS seq FROM r",
     "\"session_state\" was changed"},
    {"ALTER TABLE sessions ADD COLUMN mine TEXT", "\"sessions\" was changed"},
    {"ALTER TABLE app_state ADD COLUMN mine TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))) VIRTUAL",
     "\"app_state\" was changed"},
    {"ALTER TABLE events RENAME COLUMN high_us TO highest_us", "\"events\" was changed"},
    {"DROP TABLE session_details", "\"session_details\" is missing"},
    {"DROP INDEX sessions_by_activity", "\"sessions_by_activity\" is missing"},
    {"DROP INDEX sessions_by_app; CREATE INDEX sessions_by_app ON sessions (name)",
     "\"sessions_by_app\" was changed"},
    {"DROP TRIGGER guard_events_insert", "\"guard_events_insert\" is missing"},
    {"DROP TRIGGER guard_events_insert; CREATE TRIGGER guard_events_insert BEFORE INSERT ON events BEGIN "
     "SELECT 1; END",
     "\"guard_events_insert\" was changed"},
    {"CREATE INDEX mine ON events (length(body))", "\"mine\""},
    {"CREATE INDEX mine ON events (author || 'x')", "\"mine\""},
    {"CREATE TABLE pragma_index_xinfo (cid); CREATE INDEX mine ON events (length(body))", "\"mine\""},
    {"CREATE INDEX \"a'b\" ON events (author) WHERE author > 'm'", "\"a'b\""},
    {"CREATE UNIQUE INDEX mine ON events (session_id, time_us)", "\"mine\""},
    {"CREATE UNIQUE INDEX mine ON events (session_id, time_us);" REWRITE
     "sql, name = 'Mine', tbl_name = 'Events' WHERE name = 'mine'",
     "\"Mine\""},
    {"CREATE INDEX mine ON events (length(body));" REWRITE "sql, type = 'Index' WHERE name = 'mine'",
     "\"mine\""},
    /* But for their case, SQLite itself compares these columns with the SQL. */
    {"CREATE UNIQUE INDEX mine ON events (session_id, time_us);" REWRITE
     "sql, tbl_name = 'notes' WHERE name = 'mine'",
     "malformed database schema"},
    {"CREATE INDEX mine ON events (length(body));" REWRITE
     "sql, name = 'sqlite_stat1', type = 'table' WHERE name = 'mine'",
     "malformed database schema"},
    {"CREATE INDEX mine ON events (author) WHERE author > 'm';" REWRITE
     "sql, name = NULL, type = NULL, tbl_name = NULL WHERE name = 'mine'",
     "malformed database schema"},
    {REWRITE "replace(sql, 'STRICT', '') WHERE name = 'users'", "\"users\" was changed"},
    {REWRITE "replace(sql, 'STRICT', '/* STRICT */') WHERE name = 'users'", "\"users\" was changed"},
    {REWRITE "replace(sql, 'STRICT', '-- STRICT') WHERE name = 'users'", "\"users\" was changed"},
    {REWRITE "sql || ' -- ' || char(10) || ', WITHOUT ROWID' WHERE name = 'users'", "\"users\" was changed"},
    {REWRITE "replace(sql, 'CHECK (id = 1)', '') WHERE name = 'version_floor'",
     "\"version_floor\" was changed"},
    {REWRITE "replace(sql, 'floor BETWEEN 0', 'floor BETWEEN -1') WHERE name = 'version_floor'",
     "\"version_floor\" was changed"},
    {REWRITE "replace(sql, ' ON DELETE CASCADE', '') WHERE name = 'events'", "\"events\" was changed"},
    {REWRITE "replace(sql, 'branch        TEXT', '\"branch\" TEXT') WHERE name = 'events'",
     "\"events\" was changed"},
    {REWRITE "replace(sql, 'WHERE ahead_hour IS NOT NULL', '') WHERE name = 'sessions_ahead'",
     "\"sessions_ahead\" was changed"},
    {REWRITE "replace(sql, 'already exists', 'already  exists') WHERE name = 'guard_apps_insert'",
     "\"guard_apps_insert\" was changed"},
    {REWRITE "upper(sql) WHERE name = 'guard_apps_insert'", "\"guard_apps_insert\" was changed"},
    {REWRITE "replace(sql, 'END', 'DELETE FROM apps; END') WHERE name = 'guard_apps_insert'",
     "\"guard_apps_insert\" was changed"},
};

FOLDER_TEST(refused_values)
{
    size_t len = 0;

    make_store(folder->path);
    char *sound = support_read_file(folder->path, &len);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
        ses_store *store = NULL;
        write_file(folder->path, sound, len);
        raw_exec(folder->path, refused[i].sql);
        assert_code(SES_CORRUPT, ses_open(folder->path, NULL, &store, &error));
        assert_message(refused[i].names);
        assert_code(SES_CORRUPT, ses_open(folder->path, &read_only, &store, &error));
        assert_message(refused[i].names);
    }
    free(sound);
}

/* Additions that people make for themselves, and other spellings of the same. */
static const char *const additions[] = {
    "CREATE TABLE notes (session_id INTEGER, note TEXT); CREATE INDEX notes_by_session ON notes "
    "(lower(note))",
    "CREATE VIEW mine AS SELECT * FROM transcript",
    "CREATE VIEW pragma_index_list AS SELECT 1; CREATE VIEW pragma_index_xinfo AS SELECT 1;"
    "CREATE INDEX mine ON events (author)",
    "CREATE INDEX mine ON events (author, time_us DESC)",
    "CREATE TRIGGER mine AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "DROP VIEW transcript; CREATE VIEW transcript AS SELECT 1",
    "DROP VIEW merged_state",
    "CREATE VIRTUAL TABLE search USING fts5(body, content='events');"
    "CREATE TRIGGER search_insert AFTER INSERT ON events BEGIN INSERT INTO search (rowid, body) VALUES "
    "(new.position, "
    "new.body); END",
    "ANALYZE",
    REWRITE "replace(sql, ' NOT NULL', char(9) || '/* never ''NULL'' */ not null -- (''' || char(10))",
    REWRITE "replace(sql, 'INTEGER', 'Integer') || '-- the end' WHERE type = 'table'",
    REWRITE "replace(replace(sql, ' TEXT', char(13, 10, 9) || 'TEXT'), ', ', ',') WHERE type <> 'trigger'",
    REWRITE "replace(replace(sql, 'SELECT RAISE(ABORT', 'select raise /**/ ( abort'), 'NEW.', 'new . ')",
    REWRITE "upper(sql) WHERE type = 'index'",
    REWRITE "sql || ' /* without an end'",
    "PRAGMA writable_schema = ON;"
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4000) INSERT INTO "
    "sqlite_schema SELECT 'view', 'v' || n, 'v' || n, 0, 'CREATE VIEW v' || n || ' AS SELECT 1' FROM r",
};

FOLDER_TEST(harmless_additions_are_accepted)
{
    size_t len = 0;

    make_store(folder->path);
    char *sound = support_read_file(folder->path, &len);
    for (size_t i = 0; i < sizeof additions / sizeof additions[0]; i++) {
        ses_store *store = NULL;
        ses_session *session = NULL;
        write_file(folder->path, sound, len);
        raw_exec(folder->path, additions[i]);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        must_append_by_key(store, &key, Q("{'id':'e2'}"));
        session = must_get(store, &key);
        assert_int_equal(ses_session_event_count(session), 2);
        ses_session_close(session);
        must_delete(store, &key);
        ses_close(store);
    }
    free(sound);
}

/* Tables that people have given names of SQLite's own tables. None of them is read in place of those. */
FOLDER_TEST(names_of_sqlite_in_the_file)
{
    static const ses_backup_options replace = {.size = sizeof replace, .flags = SES_BACKUP_REPLACE};
    char *backup = support_path(folder->folder, "backup.db");

    make_store(folder->path);
    raw_exec(folder->path,
             "CREATE TABLE pragma_index_list (name); CREATE TABLE pragma_compile_options (options);"
             "CREATE TABLE pragma_foreign_key_list (id); CREATE TABLE pragma_journal_mode (mode);"
             "CREATE TABLE pragma_foreign_key_check (\"table\", rowid, parent, fkid);"
             "CREATE TABLE pragma_module_list (module);"
             "CREATE TABLE notes (session_id REFERENCES sessions, user_id REFERENCES users);"
             "INSERT INTO notes SELECT id, NULL FROM sessions");
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_store_maintain(store, NULL, &error));
    if (ses_store_index(store, NULL, NULL, &error) != SES_UNSUPPORTED) /* which an SQLite without FTS5 is */
        assert_int_equal(error.code, SES_OK);
    assert_code(SES_CONSTRAINT, ses_delete(store, &key, NULL, NULL, &error));
    assert_message("(notes");
    raw_exec(folder->path, "PRAGMA foreign_keys = OFF; INSERT INTO notes VALUES (NULL, 99)");
    char *problems = problems_of(store, SES_CHECK_FULL);
    assert_non_null(strstr(problems, "row 2 of notes belongs to a row of users that does not exist"));
    free(problems);
    ses_close(store);

    store = must_open(backup, NULL);
    assert_ok(ses_store_backup(store, folder->path, &replace, &error));
    ses_close(store);
    free(backup);
}

/* A view that takes the place of a table while the store is open is not run. */
FOLDER_TEST(schema_changes_under_an_open_store)
{
    make_store(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    ses_session *session = must_get(store, &key);
    ses_session_close(session);
    raw_exec(folder->path, refused[0].sql);
    assert_code(SES_CORRUPT, ses_get(store, &key, NULL, &session, &error));
    assert_code(SES_CORRUPT, ses_append_by_key(store, &key, Q("{'actions':{'stateDelta':{'a':1}}}"), SES_NUL,
                                               NULL, NULL, &error));
    ses_close(store);
}

/* A .dump has no application_id and no user_version: the message says how to give them back. */
FOLDER_TEST(store_from_a_dump)
{
    char *restored = support_path(folder->folder, "restored.db");
    char command[1024];
    int status = 0;
    ses_store *store = NULL;

    make_store(folder->path);
    snprintf(command, sizeof command, "sqlite3 '%s' .dump | sqlite3 '%s'", folder->path, restored);
    free(support_run(command, &status));
    assert_int_equal(status, 0);
    assert_code(SES_NOTASTORE, ses_open(restored, NULL, &store, &error));
    assert_message("PRAGMA application_id = 1397052236; PRAGMA user_version = 3;");

    raw_exec(restored, "PRAGMA application_id = 1397052236; PRAGMA user_version = 3;");
    assert_ok(ses_open(restored, NULL, &store, &error));
    ses_session *session = must_get(store, &key);
    assert_string_equal(ses_session_event(session, 0)->id, "e");
    ses_session_close(session);
    ses_close(store);
    free(restored);
}
