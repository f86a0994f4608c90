/* Opening files that are there already: something else, of a newer version, empty. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

/* The open is refused with that code and words, and no file of the folder has changed, come or gone. */
static void refuse_untouched(const struct folder *folder, unsigned flags, int code, const char *words,
                             int line)
{
    const ses_open_options options = {.size = sizeof options, .flags = flags};
    char *before = folder_picture(folder->folder);
    ses_store *store = (ses_store *)(void *)before;
    ses_error error;

    support_assert_code(code, ses_open(folder->path, &options, &store, &error), &error, "ses_open", __FILE__,
                        line);
    support_assert_message(&error, words, __FILE__, line);
    support_assert_message(&error, folder->path, __FILE__, line);
    assert_null(store);
    assert_picture(folder->folder, before);
}

#define assert_untouched(code, words)                                             \
    do {                                                                          \
        refuse_untouched(folder, 0, (code), (words), __LINE__);                   \
        refuse_untouched(folder, SES_OPEN_READ_ONLY, (code), (words), __LINE__);  \
        refuse_untouched(folder, SES_OPEN_MUST_EXIST, (code), (words), __LINE__); \
    } while (0)

FOLDER_TEST(files_that_are_no_databases)
{
    char block[8192];

    write_file(folder->path, "xy", 2);
    assert_untouched(SES_NOTASTORE, "not an SQLite database");
    write_file(folder->path, "Dear diary,\n", 12);
    assert_untouched(SES_NOTASTORE, "not an SQLite database");
    memset(block, 0, sizeof block);
    write_file(folder->path, block, sizeof block);
    assert_untouched(SES_NOTASTORE, "not an SQLite database");
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i * 7 + 13);
    write_file(folder->path, block, sizeof block);
    assert_untouched(SES_NOTASTORE, "not an SQLite database");
    /* The head of a database and nothing that fits it. */
    memcpy(block, "SQLite format 3", 16);
    write_file(folder->path, block, sizeof block);
    assert_untouched(SES_NOTASTORE, "not an SQLite database");
}

/* SQLite takes a file of one byte for an empty one. */
FOLDER_TEST(file_of_one_byte)
{
    write_file(folder->path, "x", 1);
    assert_untouched(SES_NOTASTORE, folder->path);
}

FOLDER_TEST(other_programs_databases)
{
    raw_exec(folder->path, "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine');");
    assert_untouched(SES_NOTASTORE, "not a seslite store");
    raw_exec(folder->path, "PRAGMA user_version = 1");
    assert_untouched(SES_NOTASTORE, "not a seslite store");
    raw_exec(folder->path, "PRAGMA user_version = 0; PRAGMA application_id = 252006673;");
    assert_untouched(SES_NOTASTORE, "252006673");
    raw_exec(folder->path, "DROP TABLE notes");
    assert_untouched(SES_NOTASTORE, "252006673");
    raw_exec(folder->path, "PRAGMA application_id = 0; PRAGMA user_version = 3;");
    assert_untouched(SES_NOTASTORE, "not a seslite store");
    assert_query(folder->path, "PRAGMA integrity_check", "ok\n");
}

struct abandoned {
    const char *path;
    const char *before; /* run and closed, so that it stands in the file itself */
    const char *after;  /* run and not closed: it is in the write-ahead file only */
};

static int run_abandoned(void *context)
{
    const struct abandoned *abandoned = context;
    sqlite3 *db = NULL;
    int rc = sqlite3_open(abandoned->path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, abandoned->before, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_close(db);
    if (rc == SQLITE_OK)
        rc = sqlite3_open(abandoned->path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, abandoned->after, NULL, NULL, NULL);
    return rc;
}

/* Leaves the file as a program does that was killed. */
static void abandon(const struct folder *folder, const char *before, const char *after)
{
    struct abandoned abandoned = {folder->path, before, after};
    char *wal = support_path(folder->folder, "store.db-wal");
    struct stat status;

    assert_int_equal(child_run(run_abandoned, &abandoned), SQLITE_OK);
    assert_int_equal(stat(wal, &status), 0);
    assert_int_not_equal(status.st_size, 0);
    free(wal);
}

FOLDER_TEST(other_programs_database_with_a_wal)
{
    abandon(folder, "PRAGMA journal_mode = WAL; CREATE TABLE notes (text);",
            "INSERT INTO notes VALUES ('mine');");
    assert_untouched(SES_NOTASTORE, "not a seslite store");
    assert_query(folder->path, "SELECT * FROM notes", "mine\n");
}

/* The file itself looks empty: all of its content is in the write-ahead file. */
FOLDER_TEST(other_programs_database_in_a_wal_only)
{
    abandon(folder, "PRAGMA journal_mode = WAL",
            "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine');");
    assert_untouched(SES_NOTASTORE, "not a seslite store");
    assert_query(folder->path, "SELECT * FROM notes", "mine\n");
}

/* The write-ahead file is beside the file that a link names, not beside the link. */
FOLDER_TEST(other_programs_database_behind_a_link)
{
    char *link_folder = support_folder_make();
    char *link_path = support_path(link_folder, "link.db");
    ses_store *store = NULL;

    abandon(folder, "PRAGMA journal_mode = WAL",
            "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine');");
    assert_int_equal(symlink(folder->path, link_path), 0);
    char *before = folder_picture(folder->folder);
    assert_code(SES_NOTASTORE, ses_open(link_path, NULL, &store, &error));
    assert_picture(folder->folder, before);
    free(link_path);
    support_folder_remove(link_folder);
}

/* A link to nothing yet: what it names is made, for the owner alone; through a relative link too. */
FOLDER_TEST(a_link_to_nothing)
{
    char *link_path = support_path(folder->folder, "link.db");
    struct stat status;

    const char *name = strrchr(folder->path, '/') + 1;
    assert_int_equal(symlink(name, link_path), 0);
    ses_store *store = must_open(link_path, NULL);
    ses_close(store);
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(folder->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    free(link_path);
}

FOLDER_TEST(links_in_a_circle)
{
    char *link_path = support_path(folder->folder, "link.db");
    ses_store *store = NULL;

    assert_int_equal(symlink("link.db", link_path), 0);
    assert_code(SES_CANTOPEN, ses_open(link_path, NULL, &store, &error));
    assert_null(store);
    free(link_path);
}

static void make_store(const char *path)
{
    ses_store *store = must_open(path, NULL);
    must_create(store, &key, Q("{'k':1}"));
    ses_close(store);
}

FOLDER_TEST(newer_store)
{
    make_store(folder->path);
    raw_exec(folder->path, "PRAGMA user_version = 4");
    assert_untouched(SES_TOONEW, "version 4");
    raw_exec(folder->path, "PRAGMA user_version = 2147483647; PRAGMA journal_mode = DELETE;");
    assert_untouched(SES_TOONEW, "2147483647");
}

FOLDER_TEST(newer_store_with_a_wal)
{
    make_store(folder->path);
    abandon(folder, "PRAGMA user_version = 4", "CREATE TABLE later (x)");
    assert_untouched(SES_TOONEW, "version 4");
}

/* A newer library was stopped right after it had migrated the store. */
FOLDER_TEST(newer_store_in_a_wal_only)
{
    make_store(folder->path);
    abandon(folder, "SELECT 1", "PRAGMA user_version = 4");
    assert_untouched(SES_TOONEW, "version 4");
}

FOLDER_TEST(store_without_version)
{
    make_store(folder->path);
    raw_exec(folder->path, "PRAGMA user_version = 0");
    assert_untouched(SES_NOTASTORE, "no schema version");
    raw_exec(folder->path, "PRAGMA user_version = -1");
    assert_untouched(SES_NOTASTORE, "no schema version");
}

FOLDER_TEST(store_from_before_the_first_release)
{
    make_store(folder->path);
    raw_exec(folder->path, "PRAGMA user_version = 1");
    assert_untouched(SES_NOTASTORE, "an unreleased version of seslite wrote this store (schema version 1)");
    assert_untouched(SES_NOTASTORE, "export it with that version, and import the export with this one");
}

/* ------------------------------------------------------------------------------------------- empty files */

static void use_as_store(const struct folder *folder)
{
    make_store(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    ses_session *session = must_get(store, &key);
    must_append(session, Q("{'id':'e1','timestamp':5}"));
    ses_session_close(session);
    ses_close(store);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT body FROM events", "{\"id\":\"e1\",\"timestamp\":5}\n");
    assert_query(folder->path, "PRAGMA application_id", "1397052236\n");
    assert_query(folder->path, "PRAGMA user_version", "3\n");
}

FOLDER_TEST(empty_file_becomes_a_store)
{
    write_file(folder->path, "", 0);
    use_as_store(folder);
    assert_query(folder->path, "PRAGMA auto_vacuum", "2\n");
}

FOLDER_TEST(empty_file_is_read_only)
{
    write_file(folder->path, "", 0);
    refuse_untouched(folder, SES_OPEN_READ_ONLY, SES_READONLY, "seslite migrate", __LINE__);
}

FOLDER_TEST(empty_database_becomes_a_store)
{
    static const char *const kinds[] = {"VACUUM",
                                        "PRAGMA page_size = 1024; VACUUM;",
                                        "PRAGMA page_size = 65536; VACUUM;",
                                        "PRAGMA journal_mode = WAL",
                                        "CREATE TABLE gone (x); DROP TABLE gone;",
                                        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x); DROP TABLE t;"};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct stat status;
        raw_exec(folder->path, kinds[i]);
        assert_int_equal(stat(folder->path, &status), 0);
        assert_int_not_equal(status.st_size, 0);
        use_as_store(folder);
        assert_int_equal(unlink(folder->path), 0);
    }
}

/* The remains of an SQLite that could not finish its first transaction. */
FOLDER_TEST(empty_database_with_a_wal)
{
    abandon(folder, "PRAGMA journal_mode = WAL", "CREATE TABLE gone (x); DROP TABLE gone;");
    use_as_store(folder);
}

/* ------------------------------------------------------------------------------------------- read-only */

FOLDER_TEST(read_only)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    const ses_key fresh = {"app", "user", "fresh"};
    ses_info info = {.size = sizeof info};
    ses_session *created = NULL;
    ses_page *page = NULL;
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    char *json = NULL;
    int64_t count = 7;

    use_as_store(folder);
    ses_store *store = must_open(folder->path, &options);
    assert_ok(ses_store_info(store, &info, &error));
    assert_int_equal(info.read_only, 1);
    assert_string_equal(info.sqlite.journal_mode, "wal");
    assert_int_equal(info.schema_version, SES_SCHEMA_VERSION);

    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL), Q("{'k':1}"));
    assert_int_equal(ses_session_event_count(session), 1);
    must_refresh(session);
    assert_code(SES_EXISTING, ses_get_or_create(store, &key, NULL, 0, NULL, &created, &error));
    ses_session_close(created);
    assert_ok(ses_list(store, "app", NULL, NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    ses_page_close(page);
    assert_ok(ses_state_json_by_key(store, &key, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'k':1}"));
    ses_free(json);
    assert_ok(ses_cursor_open(store, &key, NULL, &cursor, &error));
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    assert_ok(ses_cursor_close(cursor, &error));

    assert_code(SES_READONLY, ses_append(session, "{}", 2, NULL, NULL, &error));
    assert_message("read-only");
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", 2, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_append_batch(session, &(ses_text){"{}", 2}, 1, NULL, NULL, &error));
    assert_code(SES_READONLY,
                ses_append_batch_by_key(store, &key, &(ses_text){"{}", 2}, 1, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_create(store, &fresh, NULL, 0, NULL, &created, &error));
    assert_null(created);
    assert_code(SES_READONLY, ses_get_or_create(store, &fresh, NULL, 0, NULL, &created, &error));
    assert_code(SES_READONLY, ses_delete(store, &key, NULL, &count, &error));
    assert_code(SES_READONLY, ses_delete_user(store, "app", "user", NULL, &count, &count, &error));
    assert_int_equal(count, 7);
    assert_int_equal(ses_session_version(session), 1);
    ses_session_close(session);
    ses_close(store);
    assert_query(folder->path, "SELECT count(*), (SELECT count(*) FROM sessions) FROM events", "1|1\n");
}
