/* Opening: which journal is used and what the store tells of itself. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

static ses_store *open_with(const char *path, int journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    ses_store *store = must_open(path, &options);
    return store;
}

static ses_info info_of(ses_store *store)
{
    ses_info info = {.size = sizeof info};
    ses_error error;
    assert_ok(ses_store_info(store, &info, &error));
    return info;
}

FOLDER_TEST(wal_is_the_default)
{
    char *wal = support_path(folder->folder, "store.db-wal");

    for (int journal = SES_JOURNAL_AUTO; journal <= SES_JOURNAL_WAL; journal++) {
        ses_store *store = open_with(folder->path, journal);
        ses_info info = info_of(store);
        assert_string_equal(info.sqlite.journal_mode, "wal");
        assert_string_equal(info.sqlite.journal_reason, "");
        must_create(store, &(ses_key){"app", "user", NULL}, NULL);
        assert_int_equal(access(wal, F_OK), 0);
        ses_close(store);
        /* Closing puts everything into the file itself. */
        assert_int_equal(access(wal, F_OK), -1);
    }
    free(wal);
}

FOLDER_TEST(rollback_journal)
{
    char *wal = support_path(folder->folder, "store.db-wal");
    ses_store *store = open_with(folder->path, SES_JOURNAL_ROLLBACK);
    ses_info info = info_of(store);

    assert_string_equal(info.sqlite.journal_mode, "delete");
    assert_string_equal(info.sqlite.journal_reason, "a rollback journal was requested");
    ses_session *session = must_open_new(store, &key, Q("{'k':1}"));
    must_append(session, Q("{'id':'e'}"));
    assert_int_equal(access(wal, F_OK), -1);
    ses_session_close(session);
    ses_close(store);
    assert_query(folder->path, "PRAGMA journal_mode", "delete\n");
    assert_sound(folder->path);
    free(wal);
}

FOLDER_TEST(journal_can_be_changed)
{
    static const int journals[] = {SES_JOURNAL_WAL, SES_JOURNAL_ROLLBACK, SES_JOURNAL_AUTO,
                                   SES_JOURNAL_ROLLBACK};
    char event[64];

    for (int i = 0; i < 4; i++) {
        ses_store *store = open_with(folder->path, journals[i]);
        ses_session *session = NULL;
        assert_string_equal(info_of(store).sqlite.journal_mode,
                            journals[i] == SES_JOURNAL_WAL ? "wal" : "delete");
        assert_in_range(ses_get_or_create(store, &key, NULL, 0, NULL, &session, &error), 0, SES_EXISTING);
        assert_int_equal(ses_session_event_count(session), i);
        snprintf(event, sizeof event, "{\"id\":\"e%d\"}", i);
        must_append(session, event);
        ses_session_close(session);
        ses_close(store);
    }
    assert_sound(folder->path);
}

static void assert_mode(const char *path, int journal, const char *mode, const char *reason)
{
    ses_store *store = open_with(path, journal);
    const ses_info info = info_of(store);

    assert_string_equal(info.sqlite.journal_mode, mode);
    assert_string_equal(info.sqlite.journal_reason, reason);
    ses_close(store);
}

static const char requested[] = "a rollback journal was requested";
static const char kept[] = "a rollback journal was requested earlier, and the store keeps it";

FOLDER_TEST(rollback_journal_is_kept_until_a_log_is_asked_for)
{
    static const char choice[] = "SELECT name, needs FROM features WHERE name LIKE '%journal%'";

    assert_mode(folder->path, SES_JOURNAL_ROLLBACK, "delete", requested);
    assert_mode(folder->path, SES_JOURNAL_AUTO, "delete", kept);
    assert_query(folder->path, choice, "rollback_journal|1\n");
    assert_mode(folder->path, SES_JOURNAL_WAL, "wal", "");
    assert_query(folder->path, choice, "");
    assert_mode(folder->path, SES_JOURNAL_AUTO, "wal", "");
}

/* An older version turns the file to a log. It gets its journal back once nobody has it open. */
FOLDER_TEST(kept_rollback_journal_that_another_program_changed)
{
    assert_mode(folder->path, SES_JOURNAL_ROLLBACK, "delete", requested);
    sqlite3 *other = raw_open(folder->path);
    raw_run(other, "PRAGMA journal_mode = WAL; SELECT * FROM features");
    assert_mode(folder->path, SES_JOURNAL_AUTO, "wal", "");
    sqlite3_close(other);
    assert_mode(folder->path, SES_JOURNAL_AUTO, "delete", kept);
}

FOLDER_TEST(rollback_journal_of_other_programs_is_not_kept)
{
    assert_mode(folder->path, SES_JOURNAL_AUTO, "wal", "");
    sqlite3 *other = raw_open(folder->path);
    raw_run(other, "PRAGMA journal_mode = DELETE");
    sqlite3_close(other);
    assert_mode(folder->path, SES_JOURNAL_AUTO, "wal", "");
}

FOLDER_TEST(copies_keep_the_rollback_journal)
{
    static const unsigned flags[] = {0, SES_BACKUP_COMPACT};
    ses_store *store = open_with(folder->path, SES_JOURNAL_ROLLBACK);

    for (int i = 0; i < 2; i++) {
        const ses_backup_options options = {.size = sizeof options, .flags = flags[i]};
        char *copy = support_path(folder->folder, i ? "compact.db" : "copy.db");
        assert_ok(ses_store_backup(store, copy, &options, &error));
        assert_mode(copy, SES_JOURNAL_AUTO, "delete", kept);
        free(copy);
    }
    ses_close(store);
}

FOLDER_TEST(store_in_memory_says_so)
{
    for (int journal = SES_JOURNAL_AUTO; journal <= SES_JOURNAL_ROLLBACK; journal++) {
        ses_store *store = open_with(":memory:", journal);
        ses_info info = info_of(store);
        assert_string_equal(info.path, ":memory:");
        assert_string_equal(info.sqlite.journal_mode, "memory");
        assert_string_equal(info.sqlite.journal_reason, "the store is in memory");
        ses_close(store);
    }
}

FOLDER_TEST(read_only_takes_the_journal_that_is_there)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = open_with(folder->path, SES_JOURNAL_ROLLBACK);

    ses_close(store);
    char *before = folder_picture(folder->folder);
    assert_ok(ses_open(folder->path, &options, &store, &error));
    ses_info info = info_of(store);
    assert_string_equal(info.sqlite.journal_mode, "delete");
    assert_int_not_equal(info.sqlite.journal_reason[0], '\0');
    ses_close(store);
    assert_picture(folder->folder, before);
}

/* The journal mode cannot be changed while another store is open: BUSY after the whole timeout, and no harm
 * done. */
FOLDER_TEST(journal_of_a_file_in_use)
{
    const ses_open_options options = {
        .size = sizeof options, .journal = SES_JOURNAL_ROLLBACK, .busy_timeout_ms = 300};
    ses_store *store = open_with(folder->path, SES_JOURNAL_WAL);
    ses_store *other = NULL;

    must_create(store, &key, NULL);
    int64_t start = support_steady_us() / 1000;
    assert_code(SES_BUSY, ses_open(folder->path, &options, &other, &error));
    assert_in_range(support_steady_us() / 1000 - start, 300, 5000);
    assert_null(other);
    assert_message("300 ms");
    must_append_by_key(store, &key, Q("{'id':'e'}"));
    ses_close(store);
    assert_ok(ses_open(folder->path, &options, &other, &error));
    assert_string_equal(info_of(other).sqlite.journal_mode, "delete");
    ses_close(other);
}

/* ------------------------------------------------------------------------------------------------ info */

FOLDER_TEST(info_names_sqlite_and_its_bugs)
{
    ses_store *store = open_with(folder->path, SES_JOURNAL_AUTO);
    ses_info info = info_of(store);
    int version = sqlite3_libversion_number();
    /* https://www.sqlite.org/wal.html#walresetbug: fixed in 3.51.3, and in 3.50.7 and 3.44.6. */
    int resets = version < 3044006 || (version >= 3045000 && version < 3050007) ||
                 (version >= 3051000 && version < 3051003);

    assert_string_equal(info.sqlite.version, sqlite3_libversion());
    assert_int_equal(strstr(info.sqlite.bugs, "WAL-reset") != NULL, resets);
    assert_int_equal(strstr(info.sqlite.bugs, "WAL-savepoint") != NULL, version < 3050002);
    assert_string_equal(info.path, folder->path);
    assert_int_equal(info.schema_version, SES_SCHEMA_VERSION);
    assert_int_equal(info.read_only, 0);
    assert_int_equal(info.size, sizeof info);
    ses_close(store);
}

FOLDER_TEST(info_of_other_versions)
{
    ses_store *store = open_with(folder->path, SES_JOURNAL_AUTO);
    ses_info smaller = {
        .size = offsetof(ses_info, sqlite), .sqlite.journal_mode = "as it was", .read_only = 9};
    struct {
        ses_info info;
        char newer[16];
    } larger = {.info = {.size = sizeof larger}, .newer = "as it was"};
    ses_info no_size = {.size = 0};

    assert_ok(ses_store_info(store, &smaller, &error));
    assert_string_equal(smaller.path, folder->path);
    assert_string_equal(smaller.sqlite.journal_mode, "as it was");
    assert_int_equal(smaller.read_only, 0);
    assert_int_equal(smaller.size, offsetof(ses_info, sqlite));
    assert_ok(ses_store_info(store, &larger.info, &error));
    assert_string_equal(larger.info.sqlite.journal_mode, "wal");
    assert_string_equal(larger.newer, ""); /* not known */
    assert_code(SES_MISUSE, ses_store_info(store, &no_size, &error));
    assert_message("size");
    assert_null(no_size.path);
    assert_code(SES_MISUSE, ses_store_info(store, NULL, &error));
    assert_message("info");
    assert_code(SES_MISUSE, ses_store_info(NULL, &larger.info, &error));
    assert_message("store");
    ses_close(store);
    ses_close(NULL);
}

/* The settings of every file of the library, whatever made it. */
FOLDER_TEST(marks_of_the_file)
{
    ses_close(open_with(folder->path, SES_JOURNAL_AUTO));
    assert_query(folder->path, "PRAGMA application_id", "1397052236\n");
    assert_query(folder->path, "PRAGMA user_version", "3\n");
    assert_query(folder->path, "PRAGMA auto_vacuum", "2\n");
    assert_query(folder->path, "PRAGMA encoding", "UTF-8\n");
    assert_query(folder->path, "PRAGMA journal_mode", "wal\n");
    assert_sound(folder->path);
}
