/*
 * What reading live events costs, in steps of statements: each event that is met, each rewind, and little else. The
 * linker puts the function below in place of SQLite's (see flags.mk).
 */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

enum { EVENTS = 100000, REWINDS = 1000, BETWEEN = EVENTS / REWINDS, TAKEN_BACK = 40, PAGE = 64 };

static long steps;

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    steps++;
    return __real_sqlite3_step(statement);
}

/* Every hundredth event is marked as a rewind of the forty before it. */
static int log_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    static const char event[] = "{\"timestamp\":1700000000,\"invocationId\":\"i\"}";
    static ses_text events[EVENTS];
    char sql[300];
    ses_error error;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < EVENTS; i++)
        events[i] = (ses_text){event, SES_NUL};
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, EVENTS, NULL, NULL, &error));
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n(seq) AS (VALUES (%d) UNION ALL SELECT seq + %d FROM n WHERE seq < %d) "
             "INSERT INTO event_marks SELECT 1, seq, 1, seq - %d FROM n",
             BETWEEN, BETWEEN, EVENTS, TAKEN_BACK);
    raw_exec(fixture->path, sql);
    return failed;
}

static size_t walk(const struct fixture *fixture, ses_range range, bool backward)
{
    const ses_cursor_options options = {.size = sizeof options, .backward = backward, .range = &range};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    ses_error error;
    size_t count = 0;

    range.size = sizeof range;
    range.which |= SES_RANGE_LIVE;
    steps = 0;
    assert_ok(ses_cursor_open(fixture->store, &key, &options, &cursor, &error));
    while (ses_cursor_next(cursor, &event, &error) == SES_ROW)
        count++;
    assert_ok(ses_cursor_close(cursor, &error));
    return count;
}

enum {
    LIVE = EVENTS - REWINDS * (TAKEN_BACK + 1),
    PAGES = LIVE / PAGE + 1,
    OF_A_PAGE = 4, /* the transaction, the session's row, the stretch that it ends in */
};

static void test_walks(void **state)
{
    const struct fixture *fixture = *state;

    for (int backward = 0; backward <= 1; backward++) {
        assert_int_equal(walk(fixture, (ses_range){.which = 0}, backward), LIVE);
        assert_in_range(steps, LIVE, LIVE + 2 * REWINDS + PAGES * OF_A_PAGE + 20);
    }
}

static void test_the_newest(void **state)
{
    const struct fixture *fixture = *state;
    const ses_range newest = {.which = SES_RANGE_NEWEST, .newest = 100};

    assert_int_equal(walk(fixture, newest, true), 100);
    assert_in_range(steps, 100, 100 + REWINDS + 20);
    assert_int_equal(walk(fixture, newest, false), 100); /* which looks for its begin first */
    assert_in_range(steps, 200, 200 + REWINDS + 30);
}

static void test_a_few_in_the_middle(void **state)
{
    const struct fixture *fixture = *state;
    const ses_range few = {
        .which = SES_RANGE_SEQ, .first_seq = EVENTS / 2 + 1, .last_seq = EVENTS / 2 + BETWEEN};

    for (int backward = 0; backward <= 1; backward++) {
        assert_int_equal(walk(fixture, few, backward), BETWEEN - TAKEN_BACK - 1);
        assert_in_range(steps, 1, BETWEEN + REWINDS + 20);
    }
}

static void test_a_get(void **state)
{
    const struct fixture *fixture = *state;
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    ses_session *session = NULL;
    ses_error error;

    steps = 0;
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&live), &session, &error));
    assert_int_equal(ses_session_event_count(session), LIVE);
    assert_in_range(steps, LIVE, LIVE + 2 * REWINDS + 20);
    ses_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_the_newest),
        cmocka_unit_test(test_a_few_in_the_middle),
        cmocka_unit_test(test_a_get),
    };
    return cmocka_run_group_tests_name("live events: steps", tests, log_setup, fixture_teardown);
}
