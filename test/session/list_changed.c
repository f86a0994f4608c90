/* Lists in the order of the last writes, by the store's clock. */
#include "../open.h"

static const ses_key one = {"app", "alice", "one"};
static const ses_key two = {"app", "bob", "two"};
static const ses_key three = {"app", "alice", "three"};

/* The ids in this order, a page at a time. */
static void assert_changed(ses_store *store, const char *user, size_t limit, const ses_filter *filter,
                           const char *expected)
{
    ses_list_options options = {
        .size = sizeof options, .order = SES_ORDER_CHANGED, .limit = limit, .filter = filter};
    int64_t before_us = INT64_MAX;
    char names[2000] = "";
    ses_page *page = NULL;
    ses_error error;

    do {
        ses_page *next;
        options.token = page ? ses_page_token(page) : NULL;
        assert_ok(ses_list(store, "app", user, &options, &next, &error));
        ses_page_close(page);
        page = next;
        for (size_t i = 0; i < ses_page_count(page); i++) {
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? " " : "",
                     ses_session_id(ses_page_session(page, i)));
            assert_true(ses_page_changed_us(page, i) <= before_us);
            before_us = ses_page_changed_us(page, i);
        }
        assert_int_equal(ses_page_changed_us(page, ses_page_count(page)), 0);
    } while (ses_page_token(page));
    ses_page_close(page);
    assert_string_equal(names, expected);
}

/* Each is created a second after the one before. */
static void make_three(struct fixture *fixture)
{
    const ses_key *const keys[] = {&one, &two, &three};

    for (int i = 0; i < 3; i++) {
        fixture->now += 1000000;
        must_create(fixture->store, keys[i], NULL);
    }
}

static void append_at(const struct fixture *fixture, const ses_key *key, int64_t seconds_ahead)
{
    char event[64];

    snprintf(event, sizeof event, "{\"timestamp\":%lld,\"invocationId\":\"i\"}",
             (long long)(fixture->now / 1000000 + seconds_ahead));
    must_append_by_key(fixture->store, key, event);
}

static void test_the_clocks_of_clients_do_not_matter(void **state)
{
    struct fixture *fixture = *state;

    make_three(fixture);
    append_at(fixture, &one, 5 * 3600);
    fixture->now += 1000000;
    append_at(fixture, &two, -5 * 3600);
    for (size_t limit = 1; limit <= 4; limit++) {
        assert_changed(fixture->store, NULL, limit, NULL, "two one three");
        assert_changed(fixture->store, "alice", limit, NULL, "one three");
    }
    fixture_reopen(fixture);
    assert_changed(fixture->store, NULL, 2, NULL, "two one three");
}

static void test_every_change_of_the_log_is_a_write(void **state)
{
    struct fixture *fixture = *state;
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ};
    ses_session *fork = NULL;
    ses_error error;

    make_three(fixture);
    append_at(fixture, &one, 0);
    fixture->now += 1000000;
    append_at(fixture, &two, 0);
    fixture->now += 1000000;
    assert_ok(ses_rewind_by_key(fixture->store, &one, &start, NULL, NULL, &error));
    assert_changed(fixture->store, NULL, 2, NULL, "one two three");
    fixture->now += 1000000;
    assert_ok(ses_cut_by_key(fixture->store, &two, &start, NULL, NULL, &error));
    assert_changed(fixture->store, NULL, 2, NULL, "two one three");
    fixture->now += 1000000;
    assert_ok(ses_fork_by_key(fixture->store, &three, &start, &(ses_key){"app", "alice", "fork"}, NULL, &fork,
                              &error));
    ses_session_close(fork);
    assert_changed(fixture->store, NULL, 2, NULL, "fork two one three");
}

static void test_titles_labels_and_expiry_are_not(void **state)
{
    struct fixture *fixture = *state;
    const ses_label label = {"l", "v"};
    const ses_filter labelled = {.size = sizeof labelled, .label = "l"};
    ses_error error;

    make_three(fixture);
    fixture->now += 1000000;
    const int64_t later = fixture->now + 1000000;
    assert_ok(ses_title_set_by_key(fixture->store, &one, "A title", NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &one, &label, 1, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &three, &label, 1, NULL, &error));
    assert_ok(ses_expiry_set_by_key(fixture->store, &two, &later, NULL, &error));
    assert_changed(fixture->store, NULL, 1, NULL, "three two one");
    assert_changed(fixture->store, NULL, 1, &labelled, "three one");
}

static void test_ties_are_by_id(void **state)
{
    struct fixture *fixture = *state;
    const char *const ids[] = {"d", "a", "c", "b"};

    for (int i = 0; i < 4; i++)
        must_create(fixture->store, &(ses_key){"app", i % 2 ? "alice" : "bob", ids[i]}, NULL);
    for (size_t limit = 1; limit <= 4; limit++)
        assert_changed(fixture->store, NULL, limit, NULL, "a b c d");
}

static void test_a_token_belongs_to_its_order(void **state)
{
    struct fixture *fixture = *state;
    ses_error error;

    make_three(fixture);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        ses_list_options options = {.size = sizeof options, .order = order, .limit = 1};
        ses_page *page = NULL;
        assert_ok(ses_list(fixture->store, "app", NULL, &options, &page, &error));
        options.token = ses_page_token(page);
        for (options.order = SES_ORDER_NEWEST; options.order <= SES_ORDER_CHANGED; options.order++) {
            ses_page *next = NULL;
            assert_code(options.order == order ? SES_OK : SES_INVALID,
                        ses_list(fixture->store, "app", NULL, &options, &next, &error));
            ses_page_close(next);
        }
        ses_page_close(page);
    }
    const ses_list_options unknown = {.size = sizeof unknown, .order = SES_ORDER_CHANGED + 1};
    ses_page *none = NULL;
    assert_code(SES_MISUSE, ses_list(fixture->store, "app", NULL, &unknown, &none, &error));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_the_clocks_of_clients_do_not_matter), T(test_every_change_of_the_log_is_a_write),
        T(test_titles_labels_and_expiry_are_not),    T(test_ties_are_by_id),
        T(test_a_token_belongs_to_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
