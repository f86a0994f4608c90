/* Families: the relatives of a session, lists of children, and deletions with children. */
#include "../open.h"

#include "seslite_erase.h"

static const ses_key talk = {"app", "user", "talk"};

static ses_key named(const char *session)
{
    return (ses_key){"app", "user", session};
}

static void must_say(ses_store *store, const char *session, int events)
{
    const ses_key key = named(session);
    char event[100];

    for (int i = 0; i < events; i++) {
        snprintf(event, sizeof event, "{\"invocationId\":\"%s%d\",\"author\":\"a\"}", session, i);
        must_append_by_key(store, &key, event);
    }
}

static void must_fork(ses_store *store, const char *from, int64_t seq, const char *to)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    const ses_key source = named(from);
    const ses_key fork = named(to);
    ses_error error;

    assert_ok(ses_fork_by_key(store, &source, &point, &fork, NULL, NULL, &error));
}

static void must_create_child(ses_store *store, const char *of, const char *session)
{
    const ses_key owner = named(of);
    const ses_key key = named(session);
    const ses_create_options options = {.size = sizeof options, .child_of = &owner};
    ses_error error;

    assert_ok(ses_create(store, &key, NULL, 0, &options, NULL, &error));
}

static void assert_family(ses_store *store, const char *session, const char *expected)
{
    static const char *const relations[] = {[SES_RELATION_PARENT] = "parent",
                                            [SES_RELATION_FORK] = "fork",
                                            [SES_RELATION_SIBLING] = "sibling",
                                            [SES_RELATION_CHILD_OF] = "child of",
                                            [SES_RELATION_CHILD] = "child"};
    const ses_key key = named(session);
    struct text text = {NULL, 0};
    ses_family *family = NULL;
    ses_error error;

    text_add(&text, "", 0);
    assert_ok(ses_family_open(store, &key, NULL, &family, &error));
    for (size_t i = 0; i < ses_family_count(family); i++) {
        const ses_relative *relative = ses_family_at(family, i);
        assert_string_equal(relative->user, "user");
        text_printf(&text, "%s%s %s", i > 0 ? ", " : "", relations[relative->relation], relative->session);
        if (relative->seq > 0)
            text_printf(&text, " %d", (int)relative->seq);
    }
    assert_null(ses_family_at(family, ses_family_count(family)));
    assert_string_equal(text.data, expected);
    free(text.data);
    ses_family_close(family);
}

static void assert_listed(ses_store *store, int order, const char *user, const char *of, const char *expected)
{
    const ses_key owner = {NULL, "user", of};
    const ses_filter filter = {.size = sizeof filter, .child_of = &owner};
    const ses_list_options options = {.size = sizeof options, .order = order, .filter = &filter};
    char names[200] = "";
    ses_page *page = NULL;
    int64_t count = -1;
    ses_error error;

    assert_ok(ses_list(store, "app", user, &options, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "",
                 ses_session_id(ses_page_session(page, i)));
    assert_string_equal(names, expected);
    assert_ok(ses_list_count(store, "app", user, &filter, NULL, &count, &error));
    assert_int_equal(count, ses_page_count(page));
    ses_page_close(page);
}

static int64_t must_delete_with_children(ses_store *store, const char *session)
{
    const ses_delete_options options = {.size = sizeof options, .flags = SES_DELETE_CHILDREN};
    const ses_key key = named(session);
    int64_t deleted = -1;
    ses_error error;

    assert_ok(ses_delete(store, &key, &options, &deleted, &error));
    return deleted;
}

static void assert_store_sound(ses_store *store)
{
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
}

/* Each answer to the message 5 is the end of a session of its own. */
TEST(versions_of_an_answer)
{
    ses_store *store = fixture->store;

    must_create(store, &talk, NULL);
    must_say(store, "talk", 6);
    assert_family(store, "talk", "");
    must_fork(store, "talk", 4, "second");
    must_say(store, "second", 1);
    must_fork(store, "second", 4, "third"); /* in effect, of talk */
    must_fork(store, "second", 5, "deep");
    must_fork(store, "talk", 2, "early");
    assert_family(store, "talk", "fork second 4, fork third 4, fork early 2");
    assert_family(store, "second", "parent talk 4, sibling third 4, fork deep 5");
    assert_family(store, "third", "parent talk 4, sibling second 4");
    assert_family(store, "deep", "parent second 5");
    assert_ok(ses_delete(store, &talk, NULL, NULL, &error));
    assert_family(store, "third", "sibling second 4");
    must_create(store, &talk, NULL); /* a stranger */
    assert_family(store, "talk", "");
    assert_store_sound(store);
}

TEST(children_and_their_owners)
{
    ses_store *store = fixture->store;

    must_create(store, &talk, NULL);
    must_say(store, "talk", 2);
    must_create_child(store, "talk", "a");
    must_create_child(store, "talk", "b");
    must_create_child(store, "a", "aa");
    must_fork(store, "talk", 1, "other");
    assert_family(store, "talk", "child a, child b, fork other 1");
    assert_family(store, "a", "child of talk, child aa");
    assert_family(store, "aa", "child of a");
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        assert_listed(store, order, "user", "talk", "a b");
        assert_listed(store, order, NULL, "a", "aa");
        assert_listed(store, order, NULL, "aa", "");
        assert_listed(store, order, NULL, "none", "");
    }
    assert_ok(ses_delete(store, &talk, NULL, NULL, &error));
    assert_listed(store, SES_ORDER_NEWEST, NULL, "talk", "a b"); /* by its names */
    assert_listed(store, SES_ORDER_CREATED, "user", "talk", "a b");
    assert_family(store, "a", "child aa");
    must_create(store, &talk, NULL); /* a stranger of the same names */
    must_create_child(store, "talk", "c");
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        assert_listed(store, order, "user", "talk", "a b c");
        assert_listed(store, order, NULL, "talk", "a b c");
    }
    assert_family(store, "talk", "child c");
    assert_store_sound(store);
}

/* A line that has no number of origin names what it is a child of. */
TEST(a_loaded_child_joins_the_family)
{
    ses_store *store = fixture->store;
    const ses_key a = named("a");
    const ses_loaded child = {.size = sizeof child, .child_of = &talk};

    must_create(store, &talk, NULL);
    assert_ok(ses_load(store, &a, &child, NULL, NULL, &error));
    assert_family(store, "talk", "child a");
    assert_listed(store, SES_ORDER_NEWEST, NULL, "talk", "a");
    assert_int_equal(must_delete_with_children(store, "talk"), 2);
}

/* A fork of a child is a child of the same session. */
TEST(a_receipt_has_the_children)
{
    ses_store *store = fixture->store;
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {
        .size = sizeof options, .flags = SES_DELETE_CHILDREN, .erased = &erased};

    must_create(store, &talk, NULL);
    must_say(store, "talk", 2);
    must_create_child(store, "talk", "a");
    must_say(store, "a", 2);
    must_create_child(store, "a", "aa");
    must_fork(store, "talk", 2, "talk fork");
    must_fork(store, "a", 1, "a fork");
    must_fork(store, "a", 0, "empty");
    assert_ok(ses_delete(store, &talk, &options, NULL, &error));
    assert_int_equal(erased.sessions, 5);
    assert_int_equal(erased.events, 5);
    assert_int_equal(erased.forks_left, 1);
}

TEST(a_deletion_takes_children_along)
{
    ses_store *store = fixture->store;
    int64_t count = -1;

    must_create(store, &talk, NULL);
    must_say(store, "talk", 2);
    must_create_child(store, "talk", "a");
    must_create_child(store, "a", "aa");
    must_create_child(store, "aa", "aaa");
    must_say(store, "aaa", 1);
    must_fork(store, "aaa", 1, "aaa fork");
    must_fork(store, "talk", 2, "other");
    must_create_child(store, "other", "b");
    assert_int_equal(must_delete_with_children(store, "talk"), 5);
    assert_ok(ses_list_count(store, "app", NULL, NULL, NULL, &count, &error));
    assert_int_equal(count, 2);
    assert_int_equal(must_delete_with_children(store, "talk"), 0);
    assert_int_equal(must_delete_with_children(store, "other"), 2);
    const ses_delete_options user = {.size = sizeof user, .flags = SES_DELETE_CHILDREN};
    assert_code(SES_MISUSE, ses_delete_user(store, "app", "user", &user, NULL, NULL, &error));
    assert_store_sound(store);
}

/* Names that were used again make a circle: each is deleted once. */
TEST(a_circle_ends)
{
    ses_store *store = fixture->store;
    const ses_key a = named("a");
    const ses_key b = named("b");
    const ses_loaded of_b = {.size = sizeof of_b, .child_of = &b, .origin = 7};
    const ses_loaded of_a = {.size = sizeof of_a, .child_of = &a, .origin = 7};

    assert_ok(ses_load(store, &a, &of_b, NULL, NULL, &error));
    assert_ok(ses_load(store, &b, &of_a, NULL, NULL, &error));
    assert_family(store, "a", "child b");
    assert_listed(store, SES_ORDER_NEWEST, NULL, "a", "b");
    assert_int_equal(must_delete_with_children(store, "a"), 2);

    const int64_t now_us = fixture->now;
    const ses_loaded fork_of_b = {.size = sizeof fork_of_b,
                                  .parent = &b,
                                  .last_seq = 3,
                                  .parent_seq = 3,
                                  .origin = 7,
                                  .created_us = &now_us};
    const ses_loaded fork_of_a = {.size = sizeof fork_of_a,
                                  .parent = &a,
                                  .last_seq = 3,
                                  .parent_seq = 3,
                                  .origin = 7,
                                  .created_us = &now_us};
    assert_ok(ses_load(store, &a, &fork_of_b, NULL, NULL, &error));
    assert_ok(ses_load(store, &b, &fork_of_a, NULL, NULL, &error));
    ses_family *family = NULL;
    assert_ok(ses_family_open(store, &a, NULL, &family, &error));
    ses_family_close(family);
    ses_family_close(NULL);
}

/* Children that are older than what they are children of, and some that lead only to a circle. */
TEST(a_long_row_of_children)
{
    enum { ROW = 300 };
    ses_store *store = fixture->store;
    char names[ROW + 1][8];

    for (int i = 0; i <= ROW; i++)
        snprintf(names[i], sizeof names[i], "c%d", i);
    for (int i = ROW; i > 0; i--) {
        const int of = i == 250 ? ROW : i <= 200 ? i - 1 : i % 2 == 0 ? i - 2 : 1;
        const ses_key key = named(names[i]);
        const ses_key owner = named(names[of]);
        const ses_loaded child = {.size = sizeof child, .child_of = &owner, .origin = 7};
        if (i != 202)
            assert_ok(ses_load(store, &key, &child, NULL, NULL, &error));
    }
    const ses_key first = named(names[0]);
    const ses_loaded owner = {.size = sizeof owner, .origin = 7};
    assert_ok(ses_load(store, &first, &owner, NULL, NULL, &error));
    /* The odd ones from 201 on are children of c1. The even ones lead to the circle of 250 to 300, or to 202,
     * which is not there. */
    assert_int_equal(must_delete_with_children(store, names[0]), 1 + 200 + 50);
}

TEST(what_is_not_there)
{
    const ses_key nameless = {NULL, "user", ""};
    const ses_key far = {"others", "user", "talk"};
    ses_filter filter = {.size = sizeof filter, .child_of = &nameless};
    ses_family *family = NULL;
    int64_t count = 0;

    assert_code(SES_NOTFOUND, ses_family_open(fixture->store, &talk, NULL, &family, &error));
    assert_null(family);
    assert_code(SES_MISUSE, ses_family_open(fixture->store, &talk, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_list_count(fixture->store, "app", NULL, &filter, NULL, &count, &error));
    filter.child_of = &far;
    assert_code(SES_INVALID, ses_list_count(fixture->store, "app", NULL, &filter, NULL, &count, &error));
}

/* A child that keeps an event of its owner, with its id, loses it with it. */
TEST(a_redaction_follows_children)
{
    static const char *const event = "{\"id\":\"1\",\"author\":\"user\",\"timestamp\":1700000000,"
                                     "\"content\":{\"parts\":[{\"text\":\"secret\"}]}}";
    const ses_redact_options forks = {.size = sizeof forks, .flags = SES_REDACT_FORKS};
    const ses_key a = named("a");
    const int64_t seq = 1;
    ses_erased erased = {.size = sizeof erased};
    char *json = NULL;

    must_create(fixture->store, &talk, NULL);
    must_append_by_key(fixture->store, &talk, event);
    must_create_child(fixture->store, "talk", "a");
    must_say(fixture->store, "a", 1);
    must_append_by_key(fixture->store, &a, event);
    assert_ok(ses_redact_by_key(fixture->store, &talk, &seq, 1, &forks, &erased, &error));
    assert_int_equal(erased.sessions, 1);
    assert_ok(ses_event_get_by_key(fixture->store, &a, "1", NULL, NULL, &json, NULL, &error));
    assert_null(strstr(json, "secret"));
    ses_free(json);
}
