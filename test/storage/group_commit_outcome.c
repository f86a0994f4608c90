/* Group commit: of those who share a commit, each has its own result. */
#include "group.h"

COMMIT_TEST(those_who_wait_share_one_commit)
{
    enum { COUNT = 8 };
    struct call what[COUNT];

    for (int i = 0; i < COUNT; i++)
        what[i] = APPEND_TO("a");
    append(fixture->store, "b", "{}"); /* the write-ahead file has its head */
    slow_vfs_set_delay(2000);
    ses_stats before = statistics(fixture->store);
    long syncs = slow_vfs_syncs();
    run_group(fixture->store, what, COUNT, COMMIT_IS_REAL);
    syncs = slow_vfs_syncs() - syncs;
    ses_stats after = statistics(fixture->store);
    assert_int_equal(after.commits - before.commits, 2);
    assert_int_equal(syncs, 2);
    assert_int_equal(after.events - before.events, COUNT + 1);
    assert_int_equal(after.write_calls - before.write_calls, COUNT + 1);
    assert_int_equal(after.write_waits - before.write_waits, COUNT);
    for (int i = 0; i < COUNT; i++) { /* in the order in which they came */
        assert_int_equal(calls[i].code, SES_OK);
        assert_int_equal(calls[i].appended.seq, i + 1);
        assert_int_equal(calls[i].appended.version, i + 1);
    }
    assert_int_equal(stored(fixture->store, "a"), COUNT);
}

/* The session "d" is given its last but one number, so that a batch of two ends with LIMIT after it has
 * written. */
static void use_up_numbers(const char *path)
{
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(handle,
                     "UPDATE sessions SET last_seq = 4294967294, version = 4294967294, event_count = 0 "
                     "WHERE name = 'd'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

COMMIT_TEST(each_member_has_its_own_result)
{
    const struct call what[] = {
        APPEND_TO("a"),
        {.kind = APPEND, .session_id = "b", .text = Q("{'id':'taken','timestamp':2}")}, /* EXISTS */
        {.kind = BATCH_OF_TWO,
         .session_id = "b",
         .text = Q("{'id':'taken','timestamp':2}")}, /* after writing */
        APPEND_TO("b"),
        {.kind = APPEND_AT_VERSION,
         .session_id = "a",
         .text = "{}",
         .version = 0},                                          /* STALE: the first was faster */
        {.kind = BATCH_OF_TWO, .session_id = "d", .text = "{}"}, /* LIMIT, after writing */
        APPEND_TO("none"),                                       /* NOTFOUND */
        {.kind = APPEND_AT_VERSION, .session_id = "a", .text = "{}", .version = 1},
        {.kind = CREATE, .session_id = "new", .text = Q("{'user:k':1}")},
        {.kind = CREATE, .session_id = "new", .text = Q("{'user:k':2}")}, /* EXISTS: the one before */
        {.kind = DELETE, .session_id = "c"},
        APPEND_TO("c"), /* NOTFOUND: deleted by the one before */
        {.kind = BATCH_OF_TWO, .session_id = "new", .text = "{}"},
    };
    static const int codes[] = {SES_OK, SES_EXISTS, SES_EXISTS, SES_OK, SES_STALE,    SES_LIMIT, SES_NOTFOUND,
                                SES_OK, SES_OK,     SES_EXISTS, SES_OK, SES_NOTFOUND, SES_OK};
    enum { COUNT = sizeof what / sizeof what[0] };
    const ses_key fresh = {"app", "user", "new"};
    char *json = NULL;

    append(fixture->store, "b", Q("{'id':'taken','timestamp':1}"));
    use_up_numbers(fixture->path);
    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, COUNT, COMMIT_IS_REAL);
    ses_stats after = statistics(fixture->store);
    for (size_t i = 0; i < COUNT; i++) {
        if (calls[i].code != codes[i])
            print_error("member %zu: %s %s\n", i, ses_code_name(calls[i].code), calls[i].error.message);
        assert_int_equal(calls[i].code, codes[i]);
        assert_int_equal(calls[i].error.code, codes[i] < 0 ? codes[i] : 0);
        assert_true((calls[i].error.message[0] != '\0') == (codes[i] < 0));
    }
    assert_int_equal(calls[2].error.index, 1);
    assert_int_equal(calls[10].deleted, 1);
    assert_int_equal(after.commits - before.commits, 2);
    assert_int_equal(after.events - before.events, 1 + 1 + 1 + 1 + 2);
    assert_int_equal(stored(fixture->store, "a"), 2);
    assert_int_equal(stored(fixture->store, "b"), 2);
    assert_int_equal(stored(fixture->store, "c"), -1);
    assert_int_equal(stored(fixture->store, "new"), 2);
    assert_ok(ses_state_get_by_key(fixture->store, &fresh, "user:k", NULL, &json, NULL, &error));
    assert_string_equal(json, "1");
    ses_free(json);
}

/* The foreign key of a table that is not the store's is looked at when they commit: only the one that breaks
 * it fails. */
COMMIT_TEST(a_member_that_breaks_a_rule_of_others)
{
    enum { COUNT = 5 };
    const struct call what[COUNT] = {
        APPEND_TO("a"),
        {.kind = DELETE, .session_id = "c"},
        {.kind = CREATE, .session_id = "new", .text = "{}"},
        {.kind = CREATE, .session_id = "new", .text = "{}"}, /* EXISTS: the one before */
        {.kind = DELETE, .session_id = "d"},
    };
    static const int codes[COUNT] = {SES_OK, SES_CONSTRAINT, SES_OK, SES_EXISTS, SES_OK};
    sqlite3 *handle = NULL;

    assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle,
                                  "CREATE TABLE notes (s REFERENCES Sessions DEFERRABLE INITIALLY DEFERRED,"
                                  " t REFERENCES sessions ON DELETE CASCADE);"
                                  "INSERT INTO notes (s) SELECT id FROM sessions WHERE name = 'c';"
                                  "INSERT INTO notes (t) SELECT id FROM sessions WHERE name = 'd'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, COUNT, COMMIT_IS_REAL);
    ses_stats after = statistics(fixture->store);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(calls[i].code, codes[i]);
        assert_int_equal(calls[i].error.code, codes[i] < 0 ? codes[i] : 0);
    }
    assert_non_null(strstr(calls[1].error.message, "(notes)"));
    assert_int_equal(after.events - before.events, 1 + 1);
    assert_int_equal(stored(fixture->store, "a"), 1);
    assert_int_equal(stored(fixture->store, "c"), 0);
    assert_int_equal(stored(fixture->store, "d"), -1);
    assert_int_equal(stored(fixture->store, "new"), 0);
}

COMMIT_TEST(a_retry_in_the_same_group)
{
    const struct call same = {.kind = APPEND, .session_id = "a", .text = Q("{'id':'e','timestamp':1}")};
    const struct call what[] = {same, same, APPEND_TO("a"), same};

    run_group(fixture->store, what, 4, COMMIT_IS_REAL);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[1].code, SES_DUPLICATE);
    assert_int_equal(calls[2].code, SES_OK);
    assert_int_equal(calls[3].code, SES_DUPLICATE);
    assert_int_equal(calls[3].appended.seq, 1);
    assert_int_equal(stored(fixture->store, "a"), 2);
}

/* A rewind that was made elsewhere looks up the events that it takes back before it joins the writer's queue.
 * Calls ahead of it in the queue prune those events, or put another event in their place. */
COMMIT_TEST(a_rewind_whose_target_is_gone)
{
    static const struct call between[] = {{.kind = PRUNE, .session_id = "a", .version = 2},
                                          {.kind = CUT, .session_id = "a", .version = 1}};
    static const char *const invocations[] = {"i", "j", "k"};
    char event[100];

    for (size_t i = 0; i < 2; i++) {
        const struct call what[] = {
            between[i],
            {.kind = APPEND, .session_id = "a", .text = Q("{'invocationId':'n'}")},
            {.kind = APPEND, .session_id = "a", .text = Q("{'actions':{'rewindBeforeInvocationId':'j'}}")},
        };
        const ses_key key = {"app", "user", "a"};
        const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
        ses_session *session = NULL;
        must_delete(fixture->store, &key);
        create(fixture->store, "a");
        for (size_t j = 0; j < 3; j++) {
            snprintf(event, sizeof event, "{\"invocationId\":\"%s\"}", invocations[j]);
            append(fixture->store, "a", event);
        }
        run_group(fixture->store, what, 3, COMMIT_IS_REAL);
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(calls[j].code, SES_OK);
        assert_ok(ses_get(fixture->store, &key, GET_RANGE(&live), &session, &error));
        assert_int_equal(ses_session_event_count(session), 2); /* it takes nothing back */
        ses_session_close(session);
    }
}

/* A prune or a cut uses up its plan when it is carried out, but may be rolled back with its group. */
COMMIT_TEST(prunes_and_cuts_that_are_carried_out_twice)
{
    static const char *const ids[] = {"a", "b"};
    static const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const struct call what[] = {
        {.kind = PRUNE, .session_id = "a", .version = 1},
        {.kind = CUT, .session_id = "b", .version = 1},
        {.kind = BATCH_OF_TWO, .session_id = "d", .text = "{}"}, /* LIMIT, after writing */
    };

    for (size_t i = 0; i < 2; i++) {
        append(fixture->store, ids[i], Q("{'actions':{'stateDelta':{'k':1,'gone':1}}}"));
        append(fixture->store, ids[i], Q("{'actions':{'stateDelta':{'k':2,'gone':null,'new':2}}}"));
    }
    use_up_numbers(fixture->path);
    run_group(fixture->store, what, 3, COMMIT_IS_REAL);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[1].code, SES_OK);
    assert_int_equal(calls[2].code, SES_LIMIT);
    for (size_t i = 0; i < 2; i++) {
        const ses_key key = {"app", "user", ids[i]};
        char *json = NULL;
        assert_int_equal(calls[i].deleted, 1);
        assert_ok(ses_state_json_as_of_by_key(fixture->store, &key, &first, NULL, &json, NULL, &error));
        assert_string_equal(json, Q("{'gone':1,'k':1}"));
        ses_free(json);
    }
}

/* No event is stored, and no call reports success. No call reports EXISTS or STALE because of an event that
 * was undone. */
static void fail_commit(struct fixture *fixture, enum commit_does how)
{
    const ses_key key = {"app", "user", "b"};

    ses_session *session = must_get(fixture->store, &key);
    const struct call what[] = {
        APPEND_TO("a"),
        {.kind = APPEND_TO_HANDLE,
         .session = session,
         .text = Q("{'actions':{'stateDelta':{'temp:t':1,'k':1}}}")},
        {.kind = APPEND, .session_id = "a", .text = Q("{'id':'e','timestamp':1}")},
        {.kind = APPEND, .session_id = "a", .text = Q("{'id':'e','timestamp':1}")}, /* would be DUPLICATE */
        {.kind = APPEND, .session_id = "a", .text = Q("{'id':'e','timestamp':2}")}, /* would be EXISTS */
        {.kind = APPEND_AT_VERSION, .session_id = "a", .text = "{}", .version = 0}, /* would be STALE */
        {.kind = CREATE, .session_id = "new", .text = "{}"},
        {.kind = CREATE, .session_id = "new", .text = "{}"}, /* would be EXISTS */
        {.kind = DELETE, .session_id = "c"},
        APPEND_TO("c"), /* would be NOTFOUND */
    };
    enum { COUNT = sizeof what / sizeof what[0] };

    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, COUNT, how);
    ses_stats after = statistics(fixture->store);
    for (size_t i = 0; i < COUNT; i++) {
        if (calls[i].code != SES_IO)
            print_error("member %zu: %s\n", i, ses_code_name(calls[i].code));
        assert_int_equal(calls[i].code, SES_IO);
        assert_int_equal(calls[i].error.code, SES_IO);
    }
    assert_int_equal(after.events - before.events, 1); /* the leader's */
    assert_int_equal(stored(fixture->store, "leader"), 1);
    assert_int_equal(stored(fixture->store, "a"), 0);
    assert_int_equal(stored(fixture->store, "b"), 0);
    assert_int_equal(stored(fixture->store, "c"), 0);
    assert_int_equal(stored(fixture->store, "new"), -1);
    assert_int_equal(ses_session_version(session), 0); /* the handle is as before */
    assert_int_equal(ses_session_event_count(session), 0);
    assert_string_equal(support_state(session, NULL), "{}");

    must_append(session, "{}"); /* and both can be used */
    append(fixture->store, "a", "{}");
    assert_int_equal(stored(fixture->store, "a"), 1);
    assert_int_equal(stored(fixture->store, "b"), 1);
    ses_session_close(session);
}

COMMIT_TEST(a_commit_that_fails)
{
    fail_commit(fixture, COMMIT_FAILS);
}

COMMIT_TEST(a_commit_that_fails_and_rolls_back)
{
    fail_commit(fixture, COMMIT_FAILS_AND_ROLLS_BACK);
}

/* SQLite has rolled back everything, including the work of the others, which is then done again. */
COMMIT_TEST(a_member_that_undoes_all)
{
    const struct call marked = {.kind = APPEND, .session_id = "d", .text = Q("{'id':'marked'}")};
    const struct call what[] = {APPEND_TO("a"),
                                marked,
                                {.kind = CREATE, .session_id = "new", .text = Q("{'app:k':1}")},
                                {.kind = BATCH_OF_TWO, .session_id = "a", .text = Q("{'id':'e'}")},
                                marked,
                                {.kind = DELETE, .session_id = "c"}};

    atomic_store(&fail_marked, true);
    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, 6, COMMIT_IS_REAL);
    ses_stats after = statistics(fixture->store);
    for (int i = 0; i < 6; i++)
        assert_int_equal(calls[i].code, i == 1 || i == 4 ? SES_FULL : SES_OK);
    assert_int_equal(after.events - before.events, 1 + 3);
    assert_int_equal(after.commits - before.commits, 2);
    assert_int_equal(stored(fixture->store, "a"), 3);
    assert_int_equal(stored(fixture->store, "d"), 0);
    assert_int_equal(stored(fixture->store, "new"), 0);
    assert_int_equal(stored(fixture->store, "c"), -1);
}

/* It cannot be done again either, because no new transaction begins. Nothing of the group is stored then. */
COMMIT_TEST(a_member_that_undoes_all_for_good)
{
    const struct call what[] = {
        APPEND_TO("a"),
        {.kind = APPEND, .session_id = "d", .text = "{\"id\":\"marked\"}"},
        APPEND_TO("b"), /* not yet in the group: the next begins with it */
    };

    atomic_store(&fail_marked, true);
    atomic_store(&fails_after_marked, "BEGIN IMMEDIATE");
    run_group(fixture->store, what, 3, COMMIT_IS_REAL);
    assert_int_equal(calls[0].code, SES_IO);
    assert_int_equal(calls[1].code, SES_FULL);
    assert_int_equal(calls[2].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 0);
    assert_int_equal(stored(fixture->store, "b"), 1);
}

/* A call failed with EXISTS because of another call's session. When that session is undone, the call creates
 * its own. */
COMMIT_TEST(a_failure_that_was_due_to_what_is_undone)
{
    const struct call what[] = {
        APPEND_TO("a"),
        {.kind = CREATE, .session_id = "new", .text = "{\"k\":1}"},
        {.kind = CREATE, .session_id = "new", .text = "{\"k\":2}"}, /* EXISTS, at first */
        {.kind = APPEND, .session_id = "d", .text = "{\"id\":\"marked\"}"},
    };
    const ses_key fresh = {"app", "user", "new"};
    char *json = NULL;

    atomic_store(&fail_marked, true);
    atomic_store(&fails_after_marked, "INSERT INTO sessions");
    run_group(fixture->store, what, 4, COMMIT_IS_REAL);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[1].code, SES_IO);
    assert_int_equal(calls[2].code, SES_OK);
    assert_string_equal(calls[2].error.message, "");
    assert_int_equal(calls[3].code, SES_FULL);
    assert_int_equal(stored(fixture->store, "a"), 1);
    assert_ok(ses_state_get_by_key(fixture->store, &fresh, "k", NULL, &json, NULL, &error));
    assert_string_equal(json, "2");
    ses_free(json);
}

BEFORE_TESTS()
{
    assert_int_equal(slow_vfs_install(), SQLITE_OK);
}
