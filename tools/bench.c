/*
 * Measures seslite against a bare SQLite program in the same run: the same statements (read from sql/), the
 * same settings, values that are ready made, and nothing else.
 *
 *     bench [--json FILE] [--folder FOLDER]       run from the top of the repository
 *
 * The two sides take turns in short rounds, and the medians of the rounds are compared: so what else the
 * machine does falls on both.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "seslite.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "bench: %s:%d: %s\n", __FILE__, __LINE__, #condition);                           \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static const char *folder = ".";
static FILE *json;
static bool all_reached = true;

/* ------------------------------------------------------------------------------------------ measuring */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* One side of a comparison: does `count` of what is measured. */
typedef void work(void *context, int count);

struct comparison {
    const char *name;
    const char *left_name;
    work *left;
    void *left_context;
    const char *right_name;
    work *right;
    void *right_context;
    int rounds;
    int count; /* in each round */
    double at_most;
};

enum { MAX_ROUNDS = 400 };

static void report(const struct comparison *comparison, double left, double right)
{
    double ratio = left / right;
    bool reached = ratio <= comparison->at_most;
    all_reached = all_reached && reached;
    printf("%-46s %10.2f us  %-22s %10.2f us   %5.2f   at most %.1f%s\n", comparison->name, left,
           comparison->right_name, right, ratio, comparison->at_most, reached ? "" : "   NOT REACHED");
    fflush(stdout);
    if (json)
        fprintf(json,
                "{\"name\":\"%s\",\"left\":\"%s\",\"left_us\":%.3f,\"right\":\"%s\",\"right_us\":%.3f,"
                "\"ratio\":%.3f,\"at_most\":%.2f,\"reached\":%s}\n",
                comparison->name, comparison->left_name, left, comparison->right_name, right, ratio,
                comparison->at_most, reached ? "true" : "false");
}

static void compare(const struct comparison *comparison)
{
    double left[MAX_ROUNDS];
    double right[MAX_ROUNDS];

    comparison->left(comparison->left_context, comparison->count);
    comparison->right(comparison->right_context, comparison->count);
    for (int round = 0; round < comparison->rounds; round++) {
        double start = now_us();
        comparison->left(comparison->left_context, comparison->count);
        double middle = now_us();
        comparison->right(comparison->right_context, comparison->count);
        double end = now_us();
        left[round] = (middle - start) / comparison->count;
        right[round] = (end - middle) / comparison->count;
    }
    report(comparison, median(left, (size_t)comparison->rounds), median(right, (size_t)comparison->rounds));
}

/* ----------------------------------------------------------------------------------------------- files */

static char *path_of(const char *name)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    size_t size = strlen(folder) + strlen(name) + 16;
    char *path = malloc(size);
    CHECK(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(path, size, "%s/%s%s", folder, name, suffixes[i]);
        unlink(path);
    }
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    CHECK(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    CHECK(text && fread(text, 1, (size_t)size, file) == (size_t)size);
    text[size] = '\0';
    fclose(file);
    return text;
}

/* ------------------------------------------------------------------------------------------- the event */

enum { EVENT_BYTES = 600 };

/* An event as an ADK writes it, EVENT_BYTES long, with two session keys and one user key. */
static size_t make_event(char event[EVENT_BYTES + 1], int64_t number)
{
    int len = snprintf(event, EVENT_BYTES + 1,
                       "{\"id\":\"0193%012" PRIx64 "-7000-8000-000000000000\",\"timestamp\":%" PRId64
                       ".250000,\"invocationId\":\"e-3a796739-8780-4e33-a63e-e7a7041707e2\",\"author\":\"agent\","
                       "\"actions\":{\"stateDelta\":{\"counter\":%" PRId64
                       ",\"topic\":\"orders\",\"user:last_seen\":\"2024-01-15\"}},"
                       "\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"",
                       (uint64_t)number, INT64_C(1700000000) + number / 1000, number);
    CHECK(len > 0 && len < EVENT_BYTES - 5);
    memset(event + len, 'x', (size_t)(EVENT_BYTES - 5 - len));
    memcpy(event + EVENT_BYTES - 5, "\"}]}}", 6);
    return EVENT_BYTES;
}

/* ----------------------------------------------------------------------------------- the bare program */

enum bare_statement {
    BARE_BEGIN_WRITE, BARE_BEGIN_READ, BARE_COMMIT, BARE_SESSION_BY_ID, BARE_SESSION_FIND, BARE_EVENT_ADD,
    BARE_SESSION_STATE_SET, BARE_USER_STATE_SET, BARE_SESSION_TOUCH, BARE_APP_STATE_ALL, BARE_USER_STATE_ALL,
    BARE_SESSION_STATE_ALL, BARE_EVENTS_BACKWARD, BARE_COUNT
};

static const char *const bare_names[BARE_COUNT] = {
    "begin_write", "begin_read", "commit", "session_by_id", "session_find", "event_add", "session_state_set",
    "user_state_set", "session_touch", "app_state_all", "user_state_all", "session_state_all", "events_backward",
};

struct bare {
    sqlite3 *db;
    sqlite3_stmt *statements[BARE_COUNT];
    int64_t number;
};

static void bare_prepare(struct bare *bare)
{
    char *text = read_file("sql/statements.sql");
    for (int i = 0; i < BARE_COUNT; i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "-- name: %s\n", bare_names[i]);
        const char *at = strstr(text, heading);
        CHECK(at);
        CHECK(sqlite3_prepare_v3(bare->db, at + strlen(heading), -1, SQLITE_PREPARE_PERSISTENT,
                                 &bare->statements[i], NULL) == SQLITE_OK);
    }
    free(text);
}

static void bare_exec(struct bare *bare, const char *sql)
{
    CHECK(sqlite3_exec(bare->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

/* The file of a store, opened with the settings the library gives its connections. */
static void bare_open(struct bare *bare, const char *path, bool full)
{
    memset(bare, 0, sizeof *bare);
    CHECK(sqlite3_open_v2(path, &bare->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
    bare_exec(bare, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                    "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216");
    bare_exec(bare, full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    CHECK(sqlite3_db_config(bare->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK);
    bare_prepare(bare);
}

static void bare_close(struct bare *bare)
{
    for (int i = 0; i < BARE_COUNT; i++)
        sqlite3_finalize(bare->statements[i]);
    CHECK(sqlite3_close(bare->db) == SQLITE_OK);
}

static void bare_text(sqlite3_stmt *statement, int parameter, const char *text, size_t len)
{
    CHECK(sqlite3_bind_text64(statement, parameter, text, len, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
}

static void bare_int(sqlite3_stmt *statement, int parameter, int64_t value)
{
    CHECK(sqlite3_bind_int64(statement, parameter, value) == SQLITE_OK);
}

static void bare_run(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    CHECK(rc == SQLITE_DONE || rc == SQLITE_ROW);
    sqlite3_reset(statement);
}

static void bare_state(sqlite3_stmt *set, const char *key, const char *value, int64_t seq)
{
    bare_int(set, 1, 1);
    bare_text(set, 2, key, strlen(key));
    bare_text(set, 3, value, strlen(value));
    bare_int(set, 5, seq);
    bare_run(set);
}

static void bare_append(void *context, int count)
{
    struct bare *bare = context;
    sqlite3_stmt **statements = bare->statements;

    for (int i = 0; i < count; i++) {
        int64_t number = ++bare->number;
        char event[EVENT_BYTES + 1];
        char counter[24];
        size_t len = make_event(event, number);
        snprintf(counter, sizeof counter, "%" PRId64, number);

        bare_run(statements[BARE_BEGIN_WRITE]);
        bare_int(statements[BARE_SESSION_BY_ID], 1, 1);
        bare_run(statements[BARE_SESSION_BY_ID]);
        sqlite3_stmt *add = statements[BARE_EVENT_ADD];
        bare_int(add, 1, INT64_C(1) << 32 | number);
        bare_int(add, 2, 1);
        bare_text(add, 3, event + 7, 36);
        bare_text(add, 4, "e-3a796739-8780-4e33-a63e-e7a7041707e2", 38);
        bare_text(add, 5, "agent", 5);
        bare_int(add, 7, INT64_C(1700000000250000) + number);
        bare_text(add, 9, event, len);
        bare_run(add);
        bare_state(statements[BARE_SESSION_STATE_SET], "counter", counter, number);
        bare_state(statements[BARE_SESSION_STATE_SET], "topic", "\"orders\"", number);
        bare_int(statements[BARE_USER_STATE_SET], 4, 1);
        bare_state(statements[BARE_USER_STATE_SET], "last_seen", "\"2024-01-15\"", number);
        sqlite3_stmt *touch = statements[BARE_SESSION_TOUCH];
        bare_int(touch, 1, 1);
        bare_int(touch, 2, number);
        bare_int(touch, 3, number);
        bare_int(touch, 4, number);
        bare_int(touch, 5, INT64_C(1700000000250000) + number);
        bare_run(touch);
        bare_run(statements[BARE_COMMIT]);
    }
}

static size_t bare_rows(sqlite3_stmt *statement, int columns, int limit)
{
    size_t bytes = 0;
    for (int i = 0; i < limit && sqlite3_step(statement) == SQLITE_ROW; i++) {
        for (int column = 0; column < columns; column++) {
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
                bytes += (size_t)sqlite3_column_int64(statement, column) & 1;
            else if (sqlite3_column_text(statement, column))
                bytes += (size_t)sqlite3_column_bytes(statement, column);
        }
    }
    sqlite3_reset(statement);
    return bytes;
}

/* Reads a session as the library does, and forgets what it read. */
static void bare_get(struct bare *bare, int events)
{
    sqlite3_stmt **statements = bare->statements;
    sqlite3_stmt *find = statements[BARE_SESSION_FIND];
    sqlite3_stmt *backward = statements[BARE_EVENTS_BACKWARD];
    size_t bytes = 0;

    bare_run(statements[BARE_BEGIN_READ]);
    bare_text(find, 1, "app", 3);
    bare_text(find, 2, "user", 4);
    bare_text(find, 3, "session", 7);
    bytes += bare_rows(find, 8, 1);
    bare_int(statements[BARE_APP_STATE_ALL], 1, 1);
    bare_int(statements[BARE_USER_STATE_ALL], 1, 1);
    bare_int(statements[BARE_SESSION_STATE_ALL], 1, 1);
    bytes += bare_rows(statements[BARE_APP_STATE_ALL], 2, 1000000);
    bytes += bare_rows(statements[BARE_USER_STATE_ALL], 2, 1000000);
    bytes += bare_rows(statements[BARE_SESSION_STATE_ALL], 2, 1000000);
    bare_int(backward, 1, INT64_C(1) << 32);
    bare_int(backward, 2, INT64_C(1) << 32 | 0xFFFFFFFF);
    bytes += bare_rows(backward, 8, events);
    bare_run(statements[BARE_COMMIT]);
    CHECK(bytes > 0);
}

static void bare_get_20(void *context, int count)
{
    for (int i = 0; i < count; i++)
        bare_get(context, 20);
}

static void bare_get_1000(void *context, int count)
{
    for (int i = 0; i < count; i++)
        bare_get(context, 1000);
}

/* -------------------------------------------------------------------------------------------- seslite */

static const ses_key the_key = {"app", "user", "session"};

struct library {
    ses_store *store;
    ses_session *session;
    int64_t number;
};

static void library_open(struct library *library, const char *path, bool full)
{
    const ses_open_options options = {.size = sizeof options,
                                      .synchronous = full ? SES_SYNC_FULL : SES_SYNC_NORMAL};
    const int64_t created = INT64_C(1700000000000000);
    const ses_create_options create = {.size = sizeof create, .create_us = &created};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};

    memset(library, 0, sizeof *library);
    CHECK(ses_open(path, &options, &library->store, NULL) == SES_OK);
    CHECK(ses_create_with(library->store, &the_key, "{\"app:theme\":\"dark\",\"name\":\"Ada\"}", SES_NUL, &create,
                          NULL, NULL) == SES_OK);
    CHECK(ses_get(library->store, &the_key, &none, &library->session, NULL) == SES_OK);
}

static void library_close(struct library *library)
{
    ses_session_close(library->session);
    ses_close(library->store);
}

static void library_append(void *context, int count)
{
    struct library *library = context;
    for (int i = 0; i < count; i++) {
        char event[EVENT_BYTES + 1];
        size_t len = make_event(event, ++library->number);
        CHECK(ses_append(library->session, event, len, NULL, NULL, NULL) == SES_OK);
    }
}

static void library_get(struct library *library, int64_t events)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = events};
    ses_session *session = NULL;
    CHECK(ses_get(library->store, &the_key, &newest, &session, NULL) == SES_OK);
    CHECK((int64_t)ses_session_event_count(session) == events);
    ses_session_close(session);
}

static void library_get_20(void *context, int count)
{
    for (int i = 0; i < count; i++)
        library_get(context, 20);
}

static void library_get_1000(void *context, int count)
{
    for (int i = 0; i < count; i++)
        library_get(context, 1000);
}

/* A long history and a large state, quickly: in batches. */
static void library_fill(struct library *library, int events, int keys)
{
    enum { BATCH = 1000 };
    static char texts[BATCH][EVENT_BYTES + 1];
    static ses_text batch[BATCH];
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_APPEND_ANYWAY};

    for (int done = 0; done < events; done += BATCH) {
        for (int i = 0; i < BATCH; i++)
            batch[i] = (ses_text){texts[i], make_event(texts[i], ++library->number)};
        CHECK(ses_append_batch(library->session, batch, BATCH, &anyway, NULL, NULL) == SES_OK);
    }
    for (int done = 0; done < keys; done += 100) {
        char event[8192];
        int len = snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{");
        for (int i = 0; i < 100; i++)
            len += snprintf(event + len, sizeof event - (size_t)len, "%s\"key number %d\":\"its value\"",
                            i ? "," : "", done + i);
        snprintf(event + len, sizeof event - (size_t)len, "}}}");
        CHECK(ses_append(library->session, event, SES_NUL, NULL, NULL, NULL) == SES_OK);
    }
}

/* ----------------------------------------------------------------------------------- the comparisons */

static void bench_append(bool full)
{
    struct library library;
    struct library behind_bare; /* makes the bare program's file, and closes it again */
    struct bare bare;
    char *path = path_of("bench-seslite.db");
    char *bare_path = path_of("bench-bare.db");

    library_open(&library, path, full);
    library_open(&behind_bare, bare_path, full);
    library_close(&behind_bare);
    bare_open(&bare, bare_path, full);
    compare(&(struct comparison){full ? "append, FULL" : "append, NORMAL", "seslite", library_append, &library,
                                 "bare SQLite", bare_append, &bare, 200, 50, 1.3});
    if (!full) {
        compare(&(struct comparison){"get, newest 20 events", "seslite", library_get_20, &library, "bare SQLite",
                                     bare_get_20, &bare, 200, 50, 1.5});
        compare(&(struct comparison){"get, newest 1,000 events", "seslite", library_get_1000, &library,
                                     "bare SQLite", bare_get_1000, &bare, 100, 5, 1.5});
    }
    bare_close(&bare);
    library_close(&library);
    free(bare_path);
    free(path);
}

static void bench_append_to_large(bool full)
{
    struct library large;
    struct library small;
    char *large_path = path_of("bench-large.db");
    char *small_path = path_of("bench-small.db");

    library_open(&large, large_path, full);
    library_fill(&large, 100000, 10000);
    library_open(&small, small_path, full);
    compare(&(struct comparison){full ? "append to 100,000 events, 10,000 keys, FULL"
                                      : "append to 100,000 events, 10,000 keys, NORMAL",
                                 "large session", library_append, &large, "an empty session", library_append,
                                 &small, 200, 50, 1.3});
    library_close(&small);
    library_close(&large);
    free(small_path);
    free(large_path);
}

int main(int argc, char **argv)
{
    bool unknown_option = argc % 2 == 0;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            CHECK((json = fopen(argv[i + 1], "w")) != NULL);
        else if (strcmp(argv[i], "--folder") == 0)
            folder = argv[i + 1];
        else
            unknown_option = true;
    }
    CHECK(!unknown_option);
    printf("seslite %s, SQLite %s; medians of rounds that take turns\n\n", ses_version(), sqlite3_libversion());
    bench_append(true);
    bench_append(false);
    bench_append_to_large(true);
    bench_append_to_large(false);
    if (json)
        fclose(json);
    return all_reached ? 0 : 2;
}
