/* A list runs as many statements for a thousand sessions as for one. (The linker puts the step below in place
 * of SQLite's; see flags.mk.) */
#include <sqlite3.h>

#include "open.h"

static long runs;
static long work; /* instructions of SQLite's machine */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (!sqlite3_stmt_busy(statement)) /* its first step */
        runs++;
    const int code = __real_sqlite3_step(statement);
    work += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return code;
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
    /* The first transaction of the connection that reads looks for features. */
    (void)runs_of(store, NULL, SES_ORDER_NEWEST, 1);
}

TEST(a_page_of_any_size_runs_the_same_statements)
{
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

/* Parents, titles and labels cost two statements more, if any session of the page has them; state costs
 * three. */
TEST(details_of_a_page_are_two_statements)
{
    static const ses_label label = {"l", "v"};
    ses_store *store = fixture->store;

    add_sessions(store, 0, 200);
    const long plain = runs_of(store, NULL, SES_ORDER_CREATED, 100);
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

TEST(a_filter_is_a_few_statements)
{
    static const ses_filter none = {.size = sizeof none, .label = "none"};
    static const ses_filter prefix = {.size = sizeof prefix, .id_prefix = "x"};
    static const int64_t since = 1;
    const ses_filter times = {.size = sizeof times, .updated_since_us = &since};
    ses_store *store = fixture->store;

    add_sessions(store, 0, 1000);
    const long plain = runs_of_filter(store, NULL, 0, NULL);
    assert_int_equal(runs_of_filter(store, NULL, SES_LIST_NO_STATE, NULL), plain - 3);
    assert_int_equal(runs_of_filter(store, NULL, 0, &times), plain);
    assert_in_range(runs_of_filter(store, NULL, 0, &none), 3, plain);
    assert_in_range(runs_of_filter(store, "user0", 0, &none), 3, plain);
    assert_in_range(runs_of_filter(store, "user0", 0, &prefix), 3, plain);
    assert_int_equal(runs_of_filter(store, "user0", 0, &times), plain);
}

static long work_of_page(ses_store *store, const ses_filter *filter, const char *token)
{
    const ses_list_options options = {.size = sizeof options,
                                      .order = SES_ORDER_CREATED,
                                      .limit = 10,
                                      .flags = SES_LIST_NO_STATE,
                                      .filter = filter,
                                      .token = token};
    ses_page *page = NULL;
    ses_error error;

    work = 0;
    assert_ok(ses_list(store, "app", NULL, &options, &page, &error));
    assert_int_equal(ses_page_count(page), 10);
    ses_page_close(page);
    return work;
}

/* By a label that nearly all have, and by time: in order of creation a page costs its own sessions, and
 * neither those before it nor those after it. */
TEST(a_page_in_order_of_creation_costs_only_itself)
{
    enum { SESSIONS = 15000, LATE = 10000 };
    static const ses_filter label = {.size = sizeof label, .label = "l"};
    static const int64_t since = 1;
    const ses_filter times = {.size = sizeof times, .updated_since_us = &since};
    const ses_list_options most = {.size = sizeof most, .order = SES_ORDER_CREATED, .limit = LATE};
    const ses_filter *const filters[] = {&label, &times};
    ses_page *page = NULL;

    must_create(fixture->store, &(ses_key){"app", "user", "s0"}, NULL);
    raw_exec(fixture->path,
             "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 15000) INSERT INTO "
             "sessions "
             "SELECT i, 1, 1, 's' || i, i, i, 0, 0, 0, 0, NULL, 0, 4, i, NULL FROM n;"
             "INSERT INTO session_labels SELECT id, 'l', 'v', 1 FROM sessions WHERE details = 4");
    for (size_t i = 0; i < 2; i++) {
        ses_list_options first = most;
        first.filter = filters[i];
        assert_ok(ses_list(fixture->store, "app", NULL, &first, &page, &error));
        const long early = work_of_page(fixture->store, filters[i], NULL);
        const long late = work_of_page(fixture->store, filters[i], ses_page_token(page));
        assert_in_range(early, 1, 60000); /* most of them show that an index finds more than 10,000 */
        assert_in_range(late, 1, 60000);
        ses_page_close(page);
    }
}
