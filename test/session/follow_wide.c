/* Following all sessions of an app, or of the store. */
#include "follow.h"

#include <pthread.h>
#include <stdatomic.h>

static const ses_key app_key = {"app", NULL, NULL};
static const ses_key store_key = {NULL, NULL, NULL};

static const ses_key mine = {"app", "user", "one"};
static const ses_key theirs = {"app", "other", "one"};
static const ses_key elsewhere = {"other", "user", "one"};

#define assert_event(follower, key_, seq) wide_assert_event((follower), (key_), (seq), __FILE__, __LINE__)
#define assert_wide_reset(follower, key_) wide_assert_reset((follower), (key_), __FILE__, __LINE__)

static void wide_assert_key(const ses_follower *follower, const ses_key *of, const char *file, int line)
{
    const ses_key *is = ses_follower_key(follower);
    const char *const names[][2] = {{is->app, of->app}, {is->user, of->user}, {is->session, of->session}};

    for (int i = 0; i < 3; i++) {
        if (names[i][1] ? !names[i][0] || strcmp(names[i][0], names[i][1]) != 0 : names[i][0] != NULL) {
            print_error("%s:%d: %s is not %s\n", file, line, names[i][0], names[i][1]);
            _fail(file, line);
        }
    }
    follow_assert_session((ses_follower *)follower, of->session, file, line);
}

static void wide_assert_event(ses_follower *follower, const ses_key *of, int64_t seq, const char *file,
                              int line)
{
    follow_assert_next(follower, of->session, seq, file, line);
    wide_assert_key(follower, of, file, line);
}

/* Waits: only sessions that were updated lately are looked at at once. */
static void wide_assert_reset(ses_follower *follower, const ses_key *of, const char *file, int line)
{
    const ses_event *event = NULL;
    ses_error error;

    support_assert_code(SES_RESET, ses_follower_next(follower, 20000, &event, &error), &error,
                        "ses_follower_next", file, line);
    wide_assert_key(follower, of, file, line);
}

static void create(ses_store *store, const ses_key *of, int events)
{
    must_create(store, of, NULL);
    for (int i = 0; i < events; i++)
        must_append_by_key(store, of, "{}");
}

TEST_FILE_AND_MEMORY(new_events_of_an_app_and_of_the_store_come)
{
    ses_store *store = fixture->store;

    create(store, &mine, 2);
    ses_follower *of_app = must_follow(store, &app_key, FOLLOW_ONLY_NEW);
    ses_follower *of_store = must_follow(store, &store_key, FOLLOW_ONLY_NEW);
    assert_nothing(of_app);
    assert_nothing(of_store);
    assert_null(ses_follower_key(of_store)->app);
    assert_string_equal(ses_follower_key(of_app)->app, "app");
    create(store, &theirs, 1);
    assert_event(of_app, &theirs, 1);
    assert_event(of_store, &theirs, 1);
    create(store, &elsewhere, 1);
    assert_nothing(of_app);
    assert_event(of_store, &elsewhere, 1);
    must_append_by_key(store, &mine, "{}");
    assert_event(of_app, &mine, 3);
    assert_event(of_store, &mine, 3);
    assert_nothing(of_app);
    assert_null(ses_follower_place(of_store));
    assert_nothing(of_store);
    assert_null(ses_follower_session(of_store));
}

TEST_FILE_AND_MEMORY(each_follower_gives_the_key)
{
    ses_store *store = fixture->store;

    create(store, &mine, 1);
    assert_event(must_follow(store, &user_key, NULL), &mine, 1);
    assert_event(must_follow(store, &mine, NULL), &mine, 1);
}

TEST_FILE_AND_MEMORY(a_place_to_begin_is_refused)
{
    const ses_follow_options after = {.size = sizeof after, .flags = SES_FOLLOW_NEW, .after_seq = 1};
    const ses_key no_user = {"app", NULL, "one"};
    const ses_key no_app = {NULL, "user", NULL};
    ses_store *store = fixture->store;
    ses_follower *follower = NULL;

    create(store, &mine, 1);
    ses_follower *of_user = must_follow(store, &user_key, NULL);
    assert_code(SES_MISUSE, ses_follower_open(store, &app_key, NULL, &follower, &error));
    assert_non_null(strstr(error.message, "SES_FOLLOW_NEW"));
    assert_code(SES_MISUSE, ses_follower_open(store, &store_key, FOLLOW_FROM(ses_follower_place(of_user)),
                                              &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, &app_key, &after, &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, &no_user, FOLLOW_ONLY_NEW, &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, &no_app, FOLLOW_ONLY_NEW, &follower, &error));
    assert_code(SES_MISUSE, ses_follower_open(store, NULL, FOLLOW_ONLY_NEW, &follower, &error));
    assert_null(follower);
}

TEST_FILE_AND_MEMORY(cuts_and_prunes_of_the_store_are_resets)
{
    ses_store *store = fixture->store;

    create_session(store, "one", 3);
    create(store, &theirs, 3);
    ses_follower *follower = must_follow(store, &store_key, FOLLOW_ONLY_NEW);
    cut_after(store, "one", 1);
    assert_wide_reset(follower, &mine);
    append_to(store, "one", 4);
    prune_to(store, "one", 6);
    assert_wide_reset(follower, &mine);
    append_to(store, "one", 1);
    assert_event(follower, &mine, 8);
    assert_nothing(follower);
}

/* Without its row, a session that is gone has no names. */
TEST_FILE_AND_MEMORY(deletions_are_one_reset)
{
    ses_store *store = fixture->store;

    create_session(store, "a", 1);
    create_session(store, "b", 0);
    create_session(store, "one", 1);
    create(store, &theirs, 1);
    ses_follower *of_store = must_follow(store, &store_key, FOLLOW_ONLY_NEW);
    ses_follower *of_app = must_follow(store, &app_key, FOLLOW_ONLY_NEW);
    delete_named(store, "b");
    assert_wide_reset(of_store, &store_key);
    assert_wide_reset(of_app, &app_key);
    assert_ok(ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    assert_wide_reset(of_store, &store_key);
    assert_wide_reset(of_app, &app_key);
    assert_nothing(of_store);
    assert_ok(ses_delete_app(store, "app", NULL, NULL, &error));
    assert_wide_reset(of_app, &app_key);
    create_session(store, "one", 2);
    assert_event(of_app, &mine, 1);
    assert_event(of_app, &mine, 2);
    assert_nothing(of_app);
}

TEST_FILE_AND_MEMORY(forks_and_archived_sessions_come)
{
    const ses_key fork = {"app", "user", "fork"};
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    ses_follower *follower = must_follow(store, &store_key, FOLLOW_ONLY_NEW);
    assert_ok(ses_fork_by_key(store, &mine, NULL, &fork, NULL, NULL, &error));
    assert_event(follower, &fork, 1);
    assert_event(follower, &fork, 2);
    assert_ok(ses_archive_set_by_key(store, &fork, 1, NULL, &error));
    must_append_by_key(store, &fork, "{}");
    assert_event(follower, &fork, 3);
    assert_nothing(follower);
}

/* More than a page of one session, and a page of sessions. */
TEST_FILE_AND_MEMORY(many_events_and_sessions_come_in_order)
{
    enum { SESSIONS = 150 };
    ses_store *store = fixture->store;
    const ses_event *event = NULL;
    int64_t given[SESSIONS] = {0};
    int64_t events = 0;
    char name[16];

    create_session(store, "s0", 1);
    ses_follower *follower = must_follow(store, &store_key, FOLLOW_ONLY_NEW);
    given[0] = 1;
    for (int i = 0; i < SESSIONS; i++) {
        snprintf(name, sizeof name, "s%d", i);
        if (i > 0)
            create_session(store, name, 0);
        append_to(store, name, i % 50 == 0 ? 150 : 2);
    }
    while (ses_follower_next(follower, 0, &event, &error) == SES_ROW) {
        assert_int_equal(event->seq, ++given[atoi(ses_follower_session(follower) + 1)]);
        events++;
    }
    assert_int_equal(events, (SESSIONS / 50) * 150 + (SESSIONS - SESSIONS / 50) * 2);
    assert_nothing(follower);
}

/* ------------------------------------------------------------------------------------- other processes */

/* A second store on the same file, or the same server, stands for another process. */
TEST(what_others_write_comes)
{
    const ses_text batch[] = {{"{}", 2}, {"{}", 2}, {"{}", 2}};
    ses_store *store = fixture->store;

    create_session(store, "one", 2);
    create_session(store, "gone", 1);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        create_session(store, name, 1);
    }
    ses_follower *of_app = must_follow(store, &app_key, FOLLOW_ONLY_NEW);
    ses_follower *of_store = must_follow(store, &store_key, FOLLOW_ONLY_NEW);
    ses_store *others = must_open(fixture->path, NULL);
    must_append_by_key(others, &mine, "{}");
    assert_event(of_app, &mine, 3);
    assert_event(of_store, &mine, 3);
    create(others, &elsewhere, 2);
    assert_event(of_store, &elsewhere, 1);
    assert_event(of_store, &elsewhere, 2);
    assert_ok(ses_append_batch_by_key(others, &mine, batch, 3, NULL, NULL, &error));
    for (int seq = 4; seq <= 6; seq++) {
        assert_event(of_app, &mine, seq);
        assert_event(of_store, &mine, seq);
    }
    must_append_by_key(others, &(ses_key){"app", "user", "s7"}, "{\"timestamp\":1000}");
    assert_event(of_store, &((ses_key){"app", "user", "s7"}), 2);
    assert_event(of_app, &((ses_key){"app", "user", "s7"}), 2);
    cut_after(others, "one", 2);
    assert_wide_reset(of_store, &mine);
    delete_named(others, "gone");
    assert_wide_reset(of_store, &store_key);
    must_append_by_key(others, &mine, "{}");
    assert_event(of_store, &mine, 7);
    ses_close(others);
}

/* ----------------------------------------------------------------------------------------------- waiting */

struct waiting {
    ses_follower *follower;
    int code;
};

static void *wait_long(void *context)
{
    struct waiting *waiting = context;
    const ses_event *event = NULL;
    ses_error error;

    waiting->code = ses_follower_next(waiting->follower, -1, &event, &error);
    return NULL;
}

TEST_FILE_AND_MEMORY(waiting_for_the_store_ends)
{
    ses_store *store = fixture->store;
    const ses_event *event = NULL;
    struct waiting waiting = {.follower = must_follow(store, &store_key, FOLLOW_ONLY_NEW)};
    pthread_t thread;

    ses_follower_wake(waiting.follower);
    assert_ok(ses_follower_next(waiting.follower, -1, &event, &error));
    assert_int_equal(pthread_create(&thread, NULL, wait_long, &waiting), 0);
    support_pause_us(50000);
    create(store, &mine, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiting.code, SES_ROW);
    assert_int_equal(pthread_create(&thread, NULL, wait_long, &waiting), 0);
    support_pause_us(50000);
    assert_ok(ses_store_interrupt(store, &error));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiting.code, SES_INTERRUPTED);
}

static atomic_int notified;

static void count_call(void *context)
{
    (void)context;
    atomic_fetch_add(&notified, 1);
}

/* For what others write the poller calls it, also when all sessions are to be looked at again. */
TEST(an_event_loop_is_notified)
{
    const ses_follow_options options = {
        .size = sizeof options, .flags = SES_FOLLOW_NEW, .notify = count_call};
    ses_store *store = fixture->store;

    create(store, &theirs, 1);
    ses_store *others = must_open(fixture->path, NULL);
    ses_follower *follower = must_follow(store, &store_key, &options);
    atomic_store(&notified, 0);
    assert_nothing(follower); /* from here on it is notified once, perhaps of what the poller finds */
    create(store, &mine, 1);
    assert_true(atomic_load(&notified) > 0);
    assert_event(follower, &mine, 1);
    atomic_store(&notified, 0);
    assert_nothing(follower);
    must_delete(others, &theirs);
    for (int i = 0; i < 2000 && atomic_load(&notified) == 0; i++)
        support_pause_us(10000);
    assert_true(atomic_load(&notified) > 0);
    assert_wide_reset(follower, &store_key);
    ses_close(others);
}
