/* Receipts: what a call that deletes has erased, and what it knows to be left. */
#include "erase.h"
#include "seslite_search.h"

static void fill(ses_store *store, const ses_key *of, int events)
{
    must_create(store, of, Q("{'a':1,'b':2,'user:u':1,'app:x':1}"));
    for (int i = 0; i < events; i++)
        must_append_by_key(store, of, Q("{'author':'user','content':{'parts':[{'text':'some words'}]}}"));
}

static void save(ses_store *store, const ses_key *of, const char *name)
{
    ses_error error;
    assert_ok(ses_artifact_save_by_key(store, of, name, "bytes", 5, NULL, NULL, &error));
}

static void fork_to(ses_store *store, const ses_key *of, const ses_point *point, const char *name)
{
    const ses_key to = {"app", "user", name};
    ses_error error;
    assert_ok(ses_fork_by_key(store, of, point, &to, NULL, NULL, &error));
}

#define assert_erased(erased, sessions_, events_, keys_, artifacts_, index_, forks_) \
    do {                                                                             \
        assert_int_equal((erased).sessions, sessions_);                              \
        assert_int_equal((erased).events, events_);                                  \
        assert_int_equal((erased).state_keys, keys_);                                \
        assert_int_equal((erased).artifacts, artifacts_);                            \
        assert_int_equal((erased).index_events, index_);                             \
        assert_int_equal((erased).forks_left, forks_);                               \
    } while (0)

TEST(deletions)
{
    const ses_key other = {"app", "user", "other"};
    const ses_key foreign = {"app", "foreign", "s"};
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};
    const ses_fork_options to_other = {.size = sizeof to_other, .flags = SES_FORK_OTHER_USER};

    fill(fixture->store, &key, 3);
    fill(fixture->store, &other, 2);
    save(fixture->store, &key, "own");
    save(fixture->store, &key, "user:shared");
    support_make_index(fixture->store);
    fork_to(fixture->store, &key, NULL, "fork");
    assert_ok(ses_fork_by_key(fixture->store, &other, NULL, &foreign, &to_other, NULL, &error));
    assert_ok(ses_delete(fixture->store, &key, &options, NULL, &error));
    assert_erased(erased, 1, 3, 2, 1, 3, 1);
    assert_ok(ses_delete(fixture->store, &key, &options, NULL, &error));
    assert_erased(erased, 0, 0, 0, 0, 0, -1); /* nothing tells any more what it was */
    assert_ok(ses_delete_user(fixture->store, "app", "user", &options, NULL, NULL, &error));
    assert_erased(erased, 2, 5, 5, 2, 2, 1); /* with the fork and its artifact, and user:u */
    assert_ok(ses_delete_user(fixture->store, "app", "user", &options, NULL, NULL, &error));
    assert_erased(erased, 0, 0, 0, 0, 0, -1);
    assert_ok(ses_delete_app(fixture->store, "app", &options, NULL, &error));
    assert_erased(erased, 1, 2, 3, 0, 0, 0);
}

TEST(cut_and_prune)
{
    const ses_key second = {"app", "user", "second"};
    ses_erased erased = {.size = sizeof erased};
    const ses_cut_options cut = {.size = sizeof cut, .erased = &erased};
    const ses_prune_options prune = {
        .size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 2, .erased = &erased};

    fill(fixture->store, &key, 5);
    support_make_index(fixture->store);
    fork_to(fixture->store, &key, AFTER_SEQ(1), "first");
    fork_to(fixture->store, &key, AFTER_SEQ(4), "fourth");
    assert_ok(ses_cut_by_key(fixture->store, &key, AFTER_SEQ(3), &cut, NULL, &error));
    assert_erased(erased, 0, 2, 0, 0, 2, 1);
    assert_ok(ses_prune_by_key(fixture->store, &key, &prune, NULL, &error));
    assert_erased(erased, 0, 2, 0, 0, 2, 2);
    assert_code(SES_UNCHANGED, ses_prune_by_key(fixture->store, &key, &prune, NULL, &error));
    assert_erased(erased, 0, 0, 0, 0, 0, 0);
    fill(fixture->store, &second, 5);
    ses_session *session = must_get(fixture->store, &second);
    assert_ok(ses_cut(session, AFTER_SEQ(0), &cut, NULL, &error));
    assert_erased(erased, 0, 5, 0, 0, 0, 0);
}

TEST(expiry)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_expire_options options = {.size = sizeof options, .idle_us = 1000000, .erased = &erased};
    const ses_expire_options count = {
        .size = sizeof count, .flags = SES_EXPIRE_DRY_RUN, .idle_us = 1000000, .erased = &erased};
    int64_t deleted = 0;

    fill(fixture->store, &key, 3);
    fixture->now += 10000000;
    assert_ok(ses_store_expire(fixture->store, NULL, &count, &deleted, &error));
    assert_erased(erased, 0, 0, 0, 0, 0, -1);
    assert_ok(ses_store_expire(fixture->store, NULL, &options, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_erased(erased, 1, 3, 2, 0, 0, -1);
}

TEST(a_receipt_must_have_a_size)
{
    ses_erased erased = {0};

    fill(fixture->store, &key, 1);
    assert_code(SES_MISUSE,
                ses_delete(fixture->store, &key,
                           &(ses_delete_options){.size = sizeof(ses_delete_options), .erased = &erased}, NULL,
                           &error));
    assert_code(SES_MISUSE,
                ses_cut_by_key(fixture->store, &key, AFTER_SEQ(0),
                               &(ses_cut_options){.size = sizeof(ses_cut_options), .erased = &erased}, NULL,
                               &error));
    assert_code(SES_MISUSE,
                ses_store_expire(fixture->store, NULL,
                                 &(ses_expire_options){.size = sizeof(ses_expire_options), .erased = &erased},
                                 NULL, &error));
    assert_string_equal(stored_seqs(fixture->store, &key), "1");
}

/* The struct of an older program: members that it lacks are not written. */
TEST(a_shorter_receipt_is_filled_as_far_as_it_goes)
{
    ses_erased erased = {.size = offsetof(ses_erased, state_keys), .state_keys = 77};

    fill(fixture->store, &key, 2);
    assert_ok(ses_delete(fixture->store, &key,
                         &(ses_delete_options){.size = sizeof(ses_delete_options), .erased = &erased}, NULL,
                         &error));
    assert_int_equal(erased.events, 2);
    assert_int_equal(erased.state_keys, 77);
}
