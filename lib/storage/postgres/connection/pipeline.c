/*
 * Messages to the server and their answers, in libpq's pipeline mode
 * (https://www.postgresql.org/docs/current/libpq-pipeline-mode.html). The library does not wait for a
 * statement that only changes rows. It sees the outcome with the next answer that it needs, or with the
 * commit. So a later query of the transaction may report the failure.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "storage/postgres/connection/connection.h"

int ses__pg_wait(const struct pg *pg, int file, bool writes)
{
    struct pollfd polled = {.fd = file, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};

    return ses__remote_wait(&pg->base, &polled);
}

static struct pg_awaited *awaited_at(const struct pg *pg, size_t index)
{
    return &pg->awaited[pg->first_awaited + index];
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
static void flush(struct pg *pg)
{
    int left = PQflush(pg->conn);
    int code = SES_OK;

    while (left == 1 && code == SES_OK) {
        code = ses__pg_wait(pg, PQsocket(pg->conn), true);
        if (code == SES_OK && PQconsumeInput(pg->conn) != 1)
            left = -1;
        if (code == SES_OK && left == 1)
            left = PQflush(pg->conn);
    }
    if (left < 0)
        ses__pg_fail(pg, NULL, "sending"); /* the server may have sent why */
    else if (code != SES_OK)
        ses__remote_give_up(&pg->base, code);
}

/* The next result for the oldest message; NULL after the last one, or after a failure. */
static PGresult *receive(struct pg *pg)
{
    while (PQisBusy(pg->conn)) {
        const int code = ses__pg_wait(pg, PQsocket(pg->conn), false);
        if (code != SES_OK) {
            ses__remote_give_up(&pg->base, code);
            return NULL;
        }
        if (PQconsumeInput(pg->conn) != 1) {
            ses__pg_fail(pg, NULL, "receiving");
            pg->base.lost = true;
            return NULL;
        }
    }
    return PQgetResult(pg->conn);
}

int64_t ses__pg_number(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    const int count = PQgetlength(result, row, column);
    uint64_t number = 0;

    for (int i = 0; i < count; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return (int64_t)number;
}

/* Takes over a result. */
static void take_answer(struct pg *pg, const struct pg_awaited *awaited, PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);
    const bool good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;

    if (status == PGRES_FATAL_ERROR)
        ses__pg_fail(pg, result,
                     awaited->run                  ? awaited->run->statement->name
                     : awaited->kind == PG_CHANGES ? "a statement that writes"
                                                   : "a statement");
    if (awaited->kind == PG_ENDS && !good) { /* of the previous transaction */
        pg->base.lost = true;
        pg->base.again = true;
    }
    if (awaited->kind == PG_PREPARES)
        pg->prepared[awaited->prepared].state = good ? PG_PREPARED : PG_UNPREPARED;
    if (good && awaited->kind == PG_SAME &&
        (PQntuples(result) != 1 || ses__pg_number(result, 0, 3) != pg->base.db.found_version)) {
        ses__remote_fail(&pg->base, SES_BUSY, "a read in which the session has changed");
        pg->base.again = true;
    }
    if (good && awaited->kind == PG_CHANGES)
        pg->base.changed = strtoll(PQcmdTuples(result), NULL, 10);
    if (good && awaited->table && pg->base.changed != 1)
        ses__remote_refuse_unchanged(&pg->base, awaited->table);
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

    pg->awaited_count--;
    pg->first_awaited = pg->awaited_count > 0 ? pg->first_awaited + 1 : 0;
    if (awaited.kind == PG_SYNC) {
        PQclear(result);
        return;
    }
    if (result)
        take_answer(pg, &awaited, result);
    while (!pg->base.lost && (result = receive(pg)) != NULL) /* the NULL after the last result */
        PQclear(result);
}

void ses__pg_dispatch(struct pg *pg)
{
    if (pg->base.lost || pg->awaited_count == 0)
        return;
    if (PQpipelineSync(pg->conn) == 1)
        ses__pg_await(pg, PG_SYNC, 0, NULL);
    else
        ses__pg_fail(pg, NULL, "sending");
    flush(pg);
}

int ses__pg_settle(struct pg *pg)
{
    ses__pg_dispatch(pg);
    while (!pg->base.lost && pg->awaited_count > 0)
        take_first(pg);
    if (pg->base.lost)
        pg->awaited_count = pg->first_awaited = 0;
    return pg->base.code;
}

/* Reads the remaining answers of the last transaction first. Anything else that arrives is the end, or the
 * rare notice of a changed setting, for which a new connection costs little. */
bool ses__pg_is_over(struct remote *remote)
{
    struct pg *pg = ses__pg_of(&remote->db);

    if (!ses__remote_has_news(PQsocket(pg->conn)))
        return false;
    if (pg->awaited_count == 0 || PQconsumeInput(pg->conn) != 1)
        return true;
    while (!remote->lost && pg->awaited_count > 0 && !PQisBusy(pg->conn)) /* all that libpq's buffer has */
        take_first(pg);
    return remote->lost || (pg->awaited_count == 0 && ses__remote_has_news(PQsocket(pg->conn)));
}

enum { USUAL_MESSAGES = 64 };

/* Room for a statement that is prepared and run, and a sync. */
void ses__pg_make_room(struct pg *pg)
{
    const size_t needed = pg->first_awaited + pg->awaited_count + 3;

    if (ses__memory_grow(pg->base.db.allocator, &pg->awaited, &pg->awaited_capacity,
                         needed > USUAL_MESSAGES ? needed : USUAL_MESSAGES, sizeof *pg->awaited))
        return;
    if (pg->awaited_count > 0) { /* waiting for the answers makes room */
        (void)ses__pg_settle(pg);
    } else {
        ses__remote_fail(&pg->base, SES_NOMEM, "a statement");
        pg->base.lost = true;
    }
}

/* ---------------------------------------------------------------------------------------------- scripts */

PGresult *ses__pg_script(struct pg *pg, const char *sql)
{
    PGresult *result = NULL;
    PGresult *last = NULL;

    if (pg->base.code == SES_OK && PQsendQuery(pg->conn, sql) == 1)
        flush(pg);
    while (pg->base.code == SES_OK && (result = receive(pg)) != NULL) {
        PQclear(last);
        last = result;
    }
    if (PQresultStatus(last) == PGRES_FATAL_ERROR)
        ses__pg_fail(pg, last, "a script");
    return last;
}
