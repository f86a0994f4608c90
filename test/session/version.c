/* A version names one life of a session: what was held of one that was deleted is refused by the next of its
 * name. */
#include "check.h"
#include "lines.h"

#define LATE_VERSION "9006099743113215"
#define MOST_VERSION "9007199254740991"
#define BEYOND_VERSION "9007199254740992"

static const ses_key other = {"app", "user", "other"};

static ses_session *create(struct fixture *fixture, const ses_key *of)
{
    ses_session *session = must_open_new(fixture->store, of, NULL);

    return session;
}

static void append_events(struct fixture *fixture, const ses_key *to, int count)
{
    for (int i = 0; i < count; i++)
        must_append_by_key(fixture->store, to, "{}");
}

static int append_at(struct fixture *fixture, int64_t version, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .flags = SES_AT_VERSION, .version = version};
    return ses_append_by_key(fixture->store, &key, Q("{'author':'late'}"), SES_NUL, &options, NULL, error);
}

/* With `events` in the new life, all that was held of versions up to `last` of the old one is refused. */
static void assert_old_life_is_over(struct fixture *fixture, ses_session *old, int64_t last, int events)
{
    ses_error error;

    append_events(fixture, &key, events);
    for (int64_t version = 0; version <= last; version++)
        assert_code(SES_STALE, append_at(fixture, version, &error));
    if (old) {
        assert_code(SES_NOTFOUND, ses_append(old, "{}", SES_NUL, NULL, NULL, &error));
        assert_code(SES_NOTFOUND, ses_refresh(old, NULL, &error));
    }
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), events);
    assert_int_equal(ses_session_last_seq(session), events);
    assert_true(ses_session_version(session) > last);
    assert_ok(append_at(fixture, ses_session_version(session), &error));
    ses_session_close(session);
}

/* Many lives of one name, of different lengths. */
static void live_and_die(struct fixture *fixture, int (*kill)(struct fixture *fixture))
{
    static const int lengths[] = {3, 0, 1, 5, 2};
    int64_t last = -1;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        ses_session *old = create(fixture, &key);
        assert_int_equal(ses_session_version(old), last + 1);
        append_events(fixture, &key, lengths[i]);
        last += 1 + lengths[i];
        assert_int_equal(kill(fixture), 0);
        ses_session_close(create(fixture, &key));
        assert_old_life_is_over(fixture, old, last, 7);
        last += 1 + 8;
        assert_int_equal(kill(fixture), 0);
        ses_session_close(old);
    }
}

static int by_delete(struct fixture *fixture)
{
    return ses_delete(fixture->store, &key, NULL, NULL, NULL);
}

static int by_delete_user(struct fixture *fixture)
{
    return ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, NULL);
}

static int by_hand(struct fixture *fixture)
{
    raw_exec(fixture->path, "DELETE FROM sessions");
    return 0;
}

static int by_delete_and_reopen(struct fixture *fixture)
{
    int code = ses_delete(fixture->store, &key, NULL, NULL, NULL);
    fixture_reopen(fixture);
    return code;
}

MEMORY_TEST(after_a_delete)
{
    live_and_die(fixture, by_delete);
}

MEMORY_TEST(after_the_deletion_of_a_user)
{
    live_and_die(fixture, by_delete_user);
}

TEST(after_a_delete_by_hand)
{
    live_and_die(fixture, by_hand);
}

/* The old handle cannot be used on a store that is closed: its versions can. */
TEST(after_opening_again)
{
    ses_session_close(create(fixture, &key));
    append_events(fixture, &key, 4);
    assert_int_equal(by_delete_and_reopen(fixture), 0);
    ses_session_close(create(fixture, &key));
    fixture_reopen(fixture);
    assert_old_life_is_over(fixture, NULL, 4, 3);
}

MEMORY_TEST(the_longest_life_counts)
{
    ses_session_close(create(fixture, &key));
    ses_session_close(create(fixture, &other));
    append_events(fixture, &other, 9);
    append_events(fixture, &key, 2);
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    ses_session *session = create(fixture, &key);
    assert_int_equal(ses_session_version(session), 10);
    ses_session_close(session);
    /* A shorter one brings it down no more. */
    session = create(fixture, &other);
    must_delete(fixture->store, &key);
    must_delete(fixture->store, &other);
    ses_session_close(session);
    session = create(fixture, &key);
    assert_int_equal(ses_session_version(session), 11);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------- what the file may say */

/* As damage or another program would leave it, against the checks of the table. */
static void change(struct fixture *fixture, const char *sql)
{
    struct text whole = {NULL, 0};
    text_printf(&whole, "PRAGMA ignore_check_constraints = ON; %s", sql);
    raw_exec(fixture->path, whole.data);
    free(whole.data);
}

TEST(a_damaged_floor_is_not_used)
{
    static const char *const damages[] = {
        "UPDATE version_floor SET floor = -1",
        "UPDATE version_floor SET floor = 9007199254740993",
        "UPDATE version_floor SET floor = 9223372036854775807",
        "UPDATE version_floor SET floor = -9223372036854775807 - 1",
        "DELETE FROM version_floor",
        "INSERT INTO version_floor VALUES (2, 5)",
        "UPDATE version_floor SET id = 2",
    };

    ses_session_close(create(fixture, &key));
    append_events(fixture, &key, 2);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        change(fixture, damages[i]);
        assert_code(SES_CORRUPT, ses_create(fixture->store, &other, NULL, 0, NULL, NULL, &error));
        assert_message("version_floor");
        assert_code(SES_CORRUPT, ses_delete(fixture->store, &key, NULL, NULL, &error));
        assert_code(SES_CORRUPT, ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
        assert_query(fixture->path, "SELECT count(*) FROM sessions", "1\n");
        append_events(fixture, &key, 1);
        change(fixture, "DELETE FROM version_floor; INSERT INTO version_floor VALUES (1, 0)");
    }
    assert_query(fixture->path, "SELECT count(*) FROM events", "9\n");
    must_delete(fixture->store, &key);
}

TEST(a_version_ends_below_2_to_the_53)
{
    ses_session *session = create(fixture, &key);

    change(fixture, "UPDATE sessions SET version = " MOST_VERSION " - 1");
    must_refresh(session);
    must_append(session, "{}");
    assert_true(ses_session_version(session) == INT64_C(9007199254740991));
    assert_code(SES_LIMIT, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_query(fixture->path, "SELECT count(*), (SELECT version FROM sessions) FROM events",
                 "1|" MOST_VERSION "\n");
    ses_session_close(session);
    must_delete(fixture->store, &key);
    assert_query(fixture->path, "SELECT floor FROM version_floor", BEYOND_VERSION "\n");
    assert_code(SES_LIMIT, ses_create(fixture->store, &key, NULL, 0, NULL, NULL, &error));
    assert_message("export");
    assert_query(fixture->path, "SELECT count(*) FROM sessions", "0\n");
}

static void assert_one_problem(const struct fixture *fixture, const char *words)
{
    char *problems = problems_of(fixture->store, SES_CHECK_LOG);

    assert_non_null(strstr(problems, words));
    assert_ptr_equal(strchr(problems, '\n'), problems + strlen(problems) - 1);
    free(problems);
}

/* Long before the end, and there is a way out: versions this high do not leave the store. */
TEST(a_version_near_the_end_is_a_problem)
{
    ses_store *fresh = empty_store();
    ses_import_report report;

    ses_session_close(create(fixture, &key));
    append_events(fixture, &key, 2);
    change(fixture, "UPDATE version_floor SET floor = " LATE_VERSION " - 1");
    assert_no_problems(fixture->store);
    change(fixture, "UPDATE version_floor SET floor = " LATE_VERSION);
    assert_one_problem(fixture, "counter -/-/- 0: new sessions begin at version " LATE_VERSION);
    change(fixture, "UPDATE version_floor SET floor = " BEYOND_VERSION);
    assert_one_problem(fixture, "counter -/-/- 0: ");
    change(fixture, "UPDATE version_floor SET floor = 0; UPDATE sessions SET version = " LATE_VERSION);
    assert_one_problem(fixture, "counter app/user/session 0: the session is at version " LATE_VERSION);

    struct text lines = exported(fixture->store, NULL);
    assert_ok(import_text(fresh, lines.data, lines.len, 0, &report, &error));
    ses_session *session = must_get(fresh, &key);
    assert_int_equal(ses_session_version(session), 2);
    ses_session_close(session);
    free(lines.data);
    ses_close(fresh);
}

/* A version beyond the bounds was never anybody's: it is told, and does not use up the versions of the
 * file. */
TEST(an_impossible_version_does_not_raise_the_floor)
{
    ses_session *session = NULL;

    ses_session_close(create(fixture, &key));
    change(fixture, "UPDATE sessions SET version = " BEYOND_VERSION);
    assert_code(SES_CORRUPT, ses_get(fixture->store, &key, NULL, &session, &error));
    assert_code(SES_CORRUPT, ses_delete(fixture->store, &key, NULL, NULL, &error));
    assert_code(SES_CORRUPT, ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    assert_query(fixture->path, "SELECT count(*), (SELECT floor FROM version_floor) FROM sessions", "1|0\n");
    raw_exec(fixture->path, "DELETE FROM sessions"); /* which a person may */
    assert_query(fixture->path, "SELECT count(*), (SELECT floor FROM version_floor) FROM sessions", "0|0\n");
    ses_session_close(create(fixture, &key));
}
