/* The beginnings of transactions, and the end of those that only read. */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/postgres/connection/connection.h"

void ses__pg_forget_failure(struct pg *pg)
{
    pg->code = SES_OK;
    pg->again = false;
    pg->warned = false;
    pg->constraint[0] = '\0';
    ses__error_clear(&pg->error);
}

enum { LEAST_MARGIN_US = 15000 };

/* The lock timeout in milliseconds: enough less than the time of the call that the server's answer arrives in time. */
static void format_limit(const struct pg *pg, char text[24])
{
    const int64_t left_us = pg->base.deadline_us - ses__clock_steady_us();
    const int64_t margin_us = left_us / 10 > LEAST_MARGIN_US ? left_us / 10 : LEAST_MARGIN_US;

    (void)snprintf(text, 24, "%lld",
                   (long long)(left_us > margin_us + 1000 ? (left_us - margin_us) / 1000 : 1));
}

static void send_begin(struct pg *pg)
{
    char limit[24];

    if (pg->writes) {
        format_limit(pg, limit);
        ses__pg_send(pg, STATEMENT_BEGIN_WRITE, NULL, PG_CHANGES, NULL);
        ses__pg_send(pg, STATEMENT_BEGIN_SETTINGS, VALUES(STRING(limit)), PG_ROWS, NULL);
    } else {
        ses__pg_send(pg, STATEMENT_BEGIN_READ, NULL, PG_CHANGES, NULL);
        ses__pg_send(pg, STATEMENT_BEGIN_READ_SETTINGS, NULL, PG_CHANGES, NULL);
    }
}

void ses__pg_begin(struct pg *pg, bool writes)
{
    ses__pg_forget_failure(pg);
    pg->writes = writes;
    pg->ended = false;
    pg->wrote = false;
    pg->base.events = 0;
    pg->base.outrun = false;
    pg->base.looks_first = false;
    send_begin(pg);
}

void ses__pg_ask_last(struct db *db)
{
    struct pg *pg = ses__pg_of(db);

    if (pg->ended || (pg->stays_open && !pg->writes) || pg->code != SES_OK)
        return;
    ses__pg_send(pg, STATEMENT_COMMIT, NULL, PG_COMMITS, NULL);
    pg->ended = true;
}

void ses__pg_resume(struct pg *pg)
{
    pg->ended = false;
    send_begin(pg);
    ses__pg_send(pg, STATEMENT_SESSION_BY_ID, VALUES(INT(pg->base.found_id)), PG_SAME, NULL);
}

/*
 * The outcome of a write is unknown if the connection was lost after the commit was sent. It is also unknown if the
 * server stopped waiting for its standbys, which it only reports by a warning: other servers may not have the change.
 */
int ses__pg_commit(struct pg *pg, ses_error *error)
{
    const bool writes = pg->writes;

    ses__pg_ask_last(&pg->base);
    int code = ses__pg_settle(pg);
    if (code != SES_OK && error)
        *error = pg->error;
    if (code == SES_OK && pg->warned && writes)
        code = ses__error_set(error, SES_UNKNOWN,
                              "%s: the server stopped waiting before its standbys had the change",
                              pg->base.name);
    else if (code != SES_OK && pg->ended && pg->lost && writes)
        code = ses__error_set(error, SES_UNKNOWN, "%s: the server did not confirm the commit in time",
                              pg->base.name);
    pg->writes = false;
    return code;
}
