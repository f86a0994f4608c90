/* Transactions on one connection. */
#include "base/error.h"
#include "storage/sql/query.h"
#include "storage/sqlite/connection/connection.h"

/* This number differs from the last one if a connection has committed. */
static unsigned data_version(const struct connection *db)
{
    unsigned version = 0;

    /* Fails only for a file without a pager: then no connection can commit. */
    (void)sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

/*
 * Features are looked for in the first transaction of each connection. Another program may add one later. So
 * a transaction that writes looks again if another connection has committed since the last look: it has the
 * lock, and nobody can add one before it commits.
 */
static int look_for_features(struct connection *db, bool writes, ses_error *error)
{
    if (db->features_seen && !writes)
        return SES_OK;
    const unsigned version = data_version(db);
    if (db->features_seen && version == db->data_version)
        return SES_OK;
    const int code = ses__features_check(&db->base, db->is_writer ? SES_READONLY : SES_OK, error);
    db->features_seen = code == SES_OK;
    db->data_version = version;
    return code;
}

int ses__transaction_begin(struct connection *db, const struct statement *how, ses_error *error)
{
    int code;
    int tries = 0;

    ses__transaction_roll_back(db); /* an earlier one whose rollback failed */
    /* SQLite may answer BUSY at once where waiting could be a deadlock; we hold nothing, so we wait. */
    do {
        code = ses__query_do(&db->base, how, error, NULL);
    } while (code == SES_BUSY && ses__connection_wait(db, tries++));
    if (code == SES_OK && tries > 0)
        ses__error_clear(error); /* of an earlier try */
    if (code == SES_OK)
        code = look_for_features(db, how == STATEMENT_BEGIN_WRITE, error);
    if (code != SES_OK) {
        ses__connection_end_call(db); /* an interrupt must not meet what follows */
        ses__transaction_roll_back(db);
    }
    return code;
}

void ses__transaction_roll_back(struct connection *db)
{
    /* Some failures (a full disk) have rolled back already; and when even this fails, it is tried again
     * before the next transaction begins. The failure that led here is the one to report. */
    if (!sqlite3_get_autocommit(db->handle))
        (void)ses__query_do(&db->base, STATEMENT_ROLLBACK, NULL, NULL);
}

int ses__transaction_check_open(struct connection *db, ses_error *error)
{
    if (!sqlite3_get_autocommit(db->handle))
        return SES_OK;
    db->failed = true;
    return ses__error_set(error, SES_NOMEM, "%s: SQLite rolled the transaction back: out of memory",
                          db->config->path);
}

void ses__transaction_committed(struct connection *db)
{
    db->data_version = data_version(db);
}

int ses__transaction_check_features(struct connection *db, ses_error *error)
{
    int code;

    db->features_seen = false;
    code = ses__transaction_begin(db, STATEMENT_BEGIN_READ, error);
    return code == SES_OK ? ses__query_do(&db->base, STATEMENT_COMMIT, error, NULL) : code;
}

int ses__transaction_read(struct connection *db, storage_job *job, void *context, ses_error *error)
{
    int result = ses__transaction_begin(db, STATEMENT_BEGIN_READ, error);
    if (result == SES_OK) {
        db->failed = false;
        result = job(&db->base, context, error);
        ses__sqlite_end_queries(db);
        ses__connection_end_call(db);
        if (result >= 0 && db->failed) { /* it did without what is damaged; SQLite would refuse to commit */
            ses__transaction_roll_back(db);
        } else if (result >= 0) {
            int code = ses__query_do(&db->base, STATEMENT_COMMIT, error, NULL);
            if (code != SES_OK)
                result = code;
        }
        if (result < 0)
            ses__transaction_roll_back(db);
    }
    return result;
}
