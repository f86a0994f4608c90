/* Waiting for events: how long, what ends it, and what it costs. */
#include "session/follow/follower.h"

#include "follow.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A call of ses_follower_next in a thread of its own. */
struct waiting {
    ses_follower *follower;
    int64_t timeout_ms;
    int code;
    int64_t seq;
    int64_t took_us;
    ses_error error;
    atomic_bool begun;
    atomic_bool done;
    pthread_t thread;
};

static void *run_waiting(void *context)
{
    struct waiting *waiting = context;
    const ses_event *event = NULL;
    int64_t start = support_steady_us();

    atomic_store(&waiting->begun, true);
    waiting->code = ses_follower_next(waiting->follower, waiting->timeout_ms, &event, &waiting->error);
    waiting->took_us = support_steady_us() - start;
    waiting->seq = event ? event->seq : 0;
    atomic_store(&waiting->done, true);
    return NULL;
}

static bool is_waited_for(ses_follower *follower)
{
    struct listener *listener = &follower->listener;

    (void)pthread_mutex_lock(&listener->home->lock);
    const bool watched = listener->watched;
    (void)pthread_mutex_unlock(&listener->home->lock);
    return watched;
}

/* Returns when the call waits, or its time has passed. */
static void start_waiting(struct waiting *waiting, ses_follower *follower, int64_t timeout_ms)
{
    *waiting = (struct waiting){.follower = follower, .timeout_ms = timeout_ms};
    assert_int_equal(pthread_create(&waiting->thread, NULL, run_waiting, waiting), 0);
    while (!atomic_load(&waiting->begun))
        support_pause_us(1000);
    while (!is_waited_for(follower) && !atomic_load(&waiting->done))
        support_pause_us(100);
    assert_true(timeout_ms >= 0 || !atomic_load(&waiting->done));
}

static void assert_ended(struct waiting *waiting, int code, int64_t seq)
{
    assert_int_equal(pthread_join(waiting->thread, NULL), 0);
    if (waiting->code != code)
        print_error("%s %s\n", ses_code_name(waiting->code), waiting->error.message);
    assert_int_equal(waiting->code, code);
    assert_int_equal(waiting->seq, seq);
}

/* ------------------------------------------------------------------------------------ what ends waiting */

TEST_FILE_AND_MEMORY(waiting_ends_with_an_event)
{
    ses_store *store = fixture->store;
    struct waiting waiting;

    create_session(store, "one", 0);
    ses_follower *follower = must_follow(store, &key, NULL);
    ses_follower *of_user = must_follow(store, &user_key, NULL);
    for (int seq = 1; seq <= 5; seq++) {
        start_waiting(&waiting, seq % 2 ? follower : of_user, -1);
        append_to(store, "one", 1);
        assert_ended(&waiting, SES_ROW, seq);
        assert_next(seq % 2 ? of_user : follower, "one", seq);
    }
}

/* Each call that changes a log, for both kinds of follower. */
TEST_FILE_AND_MEMORY(waiting_for_users_of_any_name)
{
    static const char *const users[] = {"\"", "\\", "{a,b}", "NULL", "a\\\"b", " "};
    enum { USERS = sizeof users / sizeof users[0] };
    ses_store *store = fixture->store;
    struct waiting waiting[USERS];
    ses_follower *followers[USERS];

    for (size_t i = 0; i < USERS; i++) {
        const ses_key session = {"app", users[i], "one"};
        const ses_key user = {"app", users[i], NULL};
        must_create(store, &session, NULL);
        followers[i] = must_follow(store, &user, NULL);
        start_waiting(&waiting[i], followers[i], -1);
    }
    for (size_t i = 0; i < USERS; i++) {
        const ses_key session = {"app", users[i], "one"};
        for (size_t other = i; other < USERS; other++)
            assert_false(atomic_load(&waiting[other].done));
        must_append_by_key(store, &session, "{}");
        assert_ended(&waiting[i], SES_ROW, 1);
        ses_follower_close(followers[i]);
    }
}

TEST_FILE_AND_MEMORY(waiting_ends_with_every_change)
{
    const ses_point begin = {.size = sizeof begin, .kind = SES_POINT_SEQ, .seq = 0};
    const ses_key fork = {"app", "user", "fork"};
    ses_store *store = fixture->store;
    struct waiting one;
    struct waiting all;

    create_session(store, "one", 0);
    ses_follower *follower = must_follow(store, &key, NULL);
    ses_follower *of_user = must_follow(store, &user_key, NULL);
#define BOTH_END_WITH(code, seq, call)     \
    do {                                   \
        start_waiting(&one, follower, -1); \
        start_waiting(&all, of_user, -1);  \
        call;                              \
        assert_ended(&one, code, seq);     \
        assert_ended(&all, code, seq);     \
    } while (0)
    ses_session *session = must_get(store, &key);
    BOTH_END_WITH(SES_ROW, 1, must_append(session, Q("{'invocationId':'i'}")));
    BOTH_END_WITH(SES_ROW, 2, assert_ok(ses_rewind(session, &begin, NULL, NULL, &error)));
    BOTH_END_WITH(SES_ROW, 3, assert_ok(ses_redo_by_key(store, &key, NULL, NULL, &error)));
    BOTH_END_WITH(SES_RESET, 0, cut_after(store, "one", 2));
    const ses_text batch[] = {{"{}", 2}};
    BOTH_END_WITH(SES_ROW, 4, assert_ok(ses_append_batch_by_key(store, &key, batch, 1, NULL, NULL, &error)));
    start_waiting(&all, of_user, -1);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork, NULL, NULL, &error));
    assert_ended(&all, SES_ROW, 1);
    assert_next(of_user, "fork", 2);
    assert_next(of_user, "fork", 4);
    start_waiting(&all, of_user, -1);
    delete_named(store, "fork");
    assert_ended(&all, SES_RESET, 0);
    start_waiting(&one, follower, -1);
    start_waiting(&all, of_user, -1);
    assert_ok(ses_delete_app(store, "app", NULL, NULL, &error));
    assert_ended(&one, SES_NOTFOUND, 0);
    assert_ended(&all, SES_RESET, 0);
}

TEST_FILE_AND_MEMORY(waiting_ends_with_a_deletion_of_any_kind)
{
    const int64_t expires = fixture->now + 1;
    const int64_t later = fixture->now + 2;
    const ses_expire_options due = {.size = sizeof due, .now_us = &later};
    struct waiting waiting;

    for (int i = 0; i < 3; i++) {
        create_session(fixture->store, "one", 1);
        ses_follower *follower = must_follow(fixture->store, &key, FOLLOW_ONLY_NEW);
        assert_ok(ses_expiry_set_by_key(fixture->store, &key, &expires, NULL, &error));
        start_waiting(&waiting, follower, -1);
        if (i == 0)
            delete_named(fixture->store, "one");
        else if (i == 1)
            assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
        else
            assert_ok(ses_store_expire(fixture->store, NULL, &due, NULL, &error));
        assert_ended(&waiting, SES_NOTFOUND, 0);
        ses_follower_close(follower);
    }
}

TEST_FILE_AND_MEMORY(waiting_ends_when_its_time_has_passed)
{
    ses_store *store = fixture->store;
    struct waiting waiting;

    create_session(store, "one", 0);
    create_session(store, "two", 0);
    ses_follower *follower = must_follow(store, &key, NULL);
    start_waiting(&waiting, follower, 60);
    append_to(store, "two", 1);
    assert_ended(&waiting, SES_OK, 0);
    assert_in_range(waiting.took_us, 60000, 10000000);
    const ses_event *event = NULL;
    const int64_t before = support_steady_us();
    assert_ok(ses_follower_next(follower, 1, &event, &error));
    assert_in_range(support_steady_us() - before, 1000, 10000000);
}

TEST_FILE_AND_MEMORY(a_wake_ends_this_wait_or_the_next)
{
    ses_store *store = fixture->store;
    struct waiting waiting;
    const ses_event *event = NULL;

    create_session(store, "one", 0);
    ses_follower *follower = must_follow(store, &key, NULL);
    start_waiting(&waiting, follower, -1);
    ses_follower_wake(follower);
    assert_ended(&waiting, SES_OK, 0);
    ses_follower_wake(follower);
    ses_follower_wake(follower);
    append_to(store, "one", 1);
    assert_code(SES_ROW, ses_follower_next(follower, -1, &event, &error)); /* it has not waited */
    assert_code(SES_OK, ses_follower_next(follower, -1, &event, &error));
    start_waiting(&waiting, follower, 50);
    assert_ended(&waiting, SES_OK, 0);
    assert_in_range(waiting.took_us, 50000, 10000000); /* two were one */
}

TEST_FILE_AND_MEMORY(an_interrupt_ends_waiting)
{
    ses_store *store = fixture->store;
    struct waiting waiting;

    create_session(store, "one", 0);
    ses_follower *follower = must_follow(store, &key, NULL);
    ses_follower *other = must_follow(store, &user_key, NULL);
    start_waiting(&waiting, follower, -1);
    assert_ok(ses_store_interrupt(store, &error));
    assert_ended(&waiting, SES_INTERRUPTED, 0);
    assert_non_null(strstr(waiting.error.message, "interrupted"));
    assert_nothing(other); /* later calls are not affected */
    append_to(store, "one", 1);
    assert_next(follower, "one", 1);
    assert_next(other, "one", 1);
}

TEST_FILE_AND_MEMORY(closing_the_store_ends_waiting)
{
    struct waiting waiting[2];
    const ses_event *event = NULL;

    create_session(fixture->store, "one", 0);
    ses_follower *follower = must_follow(fixture->store, &key, NULL);
    ses_follower *of_user = must_follow(fixture->store, &user_key, NULL);
    start_waiting(&waiting[0], follower, -1);
    start_waiting(&waiting[1], of_user, 1000000);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_ended(&waiting[0], SES_INTERRUPTED, 0);
    assert_ended(&waiting[1], SES_INTERRUPTED, 0);
    assert_code(SES_MISUSE, ses_follower_next(follower, -1, &event, &error));
    ses_follower_close(follower);
    ses_follower_close(of_user);
}

/* ---------------------------------------------------------------------------------------------- notify */

static void count_notify(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static ses_follower *must_follow_by_notify(ses_store *store, const ses_key *of, atomic_int *count)
{
    const ses_follow_options options = {
        .size = sizeof options, .notify = count_notify, .notify_context = count};

    atomic_store(count, 0);
    return must_follow(store, of, &options);
}

TEST_FILE_AND_MEMORY(notify_is_called_once_when_it_is_armed)
{
    ses_store *store = fixture->store;
    atomic_int count;

    create_session(store, "one", 0);
    create_session(store, "two", 0);
    ses_follower *follower = must_follow_by_notify(store, &key, &count);
    append_to(store, "one", 1);
    assert_int_equal(atomic_load(&count), 0); /* it is not armed yet */
    assert_next(follower, "one", 1);
    append_to(store, "one", 1);
    assert_int_equal(atomic_load(&count), 0);
    assert_next(follower, "one", 2);
    assert_nothing(follower);
    append_to(store, "two", 1);
    assert_int_equal(atomic_load(&count), 0);
    append_to(store, "one", 3);
    assert_int_equal(atomic_load(&count), 1);
    for (int seq = 3; seq <= 5; seq++)
        assert_next(follower, "one", seq);
    assert_nothing(follower);
    assert_nothing(follower);
    assert_int_equal(atomic_load(&count), 1);
    cut_after(store, "one", 1);
    assert_int_equal(atomic_load(&count), 2);
    assert_reset(follower, "one");
    assert_nothing(follower);
    delete_named(store, "one");
    assert_int_equal(atomic_load(&count), 3);
    assert_gone(follower);
}

TEST_FILE_AND_MEMORY(notify_tells_of_wakes_interrupts_and_the_end)
{
    atomic_int count;

    ses_follower *follower = must_follow_by_notify(fixture->store, &user_key, &count);
    ses_follower_wake(follower); /* a loop may be between its look for the reason and the next call */
    assert_int_equal(atomic_load(&count), 0);
    assert_nothing(follower);
    assert_int_equal(atomic_load(&count), 1);
    assert_nothing(follower);
    assert_int_equal(atomic_load(&count), 1);
    ses_follower_wake(follower);
    ses_follower_wake(follower);
    assert_int_equal(atomic_load(&count), 2);
    assert_nothing(follower);
    assert_int_equal(atomic_load(&count), 3); /* for the second of the two */
    assert_nothing(follower);
    assert_ok(ses_store_interrupt(fixture->store, &error));
    assert_int_equal(atomic_load(&count), 4);
    assert_nothing(follower);
    assert_nothing(follower);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(atomic_load(&count), 5);
    ses_follower_wake(follower);
    assert_int_equal(atomic_load(&count), 5);
    ses_follower_close(follower);
}

TEST_FILE_AND_MEMORY(notify_is_not_called_after_the_follower_was_closed)
{
    ses_store *store = fixture->store;
    atomic_int count;

    create_session(store, "one", 0);
    ses_follower *follower = must_follow_by_notify(store, &key, &count);
    assert_nothing(follower);
    ses_follower_close(follower);
    append_to(store, "one", 1);
    assert_int_equal(atomic_load(&count), 0);
}

/* --------------------------------------------------------------------------------------- a thousand */

enum { FOLLOWERS = 1000, WAITING = 4 };

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = -2; /* "." and ".." */

    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count;
}

static void write_byte(void *context)
{
    const ssize_t written = write(*(int *)context, "x", 1);
    (void)written;
}

static size_t bytes_in(int from)
{
    char buffer[FOLLOWERS];
    ssize_t count = read(from, buffer, sizeof buffer);
    return count > 0 ? (size_t)count : 0;
}

/* All but a few are waited for through one pipe. */
TEST_FILE_AND_MEMORY(a_thousand_followers)
{
    const bool has_tasks = access("/proc/self/task", R_OK) == 0;
    ses_follower **followers = calloc(FOLLOWERS, sizeof(ses_follower *));
    struct waiting waiting[WAITING];
    char name[FOLLOWERS][8];
    int ends[2];

    assert_non_null(followers);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    const ses_follow_options options = {
        .size = sizeof options, .notify = write_byte, .notify_context = &ends[1]};
    for (int i = 0; i < FOLLOWERS; i++) {
        const ses_key of = {"app", "user", name[i]};
        snprintf(name[i], sizeof name[i], "s%d", i);
        must_create(fixture->store, &of, NULL);
    }
    must_append_by_key(fixture->store, &(ses_key){"app", "user", "s0"}, "{}"); /* a thread for checkpoints */
    const int before = threads();
    for (int i = 0; i < FOLLOWERS; i++) {
        const ses_key of = {"app", i == 500 ? "other" : "user", i == 500 ? NULL : name[i]};
        followers[i] = must_follow(fixture->store, &of, i % 2 ? &options : NULL);
        if (i > 0)
            assert_nothing(followers[i]);
    }
    if (has_tasks)
        assert_in_range(threads(), before, before + 1);
    for (int i = 0; i < WAITING; i++)
        start_waiting(&waiting[i], followers[2 * i + 2], -1);
    append_to(fixture->store, name[501], 1);
    append_to(fixture->store, name[700], 1);
    append_to(fixture->store, name[4], 1);
    assert_ended(&waiting[1], SES_ROW, 1);
    support_pause_us(150000); /* the poller has looked, too */
    assert_int_equal(bytes_in(ends[0]), 1);
    assert_next(followers[501], name[501], 1);
    assert_next(followers[700], name[700], 1);
    for (int i = 0; i < WAITING; i++) {
        if (i != 1) {
            assert_false(atomic_load(&waiting[i].done));
            ses_follower_wake(waiting[i].follower);
            assert_ended(&waiting[i], SES_OK, 0);
        }
    }
    for (int i = 0; i < FOLLOWERS; i++)
        append_to(fixture->store, name[i], 1);
    assert_int_equal(bytes_in(ends[0]), FOLLOWERS / 2 - 1); /* number 501 is not armed */
    for (int i = 0; i < FOLLOWERS; i++)
        ses_follower_close(followers[i]);
    close(ends[0]);
    close(ends[1]);
    free(followers);
}
