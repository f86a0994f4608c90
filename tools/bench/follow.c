/* Followers: how fast an event reaches a waiting follower, and the cost of followers without events. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FOLLOWERS = 1000 };

static const ses_key followed = {"app", "user", "followed"};

static void pause_us(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    (void)nanosleep(&time, NULL);
}

/* An event that contains the time at which it was sent. */
static void send_stamp(ses_store *store)
{
    char event[80];

    snprintf(event, sizeof event, "{\"author\":\"%.1f\"}", now_us());
    CHECK(ses_append_by_key(store, &followed, event, SES_NUL, NULL, NULL, NULL) == SES_OK);
}

/* The delay of each event, including the append. */
static void receive_stamps(ses_follower *follower, double *took_us, int count)
{
    const ses_event *event = NULL;

    for (int i = 0; i < count; i++) {
        CHECK(ses_follower_next(follower, -1, &event, NULL) == SES_ROW);
        took_us[i] = now_us() - strtod(event->author, NULL);
    }
}

static ses_store *open_followed(const char *path)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_store *store = NULL;

    CHECK(ses_open(path, &options, &store, NULL) == SES_OK);
    CHECK(ses_get_or_create(store, &followed, NULL, 0, NULL, NULL, NULL) >= 0);
    return store;
}

static ses_follower *open_follower(ses_store *store)
{
    const ses_follow_options options = {.size = sizeof options, .flags = SES_FOLLOW_NEW};
    ses_follower *follower = NULL;

    CHECK(ses_follower_open(store, &followed, &options, &follower, NULL) == SES_OK);
    return follower;
}

/* --------------------------------------------------------------------------------------- the same process */

enum { WAKES = 500 };

struct receiver {
    int count;
    ses_follower *follower;
    double took_us[WAKES];
};

static void *run_receiver(void *context)
{
    struct receiver *receiver = context;
    receive_stamps(receiver->follower, receiver->took_us, receiver->count);
    return NULL;
}

static void send_alone(ses_store *store, double *took_us, int count)
{
    for (int i = 0; i < count; i++) {
        double start = now_us();
        send_stamp(store);
        took_us[i] = now_us() - start;
        pause_us(1000);
    }
}

static void bench_wake(void)
{
    char *path = fresh_path("bench-follow.db");
    ses_store *store = open_followed(path);
    struct receiver receiver = {.count = scaled(WAKES)};
    double alone_us[WAKES];
    pthread_t thread;

    send_alone(store, alone_us, receiver.count);
    receiver.follower = open_follower(store);
    CHECK(pthread_create(&thread, NULL, run_receiver, &receiver) == 0);
    for (int i = 0; i < receiver.count; i++) {
        pause_us(1000);
        send_stamp(store);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    report_time("append to a waiting follower, beyond it", "beyond", "us",
                median(receiver.took_us, (size_t)receiver.count) - median(alone_us, (size_t)receiver.count),
                200);
    ses_follower_close(receiver.follower);
    ses_close(store);
    free(fresh_path("bench-follow.db"));
    free(path);
}

/* ---------------------------------------------------------------------------------------- another process */

/* Sends `count` events, with random pauses of one to two times `pause`. */
static pid_t start_sender(const char *path, int count, long pause)
{
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0)
        return child;
    ses_store *store = open_followed(path);
    for (int i = 0; i < count; i++) {
        pause_us(pause + pause * (i * 37 % 100) / 100);
        send_stamp(store);
    }
    ses_close(store);
    _exit(0);
}

static void bench_process(const char *name, int count, long pause, double most_ms)
{
    enum { MOST = 1000 };
    char *path = fresh_path("bench-follow.db");
    double took_us[MOST];
    int status = 0;

    CHECK(count <= MOST);
    ses_close(open_followed(path));
    pid_t sender = start_sender(path, count, pause);
    ses_store *store = open_followed(path);
    const ses_follow_options all = {.size = sizeof all};
    ses_follower *follower = NULL;
    CHECK(ses_follower_open(store, &followed, &all, &follower, NULL) == SES_OK);
    receive_stamps(follower, took_us, count);
    CHECK(waitpid(sender, &status, 0) == sender && status == 0);
    report_time(name, "took", "ms", median(took_us, (size_t)count) / 1000, most_ms);
    ses_follower_close(follower);
    ses_close(store);
    free(fresh_path("bench-follow.db"));
    free(path);
}

/* --------------------------------------------------------------------------------------------- a thousand */

static void ignore(void *context)
{
    (void)context;
}

/* Followers of sessions without events, all with a `notify`. */
static void open_idle(ses_store *store, ses_follower **followers)
{
    const ses_follow_options options = {.size = sizeof options, .notify = ignore};
    const ses_event *event = NULL;

    for (int i = 0; i < FOLLOWERS; i++) {
        char id[32];
        const ses_key key = {"app", "user", id};
        snprintf(id, sizeof id, "idle-%d", i);
        CHECK(ses_create(store, &key, NULL, 0, NULL, NULL, NULL) == SES_OK);
        CHECK(ses_follower_open(store, &key, &options, &followers[i], NULL) == SES_OK);
        CHECK(ses_follower_next(followers[i], 0, &event, NULL) == SES_OK);
    }
}

static void close_idle(ses_follower **followers)
{
    for (int i = 0; i < FOLLOWERS; i++)
        ses_follower_close(followers[i]);
}

static double cpu_us(void)
{
    struct timespec used;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

static void bench_idle(void)
{
    static ses_follower *followers[FOLLOWERS];
    char *path = fresh_path("bench-follow.db");
    ses_store *store = open_followed(path);
    const long idle_us = scaled(5000000);

    open_idle(store, followers);
    pause_us(scaled(1000000));
    double start = cpu_us();
    pause_us(idle_us);
    report_time("an idle process with 1,000 followers", "used", "% cpu",
                (cpu_us() - start) * 100 / (double)idle_us, 1);
    close_idle(followers);
    ses_close(store);
    free(fresh_path("bench-follow.db"));
    free(path);
}

static void bench_append(void)
{
    static ses_follower *followers[FOLLOWERS];
    struct library with;
    struct library without;
    char *path = fresh_path("bench-follow.db");
    char *other_path = fresh_path("bench-unfollowed.db");

    library_open(&with, NULL, path, false, 1);
    library_open(&without, NULL, other_path, false, 1);
    open_idle(with.store, followers);
    compare(&(struct comparison){.name = "append with 1,000 followers of others",
                                 .left = {"followers", library_append, &with},
                                 .right = {"none", library_append, &without},
                                 .rounds = 100,
                                 .count = 100,
                                 .at_most = 1.1});
    close_idle(followers);
    library_close(&with, true);
    library_close(&without, true);
    free(fresh_path("bench-follow.db"));
    free(fresh_path("bench-unfollowed.db"));
    free(other_path);
    free(path);
}

void bench_follow(void)
{
    bench_wake();
    bench_process("the same in another process, which is busy", scaled(1000), 5000, 20);
    bench_process("the same, an event every two seconds", scaled_rounds(9), scaled(1300000), 100);
    bench_append();
    bench_idle();
}
