/* A list runs as many statements for a thousand sessions as for one. (The linker puts the step below in place of
 * SQLite's; see flags.mk.) */
#include <sqlite3.h>

#include "support.h"

static long runs;

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (!sqlite3_stmt_busy(statement)) /* its first step */
        runs++;
    return __real_sqlite3_step(statement);
}

static void add_sessions(ses_store *store, int from, int to)
{
    for (int i = from; i < to; i++) {
        char user[40];
        char state[100];
        snprintf(user, sizeof user, "user%d", i % 50); /* each but the first has a few sessions */
        snprintf(state, sizeof state, "{\"k\":%d,\"l\":%d,\"user:u\":%d,\"app:a\":%d}", i, i, i, i);
        const ses_key key = {"app", i % 2 ? user : "user0", NULL};
        must_create(store, &key, i % 3 ? state : NULL);
    }
}

static long runs_of(ses_store *store, const char *user, int order, size_t limit)
{
    const ses_list_options options = {.size = sizeof options, .order = order, .limit = limit};
    ses_page *page = NULL;
    ses_error error;

    runs = 0;
    assert_ok(ses_list(store, "app", user, &options, &page, &error));
    assert_int_equal(ses_page_count(page), limit);
    ses_page_close(page);
    return runs;
}

static void test_a_page_of_any_size_runs_the_same_statements(void **state)
{
    struct fixture *fixture = *state;

    add_sessions(fixture->store, 0, 1000);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
        const long of_app = runs_of(fixture->store, NULL, order, 1);
        const long of_user = runs_of(fixture->store, "user0", order, 1);
        assert_in_range(of_app, 4, 8);
        assert_in_range(of_user, 4, 8);
        for (size_t limit = 10; limit <= 1000; limit *= 10)
            assert_int_equal(runs_of(fixture->store, NULL, order, limit), of_app);
        for (size_t limit = 5; limit <= 500; limit *= 10)
            assert_int_equal(runs_of(fixture->store, "user0", order, limit), of_user);
    }
}

/* Parents, titles and labels cost two statements more, if any session of the page has them; state costs three. */
static void test_details_of_a_page_are_two_statements(void **state)
{
    static const ses_label label = {"l", "v"};
    struct fixture *fixture = *state;
    ses_store *store = fixture->store;
    ses_error error;

    add_sessions(store, 0, 200);
    const long plain = runs_of(store, NULL, SES_ORDER_NEWEST, 100);
    for (int i = 0; i < 100; i++) {
        char name[16];
        const ses_key key = {"app", "titled", name};
        const ses_create_options options = {
            .size = sizeof options, .title = i % 2 ? "T" : NULL, .labels = &label, .label_count = 1};
        snprintf(name, sizeof name, "s%d", i);
        assert_ok(ses_create(store, &key, NULL, 0, &options, NULL, &error));
        assert_ok(ses_fork_by_key(store, &key, NULL, &(ses_key){"app", "titled", NULL}, NULL, NULL, &error));
    }
    assert_int_equal(runs_of(store, NULL, SES_ORDER_CREATED, 100), plain);
    assert_int_equal(runs_of(store, "titled", SES_ORDER_CREATED, 100), plain + 2);
    assert_int_equal(runs_of(store, "titled", SES_ORDER_CREATED, 200), plain + 2);
}

static long runs_of_filter(ses_store *store, const char *user, unsigned flags, const ses_filter *filter)
{
    const ses_list_options options = {.size = sizeof options, .limit = 50, .flags = flags, .filter = filter};
    ses_page *page = NULL;
    ses_error error;

    runs = 0;
    assert_ok(ses_list(store, "app", user, &options, &page, &error));
    ses_page_close(page);
    return runs;
}

static void test_a_filter_is_a_few_statements(void **state)
{
    static const ses_filter none = {.size = sizeof none, .label = "none"};
    static const ses_filter prefix = {.size = sizeof prefix, .id_prefix = "x"};
    static const int64_t since = 1;
    const ses_filter times = {.size = sizeof times, .updated_since_us = &since};
    struct fixture *fixture = *state;
    ses_store *store = fixture->store;

    add_sessions(store, 0, 1000);
    const long plain = runs_of_filter(store, NULL, 0, NULL);
    assert_int_equal(runs_of_filter(store, NULL, SES_LIST_NO_STATE, NULL), plain - 3);
    assert_int_equal(runs_of_filter(store, NULL, 0, &times), plain);
    assert_in_range(runs_of_filter(store, NULL, 0, &none), 3, plain);
    assert_in_range(runs_of_filter(store, "user0", 0, &none), 3, plain);
    assert_in_range(runs_of_filter(store, "user0", 0, &prefix), 3, plain);
    assert_int_equal(runs_of_filter(store, "user0", 0, &times), plain + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_page_of_any_size_runs_the_same_statements, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_details_of_a_page_are_two_statements, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_filter_is_a_few_statements, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("statements of a list", tests, NULL, NULL);
}
