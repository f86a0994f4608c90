/* Taking back what came after a point of a log. */
#include "lines.h"

/* Two turns: of the invocations i1 (events 1 and 2) and i2 (3 and 4). */
static void begin(const struct fixture *fixture)
{
    must_create(fixture->store, &key, Q("{'a':1,'given':[1, 2],'app:x':1,'user:y':1}"));
    must_say(fixture->store, &key, "i1", "user", NULL);
    must_say(fixture->store, &key, "i1", "agent", Q("{'a':2,'b':1.10}"));
    must_say(fixture->store, &key, "i2", "user", NULL);
    must_say(fixture->store, &key, "i2", "agent",
             Q("{'a':3,'b':'__ADK_SENTINEL_REMOVED__','c':{},'given':0,'app:x':2,'user:y':2}"));
}

static const char *last_body(const struct fixture *fixture)
{
    static char body[2048];
    ses_session *session = must_get(fixture->store, &key);

    snprintf(body, sizeof body, "%s", ses_session_event(session, ses_session_event_count(session) - 1)->json);
    ses_session_close(session);
    return body;
}

/* ---------------------------------------------------------------------------------------- what it does */

static int made_ids;

static int make_id(void *context, char *id, size_t capacity)
{
    (void)context;
    return snprintf(id, capacity, "made-%d", ++made_ids) < 0;
}

static void reopen_with_ids(struct fixture *fixture)
{
    made_ids = 0;
    fixture->options.make_id = make_id;
    fixture_reopen(fixture);
}

TEST(the_event_puts_back_the_old_bytes)
{
    ses_appended appended;

    begin(fixture);
    reopen_with_ids(fixture);
    fixture->now += 5000000;
    assert_ok(ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, &appended, &error));
    assert_int_equal(appended.status, SES_OK);
    assert_int_equal(appended.seq, 5);
    assert_int_equal(appended.version, 5);
    assert_int_equal(appended.time_us, fixture->now);
    assert_int_equal(appended.updated_us, fixture->now);
    assert_string_equal(appended.made_id, "made-1");
    assert_string_equal(
        last_body(fixture),
        Q("{'timestamp':1700000005.000000,'id':'made-1','invocationId':'e-made-2','author':'user',"
          "'actions':{'stateDelta':{'a':2,'b':1.10,'c':'__ADK_SENTINEL_REMOVED__','given':[1, 2]},"
          "'artifactDelta':{},'rewindBeforeInvocationId':'i2'}}"));
    assert_stored_state(fixture->store, &key, Q("{'app:x':2,'user:y':2,'a':2,'b':1.10,'given':[1, 2]}"));
    assert_query(fixture->path, "SELECT * FROM event_marks", "1|5|1|3\n");
    assert_query(fixture->path, "SELECT key, seq FROM session_state", "a|5\nb|5\ngiven|5\n");
}

TEST(to_the_beginning_means_as_created)
{
    begin(fixture);
    must_rewind(fixture->store, &key, AFTER_SEQ(0));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':1,'given':[1, 2]}"));
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "5|1\n");
}

TEST(the_versions_of_artifacts_are_the_caller_s)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {{"[]", SES_INVALID}, {"{", SES_JSON}, {"", SES_JSON}, {"{} {}", SES_JSON}};
    const char *const given = " {\"file.txt\" : 3} ";
    const ses_rewind_options options = {
        .size = sizeof options, .artifact_delta = given, .artifact_delta_len = SES_NUL};

    begin(fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_rewind_options wrong = {
            .size = sizeof wrong, .artifact_delta = cases[i].text, .artifact_delta_len = SES_NUL};
        assert_code(cases[i].code, ses_rewind_by_key(fixture->store, &key, LAST_TURN, &wrong, NULL, &error));
        assert_message("artifact_delta");
        assert_int_equal(error.offset, -1);
    }
    assert_ok(ses_rewind_by_key(fixture->store, &key, LAST_TURN, &options, NULL, &error));
    assert_non_null(strstr(last_body(fixture), "\"artifactDelta\": {\"file.txt\" : 3} ,\"rewind"));
}

TEST(already_there_stores_nothing)
{
    ses_appended appended;
    char *before = NULL;

    begin(fixture);
    for (int i = 0; i < 2; i++) {
        before = describe_stored(fixture->store, &key);
        memset(&appended, 0x55, sizeof appended);
        assert_code(SES_UNCHANGED, ses_rewind_by_key(fixture->store, &key, i ? AFTER_SEQ(2) : NULL, NULL,
                                                     &appended, &error));
        assert_int_equal(appended.status, SES_UNCHANGED);
        assert_int_equal(appended.seq, 0);
        assert_int_equal(appended.version, i ? 5 : 4);
        assert_string_equal(appended.made_id, "");
        char *after = describe_stored(fixture->store, &key);
        assert_string_equal(after, before);
        free(after);
        free(before);
        if (i == 0)
            must_rewind(fixture->store, &key, AFTER_SEQ(2));
    }
}

/* The state is already that of the point, but more events are live. */
TEST(an_event_is_stored_when_only_the_live_ones_differ)
{
    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", NULL);
    must_say(fixture->store, &key, "i2", "user", NULL);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "3|2\n");
    assert_non_null(strstr(last_body(fixture), "\"stateDelta\":{},"));
}

/* -------------------------------------------------------------------------------------------- points */

TEST(points_that_no_rewind_can_name)
{
    begin(fixture);
    must_say(fixture->store, &key, "", "user", Q("{'a':5}"));
    must_say(fixture->store, &key, "i1", "agent", Q("{'a':6}"));
    char *before = describe_stored(fixture->store, &key);
    assert_code(SES_INVALID, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(1), NULL, NULL, &error));
    assert_message(
        "event 2, the first after the point, is of the invocation \"i1\", which already has event 1");
    assert_code(SES_INVALID, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(3), NULL, NULL, &error));
    assert_message("already has event 3");
    assert_code(SES_INVALID, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(4), NULL, NULL, &error));
    assert_message("event 5, the first after the point, has no invocation id");
    assert_code(SES_INVALID, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(5), NULL, NULL, &error));
    assert_message(
        "event 6, the first after the point, is of the invocation \"i1\", which already has event 1");
    assert_code(SES_NOTFOUND, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(7), NULL, NULL, &error));
    assert_code(SES_NOTFOUND,
                ses_rewind_by_key(fixture->store, &key, BEFORE_INVOCATION("i3"), NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_rewind_by_key(fixture->store, &key, AFTER_EVENT("e"), NULL, NULL, &error));
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

/* A point that earlier rewinds have taken back is a point like any other. */
TEST(a_dead_point_can_be_gone_back_to)
{
    begin(fixture);
    must_say(fixture->store, &key, "i3", "user", Q("{'a':7}"));
    must_rewind(fixture->store, &key, BEFORE_INVOCATION("i2"));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':2,'b':1.10,'given':[1, 2]}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(4));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':3,'c':{},'given':0}"));
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "6|3\n7|5\n");
}

TEST(the_last_turn_is_taken_back_again_and_again)
{
    begin(fixture);
    must_rewind(fixture->store, &key, LAST_TURN);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_as_of(fixture->store, &key, NULL, Q("{'a':1,'given':[1, 2]}"));
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "5|3\n6|1\n");
    assert_code(SES_UNCHANGED, ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
    assert_int_equal(error.code, SES_OK);
    assert_query(fixture->path, "SELECT count(*) FROM events", "6\n");
    assert_code(SES_NOTFOUND, ses_fork_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, NULL, &error));
    assert_message("no live turn of the user");
}

TEST(turns_are_of_the_user_alone)
{
    static const char *const others[] = {"tool", "uses", "users", "use", "User"};

    begin(fixture);
    must_say(fixture->store, &key, "turn", "user", Q("{'turn':1}"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        must_say(fixture->store, &key, others[i], others[i], NULL);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "11|5\n");
}

TEST(a_pruned_log)
{
    begin(fixture);
    raw_exec(fixture->path,
             "DELETE FROM events WHERE position & 4294967295 <= 2;"
             "INSERT INTO base_state VALUES (1, 'a', '2', 2), (1, 'b', '1.10', 2), (1, 'given', "
             "'[1, 2]', 0), (1, 'app:x', '1', 0), (1, 'user:y', '1', 0);"
             "UPDATE sessions SET base_seq = 2, event_count = 2");
    assert_code(SES_NOTFOUND, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(0), NULL, NULL, &error));
    assert_message("was pruned");
    must_rewind(fixture->store, &key, AFTER_SEQ(2));
    assert_as_of(fixture->store, &key, NULL, Q("{'a':2,'b':1.10,'given':[1, 2]}"));
    assert_stored_state(fixture->store, &key, Q("{'app:x':2,'user:y':2,'a':2,'b':1.10,'given':[1, 2]}"));
}

/* ------------------------------------------------------------------------------------------- handles */

TEST(a_handle_moves_to_the_new_event)
{
    ses_appended appended;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_append(session,
                Q("{'invocationId':'i3','author':'user','actions':{'stateDelta':{'temp:t':1,'a':9}}}"));
    assert_state(session, Q("{'app:x':2,'user:y':2,'a':9,'c':{},'given':0,'temp:t':1}"));
    assert_ok(ses_rewind(session, BEFORE_INVOCATION("i2"), NULL, &appended, &error));
    assert_int_equal(appended.seq, 6);
    assert_state(session, Q("{'app:x':2,'user:y':2,'a':2,'b':1.10,'given':[1, 2]}"));
    assert_handle_is_current(fixture->store, session);
    assert_code(SES_UNCHANGED, ses_rewind(session, NULL, NULL, NULL, &error));
    must_append(session, "{}");
    assert_handle_is_current(fixture->store, session);
}

TEST(temp_values_stay_when_nothing_is_stored)
{
    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_append(session, Q("{'invocationId':'i3','actions':{'stateDelta':{'temp:t':1}}}"));
    assert_code(SES_UNCHANGED, ses_rewind(session, NULL, NULL, NULL, &error));
    assert_state(session, Q("{'app:x':2,'user:y':2,'a':3,'c':{},'given':0,'temp:t':1}"));
}

TEST(an_outdated_handle_is_stale)
{
    const ses_rewind_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_say(fixture->store, &key, "i3", "user", Q("{'a':8,'app:x':8}"));
    char *before = describe(session, 1);
    assert_code(SES_STALE, ses_rewind(session, LAST_TURN, NULL, NULL, &error));
    assert_int_equal(error.version, 5);
    assert_message("SES_ANYWAY");
    char *after = describe(session, 1);
    assert_string_equal(after, before);
    free(after);
    free(before);
    assert_ok(ses_rewind(session, NULL, &anyway, NULL, &error)); /* to the handle's own last event */
    assert_handle_is_current(fixture->store, session);
    assert_state(session, Q("{'app:x':8,'user:y':2,'a':3,'c':{},'given':0}"));
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "6|5\n");
    must_say(fixture->store, &key, "i4", "user", Q("{'a':9}"));
    assert_code(SES_UNCHANGED, ses_rewind(session, AFTER_SEQ(7), &anyway, NULL, &error));
    assert_handle_is_current(fixture->store, session);
}

TEST(a_handle_that_was_cut_under_is_stale_anyway)
{
    const ses_rewind_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    raw_exec(fixture->path, "UPDATE sessions SET version = version + 1");
    assert_code(SES_STALE, ses_rewind(session, LAST_TURN, &anyway, NULL, &error));
    assert_message("events were cut");
    assert_code(SES_STALE, ses_redo(session, &anyway, NULL, &error));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_rewind(session, LAST_TURN, &anyway, NULL, &error));
}

TEST(by_key_at_a_version)
{
    ses_rewind_options at = {.size = sizeof at, .flags = SES_AT_VERSION, .version = 3};

    begin(fixture);
    assert_code(SES_STALE, ses_rewind_by_key(fixture->store, &key, LAST_TURN, &at, NULL, &error));
    assert_int_equal(error.version, 4);
    at.version = 4;
    assert_ok(ses_rewind_by_key(fixture->store, &key, LAST_TURN, &at, NULL, &error));
}

/* -------------------------------------------------------------------------------------------- limits */

/* And leaves the store, with the event that brought it back. */
static void assert_state_comes_back(const struct fixture *fixture, const char *expected)
{
    ses_store *other = NULL;
    ses_import_report report;
    ses_error error;

    for (int i = 0; i < 2; i++) {
        ses_session *session = must_get(i ? other : fixture->store, &key);
        assert_string_equal(support_state(session, NULL), expected);
        ses_session_close(session);
        if (i == 0) {
            struct text lines = exported(fixture->store, NULL);
            assert_ok(ses_open(":memory:", &fixture->options, &other, &error));
            assert_ok(import_text(other, lines.data, lines.len, 0, &report, &error));
            free(lines.data);
        }
    }
    ses_close(other);
}

TEST(a_long_value_comes_back)
{
    char *value = malloc(3000);

    assert_non_null(value);
    memset(value, 'x', 2999);
    value[2999] = '\0';
    char *initial = malloc(3100);
    assert_non_null(initial);
    snprintf(initial, 3100, "{\"long\":\"%s\"}", value);
    must_create(fixture->store, &key, initial);
    must_say(fixture->store, &key, "i1", "user", Q("{'long':0}"));
    fixture->options.max_event_bytes = 3000;
    fixture_reopen(fixture);
    assert_ok(ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
    assert_state_comes_back(fixture, initial);
    free(value);
    free(initial);
}

TEST(a_deep_value_comes_back)
{
    enum { DEPTH = 999 };
    char initial[2 * DEPTH + 16];
    size_t len = (size_t)snprintf(initial, sizeof initial, "{\"deep\":");

    memset(initial + len, '[', DEPTH);
    memset(initial + len + DEPTH, ']', DEPTH);
    memcpy(initial + len + 2 * DEPTH, "}", 2);
    must_create(fixture->store, &key, initial);
    must_say(fixture->store, &key, "i1", "user", Q("{'deep':0}"));
    assert_ok(ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
    assert_state_comes_back(fixture, initial);
}

TEST(the_session_is_full)
{
    begin(fixture);
    fixture->options.max_session_events = 4;
    fixture_reopen(fixture);
    assert_code(SES_LIMIT, ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
    assert_message("max_session_events");
}

static int make_the_same(void *context, char *id, size_t capacity)
{
    (void)context;
    return snprintf(id, capacity, "same") < 0;
}

TEST(an_id_that_was_made_twice)
{
    begin(fixture);
    must_append_by_key(fixture->store, &key, Q("{'id':'same','invocationId':'i3'}"));
    fixture->options.make_id = make_the_same;
    fixture_reopen(fixture);
    assert_code(SES_INVALID,
                ses_rewind_by_key(fixture->store, &key, BEFORE_INVOCATION("i3"), NULL, NULL, &error));
    assert_message("make_id");
}

/* ------------------------------------------------------------------------------------- misuse, damage */

TEST(arguments_are_checked)
{
    const ses_rewind_options unknown = {.size = sizeof unknown, .flags = 0x80};
    const ses_rewind_options version = {.size = sizeof version, .flags = SES_AT_VERSION, .version = 4};
    const ses_rewind_options both = {.size = sizeof both, .flags = SES_AT_VERSION | SES_ANYWAY, .version = 4};
    const ses_key nobody = {"app", "user", "nobody"};

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_code(SES_MISUSE, ses_rewind(NULL, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_redo(NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_rewind(session, NULL, &unknown, NULL, &error));
    assert_code(SES_MISUSE, ses_rewind(session, NULL, &version, NULL, &error));
    assert_code(SES_MISUSE, ses_rewind_by_key(fixture->store, &key, NULL, &both, NULL, &error));
    assert_code(SES_MISUSE, ses_rewind_by_key(NULL, &key, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_redo_by_key(fixture->store, NULL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_rewind_by_key(fixture->store, &nobody, NULL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_redo_by_key(fixture->store, &nobody, NULL, NULL, &error));
    assert_message("nobody");
}

PLAIN_TEST(damage_is_not_rewound)
{
    static const char *const damages[] = {
        "UPDATE session_details SET initial_state = '[]'",
        "DROP TRIGGER guard_events_update; UPDATE events SET body = '[]' WHERE position & 3 = 2",
        "UPDATE events SET invocation_at = CAST(x'ff' AS TEXT) WHERE position & 3 = 3",
        "UPDATE events SET invocation_at = 'a' || char(0) WHERE position & 3 = 3",
        "INSERT INTO session_state VALUES (1, 'app:z', '1', 1)",
        "INSERT INTO session_state VALUES (1, CAST(x'ff' AS TEXT), '1', 1)",
        "INSERT INTO event_marks VALUES (1, 4, 1, 9)",
        "UPDATE sessions SET base_seq = 9",
    };

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct fixture *fixture = NULL;
        fixture_setup((void **)&fixture);
        begin(fixture);
        raw_exec(fixture->path, "DROP TRIGGER guard_session_details_update");
        raw_exec(fixture->path, damages[i]);
        char *before = raw_text(fixture->path, "SELECT * FROM events");
        int code = ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error);
        if (code != SES_CORRUPT) {
            print_error("%s: %d %s\n", damages[i], code, code < 0 ? error.message : "");
            fail();
        }
        char *after = raw_text(fixture->path, "SELECT * FROM events");
        assert_string_equal(after, before);
        free(after);
        free(before);
        fixture_teardown((void **)&fixture);
    }
}
