/* Long logs, large files, and memory. */
#include "bench.h"

#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

/* The resident memory of this process in KiB. Linux only: elsewhere 0, and nothing is claimed. */
static double resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        CHECK(fscanf(file, "%*s %ld", &pages) == 1);
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void bench_get_from_long_log(void)
{
    struct library large;
    struct library small;
    char *path = fresh_path("bench-long.db");

    library_open(&large, NULL, path, false, 1);
    library_fill(&large, scaled(100000), 0);
    library_open(&small, large.store, NULL, false, 2);
    library_fill(&small, 100, 0);
    compare(&(struct comparison){.name = "get of the last 20 of 100,000 events",
                                 .left = {"100,000 events", library_get_20, &large},
                                 .right = {"100 events", library_get_20, &small},
                                 .rounds = 200,
                                 .count = 50,
                                 .at_most = 1.2});
    library_close(&small, false);
    library_close(&large, true);
    free(fresh_path("bench-long.db"));
    free(path);
}

/* Counts what a store allocates; SQLite counts its own. */
static size_t allocated;

static void *counted_allocate(void *context, size_t bytes)
{
    size_t *block = malloc(bytes + 16);
    (void)context;
    CHECK(block);
    *block = bytes;
    allocated += bytes;
    return (char *)block + 16;
}

static void counted_release(void *context, void *memory)
{
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    (void)context;
    allocated -= *block;
    free(block);
}

static void *counted_resize(void *context, void *memory, size_t bytes)
{
    size_t old = *(size_t *)(void *)((char *)memory - 16);
    void *grown = counted_allocate(context, bytes);
    memcpy(grown, memory, old < bytes ? old : bytes);
    counted_release(context, memory);
    return grown;
}

static void bench_memory_at_rest(void)
{
    const ses_allocator allocator = {sizeof allocator, NULL, counted_allocate, counted_resize,
                                     counted_release};
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    char *path = fresh_path("bench-rest.db");
    ses_store *store = NULL;
    sqlite3 *connection = NULL;
    ses_key key = {"app", "user", "session"};

    /* The file is created before counting begins. */
    CHECK(ses_open(path, NULL, &store, NULL) == SES_OK);
    CHECK(ses_create(store, &key, NULL, 0, NULL, NULL, NULL) == SES_OK);
    ses_close(store);

    double start = (double)sqlite3_memory_used();
    CHECK(sqlite3_open(path, &connection) == SQLITE_OK);
    CHECK(sqlite3_exec(connection, "SELECT count(*) FROM sessions", NULL, NULL, NULL) == SQLITE_OK);
    double with_connection = (double)sqlite3_memory_used();
    CHECK(sqlite3_close(connection) == SQLITE_OK);

    double before = (double)sqlite3_memory_used();
    CHECK(ses_open(path, &options, &store, NULL) == SES_OK);
    ses_session *session = NULL;
    CHECK(ses_get(store, &key, NULL, &session, NULL) == SES_OK);
    CHECK(ses_append(session, "{}", 2, NULL, NULL, NULL) == SES_OK);
    ses_session_close(session);
    double with_store = (double)sqlite3_memory_used() - before + (double)allocated;
    report(&(struct figure){.name = "memory of an open store at rest",
                            .unit = "KiB",
                            .left_name = "seslite",
                            .left = with_store / 1024,
                            .right_name = "an SQLite connection",
                            .right = (with_connection - start) / 1024,
                            .ratio = (with_store - (with_connection - start)) / 1048576,
                            .at_most = 2});
    ses_close(store);
    free(fresh_path("bench-rest.db"));
    free(path);
}

enum { MANY_EVENTS = 1000000, MANY_SESSIONS = 20000 };

static int64_t walk(ses_store *store, const ses_key *key)
{
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int64_t count = 0;

    CHECK(ses_cursor_open(store, key, NULL, &cursor, NULL) == SES_OK);
    while (ses_cursor_next(cursor, &event, NULL) == SES_ROW)
        count++;
    CHECK(ses_cursor_close(cursor, NULL) == SES_OK);
    return count;
}

static void bench_large_file(void)
{
    struct library large;
    struct library in_large;
    struct library small;
    char *path = fresh_path("bench-million.db");
    char *small_path = fresh_path("bench-nothing.db");

    const int events = scaled(MANY_EVENTS);
    const int sessions = scaled(MANY_SESSIONS);

    library_open(&large, NULL, path, false, 1);
    library_fill(&large, events, 0);
    for (int i = 0; i < sessions; i++) {
        char id[32];
        snprintf(id, sizeof id, "other-%d", i);
        const ses_key key = {"app", "user", id};
        CHECK(ses_create(large.store, &key, "{\"topic\":\"x\"}", SES_NUL, NULL, NULL, NULL) == SES_OK);
    }

    CHECK(walk(large.store, &large.key) == events); /* fills the page cache, which has its own limit */
    double before = resident_kib();
    CHECK(walk(large.store, &large.key) == events);
    double grown = resident_kib() - before;
    report(&(struct figure){.name = "cursor over 1,000,000 events: growth",
                            .unit = "KiB",
                            .left_name = "growth",
                            .left = grown,
                            .right_name = "before",
                            .right = before,
                            .ratio = grown / 1024,
                            .at_most = 8});

    library_open(&in_large, large.store, NULL, false, 2);
    library_open(&small, NULL, small_path, false, 2);
    compare(&(struct comparison){.name = "append, 1,000,000 events in the file, NORMAL",
                                 .left = {"a large file", library_append, &in_large},
                                 .right = {"an empty file", library_append, &small},
                                 .rounds = 200,
                                 .count = 50,
                                 .at_most = 1.5});
    library_close(&small, true);
    library_close(&in_large, false);
    library_close(&large, true);
    free(fresh_path("bench-million.db"));
    free(fresh_path("bench-nothing.db"));
    free(small_path);
    free(path);
}

void bench_scale(void)
{
    bench_get_from_long_log();
    bench_memory_at_rest();
    bench_large_file();
}
