/* seslite doctor: facts about the store, with advice where they need attention. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "files/file_system.h"
#include "output/json.h"
#include "store/choose.h"

enum {
    LARGE_LOG = 24 << 20, /* a larger log means that a reader delays checkpoints */
    MUCH_FREE = 1 << 20
};

struct report {
    struct run *run;
    struct json_rows rows;
    int status;
};

static void put_line(enum colour colour, const char *before, const char *text)
{
    struct text clean = {NULL, 0, 0};

    out_coloured(colour, before, strlen(before));
    text_add_clean(&clean, text, strlen(text), LINES_ONE);
    out_print("%s\n", clean.data);
    text_free(&clean);
}

static void put_lines(const char *name, const char *value, const char *advice)
{
    char before[64];

    (void)snprintf(before, sizeof before, "%c %-18s", advice ? '!' : ' ', name);
    put_line(advice ? COLOUR_RED : COLOUR_CYAN, before, value);
    (void)snprintf(before, sizeof before, "%-20s", "");
    if (advice)
        put_line(COLOUR_NONE, before, advice);
}

static int put_object(struct report *report, const char *name, const char *value, const char *advice)
{
    struct json json;

    json_begin(&json, report->run, '{');
    json_text(&json, "name", name);
    json_text(&json, "value", value);
    json_bool(&json, "ok", advice == NULL);
    json_text(&json, "advice", advice);
    return json_rows_add(&report->rows, &json);
}

/* A fact, and advice if it needs attention, or NULL. */
static void put_fact(struct report *report, const char *name, const char *value, const char *advice)
{
    if (!wants_json(report->run))
        put_lines(name, value, advice);
    else if (report->status == EXIT_OK)
        report->status = put_object(report, name, value, advice);
}

/* Uses only stat(): opening and closing the file here would drop SQLite's locks on it. */
static void put_file(struct report *report, const char *name, const char *path, const char *suffix)
{
    struct text full = {NULL, 0, 0};
    struct stat status;
    char value[64];

    text_print(&full, "%s%s", path, suffix);
    if (stat(full.data, &status) == 0) {
        bool open_to_others = (status.st_mode & 077) != 0;
        bool large = strcmp(suffix, "-wal") == 0 && status.st_size > LARGE_LOG;
        (void)snprintf(value, sizeof value, "%jd bytes, mode %04o", (intmax_t)status.st_size,
                       (unsigned)status.st_mode & 07777);
        put_fact(report, name, value,
                 open_to_others ? "others on this machine can open it: chmod 600"
                 : large        ? "it is large: a program keeps a read transaction open"
                                : NULL);
    }
    text_free(&full);
}

static void put_versions(struct report *report, const ses_info *info)
{
    char schema[32];

    (void)snprintf(schema, sizeof schema, "%d", info->schema_version);
    put_fact(report, "seslite", ses_version(), NULL);
    put_fact(report, "schema", schema, NULL);
}

/* The known bugs need a log, and several programs on the file. */
static void put_sqlite(struct report *report, const ses_info *info)
{
    const bool is_wal = strcmp(info->sqlite.journal_mode, "wal") == 0;
    const bool are_met = *info->sqlite.bugs && is_wal && file_is_locked_by_others(info->path);

    put_fact(report, "SQLite", info->sqlite.version, NULL);
    put_fact(report, "known bugs",
             are_met                          ? info->sqlite.bugs
             : !*info->sqlite.bugs || !is_wal ? "none"
                                              : "none while one program has the file open",
             are_met ? "several programs have the file open: each needs SQLite 3.51.3 or newer, or 3.50.7"
                     : NULL);
}

static void put_file_place(struct report *report, const ses_info *info)
{
    char name[64];
    bool network = file_system_name(info->path, name, sizeof name);
    bool is_wal = strcmp(info->sqlite.journal_mode, "wal") == 0;

    put_fact(report, "journal", info->sqlite.journal_mode, is_wal ? NULL : info->sqlite.journal_reason);
    put_fact(report, "file system", *name ? name : "not known",
             network ? "SQLite's locks are not reliable over a network: move the file to a local disk"
                     : NULL);
    put_file(report, "file", info->path, "");
    put_file(report, "write-ahead log", info->path, "-wal");
    put_file(report, "its index", info->path, "-shm");
    put_file(report, "rollback journal", info->path, "-journal");
}

static void put_free_pages(struct report *report, const ses_space *space)
{
    char value[64];

    (void)snprintf(value, sizeof value, "%lld of %lld bytes", (long long)space->free_bytes,
                   (long long)space->bytes);
    put_fact(report, "free pages", value,
             space->free_bytes > MUCH_FREE && space->free_bytes > space->bytes / 4
                 ? "seslite maintain frees them"
                 : NULL);
}

static void put_file_facts(struct report *report, const ses_info *info, const ses_space *space)
{
    put_sqlite(report, info);
    put_file_place(report, info);
    put_free_pages(report, space);
}

/* The server itself reports everything else. */
static void put_server_facts(struct report *report, const ses_info *info, const ses_space *space)
{
    char value[64];

    (void)snprintf(value, sizeof value, "%lld bytes", (long long)space->bytes);
    put_fact(report, "server", info->path, NULL);
    put_fact(report, "size", value, NULL);
}

int run_doctor(struct run *run)
{
    ses_info info = {.size = sizeof info};
    ses_space space = {.size = sizeof space};
    struct report report = {.run = run};
    int status = open_to_read(run);

    if (status != EXIT_OK)
        return status;
    if (ses_store_info(run->store, &info, &run->error) < 0 ||
        ses_store_space(run->store, NULL, &space, &run->error) < 0)
        return fail(run);
    if (wants_json(run))
        json_rows_begin(&report.rows, run);
    put_versions(&report, &info);
    if (is_on_server(run))
        put_server_facts(&report, &info, &space);
    else
        put_file_facts(&report, &info, &space);
    if (wants_json(run))
        json_rows_end(&report.rows);
    return report.status;
}
