/* Lists that are filtered before they are divided into pages, and counts for the same filters: what they say
 * one by one. */
#include "open.h"

#include <stdbool.h>

static const ses_label blue[] = {{"color", "blue"}, {"size", "1"}};
static const ses_label red[] = {{"color", "red"}};
static const ses_label empty[] = {{"color", ""}};

static const int64_t second = 1000000;

static void create(struct fixture *fixture, const char *user, const char *name, const ses_label *labels,
                   size_t count)
{
    const ses_create_options options = {.size = sizeof options, .labels = labels, .label_count = count};
    const ses_key key = {"app", user, name};
    ses_error error;

    assert_ok(
        ses_create(fixture->store, &key, Q("{'k':1,'user:u':2,'app:a':3}"), SES_NUL, &options, NULL, &error));
    fixture->now += second;
}

/* A second apart: a1 and a2 are blue, a3 is red, b1 has an empty color, b2 has no label. */
static int lists_setup(void **state)
{
    int failed = fixture_setup(state);
    struct fixture *fixture = *state;

    create(fixture, "alice", "a1", blue, 2);
    create(fixture, "alice", "a2", blue, 2);
    create(fixture, "alice", "a3", red, 1);
    create(fixture, "bob", "b1", empty, 1);
    create(fixture, "bob", "b2", NULL, 0);
    return failed;
}

static int list_by(struct fixture *fixture, const char *user, const ses_filter *filter, int order,
                   ses_page **page, ses_error *error)
{
    const ses_list_options options = {.size = sizeof options, .order = order, .filter = filter};
    return ses_list(fixture->store, "app", user, &options, page, error);
}

/* The names in order of creation, in every page size; and the count. */
static void assert_listed(struct fixture *fixture, const char *user, const ses_filter *filter,
                          const char *expected)
{
    int64_t count = -1;
    ses_error error;

    for (size_t limit = 1; limit <= 6; limit++) {
        ses_list_options options = {
            .size = sizeof options, .order = SES_ORDER_CREATED, .filter = filter, .limit = limit};
        char token[2200] = "";
        char names[200] = "";
        do {
            ses_page *page = NULL;
            options.token = token[0] ? token : NULL;
            assert_ok(ses_list(fixture->store, "app", user, &options, &page, &error));
            for (size_t i = 0; i < ses_page_count(page); i++) {
                strcat(names, names[0] ? " " : "");
                strcat(names, ses_session_id(ses_page_session(page, i)));
            }
            snprintf(token, sizeof token, "%s", ses_page_token(page) ? ses_page_token(page) : "");
            ses_page_close(page);
        } while (token[0]);
        assert_string_equal(names, expected);
    }
    assert_ok(ses_list_count(fixture->store, "app", user, filter, NULL, &count, &error));
    assert_int_equal(count, expected[0] ? (strlen(expected) + 1) / 3 : 0);
}

#define FILTER(...) (&(ses_filter){.size = sizeof(ses_filter), __VA_ARGS__})

/* ------------------------------------------------------------------------------------------- sentences */

TEST_OF(lists_setup, by_label)
{
    assert_listed(fixture, NULL, NULL, "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.label = NULL), "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.label = "color"), "a1 a2 a3 b1");
    assert_listed(fixture, NULL, FILTER(.label = "color", .label_value = "blue"), "a1 a2");
    assert_listed(fixture, NULL, FILTER(.label = "color", .label_value = ""), "b1");
    assert_listed(fixture, NULL, FILTER(.label = "color", .label_value = "blu"), "");
    assert_listed(fixture, NULL, FILTER(.label = "colo"), "");
    assert_listed(fixture, "alice", FILTER(.label = "color"), "a1 a2 a3");
    assert_listed(fixture, "bob", FILTER(.label = "color"), "b1");
    assert_listed(fixture, "bob", FILTER(.label = "size"), "");
    assert_listed(fixture, "carol", FILTER(.label = "color"), "");
}

TEST_OF(lists_setup, a_label_that_changes)
{
    const ses_key a1 = {"app", "alice", "a1"};
    const ses_key b2 = {"app", "bob", "b2"};
    static const ses_label gone = {"color", NULL};

    assert_ok(ses_labels_set_by_key(fixture->store, &a1, &gone, 1, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &b2, blue, 2, NULL, &error));
    assert_listed(fixture, NULL, FILTER(.label = "color", .label_value = "blue"), "a2 b2");
    assert_listed(fixture, "bob", FILTER(.label = "color"), "b1 b2");
    must_delete(fixture->store, &b2);
    assert_listed(fixture, NULL, FILTER(.label = "size"), "a1 a2");
}

TEST_OF(lists_setup, by_prefix_of_the_id)
{
    create(fixture, "alice", "ab", blue, 2);
    create(fixture, "alice", "b\xC3\xA9", NULL, 0);
    create(fixture, "alice", "b\xF4\x8F\xBF\xBF", NULL, 0);
    assert_listed(fixture, "alice", FILTER(.id_prefix = "a"), "a1 a2 a3 ab");
    assert_listed(fixture, "alice", FILTER(.id_prefix = "a2"), "a2");
    assert_listed(fixture, "alice", FILTER(.id_prefix = "a2x"), "");
    assert_listed(fixture, "alice", FILTER(.id_prefix = "A"), "");
    assert_listed(fixture, "alice", FILTER(.id_prefix = "%"), "");
    assert_listed(fixture, "bob", FILTER(.id_prefix = ""), "b1 b2");
    assert_listed(fixture, "alice", FILTER(.id_prefix = "a", .label = "size"), "a1 a2 ab");
    ses_page *page = NULL;
    assert_ok(list_by(fixture, "alice", FILTER(.id_prefix = "b"), SES_ORDER_NEWEST, &page, &error));
    assert_int_equal(ses_page_count(page), 2);
    ses_page_close(page);
}

TEST_OF(lists_setup, by_update_time)
{
    const int64_t begin = fixture->now - 5 * second;
    const int64_t second_one = begin + second;
    const int64_t last = begin + 4 * second;
    const int64_t least = INT64_MIN;
    const int64_t most = INT64_MAX;

    assert_listed(fixture, NULL, FILTER(.updated_since_us = &second_one), "a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.updated_before_us = &second_one), "a1");
    assert_listed(fixture, NULL, FILTER(.updated_since_us = &second_one, .updated_before_us = &last),
                  "a2 a3 b1");
    assert_listed(fixture, "alice", FILTER(.updated_since_us = &second_one), "a2 a3");
    assert_listed(fixture, NULL, FILTER(.updated_since_us = &last, .updated_before_us = &second_one), "");
    assert_listed(fixture, NULL, FILTER(.updated_since_us = &last, .updated_before_us = &last), "");
    assert_listed(fixture, NULL, FILTER(.updated_since_us = &least, .updated_before_us = &most),
                  "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.updated_since_us = &most), "");
    assert_listed(fixture, NULL, FILTER(.updated_before_us = &least), "");
    assert_listed(fixture, NULL, FILTER(.updated_since_us = &second_one, .label = "color"), "a2 a3 b1");
}

/* The clock of the client that wrote to a1 last is far behind. */
TEST_OF(lists_setup, by_last_write)
{
    const int64_t begin = fixture->now - 5 * second;
    const int64_t second_one = begin + second;
    const int64_t last = begin + 4 * second;
    const int64_t now = fixture->now;
    const int64_t least = INT64_MIN;
    const int64_t most = INT64_MAX;

    must_append_by_key(fixture->store, &(ses_key){"app", "alice", "a1"}, "{\"timestamp\":1}");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &now), "a1");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &second_one), "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.changed_before_us = &last), "a2 a3 b1");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &last, .changed_before_us = &now), "b2");
    assert_listed(fixture, "alice", FILTER(.changed_since_us = &second_one, .changed_before_us = &now),
                  "a2 a3");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &now, .updated_before_us = &second_one), "a1");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &now, .updated_since_us = &second_one), "");
    assert_listed(fixture, NULL, FILTER(.changed_before_us = &now, .label = "color"), "a2 a3 b1");
    assert_listed(fixture, "alice", FILTER(.changed_before_us = &now, .id_prefix = "a2"), "a2");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &last, .changed_before_us = &last), "");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &least, .changed_before_us = &most),
                  "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.changed_since_us = &most), "");
    assert_listed(fixture, NULL, FILTER(.changed_before_us = &least), "");
}

TEST_OF(lists_setup, by_a_label_that_they_lack)
{
    const ses_key b2 = {"app", "bob", "b2"};
    const int64_t last = fixture->now - second;

    assert_listed(fixture, NULL, FILTER(.without_label = "color"), "b2");
    assert_listed(fixture, NULL, FILTER(.without_label = "size"), "a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.without_label = "colo"), "a1 a2 a3 b1 b2");
    assert_listed(fixture, "alice", FILTER(.without_label = "size"), "a3");
    assert_listed(fixture, "alice", FILTER(.without_label = "size", .id_prefix = "a1"), "");
    assert_listed(fixture, NULL, FILTER(.without_label = "size", .label = "color"), "a3 b1");
    assert_listed(fixture, NULL, FILTER(.without_label = "color", .label = "color"), "");
    assert_listed(fixture, NULL, FILTER(.without_label = "size", .changed_before_us = &last), "a3 b1");
    assert_ok(ses_labels_set_by_key(fixture->store, &b2, blue, 2, NULL, &error));
    assert_listed(fixture, NULL, FILTER(.without_label = "size"), "a3 b1");
}

TEST_OF(lists_setup, by_their_place_in_the_archive)
{
    const ses_key a2 = {"app", "alice", "a2"};
    const ses_key b2 = {"app", "bob", "b2"};
    const int64_t last = fixture->now - second;

    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_NO), "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_ONLY), "");
    assert_ok(ses_archive_set_by_key(fixture->store, &a2, 1, NULL, &error));
    assert_ok(ses_archive_set_by_key(fixture->store, &b2, 1, NULL, &error));
    assert_listed(fixture, NULL, NULL, "a1 a2 a3 b1 b2");
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_NO), "a1 a3 b1");
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_ONLY), "a2 b2");
    assert_listed(fixture, "alice", FILTER(.archived = SES_ARCHIVED_NO), "a1 a3");
    assert_listed(fixture, "alice", FILTER(.archived = SES_ARCHIVED_ONLY, .id_prefix = "a"), "a2");
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_NO, .label = "size"), "a1");
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_ONLY, .without_label = "size"), "b2");
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_ONLY, .updated_before_us = &last), "a2");
    assert_ok(ses_archive_set_by_key(fixture->store, &b2, 0, NULL, &error));
    assert_listed(fixture, NULL, FILTER(.archived = SES_ARCHIVED_ONLY), "a2");
}

/* A program of 0.2.0 passes the members that it knows, and whatever is behind them. */
TEST_OF(lists_setup, a_shorter_filter_has_no_later_members)
{
    const int64_t most = INT64_MAX;
    const ses_filter filter = {.size = offsetof(ses_filter, changed_since_us),
                               .label = "color",
                               .changed_since_us = &most,
                               .without_label = "color",
                               .archived = SES_ARCHIVED_ONLY};

    assert_listed(fixture, NULL, &filter, "a1 a2 a3 b1");
}

TEST_OF(lists_setup, sessions_show_title_labels_and_state)
{
    const ses_key a2 = {"app", "alice", "a2"};
    ses_page *page = NULL;

    assert_ok(ses_title_set_by_key(fixture->store, &a2, "Second", NULL, &error));
    assert_ok(list_by(fixture, NULL, FILTER(.label = "size"), SES_ORDER_NEWEST, &page, &error));
    assert_int_equal(ses_page_count(page), 2);
    const ses_session *first = ses_page_session(page, 0);
    assert_string_equal(ses_session_id(first), "a2");
    assert_string_equal(ses_session_user(first), "alice");
    assert_string_equal(ses_session_title(first), "Second");
    assert_string_equal(ses_session_label_value(first, "color"), "blue");
    assert_string_equal(support_state(first, NULL), Q("{'app:a':3,'user:u':2,'k':1}"));
    assert_null(ses_session_title(ses_page_session(page, 1)));
    ses_page_close(page);
}

TEST_OF(lists_setup, lists_without_state)
{
    const ses_list_options options = {.size = sizeof options, .flags = SES_LIST_NO_STATE, .limit = 3};
    const ses_list_options wrong = {.size = sizeof wrong, .flags = 0x400};
    const char *json = NULL;
    ses_page *page = NULL;

    assert_ok(ses_list(fixture->store, "app", NULL, &options, &page, &error));
    assert_int_equal(ses_page_count(page), 3);
    for (size_t i = 0; i < 3; i++) {
        const ses_session *session = ses_page_session(page, i);
        assert_int_equal(ses_state_count(session), 0);
        assert_string_equal(support_state(session, NULL), "{}");
        assert_code(SES_ABSENT, ses_state_get(session, "k", &json, NULL, &error));
        assert_int_equal(ses_session_label_count(session), i == 0 ? 0 : 1);
    }
    /* The filter of a token does not include the content of a page. */
    const ses_list_options next = {.size = sizeof next, .limit = 3, .token = ses_page_token(page)};
    ses_page *rest = NULL;
    assert_ok(ses_list(fixture->store, "app", NULL, &next, &rest, &error));
    assert_int_equal(ses_page_count(rest), 2);
    assert_int_equal(ses_state_count(ses_page_session(rest, 0)), 3);
    ses_page_close(rest);
    ses_page_close(page);
    assert_code(SES_MISUSE, ses_list(fixture->store, "app", NULL, &wrong, &page, &error));
}

TEST_OF(lists_setup, a_token_belongs_to_its_filter)
{
    const int64_t since = 1;
    const int64_t later = 2;
    const int64_t later_than_all = INT64_MAX - 1;
    const ses_filter filters[] = {
        {.size = sizeof(ses_filter)},
        {.size = sizeof(ses_filter), .label = "color"},
        {.size = sizeof(ses_filter), .label = "color", .label_value = ""},
        {.size = sizeof(ses_filter), .label = "color", .label_value = "blue"},
        {.size = sizeof(ses_filter), .label = "size"},
        {.size = sizeof(ses_filter), .id_prefix = "a"},
        {.size = sizeof(ses_filter), .id_prefix = ""},
        {.size = sizeof(ses_filter), .updated_since_us = &since},
        {.size = sizeof(ses_filter), .updated_since_us = &later},
        {.size = sizeof(ses_filter), .updated_before_us = &fixture->now},
        {.size = sizeof(ses_filter), .changed_since_us = &since},
        {.size = sizeof(ses_filter), .changed_since_us = &later},
        {.size = sizeof(ses_filter), .changed_before_us = &later_than_all},
        {.size = sizeof(ses_filter), .without_label = "shape"},
        {.size = sizeof(ses_filter), .without_label = "size"},
        {.size = sizeof(ses_filter), .archived = SES_ARCHIVED_NO},
    };
    const size_t count = sizeof filters / sizeof filters[0];

    create(fixture, "alice", "a4", empty, 1);
    create(fixture, "alice", "a5", empty, 1);
    for (size_t i = 0; i < count; i++) {
        ses_list_options options = {.size = sizeof options, .filter = &filters[i], .limit = 1};
        ses_page *page = NULL;
        assert_ok(ses_list(fixture->store, "app", "alice", &options, &page, &error));
        options.token = ses_page_token(page);
        assert_non_null(options.token);
        for (size_t j = 0; j < count; j++) {
            ses_page *next = NULL;
            options.filter = &filters[j];
            assert_code(i == j ? SES_OK : SES_INVALID,
                        ses_list(fixture->store, "app", "alice", &options, &next, &error));
            ses_page_close(next);
        }
        options.filter = NULL;
        ses_page *next = NULL;
        assert_code(i == 0 ? SES_OK : SES_INVALID,
                    ses_list(fixture->store, "app", "alice", &options, &next, &error));
        ses_page_close(next);
        ses_page_close(page);
    }
}

TEST_OF(lists_setup, filters_that_break_a_rule_are_refused)
{
    static char text[600];
    const ses_filter *const invalid[] = {
        FILTER(.label = ""),
        FILTER(.label = "\xff"),
        FILTER(.label = text),
        FILTER(.without_label = ""),
        FILTER(.without_label = "\xff"),
        FILTER(.without_label = text),
        FILTER(.label = "l", .label_value = text),
        FILTER(.label = "l", .label_value = "\xff"),
        FILTER(.id_prefix = "\xff"),
        FILTER(.id_prefix = text),
    };
    ses_page *page = NULL;
    int64_t count = 7;

    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        assert_code(SES_INVALID, list_by(fixture, "alice", invalid[i], SES_ORDER_NEWEST, &page, &error));
        assert_message("filter");
        assert_code(SES_INVALID,
                    ses_list_count(fixture->store, "app", "alice", invalid[i], NULL, &count, &error));
    }
    assert_code(SES_MISUSE,
                list_by(fixture, NULL, FILTER(.label_value = "v"), SES_ORDER_NEWEST, &page, &error));
    assert_code(SES_MISUSE,
                list_by(fixture, NULL, FILTER(.id_prefix = "v"), SES_ORDER_NEWEST, &page, &error));
    assert_code(SES_MISUSE,
                list_by(fixture, NULL, &(ses_filter){.size = 0}, SES_ORDER_NEWEST, &page, &error));
    assert_code(SES_MISUSE,
                ses_list_count(fixture->store, "app", NULL, FILTER(.id_prefix = "v"), NULL, &count, &error));
    assert_code(SES_MISUSE, list_by(fixture, NULL, FILTER(.archived = 3), SES_ORDER_NEWEST, &page, &error));
    assert_code(SES_MISUSE, list_by(fixture, NULL, FILTER(.archived = -1), SES_ORDER_NEWEST, &page, &error));
    assert_code(SES_MISUSE, ses_list_count(fixture->store, "app", NULL, NULL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_list_count(fixture->store, "", NULL, NULL, NULL, &count, &error));
    assert_code(SES_INVALID, ses_list_count(fixture->store, "app", "", NULL, NULL, &count, &error));
    assert_null(page);
    assert_int_equal(count, 7);
}

TEST_OF(lists_setup, apps_do_not_mix)
{
    const ses_create_options options = {.size = sizeof options, .labels = blue, .label_count = 2};
    const ses_key other = {"other", "alice", "a1"};
    int64_t count = 0;

    assert_ok(ses_create(fixture->store, &other, NULL, 0, &options, NULL, &error));
    assert_listed(fixture, NULL, FILTER(.label = "size"), "a1 a2");
    assert_ok(ses_list_count(fixture->store, "other", NULL, FILTER(.label = "size"), NULL, &count, &error));
    assert_int_equal(count, 1);
    assert_ok(ses_list_count(fixture->store, "none", NULL, NULL, NULL, &count, &error));
    assert_int_equal(count, 0);
}

/* A label that another program wrote without the mark in the session's row is not there, for any way to find
 * it. */
TEST_OF(lists_setup, a_label_without_its_mark_is_not_there)
{
    raw_exec(fixture->path, "UPDATE sessions SET details = 0 WHERE name = 'a1'");
    assert_listed(fixture, NULL, FILTER(.label = "size"), "a2");
    assert_listed(fixture, "alice", FILTER(.label = "size"), "a2");
}

/* The label's row, found by its index, belongs to the app of another session. */
TEST_OF(lists_setup, damage_is_corrupt)
{
    ses_page *page = NULL;

    raw_exec(fixture->path, "INSERT INTO apps VALUES (2, 'other'); UPDATE session_labels SET app_id = 2;");
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
        assert_code(SES_CORRUPT, list_by(fixture, "alice", FILTER(.label = "size"), order, &page, &error));
        assert_code(SES_CORRUPT, ses_list(fixture->store, "other", NULL,
                                          &(ses_list_options){.size = sizeof(ses_list_options),
                                                              .order = order,
                                                              .filter = FILTER(.label = "size")},
                                          &page, &error));
    }
}

/* Enough sessions that a list of one label looks at the sessions with it, and not at all of the user. */
MEMORY_TEST(a_user_with_many_sessions)
{
    enum { MANY = 510 };
    const int64_t since = fixture->now + 100 * second;
    const struct {
        ses_filter filter;
        int64_t count;
    } cases[] = {
        {{.size = sizeof(ses_filter), .updated_since_us = &since}, MANY - 100},
        {{.size = sizeof(ses_filter), .label = "color"}, 5},
        {{.size = sizeof(ses_filter), .label = "color", .id_prefix = "s2"}, 2},
        {{.size = sizeof(ses_filter), .label = "color", .id_prefix = "s2", .updated_since_us = &since}, 1},
        {{.size = sizeof(ses_filter), .without_label = "color"}, MANY - 5},
        {{.size = sizeof(ses_filter), .label = "color", .changed_since_us = &since}, 4},
    };

    for (int i = 0; i < MANY; i++) {
        char id[8];
        snprintf(id, sizeof id, "s%d", i);
        create(fixture, "carol", id, i % 100 == 20 ? red : NULL, i % 100 == 20);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            ses_list_options options = {
                .size = sizeof options, .order = order, .limit = MANY, .filter = &cases[i].filter};
            ses_page *page = NULL;
            assert_ok(ses_list(fixture->store, "app", "carol", &options, &page, &error));
            assert_int_equal(ses_page_count(page), cases[i].count);
            ses_page_close(page);
        }
    }
}
