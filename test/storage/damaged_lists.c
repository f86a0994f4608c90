/* Lists refuse rows that are out of order, misfiled or badly named as CORRUPT, and always end. */
#include "storage/damaged_rows.h"

#define ROWS_TEST(name) TEST_WITH(struct rows_test *test, setup, teardown, name)

ROWS_TEST(lists_that_go_back)
{
    grow(test);
    swap_leaves(test, "sessions_by_app");
    open_store(test);
    assert_code(SES_CORRUPT, list_to_end(test, NULL, SES_ORDER_CREATED, 10000, &error));
    assert_message("out of place");
    for (size_t limit = 2; limit < 1000; limit *= 3) { /* a page may begin where what is wrong is not met */
        int code = list_to_end(test, NULL, SES_ORDER_CREATED, limit, &error);
        assert_true(code == SES_OK || code == SES_CORRUPT);
    }
}

ROWS_TEST(lists_out_of_order)
{
    /* The index is made of active_30s, which does not agree with the time. */
    grow(test);
    change_rows(test, NULL,
                "UPDATE sessions SET updated_us = updated_us - 3600000000 * 24 WHERE name = 's500'");
    open_store(test);
    assert_code(SES_CORRUPT, list_to_end(test, NULL, SES_ORDER_NEWEST, 10000, &error));
    assert_code(SES_CORRUPT, list_to_end(test, NULL, SES_ORDER_OLDEST, 10000, &error));
    assert_message("out of place");
    assert_code(SES_CORRUPT, list_to_end(test, "carol", SES_ORDER_NEWEST, 10000, &error));
    assert_message("out of place");
}

/* The indexes of sessions do not agree with their times, and an index of labels leads to others: found, or
 * without effect. */
ROWS_TEST(filtered_lists_on_swapped_pages)
{
    static const char *const trees[] = {"sessions_by_activity", "session_labels_by_value", "session_labels"};
    const ses_filter filter = {.size = sizeof filter, .label = "l", .label_value = "v"};

    grow(test);
    change_rows(
        test, NULL,
        "INSERT INTO session_labels SELECT id, 'l', iif(id % 3, 'v', 'w'), 1 FROM sessions WHERE id > 2;"
        "INSERT INTO session_labels SELECT id, 'm', 'a longer value', 1 FROM sessions WHERE id > 2;"
        "UPDATE sessions SET details = 4 WHERE id > 2");
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        swap_leaves(test, trees[i]);
        open_store(test);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            list_by_label(test, NULL, order, &filter);
            list_by_label(test, "carol", order, &filter);
        }
        close_store(test);
        swap_leaves(test, trees[i]);
    }
}

ROWS_TEST(lists_with_names_that_are_none)
{
    static const char *const names[] = {"''", "printf('%.*c', 513, 'x')", "'a' || char(0)",
                                        "CAST(x'FF' AS TEXT)"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE sessions SET name = %s WHERE id = 1", names[i]);
        change_rows(test, NULL, sql);
        open_store(test);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            assert_code(SES_CORRUPT, list_to_end(test, NULL, order, 1, &error));
            assert_code(SES_CORRUPT, list_to_end(test, "alice", order, 1, &error));
            assert_ok(list_to_end(test, "bob", order, 1, &error));
        }
        close_store(test);
    }
}

ROWS_TEST(names_of_apps_and_users_that_are_none)
{
    static const struct {
        const char *sql;
        bool of_apps;
    } changes[] = {
        {"UPDATE apps SET name = ''", true},
        {"UPDATE apps SET name = printf('%.*c', 513, 'x')", true},
        {"UPDATE apps SET name = CAST(x'FF' AS TEXT)", true},
        {"UPDATE users SET name = 'a' || char(0) WHERE id = 1", false},
        {"UPDATE users SET name = '' WHERE id = 1", false},
        {"UPDATE users SET id = -1 WHERE id = 1", false},
    };
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        ses_names *names = NULL;
        store_files_write(&sound, test->path);
        change_rows(test, NULL, changes[i].sql);
        open_store(test);
        int code = changes[i].of_apps ? ses_list_apps(test->store, NULL, &names, &error)
                                      : ses_list_users(test->store, "app", NULL, &names, &error);
        assert_code(SES_CORRUPT, code);
        close_store(test);
    }
    store_files_free(&sound);
}

ROWS_TEST(lists_with_state_of_others)
{
    /* The number of the owner comes before the key. */
    static const struct {
        const char *tree;
        const char *row;
        const char *of_another;
    } rows[] = {{"session_state", "\003x2", "\002x2"}, {"user_state", "\003y2", "\002y2"}};
    const ses_key carol = {"app", "carol", "c"};
    struct store_files sound = {.name = NULL};

    open_store(test);
    must_create(test->store, &carol, Q("{'x1':1,'x2':2,'x3':3,'user:y1':1,'user:y2':2,'user:y3':3}"));
    close_store(test);
    store_files_read(&sound, test->path);
    for (size_t i = 0; i < 2; i++) {
        store_files_write(&sound, test->path);
        patch_row(test, rows[i].tree, rows[i].row, rows[i].of_another);
        open_store(test);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            assert_code(SES_CORRUPT, list_to_end(test, NULL, order, 10, &error));
            assert_message("filed as another's");
            assert_code(SES_CORRUPT, list_to_end(test, "carol", order, 10, &error));
            assert_ok(list_to_end(test, "bob", order, 10, &error));
        }
        close_store(test);
    }
    store_files_free(&sound);
}
