/* The end of an append that an engine has sent as a whole: its answer, or an outcome that is not known. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"

/* The events are stored: a short lack of memory must not make it look otherwise. */
int ses__append_take_stored(struct append_op *op, const struct db *db, ses_error *error)
{
    int code = SES_NOMEM;

    for (int tries = 0; tries < 3 && code == SES_NOMEM; tries++) {
        ses__advance_free(&op->advance);
        code = ses__append_stored(op, error);
    }
    return code == SES_NOMEM
               ? ses__error_set(error, SES_UNKNOWN, "%s: the events are stored, but memory ran out", db->name)
               : code;
}

/* True if the code describes the session rather than the connection. */
static bool is_certain(int code)
{
    return code >= 0 || code == SES_STALE || code == SES_EXISTS || code == SES_LEASED ||
           code == SES_NOTFOUND || code == SES_LIMIT || code == SES_CORRUPT;
}

/* Events that are found were stored by this call. A handle has seen what others appended since. A caller without one has
 * not: it gets the version of its last event. */
static void claim(struct append_op *op)
{
    int64_t last = 0;

    for (size_t i = 0; i < op->count; i++) {
        if (op->results[i].status == SES_DUPLICATE) {
            op->results[i].status = SES_OK;
            last = op->results[i].seq;
        }
    }
    if (last > 0 && !op->snapshot)
        op->row.version -= op->row.last_seq - last;
}

int ses__append_again(struct storage *storage, int64_t deadline_us, struct append_op *op, ses_error *error)
{
    const struct manner without_limits = {.writes = true, .deadline_us = deadline_us};

    op->may_be_stored = true;
    int code = storage->engine->run(storage, &without_limits, ses__append_ahead_job, op, error);
    if (code >= 0)
        claim(op);
    return is_certain(code)
               ? code
               : ses__error_set(error, SES_UNKNOWN, "%s",
                                "the server did not confirm the commit, and could not be asked again");
}
