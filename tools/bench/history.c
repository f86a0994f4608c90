/* History and retention, compared with bare SQLite or with all events. */
#include "bench.h"

#include <sqlite3.h>
#include <string.h>

enum { COPIED = 10000, LONG = 50000, ROUNDS = 15 };

/* -------------------------------------------------------------------------------------------- live events */

static void get_live_1000(void *context, int count)
{
    const struct library *library = context;
    const ses_range live = {
        .size = sizeof live, .which = SES_RANGE_LIVE | SES_RANGE_NEWEST, .newest = scaled(1000)};
    const ses_get_options options = {.size = sizeof options, .range = &live};

    for (int i = 0; i < count; i++) {
        ses_session *session = NULL;
        CHECK(ses_get(library->store, &library->key, &options, &session, NULL) == SES_OK);
        CHECK(ses_session_event_count(session) == (size_t)scaled(1000));
        ses_session_close(session);
    }
}

static void bench_reads(void)
{
    char *path = fresh_path("bench-history.db");
    struct library library;

    library_open(&library, NULL, path, false, 1);
    library_fill(&library, scaled(LONG), 0);
    compare(&(struct comparison){.name = "get, newest 1,000 live events, no rewind",
                                 .left = {"seslite", get_live_1000, &library},
                                 .right = {"the same, all events", library_get_1000, &library},
                                 .rounds = 100,
                                 .count = 5,
                                 .at_most = 1.05});
    library_close(&library, true);
    free(fresh_path("bench-history.db"));
    free(path);
}

/* ----------------------------------------------------------------------------------------- fork and prune */

static void bare_exec(sqlite3 *db, const char *sql)
{
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

/* A connection with the settings of the library's connections. */
static sqlite3 *bare_connection(const char *path)
{
    sqlite3 *db = NULL;

    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
    bare_exec(db, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                  "PRAGMA temp_store = MEMORY; PRAGMA synchronous = NORMAL");
    CHECK(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK);
    return db;
}

/* Copies the events of session 1 to session 2, and deletes the copy. */
static void bare_round(sqlite3 *db, double *copy_us, double *delete_us)
{
    double start = now_us();
    bare_exec(
        db,
        "BEGIN IMMEDIATE; INSERT INTO events SELECT position + (1 << 32), 2, id_key, id_at, invocation_at, "
        "author, branch, time_us, high_us, body FROM events WHERE position BETWEEN 1 << 32 AND 2 << 32; "
        "COMMIT");
    CHECK(sqlite3_changes(db) == scaled(COPIED));
    double middle = now_us();
    bare_exec(db, "BEGIN IMMEDIATE; DELETE FROM events WHERE position BETWEEN 2 << 32 AND 3 << 32; COMMIT");
    CHECK(sqlite3_changes(db) == scaled(COPIED));
    *copy_us = middle - start;
    *delete_us = now_us() - middle;
}

static void library_round(struct library *library, double *fork_us, double *prune_us)
{
    const ses_key fork = {"app", "user", "fork"};
    const ses_prune_options all = {
        .size = sizeof all, .which = SES_PRUNE_KEEP, .keep = 0, .limit = scaled(COPIED)};
    int64_t deleted = 0;
    double start = now_us();

    CHECK(ses_fork_by_key(library->store, &library->key, NULL, &fork, NULL, NULL, NULL) == SES_OK);
    double middle = now_us();
    CHECK(ses_prune_by_key(library->store, &fork, &all, &deleted, NULL) == SES_OK);
    *fork_us = middle - start;
    *prune_us = now_us() - middle;
    CHECK(deleted == scaled(COPIED));
    CHECK(ses_delete(library->store, &fork, NULL, NULL, NULL) == SES_OK);
}

static void report_copy(const char *name, double *left, const char *right_name, double *right)
{
    const size_t rounds = (size_t)scaled_rounds(ROUNDS);
    double l_us = median(left, rounds);
    double r_us = median(right, rounds);
    report(&(struct figure){.name = name,
                            .unit = "us",
                            .left_name = "seslite",
                            .left = l_us,
                            .right_name = right_name,
                            .right = r_us,
                            .ratio = l_us / r_us,
                            .at_most = 1.5});
}

static void bench_copies(void)
{
    char *path = fresh_path("bench-history.db");
    char *bare_path = fresh_path("bench-history-bare.db");
    struct library library;
    struct library maker;
    struct library target;
    double fork_us[ROUNDS];
    double prune_us[ROUNDS];
    double copy_us[ROUNDS];
    double delete_us[ROUNDS];

    library_open(&library, NULL, path, false, 1);
    library_fill(&library, scaled(COPIED), 0);
    library_open(&maker, NULL, bare_path, false, 1);
    library_fill(&maker, scaled(COPIED), 0);
    library_open(&target, maker.store, NULL, false, 2);
    library_close(&target, false);
    library_close(&maker, true);
    sqlite3 *db = bare_connection(bare_path);
    for (int round = -1; round < scaled_rounds(ROUNDS); round++) { /* the first warms up */
        int at = round < 0 ? 0 : round;
        library_round(&library, &fork_us[at], &prune_us[at]);
        bare_round(db, &copy_us[at], &delete_us[at]);
    }
    report_copy("fork of 10,000 events", fork_us, "INSERT ... SELECT", copy_us);
    report_copy("prune of 10,000 events", prune_us, "DELETE", delete_us);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    library_close(&library, true);
    free(fresh_path("bench-history.db"));
    free(fresh_path("bench-history-bare.db"));
    free(bare_path);
    free(path);
}

void bench_history(void)
{
    bench_reads();
    bench_copies();
}
