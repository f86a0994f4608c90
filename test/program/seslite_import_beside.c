/* The command imports: what it reads stays as it is, and nothing is made beside it. */
#include "foreign.h"

#define run_ok(...) run_at(&reply, 0, NULL, fixture->path, __VA_ARGS__)

static char *folder_of_sources(const struct fixture *fixture)
{
    char *folder = support_path(fixture->folder, "sources");
    assert_int_equal(mkdir(folder, 0700), 0);
    return folder;
}

static void assert_imported(const struct fixture *fixture)
{
    ses_session *session = must_get(fixture->store, &(ses_key){"a", "u", "s"});

    assert_string_equal(support_state(session, NULL), "{\"app:units\":\"metric\",\"n\":2,\"was\":true}");
    ses_session_close(session);
    must_delete(fixture->store, &(ses_key){"a", "u", "s"});
    must_delete(fixture->store, &(ses_key){"a", "u", "t"});
}

TEST(nothing_is_made_beside_the_file_and_nothing_of_it_changes)
{
    char *folder = folder_of_sources(fixture);
    struct fixture sources = {.folder = folder};
    char *plain = make_adk(&sources, "plain.db", NULL);
    char *log = make_adk(&sources, "log.db", "PRAGMA journal_mode = WAL");

    char *before = folder_picture(folder);
    run_ok("import", plain);
    assert_imported(fixture);
    run_ok("import", log);
    assert_imported(fixture);
    assert_picture(folder, before);
    free(plain);
    free(log);
    free(folder);
}

TEST(events_only_in_the_log_are_read)
{
    char *folder = folder_of_sources(fixture);
    char *path = support_path(folder, "open.db");
    char *copy = support_path(folder, "left.db");
    char *log = support_path(folder, "open.db-wal");
    char *copy_log = support_path(folder, "left.db-wal");
    sqlite3 *db = raw_open(path);

    raw_run(db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    raw_run(db, adk_schema);
    raw_run(db, adk_rows);
    /* Left behind: a log without its index. */
    copy_file(path, copy);
    copy_file(log, copy_log);
    run_ok("import", path);
    assert_imported(fixture);
    char *before = folder_picture(folder);
    run_ok("import", copy);
    assert_imported(fixture);
    run_ok("import", copy, "--dry-run");
    assert_picture(folder, before);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(copy_log);
    free(log);
    free(copy);
    free(path);
    free(folder);
}

TEST(a_hot_journal_is_rolled_back_in_a_copy)
{
    char *folder = folder_of_sources(fixture);
    struct fixture sources = {.folder = folder};
    char *path = make_adk(&sources, "source.db", NULL);
    char *copy = support_path(folder, "hot.db");
    char *journal = support_path(folder, "source.db-journal");
    char *copy_journal = support_path(folder, "hot.db-journal");
    char *link_path = support_path(fixture->folder, "link.db");
    sqlite3 *db = raw_open(path);

    raw_run(db, "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;"
                "UPDATE sessions SET state = '{\"half\":true}';"
                "INSERT INTO app_states SELECT hex(randomblob(100)) || value, hex(zeroblob(500)), 1"
                " FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 200) "
                "SELECT * FROM n)");
    copy_file(path, copy);
    copy_file(journal, copy_journal);
    raw_run(db, "ROLLBACK");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    char *before = folder_picture(folder);
    run_ok("import", copy);
    assert_imported(fixture);
    assert_int_equal(symlink(copy, link_path), 0);
    run_ok("import", link_path);
    assert_imported(fixture);
    assert_picture(folder, before);
    free(link_path);
    free(copy_journal);
    free(journal);
    free(copy);
    free(path);
    free(folder);
}

/* SQLite has the log and the journal beside the file itself. A path that begins with two slashes is one,
 * too. */
TEST(a_link_to_a_file_is_read_with_what_is_beside_the_file)
{
    char *folder = folder_of_sources(fixture);
    char *path = support_path(folder, "open.db");
    char *link_path = support_path(fixture->folder, "link.db");
    char *slashes = support_path("", path);
    sqlite3 *db = raw_open(path);

    raw_run(db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    raw_run(db, adk_schema);
    raw_run(db, "PRAGMA wal_checkpoint");
    raw_run(db, adk_rows);
    assert_int_equal(symlink(path, link_path), 0);
    run_ok("import", link_path);
    assert_imported(fixture);
    run_ok("import", slashes);
    assert_imported(fixture);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(slashes);
    free(link_path);
    free(path);
    free(folder);
}
