/* A new session that begins as the log of another was at a point. */
#include "history.h"

static const ses_key copy = {"app", "user", "copy"};

static void begin(const struct fixture *fixture)
{
    must_create(fixture->store, &key, Q("{'a':1,'given':[1, 2],'app:x':1,'user:y':1}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':2,'b':1.10}"));
    must_say(fixture->store, &key, "i1", "agent", Q("{'again':5}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'given':'__ADK_SENTINEL_REMOVED__','again':5}"));
    must_say(fixture->store, &key, "i2", "agent", Q("{'a':3,'c':{},'app:x':2,'user:y':2}"));
}

static void must_fork(const struct fixture *fixture, const ses_key *from, const ses_point *point,
                      const ses_key *to)
{
    ses_error error;
    assert_ok(ses_fork_by_key(fixture->store, from, point, to, NULL, NULL, &error));
}

/* The first `count` events of both are the same in everything. */
static void assert_same_events(ses_store *store, const ses_key *left, const ses_key *right, size_t count)
{
    ses_session *a = must_get(store, left);
    ses_session *b = must_get(store, right);

    assert_true(ses_session_event_count(a) >= count);
    assert_true(ses_session_event_count(b) >= count);
    for (size_t i = 0; i < count; i++) {
        const ses_event *x = ses_session_event(a, i);
        const ses_event *y = ses_session_event(b, i);
        assert_int_equal(x->seq, y->seq);
        assert_int_equal(x->time_us, y->time_us);
        assert_string_equal(x->id, y->id);
        assert_string_equal(x->invocation_id, y->invocation_id);
        assert_string_equal(x->author, y->author);
        assert_string_equal(x->json, y->json);
    }
    ses_session_close(a);
    ses_session_close(b);
}

#define assert_rows(fixture, id, expected)                                                            \
    assert_query((fixture)->path,                                                                     \
                 "SELECT key, value, seq FROM session_state WHERE session_id = " #id " ORDER BY key", \
                 expected)

/* ---------------------------------------------------------------------------------------- what it does */

TEST(a_fork_of_the_whole_log)
{
    const ses_key *parent = NULL;
    int64_t seq = 0;
    ses_session *fork = NULL;

    begin(fixture);
    fixture->now += 5000000;
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &copy, NULL, &fork, &error));
    assert_handle_is_current(fixture->store, fork);
    assert_string_equal(ses_session_id(fork), "copy");
    assert_int_equal(ses_session_last_seq(fork), 4);
    assert_int_equal(ses_session_stored(fork), 4);
    assert_int_equal(ses_session_created_us(fork), fixture->now);
    assert_int_equal(ses_session_updated_us(fork), fixture->now);
    assert_int_equal(ses_session_expires_us(fork), INT64_MAX);
    parent = ses_session_parent(fork, &seq);
    assert_non_null(parent);
    assert_string_equal(parent->app, "app");
    assert_string_equal(parent->user, "user");
    assert_string_equal(parent->session, "session");
    assert_int_equal(seq, 4);
    assert_same_events(fixture->store, &key, &copy, 4);
    assert_state(fork, Q("{'app:x':2,'user:y':2,'a':3,'again':5,'b':1.10,'c':{}}"));
    assert_rows(fixture, 2, "a|3|4\nagain|5|3\nb|1.10|1\nc|{}|4\n");
    must_append(fork, Q("{'invocationId':'i3','actions':{'stateDelta':{'a':9}}}"));
    assert_int_equal(ses_session_last_seq(fork), 5);
    assert_string_equal(stored_seqs(fixture->store, &key), "1 2 3 4");
    ses_session_close(fork);
    assert_sound(fixture->path);
}

TEST(a_fork_from_every_point)
{
    begin(fixture);
    for (int seq = 0; seq <= 4; seq++) {
        char name[16];
        const ses_key to = {"app", "user", name};
        snprintf(name, sizeof name, "copy %d", seq);
        must_fork(fixture, &key, AFTER_SEQ(seq), &to);
        assert_same_events(fixture->store, &key, &to, (size_t)seq);
        ses_session *fork = must_get(fixture->store, &to);
        assert_int_equal(ses_session_event_count(fork), seq);
        assert_int_equal(ses_session_last_seq(fork), seq);
        ses_session_close(fork);
        for (int past = 0; past <= seq; past++) {
            char expected[8192];
            snprintf(expected, sizeof expected, "%s", as_of(fixture->store, &key, AFTER_SEQ(past)));
            assert_as_of(fixture->store, &to, AFTER_SEQ(past), expected);
        }
    }
    assert_query(fixture->path,
                 "SELECT count(*) FROM sessions AS s WHERE (SELECT count(*) FROM session_state AS t WHERE "
                 "t.session_id = s.id AND t.seq > s.last_seq) > 0",
                 "0\n");
    assert_rows(fixture, 4, "a|2|1\nagain|5|2\nb|1.10|1\ngiven|[1, 2]|0\n");
}

TEST(history_goes_on_in_the_fork)
{
    char *json = NULL;

    begin(fixture);
    must_rewind(fixture->store, &key, LAST_TURN);
    must_append_by_key(fixture->store, &key, Q("{'invocationId':'c','actions':{'compaction':{}}}"));
    must_fork(fixture, &key, AFTER_SEQ(5), &copy);
    must_delete(fixture->store, &key);
    assert_query(fixture->path, "SELECT * FROM event_marks", "2|5|1|3\n");
    assert_ok(ses_redo_by_key(fixture->store, &copy, NULL, NULL, &error));
    assert_stored_state(fixture->store, &copy, Q("{'app:x':2,'user:y':2,'a':3,'again':5,'b':1.10,'c':{}}"));
    must_rewind(fixture->store, &copy, AFTER_SEQ(0));
    assert_stored_state(fixture->store, &copy, Q("{'app:x':2,'user:y':2,'a':1,'given':[1, 2]}"));
    assert_ok(ses_cut_by_key(fixture->store, &copy, AFTER_SEQ(1), NULL, NULL, &error));
    assert_rows(fixture, 2, "a|2|1\nb|1.10|1\ngiven|[1, 2]|0\n");
    assert_ok(ses_state_json_initial_by_key(fixture->store, &copy, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'a':1,'given':[1, 2],'app:x':1,'user:y':1}"));
    ses_free(json);
}

TEST(shared_keys_are_not_written_again)
{
    const ses_key other = {"app", "user", "other"};

    begin(fixture);
    must_create(fixture->store, &other, Q("{'app:x':7,'user:y':7}"));
    must_fork(fixture, &key, AFTER_SEQ(4), &copy);
    assert_stored_state(fixture->store, &copy, Q("{'app:x':7,'user:y':7,'a':3,'again':5,'b':1.10,'c':{}}"));
}

TEST(title_labels_and_expiry_are_copied)
{
    begin(fixture);
    raw_exec(fixture->path,
             "UPDATE session_details SET title = 'T', more = '{}';"
             "INSERT INTO session_labels VALUES (1, 'l', 'v', 1), (1, 'm', 'w', 1);"
             "INSERT INTO session_leases (session_id, owner, taken_us, until_us) VALUES (1, 'o', 4, 5);"
             "UPDATE sessions SET details = 6, expires_us = 4000000000000000");
    must_fork(fixture, &key, AFTER_SEQ(2), &copy);
    assert_query(fixture->path,
                 "SELECT title, parent_user, parent_session, parent_seq, more FROM session_details WHERE "
                 "session_id = 2",
                 "T|user|session|2|NULL\n");
    assert_query(fixture->path, "SELECT * FROM session_labels WHERE session_id = 2", "2|l|v|1\n2|m|w|1\n");
    assert_query(fixture->path, "SELECT details, expires_us FROM sessions WHERE id = 2",
                 "7|4000000000000000\n");
    assert_query(fixture->path, "SELECT session_id FROM session_leases", "1\n");
}

/* So that a copy is not kept longer than what was copied. */
TEST(a_fork_expires_when_the_original_does)
{
    const int64_t soon = fixture->now + 1000;
    const int64_t later = fixture->now + 9000;
    const int64_t never = INT64_MAX;
    const struct {
        const int64_t *given;
        int64_t expires_us;
    } cases[] = {{NULL, soon}, {&later, later}, {&never, INT64_MAX}, {&soon, soon}};
    int64_t deleted = 0;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_ok(ses_expiry_set_by_key(fixture->store, &key, &soon, NULL, &error)); /* the handle shows none */
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        const ses_fork_options options = {.size = sizeof options, .expires_us = cases[i / 2].given};
        ses_session *fork = NULL;
        assert_ok(i % 2 == 0
                      ? ses_fork(session, NULL, &copy, &options, &fork, &error)
                      : ses_fork_by_key(fixture->store, &key, AFTER_SEQ(2), &copy, &options, &fork, &error));
        assert_int_equal(ses_session_expires_us(fork), cases[i / 2].expires_us);
        assert_handle_is_current(fixture->store, fork);
        ses_session_close(fork);
        must_delete(fixture->store, &copy);
    }
    fixture->now = soon; /* it may expire now, and so may a copy of it */
    const ses_fork_options at_once = {.size = sizeof at_once, .expires_us = &soon};
    assert_code(SES_INVALID, ses_fork(session, NULL, &copy, &at_once, NULL, &error));
    assert_ok(ses_fork(session, NULL, &copy, NULL, NULL, &error));
    assert_ok(ses_store_expire(fixture->store, NULL, NULL, &deleted, &error));
    assert_int_equal(deleted, 2);
    assert_code(SES_NOTFOUND, ses_refresh(session, NULL, &error));
}

/* The update time follows the last event that was copied, also when that is later than the creation. */
TEST(times)
{
    const int64_t early = INT64_C(1500000000000000);
    const ses_fork_options options = {.size = sizeof options, .created_us = &early};
    const ses_key second = {"app", "user", "second"};
    ses_session *fork = NULL;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'timestamp':1800000000,'invocationId':'a'}"));
    must_append_by_key(fixture->store, &key, Q("{'timestamp':1600000000,'invocationId':'b'}"));
    must_append_by_key(fixture->store, &key, Q("{'timestamp':1900000000,'invocationId':'c'}"));
    assert_ok(ses_fork_by_key(fixture->store, &key, AFTER_SEQ(2), &copy, &options, &fork, &error));
    assert_int_equal(ses_session_created_us(fork), early);
    assert_int_equal(ses_session_updated_us(fork), INT64_C(1800000000000000));
    ses_session_close(fork);
    assert_ok(ses_fork_by_key(fixture->store, &key, AFTER_SEQ(0), &second, &options, &fork, &error));
    assert_int_equal(ses_session_updated_us(fork), early);
    ses_session_close(fork);
    assert_query(fixture->path, "SELECT active_30s = updated_us / 30000000 FROM sessions", "1\n1\n1\n");
}

TEST(gaps_stay)
{
    begin(fixture);
    assert_ok(ses_cut_by_key(fixture->store, &key, AFTER_SEQ(2), NULL, NULL, &error));
    must_say(fixture->store, &key, "i3", "user", Q("{'a':7}"));
    must_fork(fixture, &key, NULL, &copy);
    assert_string_equal(stored_seqs(fixture->store, &copy), "1 2 5");
    assert_query(fixture->path, "SELECT last_seq, event_count FROM sessions", "5|3\n5|3\n");
    const ses_key shorter = {"app", "user", "shorter"};
    must_fork(fixture, &key, AFTER_SEQ(4), &shorter);
    assert_query(fixture->path, "SELECT last_seq, event_count FROM sessions WHERE name = 'shorter'", "2|2\n");
    assert_query(fixture->path, "SELECT parent_seq FROM session_details WHERE session_id = 3", "2\n");
}

TEST(a_pruned_log)
{
    const ses_key base = {"app", "user", "base"};

    begin(fixture);
    raw_exec(fixture->path,
             "DELETE FROM events WHERE position & 4294967295 <= 2;"
             "INSERT INTO base_state VALUES (1, 'a', '2', 1), (1, 'b', '1.10', 1), (1, 'given', "
             "'[1, 2]', 0), (1, 'again', '5', 2), (1, 'app:x', '1', 0);"
             "UPDATE sessions SET base_seq = 2, event_count = 2");
    assert_code(SES_NOTFOUND, ses_fork_by_key(fixture->store, &key, AFTER_SEQ(1), &copy, NULL, NULL, &error));
    must_fork(fixture, &key, NULL, &copy);
    must_fork(fixture, &key, AFTER_SEQ(2), &base);
    assert_string_equal(stored_seqs(fixture->store, &copy), "3 4");
    assert_string_equal(stored_seqs(fixture->store, &base), "");
    assert_query(fixture->path, "SELECT base_seq, last_seq, event_count FROM sessions",
                 "2|4|2\n2|4|2\n2|2|0\n");
    assert_as_of(fixture->store, &copy, AFTER_SEQ(2), Q("{'a':2,'again':5,'b':1.10,'given':[1, 2]}"));
    assert_as_of(fixture->store, &copy, NULL, Q("{'a':3,'again':5,'b':1.10,'c':{}}"));
    assert_rows(fixture, 3, "a|2|1\nagain|5|2\nb|1.10|1\ngiven|[1, 2]|0\n");
    must_say(fixture->store, &base, "i5", "user", Q("{'a':5}"));
    assert_string_equal(stored_seqs(fixture->store, &base), "3");
    assert_as_of(fixture->store, &base, NULL, Q("{'a':5,'again':5,'b':1.10,'given':[1, 2]}"));
}

/* -------------------------------------------------------------------------------------------- targets */

TEST(an_id_is_made)
{
    const ses_key nameless = {"app", "user", NULL};

    begin(fixture);
    for (int i = 0; i < 2; i++) {
        ses_session *fork = NULL;
        assert_ok(ses_fork_by_key(fixture->store, &key, NULL, i ? &nameless : NULL, NULL, &fork, &error));
        assert_int_equal(strlen(ses_session_id(fork)), 36);
        assert_string_equal(ses_session_user(fork), "user");
        assert_int_equal(ses_session_event_count(fork), 4);
        ses_session_close(fork);
    }
}

TEST(another_user_only_when_told)
{
    const ses_key theirs = {"app", "other user", "copy"};
    const ses_fork_options told = {.size = sizeof told, .flags = SES_FORK_OTHER_USER};
    const ses_key *parent = NULL;
    ses_session *fork = NULL;

    begin(fixture);
    assert_code(SES_INVALID, ses_fork_by_key(fixture->store, &key, NULL, &theirs, NULL, &fork, &error));
    assert_message("SES_FORK_OTHER_USER");
    assert_null(fork);
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &theirs, &told, &fork, &error));
    parent = ses_session_parent(fork, NULL);
    assert_string_equal(parent->user, "user");
    assert_state(fork, Q("{'app:x':2,'a':3,'again':5,'b':1.10,'c':{}}"));
    ses_session_close(fork);
}

TEST(a_refused_call_changes_nothing)
{
    ses_store *store = fixture->store;
    const ses_key elsewhere = {"other app", "user", "copy"};
    const ses_key there = {"app", "user", "there"};
    const ses_key nobody = {"app", "user", "nobody"};
    const ses_key nameless = {"app", "user", ""};
    const ses_fork_options unknown = {.size = sizeof unknown, .flags = 0x80};
    const ses_fork_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY}; /* of another call */
    const int64_t far = INT64_MAX;
    const ses_fork_options late = {.size = sizeof late, .created_us = &far};
    ses_session *fork = NULL;

    begin(fixture);
    must_create(store, &there, Q("{'t':1}"));
    char *before = raw_text(fixture->path, "SELECT * FROM sessions");
    assert_code(SES_EXISTS, ses_fork_by_key(store, &key, NULL, &key, NULL, &fork, &error));
    assert_code(SES_EXISTS, ses_fork_by_key(store, &key, AFTER_SEQ(1), &there, NULL, &fork, &error));
    assert_message("app/user/there");
    assert_code(SES_INVALID, ses_fork_by_key(store, &key, NULL, &elsewhere, NULL, &fork, &error));
    assert_message("\"app\"");
    assert_code(SES_INVALID, ses_fork_by_key(store, &key, NULL, &nameless, NULL, &fork, &error));
    assert_code(SES_INVALID, ses_fork_by_key(store, &key, NULL, &copy, &late, &fork, &error));
    assert_code(SES_MISUSE, ses_fork_by_key(store, &key, NULL, &copy, &unknown, &fork, &error));
    assert_code(SES_MISUSE, ses_fork_by_key(store, &key, NULL, &copy, &anyway, &fork, &error));
    assert_code(SES_MISUSE, ses_fork_by_key(store, NULL, NULL, &copy, NULL, &fork, &error));
    assert_code(SES_MISUSE, ses_fork(NULL, NULL, &copy, NULL, &fork, &error));
    assert_code(SES_NOTFOUND, ses_fork_by_key(store, &nobody, NULL, &copy, NULL, &fork, &error));
    assert_code(SES_NOTFOUND, ses_fork_by_key(store, &key, AFTER_SEQ(5), &copy, NULL, &fork, &error));
    assert_code(SES_NOTFOUND, ses_fork_by_key(store, &key, AFTER_EVENT("no"), &copy, NULL, &fork, &error));
    char *after = raw_text(fixture->path, "SELECT * FROM sessions");
    assert_string_equal(after, before);
    free(after);
    free(before);
    fixture->options.max_session_events = 3;
    fixture_reopen(fixture);
    assert_code(SES_LIMIT, ses_fork_by_key(fixture->store, &key, NULL, &copy, NULL, &fork, &error));
    assert_message("max_session_events");
    assert_null(fork);
    must_fork(fixture, &key, AFTER_SEQ(3), &copy);
}

/* ------------------------------------------------------------------------------------------- handles */

TEST(from_a_handle)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 2};
    const ses_fork_options options = {.size = sizeof options, .range = &newest};
    const ses_key second = {"app", "user", "second"};
    ses_session *fork = NULL;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    must_say(fixture->store, &key, "i3", "user", Q("{'a':8}"));
    assert_ok(ses_fork(session, NULL, &copy, &options, &fork, &error)); /* as the handle knows it */
    assert_int_equal(ses_session_last_seq(fork), 4);
    assert_int_equal(ses_session_event_count(fork), 2);
    assert_int_equal(ses_session_event(fork, 0)->seq, 3);
    assert_state(fork, Q("{'app:x':2,'user:y':2,'a':3,'again':5,'b':1.10,'c':{}}"));
    ses_session_close(fork);
    assert_ok(ses_fork(session, AFTER_SEQ(5), &second, NULL, NULL, &error));
    assert_string_equal(stored_seqs(fixture->store, &second), "1 2 3 4 5");
    assert_ok(ses_cut_by_key(fixture->store, &key, AFTER_SEQ(4), NULL, NULL, &error));
    assert_code(SES_STALE, ses_fork(session, NULL, NULL, NULL, NULL, &error));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_fork(session, NULL, NULL, NULL, NULL, &error));
}

TEST(a_fork_of_a_fork)
{
    const ses_key second = {"app", "user", "second"};
    ses_session *fork = NULL;
    int64_t seq = 0;

    begin(fixture);
    must_fork(fixture, &key, AFTER_SEQ(3), &copy);
    must_say(fixture->store, &copy, "j", "user", Q("{'j':1}"));
    assert_ok(ses_fork_by_key(fixture->store, &copy, NULL, &second, NULL, &fork, &error));
    assert_string_equal(ses_session_parent(fork, &seq)->session, "copy");
    assert_int_equal(seq, 4);
    assert_as_of(fixture->store, &second, NULL, Q("{'a':2,'again':5,'b':1.10,'j':1}"));
    assert_as_of(fixture->store, &second, AFTER_SEQ(0), Q("{'a':1,'given':[1, 2]}"));
    ses_session_close(fork);
}

/* -------------------------------------------------------------------------------------------- damage */

PLAIN_TEST(damage_is_not_copied)
{
    static const char *const damages[] = {
        "UPDATE session_details SET initial_state = '[]'",
        "UPDATE sessions SET event_count = 3",
        "UPDATE sessions SET last_seq = 3, event_count = 3; DELETE FROM events WHERE position & 7 = 1",
        "DELETE FROM events WHERE position & 7 = 2",
        "INSERT INTO event_marks VALUES (1, 3, 1, 3)",
        "UPDATE sessions SET base_seq = 1, event_count = 3; DELETE FROM events WHERE position & 7 = 1; "
        "INSERT "
        "INTO base_state VALUES (1, 'k', '1', 3)",
        "UPDATE events SET high_us = 1 WHERE position & 7 = 4",
    };

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct fixture *fixture = NULL;
        fixture_setup((void **)&fixture);
        begin(fixture);
        raw_exec(fixture->path, "DROP TRIGGER guard_session_details_update");
        raw_exec(fixture->path, damages[i]);
        int code = ses_fork_by_key(fixture->store, &key, NULL, &copy, NULL, NULL, &error);
        if (code != SES_CORRUPT) {
            print_error("%s: %d %s\n", damages[i], code, code < 0 ? error.message : "");
            fail();
        }
        assert_query(fixture->path, "SELECT name FROM sessions", "session\n");
        assert_query(fixture->path, "SELECT DISTINCT session_id FROM events", "1\n");
        fixture_teardown((void **)&fixture);
    }
}

TEST(times_of_creation)
{
    static const struct {
        int64_t created_us;
        int code;
    } cases[] = {
        {INT64_C(-62167219200000000), SES_OK}, /* the year 0 */
        {INT64_C(-62167219200000001), SES_INVALID},
        {INT64_C(253402300799999999), SES_OK}, /* the end of 9999 */
        {INT64_C(253402300800000000), SES_INVALID},
    };

    begin(fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_fork_options options = {.size = sizeof options, .created_us = &cases[i].created_us};
        assert_code(cases[i].code, ses_fork_by_key(fixture->store, &key, NULL, NULL, &options, NULL, &error));
    }
}
