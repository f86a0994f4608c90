/* One thread: seslite compared with the bare program, and large sessions with empty ones. */
#include "bench.h"

static void bench_append_and_get(bool full)
{
    struct library library;
    struct library maker; /* creates the bare program's file */
    char *path = fresh_path("bench-seslite.db");
    char *bare_path = fresh_path("bench-bare.db");

    library_open(&library, NULL, path, full, 1);
    library_open(&maker, NULL, bare_path, full, 1);
    library_close(&maker, true);
    struct bare *bare = bare_open(bare_path, full);
    library_append(&library, 10);
    bare_append(bare, 10);
    bare_compare_rows(bare, path);
    compare(&(struct comparison){.name = full ? "append, FULL" : "append, NORMAL",
                                 .left = {"seslite", library_append, &library},
                                 .right = {"bare SQLite", bare_append, bare},
                                 .rounds = 200,
                                 .count = 50,
                                 .at_most = full ? 1.2 : 1.3});
    if (!full) {
        compare(&(struct comparison){.name = "get, newest 20 events",
                                     .left = {"seslite", library_get_20, &library},
                                     .right = {"bare SQLite", bare_get_20, bare},
                                     .rounds = 200,
                                     .count = 50,
                                     .at_most = 1.5});
        compare(&(struct comparison){.name = "get, newest 1,000 events",
                                     .left = {"seslite", library_get_1000, &library},
                                     .right = {"bare SQLite", bare_get_1000, bare},
                                     .rounds = 100,
                                     .count = 5,
                                     .at_most = 1.5});
    }
    bare_close(bare);
    library_close(&library, true);
    free(fresh_path("bench-seslite.db"));
    free(fresh_path("bench-bare.db"));
    free(bare_path);
    free(path);
}

static void bench_large_session(bool full)
{
    struct library large;
    struct library small;
    char *large_path = fresh_path("bench-large.db");
    char *small_path = fresh_path("bench-small.db");

    library_open(&large, NULL, large_path, full, 1);
    library_fill(&large, scaled(100000), scaled(10000));
    library_open(&small, NULL, small_path, full, 1);
    compare(&(struct comparison){.name = full ? "append to 100,000 events, 10,000 keys, FULL"
                                              : "append to 100,000 events, 10,000 keys, NORMAL",
                                 .left = {"large session", library_append, &large},
                                 .right = {"an empty session", library_append, &small},
                                 .rounds = 200,
                                 .count = 50,
                                 .at_most = 1.3});
    library_close(&small, true);
    library_close(&large, true);
    free(fresh_path("bench-large.db"));
    free(fresh_path("bench-small.db"));
    free(small_path);
    free(large_path);
}

void bench_basics(void)
{
    bench_append_and_get(true);
    bench_append_and_get(false);
    bench_large_session(true);
    bench_large_session(false);
}
