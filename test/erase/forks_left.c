/* Receipts count the sessions that have copies of what was deleted by their number of origin, as
 * redactions find them, and not by what their parents were called. */
#include "erase.h"

#include "seslite_transfer.h"

static const ses_key first = {"app", "alice", "first"};
static const ses_key one = {"app", "alice", "one"};
static const ses_key two = {"app", "alice", "two"};
static const ses_key of_bob = {"app", "bob", "fork"};

static void say(ses_store *store, const ses_key *of, int events)
{
    must_create(store, of, Q("{'k':1}"));
    for (int i = 0; i < events; i++)
        must_append_by_key(store, of, Q("{'author':'user','content':{'parts':[{'text':'some words'}]}}"));
}

static void must_fork(ses_store *store, const ses_key *from, const ses_point *point, const ses_key *to)
{
    const ses_fork_options other_user = {.size = sizeof other_user, .flags = SES_FORK_OTHER_USER};
    ses_error error;

    assert_ok(ses_fork_by_key(store, from, point, to, &other_user, NULL, &error));
}

static int64_t left_by_prune(ses_store *store, const ses_key *of, int64_t seq, int64_t limit)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = seq, .limit = limit, .erased = &erased};
    ses_error error;

    assert_true(ses_prune_by_key(store, of, &options, NULL, &error) >= 0);
    return erased.forks_left;
}

static int64_t left_by_delete_user(ses_store *store, const char *user)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};
    ses_error error;

    assert_ok(ses_delete_user(store, "app", user, &options, NULL, NULL, &error));
    return erased.forks_left;
}

/* Two forks of a session that is deleted. A new one that gets its name has no forks. */
TEST(forks_of_a_deleted_session)
{
    ses_store *store = fixture->store;

    say(store, &first, 3);
    must_fork(store, &first, NULL, &one);
    must_fork(store, &first, NULL, &two);
    assert_int_equal(left_by_delete(store, &first), 2);
    say(store, &first, 3);
    assert_int_equal(left_by_delete(store, &first), 0);
    assert_int_equal(left_by_delete(store, &one), 1);
    assert_int_equal(left_by_delete(store, &two), 0);
    assert_no_problems(store);
}

TEST(forks_of_forks_and_their_parents)
{
    ses_store *store = fixture->store;

    say(store, &first, 3);
    must_fork(store, &first, NULL, &one);
    must_fork(store, &one, NULL, &of_bob);
    assert_int_equal(left_by_delete(store, &one), 2);
    assert_int_equal(left_by_delete(store, &of_bob), 1);
}

/* A fork from before the first event has none of them. */
TEST(a_fork_without_copies)
{
    ses_store *store = fixture->store;

    say(store, &first, 3);
    must_fork(store, &first, AFTER_SEQ(0), &one);
    must_append_by_key(store, &one, "{}");
    assert_int_equal(left_by_delete(store, &first), 0);
}

/* The same session under another name, and under another user's. */
TEST(copies_that_were_imported)
{
    ses_store *store = fixture->store;
    const ses_import_options to_bob = {.size = sizeof to_bob, .user = "bob"};
    ses_import_report report = {.size = sizeof report};

    say(store, &first, 3);
    must_fork(store, &first, NULL, &one);
    struct text lines = exported(store, NULL);
    struct piecewise given = {.data = lines.data, .len = lines.len};
    assert_ok(ses_store_import(store, give_lines, &given, &to_bob, &report, &error));
    assert_int_equal(left_by_delete(store, &one), 3);
    must_append_by_key(store, &first, "{}");
    assert_ok(import_text(store, lines.data, lines.len, SES_IMPORT_RENAME, &report, &error));
    free(lines.data);
    assert_int_equal(report.renamed, 1);
    assert_int_equal(left_by_delete(store, &first), 4);
    assert_no_problems(store);
}

/* Siblings, of which each has a beginning of what was said. */
TEST(only_what_is_deleted_counts)
{
    ses_store *store = fixture->store;

    say(store, &first, 9);
    must_fork(store, &first, AFTER_SEQ(6), &one);
    must_fork(store, &first, AFTER_SEQ(3), &two);
    must_append_by_key(store, &one, "{}"); /* has the number that another one of `two` has */
    for (int i = 0; i < 5; i++)
        must_append_by_key(store, &two, "{}");
    must_delete(store, &first);
    assert_int_equal(left_by_cut(store, &one, 6), 0);
    assert_int_equal(left_by_cut(store, &one, 3), 0);
    assert_int_equal(left_by_cut(store, &one, 2), 1);
    assert_int_equal(left_by_prune(store, &two, 1, 0), 1);
    assert_int_equal(left_by_prune(store, &two, 1, 0), 0); /* nothing was deleted */
    assert_int_equal(left_by_prune(store, &one, 1, 0), 0); /* the other has pruned it */
    assert_int_equal(left_by_prune(store, &two, 6, 1), 1);
    assert_int_equal(left_by_prune(store, &two, 6, 0), 0);
    assert_no_problems(store);
}

/* Where one has pruned all that they have in common, their names tell. */
TEST(copies_of_pruned_events_are_left_elsewhere)
{
    ses_store *store = fixture->store;

    say(store, &first, 4);
    must_fork(store, &first, NULL, &one);
    assert_int_equal(left_by_prune(store, &first, 4, 0), 1);
    assert_int_equal(left_by_delete(store, &first), 1);
}

TEST(all_of_a_user)
{
    ses_store *store = fixture->store;
    const ses_key carol = {"app", "carol", "fork"};
    const ses_key other_app = {"other", "alice", "first"};

    say(store, &first, 3);
    say(store, &other_app, 1);
    must_fork(store, &first, NULL, &one);
    must_fork(store, &one, NULL, &of_bob);
    must_fork(store, &of_bob, NULL, &carol);
    must_fork(store, &first, AFTER_SEQ(0), &(ses_key){"app", "bob", "empty"});
    say(store, &(ses_key){"app", "bob", "stranger"}, 3);
    must_fork(store, &(ses_key){"app", "bob", "stranger"}, NULL, &(ses_key){"app", "bob", "its fork"});
    assert_int_equal(left_by_delete_user(store, "alice"), 2);
    assert_int_equal(left_by_delete_user(store, "carol"), 1);
    assert_int_equal(left_by_delete_user(store, "bob"), 0);
}
