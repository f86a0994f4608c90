/* Damaged stores: every call ends with a clean code, never with a crash, and what is found is told as
 * CORRUPT. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

/* A store with something in every table, over some pages. */
static void make_full_store(const char *path)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    const ses_key other = {"app", "other", "session"};
    char event[3000];

    ses_store *store = must_open(path, &options);
    ses_session *session = must_open_new(store, &key, Q("{'app:a':1,'user:u':'two','s':[3]}"));
    must_create(store, &other, Q("{'x':null}"));
    for (int i = 0; i < 40; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"event-%d\",\"author\":\"agent\",\"actions\":{\"stateDelta\":{\"k%d\":%d,\"app:"
                 "b\":%d}},"
                 "\"text\":\"%0*d\"}",
                 i, i, i, i, i % 4 == 0 ? 2500 : 100, 0);
        must_append(session, event);
    }
    ses_session_close(session);
    ses_close(store);
}

/* How often each code came. */
struct tally {
    int ok;
    int corrupt;
    int others;
};

/* The codes that calls on a damaged file may return: also NOTFOUND, if the key of the row was damaged, and
 * KEY, if the file has no header any more. */
static void count_code(struct tally *tally, int code, const ses_error *error)
{
    static const int allowed[] = {SES_CORRUPT,  SES_NOTASTORE, SES_TOONEW, SES_NOTFOUND, SES_EXISTS,
                                  SES_READONLY, SES_STALE,     SES_TYPE,   SES_RANGE,    SES_KEY};
    int known = code >= 0;

    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        known = known || code == allowed[i];
    if (!known) {
        print_error("%s: %s\n", ses_code_name(code), error->message);
        fail();
    }
    if (code >= 0)
        tally->ok++;
    else if (code == SES_CORRUPT)
        tally->corrupt++;
    else
        tally->others++;
    if (code < 0)
        assert_int_not_equal(error->message[0], '\0');
}

static void walk_events(ses_store *store, int backward, struct tally *tally)
{
    const ses_cursor_options options = {.size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0};
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    ses_error error;
    int steps = 0;
    int code = ses_cursor_open(store, &key, &options, &cursor, &error);

    count_code(tally, code, &error);
    while (code >= 0 && (code = ses_cursor_next(cursor, &event, &error)) == SES_ROW) {
        assert_non_null(event->json);
        assert_int_equal(strlen(event->id) <= SES_ID_MAX + 10, 1);
        assert_in_range(++steps, 1, 10000);
    }
    count_code(tally, code, &error);
    (void)ses_cursor_close(cursor, NULL);
}

static void use_session(ses_store *store, struct tally *tally)
{
    ses_session *session = NULL;
    const char *text = NULL;
    ses_error error;
    int code = ses_get(store, &key, NULL, &session, &error);

    count_code(tally, code, &error);
    if (code == SES_OK) {
        count_code(tally, ses_state_json(session, &text, NULL, &error), &error);
        count_code(tally, ses_state_get_string(session, "user:u", &text, NULL, &error), &error);
        code = ses_append(session, Q("{'id':'new','actions':{'stateDelta':{'s':4}}}"), SES_NUL, NULL, NULL,
                          &error);
        count_code(tally, code, &error);
        count_code(tally, ses_refresh(session, NULL, &error), &error);
        ses_session_close(session);
    }
}

/* Everything a program might do with the file. */
static void use_damaged(const char *path, struct tally *tally)
{
    const ses_key fresh = {"app", "user", "fresh"};
    ses_store *store = NULL;
    ses_page *page = NULL;
    char *json = NULL;
    ses_error error;
    int code = ses_open(path, NULL, &store, &error);

    count_code(tally, code, &error);
    if (code == SES_OK) {
        use_session(store, tally);
        walk_events(store, 0, tally);
        walk_events(store, 1, tally);
        code = ses_list(store, "app", NULL, NULL, &page, &error);
        count_code(tally, code, &error);
        ses_page_close(page);
        count_code(tally, ses_state_json_by_key(store, &key, NULL, &json, NULL, &error), &error);
        ses_free(json);
        count_code(tally, ses_create(store, &fresh, Q("{'app:a':2}"), SES_NUL, NULL, NULL, &error), &error);
        count_code(tally, ses_delete(store, &key, NULL, NULL, &error), &error);
        count_code(tally, ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error), &error);
        ses_close(store);
    }
}

static void remove_beside(const char *path)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        struct text beside = {NULL, 0};
        text_printf(&beside, "%s%s", path, suffixes[i]);
        (void)unlink(beside.data);
        free(beside.data);
    }
}

/* Damages every page in turn, each in two of these ways: one bit of its header, a run of bytes, or all of
 * them. */
FOLDER_TEST(flipped_bytes)
{
    struct tally tally = {0, 0, 0};
    size_t len = 0;
    uint32_t random = 12345;

    make_full_store(folder->path);
    char *whole = support_read_file(folder->path, &len);
    char *damaged = malloc(len);
    assert_non_null(damaged);
    assert_in_range(len / 4096, 20, 400);
    for (size_t page = 0; page < len / 4096; page++) {
        for (int kind = (int)(page % 2); kind < 4; kind += 2) {
            static const size_t runs[] = {1, 8, 64, 4096};
            random = random * 1664525u + 1013904223u;
            /* The header of a page says what the page is. The first kind hits it more often than chance
             * would. */
            size_t at = kind == 3 ? 0 : kind == 0 ? random % 16 : random % (4096 - runs[kind]);
            memcpy(damaged, whole, len);
            for (size_t i = 0; i < runs[kind]; i++)
                damaged[page * 4096 + at + i] ^= (char)(kind == 0 ? 1 << (random % 8) : 0xFF);
            write_file(folder->path, damaged, len);
            use_damaged(folder->path, &tally);
            remove_beside(folder->path);
        }
    }
    /* Most damage to a whole page is found. Damage that only changes a text cannot be. */
    assert_in_range(tally.corrupt, len / 4096 / 2, 100000);
    assert_in_range(tally.ok, 100, 100000);
    free(damaged);
    free(whole);
}

FOLDER_TEST(truncated_file)
{
    struct tally tally = {0, 0, 0};
    size_t len = 0;
    int refused = 0;

    make_full_store(folder->path);
    char *whole = support_read_file(folder->path, &len);
    for (size_t left = 2; left <= len - 4096; left += left < 4096 ? 819 : 2 * 4096 + 173) {
        ses_store *store = NULL;
        write_file(folder->path, whole, left);
        int code = ses_open(folder->path, NULL, &store, &error);
        count_code(&tally, code, &error);
        assert_int_not_equal(code, SES_OK);
        refused++;
        remove_beside(folder->path);
    }
    /* SQLite counts whole pages. A missing part of the last page is found when that page is used, if at
     * all. */
    write_file(folder->path, whole, len - 1000);
    use_damaged(folder->path, &tally);
    assert_in_range(refused, 10, 1000);
    free(whole);
}

/* Tables and indexes that are missing or different, because another program changed them. */
FOLDER_TEST(changed_schema)
{
    static const char *const changes[] = {"DROP TABLE events",
                                          "DROP TABLE session_state",
                                          "DROP TABLE sessions",
                                          "DROP TABLE apps",
                                          "DROP INDEX sessions_by_activity",
                                          "ALTER TABLE events RENAME COLUMN high_us TO highest_us",
                                          "DROP TABLE session_details; CREATE VIEW session_details AS SELECT "
                                          "1 AS session_id, 2 AS initial_state",
                                          "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                                          "'CREATE TABLE events (x' WHERE name = 'events'"};
    size_t len = 0;

    make_full_store(folder->path);
    char *whole = support_read_file(folder->path, &len);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct tally tally = {0, 0, 0};
        write_file(folder->path, whole, len);
        raw_exec(folder->path, changes[i]);
        use_damaged(folder->path, &tally);
        if (tally.corrupt == 0)
            print_error("nothing was found wrong after: %s\n", changes[i]);
        assert_int_not_equal(tally.corrupt, 0);
        remove_beside(folder->path);
    }
    free(whole);
}

/* Rows that no library wrote, in spite of the guards: with triggers dropped, or by damage. */
FOLDER_TEST(wrong_rows)
{
    static const char *const changes[] = {
        "UPDATE session_state SET value = ''",
        "UPDATE session_state SET value = '\"torn' WHERE key = 's'",
        "UPDATE user_state SET value = '\"' WHERE key = 'u'",
        "UPDATE user_state SET value = '\"two\\' WHERE key = 'u'",
        "UPDATE user_state SET value = '\"\\u12' WHERE key = 'u'",
        "UPDATE events SET body = '' WHERE position % 2",
        "UPDATE events SET body = '{\"actions\":{\"stateDelta\":'",
        "UPDATE events SET body = '[]', id_at = 'x', invocation_at = ''",
        "UPDATE events SET id_at = 9223372036854775807",
        "UPDATE events SET id_at = -1, invocation_at = -9223372036854775807",
        "UPDATE events SET invocation_at = length(CAST(body AS BLOB)) - 1",
        "UPDATE events SET id_at = 0, invocation_at = 1.5",
        "UPDATE events SET id_at = x'6565'",
        "UPDATE events SET id_key = position",
        "UPDATE sessions SET last_seq = 3",
        "UPDATE sessions SET last_seq = -1, event_count = -1, version = -1",
        "UPDATE sessions SET last_seq = 9223372036854775807, version = 9223372036854775807",
        "UPDATE sessions SET updated_us = 9223372036854775807, created_us = -9223372036854775807",
        "UPDATE sessions SET name = ''",
        "UPDATE events SET time_us = 9223372036854775807, high_us = -5"};
    size_t len = 0;

    make_full_store(folder->path);
    char *whole = support_read_file(folder->path, &len);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct tally tally = {0, 0, 0};
        struct text sql = {NULL, 0};
        write_file(folder->path, whole, len);
        sqlite3 *db = raw_open(folder->path);
        raw_query(db, "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger'",
                  &sql);
        raw_run(db, sql.data);
        raw_run(db, changes[i]);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        use_damaged(folder->path, &tally);
        remove_beside(folder->path);
        free(sql.data);
    }
    free(whole);
}

/* A handle that catches up meets an event that cannot be read. The call says so, and the handle stays as it
 * was. */
FOLDER_TEST(unreadable_event_in_the_way)
{
    ses_store *store = must_open(folder->path, NULL);
    ses_session *session = must_open_new(store, &key, Q("{'k':1}"));
    must_append_by_key(store, &key, Q("{'id':'e'}"));
    raw_exec(folder->path, "DROP TRIGGER guard_events_update; UPDATE events SET body = '{\"id\":\"e\"', "
                           "id_at = 'e', invocation_at = ''");
    assert_code(SES_CORRUPT, ses_refresh(session, NULL, &error));
    assert_message("event 1");
    assert_int_equal(ses_session_version(session), 0);
    assert_string_equal(support_state(session, NULL), Q("{'k':1}"));
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    assert_code(SES_CORRUPT, ses_append(session, "{}", 2, &anyway, NULL, &error));
    assert_int_equal(ses_session_version(session), 0);
    ses_session_close(session);
    ses_close(store);
    assert_query(folder->path, "SELECT count(*) FROM events", "1\n");
}

/* A rollback journal that a crash left is played back before the file is judged. */
static void assert_journal_is_played_back(const struct folder *folder, bool by_link)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    char *crashed = support_path(folder->folder, "crashed.db");
    char *crashed_journal = support_path(folder->folder, "crashed.db-journal");
    char *journal = support_path(folder->folder, "store.db-journal");
    char *link_path = support_path(folder->folder, "link.db");
    ses_store *store = NULL;
    struct stat status;
    ses_error error;

    make_full_store(folder->path);
    sqlite3 *db = raw_open(folder->path);
    raw_run(db, "PRAGMA cache_size = 2; BEGIN; PRAGMA user_version = 9; UPDATE apps SET name = 'nonsense';"
                "UPDATE events SET author = 'nobody'; INSERT INTO apps (name) VALUES ('more');");
    copy_file(folder->path, crashed);
    copy_file(journal, crashed_journal);
    raw_run(db, "ROLLBACK");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);

    assert_int_equal(symlink(crashed, link_path), 0);
    assert_code(SES_CANTOPEN, ses_open(by_link ? link_path : crashed, &read_only, &store, &error));
    assert_message("open the store once for writing");
    assert_int_equal(stat(crashed_journal, &status), 0);
    assert_ok(ses_open(by_link ? link_path : crashed, NULL, &store, &error));
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 40);
    assert_string_equal(ses_session_event(session, 39)->author, "agent");
    ses_session_close(session);
    ses_close(store);
    assert_int_equal(stat(crashed_journal, &status), -1);
    assert_sound(crashed);
    free(link_path);
    free(journal);
    free(crashed_journal);
    free(crashed);
}

FOLDER_TEST(hot_journal)
{
    assert_journal_is_played_back(folder, false);
}

FOLDER_TEST(hot_journal_behind_a_link)
{
    assert_journal_is_played_back(folder, true);
}
