/* A store whose rows the tests damage: two sessions, which is which, and ways to read lists and to move
 * rows. */
#ifndef SESLITE_TEST_DAMAGED_ROWS_H
#define SESLITE_TEST_DAMAGED_ROWS_H

#include "storage/damage.h"
#include "storage/damage_bytes.h"
#include "storage/damage_rows.h"

static const ses_key alice = {"app", "alice", "a"};
static const ses_key bob = {"app", "bob", "b"};

struct rows_test {
    struct folder *folder;
    const char *path;
    ses_store *store;
};

static inline void open_store(struct rows_test *test)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    ses_error error;
    assert_ok(ses_open(test->path, &options, &test->store, &error));
}

static inline void close_store(struct rows_test *test)
{
    ses_close(test->store);
    test->store = NULL;
}

static inline void append_events(ses_store *store, const ses_key *key, int count)
{
    char event[400];

    for (int i = 1; i <= count; i++) {
        snprintf(
            event, sizeof event,
            "{\"id\":\"e%d\",\"timestamp\":%d,\"actions\":{\"stateDelta\":{\"k%d\":%d}},\"text\":\"%0200d\"}",
            i, 1700000000 + i, i % 7, i, i);
        must_append_by_key(store, key, event);
    }
}

/* Alice's session is number 1, Bob's number 2, each with three events. The store is closed. */
static inline int setup(void **state)
{
    struct rows_test *test = calloc(1, sizeof *test);

    assert_non_null(test);
    assert_int_equal(folder_setup((void **)&test->folder), 0);
    test->path = test->folder->path;
    open_store(test);
    must_create(test->store, &alice, Q("{'k':1,'user:u':1}"));
    must_create(test->store, &bob, Q("{'k':2,'user:u':2}"));
    append_events(test->store, &alice, 3);
    append_events(test->store, &bob, 3);
    close_store(test);
    *state = test;
    return 0;
}

static inline int teardown(void **state)
{
    struct rows_test *test = *state;
    close_store(test);
    (void)folder_teardown((void **)&test->folder);
    free(test);
    return 0;
}

/* Bypasses all guards. `aside` (or NULL) is the part of the schema that is put aside meanwhile. */
static inline void change_rows(const struct rows_test *test, const char *aside, const char *sql)
{
    sqlite3 *db = open_unguarded(test->path);
    if (aside)
        put_schema_aside(db, aside);
    raw_run(db, sql);
    if (aside)
        put_schema_back(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The page of a tree's root, counted from 0. */
static inline size_t root_of(const struct rows_test *test, const char *name)
{
    struct text text = {NULL, 0};
    char sql[200];
    sqlite3 *db = raw_open(test->path);

    snprintf(sql, sizeof sql, "SELECT rootpage - 1 FROM sqlite_schema WHERE name = '%s'", name);
    raw_query(db, sql, &text);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    size_t root = (size_t)strtol(text.data, NULL, 10);
    free(text.data);
    return root;
}

/* Many sessions and events, so that the trees have leaves that can be swapped. The store is closed. */
static inline void grow(struct rows_test *test)
{
    change_rows(
        test, NULL,
        "INSERT INTO users (app_id, name) VALUES (1, 'carol'), (1, 'dave');"
        "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 1499) "
        "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, "
        "event_count, changed_us) SELECT 1, 3 + n % 2, 's' || n, 1600000000000000 + n * 60000000, "
        "1600000000000000 + n * "
        "60000000, (1600000000 + n * 60) / 30, 0, 0, 0, 1600000000000000 FROM r;"
        "WITH RECURSIVE r(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM r WHERE n < 200) "
        "INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body) "
        "SELECT (1 << 32) + n, 1, 'e' || n, 'e' || n, '', '', 1700000000000000, "
        "printf('{\"text\":\"%0200d\"}', n) "
        "FROM r;"
        "UPDATE sessions SET last_seq = 200, event_count = 200, version = 200 WHERE id = 1");
}

/* The first two leaves of a tree change places. */
static inline void swap_leaves(const struct rows_test *test, const char *tree)
{
    struct store_files files = {.name = NULL};
    struct bytes *file = &files.parts[STORE_FILE];
    unsigned char kept[PAGE];

    size_t root = root_of(test, tree);
    store_files_read(&files, test->path);
    struct tree_page at = tree_page_at(file, root);
    assert_true(at.is_inner && at.cells >= 2);
    unsigned char *one = page_at(file, bytes_get(at.page + bytes_get(at.pointers, 2), 4) - 1);
    unsigned char *other = page_at(file, bytes_get(at.page + bytes_get(at.pointers + 2, 2), 4) - 1);
    memcpy(kept, one, PAGE);
    memcpy(one, other, PAGE);
    memcpy(other, kept, PAGE);
    store_files_write(&files, test->path);
    store_files_free(&files);
}

/* On the page of a small tree, bytes become others of the same length where they are met first. */
static inline void patch_row(const struct rows_test *test, const char *tree, const char *from, const char *to)
{
    struct store_files files = {.name = NULL};
    const size_t len = strlen(from);
    size_t at = 0;

    assert_int_equal(strlen(to), len);
    store_files_read(&files, test->path);
    unsigned char *page = page_at(&files.parts[STORE_FILE], root_of(test, tree));
    while (at + len < PAGE && memcmp(page + at, from, len) != 0)
        at++;
    assert_true(at + len < PAGE);
    memcpy(page + at, to, len);
    store_files_write(&files, test->path);
    store_files_free(&files);
}

/* Pages to the end, or to the first that cannot be read. */
static inline int list_to_end(struct rows_test *test, const char *user, int order, size_t limit,
                              ses_error *error)
{
    char token[2 * SES_ID_MAX + 200] = "";
    int code = SES_OK;
    int pages = 0;

    do {
        const ses_list_options options = {.size = sizeof options,
                                          .order = order,
                                          .limit = limit,
                                          .token = token[0] ? token : NULL,
                                          .flags = SES_LIST_PREVIEW};
        ses_page *page = NULL;
        code = ses_list(test->store, "app", user, &options, &page, error);
        const char *next = page ? ses_page_token(page) : NULL;
        snprintf(token, sizeof token, "%s", next ? next : "");
        ses_page_close(page);
        assert_in_range(++pages, 1, 1000);
    } while (code == SES_OK && token[0]);
    return code;
}

/* It comes to an end, whatever it finds. */
static inline void list_by_label(struct rows_test *test, const char *user, int order,
                                 const ses_filter *filter)
{
    const ses_list_options options = {.size = sizeof options, .order = order, .filter = filter};
    ses_page *page = NULL;
    int64_t count = 0;
    ses_error error;
    int code = ses_list(test->store, "app", user, &options, &page, &error);

    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
    ses_page_close(page);
    code = ses_list_count(test->store, "app", user, filter, NULL, &count, &error);
    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
}

#define ROWS_TEST(name) TEST_WITH(struct rows_test *test, setup, teardown, name)

#endif
