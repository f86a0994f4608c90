/* Deleting so that the deleted bytes cannot be found in the files any more. */
#include "base/clock.h"
#include "storage/sqlite/parts.h"
#include "storage/sql/query.h"

/*
 * SQLite overwrites what it frees while `PRAGMA secure_delete` is on. The writing connection has it on for
 * everything: a page that any change frees can have a copy of rows that SQLite has moved to another page, and
 * a later deletion of those would not find it. That costs appends next to nothing, as they free little, and
 * deletions about a third of their time.
 */
int ses__erase_setup(struct connection *db, ses_error *error)
{
    return ses__connection_execute(db, "PRAGMA secure_delete = ON", "setting what is overwritten", error);
}

/* Empties the log and overwrites unused bytes, again if need be. True if nothing is left. */
static bool leave_nothing(struct sqlite *storage, const struct limits *limits)
{
    const struct sqlite_config *config = &storage->config;
    const int64_t deadline = ses__limits_until(limits, ses__clock_steady_us() + config->busy_timeout_us);
    /* With SES_CHECKPOINT_EXTERNAL another program copies the log, so all writes must be in it. With a key,
     * pages cannot be overwritten in part. */
    const bool sweeps = !config->in_memory && !config->key && config->checkpoint != SES_CHECKPOINT_EXTERNAL;
    bool wrote = false;
    ses_error error;
    int code;

    do { /* again if another process has written in the meantime */
        code = ses__wal_empty(storage, limits, &error);
        if (code != SES_OK || !sweeps)
            return code == SES_OK;
        code = ses__sweep(storage, limits, &wrote, &error);
    } while (code == SES_MORE && ses__clock_steady_us() < deadline);
    return code == SES_OK && (!wrote || ses__wal_empty(storage, limits, &error) == SES_OK);
}

int ses__sqlite_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                           ses_error *error)
{
    const struct manner manner = {.writes = true, .alone = erasure->alone};
    const int result = ses__run_within(storage, &erasure->limits, manner, job, context, error);
    const bool is_last = !erasure->more || !*erasure->more;

    /* The deletion is committed, even if something keeps the log from being emptied. */
    erasure->unclean = erasure->secure && result >= 0 && is_last &&
                       !leave_nothing((struct sqlite *)storage, &erasure->limits);
    return result;
}
