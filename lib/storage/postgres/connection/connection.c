/* Opening and closing a connection. */
#include "storage/postgres/connection/connection.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/connection/hosts.h"

/* Notes warnings that come with the answer to a commit. Other notices are ignored. */
static void on_notice(void *context, const PGresult *result)
{
    struct pg *pg = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity && strcmp(severity, "WARNING") == 0 && pg->awaited_count > 0 &&
        pg->awaited[pg->first_awaited].kind == PG_COMMITS)
        pg->base.unconfirmed = true;
}

/*
 * The server reports by a warning that a commit did not wait for the standbys, so warnings must not be
 * suppressed. Behind a pooler a setting would reach other clients: there it is only checked.
 */
static int ask_for_warnings(struct pg *pg, ses_error *error)
{
    PGresult *last = ses__pg_script(pg, pg->config->unprepared ? "SHOW client_min_messages"
                                                               : "SET client_min_messages TO warning");
    int code = pg->base.code;

    if (code != SES_OK)
        *error = pg->base.error;
    if (PQntuples(last) == 1 && strcmp(PQgetvalue(last, 0, 0), "error") == 0)
        code = ses__error_set(
            error, SES_CANTOPEN,
            "%s: client_min_messages is \"error\", so the server would not report a commit that its standbys do not have: set it to \"warning\"",
            pg->base.db.name);
    else if (code == SES_IO) /* another connection may work */
        code = error->code = SES_CANTOPEN;
    PQclear(last);
    return code;
}

/* The reasons why hosts were not taken, one after the other. */
enum { REFUSALS_SIZE = 480 };

static void add_refusal(char refusals[REFUSALS_SIZE], const char *text)
{
    const size_t len = strlen(refusals);

    (void)snprintf(refusals + len, REFUSALS_SIZE - len, "%s%.*s", len > 0 ? "; " : "",
                   (int)strcspn(text, "\n"), text);
}

/* After CANTOPEN or BUSY, with the reason added to the refusals, another host may be tried. */
static int try_host(struct pg *pg, const struct pg_hosts *hosts, size_t first, size_t tried,
                    char refusals[REFUSALS_SIZE], ses_error *error)
{
    PostgresPollingStatusType polled = PGRES_POLLING_WRITING;
    char addresses[ADDRESSES_SIZE];

    PQfinish(pg->conn);
    pg->conn = NULL;
    int code = ses__pg_hosts_start(hosts, first, tried, pg, addresses);
    if (code == SES_OK) {
        (void)PQsetNoticeReceiver(pg->conn, on_notice, pg); /* libpq's own prints them */
        if (PQstatus(pg->conn) == CONNECTION_BAD)
            polled = PGRES_POLLING_FAILED;
    }
    while (code == SES_OK && polled != PGRES_POLLING_OK && polled != PGRES_POLLING_FAILED) {
        code = ses__pg_wait(pg, PQsocket(pg->conn), polled == PGRES_POLLING_WRITING);
        if (code == SES_OK)
            polled = PQconnectPoll(pg->conn);
    }
    if (code == SES_OK && polled == PGRES_POLLING_FAILED)
        code = SES_CANTOPEN;
    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    if (code == SES_CANTOPEN)
        add_refusal(refusals, pg->conn ? PQerrorMessage(pg->conn) : addresses);
    else if (code == SES_BUSY && !pg->conn)
        add_refusal(refusals, "the host name was not resolved in time");
    else if (code == SES_BUSY)
        add_refusal(refusals, "the server did not answer in time");
    return code;
}

/* Each host gets an equal share of the time, so that one that does not answer leaves some for the others. */
static int try_hosts(struct pg *pg, const struct pg_hosts *hosts, ses_error *error)
{
    const int64_t deadline_us = pg->base.db.deadline_us;
    const size_t tries = ses__pg_hosts_tries(hosts);
    const size_t first = atomic_load(pg->host);
    char refusals[REFUSALS_SIZE] = "";
    int code = SES_BUSY;

    for (size_t i = 0; i < tries && (code == SES_CANTOPEN || code == SES_BUSY); i++) {
        const int64_t now_us = ses__clock_steady_us();
        const int64_t share_us = (deadline_us - now_us) / (int64_t)(tries - i);
        pg->base.db.deadline_us = now_us + (share_us < hosts->max_us ? share_us : hosts->max_us);
        code = try_host(pg, hosts, first, i, refusals, error);
        if (code == SES_OK)
            atomic_store(pg->host, (first + i) % hosts->count);
    }
    pg->base.db.deadline_us = deadline_us;
    if (code == SES_CANTOPEN || code == SES_BUSY)
        code = ses__error_set(error, ses__clock_steady_us() < deadline_us ? SES_CANTOPEN : SES_BUSY, "%s: %s",
                              pg->base.db.name, refusals);
    else if (code == SES_INTERRUPTED)
        code = ses__refuse_interrupted("connecting", error);
    return code;
}

int ses__pg_connect(struct remote *remote, ses_error *error)
{
    struct pg *pg = ses__pg_of(&remote->db);
    struct pg_hosts hosts;
    int code = ses__pg_hosts_init(&hosts, pg->config->connection, error);

    if (code == SES_OK)
        code = try_hosts(pg, &hosts, error);
    ses__pg_hosts_free(&hosts);
    if (code != SES_OK)
        return code;
    const char *encoding = PQparameterStatus(pg->conn, "server_encoding");
    if (PQserverVersion(pg->conn) < 120000)
        return ses__error_set(error, SES_CANTOPEN, "%s: the server is older than PostgreSQL 12",
                              pg->base.db.name);
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return ses__error_set(error, SES_CANTOPEN,
                              "%s: the database's encoding is %s: make one with ENCODING 'UTF8'",
                              pg->base.db.name, encoding ? encoding : "unknown");
    if (PQsetnonblocking(pg->conn, 1) == 0)
        code = ask_for_warnings(pg, error);
    if (code == SES_OK && (PQisnonblocking(pg->conn) == 0 || PQenterPipelineMode(pg->conn) != 1))
        code = ses__error_set(error, SES_INTERNAL, "%s: %s", pg->base.db.name, PQerrorMessage(pg->conn));
    return code;
}

struct remote *ses__pg_new(const struct server_config *common, const struct postgres_config *config,
                           atomic_size_t *host)
{
    struct pg *pg = ses__memory_zeroed(common->allocator, sizeof *pg);

    if (!pg)
        return NULL;
    ses__remote_init(&pg->base, common);
    pg->config = config;
    pg->host = host;
    return &pg->base;
}

void ses__pg_close(struct remote *remote)
{
    struct pg *pg = ses__pg_of(&remote->db);
    const ses_allocator *allocator = remote->db.allocator;

    ses__memory_free(allocator, pg->awaited);
    PQfinish(pg->conn);
    ses__memory_free(allocator, pg);
}
