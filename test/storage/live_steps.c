/*
 * The cost of reading live events and of going back, in steps of statements: each event that is met, each
 * rewind, and little else. The linker puts the function below in place of SQLite's (see flags.mk).
 */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

enum { EVENTS = 100000, REWINDS = 1000, BETWEEN = EVENTS / REWINDS, TAKEN_BACK = 40, PAGE = 64 };

/* The steps of the calling thread. Another thread copies the log. */
static _Thread_local long steps;
static _Thread_local long locked_steps; /* those of them while nobody else could write */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    steps++;
    if (sqlite3_txn_state(sqlite3_db_handle(statement), NULL) == SQLITE_TXN_WRITE)
        locked_steps++;
    return __real_sqlite3_step(statement);
}

/* Every hundredth event is marked as a rewind of the forty before it. */
static int log_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    static const char event[] = "{\"timestamp\":1700000000,\"invocationId\":\"i\"}";
    static ses_text events[EVENTS];
    const ses_point none = {.size = sizeof none, .kind = SES_POINT_INVOCATION, .id = "none"};
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
    /* Filters of invocations are brought up to date, which takes steps of its own. */
    assert_code(SES_NOTFOUND, ses_rewind_by_key(fixture->store, &key, &none, NULL, NULL, &error));
    return failed;
}

static size_t walk(const struct fixture *fixture, ses_range range, bool backward)
{
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = &range};
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

#define LIVE_STEPS_TEST(name) GROUP_TEST(struct fixture *fixture, name)

LIVE_STEPS_TEST(walks)
{
    for (int backward = 0; backward <= 1; backward++) {
        assert_int_equal(walk(fixture, (ses_range){.which = 0}, backward), LIVE);
        assert_in_range(steps, LIVE, LIVE + 2 * REWINDS + PAGES * OF_A_PAGE + 20);
    }
}

LIVE_STEPS_TEST(the_newest)
{
    const ses_range newest = {.which = SES_RANGE_NEWEST, .newest = 100};

    assert_int_equal(walk(fixture, newest, true), 100);
    assert_in_range(steps, 100, 100 + REWINDS + 20);
    assert_int_equal(walk(fixture, newest, false), 100); /* which looks for its begin first */
    assert_in_range(steps, 200, 200 + REWINDS + 30);
}

LIVE_STEPS_TEST(a_few_in_the_middle)
{
    const ses_range few = {
        .which = SES_RANGE_SEQ, .first_seq = EVENTS / 2 + 1, .last_seq = EVENTS / 2 + BETWEEN};

    for (int backward = 0; backward <= 1; backward++) {
        assert_int_equal(walk(fixture, few, backward), BETWEEN - TAKEN_BACK - 1);
        assert_in_range(steps, 1, BETWEEN + REWINDS + 20);
    }
}

LIVE_STEPS_TEST(a_get)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    ses_session *session = NULL;

    steps = 0;
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&live), &session, &error));
    assert_int_equal(ses_session_event_count(session), LIVE);
    assert_in_range(steps, LIVE, LIVE + 2 * REWINDS + 20);
    ses_session_close(session);
}

/* ---------------------------------------------------------------------------------------- going back */

/* A walk meets each event once. Working out what is live meets each rewind once. */
static void assert_walks(long walks, long live_walks)
{
    const long rest = 60; /* transactions, session rows, pages and the new event */

    assert_in_range(steps, 1, walks * (EVENTS + 1) + live_walks * REWINDS + rest);
}

static void count_from_here(void)
{
    steps = 0;
    locked_steps = 0;
}

/* A call that reads the log does so before it writes: others may write meanwhile. */
static void assert_short_write(void)
{
    assert_in_range(locked_steps, 1, 40);
}

static void go_back_and_forth(ses_session *session, const ses_point *point, long walks, long live_walks)
{
    ses_error error;

    count_from_here();
    assert_ok(ses_rewind(session, point, NULL, NULL, &error));
    assert_walks(walks, live_walks);
    assert_short_write();
    count_from_here();
    assert_ok(ses_redo(session, NULL, NULL, &error)); /* looks for its invocation, and replays */
    assert_walks(2, 2);
    assert_short_write();
}

LIVE_STEPS_TEST(a_rewind_and_a_redo)
{
    static const char turn[] = "{\"timestamp\":1700000000,\"invocationId\":\"last\",\"author\":\"user\","
                               "\"content\":{\"parts\":[{\"text\":\"\"}]}}";
    const ses_point before_turn = {.size = sizeof before_turn, .kind = SES_POINT_SEQ, .seq = EVENTS};
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    ses_session *session = must_get(fixture->store, &key);

    must_append(session, turn);
    go_back_and_forth(session, &before_turn, 2, 2); /* looks for its invocation, and replays */
    go_back_and_forth(session, &last_turn, 3, 3);   /* looks for the last turn, too */
}

LIVE_STEPS_TEST(states_of_points)
{
    const ses_point late = {.size = sizeof late, .kind = SES_POINT_SEQ, .seq = EVENTS - 1};
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    char *json = NULL;

    steps = 0;
    assert_ok(ses_state_json_as_of_by_key(fixture->store, &key, &late, NULL, &json, NULL, &error));
    ses_free(json);
    assert_walks(1, 0);
    steps = 0;
    assert_ok(ses_state_json_as_of_by_key(fixture->store, &key, &last_turn, NULL, &json, NULL, &error));
    ses_free(json);
    assert_walks(2, 1);
}

LIVE_STEPS_TEST(a_fork)
{
    const ses_point early = {.size = sizeof early, .kind = SES_POINT_INVOCATION, .id = "last"};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_fork_options options = {.size = sizeof options, .range = &none};

    count_from_here();
    assert_ok(ses_fork_by_key(fixture->store, &key, &early, NULL, &options, NULL, &error));
    assert_walks(2, 1);
    assert_in_range(locked_steps, 1, REWINDS + 60); /* each mark that is copied is looked at */
}

LIVE_STEPS_TEST(rewinds_of_other_programs)
{
    static const char rewinds[][99] = {"{\"actions\":{\"rewindBeforeInvocationId\":\"last\"}}",
                                       "{\"actions\":{\"rewindBeforeInvocationId\":\"none\"}}"};

    for (size_t i = 0; i < 2; i++) {
        count_from_here();
        must_append_by_key(fixture->store, &key, rewinds[i]);
        assert_walks(1, 0);
        assert_short_write();
    }
    assert_query(fixture->path,
                 "SELECT target_seq FROM event_marks WHERE session_id = 1 ORDER BY seq DESC LIMIT 2",
                 "0\n100001\n");
    assert_ok(
        ses_cut_by_key(fixture->store, &key,
                       &(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = EVENTS + 5},
                       NULL, NULL, &error));
}

/* The last, because it cuts the log. */
LIVE_STEPS_TEST(cuts)
{
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    const ses_point middle = {.size = sizeof middle, .kind = SES_POINT_SEQ, .seq = EVENTS / 2};

    count_from_here();
    assert_ok(ses_cut_by_key(fixture->store, &key, &last_turn, NULL, NULL, &error));
    assert_walks(2, 1);
    assert_short_write();
    count_from_here();
    assert_ok(ses_cut_by_key(fixture->store, &key, &middle, NULL, NULL, &error));
    assert_walks(1, 0);
    assert_short_write();
}

TEST_GROUP(log_setup, fixture_teardown)
