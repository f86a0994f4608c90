/* Cutting off the end of a log for good. */
#include "history.h"

static void begin(const struct fixture *fixture)
{
    must_create(fixture->store, &key, Q("{'a':1,'given':[1, 2],'same':1,'app:x':1,'user:y':1}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':2,'b':1.10}"));
    must_say(fixture->store, &key, "i1", "agent", Q("{'again':5}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'given':'__ADK_SENTINEL_REMOVED__','again':5}"));
    must_say(fixture->store, &key, "i2", "agent", Q("{'a':3,'c':{},'app:x':2,'user:y':2}"));
}

static void assert_cut(const struct fixture *fixture, const ses_point *point, int64_t expected)
{
    int64_t deleted = 77;
    ses_error error;

    assert_ok(ses_cut_by_key(fixture->store, &key, point, NULL, &deleted, &error));
    assert_int_equal(deleted, expected);
}

#define assert_rows(fixture, expected) \
    assert_query((fixture)->path, "SELECT key, value, seq FROM session_state ORDER BY key", expected)

/* ---------------------------------------------------------------------------------------- what it does */

TEST(events_are_gone_and_state_is_what_it_was)
{
    begin(fixture);
    fixture->now += 5000000;
    assert_cut(fixture, AFTER_SEQ(2), 2);
    assert_string_equal(stored_seqs(fixture->store, &key), "1 2");
    assert_stored_state(fixture->store, &key,
                        Q("{'app:x':2,'user:y':2,'a':2,'again':5,'b':1.10,'given':[1, 2],'same':1}"));
    assert_rows(fixture, "a|2|1\nagain|5|2\nb|1.10|1\ngiven|[1, 2]|0\nsame|1|0\n");
    assert_query(fixture->path, "SELECT version, last_seq, event_count, updated_us FROM sessions",
                 "5|4|2|1700000000000000\n");
    assert_sound(fixture->path);
}

TEST(numbers_are_not_used_again)
{
    ses_appended appended;

    begin(fixture);
    assert_cut(fixture, AFTER_SEQ(3), 1);
    assert_ok(ses_append_by_key(fixture->store, &key,
                                Q("{'invocationId':'i3','author':'user','content':{'parts'"
                                  ":[{}]},'actions':{'stateDelta':{'a':9}}}"),
                                SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 5);
    assert_int_equal(appended.version, 6);
    assert_string_equal(stored_seqs(fixture->store, &key), "1 2 3 5");
    assert_as_of(fixture->store, &key, AFTER_SEQ(3), Q("{'a':2,'again':5,'b':1.10,'same':1}"));
    assert_as_of(fixture->store, &key, AFTER_SEQ(4), Q("{'a':2,'again':5,'b':1.10,'same':1}"));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':9,'again':5,'b':1.10,'same':1}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(4));
    assert_code(SES_UNCHANGED, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(3), NULL, NULL, &error));
    assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':9,'again':5,'b':1.10,'same':1}"));
    assert_cut(fixture, BEFORE_INVOCATION("i2"), 4);
    assert_cut(fixture, AFTER_SEQ(0), 2);
    assert_rows(fixture, "a|1|0\ngiven|[1, 2]|0\nsame|1|0\n");
    assert_query(fixture->path, "SELECT version, last_seq, event_count FROM sessions", "10|7|0\n");
}

/* Numbers that were cut are as if they had never been, also for what is live. */
TEST(already_there_after_a_cut)
{
    begin(fixture);
    must_rewind(fixture->store, &key, AFTER_SEQ(2));
    must_say(fixture->store, &key, "i3", "user", NULL);
    assert_cut(fixture, AFTER_SEQ(5), 1);
    assert_code(SES_UNCHANGED, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(2), NULL, NULL, &error));
}

TEST(marks_go_along)
{
    begin(fixture);
    must_rewind(fixture->store, &key, LAST_TURN);
    must_rewind(fixture->store, &key, LAST_TURN);
    must_append_by_key(fixture->store, &key, Q("{'actions':{'compaction':{}}}"));
    assert_query(fixture->path, "SELECT seq FROM event_marks", "5\n6\n7\n");
    assert_cut(fixture, AFTER_SEQ(5), 2);
    assert_query(fixture->path, "SELECT seq FROM event_marks", "5\n");
    assert_cut(fixture, AFTER_SEQ(4), 1);
    assert_query(fixture->path, "SELECT seq FROM event_marks", "");
    assert_code(SES_UNCHANGED, ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':3,'again':5,'b':1.10,'c':{},'same':1}"));
    assert_stored_state(fixture->store, &key,
                        Q("{'app:x':2,'user:y':2,'a':3,'again':5,'b':1.10,'c':{},'same':1}"));
}

TEST(nothing_after_the_point)
{
    const ses_point *const points[] = {NULL, AFTER_SEQ(4), AFTER_SEQ(3)};

    begin(fixture);
    for (size_t i = 0; i < 3; i++) {
        int64_t deleted = 77;
        if (i == 2)
            assert_cut(fixture, AFTER_SEQ(3), 1);
        char *before = describe_stored(fixture->store, &key);
        assert_code(SES_UNCHANGED, ses_cut_by_key(fixture->store, &key, points[i], NULL, &deleted, &error));
        assert_int_equal(deleted, 0);
        char *after = describe_stored(fixture->store, &key);
        assert_string_equal(after, before);
        free(after);
        free(before);
    }
}

TEST(an_id_can_be_used_again)
{
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'e','invocationId':'i'}"));
    assert_cut(fixture, BEFORE_INVOCATION("i"), 1);
    must_append_by_key(fixture->store, &key, Q("{'id':'e','invocationId':'other'}"));
    assert_string_equal(stored_seqs(fixture->store, &key), "2");
}

TEST(a_pruned_log_is_cut_down_to_its_base)
{
    begin(fixture);
    raw_exec(fixture->path,
             "DELETE FROM events WHERE position & 4294967295 <= 2;"
             "INSERT INTO base_state VALUES (1, 'a', '2', 1), (1, 'b', '1.10', 1), (1, 'given', "
             "'[1, 2]', 0), (1, 'again', '5', 2), (1, 'same', '1', 0), (1, 'app:x', '1', 0);"
             "UPDATE sessions SET base_seq = 2, event_count = 2");
    assert_code(SES_NOTFOUND, ses_cut_by_key(fixture->store, &key, AFTER_SEQ(1), NULL, NULL, &error));
    assert_cut(fixture, AFTER_SEQ(2), 2);
    assert_rows(fixture, "a|2|1\nagain|5|2\nb|1.10|1\ngiven|[1, 2]|0\nsame|1|0\n");
}

TEST(only_that_session_is_cut)
{
    const ses_key next = {"app", "user", "next"};

    begin(fixture);
    must_create(fixture->store, &next, Q("{'n':1}"));
    must_say(fixture->store, &next, "i1", "user", Q("{'n':2}"));
    char *before = describe_stored(fixture->store, &next);
    assert_cut(fixture, AFTER_SEQ(0), 4);
    char *after = describe_stored(fixture->store, &next);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

/* ------------------------------------------------------------------------------------------- handles */

TEST(the_handle_itself_moves_on)
{
    int64_t deleted = 0;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_append(session, Q("{'invocationId':'i3','actions':{'stateDelta':{'temp:t':1,'a':8}}}"));
    assert_ok(ses_cut(session, AFTER_SEQ(3), NULL, &deleted, &error));
    assert_int_equal(deleted, 2);
    assert_int_equal(ses_session_event_count(session), 3);
    assert_int_equal(ses_session_version(session), 6);
    assert_handle_is_current(fixture->store, session);
    assert_state(session, Q("{'app:x':2,'user:y':2,'a':2,'again':5,'b':1.10,'same':1,'temp:t':1}"));
    assert_code(SES_UNCHANGED, ses_cut(session, NULL, NULL, NULL, &error));
    must_append(session, "{}");
    assert_handle_is_current(fixture->store, session);
    assert_ok(ses_cut(session, LAST_TURN, NULL, NULL, &error));
    assert_handle_is_current(fixture->store, session);
}

TEST(another_handle_is_stale_until_it_is_refreshed)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_cut_options cut_anyway = {.size = sizeof cut_anyway, .flags = SES_ANYWAY};
    char *json = NULL;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    ses_session *other = must_get(fixture->store, &key);
    assert_cut(fixture, AFTER_SEQ(2), 2);
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_STALE, ses_rewind(session, LAST_TURN, NULL, NULL, &error));
    assert_code(SES_STALE, ses_redo(session, NULL, NULL, &error));
    assert_code(SES_STALE, ses_cut(session, NULL, NULL, NULL, &error));
    assert_code(SES_STALE, ses_cut(session, NULL, &cut_anyway, NULL, &error));
    assert_int_equal(error.version, 5);
    assert_code(SES_STALE, ses_state_json_as_of(session, NULL, NULL, &json, NULL, &error));
    must_refresh(session);
    assert_handle_is_current(fixture->store, session);
    must_append(session, Q("{'actions':{'stateDelta':{'n':1}}}"));
    assert_handle_is_current(fixture->store, session);
    assert_ok(ses_append(other, "{}", SES_NUL, &anyway, NULL, &error));
    assert_handle_is_current(fixture->store, other);
}

TEST(an_outdated_handle_cuts_anyway)
{
    const ses_cut_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    int64_t deleted = 0;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_say(fixture->store, &key, "i3", "user", Q("{'a':7,'app:x':7}"));
    must_say(fixture->store, &key, "i4", "user", Q("{'a':8}"));
    char *before = describe(session, 1);
    assert_code(SES_STALE, ses_cut(session, AFTER_SEQ(5), NULL, NULL, &error));
    assert_int_equal(error.version, 6);
    assert_message("SES_ANYWAY");
    char *after = describe(session, 1);
    assert_string_equal(after, before);
    free(after);
    free(before);
    assert_ok(ses_cut(session, AFTER_SEQ(5), &anyway, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_handle_is_current(fixture->store, session);
    assert_int_equal(ses_session_event_count(session), 5);
    must_say(fixture->store, &key, "i5", "user", Q("{'a':9}"));
    assert_code(SES_UNCHANGED, ses_cut(session, AFTER_SEQ(7), &anyway, NULL, &error));
    assert_handle_is_current(fixture->store, session);
    must_say(fixture->store, &key, "i6", "user", NULL);
    assert_ok(ses_cut(session, NULL, &anyway, &deleted, &error)); /* after the last event it knew */
    assert_int_equal(deleted, 1);
    assert_handle_is_current(fixture->store, session);
}

TEST(a_handle_without_events)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session = NULL;

    begin(fixture);
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&none), &session, &error));
    assert_ok(ses_cut(session, AFTER_SEQ(1), NULL, NULL, &error));
    assert_int_equal(ses_session_event_count(session), 0);
    assert_int_equal(ses_session_stored(session), 1);
    assert_state(session, Q("{'app:x':2,'user:y':2,'a':2,'b':1.10,'given':[1, 2],'same':1}"));
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------ refusals, damage */

TEST(a_refused_call_changes_nothing)
{
    const ses_cut_options at_3 = {.size = sizeof at_3, .flags = SES_AT_VERSION, .version = 3};
    const ses_cut_options unknown = {.size = sizeof unknown, .flags = 0x80};
    const ses_cut_options both = {.size = sizeof both, .flags = SES_AT_VERSION | SES_ANYWAY};
    const ses_key nobody = {"app", "user", "nobody"};
    ses_store *store = fixture->store;
    int64_t deleted = 77;

    begin(fixture);
    ses_session *session = must_get(store, &key);
    char *before = describe_stored(store, &key);
    assert_code(SES_STALE, ses_cut_by_key(store, &key, AFTER_SEQ(1), &at_3, &deleted, &error));
    assert_code(SES_MISUSE, ses_cut_by_key(store, &key, AFTER_SEQ(1), &unknown, &deleted, &error));
    assert_code(SES_MISUSE, ses_cut_by_key(store, &key, AFTER_SEQ(1), &both, &deleted, &error));
    assert_code(SES_MISUSE, ses_cut(session, AFTER_SEQ(1), &at_3, &deleted, &error));
    assert_code(SES_MISUSE, ses_cut(NULL, NULL, NULL, &deleted, &error));
    assert_code(SES_MISUSE, ses_cut_by_key(NULL, &key, NULL, NULL, &deleted, &error));
    assert_code(SES_MISUSE, ses_cut_by_key(store, NULL, NULL, NULL, &deleted, &error));
    assert_code(SES_NOTFOUND, ses_cut_by_key(store, &nobody, NULL, NULL, &deleted, &error));
    assert_code(SES_NOTFOUND, ses_cut_by_key(store, &key, AFTER_SEQ(5), NULL, &deleted, &error));
    assert_code(SES_INVALID, ses_cut_by_key(store, &key, AFTER_SEQ(-1), NULL, &deleted, &error));
    raw_exec(fixture->path, "UPDATE sessions SET version = 9007199254740991");
    assert_code(SES_LIMIT, ses_cut_by_key(store, &key, AFTER_SEQ(1), NULL, &deleted, &error));
    assert_message("2^53");
    raw_exec(fixture->path, "UPDATE sessions SET version = 4");
    assert_int_equal(deleted, 77);
    char *after = describe_stored(store, &key);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

PLAIN_TEST(damage_is_not_cut)
{
    static const char *const damages[] = {
        "UPDATE session_details SET initial_state = '[]'",
        "DROP TRIGGER guard_events_update; UPDATE events SET body = '[]' WHERE position & 3 = 1",
        "UPDATE sessions SET event_count = 1",
        "UPDATE sessions SET base_seq = 1, event_count = 3; INSERT INTO base_state VALUES (1, 'k', '1', 3)",
        "UPDATE sessions SET base_seq = 1, event_count = 3; INSERT INTO base_state VALUES (1, 'k', '{', 1)",
        "UPDATE sessions SET base_seq = 2, event_count = 2; DELETE FROM events WHERE position & 3 = 3",
    };

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct fixture *fixture = NULL;
        fixture_setup((void **)&fixture);
        begin(fixture);
        raw_exec(fixture->path, "DROP TRIGGER guard_session_details_update");
        raw_exec(fixture->path, damages[i]);
        char *before = raw_text(fixture->path, "SELECT position FROM events");
        int code = ses_cut_by_key(fixture->store, &key, AFTER_SEQ(2), NULL, NULL, &error);
        if (code != SES_CORRUPT) {
            print_error("%s: %d %s\n", damages[i], code, code < 0 ? error.message : "");
            fail();
        }
        char *after = raw_text(fixture->path, "SELECT position FROM events");
        assert_string_equal(after, before);
        free(after);
        free(before);
        fixture_teardown((void **)&fixture);
    }
}

/* Changes of another program to the rows are gone with the events that had written over them. */
TEST(rows_that_the_log_does_not_explain_are_put_right)
{
    begin(fixture);
    raw_exec(fixture->path,
             "INSERT INTO session_state VALUES (1, '', '1', 1), (1, 'zz', '1', 1), (1, 'app:x', '1', 1);"
             "UPDATE session_state SET seq = 9 WHERE key = 'same';"
             "UPDATE session_state SET value = '[]' WHERE key = 'b'");
    assert_cut(fixture, AFTER_SEQ(2), 2);
    assert_rows(fixture, "a|2|1\nagain|5|2\nb|1.10|1\ngiven|[1, 2]|0\nsame|1|0\n");
}
