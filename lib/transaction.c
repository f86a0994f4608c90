/* Transactions on one connection. */
#include "error.h"
#include "storage_impl.h"

int transaction_begin(struct db *db, enum statement_id how, ses_error *error)
{
    int code;
    int tries = 0;

    transaction_roll_back(db); /* one that could not be rolled back when it should have been */
    /* SQLite may answer BUSY at once where waiting could be a deadlock; we hold nothing, so we wait. */
    do {
        code = query_run(db, how, error);
    } while (code == SES_BUSY && connection_wait(db, tries++));
    if (code == SES_OK && tries > 0)
        error_clear(error); /* of what an earlier try has said */
    return code;
}

int transaction_commit(struct db *db, ses_error *error)
{
    int code = query_run(db, STATEMENT_COMMIT, error);
    if (code == SES_OK && !sqlite3_get_autocommit(db->handle))
        code = error_set(error, SES_INTERNAL, "%s: the commit left its transaction open", db->config->path);
    return code;
}

void transaction_roll_back(struct db *db)
{
    /* Some failures (a full disk) have rolled back already; and when even this fails, it is tried again before the
     * next transaction begins. The failure that led here is the one to tell. */
    if (!sqlite3_get_autocommit(db->handle))
        (void)query_run(db, STATEMENT_ROLLBACK, NULL);
}

int transaction_run(struct db *db, enum statement_id how, storage_job *job, void *context, ses_error *error)
{
    int result = transaction_begin(db, how, error);
    if (result == SES_OK) {
        result = job(db, context, error);
        connection_uninterrupt(db);
        if (result >= 0) {
            int code = transaction_commit(db, error);
            if (code != SES_OK)
                result = code;
        }
        if (result < 0)
            transaction_roll_back(db);
    }
    return result;
}
