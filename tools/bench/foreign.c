/* The effect of a reading program on writers: it keeps the write-ahead log from being checkpointed. */
#include "bench.h"

#include <sqlite3.h>

static sqlite3 *begin_reading(const char *path)
{
    sqlite3 *reader = NULL;

    CHECK(sqlite3_open(path, &reader) == SQLITE_OK);
    CHECK(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM events", NULL, NULL, NULL) == SQLITE_OK);
    return reader;
}

static ses_stats statistics(struct library *library)
{
    ses_stats stats = {.size = sizeof stats};
    CHECK(ses_store_stats(library->store, &stats, NULL) == SES_OK);
    return stats;
}

/* Appends until the log has started over, and for one more second, in which it is truncated. Returns the
 * longest append in ms. */
static double longest_append(struct library *library)
{
    double start = now_us();
    double until = start + 15e6;
    double longest = 0;
    bool anew = false;

    for (double now = start; now < until;) {
        library_append(library, 1);
        double end = now_us();
        if (end - now > longest)
            longest = end - now;
        if (!anew && statistics(library).sqlite.wal_pages < 4000) {
            anew = true;
            until = end + scaled(1000000);
        }
        now = now_us();
    }
    CHECK(anew);
    return longest / 1000;
}

static void bench_foreign_reader(const char *name, bool full, int rounds, int count)
{
    struct library disturbed;
    struct library undisturbed;
    char *path = fresh_path("bench-read.db");
    char *other_path = fresh_path("bench-unread.db");

    library_open(&disturbed, NULL, path, full, 1);
    library_open(&undisturbed, NULL, other_path, full, 1);
    library_append(&disturbed, scaled(2000));
    library_append(&undisturbed, scaled(2000));
    sqlite3 *reader = begin_reading(path);
    compare(&(struct comparison){.name = name,
                                 .left = {"a foreign reader", library_append, &disturbed},
                                 .right = {"undisturbed", library_append, &undisturbed},
                                 .rounds = rounds,
                                 .count = scaled(count),
                                 .at_most = 1.1});
    library_close(&undisturbed, true);

    double megabytes = (double)statistics(&disturbed).sqlite.wal_bytes / 1048576;
    CHECK(sqlite3_close(reader) == SQLITE_OK);
    double longest = longest_append(&disturbed);
    printf("(%.0f MB to copy when the reader leaves)\n", megabytes);
    report(&(struct figure){.name = "longest append after it has left",
                            .unit = "ms",
                            .left_name = "longest",
                            .left = longest,
                            .right_name = "limit",
                            .right = 200,
                            .ratio = longest / 200,
                            .at_most = 1});
    library_close(&disturbed, true);
    free(fresh_path("bench-read.db"));
    free(fresh_path("bench-unread.db"));
    free(other_path);
    free(path);
}

void bench_foreign(void)
{
    bench_foreign_reader("append with a foreign reader, NORMAL", false, 20, 1000);
    bench_foreign_reader("append with a foreign reader, FULL", true, 12, 500);
}
