/* Following all sessions of a user. */
#include "follow.h"

TEST_FILE_AND_MEMORY(events_of_all_sessions_come)
{
    ses_store *store = fixture->store;

    create_session(store, "b", 2);
    create_session(store, "a", 1);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_null(ses_follower_session(follower));
    assert_next(follower, "a", 1);
    assert_next(follower, "b", 1);
    assert_next(follower, "b", 2);
    assert_nothing(follower);
    assert_null(ses_follower_session(follower));
    append_to(store, "a", 1);
    assert_next(follower, "a", 2);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(neither_user_nor_session_need_to_exist)
{
    ses_store *store = fixture->store;
    ses_follower *follower = must_follow(store, &user_key, NULL);
    ses_follower *only_new = must_follow(store, &user_key, FOLLOW_ONLY_NEW);

    assert_nothing(follower);
    create_session(store, "one", 1);
    assert_next(follower, "one", 1);
    assert_next(only_new, "one", 1);
    create_session(store, "another", 2);
    assert_next(follower, "another", 1);
    assert_next(follower, "another", 2);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(other_users_and_apps_are_not_followed)
{
    static const ses_key others[] = {{"app", "other", "one"}, {"other", "user", "one"}, {"app", "use", "r"}};
    ses_store *store = fixture->store;
    ses_follower *follower = must_follow(store, &user_key, NULL);

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        must_create(store, &others[i], NULL);
        must_append_by_key(store, &others[i], "{}");
    }
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(only_new_events_come)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 3);
    create_session(store, "two", 0);
    ses_follower *follower = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    assert_nothing(follower);
    append_to(store, "two", 1);
    append_to(store, "one", 1);
    assert_next(follower, "one", 4);
    assert_next(follower, "two", 1);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(a_session_without_events_is_not_given)
{
    ses_store *store = fixture->store;

    create_session(store, "a", 1);
    create_session(store, "b", 0);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_next(follower, "a", 1);
    create_session(store, "c", 0);
    assert_nothing(follower);
    assert_null(ses_follower_session(follower));
}

TEST_FILE_AND_MEMORY(a_deletion_is_a_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "a", 1);
    create_session(store, "b", 0);
    create_session(store, "c", 1);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_next(follower, "a", 1);
    assert_next(follower, "c", 1);
    assert_nothing(follower);
    delete_named(store, "b");
    assert_reset(follower, "b");
    assert_nothing(follower);
    append_to(store, "a", 1);
    assert_ok(ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    assert_reset(follower, "a");
    assert_reset(follower, "c");
    assert_nothing(follower);
    create_session(store, "b", 1);
    assert_next(follower, "b", 1);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(a_session_created_again_is_a_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 1);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_next(follower, "one", 1);
    assert_nothing(follower);
    delete_named(store, "one");
    create_session(store, "one", 3);
    assert_reset(follower, "one");
    assert_nothing(follower); /* the caller has read what was there */
    append_to(store, "one", 1);
    assert_next(follower, "one", 4);
}

TEST_FILE_AND_MEMORY(cuts_and_prunes_are_resets_of_their_session)
{
    ses_store *store = fixture->store;

    create_session(store, "a", 3);
    create_session(store, "b", 3);
    create_session(store, "c", 3);
    ses_follower *follower = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    cut_after(store, "a", 1);
    append_to(store, "b", 3);
    prune_to(store, "b", 5);
    append_to(store, "c", 1);
    prune_to(store, "c", 3); /* only what is not to be given */
    assert_reset(follower, "a");
    assert_reset(follower, "b");
    assert_next(follower, "c", 4);
    assert_nothing(follower);
    append_to(store, "b", 1);
    append_to(store, "a", 1);
    assert_next(follower, "a", 4);
    assert_next(follower, "b", 7);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(a_new_session_that_was_pruned_is_a_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 3);
    prune_to(store, "one", 2);
    ses_follower *follower = must_follow(store, &user_key, NULL);
    assert_reset(follower, "one");
    assert_nothing(follower);
    append_to(store, "one", 1);
    assert_next(follower, "one", 4);
}

TEST_FILE_AND_MEMORY(a_fork_is_a_new_session)
{
    const ses_key fork = {"app", "user", "fork"};
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    ses_follower *follower = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    assert_nothing(follower);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork, NULL, NULL, &error));
    assert_next(follower, "fork", 1);
    assert_next(follower, "fork", 2);
    assert_nothing(follower);
    append_to(store, "fork", 1);
    assert_next(follower, "fork", 3);
}

/* However fast the first grows, the others have their turn. */
TEST_FILE_AND_MEMORY(a_busy_session_does_not_starve_the_others)
{
    enum { OTHERS = 20 };
    ses_store *store = fixture->store;
    const ses_event *event = NULL;
    int64_t busy = 0;
    int others = 0;

    create_session(store, "a", 200);
    for (int i = 0; i < OTHERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i);
        create_session(store, name, 1);
    }
    ses_follower *follower = must_follow(store, &user_key, NULL);
    while (others < OTHERS && busy < 2000) {
        assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
        append_to(store, "a", 2);
        if (ses_follower_session(follower)[0] == 'a')
            assert_int_equal(event->seq, ++busy);
        else
            others++;
    }
    assert_int_equal(others, OTHERS);
    assert_in_range(busy, 1, 100);
}

/* The next event is the next of its session. */
static void assert_session_order(ses_follower *follower, int64_t *given)
{
    const ses_event *event = NULL;
    ses_error error;

    assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
    assert_int_equal(event->seq, ++given[atoi(ses_follower_session(follower) + 1)]);
}

/* More sessions than a page has room for, in each of the ways in which they can be news. */
TEST_FILE_AND_MEMORY(many_sessions_are_followed)
{
    enum { SESSIONS = 300 };
    ses_store *store = fixture->store;
    ses_follower *follower = must_follow(store, &user_key, NULL);
    char name[16];

    for (int i = 0; i < SESSIONS; i++) {
        snprintf(name, sizeof name, "s%04d", i);
        create_session(store, name, i % 3);
    }
    ses_follower *only_new = must_follow(store, &user_key, FOLLOW_ONLY_NEW);
    int64_t given[SESSIONS] = {0};
    for (int i = 0; i < SESSIONS; i++) /* on average one event a session */
        assert_session_order(follower, given);
    assert_nothing(follower);
    assert_nothing(only_new);
    for (int i = 0; i < SESSIONS; i += 2) {
        snprintf(name, sizeof name, "s%04d", i);
        delete_named(store, name);
    }
    for (int i = 0; i < SESSIONS; i += 2) {
        snprintf(name, sizeof name, "s%04d", i);
        assert_reset(follower, name);
        assert_reset(only_new, name);
    }
    assert_nothing(follower);
    assert_nothing(only_new);
    snprintf(name, sizeof name, "s%04d", SESSIONS - 1);
    append_to(store, name, 1);
    assert_next(only_new, name, (SESSIONS - 1) % 3 + 1);
}
