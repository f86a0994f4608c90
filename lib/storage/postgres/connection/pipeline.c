/*
 * Messages to the server and their answers, in libpq's pipeline mode
 * (https://www.postgresql.org/docs/current/libpq-pipeline-mode.html). The library does not wait for a statement that only
 * changes rows. It sees the outcome with the next answer that it needs, or with the commit. So a later query of the
 * transaction may report the failure.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "storage/postgres/connection/connection.h"
#include "storage/sql/rows/parts.h"

static struct pg_awaited *awaited_at(const struct pg *pg, size_t index)
{
    return &pg->awaited[(pg->first_awaited + index) % pg->awaited_capacity];
}

void ses__pg_await(struct pg *pg, enum pg_kind kind, size_t prepared, struct pg_run *run)
{
    *awaited_at(pg, pg->awaited_count++) =
        (struct pg_awaited){.kind = kind, .prepared = prepared, .run = run};
}

void ses__pg_must_change(struct db *db, const char *table)
{
    struct pg *pg = ses__pg_of(db);

    if (pg->awaited_count > 0)
        awaited_at(pg, pg->awaited_count - 1)->table = table;
}

void ses__pg_abandon(struct pg *pg, const struct pg_run *run)
{
    for (size_t i = 0; i < pg->awaited_count; i++) {
        struct pg_awaited *awaited = awaited_at(pg, i);
        if (awaited->run == run)
            awaited->run = NULL;
    }
}

/* Sends libpq's buffer, and reads what the server sends meanwhile, so that neither waits for the other. */
static int flush(struct pg *pg)
{
    int left = PQflush(pg->conn);
    int code = SES_OK;

    while (left == 1 && code == SES_OK) {
        code = ses__pg_wait(pg, true);
        if (code == SES_OK && PQconsumeInput(pg->conn) != 1)
            left = -1;
        if (code == SES_OK && left == 1)
            left = PQflush(pg->conn);
    }
    if (left < 0)
        ses__pg_fail(pg, NULL, "sending");
    return left < 0 ? pg->code : code;
}

/* The next result for the oldest message; NULL after the last one, or after a failure. */
static PGresult *receive(struct pg *pg)
{
    while (PQisBusy(pg->conn)) {
        const int code = ses__pg_wait(pg, false);
        if (code != SES_OK) {
            ses__pg_fail_as(pg, code, "a statement");
            pg->lost = true; /* nobody will read the remaining answers */
            return NULL;
        }
        if (PQconsumeInput(pg->conn) != 1) {
            ses__pg_fail(pg, NULL, "receiving");
            pg->lost = true;
            return NULL;
        }
    }
    return PQgetResult(pg->conn);
}

static const char *doing(const struct pg_awaited *awaited)
{
    return awaited->run                  ? awaited->run->statement->name
           : awaited->kind == PG_CHANGES ? "a statement that writes"
                                         : "a statement";
}

/* True if the session is the one that was found, at the same version. */
static bool is_same(const struct pg *pg, const PGresult *result)
{
    return PQntuples(result) == 1 && strtoll(PQgetvalue(result, 0, 3), NULL, 10) == pg->base.found_version;
}

/* Takes over a result. */
static void take_answer(struct pg *pg, const struct pg_awaited *awaited, PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);
    const bool good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;

    if (status == PGRES_FATAL_ERROR)
        ses__pg_fail(pg, result, doing(awaited));
    if (awaited->kind == PG_ENDS && !good) { /* of the previous transaction */
        pg->lost = true;
        pg->again = true;
    }
    if (awaited->kind == PG_PREPARES)
        pg->prepared[awaited->prepared].state = good ? PG_PREPARED : PG_UNPREPARED;
    if (good && awaited->kind == PG_SAME && !is_same(pg, result)) {
        ses__pg_fail_as(pg, SES_BUSY, "a read in which the session has changed");
        pg->again = true;
    }
    if (good && awaited->kind == PG_CHANGES)
        pg->changed = strtoll(PQcmdTuples(result), NULL, 10);
    if (good && awaited->table && pg->changed != 1 && pg->code == SES_OK)
        pg->code = ses__refuse_unchanged(&pg->base, awaited->table, &pg->error);
    if (good && awaited->run)
        awaited->run->result = result;
    else
        PQclear(result);
}

/* Takes the answer to the oldest message. */
static void take_first(struct pg *pg)
{
    const struct pg_awaited awaited = *awaited_at(pg, 0);
    PGresult *result = receive(pg);

    pg->first_awaited = (pg->first_awaited + 1) % pg->awaited_capacity;
    pg->awaited_count--;
    if (awaited.kind == PG_SYNC) {
        PQclear(result);
        return;
    }
    if (result)
        take_answer(pg, &awaited, result);
    while (!pg->lost && (result = receive(pg)) != NULL) /* the NULL after the last result */
        PQclear(result);
}

void ses__pg_dispatch(struct pg *pg)
{
    if (pg->lost || pg->awaited_count == 0)
        return;
    if (PQpipelineSync(pg->conn) == 1)
        ses__pg_await(pg, PG_SYNC, 0, NULL);
    else
        ses__pg_fail(pg, NULL, "sending");
    const int code = flush(pg);
    if (code != SES_OK && pg->code == SES_OK) {
        ses__pg_fail_as(pg, code, "a statement");
        pg->lost = true;
    }
}

int ses__pg_settle(struct pg *pg)
{
    ses__pg_dispatch(pg);
    while (!pg->lost && pg->awaited_count > 0)
        take_first(pg);
    if (pg->lost)
        pg->awaited_count = 0;
    return pg->code;
}

/* Reads libpq's buffer without asking the system for more. */
void ses__pg_drain(struct pg *pg)
{
    while (!pg->lost && pg->awaited_count > 0 && !PQisBusy(pg->conn))
        take_first(pg);
}

static bool grow(struct pg *pg)
{
    const size_t capacity = pg->awaited_capacity ? pg->awaited_capacity * 2 : 64;
    struct pg_awaited *awaited = ses__memory_new(pg->config->allocator, capacity * sizeof *awaited);

    if (!awaited)
        return false;
    for (size_t i = 0; i < pg->awaited_count; i++)
        awaited[i] = *awaited_at(pg, i);
    ses__memory_free(pg->config->allocator, pg->awaited);
    pg->awaited = awaited;
    pg->awaited_capacity = capacity;
    pg->first_awaited = 0;
    return true;
}

/* Room for a statement that is prepared and run, and a sync. */
void ses__pg_make_room(struct pg *pg)
{
    if (pg->awaited_count + 3 <= pg->awaited_capacity || grow(pg))
        return;
    if (pg->awaited_count > 0) { /* waiting for the answers makes room */
        (void)ses__pg_settle(pg);
    } else {
        ses__pg_fail_as(pg, SES_NOMEM, "a statement");
        pg->lost = true;
    }
}
