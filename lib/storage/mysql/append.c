/* Appending, in two round trips: one that asks for all that is stored already, and one that writes, with the commit. */
#include "base/clock.h"
#include "base/error.h"
#include "storage/mysql/parts.h"
#include "storage/sql/session/jobs.h"

/* ---------------------------------------------------------------------------------- an unknown outcome */

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

/* Looks the events up by their ids, and stores those that are not there, as long as there is time. */
static int append_again(struct storage *storage, const struct manner *manner, struct append_op *op,
                        ses_error *error)
{
    const struct manner without_limits = {.writes = true, .deadline_us = manner->deadline_us};

    op->may_be_stored = true;
    int code = storage->engine->run(storage, &without_limits, ses__append_ahead_job, op, error);
    if (code >= 0)
        claim(op);
    return is_certain(code)
               ? code
               : ses__error_set(error, SES_UNKNOWN, "%s",
                                "the server did not confirm the commit, and could not be asked again");
}

int ses__mysql_append(struct storage *storage, struct append_op *op, ses_error *error)
{
    const struct mysql *own = (const struct mysql *)storage;
    const struct manner manner = {.writes = true,
                                  .deadline_us = ses__clock_steady_us() + own->config.timeout_us,
                                  .limits = &op->limits};
    const int code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);

    return code == SES_UNKNOWN ? append_again(storage, &manner, op, error) : code;
}
