/*
 * Commits, and the meaning of their failures. SQLite also reports failures that come after the transaction
 * was, or may have been, committed. They are UNKNOWN unless it is proved that nothing is stored:
 *
 *  - While the transaction is still open, it was not committed.
 *  - With a rollback journal, deleting the journal commits. Everything that writes, flushes a file or needs
 *    memory comes before that; the deletion itself, flushing the folder, and making the file shorter do not.
 *  - In WAL, the last frame commits. If what follows it fails (flushing, or the index in shared memory), no
 *    connection sees the frames, but they are in the log: a program that recovers the log after a crash would
 *    find them. The next frames that any connection writes go over them. So we write some at once. If that
 *    fails too, only a write that was cut short proves that the last frame is not complete.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "storage/sqlite/connection/schema.h"

/* True if it is proved that nothing is stored. */
static bool is_absent(struct connection *db, const ses_error *failure)
{
    const int rc = failure->engine_code;
    /* SQLite reports this, or failure.c has found it in errno. */
    const bool cut_short = rc == SQLITE_FULL || (rc == SQLITE_IOERR_WRITE && failure->code == SES_FULL);
    int64_t wal = 0;
    /* Now, and not when the store was opened: another program may have changed it. */
    int code =
        ses__connection_read_int(db, "SELECT journal_mode = 'wal' FROM temp.pragma_journal_mode", &wal, NULL);

    if (code == SES_OK && !wal) /* these come before the deletion of the journal */
        return cut_short || rc == SQLITE_NOMEM || rc == SQLITE_IOERR_WRITE || rc == SQLITE_IOERR_FSYNC;
    if (code == SES_OK && ses__schema_write_mark(db) == SES_OK)
        return true;
    /* A write that was cut short proves it with either journal, so also where a full disk keeps SQLite from
     * reporting the mode. But where a torn write may damage neighbouring bytes, SQLite fills the last sector
     * with copies of the last frame. */
    sqlite3_file *file = ses__connection_file(db, SQLITE_FCNTL_FILE_POINTER);
    return cut_short && file &&
           (file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
}

int ses__commit(struct connection *db, ses_error *failure)
{
    int code = ses__transaction_check_open(db, failure);
    if (code != SES_OK)
        return code;
    code = ses__query_do(&db->base, STATEMENT_COMMIT, failure, NULL);
    bool open = !sqlite3_get_autocommit(db->handle);

    if (code == SES_OK && open) {
        code = ses__error_set(failure, SES_INTERNAL, "%s: the commit left its transaction open",
                              db->config->path);
    } else if (code != SES_OK && !open && !db->config->in_memory && !is_absent(db, failure)) {
        const size_t len = strlen(failure->message);
        (void)snprintf(failure->message + len, sizeof failure->message - len,
                       "; what was written may be stored or not");
        code = failure->code = SES_UNKNOWN;
    }
    if (code == SES_OK)
        ses__transaction_committed(db);
    return code;
}
