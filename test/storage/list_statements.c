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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_page_of_any_size_runs_the_same_statements, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests_name("statements of a list", tests, NULL, NULL);
}
