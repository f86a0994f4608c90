/* Creating a session in one round trip: everything is sent, with the commit, before anything is answered. The
 * server finds the numbers that later statements need. */
#include "base/error.h"
#include "storage/server/operations.h"
#include "storage/server/remote.h"
#include "storage/sql/rows/parts.h"

/* The queries whose rows are read after the commit. */
struct created {
    struct query row;
    struct snapshot_asked snapshot;
};

static int take_created(struct created *created, struct db *db, const struct create_op *op, int64_t details,
                        ses_error *error)
{
    const struct session_ref ref = {op->key, NULL};
    struct session_row row = {.id = 0};
    int code = ses__session_take(&created->row, &ref, &row);

    row.details = details; /* which followed the row */
    if (op->snapshot && code == SES_OK) {
        op->snapshot->row = row;
        code = ses__snapshot_take(&created->snapshot, db, op->snapshot, op->key, &op->range, error);
    }
    return code == SES_NOMEM ? JOB_UNREAD : code;
}

static int run_create_whole(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    const ses_key *key = op->key;
    const int64_t created_us = op->created_us;
    const int64_t changed_us = created_us < op->now_us ? created_us : op->now_us; /* as in ses__session_add */
    struct session_row row = {.id = 0}; /* the server knows its number */
    struct created created;

    /* Finds the app and the user, which are added if they are new. */
    ses__remote_ask(db, STATEMENT_APP_ADD, VALUES(STRING(key->app)));
    ses__remote_ask(db, STATEMENT_APP_FIND, VALUES(STRING(key->app)));
    ses__remote_ask(db, STATEMENT_USER_ADD, VALUES(OWNER(0), STRING(key->user)));
    ses__remote_ask(db, STATEMENT_USER_FIND, VALUES(STRING(key->app), STRING(key->user)));
    ses__query_open(&created.row, db, ses__remote_of(db)->driver->statements->create_session, error,
                    VALUES(STRING(key->session), INT(created_us), INT(ses__active_30s(created_us)),
                           INT_IF(op->expires_us != INT64_MAX, op->expires_us), INT(changed_us),
                           INT_IF(ses__is_ahead(created_us, op->now_us), ses__hour_of(op->now_us))));
    int code = ses__contents_add(db, op, &row, error);
    if (op->snapshot)
        ses__snapshot_ask(&created.snapshot, db, op->snapshot, op->key, &op->range, error);
    if (code == SES_OK)
        code = ses__remote_commit(db, error);
    return code == SES_OK ? take_created(&created, db, op, row.details, error)
                          : ses__remote_of(db)->driver->refuse_creation(db, op, code, error);
}

static int run_find(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    return ses__find_snapshot(db, op->snapshot, op->key, &op->range, error);
}

int ses__server_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    int code = ses__run_within(storage, &op->limits, TO_WRITE(op->initial.len), run_create_whole, op, error);

    /* The session is there: a short lack of memory must not make it look otherwise. */
    if (code == JOB_UNREAD) {
        code = SES_NOMEM;
        for (int tries = 0; tries < 3 && code == SES_NOMEM; tries++)
            code = ses__run(storage, TO_READ_BEFORE_WRITING, run_find, op, error);
        if (code != SES_OK)
            code = ses__error_set(error, SES_UNKNOWN, "the session was created, but could not be read back");
    }
    return code == JOB_UNSUITED
               ? ses__run_within(storage, &op->limits, TO_WRITE(op->initial.len), ses__create_job, op, error)
               : code;
}
