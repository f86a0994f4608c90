/* Transactions. */
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/postgres/parts.h"

/* How a transaction is run. */
struct manner {
    bool writes;
    bool once; /* the job is not begun again */
    bool interruptible;
};

static void forget_failure(struct pg *pg)
{
    pg->code = SES_OK;
    pg->again = false;
    pg->warned = false;
    ses__error_clear(&pg->error);
}

static void begin(struct pg *pg, bool writes)
{
    forget_failure(pg);
    pg->writes = writes;
    pg->base.events = 0;
    ses__pg_send(pg,
                 ses__postgres_statements[(writes ? STATEMENT_BEGIN_WRITE : STATEMENT_BEGIN_READ)->slot].text,
                 PG_CHANGES);
}

static void roll_back(struct pg *pg)
{
    pg->writes = false;
    pg->base.events = 0;
    (void)ses__pg_settle(pg); /* what comes after a failure is not run before this */
    if (!pg->lost) {
        forget_failure(pg);
        ses__pg_send(pg, "ROLLBACK", PG_CHANGES);
        pg->lost = ses__pg_settle(pg) != SES_OK || PQtransactionStatus(pg->conn) != PQTRANS_IDLE;
    }
}

/*
 * A transaction that only reads is over whatever the server says. One that writes may have been committed where the way to
 * the server was lost after it was asked to; or not everywhere, where the server stopped to wait for its standbys and says
 * so with a warning only.
 */
static int commit(struct pg *pg, ses_error *error)
{
    const bool writes = pg->writes;
    const bool failed = pg->code != SES_OK;

    pg->warned = false;
    if (!failed)
        ses__pg_send(pg, "COMMIT", PG_CHANGES);
    int code = ses__pg_settle(pg);
    if (code != SES_OK && error)
        *error = pg->error;
    if (code == SES_OK && pg->warned && writes)
        code = ses__error_set(error, SES_UNKNOWN,
                              "%s: the server did not wait until its standbys had what was written",
                              pg->base.name);
    else if (code != SES_OK && !failed && pg->lost && writes)
        code =
            ses__error_set(error, SES_UNKNOWN,
                           "%s: the server went away before it said whether it had committed", pg->base.name);
    pg->writes = false;
    return code;
}

/* `*again`: it may go well from the start. */
static int run_once(struct pg *pg, const struct manner *manner, storage_job *job, void *context, bool *again,
                    ses_error *error)
{
    begin(pg, manner->writes);
    int result = job(&pg->base, context, error);
    if (result >= 0) {
        const int code = commit(pg, error);
        result = code == SES_OK ? result : code;
    }
    *again = result < 0 && result != SES_UNKNOWN && pg->again;
    if (result < 0)
        roll_back(pg);
    return result;
}

/* A moment that grows, so that those who met part. */
static void pause_before(int tries)
{
    const long us = (ses__clock_steady_us() & 1023) + 500L * (tries < 20 ? tries : 20);
    const struct timespec time = {0, us * 1000};
    (void)nanosleep(&time, NULL);
}

static int run_as(struct storage *base, const struct manner *manner, storage_job *job, void *context,
                  ses_error *error)
{
    struct postgres *storage = (struct postgres *)base;
    const int64_t deadline_us = ses__clock_steady_us() + storage->config.timeout_us;
    bool again = true;
    int result = SES_OK;

    if (manner->writes && storage->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only",
                              storage->config.name);
    for (int tries = 0; again; tries++) {
        struct pg *pg = NULL;
        ses__error_clear(error);
        result = ses__pool_take(storage, deadline_us, manner->interruptible, &pg, error);
        again = result == SES_CANTOPEN; /* a server that starts, or that another takes the place of */
        if (result == SES_OK) {
            result = run_once(pg, manner, job, context, &again, error);
            again = again && !manner->once;
            ses__pool_give_back(storage, pg);
        }
        again = again && ses__clock_steady_us() < deadline_us;
        if (again)
            pause_before(tries);
    }
    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.commits += manner->writes && result >= 0 ? 1 : 0;
    storage->counts.write_calls += manner->writes ? 1 : 0;
    storage->counts.read_calls += manner->writes ? 0 : 1;
    (void)pthread_mutex_unlock(&storage->lock);
    return result;
}

static int run_write(struct storage *storage, storage_job *job, void *context, size_t bytes, ses_error *error)
{
    (void)bytes;
    return run_as(storage, &(struct manner){.writes = true}, job, context, error);
}

static int run_write_by_itself(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return run_as(storage, &(struct manner){.writes = true, .once = true}, job, context, error);
}

static int run_delete(struct storage *storage, storage_job *job, void *context, size_t bytes,
                      struct erasure *erasure, ses_error *error)
{
    erasure->unclean = false;
    if (erasure->secure)
        return ses__error_set(error, SES_MISUSE,
                              "a secure deletion is only for files: a server keeps what was deleted until it "
                              "vacuums, and its log as long as it archives it");
    return run_write(storage, job, context, bytes, error);
}

static int run_read(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return run_as(storage, &(struct manner){.interruptible = true}, job, context, error);
}

static int run_read_by_itself(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return run_as(storage, &(struct manner){.interruptible = true, .once = true}, job, context, error);
}

static int run_read_to_write(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return run_as(storage, &(struct manner){.writes = false}, job, context, error);
}

const struct sql_runner ses__postgres_runner = {
    .write = run_write,
    .write_by_itself = run_write_by_itself,
    .delete = run_delete,
    .read = run_read,
    .read_by_itself = run_read_by_itself,
    .read_to_write = run_read_to_write,
};
