/* How a connection is opened and closed. */
#include "storage/postgres/connection.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

/* Enough for most reads to be one round trip, and so few that they need not all be in memory. */
enum { EVENTS_IN_PAGE = 1000 };

/* The server tells it beside an answer: most of it means nothing to us. */
static void on_notice(void *context, const PGresult *result)
{
    struct pg *pg = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity && strcmp(severity, "WARNING") == 0 && pg->awaited_count > 0 &&
        pg->awaited[pg->first_awaited].kind == PG_COMMITS)
        pg->warned = true;
}

static PGconn *start(const struct postgres_config *config)
{
    /* What the string says itself comes later and wins, but for the encoding. */
    const char *const names[] = {"application_name", "dbname", "client_encoding", NULL};
    const char *const values[] = {"seslite", config->connection, "UTF8", NULL};

    return PQconnectStartParams(names, values, 1);
}

static int finish(struct pg *pg)
{
    PostgresPollingStatusType polled = PGRES_POLLING_WRITING;
    int code = SES_OK;

    while (code == SES_OK && polled != PGRES_POLLING_OK && polled != PGRES_POLLING_FAILED) {
        code = ses__pg_wait(pg, polled == PGRES_POLLING_WRITING);
        if (code == SES_OK)
            polled = PQconnectPoll(pg->conn);
    }
    return code == SES_OK && polled == PGRES_POLLING_FAILED ? SES_CANTOPEN : code;
}

static int check_server(struct pg *pg, ses_error *error)
{
    const char *encoding = PQparameterStatus(pg->conn, "server_encoding");

    if (PQserverVersion(pg->conn) < 120000)
        return ses__error_set(error, SES_CANTOPEN, "%s: the server is older than PostgreSQL 12",
                              pg->base.name);
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return ses__error_set(error, SES_CANTOPEN,
                              "%s: the database's encoding is %s: make one with ENCODING 'UTF8'",
                              pg->base.name, encoding ? encoding : "unknown");
    return SES_OK;
}

static int connect_to(struct pg *pg, ses_error *error)
{
    pg->conn = start(pg->config);
    if (!pg->conn)
        return ses__error_nomem(error);
    int code = PQstatus(pg->conn) == CONNECTION_BAD ? SES_CANTOPEN : finish(pg);
    if (code == SES_CANTOPEN)
        return ses__error_set(error, SES_CANTOPEN, "%s: %s", pg->base.name, PQerrorMessage(pg->conn));
    if (code != SES_OK)
        return ses__error_set(error, code, "%s: the server did not answer within %lld ms", pg->base.name,
                              (long long)(pg->base.timeout_us / 1000));
    (void)PQsetNoticeReceiver(pg->conn, on_notice, pg);
    code = check_server(pg, error);
    if (code == SES_OK && (PQsetnonblocking(pg->conn, 1) != 0 || PQenterPipelineMode(pg->conn) != 1))
        code = ses__error_set(error, SES_INTERNAL, "%s: %s", pg->base.name, PQerrorMessage(pg->conn));
    return code;
}

int ses__pg_open(const struct postgres_config *config, int64_t deadline_us, struct pg **pg, ses_error *error)
{
    struct pg *opened = ses__memory_zeroed(config->allocator, sizeof *opened);

    if (!opened)
        return ses__error_nomem(error);
    opened->base = (struct db){.driver = &ses__pg_driver,
                               .allocator = config->allocator,
                               .name = config->name,
                               .timeout_us = config->timeout_us,
                               .deadline_us = deadline_us,
                               .max_session_id = INT64_MAX,
                               .page = EVENTS_IN_PAGE};
    opened->config = config;
    int code = connect_to(opened, error);
    if (code == SES_OK)
        *pg = opened;
    else
        ses__pg_close(opened);
    return code;
}

void ses__pg_close(struct pg *pg)
{
    while (pg->free_runs) {
        struct pg_run *run = pg->free_runs;
        pg->free_runs = run->next;
        ses__memory_free(pg->config->allocator, run);
    }
    ses__pg_forget_texts(pg);
    ses__memory_free(pg->config->allocator, pg->awaited);
    PQfinish(pg->conn);
    ses__memory_free(pg->config->allocator, pg);
}
