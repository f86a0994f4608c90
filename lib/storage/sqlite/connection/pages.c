/* Copies of databases, page by page. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "storage/sqlite/connection/connection.h"

/* After each step the copying can be ended. */
enum { PAGES_IN_STEP = 256 };

int ses__pages_count(struct connection *db, int64_t *pages, ses_error *error)
{
    int64_t page_bytes = 0;
    int code = ses__connection_read_int(db, "PRAGMA page_count", pages, error);

    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA page_size", &page_bytes, error);
    if (code != SES_OK || db->config->in_memory)
        return code;
    return page_bytes > 0 && *pages <= ses__connection_file_bytes(db) / page_bytes
               ? SES_OK
               : ses__error_set(error, SES_CORRUPT, "%s: the file is shorter than it says", db->config->path);
}

int ses__pages_copy(struct connection *from, struct connection *to, const char *schema,
                    const struct copy_progress *progress, ses_error *error)
{
    const bool to_memory = to->config->in_memory || strcmp(schema, "main") != 0;
    char sql[64];
    int64_t page_bytes = 0;
    int code = SES_OK;
    int rc = SQLITE_OK;

    /* A copy in memory needs the page size before anything is written to it. SQLite sets that of a file
     * itself. */
    if (to_memory) {
        code = ses__connection_read_int(from, "PRAGMA page_size", &page_bytes, error);
        (void)snprintf(sql, sizeof sql, "PRAGMA %s.page_size = %lld", schema, (long long)page_bytes);
        if (code == SES_OK)
            code = ses__connection_execute(to, sql, "setting the size of pages", error);
    }
    if (code != SES_OK)
        return code;
    sqlite3_backup *backup = sqlite3_backup_init(to->handle, schema, from->handle, "main");
    if (!backup)
        return ses__connection_error(to, sqlite3_errcode(to->handle), "beginning the copy", error);
    while (code == SES_OK && rc == SQLITE_OK) {
        /* From memory in one step, because SQLite starts over after each commit. */
        rc = sqlite3_backup_step(backup, from->config->in_memory ? -1 : PAGES_IN_STEP);
        const int64_t total = sqlite3_backup_pagecount(backup);
        const int64_t done = total - sqlite3_backup_remaining(backup);
        if ((rc == SQLITE_OK || rc == SQLITE_DONE) &&
            ((progress && progress->report && progress->report(progress->context, done, total) != 0) ||
             ses__connection_must_end(from)))
            code = ses__refuse_interrupted("the copy", error);
    }
    int ended = sqlite3_backup_finish(backup);
    if (code == SES_OK && (rc != SQLITE_DONE || ended != SQLITE_OK))
        code = ses__connection_error(to, rc != SQLITE_DONE ? rc : ended, "copying the pages", error);
    return code;
}
