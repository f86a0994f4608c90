/* Which journal a file has: a write-ahead log, or a rollback journal. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "storage/sqlite/parts.h"

/* The feature that keeps a rollback journal that was requested. Older versions read and write such a file. */
static const char KEEPS_ROLLBACK[] = "rollback_journal";
enum { NEEDS_NO_KNOWLEDGE = 1 };

static int keep_journal_mode(void *context, sqlite3_stmt *row, ses_error *error)
{
    const char *text = (const char *)sqlite3_column_text(row, 0);

    if (text)
        (void)snprintf(context, JOURNAL_MODE_BYTES, "%s", text);
    return text ? SES_OK : ses__error_nomem(error);
}

/* Asks for a journal mode until it is granted, the time is up, or SQLite keeps another, which `mode` says. */
static int ask_journal_mode(struct connection *db, const char *sql, char mode[JOURNAL_MODE_BYTES],
                            ses_error *error)
{
    int tries = 0;
    int code;

    mode[0] = '\0';
    do {
        ses__error_clear(error); /* of an earlier try */
        code = ses__connection_visit(db, sql, keep_journal_mode, mode, error);
    } while (code == SES_BUSY && ses__connection_wait(db, tries++));
    return code;
}

static int find_choice(struct db *db, void *keeps_rollback, ses_error *error)
{
    int64_t one = 0;
    const int code =
        ses__query_number(db, STATEMENT_FEATURE_FIND, &one, error, VALUES(STRING(KEEPS_ROLLBACK)));

    *(bool *)keeps_rollback = code == SES_OK;
    if (code == SES_NOTFOUND)
        ses__error_clear(error);
    return code == SES_NOTFOUND ? SES_OK : code;
}

static int write_choice(struct connection *db, bool keeps_rollback, ses_error *error)
{
    int code = ses__transaction_begin(db, STATEMENT_BEGIN_WRITE, error);

    if (code != SES_OK)
        return code;
    code = keeps_rollback
               ? ses__query_do(&db->base, STATEMENT_FEATURE_ENTER, error,
                               VALUES(STRING(KEEPS_ROLLBACK), INT(NEEDS_NO_KNOWLEDGE)))
               : ses__query_do(&db->base, STATEMENT_FEATURE_LEAVE, error, VALUES(STRING(KEEPS_ROLLBACK)));
    if (code == SES_OK)
        code = ses__query_do(&db->base, STATEMENT_COMMIT, error, NULL);
    ses__transaction_roll_back(db); /* after a failure */
    return code;
}

/* A store in a file, to write. */
static int choose_journal(struct sqlite *storage, ses_error *error)
{
    struct connection *db = storage->writer.db;
    const int journal = storage->config.journal;
    const bool remote = journal == SES_JOURNAL_AUTO && ses__file_is_remote(storage->config.path);
    bool has_choice = false;
    int code = ses__transaction_read(db, find_choice, &has_choice, error);
    const bool keeps_rollback = journal == SES_JOURNAL_AUTO && has_choice;
    const int64_t deadline = db->base.deadline_us;

    if (code != SES_OK)
        return code;
    if (keeps_rollback)
        db->base.deadline_us = 0; /* without waiting */
    code = ask_journal_mode(db,
                            keeps_rollback || remote || journal == SES_JOURNAL_ROLLBACK
                                ? "PRAGMA journal_mode = DELETE"
                                : "PRAGMA journal_mode = WAL",
                            storage->journal_mode, error);
    db->base.deadline_us = deadline;
    /* If a program of an older version has turned the file to WAL and still uses it, it stays at WAL. */
    if (code == SES_BUSY && keeps_rollback)
        code = ask_journal_mode(db, "PRAGMA journal_mode", storage->journal_mode, error);
    if (code == SES_OK && journal == SES_JOURNAL_ROLLBACK && !has_choice)
        code = write_choice(db, true, error);
    else if (code == SES_OK && journal == SES_JOURNAL_WAL && has_choice)
        code = write_choice(db, false, error);
    storage->journal_reason =
        journal == SES_JOURNAL_ROLLBACK ? "a rollback journal was requested"
        : remote         ? "the file is on a network or virtual file system, where WAL is not safe"
        : keeps_rollback ? "a rollback journal was requested earlier, and the store keeps it"
                         : "SQLite does not use WAL for this file";
    return code;
}

int ses__journal_set(struct sqlite *storage, ses_error *error)
{
    const struct sqlite_config *config = &storage->config;
    int code;

    if (config->read_only || config->in_memory) {
        storage->journal_reason =
            config->in_memory ? "the store is in memory" : "SQLite does not use WAL for this file";
        code = ask_journal_mode(storage->writer.db, "PRAGMA journal_mode", storage->journal_mode, error);
    } else {
        code = choose_journal(storage, error);
    }
    if (strcmp(storage->journal_mode, "wal") == 0)
        storage->journal_reason = "";
    return code;
}
