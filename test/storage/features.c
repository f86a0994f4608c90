/* Files from the future: a later library has used a feature that this one does not know. */
#include "open.h"

static const ses_key key = {"app", "user", "one"};
static const ses_key other = {"app", "user", "two"};
static const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};

/* Two sessions, from which something was derived that this library does not know either. */
static void make_store(const char *path)
{
    ses_store *store = must_open(path, NULL);
    must_create(store, &key, Q("{'k':1,'user:u':2}"));
    must_append_by_key(store, &key, Q("{'id':'e'}"));
    must_create(store, &other, NULL);
    ses_close(store);
    raw_exec(path, "INSERT INTO derived SELECT id, 'tokens', last_seq, version - last_seq FROM sessions;"
                   "INSERT INTO derived VALUES (1, 'words', 1, 0)");
}

static void add_feature(const char *path, const char *name, const char *needs)
{
    char sql[200];

    snprintf(sql, sizeof sql, "INSERT INTO features VALUES ('%s', %s)", name, needs);
    raw_exec(path, sql);
}

static int put(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, data, len);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ needs 1 */

FOLDER_TEST(rows_that_are_derived_go_with_their_session)
{
    const ses_expire_options idle = {
        .size = sizeof idle, .now_us = &(int64_t){4102444800000000}, .idle_us = 1};
    struct text lines = {NULL, 0};
    int64_t count = 0;

    make_store(folder->path);
    add_feature(folder->path, "use", "1");
    ses_store *store = must_open(folder->path, NULL);
    must_append_by_key(store, &other, Q("{'id':'e'}"));
    assert_ok(ses_store_export(store, NULL, put, &lines, &error));
    assert_query(folder->path, "SELECT * FROM derived ORDER BY 1, 2",
                 "1|tokens|1|0\n1|words|1|0\n2|tokens|0|0\n");
    must_delete(store, &key);
    assert_query(folder->path, "SELECT * FROM derived", "2|tokens|0|0\n");
    assert_ok(ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    assert_query(folder->path, "SELECT count(*) FROM derived", "0\n");

    must_create(store, &key, NULL);
    raw_exec(folder->path, "INSERT INTO derived SELECT id, 'words', 0, version FROM sessions");
    assert_ok(ses_store_expire(store, "app", &idle, &count, &error));
    assert_int_equal(count, 1);
    assert_query(folder->path, "SELECT count(*) FROM derived", "0\n");
    must_create(store, &key, NULL);
    raw_exec(folder->path, "INSERT INTO derived SELECT id, 'words', 0, version FROM sessions");
    assert_ok(ses_delete_app(store, "app", NULL, NULL, &error));
    assert_query(folder->path, "SELECT count(*) FROM derived", "0\n");
    assert_query(folder->path, "SELECT * FROM features", "families|3\nuse|1\n");
    ses_close(store);
    free(lines.data);
    assert_sound(folder->path);
}

FOLDER_TEST(a_check_finds_what_is_derived_from_nothing)
{
    const ses_check_options full = {.size = sizeof full, .level = SES_CHECK_FULL};
    int64_t problems = -1;

    make_store(folder->path);
    add_feature(folder->path, "use", "1");
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_store_check(store, &full, &problems, &error));
    assert_int_equal(problems, 0);
    raw_exec(folder->path, "INSERT INTO derived VALUES (99, 'words', 1, 0)");
    assert_ok(ses_store_check(store, &full, &problems, &error));
    assert_int_equal(problems, 1);
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------------ needs 2 */

FOLDER_TEST(a_feature_that_needs_2_lets_read)
{
    char *copy = support_path(folder->folder, "copy.db");
    char *small = support_path(folder->folder, "small.db");
    const ses_backup_options compact = {.size = sizeof compact, .flags = SES_BACKUP_COMPACT};
    ses_store *store = NULL;
    ses_store *in_memory = NULL;
    struct text lines = {NULL, 0};
    int64_t problems = -1;

    make_store(folder->path);
    add_feature(folder->path, "use", "1");
    add_feature(folder->path, "things", "2");
    char *before = folder_picture(folder->folder);
    assert_code(SES_READONLY, ses_open(folder->path, NULL, &store, &error));
    assert_message("uses the feature \"things\", which this seslite (");
    assert_message("open the store read-only");
    assert_null(store);
    assert_picture(folder->folder, before);

    assert_ok(ses_open(folder->path, &read_only, &store, &error));
    ses_session *session = must_get(store, &key);
    assert_string_equal(ses_session_event(session, 0)->id, "e");
    ses_session_close(session);
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));

    /* An export would lose it, a copy does not. */
    assert_code(SES_UNSUPPORTED, ses_store_export(store, NULL, put, &lines, &error));
    assert_message("\"things\"");
    assert_null(lines.data);
    assert_ok(ses_store_backup(store, copy, NULL, &error));
    assert_ok(ses_store_backup(store, small, &compact, &error));
    assert_query(copy, "SELECT * FROM features", "families|3\nthings|2\nuse|1\n");
    assert_query(small, "SELECT * FROM features", "families|3\nthings|2\nuse|1\n");
    assert_code(SES_READONLY, ses_open_copy(store, NULL, &in_memory, &error));
    assert_null(in_memory);
    ses_close(store);
    free(copy);
    free(small);
}

/* ------------------------------------------------------------------------------------------------ needs 3 */

/* It is no damage. */
FOLDER_TEST(a_check_of_a_store_that_became_too_new)
{
    int64_t problems = -1;

    make_store(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    add_feature(folder->path, "sealed", "3");
    for (int level = SES_CHECK_QUICK; level <= SES_CHECK_LOG; level++) {
        const ses_check_options options = {.size = sizeof options, .level = level};
        assert_code(SES_TOONEW, ses_store_check(store, &options, &problems, &error));
        assert_message("\"sealed\"");
    }
    ses_close(store);
}

FOLDER_TEST(other_features_let_nothing)
{
    static const char *const needs[] = {"3", "0", "-1", "4", "9223372036854775807"};

    make_store(folder->path);
    add_feature(folder->path, "aaa", "2");
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        ses_store *store = NULL;
        raw_exec(folder->path, "DELETE FROM features WHERE name = 'sealed'");
        add_feature(folder->path, "sealed", needs[i]);
        char *before = folder_picture(folder->folder);
        assert_code(SES_TOONEW, ses_open(folder->path, NULL, &store, &error));
        assert_message("\"sealed\"");
        assert_picture(folder->folder, before);
        assert_code(SES_TOONEW, ses_open(folder->path, &read_only, &store, &error));
        assert_message("\"sealed\"");
        assert_null(store);
    }
}

/* ---------------------------------------------------------------------------------- while a store is open */

FOLDER_TEST(a_feature_is_added_to_an_open_store)
{
    make_store(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    ses_session *session = must_get(store, &key);
    must_append(session, Q("{'id':'e2'}"));
    add_feature(folder->path, "things", "2");
    assert_code(SES_READONLY, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("\"things\"");
    assert_code(SES_READONLY, ses_delete(store, &key, NULL, NULL, &error));
    assert_code(SES_READONLY,
                ses_create(store, &(ses_key){"app", "user", NULL}, NULL, 0, NULL, NULL, &error));
    ses_session_close(must_get(store, &key));
    assert_query(folder->path, "SELECT count(*) FROM events", "2\n");

    raw_exec(folder->path, "UPDATE features SET needs = 3");
    assert_code(SES_TOONEW, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_TOONEW, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    raw_exec(folder->path, "UPDATE features SET needs = 1");
    must_append(session, Q("{'id':'e3'}"));
    assert_query(folder->path, "SELECT count(*) FROM events", "3\n");
    ses_session_close(session);
    ses_close(store);
}

/* A connection that is opened later looks, too: the store has opened none for reading before. */
FOLDER_TEST(a_later_connection_looks_again)
{
    ses_session *session = NULL;

    make_store(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    add_feature(folder->path, "sealed", "3");
    for (int i = 0; i < 2; i++) {
        assert_code(SES_TOONEW, ses_get(store, &key, NULL, &session, &error));
        assert_message("\"sealed\"");
    }
    raw_exec(folder->path, "DELETE FROM features");
    ses_session_close(must_get(store, &key));
    ses_close(store);
}
