/*
 * Rewind, redo, cut, fork and prune plan in a read and write later. Another store of the same file writes in
 * between: once, so that they plan again, or each time. (The linker puts the step below in place of SQLite's;
 * see flags.mk.)
 */
#include <sqlite3.h>

#include "../session/history.h"

static void (*meddle)(void);
static int times; /* that it still does */
static ses_store *stranger;

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    static bool busy;
    const bool begins = strncmp(sqlite3_sql(statement), "BEGIN IMMEDIATE", 15) == 0;

    if (begins && !busy && times > 0) {
        busy = true;
        times--;
        meddle();
        busy = false;
    }
    return __real_sqlite3_step(statement);
}

static int said;

/* A turn of the user, which sets a key. */
static void say(ses_store *store)
{
    char event[300];

    said++;
    snprintf(event, sizeof event,
             "{\"author\":\"user\",\"invocationId\":\"i%d\",\"content\":{\"parts\":[{\"text\":\"\"}]},"
             "\"actions\":{\"stateDelta\":{\"k%d\":%d,\"last\":%d}}}",
             said, said % 3, said, said);
    must_append_by_key(store, &key, event);
}

static void say_more(void)
{
    say(stranger);
}

static void rewind_once(void)
{
    ses_error error;

    assert_ok(ses_rewind_by_key(stranger, &key, LAST_TURN, NULL, NULL, &error));
}

static void cut_and_say(void)
{
    ses_error error;

    assert_ok(ses_cut_by_key(stranger, &key, LAST_TURN, NULL, NULL, &error));
    say(stranger);
}

static void prune_one(void)
{
    ses_session *session = must_get(stranger, &key);
    const ses_prune_options one = {.size = sizeof one,
                                   .which = SES_PRUNE_KEEP | SES_PRUNE_SEQ,
                                   .keep = 3,
                                   .last_seq = ses_session_event(session, 0)->seq};
    ses_error error;

    ses_session_close(session);
    assert_ok(ses_prune_by_key(stranger, &key, &one, NULL, &error) < 0 ? error.code : SES_OK);
}

/* ------------------------------------------------------------------------------------------------ fixture */

static int moved_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    ses_error error;

    assert_ok(ses_open(fixture->path, NULL, &stranger, &error));
    said = 0;
    must_create(fixture->store, &key, "{\"given\":1}");
    for (int i = 0; i < 12; i++)
        say(fixture->store);
    return failed;
}

static int moved_teardown(void **state)
{
    times = 0;
    ses_close(stranger);
    return fixture_teardown(state);
}

/* The log explains the state, whatever came between. */
static void assert_explained(const struct fixture *fixture)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    ses_error error;
    int64_t problems = -1;

    assert_int_equal(times, 0);
    assert_ok(ses_store_check(fixture->store, &options, &problems, &error));
    assert_int_equal(problems, 0);
}

static void meddle_with(void (*how)(void), int count)
{
    meddle = how;
    times = count;
}

/* -------------------------------------------------------------------------------------------------- tests */

#define HISTORY_MOVED_TEST(name) TEST_WITH(struct fixture *fixture, moved_setup, moved_teardown, name)

/* The turn that is taken back is the last when the event is stored, not when the call began. */
HISTORY_MOVED_TEST(a_rewind)
{
    for (int count = 1; count <= 3; count++) {
        meddle_with(say_more, count);
        assert_ok(ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
        assert_explained(fixture);
        char *taken_back =
            raw_text(fixture->path, "SELECT seq - target_seq FROM event_marks ORDER BY seq DESC LIMIT 1");
        assert_string_equal(taken_back, "1\n");
        free(taken_back);
    }
}

HISTORY_MOVED_TEST(a_redo)
{
    for (int count = 1; count <= 3; count++) {
        must_rewind(fixture->store, &key, LAST_TURN);
        meddle_with(rewind_once, count);
        assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
        assert_explained(fixture);
        meddle_with(say_more, 1);
        must_rewind(fixture->store, &key, LAST_TURN);
        meddle_with(say_more, 1);
        assert_code(SES_UNCHANGED, ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    }
}

HISTORY_MOVED_TEST(a_cut)
{
    static void (*const ways[])(void) = {say_more, cut_and_say};
    int64_t deleted = 0;

    for (int i = 0; i < 6; i++) {
        meddle_with(ways[i % 2], i / 2 + 1);
        assert_ok(ses_cut_by_key(fixture->store, &key, LAST_TURN, NULL, &deleted, &error));
        assert_int_equal(deleted, 1);
        assert_explained(fixture);
    }
}

HISTORY_MOVED_TEST(a_fork)
{
    static void (*const ways[])(void) = {say_more, cut_and_say, prune_one};

    for (int i = 0; i < 9; i++) {
        meddle_with(ways[i % 3], i / 3 + 1);
        assert_ok(ses_fork_by_key(fixture->store, &key, i % 2 ? LAST_TURN : NULL, NULL, NULL, NULL, &error));
        assert_explained(fixture);
    }
}

HISTORY_MOVED_TEST(a_prune)
{
    static void (*const ways[])(void) = {say_more, cut_and_say, prune_one, rewind_once};
    const ses_prune_options few = {.size = sizeof few, .which = SES_PRUNE_KEEP, .keep = 6, .limit = 2};

    for (int i = 0; i < 12; i++) {
        for (int more = 0; more < 4; more++)
            say(fixture->store);
        meddle_with(ways[i % 4], i / 4 + 1);
        int code = ses_prune_by_key(fixture->store, &key, &few, NULL, &error);
        assert_true(code >= 0);
        times = 0; /* a plan to prune is brought up to date with what was only added */
        assert_explained(fixture);
    }
}

HISTORY_MOVED_TEST(a_rewind_of_another_program)
{
    static void (*const ways[])(void) = {say_more, cut_and_say, prune_one};
    char event[200];

    for (int i = 0; i < 3; i++) {
        snprintf(event, sizeof event, "{\"actions\":{\"rewindBeforeInvocationId\":\"i%d\"}}",
                 i == 0 ? said + 1 : 8);
        meddle_with(ways[i], 1);
        must_append_by_key(fixture->store, &key, event);
        assert_explained(fixture);
        if (i == 0)
            assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "14|13\n");
    }
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks ORDER BY seq", "16|8\n17|8\n");
}

/* A version that is expected is that of the moment in which the event is stored. */
HISTORY_MOVED_TEST(a_version)
{
    ses_session *session = must_get(fixture->store, &key);

    meddle_with(say_more, 1);
    assert_code(SES_STALE, ses_rewind(session, LAST_TURN, NULL, NULL, &error));
    must_refresh(session);
    meddle_with(say_more, 1);
    assert_code(SES_STALE, ses_cut(session, LAST_TURN, NULL, NULL, &error));
}
