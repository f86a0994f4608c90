/* Translates failures of SQLite into codes and messages. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/connection/connection.h"
#include "storage/sqlite/connection/scripts.h"

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

/* SQLite may not pass on what has ended the parts of a statement, such as making a virtual table. */
static int cause_of(struct connection *db, int rc)
{
    return (rc & 0xFF) == SQLITE_ERROR && ses__connection_must_end(db) ? SQLITE_INTERRUPT : rc;
}

/* `schema`: texts in threes, type, name and SQL. */
static bool is_table_of_store(const char *schema, const char *name)
{
    const char *end = schema + ses__schema_scripts.schema_bytes;
    const char *text = schema;

    while (text < end && (strcmp(text, "table") != 0 || strcmp(text + sizeof "table", name) != 0))
        text += strlen(text) + 1;
    return text < end;
}

/* Lists the tables that an application has added and that have foreign keys to the store's tables, as far as
 * the names fit. False if there are none. */
static bool list_referrers(struct connection *db, char *names, size_t capacity)
{
    sqlite3_stmt *row = NULL;
    size_t len = 0;
    char *schema = ses__schema_unpack(db->config->allocator, ses__schema_scripts.schema_bytes);
    int rc = sqlite3_prepare_v2(db->handle,
                                "SELECT DISTINCT m.name, lower(k.\"table\") FROM main.sqlite_schema AS m, "
                                "temp.pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table'",
                                -1, &row, NULL);

    names[0] = '\0';
    while (schema && rc == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        const char *parent = (const char *)sqlite3_column_text(row, 1);
        if (!name || !parent || is_table_of_store(schema, name) || !is_table_of_store(schema, parent))
            continue; /* also if a name could not be read */
        /* The tally of usage, or that of version 0.2.0, is made on demand and not by the schema scripts. */
        if (strcmp(parent, "derived") == 0 &&
            (strcmp(name, "usage_sums") == 0 || strcmp(name, "usage_counts") == 0))
            continue;
        if (strcmp(name, "invocation_filters") == 0) /* made on demand, too */
            continue;
        (void)snprintf(names + len, capacity - len, "%s%s", len > 0 ? ", " : "", name);
        len = strlen(names);
    }
    (void)sqlite3_finalize(row); /* its failure was that of a step */
    ses__memory_free(db->config->allocator, schema);
    return len > 0;
}

int ses__connection_error(struct connection *db, int rc, const char *doing, ses_error *error)
{
    db->failed = true;
    rc = cause_of(db, rc);
    char referrers[200];
    int code = code_of(rc);
    int extended = db->handle ? sqlite3_extended_errcode(db->handle) : rc;
    /* The connection's message belongs to its latest call, so it is used only if that is the call that
     * failed. */
    const char *text = (extended & 0xFF) == (rc & 0xFF) ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc);

    if ((extended & 0xFF) != (rc & 0xFF))
        extended = rc;
    /* A lack of room that SQLite does not report as FULL: beyond a limit of the process (RLIMIT_FSIZE) or
     * a quota. SQLite keeps the system's error number only for some calls; for a commit it is in errno
     * alone. */
    if ((extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_SHMSIZE) &&
        (errno == EFBIG || errno == EDQUOT))
        code = SES_FULL;
    else if (code == SES_BUSY && ses__limits_cancelled(db->base.limits))
        code = SES_INTERRUPTED; /* which has ended its waiting */
    if (code == SES_INTERRUPTED && ses__limits_passed(db->base.limits))
        text = ses__limits_text;
    if (extended == SQLITE_READONLY_DBMOVED)
        code = SES_IO;
    if (code == SES_NOTASTORE && ses__connection_lacks_key(db))
        code = SES_KEY;
    if (extended == SQLITE_CONSTRAINT_FOREIGNKEY) /* SQLite's text, which listing the tables may overwrite */
        text = "FOREIGN KEY constraint failed";
    /* The store's own foreign keys hold, unless its rows are damaged. */
    if (extended == SQLITE_CONSTRAINT_FOREIGNKEY && list_referrers(db, referrers, sizeof referrers))
        code = ses__error_set(
            error, SES_CONSTRAINT,
            "%s: %s failed: rows of a table that is not the store's (%s) refer to what would be deleted: delete those rows first, or declare the foreign key ON DELETE CASCADE",
            db->config->path, doing, referrers);
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

/* True if a table has given its last number, which SQLite also reports as FULL. */
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
