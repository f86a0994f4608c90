/* The write-ahead file stays bounded; or is left alone, when that is asked for. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "support.h"

static const ses_key key = {"app", "user", "one"};

static int64_t size_of(const char *path, const char *suffix)
{
    char name[1024];
    struct stat status;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &status) == 0 ? (int64_t)status.st_size : -1;
}

struct reader {
    ses_store *store;
    atomic_bool stop;
    atomic_int failures;
    pthread_t thread;
};

/* Gets and walks without a pause: there always is a reader. */
static void *read_all_the_time(void *context)
{
    struct reader *own = context;
    while (!atomic_load(&own->stop)) {
        const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 50};
        ses_session *session = NULL;
        if (ses_get(own->store, &key, GET_RANGE(&newest), &session, NULL) != SES_OK)
            atomic_fetch_add(&own->failures, 1);
        ses_session_close(session);
    }
    return NULL;
}

/* The promise: 1000 pages are due, 4000 are pressing, and some come on top while a checkpoint runs. */
TEST(the_write_ahead_file_stays_bounded)
{
    enum { READERS = 3, CURSORS = 5, APPENDS = 10000 };
    /* A machine with nothing else to do stays below 24 MB; where readers are kept waiting it takes longer. */
    const int64_t bound = INT64_C(64) << 20;
    struct reader readers[READERS];
    ses_cursor *cursors[CURSORS] = {NULL};
    ses_stats stats = {.size = sizeof stats};
    int64_t largest = 0;

    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < READERS; i++) {
        readers[i].store = fixture->store;
        atomic_init(&readers[i].stop, false);
        atomic_init(&readers[i].failures, 0);
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all_the_time, &readers[i]), 0);
    }
    for (int i = 0; i < APPENDS; i++) {
        const ses_event *event = NULL;
        must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'k':1,'user:k':2}}}"));
        if (i % 2000 == 100) {
            assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursors[i / 2000], &error));
            assert_code(SES_ROW, ses_cursor_next(cursors[i / 2000], &event, &error));
        }
        if (i % 100 == 0 && size_of(fixture->path, "-wal") > largest)
            largest = size_of(fixture->path, "-wal");
    }
    for (int i = 0; i < READERS; i++) {
        atomic_store(&readers[i].stop, true);
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        assert_int_equal(atomic_load(&readers[i].failures), 0);
    }
    if (largest > bound)
        print_error("the write-ahead file has grown to %lld bytes\n", (long long)largest);
    assert_true(largest <= bound);
    assert_ok(ses_store_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.events, APPENDS);
    assert_true(stats.sqlite.checkpoints > 5);
    assert_true(stats.sqlite.checkpoint_us > 0);
    assert_true(stats.sqlite.wal_bytes > 0 && stats.sqlite.file_bytes > 1000000);
    for (int i = 0; i < CURSORS; i++)
        assert_ok(ses_cursor_close(cursors[i], &error));
}

TEST(checkpoints_are_left_to_others)
{
    ses_stats stats = {.size = sizeof stats};

    must_create(fixture->store, &key, NULL);
    fixture->options.checkpoint = SES_CHECKPOINT_EXTERNAL;
    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    int64_t before = size_of(fixture->path, "");
    for (int i = 0; i < 2500; i++) /* a log that would be copied beside the writers */
        must_append_by_key(fixture->store, &key, "{}");
    assert_ok(ses_store_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.sqlite.checkpoints, 0);
    assert_true(stats.sqlite.wal_pages > 5000);
    assert_int_equal(size_of(fixture->path, ""), before);
    ses_close(fixture->store);
    assert_int_equal(size_of(fixture->path, ""), before);
    assert_true(size_of(fixture->path, "-wal") > 2000 * 4096);
    fixture->store = NULL;
    fixture->options.checkpoint = SES_CHECKPOINT_AUTO;
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    fixture_reopen(fixture); /* closing one that checkpoints brings everything home */
    assert_true(size_of(fixture->path, "") > before);
}

TEST(statistics_begin_at_zero)
{
    ses_stats stats = {.size = sizeof stats};
    ses_stats no_size = {0};

    assert_ok(ses_store_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.size, sizeof stats);
    assert_int_equal(stats.events, 0);
    assert_int_equal(stats.commits, 0);
    assert_int_equal(stats.read_calls, 0);
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'e','timestamp':1}"));
    assert_code(SES_DUPLICATE, ses_append_by_key(fixture->store, &key, Q("{'id':'e','timestamp':1}"), SES_NUL,
                                                 NULL, NULL, &error));
    assert_code(SES_EXISTS, ses_append_by_key(fixture->store, &key, Q("{'id':'e','timestamp':2}"), SES_NUL,
                                              NULL, NULL, &error));
    assert_ok(ses_store_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.events, 1);
    assert_int_equal(stats.write_calls, 4);
    assert_int_equal(stats.write_waits, 0);
    assert_code(SES_MISUSE, ses_store_stats(fixture->store, &no_size, &error));
    assert_code(SES_MISUSE, ses_store_stats(fixture->store, NULL, &error));
}

MEMORY_TEST(statistics_in_memory)
{
    ses_stats stats = {.size = sizeof stats};

    must_create(fixture->store, &key, NULL);
    ses_session *session = must_get(fixture->store, &key);
    ses_session_close(session);
    assert_ok(ses_store_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.write_calls, 1);
    assert_int_equal(stats.commits, 1);
    assert_int_equal(stats.read_calls, 1);
    assert_int_equal(stats.sqlite.file_bytes, 0);
}
