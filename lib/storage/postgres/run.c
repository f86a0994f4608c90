/* Transactions. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/postgres/ahead.h"
#include "storage/postgres/announce.h"
#include "storage/postgres/parts.h"

/* A job and the state of running it. */
struct attempt {
    const struct manner *manner;
    storage_job *job;
    void *context;
    const struct announcement *announcement; /* NULL if nothing is announced */
    size_t way;                              /* the next way of the announcement to try */
    bool unknown;                            /* an attempt may have been committed */
    bool again;                              /* another attempt may succeed */
    bool is_first;                           /* it is not another one */
    ses_error *error;
};

enum { WAYS = sizeof((struct announcement *)NULL)->whole / sizeof(struct whole), MISSED = -1000 };

static bool is_interruptible(const struct manner *manner)
{
    return !manner->writes && !manner->uninterruptible;
}

/* Ends the transaction without waiting for the server. If that cannot be sent, the connection is not used again. */
static void end_later(struct pg *pg, const struct statement *statement)
{
    pg->writes = false;
    ses__pg_forget_failure(pg);
    ses__pg_send(pg, statement, NULL, PG_ENDS);
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

/* ------------------------------------------------------------------------------- the job asks by itself */

static int run_job(struct pg *pg, struct attempt *attempt)
{
    const bool writes = attempt->manner->writes;

    ses__error_clear(attempt->error);
    ses__pg_begin(pg, writes);
    /* A read that could not go on in another transaction reads all in one. */
    pg->stays_open = !attempt->is_first;
    if (attempt->announcement && !writes) { /* a read of which only a part was announced */
        ses__ahead_begin(pg);
        attempt->announcement->whole[0].announce(&pg->base, attempt->context);
        ses__ahead_end(pg);
    }
    int result = attempt->job(&pg->base, attempt->context, attempt->error);
    ses__ahead_forget(pg);
    if (writes && (result >= 0 || pg->ended)) {
        const int code = ses__pg_commit(pg, result >= 0 ? attempt->error : NULL);
        if (code == SES_UNKNOWN && result < 0)
            result = ses__error_set(attempt->error, SES_UNKNOWN, "%s", pg->error.message);
        else if (result >= 0)
            result = code == SES_OK ? result : code;
    } else if (result >= 0 && pg->code == SES_OK && !pg->ended) {
        end_later(pg, STATEMENT_COMMIT); /* a read: its outcome does not matter */
    }
    attempt->again = result < 0 && result != SES_UNKNOWN && (pg->again || pg->base.outrun);
    if (result == PG_UNREAD)
        attempt->again = false;
    else if (result < 0)
        roll_back(pg);
    return result;
}

/* --------------------------------------------------------------------------- the whole was sent ahead */

/* True if the announced transaction did not fit the state of the store: its guard divided by zero, or a row already
 * existed. */
static bool did_not_fit(const struct pg *pg)
{
    return strcmp(pg->error.sqlstate, "22012") == 0 || strcmp(pg->error.sqlstate, "23505") == 0;
}

static int run_over_answers(struct pg *pg, struct attempt *attempt, enum pg_whole whole)
{
    pg->ahead.whole = whole;
    pg->ahead.missed = false;
    pg->ahead.next = NULL; /* a second run gets the same answers */
    pg->base.events = 0;
    ses__error_clear(attempt->error);
    const int result = attempt->job(&pg->base, attempt->context, attempt->error);
    return pg->ahead.missed ? MISSED : result;
}

/* The changes are committed. A short lack of memory, which may also hide an answer, must not make them look undone. */
static int take_stored(struct pg *pg, struct attempt *attempt)
{
    int result = SES_NOMEM;

    for (int tries = 0; tries < 3 && (result == SES_NOMEM || result == MISSED); tries++)
        result = run_over_answers(pg, attempt, PG_STORED);
    if (result == SES_NOMEM || result == MISSED || pg->base.outrun)
        result = ses__error_set(attempt->error, SES_UNKNOWN, "%s: the committed rows could not be read back",
                                pg->base.name);
    return result;
}

static int run_whole(struct pg *pg, struct attempt *attempt, const struct whole *whole)
{
    ses__pg_begin(pg, attempt->manner->writes);
    ses__ahead_begin(pg);
    whole->announce(&pg->base, attempt->context);
    ses__ahead_end(pg);
    int result = ses__pg_commit(pg, attempt->error);
    if (result == SES_OK && whole->stores && !ses__ahead_found(pg)) {
        result = MISSED; /* the session of the events was not found, so nothing was stored */
    } else if (result == SES_OK) {
        result = whole->stores ? take_stored(pg, attempt) : run_over_answers(pg, attempt, PG_LOOKED);
    } else {
        if (result != SES_UNKNOWN && did_not_fit(pg))
            result = MISSED;
        attempt->again = result != SES_UNKNOWN && result != MISSED && pg->again;
        roll_back(pg);
    }
    ses__ahead_forget(pg);
    return result;
}

static int run_once(struct pg *pg, struct attempt *attempt)
{
    const struct announcement *announcement = attempt->announcement;
    int result = MISSED;

    attempt->again = false;
    while (announcement && attempt->way < WAYS && result == MISSED && !pg->lost) {
        const struct whole *whole = &announcement->whole[attempt->way];
        if (whole->announce && (!whole->fits || whole->fits(attempt->context)))
            result = run_whole(pg, attempt, whole);
        attempt->way += result == MISSED;
    }
    return result == MISSED ? run_job(pg, attempt) : result;
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
    struct pg *pg = NULL;
    int result = ses__pool_take(storage, deadline_us, is_interruptible(attempt->manner), &pg, attempt->error);

    attempt->again = result == SES_CANTOPEN; /* the server may be starting, or another may take its place */
    if (result == SES_OK) {
        result = run_once(pg, attempt);
        ses__pool_give_back(storage, pg);
    }
    return result;
}

/* After an unknown outcome, looks the events up by id: any that exist were stored by this call. */
static void go_on_from_unknown(struct attempt *attempt, int result)
{
    attempt->unknown |= result == SES_UNKNOWN;
    if (attempt->unknown && attempt->announcement && attempt->announcement->claim) {
        attempt->announcement->doubt(attempt->context);
        attempt->way = 1;
        attempt->again |= result == SES_UNKNOWN;
    }
}

/* True if the code describes the session rather than the connection. */
static bool is_certain(int code)
{
    return code >= 0 || code == SES_STALE || code == SES_EXISTS || code == SES_LEASED ||
           code == SES_NOTFOUND || code == SES_LIMIT || code == SES_CORRUPT;
}

static int settle_unknown(const struct attempt *attempt, int result)
{
    if (!attempt->unknown || result == SES_UNKNOWN)
        return result;
    if (result >= 0 && attempt->announcement->claim)
        attempt->announcement->claim(attempt->context);
    if (is_certain(result))
        return result;
    return ses__error_set(attempt->error, SES_UNKNOWN, "%s",
                          "the server did not confirm the commit, and could not be asked again");
}

static int run_on(struct postgres *storage, const struct manner *manner, storage_job *job, void *context,
                  ses_error *error)
{
    const int64_t deadline_us = ses__clock_steady_us() + storage->config.timeout_us;
    struct attempt attempt = {.manner = manner,
                              .job = job,
                              .context = context,
                              .announcement = ses__announcement_of(job),
                              .again = true,
                              .error = error};
    int result = SES_OK;

    if (manner->writes && storage->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only",
                              storage->config.name);
    for (int tries = 0; attempt.again; tries++) {
        ses__error_clear(error);
        attempt.is_first = tries == 0;
        result = run_on_a_connection(storage, &attempt, deadline_us);
        go_on_from_unknown(&attempt, result);
        attempt.again =
            attempt.again && !manner->alone && ses__clock_steady_us() < deadline_us - LEAST_LEFT_US;
        if (attempt.again)
            pause_before(tries);
    }
    result = settle_unknown(&attempt, result);
    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.commits += manner->writes && result >= 0 ? 1 : 0;
    storage->counts.write_calls += manner->writes ? 1 : 0;
    storage->counts.read_calls += manner->writes ? 0 : 1;
    (void)pthread_mutex_unlock(&storage->lock);
    return result;
}

static int refuse_secure(ses_error *error)
{
    return ses__error_set(
        error, SES_MISUSE,
        "secure deletion works on files only: a server keeps deleted rows until it vacuums, and its log for as long as it is archived");
}

int ses__postgres_run(struct storage *storage, const struct manner *manner, storage_job *job, void *context,
                      ses_error *error)
{
    struct postgres *side = NULL;

    if (manner->erasure)
        manner->erasure->unclean = false;
    if (manner->erasure && manner->erasure->secure)
        return refuse_secure(error);
    const int code = ses__postgres_side((struct postgres *)storage, manner, &side, error);
    return code == SES_OK ? run_on(side, manner, job, context, error) : code;
}
