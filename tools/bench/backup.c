/* Backups compared with SQLite's own methods, each flushed to disk. */
#include "bench.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

enum { BACKED_UP = 60000, BATCH_EVENTS = 500, ROUNDS = 15 };

struct backed_up {
    ses_store *store;
    const char *path;
    char *target;
    unsigned flags;
};

static void fill_store(ses_store *store)
{
    const ses_key key = {"app", "user", "session"};
    static char texts[BATCH_EVENTS][EVENT_BYTES + 200];
    ses_text events[BATCH_EVENTS];

    CHECK(ses_create(store, &key, NULL, 0, NULL, NULL, NULL) == SES_OK);
    for (int i = 0; i < scaled(BACKED_UP); i += BATCH_EVENTS) {
        for (int k = 0; k < BATCH_EVENTS; k++) {
            snprintf(texts[k], sizeof texts[k],
                     "{\"id\":\"e%d\",\"author\":\"agent\",\"text\":\"%0*d\",\"actions\":{\"stateDelta\":{"
                     "\"k%d\":%d}}}",
                     i + k, EVENT_BYTES, i + k, k % 50, i);
            events[k] = (ses_text){texts[k], SES_NUL};
        }
        CHECK(ses_append_batch_by_key(store, &key, events, BATCH_EVENTS, NULL, NULL, NULL) == SES_OK);
    }
}

static void back_up(void *context, int count)
{
    const struct backed_up *of = context;
    const ses_backup_options options = {.size = sizeof options, .flags = of->flags};

    for (int i = 0; i < count; i++) {
        (void)unlink(of->target);
        CHECK(ses_store_backup(of->store, of->target, &options, NULL) == SES_OK);
    }
}

static void flush_file(const char *path)
{
    int descriptor = open(path, O_RDWR);
    CHECK(descriptor >= 0 && fsync(descriptor) == 0 && close(descriptor) == 0);
}

static void copy_bare(void *context, int count)
{
    const struct backed_up *of = context;

    for (int i = 0; i < count; i++) {
        sqlite3 *from = NULL;
        sqlite3 *to = NULL;
        (void)unlink(of->target);
        CHECK(sqlite3_open(of->path, &from) == SQLITE_OK && sqlite3_open(of->target, &to) == SQLITE_OK);
        CHECK(sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
        CHECK(backup && sqlite3_backup_step(backup, -1) == SQLITE_DONE);
        CHECK(sqlite3_backup_finish(backup) == SQLITE_OK);
        CHECK(sqlite3_close(to) == SQLITE_OK && sqlite3_close(from) == SQLITE_OK);
        flush_file(of->target);
    }
}

static void vacuum_bare(void *context, int count)
{
    const struct backed_up *of = context;
    char sql[4096];

    snprintf(sql, sizeof sql, "PRAGMA synchronous = OFF; VACUUM INTO '%s'", of->target);
    for (int i = 0; i < count; i++) {
        sqlite3 *from = NULL;
        (void)unlink(of->target);
        CHECK(sqlite3_open(of->path, &from) == SQLITE_OK);
        CHECK(sqlite3_exec(from, sql, NULL, NULL, NULL) == SQLITE_OK);
        CHECK(sqlite3_close(from) == SQLITE_OK);
        flush_file(of->target);
    }
}

static void compare_backup(struct backed_up *of, const char *name, const char *alone, work *bare)
{
    char bare_name[] = "backup-bare.db";
    struct backed_up other = *of;

    other.target = fresh_path(bare_name);
    compare(&(struct comparison){.name = name,
                                 .left = {"seslite", back_up, of},
                                 .right = {alone, bare, &other},
                                 .rounds = ROUNDS,
                                 .count = 1,
                                 .at_most = 1.3});
    (void)unlink(other.target);
    free(other.target);
}

void bench_backup(void)
{
    char *path = fresh_path("backed-up.db");
    struct backed_up of = {.path = path, .target = fresh_path("backup.db")};

    CHECK(ses_open(path, NULL, &of.store, NULL) == SES_OK);
    fill_store(of.store);
    CHECK(ses_store_maintain(of.store, NULL, NULL) >= 0);
    compare_backup(&of, "backup of 60,000 events", "backup API", copy_bare);
    of.flags = SES_BACKUP_COMPACT;
    compare_backup(&of, "compact backup of 60,000 events", "VACUUM INTO", vacuum_bare);
    ses_close(of.store);
    (void)unlink(of.target);
    free(of.target);
    free(path);
}
