/* Pruning step by step reads each event a few times in all, whatever the number of steps. (The linker puts
 * the step below in place of SQLite's; see flags.mk.) */
#include <sqlite3.h>

#include "../open.h"

enum { EVENTS = 4000, LIMIT = 50, KEPT = 100 };

static const ses_key key = {"app", "user", "session"};
static long rows;              /* that statements gave */
static long deletes_left = -1; /* until deleting events fails; -1: it does not */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    bool deletes = !sqlite3_stmt_busy(statement) && strstr(sqlite3_sql(statement), "DELETE FROM events ");
    if (deletes && deletes_left == 0)
        return SQLITE_IOERR;
    deletes_left -= deletes && deletes_left > 0;
    int result = __real_sqlite3_step(statement);
    rows += result == SQLITE_ROW;
    return result;
}

/* Turns of a call and its response, and now and then a rewind of one. */
static void add_events(const struct fixture *fixture)
{
    static char texts[EVENTS][200];
    static ses_text events[EVENTS];
    ses_error error;

    for (int i = 0; i < EVENTS; i++) {
        const char *function = i % 2 == 0 ? "functionCall" : "functionResponse";
        int len = i % 100 == 99
                      ? snprintf(texts[i], sizeof texts[i],
                                 "{\"actions\":{\"rewindBeforeInvocationId\":\"i%d\"}}", (i - 1) / 2)
                      : snprintf(texts[i], sizeof texts[i],
                                 "{\"invocationId\":\"i%d\",\"content\":{\"parts\":[{\"%s\":{\"id\":\"c%d\","
                                 "\"name\":\"f\"}}]},\"actions\":{\"stateDelta\":{\"n\":%d}}}",
                                 i / 2, function, i / 2, i);
        events[i] = (ses_text){texts[i], (size_t)len};
    }
    must_create(fixture->store, &key, NULL);
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, EVENTS, NULL, NULL, &error));
}

static void assert_pruned_in_proportion(const struct fixture *fixture, unsigned which)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = which, .keep = KEPT, .before_us = INT64_MAX, .limit = LIMIT};
    int64_t total = 0;
    int64_t deleted = 0;
    ses_error error;
    int code = SES_MORE;

    add_events(fixture);
    rows = 0;
    for (int calls = 0; code == SES_MORE; calls++) {
        assert_true(calls < EVENTS / LIMIT);
        code = ses_prune_by_key(fixture->store, &key, &options, &deleted, &error);
        assert_true(code >= 0);
        assert_true(deleted > 0);
        total += deleted;
    }
    assert_int_equal(total, EVENTS - KEPT);
    print_message("%ld rows for %d events\n", rows, EVENTS);
    assert_in_range(rows, EVENTS, 8 * EVENTS);
    assert_sound(fixture->path);
}

TEST(steps_read_each_event_a_few_times)
{
    assert_pruned_in_proportion(fixture, SES_PRUNE_KEEP);
}

TEST(so_they_do_up_to_a_time)
{
    assert_pruned_in_proportion(fixture, SES_PRUNE_KEEP | SES_PRUNE_BEFORE);
}

/* A step that fails after others went well: what they did stands, and the next call says what failed. */
TEST(a_later_step_that_fails_ends_the_call)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_KEEP, .keep = KEPT, .limit = LIMIT};
    int64_t deleted = 0;

    add_events(fixture);
    deletes_left = 3;
    assert_code(SES_MORE, ses_prune_by_key(fixture->store, &key, &options, &deleted, &error));
    assert_int_equal(deleted, 3 * LIMIT);
    assert_int_equal(error.code, 0);
    deletes_left = 0;
    assert_code(SES_IO, ses_prune_by_key(fixture->store, &key, &options, &deleted, &error));
    deletes_left = -1;
    assert_int_equal(deleted, 3 * LIMIT);
    assert_code(SES_MORE, ses_prune_by_key(fixture->store, &key, &options, &deleted, &error));
    assert_true(deleted >= (EVENTS - 3 * LIMIT) / 2);
    assert_sound(fixture->path);
}
