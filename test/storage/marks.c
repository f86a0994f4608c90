/* The marks of the events that change how a log is read: written with them, gone with their session. */
#include "open.h"

static const ses_key key = {"app", "user", "one"};

static void append(const struct fixture *fixture, const char *event)
{
    must_append_by_key(fixture->store, &key, event);
}

static int marks_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    const ses_key other = {"app", "user", "other"};

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    append(fixture, Q("{'id':'e1','invocationId':'a'}"));
    append(fixture, Q("{'id':'e2','invocationId':'b'}"));
    append(fixture, Q("{'id':'e3','invocationId':'b'}"));
    return failed;
}

static void assert_marks(const struct fixture *fixture, const char *expected)
{
    assert_query(fixture->path, "SELECT session_id, seq, kind, target_seq FROM event_marks", expected);
}

TEST_OF(marks_setup, rewinds_know_where_they_lead)
{
    append(fixture, Q("{'id':'r1','invocationId':'c','actions':{'rewindBeforeInvocationId':'b'}}"));
    append(fixture, Q("{'id':'r2','invocationId':'d','actions':{'rewind_before_invocation_id':'\\u0061'}}"));
    append(fixture, Q("{'id':'r3','actions':{'rewindBeforeInvocationId':'unknown'}}"));
    append(fixture, Q("{'id':'r4','invocationId':'e','actions':{'rewindBeforeInvocationId':'e'}}"));
    assert_marks(fixture, "1|4|1|2\n1|5|1|1\n1|6|1|0\n1|7|1|0\n");
}

TEST_OF(marks_setup, compactions_are_marked)
{
    append(fixture, Q("{'id':'c1','actions':{'compaction':{'startTimestamp':1,'endTimestamp':2}}}"));
    append(fixture, Q("{'id':'c2','invocationId':'x','actions':{'compaction':{},"
                      "'rewindBeforeInvocationId':'a'}}"));
    assert_marks(fixture, "1|4|2|NULL\n1|5|1|1\n");
}

TEST_OF(marks_setup, other_events_are_not)
{
    append(fixture, Q("{'id':'n1','actions':{'rewindBeforeInvocationId':'','compaction':null}}"));
    append(fixture, Q("{'id':'n2','rewindBeforeInvocationId':'a','compaction':{}}"));
    append(fixture, Q("{'id':'n3','actions':{'rewindBeforeInvocationId':null}}"));
    assert_marks(fixture, "");
}

TEST_OF(marks_setup, a_batch_and_its_retry)
{
    const ses_text events[] = {
        {Q("{'id':'e4','invocationId':'c'}"), SES_NUL},
        {Q("{'id':'r','invocationId':'d','actions':{'rewindBeforeInvocationId':'c'}}"), SES_NUL},
    };

    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 2, NULL, NULL, &error));
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 2, NULL, NULL, &error));
    assert_marks(fixture, "1|5|1|4\n");
}

TEST_OF(marks_setup, wrong_types_are_refused)
{
    static const char *const events[][2] = {
        {"{\"actions\":{\"rewindBeforeInvocationId\":5}}",
         "the event's actions.rewindBeforeInvocationId must be a string"},
        {"{\"actions\":{\"compaction\":[]}}", "the event's actions.compaction must be an object"},
        {"{\"actions\":{\"rewindBeforeInvocationId\":\"a\",\"rewind_before_invocation_id\":\"a\"}}", "both"},
    };

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        assert_code(SES_INVALID,
                    ses_append_by_key(fixture->store, &key, events[i][0], SES_NUL, NULL, NULL, &error));
        assert_message(events[i][1]);
    }
}

TEST_OF(marks_setup, a_session_takes_all_its_rows_along)
{
    int64_t deleted = 0;

    append(fixture, Q("{'id':'r','actions':{'rewindBeforeInvocationId':'a'}}"));
    raw_exec(fixture->path, "INSERT INTO session_labels VALUES (1, 'l', 'v', 1), (2, 'l', 'v', 1);"
                            "INSERT INTO session_leases (session_id, owner, taken_us, until_us) VALUES (1, "
                            "'o', 4, 5), (2, 'o', 4, 5);"
                            "INSERT INTO session_details (session_id, title) VALUES (1, 't'), (2, 't');"
                            "INSERT INTO base_state VALUES (1, 'k', '1', 1), (2, 'k', '1', 1);"
                            "INSERT INTO session_drafts VALUES (1, 4, 'd'), (2, 4, 'd');"
                            "INSERT INTO session_inbox VALUES (1, 1, 1, 'r', 4, '1'), (2, 2, 1, 'r', 4, '1');"
                            "INSERT INTO event_marks VALUES (2, 1, 2, NULL);");
    assert_ok(ses_delete(fixture->store, &key, NULL, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_query(
        fixture->path,
        "SELECT group_concat(session_id) FROM (SELECT session_id FROM session_labels UNION ALL"
        " SELECT session_id FROM session_leases UNION ALL SELECT session_id FROM session_details UNION ALL"
        " SELECT session_id FROM base_state UNION ALL SELECT session_id FROM event_marks UNION ALL"
        " SELECT session_id FROM session_drafts UNION ALL SELECT session_id FROM session_inbox)",
        "2,2,2,2,2,2,2\n");
    assert_sound(fixture->path);
}
