#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/connection/scripts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "storage/sqlite/connection/file.h"
#include "storage/sqlite/connection/key.h"
#include "base/memory.h"

enum { SCHEMA_APPLICATION_ID = 0x5345534C }; /* "SESL", as the first script sets it */

/* Tables by which a store is known whose numbers are lost. */
#define SIGNIFICANT_NAMES "'sessions', 'events', 'app_state', 'user_state', 'session_state'"
enum { SIGNIFICANT_TABLES = 5 };

int ses__schema_latest(void)
{
    return ses__schema_scripts.items[ses__schema_scripts.count - 1].version;
}

/* Judges the numbers in the file. `tables`: how many of its tables have the names of a store's. */
static int judge(const char *path, int64_t application, int64_t version, int64_t objects, int64_t tables,
                 ses_error *error)
{
    int code = SES_OK;
    bool is_empty = application == 0 && version == 0 && objects == 0;
    bool is_restored = application == 0 && version == 0 && tables == SIGNIFICANT_TABLES;

    if (is_restored)
        code = ses__error_set(
            error, SES_NOTASTORE,
            "%s: this looks like a store that was restored from a .dump, which leaves out two numbers. If it is one, run: PRAGMA application_id = %d; PRAGMA user_version = %d; (a lower one if an older seslite wrote the store)",
            path, SCHEMA_APPLICATION_ID, ses__schema_latest());
    else if (application != SCHEMA_APPLICATION_ID && !is_empty)
        code = ses__error_set(error, SES_NOTASTORE,
                              "%s: an SQLite database, but not a seslite store (application_id is %lld)",
                              path, (long long)application);
    else if (version > ses__schema_latest())
        code = ses__error_set(
            error, SES_TOONEW,
            "%s: the store needs a seslite that knows schema version %lld; this one (%s) knows up to %d",
            path, (long long)version, ses_version(), ses__schema_latest());
    else if (version < 1 && !is_empty)
        code = ses__error_set(error, SES_NOTASTORE,
                              "%s: the file is marked as a seslite store but has no schema version", path);
    else if (version < ses__schema_scripts.items[0].version && !is_empty) /* that of the first release */
        code = ses__error_set(
            error, SES_NOTASTORE,
            "%s: an unreleased version of seslite wrote this store (schema version %lld): export it with that version, and import the export with this one",
            path, (long long)version);
    return code;
}

int ses__schema_version(struct connection *db, int *version, ses_error *error)
{
    int64_t application = 0;
    int64_t user_version = 0;
    int64_t objects = 0;
    int64_t tables = 0;

    /* In one transaction: another connection may be making the schema. */
    int code = ses__connection_execute(db, "BEGIN", "looking at the file", error);
    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA application_id", &application, error);
    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA user_version", &user_version, error);
    /* Files with numbers are not counted, because SQLite parses the whole schema for it. */
    if (code == SES_OK && application == 0 && user_version == 0)
        code = ses__connection_read_int(db, "SELECT count(*) FROM sqlite_schema", &objects, error);
    if (code == SES_OK && objects > 0)
        code = ses__connection_read_int(
            db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (" SIGNIFICANT_NAMES ")",
            &tables, error);
    if (code == SES_OK)
        code = ses__connection_execute(db, "COMMIT", "looking at the file", error);
    else if (!sqlite3_get_autocommit(db->handle))
        (void)ses__connection_execute(db, "ROLLBACK", "looking at the file",
                                      NULL); /* the failure was reported already */
    if (code == SES_OK)
        code = judge(db->config->path, application, user_version, objects, tables, error);
    if (code == SES_OK)
        *version = (int)user_version;
    else if (code == SES_NOTASTORE && error && error->engine_code != 0)
        (void)ses__error_set(error, code, "%s: this is not an SQLite database", db->config->path);
    return code;
}

int ses__schema_write_mark(struct connection *db)
{
    char sql[64];

    (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d", SCHEMA_APPLICATION_ID);
    return ses__connection_execute(db, sql, "writing the mark", NULL);
}

/* Runs `pragma` first. NULL: only the beginning of the file is looked at. */
static int peek(const struct sqlite_config *config, const char *path, int flags, const char *pragma,
                ses_error *error)
{
    int version;
    struct connection db = {.config = config};
    int code = SES_OK;
    int rc = sqlite3_open_v2(path, &db.handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_extended_result_codes(db.handle, 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc != SQLITE_OK)
        code = ses__connection_error(&db, rc, "looking at the file", error);
    /* A journal that a crash has left must not be played back without the key: to SQLite its encrypted
     * content then looks like its end, so the journal would be deleted, and the file stay as it is in the
     * middle of a transaction. */
    if (code == SES_OK && ses__connection_is_other_kind(&db))
        code = ses__connection_error(&db, SQLITE_NOTADB, "looking at the file", error);
    if (code == SES_OK) {
        ses__connection_limit_work(&db, WORK_OF_OPENING);
        code = ses__key_apply(&db, error);
    }
    if (code == SES_OK && pragma)
        code = ses__connection_execute(&db, pragma, "looking at the file", error);
    if (code == SES_OK && pragma)
        code = ses__schema_version(&db, &version, error);
    (void)sqlite3_close_v2(db.handle); /* cannot fail: no statement is left */
    return code;
}

static bool is_verdict(int code)
{
    return code == SES_NOTASTORE || code == SES_TOONEW || code == SES_NOMEM || code == SES_KEY ||
           code == SES_UNSUPPORTED;
}

/*
 * Reads the file without locks and without its write-ahead log. A file that looks wrong may be a store that
 * another process is creating at this moment, so it is read again after a pause. While a rollback journal
 * exists, only a connection that takes locks can decide about more than how the file begins.
 */
static int peek_at_file(const struct sqlite_config *config, ses_error *error)
{
    enum { LOOKS = 4 };
    const struct timespec pause = {0, 20 * 1000 * 1000};
    char *uri = ses__file_immutable_uri(config->allocator, config->path);
    int code = uri ? SES_IO : ses__error_nomem(error);

    for (int look = 0; look < LOOKS && code != SES_OK && code != SES_NOMEM; look++) {
        bool journal = false;
        bool log = false;
        if (look > 0)
            (void)nanosleep(&pause, NULL); /* a signal may cut it short: there are more looks */
        code = ses__file_find_journals(config->allocator, config->path, &log, &journal, error);
        if (code == SES_OK)
            code = peek(config, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, journal ? NULL : "", error);
    }
    ses__memory_free(config->allocator, uri);
    return code;
}

int ses__schema_peek(const struct sqlite_config *config, ses_error *error)
{
    bool log = false;
    bool journal = false;
    int code = ses__file_find_journals(config->allocator, config->path, &log, &journal, error);

    if (code == SES_OK && log) {
        /* The newest pages are in the log, and the file itself may even be torn: a crash in the middle of a
         * checkpoint leaves it so. Exclusive locking lets SQLite read both without making its shared-memory
         * file; when another connection has the database open, that file is there already. */
        code = peek(config, config->path, SQLITE_OPEN_READWRITE, "PRAGMA locking_mode = EXCLUSIVE", error);
        if (code != SES_OK && !is_verdict(code)) /* it is open elsewhere, or read-only */
            code = peek(config, config->path, SQLITE_OPEN_READONLY, "", error);
    } else if (code == SES_OK) {
        code = peek_at_file(config, error);
    }
    if (!is_verdict(code)) {
        /* The connection that is opened next meets any other failure again, with locks and recovery. */
        ses__error_clear(error);
        code = SES_OK;
    }
    return code;
}

static int run_script(struct connection *db, const struct schema_script *script, const char *sql,
                      ses_error *error)
{
    while (*sql == '.') { /* a line for the sqlite3 program */
        const char *line_end = strchr(sql, '\n');
        sql = line_end ? line_end + 1 : "";
    }
    int code = ses__connection_execute(db, sql, script->name, error);
    if (code != SES_OK) {
        /* The script stopped in its middle: undo what it began. The failure was reported already. */
        if (!sqlite3_get_autocommit(db->handle))
            (void)ses__connection_execute(db, "ROLLBACK", script->name, NULL);
        (void)ses__connection_execute(db, "DROP TABLE IF EXISTS temp.seslite_guard", script->name, NULL);
    }
    return code;
}

/* In a transaction. */
static int run_schema(struct connection *db, const char *texts, ses_error *error)
{
    const char *const end = texts + ses__schema_scripts.schema_bytes;
    const char *text = texts;
    int code = SES_OK;

    while (text < end && code == SES_OK) {
        const char *name = text + strlen(text) + 1; /* after the type */
        const char *sql = name + strlen(name) + 1;
        code = ses__connection_execute(db, sql, "schema.sql", error);
        text = sql + strlen(sql) + 1;
    }
    return code == SES_OK ? ses__connection_execute(db, end, "schema.sql", error) : code;
}

/* Makes a new store of an empty file, in a third of the time that the scripts take. Another connection may
 * have made it by then. */
static int make_store(struct connection *db, ses_error *error)
{
    char *texts = ses__schema_unpack(db->config->allocator, ses__schema_scripts.bytes);
    int64_t objects = 0;

    if (!texts)
        return ses__error_nomem(error);
    int code =
        ses__connection_execute(db, "PRAGMA auto_vacuum = INCREMENTAL; BEGIN IMMEDIATE", "schema.sql", error);
    if (code == SES_OK)
        code = ses__connection_read_int(db, "SELECT count(*) FROM sqlite_schema", &objects, error);
    if (code == SES_OK && objects == 0)
        code = run_schema(db, texts, error);
    if (code == SES_OK)
        code = ses__connection_execute(db, "COMMIT", "schema.sql", error);
    if (code != SES_OK && !sqlite3_get_autocommit(db->handle)) /* the failure was reported already */
        (void)ses__connection_execute(db, "ROLLBACK", "schema.sql", NULL);
    ses__memory_free(db->config->allocator, texts);
    return code;
}

static int run_scripts(struct connection *db, int version, ses_error *error)
{
    char *texts = ses__schema_unpack(db->config->allocator, ses__schema_scripts.bytes);
    int code = SES_OK;

    if (!texts)
        return ses__error_nomem(error);
    const char *next = texts + ses__schema_scripts.schema_bytes;
    next += strlen(next) + 1; /* the end of the schema */
    for (size_t i = 0; i < ses__schema_scripts.count && code == SES_OK; i++, next += strlen(next) + 1) {
        const struct schema_script *script = &ses__schema_scripts.items[i];
        if (script->version > version) {
            ses_error failure;
            int failed = run_script(db, script, next, &failure);
            /* Its guard refuses if another connection has run the script in the meantime, which is fine. */
            code = ses__schema_version(db, &version, error);
            if (code == SES_OK && failed != SES_OK && version < script->version) {
                code = failed;
                if (error)
                    *error = failure;
            }
        }
    }
    ses__memory_free(db->config->allocator, texts);
    return code;
}

int ses__schema_migrate(struct connection *db, ses_error *error)
{
    int version = 0;
    int code = ses__schema_version(db, &version, error);

    if (code == SES_OK && version == 0) {
        code = make_store(db, error);
        if (code == SES_OK)
            code = ses__schema_version(db, &version, error);
    }
    if (code == SES_OK && version < ses__schema_latest())
        code = ses__transaction_check_features(db, error);
    return code == SES_OK && version < ses__schema_latest() ? run_scripts(db, version, error) : code;
}
