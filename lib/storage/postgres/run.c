/* Transactions. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/postgres/parts.h"

/* A job and the state of running it. */
struct attempt {
    const struct manner *manner;
    storage_job *job;
    void *context;
    bool again;    /* another attempt may succeed */
    bool wrote;    /* the last attempt has */
    bool is_first; /* it is not another one */
    ses_error *error;
};

/* Ends the transaction without waiting for the server. If that cannot be sent, the connection is not used again. */
static void end_later(struct pg *pg, const struct statement *statement)
{
    pg->writes = false;
    ses__pg_forget_failure(pg);
    ses__pg_send(pg, statement, NULL, PG_ENDS, NULL);
    ses__pg_dispatch(pg);
    pg->lost |= pg->code != SES_OK;
}

static void roll_back(struct pg *pg)
{
    pg->base.events = 0;
    if (pg->awaited_count > 0)
        (void)ses__pg_settle(pg); /* the server skips the rest of a failed pipeline */
    if (!pg->lost && PQtransactionStatus(pg->conn) != PQTRANS_IDLE)
        end_later(pg, STATEMENT_ROLLBACK);
    pg->writes = false;
}

static int run_job(struct pg *pg, struct attempt *attempt)
{
    const bool writes = attempt->manner->writes;

    ses__error_clear(attempt->error);
    ses__pg_begin(pg, writes);
    /* A read that could not go on in another transaction reads all in one. */
    pg->stays_open = !attempt->is_first;
    int result = attempt->job(&pg->base, attempt->context, attempt->error);
    ses__pg_end_queries(pg);
    attempt->wrote = pg->wrote;
    if (writes && (pg->ended || result >= 0)) {
        const int code = ses__pg_commit(pg, result >= 0 ? attempt->error : NULL);
        if (code == SES_UNKNOWN && result < 0)
            result = ses__error_set(attempt->error, SES_UNKNOWN, "%s", pg->error.message);
        else if (result >= 0)
            result = code == SES_OK ? result : code;
    } else if (result >= 0 && pg->code != SES_OK) { /* also of a query that the job did not need in the end */
        result = ses__error_set(attempt->error, pg->code, "%s", pg->error.message);
    } else if (result >= 0 && !pg->ended) {
        end_later(pg, STATEMENT_COMMIT); /* a read: its outcome does not matter */
    }
    attempt->again = result < 0 && result != SES_UNKNOWN && (pg->again || pg->base.outrun);
    if (result == JOB_UNREAD)
        attempt->again = false;
    else if (result < 0)
        roll_back(pg);
    return result;
}

/* ------------------------------------------------------------------------------------------ until it is done */

/* The least time for another attempt. One that is cut off would leave open whether it was committed. */
enum { LEAST_LEFT_US = 40000 };

/* A growing, partly random pause, so that calls that collided do not meet again. */
static void pause_before(int tries)
{
    const long us = (ses__clock_steady_us() & 1023) + 500L * (tries < 20 ? tries : 20);
    const struct timespec time = {0, us * 1000};
    (void)nanosleep(&time, NULL);
}

static int run_on_a_connection(struct postgres *storage, struct attempt *attempt, int64_t deadline_us)
{
    const bool interruptible = !attempt->manner->writes && !attempt->manner->uninterruptible;
    const struct limits *limits = ses__limits_given(attempt->manner->limits);
    struct pg *pg = NULL;

    attempt->again = false;
    if (ses__limits_cancelled(limits)) /* later, the commit may be on its way already */
        return ses__limits_refuse(storage->config.name, attempt->error);
    int result = ses__pool_take(storage, limits, ses__limits_until(limits, deadline_us), interruptible, &pg,
                                attempt->error);

    attempt->again = result == SES_CANTOPEN; /* the server may be starting, or another may take its place */
    if (result == SES_OK) {
        pg->commit_deadline_us = deadline_us;
        result = run_job(pg, attempt);
        ses__pool_give_back(storage, pg);
    }
    return result;
}

static int run_on(struct postgres *storage, const struct manner *manner, storage_job *job, void *context,
                  ses_error *error)
{
    const int64_t deadline_us =
        manner->deadline_us > 0 ? manner->deadline_us : ses__clock_steady_us() + storage->config.timeout_us;
    struct attempt attempt = {
        .manner = manner, .job = job, .context = context, .again = true, .error = error};
    int result = SES_OK;

    if (manner->writes && storage->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only",
                              storage->config.name);
    for (int tries = 0; attempt.again; tries++) {
        ses__error_clear(error);
        attempt.is_first = tries == 0;
        result = run_on_a_connection(storage, &attempt, deadline_us);
        attempt.again =
            attempt.again && !manner->alone && !ses__limits_cancelled(manner->limits) &&
            ses__clock_steady_us() < ses__limits_until(manner->limits, deadline_us) - LEAST_LEFT_US;
        if (attempt.again)
            pause_before(tries);
    }
    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.commits += attempt.wrote && result >= 0 ? 1 : 0;
    storage->counts.write_calls += manner->writes ? 1 : 0;
    storage->counts.read_calls += manner->writes ? 0 : 1;
    (void)pthread_mutex_unlock(&storage->lock);
    return result;
}

/* Before the first read of a replica: rows of another database, or the absence of rows where the store does not exist yet,
 * must not be taken for the store's. */
static int look_at_replica(struct postgres *replica, ses_error *error)
{
    if (atomic_load(&replica->looked_at))
        return SES_OK;
    int code = ses__postgres_migrate(replica, error);
    if (code == SES_NOTFOUND || code == SES_NOTASTORE || code == SES_TOONEW || code == SES_READONLY) {
        code = SES_CANTOPEN;
        if (error)
            error->code = code;
    }
    if (code == SES_OK)
        atomic_store(&replica->looked_at, true);
    return code;
}

int ses__postgres_run(struct storage *storage, const struct manner *manner, storage_job *job, void *context,
                      ses_error *error)
{
    struct postgres *side = (struct postgres *)storage;
    int code = SES_OK;

    if (manner->may_be_behind && side->replica) {
        side = side->replica;
        code = look_at_replica(side, error);
    }
    return code == SES_OK ? run_on(side, manner, job, context, error) : code;
}

int ses__postgres_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job,
                             void *context, ses_error *error)
{
    erasure->unclean = false;
    if (erasure->secure)
        return ses__error_set(
            error, SES_MISUSE,
            "secure deletion works on files only: a server keeps deleted rows until it vacuums, and its log for as long as it is archived");
    return ses__run_within(storage, &erasure->limits, TO_WRITE(0), job, context, error);
}
