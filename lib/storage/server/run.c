/* Runs jobs, each in a transaction on a connection of the pool. */
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/server/server.h"

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

/* Ends the transaction as the job's result says, and returns the result of both. */
static int end_job(struct remote *remote, const struct attempt *attempt, int result)
{
    if (attempt->manner->writes && (remote->ended || result >= 0)) {
        const int code = ses__remote_commit(&remote->db, result >= 0 ? attempt->error : NULL);
        if (code == SES_UNKNOWN && result < 0)
            result = ses__error_set(attempt->error, SES_UNKNOWN, "%s", remote->error.message);
        else if (result >= 0)
            result = code == SES_OK ? result : code;
    } else if (result >= 0 &&
               remote->code != SES_OK) { /* also of a query that the job did not need in the end */
        result = ses__error_set(attempt->error, remote->code, "%s", remote->error.message);
    } else if (result >= 0 && !remote->ended) {
        ses__remote_end_later(remote, STATEMENT_COMMIT); /* a read: its outcome does not matter */
    }
    return result;
}

static int run_job(struct remote *remote, struct attempt *attempt)
{
    ses__error_clear(attempt->error);
    ses__remote_begin(remote, attempt->manner->writes);
    /* A read that could not go on in another transaction reads all in one. */
    remote->stays_open = !attempt->is_first;
    int result = attempt->job(&remote->db, attempt->context, attempt->error);
    remote->driver->end_queries(remote);
    attempt->wrote = remote->wrote;
    result = end_job(remote, attempt, result);
    attempt->again = result < 0 && result != SES_UNKNOWN && (remote->again || remote->db.outrun);
    if (remote->code == SES_READONLY && remote->again) /* the address may lead to the primary, now or soon */
        remote->lost = true;
    if (result == JOB_UNREAD)
        attempt->again = false;
    else if (result < 0)
        ses__remote_roll_back(remote);
    return result;
}

/* --------------------------------------------------------------------------------------- until it is done */

/* The least time for another attempt. One that is cut off would leave open whether it was committed. */
enum { LEAST_LEFT_US = 40000 };

static int run_on_a_connection(struct server *server, struct attempt *attempt, int64_t deadline_us)
{
    const bool interruptible = !attempt->manner->writes && !attempt->manner->uninterruptible;
    const struct limits *limits = ses__limits_given(attempt->manner->limits);
    struct remote *remote = NULL;

    attempt->again = false;
    if (ses__limits_cancelled(limits)) /* later, the commit may be on its way already */
        return ses__limits_refuse(server->config.name, attempt->error);
    int result = ses__server_take(server, limits, ses__limits_until(limits, deadline_us), interruptible,
                                  &remote, attempt->error);

    attempt->again = result == SES_CANTOPEN; /* the server may be starting, or another may take its place */
    if (result == SES_OK) {
        remote->commit_deadline_us = deadline_us;
        result = run_job(remote, attempt);
        ses__server_give_back(server, remote);
    }
    return result;
}

int ses__server_run(struct storage *storage, const struct manner *manner, storage_job *job, void *context,
                    ses_error *error)
{
    struct server *server = (struct server *)storage;
    const int64_t deadline_us =
        manner->deadline_us > 0 ? manner->deadline_us : ses__clock_steady_us() + server->config.timeout_us;
    struct attempt attempt = {
        .manner = manner, .job = job, .context = context, .again = true, .error = error};
    int result = SES_OK;

    if (manner->writes && server->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only", server->config.name);
    for (int tries = 0; attempt.again; tries++) {
        ses__error_clear(error);
        attempt.is_first = tries == 0;
        result = run_on_a_connection(server, &attempt, deadline_us);
        attempt.again =
            attempt.again && (!manner->alone || (manner->repeatable && *manner->repeatable)) &&
            !ses__limits_cancelled(manner->limits) &&
            ses__clock_steady_us() < ses__limits_until(manner->limits, deadline_us) - LEAST_LEFT_US;
        if (attempt.again) {
            /* A growing, partly random pause, so that calls that collided do not meet again; a longer one
             * where a server has to become the primary. */
            const long step_us = result == SES_READONLY ? 2000 : 500;
            const long us = (ses__clock_steady_us() & 1023) + step_us * (tries < 20 ? tries : 20);
            const struct timespec pause = {0, us * 1000};
            (void)nanosleep(&pause, NULL);
        }
    }
    (void)pthread_mutex_lock(&server->lock);
    server->counts.commits += attempt.wrote && result >= 0 ? 1 : 0;
    server->counts.write_calls += manner->writes ? 1 : 0;
    server->counts.read_calls += manner->writes ? 0 : 1;
    (void)pthread_mutex_unlock(&server->lock);
    return result;
}

/* --------------------------------------------------------------------------------------- small operations */

int ses__server_check_version(const struct server_config *config, int version, ses_error *error)
{
    const int latest = config->latest_version;

    if (version > latest)
        return ses__error_set(
            error, SES_TOONEW,
            "%s: the store needs a seslite that knows schema version %d; this one (%s) knows up to %d",
            config->name, version, ses_version(), latest);
    if (version != 0 && version < config->first_version)
        return ses__error_set(
            error, SES_NOTASTORE,
            "%s: an unreleased version of seslite wrote this store (schema version %d): export it with that version, and import the export with this one into another database",
            config->name, version);
    if (version == 0 && (config->must_exist || config->read_only))
        return ses__error_set(error, SES_NOTFOUND, "%s: there is no store in this database", config->name);
    if (version < latest && config->read_only)
        return ses__error_set(
            error, SES_READONLY,
            "%s: the store has schema version %d and must be migrated to %d first: run seslite migrate, or open it once for writing",
            config->name, version, latest);
    return SES_OK;
}

int ses__server_migrate(struct server *server, ses_error *error)
{
    const int64_t deadline_us = ses__clock_steady_us() + server->config.timeout_us;
    struct remote *remote = NULL;
    int code = ses__server_take(server, NULL, deadline_us, false, &remote, error);

    if (code != SES_OK)
        return code;
    (void)remote->driver->settle(remote); /* the end of a read before, which has not waited for it */
    ses__remote_forget_failure(remote);
    remote->driver->bring_up_to_date(remote, &server->config);
    code = remote->code;
    if (code != SES_OK && error)
        *error = remote->error;
    remote->lost = remote->lost || code != SES_OK;
    ses__server_give_back(server, remote);
    return code;
}

void ses__server_describe(const struct storage *storage, ses_info *info)
{
    const struct server_config *config = &((const struct server *)storage)->config;

    info->path = config->name;
    info->schema_version = config->latest_version;
    info->read_only = config->read_only;
}

int ses__server_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                           ses_error *error)
{
    erasure->unclean = false;
    if (erasure->secure)
        return ses__error_set(
            error, SES_MISUSE,
            "secure deletion works on files only: a server keeps deleted rows until it vacuums or purges, and its log for as long as it is archived");
    return ses__run_within(storage, &erasure->limits, TO_WRITE(0), job, context, error);
}

/* The server vacuums, purges and analyzes by itself. */
int ses__server_maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    (void)storage;
    (void)error;
    op->more = false;
    return SES_OK;
}

/* The server reuses free space by itself. */
static int read_space(struct db *db, void *context, ses_error *error)
{
    struct space_op *op = context;

    op->free_bytes = 0;
    return ses__query_number(db, ses__remote_of(db)->driver->statements->space, &op->bytes, error, NULL);
}

int ses__server_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, read_space, op, error);
}
