/* Following one session. */
#include "follow.h"

/* -------------------------------------------------------------------------------------------- events */

TEST_FILE_AND_MEMORY(events_come_once_and_in_order)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    ses_follower *follower = must_follow(store, &key, NULL);
    assert_next(follower, "one", 1);
    append_to(store, "one", 1);
    assert_next(follower, "one", 2);
    assert_next(follower, "one", 3);
    assert_nothing(follower);
    append_to(store, "one", 200);
    for (int seq = 4; seq <= 203; seq++)
        assert_next(follower, "one", seq);
    assert_nothing(follower);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(an_event_is_whole)
{
    static const char text[] =
        "{ \"id\":\"e\",\"timestamp\":1.5,\"author\":\"a\",\"invocationId\":\"i\",\"branch\":\"b\"} ";
    ses_store *store = fixture->store;
    const ses_event *event = NULL;

    create_session(store, "one", 0);
    ses_follower *follower = must_follow(store, &key, NULL);
    must_append_by_key(store, &key, text);
    assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
    assert_int_equal(event->seq, 1);
    assert_int_equal(event->time_us, 1500000);
    assert_string_equal(event->id, "e");
    assert_string_equal(event->author, "a");
    assert_string_equal(event->invocation_id, "i");
    assert_string_equal(event->branch, "b");
    assert_string_equal(event->json, text);
    assert_int_equal(event->json_len, strlen(text));
}

TEST_FILE_AND_MEMORY(events_of_other_sessions_do_not_come)
{
    const ses_key namesake = {"app", "other", "one"};
    ses_store *store = fixture->store;

    create_session(store, "one", 0);
    create_session(store, "two", 3);
    must_create(store, &namesake, NULL);
    must_append_by_key(store, &namesake, "{}");
    ses_follower *follower = must_follow(store, &key, NULL);
    assert_nothing(follower);
    append_to(store, "one", 1);
    assert_next(follower, "one", 1);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(large_events_come_too)
{
    enum { COUNT = 5, BYTES = 200000 };
    ses_store *store = fixture->store;
    char *text = malloc(BYTES + 20);

    assert_non_null(text);
    snprintf(text, BYTES + 20, "{\"text\":\"%*s\"}", BYTES, "");
    create_session(store, "one", 0);
    for (int i = 0; i < COUNT; i++)
        must_append_by_key(store, &key, text);
    ses_follower *follower = must_follow(store, &key, NULL);
    for (int i = 1; i <= COUNT; i++)
        assert_next(follower, "one", i);
    assert_nothing(follower);
    free(text);
}

/* Rewinds are events, and take nothing back that was given. */
TEST_FILE_AND_MEMORY(rewinds_come_as_events)
{
    ses_store *store = fixture->store;
    const ses_point begin = {.size = sizeof begin, .kind = SES_POINT_SEQ, .seq = 0};

    create_session(store, "one", 0);
    must_append_by_key(store, &key, Q("{'invocationId':'i'}"));
    ses_follower *follower = must_follow(store, &key, NULL);
    assert_next(follower, "one", 1);
    assert_ok(ses_rewind_by_key(store, &key, &begin, NULL, NULL, &error));
    assert_next(follower, "one", 2);
    assert_ok(ses_redo_by_key(store, &key, NULL, NULL, &error));
    assert_next(follower, "one", 3);
    assert_nothing(follower);
}

/* ------------------------------------------------------------------------------------- where it begins */

TEST_FILE_AND_MEMORY(a_follower_begins_after_a_number)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    for (int64_t after = 0; after <= 5; after++) {
        ses_follower *follower = must_follow(store, &key, FOLLOW_AFTER(after));
        for (int64_t seq = after + 1; seq <= 5; seq++)
            assert_next(follower, "one", seq);
        assert_nothing(follower);
        ses_follower_close(follower);
    }
}

TEST_FILE_AND_MEMORY(a_follower_begins_with_new_events)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    ses_follower *follower = must_follow(store, &key, FOLLOW_ONLY_NEW);
    assert_nothing(follower);
    append_to(store, "one", 1);
    assert_next(follower, "one", 6);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(arguments_are_checked)
{
    const ses_key missing = {"app", "user", "two"};
    const ses_key bad = {"app", "user", ""};
    const ses_key bad_user = {"app", "", NULL};
    const ses_event *event = NULL;
    ses_store *store = fixture->store;
    ses_follow_options options = {.size = sizeof options};
    ses_follower *follower = NULL;

    create_session(store, "one", 2);
    assert_code(SES_NOTFOUND, ses_follower_open(store, &missing, NULL, &follower, &error));
    assert_message("app/user/two");
    assert_null(follower);
    assert_code(SES_INVALID, ses_follower_open(store, &bad, NULL, &follower, &error));
    assert_code(SES_INVALID, ses_follower_open(store, &bad_user, NULL, &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, NULL, NULL, &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(NULL, &key, NULL, &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, &key, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, &(ses_key){NULL, "u", NULL}, NULL, &follower, &error));
    options.after_seq = -1;
    assert_code(SES_INVALID, ses_follower_open(store, &key, &options, &follower, &error));
    options.after_seq = 3;
    assert_code(SES_INVALID, ses_follower_open(store, &key, &options, &follower, &error));
    assert_message("the last event has number 2");
    assert_code(SES_MISUSE, ses_follower_open(store, &user_key, &options, &follower, &error));
    options.flags = SES_FOLLOW_NEW;
    assert_code(SES_MISUSE, ses_follower_open(store, &key, &options, &follower, &error));
    options.after_seq = 0;
    options.place = "place";
    assert_code(SES_MISUSE, ses_follower_open(store, &key, &options, &follower, &error));
    options.flags = 0x80;
    assert_code(SES_MISUSE, ses_follower_open(store, &key, &options, &follower, &error));
    assert_null(follower);
    follower = must_follow(store, &key, NULL);
    assert_code(SES_MISUSE, ses_follower_next(NULL, 0, &event, &error));
    assert_code(SES_MISUSE, ses_follower_next(follower, 0, NULL, &error));
    assert_string_equal(ses_follower_session(follower), "one");
    ses_follower_close(follower);
    ses_follower_close(NULL);
}

/* ---------------------------------------------------------------------------------------------- resets */

TEST_FILE_AND_MEMORY(a_cut_is_a_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    ses_follower *behind = must_follow(store, &key, NULL);
    ses_follower *follower = must_follow(store, &key, NULL);
    for (int seq = 1; seq <= 5; seq++)
        assert_next(follower, "one", seq);
    cut_after(store, "one", 3);
    assert_reset(follower, "one");
    assert_nothing(follower);
    assert_reset(behind, "one"); /* though it has missed nothing that is left */
    append_to(store, "one", 1);
    assert_next(follower, "one", 6);
    assert_next(behind, "one", 6);
    cut_after(store, "one", 0);
    append_to(store, "one", 2);
    assert_reset(follower, "one");
    assert_nothing(follower); /* event 7 and 8 were there when it noticed */
    append_to(store, "one", 1);
    assert_next(follower, "one", 9);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(a_prune_of_what_was_given_is_no_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    ses_follower *follower = must_follow(store, &key, NULL);
    for (int seq = 1; seq <= 5; seq++)
        assert_next(follower, "one", seq);
    prune_to(store, "one", 5);
    assert_nothing(follower);
    append_to(store, "one", 1);
    assert_next(follower, "one", 6);
    assert_nothing(follower);
}

TEST_FILE_AND_MEMORY(a_prune_of_what_was_not_given_is_a_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    ses_follower *begun = must_follow(store, &key, FOLLOW_AFTER(2));
    prune_to(store, "one", 3);
    ses_follower *follower = must_follow(store, &key, FOLLOW_AFTER(3));
    assert_next(follower, "one", 4);
    assert_reset(begun, "one");
    assert_nothing(begun);
    for (int64_t after = 0; after <= 2; after++) {
        ses_follower *late = must_follow(store, &key, FOLLOW_AFTER(after));
        assert_reset(late, "one");
        assert_nothing(late);
        ses_follower_close(late);
    }
    append_to(store, "one", 1);
    assert_next(begun, "one", 6);
}

/* Numbers that were cut before the follower was opened are no loss. */
TEST_FILE_AND_MEMORY(gaps_are_passed)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 5);
    cut_after(store, "one", 2);
    ses_follower *follower = must_follow(store, &key, NULL);
    assert_next(follower, "one", 1);
    assert_next(follower, "one", 2);
    assert_nothing(follower);
    assert_nothing(follower);
    append_to(store, "one", 1);
    assert_next(follower, "one", 6);
    ses_follower_close(follower);
    follower = must_follow(store, &key, FOLLOW_AFTER(4));
    assert_next(follower, "one", 6);
}

TEST_FILE_AND_MEMORY(a_deleted_session_is_not_found)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    ses_follower *follower = must_follow(store, &key, NULL);
    assert_next(follower, "one", 1);
    delete_named(store, "one");
    assert_next(follower, "one", 2); /* it was read before */
    assert_gone(follower);
    assert_gone(follower);
    create_session(store, "one", 3);
    assert_gone(follower);
}

TEST_FILE_AND_MEMORY(a_session_of_the_same_name_is_another)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    ses_follower *follower = must_follow(store, &key, NULL);
    delete_named(store, "one");
    create_session(store, "one", 3);
    assert_gone(follower);
    assert_gone(follower);
}

/* -------------------------------------------------------------------------------------- after the store */

TEST_FILE_AND_MEMORY(a_follower_outlives_its_store)
{
    const ses_event *event = NULL;

    create_session(fixture->store, "one", 2);
    ses_follower *follower = must_follow(fixture->store, &key, NULL);
    ses_follower *unused = must_follow(fixture->store, &user_key, NULL);
    assert_next(follower, "one", 1);
    ses_close(fixture->store);
    fixture->store = NULL;
    for (int i = 0; i < 2; i++)
        assert_code(SES_MISUSE, ses_follower_next(follower, -1, &event, &error));
    assert_message("closed");
    assert_non_null(ses_follower_place(follower));
    assert_string_equal(ses_follower_session(follower), "one");
    ses_follower_wake(follower);
    ses_follower_close(follower);
    ses_follower_close(unused);
}
