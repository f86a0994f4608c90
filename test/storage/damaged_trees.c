/* Trees that lead in circles, and a schema that another program changes under an open store. */
#include "storage/damaged_rows.h"

#include <time.h>

/* -------------------------------------------------------------------------------------------- circles */

/* True if a statement gave up. Every failure on such a tree is CORRUPT. */
static int is_endless(int code, const ses_error *failure)
{
    const ses_error error = *failure;
    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
    return code != SES_OK && strstr(error.message, "more rows than the file has room for") != NULL;
}

#define ROWS_TEST(name) TEST_WITH(struct rows_test *test, setup, teardown, name)

/* A tree whose every path leads to the same leaf, and which has more paths than can be walked. */
ROWS_TEST(trees_without_end)
{
    static const char *const trees[] = {
        "sessions",  "sessions_by_app", "sessions_by_activity",   "sqlite_autoindex_sessions_1",
        "events",    "events_by_id",    "session_state",          "user_state",
        "app_state", "session_labels",  "session_labels_by_value"};
    const ses_filter filter = {.size = sizeof filter, .label = "l"};
    int endless = 0;

    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        struct store_files sound = {.name = NULL};
        struct store_files files = {.name = NULL};
        int64_t begin = support_steady_us();
        ses_session *session = NULL;
        size_t root = root_of(test, trees[i]);

        store_files_read(&sound, test->path);
        store_files_copy(&files, &sound);
        put_floors(&files.parts[STORE_FILE], root);
        store_files_write(&files, test->path);
        open_store(test);
        endless += is_endless(ses_get(test->store, &bob, NULL, &session, &error), &error);
        ses_session_close(session);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            endless += is_endless(list_to_end(test, NULL, order, 100, &error), &error);
            endless += is_endless(list_to_end(test, "bob", order, 100, &error), &error);
            list_by_label(test, NULL, order, &filter);
            list_by_label(test, "bob", order, &filter);
        }
        endless += is_endless(ses_delete(test->store, &bob, NULL, NULL, &error), &error);
        endless += is_endless(ses_delete_user(test->store, "app", "bob", NULL, NULL, NULL, &error), &error);
        close_store(test);
        assert_in_range(support_steady_us() - begin, 0, 60 * 1000 * 1000);
        store_files_write(&sound, test->path);
        store_files_free(&sound);
        store_files_free(&files);
    }
    assert_in_range(endless, 2, 100);
}

/* Upkeep of a store with a tree that leads in circles. */
static void maintain_without_end(struct rows_test *test, const struct store_files *sound, size_t root)
{
    struct store_files files = {.name = NULL};
    ses_error error;

    store_files_copy(&files, sound);
    put_floors(&files.parts[STORE_FILE], root);
    store_files_write(&files, test->path);
    store_files_free(&files);
    int code = ses_open(test->path, NULL, &test->store, &error);
    if (code == SES_OK)
        code = ses_store_maintain(test->store, NULL, &error);
    close_store(test);
    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
}

/* SQLite counts the rows of a table without an index in one go, which nothing but an interrupt ends. */
ROWS_TEST(upkeep_of_trees_without_end)
{
    struct store_files sound = {.name = NULL};
    char *names = raw_text(test->path, "SELECT name FROM sqlite_schema WHERE rootpage > 1");
    char *rest = NULL;
    int trees = 0;

    store_files_read(&sound, test->path);
    for (char *name = strtok_r(names, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
        maintain_without_end(test, &sound, root_of(test, name));
        store_files_write(&sound, test->path);
        trees++;
    }
    assert_in_range(trees, 20, 200);
    free(names);
    store_files_free(&sound);
}

/*
 * Opens the store after its schema has been made to lead in circles, with so many empty pages at the end of
 * the file. Returns the time that the processor has worked on it, in clock ticks.
 */
static clock_t open_schema_without_end(struct rows_test *test, const struct store_files *sound, size_t empty)
{
    struct store_files files = {.name = NULL};
    struct bytes *file = &files.parts[STORE_FILE];
    ses_error error;

    store_files_copy(&files, sound);
    const struct tree_page schema = tree_page_at(file, 0);
    assert_true(schema.is_inner);
    put_floors(file, bytes_get(schema.head + 8, 4) - 1);
    bytes_resize(file, file->len + empty * PAGE);
    bytes_put(file->data + 28, 4, (uint32_t)(file->len / PAGE));
    store_files_write(&files, test->path);
    store_files_free(&files);
    const clock_t begun = clock();
    assert_int_equal(is_endless(ses_open(test->path, NULL, &test->store, &error), &error), 1);
    return clock() - begun;
}

/* SQLite parses each row of the schema. A large file, which costs its maker nothing, gives it no more time
 * for that. */
ROWS_TEST(a_schema_without_end)
{
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    const clock_t small = open_schema_without_end(test, &sound, 0);
    assert_true(open_schema_without_end(test, &sound, 4096) < 5 * small);
    store_files_free(&sound);
}

/* --------------------------------------------------------------------------------------------- schema */

/* Another program changes the schema while the store is open. The next call fails, which is not INTERNAL. */
ROWS_TEST(schema_changed_under_an_open_store)
{
    static const char *const changes[] = {
        "ALTER TABLE events RENAME COLUMN high_us TO highest",
        "ALTER TABLE session_state RENAME TO theirs",
        "DROP INDEX sessions_by_app",
        "DROP TABLE session_details",
        "DROP VIEW merged_state; DROP VIEW session_overview; ALTER TABLE app_state RENAME TO theirs; CREATE "
        "VIEW "
        "app_state AS SELECT * FROM theirs",
    };
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const ses_key fresh = {"app", "alice", "fresh"};
        ses_session *session = NULL;
        int corrupt = 0;
        open_store(test);
        session = must_get(test->store, &alice);
        must_append(session, Q("{'actions':{'stateDelta':{'app:x':1,'k':2}}}"));
        assert_ok(list_to_end(test, NULL, SES_ORDER_CREATED, 10, &error));
        change_rows(test, NULL, changes[i]);
        const int codes[] = {
            ses_append(session, Q("{'actions':{'stateDelta':{'app:x':1,'k':2}}}"), SES_NUL, NULL, NULL,
                       &error),
            ses_refresh(session, NULL, &error),
            ses_create(test->store, &fresh, Q("{'k':1}"), SES_NUL, NULL, NULL, &error),
            list_to_end(test, NULL, SES_ORDER_CREATED, 10, &error),
            ses_delete(test->store, &alice, NULL, NULL, &error),
        };
        for (size_t j = 0; j < sizeof codes / sizeof codes[0]; j++) {
            assert_true(codes[j] == SES_OK || codes[j] == SES_CORRUPT);
            corrupt += codes[j] == SES_CORRUPT;
        }
        assert_in_range(corrupt, 1, 5);
        ses_session_close(session);
        close_store(test);
        store_files_write(&sound, test->path);
    }
    store_files_free(&sound);
}
