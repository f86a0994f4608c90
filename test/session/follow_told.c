/* A follower of a user with many sessions: where this process tells it of what it writes, it looks only
 * there. */
#include "follow.h"

enum { SESSIONS = 1000 };

static int64_t bytes_read;

static void count_bytes(void *context, const ses_trace *trace)
{
    (void)context;
    if (strcmp(trace->call, "ses_follower_next") == 0)
        bytes_read += trace->bytes_out;
}

static const char *name_of(int session)
{
    static char name[16];

    snprintf(name, sizeof name, "s%04d", session);
    return name;
}

static void create_many(ses_store *store, int count)
{
    for (int i = 0; i < count; i++)
        create_session(store, name_of(i), 0);
}

/* The names alone of all sessions have 5 bytes each. In memory nothing but what is told can change, so that
 * the measure does not depend on the time. */
PLAIN_TEST(only_what_was_told_is_read)
{
    ses_open_options options = {.size = sizeof options, .trace = count_bytes};

    ses_store *store = must_open(":memory:", &options);
    create_many(store, SESSIONS);
    ses_follower *follower = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    assert_nothing(follower);
    bytes_read = 0;
    for (int i = 0; i < 20; i++) {
        append_to(store, name_of(i * 37), 1);
        assert_next(follower, name_of(i * 37), 1);
        assert_nothing(follower);
    }
    if (!support_on_server()) { /* nothing on a server is in memory */
        assert_in_range(bytes_read, 20, 20 * 1000);
        bytes_read = 0;
        assert_nothing(follower);
        assert_int_equal(bytes_read, 0);
    }
    assert_ok(ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    assert_reset(follower, name_of(0)); /* all may have changed */
    ses_follower_close(follower);
    ses_close(store);
}

/* Waits, so that in a file, too, it need not look at all. */
static void assert_waits_for_reset(ses_follower *follower, const char *session)
{
    const ses_event *event = NULL;
    ses_error error;

    assert_code(SES_RESET, ses_follower_next(follower, 20000, &event, &error));
    assert_string_equal(ses_follower_session(follower), session);
}

TEST_FILE_AND_MEMORY(each_change_is_told)
{
    enum { FEW = 100 };
    const ses_point begin = {.size = sizeof begin, .kind = SES_POINT_SEQ, .seq = 0};
    const ses_key fork = {"app", "user", "fork"};
    const ses_key from = {"app", "user", "s0001"};
    ses_store *store = fixture->store;

    create_many(store, FEW);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_nothing(follower);
    for (int i = 1; i < 4; i++)
        append_to(store, name_of(1), 1); /* one name, three events */
    for (int i = 1; i < 4; i++)
        assert_next(follower, name_of(1), i);
    append_to(store, name_of(2), 70); /* more than a page */
    for (int i = 1; i <= 70; i++)
        assert_next(follower, name_of(2), i);
    cut_after(store, name_of(1), 1);
    assert_waits_for_reset(follower, name_of(1));
    append_to(store, name_of(1), 1);
    assert_next(follower, name_of(1), 4);
    delete_named(store, name_of(2));
    assert_waits_for_reset(follower, name_of(2));
    create_session(store, name_of(2), 2);
    assert_next(follower, name_of(2), 1);
    assert_next(follower, name_of(2), 2);
    delete_named(store, name_of(2));
    create_session(store, name_of(2), 1);
    assert_waits_for_reset(follower, name_of(2));
    append_to(store, name_of(3), 2);
    prune_to(store, name_of(3), 1);
    assert_waits_for_reset(follower, name_of(3));
    create_session(store, "new", 1);
    assert_next(follower, "new", 1);
    assert_ok(ses_fork_by_key(store, &from, NULL, &fork, NULL, NULL, &error));
    for (int i = 1; i < 3; i++)
        assert_next(follower, "fork", i == 1 ? 1 : 4);
    assert_ok(ses_cut_by_key(store, &fork, &begin, NULL, NULL, &error));
    assert_waits_for_reset(follower, "fork");
    assert_nothing(follower);
}

/* More names than there is room for, and one that alone takes most of it. */
TEST_FILE_AND_MEMORY(more_is_told_than_can_be_kept)
{
    enum { LONG = 40, BYTES = 200 };
    ses_store *store = fixture->store;
    char name[SES_ID_MAX + 1];
    int given = 0;

    for (int i = 0; i < LONG; i++) {
        snprintf(name, sizeof name, "%0*d", i == 0 ? SES_ID_MAX : BYTES, i);
        create_session(store, name, 0);
    }
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_nothing(follower);
    for (int told = 1; told <= LONG; told += 3) {
        for (int i = 0; i < told; i++) {
            snprintf(name, sizeof name, "%0*d", i == 0 ? SES_ID_MAX : BYTES, i);
            append_to(store, name, 1);
        }
        for (int i = 0; i < told; i++, given++) {
            const ses_event *event = NULL;
            assert_code(SES_ROW, ses_follower_next(follower, 20000, &event, &error));
        }
        assert_nothing(follower);
    }
    assert_int_equal(given, 1 + 4 + 7 + 10 + 13 + 16 + 19 + 22 + 25 + 28 + 31 + 34 + 37 + 40);
}

/* The place it continues from may be behind: then telling is not enough. */
TEST_FILE_AND_MEMORY(a_place_is_caught_up_with_first)
{
    enum { FEW = 100 };
    ses_store *store = fixture->store;

    create_many(store, FEW);
    ses_follower *first = must_follow(store, &user_key, NULL);
    assert_nothing(first);
    append_to(store, name_of(5), 1);
    ses_follower *second = must_follow(store, &user_key, FOLLOW_FROM(ses_follower_place(first)));
    append_to(store, name_of(7), 1);
    assert_next(second, name_of(5), 1);
    assert_next(second, name_of(7), 1);
    assert_nothing(second);
}
