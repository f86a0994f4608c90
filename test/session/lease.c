/* One turn at a time: what one process sees of a session's lease. */
#include "append.h"

static const ses_key other_key = {"app", "user", "other"};
static const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};

static ses_lease must_take(ses_store *store, const ses_key *of, const char *owner)
{
    ses_lease lease = {0};
    ses_error error;
    assert_ok(ses_lease_take(store, of, owner, &at_once, &lease, &error));
    assert_true(lease.token > 0);
    return lease;
}

static void assert_held(ses_store *store, const ses_key *of, const char *owner)
{
    ses_lease lease = {.token = 77, .until_us = 78};
    ses_error error;
    assert_code(SES_BUSY, ses_lease_take(store, of, owner, &at_once, &lease, &error));
    assert_int_equal(lease.token, 77);
    assert_int_equal(lease.until_us, 78);
}

static void must_release(ses_store *store, const ses_key *of, int64_t token)
{
    ses_error error;
    assert_ok(ses_lease_release(store, of, token, NULL, &error));
}

static int append_leased(ses_store *store, const char *event, int64_t token, unsigned flags, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .flags = flags, .lease = token};
    return ses_append_by_key(store, &key, event, SES_NUL, &options, NULL, error);
}

/* ------------------------------------------------------------------------------------- taking */

TEST(a_free_lease_is_taken_for_a_minute)
{
    must_create(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    assert_int_equal(lease.until_us, fixture->now + 60000000);
}

/* It does not last until the clock is there again. */
TEST(a_clock_that_is_set_back_ends_no_lease_late)
{
    const int64_t second = 1000000;

    must_create(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    fixture->now -= 86400 * second;
    assert_held(fixture->store, &key, "b");
    fixture->now += 59 * second;
    assert_held(fixture->store, &key, "b");
    assert_code(SES_OK, append_leased(fixture->store, "{}", lease.token, 0, &error));
    fixture->now += 2 * second;
    lease = must_take(fixture->store, &key, "b");
    assert_int_equal(lease.until_us, fixture->now + 60 * second);
    fixture->now -= 3600 * second;
    assert_ok(ses_lease_renew(fixture->store, &key, lease.token, NULL, &lease, &error));
    assert_int_equal(lease.until_us, fixture->now + 60 * second);
    fixture->now += 61 * second;
    (void)must_take(fixture->store, &key, "a");
}

TEST(a_lease_is_taken_for_as_long_as_asked)
{
    const ses_lease_options brief = {.size = sizeof brief, .duration_us = 5};
    const ses_lease_options endless = {.size = sizeof endless, .duration_us = INT64_MAX};
    ses_lease lease;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_lease_take(fixture->store, &key, "a", &brief, &lease, &error));
    assert_int_equal(lease.until_us, fixture->now + 5);
    assert_ok(ses_lease_take(fixture->store, &key, "a", &endless, &lease, &error));
    assert_true(lease.until_us > fixture->now);
}

TEST(another_owner_does_not_get_a_lease_that_is_held)
{
    ses_lease lease = {0};

    must_create(fixture->store, &key, NULL);
    (void)must_take(fixture->store, &key, "a");
    assert_held(fixture->store, &key, "b");
    assert_code(SES_BUSY, ses_lease_take(fixture->store, &key, "b", &at_once, &lease, &error));
    assert_message("until 1700000060000000 us");
    assert_message("waited 0 ms");
    assert_message("app/user/");
}

TEST(ones_own_lease_is_taken_again_with_its_token)
{
    must_create(fixture->store, &key, NULL);
    ses_lease first = must_take(fixture->store, &key, "a");
    fixture->now += 10;
    ses_lease again = must_take(fixture->store, &key, "a");
    assert_int_equal(again.token, first.token);
    assert_int_equal(again.until_us, first.until_us + 10);
    assert_held(fixture->store, &key, "b");
}

TEST_FILE_AND_MEMORY(a_lease_that_has_run_out_is_taken_with_a_new_token)
{
    must_create(fixture->store, &key, NULL);
    ses_lease first = must_take(fixture->store, &key, "a");
    fixture->now = first.until_us - 1;
    assert_held(fixture->store, &key, "b");
    fixture->now = first.until_us;
    ses_lease second = must_take(fixture->store, &key, "b");
    assert_true(second.token > first.token);
    assert_held(fixture->store, &key, "a");
}

TEST_FILE_AND_MEMORY(a_released_lease_is_taken_with_a_new_token)
{
    must_create(fixture->store, &key, NULL);
    ses_lease first = must_take(fixture->store, &key, "a");
    must_release(fixture->store, &key, first.token);
    must_release(fixture->store, &key, first.token); /* twice is fine */
    ses_lease second = must_take(fixture->store, &key, "b");
    assert_true(second.token > first.token);
    assert_code(SES_LEASED, ses_lease_release(fixture->store, &key, first.token, NULL, &error));
    assert_held(fixture->store, &key, "a");
}

TEST(each_session_has_its_own_lease)
{
    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other_key, NULL);
    ses_lease one = must_take(fixture->store, &key, "a");
    ses_lease two = must_take(fixture->store, &other_key, "b");
    assert_int_not_equal(one.token, two.token);
    assert_code(SES_LEASED, ses_lease_release(fixture->store, &key, two.token, NULL, &error));
    assert_code(SES_LEASED, append_leased(fixture->store, "{}", two.token, 0, &error));
}

TEST(tokens_are_not_given_again_after_delete_and_create)
{
    int64_t last = 0;

    for (int i = 0; i < 5; i++) {
        must_create(fixture->store, &key, NULL);
        ses_lease lease = must_take(fixture->store, &key, "a");
        assert_true(lease.token > last);
        if (last > 0)
            assert_code(SES_LEASED, ses_lease_renew(fixture->store, &key, last, NULL, NULL, &error));
        last = lease.token;
        must_delete(fixture->store, &key);
        fixture_reopen(fixture);
    }
}

TEST(a_fork_has_no_lease)
{
    must_create(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &other_key, NULL, NULL, &error));
    assert_code(SES_LEASED, ses_lease_renew(fixture->store, &other_key, lease.token, NULL, NULL, &error));
    (void)must_take(fixture->store, &other_key, "b");
}

/* ------------------------------------------------------------------------------ renewing, releasing */

TEST(renewing_moves_the_end)
{
    const ses_lease_options brief = {.size = sizeof brief, .duration_us = 7, .wait_ms = -5};
    ses_lease renewed;

    must_create(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    fixture->now += 1000;
    assert_ok(ses_lease_renew(fixture->store, &key, lease.token, NULL, &renewed, &error));
    assert_int_equal(renewed.token, lease.token);
    assert_int_equal(renewed.until_us, lease.until_us + 1000);
    assert_ok(ses_lease_renew(fixture->store, &key, lease.token, &brief, NULL, &error));
    fixture->now += 7;
    (void)must_take(fixture->store, &key, "b");
}

TEST(a_lease_that_ran_out_and_was_not_taken_is_still_good)
{
    ses_lease renewed;

    must_create(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    fixture->now = lease.until_us + 1;
    assert_ok(append_leased(fixture->store, "{}", lease.token, 0, &error));
    assert_ok(ses_lease_renew(fixture->store, &key, lease.token, NULL, &renewed, &error));
    assert_held(fixture->store, &key, "b");
    fixture->now = renewed.until_us + 1;
    must_release(fixture->store, &key, lease.token);
    assert_ok(append_leased(fixture->store, "{}", lease.token, 0, &error));
}

TEST(a_lease_taken_over_by_another_owner_is_leased)
{
    ses_lease renewed = {.token = 77, .until_us = 78};

    must_create(fixture->store, &key, NULL);
    assert_code(SES_LEASED, ses_lease_renew(fixture->store, &key, 1, NULL, &renewed, &error));
    ses_lease lease = must_take(fixture->store, &key, "a");
    fixture->now = lease.until_us;
    (void)must_take(fixture->store, &key, "b");
    assert_code(SES_LEASED, ses_lease_renew(fixture->store, &key, lease.token, NULL, &renewed, &error));
    assert_int_equal(renewed.token, 77);
    assert_code(SES_LEASED, ses_lease_release(fixture->store, &key, lease.token, NULL, &error));
    assert_message("another owner has taken it");
    assert_held(fixture->store, &key, "a");
}

TEST(nothing_else_of_the_session_moves)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'a':1}"));

    fixture->now += 5;
    ses_lease lease = must_take(fixture->store, &key, "a");
    must_release(fixture->store, &key, lease.token);
    must_append(session, "{}"); /* it is not STALE */
    ses_session_close(session);
    fixture->now += 5;
    lease = must_take(fixture->store, &key, "b");
    ses_session *after = must_get(fixture->store, &key);
    assert_int_equal(ses_session_version(after), 1);
    assert_int_equal(ses_session_updated_us(after), fixture->now - 5);
}

/* ---------------------------------------------------------------------------------------- appending */

TEST(an_append_with_the_token_passes_and_without_any_too)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    const ses_lease lease = must_take(fixture->store, &key, "a");
    const ses_append_options options = {.size = sizeof options, .lease = lease.token};

    assert_ok(ses_append(session, Q("{'id':'1'}"), SES_NUL, &options, NULL, &error));
    assert_ok(ses_append_batch(session, &(ses_text){Q("{'id':'2'}"), SES_NUL}, 1, &options, NULL, &error));
    assert_ok(append_leased(fixture->store, Q("{'id':'3'}"), lease.token, 0, &error));
    must_append_by_key(fixture->store, &key, Q("{'id':'4'}"));
}

TEST_FILE_AND_MEMORY(an_append_halfway_through_a_lost_turn_stores_nothing)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_lease lost = must_take(fixture->store, &key, "a");
    const ses_append_options options = {.size = sizeof options, .lease = lost.token};
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY, .lease = lost.token};
    const ses_text batch[] = {{Q("{'id':'1'}"), SES_NUL}, {Q("{'id':'2'}"), SES_NUL}};

    assert_ok(ses_append(session, Q("{'id':'1'}"), SES_NUL, &options, NULL, &error));
    fixture->now = lost.until_us;
    (void)must_take(fixture->store, &key, "b");
    char *before = describe_stored(fixture->store, &key);
    assert_code(SES_LEASED, ses_append(session, Q("{'id':'2'}"), SES_NUL, &options, NULL, &error));
    assert_code(SES_LEASED, ses_append(session, Q("{'id':'2'}"), SES_NUL, &anyway, NULL, &error));
    assert_code(SES_LEASED, append_leased(fixture->store, Q("{'id':'2'}"), lost.token, 0, &error));
    assert_code(SES_LEASED, ses_append_batch(session, batch, 2, &options, NULL, &error));
    assert_int_equal(error.index, 1); /* the first is stored already */
    assert_code(SES_LEASED, ses_append_batch_by_key(fixture->store, &key, batch, 2, &anyway, NULL, &error));
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    assert_int_equal(ses_session_event_count(session), 1);
    free(before);
    free(after);
}

TEST(a_retry_of_a_stored_event_needs_no_lease)
{
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'1'}"));
    (void)must_take(fixture->store, &key, "a");
    assert_code(SES_DUPLICATE, append_leased(fixture->store, Q("{'id':'1'}"), 77, 0, &error));
    assert_code(SES_EXISTS, append_leased(fixture->store, Q("{'id':'1','author':'x'}"), 77, 0, &error));
    assert_code(SES_PARTIAL, append_leased(fixture->store, Q("{'partial':true}"), 77, 0, &error));
}

TEST(leased_comes_before_stale)
{
    const ses_append_options lost = {.size = sizeof lost, .lease = 77};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    const ses_append_options options = {.size = sizeof options, .lease = lease.token};

    must_append_by_key(fixture->store, &key, "{}");
    assert_code(SES_LEASED, ses_append(session, "{}", SES_NUL, &lost, NULL, &error));
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
}

TEST(a_view_appends_with_a_token)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    ses_append_options options = {.size = sizeof options, .lease = lease.token + 1};
    ses_tracked *view = NULL;

    assert_ok(ses_tracked_open(session, NULL, &view, &error));
    assert_ok(ses_tracked_set_bool(view, "k", 1, &error));
    assert_code(SES_LEASED, ses_tracked_append(view, "{}", SES_NUL, &options, NULL, &error));
    assert_true(ses_tracked_changed(view));
    options.lease = lease.token;
    assert_ok(ses_tracked_append(view, "{}", SES_NUL, &options, NULL, &error));
    ses_tracked_close(view);
}

/* ---------------------------------------------------------------------------------------- bad input */

TEST(owners_names_have_bounds)
{
    char name[140] = "";
    ses_lease lease;

    must_create(fixture->store, &key, NULL);
    assert_code(SES_INVALID, ses_lease_take(fixture->store, &key, "", &at_once, &lease, &error));
    assert_message("empty");
    assert_code(SES_INVALID, ses_lease_take(fixture->store, &key, "\xFF", &at_once, &lease, &error));
    assert_message("UTF-8");
    memset(name, 'x', 129);
    assert_code(SES_INVALID, ses_lease_take(fixture->store, &key, name, &at_once, &lease, &error));
    assert_message("1 to 128 bytes");
    name[128] = '\0';
    (void)must_take(fixture->store, &key, name);
    name[127] = 'y';
    assert_held(fixture->store, &key, name);
}

TEST(wrong_arguments)
{
    const ses_lease_options negative = {.size = sizeof negative, .duration_us = -1};
    const ses_lease_options sizeless = {.wait_ms = -1};
    const ses_call_options flags = {.size = sizeof flags, .flags = 1};
    ses_store *store = fixture->store;
    ses_lease lease;

    must_create(store, &key, NULL);
    assert_code(SES_MISUSE, ses_lease_take(NULL, &key, "a", NULL, &lease, &error));
    assert_code(SES_MISUSE, ses_lease_take(store, NULL, "a", NULL, &lease, &error));
    assert_code(SES_MISUSE, ses_lease_take(store, &key, NULL, NULL, &lease, &error));
    assert_code(SES_MISUSE, ses_lease_take(store, &key, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_lease_take(store, &key, "a", &sizeless, &lease, &error));
    assert_code(SES_INVALID, ses_lease_take(store, &key, "a", &negative, &lease, &error));
    assert_code(SES_MISUSE, ses_lease_renew(NULL, &key, 1, NULL, &lease, &error));
    assert_code(SES_INVALID, ses_lease_renew(store, &key, 0, NULL, &lease, &error));
    assert_code(SES_INVALID, ses_lease_renew(store, &key, 1, &negative, &lease, &error));
    assert_code(SES_MISUSE, ses_lease_release(NULL, &key, 1, NULL, &error));
    assert_code(SES_INVALID, ses_lease_release(store, &key, -1, NULL, &error));
    assert_code(SES_MISUSE, ses_lease_release(store, &key, 1, &flags, &error));
    assert_code(SES_INVALID, append_leased(store, "{}", -1, 0, &error));
    assert_message("lease is negative");
    (void)must_take(store, &key, "a");
}

TEST(a_session_that_is_not_there)
{
    ses_lease lease;

    must_create(fixture->store, &key, NULL);
    lease = must_take(fixture->store, &key, "a");
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_lease_take(fixture->store, &key, "a", NULL, &lease, &error));
    assert_code(SES_NOTFOUND, ses_lease_renew(fixture->store, &key, lease.token, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_lease_release(fixture->store, &key, lease.token, NULL, &error));
    assert_code(SES_NOTFOUND, append_leased(fixture->store, "{}", lease.token, 0, &error));
}

TEST(a_read_only_store_gives_no_lease)
{
    ses_lease lease;

    must_create(fixture->store, &key, NULL);
    lease = must_take(fixture->store, &key, "a");
    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_code(SES_READONLY, ses_lease_take(fixture->store, &key, "b", NULL, &lease, &error));
    assert_code(SES_READONLY, ses_lease_renew(fixture->store, &key, lease.token, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_lease_release(fixture->store, &key, lease.token, NULL, &error));
}

TEST(a_rollback_journal_and_a_clock_before_1970)
{
    fixture->options.journal = SES_JOURNAL_ROLLBACK;
    fixture->now = -INT64_C(1000000000);
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    ses_lease lease = must_take(fixture->store, &key, "a");
    assert_held(fixture->store, &key, "b");
    must_release(fixture->store, &key, lease.token);
    (void)must_take(fixture->store, &key, "b");
}
