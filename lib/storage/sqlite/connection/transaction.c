/* Transactions on one connection. */
#include "base/error.h"
#include "storage/sqlite/connection/connection.h"

int ses__transaction_begin(struct connection *db, const struct statement *how, ses_error *error)
{
    int code;
    int tries = 0;

    ses__transaction_roll_back(db); /* one that could not be rolled back when it should have been */
    /* SQLite may answer BUSY at once where waiting could be a deadlock; we hold nothing, so we wait. */
    do {
        code = ses__query_do(&db->base, how, error, NULL);
    } while (code == SES_BUSY && ses__connection_wait(db, tries++));
    if (code == SES_OK && tries > 0)
        ses__error_clear(error); /* of what an earlier try has said */
    return code;
}

void ses__transaction_roll_back(struct connection *db)
{
    /* Some failures (a full disk) have rolled back already; and when even this fails, it is tried again before the
     * next transaction begins. The failure that led here is the one to report. */
    if (!sqlite3_get_autocommit(db->handle))
        (void)ses__query_do(&db->base, STATEMENT_ROLLBACK, NULL, NULL);
}

int ses__transaction_read(struct connection *db, storage_job *job, void *context, ses_error *error)
{
    int result = ses__transaction_begin(db, STATEMENT_BEGIN_READ, error);
    if (result == SES_OK) {
        result = job(&db->base, context, error);
        ses__sqlite_end_queries(db);
        ses__connection_end_call(db);
        if (result >= 0) {
            int code = ses__query_do(&db->base, STATEMENT_COMMIT, error, NULL);
            if (code != SES_OK)
                result = code;
        }
        if (result < 0)
            ses__transaction_roll_back(db);
    }
    return result;
}
