/* Places: where a follower, in this process or another, goes on. */
#include "follow.h"
#include "random.h"

#include <unistd.h>

/* The follower's place, to be kept; free it. */
static char *place_of(ses_follower *follower)
{
    const char *place = ses_follower_place(follower);
    assert_non_null(place);
    char *copy = strdup(place);
    assert_non_null(copy);
    return copy;
}

static void assert_printable(const char *place)
{
    assert_true(strlen(place) > 0);
    assert_int_equal(strspn(place, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                     strlen(place));
}

/* ------------------------------------------------------------------------------------------- going on */

TEST_FILE_AND_MEMORY(going_on_after_each_event)
{
    enum { EVENTS = 10 };

    create_session(fixture->store, "one", EVENTS);
    ses_follower *follower = must_follow(fixture->store, &key, NULL);
    for (int seq = 0; seq < EVENTS; seq++) {
        char *place = place_of(follower);
        assert_printable(place);
        assert_in_range(strlen(place), 1, 35);
        ses_follower *other = must_follow(fixture->store, &key, FOLLOW_FROM(place));
        assert_string_equal(ses_follower_place(other), place);
        for (int rest = seq + 1; rest <= EVENTS; rest++)
            assert_next(other, "one", rest);
        assert_nothing(other);
        ses_follower_close(other);
        free(place);
        assert_next(follower, "one", seq + 1);
    }
}

TEST_FILE_AND_MEMORY(going_on_with_a_users_sessions)
{
    ses_store *store = fixture->store;
    int given = 0;

    create_session(store, "a", 3);
    create_session(store, "b", 0);
    create_session(store, "c", 4);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    for (int result = SES_ROW; result == SES_ROW; given++) {
        const ses_event *event = NULL;
        int rest = 0;
        char *place = place_of(follower);
        assert_printable(place);
        ses_follower *other = must_follow(store, &user_key, FOLLOW_FROM(place));
        while (ses_follower_next(other, 0, &event, &error) == SES_ROW)
            rest++;
        assert_int_equal(given + rest, 7);
        ses_follower_close(other);
        free(place);
        result = ses_follower_next(follower, 0, &event, &error);
    }
    assert_int_equal(given, 8);
    /* The place knows what the user has now, so that all else is new. */
    char *place = place_of(follower);
    ses_follower_close(follower);
    create_session(store, "aa", 1);
    append_to(store, "b", 1);
    follower = must_follow(store, &user_key, FOLLOW_FROM(place));
    assert_next(follower, "aa", 1);
    assert_next(follower, "b", 1);
    assert_nothing(follower);
    free(place);
}

TEST(a_place_outlives_the_store)
{
    create_session(fixture->store, "one", 3);
    ses_follower *follower = must_follow(fixture->store, &key, NULL);
    ses_follower *of_user = must_follow(fixture->store, &user_key, NULL);
    assert_next(follower, "one", 1);
    assert_next(of_user, "one", 1);
    assert_next(of_user, "one", 2);
    char *place = place_of(follower);
    char *user_place = place_of(of_user);
    ses_follower_close(follower);
    ses_follower_close(of_user);
    fixture_reopen(fixture);
    follower = must_follow(fixture->store, &key, FOLLOW_FROM(place));
    of_user = must_follow(fixture->store, &user_key, FOLLOW_FROM(user_place));
    assert_next(follower, "one", 2);
    assert_next(of_user, "one", 3);
    ses_follower_close(follower);
    ses_follower_close(of_user);
    free(user_place);
    free(place);
}

TEST_FILE_AND_MEMORY(going_on_after_what_a_handle_knows)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    ses_session *session = must_get(store, &key);
    append_to(store, "one", 1);
    ses_follower *follower = must_follow(store, &key, FOLLOW_FROM(ses_session_place(session)));
    assert_next(follower, "one", 3);
    assert_string_equal(ses_follower_place(follower), (must_refresh(session), ses_session_place(session)));
    ses_follower_close(follower);
    must_append(session, "{}");
    follower = must_follow(store, &key, FOLLOW_FROM(ses_session_place(session)));
    assert_nothing(follower);
}

/* A fork can have had more events than its version says. */
TEST_FILE_AND_MEMORY(a_fork_has_places)
{
    const ses_key fork = {"app", "user", "fork"};
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork, NULL, NULL, &error));
    ses_session *session = must_get(store, &fork);
    ses_follower *follower = must_follow(store, &fork, FOLLOW_FROM(ses_session_place(session)));
    assert_nothing(follower);
    append_to(store, "fork", 1);
    assert_next(follower, "fork", 6);
}

/* --------------------------------------------------------------------------------- places that are lost */

/* A place after the second of three events. */
static char *place_after_two(ses_store *store)
{
    create_session(store, "one", 3);
    ses_follower *follower = must_follow(store, &key, FOLLOW_AFTER(2));
    char *place = place_of(follower);
    ses_follower_close(follower);
    return place;
}

static void assert_lost(ses_store *store, const char *place, int64_t next)
{
    ses_follower *follower = must_follow(store, &key, FOLLOW_FROM(place));

    assert_string_equal(ses_follower_place(follower), place); /* the reset was not given yet */
    assert_reset(follower, "one");
    assert_nothing(follower);
    append_to(store, "one", 1);
    assert_next(follower, "one", next);
    assert_nothing(follower);
    ses_follower_close(follower);
}

TEST_FILE_AND_MEMORY(a_place_of_another_life_is_a_reset)
{
    ses_store *store = fixture->store;
    char *place = place_after_two(store);

    delete_named(store, "one");
    create_session(store, "one", 3);
    assert_lost(store, place, 4);
    free(place);
}

TEST_FILE_AND_MEMORY(a_place_before_a_cut_is_a_reset)
{
    ses_store *store = fixture->store;
    char *place = place_after_two(store);

    cut_after(store, "one", 2);
    assert_lost(store, place, 4);
    free(place);
}

TEST_FILE_AND_MEMORY(a_place_before_a_prune_is_a_reset)
{
    ses_store *store = fixture->store;
    char *place = place_after_two(store);

    prune_to(store, "one", 2);
    ses_follower *follower = must_follow(store, &key, FOLLOW_FROM(place));
    assert_next(follower, "one", 3);
    ses_follower_close(follower);
    prune_to(store, "one", 3);
    assert_lost(store, place, 4);
    free(place);
}

TEST_FILE_AND_MEMORY(a_place_of_a_deleted_session_is_not_found)
{
    ses_store *store = fixture->store;
    char *place = place_after_two(store);
    ses_follower *follower = NULL;

    delete_named(store, "one");
    assert_code(SES_NOTFOUND, ses_follower_open(store, &key, FOLLOW_FROM(place), &follower, &error));
    free(place);
}

/* An older copy of the file was put back. */
TEST(a_place_beyond_the_end_is_a_reset)
{
    char *copy = support_path(fixture->folder, "copy.db");
    char command[1000];
    char *place;

    support_need_file();
    create_session(fixture->store, "one", 1);
    ses_close(fixture->store);
    snprintf(command, sizeof command, "cp '%s' '%s'", fixture->path, copy);
    assert_int_equal(system(command), 0);
    fixture->store = NULL;
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    append_to(fixture->store, "one", 4);
    ses_follower *follower = must_follow(fixture->store, &key, FOLLOW_ONLY_NEW);
    ses_follower *of_user = must_follow(fixture->store, &user_key, FOLLOW_ONLY_NEW);
    place = place_of(follower);
    char *user_place = place_of(of_user);
    ses_follower_close(follower);
    ses_follower_close(of_user);
    ses_close(fixture->store);
    assert_int_equal(rename(copy, fixture->path), 0);
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    of_user = must_follow(fixture->store, &user_key, FOLLOW_FROM(user_place));
    assert_reset(of_user, "one");
    assert_nothing(of_user);
    assert_lost(fixture->store, place, 2);
    assert_next(of_user, "one", 2);
    ses_follower_close(of_user);
    free(user_place);
    free(place);
    free(copy);
}

/* Their names are gone with them. */
TEST_FILE_AND_MEMORY(deleted_sessions_of_a_users_place_are_one_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "a", 2);
    create_session(store, "b", 2);
    create_session(store, "c", 2);
    ses_follower *follower = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    char *place = place_of(follower);
    ses_follower_close(follower);
    delete_named(store, "a");
    delete_named(store, "c");
    create_session(store, "c", 1);
    append_to(store, "b", 1);
    follower = must_follow(store, &user_key, FOLLOW_FROM(place));
    assert_string_equal(ses_follower_place(follower), place);
    assert_reset(follower, NULL);
    assert_string_not_equal(ses_follower_place(follower), place);
    assert_next(follower, "b", 3);
    assert_next(follower, "c", 1);
    assert_nothing(follower);
    free(place);
}

TEST_FILE_AND_MEMORY(a_users_place_before_cuts_and_prunes_is_a_reset_of_each)
{
    ses_store *store = fixture->store;

    create_session(store, "a", 2);
    create_session(store, "b", 2);
    create_session(store, "c", 2);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_next(follower, "a", 1);
    char *place = place_of(follower);
    ses_follower_close(follower);
    cut_after(store, "a", 1);
    prune_to(store, "b", 1);
    follower = must_follow(store, &user_key, FOLLOW_FROM(place));
    assert_reset(follower, "a");
    assert_reset(follower, "b");
    assert_next(follower, "c", 1);
    free(place);
}

/* ------------------------------------------------------------------------------------------ bad places */

static int try_place(ses_store *store, const ses_key *of, const char *place, ses_error *error)
{
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    int code = ses_follower_open(store, of, FOLLOW_FROM(place), &follower, error);

    for (int i = 0; i < 10 && code == SES_OK; i++) {
        int next = ses_follower_next(follower, 0, &event, error);
        assert_true(next == SES_OK || next == SES_ROW || next == SES_RESET);
    }
    ses_follower_close(follower);
    return code;
}

TEST_FILE_AND_MEMORY(text_that_is_not_a_place_is_invalid)
{
    static const char *const places[] = {"",
                                         "A",
                                         "AQ",
                                         "AQAAAAA",
                                         "AQAAAAAA",
                                         "place",
                                         "a b",
                                         "=",
                                         "AQ==",
                                         "\xC3\xA4",
                                         "____________________",
                                         "AAAAAAAAAAAAAAAAAAAA"};
    const ses_key other = {"app", "user", "two"};
    const ses_key namesake = {"app", "other", "one"};
    ses_store *store = fixture->store;

    char *place = place_after_two(store);
    create_session(store, "two", 3);
    must_create(store, &namesake, NULL);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_code(SES_INVALID, try_place(store, &key, places[i], &error));
        assert_code(SES_INVALID, try_place(store, &user_key, places[i], &error));
    }
    assert_ok(try_place(store, &key, place, &error));
    assert_code(SES_INVALID, try_place(store, &other, place, &error));
    assert_code(SES_INVALID, try_place(store, &namesake, place, &error));
    assert_code(SES_INVALID, try_place(store, &user_key, place, &error));
    assert_message("the place is not one of a follower of this user");
    free(place);
}

MEMORY_TEST(broken_places_do_no_harm)
{
    static const char any[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= \x80";
    enum { ROUNDS = 20000 };
    ses_store *store = fixture->store;
    uint64_t random = 42;

    create_session(store, "a", 2);
    create_session(store, "b", 2);
    char *place = place_after_two(store);
    ses_follower *follower = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    char *user_place = place_of(follower);
    ses_follower_close(follower);
    for (int i = 0; i < support_steps(ROUNDS); i++) {
        const bool of_user = i % 2 == 1;
        char *broken = strdup(of_user ? user_place : place);
        const size_t len = strlen(broken);
        for (int changes = (int)(random_next(&random) % 3); changes >= 0; changes--)
            broken[random_next(&random) % len] = any[random_next(&random) % (sizeof any - 1)];
        if (random_next(&random) % 4 == 0)
            broken[random_next(&random) % len] = '\0';
        int code = try_place(store, of_user ? &user_key : &key, broken, &error);
        assert_true(code == SES_INVALID || strcmp(broken, of_user ? user_place : place) == 0);
        free(broken);
    }
    free(user_place);
    free(place);
}
