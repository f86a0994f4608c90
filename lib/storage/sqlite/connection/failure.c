/* Translates failures of SQLite into codes and messages. */
#include <errno.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/sqlite/connection/connection.h"
#include "storage/sqlite/connection/schema.h"

static int code_of(int rc)
{
    static const struct {
        int rc;
        int code;
    } codes[] = {
        {SQLITE_NOMEM, SES_NOMEM},
        {SQLITE_BUSY, SES_BUSY},
        {SQLITE_LOCKED, SES_BUSY},
        {SQLITE_PROTOCOL, SES_BUSY},
        {SQLITE_READONLY, SES_READONLY},
        {SQLITE_FULL, SES_FULL},
        {SQLITE_IOERR, SES_IO},
        {SQLITE_NOLFS, SES_IO},
        {SQLITE_CORRUPT, SES_CORRUPT},
        {SQLITE_NOTADB, SES_NOTASTORE},
        {SQLITE_CANTOPEN, SES_CANTOPEN},
        {SQLITE_PERM, SES_CANTOPEN},
        {SQLITE_TOOBIG, SES_LIMIT},
        {SQLITE_INTERRUPT, SES_INTERRUPTED},
        /* The library keeps every constraint, so the rows that are there must not. */
        {SQLITE_CONSTRAINT, SES_CORRUPT},
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].rc == (rc & 0xFF))
            return codes[i].code;
    }
    return SES_INTERNAL;
}

/*
 * A write that failed because there is no room, which SQLite does not call FULL: beyond a limit of the process
 * (RLIMIT_FSIZE) or a quota. SQLite keeps the system's error number only for some calls; for a commit it is in errno
 * alone.
 */
static bool has_no_room(int extended)
{
    return (extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_SHMSIZE) &&
           (errno == EFBIG || errno == EDQUOT);
}

/* SQLite may not pass on what has ended the parts of a statement, such as making a virtual table. */
static int cause_of(struct connection *db, int rc)
{
    return (rc & 0xFF) == SQLITE_ERROR && ses__connection_must_end(db) ? SQLITE_INTERRUPT : rc;
}

/* A foreign key of a table that an application has added to the file forbids what was written. (The store's own keys hold,
 * unless its rows are damaged.) */
static bool refuse_for_others(struct connection *db, int extended, const char *doing, ses_error *error)
{
    char tables[200];
    bool refused =
        extended == SQLITE_CONSTRAINT_FOREIGNKEY && ses__schema_name_referrers(db, tables, sizeof tables);

    if (refused)
        (void)ses__error_set(
            error, SES_CONSTRAINT,
            "%s: %s failed: rows of a table that is not the store's (%s) refer to what would be deleted: delete those rows first, or declare the foreign key ON DELETE CASCADE",
            db->config->path, doing, tables);
    return refused;
}

int ses__connection_error(struct connection *db, int rc, const char *doing, ses_error *error)
{
    db->failed = true;
    rc = cause_of(db, rc);
    int code = code_of(rc);
    int extended = db->handle ? sqlite3_extended_errcode(db->handle) : rc;
    /* The connection's message belongs to its latest call, so it is used only if that is the call that
     * failed. */
    const char *text = (extended & 0xFF) == (rc & 0xFF) ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc);

    if ((extended & 0xFF) != (rc & 0xFF))
        extended = rc;
    if (has_no_room(extended))
        code = SES_FULL;
    else if (code == SES_BUSY && ses__limits_cancelled(db->base.limits))
        code = SES_INTERRUPTED; /* which has ended its waiting */
    if (code == SES_INTERRUPTED && ses__limits_passed(db->base.limits))
        text = ses__limits_text;
    if (extended == SQLITE_READONLY_DBMOVED)
        code = SES_IO;
    if (code == SES_NOTASTORE && ses__connection_lacks_key(db))
        code = SES_KEY;
    if (refuse_for_others(db, extended, doing, error))
        code = SES_CONSTRAINT;
    else if (code == SES_NOMEM)
        ses__error_nomem(error);
    else if (code == SES_KEY)
        ses__error_set(error, code, "%s: wrong key, or not a store%s", db->config->path,
                       db->config->key ? "" : ": the file seems to be encrypted, and no key is given");
    else if (code == SES_BUSY)
        ses__error_set(
            error, code, "%s: still locked by another connection after %lld ms (%s: %s)", db->config->path,
            (long long)((db->base.limits ? db->busy_us : db->config->busy_timeout_us) / 1000), doing, text);
    else
        ses__error_set(error, code, "%s: %s failed: %s", db->config->path, doing, text);
    if (error)
        error->engine_code = extended;
    return code;
}

int ses__refuse_busy(const struct sqlite_config *config, const struct limits *limits, int64_t begun_us,
                     const char *what, ses_error *error)
{
    return ses__error_set(error, ses__limits_cancelled(limits) ? SES_INTERRUPTED : SES_BUSY,
                          "%s: %s still in use by other threads after %lld ms", config->path, what,
                          (long long)((ses__clock_steady_us() - begun_us) / 1000));
}

/* Has a table given its last number? SQLite reports that as FULL, too. */
static bool has_no_number_left(struct connection *db)
{
    static const char sql[] = "SELECT 1 FROM sqlite_sequence WHERE seq = 9223372036854775807 "
                              "UNION ALL SELECT 1 FROM sessions WHERE id = 9223372036854775807 "
                              "UNION ALL SELECT 1 FROM session_leases WHERE token = 9223372036854775807";
    sqlite3_stmt *statement = NULL;
    bool found = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW;

    (void)sqlite3_finalize(statement); /* its failure was that of the step */
    return found;
}

int ses__statement_error(struct connection *db, int rc, const char *doing, ses_error *error)
{
    int code;

    db->failed = true;
    rc = cause_of(db, rc);
    if ((rc & 0xFF) == SQLITE_ERROR || (rc & 0xFF) == SQLITE_SCHEMA)
        code = ses__error_set(error, SES_CORRUPT, "%s: the schema is not as expected: %s (%s)",
                              db->config->path, sqlite3_errmsg(db->handle), doing);
    else if ((rc & 0xFF) == SQLITE_INTERRUPT && db->endless)
        code = ses__error_set(error, SES_CORRUPT, "%s: %s found more rows than the file has room for",
                              db->config->path, doing);
    else
        code = ses__connection_error(db, rc, doing, error);
    if ((rc & 0xFF) == SQLITE_FULL &&
        has_no_number_left(db)) /* which runs a statement: what SQLite said has been read */
        code = ses__error_set(error, SES_CORRUPT, "%s: no number is left for a new row (%s)",
                              db->config->path, doing);
    if (error && error->engine_code == 0)
        error->engine_code = rc;
    return code;
}
