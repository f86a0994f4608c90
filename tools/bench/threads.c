/* Many threads on one store: group commit, batches, and readers during writes. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "slow_vfs.h"

enum { MOST_THREADS = 8 };

/* Threads that append, each to a session of its own, until they are stopped. */
struct crowd {
    ses_store *store;
    struct library libraries[MOST_THREADS];
    int threads;
    atomic_bool go;
    atomic_bool stop;
    atomic_int next;
    double per_second;
};

static void *append_until_stopped(void *context)
{
    struct crowd *crowd = context;
    struct library *library = &crowd->libraries[atomic_fetch_add(&crowd->next, 1)];

    while (!atomic_load(&crowd->go))
        ;
    while (!atomic_load(&crowd->stop))
        library_append(library, 1);
    return NULL;
}

/* Events per second of `threads` threads over `us` microseconds. */
static double crowd_run(struct crowd *crowd, int threads, double us)
{
    pthread_t ids[MOST_THREADS];
    int64_t before = 0;
    int64_t after = 0;

    atomic_store(&crowd->go, false);
    atomic_store(&crowd->stop, false);
    atomic_store(&crowd->next, 0);
    for (int i = 0; i < threads; i++)
        CHECK(pthread_create(&ids[i], NULL, append_until_stopped, crowd) == 0);
    for (int i = 0; i < MOST_THREADS; i++)
        before += crowd->libraries[i].number;
    double start = now_us();
    atomic_store(&crowd->go, true);
    while (now_us() - start < us) {
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    atomic_store(&crowd->stop, true);
    for (int i = 0; i < threads; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
    double end = now_us();
    for (int i = 0; i < MOST_THREADS; i++)
        after += crowd->libraries[i].number;
    return (double)(after - before) / (end - start) * 1e6;
}

/* One thread and many take turns; the medians of the rounds are compared. */
static void bench_group_commit(const char *name, long delay_us, double at_least, const char *limit)
{
    enum { ROUNDS = 7 };
    const int rounds = scaled_rounds(ROUNDS);
    const int run_us = scaled(500000);
    double one[ROUNDS];
    double many[ROUNDS];
    struct crowd *crowd = calloc(1, sizeof *crowd);
    char *path = fresh_path("bench-threads.db");

    CHECK(crowd);
    CHECK(ses_open(path, NULL, &crowd->store, NULL) == SES_OK);
    for (int i = 0; i < MOST_THREADS; i++)
        library_open(&crowd->libraries[i], crowd->store, NULL, true, i + 1);
    slow_vfs_set_delay(delay_us);
    for (int round = 0; round < rounds; round++) {
        one[round] = crowd_run(crowd, 1, run_us);
        many[round] = crowd_run(crowd, MOST_THREADS, run_us);
    }
    slow_vfs_set_delay(0);
    double one_per_second = median(one, (size_t)rounds);
    double many_per_second = median(many, (size_t)rounds);
    report(&(struct figure){.name = name,
                            .unit = "ev/s",
                            .left_name = "8 threads",
                            .left = many_per_second,
                            .right_name = "1 thread",
                            .right = one_per_second,
                            .ratio = many_per_second / one_per_second,
                            .at_least = at_least,
                            .limit = limit});
    for (int i = 0; i < MOST_THREADS; i++)
        library_close(&crowd->libraries[i], false);
    ses_close(crowd->store);
    free(crowd);
    free(fresh_path("bench-threads.db"));
    free(path);
}

enum { BATCH = 100 };

static void append_batch(void *context, int count)
{
    struct library *library = context;
    static char texts[BATCH][EVENT_BYTES + 1];
    ses_text batch[BATCH];

    for (int done = 0; done < count; done += BATCH) {
        for (int i = 0; i < BATCH; i++)
            batch[i] = (ses_text){texts[i], make_event(texts[i], ++library->number)};
        CHECK(ses_append_batch(library->session, batch, BATCH, NULL, NULL, NULL) == SES_OK);
    }
}

static void bench_batch(void)
{
    struct library batched;
    struct library single;
    char *path = fresh_path("bench-batch.db");

    library_open(&batched, NULL, path, true, 1);
    library_open(&single, batched.store, NULL, true, 2);
    compare(&(struct comparison){.name = "batch of 100 events, FULL, one event",
                                 .left = {"in a batch", append_batch, &batched},
                                 .right = {"100 appends", library_append, &single},
                                 .rounds = 50,
                                 .count = BATCH,
                                 .at_least = 3});
    library_close(&single, false);
    library_close(&batched, true);
    free(fresh_path("bench-batch.db"));
    free(path);
}

static void bench_gets_beside_writer(void)
{
    enum { ROUNDS = 21 };
    const int rounds = scaled_rounds(ROUNDS);
    const int gets = scaled(2000);
    double alone[ROUNDS];
    double beside[ROUNDS];
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct library reader;
    pthread_t writer;
    char *path = fresh_path("bench-readers.db");

    CHECK(crowd);
    library_open(&reader, NULL, path, true, 100);
    library_fill(&reader, 1000, 0);
    crowd->store = reader.store;
    library_open(&crowd->libraries[0], crowd->store, NULL, true, 1);
    for (int round = 0; round < rounds; round++) {
        double start = now_us();
        library_get_20(&reader, gets);
        alone[round] = (now_us() - start) / gets;

        atomic_store(&crowd->stop, false);
        atomic_store(&crowd->go, true);
        atomic_store(&crowd->next, 0);
        CHECK(pthread_create(&writer, NULL, append_until_stopped, crowd) == 0);
        start = now_us();
        library_get_20(&reader, gets);
        beside[round] = (now_us() - start) / gets;
        atomic_store(&crowd->stop, true);
        CHECK(pthread_join(writer, NULL) == 0);
    }
    double alone_us = median(alone, (size_t)rounds);
    double beside_us = median(beside, (size_t)rounds);
    report(&(struct figure){
        .name = "get of 20 events during writes by a busy writer",
        .unit = "us",
        .left_name = "with a writer",
        .left = beside_us,
        .right_name = "no writer",
        .right = alone_us,
        .ratio = beside_us / alone_us,
        .at_most = 1.5,
        .limit = "SQLite drops a connection's page cache whenever another one has committed: every get then "
                 "rereads its pages from the file or the write-ahead log"});
    library_close(&crowd->libraries[0], false);
    library_close(&reader, true);
    free(crowd);
    free(fresh_path("bench-readers.db"));
    free(path);
}

void bench_threads(void)
{
    bench_group_commit("8 threads appending, fsync of 2 ms", 2000, 6, NULL);
    bench_group_commit(
        "8 threads appending, this disk, FULL", 0, 2,
        "if flushing this disk takes little longer than an append itself, there is little to share: SQLite's "
        "single writer runs the jobs one after another");
    bench_batch();
    bench_gets_beside_writer();
}
