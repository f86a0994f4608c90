/* Gets, cursors and followers refuse rows that are out of bounds, out of order or another session's as
 * CORRUPT. */
#include "storage/damaged_rows.h"

/* ------------------------------------------------------------------------------------------- reading */

static void assert_get_refuses(struct rows_test *test, const char *sql, const char *words)
{
    ses_session *session = NULL;
    struct store_files sound = {.name = NULL};
    ses_error error;

    store_files_read(&sound, test->path);
    change_rows(test, without_types, sql);
    open_store(test);
    int code = ses_get(test->store, &alice, NULL, &session, &error);
    if (code != SES_CORRUPT)
        print_error("after %s\n", sql);
    assert_code(SES_CORRUPT, code);
    assert_message(words);
    close_store(test);
    store_files_write(&sound, test->path);
    store_files_free(&sound);
}

#define ROWS_TEST(name) TEST_WITH(struct rows_test *test, setup, teardown, name)

ROWS_TEST(numbers_and_texts_out_of_bounds)
{
    static const char *const of_sessions[] = {
        "version = -1",
        "version = 1 << 53",
        "last_seq = -1",
        "last_seq = 1 << 32",
        "event_count = 4",
        "event_count = -1",
        "app_id = 0",
        "created_us = 253402300800000000",
        "updated_us = -62167219200000001",
        "updated_us = 9223372036854775807",
    };
    static const char *const of_events[] = {
        "time_us = 253402300800000000",
        "time_us = -62167219200000001",
        "high_us = time_us - 1",
        "high_us = 9223372036854775807",
        "id_at = NULL",
        "id_at = ''",
        "id_at = printf('%.*c', 513, 'x')",
        "invocation_at = NULL",
        "author = NULL",
        "body = NULL",
        "body = ''",
    };
    static const char *const of_state[] = {"value = NULL"}; /* keys are checked when they are shown */
    char sql[200];

    for (size_t i = 0; i < sizeof of_sessions / sizeof of_sessions[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE sessions SET %s WHERE id = 1", of_sessions[i]);
        assert_get_refuses(test, sql, "session");
    }
    for (size_t i = 0; i < sizeof of_events / sizeof of_events[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE events SET %s WHERE position = 1 << 32 | 2", of_events[i]);
        assert_get_refuses(test, sql, "event 2");
    }
    for (size_t i = 0; i < sizeof of_state / sizeof of_state[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE session_state SET %s WHERE session_id = 1 AND key = 'k'",
                 of_state[i]);
        assert_get_refuses(test, sql, "state");
    }
    assert_get_refuses(test, "UPDATE sessions SET last_seq = 2, event_count = 2 WHERE id = 1", "event 3");
}

/* Which the table's key would not let in. */
ROWS_TEST(two_marks_of_one_event)
{
    static const char *const key_of_kinds =
        "UPDATE main.sqlite_schema SET sql = replace(sql, '(session_id, seq)', '(session_id, seq, kind)') "
        "WHERE name = 'event_marks'";
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_get_options options = {.size = sizeof options, .range = &live};
    ses_session *session = NULL;

    change_rows(test, key_of_kinds, "INSERT INTO event_marks VALUES (1, 3, 1, 2), (1, 3, 2, NULL)");
    open_store(test);
    assert_code(SES_CORRUPT, ses_get(test->store, &alice, &options, &session, &error));
    assert_message("(event 3) is out of place");
}

ROWS_TEST(events_that_go_back)
{
    ses_session *session = NULL;

    grow(test);
    swap_leaves(test, "events");
    open_store(test);
    assert_code(SES_CORRUPT, ses_get(test->store, &alice, NULL, &session, &error));
    for (int backward = 0; backward < 2; backward++) {
        const ses_cursor_options options = {.size = sizeof options,
                                            .flags = backward ? SES_CURSOR_BACKWARD : 0};
        ses_cursor *cursor = NULL;
        const ses_event *event = NULL;
        int steps = 0;
        int code = ses_cursor_open(test->store, &alice, &options, &cursor, &error);
        while (code >= 0 && (code = ses_cursor_next(cursor, &event, &error)) == SES_ROW)
            assert_in_range(++steps, 1, 300);
        assert_code(SES_CORRUPT, code);
        (void)ses_cursor_close(cursor, NULL);
    }
}

/* ----------------------------------------------------------------------------------------- following */

/* To the end, or to a failure. */
static int follow_to_end(struct rows_test *test, const ses_key *key, ses_error *error)
{
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    int steps = 0;
    int code = ses_follower_open(test->store, key, NULL, &follower, error);

    while (code == SES_OK) {
        assert_in_range(++steps, 1, 10000);
        code = ses_follower_next(follower, 0, &event, error);
        if (code == SES_OK)
            break;
        code = code > 0 ? SES_OK : code;
    }
    ses_follower_close(follower);
    return code;
}

ROWS_TEST(followers_of_damaged_rows)
{
    static const struct {
        const char *sql;
        bool of_session; /* it refuses, too */
    } changes[] = {
        {"UPDATE sessions SET name = printf('%.*c', 513, 'x') WHERE id = 1", false},
        {"UPDATE sessions SET name = 'a' || char(0) WHERE id = 1", false},
        {"UPDATE sessions SET name = CAST(x'FF' AS TEXT) WHERE id = 1", false},
        {"UPDATE sessions SET app_id = 7 WHERE id = 1", true},
        {"UPDATE sessions SET version = -1 WHERE id = 1", true},
        {"UPDATE sessions SET last_seq = 1 << 33 WHERE id = 1", true},
        {"UPDATE sessions SET base_seq = 4 WHERE id = 1", true},
        {"UPDATE events SET time_us = -1 << 60 WHERE position = (1 << 32) + 2", true},
    };
    const ses_key of_alice = {"app", "alice", NULL};
    const ses_key of_bob = {"app", "bob", NULL};
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, NULL, changes[i].sql);
        open_store(test);
        assert_code(SES_CORRUPT, follow_to_end(test, &of_alice, &error));
        if (changes[i].of_session)
            assert_code(SES_CORRUPT, follow_to_end(test, &alice, &error));
        assert_ok(follow_to_end(test, &of_bob, &error));
        close_store(test);
    }
    store_files_free(&sound);
}

ROWS_TEST(followers_that_go_back)
{
    const ses_key of_carol = {"app", "carol", NULL};

    grow(test);
    swap_leaves(test, "events");
    open_store(test);
    assert_code(SES_CORRUPT, follow_to_end(test, &alice, &error));
    close_store(test);
    swap_leaves(test, "sqlite_autoindex_sessions_1");
    open_store(test);
    assert_code(SES_CORRUPT, follow_to_end(test, &of_carol, &error));
    assert_message("out of place");
}
