/* JSON lines: export compared with a walk that writes the bodies, and import with appending the same
 * events. */
#include "bench.h"

#include <string.h>

enum { LINES_EVENTS = 100000, LINES_ROUNDS = 5 };

struct lines_bench {
    struct library source;
    char *text;
    size_t len;
    size_t capacity;
    size_t at;
    FILE *out;
};

/* ---------------------------------------------------------------------------------------------------- out */

static int write_to_file(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    return fwrite(data, 1, len, context) == len ? 0 : SES_IO;
}

static void lines_export(void *context, int count)
{
    struct lines_bench *bench = context;

    for (int i = 0; i < count; i++)
        CHECK(ses_store_export(bench->source.store, NULL, write_to_file, bench->out, NULL) == SES_OK);
}

static void walk_and_write(void *context, int count)
{
    struct lines_bench *bench = context;

    for (int i = 0; i < count; i++) {
        const ses_event *event = NULL;
        ses_cursor *cursor = NULL;
        CHECK(ses_cursor_open(bench->source.store, &bench->source.key, NULL, &cursor, NULL) == SES_OK);
        while (ses_cursor_next(cursor, &event, NULL) == SES_ROW)
            CHECK(fwrite(event->json, 1, event->json_len, bench->out) == event->json_len);
        CHECK(ses_cursor_close(cursor, NULL) == SES_OK);
    }
}

/* ----------------------------------------------------------------------------------------------------- in */

static int write_to_memory(void *context, const char *data, size_t len, ses_error *error)
{
    struct lines_bench *bench = context;

    (void)error;
    if (bench->capacity - bench->len < len) {
        bench->capacity = (bench->capacity + len) * 2;
        bench->text = realloc(bench->text, bench->capacity);
        CHECK(bench->text);
    }
    memcpy(bench->text + bench->len, data, len);
    bench->len += len;
    return 0;
}

static int read_from_memory(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct lines_bench *bench = context;
    size_t rest = bench->len - bench->at;

    (void)error;
    *len = rest < capacity ? rest : capacity;
    memcpy(buffer, bench->text + bench->at, *len);
    bench->at += *len;
    return 0;
}

static ses_store *fresh_store(const char *name, char **path)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_store *store = NULL;

    *path = fresh_path(name);
    CHECK(ses_open(*path, &options, &store, NULL) == SES_OK);
    return store;
}

static double lines_import(struct lines_bench *bench)
{
    char *path = NULL;
    ses_store *store = fresh_store("bench-import.db", &path);
    double start = now_us();

    bench->at = 0;
    CHECK(ses_store_import(store, read_from_memory, bench, NULL, NULL, NULL) == SES_OK);
    double us = now_us() - start;
    ses_close(store);
    free(path);
    free(fresh_path("bench-import.db"));
    return us;
}

static double append_the_same(void)
{
    char *path = fresh_path("bench-append.db");
    struct library library;

    library_open(&library, NULL, path, false, 1);
    double start = now_us();
    library_fill(&library, scaled(LINES_EVENTS), 0);
    double us = now_us() - start;
    library_close(&library, true);
    free(path);
    free(fresh_path("bench-append.db"));
    return us;
}

static void compare_imports(struct lines_bench *bench)
{
    double imports[LINES_ROUNDS];
    double appends[LINES_ROUNDS];
    const int rounds = scaled_rounds(LINES_ROUNDS);
    const int events = scaled(LINES_EVENTS);

    for (int i = 0; i < rounds; i++) {
        imports[i] = lines_import(bench);
        appends[i] = append_the_same();
    }
    double import_us = median(imports, (size_t)rounds) / events;
    double append_us = median(appends, (size_t)rounds) / events;
    report(&(struct figure){.name = "import of 100,000 events, per event",
                            .unit = "us",
                            .left_name = "seslite",
                            .left = import_us,
                            .right_name = "ses_append_batch",
                            .right = append_us,
                            .ratio = import_us / append_us,
                            .at_most = 1.5});
}

void bench_lines(void)
{
    char *path = fresh_path("bench-lines.db");
    struct lines_bench bench = {.out = fopen("/dev/null", "w")};

    CHECK(bench.out);
    library_open(&bench.source, NULL, path, false, 1);
    library_fill(&bench.source, scaled(LINES_EVENTS), 0);
    compare(&(struct comparison){.name = "export of 100,000 events",
                                 .left = {"seslite", lines_export, &bench},
                                 .right = {"a walk that writes", walk_and_write, &bench},
                                 .rounds = LINES_ROUNDS,
                                 .count = 1,
                                 .at_most = 1.2});
    CHECK(ses_store_export(bench.source.store, NULL, write_to_memory, &bench, NULL) == SES_OK);
    compare_imports(&bench);
    library_close(&bench.source, true);
    fclose(bench.out);
    free(bench.text);
    free(path);
    free(fresh_path("bench-lines.db"));
}
