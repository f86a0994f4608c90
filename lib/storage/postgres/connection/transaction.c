/* The beginnings and the ends of transactions. */
#include <stdio.h>

#include "base/clock.h"
#include "storage/postgres/connection/connection.h"

enum { LEAST_MARGIN_US = 15000 };

void ses__pg_begin(struct remote *remote)
{
    struct pg *pg = ses__pg_of(&remote->db);
    char limit[24];

    pg->constraint[0] = '\0';
    if (remote->writes) {
        /* The lock timeout in milliseconds: enough less than the time of the call that the server's answer
         * arrives in time. */
        const int64_t left_us = remote->db.deadline_us - ses__clock_steady_us();
        const int64_t margin_us = left_us / 10 > LEAST_MARGIN_US ? left_us / 10 : LEAST_MARGIN_US;
        (void)snprintf(limit, sizeof limit, "%lld",
                       (long long)(left_us > margin_us + 1000 ? (left_us - margin_us) / 1000 : 1));
        ses__pg_send(pg, STATEMENT_BEGIN_WRITE, NULL, PG_CHANGES, NULL);
        ses__pg_send(pg, STATEMENT_BEGIN_SETTINGS, VALUES(STRING(limit)), PG_ROWS, NULL);
    } else {
        ses__pg_send(pg, STATEMENT_BEGIN_READ, NULL, PG_CHANGES, NULL);
        ses__pg_send(pg, STATEMENT_BEGIN_READ_SETTINGS, NULL, PG_CHANGES, NULL);
    }
}

void ses__pg_ask_commit(struct remote *remote)
{
    ses__pg_send(ses__pg_of(&remote->db), STATEMENT_COMMIT, NULL, PG_COMMITS, NULL);
    remote->ended = true;
}

void ses__pg_ask_same(struct remote *remote)
{
    ses__pg_send(ses__pg_of(&remote->db), STATEMENT_SESSION_BY_ID, VALUES(INT(remote->db.found_id)), PG_SAME,
                 NULL);
}

void ses__pg_send_end(struct remote *remote, const struct statement *statement)
{
    struct pg *pg = ses__pg_of(&remote->db);

    ses__pg_send(pg, statement, NULL, PG_ENDS, NULL);
    ses__pg_dispatch(pg);
}

/* The server skips the rest of a failed pipeline. */
bool ses__pg_drop(struct remote *remote)
{
    struct pg *pg = ses__pg_of(&remote->db);

    if (pg->awaited_count > 0)
        (void)ses__pg_settle(pg);
    return PQtransactionStatus(pg->conn) != PQTRANS_IDLE;
}
