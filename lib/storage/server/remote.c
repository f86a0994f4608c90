/* A connection's transaction: its beginning, its end, its first failure, and waiting for answers. */
#include "storage/server/remote.h"

#include <errno.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/sql/rows/parts.h"

void ses__remote_init(struct remote *remote, const struct server_config *config)
{
    remote->driver = config->driver;
    remote->db = (struct db){.engine = config->engine,
                             .traits = &config->engine->traits,
                             .allocator = config->allocator,
                             .name = config->name,
                             .timeout_us = config->timeout_us,
                             .has_clock = config->has_clock};
}

/* ---------------------------------------------------------------------------------------------- waiting */

/* The longest time until an interrupt is seen. */
enum { LONGEST_POLL_MS = 50, POLL_WITH_CANCEL_MS = 3 };

bool ses__remote_is_committing(const struct remote *remote)
{
    return remote->ended && remote->writes;
}

int ses__remote_wait(const struct remote *remote, struct pollfd *polled)
{
    const struct limits *limits = ses__remote_is_committing(remote) ? NULL : remote->db.limits;
    const int64_t own_us = remote->db.deadline_us;
    const int64_t deadline_us = ses__remote_is_committing(remote) && own_us < remote->commit_deadline_us
                                    ? remote->commit_deadline_us
                                    : own_us;
    const int longest_ms = limits && limits->cancel ? POLL_WITH_CANCEL_MS : LONGEST_POLL_MS;
    int ready = 0;

    while (ready == 0) {
        const int64_t left_us = deadline_us - ses__clock_steady_us();
        if (atomic_load(&remote->interrupted) || ses__limits_cancelled(limits))
            return SES_INTERRUPTED;
        if (left_us <= 0)
            return SES_BUSY;
        const int64_t left_ms = left_us / 1000 + 1;
        ready = poll(polled, 1, left_ms < longest_ms ? (int)left_ms : longest_ms);
        if (ready < 0 && errno == EINTR)
            ready = 0;
    }
    return SES_OK; /* using the socket shows what is wrong with it */
}

bool ses__remote_has_news(int file)
{
    struct pollfd polled = {.fd = file, .events = POLLIN};

    return poll(&polled, 1, 0) != 0;
}

/* When the time of the call is over, the server is at work: it ends its waiting for locks by itself before
 * that. */
void ses__remote_give_up(struct remote *remote, int code)
{
    const bool is_limit = !ses__remote_is_committing(remote) && ses__limits_passed(remote->db.limits);

    remote->lost = true;
    ses__remote_fail(remote, is_limit ? SES_INTERRUPTED : code, "a statement");
}

/* --------------------------------------------------------------------------------------------- failures */

void ses__remote_fail(struct remote *remote, int code, const char *doing)
{
    if (remote->code != SES_OK)
        return;
    remote->code = code;
    if (code == SES_NOMEM)
        (void)ses__error_nomem(&remote->error);
    else if (code == SES_INTERRUPTED && ses__limits_passed(remote->db.limits))
        (void)ses__limits_refuse(remote->db.name, &remote->error);
    else if (code == SES_INTERRUPTED)
        (void)ses__refuse_interrupted(doing, &remote->error);
    else
        (void)ses__error_set(&remote->error, code, "%s: %s was not answered within %lld ms", remote->db.name,
                             doing, (long long)(remote->db.timeout_us / 1000));
}

void ses__remote_forget_failure(struct remote *remote)
{
    remote->code = SES_OK;
    remote->again = false;
    ses__error_clear(&remote->error);
}

void ses__remote_report(const struct remote *remote, struct query *query)
{
    if (query->code == SES_OK && remote->code != SES_OK) {
        query->code = remote->code;
        if (query->error)
            *query->error = remote->error;
    }
}

void ses__remote_refuse_unchanged(struct remote *remote, const char *table)
{
    if (remote->code != SES_OK)
        return;
    remote->code = ses__refuse_unchanged(&remote->db, table, &remote->error);
    remote->again = !remote->ended; /* another transaction may have deleted the row */
}

/* ------------------------------------------------------------------------------------------ transactions */

void ses__remote_begin(struct remote *remote, bool writes)
{
    ses__remote_forget_failure(remote);
    remote->writes = writes;
    remote->ended = false;
    remote->wrote = false;
    remote->unconfirmed = false;
    remote->given = 0;
    remote->db.events = 0;
    remote->db.outrun = false;
    remote->db.looks_first = false;
    remote->driver->begin(remote);
}

void ses__remote_go_on(struct remote *remote, bool is_write, const char *doing)
{
    remote->wrote |= is_write;
    if (remote->ended && remote->writes) {
        ses__remote_fail(remote, JOB_MUST_GO_ON, doing);
    } else if (remote->ended) {
        remote->ended = false;
        remote->driver->begin(remote);
        remote->driver->ask_same(remote);
    }
}

void ses__remote_ask_last(struct db *db)
{
    struct remote *remote = ses__remote_of(db);

    if (!remote->ended && (remote->writes || !remote->stays_open) && remote->code == SES_OK)
        remote->driver->ask_commit(remote);
}

/*
 * The outcome of a write is unknown if the connection was lost after the commit was sent. It is also unknown
 * if the server stopped waiting for its standbys: other servers may not have the change.
 */
int ses__remote_commit(struct db *db, ses_error *error)
{
    struct remote *remote = ses__remote_of(db);
    const bool writes = remote->writes;

    ses__remote_ask_last(db);
    int code = remote->driver->settle(remote);
    if (code != SES_OK && error)
        *error = remote->error;
    if (code == SES_OK && remote->unconfirmed && writes)
        code = ses__error_set(error, SES_UNKNOWN,
                              "%s: the server stopped waiting before its standbys had the change",
                              remote->db.name);
    else if (code != SES_OK && remote->ended && remote->lost && writes)
        code = ses__error_set(error, SES_UNKNOWN, "%s: the server did not confirm the commit in time",
                              remote->db.name);
    remote->writes = false;
    return code;
}

void ses__remote_end_later(struct remote *remote, const struct statement *statement)
{
    remote->writes = false;
    ses__remote_forget_failure(remote);
    remote->driver->send_end(remote, statement);
    remote->lost |= remote->code != SES_OK;
}

void ses__remote_roll_back(struct remote *remote)
{
    remote->db.events = 0;
    if (remote->driver->drop(remote) && !remote->lost)
        ses__remote_end_later(remote, STATEMENT_ROLLBACK);
    remote->writes = false;
}

/* -------------------------------------------------------------------------------------------- statements */

void ses__remote_ask(struct db *db, const struct statement *statement, const struct value *values)
{
    struct query query;

    ses__query_open(&query, db, statement, NULL, values);
    (void)ses__query_end(&query);
}

/* Does not wait: later statements of the transaction run after it anyway. */
void ses__remote_lock(struct db *db, enum scope scope, int64_t owner, bool exclusive)
{
    const struct remote *remote = ses__remote_of(db);

    if (remote->writes)
        ses__remote_ask(db, remote->driver->statements->locks[scope][exclusive], VALUES(OWNER(owner)));
}

/* The statement in question was asked for last, so all answers have arrived with its own. */
int64_t ses__remote_changed(const struct db *db)
{
    struct remote *remote = (struct remote *)(uintptr_t)db;

    return remote->driver->settle(remote) == SES_OK ? remote->changed : -1;
}

int64_t ses__remote_given(const struct db *db)
{
    struct remote *remote = (struct remote *)(uintptr_t)db;

    return remote->driver->settle(remote) == SES_OK ? remote->given : 0;
}
