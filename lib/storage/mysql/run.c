/* Transactions. */
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/mysql/parts.h"

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

static void roll_back(struct my *my)
{
    my->base.events = 0;
    if (my->sent)
        (void)ses__my_settle(my);  /* the server skips what comes after a failure */
    ses__buffer_cut(&my->text, 0); /* statements that were not sent are dropped */
    my->awaited_count = 0;
    if (!my->lost)
        ses__my_end_later(my, STATEMENT_ROLLBACK);
    my->writes = false;
}

static int run_job(struct my *my, struct attempt *attempt)
{
    const bool writes = attempt->manner->writes;

    ses__error_clear(attempt->error);
    ses__my_begin(my, writes);
    /* A read that could not go on in another transaction reads all in one. */
    my->stays_open = !attempt->is_first;
    int result = attempt->job(&my->base, attempt->context, attempt->error);
    ses__my_end_queries(my);
    attempt->wrote = my->wrote;
    if (writes && (my->ended || result >= 0)) {
        const int code = ses__my_commit(my, result >= 0 ? attempt->error : NULL);
        if (code == SES_UNKNOWN && result < 0)
            result = ses__error_set(attempt->error, SES_UNKNOWN, "%s", my->error.message);
        else if (result >= 0)
            result = code == SES_OK ? result : code;
    } else if (result >= 0 && my->code != SES_OK) { /* also of a query that the job did not need in the end */
        result = ses__error_set(attempt->error, my->code, "%s", my->error.message);
    } else if (result >= 0 && !my->ended) {
        ses__my_end_later(my, STATEMENT_COMMIT); /* a read: its outcome does not matter */
    }
    attempt->again = result < 0 && result != SES_UNKNOWN && (my->again || my->base.outrun);
    if (my->code == SES_READONLY && my->again) /* the address may lead to the primary, now or soon */
        my->lost = true;
    if (result == JOB_UNREAD)
        attempt->again = false;
    else if (result < 0)
        roll_back(my);
    return result;
}

/* ------------------------------------------------------------------------------------------ until it is done */

/* The least time for another attempt. One that is cut off would leave open whether it was committed. */
enum { LEAST_LEFT_US = 40000 };

/* A growing, partly random pause, so that calls that collided do not meet again; a longer one where a server has to become the
 * primary. */
static void pause_before(int tries, int result)
{
    const long step_us = result == SES_READONLY ? 2000 : 500;
    const long us = (ses__clock_steady_us() & 1023) + step_us * (tries < 20 ? tries : 20);
    const struct timespec time = {0, us * 1000};
    (void)nanosleep(&time, NULL);
}

static int run_on_a_connection(struct mysql *storage, struct attempt *attempt, int64_t deadline_us)
{
    const bool interruptible = !attempt->manner->writes && !attempt->manner->uninterruptible;
    const struct limits *limits = ses__limits_given(attempt->manner->limits);
    struct my *my = NULL;

    attempt->again = false;
    if (ses__limits_cancelled(limits)) /* later, the commit may be on its way already */
        return ses__limits_refuse(storage->config.name, attempt->error);
    int result = ses__mysql_take(storage, limits, ses__limits_until(limits, deadline_us), interruptible, &my,
                                 attempt->error);

    attempt->again = result == SES_CANTOPEN; /* the server may be starting, or another may take its place */
    if (result == SES_OK) {
        my->commit_deadline_us = deadline_us;
        result = run_job(my, attempt);
        ses__mysql_give_back(storage, my);
    }
    return result;
}

int ses__mysql_run(struct storage *base, const struct manner *manner, storage_job *job, void *context,
                   ses_error *error)
{
    struct mysql *storage = (struct mysql *)base;
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
            pause_before(tries, result);
    }
    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.commits += attempt.wrote && result >= 0 ? 1 : 0;
    storage->counts.write_calls += manner->writes ? 1 : 0;
    storage->counts.read_calls += manner->writes ? 0 : 1;
    (void)pthread_mutex_unlock(&storage->lock);
    return result;
}

int ses__mysql_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                          ses_error *error)
{
    erasure->unclean = false;
    if (erasure->secure)
        return ses__error_set(
            error, SES_MISUSE,
            "secure deletion works on files only: a server keeps deleted rows until it purges them, and its log for as long as it is archived");
    return ses__run_within(storage, &erasure->limits, TO_WRITE(0), job, context, error);
}
